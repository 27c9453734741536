//! What clang knows about the names of a file, from its syntax tree (`-ast-dump=json`), and about macros, from its
//! preprocessor.

mod collect;
mod json;
mod macros;

pub(super) use macros::marker;

use std::io::BufReader;
use std::path::Path;

use super::{Clang, Compilation, VerifyError};
use crate::semantics::facts::Facts;
use crate::validate::cache::Key;

/// What clang knows about the names in the text of `path`; `flags` are the user's compiler flags.
///
/// # Errors
/// When clang is missing or cannot be run, or the text has errors with these flags.
pub fn facts(path: &Path, text: &[u8], flags: &[String]) -> Result<Facts, VerifyError> {
    let clang = Clang::find()?;
    let compilation = Compilation::new(&clang, path, flags);
    let failed = |stderr: String| {
        let first = stderr.lines().find(|line| line.contains("error:")).unwrap_or(stderr.trim()).to_owned();
        VerifyError::Facts(first)
    };
    let preprocessed = compilation.preprocessed(text)?;
    if !preprocessed.success {
        return Err(failed(preprocessed.stderr));
    }
    let macros = macros::read(&preprocessed.output, &compilation.shown_name(), text);
    let key = key(&clang, &compilation, text, &preprocessed.output, flags);
    let kept: Option<collect::Found> = key.as_ref().and_then(Key::find);
    if let Some(found) = kept {
        return Ok(found.facts(text, !is_source(path), macros));
    }
    let mut collector = collect::Collector::new(text);
    let run = compilation.syntax_tree(text, &mut |stdout, main, shift| {
        collector.start(shift);
        json::read(BufReader::with_capacity(1 << 20, stdout), main, &mut collector)
    })?;
    if !run.success {
        return Err(failed(run.stderr));
    }
    let found = collector.finish();
    key.iter().for_each(|key| key.keep(&found));
    Ok(found.facts(text, !is_source(path), macros))
}

/// What the tree of a text depends on: it is that of the host alone.
fn key(clang: &Clang, compilation: &Compilation<'_>, text: &[u8], preprocessed: &str, flags: &[String]) -> Option<Key> {
    let mut key = Key::new("facts")?;
    clang.add_to(&mut key);
    key.add(compilation.shown_name());
    key.add(text);
    key.add(preprocessed);
    flags.iter().for_each(|flag| key.add(flag));
    Some(key)
}

/// Is it a file that is compiled by itself, so that its templates are used nowhere else?
fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| matches!(extension, "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "cu"))
}
