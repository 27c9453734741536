//! Where clang is.

use std::path::PathBuf;
use std::process::Command;

use super::VerifyError;
use crate::validate::cache::Key;
use crate::validate::interrupt;

/// The message if there is no clang.
pub const MISSING_CLANG: &str = "no clang found: install `clang-19` and `libomp-19-dev` (Debian, Ubuntu: apt-get install \
                                 clang-19 libomp-19-dev), or name one in OMPSPLIT_CLANG";

/// A clang that runs.
#[derive(Clone, Debug)]
pub struct Clang {
    program: PathBuf,
    version: String,
    /// All that it says of itself.
    description: String,
}

impl Clang {
    /// The clang of `OMPSPLIT_CLANG`, or if that is not set `clang-19`, then `clang`.
    ///
    /// # Errors
    /// When none runs; the text says what to install. A clang that is named but does not run is never replaced.
    pub fn find() -> Result<Self, VerifyError> {
        if let Some(named) = std::env::var_os("OMPSPLIT_CLANG").filter(|name| !name.is_empty()) {
            let shown = named.to_string_lossy().into_owned();
            return Self::at(PathBuf::from(named)).ok_or_else(|| {
                VerifyError::MissingCompiler(format!("OMPSPLIT_CLANG names `{shown}`, which does not run"))
            });
        }
        ["clang-19", "clang"]
            .into_iter()
            .find_map(|name| Self::at(PathBuf::from(name)))
            .ok_or_else(|| VerifyError::MissingCompiler(MISSING_CLANG.to_owned()))
    }

    /// This program, if it runs and says that it is clang.
    fn at(program: PathBuf) -> Option<Self> {
        let output = interrupt::output(Command::new(&program).arg("--version")).ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().trim().to_owned();
        (output.status.success() && version.contains("clang")).then(|| Self {
            program,
            version,
            description: text.into_owned(),
        })
    }

    /// The first line of `clang --version`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Adds it to what an answer depends on.
    pub(super) fn add_to(&self, key: &mut Key) {
        key.add_program(&self.program);
        key.add(&self.description);
        for name in ["CCC_OVERRIDE_OPTIONS", "COMPILER_PATH", "GCC_EXEC_PREFIX"] {
            key.add(std::env::var_os(name).unwrap_or_default().to_string_lossy().as_bytes());
        }
    }

    /// A command that starts it, with messages in English and without colour.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LC_ALL", "C").arg("-fno-color-diagnostics");
        command
    }
}
