"""usage: collect_counters.py RUN DATA: makes DATA/counters.csv.gz, and its part of DATA/README.md, from what run-counters left in the folder RUN

DATA holds points.csv.gz of the same kind of device. What was launched and what was counted must agree by name and grid: where a plan has
other launches than points, it is taken up to the first one that differs, and named.
"""

import csv
import gzip
import io
import re
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from generate import Form, measured_name
from kernels import KERNELS
from tables import write

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
THREADS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
PIPE = "smsp__inst_executed_pipe_{}.sum"
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
LOCAL = "l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum"
POINT = ("kernel", "n", "m", "k", "threads", "teams", "factor", "stride", "axis")
# Columns by their metrics; times in nanoseconds, bytes, everything else as it is.
COUNTERS = {
    "real_teams": "launch__grid_size",
    "real_threads": "launch__block_size",
    "registers": "launch__registers_per_thread",
    "ns": "gpu__time_duration.sum",
    "load_requests": GLOBAL.format("requests", "ld"),
    "store_requests": GLOBAL.format("requests", "st"),
    "load_sectors": GLOBAL.format("sectors", "ld"),
    "store_sectors": GLOBAL.format("sectors", "st"),
    "local_loads": LOCAL.format("ld"),
    "local_stores": LOCAL.format("st"),
    "first_hits": "l1tex__t_sector_hit_rate.pct",
    "second_hits": "lts__t_sector_hit_rate.pct",
    "second_reads": "lts__t_sectors_op_read.sum",
    "second_writes": "lts__t_sectors_op_write.sum",
    "dram_read": "dram__bytes_read.sum",
    "dram_written": "dram__bytes_write.sum",
    "dram_busy": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "memory_busy": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm_busy": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "possible_occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "waves": "launch__waves_per_multiprocessor",
    "active_cycles": "sm__cycles_active.avg",
    "cycles": "sm__cycles_elapsed.max",
    "issued": "smsp__issue_active.avg.per_cycle_active",
    "eligible": "smsp__warps_eligible.avg.per_cycle_active",
    "insts": "smsp__inst_executed.sum",
    "active_threads": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "branches": PIPE.format("cbu"),
    "uniform_branches": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "special_insts": PIPE.format("xu"),
    "memory_insts": PIPE.format("lsu"),
    "float_adds": THREADS.format("fadd"),
    "float_muls": THREADS.format("fmul"),
    "float_fmas": THREADS.format("ffma"),
    "stall_memory": STALL.format("long_scoreboard"),
    "stall_special": STALL.format("short_scoreboard"),
    "stall_queue": STALL.format("lg_throttle"),
    "stall_arithmetic": STALL.format("math_pipe_throttle"),
    "stall_wait": STALL.format("wait"),
    "stall_fetch": STALL.format("no_instruction"),
}
PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

SECTION = """
## Counters

{machine}

`{command}`: {rows} launches of {cases} cases, each once, caches as the launch before left them unless the command says otherwise. Not counted: {missing}.

```sh
learn/build.sh target/profile sm_90 profiled && python3 learn/profile/plan.py plans target/profile && learn/package.sh target/profile profiled
./run-counters OUT                # in target/profile/package, on the machine with the GPU
python3 learn/profile/collect_counters.py OUT {data}    # counters
```

| file | a row is | columns |
|---|---|---|
| `counters.csv.gz` | a launch under `ncu` | case, form, `threads` and `teams` as in points.csv.gz; then the metrics of the table below, empty where one was not counted |

| column | metric of `ncu` |
|---|---|
{columns}
"""


def scaled(text, unit):
    """A number in base units: times in ns, bytes."""
    number = float(text.replace(",", ""))
    match = re.fullmatch(r"([numKMGT]?)(second|s|byte|sector|inst|cycle|request)", unit)
    if not match:
        return number
    number *= PREFIXES[match[1]]
    return number * 1e9 if match[2] in ("second", "s") else number


