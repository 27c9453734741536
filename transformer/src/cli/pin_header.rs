//! `ompsplit_pin.h`: where a text that includes it finds it, and how it gets there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::settings::Settings;
use crate::device::pinned_memory::{HEADER, HEADER_NAME, is_header};
use crate::output;
use crate::source::{SourceFile, scan};

/// What a new text asks of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PinHeader {
    /// Nothing: the text does not include it, or did so before and its place is not known.
    NotNeeded,
    /// It belongs here.
    At {
        /// The folder, which may not exist yet.
        folder: PathBuf,
        /// Did the user name it?
        is_named: bool,
    },
}

impl PinHeader {
    /// What the new text of a file asks for: the header in the folder that the user names, else in the first folder of the
    /// compiler's that holds it, else beside the file where the include is new.
    pub(super) fn of(file: &SourceFile, after: Option<&[u8]>, settings: &Settings) -> Self {
        if !includes(after.unwrap_or(&file.text)) {
            return Self::NotNeeded;
        }
        if let Some(folder) = &settings.write_header {
            return Self::At { folder: folder.clone(), is_named: true };
        }
        let own = folder_of(file);
        let mut folders = std::iter::once(own).chain(settings.include_dirs.iter().map(PathBuf::as_path));
        let found = folders.find(|folder| fs::symlink_metadata(folder.join(HEADER_NAME)).is_ok());
        match found.or((!includes(&file.text)).then_some(own)) {
            Some(folder) if after.is_some() => Self::At { folder: folder.to_path_buf(), is_named: false },
            _ => Self::NotNeeded,
        }
    }

    /// Writes the header where it is missing or older; what was written, for the user.
    ///
    /// # Errors
    /// When it cannot be written, or another file has its name.
    pub(super) fn write(&self, file: &SourceFile) -> Result<Option<String>, String> {
        let Self::At { folder, is_named } = self else { return Ok(None) };
        // The compiler looks beside the file first.
        let beside = folder_of(file).join(HEADER_NAME);
        if beside.is_file() && !fs::read(&beside).is_ok_and(|text| is_header(&text)) {
            return Err(foreign(&beside));
        }
        let path = folder.join(HEADER_NAME);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        match fs::read(&path) {
            Ok(text) if text == HEADER.as_bytes() => return Ok(None),
            Ok(text) if is_header(&text) => {
                output::replace(&path, &text, HEADER.as_bytes()).map_err(|error| failed(&error))?;
            }
            Ok(_) => return Err(foreign(&path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fs::create_dir_all(folder).map_err(|error| failed(&error))?;
                output::create(&path, HEADER.as_bytes()).map_err(|error| failed(&error))?;
            }
            Err(error) => return Err(failed(&error)),
        }
        let flag = if *is_named { format!("; the compiler needs -I {}", folder.display()) } else { String::new() };
        Ok(Some(format!("wrote {}, which {} includes{flag}", path.display(), file.path.display())))
    }

    /// How to get the header, for a text that is only shown.
    pub(super) fn note(&self, file: &SourceFile) -> Option<String> {
        let Self::At { folder, .. } = self else { return None };
        let is_there = fs::read(folder.join(HEADER_NAME)).is_ok_and(|text| text == HEADER.as_bytes());
        let name = file.path.display();
        (!is_there).then(|| {
            format!(
                "the new text of {name} includes {HEADER_NAME}: --in-place writes it too, `ompsplit header` prints it"
            )
        })
    }
}

fn foreign(path: &Path) -> String {
    format!("{} is not the header that the new text includes, and was left as it is", path.display())
}

/// The folder that a file's own includes begin in.
fn folder_of(file: &SourceFile) -> &Path {
    file.path.parent().unwrap_or(Path::new(""))
}

/// Does a text include the header?
fn includes(text: &[u8]) -> bool {
    memchr::memmem::find(text, HEADER_NAME.as_bytes()).is_some()
        && scan(text).includes.iter().any(|include| {
            let path = String::from_utf8_lossy(include.path.of(text)).into_owned();
            path.rsplit('/').next() == Some(HEADER_NAME)
        })
}
