"""Tests of what lies beside this file, on counters that are made up: python3 learn/profile/test.py"""

import gzip
import io
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


import collect_counters as collect
import plan
from extents import SPARE, extents
from generate import PLAIN, Form, fits, forms, measured_name
from kernels import KERNELS

METRICS = list(collect.COUNTERS.values())
FUNCTION = "__omp_offloading_fe00_5488_{}_l12"


def named(name):
    return next(kernel for kernel in KERNELS if kernel.name == name)


def counted_rows(points, grids=lambda point: (int(point[5]) or 7, int(point[4]) or 32)):
    """What ncu would count: (function, {metric: number}), a number that tells the launch and the metric."""
    kernels = {kernel.name: kernel for kernel in KERNELS}
    for index, point in enumerate(points):
        numbers = {metric: 1000.0 * (index + 1) + place for place, metric in enumerate(METRICS)}
        numbers["launch__grid_size"], numbers["launch__block_size"] = grids(point)
        yield FUNCTION.format(collect.expected_name(point, kernels)), numbers


def wide(rows):
    """As `--page raw` writes it."""
    lines = ["==PROF== Connected to process 1", ",".join(f'"{name}"' for name in ("ID", "Kernel Name", *METRICS)), ",".join(['""'] * (2 + len(METRICS)))]
    lines += [",".join(f'"{cell}"' for cell in (index, name, *(f"{numbers[metric]:,}" for metric in METRICS))) for index, (name, numbers) in enumerate(rows)]
    return "\n".join(lines)


def long(rows):
    """As it stands without: a row for each metric, with units that suit people."""
    lines = ['"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    for index, (name, numbers) in enumerate(rows):
        for metric, number in numbers.items():
            unit, number = ("usecond", number / 1000) if "duration" in metric else ("Kbyte", number / 1000) if "bytes" in metric else ("", number)
            lines.append(",".join(f'"{cell}"' for cell in (index, name, metric, unit, f"{number:,}")))
    return "\n".join(lines)


def plan_points(found):
    """The lines that the program prints for a plan."""
    for line in found:
        words = line.split()
        if words[0] == "case":
            case = words[1:5]
        elif words[0] == "point":
            yield [*case, *words[1:]]


class Plans(unittest.TestCase):
    def test_extents_are_those_of_the_last_iteration(self):
        self.assertEqual(extents(named("triad"), (4096, 1, 1)), tuple(n + SPARE for n in (4096, 4096, 1, 4096)))
        self.assertEqual(extents(named("five_points"), (128, 64, 1)), tuple(n + SPARE for n in (130 * 66 - 1, 1, 1, 128 * 64)))
        self.assertEqual(extents(named("by_rows"), (512, 8, 1)), tuple(n + SPARE for n in (4096, 512, 4096, 512)))
        for kernel in KERNELS:  # `written` agrees, or it raises
            for size in kernel.sizes:
                extents(kernel, size)

    def test_each_launch_has_a_program_and_none_is_planned_twice(self):
        seen = set()
        for number in range(plan.PARTS):
            functions = {measured_name(kernel, form, threads) for kernel in plan.part(number) for form, threads in plan.variants(kernel)}
            for found in plan.rounds(plan.part(number)):
                for point in plan_points(found):
                    self.assertNotIn(tuple(point), seen)
                    seen.add(tuple(point))
                    form = Form(int(point[6]), int(point[7]), point[8])
                    self.assertIn(measured_name(named(point[0]), form, point[4]), functions)
        cases = {(kernel.name, *map(str, size)) for kernel in KERNELS for size in kernel.sizes}
        self.assertEqual({point[:4] for point in seen if point[4:] == ("0", "0", "1", "1", "x")}, cases)
        coarse = sum(fits(kernel, size, form) for kernel in KERNELS for size in kernel.sizes for form in forms(kernel) if form != PLAIN)
        self.assertEqual(len([point for point in seen if point[6] != "1"]), coarse)


class Collecting(unittest.TestCase):
    def setUp(self):
        self.points = list(plan_points(next(plan.rounds(plan.part(0)[:5]))))

    def test_both_forms_of_a_table_say_the_same(self):
        rows = list(counted_rows(self.points))
        one, other = (collect.launches(text(rows)) for text in (wide, long))
        self.assertEqual([name for name, _ in one], [name for name, _ in other])
        for (_, first), (_, second) in zip(one, other):
            for metric in METRICS:
                self.assertAlmostEqual(first[metric], second[metric], 3, metric)

    def test_other_kernels_are_no_launches(self):
        rows = [(FUNCTION.format("fill"), dict.fromkeys(METRICS, 1.0)), *counted_rows(self.points)]
        self.assertEqual(len(collect.launches(wide(rows))), len(self.points))

    def test_a_launch_that_is_missing_ends_what_is_taken(self):
        rows = collect.launches(wide(list(counted_rows(self.points))))
        self.assertEqual(len(collect.matched(self.points, rows)), len(self.points))
        changed = next(index for index, point in enumerate(self.points) if point[0] != self.points[0][0])
        del rows[0]
        self.assertEqual(len(collect.matched(self.points, rows)), changed - 1)
        blocks = [["triad", "4096", "1", "1", "64", "64", "1", "1", "x"]]
        rows = collect.launches(wide(list(counted_rows(blocks, lambda point: (63, 64)))))
        self.assertEqual(collect.matched(blocks, rows), [])

    def test_numbers_that_are_not_counted_are_empty(self):
        self.assertIsNone(collect.number_or_none("n/a", ""))
        self.assertEqual(collect.number_or_none("1,234.5", "usecond"), 1234500)
        self.assertEqual(collect.number_or_none("2.5", "Mbyte"), 2.5e6)
        self.assertEqual(collect.number_or_none("12", "%"), 12)

    def test_a_run_becomes_a_table(self):
        rows = list(counted_rows(self.points))
        with tempfile.TemporaryDirectory() as folder:
            run, data = Path(folder) / "run", Path(folder) / "h100"
            run.mkdir(), data.mkdir()
            with tarfile.open(run / "counters.tar.gz", "w:gz") as tar:
                for name, text in (("./0-0.points", "\n".join(map(",".join, self.points))), ("./0-0.csv", wide(rows)), ("./probe-all.points", "")):
                    member = tarfile.TarInfo(name)
                    member.size = len(text.encode())
                    tar.addfile(member, io.BytesIO(text.encode()))
            (run / "machine.txt").write_text("NVIDIA\n2026-11-27\nVersion 1\nncu --clock-control none\na,b\n")
            with gzip.open(data / "points.csv.gz", "wt") as file:
                file.write(",".join([*collect.POINT, "real_teams", "real_threads"]) + "\n")
                file.writelines(",".join([*point, "7", "32"]) + "\n" for point in self.points)
            (data / "README.md").write_text("# Measurements\n\n## Counters\n\nold\n")
            collect.main(run, data)
            with gzip.open(data / "counters.csv.gz", "rt") as file:
                lines = file.read().splitlines()
            readme = (data / "README.md").read_text()
        self.assertEqual(len(lines), len(self.points) + 1)
        cells = dict(zip(lines[0].split(","), lines[1].split(",")))
        self.assertEqual(float(cells["load_sectors"]), rows[0][1]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"])
        self.assertNotIn("old", readme)
        self.assertIn("`ncu --clock-control none --metrics ..`", readme)


if __name__ == "__main__":
    unittest.main()
