//! What compilers said, kept in a folder by the content of all that they read, so that a second run need not ask again.
//!
//! A key holds the compiler, its flags and the preprocessed text, with every header and macro in it. Nothing is kept before the
//! program names a folder: whoever uses the library decides for himself.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::validate::interrupt;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// Was anything kept in this run?
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// What was not used for so long is removed.
const OLDEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// Of more bytes than these, those that were not used for longest are removed.
const MOST_BYTES: u64 = 256 << 20;

/// From here on, what compilers say is kept in this folder.
pub fn keep_in(folder: PathBuf) {
    // The first one stays.
    let _other = FOLDER.set(folder);
}

/// What an answer depends on.
#[derive(Clone, Debug)]
pub struct Key(blake3::Hasher);

impl Key {
    /// A key for an answer of this kind; `None` where nothing is kept.
    #[must_use]
    pub fn new(kind: &str) -> Option<Self> {
        FOLDER.get()?;
        let mut key = Self(blake3::Hasher::new());
        key.add(kind);
        key.add(env!("CARGO_PKG_VERSION"));
        key.add_program(&std::env::current_exe().ok()?);
        Some(key)
    }

    /// Adds a part.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        // With its length, so that no two lists of parts are one text.
        self.0.update(&part.len().to_le_bytes());
        self.0.update(part);
    }

    /// Adds a program: its path, and what tells whether another stands there now.
    pub fn add_program(&mut self, path: &Path) {
        self.add(path.to_string_lossy().as_bytes());
        if let Ok(metadata) = fs::metadata(path) {
            self.add(format!("{} {:?}", metadata.len(), metadata.modified().ok()));
        }
    }

    /// The answer, if it is kept.
    pub(super) fn find<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.find_bytes()?).ok()
    }

    /// Keeps an answer.
    pub(super) fn keep<T: Serialize>(&self, answer: &T) {
        if let Ok(bytes) = serde_json::to_vec(answer) {
            self.keep_bytes(&bytes);
        }
    }

    /// The answer as it was kept.
    #[must_use]
    pub fn find_bytes(&self) -> Option<Vec<u8>> {
        let path = self.path()?;
        let bytes = fs::read(&path).ok()?;
        // It is used, and stays. Where that cannot be noted, it is kept anew one day.
        let touched = fs::File::options().append(true).open(&path);
        let _noted = touched.and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Keeps an answer as it is. What cannot be kept is asked again.
    pub fn keep_bytes(&self, bytes: &[u8]) {
        let Some(path) = self.path() else { return };
        // A signal waits, so that no half of a file is left.
        let _held = interrupt::hold();
        let Some(folder) = path.parent().filter(|folder| fs::create_dir_all(folder).is_ok()) else { return };
        let Ok(file) = tempfile::NamedTempFile::new_in(folder) else { return };
        let kept = fs::write(file.path(), bytes).is_ok() && file.persist(&path).is_ok();
        IS_WRITTEN.fetch_or(kept, Ordering::Relaxed);
    }

    fn path(&self) -> Option<PathBuf> {
        Some(FOLDER.get()?.join(self.0.finalize().to_hex().as_str()))
    }
}

/// Removes what is old, or too much, if anything was added.
pub fn tidy() {
    if let Some(folder) = FOLDER.get().filter(|_| IS_WRITTEN.load(Ordering::Relaxed)) {
        tidy_folder(folder, OLDEST, MOST_BYTES);
    }
}

fn tidy_folder(folder: &Path, oldest: Duration, most_bytes: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (used, bytes, path) in files {
        let is_old = used.elapsed().is_ok_and(|age| age > oldest);
        if !is_old && total <= most_bytes {
            return;
        }
        // Another run may have removed it.
        let _gone = fs::remove_file(path);
        total = total.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let key = |parts: &[&str]| {
            let mut key = Key(blake3::Hasher::new());
            parts.iter().for_each(|part| key.add(part));
            key.0.finalize()
        };
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab"]), key(&["ab", ""]));
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
    }

    #[test]
    fn the_oldest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("old", 100), ("older", 200), ("new", 0)] {
            fs::write(folder.path().join(name), "1234567890").unwrap();
            let file = fs::File::options().append(true).open(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        let left = || fs::read_dir(folder.path()).unwrap().count();
        tidy_folder(folder.path(), Duration::from_secs(150), 100);
        assert_eq!(left(), 2, "one is too old");
        tidy_folder(folder.path(), Duration::from_secs(150), 10);
        assert!(left() == 1 && folder.path().join("new").exists());
    }
}
