//! The sectors that the analysis predicts, against those that an H200 counted (`bench/results/geometry/h200-counters.csv`,
//! by `bench/geometry/counters.c` under `ncu`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, Options};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;

const COUNTED: &str = include_str!("../bench/results/geometry/h200-counters.csv");
const PROGRAM: &str = include_str!("../bench/geometry/counters.c");

/// Sectors loaded and stored of each kernel, predicted for sizes: what `explain` says of its grid.
fn predicted(n: &str, m: &str) -> BTreeMap<String, [f64; 2]> {
    let text = format!("#define N {n}\n#define M {m}\n{PROGRAM}");
    let file = SourceFile::new("counters.c", text.clone().into_bytes());
    let (passes, device) = (vec![Pass::Geometry], DeviceProfile::named("h200"));
    let options = Options { passes: passes.into(), device, explain: true, ..Options::default() };
    let plans = engine::run(&file, &[], &options).unwrap().plans;
    let first = plans.iter().filter(|plan| !plan.follows);
    let figures = first.map(|plan| {
        let before = &text[..plan.extent.start];
        let function = before.rsplit_once("static void ").unwrap().1.split('(').next().unwrap().to_owned();
        let said: String = plan.details.iter().map(|line| line.text.clone() + "\n").collect();
        let behind = |words: &str| -> f64 {
            let (_, rest) = said.split_once(words).unwrap_or_else(|| panic!("{function}: {said}"));
            rest.split_whitespace().next().unwrap().parse().unwrap()
        };
        assert!(said.contains("iterations (known)"), "{function}");
        let warps = behind("H200: ") / 32.0;
        (function.clone(), [behind("a warp loads ") * warps, behind("and stores ") * warps])
    });
    figures.collect()
}

/// Pearson's coefficient.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = f64::from(u32::try_from(pairs.len()).unwrap());
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (first, second) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let covariance = sum(&|(a, b)| (a - first) * (b - second));
    let (one, other) = (sum(&|(a, _)| (a - first).powi(2)), sum(&|(_, b)| (b - second).powi(2)));
    covariance / (one * other).sqrt()
}

/// The thesis has 29 of 34 series above 0.9 (Magni 2015, section 4.6). That sizes grow alone makes a series correlate; so the
/// sectors of each request are compared as well.
#[test]
fn sectors_are_as_counted() {
    let mut series: BTreeMap<(String, &str), Vec<(f64, f64)>> = BTreeMap::new();
    let mut each = Vec::new();
    let mut within = 0_u32;
    for line in COUNTED.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [kernel, n, m, load_requests, loads, store_requests, stores, _] = fields.as_slice() else {
            panic!("{line}")
        };
        let number = |field: &str| field.parse::<f64>().unwrap();
        let [loaded, stored] = predicted(n, m)[*kernel];
        for (what, predicted, sectors, requests) in
            [("loads", loaded, loads, load_requests), ("stores", stored, stores, store_requests)]
        {
            let (sectors, requests) = (number(sectors), number(requests));
            series.entry(((*kernel).to_owned(), what)).or_default().push((predicted, sectors));
            each.push((predicted / requests, sectors / requests));
            within += u32::from((0.9..=1.1).contains(&(predicted / sectors)));
        }
    }
    let coefficients: Vec<(f64, &(String, &str))> =
        series.iter().map(|(name, pairs)| (correlation(pairs), name)).collect();
    let above = coefficients.iter().filter(|(coefficient, _)| *coefficient > 0.9).count();
    let of_requests = correlation(&each);
    println!(
        "{above} of {} series above 0.9; {within} of {} within a tenth; {of_requests:.3}",
        series.len(),
        each.len()
    );
    println!("{:?}", coefficients.iter().filter(|(coefficient, _)| *coefficient <= 0.99).collect::<Vec<_>>());
    assert!(series.len() == 34 && above >= 29, "{coefficients:?}");
    assert!(of_requests > 0.9, "{of_requests}");
}

