//! What each call of a program's functions copies, keeps on the device, and leaves there.

use std::collections::BTreeMap;

use ompsplit::validate::host::Traffic;

use super::MARK;

/// What is said of memory that is not given back.
pub const LEFT: &str = "bytes left on the device";

/// What a kernel's scalars take on the device.
const SCALARS: u64 = 64;

/// What a call did on the device.
struct Call<'l> {
    name: &'l str,
    traffic: Traffic,
    /// The most bytes that were mapped at a time, without the caller's.
    peak: u64,
    /// The bytes that were mapped behind it, without the caller's.
    left: u64,
}

/// What the calls of one run do more than those of another, by what the runtime says of both: copies and bytes, memory beyond `limit`, and
/// memory that is not given back. What comes back in each pass of a loop comes back once more where the environment ends, for which it goes to
/// the device once: both directions count together.
pub fn further(before: &str, after: &str, limit: u64) -> Vec<String> {
    let mut said = Vec::new();
    for (old, new) in calls(before).iter().zip(calls(after)) {
        let (one, other) = (&old.traffic, &new.traffic);
        let counts = [
            ("copies", (one.copies_to + one.copies_from) as u64, (other.copies_to + other.copies_from) as u64),
            ("bytes copied", one.bytes_to + one.bytes_from, other.bytes_to + other.bytes_from),
            (LEFT, old.left, new.left),
            ("bytes at a time", old.peak.max(limit.saturating_add(SCALARS)), new.peak),
        ];
        let more = counts.into_iter().filter(|(_, least, most)| most > least);
        said.extend(more.map(|(what, least, most)| format!("{}: {most} {what} instead of {least}", new.name)));
    }
    said
}

/// The calls of a run, each with what the runtime says between its mark and the next.
fn calls(log: &str) -> Vec<Call<'_>> {
    let mut mapped = BTreeMap::new();
    let call = |part| {
        let peak = peak(part, &mut mapped);
        let left = mapped.values().filter(|(_, is_of_caller)| !is_of_caller).map(|(size, _)| size).sum();
        let name = str::lines(part).next().unwrap_or_default();
        Call { name, traffic: Traffic::read(str::as_bytes(part)), peak, left }
    };
    log.split(MARK).map(call).collect()
}

/// The most bytes that are mapped at a time. `mapped` has the size at each address of the host, and whether it is the caller's.
fn peak<'l>(log: &'l str, mapped: &mut BTreeMap<&'l str, (u64, bool)>) -> u64 {
    let mut peak = 0;
    for line in log.lines() {
        let word = |name: &str| Some(line.split_once(name)?.1.split(',').next().unwrap_or_default());
        let Some(address) = word("HstPtrBegin=") else { continue };
        if line.contains("Creating new map entry") {
            let name = word(" Name=").unwrap_or_default();
            let is_of_caller = name == "a" || name.starts_with("a[");
            let size = word(" Size=").and_then(|size| size.parse().ok()).unwrap_or(0);
            mapped.insert(address, (size, is_of_caller));
        } else if line.contains("Removing map entry") {
            mapped.remove(address);
        }
        peak = peak.max(mapped.values().filter(|(_, is_of_caller)| !is_of_caller).map(|(size, _)| size).sum());
    }
    peak
}
