//! Which sources make a program. The preprocessed text of a source tells what it includes and whether it defines
//! `main`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::directives::closing;
use super::overlay::{Overlay, probe};
use super::program::{File, Program, Source, Sources, canonical};
use super::{HostError, Kind};
use crate::source::Language;
use crate::validate::changes::skip;
use crate::validate::clang::{Clang, Compilation};
use crate::validate::interrupt;

/// A source that is compiled by itself.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The source.
    pub source: Source,
    /// The index of the given file, if it is one.
    pub own: Option<usize>,
    /// The given files that it includes or is.
    pub sees: BTreeSet<usize>,
    /// Does it define `main`?
    has_main: bool,
    /// Was it named by the user or the compile database?
    is_named: bool,
    /// The program or library that a build makes from it.
    target: Option<PathBuf>,
}

/// A program and the given files in it.
#[derive(Debug)]
pub(super) struct Part {
    /// What is compiled.
    pub units: Vec<Unit>,
    /// The given files that it consists of.
    pub files: BTreeSet<usize>,
}

/// The programs that the given files belong to.
pub(super) fn parts(clang: &Clang, files: &[File], program: &Program) -> Result<Vec<Part>, HostError> {
    let folder = interrupt::folder().map_err(HostError::io)?;
    let texts = files.iter().enumerate().map(|(index, file)| (file.source.path.as_path(), probe(index, &file.before)));
    let overlay = Overlay::write(texts, folder.path())?;
    let candidates = candidates(files, &program.sources);
    // A build may have sources that cannot be read here. One that is needed gives its errors when it is compiled.
    let is_lenient = matches!(program.sources, Sources::Database(_));
    let units = candidates.into_par_iter().map(|mut unit| match read(clang, files, &mut unit, &overlay) {
        Err(error) if !is_lenient => Err(error),
        _ => Ok(unit),
    });
    let mut units = units.collect::<Result<Vec<_>, _>>()?;
    // A given file that another one includes is no source of its own, unless the user or the build says so.
    let included: BTreeSet<usize> =
        units.iter().flat_map(|unit| unit.sees.iter().filter(|file| unit.own != Some(**file)).copied()).collect();
    units.retain(|unit| unit.is_named || unit.own.is_none_or(|file| !included.contains(&file)));

    let mains: BTreeSet<PathBuf> =
        units.iter().filter(|unit| unit.has_main).map(|unit| canonical(&unit.source.path)).collect();
    let parts = if mains.len() <= 1 {
        vec![units]
    } else if matches!(program.sources, Sources::Database(_)) {
        by_target(files, &units)?
    } else if units.iter().all(|unit| !unit.has_main || unit.own.is_some()) {
        let with = |main: &PathBuf| {
            let belongs = |unit: &&Unit| !unit.has_main || canonical(&unit.source.path) == *main;
            units.iter().filter(belongs).cloned().collect()
        };
        mains.iter().map(with).collect()
    } else {
        return Err(several(&units));
    };
    let parts: Vec<Part> = parts.into_iter().map(part).collect();
    let is_lost =
        |(index, file): &(usize, &File)| file.after.is_some() && !parts.iter().any(|part| part.files.contains(index));
    match files.iter().enumerate().find(is_lost) {
        Some((_, file)) => Err(not_included(file, &program.sources)),
        None => Ok(parts),
    }
}

/// A program of these units, each source once.
fn part(units: Vec<Unit>) -> Part {
    let mut seen = BTreeSet::new();
    let units: Vec<Unit> = units.into_iter().filter(|unit| seen.insert(canonical(&unit.source.path))).collect();
    let files = units.iter().flat_map(|unit| unit.sees.iter().copied()).collect();
    Part { units, files }
}

/// All sources that may belong to a program, before any is read.
fn candidates(files: &[File], sources: &Sources) -> Vec<Unit> {
    let places: BTreeMap<PathBuf, usize> =
        files.iter().enumerate().map(|(index, file)| (canonical(&file.source.path), index)).collect();
    let unit = |source: &Source, target: Option<&PathBuf>, is_named: bool| Unit {
        source: source.clone(),
        own: places.get(&canonical(&source.path)).copied(),
        sees: BTreeSet::new(),
        has_main: false,
        is_named,
        target: target.cloned(),
    };
    let mut units: Vec<Unit> = match sources {
        Sources::Given => Vec::new(),
        Sources::Named(list) => list.iter().map(|source| unit(source, None, true)).collect(),
        Sources::Database(list) => list.iter().map(|entry| unit(&entry.source, entry.target.as_ref(), true)).collect(),
    };
    let named: BTreeSet<usize> = units.iter().filter_map(|unit| unit.own).collect();
    let only_changed = !matches!(sources, Sources::Given);
    let given = files.iter().enumerate().filter(|(index, file)| {
        !named.contains(index) && !Language::is_header(&file.source.path) && (file.after.is_some() || !only_changed)
    });
    // The given files come first, so that their own flags are used for them.
    let mut all: Vec<Unit> = given.map(|(_, file)| unit(&file.source, None, false)).collect();
    all.append(&mut units);
    all
}