def table(text):
    """ncu's CSV without what it says besides."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    return (rows[0], rows[1:]) if rows and rows[0][0] == "ID" else ([], [])


def launches(text):
    """What was counted of each launch of a measured kernel, in order: (name of the function, {metric: number})."""
    head, rows = table(text)
    if "Metric Name" in head:  # a row for each metric
        found = {}
        for row in (dict(zip(head, row)) for row in rows):
            one = found.setdefault(int(row["ID"]), (row["Kernel Name"], {}))
            one[1][row["Metric Name"]] = number_or_none(row["Metric Value"], row["Metric Unit"])
        found = [found[index] for index in sorted(found)]
    else:  # a row for each launch, the units in the first one
        units = dict(zip(head, rows[0])) if rows else {}
        found = [(one["Kernel Name"], {name: number_or_none(one[name], units[name]) for name in head if "__" in name})
                 for one in (dict(zip(head, row)) for row in rows[1:])]
    names = [(re.match(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_(\w+)_l\d+", name), counted) for name, counted in found]
    return [(match[1], counted) for match, counted in names if match and re.search(r"_[xy]\d+_\d+_(limit)?\d+$", match[1])]


def number_or_none(text, unit):
    return scaled(text, unit) if re.match(r"[\d.,]+(e[-+]?\d+)?$", text) else None


def expected_name(point, kernels):
    kernel, threads, form = kernels[point[0]], int(point[4]), Form(int(point[6]), int(point[7]), point[8])
    return measured_name(kernel, form, threads).replace("-", "limit")


def matched(points, counted):
    """Each point with what was counted of it, as long as names and grids agree."""
    kernels, found = {kernel.name: kernel for kernel in KERNELS}, []
    for point, (name, counters) in zip(points, counted):
        grid = counters.get("launch__grid_size"), counters.get("launch__block_size")
        if name != expected_name(point, kernels) or (int(point[4]) > 0 and grid != (int(point[5]), int(point[4]))):
            break
        found.append((point, counters))
    return found


def read_run(run):
    """The plans of a run: name, points, launches."""
    with tarfile.open(run / "counters.tar.gz") as tar:
        texts = {Path(member.name).name: tar.extractfile(member).read().decode() for member in tar if member.isfile()}
    for name in sorted(name.removesuffix(".points") for name in texts if re.fullmatch(r"\d+-\d+\.points", name)):
        points = [line.split(",") for line in texts[f"{name}.points"].splitlines() if line.count(",") == len(POINT) - 1]
        yield name, points, launches(texts.get(f"{name}.csv", ""))


def as_measured(data, rows):
    """Of the launches that were timed as well: how many had the same grid, and how many another one."""
    with gzip.open(data / "points.csv.gz", "rt", newline="") as file:
        timed = {tuple(row[name] for name in POINT): (row["real_teams"], row["real_threads"]) for row in csv.DictReader(file)}
    same = [timed[key] == tuple(f"{row[name]:.0f}" for name in ("real_teams", "real_threads")) for key, row in rows.items() if key in timed]
    return sum(same), len(same) - sum(same)


def plain(value):
    return "" if value is None else f"{value:.7g}"


def main(run, data):
    run, data = Path(run), Path(data)
    rows, short = {}, []
    for name, points, counted in read_run(run):
        found = matched(points, counted)
        print(f"{name}: {len(points)} points, {len(counted)} launches, {len(found)} matched")
        if len(found) < len(points):
            short.append(f"{len(points) - len(found)} points of plan {name}")
        for point, counters in found:
            rows.setdefault(tuple(point), {column: counters.get(metric) for column, metric in COUNTERS.items()})
    same, other = as_measured(data, rows)
    print(f"{len(rows)} rows; {same} launches had the grid that was timed, {other} another one")
    assert rows and same > 9 * other, "these are other launches than were timed"
    write(data / "counters.csv.gz", [*POINT, *COUNTERS], [[*point, *map(plain, counters.values())] for point, counters in rows.items()])
    machine = (run / "machine.txt").read_text().strip().splitlines()
    command = next(line for line in machine if line.startswith("ncu ")) + " --metrics .."
    missing = [f"column {column}" for column in COUNTERS if all(row[column] is None for row in rows.values())] + short
    section = SECTION.format(machine="; ".join(line for line in machine[:machine.index(command.removesuffix(" --metrics .."))]), command=command, rows=len(rows),
                             cases=len({point[:4] for point in rows}), missing=", ".join(missing) or "nothing of what was launched", data=f"learn/data/{data.name}",
                             columns="\n".join(f"| `{column}` | `{metric}` |" for column, metric in COUNTERS.items()))
    readme = data / "README.md"
    readme.write_text(readme.read_text().split("\n## Counters")[0].rstrip("\n") + "\n" + section)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