/// What `explain` says that a warp loads and stores in one iteration of a loop nest.
fn explained(heads: &str, body: &str) -> [f64; 2] {
    let collapse = heads.matches("for (").count();
    let text = format!(
        "void run(const float *a, const float *b, const int *x, float *c, int n)\n{{\n#pragma omp target teams distribute parallel for collapse({collapse}) \
         is_device_ptr(a, b, x, c)\n{heads}\n{{\n{body}\n}}\n}}\n"
    );
    let file = SourceFile::new("warp.c", text.into_bytes());
    let (passes, device) = (vec![Pass::Geometry], DeviceProfile::named("h200"));
    let options = Options { passes: passes.into(), device, explain: true, ..Options::default() };
    let plans = engine::run(&file, &[], &options).unwrap().plans;
    let said: String = plans.iter().flat_map(|plan| &plan.details).map(|line| line.text.clone() + "\n").collect();
    ["a warp loads ", "and stores "].map(|words| {
        let (_, rest) = said.split_once(words).unwrap_or_else(|| panic!("{heads} {body}: {said}"));
        rest.split_whitespace().next().unwrap().parse().unwrap()
    })
}

/// A thread of several iterations: side by side they lie apart in a warp, a warp apart they do not; what they share is loaded once.
#[test]
fn warps_of_coarsened_loops_touch_these_sectors() {
    let row = "for (int i = 0; i < 65536; i++)";
    let two = "for (int i = 0; i < 65536; i += 2)";
    let apart = "for (int i = 0; i < 65536; i += 64)\nfor (int lane = 0; lane < 32; lane++)";
    for (heads, body, sectors) in [
        (row, "c[i] = a[i];", [4.0, 4.0]),
        (two, "float v = a[i], w = a[i + 1]; c[i] = v; c[i + 1] = w;", [16.0, 16.0]),
        (apart, "float v = a[i + lane], w = a[i + lane + 32]; c[i + lane] = v; c[i + lane + 32] = w;", [8.0, 8.0]),
        // The elements between are loaded once, unless something may have been stored there.
        (two, "float v = a[i] + a[i + 1], w = a[i + 1] + a[i + 2]; c[i] = v; c[i + 1] = w;", [25.0, 16.0]),
        (two, "c[i] = a[i] + a[i + 1]; c[i + 1] = a[i + 1] + a[i + 2];", [33.0, 16.0]),
        // Rows of two loops: a warp has parts of four of them.
        ("for (int i = 0; i < 512; i++)\nfor (int j = 0; j < 8; j++)", "c[i * 8 + j] = a[i] + b[j];", [2.0, 4.0]),
        // A serial loop loads what it does not change once.
        (row, "float s = 0; for (int q = 0; q < 10; q++) s += a[i] * b[q]; c[i] = s;", [14.0, 4.0]),
        (row, "for (int q = 0; q < 10; q++) c[q * 65536 + i] = a[i];", [40.0, 40.0]),
        // What data lead to lies elsewhere each time, unless they are the same data.
        (row, "float s = 0; for (int q = 0; q < 10; q++) s += a[x[q * 65536 + i]]; c[i] = s;", [360.0, 4.0]),
        (row, "float s = 0; for (int q = 0; q < 10; q++) s += a[x[i]] * b[q]; c[i] = s;", [46.0, 4.0]),
    ] {
        assert_eq!(explained(heads, body), sectors, "{heads} {body}");
    }
}

