//! What ran and was right before, so that on the CPU only programs whose texts changed since are compiled and run again.
//!
//! A list holds a line for each program: its name, and a number made of all that the finding depends on, which are the texts of its
//! variants, its driver, the harness, the compiler with its flags, and what runs and judges. One name in sixteen is run although it is
//! known, so that the list is held to runs themselves. A stale line costs time and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};

use super::Written;
use super::compile::Compiler;
use crate::suite::{Program, Suite};

/// What runs and judges a program.
const JUDGES: [&str; 6] = [
    include_str!("compile.rs"),
    include_str!("toolchain.rs"),
    include_str!("../run/launch_log.rs"),
    include_str!("../run/process.rs"),
    include_str!("../run/rounds.rs"),
    include_str!("../../tests/smoke.rs"),
];

/// One name in so many is run although it is known.
const AGAIN: u64 = 16;

/// A list, and the numbers of this build.
pub struct Verified {
    known: Option<BTreeMap<String, String>>,
    /// The compiler and the harness.
    common: Sum,
    now: Mutex<BTreeMap<String, String>>,
}

impl Verified {
    /// What is known; nothing without a list.
    pub fn read(list: Option<&Path>, compiler: &Compiler) -> Result<Self> {
        let lines = |text: String| {
            let words = text.lines().filter_map(|line| line.split_once(' '));
            words.map(|(name, number)| (name.to_owned(), number.to_owned())).collect()
        };
        let read = |path: &Path| std::fs::read_to_string(path).with_context(|| format!("no list {}", path.display()));
        let known = list.map(read).transpose()?.map(lines);
        let mut common = Sum::default();
        common.add(compiler.description()?.as_bytes());
        JUDGES.iter().for_each(|text| common.add(code(text).as_bytes()));
        common.add_files(&compiler.harness())?;
        Ok(Self { known, common, now: Mutex::default() })
    }

    /// Whether a program need not be compiled and run. Notes its number.
    pub fn knows(&self, suite: &Suite, program: &Program, written: &[Written], compiler: &Compiler) -> Result<bool> {
        let mut sum = self.common;
        let Program { name, tiny, tiny_too, racy, exact, open_order, cases: _ } = program;
        sum.add(format!("{} {name} {tiny} {tiny_too:?} {racy:?} {exact:?} {open_order}", suite.judged).as_bytes());
        for Written { variant, text, .. } in written {
            sum.add(variant.as_bytes());
            sum.add(text);
        }
        let folder = compiler.programs().join(name);
        sum.add(&std::fs::read(folder.join(format!("{name}.c")))?);
        sum.add(&std::fs::read(folder.join(format!("{name}.h")))?);
        let number = format!("{:016x}", sum.0);
        let is_known = self.known.as_ref().is_some_and(|known| known.get(name) == Some(&number));
        if let Ok(mut now) = self.now.lock() {
            now.insert(name.clone(), number);
        }
        let mut drawn = Sum::default();
        drawn.add(name.as_bytes());
        Ok(is_known && !drawn.0.is_multiple_of(AGAIN))
    }

    /// Writes the list of this build.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text = String::new();
        let now = self.now.lock().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
        for (name, number) in &*now {
            let _ = writeln!(text, "{name} {number}");
        }
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The words of a source without its lines of comments: what these say, and where lines end, decides nothing.
fn code(source: &str) -> String {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// FNV-1a of 64 bits, over parts whose lengths count.
#[derive(Clone, Copy)]
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

    /// Adds the files of a folder, in the order of their names.
    fn add_files(&mut self, folder: &Path) -> Result<()> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
        paths.sort();
        for path in paths {
            self.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            self.add(&std::fs::read(&path)?);
        }
        Ok(())
    }
}
