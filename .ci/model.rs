//! Holds what the tool reads of names to clang, over whole collections of programs, and prints how much it knows.
//!
//! ```text
//! cargo run --release --example model -- DIR DIR
//! ```
//!
//! With `--unknown` before the folders it also lists what the tool does not know.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::path::{Path, PathBuf};

use rayon::prelude::*;

#[path = "../tests/support/model.rs"]
mod model;

use model::{Report, compare};

fn main() {
    let mut different = 0;
    let (options, roots): (Vec<PathBuf>, Vec<PathBuf>) =
        std::env::args_os().skip(1).map(PathBuf::from).partition(|argument| argument.starts_with("--unknown"));
    for root in roots {
        let walk = ignore::WalkBuilder::new(&root).standard_filters(false).build();
        let is_source = |path: &PathBuf| {
            path.extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|it| matches!(it, "c" | "cpp" | "cc" | "cxx"))
        };
        let files: Vec<PathBuf> = walk.flatten().map(ignore::DirEntry::into_path).filter(is_source).collect();
        let report = files.par_iter().map(|path| look(path, &root)).reduce(Report::default, Report::with);
        println!("{}: {} files, {} rejected by clang", root.display(), files.len(), report.rejected.len());
        println!("  {:11} {:>28}    {:>28}", "", "same unknown different", "in target regions");
        for (kind, [[same, unknown, other], [in_same, in_unknown, in_other]]) in &report.counts {
            println!("  {kind:11} {same:10} {unknown:8} {other:8}    {in_same:10} {in_unknown:8} {in_other:8}");
        }
        let unknown = report.unknown.iter().filter(|_| !options.is_empty());
        unknown.for_each(|line| println!("  unknown: {line}"));
        report.rejected.iter().for_each(|line| println!("  rejected: {line}"));
        report.different.iter().for_each(|line| println!("  {line}"));
        different += report.different.len();
    }
    assert!(different == 0, "{different} answers differ from clang's");
}

/// One program, with the folders above it and those in them that may hold headers on clang's search path, and with what the makefile
/// beside it says.
fn look(path: &Path, root: &Path) -> Report {
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let folders = above.flat_map(|folder| ["", "include", "ompvv", "src"].map(|inner| folder.join(inner)));
    let mut flags: Vec<String> = folders.map(|folder| format!("-I{}", folder.display())).collect();
    flags.extend(path.parent().map(flags_of_makefile).unwrap_or_default());
    std::fs::read(path).map_or_else(|_| Report::default(), |text| compare(path, text, &flags))
}

/// The folders and macros that a makefile in a folder names, as far as its words tell.
fn flags_of_makefile(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("Makefile")).unwrap_or_default();
    let mut flags = Vec::new();
    for word in text.split_whitespace().filter(|word| !word.contains('$')) {
        match word.strip_prefix("-I") {
            Some(name) if !name.is_empty() => flags.push(format!("-I{}", folder.join(name).display())),
            None if word.starts_with("-D") && word.len() > 2 => flags.push(word.to_owned()),
            _ => {}
        }
    }
    flags
}
