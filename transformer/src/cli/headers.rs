//! The project's files that a file may be understood by: what its `#include ".."` reach, and the configured sources.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::cli::inputs;
use crate::source::{SourceFile, scan};

/// How many files are read at most.
const MOST_FILES: usize = 200;
/// How many bytes are read at most.
const MOST_BYTES: u64 = 32 << 20;

/// What a file may be understood by.
#[derive(Default)]
pub(super) struct Loaded {
    /// The project's files.
    pub files: Vec<SourceFile>,
    /// What they include with quotes and nobody found.
    pub missing: Vec<Missing>,
}

/// A header that was not found.
pub(super) struct Missing {
    /// The file that includes it.
    pub including: PathBuf,
    /// In which line, counted from 1.
    pub line: usize,
    /// As it is written between the quotes.
    pub name: String,
}

/// Reads what the includes of `file` reach, nearest first, then the configured sources; none twice, and never the file
/// itself. Files that are missing or beyond the bounds are left out: what is not seen is not relied on.
pub(super) fn load(file: &SourceFile, include_dirs: &[PathBuf], sources: &[PathBuf]) -> Loaded {
    let mut loader = Loader { include_dirs, seen: BTreeSet::new(), bytes: 0, found: Loaded::default() };
    loader.seen.extend(fs::canonicalize(&file.path));
    let mut queue: VecDeque<PathBuf> = loader.targets(file).into();
    loader.drain(&mut queue);
    for source in sources {
        queue.extend(if source.is_dir() { inputs::files_in(source) } else { vec![source.clone()] });
        loader.drain(&mut queue);
    }
    loader.found
}

/// The state of one search.
struct Loader<'a> {
    include_dirs: &'a [PathBuf],
    seen: BTreeSet<PathBuf>,
    bytes: u64,
    found: Loaded,
}

impl Loader<'_> {
    /// Reads the queued files and what they include.
    fn drain(&mut self, queue: &mut VecDeque<PathBuf>) {
        while let Some(path) = queue.pop_front() {
            if let Some(header) = self.read(&path) {
                queue.extend(self.targets(&header));
                self.found.files.push(header);
            }
        }
    }

    /// Reads a file that was not read before.
    fn read(&mut self, path: &Path) -> Option<SourceFile> {
        let canonical = fs::canonicalize(path).ok()?;
        if self.found.files.len() >= MOST_FILES || self.seen.contains(&canonical) {
            return None;
        }
        let size = fs::metadata(&canonical).ok().filter(fs::Metadata::is_file)?.len();
        if self.bytes + size > MOST_BYTES {
            return None;
        }
        let text = read_bounded(&canonical, MOST_BYTES - self.bytes).ok()?;
        self.bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.seen.insert(canonical);
        Some(SourceFile::new(path, text))
    }

    /// The existing files that the quoted includes of a file lead to, in the order of the text.
    fn targets(&mut self, file: &SourceFile) -> Vec<PathBuf> {
        let folder = file.path.parent().unwrap_or(Path::new(""));
        let mut targets = Vec::new();
        for include in scan(&file.text).includes.into_iter().filter(|include| include.quoted) {
            let name = file.show(include.path).into_owned();
            let mut folders = std::iter::once(folder).chain(self.include_dirs.iter().map(PathBuf::as_path));
            match folders.find_map(|folder| Some(folder.join(&name)).filter(|path| path.is_file())) {
                Some(path) => targets.push(path),
                None => {
                    let line = file.lines.line_column(include.path.start).line;
                    self.found.missing.push(Missing { including: file.path.clone(), line, name });
                }
            }
        }
        targets
    }
}

/// Reads a file, at most one byte more than `limit`, so that a device or a pipe cannot fill the memory.
pub(super) fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut text)?;
    Ok(text)
}
