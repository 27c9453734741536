//! Asks clang about a result before it is written.

use crate::cli::arguments::VerifyLevel;
use crate::cli::compiler_flags::CompilerFlags;
use crate::source::SourceFile;
use crate::validate::clang::{self, Level};

/// Compares the new text of a file with the original; gives what clang says for people.
///
/// # Errors
/// When the level is not built, its compiler is missing, or the new text is found worse; the result is then not
/// written.
pub(super) fn verify(
    level: VerifyLevel,
    file: &SourceFile,
    after: &[u8],
    compiler: &CompilerFlags,
) -> Result<String, String> {
    let level = match level {
        VerifyLevel::None => return Ok(String::new()),
        VerifyLevel::Syntax => Level::Syntax,
        VerifyLevel::Device => Level::Device,
        VerifyLevel::Host => return Err("--verify host is planned but not built".to_owned()),
    };
    clang::verify(level, &file.path, &file.text, after, &compiler.flags)
        .map(|report| report.to_string())
        .map_err(|error| error.to_string())
}
