//! Grids whose times were measured (`bench/results/geometry`), and the kernels' shapes as the analysis finds them.

use std::collections::BTreeMap;

use ompsplit::device::{GridGeometry, KernelShape};

/// One measured grid.
pub struct Row {
    pub how: String,
    pub grid: GridGeometry,
    pub milliseconds: f64,
}

/// A kernel and its sizes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub kernel: String,
    pub n: u64,
    pub inner: u64,
    pub k: u32,
    pub iterations: u64,
}

/// The measured grids of each case of a table.
pub fn cases(text: &str) -> BTreeMap<Case, Vec<Row>> {
    let mut cases: BTreeMap<Case, Vec<Row>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [kernel, n, inner, k, iterations, how, _, _, teams, threads, median, _, _, _, result] = fields.as_slice()
        else {
            panic!("{line}")
        };
        assert_eq!(*result, "same", "{line}");
        let number = |field: &str| field.parse::<u64>().unwrap();
        let case = Case {
            kernel: (*kernel).to_owned(),
            n: number(n),
            inner: number(inner),
            k: k.parse().unwrap(),
            // The stencil leaves out the border.
            iterations: match *kernel {
                "stencil" => (number(n) - 2) * (number(inner) - 2),
                "row_stencil" => number(n) - 2,
                _ => number(iterations),
            },
        };
        let grid = GridGeometry { num_teams: number(teams), thread_limit: threads.parse().unwrap() };
        let row = Row { how: (*how).to_owned(), grid, milliseconds: median.parse().unwrap() };
        cases.entry(case).or_default().push(row);
    }
    cases
}

/// What the analysis says of a program of `bench/geometry/kernels.h`.
pub fn shape(case: &Case) -> KernelShape {
    let inner = f64::from(u32::try_from(case.inner).unwrap());
    let k = f64::from(case.k);
    let serial = |accesses: f64, lines: f64, sectors: f64, uncoalesced: u32| KernelShape {
        accesses,
        lines,
        sectors,
        uncoalesced,
        inner_loop: true,
        is_length_known: true,
        streams: false,
        loops: 1,
        stores_inside: false,
        stores_side_by_side: false,
        is_grouped: false,
        spread: false,
        walks: false,
        heavy: false,
        operations: 1.0,
    };
    let plain =
        |accesses: f64, operations: f64| KernelShape { inner_loop: false, operations, ..serial(accesses, 1.0, 4.0, 0) };
    let columns = |sectors: f64| KernelShape { spread: true, walks: true, ..serial(inner, 1.0, sectors, 0) };
    let pairs = |shape: KernelShape| KernelShape { loops: 2, ..shape };
    match case.kernel.as_str() {
        "row_sums" => serial(inner, 32.0, 32.0, 1),
        "row_sums_heavy" => KernelShape { heavy: true, ..serial(inner, 32.0, 32.0, 1) },
        "column_sums" => columns(4.0),
        "column_sums_heavy" => KernelShape { heavy: true, ..columns(4.0) },
        "column_sums_memory" => {
            KernelShape { accesses: 2.0 * inner, stores_inside: true, stores_side_by_side: true, ..columns(4.0) }
        }
        "row_sums_memory" => {
            KernelShape { stores_inside: true, stores_side_by_side: true, ..serial(3.0 * inner, 11.3, 12.3, 1) }
        }
        "matrix_sums" => pairs(serial(inner * k, 32.0, 32.0, case.k)),
        "uniform_sums" => pairs(serial(inner * k, 1.0, 1.0, 0)),
        "rows_of_k" => serial(inner * k, 32.0, 32.0, case.k),
        "gemm" => pairs(KernelShape { spread: true, ..serial(2.0 * inner, 1.0, 2.5, 0) }),
        "gemm_memory" => pairs(KernelShape {
            spread: true,
            stores_inside: true,
            stores_side_by_side: true,
            ..serial(3.0 * inner, 1.0, 3.0, 0)
        }),
        "syrk" => pairs(serial(2.0 * inner, 16.5, 16.5, 1)),
        "row_update" => KernelShape { stores_inside: true, ..serial(3.0 * inner, 21.7, 21.7, 2) },
        "row_stencil" => KernelShape { stores_inside: true, ..serial(6.0 * (inner - 2.0), 32.0, 32.0, 4) },
        "triad" => plain(3.0, 1.0),
        "stencil" => pairs(plain(6.0, 1.0)),
        "stencil3d" => KernelShape { loops: 3, ..plain(8.0, 2.0) },
        "copy3d" => KernelShape { loops: 3, ..plain(2.0, 4.0) },
        "stream_heavy" => KernelShape { heavy: true, ..plain(2.0, 64.0) },
        other => panic!("{other}"),
    }
}
