"""Magni's models of thread coarsening (2015): regression trees that say what a factor changes (chapter 5), his choice of the stride
(section 7.5) and the network that decides step by step whether to coarsen further (section 7.6)."""

import warnings
from dataclasses import dataclass, field

import numpy
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from data import INSTRUCTIONS, PLAIN, Case, Form, geomean
from folds import family_folds, merged_folds, random_folds

FACTORS = (1, 2, 4, 8, 16)
THREADS = (32, 64, 128, 256)
WORTHWHILE = 1.02  # a smaller speedup is none
MEMORY = ("loaded_sectors", "stored_sectors")
NETWORKS = [(nodes, alpha) for nodes in (4, 10) for alpha in (0.1, 3.0)]
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass
class Series:
    """One kernel at one size, coarsened along one loop: the speedup of each factor, best grid against best grid."""

    case: Case
    axis: str
    stride: int
    speedups: dict = field(default_factory=dict)  # by factor
    static: dict = field(default_factory=dict)

    @property
    def best(self):
        """The factor that is best; 1 where none is worth it."""
        factor = max(self.speedups, key=self.speedups.get)
        return factor if self.speedups[factor] > WORTHWHILE else 1

    @property
    def most(self):
        return max(self.speedups.values())


def least_time(case, form):
    """With the sizes of blocks that all forms have."""
    times = [us for grid, us in case.times.items() if grid.form == form and (grid.threads in THREADS)]
    return min(times) if times else None


def stride_rule(case):
    """Section 7.5: 32 where accesses are coalesced, 1 where they are not or cannot be followed."""
    one = case.static[PLAIN]
    return 32 if one["uncoalesced"] == 0 else 1


def along(case, axis, stride):
    """The series of a case, or None where fewer than two factors fit."""
    base = least_time(case, PLAIN)
    series = Series(case, axis, stride, {1: 1.0}, {1: case.static[PLAIN]})
    for factor in FACTORS[1:]:
        form = Form(factor, stride, axis)
        if form in case.static and least_time(case, form):
            series.speedups[factor] = base / least_time(case, form)
            series.static[factor] = case.static[form]
    return series if len(series.speedups) > 2 else None


def all_series(cases):
    """Along the loop of neighbouring threads with the stride of the rule, and along the other loop where there is one."""
    found = []
    for case in cases:
        for axis, stride in (("x", stride_rule(case)), ("y", 1)):
            series = along(case, axis, stride)
            if series:
                found.append(series)
    return found


def strides(cases):
    """For each case that has both: the best speedup with the stride of the rule, and with the better one."""
    rows = []
    for case in cases:
        both = [along(case, "x", stride) for stride in (1, 32)]
        if all(both):
            rows.append((both[stride_rule(case) == 32].most, max(one.most for one in both)))
    return rows


def per_iteration(one, factor):
    return {name: one[name] / factor for name in (*INSTRUCTIONS, *MEMORY)}


def relative(plain, coarse, factor):
    """How much of each static feature an iteration has, over what it has without coarsening."""
    before, after = per_iteration(plain, 1), per_iteration(coarse, factor)
    known = {name: after[name] / before[name] if before[name] > 0 else 1.0 for name in before}
    return {**known, "factor": float(factor)}


def changes(series):
    """(relative features, speedup, family) of each factor of each series."""
    return [(relative(one.static[1], one.static[factor], factor), one.speedups[factor], one.case.family) for one in series for factor in one.speedups if factor > 1]


class Causes:
    """Regression trees over relative features, for the speedup of a factor (chapter 5)."""

    CANDIDATES = [(depth, leaf) for depth in (2, 3, 4, 6) for leaf in (10, 30)]

    def __init__(self, points):
        """points: names and values of features, speedup, family."""
        self.names = list(points[0][0])
        self.rows = numpy.array([list(features.values()) for features, _, _ in points])
        self.speedups = numpy.array([speedup for _, speedup, _ in points])
        self.groups = numpy.array([family for _, _, family in points])

    def fit(self, candidate, indices):
        depth, leaf = candidate
        return DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=1).fit(self.rows[indices], numpy.log(self.speedups[indices]))

    def predict(self, candidate, model, indices):
        return numpy.exp(model.predict(self.rows[indices]))

    def score(self, candidate, model, indices):
        return -float(numpy.abs(numpy.log(self.predict(candidate, model, indices) / self.speedups[indices])).mean())

    def ten_fold(self, candidate):
        found = numpy.zeros(len(self.speedups))
        for train, test in random_folds(len(self.speedups), 10):
            found[test] = self.predict(candidate, self.fit(candidate, train), test)
        return found

    def quality(self, found):
        """The correlation of predicted speedups with those measured, as logarithms, and their median error."""
        found = numpy.asarray(found)
        return numpy.corrcoef(numpy.log(found), numpy.log(self.speedups))[0, 1], numpy.median(numpy.abs(found / self.speedups - 1))


