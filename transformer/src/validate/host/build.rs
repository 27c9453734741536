//! Programs built from a text and the other sources that belong to it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{HostError, Kind, Program};
use crate::validate::clang::{Clang, Compilation};

/// What a program is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The x86_64 offload device, which has a data environment of its own.
    Device,
    /// The same, where `present` may be written.
    DevicePresent,
    /// The host alone, with ThreadSanitizer.
    Threads,
}

impl Target {
    /// The flags of compiler and linker.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Device | Self::DevicePresent => &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"],
            Self::Threads => &["-fopenmp", "-fsanitize=thread"],
        }
    }
}

/// What races are found by, besides the compiler.
pub(super) struct RaceTools {
    /// The library that tells `ThreadSanitizer` what OpenMP synchronises.
    pub archer: PathBuf,
    /// The program that finds the lines of a report.
    pub symbolizer: PathBuf,
}

/// Builds the programs of one file.
pub(super) struct Builder<'a> {
    clang: Clang,
    /// The folder of libomptarget, libomp and libarcher.
    pub runtime: PathBuf,
    path: PathBuf,
    program: &'a Program,
}

impl<'a> Builder<'a> {
    /// Finds clang and its offload runtime.
    pub(super) fn new(path: &Path, program: &'a Program) -> Result<Self, HostError> {
        let clang = Clang::find()?;
        let missing = || {
            let text = "clang's offload runtime is missing: install `libomp-19-dev` (Debian, Ubuntu: apt-get install \
                        libomp-19-dev)";
            HostError::new(Kind::Setup, text)
        };
        let printed = clang.command().arg("-print-file-name=libomptarget.so").output().map_err(HostError::io)?;
        let library = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
        let library = library.canonicalize().map_err(|_| missing())?;
        let runtime = library.parent().ok_or_else(missing)?.to_path_buf();
        let path = std::path::absolute(path).map_err(HostError::io)?;
        Ok(Self { clang, runtime, path, program })
    }

