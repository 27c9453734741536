"""Tests of the models on counters, on counters that are made up: python3 learn/analysis/test_counted.py"""

import random
import unittest

import numpy

import blocks
import counted
import transactions
from data import INSTRUCTIONS, LLVM, MEMORY, PLAIN, Case, Form, Grid
from factors import Causes

RESOURCES = 32, 0, 200
FORMS = [PLAIN, *(Form(factor, stride, "x") for factor in (2, 4, 8, 16) for stride in (1, 32))]
RANDOM = random.Random(1)


def launch(**known):
    """Counters that say nothing, but for those that are known."""
    return {**{name: 100.0 + RANDOM.random() for name in (*counted.SUMS, *counted.PERCENT, *counted.RATES)}, "real_threads": 128.0, **known}


def made_up(families=6, sizes=4):
    """Cases in which a form is slower by what it loads more, and large blocks are faster where warps are eligible seldom."""
    cases = []
    for number in range(families * sizes):
        case = Case(f"family{number % families}", f"kernel{number % families}", (4096 << number // families, 1, 1))
        case.resources = {(form, threads): RESOURCES for form in FORMS for threads in (0, *blocks.SIZES)}
        for form in FORMS:
            case.static[form] = {"iterations": 4096.0 * 64 / form.factor, "loops": 1.0, "operations": 1.0, **dict.fromkeys((*MEMORY, *INSTRUCTIONS), 1.0 + RANDOM.random())}
            more = 1.0 if form.stride == 32 or form == PLAIN else form.factor * RANDOM.choice((0.5, 1.0))
            which = Grid(0, 0, form)
            case.times[which] = 100.0 * more
            case.counters[which] = launch(load_sectors=1e6 * more, load_requests=2.5e5)
        wants_more = number % 2
        for threads in blocks.SIZES:
            grid = Grid(threads, -(-4096 * 64 // threads), PLAIN)
            case.times[grid] = 100.0 * (128 / threads if wants_more else threads / 128) ** 0.5
            case.counters[grid] = launch(eligible=0.1 if wants_more else 2.0, real_threads=float(threads))
        cases.append(case)
    return cases


def series(predicted, counts):
    return transactions.Series(Case("f", "k", (1, 1, 1)), "load", predicted, counts)


class Counted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = made_up()

    def test_trees_find_the_cause_in_families_that_they_have_not_seen(self):
        causes = Causes(counted.changes(self.cases, "counters"))
        held = blocks.nested(causes.groups, causes.CANDIDATES, causes.fit, causes.score, causes.predict)[0]
        self.assertGreater(causes.quality(held)[0], 0.95)
        first = counted.alone(causes)[0]
        self.assertIn(first[0], ("load_sectors", "sectors_per_load"))
        self.assertLess(first[1], -0.9)
        self.assertEqual(first[2], "6 of 6")

    def test_features_that_say_nothing_explain_nothing(self):
        causes = Causes(counted.changes(self.cases, "static"))
        without = [index for index, name in enumerate(causes.names) if name == "factor"]
        causes.rows[:, without] = 1
        held = blocks.nested(causes.groups, causes.CANDIDATES, causes.fit, causes.score, causes.predict)[0]
        self.assertLess(causes.quality(held)[0], 0.5)

    def test_advice_on_counters_is_of_the_same_instances_each_time(self):
        kinds = {name: blocks.Advice(self.cases, features) for name, features in counted.kinds_of_features(self.cases).items()}
        sizes = {name: len(advice.labels) for name, advice in kinds.items()}
        self.assertEqual(len(set(sizes.values())), 1, sizes)
        predicted, _ = kinds["counters"].held_out(blocks.TREES)
        self.assertGreater((predicted == kinds["counters"].labels).mean(), 0.9)

    def test_what_was_not_counted_is_left_out(self):
        cases = made_up(2, 1)
        del cases[0].counters[blocks.grid(cases[0], blocks.BASE)]
        del cases[1].counters[LLVM]
        advice = blocks.Advice(cases, counted.kinds_of_features(cases)["counters"])
        self.assertEqual({one.case.name for one in advice.instances}, {cases[1].name})
        self.assertEqual({family for _, _, family in counted.changes(cases, "counters")}, {cases[0].family})
        for one in cases[0].counters.values():
            del one["sm_busy"]
        self.assertNotIn("sm_busy", counted.columns(cases))


class Transactions(unittest.TestCase):
    def test_verdicts(self):
        for verdict, predicted, counts in (
            ("high", [1, 2, 4], [10, 21, 39]),
            ("low", [1, 2, 4], [10, 39, 12]),
            ("not followed", [1, None, 4], [1, 2, 4]),
            ("constant, as predicted", [5, 5, 5], [5, 5, 5.001]),
            ("constant, not as predicted", [1, 2, 4], [5, 5, 5]),
            ("predicted to be constant", [5, 5, 5], [1, 2, 4]),
        ):
            self.assertEqual(series(predicted, counts).verdict, verdict)
        self.assertAlmostEqual(series([1, 2, 4], [2, 4, 8]).correlation, 1)
        self.assertEqual(series([1, 2, 3.5], [1, 2, 4]).near, 2)

    def test_a_series_has_the_forms_that_were_counted(self):
        cases = made_up(2, 2)
        for case in cases:
            case.transactions = {form: (case.counters[Grid(0, 0, form)]["load_sectors"], None) for form in FORMS}
        del cases[0].counters[Grid(0, 0, FORMS[-1])]
        found = transactions.all_series(cases)
        self.assertEqual(len(found), 8)
        self.assertEqual(transactions.tally([one for one in found if one.way == "load"]), {"high": 4})
        self.assertTrue(all(one.verdict == "not followed" for one in found if one.way == "store"))
        chosen = transactions.of_kernels(found)
        self.assertEqual(len(chosen), 4)
        self.assertTrue(all(len(one.counted) == len(FORMS) for one in chosen))
        self.assertTrue(numpy.isfinite([one.correlation for one in chosen if one.way == "load"]).all())


if __name__ == "__main__":
    unittest.main()
