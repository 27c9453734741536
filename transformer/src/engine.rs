//! The only driver: parse, plan, edit, validate, again until nothing changes.

mod arrangements;
mod decided;
mod earlier;
mod hidden_declarations;
mod hidden_words;
mod joined;
mod kernels;
mod later_rounds;
mod options;
mod parsing;
mod passed_over;
mod passes;
mod readings;
mod tuned;
mod unclear_text;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use self::earlier::Changed;
pub use self::kernels::{Kernel, kernels};
pub use self::options::Options;
pub use self::parsing::Parsed;
pub use self::passes::{DEFAULT, Passes};

use self::decided::Defined;
use self::earlier::is_changed;
use self::joined::Joined;
use self::later_rounds::Rounds;
use self::parsing::FileReader;
use self::readings::Readings;
use crate::analysis::data_environment::{Entry, data_environment};
use crate::analysis::execution_mode::{Predicted, execution_mode};
use crate::context::{Context, DEVICE_MEMORY, Explanations};
use crate::device::CountedKernel;
use crate::edit::EditSet;
use crate::plan::suppression::Suppressions;
use crate::plan::{Decision, Pass, Plan, Reason, ReasonCode, select};
use crate::region::target::target_regions;
use crate::semantics::facts::Facts;
use crate::semantics::{Compilation, Program};
use crate::source::{SourceFile, Span, mentions_target};
use crate::syntax::HostError;
use crate::transforms::{TRANSFORMS, Waiting, chooses_grids};
use crate::validate;
use crate::validate::clang::VerifyError;

/// Conflicting plans wait for the next round; more rounds than this mean that a transformation does not settle.
const MOST_ROUNDS: usize = 16;

/// The result for one file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The new text. `None` if nothing changes.
    pub text: Option<Vec<u8>>,
    /// Every plan of the first round, and the plans of later rounds for the text that it wrote ([`Plan::follows`]), in
    /// the order of the text.
    pub plans: Vec<Plan>,
}

/// Why a file was not processed; it is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The host text could not be read.
    Host(HostError),
    /// A compiler could not be asked about the names; the text says why.
    Facts(String),
    /// A compiler that was asked about the names does not compile the file; the text gives the first error.
    NotCompiled(String),
    /// The resources of the kernels could not be counted; the text says why.
    Resources(String),
    /// The new text failed a check of this tool, which is a fault of the tool. The text says which check.
    Validation(String),
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host(error) => write!(f, "{error}"),
            Self::Facts(why) | Self::NotCompiled(why) => write!(f, "{why}"),
            Self::Resources(why) => write!(f, "the registers of its kernels are not known: {why}"),
            Self::Validation(what) => write!(f, "the result failed validation and was not written: {what}"),
        }
    }
}

impl std::error::Error for EngineError {}

/// Rewrites one file in memory. `headers` are the project's files it includes.
///
/// # Errors
/// When the file cannot be read, or the result fails validation.
pub fn run(file: &SourceFile, headers: &[SourceFile], options: &Options) -> Result<Outcome, EngineError> {
    let headers = &read_headers(file, headers, options);
    let mut reader = FileReader::new(options.limits, headers, &options.definitions);
    let Some(first) = round(file, headers, options, &|extent| is_changed(options.earlier.iter(), extent), &mut reader)?
    else {
        return Ok(Outcome { text: None, plans: Vec::new() });
    };
    if first.edits.is_empty() {
        return Ok(Outcome { text: None, plans: first.plans });
    }
    let mut text = first.edits.apply(&file.text);
    let mut problems = first.problems;
    let mut rounds = Rounds::new(first.plans, &first.chosen, &first.edits);
    for _ in 0..MOST_ROUNDS {
        let next_file = SourceFile::new(file.path.clone(), text.clone());
        let later = Options { lines: Vec::new(), ..options.clone() };
        let next =
            round(&next_file, headers, &later, &|extent| rounds.is_changed(&options.earlier, extent), &mut reader);
        let next = next.map_err(|error| match error {
            EngineError::Facts(why) | EngineError::NotCompiled(why) => EngineError::Validation(why),
            other => other,
        })?;
        let Some(next) = next else { return Err(EngineError::Validation("all directives were lost".to_owned())) };
        for (before, after) in problems.iter().zip(&next.problems).filter_map(|(before, after)| before.zip(*after)) {
            validate::no_new_problems(before, after).map_err(EngineError::Validation)?;
        }
        problems = next.problems;
        if !options.lines.is_empty() {
            // Constructs outside of the range of lines are not changed in later rounds either.
            return Ok(Outcome { text: Some(text), plans: rounds.into_plans() });
        }
        rounds.add(next.plans, &next.chosen, &next.edits);
        if next.edits.is_empty() {
            return Ok(Outcome { text: Some(text), plans: rounds.into_plans() });
        }
        text = next.edits.apply(&text);
    }
    Err(EngineError::Validation("the result does not settle".to_owned()))
}

