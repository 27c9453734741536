"""Magni's static features (2015, Table 7.3), counted in the LLVM IR of what one thread does.

`run(s, t, ..)` is that thread: t numbers neighbouring threads, s the others. A value diverges if it depends on t, by operands or by a
branch that joins in its block; a region diverges if it lies between a branch on such a value and where its two sides meet.
"""

import os
import re
import subprocess

from generate import Form, counted_source

CLANG = os.environ.get("OMPSPLIT_CLANG", "clang-19")
FLAGS = "--target=nvptx64-nvidia-cuda -march=sm_90 -O2 -fno-unroll-loops -fno-slp-vectorize -fno-discard-value-names -nogpulib -w -S -emit-llvm -x c - -o -"
FLOATS = {"fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp"}
INTEGERS = {"add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr", "and", "or", "xor", "icmp"}
NAMES = ("blocks", "branches", "divergent_insts", "divergent_region_insts", "divergent_region_ratio", "divergent_regions", "insts", "float_insts",
         "ilp", "int_float_ratio", "int_insts", "math_calls", "mlp", "loads", "stores", "uniform_loads", "barriers")


class Instruction:
    def __init__(self, text):
        self.result, _, rest = text.partition(" = ") if text.startswith("%") else ("", "", text)
        rest = re.sub(r"^tail ", "", rest)
        self.op = rest.split()[0]
        self.called = (re.search(r"@([\w.]+)\(", rest) or [None, ""])[1] if self.op == "call" else ""
        self.labels = re.findall(r"label %([\w.]+)", rest)
        if self.op == "phi":
            self.operands = re.findall(r"\[ (%[\w.]+),", rest)
        else:
            self.operands = [name for name in re.findall(r"%[\w.]+", rest) if name[1:] not in self.labels]

    @property
    def is_float(self):
        return self.op in FLOATS or "fmuladd" in self.called

    @property
    def is_math(self):
        return self.op == "call" and not self.is_float and not re.match(r"llvm\.([su](min|max)|lifetime)", self.called)


def parse(text):
    """The blocks of `run` by name, the first one first."""
    lines = text.split("define ")[1].split("\n}")[0].split("\n")[1:]
    blocks, current = {}, "entry"
    for line in lines:
        label = re.match(r"^([\w.]+):", line)
        if label:
            current = label[1]
        elif line.strip():
            blocks.setdefault(current, []).append(Instruction(line.strip()))
    return blocks


def meetings(blocks):
    """Where the sides of each block's branch meet: its immediate post-dominator, or None at the end."""
    after = {name: set(blocks) for name in blocks}
    targets = {name: insts[-1].labels for name, insts in blocks.items()}
    changed = True
    while changed:
        changed = False
        for name in blocks:
            common = set.intersection(*(after[label] for label in targets[name])) if targets[name] else set()
            if {name, *common} != after[name]:
                after[name], changed = {name, *common}, True
    strict = {name: after[name] - {name} for name in blocks}
    return {name: next((one for one in strict[name] if after[one] == strict[name]), None) for name in blocks}


def region(blocks, name, meeting):
    """The blocks between a branch and where its sides meet."""
    found, left = set(), list(blocks[name][-1].labels)
    while left:
        one = left.pop()
        if one != meeting and one not in found:
            found.add(one)
            left += blocks[one][-1].labels
    return found


def dependent(blocks, argument):
    """The values that depend on an argument, and the branches on one of them."""
    values, branches, meets = {argument}, set(), meetings(blocks)
    while True:
        before = len(values) + len(branches)
        joins = {meets[name] for name in branches}
        for name, insts in blocks.items():
            for inst in insts:
                if values.intersection(inst.operands) or (inst.op == "phi" and name in joins):
                    if inst.result:
                        values.add(inst.result)
                    if inst.op == "br" and len(inst.labels) > 1:
                        branches.add(name)
        if len(values) + len(branches) == before:
            return values, branches


def parallelism(insts):
    """Instructions at a time in one block, if each starts as soon as its operands are there."""
    depth, count = {}, 0
    for inst in insts:
        if inst.op not in ("phi", "br", "ret"):
            count += 1
            depth[inst.result or count] = 1 + max((depth.get(name, 0) for name in inst.operands), default=0)
    return count / max(depth.values()) if depth else None


def loads_in_flight(insts):
    """For each load, the loads from it to the first use of its value in the block."""
    counts = []
    for place, inst in enumerate(insts):
        if inst.op == "load":
            rest = insts[place:]
            use = next((at for at, one in enumerate(rest) if at and inst.result in one.operands), len(rest))
            counts.append(sum(one.op == "load" for one in rest[:use]))
    return counts


def mean(values, default=0.0):
    values = list(values)
    return sum(values) / len(values) if values else default


def counts(kernel, form: Form):
    source = counted_source(kernel, form)
    text = subprocess.run([CLANG, *FLAGS.split()], input=source, capture_output=True, text=True, check=True).stdout
    blocks = parse(text)
    values, branches = dependent(blocks, "%t")
    along, _ = dependent(blocks, "%s" if form.axis == "y" else "%t")
    meets = meetings(blocks)
    inside = set().union(*(region(blocks, name, meets[name]) for name in branches))
    every = [inst for insts in blocks.values() for inst in insts]
    total, integers, floats = len(every), sum(one.op in INTEGERS for one in every), sum(one.is_float for one in every)
    in_regions = sum(len(blocks[name]) for name in inside)
    loads = [one for one in every if one.op == "load"]
    numbers = (len(blocks), sum(len(one.labels) > 1 for one in every),
               sum(one.result in values or bool(values.intersection(one.operands)) for one in every),
               in_regions, in_regions / total, len(branches), total, floats,
               mean(filter(None, map(parallelism, blocks.values()))), integers / max(floats, 1), integers, sum(one.is_math for one in every),
               mean(count for insts in blocks.values() for count in loads_in_flight(insts)),
               len(loads), sum(one.op == "store" for one in every), sum(not along.intersection(one.operands) for one in loads), 0)
    return dict(zip(NAMES, numbers))
