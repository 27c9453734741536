"""The measurements of a device, and what is known of each kernel before it runs."""

import csv
import gzip
import hashlib
import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

FILES = ("points", "kernels", "resources", "choices")
COUNTED = ("counters", "transactions")  # where they were counted
SMS, SM_THREADS, SM_REGISTERS, SM_BLOCKS = 132, 2048, 65536, 32
NOISE, NOISE_US = 1.02, 2.0  # as tests/geometry.rs has them: a difference within one of them is none
INSTRUCTIONS = ("blocks", "branches", "divergent_insts", "divergent_region_insts", "divergent_region_ratio", "divergent_regions", "insts", "float_insts",
                "ilp", "int_float_ratio", "int_insts", "math_calls", "mlp", "loads", "stores", "uniform_loads", "barriers")  # Magni 2015, Table 7.3
MEMORY = ("accesses", "inner_loop", "access_sectors", "uncoalesced", "loaded_sectors", "stored_sectors")  # of ompsplit, -1 where it does not say


@dataclass(frozen=True, order=True)
class Form:
    factor: int
    stride: int
    axis: str


@dataclass(frozen=True, order=True)
class Grid:
    """Threads of a block and blocks. Threads of 0: LLVM's own grid; -128: `thread_limit(128)` alone."""

    threads: int
    teams: int
    form: Form


PLAIN = Form(1, 1, "x")
LLVM = Grid(0, 0, PLAIN)


@dataclass
class Case:
    """A kernel at a size: the times of its grids in microseconds, its static features by form, and what each heuristic chooses."""

    family: str
    kernel: str
    size: tuple
    times: dict = field(default_factory=dict)
    launched: dict = field(default_factory=dict)  # blocks and threads as launched
    again: float = 0  # LLVM's grid, measured at the end once more
    static: dict = field(default_factory=dict)
    resources: dict = field(default_factory=dict)
    choices: dict = field(default_factory=dict)
    counters: dict = field(default_factory=dict)  # by grid: name and number of what a profiler counted
    transactions: dict = field(default_factory=dict)  # by form: sectors that ompsplit predicts, loaded and stored, None where it does not

    @property
    def name(self):
        return f"{self.kernel} {'x'.join(map(str, self.size))}"

    @property
    def reference(self):
        return self.times[LLVM]

    @cached_property
    def plain(self):
        """The grids that say how many threads and blocks, of the form that the programmer wrote."""
        return {grid: us for grid, us in self.times.items() if grid.form == PLAIN and grid.threads > 0}

    @cached_property
    def best(self):
        """The least time of any grid of the plain form."""
        return min(us for grid, us in self.times.items() if grid.form == PLAIN)

    def time(self, who):
        return self.times[self.choices[who]]


def number(text):
    return -1.0 if text == "" else float(text)


def read(folder, name):
    with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as file:
        return list(csv.DictReader(file))


def case_key(row):
    return row["kernel"], int(row["n"]), int(row["m"]), int(row["k"])


def form_of(row):
    return Form(int(row["factor"]), int(row["stride"]), row["axis"])


def grid_of(row):
    return Grid(int(row["threads"]), int(row["teams"]), form_of(row))


def digest(folder):
    """One hash of all tables, without their compression."""
    total = hashlib.sha256()
    for name in (*FILES, *present(folder)):
        total.update(gzip.decompress((Path(folder) / f"{name}.csv.gz").read_bytes()))
    return total.hexdigest()


def present(folder):
    return [name for name in COUNTED if (Path(folder) / f"{name}.csv.gz").exists()]


def load_counted(folder, cases):
    """What a profiler counted, and what ompsplit says that it counts."""
    names = present(folder)
    for row in read(folder, "counters") if "counters" in names else []:
        point = {name: row.pop(name) for name in ("kernel", "n", "m", "k", "threads", "teams", "factor", "stride", "axis")}
        cases[case_key(point)].counters[grid_of(point)] = {name: float(text) for name, text in row.items() if text != ""}
    for row in read(folder, "transactions") if "transactions" in names else []:
        sectors = [float(row[name]) if row[name] else None for name in ("loaded", "stored")]
        cases[case_key(row)].transactions[form_of(row)] = tuple(sectors)


def load(folder):
    """All cases, in the order of the files."""
    folder, cases = Path(folder), {}
    for row in read(folder, "kernels"):
        case = cases.setdefault(case_key(row), Case(row["family"], row["kernel"], case_key(row)[1:]))
        case.static[form_of(row)] = {name: number(row[name]) for name in ("iterations", "loops", "operations", *MEMORY, *INSTRUCTIONS)}
    resources = defaultdict(dict)
    for row in read(folder, "resources"):
        resources[row["kernel"]][form_of(row), int(row["threads"])] = int(row["registers"]), int(row["stack"]), int(row["instructions"])
    for row in read(folder, "choices"):
        cases[case_key(row)].choices[row["who"]] = grid_of(row)
    for row in read(folder, "points"):
        case, grid, us = cases[case_key(row)], grid_of(row), float(row["us"])
        if grid == LLVM and grid in case.times:
            case.again = us
        case.times[grid] = min(us, case.times.get(grid, math.inf))
        case.launched[grid] = int(row["real_threads"]), int(row["real_teams"])
    load_counted(folder, cases)
    for case in cases.values():
        case.resources = resources[case.kernel]
    return [case for case in cases.values() if LLVM in case.times and case.again]


def families(cases):
    return sorted({case.family for case in cases})


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def is_slower(us, than):
    """Beyond what is noise."""
    return us > than * NOISE + NOISE_US


def worth(us, reference):
    """How many times as fast as a reference; 2 microseconds more count as noise."""
    return reference / max(us - NOISE_US, min(us, reference))


def resident(registers, threads):
    return max(1, min(SM_THREADS // threads, SM_REGISTERS // (max(registers, 1) * threads), SM_BLOCKS))


def grid_features(case: Case, grid: Grid):
    """What a grid makes of a kernel: names and values."""
    threads, teams = grid.threads, grid.teams
    registers, stack, instructions = case.resources[grid.form, threads]
    count = case.static[grid.form]["iterations"]
    blocks = resident(registers, threads)
    on_sm = min(blocks, -(-teams // SMS))
    return {
        "threads": math.log2(threads),
        "teams": math.log2(teams),
        "registers": registers,
        "stack": stack,
        "code": math.log2(instructions),
        "resident_threads": math.log2(on_sm * threads),
        "resident_blocks": on_sm,
        "waves": math.log2(max(1.0, teams / (blocks * SMS))),
        "rounds": math.log2(max(1.0, count / (threads * teams))),
        "filled": min(1.0, count / (threads * teams)),
    }


def static_features(case: Case, form=PLAIN):
    """What is known of the kernel itself."""
    one = case.static[form]
    logarithms = {name: math.log2(1 + max(one[name], 0)) for name in ("iterations", "operations", "accesses", "loaded_sectors", "stored_sectors")}
    moved = max(one["loaded_sectors"] + one["stored_sectors"], 1)
    return {
        **{name: one[name] for name in ("loops", *MEMORY, *INSTRUCTIONS)},
        **logarithms,
        "followed": float(one["accesses"] >= 0),
        "intensity": math.log2((1 + one["operations"] * 32) / (moved * 32)),
        "work": logarithms["iterations"] + math.log2(1 + max(one["operations"], one["accesses"])),
    }
