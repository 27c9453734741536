"""usage: report.py DATA OUT: trains and scores all models on the data of one device; writes report.md and the figures in OUT."""

import sys
from pathlib import Path

import numpy
from sklearn.tree import export_text

import blocks
import factors
import grids
import plots
from data import digest, families, geomean, is_slower, load

SHOWN = ("triad", "matvec", "column_sums", "gemm", "syrk", "pull")
FRACTIONS = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.75, 1.0]


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows]) + "\n"


def percent(value):
    return f"{100 * value:.1f} %"


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


def grid_row(name, cases, chosen, rules):
    one = grids.figures(cases, chosen, rules)
    return (name, f"{one['speed']:.3f}", f"{one['of_rules']:.3f}", f"{one['regret']:.3f}", f"{one['near']} of {len(cases)}",
            f"{one['worst']:.2f}", f"{one['worst_of_rules']:.2f}", one["losses"], one["losses_of_rules"])


def ships(cases, chosen, rules):
    one = grids.figures(cases, chosen, rules)
    return one["of_rules"] > 1 and one["worst_of_rules"] >= 0.98


def grid_part(cases, rules, out):
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
        "the same with the capacity of an H200": grids.by_families(cases, "capacity"),
        "ompsplit's rules": [case.choices[rules] for case in cases],
        "forest": grids.chosen(data, predicted),
        "forest of times, as Lloyd's": grids.chosen(data, times),
        "one regression tree": grids.chosen(data, lone),
        "forest where it is sure, else the rules": guarded,
        "forest, ten folds of cases": grids.chosen(data, folds),
        "the best grid measured": [min((grid for grid in case.times if grid.form == grids.PLAIN), key=case.times.get) for case in cases],
    }
    rows = [grid_row(name, cases, one, rules) for name, one in picks.items()]
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
        "from the rules' choice outwards": grids.searched(data, lambda one: grids.outwards(data, one, cases[one].choices[rules]), FRACTIONS),
        "from Lloyd's choice outwards": grids.searched(data, lambda one: grids.outwards(data, one, lloyd[one]), FRACTIONS),
        "in random order": random,
    }
    plots.searched(out / "searched.svg", FRACTIONS, curves)
    verdict = {name: ships(cases, picks[name], rules) for name in ("forest", "one regression tree", "forest where it is sure, else the rules")}
    worst = sorted(zip(cases, picks["forest"]), key=lambda pair: pair[0].time(rules) / pair[0].times[pair[1]])[:6]
    text = f"""## The grid: Lloyd's random forest

Each case is predicted by a model that has not seen its family; its kind was chosen on the other families. Speeds are geometric means. Regret: the time over that of
the best plain grid measured. Near: within 10 % of the best or 2 us. The worst cases allow 2 us. Slower: by more than 2 % and 2 us.

{table(("choice", "speed over LLVM's grid", "over the rules", "regret", "near", "worst to LLVM", "worst to rules", "slower than LLVM", "slower than rules"), rows)}
Lloyd's paper: the forest 1.05 over LLVM's grid, worst 0.04 (1/23.784 in Table I), the heuristic 1.259, worst 0.61, 19 of 23 near; best possible 1.36.

Selected (target, model, least points in a leaf): {chosen_words(chosen)}. One tree: {chosen_words(lone_chosen)}. Margins of the guarded forest: {chosen_words(margins)}.

Where the forest loses most to the rules: {"; ".join(f"{case.name} ({case.time(rules):.1f} us with {words(case, case.choices[rules])}, {case.times[grid]:.1f} with {words(case, grid)})" for case, grid in worst)}.

**As an order of candidates**: how close the best grid found comes (geometric mean) when a part of the grids is measured, and the part that is needed for 95 %.

{table(("order", *(percent(one) for one in FRACTIONS[:9]), "95 % from"), [(name, *(f"{value:.3f}" for value in values[:9]), first_part(values)) for name, values in curves.items()])}
![How close the best grid found comes, over the part that was searched](searched.svg)

![Time over grids with the choices](times.svg)

![Importance of the features](importance.svg)

"""
    return text, verdict, curves


def words(case, grid):
    return f"{grid.teams} x {grid.threads}" if grid.threads > 0 else "LLVM's grid" if grid.threads == 0 else "`thread_limit(128)`"


def first_part(values):
    return next(percent(part) for part, value in zip(FRACTIONS, values) if value >= 0.95)


def block_part(cases, rules, out):
    advice = blocks.Advice(cases)
    counts = {name: int((advice.labels == label).sum()) for name, label in (("increase", 1), ("decrease", -1), ("keep", 0))}
    rows, verdicts = [], {}
    for name, candidates, paper in (("SVM", blocks.SVMS, "83.7 %"), ("tree", blocks.TREES, "81.4 %")):
        predicted, chosen = advice.held_out(candidates)
        folds, best = advice.ten_fold(candidates)
        walk = blocks.walk_figures(advice.walks(predicted), rules)
        rows.append((name, paper, percent(folds), percent((predicted == advice.labels).mean()), f"{walk['speed']:.3f}", f"{walk['most']:.2f}", f"{walk['worst']:.2f}",
                     f"{walk['of_rules']:.3f}", f"{walk['worst_of_rules']:.2f}"))
        verdicts[f"Connors' {name}"] = walk["of_rules"] > 1 and walk["worst_of_rules"] >= 0.98
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
frequent label is right in {percent(majority)}. No counters could be read, so that the features are static: {len(advice.all_names)}, of which {len(advice.names)} are left where those that
correlate above 0.9 go ({", ".join(advice.names)}). Speeds are those of the walk from 128 threads to where the advice is to keep, over 128 threads.