/// The headers as the compiler reads them: without branches that are known not to be taken.
fn read_headers<'a>(file: &SourceFile, headers: &'a [SourceFile], options: &Options) -> Cow<'a, [SourceFile]> {
    let is_asked = mentions_target(&file.text) || headers.iter().any(|header| mentions_target(&header.text));
    match is_asked {
        true => Defined::of(file, headers, &options.definitions).headers(headers).into(),
        false => headers.into(),
    }
}

/// The texts that a file is read as: see [`readings`]. The file itself where no macro and no `#if` hides what a construct is.
///
/// # Errors
/// When the file cannot be read.
pub fn texts(file: &SourceFile, headers: &[SourceFile], options: &Options) -> Result<Vec<SourceFile>, EngineError> {
    let headers = read_headers(file, headers, options);
    let mut reader = FileReader::new(options.limits, &headers, &options.definitions);
    let readings = Readings::of(file, &headers, &options.definitions, &mut reader).map_err(EngineError::Host)?;
    Ok(readings.texts.into_iter().map(|reading| reading.file.into_owned()).collect())
}

/// What one round decided.
struct Round {
    plans: Vec<Plan>,
    /// The indices of the plans whose edits are made.
    chosen: Vec<usize>,
    edits: EditSet,
    /// What is wrong with each text that the file may be read as; nothing is known of those without directives for a device.
    problems: Vec<Option<validate::Problems>>,
}

fn round(
    file: &SourceFile,
    headers: &[SourceFile],
    options: &Options,
    is_changed: &dyn Fn(Span) -> bool,
    reader: &mut FileReader,
) -> Result<Option<Round>, EngineError> {
    let is_asked = |extent: Span| in_range(file, extent, &options.lines);
    let asking = Asking { is_asked: &is_asked, is_changed };
    let with_headers = with_headers(file, headers, options, asking, reader);
    let is_left = |pass: &Pass| with_headers.is_none() || !sees_headers(*pass);
    let passes: Vec<Pass> = options.passes.iter().filter(is_left).collect();
    let Decided { mut plans, problems } = decided(file, headers, options, &passes, asking, reader)?;
    if let Some(found) = with_headers {
        plans.extend(found);
        plans.sort_by_key(|plan| plan.span.start);
        wait_for_others(&mut plans, options);
    }
    if problems.iter().all(Option::is_none) && plans.is_empty() {
        return Ok(None);
    }
    let (edits, chosen) = select::select(&plans, options.consent());
    Ok(Some(Round { plans, chosen, edits, problems }))
}

/// What a round asks about parts of its text.
#[derive(Clone, Copy)]
struct Asking<'a> {
    /// Is a decision on it wanted?
    is_asked: &'a dyn Fn(Span) -> bool,
    /// Did an earlier round change it, by another pass than `geometry`?
    is_changed: &'a dyn Fn(Span) -> bool,
}

/// What passes decide of one file.
struct Decided {
    plans: Vec<Plan>,
    /// What is wrong with each text that the file may be read as; nothing is known of those without directives for a device.
    problems: Vec<Option<validate::Problems>>,
}

/// What `passes` decide of a file, where it is asked.
fn decided(
    file: &SourceFile,
    headers: &[SourceFile],
    options: &Options,
    passes: &[Pass],
    asking: Asking<'_>,
    reader: &mut FileReader,
) -> Result<Decided, EngineError> {
    let readings = Readings::of(file, headers, &options.definitions, reader).map_err(EngineError::Host)?;
    let suppressions = Suppressions::read(file, &readings.scan);
    let mut found = of_readings(readings, headers, options, passes, asking, (&suppressions, reader))?;
    // What clang says of names, it says of the one arrangement that its flags ask for.
    let refused = arrangements::refused(&found.plans);
    if options.facts.is_none() && !refused.is_empty() {
        let parts: Vec<Span> = refused.iter().map(|(_, extent)| *extent).collect();
        let passes: Vec<Pass> =
            passes.iter().copied().filter(|pass| refused.iter().any(|(other, _)| other == pass)).collect();
        let all = Readings::arrangements(file, headers, &options.definitions, &parts, reader);
        if let Some(all) = all.map_err(EngineError::Host)? {
            let other = of_readings(all, headers, options, &passes, asking, (&suppressions, reader))?;
            found.plans = arrangements::better(found.plans, other.plans);
            wait_for_others(&mut found.plans, options);
        }
    }
    Ok(found)
}

