//! clang-format, and how it and ompsplit settle.

use std::path::Path;
use std::process::Command;

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

    /// The texts in one of the styles, each formatted as the file at its path. One run of the program formats many, for it takes
    /// longer to start than to format one.
    pub fn format(&self, texts: &[(&Path, &[u8])], style: &str) -> Result<Vec<Vec<u8>>, String> {
        let io = |error: std::io::Error| format!("{}: {error}", self.program);
        let folder = tempfile::tempdir().map_err(io)?;
        let mut paths = Vec::new();
        for (place, (path, text)) in texts.iter().enumerate() {
            // A folder each, since clang-format looks at the names of files too.
            let own = folder.path().join(place.to_string());
            std::fs::create_dir(&own).map_err(io)?;
            let path = own.join(path.file_name().ok_or("a text without a name")?);
            std::fs::write(&path, text).map_err(io)?;
            paths.push(path);
        }
        let output =
            Command::new(&self.program).arg(format!("--style={style}")).arg("-i").args(&paths).output().map_err(io)?;
        if !output.status.success() {
            return Err(format!("clang-format: {}", String::from_utf8_lossy(&output.stderr)));
        }
        paths.iter().map(|path| std::fs::read(path).map_err(io)).collect()
    }
}
