"""The part of the report on what a profiler counted: models on counters, causes of speedups, and predicted transactions."""

import numpy
from sklearn.tree import export_text

import blocks
import counted
import transactions
from factors import Causes
from rules import label
from verdicts import Verdict, percent, table

THESIS = 29, 34  # series above 0.9 (Table 4.1)
PAPER = {"SVM": "83.7 %", "tree": "81.4 %"}


def has_counters(cases):
    return any(case.counters for case in cases)


def block_rows(cases, rules):
    """Connors' models on the instances that were counted, by kind of features: rows, the figures of each, and the models on counters."""
    rows, found, advices = [], {}, {}
    for kind, features in counted.kinds_of_features(cases).items():
        advice = advices[kind] = blocks.Advice(cases, features)
        for name, candidates in (("SVM", blocks.SVMS), ("tree", blocks.TREES)):
            predicted, _ = advice.held_out(candidates)
            folds, _ = advice.ten_fold(candidates)
            walk = blocks.walk_figures(advice.walks(predicted), rules)
            accuracy = float((predicted == advice.labels).mean())
            found[kind, name] = folds, accuracy, walk, predicted
            rows.append((name, kind, PAPER[name] if kind == "counters" else "", percent(folds), percent(accuracy), f"{walk['speed']:.3f}", f"{walk['worst']:.2f}",
                         f"{walk['of_rules']:.3f}", f"{walk['worst_of_rules']:.2f}"))
    return rows, found, advices


def blocks_text(cases, names, judge):
    rows, found, advices = block_rows(cases, names[0])
    advice = advices["counters"]
    most = max((advice.labels == one).mean() for one in (-1, 0, 1))
    papers, verdicts = [], []
    for name in ("SVM", "tree"):
        folds, accuracy, _, predicted = found["counters", name]
        papers.append(("Connors 2017", f"{name} on counters, accuracy in ten folds", PAPER[name], f"{percent(folds)}; families held out {percent(accuracy)}"))
        ends = advice.walks(predicted)
        verdicts.append(judge(f"Connors' {name} on counters", [case for case, _ in ends], [case.times[blocks.grid(case, threads)] for case, threads in ends], names))
    model = advice.fit(("tree", 3, 15), numpy.arange(len(advice.labels)))[1]
    text = f"""**Connors' advice on counters**: {len(advice.labels)} instances that were counted, of {len({one.case.name for one in advice.instances})} cases; always the most frequent label is right in {percent(most)}.
Of {len(advice.all_names)} counters {len(advice.names)} are left where those that correlate above 0.9 go: {", ".join(advice.names)}. "Known before": the static features, on the same instances.

{table(("model", "features", "paper, ten folds", "ten folds", "families held out", "speed over 128 threads", "worst", f"over the {label(names[0])}", "worst"), rows)}
```
{export_text(model, feature_names=advice.names, decimals=2)}```

"""
    return text, verdicts, papers


def cause_rows(cases):
    """Magni's trees by kind of features, each with the candidate that is best in ten folds: rows, and the trees."""
    rows, found = [], {}
    for kind in ("counters", "static", "both"):
        causes = Causes(counted.changes(cases, kind))
        everything = numpy.arange(len(causes.speedups))
        best = max(causes.CANDIDATES, key=lambda one: causes.quality(causes.ten_fold(one))[0])
        held = blocks.nested(causes.groups, causes.CANDIDATES, causes.fit, causes.score, causes.predict)[0]
        qualities = [causes.quality(one) for one in (causes.predict(best, causes.fit(best, everything), everything), causes.ten_fold(best), held)]
        rows.append((kind, *(text for one in qualities for text in (f"{one[0]:.2f}", percent(one[1])))))
        found[kind] = causes, qualities
    return rows, found