/// What passes decide of all texts that a file is read as.
fn of_readings(
    mut readings: Readings<'_>,
    headers: &[SourceFile],
    options: &Options,
    passes: &[Pass],
    asking: Asking<'_>,
    (suppressions, reader): (&Suppressions, &mut FileReader),
) -> Result<Decided, EngineError> {
    let mut of_texts = Vec::new();
    let mut problems = Vec::new();
    for reading in &mut readings.texts {
        let parsed = reading.parsed(reader).map_err(EngineError::Host)?;
        problems.push(
            parsed.as_ref().map(|parsed| validate::problems(&reading.file.text, &parsed.tree, &parsed.constructs)),
        );
        let Some(parsed) = parsed else {
            of_texts.push(Vec::new());
            continue;
        };
        let asked = Asked { facts: facts(&reading.file, options)?, counted: counted(&reading.file, &parsed, options)? };
        let is_wanted = |extent: Span| (asking.is_asked)(reading.place(extent));
        let is_changed = |extent: Span| (asking.is_changed)(reading.place(extent));
        let is_told = |plan: &Plan| is_wanted(plan.extent) && !suppressions.is_off(reading.place(plan.extent));
        let context = context(
            &reading.file,
            reading.headers.as_deref().unwrap_or(headers),
            &parsed,
            options,
            &asked,
            Asking { is_asked: &is_wanted, is_changed: &is_changed },
        );
        of_texts.push(plans(&context, options, passes, is_told));
    }
    Ok(Decided { plans: readings.agreed(of_texts), problems })
}

/// What the passes that go by the whole program decide of a file together with its headers, in terms of the file. `None` where these are
/// not seen; what a compiler says of names is about the file as it is.
fn with_headers(
    file: &SourceFile,
    headers: &[SourceFile],
    options: &Options,
    asking: Asking<'_>,
    reader: &mut FileReader,
) -> Option<Vec<Plan>> {
    let passes: Vec<Pass> = options.passes.iter().filter(|pass| sees_headers(*pass)).collect();
    // Reading all of it a second time costs as much as the first: it is done for the constructs and functions in headers.
    let has_own = mentions_target(&file.text);
    let is_needed = |header: &SourceFile| mentions_target(&header.text) || has_own && has_bodies(&header.text);
    let have_code = headers.iter().any(is_needed);
    let may_see = have_code && !passes.is_empty() && options.facts.is_none();
    let joined = may_see.then(|| Joined::of(file, headers, &options.definitions, &options.limits))??;
    let is_asked = |extent: Span| !joined.is_of_header(extent) && (asking.is_asked)(joined.place(extent));
    let is_changed = |extent: Span| !joined.is_of_header(extent) && (asking.is_changed)(joined.place(extent));
    let asking = Asking { is_asked: &is_asked, is_changed: &is_changed };
    // A text that is too large with its headers is read without them.
    let found = decided(&joined.file, &joined.others, options, &passes, asking, reader).ok()?;
    Some(found.plans.into_iter().filter_map(|plan| joined.plan(plan)).collect())
}

/// May a text define functions: does a brace follow a parenthesis?
fn has_bodies(text: &[u8]) -> bool {
    let mut last = b' ';
    text.iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .any(|byte| std::mem::replace(&mut last, *byte) == b')' && *byte == b'{')
}

fn sees_headers(pass: Pass) -> bool {
    TRANSFORMS.iter().any(|transform| transform.pass == pass && transform.sees_headers)
}

