//! `prove build`: rewrites and compiles the programs. What was built of a text is kept, so that only new texts take time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

use super::fixtures::Fixture;
use super::manifest::{Built, Manifest, Output, Program, Set};
use super::programs::{self, Tool};
use crate::build::package::{self, Package};
use crate::build::toolchain::Toolchain;
use crate::build::{HOST, build_tool, commit};
use crate::parallel;

/// What the package may weigh, in bytes.
const MOST_BYTES: u64 = 48 << 20;

/// How the package runs what was built.
const RUN: &str = "exec \"$tree/bin/ompsplit-bench\" prove run --tree \"$tree\" \"$@\"\n";

const FLAGS: [&str; 4] = ["-O2", "-w", "-s", "-fopenmp"];

/// The header that outputs of `pipeline` include.
const HEADER: &str = "ompsplit_pin.h";

/// What `prove build` is asked for.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The GPU's architecture, or `host` for the x86_64 offload device
    #[arg(long, default_value = "sm_90")]
    pub arch: String,
    /// Where everything is written; the package is its folder `package`
    #[arg(long, default_value = "target/proof")]
    pub out: PathBuf,
    /// The `ompsplit` to judge, instead of the one built from this repository
    #[arg(long)]
    pub tool: Option<PathBuf>,
    /// The repository, where it is not the current folder
    #[arg(long, default_value = ".")]
    pub repository: PathBuf,
    /// How many programs are generated
    #[arg(long, default_value_t = 150)]
    pub generated: usize,
    /// The seed that they are generated from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only programs whose name holds this text, or one of several between commas
    #[arg(long, default_value = "")]
    pub only: String,
    /// Further flags of the compiler, behind those of a fixture, as `-ffp-contract=off`
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub flags: String,
    /// Leave the files unpacked, to be run on this machine
    #[arg(long)]
    pub unpacked: bool,
}

/// Builds the programs.
pub fn build(options: &Options) -> Result<()> {
    let tool = match &options.tool {
        Some(tool) => tool.clone(),
        None => build_tool(&options.repository)?,
    };
    let (work, tree) = (options.out.join("work"), options.out.join("tree"));
    std::fs::create_dir_all(&work)?;
    if tree.exists() {
        std::fs::remove_dir_all(&tree).with_context(|| format!("cannot empty {}", tree.display()))?;
    }
    std::fs::create_dir_all(tree.join("bin"))?;

    let work = work.canonicalize()?;
    let toolchain = Toolchain::new(&options.arch, &options.repository.join("bench").canonicalize()?, &work)?;
    let flags: Vec<String> = options.flags.split_whitespace().map(str::to_owned).collect();
    let described: Vec<&str> = FLAGS.into_iter().chain(flags.iter().map(String::as_str)).collect();
    let builder = Builder {
        compiler: toolchain.description(&described.join(" "))?,
        flags,
        tool: Tool::new(tool)?,
        sets: programs::sets(),
        programs: work.join("programs").join(&options.arch),
        toolchain: &toolchain,
        tree: &tree,
    };
    let fixtures =
        programs::all(&options.repository, &work.join("generated"), options.generated, options.seed, &options.only)?;
    let manifest = Manifest {
        programs: builder.build_all(&fixtures)?,
        architecture: options.arch.clone(),
        compiler: builder.compiler,
        commit: commit(&options.repository)?,
        generated: options.generated,
        seed: options.seed,
        sets: builder.sets,
    };
    std::fs::write(tree.join("manifest.json"), serde_json::to_string_pretty(&manifest)?)?;
    finish(&toolchain, &work, &tree, options)
}

/// Adds what a built tree needs beside its programs and packs it, unless it is for this machine.
fn finish(toolchain: &Toolchain, work: &Path, tree: &Path, options: &Options) -> Result<()> {
    if options.arch != HOST {
        // libomptarget opens `libcuda.so`, which many machines have with a number behind its name only.
        std::fs::create_dir_all(tree.join("driver"))?;
        toolchain.compile_before_driver(Path::new("/dev/null"), work, &tree.join("driver/libcuda.so"))?;
    }
    package::complete(toolchain, tree, options.unpacked)?;
    if package::stays_here(toolchain, options.unpacked) {
        return Ok(());
    }
    let package = Package { tree, parts: &["bin", "driver", "manifest.json"], script: RUN, most_bytes: MOST_BYTES };
    package::pack(toolchain, &options.out, &package)
}

/// Makes binaries of programs.
struct Builder<'a> {
    toolchain: &'a Toolchain,
    compiler: String,
    flags: Vec<String>,
    tool: Tool,
    sets: Vec<Set>,
    /// Where each text of each program has a folder.
    programs: PathBuf,
    tree: &'a Path,
}

