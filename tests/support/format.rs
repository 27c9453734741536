//! clang-format, and how it and ompsplit settle.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The styles with which the two must settle.
pub const STYLES: &[&str] = &["LLVM", "Google", "GNU"];

/// A clang-format that runs.
#[derive(Debug)]
pub struct Formatter {
    program: String,
}

impl Formatter {
    /// `OMPSPLIT_CLANG_FORMAT`, then `clang-format-19`, then `clang-format`; the error says what to install.
    pub fn new() -> Result<Self, String> {
        let named = std::env::var("OMPSPLIT_CLANG_FORMAT").ok().filter(|name| !name.is_empty());
        let names =
            named.map_or_else(|| vec!["clang-format-19".to_owned(), "clang-format".to_owned()], |name| vec![name]);
        names
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
            .map(|program| Self { program })
            .ok_or_else(|| {
                "no clang-format found: install `clang-format-19` (apt-get install clang-format-19)".to_owned()
            })
    }

    /// The text in one of the styles.
    pub fn format(&self, path: &Path, text: &[u8], style: &str) -> Result<Vec<u8>, String> {
        let io = |error: std::io::Error| format!("{}: {error}", self.program);
        let mut child = Command::new(&self.program)
            .arg(format!("--style={style}"))
            .arg(format!("--assume-filename={}", path.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(io)?;
        let mut stdin = child.stdin.take().ok_or("clang-format has no stdin")?;
        // It reads everything before it writes, so that this cannot block.
        stdin.write_all(text).map_err(io)?;
        drop(stdin);
        let output = child.wait_with_output().map_err(io)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(format!("clang-format: {}", String::from_utf8_lossy(&output.stderr)))
        }
    }
}