/// Every plan of the chosen passes, in the order of the text, without those that are suppressed or out of range.
fn plans(context: &Context<'_>, options: &Options, passes: &[Pass], is_asked: impl Fn(&Plan) -> bool) -> Vec<Plan> {
    let mut plans = Vec::new();
    for transform in TRANSFORMS.iter().filter(|transform| passes.contains(&transform.pass)) {
        if let Some(plan) = transform.plan {
            plans.extend(plan(context));
        }
    }
    let first = options.passes.iter().next().filter(|pass| passes.contains(pass));
    plans.extend(first.into_iter().flat_map(|pass| passed_over::refusals(context, pass)));
    plans.retain(is_asked);
    tuned::keep(&mut plans, context);
    if let Some(explanations) = &context.explanations {
        for plan in &mut plans {
            plan.details = explanations.take(plan.pass, plan.extent);
        }
    }
    plans.sort_by_key(|plan| plan.span.start);
    wait_for_others(&mut plans, options);
    refuse_disagreements(&mut plans, context);
    unclear_text::refuse(&mut plans, context);
    hidden_words::refuse(&mut plans, context);
    plans
}

/// Leaves out the plans that give way to another pass, or wait until it has changed the same place: see [`Plan::yields_to`] and
/// [`crate::transforms::Transform::waits_for`].
fn wait_for_others(plans: &mut Vec<Plan>, options: &Options) {
    let is_written = |plan: &Plan| plan.decision.is_written(options.consent());
    let changed_in = |plans: &[Plan]| -> Vec<(Pass, Span)> {
        plans.iter().filter(|plan| is_written(plan)).map(|plan| (plan.pass, plan.extent)).collect()
    };
    let touches = |plan: &Plan, extent: Span| plan.extent.contains(extent) || extent.contains(plan.extent);
    let changed = changed_in(plans);
    plans.retain(|plan| !changed.iter().any(|(pass, extent)| plan.yields_to == Some(*pass) && touches(plan, *extent)));
    let changed = changed_in(plans);
    plans.retain(|plan| {
        let waiting = Waiting { is_written: is_written(plan), for_device: options.device.is_some() };
        let transform = TRANSFORMS.iter().find(|transform| transform.pass == plan.pass);
        let waits_for = transform.map_or(&[][..], |transform| (transform.waits_for)(waiting));
        !changed.iter().any(|(pass, extent)| waits_for.contains(pass) && touches(plan, *extent))
    });
}

/// If the compiler reads a name otherwise than this tool, nothing that follows from the text is certain.
fn refuse_disagreements(plans: &mut [Plan], context: &Context<'_>) {
    if context.compilation.facts.is_none() {
        return;
    }
    let symbols = context.symbols();
    for plan in plans.iter_mut().filter(|plan| matches!(plan.decision, Decision::Apply(_))) {
        let Some(found) = symbols.disagreement(plan.extent) else { continue };
        let message = format!("`{}` is not what the compiler takes it for", found.name);
        let mut reason = Reason::new(ReasonCode::FactsDisagree, found.span, message);
        reason.labels.extend(found.declared_at.map(|at| (at, "declared here by the text".to_owned())));
        plan.refuse(reason);
    }
}

/// What compilers reported about one text.
#[derive(Default)]
struct Asked {
    /// What clang knows about its names.
    facts: Option<Facts>,
    /// The resources of kernels, by the line of the directive.
    counted: BTreeMap<usize, CountedKernel>,
}

/// What clang knows about the names of a text, if it is asked. Each round asks again, so that its decisions are those
/// of a separate run over its text.
fn facts(file: &SourceFile, options: &Options) -> Result<Option<Facts>, EngineError> {
    let asked = options.facts.as_ref().map(|flags| validate::clang::facts(&file.path, &file.text, flags));
    asked.transpose().map_err(|error| match error {
        VerifyError::Facts(_) => EngineError::NotCompiled(error.to_string()),
        _ => EngineError::Facts(error.to_string()),
    })
}

/// The resources of the kernels that clang counts, if it is asked and a grid may be chosen.
fn counted(
    file: &SourceFile,
    parsed: &Parsed,
    options: &Options,
) -> Result<BTreeMap<usize, CountedKernel>, EngineError> {
    let is_asked = options.device.is_some() && options.passes.contains(Pass::Geometry);
    let Some(flags) = options.resources.as_ref().filter(|_| is_asked) else { return Ok(BTreeMap::new()) };
    if !chooses_grids(&parsed.tree, &parsed.constructs) {
        return Ok(BTreeMap::new());
    }
    let failed = |error: VerifyError| EngineError::Resources(error.to_string());
    validate::clang::kernel_resources(&file.path, &file.text, flags).map_err(failed)
}

