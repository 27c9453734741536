"""Text of the kernels: for measuring, for the analysis of ompsplit with lengths that are known, and for counting instructions."""

import re
from dataclasses import dataclass

from kernels import KERNELS, Kernel

THREADS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024)
COARSE_THREADS = (32, 64, 128, 256)
FACTORS = (2, 4, 8, 16)
WARP = 32
PARAMETERS = "int n, int m, int k, const float *a, const float *b, const int *x, float *c"


@dataclass(frozen=True, order=True)
class Form:
    """How many iterations a thread makes, how far apart they lie, and along which loop: x, that of neighbouring threads, or y."""

    factor: int = 1
    stride: int = 1
    axis: str = "x"

    @property
    def name(self):
        return f"{self.axis}{self.factor}_{self.stride}"


PLAIN = Form()


def forms(kernel: Kernel):
    """All forms of a kernel, the plain one first."""
    coarse = [Form(factor, stride, "x") for factor in FACTORS for stride in (1, WARP)]
    if len(kernel.space) == 2:
        coarse += [Form(factor, 1, "y") for factor in FACTORS]
    return [PLAIN, *coarse]


def value(expression, size):
    """An expression in n, m and k, for a size."""
    return int(eval(expression, {}, dict(zip("nmk", size))))


def space(kernel: Kernel, size):
    return [value(length, size) for length in kernel.space]


def iterations(kernel: Kernel, size):
    product = 1
    for length in space(kernel, size):
        product *= length
    return product


def fits(kernel: Kernel, size, form: Form):
    """Is no iteration left over?"""
    lengths = space(kernel, size)
    return lengths[0 if form.axis == "y" else -1] % (form.factor * form.stride) == 0


def with_literals(text, size):
    for letter, number in zip("nmk", size):
        text = re.sub(rf"\b{letter}\b", str(number), text)
    return text


def body(kernel: Kernel, form: Form, index):
    """The statements of a thread. `index(copy)` declares the variables i and j of a copy."""
    copies = range(form.factor)

    def each(text, which=copies):
        return [text.replace("@", str(copy)) for copy in which] if text else []

    def block(which):
        # A loop's head that has variables of its own copy stands once for each (`jam` is False).
        lines = each(kernel.init, which)
        lines += [head.replace("@", str(which[0])) for head in kernel.loops]
        lines += ["{", *each(kernel.step, which), "}"] if kernel.loops else []
        return lines + each(kernel.finish, which)

    lines = [index(copy) for copy in copies]
    if kernel.jam:
        return lines + block(copies)
    return lines + [line for copy in copies for line in block([copy])]


def heads(kernel: Kernel, form: Form):
    """The heads of the parallel loops, and what declares i and j of a copy."""
    outer, inner = (kernel.space if len(kernel.space) == 2 else (None, kernel.space[0]))
    last = "j" if outer else "i"
    step = {"x": form.factor if form.stride == 1 else 0, "y": 1}[form.axis]
    loops = []
    if outer:
        loops.append(f"for (int ii = 0; ii < {outer}; ii += {form.factor if form.axis == 'y' else 1})")
    if step:
        loops.append(f"for (int {last}{last} = 0; {last}{last} < {inner}; {last}{last} += {step})")
    else:
        loops.append(f"for (int {last}{last} = 0; {last}{last} < {inner}; {last}{last} += {form.factor * WARP})")
        loops.append(f"for (int lane = 0; lane < {WARP}; lane++)")

    def index(copy):
        along = f"{last}{last} + {copy}" if form.stride == 1 else f"{last}{last} + lane + {WARP * copy}"
        if not outer:
            return f"const int i{copy} = {along};"
        row = f"ii + {copy}" if form.axis == "y" else "ii"
        column = "jj" if form.axis == "y" else along
        return f"const int i{copy} = {row}, j{copy} = {column};"

    return loops, index


def loop(kernel: Kernel, form: Form, clauses):
    """The directive with its loops."""
    loops, index = heads(kernel, form)
    collapse = f" collapse({len(loops)})" if len(loops) > 1 else ""
    lines = [f"#pragma omp target teams distribute parallel for{collapse} is_device_ptr(a, b, x, c){clauses}", *loops, "{"]
    return "\n".join([*lines, *body(kernel, form, index), "}"])


def measured_name(kernel, form, threads):
    return f"{kernel.name}_{form.name}_{threads}"


def measured_variants(kernel: Kernel, few=False):
    """Forms with their literal limits; 0 is no clause at all, and -128 the limit alone. `few`: with one limit, where only results matter."""
    for form in forms(kernel):
        limits = (0, -128, *THREADS) if form == PLAIN else (0, *COARSE_THREADS)
        for threads in (0, 64) if few else limits:
            yield form, threads


def clauses(threads):
    if threads <= 0:
        return f" thread_limit({-threads})" if threads else ""
    return f" num_teams(teams) thread_limit({threads})"


def program(kernels, variants):
    """The program that runs kernels: their functions, and the table that finds them. `variants(kernel)`: forms with their limits."""
    parts, table = ['#include "harness.h"'], []
    for kernel in kernels:
        for form, threads in variants(kernel):
            name = measured_name(kernel, form, threads).replace("-", "limit")
            parts.append(f"static void {name}({PARAMETERS}, int teams)\n{{\n{loop(kernel, form, clauses(threads))}\n}}")
            table.append(f'    {{"{kernel.name}", {form.factor}, {form.stride}, \'{form.axis}\', {threads}, {name}}},')
    parts.append("const struct variant VARIANTS[] = {\n" + "\n".join(table) + "\n    {0}};")
    return "\n\n".join(parts) + "\n"


def measured_source(family, few=False):
    """The program that measures the kernels of a family."""
    return program([one for one in KERNELS if one.family == family], lambda kernel: measured_variants(kernel, few))


def analysed_loop(kernel: Kernel, form: Form, clauses):
    """The same; the plain form as one writes it, without names of copies."""
    text = loop(kernel, form, clauses)
    if form == PLAIN:
        text = re.sub(r"const int i0 = .*\n", "", re.sub(r"\b(i)i\b|\b(j)j\b", r"\1\2", text))
        text = re.sub(r"\b([a-z])0\b", r"\1", re.sub(r"(\w) \+= 1\)", r"\1++)", text))
    return text


def analysed_source(kernel: Kernel, size, form: Form):
    """One function with the lengths written out, without a grid."""
    text = with_literals(analysed_loop(kernel, form, ""), size)
    return f"#include <math.h>\nvoid run(const float *a, const float *b, const int *x, float *c)\n{{\n{text}\n}}\n"


def counted_source(kernel: Kernel, form: Form):
    """What one thread does, as a function: `t` numbers neighbouring threads, `s` the others."""
    two = len(kernel.space) == 2

    def index(copy):
        along = f"t * {form.factor} + {copy}"
        if form.stride > 1:
            along = f"t / {WARP} * {WARP * form.factor} + t % {WARP} + {WARP * copy}"
        if not two:
            return f"const int i{copy} = {along};"
        row, column = (f"s * {form.factor} + {copy}", "t") if form.axis == "y" else ("s", along)
        return f"const int i{copy} = {row}, j{copy} = {column};"

    text = "\n".join(body(kernel, form, index))
    functions = "float expf(float); float logf(float); float sqrtf(float); float sinf(float); float cosf(float);"
    return f"{functions}\nvoid run(int s, int t, {PARAMETERS})\n{{\n{text}\n}}\n"
