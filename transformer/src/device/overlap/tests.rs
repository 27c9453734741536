//! The model against what was measured on an H200.

use super::*;
use crate::device::DeviceProfile;

const WHOLE: &str = include_str!("../../../../bench/results/pipeline/loops-whole.csv");
const STAGED: &str = include_str!("../../../../bench/results/pipeline/loops-tiles.csv");
const REGISTERED: &str = include_str!("../../../../bench/results/pipeline/loops-registered.csv");
/// Measured versions that were written by hand, in memory that was page-locked before the measurement.
const BY_HAND: &str = include_str!("../../../../bench/results/pipeline/h200.csv");

const MIB: u64 = 1 << 20;

fn rates() -> TransferRates {
    DeviceProfile::named("h200").map(|device| device.transfer).unwrap_or_default()
}

fn stages(to_device: f64, from_device: f64, bytes: f64, arrays: u32, kernel_ms_per_gb: f64) -> Stages {
    let loops = vec![LoopStages { to_device, from_device, kernel_ms_per_gb }];
    let copies = if arrays == 0 { Copies::Locked } else { Copies::Registered { bytes, arrays } };
    Stages { loops, copies, ..Stages::default() }
}

/// The stages with copies through buffers.
fn staged(stages: Stages) -> Stages {
    Stages { copies: Copies::Staged, ..stages }
}

/// Both arrays go to the device with the first loop, one comes back with the second.
fn two_loops() -> Stages {
    let stage = |to_device, from_device| LoopStages { to_device, from_device, kernel_ms_per_gb: 0.5 };
    let loops = vec![stage(2.0, 0.0), stage(0.0, 1.0)];
    Stages { loops, copies: Copies::Registered { bytes: 2.0, arrays: 2 }, ..Stages::default() }
}

/// The loops of `bench/pipeline/loops.c`; their kernels as they were measured by hand.
fn loops() -> Vec<(&'static str, Stages)> {
    vec![
        ("stream_1", stages(1.0, 1.0, 2.0, 2, 0.5)),
        ("stream_200", stages(1.0, 1.0, 2.0, 2, 2.0)),
        ("stream_2000", stages(1.0, 1.0, 2.0, 2, 19.0)),
        ("update", stages(2.0, 1.0, 2.0, 2, 0.7)),
        ("convolution", stages(2.0, 1.0, 2.0, 2, 1.0)),
        ("gesummv", stages(2.0, 0.0, 2.0, 3, 3.0)),
        ("largest", stages(1.0, 0.0, 1.0, 1, 0.5)),
        ("smooth_twice", two_loops()),
    ]
}

