"""usage: predict.py OMPSPLIT DATA: makes DATA/transactions.csv.gz, the sectors that the program predicts for each form of each case

A launch loads and stores what a warp does in one iteration, as `explain` says, times the warps that its iterations fill; an access whose addresses hang on
data has 32 sectors. Where `explain` does not follow the accesses, the cells are empty.
"""

import re
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


def together(kernel, size, wanted):
    """All forms in one text, and the line of each directive."""
    text, lines = "#include <math.h>\n", []
    for number, form in enumerate(wanted):
        _, function = analysed_source(kernel, size, form).split("\n", 1)
        function = function.replace("void run(", f"void run{number}(")
        lines.append(1 + (text + function[:function.index("#pragma omp")]).count("\n"))
        text += function
    return text, lines


def explained(tool, name, text):
    """What `explain` says of each directive, by its line."""
    said = tool.run(name, text, "explain", "--no-config", "--passes", "geometry", "--device", "h200")
    parts = re.split(r"^\S+\.c:(\d+):\d+: geometry: ", said, flags=re.M)
    return dict(zip(map(int, parts[1::2]), parts[2::2]))


def predicted(said, kernel, size, form):
    """Sectors loaded and stored by a launch."""
    match = re.search(r"a warp loads ([\d.]+) sectors and stores ([\d.]+) in one iteration", said)
    warps = iterations(kernel, size) / form.factor / WARP
    return [f"{float(sectors) * warps:.7g}" for sectors in match.groups()] if match else ["", ""]


def rows(tool, kernel, size):
    wanted = [form for form in forms(kernel) if fits(kernel, size, form)]
    text, lines = together(kernel, size, wanted)
    said = explained(tool, kernel.name, text)
    assert sorted(said) == lines, f"{kernel.name}: other loops than were asked for"
    return [[kernel.name, *size, form.factor, form.stride, form.axis, *predicted(said[line], kernel, size, form)] for form, line in zip(wanted, lines)]


def main(program, data):
    with tempfile.TemporaryDirectory() as folder, ThreadPool(2) as pool:
        tool = Tool(program, folder)

        def of_kernel(kernel):
            return [row for size in kernel.sizes for row in rows(tool, kernel, size)]

        found = [row for part in pool.map(of_kernel, KERNELS, chunksize=1) for row in part]
    write(Path(data) / "transactions.csv.gz", COLUMNS, found)
    print(len(found), "rows,", sum(row[-1] == "" for row in found), "not followed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
