//! Profiles in both forms, and what is none.

use super::*;

const RAW: &str = "\
==PROF== Connected to process 41 (app)
result, 3.5
\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\",\"dram__bytes.sum.per_second\",\"other__metric.sum\"
\"\",\"\",\"\",\"\",\"\",\"usecond\",\"Kbyte/second\",\"\"
\"0\",\"41\",\"__omp_offloading_1_2_f_l3\",\"(128, 2, 1)\",\"(1,024, 1, 1)\",\"1,234.5\",\"2,000\",\"what it likes\"
==PROF== Disconnected from process 41
\"1\",\"41\",\"__omp_offloading_1_2_f_l3\",\"(128, 1, 1)\",\"(10, 2, 1)\",\"2,000.0\",\"n/a\",\"\"
";

const DETAILS: &str = "\
\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"
\"0\",\"7\",\"f(int, double *)\",\"(64, 1, 1)\",\"(8, 1, 1)\",\"GPU Speed Of Light Throughput\",\"Memory Throughput\",\"%\",\"45.7\",\"\"
\"0\",\"7\",\"f(int, double *)\",\"(64, 1, 1)\",\"(8, 1, 1)\",\"Memory Workload Analysis\",\"Memory Throughput\",\"Gbyte/s\",\"1,200.5\",\"\"
\"0\",\"7\",\"f(int, double *)\",\"(64, 1, 1)\",\"(8, 1, 1)\",\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\"
\"1\",\"7\",\"g\",\"(64, 1, 1)\",\"(8, 1, 1)\",\"Command line profiler metrics\",\"launch__grid_size\",\"\",\"8\",\"\"
";

fn failure(text: &str) -> (usize, String) {
    let error = read(text.as_bytes()).unwrap_err();
    (error.line, error.what)
}

#[test]
fn a_row_for_each_launch() {
    let launches = read(RAW.as_bytes()).unwrap();
    assert_eq!(launches.len(), 2);
    let first = &launches[0];
    assert_eq!(&RAW[first.at.start..first.at.end], "__omp_offloading_1_2_f_l3");
    // `(1,024, 1, 1)` is no size: what was collected tells.
    let values = [(Counter::Duration, 1234.5), (Counter::Threads, 256.0), (Counter::DeviceMemoryRate, 2e6)];
    assert_eq!(first.values, values.into());
    assert_eq!(launches[1].values.get(&Counter::DeviceMemoryRate), None);
    let kernels = kernels(&launches);
    assert_eq!((kernels.len(), kernels[0].launches, kernels[0].time), (1, 2, Some(3234.5)));
    assert_eq!(kernels[0].values[&Counter::Teams], 20.0, "the longer launch speaks for it");
}

#[test]
fn a_row_for_each_metric() {
    for text in [DETAILS.to_owned(), DETAILS.replace('\n', "\r\n"), format!("\u{feff}{DETAILS}")] {
        let launches = read(text.as_bytes()).unwrap();
        assert_eq!(launches.iter().map(|launch| launch.kernel.as_str()).collect::<Vec<_>>(), ["f(int, double *)", "g"]);
        let values = [
            (Counter::Teams, 8.0),
            (Counter::Threads, 64.0),
            (Counter::Memory, 45.7),
            (Counter::DeviceMemoryRate, 1.2005e12),
        ];
        assert_eq!(launches[0].values, values.into());
        assert_eq!(launches[1].values[&Counter::Teams], 8.0);
    }
}

#[test]
fn the_first_launch_speaks_where_durations_are_missing() {
    let text = RAW.replace("1,234.5", "n/a");
    let kernels = kernels(&read(text.as_bytes()).unwrap());
    assert_eq!((kernels[0].time, kernels[0].values.get(&Counter::Threads)), (None, Some(&256.0)));
}

#[test]
fn what_is_no_profile_is_told_with_its_line() {
    let (line, what) = failure("");
    assert!(line == 1 && what.contains("--page raw"), "{what}");
    assert!(failure("ID,Name\n1,f\n").1.contains("Kernel Name"));
    let header = DETAILS.lines().next().unwrap();
    assert_eq!(failure(&format!("{header}\n")).0, 1);
    assert!(failure(&format!("{header}\n")).1.contains("no kernel was profiled"));
    let (line, what) = failure(&DETAILS.replace("\"Metric Unit\"", "\"Unit\""));
    assert_eq!((line, what.as_str()), (1, "the column `Metric Unit` is missing"));
    let (line, what) = failure(&DETAILS.replace("45.7", "45,7"));
    assert!(line == 2 && what.contains("`45,7` of `Memory Throughput`") && what.contains("LC_ALL=C"), "{what}");
    let (line, what) = failure(&DETAILS.replace("Gbyte/s", "Gbit"));
    assert_eq!((line, what.as_str()), (3, "`Gbit` is no unit that `Memory Throughput` is known in"));
    let (line, what) = failure(&format!("{DETAILS}done in 3 s\n"));
    assert!(line == 6 && what.contains("1 of 10 columns"), "{what}");
    let (line, what) = failure(&RAW.replace("2,000.0", "2000,0"));
    assert!(line == 7 && what.contains("`2000,0`"), "{line} {what}");
    let (line, what) = failure(&RAW.replace("\"\",\"\",\"\",\"\",\"\",\"usecond\",\"Kbyte/second\",\"\"\n", ""));
    assert!(line == 4 && what.contains("units are missing"), "{line} {what}");
    let (line, what) = failure("Kernel Name,Grid Size\nf,1\n");
    assert!(line == 1 && what.contains("neither columns"), "{what}");
    let summary =
        "\"Kernel Name\",\"Invocations\",\"Metric Name\",\"Metric Unit\",\"Minimum\"\n\"f\",\"2\",\"x\",\"\",\"1\"\n";
    assert!(failure(summary).1.contains("--print-summary"));
    let wide: Vec<u8> = RAW.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(&[&[0xff, 0xfe], wide.as_slice()].concat()).unwrap_err().what.contains("UTF-16"));
}

/// Cut off or spoilt anywhere, a profile is read or refused.
#[test]
fn no_input_panics() {
    for text in [RAW, DETAILS] {
        for at in 0..text.len() {
            let _read = read(&text.as_bytes()[..at]);
            for other in [b'"', b',', b'\n', b'\0', 0xff] {
                let mut spoilt = text.as_bytes().to_vec();
                spoilt[at] = other;
                if let Ok(launches) = read(&spoilt) {
                    assert!(kernels(&launches).iter().all(|kernel| kernel.at.end <= spoilt.len()));
                }
            }
        }
    }
}