    /// What races are found by, or what to install.
    pub(super) fn race_tools(&self) -> Result<RaceTools, HostError> {
        let missing = |what: &str, package: &str| {
            let text = format!(
                "races cannot be checked without {what}: install `{package}` (Debian, Ubuntu: apt-get install {package}), \
                 or say `races = false` in [verify] (--verify-no-races)"
            );
            HostError::new(Kind::Setup, text)
        };
        let print = |what: &str| -> Result<PathBuf, HostError> {
            let printed = self.clang.command().arg(what).output().map_err(HostError::io)?;
            Ok(PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim()))
        };
        let archer = self.runtime.join("libarcher.so");
        if !archer.is_file() {
            return Err(missing("Archer", "libomp-19-dev"));
        }
        let runtime = print("-print-resource-dir")?.join("lib");
        let holds = |folder: PathBuf| {
            let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.any(|entry| entry.file_name().to_string_lossy().starts_with("libclang_rt.tsan"))
        };
        let mut folders = fs::read_dir(&runtime).into_iter().flatten().flatten();
        if !folders.any(|entry| holds(entry.path())) {
            return Err(missing("ThreadSanitizer", "libclang-rt-19-dev"));
        }
        let symbolizer = print("-print-prog-name=llvm-symbolizer")?;
        if symbolizer.is_file() {
            Ok(RaceTools { archer, symbolizer })
        } else {
            Err(missing("llvm-symbolizer", "llvm-19"))
        }
    }

    /// Builds the program in which `text` stands for the file, in `folder`; the error is what the compiler says.
    pub(super) fn build(&self, text: &[u8], target: Target, folder: &Path) -> Result<PathBuf, HostError> {
        fs::create_dir(folder).map_err(HostError::io)?;
        let mut objects = Vec::new();
        let mut overlay = Vec::new();
        let mut is_cpp = false;
        if self.is_header() {
            overlay = self.overlay(text, folder)?;
        } else {
            is_cpp |= self.object(&self.path, &self.program.flags, text, target, &overlay, folder, &mut objects)?;
        }
        for source in &self.program.sources {
            let read = |error| HostError::new(Kind::Setup, format!("{}: {error}", source.path.display()));
            let text = fs::read(&source.path).map_err(read)?;
            is_cpp |= self.object(&source.path, &source.flags, &text, target, &overlay, folder, &mut objects)?;
        }
        self.link(&objects, target, is_cpp, folder)
    }

    /// Is the file a header, which only the other sources can show?
    fn is_header(&self) -> bool {
        let ending = self.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        matches!(ending, "h" | "hh" | "hpp" | "hxx")
    }

    /// Flags that show the compiler `text` where the header stands.
    fn overlay(&self, text: &[u8], folder: &Path) -> Result<Vec<String>, HostError> {
        if self.program.sources.is_empty() {
            let text = "the file is a header: name the sources that include it and make a program \
                        (--verify-source, or `sources` in [verify])";
            return Err(HostError::new(Kind::Setup, text));
        }
        let flags = |text: &[u8], name: &str| -> Result<Vec<String>, HostError> {
            let (stand_in, list) = (folder.join(name), folder.join(format!("{name}.yaml")));
            fs::write(&stand_in, text).map_err(HostError::io)?;
            let root = serde_json::json!({ "type": "file", "name": self.path, "external-contents": stand_in });
            let tree = serde_json::json!({ "version": 0, "use-external-names": false, "roots": [root] });
            fs::write(&list, tree.to_string()).map_err(HostError::io)?;
            Ok(vec!["-ivfsoverlay".to_owned(), list.display().to_string()])
        };
        // Where no source sees the stand-in, both programs would be the original.
        let broken = flags(b"#error the header is included\n", "probe")?;
        let mut seen = false;
        for source in &self.program.sources {
            let text = fs::read(&source.path).map_err(HostError::io)?;
            let compilation = Compilation::new(&self.clang, &source.path, &source.flags);
            let run = compilation.object(&text, &folder.join("probe.o"), &["-w", "-fopenmp"], &broken)?;
            seen |= run.stderr.contains("the header is included");
        }
        if !seen {
            let text = "no source in --verify-source or [verify] includes the header";
            return Err(HostError::new(Kind::Setup, text));
        }
        flags(text, "header")
    }

    /// Compiles one source; is it C++?
    #[allow(clippy::too_many_arguments, reason = "one call for the file and one for each other source")]
    fn object(
        &self,
        path: &Path,
        flags: &[String],
        text: &[u8],
        target: Target,
        overlay: &[String],
        folder: &Path,
        objects: &mut Vec<PathBuf>,
    ) -> Result<bool, HostError> {
        let compilation = Compilation::new(&self.clang, path, flags);
        let object = folder.join(format!("{}.o", objects.len()));
        let first: Vec<&str> = ["-O1"].iter().chain(target.flags()).copied().collect();
        let mut last = vec!["-g".to_owned(), "-w".to_owned()];
        last.extend_from_slice(overlay);
        if target == Target::DevicePresent && !knows_present(flags) {
            last.push("-fopenmp-version=51".to_owned());
        }
        if target == Target::Threads {
            // An access that was moved or merged has no line of its own any more.
            last.push("-O0".to_owned());
        }
        let run = compilation.object(text, &object, &first, &last)?;
        if !run.success {
            let why = match target {
                Target::Device => "",
                Target::DevicePresent => " where every item must be present",
                Target::Threads => " for the search for races, which `races = false` (--verify-no-races) leaves out",
            };
            let text = format!("{} does not compile{why}:\n{}", path.display(), head(&run.stderr));
            return Err(HostError::new(Kind::Build, text));
        }
        objects.push(object);
        Ok(compilation.is_cpp())
    }

    fn link(&self, objects: &[PathBuf], target: Target, is_cpp: bool, folder: &Path) -> Result<PathBuf, HostError> {
        let program = folder.join("program");
        let mut command = self.clang.command();
        if is_cpp {
            command.arg("--driver-mode=g++");
        }
        command.args(target.flags()).args(objects).arg("-o").arg(&program).env("LIBRARY_PATH", &self.runtime);
        let is_library = |flag: &&String| flag.starts_with("-l") || flag.starts_with("-L");
        command.args(self.program.flags.iter().filter(is_library)).args(&self.program.link_flags).arg("-lm");
        if target == Target::Threads {
            // `omp_target_alloc` and its like; linked only where they are called.
            command.args(["-Wl,--as-needed", "-lomptarget"]);
        }
        let run = command.output().map_err(HostError::io)?;
        if run.status.success() {
            return Ok(program);
        }
        let said = String::from_utf8_lossy(&run.stderr);
        Err(if said.contains("undefined reference to `main'") || said.contains("undefined symbol: main") {
            let text = "there is no `main` to run: name the other sources of the program with --verify-source, or as \
                        `sources` in [verify] of .ompsplit.toml";
            HostError::new(Kind::Setup, text)
        } else {
            let hint = "(further sources go to --verify-source, libraries to --verify-link, or to [verify])";
            HostError::new(Kind::Build, format!("the program cannot be linked {hint}:\n{}", head(&said)))
        })
    }
}

/// Do the user's flags ask for a version that has `present`?
fn knows_present(flags: &[String]) -> bool {
    let version = flags.iter().rev().find_map(|flag| flag.strip_prefix("-fopenmp-version="));
    version.and_then(|version| version.parse::<u32>().ok()).is_some_and(|version| version >= 51)
}

/// The first lines of what a compiler says.
fn head(text: &str) -> String {
    text.lines().take(12).map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