/// Loop, MiB of an array, and median milliseconds.
fn measured(text: &str) -> Vec<(String, u64, f64)> {
    let read = |line: &str| {
        let mut fields = line.split(',');
        Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    text.lines().skip(1).filter_map(read).collect()
}

/// Predicted and measured milliseconds, for arrays of at least this many MiB.
fn compared(stages: &[(&'static str, Stages)], text: &str, tiles: Option<u32>, least: u64) -> Vec<(String, f64, f64)> {
    let rates = rates();
    let mut all = Vec::new();
    for (name, stages) in stages {
        for (_, mib, ms) in measured(text).into_iter().filter(|(other, mib, _)| other == name && *mib >= least) {
            let predicted = match tiles {
                None => stages.whole_ms(&rates, mib * MIB),
                Some(tiles) => stages.tiled_ms(&rates, mib * MIB, tiles),
            };
            all.push((format!("{name} {mib} MiB in {tiles:?}"), predicted, ms));
        }
    }
    all
}

#[test]
fn times_are_near_what_was_measured() {
    let loops = loops();
    let by_buffers: Vec<_> = loops.iter().map(|(name, stages)| (*name, staged(stages.clone()))).collect();
    let whole = compared(&loops, WHOLE, None, 64);
    let registered = compared(&loops, REGISTERED, Some(16), 64);
    let staged = compared(&by_buffers, STAGED, Some(16), 64);
    for all in [&whole, &registered, &staged] {
        assert_eq!(all.len(), 24);
        let mean = all.iter().map(|(_, predicted, ms)| (predicted / ms).ln()).sum::<f64>() / 24.0;
        assert!((-0.4..=0.1).contains(&mean), "{mean}");
    }
    // Pageable memory was copied up to a half faster on another machine of the same kind.
    for (all, least) in [(whole, 0.5), (registered, 0.6), (staged, 0.6)] {
        for (what, predicted, ms) in all {
            let ratio = predicted / ms;
            assert!((least..=1.3).contains(&ratio), "{what}: {predicted:.1} for {ms:.1} ms");
        }
    }
}

#[test]
fn what_is_predicted_to_pay_was_measured_to_pay() {
    let rates = rates();
    for (name, stages) in loops() {
        for (stages, text) in [(stages.clone(), REGISTERED), (staged(stages), STAGED)] {
            let from = stages.pays_from(&rates);
            // Buffers, and loops that page-lock two arrays but copy one to the device, pay only from larger arrays on.
            let is_slow = stages.copies == Copies::Staged || ["stream_1", "stream_200"].contains(&name);
            assert_eq!(from, Some(if is_slow { 32 } else { 16 } * MIB), "{name}");
            for (one, other) in measured(WHOLE).iter().zip(measured(text)) {
                if one.0 == name && from.is_some_and(|from| one.1 * MIB >= from) && one.1 >= 64 {
                    assert!(one.2 > other.2, "{name} {} MiB", one.1);
                }
            }
        }
    }
}

/// Numbers of tiles and threads that were tried by hand gain at most this much.
#[test]
fn what_the_tool_writes_is_among_the_best_that_were_tried_by_hand() {
    let by_hand = [
        include_str!("../../../../bench/results/pipeline/loops-hand-8x8.csv"),
        include_str!("../../../../bench/results/pipeline/loops-hand-16x4.csv"),
        include_str!("../../../../bench/results/pipeline/loops-hand-16x8.csv"),
        include_str!("../../../../bench/results/pipeline/loops-hand-32x8.csv"),
        include_str!("../../../../bench/results/pipeline/loops-hand-32x16.csv"),
        include_str!("../../../../bench/results/pipeline/loops-hand-64x16.csv"),
        REGISTERED,
        STAGED,
        WHOLE,
    ]
    .map(measured);
    let of_tool = measured(STAGED).into_iter().enumerate().filter(|(_, (_, mib, _))| *mib >= 64);
    let ratios = of_tool.map(|(at, (name, mib, ms))| {
        let best = by_hand.iter().map(|rows| rows[at].2).fold(f64::INFINITY, f64::min);
        (format!("{name} {mib} MiB"), ms / best)
    });
    let (near, far): (Vec<_>, Vec<_>) = ratios.partition(|(_, ratio)| *ratio <= 1.15);
    assert!(near.len() == 24 && far.iter().all(|(_, ratio)| *ratio <= 1.4), "{far:?}");
}

#[test]
fn arrays_that_only_come_back_never_pay_but_where_they_are_locked_already() {
    let rates = rates();
    assert_eq!(stages(0.0, 1.0, 1.0, 1, 1.0).pays_from(&rates), None);
    // If memory is page-locked already, two stages in tiles are a gain, a single one is not.
    assert_eq!(stages(1.0, 1.0, 0.0, 0, 1.0).pays_from(&rates), Some(64 * MIB));
    assert_eq!(stages(0.0, 1.0, 0.0, 0, 1.0).pays_from(&rates), None);
    // With buffers, copies in one direction are already more than twice as fast.
    assert_eq!(staged(stages(0.0, 1.0, 1.0, 1, 1.0)).pays_from(&rates), Some(32 * MIB));
}

#[test]
fn the_number_of_tiles_is_among_the_best_that_were_measured() {
    let rates = rates();
    let stream = stages(1.0, 1.0, 2.0, 2, 2.0);
    let tiles: Vec<u32> = [4, 16, 64, 256, 1024].into_iter().map(|mib| stream.tiles(&rates, mib * MIB)).collect();
    assert_eq!(tiles, [4, 4, 8, 16, 32]);
    assert_eq!(stream.usual_tiles(&rates), 16);
    // Versions written by hand in memory that was page-locked before: program, bytes, form, tiles, milliseconds.
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let is_meant = fields.get(3) == Some(&"pinned")
            && fields.get(4..6) == Some(&["threads", ""])
            && fields.get(7) == Some(&"4");
        let (program, bytes) = ((*fields.first()?).to_owned(), fields.get(2)?.parse::<u64>().ok()?);
        is_meant.then_some((program, bytes, fields.get(6)?.parse::<u32>().ok()?, fields.get(8)?.parse::<f64>().ok()?))
    };
    let rows: Vec<_> = BY_HAND.lines().filter_map(row).collect();
    let mut compared = 0;
    for (program, kernel) in [("stream_1", 0.5), ("stream_200", 2.0), ("stream_2000", 19.0), ("conv", 1.0)] {
        for mib in [64, 256, 1024] {
            let same = || rows.iter().filter(|row| row.0 == program && row.1 == mib * MIB);
            let best = same().map(|row| row.3).fold(f64::INFINITY, f64::min);
            let tiles = stages(1.0, 1.0, 2.0, 2, kernel).tiles(&rates, mib * MIB);
            for row in same().filter(|row| row.2 == tiles) {
                assert!(row.3 <= 1.1 * best, "{program} {mib} MiB, {tiles} tiles: {} against {best} ms", row.3);
                compared += 1;
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}
