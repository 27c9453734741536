//! The project's headers that a file includes, as the program finds them.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use ompsplit::source::{SourceFile, scan};

/// The files that the includes of `file` reach by `".."`, nearest first.
pub fn load(file: &SourceFile, flags: &[String]) -> Vec<SourceFile> {
    let folders: Vec<&Path> = flags.iter().filter_map(|flag| flag.strip_prefix("-I")).map(Path::new).collect();
    let mut seen: BTreeSet<PathBuf> = std::fs::canonicalize(&file.path).into_iter().collect();
    let mut queue: VecDeque<PathBuf> = targets(file, &folders).into();
    let mut found = Vec::new();
    while let Some(path) = queue.pop_front() {
        let canonical = std::fs::canonicalize(&path).ok().filter(|path| seen.insert(path.clone()));
        if let Some(text) = canonical.and_then(|path| std::fs::read(path).ok()) {
            let header = SourceFile::new(path, text);
            queue.extend(targets(&header, &folders));
            found.push(header);
        }
    }
    found
}

fn targets(file: &SourceFile, folders: &[&Path]) -> Vec<PathBuf> {
    let own = file.path.parent().unwrap_or(Path::new(""));
    let quoted = scan(&file.text).includes.into_iter().filter(|include| include.quoted);
    let found = quoted.filter_map(|include| {
        let name = file.show(include.path).into_owned();
        std::iter::once(own).chain(folders.iter().copied()).map(|folder| folder.join(&name)).find(|path| path.is_file())
    });
    found.collect()
}
