"""Connors' advice about the size of a block (2017): increase, decrease or keep, from labels by her Algorithm 1.

Her features are counters of the profiler; here they are what is known before a run, or counters, or both.
"""

from dataclasses import dataclass

import numpy
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from data import PLAIN, Case, Grid, geomean, grid_features, static_features, worth
from folds import nested, random_folds

SIZES = (32, 64, 96, 128, 256, 512, 1024)
BASE = 128
KEEP, DECREASE, INCREASE = 0, -1, 1
NEUTRAL = 1.02  # a smaller ratio is a speedup of 1
SVMS = [("svm", c, gamma) for c in (1, 10, 100) for gamma in (0.01, 0.03, 0.1)]
TREES = [("tree", depth, leaf) for depth in (3, 5, 8) for leaf in (5, 15)]


@dataclass
class Instance:
    case: Case
    threads: int
    features: dict
    label: int


def grid(case, threads):
    """Blocks of so many threads, one for each iteration; None if it was not measured."""
    count = int(case.static[PLAIN]["iterations"])
    wanted = Grid(threads, -(-count // threads), PLAIN)
    return wanted if wanted in case.times else None


def instances(cases, features):
    """Algorithm 1: a variant that is slower than the base should go back, one that is faster should stay. The base gets the label that its
    fastest variant gives it. `features(case, threads)`: names and values, None where they are not known, and the instance is left out."""
    found = []
    for case in cases:
        base = grid(case, BASE)
        variants = {threads: case.times[grid(case, threads)] for threads in SIZES if threads != BASE and grid(case, threads)}
        if not base or not variants:
            continue
        for threads, us in variants.items():
            speedup = case.times[base] / us
            label = KEEP if speedup >= 1 / NEUTRAL else INCREASE if threads < BASE else DECREASE
            found.append((case, threads, label))
        fastest = min(variants, key=variants.get)
        label = KEEP if case.times[base] / variants[fastest] <= NEUTRAL else INCREASE if fastest > BASE else DECREASE
        found.append((case, BASE, label))
    described = ((case, threads, features(case, threads), label) for case, threads, label in found)
    return [Instance(*one) for one in described if one[2] is not None]


def static(case, threads):
    return {**static_features(case), **grid_features(case, grid(case, threads))}


def pruned(rows, names, limit=0.9):
    """The features that vary, without those that correlate with an earlier one (section X.D)."""
    varying = numpy.flatnonzero(rows.std(axis=0) > 1e-9)
    correlations = numpy.abs(numpy.corrcoef(rows[:, varying], rowvar=False))
    places = []
    for place in range(len(varying)):
        if (correlations[place, places] <= limit).all():
            places.append(place)
    kept = varying[places].tolist()
    return kept, [names[index] for index in kept]


class Advice:
    """The instances as a table."""

    def __init__(self, cases, features=static):
        self.instances = instances(cases, features)
        self.all_names = list(self.instances[0].features)
        self.rows = numpy.array([list(one.features.values()) for one in self.instances])
        self.labels = numpy.array([one.label for one in self.instances])
        self.groups = [one.case.family for one in self.instances]
        self.kept, self.names = pruned(self.rows, self.all_names)

    def fit(self, candidate, indices):
        kept, _ = pruned(self.rows[indices], self.all_names)  # on the training part alone
        model, first, second = candidate
        if model == "svm":
            classifier = make_pipeline(StandardScaler(), SVC(C=first, gamma=second))
        else:
            classifier = DecisionTreeClassifier(max_depth=first, min_samples_leaf=second, random_state=1)
        return kept, classifier.fit(self.rows[indices][:, kept], self.labels[indices])

    def predict(self, candidate, model, indices):
        kept, classifier = model
        return classifier.predict(self.rows[indices][:, kept])

    def score(self, candidate, model, indices):
        return float((self.predict(candidate, model, indices) == self.labels[indices]).mean())

    def held_out(self, candidates):
        predicted, chosen = nested(self.groups, candidates, self.fit, self.score, self.predict)
        return numpy.array(predicted), chosen

    def ten_fold(self, candidates):
        """The best accuracy of all candidates in ten folds of instances: how the paper scored, its parameters chosen by the same figure."""
        best = 0.0, None
        for candidate in candidates:
            right = 0
            for train, test in random_folds(len(self.labels), 10):
                right += int((self.predict(candidate, self.fit(candidate, train), test) == self.labels[test]).sum())
            best = max(best, (right / len(self.labels), candidate), key=lambda one: one[0])
        return best

    def walks(self, advised):
        """From blocks of 128 threads to the next size that is advised, until it is to be kept: (case, size at the end)."""
        advice = {(one.case.name, one.threads): step for one, step in zip(self.instances, advised)}
        cases = {one.case.name: one.case for one in self.instances}
        ends = []
        for name, case in cases.items():
            sizes = [threads for threads in SIZES if (name, threads) in advice]
            at, seen = sizes.index(BASE), set()
            while at not in seen:
                seen.add(at)
                at = min(max(at + int(advice[name, sizes[at]]), 0), len(sizes) - 1)
            # Advice that goes back and forth ends at the smaller size of the two.
            ends.append((case, sizes[at]))
        return ends


def walk_figures(ends, rules):
    times = [(case, case.times[grid(case, BASE)], case.times[grid(case, threads)]) for case, threads in ends]
    return {
        "speed": geomean(base / us for _, base, us in times),
        "most": max(base / us for _, base, us in times),
        "worst": min(worth(us, base) for _, base, us in times),
        "of_rules": geomean(case.time(rules) / us for case, _, us in times),
        "worst_of_rules": min(worth(us, case.time(rules)) for case, _, us in times),
    }
