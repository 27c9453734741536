//! Which multiprocessors of a device a grid keeps busy, and how many of the threads of one.

use crate::device::DeviceProfile;
use crate::report::page::drawings::read::{self, Launch};
use crate::report::page::drawings::{rectangle, svg, text};
use crate::report::page::html;

/// The multiprocessors in a row.
const IN_ROW: u64 = 33;
/// The side of the square of a multiprocessor, with the gap to the next.
const SIDE: u64 = 13;
/// The length of the bar for the threads of one.
const BAR: u64 = IN_ROW * SIDE;
/// The width of all, with the words.
const WIDTH: u64 = 620;
/// How many shades there are.
const SHADES: u64 = 4;

/// The launch without clauses above the one that is written.
pub(super) fn drawing<'a>(lines: impl Iterator<Item = &'a str>, device: &DeviceProfile) -> Option<String> {
    let launches: Vec<Launch> = lines.filter_map(read::launch).collect();
    let (first, last) = (launches.first()?, launches.last()?);
    if first == last {
        return None;
    }
    let (before, height) = launch(first, device, 0);
    let (after, end) = launch(last, device, height + 14);
    let says = format!("{}; {}", words(first, device), words(last, device));
    Some(svg(WIDTH, end, &says, &(before + &after)))
}

/// A launch below `top`, and where it ends.
fn launch(launch: &Launch, device: &DeviceProfile, top: u64) -> (String, u64) {
    let count = u64::from(device.sm_count.max(1));
    let mut drawn = text(0, top + 12, &words(launch, device));
    let squares = top + 20;
    for sm in 0..count {
        let place = (sm % IN_ROW * SIDE, squares + sm / IN_ROW * SIDE);
        let shade = (threads_on(launch, device, sm) * SHADES).div_ceil(threads_of_sm(device)).min(SHADES);
        drawn += &rectangle(&format!("sm s{shade}"), place, (SIDE - 2, SIDE - 2));
    }
    let bar = squares + count.div_ceil(IN_ROW) * SIDE + 4;
    drawn += &rectangle("sm s0", (0, bar), (BAR, 12));
    // The teams of the first multiprocessor, which has the most.
    let width = |threads: u64| threads * BAR / threads_of_sm(device);
    for team in 0..teams_on(launch, device, 0) {
        let (from, to) = (width(team * launch.threads), width((team + 1) * launch.threads).min(BAR));
        drawn += &rectangle("team", (from, bar), (to.saturating_sub(from + 1).max(1), 12));
    }
    let resident = threads_on(launch, device, 0);
    let limit = format!(
        "a multiprocessor: {} of {} threads ({} %), {} teams; at most {} by its {}",
        resident,
        device.threads_per_sm,
        html::percent(resident, threads_of_sm(device)),
        teams_on(launch, device, 0),
        launch.blocks,
        launch.limit
    );
    drawn += &text(0, bar + 26, &limit);
    (drawn, bar + 32)
}

fn threads_of_sm(device: &DeviceProfile) -> u64 {
    u64::from(device.threads_per_sm.max(1))
}

/// How many teams with work a multiprocessor holds at first: they are dealt out one by one.
fn teams_on(launch: &Launch, device: &DeviceProfile, sm: u64) -> u64 {
    let count = u64::from(device.sm_count.max(1));
    let dealt = launch.working / count + u64::from(sm < launch.working % count);
    dealt.min(launch.blocks)
}

fn threads_on(launch: &Launch, device: &DeviceProfile, sm: u64) -> u64 {
    (teams_on(launch, device, sm) * launch.threads).min(threads_of_sm(device))
}

fn words(launch: &Launch, device: &DeviceProfile) -> String {
    let busy = launch.working.min(u64::from(device.sm_count));
    format!(
        "{}: {} teams of {} threads, {} with work, on {busy} of {} multiprocessors; {}",
        launch.word,
        launch.teams,
        launch.threads,
        launch.working,
        device.sm_count,
        html::time(launch.time)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_are_dealt_out() {
        let device = DeviceProfile::named("h200").unwrap();
        let launch = Launch {
            word: String::new(),
            teams: 140,
            threads: 128,
            working: 140,
            blocks: 16,
            limit: String::new(),
            time: 0,
        };
        let on = |sm| (teams_on(&launch, &device, sm), threads_on(&launch, &device, sm));
        assert_eq!((on(0), on(7), on(8)), ((2, 256), (2, 256), (1, 128)));
    }
}