{table(("model", "paper, ten folds", "ten folds", "families held out", "speed", "most", "worst", "over the rules", "worst to rules"), rows)}
The paper has no held-out families; its walks on 6 kernels gain up to 1.8. The ten folds share kernels between parts, and their parameters are those with the best figure; what is held out says what advice is worth.

Principal components of the static features: {needed} of {len(parts)} explain 95 %; k-means has its best silhouette ({found[3]:.2f}) with {len(set(found[2].tolist()))} clusters.

![Kernels in the plane of the first two principal components](pca.svg)

The tree of all families, three levels deep (1: larger, -1: smaller blocks, 0: keep):

```
{export_text(model, feature_names=advice.names, decimals=1)}```

"""
    return text, verdicts


def factor_row(name, series, taken):
    one = factors.figures(series, taken)
    return (name, f"{one['speed']:.3f}", f"{one['of_most']:.3f}", f"{one['worst']:.2f}", one["applied"], one["broken"], one["above"], percent(one["right"] / len(series)))


def factor_part(cases, rules, out):
    coarsened = rules.replace("rules", "coarsen")
    series = factors.all_series(cases)
    plots.factors(out / "factors.svg", series)
    causes = factors.Causes(series)
    candidate = max(causes.CANDIDATES, key=lambda one: numpy.corrcoef(numpy.log(causes.ten_fold(one)), numpy.log(causes.speedups))[0, 1])
    folds = causes.ten_fold(candidate)
    held, _ = grids.nested(causes.groups, causes.CANDIDATES, causes.fit, causes.score, causes.predict)

    def quality(found):
        found = numpy.asarray(found)
        return f"{numpy.corrcoef(numpy.log(found), numpy.log(causes.speedups))[0, 1]:.2f}", percent(numpy.median(numpy.abs(found / causes.speedups - 1)))

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
    network, own = factors.figures(series, family), factors.figures(series, taken["the pass `coarsen`"])
    text = f"""## The coarsening factor: Magni's trees and network

{len(series)} series (a case coarsened along one loop) with factors 1 to 16; a speedup is the best grid of a factor over the best grid without, with blocks of {", ".join(map(str, factors.THREADS))} threads. The best
factor is {", ".join(f"{factor} in {count}" for factor, count in best.items())}; a speedup below {factors.WORTHWHILE} is none.

**Stride** (section 7.5: 32 where accesses are coalesced, else 1): {percent(geomean(rule / better for rule, better in strides))} of the speed of the better one of 1 and 32, in the geometric mean of {len(strides)} cases; the worst has {percent(min(rule / better for rule, better in strides))}. The thesis has 75.7 and 75.6 % of
the greatest speedup on its NVIDIA devices.

**Which causes explain a slowdown** (chapter 5): a regression tree over what an iteration has of each static feature, relative to factor 1; predicted sectors stand for counters.
Correlation and median error, in ten folds {" and ".join(quality(folds))}, on held-out families {" and ".join(quality(held))}; the thesis has at least 0.8 and about 10 %, on its training data.

```
{export_text(tree, feature_names=causes.names, decimals=2)}```

**The network** (section 7.6): 16 static features and their changes, and the size; principal components of 95 %; one hidden layer; asked again after each doubling. The gate is hard: a factor above 1 where 1 is best
counts as broken.

{table(("factor", "speed", "of the most", "worst", "coarsened", "gate broken", "too large", "right"), rows)}
The thesis: 1.08 and 1.05 on Fermi and Kepler (31 and 30 % of what is possible), the unique factor below 1, the gate never broken in 17 programs, too large in 4 of 68. Selected (nodes, penalty, threshold): {chosen_words(chosen)}.

The pass `coarsen` with its own grid against the rules' grid without it: {geomean(whole):.3f} in {len(whole)} cases; of {len(grouped)} that it groups {geomean(gains) if gains else 1:.3f}, the worst {min(gains, default=1):.2f}, {sum(is_slower(case.time(coarsened), case.time(rules)) for case in grouped)} slower.

![Speedup over the coarsening factor](factors.svg)

"""
    return text, {"the network": network["broken"] == 0 and network["speed"] > own["speed"] and network["worst"] >= 0.98}


def decision(verdicts, curves):
    shipped = [name for name, ships in verdicts.items() if ships]
    parts = {name: first_part(values) for name, values in curves.items()}
    words = f"Shipped: {', '.join(shipped)}." if shipped else "No model ships."
    return f"""## What ships

A model ships where it beats the rules on held-out families and no case has less than 0.98 of their speed (the network: the gate unbroken besides). {words}

{table(("model", "ships"), [(name, "yes" if one else "no") for name, one in verdicts.items()])}
As an order of `tune`'s candidates: 95 % of the best grid's speed is found in {"; ".join(f"{part} of the grids with {name}" for name, part in parts.items())}.
"""


def main(folder, out):
    folder, out = Path(folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    cases = load(folder)
    device = folder.name
    rules = f"rules_{device}"
    grid_text, verdicts, curves = grid_part(cases, rules, out)
    block_text, more = block_part(cases, rules, out)
    factor_text, last = factor_part(cases, rules, out)
    verdicts |= more | last
    head = f"""# Learned choices on {device.upper()}

Made by `learn/analysis/report.py`; every number comes from it. Data: `learn/data/{device}`, SHA-256 of its files one behind the other
`{digest(folder)}`.

"""
    text = head + data_part(cases) + "\n" + grid_text + block_text + factor_text + decision(verdicts, curves)
    (out / "report.md").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
