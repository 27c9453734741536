//! One compilation of a text that stands for a file.

use std::ffi::OsString;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use super::{Clang, VerifyError};
use crate::device::pinned_memory;
use crate::source::Language;
use crate::validate::cache::Key;
use crate::validate::interrupt;

/// The result that is wanted of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Only messages, of the host's and the device's pass.
    Syntax,
    /// LLVM IR of the nvptx64 device code.
    DeviceIr,
    /// The LLVM IR with the functions that nothing calls: static ones and those of a header.
    WholeDeviceIr,
    /// PTX of the device code.
    Ptx,
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Did clang return 0?
    pub success: bool,
    /// The result that was asked for. Empty for [`Output::Syntax`] and on failure.
    pub output: String,
    /// The messages.
    pub stderr: String,
}

/// The flags with which code for a device is compiled, before the user's.
const DEVICE_FLAGS: &[&str] = &["-O2", "-fopenmp", "--offload-arch=sm_90", "-nogpulib"];

/// Reads a syntax tree: the stream, the name of the main file, and how many bytes stand before the text and are left out.
pub(super) type ReadTree<'r> = dyn FnMut(ChildStdout, &str, (usize, usize)) -> Result<(), Error> + 'r;

/// How the texts of one file are compiled.
#[derive(Clone, Debug)]
pub struct Compilation<'a> {
    clang: &'a Clang,
    path: PathBuf,
    flags: Vec<String>,
}

impl<'a> Compilation<'a> {
    /// Compiles texts of `path` with the user's flags, except those that choose the kind of output and its place.
    #[must_use]
    pub fn new(clang: &'a Clang, path: &Path, flags: &[String]) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let flags = kept_flags(flags, &path);
        Self { clang, path, flags }
    }

    /// Compiles `text` as if it stood in the file.
    ///
    /// # Errors
    /// When a temporary file cannot be written or clang cannot be started. Errors that clang reports are in the result.
    pub fn run(&self, text: &[u8], output: Output) -> Result<Compiled, VerifyError> {
        self.try_run(text, output).map_err(|error| VerifyError::Run(format!("clang could not be run: {error}")))
    }

    /// The first line of `clang --version`.
    pub(super) fn compiler(&self) -> &str {
        self.clang.version()
    }

    /// Adds to a key all that a compilation of `text` depends on: what clang preprocesses for the host and for the device, with these
    /// flags before and behind the user's.
    ///
    /// # Errors
    /// When it cannot be preprocessed: then nothing is known to be the same.
    pub(super) fn add_to(&self, key: &mut Key, text: &[u8], first: &[&str], last: &[String]) -> Result<(), Error> {
        self.clang.add_to(key);
        key.add(self.path.to_string_lossy().as_bytes());
        key.add([u8::from(self.path.is_file())]);
        key.add(text);
        first.iter().for_each(|flag| key.add(flag));
        self.flags.iter().for_each(|flag| key.add(flag));
        for side in ["--offload-host-only", "--offload-device-only"] {
            let folder = interrupt::folder()?;
            let source = folder.path().join("source");
            self.write_source(&source, text)?;
            let whole: Vec<&str> = if first.is_empty() { DEVICE_FLAGS.to_vec() } else { first.to_vec() };
            let mut command = self.command(folder.path(), &whole)?;
            command.args(last).args([side, "-E", "-dD", "-x", self.language()]).arg(&source);
            let run = interrupt::output(&mut command)?;
            if !run.status.success() {
                return Err(Error::other("the text cannot be preprocessed"));
            }
            // The folder has another name each time.
            let own = folder.path().to_string_lossy().into_owned();
            key.add(String::from_utf8_lossy(&run.stdout).replace(&own, ""));
        }
        Ok(())
    }

    /// Compiles `text` to an object file for this machine. `first` stands before the user's flags, `last` behind them.
    ///
    /// # Errors
    /// As for [`Self::run`].
    pub fn object(&self, text: &[u8], to: &Path, first: &[&str], last: &[String]) -> Result<Compiled, VerifyError> {
        let key = self.object_key(text, first, last);
        if let Some(kept) = key.as_ref().and_then(Key::find_bytes)
            && std::fs::write(to, kept).is_ok()
        {
            return Ok(Compiled { success: true, output: String::new(), stderr: String::new() });
        }
        let compiled = || -> Result<Compiled, Error> {
            let folder = interrupt::folder()?;
            let source = folder.path().join("source");
            self.write_source(&source, text)?;
            let mut command = self.command(folder.path(), first)?;
            command.args(last).args(["-c", "-o"]).arg(to).args(["-x", self.language()]).arg(&source);
            let run = interrupt::output(&mut command)?;
            // What was compiled without a message is all that there is to keep.
            if let (Some(key), true, true) = (&key, run.status.success(), run.stderr.is_empty()) {
                key.keep_bytes(&std::fs::read(to)?);
            }
            Ok(self.compiled(&run, &source, String::new()))
        };
        compiled().map_err(|error| VerifyError::Run(format!("clang could not be run: {error}")))
    }

