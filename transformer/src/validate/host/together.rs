//! Several files at a time: all new texts together first, and each alone only to find the one at fault.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, Tools};
use super::check::Check;
use super::parts::{Part, parts};
use super::program::{File, Program};
use super::{HostError, Kind, Report, Watch};
use crate::validate::interrupt;

/// The result for all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What was checked in each program.
    pub reports: Vec<Report>,
    /// Why the new text of a file is not accepted, by the file's place in the list.
    pub failures: BTreeMap<usize, HostError>,
}

/// Compares the new texts of files with the originals by running the programs that they belong to. Those that are accepted
/// were accepted together.
///
/// # Errors
/// When something that is needed is missing, or when an original cannot serve as a reference: then nothing is known about any file.
pub fn verify(files: &[File], program: &Program, watch: &Watch<'_>) -> Result<Outcome, HostError> {
    let tools = Tools::find()?;
    let race_tools = if program.races { Some(tools.race_tools()?) } else { None };
    watch("finding the sources of the program");
    let mut parts = parts(&tools.clang, files, program)?;
    parts.retain(|part| part.files.iter().any(|index| files.get(*index).is_some_and(|file| file.after.is_some())));
    let scratch = interrupt::folder().map_err(HostError::io)?;
    let mut builders = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let folder = scratch.path().join(index.to_string());
        std::fs::create_dir(&folder).map_err(HostError::io)?;
        builders.push((part, folder));
    }
    let builders: Vec<(&Part, Builder<'_>)> = builders
        .iter()
        .map(|(part, folder)| (*part, Builder::new(&tools, part, files, program, watch, folder)))
        .collect();
    let programs = builders.iter().map(|(part, builder)| {
        let check = Check::new(builder, race_tools.as_ref())?;
        Ok(Tried { check, files: &part.files, known: RefCell::default() })
    });
    let programs = programs.collect::<Result<Vec<_>, HostError>>()?;
    Ok(settle(files, &programs))
}

/// A program and the results for it so far.
struct Tried<'a> {
    check: Check<'a>,
    files: &'a BTreeSet<usize>,
    known: RefCell<BTreeMap<BTreeSet<usize>, Result<Report, HostError>>>,
}

impl Tried<'_> {
    /// Compares a set of new texts, once.
    fn compare(&self, set: &BTreeSet<usize>) -> Result<Report, HostError> {
        if let Some(known) = self.known.borrow().get(set) {
            return known.clone();
        }
        let result = self.check.compare(set);
        self.known.borrow_mut().insert(set.clone(), result.clone());
        result
    }

    /// Compares a set. If that fails, returns the files at fault, or all of them if each passes alone.
    fn judge(&self, set: &BTreeSet<usize>) -> Result<Report, BTreeMap<usize, HostError>> {
        let error = match self.compare(set) {
            Ok(report) => return Ok(report),
            Err(error) => error,
        };
        if set.len() == 1 {
            return Err(set.iter().map(|index| (*index, error.clone())).collect());
        }
        let alone = set.iter().filter_map(|index| Some((*index, self.compare(&BTreeSet::from([*index])).err()?)));
        let culprits: BTreeMap<usize, HostError> = alone.collect();
        if !culprits.is_empty() {
            return Err(culprits);
        }
        let text = format!("each of the changed files passes by itself, but not all of them together: {}", error.text);
        Err(set.iter().map(|index| (*index, HostError::new(error.kind, text.clone()))).collect())
    }
}

/// Leaves files out until what remains passes together in every program.
fn settle(files: &[File], programs: &[Tried<'_>]) -> Outcome {
    let is_changed = |(_, file): &(usize, &File)| file.after.is_some();
    let mut left: BTreeSet<usize> = files.iter().enumerate().filter(is_changed).map(|(index, _)| index).collect();
    let mut failures = BTreeMap::new();
    loop {
        let mut reports = Vec::new();
        let mut failed: BTreeMap<usize, HostError> = BTreeMap::new();
        for program in programs {
            let set: BTreeSet<usize> = program.files.intersection(&left).copied().collect();
            if set.is_empty() {
                continue;
            }
            match program.judge(&set) {
                Ok(report) => reports.push((set, report)),
                Err(found) => failed.extend(found),
            }
        }
        if failed.is_empty() {
            failed = left.iter().filter_map(|index| Some((*index, not_reached(*index, files, &reports)?))).collect();
        }
        if failed.is_empty() {
            let reports = reports.into_iter().map(|(_, report)| report).collect();
            return Outcome { reports, failures };
        }
        left.retain(|index| !failed.contains_key(index));
        failures.append(&mut failed);
    }
}

/// The failure of a file for which no program launched a changed kernel, so that nothing was compared.
fn not_reached(index: usize, files: &[File], reports: &[(BTreeSet<usize>, Report)]) -> Option<HostError> {
    let path = &files.get(index)?.source.path;
    let mut programs = reports.iter().filter(|(set, _)| set.contains(&index));
    let is_missed = programs.all(|(_, report)| report.not_reached.get(path).is_some_and(|missed| missed.is_all));
    let text = "the run launches none of the changed kernels, so nothing was compared: give arguments with which it does \
                (`args` in [verify], or --verify-arg)";
    is_missed.then(|| HostError::new(Kind::NotReached, text))
}
