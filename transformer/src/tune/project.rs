//! A copy of the project's folder, in which candidates are built and run; the user's own files are never touched.
//!
//! There is one copy at one place, since builds may write that place into what they make. After the first build all of it is copied once
//! more, to be restored from. What a later build changes is its product: a few files, which take the place of others when it is run.

mod elf;

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A project may have at most these bytes, because it is copied.
const MOST_BYTES: u64 = 4 << 30;
/// What programs and libraries begin with.
const ELF: &[u8] = b"\x7fELF";
/// Folders that no build needs.
const LEFT_OUT: [&str; 3] = [".git", ".hg", ".svn"];

/// What tells whether a file changed.
type Stamps = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// The copy that is worked in, and what it is restored from.
#[derive(Debug)]
pub struct Project {
    work: PathBuf,
    base: PathBuf,
    stamps: Stamps,
}

/// The files that a build made or changed, as a tar archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product(pub Vec<u8>);

impl Project {
    /// Takes the folder `work` as it is now, after a first build, for what is restored, and copies it to `base`.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn settle(work: &Path, base: &Path) -> io::Result<Self> {
        copy(work, base, &[])?;
        Ok(Self { work: work.to_owned(), base: base.to_owned(), stamps: stamps(work)? })
    }

    /// Copies a folder that was settled before to `work`.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn from_base(base: &Path, work: &Path) -> io::Result<Self> {
        copy(base, work, &[])?;
        Ok(Self { work: work.to_owned(), base: base.to_owned(), stamps: stamps(work)? })
    }

    /// One more copy, for runs beside those in this one.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn another(&self, work: &Path) -> io::Result<Self> {
        Self::from_base(&self.base, work)
    }

    /// A program, library or script that leads to the folder in which it was built, so that it would run what another copy holds.
    #[must_use]
    pub fn bound_to_its_place(&self) -> Option<PathBuf> {
        let place = self.work.as_os_str().as_encoded_bytes();
        let leads = |name: &&PathBuf| {
            let path = self.base.join(name);
            let is_read = begins(&path, b"#!") || begins(&path, ELF);
            is_read && fs::read(&path).is_ok_and(|bytes| elf::leads_to(&bytes, place))
        };
        self.stamps.keys().find(leads).cloned()
    }

    /// The folder in which commands run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.work
    }

    /// The files that differ from the settled state, and those that are gone.
    fn changed(&self) -> io::Result<Vec<PathBuf>> {
        let now = stamps(&self.work)?;
        let differs = |path: &&PathBuf| now.get(*path) != self.stamps.get(*path);
        let mut all: Vec<PathBuf> = now.keys().filter(differs).cloned().collect();
        all.extend(self.stamps.keys().filter(|path| !now.contains_key(*path)).cloned());
        Ok(all)
    }

    /// Puts everything back to the settled state.
    ///
    /// # Errors
    /// When a file cannot be restored.
    pub fn restore(&self) -> io::Result<()> {
        for path in self.changed()? {
            let (from, to) = (self.base.join(&path), self.work.join(&path));
            if self.stamps.contains_key(&path) {
                fs::create_dir_all(to.parent().unwrap_or(&self.work))?;
                copy_entry(&from, &to)?;
            } else {
                fs::remove_file(&to)?;
            }
        }
        Ok(())
    }

    /// What was changed since the settled state.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn product(&self) -> io::Result<Product> {
        let mut archive = tar::Builder::new(Vec::new());
        archive.follow_symlinks(false);
        for path in self.changed()?.into_iter().filter(|path| self.work.join(path).symlink_metadata().is_ok()) {
            archive.append_path_with_name(self.work.join(&path), &path)?;
        }
        Ok(Product(archive.into_inner()?))
    }

    /// Puts a product into the settled state.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn place(&self, product: &Product) -> io::Result<()> {
        self.restore()?;
        let mut archive = tar::Archive::new(Cursor::new(&product.0));
        archive.set_preserve_permissions(true);
        archive.unpack(&self.work)
    }
}

/// Copies a folder with its times, modes and links, without version control and without folders that are named.
///
/// # Errors
/// When a file cannot be copied, or there is too much of it.
pub fn copy(from: &Path, to: &Path, without: &[&Path]) -> io::Result<()> {
    let mut left = MOST_BYTES;
    copy_folder(from, to, without, &mut left)
}

fn copy_folder(from: &Path, to: &Path, without: &[&Path], left: &mut u64) -> io::Result<()> {
    match fs::create_dir(to) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_left_out = LEFT_OUT.iter().any(|other| name == *other) || without.contains(&path.as_path());
        if is_left_out {
            continue;
        }
        let target = to.join(&name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&path, &target, without, left)?;
        } else if kind.is_symlink() || kind.is_file() {
            let too_large = || io::Error::other(format!("{} holds more than {MOST_BYTES} bytes", from.display()));
            *left = left.checked_sub(entry.metadata()?.len()).ok_or_else(too_large)?;
            copy_entry(&path, &target)?;
        }
    }
    Ok(())
}

