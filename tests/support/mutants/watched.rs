//! Can anybody see what a mutant does? It is decided without the checks that must find it, by programs that say which bytes each copy
//! changes, and spoil some of them (`watched.h`).
//!
//! A mutant of an environment makes copies that its output does not make, or fails to make some. Where all of these, in every run, leave the
//! bytes as they are, the device and the host hold what they hold in runs of the output: no call reaches what is wrong. Others leave other
//! bytes than the output. These are spoiled: in a run of the output those that the mutant does not bring, in a run of the mutant
//! those that it brings besides, once by a huge positive number and once by a huge negative one. Where the runs still print the same, nobody
//! reads these bytes before they are overwritten, so that it makes no difference whether they are copied: nothing could have found it.
//! In doubt a mutant counts: copies are taken for the same only where their direction, variable and size are.

use std::ops::Range;
use std::path::Path;

use crate::support::environments::MARK;
use crate::support::oracle::LOGGED;
use crate::support::program::{How, Program, Run};

/// Where the header is that a program includes: a file whose name changes with the text, so that programs are built anew.
pub fn header() -> Result<String, String> {
    let text = include_str!("watched.h");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched");
    let file = folder.join(format!("{}.h", blake3::hash(text.as_bytes()).to_hex()));
    if !file.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut written = tempfile::NamedTempFile::new_in(&folder).map_err(|error| error.to_string())?;
        std::io::Write::write_all(&mut written, text.as_bytes()).map_err(|error| error.to_string())?;
        written.persist(&file).map_err(|error| error.to_string())?;
    }
    Ok(file.display().to_string())
}

/// The arguments of a program: the function, the kind of its values.
pub type Input = [String; 2];

/// The bytes that copies are spoiled with: huge numbers, of every type.
const BYTES: [&str; 2] = ["126", "254"];
/// More cannot be spoiled in one run.
const MOST_SPOILED: usize = 200;
/// The most bytes by which a section that is one element short is shorter.
const ELEMENT: usize = 8;

/// What becomes of what a mutant does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It leaves every byte as the output does.
    None,
    /// It leaves other bytes, which nobody reads.
    Unread,
    /// Somebody reads them.
    Read,
}

/// A copy of a run.
#[derive(Clone, Debug)]
struct Copy {
    /// Its place among all copies of the run.
    number: usize,
    is_to_device: bool,
    name: String,
    bytes: usize,
    /// What it changes.
    changed: Range<usize>,
}

#[derive(Clone, Debug)]
enum Event {
    Call(String),
    Kernel,
    Copy(Copy),
}

impl Event {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Call(one), Self::Call(other)) => one == other,
            (Self::Kernel, Self::Kernel) => true,
            (Self::Copy(one), Self::Copy(other)) => one.leads_to(other) && one.bytes == other.bytes,
            _ => false,
        }
    }
}

impl Copy {
    /// Do both bring the same variable to the same side?
    fn leads_to(&self, other: &Self) -> bool {
        self.is_to_device == other.is_to_device && self.name == other.name
    }

    /// Some of its bytes, if it changes any of them, as the program takes them for an argument.
    fn spoiled(&self, piece: Range<usize>) -> Option<String> {
        let (first, end) = (piece.start.max(self.changed.start), piece.end.min(self.changed.end));
        (first < end).then(|| format!("{}:{}:{}", self.number, piece.start, piece.end))
    }
}

/// What becomes of what a mutant does with these arguments.
pub fn effect(output: &Program, mutant: &Program, input: &Input) -> Result<Effect, String> {
    let watch = |program: &Program| run(program, input, &["watch"]);
    let sound = watch(output)?;
    let [missed, added] = differences(&events(&sound.stderr), &events(&watch(mutant)?.stderr));
    if missed.is_empty() && added.is_empty() {
        return Ok(Effect::None);
    }
    for (program, spoiled) in [(output, missed), (mutant, added)] {
        if spoiled.len() > MOST_SPOILED {
            return Ok(Effect::Read);
        }
        for byte in BYTES.iter().filter(|_| !spoiled.is_empty()) {
            let words: Vec<&str> = ["watch", byte].into_iter().chain(spoiled.iter().map(String::as_str)).collect();
            let run = run(program, input, &words)?;
            if run.stdout != sound.stdout || run.end != sound.end {
                return Ok(Effect::Read);
            }
        }
    }
    Ok(Effect::Unread)
}

