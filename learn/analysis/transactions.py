"""Sectors that ompsplit predicts for coarsened forms, against those that a profiler counted (Magni 2015, section 4.6.3)."""

from dataclasses import dataclass, field

import numpy

from data import Case, Grid

HIGH = 0.9
CONSTANT = 0.005  # a spread below this part of the mean is none: it has no correlation
NEAR = 0.1
WAYS = ("load", "store")


@dataclass
class Series:
    """The loads or stores of one kernel at one size, over its forms."""

    case: Case
    way: str
    predicted: list = field(default_factory=list)  # None where ompsplit does not follow the accesses
    counted: list = field(default_factory=list)

    @property
    def followed(self):
        return all(one is not None for one in self.predicted)

    @property
    def near(self):
        """How many predictions are within a tenth."""
        return sum(one is not None and abs(one - other) <= NEAR * other for one, other in zip(self.predicted, self.counted))

    @property
    def correlation(self):
        """None where either side is constant, or not predicted."""
        if not self.followed or is_constant(self.counted) or is_constant(self.predicted):
            return None
        return float(numpy.corrcoef(self.predicted, self.counted)[0, 1])

    @property
    def verdict(self):
        if not self.followed:
            return "not followed"
        if is_constant(self.counted):
            return "constant, as predicted" if is_constant(self.predicted) else "constant, not as predicted"
        if is_constant(self.predicted):
            return "predicted to be constant"
        return "high" if self.correlation > HIGH else "low"

    @property
    def words(self):
        return f"{self.correlation:.3f}" if self.correlation is not None else self.verdict


def is_constant(values):
    return max(values) - min(values) <= CONSTANT * max(abs(numpy.mean(values)), 1e-9)


def all_series(cases):
    """Of each case with at least five counted forms: loads, then stores."""
    found = []
    for case in cases:
        forms = [form for form in case.transactions if Grid(0, 0, form) in case.counters]
        if len(forms) < 5:
            continue
        for index, way in enumerate(WAYS):
            counted = [case.counters[Grid(0, 0, form)][f"{way}_sectors"] for form in forms]
            if max(counted) > 0:
                found.append(Series(case, way, [case.transactions[form][index] for form in forms], counted))
    return found


def of_kernels(series):
    """One series for the loads and one for the stores of each kernel: of the size with the most forms, the first of those."""
    best = {}
    for one in series:
        key = one.case.kernel, one.way
        if key not in best or len(one.counted) > len(best[key].counted):
            best[key] = one
    return list(best.values())


def tally(series):
    counts = {}
    for one in series:
        counts[one.verdict] = counts.get(one.verdict, 0) + 1
    return counts
