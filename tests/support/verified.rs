//! Which outputs were found to give the results of their originals, so that only what changed since is run again.
//!
//! `tests/verified.txt` holds a line for each: the fixture, and a number made of all that the comparison depends on. A fixture whose
//! number stands there is not run; a stale line costs time and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use super::fixtures::Fixture;
use super::program::Builder;

/// What decides how programs are compared.
const COMPARISON: &[&str] = &[
    include_str!("oracle.rs"),
    include_str!("program.rs"),
    include_str!("../../transformer/src/validate/host/directives.rs"),
    include_str!("../../transformer/src/validate/host/harden.rs"),
    include_str!("../../transformer/src/validate/host/traffic.rs"),
];

/// The outputs known, and those of this run.
pub struct Verified {
    known: BTreeMap<String, String>,
    now: Mutex<BTreeMap<String, String>>,
}

impl Verified {
    /// What is known; nothing where `OMPSPLIT_DEEP` or `OMPSPLIT_FIXTURE` asks for runs.
    pub fn read() -> Self {
        let is_asked = |name| std::env::var_os(name).is_some();
        let asks = is_asked("OMPSPLIT_DEEP") || is_asked("OMPSPLIT_FIXTURE") || is_asked("OMPSPLIT_RECORD");
        let text = if asks { String::new() } else { std::fs::read_to_string(path()).unwrap_or_default() };
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        let known = pairs.map(|(name, number)| (name.to_owned(), number.to_owned())).collect();
        Self { known, now: Mutex::default() }
    }

    /// Runs the comparison of an output unless it is known to be right.
    pub fn or_check(
        &self,
        builder: &Builder,
        fixture: &Fixture,
        output: &[u8],
        check: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let number = number(builder, fixture, output)?;
        if self.known.get(&fixture.name) != Some(&number) {
            check()?;
        }
        if let Ok(mut now) = self.now.lock() {
            now.insert(fixture.name.clone(), number);
        }
        Ok(())
    }

    /// How many were not run; and with `OMPSPLIT_RECORD` keeps what was found.
    pub fn finish(&self) -> Result<String, String> {
        let now = self.now.lock().map_err(|error| error.to_string())?;
        let unchanged = now.iter().filter(|(name, number)| self.known.get(*name) == Some(number)).count();
        let said = format!("{} fixtures are right, {unchanged} of them not run again", now.len());
        if std::env::var_os("OMPSPLIT_RECORD").is_none() {
            return Ok(said);
        }
        let mut text = String::new();
        for (name, number) in &*now {
            let _ = writeln!(text, "{name} {number}");
        }
        std::fs::write(path(), text).map_err(|error| error.to_string())?;
        Ok(said)
    }
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/verified.txt")
}

/// FNV-1a of 64 bits, over parts whose lengths count.
fn number(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<String, String> {
    let how = format!("{} {} {:?}", fixture.name, fixture.racy_original, fixture.flags);
    let texts = [builder.key(fixture, &how, &fixture.text)?, builder.key(fixture, &how, output)?];
    let parts = texts.iter().map(Vec::as_slice).chain(COMPARISON.iter().map(|text| text.as_bytes()));
    let mut number: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.iter().chain(&part.len().to_le_bytes()) {
            number = (number ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{number:016x}"))
}
