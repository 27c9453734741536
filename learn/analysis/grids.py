"""Lloyd's random forest for the grid (2018, section III), and the heuristics that it is held against."""

import math

import numpy
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from data import PLAIN, geomean, grid_features, is_slower, static_features, worth
from folds import nested, random_folds

TREES = 40
LIMITS = (32, 64, 96, 128, 256)
# Target of the forest, its kind, and the least points in a leaf. `time` is Lloyd's own: the logarithm of the time. `ratio` is that of the time
# over the time of LLVM's grid.
FORESTS = [("time", "forest", 2), ("ratio", "forest", 2), ("ratio", "forest", 8)]
TREES_ALONE = [("ratio", "tree", 20), ("ratio", "tree", 60), ("ratio", "tree", 200)]
MARGINS = (0.05, 0.1, 0.2, 0.4)


class Table:
    """A row for each grid of each case."""

    def __init__(self, cases):
        self.cases = cases
        self.grids = [sorted(case.plain) for case in cases]
        self.spans, rows, self.times = [], [], []
        for case, grids in zip(cases, self.grids):
            fixed = static_features(case)
            self.spans.append((len(rows), len(rows) + len(grids)))
            for grid in grids:
                values = {**fixed, **grid_features(case, grid)}
                rows.append(list(values.values()))
                self.times.append(case.times[grid])
            self.names = list(values)
        self.rows = numpy.array(rows, dtype=numpy.float32)
        self.times = numpy.array(self.times)
        self.reference = numpy.concatenate([[case.reference] * (b - a) for case, (a, b) in zip(cases, self.spans)])

    def of(self, indices):
        return numpy.concatenate([numpy.arange(*self.spans[index]) for index in indices])

    def target(self, kind):
        return numpy.log(self.times if kind == "time" else self.times / self.reference)


def fit(table, candidate, indices):
    kind, model, leaf = candidate
    rows = table.of(indices)
    if model == "tree":
        regressor = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=1)
    else:
        regressor = RandomForestRegressor(TREES, min_samples_leaf=leaf, max_features=0.4, max_samples=0.35, n_jobs=2, random_state=1)
    return regressor.fit(table.rows[rows], table.target(kind)[rows])


def predictions(table, model, indices):
    """The predicted logarithm for each grid of each case."""
    values = model.predict(table.rows[table.of(indices)])
    ends = numpy.cumsum([len(table.grids[index]) for index in indices])[:-1]
    return numpy.split(values, ends)


def score(table, candidate, model, indices):
    """The logarithm of how close the chosen grids come to the best ones."""
    total = 0.0
    for index, values in zip(indices, predictions(table, model, indices)):
        case = table.cases[index]
        total += math.log(min(case.plain.values()) / case.times[table.grids[index][int(numpy.argmin(values))]])
    return total / len(indices)


def held_out(table, candidates):
    """For each case the predicted logarithms of its grids, by a model that has not seen its family."""
    groups = [case.family for case in table.cases]
    return nested(groups, candidates, lambda candidate, a: fit(table, candidate, a), lambda candidate, model, b: score(table, candidate, model, b),
                  lambda candidate, model, b: predictions(table, model, b))


def ten_fold(table, candidate):
    """The same in ten folds of cases, whatever their family."""
    found = [None] * len(table.cases)
    for train, test in random_folds(len(table.cases), 10):
        for index, values in zip(test, predictions(table, fit(table, candidate, train), test)):
            found[index] = values
    return found


def chosen(table, predicted):
    """The grid with the least prediction in each case."""
    return [grids[int(numpy.argmin(values))] for grids, values in zip(table.grids, predicted)]


