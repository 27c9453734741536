//! One file from its bytes to its new text and what is said about it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use memchr::memmem;

use crate::cli::arguments::{Facts, Resources};
use crate::cli::headers::{self, Loaded};
use crate::cli::inputs;
use crate::cli::missing_headers;
use crate::cli::pin_header::PinHeader;
use crate::cli::settings::Settings;
use crate::cli::tuned;
use crate::cli::verify::Check;
use crate::context::PipelineOptions;
use crate::device::DeviceProfile;
use crate::engine::{EngineError, Options, Outcome, RegionFacts, error_code};
use crate::plan::ReasonCode;
use crate::report::{FileReport, PlanUse, Severity};
use crate::source::{Scan, SourceFile, mentions_target, scan};
use crate::syntax::Limits;

/// What rewrites a file: [`crate::engine::run`], or a stand-in in tests.
pub type Engine = fn(&SourceFile, &[SourceFile], &Options) -> Result<Outcome, EngineError>;

/// What came of one file.
#[derive(Debug)]
pub(super) struct Processed {
    /// What is said about it; it holds the original text.
    pub report: FileReport,
    /// The new text; `None` where nothing changes or it failed.
    pub text: Option<Vec<u8>>,
    /// Could it not be processed?
    pub failed: bool,
    /// Does a refusal in it count as an error?
    pub error_on_refusal: bool,
    /// Is it left alone if it has uncommitted changes?
    pub require_clean: bool,
    /// What is checked of it before it is written.
    pub check: Option<Box<Check>>,
    /// What the verification printed.
    pub verified: String,
    /// What its text asks of the header for page-locked memory.
    pub header: PinHeader,
    /// Its target regions, where they are to be explained.
    pub regions: Vec<RegionFacts>,
    /// The device that its grids were chosen for.
    pub device: Option<DeviceProfile>,
    /// What else the user should know.
    pub notes: Vec<String>,
    /// Which headers were not found, where something was refused.
    pub missing: Option<String>,
}

impl Processed {
    /// A file that could not be processed.
    pub(super) fn failure(file: SourceFile, code: Option<ReasonCode>, message: String) -> Self {
        let report = FileReport::failure(file, code, message);
        let header = PinHeader::NotNeeded;
        let verified = String::new();
        let (notes, missing) = (Vec::new(), None);
        Self {
            report,
            text: None,
            failed: true,
            error_on_refusal: false,
            require_clean: false,
            check: None,
            verified,
            header,
            regions: Vec::new(),
            device: None,
            notes,
            missing,
        }
    }
}

/// Reads and processes a file.
pub(super) fn path(path: &Path, settings: &Settings, engine: Engine) -> Processed {
    if let Some(message) = inputs::not_a_source(path) {
        return Processed::failure(SourceFile::new(path, Vec::new()), Some(ReasonCode::Unreadable), message);
    }
    let limits = Limits::default();
    match headers::read_bounded(path, u64::try_from(limits.bytes).unwrap_or(u64::MAX)) {
        Ok(text) => file(SourceFile::new(path, text), settings, engine),
        Err(error) => {
            let message = format!("cannot be read: {error}");
            Processed::failure(SourceFile::new(path, Vec::new()), Some(ReasonCode::Unreadable), message)
        }
    }
}

/// Processes a file in memory.
pub(super) fn file(file: SourceFile, settings: &Settings, engine: Engine) -> Processed {
    let mut notes = Vec::new();
    let mut loaded = Loaded::default();
    if mentions_target(&file.text) || includes_others(&file.text) {
        loaded = headers::load(&file, &settings.include_dirs, &settings.sources);
    }
    if !mentions_target(&file.text) && !loaded.files.iter().any(|header| mentions_target(&header.text)) {
        loaded = Loaded::default();
    } else {
        notes.extend(
            settings.found_database.as_ref().map(|path| format!("compiler flags are those of {}", path.display())),
        );
    }
    let mut outcome = match rewrite(&file, &loaded.files, settings, engine, &mut notes) {
        Ok(outcome) => outcome,
        Err((code, message)) => return Processed::failure(file, code, message),
    };
    notes.extend(stale(&file, outcome.text.as_deref(), &loaded.files, settings));
    missing_headers::name_in(&mut outcome.plans, &file.path, &loaded.missing);
    let text = outcome.text.filter(|text| *text != file.text);
    let plan_use = PlanUse {
        consent: options(settings).consent(),
        complete: settings.lines.is_empty() && settings.passes.passes.cover_default(),
    };
    let scan = if mentions_suppression(&file.text) { scan(&file.text) } else { Scan::default() };
    let report = FileReport::new(file, &scan, outcome.plans, text.is_some(), plan_use);
    let failed = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let text = text.filter(|_| !failed);
    let header = match failed {
        true => PinHeader::NotNeeded,
        false => PinHeader::of(&report.file, text.as_deref(), settings),
    };
    let refused = Some(&loaded.missing).filter(|_| report.has_refusal());
    let missing = refused.and_then(|missing| missing_headers::note(&report.file.path, missing));
    let regions = match settings.explain {
        true => crate::engine::regions(&report.file, &loaded.files, &options(settings)).unwrap_or_default(),
        false => Vec::new(),
    };
    let device = settings.device.clone();
    let (check, verified) = (Check::of(settings), String::new());
    let (error_on_refusal, require_clean) = (settings.error_on_refusal, settings.require_clean);
    Processed {
        report,
        text,
        failed,
        error_on_refusal,
        require_clean,
        check,
        verified,
        header,
        regions,
        device,
        notes,
        missing,
    }
}

