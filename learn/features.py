"""usage: features.py OMPSPLIT BUILD OUT

Writes in OUT what is known before anything runs, and in BUILD the plan of what is measured:
kernels.csv.gz (a row for each kernel, size and form), resources.csv.gz (each compiled kernel), choices.csv.gz (the grid that each heuristic and the
rules of ompsplit choose), plan/FAMILY. OMPSPLIT is the program, BUILD what build.sh made.
"""

import re
import subprocess
import sys
import tempfile
from multiprocessing.pool import ThreadPool
from pathlib import Path

from counts import NAMES, counts
from cubin import resources
from generate import (COARSE_THREADS, PLAIN, THREADS, Form, analysed_source, fits, forms, iterations, measured_name, measured_variants, value)
from kernels import KERNELS
from tables import write

# NVIDIA H100 and H200 alike (CUDA C Programming Guide 12, compute capability 9.0).
SMS, SM_THREADS, SM_REGISTERS, SM_BLOCKS, WARP, SECTOR = 132, 2048, 65536, 32, 32, 32
DEVICES = ("h200", "h100")
MOST_BLOCKS = 3200  # of LLVM's runtime
# Bytes of lines of uncoalesced accesses that an SM holds: transformer/src/device/profiles/h200.toml.
CAPACITY, LINE = 262144, 128
BLOCKS_PER_SM = (1, 2, 4, 8, 16, 32)


