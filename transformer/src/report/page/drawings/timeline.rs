//! What copies and kernels a loop makes along time, in one piece and in tiles.

use crate::device::DeviceProfile;
use crate::plan::{Pass, Plan, Times};
use crate::report::page::drawings::{read, rectangle, svg, text};
use crate::report::page::html;

/// The width of the time of the loop in one piece.
const WIDTH: u64 = 560;
/// Where time begins: the names of the lanes stand before.
const LEFT: u64 = 80;
const LANE: u64 = 18;
/// More tiles than these are drawn as these.
const MOST_TILES: u64 = 32;
/// The size for which times are drawn, in mebibytes.
pub(in crate::report::page) const SIZE: u64 = 256;
const LANES: [&str; 3] = ["copy in", "kernel", "copy back"];

/// The time of each stage for all of the data: copies in, kernel, copies back.
type Stages = [u64; 3];

/// What a pipeline is predicted to take in one piece and in tiles, for arrays of the size that times are drawn for.
pub(in crate::report::page) fn times_of_size(plan: &Plan) -> Option<Times> {
    let lines = plan.details.iter().filter(|_| plan.pass == Pass::Pipeline).map(|detail| detail.text.as_str());
    let (_, before, after) = lines.filter_map(read::times).find(|(size, ..)| *size == SIZE)?;
    Some(Times { before, after })
}

/// Both timelines: for a device to scale, otherwise as if all stages took as long.
pub(super) fn drawing<'a>(lines: impl Iterator<Item = &'a str>, device: Option<&DeviceProfile>) -> Option<String> {
    let lines: Vec<&str> = lines.collect();
    let ways: Vec<(bool, bool)> = lines.iter().filter_map(|line| read::stream(line)).collect();
    let tiles = lines.iter().find_map(|line| read::tiles(line))?;
    let count = |is: fn(&(bool, bool)) -> bool| u64::try_from(ways.iter().filter(|way| is(way)).count()).unwrap_or(0);
    let (to, from) = (count(|way| way.0), count(|way| way.1));
    let predicted = lines.iter().filter_map(|line| read::times(line)).find(|(size, ..)| *size == SIZE);
    let (stages, whole, tiled, label) = match (predicted, device) {
        (Some((_, whole, tiled)), Some(device)) => {
            let label = format!(
                "arrays of {SIZE} MiB on {}, predicted: {} in one piece, {} in {tiles} tiles",
                device.title,
                html::time(whole),
                html::time(tiled)
            );
            (to_scale(device, to, from, whole), whole, tiled, label)
        }
        _ => {
            let stages = [u64::from(to > 0) * 100, 100, u64::from(from > 0) * 100];
            let (whole, longest) = (stages.iter().sum(), 100);
            let tiled = longest + (whole - longest) / tiles.max(1);
            (stages, whole, tiled, format!("{tiles} tiles; not to scale, since no device is given"))
        }
    };
    let x = |time: u64| LEFT + time * WIDTH / whole.max(1);
    let mut drawn = text(0, 12, &label);
    let lanes = |top: u64| -> String {
        let names = LANES.iter().zip(0_u64..);
        names.map(|(name, lane)| text(0, top + lane * LANE + 13, name)).collect()
    };
    drawn += &lanes(20);
    drawn += &in_one_piece(&stages, 20, x);
    let below = 20 + 3 * LANE + 12;
    drawn += &lanes(below);
    drawn += &in_tiles(&stages, tiles.clamp(1, MOST_TILES), tiled, below, x);
    Some(svg(LEFT + WIDTH + 1, below + 3 * LANE + 4, &label, &drawn))
}

/// The stages for arrays of the same length: pageable memory is copied for as long as the rates say, the rest is the kernel's.
fn to_scale(device: &DeviceProfile, to: u64, from: u64, whole: u64) -> Stages {
    let rates = &device.transfer;
    let mebibytes = u32::try_from(SIZE).unwrap_or(u32::MAX);
    let us_at = |gb_per_s: f64| f64::from(mebibytes) * 1_048_576.0 / gb_per_s.max(0.001) / 1e3;
    let copied = |arrays: u64, rate: f64| arrays.saturating_mul(rounded(us_at(rate)));
    let (copy_in, back) =
        (copied(to, rates.pageable_to_device_gb_per_s), copied(from, rates.pageable_from_device_gb_per_s));
    // Shorter arrays, of which the lines do not tell the lengths, leave no room for all: then both ways take their shares.
    let all = (copy_in + back).max(1);
    let share = |copies: u64| if all <= whole { copies } else { copies.saturating_mul(whole) / all };
    let (copy_in, back) = (share(copy_in), share(back));
    [copy_in, whole.saturating_sub(copy_in + back), back]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates, and times are not negative.
fn rounded(time: f64) -> u64 {
    time.round() as u64
}

fn in_one_piece(stages: &Stages, top: u64, x: impl Fn(u64) -> u64) -> String {
    let mut at = 0;
    let mut drawn = String::new();
    for (stage, lane) in stages.iter().zip(0_u64..) {
        if *stage > 0 {
            drawn += &block(lane, top, x(at), x(at + stage));
        }
        at += stage;
    }
    drawn
}

/// The tiles one behind the other in each lane, no sooner than the stage before is done with them; drawn so that the last one ends when
/// all is predicted to be done.
fn in_tiles(stages: &Stages, tiles: u64, total: u64, top: u64, x: impl Fn(u64) -> u64) -> String {
    // In thousands, so that short stages of many tiles do not vanish.
    let each = stages.map(|stage| stage * 1000 / tiles);
    let mut blocks = Vec::new();
    let mut free = [0_u64; 3];
    for _ in 0..tiles {
        let mut ready = 0;
        for ((length, free), lane) in each.iter().zip(&mut free).zip(0_u64..) {
            let from = ready.max(*free);
            ready = from + length;
            *free = ready;
            // What takes no time is not there; what takes little is seen all the same.
            if length > &0 {
                blocks.push((lane, from, ready));
            }
        }
    }
    let end = free.into_iter().max().unwrap_or(0).max(1);
    let scaled = |time: u64| x(time.saturating_mul(total) / end);
    blocks.into_iter().map(|(lane, from, to)| block(lane, top, scaled(from), scaled(to))).collect()
}

fn block(lane: u64, top: u64, from: u64, to: u64) -> String {
    let width = to.saturating_sub(from + 1).max(1);
    rectangle(&format!("stage l{lane}"), (from, top + lane * LANE + 2), (width, LANE - 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 3] = [
        "u: in, 1 element for each iteration",
        "v: in and back, 1 element for each iteration",
        "sizes for NVIDIA H200: 16 tiles, from 33554432 bytes of the largest array on",
    ];

    #[test]
    fn tiles_are_drawn_with_and_without_a_device() {
        let drawn = drawing(LINES.into_iter(), None).unwrap();
        assert_eq!(drawn.matches("class=\"stage").count(), 3 + 16 * 3);
        let times = ["256 MiB: 80.5 ms as it is, 19.1 ms in tiles, with the page-locking that each run takes"];
        let device = DeviceProfile::named("h200").unwrap();
        let drawn = drawing(LINES.into_iter().chain(times), Some(&device)).unwrap();
        assert!(drawn.contains("80.5 ms in one piece, 19.1 ms in 16 tiles"), "{drawn}");
    }
}
