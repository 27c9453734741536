"""usage: report.py DATA OUT: trains and scores all models on the data of one device; writes report.md and the figures in OUT."""

import sys
from pathlib import Path

import numpy
from sklearn.tree import export_text

import blocks
import factors
import grids
import plots
import rules as own_rules
from counted_part import counted_part, has_counters
from data import PLAIN, digest, families, geomean, is_slower, load
from verdicts import Order, Verdict, beside, decision, percent, table

SHOWN = ("triad", "matvec", "column_sums", "gemm", "syrk", "pull")
FRACTIONS = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.75, 1.0]


def chosen_words(chosen):
    """What the selection inside took, and for how many families."""
    counts = {}
    for one in chosen.values() if isinstance(chosen, dict) else chosen:
        counts[str(one)] = counts.get(str(one), 0) + 1
    return "; ".join(f"{name} for {count}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def data_part(cases):
    points = sum(len(case.times) for case in cases)
    ratios = sorted(max(case.again, case.reference) / min(case.again, case.reference) for case in cases)
    return f"""## Data

{len(cases)} cases (kernels at a size) of {len({case.kernel for case in cases})} kernels in {len(families(cases))} families, {points} points. LLVM's grid, measured first and last in a
case: nine of ten cases differ by at most {percent(ratios[int(0.9 * len(ratios))] - 1)}. Of the best plain grid's speed LLVM's own has {percent(1 / geomean(case.reference / case.best for case in cases))} in the
geometric mean, and `thread_limit(128)` alone {percent(1 / geomean(case.time("limit128") / case.best for case in cases))}.
"""


def rules_part(cases, names):
    rules = names[0]
    head, rows = own_rules.by_family(cases, names)
    lost = own_rules.losses(cases, names)
    listed = []
    for case in lost:
        best = own_rules.best_grid(case)
        took = [f"{words(case, case.choices[who])}: {case.time(who):.1f} us, {case.time(who) / case.best:.2f}" for who in names]
        listed.append((case.family, case.name, *took, f"{words(case, best)}: {case.best:.1f} us"))
    counts = {who: sum(case.time(who) > own_rules.LOSS * case.best and is_slower(case.time(who), case.best) for case in cases) for who in names}
    faster = {who: sum(is_slower(case.time(other), case.time(who)) for case in cases) for who, other in ((names[0], names[-1]), (names[-1], names[0]))}
    return f"""## The rules

`ompsplit --device D --passes geometry` with the profile of each device that the data have choices for. A profile holds what was measured on its device; what is not known keeps a
general value. On this device the {own_rules.label(rules)} are {geomean(case.time(names[-1]) / case.time(rules) for case in cases):.3f} times as fast as the {own_rules.label(names[-1])} (faster in {faster[rules]} of {len(cases)} cases, slower
in {faster[names[-1]]}), so that models are held against the former; to ship, a model must beat both. Neither has seen these data.

Regret (the time over that of the best plain grid, geometric mean) in each family:

{table(head, rows)}
Cases in which the rules take more than {own_rules.LOSS} times as long as the best grid, and 2 us: {" and ".join(f"{count} with the {own_rules.label(who)}" for who, count in counts.items())}. A grid is blocks x threads, then its time and regret.

{table(("family", "kernel and n, m, k", *map(own_rules.label, names), "best grid"), listed)}
"""


def grid_row(name, cases, chosen, names):
    one, other = (grids.figures(cases, chosen, who) for who in (names[0], names[-1]))
    return (name, f"{one['speed']:.3f}", f"{one['regret']:.3f}", f"{one['near']} of {len(cases)}", f"{one['worst']:.2f}", one["losses"],
            f"{one['of_rules']:.3f}", f"{one['worst_of_rules']:.2f}", one["losses_of_rules"], f"{other['of_rules']:.3f}", f"{other['worst_of_rules']:.2f}")


def verdict(name, cases, times, names):
    return Verdict(name, {own_rules.label(who): figures for who, figures in own_rules.judged(cases, times, names).items()})


def grid_part(cases, names, out):
    rules = names[0]
    data = grids.Table(cases)
    groups = [case.family for case in cases]
    predicted, chosen = grids.held_out(data, grids.FORESTS)
    lone, lone_chosen = grids.held_out(data, grids.TREES_ALONE)
    times, _ = grids.held_out(data, grids.FORESTS[:1])
    folds = grids.ten_fold(data, max(set(chosen.values()), key=list(chosen.values()).count))
    guarded, margins = grids.guarded(data, predicted, rules, groups)
    picks = {
        "`thread_limit(128)` alone": [case.choices["limit128"] for case in cases],
        "the best size for the other families, all blocks": grids.fixed_best(cases),
        "Lloyd's heuristic (Figure 7)": grids.by_families(cases, "lloyd"),
        "Chikin's heuristic (Table 1)": grids.by_families(cases, "chikin"),
        "Chikin's with the capacity of an H200": grids.by_families(cases, "capacity"),
        "Lloyd's heuristic, the best size for each case": grids.best_sizes(cases, "lloyd"),
        **{f"ompsplit's {own_rules.label(who)}": [case.choices[who] for case in cases] for who in names},
        "forest": grids.chosen(data, predicted),
        "forest of times, as Lloyd's": grids.chosen(data, times),
        "one regression tree": grids.chosen(data, lone),
        "forest where it is sure, else the rules": guarded,
        "forest, ten folds of cases": grids.chosen(data, folds),
        "the best grid measured": [min((grid for grid in case.times if grid.form == grids.PLAIN), key=case.times.get) for case in cases],
    }
    rows = [grid_row(name, cases, one, names) for name, one in picks.items()]
    model = grids.fit(data, max(set(chosen.values()), key=list(chosen.values()).count), range(len(cases)))
    plots.importance(out / "importance.svg", data.names, model.feature_importances_)
    shown = [next(case for case in reversed(cases) if case.kernel == name) for name in SHOWN]
    index = {id(case): place for place, case in enumerate(cases)}
    plots.times(out / "times.svg", [(case, {"llvm": case.choices["llvm"], "lloyd": picks["Lloyd's heuristic (Figure 7)"][index[id(case)]],
                                            "rules": case.choices[rules], "forest": picks["forest"][index[id(case)]]}) for case in shown])
    generator = numpy.random.default_rng(1)
    random = numpy.mean([grids.searched(data, lambda one: generator.permutation(len(data.grids[one])), FRACTIONS) for _ in range(50)], axis=0)
    lloyd = picks["Lloyd's heuristic (Figure 7)"]
    curves = {
        "forest": grids.searched(data, lambda one: numpy.argsort(predicted[one], kind="stable"), FRACTIONS),
        "one tree": grids.searched(data, lambda one: numpy.argsort(lone[one], kind="stable"), FRACTIONS),
        "the rules' choice, then the forest's order": grids.searched(data, lambda one: grids.after(data, one, cases[one].choices[rules], predicted[one]), FRACTIONS),
        "from the rules' choice outwards": grids.searched(data, lambda one: grids.outwards(data, one, cases[one].choices[rules]), FRACTIONS),
        "from Lloyd's choice outwards": grids.searched(data, lambda one: grids.outwards(data, one, lloyd[one]), FRACTIONS),
        "in random order": random,
    }
    models = ("forest", "one tree", "the rules' choice, then the forest's order")
    plots.searched(out / "searched.svg", FRACTIONS, curves)
    learned = ("forest", "forest of times, as Lloyd's", "one regression tree", "forest where it is sure, else the rules")
    verdicts = [verdict(name, cases, [case.times[grid] for case, grid in zip(cases, picks[name])], names) for name in learned]
    best = {name: grids.figures(cases, picks[name], rules) for name in picks}
    paper_forest, heuristic, most = best["forest of times, as Lloyd's"], best["Lloyd's heuristic (Figure 7)"], best["the best grid measured"]
    apart = [index for index, case in enumerate(cases) if case.static[PLAIN]["uncoalesced"] > 0]
    chikin = picks["Chikin's heuristic (Table 1)"]
    papers = [
        ("Lloyd 2018", "random forest over LLVM's grid, mean, worst", "1.05, 1/23.8 (Table I; its text: 1/3.5)",
         f"{paper_forest['speed']:.2f}, {paper_forest['worst']:.2f}; the same by the ratio to LLVM's time: {best['forest']['speed']:.2f}, {best['forest']['worst']:.2f}"),
        ("Lloyd 2018", "heuristic (Figure 7) over LLVM's grid, mean, worst, within 10 % of the best", "1.259, 1/1.65, 19 of 23",
         f"{heuristic['speed']:.2f}, {heuristic['worst']:.2f}, {heuristic['near']} of {len(cases)}"),
        ("Lloyd 2018", "the best grid over LLVM's, mean", "1.36", f"{most['speed']:.2f}"),
        ("Chikin 2018", "Table 1's occupancies over Lloyd's heuristic where accesses are uncoalesced", "no mean given",
         f"{geomean(cases[index].times[lloyd[index]] / cases[index].times[chikin[index]] for index in apart):.3f} in {len(apart)} cases"),
        ("ompsplit", "rules over LLVM's grid, mean, worst, within 10 % of the best", "", "; ".join(
            f"profile `{who.removeprefix('rules_')}`: {one['speed']:.2f}, {one['worst']:.2f}, {one['near']} of {len(cases)}"
            for who, one in ((who, best[f"ompsplit's {own_rules.label(who)}"]) for who in names))),
    ]
    orders = [Order(name, name in models, first_part(values), values[FRACTIONS.index(0.1)], values[FRACTIONS.index(0.25)]) for name, values in curves.items()]
    worst = sorted(zip(cases, picks["forest"]), key=lambda pair: pair[0].time(rules) / pair[0].times[pair[1]])[:6]
    text = f"""## The grid: Lloyd's random forest

Each case is predicted by a model that has not seen its family; its kind was chosen on the other families. Speeds are geometric means. Regret: the time over that of
the best plain grid measured. Near: within 10 % of the best or 2 us. The worst cases allow 2 us. Slower: by more than 2 % and 2 us.

{table(("choice", "speed over LLVM's grid", "regret", "near", "worst", "slower than LLVM", f"over the {own_rules.label(rules)}", "worst", "slower", f"over the {own_rules.label(names[-1])}", "worst"), rows)}
The sizes of blocks of both heuristics are those that are best for the other families, as Lloyd's paper has it; they know the registers that the compiler gave, which the rules do not, and uncoalesced accesses as the rules do. LLVM's time is the lesser
of two measurements, that of the best grid the least of about a hundred, so that every regret is an upper bound. The rules write a grid only where the whole construct
gains, its launch included: what differs by a few microseconds is left alone. The margin of the guarded forest was chosen by predictions for the other families from forests that had seen the family: a choice of one in four.

Selected (target, model, least points in a leaf): {chosen_words(chosen)}. One tree: {chosen_words(lone_chosen)}. Margins of the guarded forest: {chosen_words(margins)}.

Where the forest loses most to the rules: {"; ".join(f"{case.name} ({case.time(rules):.1f} us with {words(case, case.choices[rules])}, {case.times[grid]:.1f} with {words(case, grid)})" for case, grid in worst)}.

**As an order of candidates**: how close the best grid found comes (geometric mean) when a part of the grids is measured, and the part that is needed for 95 %.

{table(("order", *(percent(one) for one in FRACTIONS[:9]), "95 % from"), [(name, *(f"{value:.3f}" for value in values[:9]), percent(first_part(values))) for name, values in curves.items()])}
![How close the best grid found comes, over the part that was searched](searched.svg)

![Time over grids with the choices](times.svg)

![Importance of the features](importance.svg)

"""
    return text, verdicts, orders, papers


def words(case, grid):
    return f"{grid.teams} x {grid.threads}" if grid.threads > 0 else "LLVM's grid" if grid.threads == 0 else "`thread_limit(128)`"


def first_part(values):
    """The part of the grids after which 95 % of the best one's speed is found."""
    return next(part for part, value in zip(FRACTIONS, values) if value >= 0.95)


def block_part(cases, names, out):
    rules = names[0]
    advice = blocks.Advice(cases)
    counts = {name: int((advice.labels == label).sum()) for name, label in (("increase", 1), ("decrease", -1), ("keep", 0))}
    rows, verdicts, papers = [], [], []
    for name, candidates, paper in (("SVM", blocks.SVMS, "83.7 %"), ("tree", blocks.TREES, "81.4 %")):
        predicted, chosen = advice.held_out(candidates)
        folds, best = advice.ten_fold(candidates)
        ends = advice.walks(predicted)
        walk = blocks.walk_figures(ends, rules)
        rows.append((name, paper, percent(folds), percent((predicted == advice.labels).mean()), f"{walk['speed']:.3f}", f"{walk['most']:.2f}", f"{walk['worst']:.2f}",
                     f"{walk['of_rules']:.3f}", f"{walk['worst_of_rules']:.2f}"))
        walked = [case for case, _ in ends]
        verdicts.append(verdict(f"Connors' {name}", walked, [case.times[blocks.grid(case, threads)] for case, threads in ends], names))
        papers.append(("Connors 2017", f"{name}, accuracy in ten folds", paper, f"{percent(folds)}; families held out {percent((predicted == advice.labels).mean())}"))
        papers.append(("Connors 2017", f"{name}, the most that a walk gains over 128 threads", "1.8 (SVM, 6 kernels)" if name == "SVM" else "", f"{walk['most']:.2f}, mean {walk['speed']:.3f}, worst {walk['worst']:.2f}"))
    papers.append(("Connors 2017", "always the most frequent label", "", percent(max(counts.values()) / len(advice.labels))))
    majority = max(counts.values()) / len(advice.labels)
    ideal = blocks.walk_figures(advice.walks(advice.labels), rules)
    rows.append(("the labels themselves", "", "100 %", "100 %", f"{ideal['speed']:.3f}", f"{ideal['most']:.2f}", f"{ideal['worst']:.2f}", f"{ideal['of_rules']:.3f}", f"{ideal['worst_of_rules']:.2f}"))
    found = plots.clusters(cases)
    plots.components(out / "pca.svg", cases, found)
    parts = found[0].explained_variance_ratio_
    needed = int(numpy.searchsorted(numpy.cumsum(parts), 0.95)) + 1
    model = advice.fit(("tree", 3, 15), numpy.arange(len(advice.labels)))[1]
    text = f"""## The size of a block: Connors' advice

{len(advice.labels)} instances by Algorithm 1 from blocks of {", ".join(map(str, blocks.SIZES))} threads, 128 the base, one iteration a thread: {", ".join(f"{count} {name}" for name, count in counts.items())}; always the most
frequent label is right in {percent(majority)}. The features are those that are known before a run: {len(advice.all_names)}, of which {len(advice.names)} are left where those that
correlate above 0.9 go ({", ".join(advice.names)}). Speeds are those of the walk from 128 threads to where the advice is to keep, over 128 threads.

{table(("model", "paper, ten folds", "ten folds", "families held out", "speed", "most", "worst", f"over the {own_rules.label(rules)}", "worst"), rows)}
The paper has no held-out families; its walks on 6 kernels gain up to 1.8. The ten folds share kernels between parts, and their parameters are those with the best figure; what is held out says what advice is worth.

Principal components of the static features: {needed} of {len(parts)} explain 95 %; k-means has its best silhouette ({found[3]:.2f}) with {len(set(found[2].tolist()))} clusters.

![Kernels in the plane of the first two principal components](pca.svg)

The tree of all families, three levels deep (1: larger, -1: smaller blocks, 0: keep):

```
{export_text(model, feature_names=advice.names, decimals=1)}```

"""
    return text, verdicts, papers


def factor_row(name, series, taken):
    one = factors.figures(series, taken)
    return (name, f"{one['speed']:.3f}", percent(one["of_gain"]), f"{one['worst']:.2f}", one["applied"], one["broken"], one["above"], percent(one["right"] / len(series)))


def factor_part(cases, names, out):
    rules = names[0]
    coarsened = rules.replace("rules", "coarsen")
    series = factors.all_series(cases)
    plots.factors(out / "factors.svg", series)
    causes = factors.Causes(factors.changes(series))
    candidate = max(causes.CANDIDATES, key=lambda one: numpy.corrcoef(numpy.log(causes.ten_fold(one)), numpy.log(causes.speedups))[0, 1])
    folds = causes.ten_fold(candidate)
    held, _ = grids.nested(causes.groups, causes.CANDIDATES, causes.fit, causes.score, causes.predict)

    def quality(found):
        correlation, error = causes.quality(found)
        return f"{correlation:.2f}", percent(error)

    tree = causes.fit((3, 30), numpy.arange(len(causes.speedups)))
    family, chosen = factors.by_family(series)
    kernel, _ = factors.by_kernel(series)
    taken = {
        "never": [1] * len(series),
        "unique factor (section 7.7.1)": factors.unique(series),
        "the pass `coarsen`": factors.of_rules(series, coarsened),
        "network, families held out": family,
        "network, kernels held out": kernel,
        "the best factor": [one.best for one in series],
    }
    rows = [factor_row(name, series, one) for name, one in taken.items()]
    strides = factors.strides(cases)
    whole = [case.time(rules) / case.time(coarsened) for case in cases if case.choices[coarsened] in case.times]
    grouped = [case for case in cases if case.choices[coarsened].form.factor > 1 and case.choices[coarsened] in case.times]
    gains = [case.time(rules) / case.time(coarsened) for case in grouped]
    best = {factor: sum(one.best == factor for one in series) for factor in factors.FACTORS}
    network, own, alone, by_kernel = (factors.figures(series, one) for one in (family, taken["the pass `coarsen`"], taken["unique factor (section 7.7.1)"], kernel))
    inside, outside = quality(folds), quality(held)
    stride = geomean(rule / better for rule, better in strides)
    papers = [
        ("Magni 2015", "trees: correlation and error of predicted speedups", "at least 0.8, about 10 % (training data)", f"ten folds {' and '.join(inside)}; families held out {' and '.join(outside)}"),
        ("Magni 2015", "stride 32 where coalesced, else 1, of the best", "75.7, 75.6 % (Fermi, Kepler)", f"{percent(stride)} of the better of 1 and 32"),
        ("Magni 2015", "network: speedup, part of the possible gain", "1.08, 1.05; 31, 30 %", f"{network['speed']:.3f}; {percent(network['of_gain'])}; kernels held out {by_kernel['speed']:.3f}; {percent(by_kernel['of_gain'])}"),
        ("Magni 2015", "network: above 1 where 1 is best; too large", "0; 4 of 68", f"{network['broken']}; {network['above']} of {len(series)}"),
        ("Magni 2015", "unique factor", "below 1 on NVIDIA", f"{alone['speed']:.3f}"),
    ]
    text = f"""## The coarsening factor: Magni's trees and network

{len(series)} series (a case coarsened along one loop) with factors 1 to 16; a speedup is the best grid of a factor over the best grid without, with blocks of {", ".join(map(str, factors.THREADS))} threads. The best
factor is {", ".join(f"{factor} in {count}" for factor, count in best.items())}; a speedup below {factors.WORTHWHILE} is none.

**Stride** (section 7.5: 32 where accesses are coalesced, else 1): {percent(stride)} of the speed of the better one of 1 and 32, in the geometric mean of {len(strides)} cases; the worst has {percent(min(rule / better for rule, better in strides))}. The thesis has 75.7 and 75.6 % of
the greatest speedup on its NVIDIA devices.

**Which causes explain a slowdown** (chapter 5): a regression tree over what an iteration has of each static feature, relative to factor 1; predicted sectors stand for counters.
Correlation and median error, in ten folds {" and ".join(inside)}, on held-out families {" and ".join(outside)}; the thesis has at least 0.8 and about 10 %, on its training data.

```
{export_text(tree, feature_names=causes.names, decimals=2)}```

**The network** (section 7.6): 16 static features and their changes, and the size; principal components of 95 %; one hidden layer; asked again after each doubling. The gate is hard: a factor above 1 where 1 is best
counts as broken.

{table(("factor", "speed", "of the gain", "worst", "coarsened", "gate broken", "too large", "right"), rows)}
The thesis: 1.08 and 1.05 on Fermi and Kepler (31 and 30 % of what is possible), the unique factor below 1, the gate never broken in 17 programs, too large in 4 of 68. Selected (nodes, penalty, threshold): {chosen_words(chosen)}.

The pass `coarsen` with its own grid against the rules' grid without it: {geomean(whole):.3f} in {len(whole)} cases; of {len(grouped)} that it groups {geomean(gains) if gains else 1:.3f}, the worst {min(gains, default=1):.2f}, {sum(is_slower(case.time(coarsened), case.time(rules)) for case in grouped)} slower.

![Speedup over the coarsening factor](factors.svg)

"""
    # Against the pass `coarsen`: the factor of each in the same series.
    own_factors = taken["the pass `coarsen`"]
    worst = min(one.speedups[a] / one.speedups[b] for one, a, b in zip(series, family, own_factors))
    against = {"pass `coarsen`": (network["speed"] / own["speed"], worst), "loop as written": (network["speed"], network["worst"])}
    return text, [Verdict("Magni's network", against, network["broken"] == 0)], papers


def main(folder, out):
    folder, out = Path(folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    cases = load(folder)
    names = own_rules.profiles(cases)
    grid_text, verdicts, orders, papers = grid_part(cases, names, out)
    block_text, block_verdicts, block_papers = block_part(cases, names, out)
    factor_text, factor_verdicts, factor_papers = factor_part(cases, names, out)
    counted_text, counted_verdicts, counted_papers = counted_part(cases, names, verdict) if has_counters(cases) else ("", [], [])
    head = f"""# Learned choices on {folder.name.upper()}

Made by `learn/analysis/report.py`; every number comes from it. Data: `learn/data/{folder.name}`, SHA-256 of its tables one behind the other
`{digest(folder)}`.

"""
    ends = (decision([*verdicts, *block_verdicts, *factor_verdicts, *counted_verdicts], orders),
            beside(papers + block_papers + factor_papers + counted_papers))
    text = head + data_part(cases) + "\n" + "\n".join(ends) + rules_part(cases, names) + grid_text + block_text + factor_text + counted_text
    (out / "report.md").write_text(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
