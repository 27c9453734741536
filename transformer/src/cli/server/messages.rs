//! What an editor marks in a text: one message for each construct, as for people.

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
};

use crate::cli::process::Processed;
use crate::cli::server::document::Document;
use crate::report::{self, Kind, Severity, Told};

/// The messages of a text.
pub(super) fn of(document: &Document, processed: &Processed, is_quiet: bool) -> Vec<Diagnostic> {
    let told = if is_quiet { Told::Changes } else { Told::All };
    let digest = report::digest(&processed.report, told);
    digest.iter().map(|message| converted(document, message)).collect()
}

/// A message about the whole file.
pub(super) fn failure(message: String) -> Diagnostic {
    let range = Range::new(Position::new(0, 0), Position::new(0, 0));
    let severity = Some(DiagnosticSeverity::ERROR);
    Diagnostic { range, severity, source: Some("ompsplit".to_owned()), message, ..Diagnostic::default() }
}

fn converted(document: &Document, message: &report::Diagnostic) -> Diagnostic {
    let lines = std::iter::once(&message.message).chain(&message.notes);
    let related = message.labels.iter().map(|(span, word)| DiagnosticRelatedInformation {
        location: Location { uri: document.uri.clone(), range: document.range(*span) },
        message: word.clone(),
    });
    let range = message.span.map(|span| document.range(span)).unwrap_or_default();
    Diagnostic {
        range,
        severity: Some(severity(message)),
        code: message.code.map(|code| NumberOrString::String(code.id().to_owned())),
        source: Some("ompsplit".to_owned()),
        message: lines.map(String::as_str).collect::<Vec<_>>().join("\n"),
        related_information: Some(related.collect()),
        ..Diagnostic::default()
    }
}

/// What is left alone is no fault of whoever writes the text: it is marked as lightly as the client can.
fn severity(message: &report::Diagnostic) -> DiagnosticSeverity {
    match (message.severity, message.kind) {
        (Severity::Error, _) => DiagnosticSeverity::ERROR,
        (Severity::Help, Kind::Change) => DiagnosticSeverity::INFORMATION,
        _ => DiagnosticSeverity::HINT,
    }
}
