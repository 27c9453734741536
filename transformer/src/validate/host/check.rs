//! Compares one program that has new texts with the original.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::build::{Builder, RaceTools, Target};
use super::program::File;
use super::races::{self, OwnText};
use super::run::{Executable, Geometry, Images, Run};
use super::texts::Texts;
use super::traffic::Traffic;
use super::{HostError, Kind, Report, compare};
use crate::validate::changes::{changed_kernels, line_of};

/// The grids in which results are compared, and how often: the one in which races show is repeated.
const GRIDS: &[(Geometry, usize)] = &[
    (Geometry { teams: 4, threads: 4 }, 2),
    (Geometry { teams: 1, threads: 1 }, 1),
    (Geometry { teams: 3, threads: 8 }, 1),
    (Geometry { teams: 7, threads: 2 }, 1),
];

/// The grids of the hardened copy; whether an item is present does not depend on them.
const HARDENED_GRIDS: &[(Geometry, usize)] = &[(Geometry { teams: 2, threads: 3 }, 1)];

/// The grid in which the runtime's log is read.
const LOGGED: Geometry = Geometry { teams: 1, threads: 1 };

/// A kernel may move this many bytes more than the original: the scalars that its combined construct maps implicitly.
const BYTES_PER_KERNEL: u64 = 64;

/// The comparison of one program's texts.
pub(super) struct Check<'a> {
    builder: &'a Builder<'a>,
    tools: Option<&'a RaceTools>,
    /// What the original gives.
    reference: Run,
    /// What it launches and moves.
    moved: Traffic,
    /// The races of the original. They are searched for only if the new text has one.
    own_races: RefCell<Option<BTreeSet<races::Race>>>,
    /// How many programs were built; their folders are named by this number.
    built: RefCell<usize>,
}

impl<'a> Check<'a> {
    /// Builds and runs the original.
    pub(super) fn new(builder: &'a Builder<'a>, tools: Option<&'a RaceTools>) -> Result<Self, HostError> {
        let (reference, moved) = (Run::default(), Traffic::default());
        let mut check =
            Self { builder, tools, reference, moved, own_races: RefCell::default(), built: RefCell::default() };
        let original = check.build(&Texts::before(builder.files), Target::Device)?;
        check.reference = check.reference(&original)?;
        check.moved = check.logged(&original)?;
        Ok(check)
    }

    /// Compares the new texts of a set of files, together with the original texts of the others, with the original.
    pub(super) fn compare(&self, set: &BTreeSet<usize>) -> Result<Report, HostError> {
        let files = self.builder.files;
        let output = self.build(&Texts::after(files, set), Target::Device).map_err(|error| {
            HostError::new(error.kind, format!("the original can be built, the new text not: {}", error.text))
        })?;
        self.watch("running the new text");
        let what = "the new text gives something else than the original";
        let mut runs = self.same(&output, &self.reference, GRIDS, Kind::Results, what)?;
        let texts = Texts::hardened(files, set);
        if texts.changed > 0 {
            let present = self.build(&texts, Target::Device)?;
            self.watch("running the copy that needs every item present");
            let what = "a map is missing: where every item must be present the new text gives something else";
            runs += self.same(&present, &self.reference, HARDENED_GRIDS, Kind::MissingMap, what)?;
        }
        let after = self.transfers(&output, set.len() > 1)?;
        let not_reached = self.not_reached(set, &after);
        let widened = self.tools.map(|tools| self.races(tools, set)).transpose()?;
        let paths = set.iter().filter_map(|index| Some(files.get(*index)?.source.path.clone())).collect();
        let (end, before, hardened) = (self.reference.end.clone(), self.moved.clone(), texts.changed);
        Ok(Report { paths, runs, end, before, after, hardened, not_reached, widened })
    }

    fn watch(&self, step: &str) {
        (self.builder.watch)(step);
    }

