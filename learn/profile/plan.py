"""usage: plan.py sources DIR: writes the programs that are run under a profiler, part0.c and part1.c
       plan.py plans DIR: writes what they run, ROUND-PART in DIR/plan, and a plan of a few points to try the profiler with, DIR/probe

Round 0 is LLVM's own grid of every case. Each later round takes one more size of every kernel: all coarsened forms in LLVM's own grid, and
the loop as written in blocks of Connors' sizes, one iteration a thread. Families take turns within a plan, so that a run that is cut short
has some of each.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from extents import extents
from generate import PLAIN, fits, forms, iterations, program, value
from kernels import KERNELS

PARTS = 2
BLOCKS = (32, 64, 96, 128, 256, 512, 1024)
# As features.py has it: few threads for many iterations take long and tell nothing.
DEVICE_THREADS, MOST_TEAMS = 132 * 2048, 1 << 20
PROBED = 8


def in_turn():
    """The kernels, the first ones of all families first."""
    place, seen = {}, {}
    for kernel in KERNELS:
        place[kernel.name] = seen[kernel.family] = seen.get(kernel.family, -1) + 1
    return sorted(KERNELS, key=lambda kernel: place[kernel.name])


def part(number):
    return in_turn()[number::PARTS]


def variants(kernel):
    return [(form, 0) for form in forms(kernel)] + [(PLAIN, threads) for threads in BLOCKS]


def sizes(kernel):
    """Sizes that all forms fit first, of those the ones in the middle: the least take as long as their launch, the greatest long."""
    middle = len(kernel.sizes) / 2

    def rank(index):
        fitting = sum(fits(kernel, kernel.sizes[index], form) for form in forms(kernel))
        return -fitting, abs(index - middle)

    return [kernel.sizes[index] for index in sorted(range(len(kernel.sizes)), key=rank)]


def points(kernel, size):
    """Of a later round: (threads, teams, form)."""
    found = [(0, 0, form) for form in forms(kernel)[1:] if fits(kernel, size, form)]
    count = iterations(kernel, size)
    for threads in BLOCKS:
        teams = -(-count // threads)
        if teams * threads >= min(count, DEVICE_THREADS) / 64 and teams < MOST_TEAMS:
            found.append((threads, teams, PLAIN))
    return found


def lines(kernel, size, wanted):
    numbers = (*size, value(kernel.written, size), value(kernel.range, size), int(kernel.sorted_b), int(kernel.bijective_x))
    yield " ".join(map(str, ("memory", *extents(kernel, size))))
    yield " ".join(map(str, ("case", kernel.name, *numbers)))
    for threads, teams, form in wanted:
        yield f"point {threads} {teams} {form.factor} {form.stride} {form.axis}"


def rounds(kernels):
    """The plans of these kernels, a list of lines for each round."""
    yield [line for kernel in kernels for size in kernel.sizes for line in lines(kernel, size, [(0, 0, PLAIN)])]
    for index in range(max(len(kernel.sizes) for kernel in kernels)):
        with_size = [(kernel, sizes(kernel)[index]) for kernel in kernels if index < len(kernel.sizes)]
        yield [line for kernel, size in with_size for line in lines(kernel, size, points(kernel, size))]


def probe():
    """One point of each of some kernels of part 0."""
    return [line for kernel in part(0)[:PROBED] for line in lines(kernel, sizes(kernel)[0], [(0, 0, PLAIN)])]


def write(path, found):
    text = "\n".join(found) + "\n"
    if not path.exists() or path.read_text() != text:  # what was built of it stays up to date
        path.write_text(text)


def main(what, folder):
    if what == "sources":
        for number in range(PARTS):
            write(folder / f"part{number}.c", [program(part(number), variants)])
        return
    (folder / "plan").mkdir(parents=True, exist_ok=True)
    total = 0
    for number in range(PARTS):
        for index, found in enumerate(rounds(part(number))):
            write(folder / "plan" / f"{index}-{number}", found)
            total += sum(line.startswith("point") for line in found)
    write(folder / "probe", probe())
    print(total, "points")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("sources", "plans"):
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
