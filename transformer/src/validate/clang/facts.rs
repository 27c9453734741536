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
    let mut collector = collect::Collector::new(text, !is_source(path));
    let run = compilation.syntax_tree(text, &mut |stdout, main, shift| {
        collector.start(shift);
        json::read(BufReader::with_capacity(1 << 20, stdout), main, &mut collector)
    })?;
    if !run.success {
        return Err(failed(run.stderr));
    }
    Ok(collector.finish(macros))
}

/// Is it a file that is compiled by itself, so that its templates are used nowhere else?
fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| matches!(extension, "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "cu"))
}
