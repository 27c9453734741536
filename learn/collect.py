"""usage: collect.py RUN BUILD DATA: makes DATA/points.csv.gz and DATA/README.md from the folder that a run on a device filled

RUN is what `run OUT` wrote, BUILD the folder that was packed; DATA holds the other three files already (features.py). Every result must be the
same. A case for which the time did not suffice is left out as a whole, and named.
"""

import sys
from pathlib import Path

from tables import write

COLUMNS = "kernel,n,m,k,threads,teams,factor,stride,axis,real_teams,real_threads,us,launches".split(",")

SCHEMA = """# Measurements

{machine}

Device clock, kernel only: the least of {launches} launches after one to warm up, 0 launches where the first took more than 8 times the best of its case. clang 19.1.7
`-O2 -fopenmp --offload-arch=sm_90 -foffload-lto`, ptxas 12.9. All results of a case had the same bits. Not measured for want of time: {missing}.

```sh
learn/build.sh target/learn       # programs
python3 learn/features.py target/release/ompsplit target/learn {data}    # kernels, resources, choices, and the plan
learn/package.sh target/learn     # what goes to the device
./run OUT                         # there
python3 learn/collect.py OUT target/learn {data}    # points
```

The files are CSV, compressed with gzip (`zcat points.csv.gz`); `learn/check.sh` holds them to this schema.

A case is a kernel (`learn/kernels.py`) with its lengths n, m, k. A form of it: `factor` iterations a thread that lie `stride` apart, along the loop of
neighbouring threads (axis x) or the outer one (y); 1, 1, x is the loop as written.

| file | a row is | columns |
|---|---|---|
| `points.csv.gz` | a measured grid | case, form; `threads`: literal `thread_limit`, 0 no clause at all, -128 `thread_limit(128)` alone; `teams`: `num_teams`; `real_teams`, `real_threads`: as launched; `us`; `launches` |
| `kernels.csv.gz` | a form of a case, before it runs | case, form; `iterations` of its parallel loops; `loops` that run in parallel; `operations` of floating point a thread makes; of one thread, by ompsplit's analysis, empty where it does not follow the accesses: `accesses`, `inner_loop` (are they in a serial loop), `access_sectors` a warp and access, `uncoalesced`, `loaded_sectors` and `stored_sectors` of a warp; then Magni's Table 7.3, counted in LLVM IR (`learn/counts.py`): `blocks` .. `barriers` |
| `resources.csv.gz` | a compiled kernel | `kernel`, form, `threads`; `registers`, `stack` bytes and `instructions` of the cubin, static `shared` bytes |
| `choices.csv.gz` | what somebody chooses | case, form; `who`; `threads`, `teams` as in points.csv.gz |

`who`: `llvm`; `limit128`; `lloydT`: Lloyd 2018, Figure 7, with blocks of T threads; `chikinT`: the same with the occupancies of Chikin 2018, Table 1; `capacityT`: with the
capacity of an H200's first-level cache instead; `rules_D`: what `ompsplit --device D --passes geometry` writes with all lengths known; `coarsen_D`: with
`--passes coarsen,geometry`.
"""


def measured_cases(plan, path):
    """The rows of each case of a plan that was measured as a whole, and the names of the others."""
    lines = path.read_text().splitlines() if path.exists() else []
    found, missing, at = [], [], 0
    for part in plan.read_text().split("case ")[1:]:
        head, *points = part.splitlines()
        rows = [line.split(",") for line in lines[at:at + len(points)]]
        at += len(points)
        name = head.split()[:4]
        for row in rows:
            assert row[:4] == name and (len(row) < len(COLUMNS) + 1 or row[-1] == "same"), row
        if len(rows) == len(points) and len(rows[-1]) == len(COLUMNS) + 1:
            found += [row[:-1] for row in rows]
        else:
            missing.append(" ".join(name))
    return found, missing


def main(run, build, data):
    run, build, data = Path(run), Path(build), Path(data)
    rows, missing = [], []
    for plan in sorted((build / "plan").iterdir()):
        found, without = measured_cases(plan, run / "points" / f"{plan.name}.csv")
        rows += found
        missing += without
    write(data / "points.csv.gz", COLUMNS, rows)
    print(len(rows), "points; not measured:", ", ".join(missing) or "nothing")
    machine = "; ".join((run / "machine.txt").read_text().strip().splitlines())
    launches = max(int(row[-1]) for row in rows)
    (data / "README.md").write_text(SCHEMA.format(machine=machine, launches=launches, missing=", ".join(missing) or "nothing", data=f"learn/data/{data.name}"))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
