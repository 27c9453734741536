//! Calls the library the way the command line does without options.

use std::path::Path;

use ompsplit::context::{Arithmetic, OutputCompiler, PinnedMemory, PipelineOptions};
use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, Options, Outcome};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;
use ompsplit::transforms::{ByDefault, TRANSFORMS};

use super::fixtures::Fixture;

/// The options that a program is rewritten with: the passes whose folder of fixtures it stands in, or all that run by
/// default; loops of unknown length are long where `text` does not say otherwise, so that what is safe decides.
pub fn options(path: &Path, text: &[u8], assume: bool) -> Options {
    let head = String::from_utf8_lossy(text).into_owned();
    let is_said = |word: &str| head.lines().take(12).any(|line| line.trim() == format!("// fixture: {word}"));
    let (versioned, retune) = (is_said("versioned"), is_said("retune"));
    let assume = assume && !is_said("certain");
    let said = |word: &str| {
        let line = format!("// fixture: {word} ");
        head.lines().take(12).find_map(|text| text.trim().strip_prefix(&line))
    };
    let device = said("device").and_then(DeviceProfile::named);
    let (pin, compiler) = match (said("pin"), said("for")) {
        (Some("alloc"), _) => (PinnedMemory::Allocate, OutputCompiler::Llvm),
        (Some("none"), _) => (PinnedMemory::None, OutputCompiler::Llvm),
        (Some("register"), _) => (PinnedMemory::Register, OutputCompiler::Llvm),
        (_, Some("gcc")) => (PinnedMemory::Stage, OutputCompiler::Gcc),
        (_, Some("nvhpc")) => (PinnedMemory::Stage, OutputCompiler::Nvhpc),
        _ => (PinnedMemory::Stage, OutputCompiler::Llvm),
    };
    // The programs are small, so that whether it pays decides nothing; GCC gets tiles on demand alone.
    let least_bytes = (compiler != OutputCompiler::Gcc).then_some(1);
    let window = said("window").and_then(|window| window.parse().ok());
    let pipeline = PipelineOptions { pin, window, least_bytes, compiler, ..PipelineOptions::default() };
    let strict_aliasing = !said("flags").is_some_and(|flags| flags.contains("-fno-strict-aliasing"));
    let has_flag = |flag: &str| said("flags").is_some_and(|flags| flags.split_whitespace().any(|word| word == flag));
    let arithmetic = Arithmetic {
        reassociates: has_flag("-ffast-math"),
        ignores_special: has_flag("-ffast-math"),
        traps: has_flag("-ftrapv"),
        contracts_statements: has_flag("-ffp-contract=fast"),
    };
    let assumed_iterations = said("assumed_iterations").and_then(|number| number.parse().ok()).unwrap_or(1 << 30);
    let mut options = Options {
        pipeline,
        assume,
        reassociate: assume,
        arithmetic,
        versioned,
        retune,
        device,
        assumed_iterations,
        strict_aliasing,
        ..Options::default()
    };
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let shown = TRANSFORMS.iter().find(|transform| transform.is_of(folder));
    if options.device.is_some() {
        let named = shown.filter(|transform| transform.default != ByDefault::Runs);
        options.passes = named.map_or(options.passes.clone(), |transform| options.passes.with(transform.pass));
        let left_out = TRANSFORMS.iter().filter(|transform| {
            said("without").is_some_and(|passes| passes.split(',').any(|pass| pass == transform.pass.name()))
        });
        options.passes = options.passes.without(&left_out.map(|transform| transform.pass).collect::<Vec<_>>());
    } else if let Some(transform) = shown {
        // What is collapsed is what was split.
        let before = (transform.pass == Pass::Collapse).then_some(Pass::Split);
        options.passes = before.into_iter().chain([transform.pass]).collect::<Vec<Pass>>().into();
    }
    options
}

/// Every pass that is built, in the registry's order.
pub fn built() -> Vec<Pass> {
    TRANSFORMS.iter().filter(|transform| transform.plan.is_some()).map(|transform| transform.pass).collect()
}

/// What the library makes of a text.
pub fn outcome(path: &Path, text: &[u8], assume: bool) -> Result<Outcome, String> {
    let file = SourceFile::new(path, text.to_vec());
    let options = options(path, text, assume);
    engine::run(&file, &headers(path), &options).map_err(|error| format!("{}: {error}", path.display()))
}

/// The headers of a fixture: files beside it whose names begin with its own.
pub fn headers(path: &Path) -> Vec<SourceFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path);
    let Some((folder, stem)) = folder.parent().zip(path.file_stem().and_then(|stem| stem.to_str())) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_header = |name: &String| name.starts_with(stem) && (name.ends_with(".h") || name.ends_with(".hpp"));
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_header).collect();
    names.sort();
    let read =
        |name: String| Some(SourceFile::new(path.with_file_name(&name), std::fs::read(folder.join(&name)).ok()?));
    names.into_iter().filter_map(read).collect()
}

/// The new text, or the old one where nothing changes.
pub fn rewrite(path: &Path, text: &[u8], assume: bool) -> Result<Vec<u8>, String> {
    Ok(outcome(path, text, assume)?.text.unwrap_or_else(|| text.to_vec()))
}

/// The new text of a fixture.
pub fn fixture(fixture: &Fixture) -> Result<Vec<u8>, String> {
    rewrite(&fixture.path, &fixture.text, fixture.assume)
}
