//! `[tuned]` in the configuration: entries are added and replaced, everything else keeps its words and its place.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, value};

use crate::cli::tuned::TunedKernel;
use crate::output;
use crate::plan::instructions::LoopHash;

/// Writes the entries of a file's kernels in the place of all earlier ones of that file.
pub(super) fn write(config: &Path, file: &Path, entries: &[(LoopHash, TunedKernel)]) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", config.display());
    let old = match fs::read(config) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&error)),
    };
    let text = String::from_utf8(old.clone().unwrap_or_default()).map_err(|error| failed(&error))?;
    let new = edited(&text, &relative(file, config), entries).map_err(|error| failed(&error))?;
    match old {
        Some(old) if old == new.as_bytes() => Ok(()),
        Some(old) => output::replace(config, &old, new.as_bytes()).map(drop).map_err(|error| failed(&error)),
        None => fs::write(config, new).map_err(|error| failed(&error)),
    }
}

/// The path of a file as a configuration names it: relative to its folder, if the file lies below that.
fn relative(file: &Path, config: &Path) -> PathBuf {
    let folder = config.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(path)) => path.strip_prefix(&folder).map_or(path.clone(), Path::to_owned),
        _ => file.to_owned(),
    }
}

fn edited(text: &str, file: &Path, entries: &[(LoopHash, TunedKernel)]) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let name = file.to_string_lossy().replace('\\', "/");
    let tuned = document.entry("tuned").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    if let Some(tuned) = tuned.as_table_like_mut() {
        let is_of_file = |item: &Item| item.get("file").and_then(Item::as_str) == Some(&name);
        let old = tuned.iter().filter(|(_, item)| is_of_file(item)).map(|(hash, _)| hash.to_owned());
        for hash in old.collect::<Vec<_>>() {
            tuned.remove(&hash);
        }
        for (hash, kernel) in entries {
            let mut table = Table::new();
            table.insert("file", value(&name));
            for (key, text) in [("device", &kernel.device), ("date", &kernel.date), ("form", &kernel.form)] {
                table.insert(key, value(text));
            }
            if let Some(ratio) = kernel.ratio {
                table.insert("ratio", value(ratio));
            }
            table.insert("clock", value(&kernel.clock));
            tuned.insert(&hash.to_string(), Item::Table(table));
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(form: &str) -> TunedKernel {
        TunedKernel { form: form.to_owned(), ratio: Some(1.5), ..TunedKernel::default() }
    }

    #[test]
    fn entries_of_a_file_take_the_place_of_its_old_ones() {
        let text = "# ours\ndevice = \"h200\" # the big one\n\n[verify]\ntolerance = 1e-6\n";
        let one = [(LoopHash::written("aa"), entry("first")), (LoopHash::written("bb"), entry("other"))];
        let with = edited(text, Path::new("src/a.c"), &one).unwrap();
        assert!(with.starts_with(text), "{with}");
        let other =
            edited(&with, Path::new("src/b.c"), &[(LoopHash::written("cc"), entry("of another file"))]).unwrap();
        let again = edited(&other, Path::new("src/a.c"), &[(LoopHash::written("aa"), entry("second"))]).unwrap();
        assert!(again.starts_with(text) && again.contains("[tuned.aa]") && again.contains("[tuned.cc]"), "{again}");
        assert!(!again.contains("[tuned.bb]") && !again.contains("first"), "{again}");
        assert_eq!(edited(&again, Path::new("src/a.c"), &[(LoopHash::written("aa"), entry("second"))]).unwrap(), again);
        assert!(edited("device = ", Path::new("a.c"), &[]).is_err());
    }
}