/// Preprocesses a source.
fn read(clang: &Clang, files: &[File], unit: &mut Unit, overlay: &Overlay) -> Result<(), HostError> {
    unit.sees.extend(unit.own);
    let text = text_of(unit, files)?;
    let run = Compilation::new(clang, &unit.source.path, &unit.source.flags).preprocess(&text, &overlay.flags())?;
    if !run.success {
        return Err(HostError::new(Kind::Build, super::build::cannot_build("the original", &unit.source, &run.stderr)));
    }
    unit.sees.extend((0..files.len()).filter(|index| run.output.contains(&super::overlay::marker(*index))));
    unit.has_main = defines_main(run.output.as_bytes());
    Ok(())
}

/// The original's text of a unit.
fn text_of(unit: &Unit, files: &[File]) -> Result<Vec<u8>, HostError> {
    match unit.own.and_then(|index| files.get(index)) {
        Some(file) => Ok(file.before.clone()),
        None => {
            let path = &unit.source.path;
            fs::read(path).map_err(|error| HostError::new(Kind::Setup, format!("{}: {error}", path.display())))
        }
    }
}

/// The programs of a build that makes several: for each file the program that its object belongs to, with all
/// libraries.
fn by_target(files: &[File], units: &[Unit]) -> Result<Vec<Vec<Unit>>, HostError> {
    let mut mains: BTreeMap<&Path, usize> = BTreeMap::new();
    for target in units.iter().filter(|unit| unit.has_main).filter_map(|unit| unit.target.as_deref()) {
        *mains.entry(target).or_default() += 1;
    }
    let is_library = |unit: &Unit| !unit.has_main && unit.target.as_deref().is_none_or(|t| !mains.contains_key(t));
    let mut chosen: BTreeSet<&Path> = BTreeSet::new();
    for index in files.iter().enumerate().filter(|(_, file)| file.after.is_some()).map(|(index, _)| index) {
        let targets: BTreeSet<&Path> =
            units.iter().filter(|unit| unit.sees.contains(&index)).filter_map(|unit| unit.target.as_deref()).collect();
        let mut programs = targets.into_iter().filter(|target| mains.get(target) == Some(&1));
        match (programs.next(), programs.next()) {
            (Some(target), None) => chosen.insert(target),
            _ => return Err(several(units)),
        };
    }
    let of = |target: &Path| {
        let own = units.iter().filter(|unit| unit.target.as_deref() == Some(target));
        own.chain(units.iter().filter(|unit| is_library(unit))).cloned().collect()
    };
    Ok(chosen.into_iter().map(of).collect())
}

fn several(units: &[Unit]) -> HostError {
    let mains: BTreeSet<String> =
        units.iter().filter(|unit| unit.has_main).map(|unit| unit.source.path.display().to_string()).collect();
    let text = format!(
        "there are several programs, and nothing tells which one to run: `main` stands in {}. Name the sources of one of them \
         with --verify-source, or as `sources` in [verify]",
        mains.into_iter().collect::<Vec<_>>().join(", ")
    );
    HostError::new(Kind::Setup, text)
}

fn not_included(file: &File, sources: &Sources) -> HostError {
    let path = file.source.path.display();
    let text = match sources {
        Sources::Given => format!(
            "{path} is compiled by no source of the program: name the sources that include it and make a program \
             (--verify-source, or `sources` in [verify])"
        ),
        Sources::Named(_) => format!("no source in --verify-source or [verify] includes {path}"),
        Sources::Database(_) => format!(
            "no source of the program in compile_commands.json includes {path}: name those that do with --verify-source"
        ),
    };
    HostError::new(Kind::Setup, text)
}

/// Is `main` defined in a preprocessed text?
fn defines_main(text: &[u8]) -> bool {
    let mut at = 0;
    while at < text.len() {
        at = skip(text, at);
        let rest = text.get(at..).unwrap_or_default();
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let behind = skip(text, at + word);
        at = match rest.first() {
            Some(b'{') => closing(text, at, b'{', b'}') + 1,
            Some(b'(') => closing(text, at, b'(', b')') + 1,
            Some(quote @ (b'"' | b'\'')) => {
                at + 2 + rest.iter().skip(1).position(|byte| byte == quote).unwrap_or(rest.len())
            }
            _ if rest.get(..word) == Some(b"main") && text.get(behind) == Some(&b'(') => {
                let end = skip(text, closing(text, behind, b'(', b')') + 1);
                if text.get(end).is_some_and(|byte| !matches!(byte, b';' | b',' | b'=')) {
                    return true;
                }
                end
            }
            _ => at + word.max(1),
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::defines_main;

    #[test]
    fn a_definition_of_main_is_found() {
        for text in [
            "int main(void) { }",
            "# 1 \"a.c\"\nstatic int f(void) { return main(0); }\nextern \"C\" int\n# 3 \"a.c\"\nmain(int n, char **a)\n\n{}",
            "auto main() -> int {}",
            "main(n, a) int n; char **a; {}",
        ] {
            assert!(defines_main(text.as_bytes()), "{text}");
        }
        for text in
            ["int main(void);", "void f() { int main(1) {} }", "int main_loop() {}", "int main = 3;", "char c = '{'; {"]
        {
            assert!(!defines_main(text.as_bytes()), "{text}");
        }
    }
}