def causes_text(cases):
    rows, found = cause_rows(cases)
    causes, qualities = found["counters"]
    tree = causes.fit((3, 30), numpy.arange(len(causes.speedups)))
    training, folds, held = (f"{one[0]:.2f} and {percent(one[1])}" for one in qualities)
    papers = [("Magni 2015", "trees on counters: correlation and error of predicted speedups", "at least 0.8, about 10 % (training data)",
               f"training data {training}; ten folds {folds}; families held out {held}")]
    alone = [(name, f"{value:.2f}", families) for name, value, families in counted.alone(causes)]
    text = f"""**Which counters explain a slowdown** (Magni, chapter 5): {len(causes.speedups)} forms that were counted, each in LLVM's own grid; the speedup is that of this launch over the loop as written, and a
counter is relative to what the loop as written has. Correlation and median error:

{table(("features", "training data", "error", "ten folds", "error", "families held out", "error"), rows)}
The thesis has at least 0.8 and about 10 % on its training data; its trees split by loads first, then branches, then misses of a cache. Counters whose order agrees best with that of the speedups (Spearman), and in how many
families the sign is the same:

{table(("counter, relative", "coefficient", "families"), alone)}
```
{export_text(tree, feature_names=causes.names, decimals=2)}```

"""
    return text, papers


def transactions_text(cases):
    every = transactions.all_series(cases)
    series = transactions.of_kernels(every)
    if not series:
        return "", []
    counts, all_counts = transactions.tally(series), transactions.tally(every)
    high, right = counts.get("high", 0), counts.get("constant, as predicted", 0)
    varying = len(series) - sum(count for verdict, count in counts.items() if verdict.startswith("constant"))
    points, near = sum(len(one.counted) for one in series), sum(one.near for one in series)
    kernels = list(dict.fromkeys(one.case.kernel for one in series))
    by_key = {(one.case.kernel, one.way): one for one in series}

    def cells(kernel):
        for way in transactions.WAYS:
            one = by_key.get((kernel, way))
            yield from (one.words, f"{one.near} of {len(one.counted)}") if one else ("none", "")

    rows = [(by_key.get((kernel, "load"), by_key.get((kernel, "store"))).case.name, *cells(kernel)) for kernel in kernels]
    wanted = f"{THESIS[0]} of {THESIS[1]} ({percent(THESIS[0] / THESIS[1])})"
    papers = [("Magni 2015", "transactions over factor and stride: series that correlate above 0.9", wanted, f"{high} of {len(series)} ({percent(high / len(series))}); {right} more are constant, as predicted; of those that vary {percent(high / max(varying, 1))}")]

    def words(found):
        return "; ".join(f"{name} {count}" for name, count in sorted(found.items(), key=lambda item: -item[1]))

    text = f"""**Predicted transactions** (Magni, section 4.6: SymEngine): the sectors that `ompsplit explain` predicts for each form (factor, stride, loop) of a kernel, against the sectors that were counted; a series is the loads or
the stores of one kernel at one size. Above {transactions.HIGH}: {high} of {len(series)} series, {percent(high / len(series))}, or of the {varying} whose counts vary {percent(high / max(varying, 1))}; the thesis has {wanted} over factor and stride. {words(counts)}. Within a tenth: {near} of {points} points.
Of all sizes that were counted: {words(all_counts)}.

{table(("kernel and n, m, k", "loads", "within a tenth", "stores", "within a tenth"), rows)}
"""
    return text, papers


def counted_part(cases, names, judge):
    """`judge(name, cases, times, names)` -> Verdict, as for all other models."""
    launches = sum(len(case.counters) for case in cases)
    block_text, verdicts, papers = blocks_text(cases, names, judge)
    cause_text, cause_papers = causes_text(cases)
    transaction_text, transaction_papers = transactions_text(cases)
    text = f"""## Counters

{launches} launches of {sum(bool(case.counters) for case in cases)} cases under `ncu`.

{block_text}{cause_text}{transaction_text}"""
    assert all(isinstance(one, Verdict) for one in verdicts)
    return text, verdicts, papers + cause_papers + transaction_papers
