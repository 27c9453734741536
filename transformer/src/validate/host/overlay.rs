//! Texts that the compiler reads instead of files that a source includes.

use std::fs;
use std::path::{Path, PathBuf};

use super::HostError;
use super::program::canonical;

/// The file that lists them, if there are any.
pub(super) struct Overlay(Option<PathBuf>);

impl Overlay {
    /// Writes the replacing texts into a folder.
    pub(super) fn write<'t>(
        texts: impl Iterator<Item = (&'t Path, Vec<u8>)>,
        folder: &Path,
    ) -> Result<Self, HostError> {
        let mut roots = Vec::new();
        for (index, (path, text)) in texts.enumerate() {
            let stand_in = folder.join(format!("text{index}"));
            fs::write(&stand_in, text).map_err(HostError::io)?;
            let absolute = std::path::absolute(path).map_err(HostError::io)?;
            let mut names = vec![absolute, canonical(path)];
            names.dedup();
            roots.extend(
                names
                    .into_iter()
                    .map(|name| serde_json::json!({ "type": "file", "name": name, "external-contents": stand_in })),
            );
        }
        if roots.is_empty() {
            return Ok(Self(None));
        }
        let list = folder.join("overlay.yaml");
        let tree = serde_json::json!({ "version": 0, "use-external-names": false, "roots": roots });
        fs::write(&list, tree.to_string()).map_err(HostError::io)?;
        Ok(Self(Some(list)))
    }

    /// The compiler flags for them.
    pub(super) fn flags(&self) -> Vec<String> {
        let list = self.0.iter();
        list.flat_map(|list| ["-w".to_owned(), "-ivfsoverlay".to_owned(), list.display().to_string()]).collect()
    }
}

/// A file's text behind a marker line that the preprocessor keeps, so that its output shows which files a source
/// includes.
pub(super) fn probe(index: usize, text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    [marker(index).as_bytes(), b"\n", text].concat()
}

/// The marker line.
pub(super) fn marker(index: usize) -> String {
    format!("#pragma ompsplit_file_{index}_")
}