fn context<'a>(
    file: &'a SourceFile,
    headers: &'a [SourceFile],
    parsed: &'a Parsed,
    options: &'a Options,
    asked: &'a Asked,
    asking: Asking<'a>,
) -> Context<'a> {
    let Parsed { scan, tree, constructs } = parsed;
    let Options { assumed_iterations, versioned, retune, pipeline, strict_aliasing, signed_wraps, arithmetic, .. } =
        *options;
    let (facts, definitions) = (asked.facts.as_ref(), &*options.definitions);
    let compilation = Compilation { headers, definitions, facts, strict_aliasing, signed_wraps };
    let profile = options.device.as_ref();
    let half = profile.and_then(|profile| profile.memory_bytes).map(|bytes| bytes / 2);
    let device_memory = options.device_memory.or(half).unwrap_or(DEVICE_MEMORY);
    Context {
        program: Program::new(file, scan, tree, constructs, compilation),
        assumed_iterations,
        device_memory,
        assumes: options.assume,
        versioned,
        retune,
        confined: options.passes.confined(),
        collapses: options.passes.contains(Pass::Collapse),
        pipeline,
        arithmetic,
        device: profile.filter(|_| options.passes.contains(Pass::Geometry)),
        profile,
        counted: &asked.counted,
        instructions: &options.instructions,
        explanations: options.explain.then(Explanations::default),
        is_wanted: asking.is_asked,
        is_changed: asking.is_changed,
    }
}

fn in_range(file: &SourceFile, extent: Span, lines: &[(usize, usize)]) -> bool {
    let first = file.lines.line_column(extent.start).line;
    let last = file.lines.line_column(extent.end.saturating_sub(1)).line;
    lines.is_empty() || lines.iter().any(|(from, to)| first <= *to && *from <= last)
}

/// The facts about one target region, for people.
#[derive(Clone, Debug)]
pub struct RegionFacts {
    /// From its outermost directive to the end of its body.
    pub extent: Span,
    /// Each statement of the region with a few words that describe it. For a region that is only a loop, that loop.
    pub segments: Vec<(Span, String)>,
    /// How the threads of its kernel begin.
    pub mode: Predicted,
    /// The variables that it names.
    pub data: Vec<Entry>,
}

/// The target regions of a file, in the order of the text.
///
/// # Errors
/// When the file cannot be read within the limits.
pub fn regions(file: &SourceFile, headers: &[SourceFile], options: &Options) -> Result<Vec<RegionFacts>, HostError> {
    let headers = &read_headers(file, headers, options);
    let mut reader = FileReader::new(options.limits, headers, &options.definitions);
    let mut readings = Readings::of(file, headers, &options.definitions, &mut reader)?;
    // What is shown of a region is what the first text says.
    let Some(reading) = readings.texts.first_mut() else { return Ok(Vec::new()) };
    let Some(parsed) = reading.parsed(&mut reader)? else { return Ok(Vec::new()) };
    let file = &reading.file;
    let Parsed { tree, constructs, .. } = &parsed;
    // If clang fails, the plans have already reported it.
    let asked = Asked { facts: facts(file, options).unwrap_or_default(), ..Asked::default() };
    let context =
        context(file, headers, &parsed, options, &asked, Asking { is_asked: &|_| true, is_changed: &|_| false });
    let in_file = |entry: Entry| Entry { span: reading.place(entry.span), ..entry };
    let facts = target_regions(tree, constructs).into_iter().map(|region| RegionFacts {
        extent: reading.place(region.extent),
        segments: region
            .describe(tree, constructs)
            .into_iter()
            .map(|(span, word)| (reading.place(span), word))
            .collect(),
        mode: execution_mode(tree, constructs, &region),
        data: data_environment(file, tree, constructs, context.symbols(), &region).into_iter().map(in_file).collect(),
    });
    Ok(facts.collect())
}

/// The rule that an error of the engine cites. `None` if the flags or the compiler are at fault.
#[must_use]
pub fn error_code(error: &EngineError) -> Option<ReasonCode> {
    match error {
        EngineError::Host(_) => Some(ReasonCode::Unreadable),
        EngineError::Facts(_) | EngineError::NotCompiled(_) => None,
        EngineError::Resources(_) | EngineError::Validation(_) => Some(ReasonCode::ValidationFailed),
    }
}

/// Every reason of every plan that refuses, for callers that only count.
pub fn refusals(plans: &[Plan]) -> impl Iterator<Item = &Reason> {
    plans.iter().filter(|plan| plan.decision == Decision::Refuse).flat_map(|plan| &plan.reasons)
}
