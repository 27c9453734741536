"""ompsplit's rules as what models are held against: by the profile of each device that is known, and where they lose."""

from data import PLAIN, Case, geomean, is_slower, worth
from grids import by_families, figures

LOSS = 1.3  # the time over that of the best grid from which a case is listed


def profiles(cases):
    """The names of the rules by profile, as in choices.csv.gz, the fastest first. Models are held against the first one, whichever device its
    numbers were measured on."""
    names = [who for who in cases[0].choices if who.startswith("rules_")]
    return sorted(names, key=lambda who: -geomean(case.reference / case.time(who) for case in cases))


def label(who):
    return f"rules with profile `{who.removeprefix('rules_')}`"


def judged(cases, times, names):
    """For the rules of each profile: how many times as fast a choice is, and in the worst case."""
    return {who: (geomean(case.time(who) / us for case, us in zip(cases, times)), min(worth(us, case.time(who)) for case, us in zip(cases, times)))
            for who in names}


def best_grid(case: Case):
    return min((grid for grid in case.times if grid.form == PLAIN), key=case.times.get)


def losses(cases, names):
    """The cases in which the rules of any profile take 1.3 times as long as the best grid, beyond noise: the worst of the first profile first."""
    found = [case for case in cases if any(case.time(who) > LOSS * case.best and is_slower(case.time(who), case.best) for who in names)]
    return sorted(found, key=lambda case: -case.time(names[0]) / case.best)


def by_family(cases, names):
    """The regret in each family: LLVM, `thread_limit(128)`, Lloyd's and Chikin's heuristics, the rules by profile."""
    lloyd, chikin = by_families(cases, "lloyd"), by_families(cases, "chikin")
    choices = {"LLVM": [case.choices["llvm"] for case in cases], "`thread_limit(128)`": [case.choices["limit128"] for case in cases],
               "Lloyd": lloyd, "Chikin": chikin, **{label(who): [case.choices[who] for case in cases] for who in names}}
    rows = []
    for family in dict.fromkeys(case.family for case in cases):
        own = [index for index, case in enumerate(cases) if case.family == family]
        regrets = [figures([cases[index] for index in own], [grids[index] for index in own], names[0])["regret"] for grids in choices.values()]
        rows.append((family, len(own), *(f"{value:.2f}" for value in regrets)))
    return ("family", "cases", *choices), rows
