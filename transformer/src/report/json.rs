//! One JSON object for a whole run.
//!
//! ```text
//! { "version": 1,                          counted up when a field changes its meaning or goes
//!   "files": [ { "path", "changed" } ],    every file that was looked at, in order
//!   "diagnostics": [ {
//!     "file": "a.c",
//!     "range": { "start": POSITION, "end": POSITION },   null where the whole file is meant; the end is exclusive
//!     "code": "OMPS104",                   null for a change, and where no rule is at fault
//!     "kind": "change" | "refusal" | "does-not-pay" | "assumption" | "note" | "error",
//!     "severity": "help" | "note" | "warning" | "error",
//!     "message": "..",
//!     "decision": "apply" | "nothing-to-do" | "does-not-pay" | "refuse",   this and the next four: null without a construct
//!     "pass": "split",
//!     "applicability": "safe" | "assumed" | "reassociated" | "display-only",   null unless the decision is "apply"
//!     "summary": "split into 3 kernels inside one target data",
//!     "kernels": { "before": 1, "after": 3 },
//!     "labels": [ { "range", "message" } ],
//!     "notes": [ ".." ],
//!     "edits": [ { "range", "text" } ]     of a change; in the original text, disjoint and in order
//!   } ] }
//! POSITION: { "line", "column", "byte" }   line and column from 1, the column in bytes; byte from 0
//! ```

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::plan::{Applicability, Decision};
use crate::report::{Diagnostic, FileReport, Kind};
use crate::source::{SourceFile, Span};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    files: Vec<File<'a>>,
    diagnostics: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: Cow<'a, str>,
    changed: bool,
}

#[derive(Serialize)]
struct Entry<'a> {
    file: Cow<'a, str>,
    range: Option<Range>,
    code: Option<&'static str>,
    kind: &'static str,
    severity: &'static str,
    message: &'a str,
    decision: Option<&'static str>,
    pass: Option<&'static str>,
    applicability: Option<&'static str>,
    summary: Option<&'a str>,
    kernels: Option<Kernels>,
    labels: Vec<LabelEntry<'a>>,
    notes: &'a [String],
    edits: Vec<EditEntry<'a>>,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: usize,
    column: usize,
    byte: usize,
}

#[derive(Serialize)]
struct Kernels {
    before: usize,
    after: usize,
}

#[derive(Serialize)]
struct LabelEntry<'a> {
    range: Range,
    message: &'a str,
}

#[derive(Serialize)]
struct EditEntry<'a> {
    range: Range,
    text: &'a str,
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
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
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
