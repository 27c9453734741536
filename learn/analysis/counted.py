"""What a profiler counted, as features: of one launch for Connors' advice, and of coarsened forms over the loop as written for Magni's trees."""

import math

import numpy
from scipy.stats import spearmanr

from blocks import BASE, grid, static
from data import LLVM, PLAIN, Grid
from factors import relative

# Sums grow with the size of a case, so that their logarithms are taken; the rest are parts, percentages and cycles.
SUMS = ("load_requests", "store_requests", "load_sectors", "store_sectors", "local_loads", "local_stores", "second_reads", "second_writes", "dram_read",
        "dram_written", "insts", "branches", "special_insts", "memory_insts", "float_adds", "float_muls", "float_fmas")
PERCENT = ("first_hits", "second_hits", "dram_busy", "memory_busy", "sm_busy", "possible_occupancy", "occupancy", "uniform_branches")
RATES = ("registers", "waves", "issued", "eligible", "active_threads", "stall_memory", "stall_special", "stall_queue", "stall_arithmetic", "stall_wait",
         "stall_fetch")
LEAST = {**dict.fromkeys(SUMS, 1.0), **dict.fromkeys(PERCENT, 1.0), **dict.fromkeys(RATES, 0.01)}  # added, so that nothing is divided by 0


def columns(cases):
    """The counters that every launch has."""
    launches = [one for case in cases for one in case.counters.values()]
    return [name for name in (*SUMS, *PERCENT, *RATES) if all(name in one for one in launches)]


def derived(one):
    """What Connors' events are combined to: sectors of a request, and what of the loads reaches the device's memory."""
    return {
        "sectors_per_load": one["load_sectors"] / max(one["load_requests"], 1),
        "sectors_per_store": one["store_sectors"] / max(one["store_requests"], 1),
    }


def of_launch(case, which, names):
    """Names and values of one launch; None where it was not counted."""
    one = case.counters.get(which)
    if one is None:
        return None
    values = {name: math.log2(1 + one[name]) if name in SUMS else one[name] for name in names}
    return {**values, **derived(one), "threads": math.log2(one["real_threads"])}


def kinds_of_features(cases):
    """By name, what describes an instance of Connors': of the same instances each time, those that were counted."""
    names = columns(cases)

    def counted(case, threads):
        # A walk begins at the base.
        return of_launch(case, grid(case, threads), names) if grid(case, BASE) in case.counters else None

    def known(case, threads):
        return static(case, threads) if counted(case, threads) else None

    def both(case, threads):
        return {**static(case, threads), **{f"counted_{name}": value for name, value in counted(case, threads).items()}} if counted(case, threads) else None

    return {"counters": counted, "known before": known, "both": both}


def relative_counters(before, after, names):
    """How much of each counter a form has, over what the loop as written has."""
    changed = {name: (after[name] + LEAST[name]) / (before[name] + LEAST[name]) for name in names}
    ratios, old = derived(after), derived(before)
    return {**changed, **{name: (ratios[name] + 0.01) / (old[name] + 0.01) for name in ratios}}


def coarse_launches(cases):
    """The forms that were counted and timed in LLVM's own grid, with their speedup there: (case, form, speedup)."""
    for case in cases:
        for form in case.static:
            which = Grid(0, 0, form)
            if form != PLAIN and which in case.counters and LLVM in case.counters and which in case.times:
                yield case, form, case.times[LLVM] / case.times[which]


def changes(cases, kind):
    """As factors.changes has them, of single launches: `kind` is static, counters or both."""
    names, found = columns(cases), []
    for case, form, speedup in coarse_launches(cases):
        features = {"factor": float(form.factor)}
        if kind != "counters":
            features |= relative(case.static[PLAIN], case.static[form], form.factor)
        if kind != "static":
            features |= {f"counted_{name}" if name in features else name: value for name, value in
                         relative_counters(case.counters[LLVM], case.counters[Grid(0, 0, form)], names).items()}
        found.append((features, speedup, case.family))
    return found


def alone(causes, most=8):
    """The features whose order agrees best with that of the speedups, by Spearman's coefficient: over all, and the same sign in how many families."""
    found = []
    for index, name in enumerate(causes.names):
        column = causes.rows[:, index]
        if column.std() > 1e-9:
            found.append((name, spearmanr(column, causes.speedups).statistic, column))
    found.sort(key=lambda one: -abs(one[1]))
    return [(name, value, same_sign(causes, column, value)) for name, value, column in found[:most]]


def same_sign(causes, column, value):
    agreeing = total = 0
    for family in sorted(set(causes.groups)):
        own = causes.groups == family
        if column[own].std() > 1e-9 and numpy.std(causes.speedups[own]) > 1e-9:
            total += 1
            agreeing += spearmanr(column[own], causes.speedups[own]).statistic * value > 0
    return f"{agreeing} of {total}"
