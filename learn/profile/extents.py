"""How many elements of each array a kernel uses at a size: its subscripts, evaluated at the last iteration of all loops.

All subscripts grow with the variables of the loops, so that the last iteration has the greatest; `written` of kernels.py must agree.
"""

import re

from generate import iterations, space, value

SPARE = 64  # elements behind the last one


def subscripts(text, array):
    """What stands in the brackets behind a name, with nested brackets."""
    for match in re.finditer(rf"\b{array}\[", text):
        depth, at = 1, match.end()
        while depth:
            depth += {"[": 1, "]": -1}.get(text[at], 0)
            at += 1
        yield text[match.end():at - 1]


def evaluated(expression, names, largest):
    """An integer expression of C; `largest`: what the elements of x are at most."""
    for inner in list(subscripts(expression, "x")):
        expression = expression.replace(f"x[{inner}]", str(largest))
    return int(eval(expression.replace("/", "//"), {}, names))


def last_iteration(kernel, size):
    """The variables of the kernel in its last iteration, copies without their numbers."""
    names = dict(zip("nmk", size))
    largest = value(kernel.range, size) - 1
    names |= dict(zip("ij", (length - 1 for length in space(kernel, size))))
    for head in kernel.loops:
        name, relation, end = re.search(r"; (\w+) (<=?) ([^;]+);", head.replace("@", "")).groups()
        names[name] = evaluated(end, names, largest) - (relation == "<")
    for declared in re.findall(r"\bint ([^;]+);", f"{kernel.init} {kernel.step}".replace("@", "")):
        for name, expression in (one.split(" = ") for one in re.split(r", (?=\w+ = )", declared)):
            # A search ends between its bounds.
            names[name] = names["m"] if name in "lhg" else evaluated(expression, names, largest)
    return names, largest


def extents(kernel, size):
    """Elements of a, b, x and c."""
    names, largest = last_iteration(kernel, size)
    text = " ".join((kernel.init, kernel.step, kernel.finish)).replace("@", "")
    found = []
    for array in "abxc":
        ends = [evaluated(inner, names, largest) + 1 for inner in subscripts(text, array)]
        found.append(max(ends, default=1))
    assert found[3] == value(kernel.written, size), (kernel.name, size, found, iterations(kernel, size))
    return tuple(elements + SPARE for elements in found)
