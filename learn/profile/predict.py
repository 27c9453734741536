"""usage: predict.py OMPSPLIT DATA: makes DATA/transactions.csv.gz, the sectors that the program predicts for each form of each case

A launch loads and stores what a warp does in one iteration, as `explain` says, times the warps that its iterations fill. Where `explain` does
not follow the accesses, the cells are empty.
"""

import sys
import tempfile
from multiprocessing.pool import ThreadPool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from features import WARP, Tool
from generate import analysed_source, fits, forms, iterations
from kernels import KERNELS
from tables import write

COLUMNS = ("kernel", "n", "m", "k", "factor", "stride", "axis", "loaded", "stored")


def predicted(tool, kernel, size, form):
    facts = tool.facts(kernel.name, analysed_source(kernel, size, form))
    warps = iterations(kernel, size) / form.factor / WARP
    return [f"{float(facts[name]) * warps:.7g}" if facts[name] != "" else "" for name in ("loaded_sectors", "stored_sectors")]


def main(program, data):
    with tempfile.TemporaryDirectory() as folder, ThreadPool(2) as pool:

        def rows(kernel):
            wanted = [(size, form) for size in kernel.sizes for form in forms(kernel) if fits(kernel, size, form)]
            return [[kernel.name, *size, form.factor, form.stride, form.axis, *predicted(Tool(program, folder), kernel, size, form)] for size, form in wanted]

        found = [row for part in pool.map(rows, KERNELS, chunksize=1) for row in part]
    write(Path(data) / "transactions.csv.gz", COLUMNS, found)
    print(len(found), "rows,", sum(row[-1] == "" for row in found), "not followed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