def guarded(table, predicted, rules, groups):
    """The rules' choice, unless the model predicts a grid to be faster by a margin; the margin is the least one with which no other family has
    a case below 0.98 of the rules' speed, or the largest."""
    def choose(index, margin):
        case, values = table.cases[index], predicted[index]
        own = case.choices[rules]
        best = int(numpy.argmin(values))
        # What the rules leave to LLVM has no predicted time of its own: its threads are those that were launched.
        place = int(outwards(table, index, own)[0])
        return table.grids[index][best] if values[best] < values[place] - margin else own

    margins, grids = {}, []
    for family in sorted(set(groups)):
        others = [index for index, group in enumerate(groups) if group != family]
        safe = [margin for margin in MARGINS if all(
            worth(table.cases[index].times[choose(index, margin)], table.cases[index].time(rules)) >= 0.98 for index in others)]
        margins[family] = safe[0] if safe else MARGINS[-1]
    for index, group in enumerate(groups):
        grids.append(choose(index, margins[group]))
    return grids, margins


def outwards(table, index, own):
    """The places of a case's grids, those most like a choice first."""
    case, grids = table.cases[index], table.grids[index]
    threads, teams = (own.threads, own.teams) if own.threads > 0 else case.launched[own]
    distance = [abs(math.log2(grid.threads / max(threads, 1))) + abs(math.log2(grid.teams / max(teams, 1))) for grid in grids]
    return numpy.argsort(distance, kind="stable")


def after(table, index, own, predicted):
    """A choice first, or the grid most like it, then the others as they are predicted."""
    first = outwards(table, index, own)[0]
    order = numpy.argsort(predicted, kind="stable")
    return numpy.concatenate([[first], order[order != first]])


def by_families(cases, name):
    """A heuristic with the number of threads that is best on the other families, as Lloyd chose it (section II.B)."""
    grids = []
    for case in cases:
        others = [one for one in cases if one.family != case.family]
        threads = min(LIMITS, key=lambda limit: geomean(one.time(f"{name}{limit}") / one.best for one in others))
        grids.append(case.choices[f"{name}{threads}"])
    return grids


def best_sizes(cases, name):
    """A heuristic with the number of threads that is best in the case itself: more than anybody knows before."""
    return [case.choices[min((f"{name}{limit}" for limit in LIMITS), key=case.time)] for case in cases]


def fixed_best(cases):
    """LLVM's grid with the literal limit that is best on the other families: as many blocks as there are iterations for."""
    grids = []
    for case in cases:
        others = [one for one in cases if one.family != case.family]
        threads = min(LIMITS, key=lambda limit: geomean(one.times[full(one, limit)] / one.best for one in others))
        grids.append(full(case, threads))
    return grids


def full(case, threads):
    """As many blocks as give each thread an iteration; the most that were measured."""
    return max((grid for grid in case.plain if grid.threads == threads), key=lambda grid: grid.teams)


def figures(cases, grids, rules):
    """What a choice is worth: a row of the table."""
    times = [case.times[grid] for case, grid in zip(cases, grids)]
    return {
        "speed": geomean(case.reference / us for case, us in zip(cases, times)),
        "of_rules": geomean(case.time(rules) / us for case, us in zip(cases, times)),
        "regret": geomean(us / case.best for case, us in zip(cases, times)),
        "near": sum(us <= 1.1 * case.best + 2.0 for case, us in zip(cases, times)),
        "worst": min(worth(us, case.reference) for case, us in zip(cases, times)),
        "worst_of_rules": min(worth(us, case.time(rules)) for case, us in zip(cases, times)),
        "losses": sum(is_slower(us, case.reference) for case, us in zip(cases, times)),
        "losses_of_rules": sum(is_slower(us, case.time(rules)) for case, us in zip(cases, times)),
    }


def searched(table, order, fractions):
    """How close the best grid comes that is found in the first part of an order: the geometric mean over cases, for each fraction.

    order(index) -> the places of a case's grids, the most promising first.
    """
    found = []
    for index, case in enumerate(table.cases):
        times = numpy.array([case.times[grid] for grid in table.grids[index]])[order(index)]
        least = numpy.minimum.accumulate(times)
        places = [max(1, math.ceil(fraction * len(times))) - 1 for fraction in fractions]
        found.append([math.log(times.min() / least[place]) for place in places])
    return numpy.exp(numpy.mean(found, axis=0))
