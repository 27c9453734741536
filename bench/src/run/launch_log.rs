//! Reads what libomptarget logs of launches and copies (`LIBOMPTARGET_INFO=48`).

use std::collections::BTreeMap;

use crate::results::{Copies, Launch};

/// Groups the launches by kernel, mode and threads, and counts the copies.
pub fn read(log: &[String]) -> (Vec<Launch>, Copies) {
    let mut groups: BTreeMap<(String, String, u64), (u64, [u64; 2])> = BTreeMap::new();
    let mut copies = Copies::default();
    for line in log {
        if let Some((kernel, mode, threads, blocks)) = launch(line) {
            let group = groups.entry((kernel, mode, threads)).or_insert((0, [blocks, blocks]));
            group.0 += 1;
            group.1 = [group.1[0].min(blocks), group.1[1].max(blocks)];
        } else if let Some(bytes) = copied_bytes(line, "from host to device") {
            copies.to_device += 1;
            copies.to_device_bytes += bytes;
        } else if let Some(bytes) = copied_bytes(line, "from device to host") {
            copies.from_device += 1;
            copies.from_device_bytes += bytes;
        }
    }
    let launches = groups
        .into_iter()
        .map(|((kernel, mode, threads), (count, blocks))| Launch { kernel, mode, count, blocks, threads })
        .collect();
    (launches, copies)
}

/// `.. Launching kernel __omp_offloading_fe00_514014_atax_l14 with [300,1,1] blocks and [128,1,1] threads in SPMD mode`;
/// the x86_64 device writes the numbers without brackets.
fn launch(line: &str) -> Option<(String, String, u64, u64)> {
    let (_, rest) = line.split_once("Launching kernel ")?;
    let (symbol, rest) = rest.split_once(" with ")?;
    let (blocks, rest) = rest.split_once(" blocks and ")?;
    let (threads, rest) = rest.split_once(" threads in ")?;
    let mode = rest.strip_suffix(" mode")?;
    Some((kernel_name(symbol), mode.to_owned(), first_extent(threads)?, first_extent(blocks)?))
}

/// Function and line of a kernel's symbol, without the numbers of the file that it comes from.
fn kernel_name(symbol: &str) -> String {
    let parts = symbol.strip_prefix("__omp_offloading_").and_then(|rest| rest.splitn(3, '_').nth(2));
    parts.unwrap_or(symbol).to_owned()
}

fn first_extent(text: &str) -> Option<u64> {
    text.trim_start_matches('[').split([',', ']']).next()?.parse().ok()
}

fn copied_bytes(line: &str, direction: &str) -> Option<u64> {
    let (_, rest) = line.split_once("Copying data ")?;
    let (_, size) = rest.strip_prefix(direction)?.split_once("Size=")?;
    size.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn launches_of_both_devices_are_grouped() {
        let (launches, _) = read(&log(
            "\"PluginInterface\" device 0 info: Launching kernel __omp_offloading_10_2a_lud_l14 with [8,1,1] blocks and [32,1,1] threads in SPMD mode
             \"PluginInterface\" device 0 info: Launching kernel __omp_offloading_10_2a_lud_l14 with [4,1,1] blocks and [32,1,1] threads in SPMD mode
             \"PluginInterface\" device 0 info: Launching kernel __omp_offloading_10_2a_atax_l9 with 1 blocks and 128 threads in Generic-SPMD mode",
        ));
        let expected = [("atax_l9", "Generic-SPMD", 1, [1, 1], 128), ("lud_l14", "SPMD", 2, [4, 8], 32)];
        let expected = expected.map(|(kernel, mode, count, blocks, threads)| Launch {
            kernel: kernel.to_owned(),
            mode: mode.to_owned(),
            count,
            blocks,
            threads,
        });
        assert_eq!(launches, expected);
    }

    #[test]
    fn copies_are_counted_in_both_directions() {
        let (launches, copies) = read(&log(
            "omptarget device 0 info: Copying data from host to device, HstPtr=0x1, TgtPtr=0x2, Size=360000, Name=a[0:n]
             omptarget device 0 info: Copying data from device to host, TgtPtr=0x2, HstPtr=0x1, Size=1200, Name=y[0:n]
             something else",
        ));
        assert!(launches.is_empty());
        let expected = Copies { to_device: 1, to_device_bytes: 360_000, from_device: 1, from_device_bytes: 1200 };
        assert_eq!(copies, expected);
    }
}
