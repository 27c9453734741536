//! Programs built from the texts of given files and the other sources that belong to them. Each object is compiled once
//! and used in all programs that need it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::prelude::*;

use super::overlay::Overlay;
use super::parts::{Part, Unit};
use super::program::{File, Program, Source};
use super::texts::{Texts, Version};
use super::{HostError, Kind, Watch};
use crate::context::openmp_version;
use crate::validate::clang::{Clang, Compilation};
use crate::validate::interrupt;

/// What a program is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// The x86_64 offload device, which has a data environment of its own.
    Device,
    /// The host alone, with ThreadSanitizer.
    Threads,
}

impl Target {
    /// The flags of compiler and linker.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Device => &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"],
            Self::Threads => &["-fopenmp", "-fsanitize=thread"],
        }
    }
}

/// The tools for finding races, besides the compiler.
pub(super) struct RaceTools {
    /// The library that tells `ThreadSanitizer` what OpenMP synchronises.
    pub archer: PathBuf,
    /// The program that finds the lines of a report.
    pub symbolizer: PathBuf,
}

/// clang and its offload runtime.
pub(super) struct Tools {
    /// The compiler.
    pub clang: Clang,
    /// The folder of libomptarget, libomp and libarcher.
    pub runtime: PathBuf,
}

impl Tools {
    /// Finds both.
    pub(super) fn find() -> Result<Self, HostError> {
        let clang = Clang::find()?;
        let missing = || {
            let text = "clang's offload runtime is missing: install `libomp-19-dev` (Debian, Ubuntu: apt-get install \
                        libomp-19-dev)";
            HostError::new(Kind::Setup, text)
        };
        let printed =
            interrupt::output(clang.command().arg("-print-file-name=libomptarget.so")).map_err(HostError::io)?;
        let library = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
        let library = library.canonicalize().map_err(|_| missing())?;
        let runtime = library.parent().ok_or_else(missing)?.to_path_buf();
        Ok(Self { clang, runtime })
    }

    /// The tools for finding races, or what to install.
    pub(super) fn race_tools(&self) -> Result<RaceTools, HostError> {
        let missing = |what: &str, package: &str| {
            let text = format!(
                "races cannot be checked without {what}: install `{package}` (Debian, Ubuntu: apt-get install {package}), \
                 or say `races = false` in [verify] (--verify-no-races)"
            );
            HostError::new(Kind::Setup, text)
        };
        let print = |what: &str| -> Result<PathBuf, HostError> {
            let printed = interrupt::output(self.clang.command().arg(what)).map_err(HostError::io)?;
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
}

/// What determines an object: the unit, and the versions of the given files in it.
type ObjectKey = (usize, Target, Vec<(usize, Version)>);

/// Builds the variants of one program.
pub(super) struct Builder<'a> {
    pub tools: &'a Tools,
    pub part: &'a Part,
    pub files: &'a [File],
    pub program: &'a Program,
    pub watch: &'a Watch<'a>,
    /// Where objects and programs are made.
    pub scratch: &'a Path,
    objects: Mutex<BTreeMap<ObjectKey, PathBuf>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        tools: &'a Tools,
        part: &'a Part,
        files: &'a [File],
        program: &'a Program,
        watch: &'a Watch<'a>,
        scratch: &'a Path,
    ) -> Self {
        Self { tools, part, files, program, watch, scratch, objects: Mutex::default() }
    }

    /// Builds the program with these texts in a folder `name`. The error is the compiler's message.
    pub(super) fn build(&self, texts: &Texts, target: Target, name: &str) -> Result<PathBuf, HostError> {
        let folder = self.scratch.join(name);
        fs::create_dir(&folder).map_err(HostError::io)?;
        let units = self.part.units.par_iter().enumerate();
        let objects = units.map(|(index, unit)| self.object(index, unit, texts, target, &folder));
        let objects = objects.collect::<Result<Vec<_>, _>>()?;
        (self.watch)(&format!("linking the {}", texts.what));
        self.link(&objects, target, &folder)
    }