def resident_blocks(registers, threads):
    """Lloyd 2018, Figure 7: the blocks that an SM holds at once."""
    return max(1, min(SM_THREADS // threads, SM_REGISTERS // (max(registers, 1) * threads), SM_BLOCKS))


def llvm(count, threads=None):
    """The grid of LLVM's runtime (transformer/src/device/launch.rs)."""
    most = threads or 128
    if threads or count >= MOST_BLOCKS * most:
        chosen = most
    elif count >= MOST_BLOCKS * WARP:
        chosen = min(most, 1 << (-(-count // MOST_BLOCKS) - 1).bit_length())
    else:
        chosen = WARP
    return chosen, min(max(-(-count // chosen), 1), MOST_BLOCKS)


def lloyd(count, registers, threads):
    """Lloyd 2018, Figure 7."""
    if count <= SMS:
        return 1, count
    return threads, max(1, min(count // threads, resident_blocks(registers, threads) * SMS))


def chikin(grid, uncoalesced, held):
    """Chikin 2018, section 6: Lloyd's grid with no more than `held` threads on an SM where accesses are uncoalesced."""
    threads, teams = grid
    return (threads, min(teams, max(1, held // threads) * SMS)) if uncoalesced else grid


def held_by_table(uncoalesced):
    """Its Table 1: an occupancy of 25 %, and half of it whenever the accesses double."""
    return max(WARP, SM_THREADS // 4 // max(uncoalesced, 1) // WARP * WARP)


def held_by_capacity(uncoalesced):
    """As ompsplit has it (transformer/src/device/grid.rs), with the capacity of an H200."""
    return min(SM_THREADS, max(WARP, CAPACITY // ((uncoalesced + 1) * LINE) // WARP * WARP))


class Tool:
    """The program, run on a text."""

    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)

    def run(self, name, text, *arguments):
        path = self.folder / f"{name}.c"
        path.write_text(text)
        command = [self.program, *arguments, str(path)]
        return subprocess.run(command, capture_output=True, text=True).stdout

    def facts(self, name, text):
        """What the analysis says of one iteration: empty where it does not follow the accesses."""
        said = self.run(name, text, "explain", "--no-config", "--passes", "geometry", "--device", "h200")

        def number(pattern):
            match = re.search(pattern, said)
            return match[1] if match else ""

        return {
            "accesses": number(r"(\d+) accesses? in each"),
            "inner_loop": "" if "accesses in each" not in said else int("in each in a serial loop" in said),
            "access_sectors": number(r"([\d.]+) sectors a warp and access"),
            "uncoalesced": number(r"(\d+) uncoalesced"),
            "loaded_sectors": number(r"a warp loads ([\d.]+) sectors"),
            "stored_sectors": number(r"and stores ([\d.]+) in one"),
        }

    def grid(self, name, text, device, passes):
        """What it writes: form, threads and teams, 0 where a clause is not written."""
        out = self.run(name, text, "--no-config", "--passes", passes, "--device", device)
        pragma = out[out.index("#pragma omp target"):out.index("for (")]
        assert "dist_schedule" not in pragma, out
        threads, teams = (re.search(rf"{clause}\((\d+)\)", pragma) for clause in ("thread_limit", "num_teams"))
        group = re.search(r"first \+= (\d+)", out)
        form = PLAIN
        if group:
            heads = re.findall(r"^for \(int (\w+)", out, re.M)
            form = Form(int(group[1]), 1, "y" if "collapse" in pragma and heads[0] == "first" else "x")
        return form, int(threads[1]) if threads else 0, int(teams[1]) if teams else 0


def key(kernel, size, form):
    return {"family": kernel.family, "kernel": kernel.name, **dict(zip("nmk", size)), "factor": form.factor, "stride": form.stride, "axis": form.axis}


def written_grid(count, threads, teams):
    """The grid that clauses lead to. Without any LLVM's own form is launched, whose threads are written as 0."""
    if not threads:
        return 0, 0
    return threads, teams or llvm(count, threads)[1]


def choices(tool, kernel, size, facts, registers):
    """Who chooses what for the plain loop: (who, form, threads, teams)."""
    count, text = iterations(kernel, size), analysed_source(kernel, size, PLAIN)
    uncoalesced = int(facts["uncoalesced"] or 0)
    yield "llvm", PLAIN, 0, 0
    yield "limit128", PLAIN, -128, 0
    for threads in (32, 64, 96, 128, 256):
        grid = lloyd(count, registers[measured_name(kernel, PLAIN, threads)][0], threads)
        yield f"lloyd{threads}", PLAIN, *grid
        yield f"chikin{threads}", PLAIN, *chikin(grid, uncoalesced, held_by_table(uncoalesced))
        yield f"capacity{threads}", PLAIN, *chikin(grid, uncoalesced, held_by_capacity(uncoalesced))
    for device in DEVICES:
        form, threads, teams = tool.grid(f"{kernel.name}_{device}", text, device, "geometry")
        assert form == PLAIN
        yield f"rules_{device}", form, *written_grid(count, threads, teams)
        form, threads, teams = tool.grid(f"{kernel.name}_{device}", text, device, "coarsen,geometry")
        yield f"coarsen_{device}", form, *written_grid(count // form.factor, threads, teams)


def points(kernel, size, chosen):
    """The grids to measure: (threads, teams, form), LLVM's own first and last."""
    found = {}
    for form, variants in [(form, COARSE_THREADS if form != PLAIN else THREADS) for form in forms(kernel) if fits(kernel, size, form)]:
        count = iterations(kernel, size) // form.factor
        found[0, 0, form] = None
        # Few threads for many iterations take long and tell nothing.
        least = min(count, SMS * SM_THREADS) / 64
        for threads in variants:
            full = -(-count // threads)
            blocks = [blocks * SMS for blocks in BLOCKS_PER_SM if blocks * threads <= SM_THREADS and blocks * SMS < full]
            for teams in [full, *(blocks if form == PLAIN else blocks[-1:])]:
                if teams * threads >= least and teams < 1 << 20:
                    found[threads, teams, form] = None
    for _, form, threads, teams in chosen:
        if fits(kernel, size, form):
            found[threads, teams, form] = None
    return [*found, (0, 0, PLAIN)]


def write_rows(path, rows):
    columns = list(rows[0])
    write(path, columns, [[f"{row[name]:.6g}" if isinstance(row[name], float) else row[name] for name in columns] for row in rows])


def compiled(build):
    registers = {}
    for path in sorted((build / "cubins").glob("*.cubin")):
        registers |= resources(path)
    rows = []
    for kernel in KERNELS:
        for form, threads in measured_variants(kernel):
            name = measured_name(kernel, form, threads).replace("-", "limit")
            numbers = dict(zip(("registers", "stack", "instructions", "shared"), registers[name]))
            rows.append({"kernel": kernel.name, "factor": form.factor, "stride": form.stride, "axis": form.axis, "threads": threads, **numbers})
    return registers, rows


def describe(tool, kernel, registers):
    """The rows of kernels.csv and choices.csv of one kernel, and its part of the plan."""
    rows, chosen_rows, plan = [], [], []
    counted = {form: counts(kernel, form) for form in forms(kernel)}
    for size in kernel.sizes:
        facts = {}
        for form in (form for form in forms(kernel) if fits(kernel, size, form)):
            count = iterations(kernel, size)
            facts[form] = tool.facts(kernel.name, analysed_source(kernel, size, form))
            operations = value(kernel.operations, size)
            rows.append({**key(kernel, size, form), "iterations": count // form.factor, "loops": len(kernel.space), "operations": operations * form.factor,
                         **facts[form], **counted[form]})
        chosen = list(choices(tool, kernel, size, facts[PLAIN], registers))
        for who, form, threads, teams in chosen:
            chosen_rows.append({**key(kernel, size, form), "who": who, "threads": threads, "teams": teams})
        numbers = (*size, value(kernel.written, size), value(kernel.range, size), int(kernel.sorted_b), int(kernel.bijective_x))
        plan.append(" ".join(map(str, ("case", kernel.name, *numbers))))
        plan += [f"point {threads} {teams} {form.factor} {form.stride} {form.axis}" for threads, teams, form in points(kernel, size, chosen)]
    return rows, chosen_rows, plan


def main(program, build, out):
    build, out = Path(build), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (build / "plan").mkdir(exist_ok=True)
    registers, resource_rows = compiled(build)
    write_rows(out / "resources.csv.gz", resource_rows)
    with tempfile.TemporaryDirectory() as folder, ThreadPool(2) as pool:
        described = pool.map(lambda kernel: describe(Tool(program, folder), kernel, registers), KERNELS, chunksize=1)
    write_rows(out / "kernels.csv.gz", [row for rows, _, _ in described for row in rows])
    write_rows(out / "choices.csv.gz", [row for _, rows, _ in described for row in rows])
    plans = {}
    for kernel, (_, _, plan) in zip(KERNELS, described):
        plans.setdefault(kernel.family, []).extend(plan)
    for family, lines in plans.items():
        (build / "plan" / family).write_text("\n".join(lines) + "\n")
    print(sum(line.startswith("point") for lines in plans.values() for line in lines), "points")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
