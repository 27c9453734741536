//! `build`: from the programs' sources to a folder that runs on a machine with a GPU and nothing else.

mod compile;
pub mod package;
mod rewrite;
pub mod toolchain;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::parallel;
use crate::suite::{BuiltVariant, Manifest, Program, Suite};
use compile::Compiler;
use package::Package;

/// The architecture that stands for the x86_64 offload device.
pub const HOST: &str = "host";

/// What the package may weigh, in bytes.
const MOST_BYTES: u64 = 60_000_000;

/// How the package runs what was built.
const RUN: &str = r#"command=run
case ${1:-} in run | sweep) command=$1; shift ;; esac
exec "$tree/bin/ompsplit-bench" "$command" --tree "$tree" "$@"
"#;

/// What `build` is asked for.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The GPU's architecture, or `host` for the x86_64 offload device
    #[arg(long, default_value = "sm_90")]
    pub arch: String,
    /// Where everything is written; the package is its folder `package`
    #[arg(long, default_value = "target/bench")]
    pub out: PathBuf,
    /// The `ompsplit` to judge, instead of the one built from this repository
    #[arg(long)]
    pub tool: Option<PathBuf>,
    /// The repository, where it is not the current folder
    #[arg(long, default_value = ".")]
    pub repository: PathBuf,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    pub programs: Vec<String>,
    /// Leave the files unpacked, to be run on this machine
    #[arg(long)]
    pub unpacked: bool,
}

/// Builds the suite.
pub fn build(options: &Options) -> Result<()> {
    let bench = options.repository.join("bench");
    let mut suite = Suite::read(&bench.join("suite.toml"))?;
    if !options.programs.is_empty() {
        suite.programs.retain(|program| options.programs.contains(&program.name));
        anyhow::ensure!(!suite.programs.is_empty(), "no such program in suite.toml");
    }
    let tool = match &options.tool {
        Some(tool) => tool.clone(),
        None => build_tool(&options.repository)?,
    };
    let tree = options.out.join("tree");
    if tree.exists() {
        std::fs::remove_dir_all(&tree).with_context(|| format!("cannot empty {}", tree.display()))?;
    }
    std::fs::create_dir_all(tree.join("bin"))?;

    let compiler = Compiler::new(&options.arch, &bench, &options.out)?;
    let variants = build_variants(&suite, &compiler, &tool, &tree)?;
    compiler.compile_limits(&tree.join("bin/limits"))?;
    let manifest = Manifest {
        suite,
        architecture: options.arch.clone(),
        compiler: compiler.description()?,
        commit: commit(&options.repository)?,
        variants,
    };
    std::fs::write(tree.join("manifest.json"), serde_json::to_string_pretty(&manifest)?)?;
    finish(&compiler, &tree, options)
}

/// Adds what a built tree needs beside its programs and packs it, unless it is for this machine.
fn finish(compiler: &Compiler, tree: &Path, options: &Options) -> Result<()> {
    let toolchain = compiler.toolchain();
    if options.arch != HOST {
        std::fs::create_dir_all(tree.join("driver"))?;
        compiler.compile_tracer(&tree.join("driver/libcuda.so"))?;
    }
    package::complete(toolchain, tree, options.unpacked)?;
    if package::stays_here(toolchain, options.unpacked) {
        return Ok(());
    }
    let package = Package { tree, parts: &["bin", "driver", "manifest.json"], script: RUN, most_bytes: MOST_BYTES };
    package::pack(toolchain, &options.out, &package)
}

/// Builds the tool of this repository and gives its path.
pub fn build_tool(repository: &Path) -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--bin", "ompsplit"])
        .current_dir(repository)
        .env_remove("CARGO_TARGET_DIR")
        .status()
        .context("cannot run cargo")?;
    anyhow::ensure!(status.success(), "ompsplit does not build");
    Ok(repository.join("target/release/ompsplit"))
}

/// The commit, with `-dirty` where tracked files differ from it.
pub fn commit(repository: &Path) -> Result<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .current_dir(repository)
        .output()
        .context("cannot run git")?;
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(if name.is_empty() { "unknown".to_owned() } else { name })
}

/// Rewrites and compiles everything, on all cores; the variants come in the order of the suite.
fn build_variants(suite: &Suite, compiler: &Compiler, tool: &Path, tree: &Path) -> Result<Vec<BuiltVariant>> {
    let built = parallel::map(&suite.programs, parallel::cores(), |program| {
        build_program(suite, program, compiler, tool, tree).with_context(|| format!("program {}", program.name))
    })?;
    Ok(built.into_iter().flatten().collect())
}

/// All variants of one program: the two inputs, what the tool makes of them, and those tuned by hand.
fn build_program(
    suite: &Suite,
    program: &Program,
    compiler: &Compiler,
    tool: &Path,
    tree: &Path,
) -> Result<Vec<BuiltVariant>> {
    let folder = compiler.programs().join(&program.name);
    let driver = compiler.compile_driver(&program.name)?;
    // Many pass sets make the same text of a program.
    let mut built: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut compile = |variant: &str, source: &Path| -> Result<String> {
        let text = std::fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        if let Some(binary) = built.get(&text) {
            return Ok(binary.clone());
        }
        let binary = format!("{}-{variant}", program.name);
        compiler.compile_variant(&program.name, source, &driver, &tree.join("bin").join(&binary))?;
        built.insert(text, binary.clone());
        Ok(binary)
    };
    let mut variants = Vec::new();
    let mut add = |variant: &str, binary: &str, decisions: Vec<String>| {
        let (program, variant, binary) = (program.name.clone(), variant.to_owned(), binary.to_owned());
        variants.push(BuiltVariant { program, variant, binary, decisions });
    };
    for input in ["naive", "teams"] {
        let source = folder.join(format!("{input}.c"));
        if input == "teams" && !source.exists() {
            continue;
        }
        let binary = compile(input, &source)?;
        add(input, &binary, Vec::new());
        for passes in &suite.pass_sets {
            let variant = format!("{input}+{passes}");
            let output = rewrite::rewrite(
                tool,
                suite.device.as_deref(),
                passes,
                &source,
                &compiler.work().join("output").join(&variant),
            )?;
            add(&variant, &compile(&variant, &output.path)?, output.decisions);
        }
    }
    let ceiling = compile("ceiling", &folder.join("ceiling.c"))?;
    let pragmas = folder.join("pragmas.c");
    let binary = if pragmas.exists() { compile("pragmas", &pragmas)? } else { ceiling.clone() };
    add("pragmas", &binary, Vec::new());
    let exact = folder.join("exact.c");
    if exact.exists() {
        add("exact", &compile("exact", &exact)?, Vec::new());
    }
    add("ceiling", &ceiling, Vec::new());
    Ok(variants)
}
