//! `build`: from the programs' sources to a folder that runs on a machine with a GPU and nothing else.

mod compile;
pub mod package;
mod rewrite;
pub mod toolchain;
mod verified;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::parallel;
use crate::suite::{BuiltVariant, Manifest, Program, Suite};
use compile::Compiler;
use package::Package;
use verified::Verified;

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
    /// Further flags of the compiler, as `-mfma -ffp-contract=off`
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub flags: String,
    /// Leave out programs that this list knows to be right as they are, but for a sample
    #[arg(long)]
    pub verified: Option<PathBuf>,
}

/// A variant whose text is there, and which is to be compiled.
struct Written {
    variant: String,
    source: PathBuf,
    text: Vec<u8>,
    decisions: Vec<String>,
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

    let compiler = Compiler::new(&options.arch, &bench, &options.out, &options.flags)?;
    let verified = Verified::read(options.verified.as_deref(), &compiler)?;
    let variants = build_variants(&suite, &compiler, &tool, &tree, &verified)?;
    verified.write(&tree.join("verified.txt"))?;
    suite.programs.retain(|program| variants.iter().any(|variant| variant.program == program.name));
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
fn build_variants(
    suite: &Suite,
    compiler: &Compiler,
    tool: &Path,
    tree: &Path,
    verified: &Verified,
) -> Result<Vec<BuiltVariant>> {
    let built = parallel::map(&suite.programs, parallel::cores(), |program| {
        let build = || {
            let written = write_program(suite, program, compiler, tool)?;
            if verified.knows(suite, program, &written, compiler)? {
                return Ok(Vec::new());
            }
            compile_program(program, written, compiler, tree)
        };
        build().with_context(|| format!("program {}", program.name))
    })?;
    Ok(built.into_iter().flatten().collect())
}

/// The texts of all variants of one program: the two inputs, what the tool makes of them, and those tuned by hand.
fn write_program(suite: &Suite, program: &Program, compiler: &Compiler, tool: &Path) -> Result<Vec<Written>> {
    let folder = compiler.programs().join(&program.name);
    let mut written = Vec::new();
    let mut add = |variant: &str, source: &Path, decisions: Vec<String>| -> Result<()> {
        let text = std::fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        written.push(Written { variant: variant.to_owned(), source: source.to_owned(), text, decisions });
        Ok(())
    };
    for input in ["naive", "teams"] {
        let source = folder.join(format!("{input}.c"));
        if input == "teams" && !source.exists() {
            continue;
        }
        add(input, &source, Vec::new())?;
        for passes in &suite.pass_sets {
            let variant = format!("{input}+{passes}");
            let work = compiler.work().join("output").join(&variant);
            let output = rewrite::rewrite(tool, suite.device.as_deref(), passes, &source, &work)?;
            add(&variant, &output.path, output.decisions)?;
        }
    }
    for (form, source) in by_hand(program, &folder)? {
        add(form, &source, Vec::new())?;
    }
    Ok(written)
}

/// The forms by hand and their files. `pragmas` without one is `ceiling`; what `exact` without one is, the suite says.
fn by_hand(program: &Program, folder: &Path) -> Result<Vec<(&'static str, PathBuf)>> {
    let file = |form: &str| Some(folder.join(format!("{form}.c"))).filter(|path| path.exists());
    let ceiling = file("ceiling").context("there is no ceiling.c")?;
    let pragmas = file("pragmas").unwrap_or_else(|| ceiling.clone());
    let exact = match (file("exact"), program.exact.as_deref()) {
        (Some(exact), None) => Some(exact),
        (None, Some("pragmas")) => Some(pragmas.clone()),
        (None, Some("ceiling")) => Some(ceiling.clone()),
        (None, None) => None,
        (Some(_), Some(_)) => anyhow::bail!("exact.c is there, and suite.toml names another form for it"),
        (None, Some(other)) => anyhow::bail!("exact is `pragmas` or `ceiling` in suite.toml, not `{other}`"),
    };
    let forms = [("pragmas", Some(pragmas)), ("exact", exact), ("ceiling", Some(ceiling))];
    Ok(forms.into_iter().filter_map(|(form, source)| Some((form, source?))).collect())
}

/// Compiles the variants of one program, each text once: many pass sets make the same of a program.
fn compile_program(
    program: &Program,
    written: Vec<Written>,
    compiler: &Compiler,
    tree: &Path,
) -> Result<Vec<BuiltVariant>> {
    let driver = compiler.compile_driver(&program.name)?;
    let mut built: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut variants = Vec::new();
    for Written { variant, source, text, decisions } in written {
        let binary = match built.get(&text) {
            Some(binary) => binary.clone(),
            None => {
                let binary = format!("{}-{variant}", program.name);
                compiler.compile_variant(&program.name, &source, &driver, &tree.join("bin").join(&binary))?;
                built.insert(text, binary.clone());
                binary
            }
        };
        variants.push(BuiltVariant { program: program.name.clone(), variant, binary, decisions });
    }
    Ok(variants)
}