impl Builder<'_> {
    fn build_all(&self, fixtures: &[Fixture]) -> Result<Vec<Program>> {
        let done = AtomicUsize::new(0);
        parallel::map(fixtures, parallel::cores(), |fixture| {
            let program = self.build_program(fixture).with_context(|| format!("program {}", fixture.name))?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(50) {
                println!("{done} of {} programs", fixtures.len());
            }
            Ok(program)
        })
    }

    /// Rewrites a program and compiles its texts, if there are several and it can be run.
    fn build_program(&self, fixture: &Fixture) -> Result<Program> {
        let (texts, outputs) = self.tool.rewrite(fixture, &self.sets)?;
        let mut program = Program {
            name: fixture.name.clone(),
            runnable: fixture.runnable,
            racy: fixture.racy_original,
            texts: Vec::new(),
            outputs,
        };
        if fixture.runnable && texts.len() > 1 {
            for (number, text) in texts.iter().enumerate() {
                let first = program.outputs.iter().position(|output| *output == Output::Text(number));
                let variant = first.filter(|_| number > 0).and_then(|set| self.sets.get(set));
                let variant = variant.map_or("original", |set| &set.name);
                program.texts.push(self.build_text(fixture, variant, text)?);
            }
        }
        Ok(program)
    }

    /// Compiles a text, or takes what was made of it before, and puts it into the tree.
    fn build_text(&self, fixture: &Fixture, variant: &str, text: &[u8]) -> Result<Built> {
        let folder = self.programs.join(&fixture.name).join(variant);
        let (binary, error) = (folder.join("program"), folder.join("error"));
        let arguments = self.arguments(fixture);
        let key = self.key(fixture, &arguments, text)?;
        if std::fs::read(folder.join("built-from")).ok() != Some(key.clone()) {
            std::fs::create_dir_all(&folder)?;
            for stale in [&binary, &error] {
                if stale.exists() {
                    std::fs::remove_file(stale)?;
                }
            }
            self.compile(fixture, &arguments, text, &folder)?;
            std::fs::write(folder.join("built-from"), key)?;
        }
        if !binary.exists() {
            return Ok(Built::Error(std::fs::read_to_string(&error)?));
        }
        let place = format!("{}/{variant}", fixture.name);
        let packed = self.tree.join("bin").join(&place);
        std::fs::create_dir_all(packed.parent().unwrap_or(self.tree))?;
        std::fs::copy(&binary, &packed).with_context(|| format!("cannot write {}", packed.display()))?;
        Ok(Built::Binary(place))
    }

    /// Leaves `program` in the folder, or `error`. The text is compiled there under its plain name, so that `__FILE__` is the
    /// same in all of them.
    fn compile(&self, fixture: &Fixture, arguments: &[String], text: &[u8], folder: &Path) -> Result<()> {
        std::fs::write(folder.join(file_name(fixture)), text)?;
        std::fs::write(folder.join(HEADER), self.tool.header())?;
        let mut command = self.toolchain.command();
        command.args(arguments).arg("-iquote").arg(fixture.folder()).current_dir(folder);
        self.toolchain.offload(&mut command);
        let output = self.toolchain.output(&mut command)?;
        if !output.status.success() {
            std::fs::write(folder.join("error"), first_error(&String::from_utf8_lossy(&output.stderr)))?;
        }
        Ok(())
    }

    fn arguments(&self, fixture: &Fixture) -> Vec<String> {
        let mode = if fixture.is_cpp() { "--driver-mode=g++" } else { "--driver-mode=gcc" };
        let mut arguments = vec![mode.to_owned()];
        arguments.extend(FLAGS.map(str::to_owned));
        arguments.extend(fixture.flags.iter().chain(&self.flags).cloned());
        arguments.extend([file_name(fixture), "-o".to_owned(), "program".to_owned(), "-lm".to_owned()]);
        arguments
    }

    /// All that a binary depends on, wherever the repository is.
    fn key(&self, fixture: &Fixture, arguments: &[String], text: &[u8]) -> Result<Vec<u8>> {
        let mut key = format!("{}\n{}\n", self.compiler, arguments.join(" ")).into_bytes();
        key.extend_from_slice(text);
        if String::from_utf8_lossy(text).contains(HEADER) {
            key.extend_from_slice(self.tool.header());
        }
        let mut beside: Vec<PathBuf> =
            std::fs::read_dir(fixture.folder())?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        beside.retain(|path| path.extension().is_some_and(|ending| ending == "h" || ending == "hpp"));
        beside.sort();
        for header in beside {
            key.extend(std::fs::read(&header).with_context(|| format!("cannot read {}", header.display()))?);
        }
        Ok(key)
    }
}

fn file_name(fixture: &Fixture) -> String {
    fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The line of a compiler's messages that says what is wrong, without the addresses that differ each time.
fn first_error(said: &str) -> String {
    let wrong = |line: &&str| ["error:", "ERROR:", "undefined reference"].iter().any(|word| line.contains(word));
    let line = said.lines().find(wrong).or(said.lines().next()).unwrap_or_default();
    let words = line.split_whitespace().filter(|word| !word.starts_with("0x"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_without_addresses() {
        let said = "warning: x\nLLVM ERROR: Cannot select: 0x55c7: i32,ch = AtomicLoad 0x55d1, 0x55f0\nStack dump:\n";
        assert_eq!(first_error(said), "LLVM ERROR: Cannot select: i32,ch = AtomicLoad");
        assert_eq!(first_error("Killed\n"), "Killed");
    }
}
