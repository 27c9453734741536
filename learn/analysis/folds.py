"""Scores on programs that a model has not seen: one family held out, parameters chosen on the others by the same means."""

import numpy


def family_folds(groups):
    """For each family: the indices of the others and its own."""
    groups = numpy.asarray(groups)
    for family in sorted(set(groups)):
        yield numpy.flatnonzero(groups != family), numpy.flatnonzero(groups == family)


def merged_folds(groups, count):
    """The same with the families dealt into `count` parts, for the selection inside."""
    groups = numpy.asarray(groups)
    part = {family: index % count for index, family in enumerate(sorted(set(groups)))}
    parts = numpy.array([part[group] for group in groups])
    for index in range(count):
        if (parts == index).any() and (parts != index).any():
            yield numpy.flatnonzero(parts != index), numpy.flatnonzero(parts == index)


def random_folds(size, count, seed=1):
    """`count` folds of items, whatever their family."""
    order = numpy.random.default_rng(seed).permutation(size)
    for part in numpy.array_split(order, count):
        yield numpy.setdiff1d(order, part), numpy.sort(part)


def nested(groups, candidates, fit, score, predict, inner=3):
    """Predictions for every item, each by a model that has not seen its family, and the candidate chosen for each family.

    fit(candidate, indices) -> model; score(candidate, model, indices) -> a number, the larger the better; predict(candidate, model, indices)
    -> a value for each index. With one candidate there is nothing to choose.
    """
    found, chosen = {}, {}
    groups = numpy.asarray(groups)
    for train, test in family_folds(groups):
        best = candidates[0]
        if len(candidates) > 1:
            totals = []
            for candidate in candidates:
                parts = [(train[a], train[b]) for a, b in merged_folds(groups[train], inner)]
                totals.append(numpy.mean([score(candidate, fit(candidate, a), b) for a, b in parts]))
            best = candidates[int(numpy.argmax(totals))]
        model = fit(best, train)
        for index, value in zip(test, predict(best, model, test)):
            found[int(index)] = value
        chosen[str(groups[test[0]])] = best
    return [found[index] for index in range(len(groups))], chosen