/// Runs the engine; a fault in it becomes a message, so that an editor's buffer is never lost.
fn rewrite(
    file: &SourceFile,
    headers: &[SourceFile],
    settings: &Settings,
    engine: Engine,
    notes: &mut Vec<String>,
) -> Result<Outcome, (Option<ReasonCode>, String)> {
    let mut options = options(settings);
    let asks_engine = || {
        engine(file, headers, &options).or_else(|error| match error {
            EngineError::NotCompiled(why) => {
                notes.push(format!("{}: only its text counts, since {why}", file.path.display()));
                options.facts = None;
                engine(file, headers, &options)
            }
            other => Err(other),
        })
    };
    match catch_unwind(AssertUnwindSafe(asks_engine)) {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(error)) => Err((error_code(&error), error.to_string())),
        Err(_) => {
            Err((Some(ReasonCode::ValidationFailed), "this tool failed on the file, which is left as it is".to_owned()))
        }
    }
}

/// What the driver may do with a file by its settings.
pub(super) fn options(settings: &Settings) -> Options {
    let flags = || settings.compiler.flags.clone().into();
    Options {
        passes: settings.passes.passes.clone(),
        assume: settings.assume,
        reassociate: settings.reassociate,
        assumed_iterations: settings.assumed_iterations,
        device_memory: settings.device_memory,
        versioned: settings.versioned,
        retune: settings.retune,
        pipeline: PipelineOptions {
            before_51: settings.compiler.is_before_openmp_51(),
            without_extensions: settings.compiler.forbids_openmp_extensions(),
            counts_nests_in_32_bits: settings.compiler.has_optimistic_collapse(),
            ..settings.pipeline
        },
        device: settings.device.clone(),
        lines: settings.lines.clone(),
        explain: settings.explain,
        limits: Limits::default(),
        facts: (settings.facts == Facts::Clang).then(flags),
        definitions: settings.compiler.definitions().into(),
        signed_wraps: settings.compiler.has_wrapping_integers(),
        strict_aliasing: settings.compiler.has_strict_aliasing(),
        arithmetic: settings.compiler.arithmetic(),
        resources: (settings.resources == Resources::Clang).then(flags),
        instructions: settings.instructions.clone(),
        earlier: settings.earlier.clone(),
    }
}

/// Notes about entries of tuned kernels whose loops are neither in the file nor in its new text.
fn stale(file: &SourceFile, new: Option<&[u8]>, headers: &[SourceFile], settings: &Settings) -> Vec<String> {
    if settings.tuned.is_empty() {
        return Vec::new();
    }
    let options = Options { facts: None, resources: None, ..options(settings) };
    let kernels = |file: &SourceFile| crate::engine::kernels(file, headers, &options, &[]).unwrap_or_default();
    let mut held = kernels(file);
    held.extend(new.map(|text| kernels(&SourceFile::new(file.path.clone(), text.to_vec()))).unwrap_or_default());
    tuned::stale(&settings.tuned, &file.path, &held)
}

/// Can the text include files of the project?
fn includes_others(text: &[u8]) -> bool {
    memmem::find(text, b"include").is_some()
}

/// Can the text hold a comment that suppresses something? Most files need not be scanned for one.
fn mentions_suppression(text: &[u8]) -> bool {
    memmem::find(text, b"NOLINT").is_some() || memmem::find(text, b"ompsplit").is_some()
}