/// Copies a file with its time, or a link as it is.
fn copy_entry(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = from.symlink_metadata()?;
    if metadata.is_symlink() {
        return link(&fs::read_link(from)?, to);
    }
    fs::copy(from, to)?;
    let file = File::options().write(true).open(to);
    match (file, metadata.modified()) {
        (Ok(file), Ok(time)) => file.set_times(FileTimes::new().set_modified(time)),
        // A file that may not be written keeps the time of its copy: a build may do more than it needs.
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    match fs::remove_file(at) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

fn stamps(root: &Path) -> io::Result<Stamps> {
    let mut found = Stamps::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let metadata = path.symlink_metadata()?;
            if metadata.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(root) {
                found.insert(name.to_owned(), (metadata.len(), metadata.modified().ok()));
            }
        }
    }
    Ok(found)
}

/// The programs and libraries below a folder: files that begin as such files do.
#[must_use]
pub fn programs(root: &Path) -> Vec<PathBuf> {
    let all = stamps(root).unwrap_or_default().into_keys().map(|name| root.join(name));
    all.filter(|path| begins(path, ELF)).collect()
}

fn begins(path: &Path, with: &[u8]) -> bool {
    let mut start = vec![0; with.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| start == with)
}

/// A hash of what is in a folder, without version control and folders that are named: of small files their content, of large ones their size
/// and time.
///
/// # Errors
/// When a file cannot be read.
pub fn hash(root: &Path, without: &[&Path]) -> io::Result<blake3::Hash> {
    const LARGE: u64 = 4 << 20;
    let mut hasher = blake3::Hasher::new();
    for (path, (bytes, time)) in stamps(root)? {
        let is_left_out = path.components().any(|part| LEFT_OUT.iter().any(|name| part.as_os_str() == *name));
        if is_left_out || without.iter().any(|folder| root.join(&path).starts_with(folder)) {
            continue;
        }
        hasher.update(path.to_string_lossy().as_bytes()).update(&[0]);
        let content =
            if bytes <= LARGE { content(&root.join(&path))? } else { format!("{bytes} {time:?}").into_bytes() };
        hasher.update(&content.len().to_le_bytes()).update(&content);
    }
    Ok(hasher.finalize())
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    if path.symlink_metadata()?.is_symlink() {
        return Ok(fs::read_link(path)?.to_string_lossy().into_owned().into_bytes());
    }
    let mut content = Vec::new();
    File::open(path)?.read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_take_turns_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (work, base) = (folder.path().join("work"), folder.path().join("base"));
        fs::create_dir_all(work.join("src")).unwrap();
        fs::write(work.join("src/a.c"), "original").unwrap();
        fs::write(work.join("app"), "built").unwrap();
        let project = Project::settle(&work, &base).unwrap();
        let build = |text: &str, more: Option<&str>| {
            project.restore().unwrap();
            fs::write(work.join("src/a.c"), text).unwrap();
            fs::write(work.join("app"), format!("built from {text}")).unwrap();
            if let Some(name) = more {
                fs::write(work.join(name), text).unwrap();
            }
            project.product().unwrap()
        };
        let (one, other) = (build("first one", Some("log")), build("the second", None));
        let read = |name: &str| fs::read_to_string(work.join(name)).ok();
        project.place(&one).unwrap();
        assert_eq!((read("app").as_deref(), read("log").as_deref()), (Some("built from first one"), Some("first one")));
        project.place(&other).unwrap();
        assert_eq!((read("src/a.c").as_deref(), read("log")), (Some("the second"), None));
        project.restore().unwrap();
        assert_eq!((read("src/a.c").as_deref(), read("app").as_deref()), (Some("original"), Some("built")));
    }

    #[test]
    fn a_copy_leaves_version_control_and_named_folders_out() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for name in [".git/HEAD", "src/a.c", "prepared/plan.json"] {
            let path = from.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let without = from.join("prepared");
        let before = hash(&from, &[&without]).unwrap();
        copy(&from, &to, &[&without]).unwrap();
        let names = stamps(&to).unwrap();
        assert_eq!(names.keys().collect::<Vec<_>>(), [Path::new("src/a.c")]);
        let time = |root: &Path| fs::metadata(root.join("src/a.c")).unwrap().modified().unwrap();
        assert_eq!(time(&from), time(&to));
        fs::write(from.join("prepared/plan.json"), "other").unwrap();
        assert_eq!(hash(&from, &[&without]).unwrap(), before);
        fs::write(from.join("src/a.c"), "other").unwrap();
        assert_ne!(hash(&from, &[&without]).unwrap(), before);
    }
}
