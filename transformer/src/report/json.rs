//! One JSON object for a whole run.
//!
//! `ompsplit generate schema output` prints its schema, which the comments of the fields below are part of.

use std::borrow::Cow;
use std::io::{self, Write};

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::plan::{Applicability, Decision, Plan};
use crate::report::{Diagnostic, FileReport, Kind};
use crate::source::{SourceFile, Span};

/// What `--output-format json` writes about a run.
#[derive(JsonSchema, Serialize)]
#[schemars(title = "ompsplit --output-format json")]
struct Document<'a> {
    /// Counted up when a field changes its meaning or goes.
    version: u32,
    /// Every file that was looked at, in order.
    files: Vec<File<'a>>,
    /// Every reason of every pass, and every change.
    diagnostics: Vec<Entry<'a>>,
    /// The regions in which nothing is left to do, and what takes their time.
    limits: Vec<LimitEntry<'a>>,
}

/// A file that was looked at.
#[derive(JsonSchema, Serialize)]
struct File<'a> {
    path: Cow<'a, str>,
    changed: bool,
}

/// A message. What is about a construct is null where it is about none.
#[derive(JsonSchema, Serialize)]
struct Entry<'a> {
    file: Cow<'a, str>,
    /// Null where the whole file is meant.
    range: Option<Range>,
    /// The rule, as `OMPS104`; null for a change, and where no rule is at fault.
    code: Option<&'static str>,
    /// `change`, `refusal`, `does-not-pay`, `assumption`, `note`, `advice` or `error`.
    kind: &'static str,
    /// `help`, `note`, `warning` or `error`.
    severity: &'static str,
    message: &'a str,
    /// `apply`, `nothing-to-do`, `does-not-pay` or `refuse`.
    decision: Option<&'static str>,
    /// The short name of the pass.
    pass: Option<&'static str>,
    /// `safe`, `assumed` or `display-only`; null unless the decision is `apply`.
    applicability: Option<&'static str>,
    /// What is done, in a line.
    summary: Option<&'a str>,
    kernels: Option<Kernels>,
    /// How often data travel; null where the pass does not go by that.
    copies: Option<CopiesEntry>,
    /// Further places.
    labels: Vec<LabelEntry<'a>>,
    /// Sentences that follow the message.
    notes: &'a [String],
    /// Of a change: in the original text, disjoint and in order.
    edits: Vec<EditEntry<'a>>,
}

/// A part of a file; the end is exclusive.
#[derive(JsonSchema, Serialize)]
struct Range {
    start: Position,
    end: Position,
}

/// Line and column from 1, the column in bytes; byte from 0.
#[derive(JsonSchema, Serialize)]
struct Position {
    line: usize,
    column: usize,
    byte: usize,
}

/// How many kernels the construct launches.
#[derive(JsonSchema, Serialize)]
struct Kernels {
    before: usize,
    after: usize,
}

/// How often data travel between host and device, each time the code runs: where a loop repeats constructs, in one pass of it before, and in
/// all passes together after. The bytes are null where the text does not tell.
#[derive(JsonSchema, Serialize)]
struct CopiesEntry {
    before: usize,
    after: usize,
    bytes_before: Option<u64>,
    bytes_after: Option<u64>,
}

/// How long a construct is predicted to take as it stands, in microseconds, rounded.
#[derive(JsonSchema, Serialize)]
struct LimitEntry<'a> {
    file: Cow<'a, str>,
    /// The directive.
    range: Range,
    /// `launch`, `device`, `thread` or `one-thread`: what takes the most time.
    by: &'static str,
    launch: u64,
    kernel: u64,
    /// Its grid; null if it is no loop of a league, or clauses are no numbers.
    grid: Option<GridEntry>,
    /// How many iterations its threads share.
    iterations: u64,
    /// Whether that number follows from the text.
    known: bool,
    /// Whether it is the prediction for its grid on the given device, or that of the cost model.
    device: bool,
}

/// Teams, and the threads of each.
#[derive(JsonSchema, Serialize)]
struct GridEntry {
    teams: u64,
    threads: u32,
}

