//! SARIF 2.1.0 (OASIS), the exchange format of static analysis results.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::plan::{ReasonCode, RuleKind};
use crate::report::{Diagnostic, FileReport, Kind, Severity};
use crate::source::{SourceFile, Span};

/// The rule id of the results that say what was changed; SARIF wants one for every result.
const CHANGE: &str = "change";

/// The same of the results that say what a profile tells of a kernel.
const ADVICE: &str = "advice";

/// Where to read on: the homepage that `Cargo.toml` names. As long as it names none, what the rules go by: readers of SARIF want an address,
/// and none is invented here.
const HOME: &str = match env!("CARGO_PKG_HOMEPAGE").is_empty() {
    true => "https://www.openmp.org/specifications/",
    false => env!("CARGO_PKG_HOMEPAGE"),
};

/// Writes one log with one run.
pub(super) fn write(out: &mut dyn Write, reports: &[&FileReport]) -> io::Result<()> {
    let rules = rules(reports);
    let placed = reports.iter().flat_map(|report| report.diagnostics.iter().map(move |d| (report, d)));
    let results: Vec<Value> = placed.clone().filter_map(|(report, d)| result(report, d, &rules)).collect();
    let failures: Vec<Value> = placed.filter_map(|(report, d)| failure(report, d)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ompsplit",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": HOME,
                "rules": rules.keys().map(|id| rule(id)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": failures.is_empty(),
                "toolExecutionNotifications": failures,
            }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// The rules that results cite, in the order of their ids, each with its index.
fn rules(reports: &[&FileReport]) -> BTreeMap<&'static str, usize> {
    let cited = reports.iter().flat_map(|report| report.diagnostics.iter().filter_map(rule_id));
    let mut rules: BTreeMap<&'static str, usize> = cited.map(|id| (id, 0)).collect();
    for (index, slot) in rules.values_mut().enumerate() {
        *slot = index;
    }
    rules
}

/// The rule of a result. `None` for a failure, which is no result.
fn rule_id(diagnostic: &Diagnostic) -> Option<&'static str> {
    match diagnostic.kind {
        Kind::Change => Some(CHANGE),
        Kind::Advice => Some(ADVICE),
        Kind::Rule(_) => diagnostic.code.map(ReasonCode::id),
        Kind::Failure => None,
    }
}

/// The description of a rule.
fn rule(id: &str) -> Value {
    let Some(code) = ReasonCode::from_id(id) else {
        let (name, short, text) = match id {
            ADVICE => (
                "ProfiledKernel",
                "A profile tells what limits the kernel.",
                "A profile tells what limits the kernel, and what to try.",
            ),
            _ => (
                "RewrittenConstruct",
                "The construct is rewritten.",
                "The construct is rewritten, so that its kernels use the whole device.",
            ),
        };
        return json!({
            "id": id,
            "name": name,
            "shortDescription": { "text": short },
            "fullDescription": { "text": text },
            "help": { "text": text, "markdown": text },
            "helpUri": HOME,
            "defaultConfiguration": { "level": "note" },
        });
    };
    let page = code.page();
    let level = match code.kind() {
        RuleKind::Refusal => Severity::Warning,
        RuleKind::Error => Severity::Error,
        RuleKind::DoesNotPay | RuleKind::Assumption | RuleKind::Note => Severity::Note,
    };
    json!({
        "id": id,
        "name": format!("{code:?}"),
        "shortDescription": { "text": sentence(code.title()) },
        "fullDescription": { "text": page.split("\n\n").next().unwrap_or_default().replace('\n', " ") },
        "help": { "text": page, "markdown": page },
        "helpUri": HOME,
        "defaultConfiguration": { "level": self::level(level) },
    })
}

/// A title as a sentence of its own.
fn sentence(title: &str) -> String {
    let mut chars = title.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// One result. `None` for a failure.
fn result(report: &FileReport, diagnostic: &Diagnostic, rules: &BTreeMap<&str, usize>) -> Option<Value> {
    let id = rule_id(diagnostic)?;
    let further: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|(span, word)| {
            let mut location = location(report, Some(*span));
            set(&mut location, "message", json!({ "text": word }));
            location
        })
        .collect();
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": rules.get(id),
        "level": level(diagnostic.severity),
        "kind": if diagnostic.severity == Severity::Help { "informational" } else { "fail" },
        "message": { "text": sentence(&diagnostic.message) },
        "locations": [location(report, diagnostic.span)],
        "relatedLocations": further,
    });
    if diagnostic.severity == Severity::Help {
        // A level other than "none" belongs to results of the kind "fail" alone (section 3.27.10).
        set(&mut result, "level", json!("none"));
    }
    if let Some(fix) = fix(report, diagnostic) {
        set(&mut result, "fixes", json!([fix]));
    }
    Some(result)
}

/// A file that could not be processed.
fn failure(report: &FileReport, diagnostic: &Diagnostic) -> Option<Value> {
    (diagnostic.kind == Kind::Failure).then(|| {
        json!({
            "level": "error",
            "message": { "text": diagnostic.message },
            "locations": [location(report, None)],
        })
    })
}

/// The edits of a change.
fn fix(report: &FileReport, diagnostic: &Diagnostic) -> Option<Value> {
    let plan = report.plan_of(diagnostic).filter(|plan| diagnostic.kind == Kind::Change && !plan.edits.is_empty())?;
    let replacements: Vec<Value> = plan
        .edits
        .iter()
        .map(|edit| json!({ "deletedRegion": region(&report.file, edit.span), "insertedContent": { "text": edit.text } }))
        .collect();
    Some(json!({
        "description": { "text": plan.summary },
        "artifactChanges": [{ "artifactLocation": artifact(report), "replacements": replacements }],
    }))
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Help | Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A place in the file, or the file itself.
fn location(report: &FileReport, span: Option<Span>) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(report) });
    if let Some(span) = span {
        set(&mut physical, "region", region(&report.file, span));
    }
    json!({ "physicalLocation": physical })
}

/// The file as a URI reference, relative if the path is.
fn artifact(report: &FileReport) -> Value {
    let path = report.file.path.to_string_lossy().replace('\\', "/");
    let uri: String = path.bytes().map(escaped).collect();
    let uri = if path.starts_with('/') { format!("file://{uri}") } else { uri };
    json!({ "uri": uri })
}

/// A byte as it stands in the path of a URI (RFC 3986, section 3.3).
fn escaped(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~/+@!$&'()*,;=".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

fn region(file: &SourceFile, span: Span) -> Value {
    let (start_line, start_column) = place(file, span.start);
    let (end_line, end_column) = place(file, span.end);
    json!({
        "startLine": start_line, "startColumn": start_column,
        "endLine": end_line, "endColumn": end_column,
        "byteOffset": span.start, "byteLength": span.len(),
    })
}

/// Line and column from 1, the column in characters as SARIF wants it.
fn place(file: &SourceFile, offset: usize) -> (usize, usize) {
    let place = file.lines.line_column(offset);
    let start = file.lines.line_start(place.line).unwrap_or(0);
    (place.line, file.show(Span::new(start, offset)).chars().count() + 1)
}

/// Sets a field of an object.
fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.insert(field.to_owned(), value);
    }
}
