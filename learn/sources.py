"""usage: sources.py DIR [few]: writes the program of each family of kernels; a file that is as it should be
       stays untouched; `few`: each form with one number of threads
       sources.py --plan FAMILY: a plan that runs every form of its kernels once, on small lengths"""

import sys
from pathlib import Path

from generate import measured_source, measured_variants, value
from kernels import KERNELS

SMALL = {1: (512, 32, 16), 2: (16, 512, 8)}  # by the number of parallel loops


def small_plan(family):
    for kernel in (kernel for kernel in KERNELS if kernel.family == family):
        size = SMALL[len(kernel.space)]
        numbers = (*size, value(kernel.written, size), value(kernel.range, size), int(kernel.sorted_b), int(kernel.bijective_x))
        yield " ".join(map(str, ("case", kernel.name, *numbers)))
        for form, threads in measured_variants(kernel, few=True):
            yield f"point {threads} {3 if threads > 0 else 0} {form.factor} {form.stride} {form.axis}"


def write_sources(folder, few):
    for family in dict.fromkeys(kernel.family for kernel in KERNELS):
        path, text = Path(folder) / f"{family}.c", measured_source(family, few)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if len(sys.argv) == 3 and sys.argv[1] == "--plan":
    print("\n".join(small_plan(sys.argv[2])))
elif len(sys.argv) == 2 or sys.argv[2:] == ["few"]:
    write_sources(sys.argv[1], few=len(sys.argv) == 3)
else:
    sys.exit(__doc__)
