//! Holds what the tool reads of names to clang, over whole collections of programs, and prints how much it knows.
//!
//! ```text
//! cargo run --release --example model -- DIR DIR
//! ```

#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::path::{Path, PathBuf};

use rayon::prelude::*;

#[path = "../tests/support/model.rs"]
mod model;

use model::{Report, compare};

fn main() {
    let mut different = 0;
    for root in std::env::args_os().skip(1).map(PathBuf::from) {
        let walk = ignore::WalkBuilder::new(&root).standard_filters(false).build();
        let is_source = |path: &PathBuf| {
            path.extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|it| matches!(it, "c" | "cpp" | "cc" | "cxx"))
        };
        let files: Vec<PathBuf> = walk.flatten().map(ignore::DirEntry::into_path).filter(is_source).collect();
        let report = files.par_iter().map(|path| look(path, &root)).reduce(Report::default, Report::with);
        println!("{}: {} files, {} rejected by clang", root.display(), files.len(), report.rejected.len());
        for (kind, [same, unknown, other]) in &report.counts {
            println!("  {kind:10} {same:7} same {unknown:7} unknown {other:5} different");
        }
        report.different.iter().for_each(|line| println!("  {line}"));
        different += report.different.len();
    }
    assert!(different == 0, "{different} answers differ from clang's");
}

/// One program, with the folders above it and those in them that may hold headers on clang's search path.
fn look(path: &Path, root: &Path) -> Report {
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let folders = above.flat_map(|folder| ["", "include", "ompvv", "src"].map(|inner| folder.join(inner)));
    let flags: Vec<String> = folders.map(|folder| format!("-I{}", folder.display())).collect();
    std::fs::read(path).map_or_else(|_| Report::default(), |text| compare(path, text, &flags))
}
