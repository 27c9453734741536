//! What each call of a program's functions copies.

use ompsplit::validate::host::Traffic;

use super::MARK;

/// The calls that copy more often, or more, in one run than in another; from what the runtime says of both.
pub fn further(before: &str, after: &str) -> Vec<String> {
    let is_more = |old: &Traffic, new: &Traffic| {
        new.copies_to > old.copies_to
            || new.copies_from > old.copies_from
            || new.bytes_to > old.bytes_to
            || new.bytes_from > old.bytes_from
    };
    let both = calls(before).into_iter().zip(calls(after));
    let more = both.filter(|((_, old), (_, new))| is_more(old, new));
    more.map(|((call, old), (_, new))| format!("{call}: before {old}, after {new}")).collect()
}

fn calls(log: &str) -> Vec<(&str, Traffic)> {
    let read = |part| (str::lines(part).next().unwrap_or_default(), Traffic::read(str::as_bytes(part)));
    log.split(MARK).map(read).collect()
}