    /// What an object depends on. Flags that name files of this run say nothing but what the preprocessed text shows.
    fn object_key(&self, text: &[u8], first: &[&str], last: &[String]) -> Option<Key> {
        let mut key = Key::new("object")?;
        last.iter().filter(|flag| !flag.contains('/')).for_each(|flag| key.add(flag));
        self.add_to(&mut key, text, first, last).ok()?;
        Some(key)
    }

    /// The preprocessed text with the definitions of all macros.
    ///
    /// # Errors
    /// As for [`Self::run`].
    pub(super) fn preprocessed(&self, text: &[u8]) -> Result<Compiled, VerifyError> {
        self.preprocess(text, &["-dD".to_owned()])
    }

    /// The preprocessed text; `last` stands behind the user's flags.
    ///
    /// # Errors
    /// As for [`Self::run`].
    pub(in crate::validate) fn preprocess(&self, text: &[u8], last: &[String]) -> Result<Compiled, VerifyError> {
        let preprocessed = || -> Result<Compiled, Error> {
            let folder = interrupt::folder()?;
            let source = folder.path().join("source");
            self.write_source(&source, text)?;
            let mut command = self.command(folder.path(), &["-fopenmp"])?;
            command.arg("-E").args(last).args(["-x", self.language()]).arg(&source);
            let run = interrupt::output(&mut command)?;
            let output = String::from_utf8_lossy(&run.stdout).replace(&*source.to_string_lossy(), &self.shown_name());
            Ok(self.compiled(&run, &source, output))
        };
        preprocessed().map_err(|error| VerifyError::Run(format!("clang could not be run: {error}")))
    }

    /// The name of the file in messages and line markers.
    pub(super) fn shown_name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Hands the host's syntax tree to `read`, as JSON while it is written, with the name of the main file in it, how many
    /// bytes stand before the text there, and how many of the text's own are left out.
    ///
    /// # Errors
    /// As for [`Self::run`], and what `read` says where clang itself succeeds.
    pub(super) fn syntax_tree(&self, text: &[u8], read: &mut ReadTree<'_>) -> Result<Compiled, VerifyError> {
        let mut tree = || -> Result<Compiled, Error> {
            let folder = interrupt::folder()?;
            let source = folder.path().join("source");
            let shift = self.write_source(&source, text)?;
            // Messages go to a file, since nobody reads them while the tree is read.
            let messages = folder.path().join("messages");
            let mut command = self.command(folder.path(), &["-fopenmp"])?;
            command.args(["-fsyntax-only", "-Xclang", "-ast-dump=json", "-x", self.language()]).arg(&source);
            command.stdout(Stdio::piped()).stderr(std::fs::File::create(&messages)?);
            let (mut child, _running) = interrupt::spawn(&mut command)?;
            let stdout = child.stdout.take();
            let found = stdout.map_or(Ok(()), |stdout| read(stdout, &source.to_string_lossy(), shift));
            let status = child.wait()?;
            let stderr = std::fs::read(&messages)?;
            let run = std::process::Output { status, stdout: Vec::new(), stderr };
            if status.success() {
                found?;
            }
            Ok(self.compiled(&run, &source, String::new()))
        };
        tree().map_err(|error| VerifyError::Run(format!("clang could not be run: {error}")))
    }

    /// Is the file C++?
    #[must_use]
    pub fn is_cpp(&self) -> bool {
        self.language() == "c++"
    }

    fn try_run(&self, text: &[u8], output: Output) -> Result<Compiled, Error> {
        let folder = interrupt::folder()?;
        let source = folder.path().join("source");
        let result = folder.path().join("result");
        self.write_source(&source, text)?;

        // Device code is optimised unless the user's flags, which come later, say otherwise.
        let mut command = self.command(folder.path(), DEVICE_FLAGS)?;
        match output {
            Output::Syntax => command.arg("-fsyntax-only"),
            Output::DeviceIr => command.args(["--offload-device-only", "-S", "-emit-llvm", "-o"]).arg(&result),
            Output::WholeDeviceIr => {
                let device = ["--offload-device-only", "-S", "-emit-llvm", "-femit-all-decls", "-o"];
                command.args(device).arg(&result)
            }
            Output::Ptx => command.args(["--offload-device-only", "-S", "-o"]).arg(&result),
        };
        command.args(["-x", self.language()]).arg(&source);
        let run = interrupt::output(&mut command)?;
        let result = match output {
            Output::Syntax => String::new(),
            _ if !run.status.success() => String::new(),
            _ => String::from_utf8_lossy(&std::fs::read(&result)?).into_owned(),
        };
        Ok(self.compiled(&run, &source, result))
    }