/// Subscripts with quotients, remainders, shifts and masks of loop variables, 8 elements a sector.
#[test]
fn warps_touch_these_sectors_by_parts_of_loop_variables() {
    let row = "for (int i = 0; i < 65536; i++)";
    let two = "for (int i = 0; i < 65536; i += 2)";
    let apart = "for (int i = 0; i < 65536; i += 64)\nfor (int lane = 0; lane < 32; lane++)";
    for (heads, body, sectors) in [
        (row, "c[i] = a[i / 4];", [1.0, 4.0]),
        (row, "c[i] = a[i / 4 / 2] + b[i >> 3];", [2.0, 4.0]),
        // Elements 0 to 10, 10 to 21, 21 to 31: two sectors each.
        (row, "c[i] = a[i / 3];", [2.0, 4.0]),
        (row, "c[i] = a[i & 7] + b[i & 15];", [3.0, 4.0]),
        // Every second of 16 elements.
        (row, "c[i] = a[i & 14] + b[i % 2];", [3.0, 4.0]),
        (row, "c[i] = a[i % 64 * 1024 + i / 64];", [32.0, 4.0]),
        (row, "c[i] = a[i / 8 % 4 * 1024 + i % 8] + b[i / 8 * n + i % 8];", [8.0, 4.0]),
        // One of nine warps begins with a run of 36 elements and needs four sectors, the others five.
        (row, "float s = 0; for (int q = 0; q < 9; q++) s += a[q * 4096 + i % 36]; c[i] = s;", [44.0, 4.0]),
        // Pairs of elements that are half a row apart: rows of one element, of half a warp's, of more.
        (row, "int o = i / 1 * 2 + i % 1; float v = a[o], w = a[o + 1]; c[o] = v + w; c[o + 1] = v - w;", [16.0, 16.0]),
        (row, "int o = i / 4 * 8 + i % 4; float v = a[o], w = a[o + 4]; c[o] = v + w; c[o + 4] = v - w;", [16.0, 16.0]),
        (
            row,
            "int o = i / 16 * 32 + i % 16; float v = a[o], w = a[o + 16]; c[o] = v + w; c[o + 16] = v - w;",
            [8.0, 8.0],
        ),
        (
            row,
            "int o = (i >> 10 << 11) + (i & 1023); float v = a[o], w = a[o + 1024]; c[o] = v + w; c[o + 1024] = v - w;",
            [8.0, 8.0],
        ),
        // The same with two iterations in a thread: in its row every second element.
        (
            two,
            "int j = i + 1, o = i / 1024 * 2048 + i % 1024, p = j / 1024 * 2048 + j % 1024; \
             float v = a[o] + a[o + 1024], w = a[p] + a[p + 1024]; c[o] = v; c[p] = w;",
            [32.0, 16.0],
        ),
        (
            two,
            "int j = i + 1, o = (i >> 3 << 4) + (i & 7), p = (j >> 3 << 4) + (j & 7); \
             float v = a[o] + a[o + 8], w = a[p] + a[p + 8]; c[o] = v; c[p] = w;",
            [32.0, 16.0],
        ),
        (
            apart,
            "int i0 = i + lane, i1 = i + lane + 32, o = i0 / 16 * 32 + i0 % 16, p = i1 / 16 * 32 + i1 % 16; \
             float v = a[o] + a[o + 16], w = a[p] + a[p + 16]; c[o] = v; c[p] = w;",
            [16.0, 8.0],
        ),
        // Equal parts of equal values lead to what was loaded before.
        (row, "int h = i, o = h / 4, p = h / 4; c[i] = a[o] + a[p];", [1.0, 4.0]),
        (row, "int h = i, o = h / 4, p = h / 8; c[i] = a[o] + a[p];", [2.0, 4.0]),
        // Rows of two loops, and parts of both.
        (
            "for (int i = 0; i < 512; i++)\nfor (int j = 0; j < 8; j++)",
            "c[i * 8 + j] = a[(i * 8 + j) / 16] + b[j & 3];",
            [2.0, 4.0],
        ),
        // Parts of a serial loop's variable do not differ in a warp, but in a thread.
        (row, "float s = 0; for (int q = 0; q < 10; q++) s += a[q / 4 * 65536 + i]; c[i] = s;", [40.0, 4.0]),
        // The first eight elements are one sector, all others lie in two.
        (row, "float s = 0; for (int q = 0; q < 10; q++) s += a[(q + i) / 4]; c[i] = s;", [19.0, 4.0]),
    ] {
        assert_eq!(explained(heads, body), sectors, "{heads} {body}");
    }
}
