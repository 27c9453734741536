//! What was found of outputs before, so that only what changed since is run again.
//!
//! `tests/verified/LIST.txt` holds a line for each: its name, a number made of all that the finding depends on, and the finding where that
//! is more than that the output is right. What has its number there is not run, but for one name in sixteen, so that the lists are
//! held to runs themselves. A stale line costs time and nothing else. With `OMPSPLIT_DEEP` nothing counts as known; with
//! `OMPSPLIT_RECORD` the list is written anew, of what is known and of what was run because it is not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ompsplit::validate::host::LOG;

use super::fixtures::Fixture;
use super::program::{Builder, GEOMETRIES};

/// A list, and the sources of what decides its findings beyond `COMPARISON`.
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub name: &'static str,
    /// The test that writes it.
    pub test: &'static str,
    pub decides: &'static [&'static str],
}

/// What decides how programs are built, run and compared.
const COMPARISON: &[&str] = &[
    include_str!("oracle.rs"),
    include_str!("program.rs"),
    include_str!("checked_pins.h"),
    include_str!("late_tasks.c"),
    include_str!("../../transformer/src/validate/host/directives.rs"),
    include_str!("../../transformer/src/validate/host/harden.rs"),
    include_str!("../../transformer/src/validate/host/map_clause.rs"),
    include_str!("../../transformer/src/validate/host/races.rs"),
    include_str!("../../transformer/src/validate/host/traffic.rs"),
];

/// One name in so many is run although it is known.
const AGAIN: u64 = 16;

/// What asks for runs of its own choice.
const CHOICES: [&str; 6] = [
    "OMPSPLIT_FIXTURE",
    "OMPSPLIT_PROGRAM",
    "OMPSPLIT_PROGRAMS",
    "OMPSPLIT_PIPELINE",
    "OMPSPLIT_MUTANTS",
    "OMPSPLIT_SEED",
];

/// What is known of the outputs of a list, and what this run found.
pub struct Verified {
    list: List,
    known: BTreeMap<String, Line>,
    now: Mutex<BTreeMap<String, Line>>,
    left: AtomicUsize,
}

/// A number, and what was found.
type Line = (String, String);

impl Verified {
    /// What is known; nothing where all runs are asked for, or some by name.
    pub fn read(list: List) -> Self {
        let is_chosen = CHOICES.iter().any(|name| is_set(name));
        let text = if is_chosen || super::deep() {
            String::new()
        } else {
            std::fs::read_to_string(path(list)).unwrap_or_default()
        };
        let read = |line: &str| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            Some((words.next()?, (words.next()?, words.next().unwrap_or_default())))
        };
        let known = text.lines().filter_map(read).collect();
        Self { list, known, now: Mutex::default(), left: AtomicUsize::new(0) }
    }

    /// A number of texts, of the compiler, and of all that decides what is found of them.
    pub fn number(&self, builder: &Builder, texts: &[&[u8]]) -> String {
        let grids: Vec<_> = GEOMETRIES.iter().map(|(grid, times)| (grid.environment(), times)).collect();
        let grids = format!("{} {LOG} {grids:?}", builder.version());
        let sources = COMPARISON.iter().chain(self.list.decides).map(|text| code(text).into_bytes());
        let mut sum = Sum::default();
        sum.add(grids.as_bytes());
        texts.iter().for_each(|text| sum.add(text));
        sources.for_each(|text| sum.add(&text));
        format!("{:016x}", sum.0)
    }

    /// What is known under this name and number, where it need not be run.
    pub fn known(&self, name: &str, number: &str) -> Option<String> {
        let (_, found) = self.known.get(name).filter(|(known, _)| known == number)?;
        let mut sum = Sum::default();
        sum.add(name.as_bytes());
        if sum.0.is_multiple_of(AGAIN) {
            return None;
        }
        self.left.fetch_add(1, Ordering::Relaxed);
        self.note(name, number, found);
        Some(found.clone())
    }

    /// Notes what was found, for the list.
    pub fn note(&self, name: &str, number: &str, found: &str) {
        if let Ok(mut now) = self.now.lock() {
            now.insert(name.to_owned(), (number.to_owned(), found.to_owned()));
        }
    }

    /// What is known, or what `run` finds: a line without an end.
    pub fn or_found(
        &self,
        name: &str,
        number: &str,
        run: impl FnOnce() -> Result<String, String>,
    ) -> Result<String, String> {
        if let Some(found) = self.known(name, number) {
            return Ok(found);
        }
        let found = run()?;
        self.note(name, number, &found);
        Ok(found)
    }

    /// Runs the comparison of a fixture's output unless it is known to be right.
    pub fn or_check(
        &self,
        builder: &Builder,
        fixture: &Fixture,
        output: &[u8],
        check: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let how = format!("{} {} {:?}", fixture.name, fixture.racy_original, fixture.flags);
        let texts = [builder.key(fixture, &how, &fixture.text)?, builder.key(fixture, &how, output)?];
        let number = self.number(builder, &[&texts[0], &texts[1]]);
        self.or_found(&fixture.name, &number, || check().map(|()| String::new())).map(|_| ())
    }

    /// Says what was left to `--deep`, where the tests' output is not kept back; with `OMPSPLIT_RECORD` writes the list.
    pub fn finish(&self) -> Result<(), String> {
        let now = self.now.lock().map_err(|error| error.to_string())?;
        let left = self.left.load(Ordering::Relaxed);
        let is_new = |(name, line): &(&String, &Line)| self.known.get(*name).is_none_or(|known| known.0 != line.0);
        let new = now.iter().filter(is_new).count();
        let List { name, test, .. } = self.list;
        let mut said = format!(
            "{name}: of {} outputs {left} are right as tests/verified/{name}.txt knows and left to --deep (OMPSPLIT_DEEP=1), {} ran",
            now.len(),
            now.len() - left
        );
        if new > 0 && !self.known.is_empty() {
            let _ = write!(said, "; {new} are new or changed: OMPSPLIT_RECORD=1 cargo test --test {test} notes them");
        }
        said.push('\n');
        // `eprintln` is shown of tests that fail alone.
        std::io::stderr().write_all(said.as_bytes()).map_err(|error| error.to_string())?;
        if !is_set("OMPSPLIT_RECORD") {
            return Ok(());
        }
        if let Some(choice) = CHOICES.iter().find(|name| is_set(name)) {
            return Err(format!("OMPSPLIT_RECORD writes whole lists: not with {choice}"));
        }
        let mut text = String::new();
        for (name, (number, found)) in &*now {
            let _ = writeln!(text, "{}", format!("{name} {number} {found}").trim_end());
        }
        std::fs::write(path(self.list), text).map_err(|error| error.to_string())
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

fn path(list: List) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/verified").join(format!("{}.txt", list.name))
}

/// The words of a source without its lines of comments: what these say, and where lines end, decides nothing.
fn code(source: &str) -> String {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// FNV-1a of 64 bits, over parts whose lengths count.
struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    fn add(&mut self, part: &[u8]) {
        for byte in part.iter().chain(&part.len().to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// A number that depends on a text alone: what is drawn by it stays when other texts come or go.
pub fn drawn(text: &str) -> u64 {
    let mut sum = Sum::default();
    sum.add(text.as_bytes());
    sum.0
}