def steps(series):
    """The questions of a series: features of the present factor, and whether the double of it is faster."""
    rows = []
    factors = sorted(series.speedups)
    for before, factor, after in zip([1, *factors], factors, factors[1:]):
        rows.append((network_features(series, before, factor), series.speedups[after] > series.speedups[factor] * WORTHWHILE))
    return rows


def network_features(series, before, factor):
    """Table 7.3, absolute, and the change since the factor before; per thread."""
    now, then = series.static[factor], series.static[before]
    absolute = [now[name] for name in INSTRUCTIONS[:-1]]
    change = [(now[name] - then[name]) / then[name] if then[name] > 0 else 0.0 for name in INSTRUCTIONS[:-1]]
    size = [numpy.log2(now["iterations"]), now["access_sectors"], now["uncoalesced"]]
    return [*numpy.log1p(numpy.maximum(absolute, 0)), *change, *size]


class Network:
    """One hidden layer behind principal components that explain 95 % (sections 7.6.2 and 7.6.5)."""

    def __init__(self, questions, candidate):
        """questions: the `steps` of each series."""
        questions = [question for one in questions for question in one]
        nodes, alpha = candidate
        layers = MLPClassifier((nodes,), alpha=alpha, max_iter=600, random_state=1, solver="lbfgs")
        self.model = make_pipeline(StandardScaler(), PCA(0.95), layers)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.fit(numpy.array([row for row, _ in questions]), numpy.array([answer for _, answer in questions]))

    def chances(self, questions):
        """How probable it is that each doubling gains, for each series."""
        found = self.model.predict_proba(numpy.array([row for one in questions for row, _ in one]))[:, 1]
        return numpy.split(found, numpy.cumsum([len(one) for one in questions])[:-1])


def walk(series, chances, threshold):
    """The factor at which the network stops."""
    factors = sorted(series.speedups)
    for factor, chance in zip(factors, chances):
        if chance <= threshold:
            return factor
    return factors[-1]


def network_factors(series, folds, groups, candidates=NETWORKS):
    """For each series the factor, by a network that has not seen its fold. Nodes, penalty and threshold are chosen on the training part: the
    gate first (no factor above 1 where 1 is best), then the speedup."""
    factors, chosen, questions = [1] * len(series), [], [steps(one) for one in series]
    for train, test in folds:
        best = None
        inner_groups = groups[train]
        for candidate in candidates:
            chances = {}
            for a, b in merged_folds(inner_groups, 3):
                network = Network([questions[index] for index in train[a]], candidate)
                chances |= dict(zip(train[b], network.chances([questions[index] for index in train[b]])))
            for threshold in THRESHOLDS:
                taken = {index: walk(series[index], one, threshold) for index, one in chances.items()}
                broken = sum(factor > 1 and series[index].best == 1 for index, factor in taken.items())
                speed = geomean(series[index].speedups[factor] for index, factor in taken.items())
                rank = (-broken, speed)
                if best is None or rank > best[0]:
                    best = rank, candidate, threshold
        _, candidate, threshold = best
        network = Network([questions[index] for index in train], candidate)
        for index, chances in zip(test, network.chances([questions[index] for index in test])):
            factors[index] = walk(series[index], chances, threshold)
        chosen.append((*candidate, threshold))
    return factors, chosen


def by_family(series):
    groups = numpy.array([one.case.family for one in series])
    return network_factors(series, list(family_folds(groups)), groups)


def by_kernel(series):
    """As the thesis scored it: one program left out."""
    groups = numpy.array([one.case.kernel for one in series])
    return network_factors(series, list(family_folds(groups)), groups, [NETWORKS[0]])


def unique(series):
    """The one factor that is best on the other families (section 7.7.1)."""
    factors = []
    for one in series:
        others = [other for other in series if other.case.family != one.case.family]
        best = max(FACTORS, key=lambda factor: geomean(other.speedups[factor] for other in others if factor in other.speedups))
        factors.append(best if best in one.speedups else 1)
    return factors


def of_rules(series, rules):
    """The factor that the pass `coarsen` writes for the loop of this axis; 1 where it groups another one."""
    factors = []
    for one in series:
        form = one.case.choices[rules].form
        factors.append(form.factor if form.factor > 1 and form.axis == one.axis and form.factor in one.speedups else 1)
    return factors


def figures(series, factors):
    speeds = [one.speedups[factor] for one, factor in zip(series, factors)]
    return {
        "speed": geomean(speeds),
        "of_gain": (geomean(speeds) - 1) / (geomean(max(one.most, 1) for one in series) - 1),
        "worst": min(speeds),
        "broken": sum(factor > 1 and one.best == 1 for one, factor in zip(series, factors)),
        "applied": sum(factor > 1 for factor in factors),
        "right": sum(factor == one.best for one, factor in zip(series, factors)),
        "above": sum(factor > one.best for one, factor in zip(series, factors)),
    }