fn run(program: &Program, input: &Input, more: &[&str]) -> Result<Run, String> {
    let words: Vec<String> = input.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect();
    program.run_parts(&words, How::Logged(LOGGED))
}

/// What a run says that it did.
fn events(log: &str) -> Vec<Event> {
    let mut events = Vec::new();
    let mut said = String::new();
    for line in log.lines() {
        if let Some(call) = line.strip_prefix(MARK) {
            events.push(Event::Call(call.to_owned()));
        } else if line.contains("Launching kernel") {
            events.push(Event::Kernel);
        } else if line.contains("Copying data from ") {
            line.clone_into(&mut said);
        } else if let Some(numbers) = line.strip_prefix("-- copy ") {
            let numbers: Vec<usize> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
            let [number, bytes, first, end] = numbers[..] else { continue };
            let name = said.rsplit_once("Name=").map_or("", |(_, name)| name.split('[').next().unwrap_or_default());
            let is_to_device = said.contains("from host to device");
            let copy = Copy { number, is_to_device, name: name.trim().to_owned(), bytes, changed: first..end };
            events.push(Event::Copy(copy));
            said.clear();
        }
    }
    sorted(events)
}

/// Copies between kernels in the order of their variables: one directive may make them in any order.
fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    for run in events.chunk_by_mut(|one, other| matches!((one, other), (Event::Copy(_), Event::Copy(_)))) {
        run.sort_by_key(|event| if let Event::Copy(copy) = event { copy.name.clone() } else { String::new() });
    }
    events
}

/// The bytes that the copies of one run change and those of the other run do not make, and the other way round.
fn differences(one: &[Event], other: &[Event]) -> [Vec<String>; 2] {
    let mut spoiled = [Vec::new(), Vec::new()];
    for [gone, come] in gaps(one, other) {
        let mut come: Vec<Option<&Copy>> = come.into_iter().map(Some).collect();
        for copy in gone {
            let is_close = |it: &&Copy| it.leads_to(copy) && it.bytes.abs_diff(copy.bytes) <= ELEMENT;
            let is_long = |it: &&Copy| it.bytes.min(copy.bytes) > ELEMENT;
            let like = come.iter_mut().find(|it| it.filter(is_close).is_some_and(|it| is_long(&it)));
            let shared = like.and_then(Option::take);
            let least = shared.map_or(0, |it| it.bytes.min(copy.bytes));
            spoiled[0].extend(copy.spoiled(least..copy.bytes));
            spoiled[1].extend(shared.and_then(|it| it.spoiled(least..it.bytes)));
        }
        spoiled[1].extend(come.into_iter().flatten().filter_map(|it| it.spoiled(0..it.bytes)));
    }
    spoiled
}

/// The copies of each run between the events that both have in the same order, as many as there are.
fn gaps<'e>(one: &'e [Event], other: &'e [Event]) -> Vec<[Vec<&'e Copy>; 2]> {
    // How many events the rests from here on have in common.
    let mut common = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            common[i][j] = if one[i].is_like(&other[j]) {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let copy = |event: &'e Event| if let Event::Copy(copy) = event { Some(copy) } else { None };
    let mut gaps: Vec<[Vec<&Copy>; 2]> = vec![[Vec::new(), Vec::new()]];
    let (mut i, mut j) = (0, 0);
    while i < one.len() || j < other.len() {
        if i < one.len() && j < other.len() && one[i].is_like(&other[j]) {
            gaps.push([Vec::new(), Vec::new()]);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let takes_first = j == other.len() || (i < one.len() && common[i + 1][j] >= common[i][j + 1]);
        if let Some(gap) = gaps.last_mut() {
            if takes_first { gap[0].extend(copy(&one[i])) } else { gap[1].extend(copy(&other[j])) }
        }
        if takes_first { i += 1 } else { j += 1 }
    }
    gaps
}
