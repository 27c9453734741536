//! What each call of a program's functions copies.

use ompsplit::validate::host::Traffic;

use super::MARK;

/// The calls that copy more often, or more, in one run than in another; from what the runtime says of both.
pub fn further(before: &str, after: &str) -> Vec<String> {
    // What goes one way less often may go the other way once.
    let copies = |it: &Traffic| it.copies_to + it.copies_from;
    let bytes = |it: &Traffic| it.bytes_to + it.bytes_from;
    let is_more = |old: &Traffic, new: &Traffic| copies(new) > copies(old) || bytes(new) > bytes(old);
    let both = calls(before).into_iter().zip(calls(after));
    let more = both.filter(|((_, old), (_, new))| is_more(old, new));
    more.map(|((call, old), (_, new))| format!("{call}: before {old}, after {new}")).collect()
}

fn calls(log: &str) -> Vec<(&str, Traffic)> {
    let read = |part| (str::lines(part).next().unwrap_or_default(), Traffic::read(str::as_bytes(part)));
    log.split(MARK).map(read).collect()
}
