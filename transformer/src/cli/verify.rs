//! Asks clang about a result before it is written.

use std::fmt;

use crate::cli::arguments::VerifyLevel;
use crate::cli::compiler_flags::CompilerFlags;
use crate::source::SourceFile;

/// What clang says of a result, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// Lines to print.
    pub text: String,
}

/// Why a result is not verified; it is then not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// What is wrong, or what to install.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Compares the new text of a file with the original.
///
/// # Errors
/// When the level is not built, its compiler is missing, or the new text is found worse.
pub fn verify(
    level: VerifyLevel,
    _file: &SourceFile,
    _after: &[u8],
    _flags: &CompilerFlags,
) -> Result<VerifyReport, VerifyError> {
    match level {
        VerifyLevel::None => Ok(VerifyReport { text: String::new() }),
        VerifyLevel::Syntax | VerifyLevel::Device | VerifyLevel::Host => {
            Err(VerifyError { message: "this verify level is not built".to_owned() })
        }
    }
}