    fn build(&self, texts: &Texts, target: Target) -> Result<Executable<'a>, HostError> {
        // File systems count time more coarsely than clocks do.
        let since = SystemTime::now() - Duration::from_secs(2);
        *self.built.borrow_mut() += 1;
        let program = self.builder.build(texts, target, &format!("program{}", self.built.borrow()))?;
        let about = self.builder.program;
        let (invocation, files) = (&about.invocation, about.comparison.files.as_slice());
        let _images = Images::of(&program, since);
        Ok(Executable { program, runtime: &self.builder.tools.runtime, invocation, files, _images })
    }

    /// The results of the original, which must be the same in every grid.
    fn reference(&self, original: &Executable<'_>) -> Result<Run, HostError> {
        let comparison = &self.builder.program.comparison;
        let wrong = |text: String| HostError::new(Kind::Original, format!("the original is no reference: {text}"));
        self.watch("running the original");
        let first = original.run(&LOGGED.environment(), 1).map_err(HostError::io)?;
        let expected = format!("exit {}", comparison.exit);
        if first.end != expected {
            let hint = match first.end.strip_prefix("exit ") {
                Some(code) => format!(
                    "exit status {code} where {} is expected (`exit = {code}` in [verify], or --verify-exit {code}, says \
                     that it is right)",
                    comparison.exit
                ),
                None if first.end.starts_with("no end") => {
                    format!("{} (`timeout` in [verify], or --verify-timeout)", first.end)
                }
                None => first.end.clone(),
            };
            return Err(wrong(format!("it ends with {hint}{}", compare::last_words(&first))));
        }
        if let Some(path) = &comparison.expected {
            let expected = std::fs::read(path)
                .map_err(|error| HostError::new(Kind::Setup, format!("{}: {error}", path.display())))?;
            if let Some(text) = comparison.texts("standard output", &expected, &first.stdout) {
                return Err(wrong(format!("it does not print what {} holds: {text}", path.display())));
            }
        }
        let what = "the original is no reference, for its runs differ: by a time that it prints (`ignore` in [verify], or \
                    --verify-ignore), the order of a floating-point reduction (`tolerance`, --verify-tolerance), or a \
                    race";
        self.same(original, &first, GRIDS, Kind::Original, what)?;
        Ok(first)
    }

    /// Runs a program in every grid and returns the number of runs. Fails on the first run that differs.
    fn same(
        &self,
        program: &Executable<'_>,
        expected: &Run,
        grids: &[(Geometry, usize)],
        kind: Kind,
        what: &str,
    ) -> Result<usize, HostError> {
        let mut runs = 0;
        for (grid, repetitions) in grids {
            for _ in 0..*repetitions {
                let run = program.run(&grid.environment(), 1).map_err(HostError::io)?;
                runs += 1;
                if let Some(text) = self.builder.program.comparison.difference(expected, &run) {
                    let Geometry { teams, threads } = grid;
                    let text = format!("{what}; with {teams} teams of {threads} threads {text}");
                    return Err(HostError::new(kind, text));
                }
            }
        }
        Ok(runs)
    }

    /// Runs a program and returns what it launches and moves.
    fn logged(&self, program: &Executable<'_>) -> Result<Traffic, HostError> {
        let (run, traffic) = program.run_logged(LOGGED).map_err(HostError::io)?;
        let text = format!("with the runtime's log the program ends with {} (`timeout` in [verify])", run.end);
        if run.exited() { Ok(traffic) } else { Err(HostError::new(Kind::Setup, text)) }
    }

    /// Checks what the new text moves: no more than the original, and nothing through a pointer without a mapping.
    fn transfers(&self, output: &Executable<'_>, with_names: bool) -> Result<Traffic, HostError> {
        let (before, after) = (&self.moved, self.logged(output)?);
        let both = format!("\n  before {before}\n  after  {after}");
        let unmapped: Vec<String> = after
            .unmapped
            .iter()
            .filter(|(name, _)| !before.unmapped.contains_key(*name))
            .map(|(name, place)| {
                let mut parts = place.rsplitn(3, ':').skip(1);
                let (line, file) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let file = if with_names { format!(" ({file})") } else { String::new() };
                format!("`{name}` at line {line} of the new text{file}")
            })
            .collect();
        if !unmapped.is_empty() {
            let text = format!("kernels use pointers that are not mapped: {}{both}", unmapped.join(", "));
            return Err(HostError::new(Kind::UnmappedPointer, text));
        }
        let slack = BYTES_PER_KERNEL * after.kernels as u64;
        if after.bytes_to > before.bytes_to + slack || after.bytes_from > before.bytes_from + slack {
            return Err(HostError::new(Kind::Transfers, format!("the new text moves more bytes{both}")));
        }
        Ok(after)
    }

    /// The lines of the changed kernels of each file that were not launched.
    fn not_reached(&self, set: &BTreeSet<usize>, traffic: &Traffic) -> BTreeMap<PathBuf, NotReached> {
        let files = set.iter().filter_map(|index| self.builder.files.get(*index));
        let of = |file: &File| {
            let after = file.after.as_deref().unwrap_or_default();
            let kernels = changed_kernels(&file.before, after);
            let mut lines: Vec<usize> = kernels.iter().map(|kernel| line_of(after, kernel.start)).collect();
            let all = lines.len();
            let path = &file.source.path;
            lines.retain(|line| !traffic.entered.iter().any(|(name, at)| at == line && is_named(path, name)));
            let is_all = all > 0 && lines.len() == all;
            (path.clone(), NotReached { lines, is_all })
        };
        files.map(of).filter(|(_, not_reached)| !not_reached.lines.is_empty()).collect()
    }

    /// Looks for races that the original does not have. Returns how many loops were widened.
    fn races(&self, tools: &RaceTools, set: &BTreeSet<usize>) -> Result<usize, HostError> {
        let files = self.builder.files;
        let texts = Texts::widened(files, set);
        if texts.changed == 0 {
            return Ok(0);
        }
        let copy = self.build(&texts, Target::Threads)?;
        self.watch("looking for races");
        let mut found = races::races(&copy, tools, &own_texts(files, &texts, set))?;
        if found.is_empty() {
            return Ok(texts.changed);
        }
        let mut known = self.own_races.borrow_mut();
        if known.is_none() {
            let texts = Texts::before(files);
            let original = self.build(&texts, Target::Threads)?;
            self.watch("looking for races of the original");
            let all: BTreeSet<usize> = (0..files.len()).collect();
            *known = Some(races::races(&original, tools, &own_texts(files, &texts, &all))?.into_keys().collect());
        }
        found.retain(|race, _| !known.as_ref().is_some_and(|known| known.contains(race)));
        match found.into_values().next() {
            None => Ok(texts.changed),
            Some(text) => Err(HostError::new(
                Kind::Race,
                format!("the iterations of a loop depend on each other once all of them may run at a time: {text}"),
            )),
        }
    }
}

/// The changed kernels of a file that a run did not launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReached {
    /// The lines of their directives in the new text.
    pub lines: Vec<usize>,
    /// Are these all the changed kernels?
    pub is_all: bool,
}

fn own_texts(files: &[File], texts: &Texts, set: &BTreeSet<usize>) -> Vec<OwnText> {
    let files = set.iter().filter_map(|index| Some((*index, files.get(*index)?)));
    files.map(|(index, file)| OwnText::new(&file.source.path, texts.text(index), set.len() > 1)).collect()
}

/// Does this name in the runtime's log mean the file? The log leaves out the folder. A text without a file has the name
/// that [`Compilation::object`](crate::validate::clang::Compilation::object) gives it.
fn is_named(path: &Path, name: &str) -> bool {
    let own = if path.is_file() { path.file_name() } else { Some("source".as_ref()) };
    Path::new(name).file_name() == own
}