    /// clang with the flags of every compilation, those in `first` before the user's. The header of this tool is found
    /// in a folder of its own behind all others, so that the user's copy counts if there is one.
    fn command(&self, folder: &Path, first: &[&str]) -> Result<Command, Error> {
        let headers = folder.join("include");
        std::fs::create_dir(&headers)?;
        std::fs::write(headers.join(pinned_memory::HEADER_NAME), pinned_memory::HEADER)?;
        let mut command = self.clang.command();
        // Temporary files that clang leaves when it is killed are removed with the folder.
        command.env("TMPDIR", folder).args(first).args(&self.flags);
        if let Some(parent) = self.path.parent() {
            // The original's own folder comes before every other, as it does for a file that stands in it.
            let mut first = OsString::from("-iquote");
            first.push(parent);
            command.arg(first);
        }
        command.arg("-idirafter").arg(headers);
        Ok(command)
    }

    /// The result, with the file's own name in the messages.
    fn compiled(&self, run: &std::process::Output, source: &Path, output: String) -> Compiled {
        let own = source.to_string_lossy();
        let stderr = String::from_utf8_lossy(&run.stderr).replace(own.as_ref(), &self.path.to_string_lossy());
        Compiled { success: run.status.success(), output, stderr }
    }

    /// The text behind a `#line` that gives it the original's name; a byte order mark may only stand at the start. A
    /// text without a file (standard input) keeps the name of the temporary file, for clang looks the file up to name
    /// the kernels and counts their lines without the `#line` when it finds none.
    ///
    /// Returns how many bytes were put before the text, and how many of its own were left out.
    fn write_source(&self, to: &Path, text: &[u8]) -> Result<(usize, usize), Error> {
        let whole = text.len();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let name = if self.path.is_file() { &self.path } else { to };
        let name = name.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        let mut file = std::fs::File::create(to)?;
        let line = format!("#line 1 \"{name}\"\n");
        file.write_all(line.as_bytes())?;
        file.write_all(text)?;
        Ok((line.len(), whole - text.len()))
    }

    /// The argument of `-x`. A header is read as C++ only if the flags say so.
    fn language(&self) -> &'static str {
        match Language::of_path(&self.path) {
            Language::Cpp => "c++",
            Language::C => "c",
            Language::Either if self.flags.iter().any(|flag| is_cpp_standard(flag)) => "c++",
            Language::Either => "c",
        }
    }
}

/// `-std=c++17`, `-std=gnu++20`, `--std=..`.
fn is_cpp_standard(flag: &str) -> bool {
    flag.trim_start_matches('-').strip_prefix("std=").is_some_and(|standard| standard.contains("++"))
}

/// The flags that affect the meaning of the text. The kind of output, its place and the device are set by this tool
/// instead.
fn kept_flags(flags: &[String], path: &Path) -> Vec<String> {
    const WITH_ARGUMENT: &[&str] =
        &["-o", "-MF", "-MT", "-MQ", "-MJ", "-x", "-Xopenmp-target", "-Xcuda-ptxas", "-arch"];
    const ALONE: &[&str] = &["-c", "-S", "-E", "-MD", "-MMD", "-M", "-MM", "-MP", "-MG", "-emit-llvm", "-Werror", "-w"];
    const PREFIXES: &[&str] = &[
        "-o",
        "--offload-",
        "-fopenmp-targets",
        "-foffload",
        "-Xopenmp-target=",
        "--cuda-path",
        "-march=native",
        "-fsyntax-only",
        "-flto",
        "-Wl,",
        "-fdiagnostics-color",
    ];
    let mut kept = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        if WITH_ARGUMENT.contains(&flag.as_str()) || flag.starts_with("-Xopenmp-target=") {
            rest.next();
            continue;
        }
        let names_the_file = !flag.starts_with('-') && Path::new(flag).file_name() == path.file_name();
        if ALONE.contains(&flag.as_str()) || PREFIXES.iter().any(|p| flag.starts_with(p)) || names_the_file {
            continue;
        }
        kept.push(flag.clone());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_say_what_to_produce_are_left_out() {
        let flags = ["-O2", "-c", "-o", "f.o", "-Iinc", "-DN=3", "src/f.c", "-fopenmp-targets=nvptx64", "-MF", "d"];
        let flags: Vec<String> = flags.map(str::to_owned).to_vec();
        assert_eq!(kept_flags(&flags, Path::new("/p/src/f.c")), ["-O2", "-Iinc", "-DN=3"]);
    }

    #[test]
    fn a_header_is_cpp_only_where_the_flags_say_so() {
        assert!(is_cpp_standard("-std=gnu++17"));
        assert!(!is_cpp_standard("-std=c11"));
    }
}