/// A further place with a word about it.
#[derive(JsonSchema, Serialize)]
struct LabelEntry<'a> {
    range: Range,
    message: &'a str,
}

/// A text that takes the place of a range.
#[derive(JsonSchema, Serialize)]
struct EditEntry<'a> {
    range: Range,
    text: &'a str,
}

/// The schema of the object.
pub(super) fn schema() -> Schema {
    schema_for!(Document<'static>)
}

/// Writes the object.
pub(super) fn write(out: &mut dyn Write, reports: &[&FileReport]) -> io::Result<()> {
    let document = Document {
        version: 1,
        files: reports.iter().map(|report| File { path: path(report), changed: report.changed }).collect(),
        diagnostics: reports
            .iter()
            .flat_map(|report| report.diagnostics.iter().map(|diagnostic| entry(report, diagnostic)))
            .collect(),
        limits: reports.iter().flat_map(|report| report.plans.iter().filter_map(|plan| limit(report, plan))).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn limit<'a>(report: &'a FileReport, plan: &Plan) -> Option<LimitEntry<'a>> {
    let limit = plan.limit.filter(|_| !plan.follows)?;
    Some(LimitEntry {
        file: path(report),
        range: range(&report.file, plan.span),
        by: limit.by.name(),
        launch: limit.launch,
        kernel: limit.kernel,
        grid: limit.grid.map(|grid| GridEntry { teams: grid.num_teams, threads: grid.thread_limit }),
        iterations: limit.iterations,
        known: limit.is_known,
        device: limit.on_device,
    })
}

fn path(report: &FileReport) -> Cow<'_, str> {
    report.file.path.to_string_lossy()
}

fn entry<'a>(report: &'a FileReport, diagnostic: &'a Diagnostic) -> Entry<'a> {
    let file = &report.file;
    let plan = report.plan_of(diagnostic);
    let edits = plan.filter(|_| diagnostic.kind == Kind::Change).map(|plan| plan.edits.as_slice()).unwrap_or_default();
    Entry {
        file: path(report),
        range: diagnostic.span.map(|span| range(file, span)),
        code: diagnostic.code.map(|code| code.id()),
        kind: diagnostic.kind.name(),
        severity: diagnostic.severity.name(),
        message: &diagnostic.message,
        decision: plan.map(|plan| decision(plan.decision)),
        pass: plan.map(|plan| plan.pass.name()),
        applicability: plan.and_then(|plan| applicability(plan.decision)),
        summary: plan.map(|plan| plan.summary.as_str()),
        kernels: plan.map(|plan| Kernels { before: plan.kernels.0, after: plan.kernels.1 }),
        copies: plan.and_then(|plan| plan.copies).map(|copies| CopiesEntry {
            before: copies.before,
            after: copies.after,
            bytes_before: copies.bytes.map(|(before, _)| before),
            bytes_after: copies.bytes.map(|(_, after)| after),
        }),
        labels: diagnostic
            .labels
            .iter()
            .map(|(span, message)| LabelEntry { range: range(file, *span), message })
            .collect(),
        notes: &diagnostic.notes,
        edits: edits.iter().map(|edit| EditEntry { range: range(file, edit.span), text: &edit.text }).collect(),
    }
}

fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Apply(_) => "apply",
        Decision::NothingToDo => "nothing-to-do",
        Decision::DoesNotPay => "does-not-pay",
        Decision::Refuse => "refuse",
    }
}

fn applicability(decision: Decision) -> Option<&'static str> {
    match decision {
        Decision::Apply(Applicability::Safe) => Some("safe"),
        Decision::Apply(Applicability::Assumed) => Some("assumed"),
        Decision::Apply(Applicability::Reassociated { .. }) => Some("reassociated"),
        Decision::Apply(Applicability::DisplayOnly) => Some("display-only"),
        Decision::NothingToDo | Decision::DoesNotPay | Decision::Refuse => None,
    }
}

fn range(file: &SourceFile, span: Span) -> Range {
    Range { start: position(file, span.start), end: position(file, span.end) }
}

fn position(file: &SourceFile, byte: usize) -> Position {
    let place = file.lines.line_column(byte);
    Position { line: place.line, column: place.column, byte }
}