    /// The object of a unit; compiled if that was not done yet.
    fn object(
        &self,
        index: usize,
        unit: &Unit,
        texts: &Texts,
        target: Target,
        folder: &Path,
    ) -> Result<PathBuf, HostError> {
        let made_of: Vec<(usize, Version)> = unit.sees.iter().map(|file| (*file, texts.version(*file))).collect();
        let is_hardened = made_of.iter().any(|(_, version)| *version == Version::Hardened);
        let key = (index, target, made_of);
        let known = || self.objects.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(object) = known().get(&key) {
            return Ok(object.clone());
        }
        let source = &unit.source;
        (self.watch)(&format!("compiling {} for the {}", source.path.display(), texts.what));
        let text = match unit.own {
            Some(file) => texts.text(file).to_vec(),
            None => fs::read(&source.path)
                .map_err(|error| HostError::new(Kind::Setup, format!("{}: {error}", source.path.display())))?,
        };
        let object = folder.join(format!("{index}.o"));
        let included = unit
            .sees
            .iter()
            .filter(|file| unit.own != Some(**file))
            .filter_map(|index| Some((self.files.get(*index)?.source.path.as_path(), texts.text(*index).to_vec())));
        let overlay_folder = folder.join(format!("{index}"));
        fs::create_dir(&overlay_folder).map_err(HostError::io)?;
        let mut last = vec!["-g".to_owned(), "-w".to_owned()];
        last.extend(Overlay::write(included, &overlay_folder)?.flags());
        if is_hardened && !knows_present(&source.flags) {
            last.push("-fopenmp-version=51".to_owned());
        }
        if target == Target::Threads {
            // With optimisation an access may be moved or merged and lose its line.
            last.push("-O0".to_owned());
        }
        let first: Vec<&str> = ["-O1"].iter().chain(target.flags()).copied().collect();
        let compilation = Compilation::new(&self.tools.clang, &source.path, &source.flags);
        let run = compilation.object(&text, &object, &first, &last)?;
        if !run.success {
            let mut text = cannot_build(&format!("the {}", texts.what), source, &run.stderr);
            if target == Target::Threads {
                text.push_str("\n(`races = false` in [verify], or --verify-no-races, leaves this check out)");
            }
            return Err(HostError::new(Kind::Build, text));
        }
        known().insert(key, object.clone());
        Ok(object)
    }

    fn link(&self, objects: &[PathBuf], target: Target, folder: &Path) -> Result<PathBuf, HostError> {
        let program = folder.join("program");
        let clang = &self.tools.clang;
        let mut command = clang.command();
        let sources = || self.part.units.iter().map(|unit| &unit.source);
        if sources().any(|source| Compilation::new(clang, &source.path, &source.flags).is_cpp()) {
            command.arg("--driver-mode=g++");
        }
        command.args(target.flags()).args(objects).arg("-o").arg(&program).env("LIBRARY_PATH", &self.tools.runtime);
        let is_library = |flag: &&String| flag.starts_with("-l") || flag.starts_with("-L");
        command
            .args(sources().flat_map(|source| &source.flags).filter(is_library))
            .args(&self.program.link_flags)
            .arg("-lm");
        if target == Target::Threads {
            // The library of `omp_target_alloc` and similar functions; linked only if they are called.
            command.args(["-Wl,--as-needed", "-lomptarget"]);
        }
        let run = interrupt::output(command.env("TMPDIR", folder)).map_err(HostError::io)?;
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

/// Do the user's flags choose an OpenMP version that has `present`?
fn knows_present(flags: &[String]) -> bool {
    openmp_version(flags).is_some_and(|version| version >= 51)
}

/// The compiler's message about a source, from its first error on.
pub(super) fn cannot_build(what: &str, source: &Source, stderr: &str) -> String {
    let start = stderr.lines().position(|line| line.contains("error: ")).unwrap_or(0);
    let errors: Vec<&str> = stderr.lines().skip(start).collect();
    format!("{what} cannot be built, for {} does not compile:\n{}", source.path.display(), head(&errors.join("\n")))
}

/// The first lines of the compiler's messages.
fn head(text: &str) -> String {
    text.lines().take(12).map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
