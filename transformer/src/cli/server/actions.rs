//! What an editor offers to do: each plan for itself, all of them, or to silence a rule.

use lsp_types::{CodeActionKind, CodeActionParams, TextEdit};
use serde_json::{Value, json};

use crate::cli::process::Processed;
use crate::cli::server::document::Document;
use crate::cli::server::messages;
use crate::plan::{Applicability, Decision, Plan, RuleKind};
use crate::source::Span;

/// The action that does everything that the command line would do.
pub(super) const FIX_ALL: &str = "source.fixAll.ompsplit";

/// The actions for a range of a text.
pub(super) fn of(document: &Document, processed: &Processed, params: &CodeActionParams, has_versions: bool) -> Value {
    let offer = Offer { document, processed, has_versions };
    let asked = document.lines(params.range);
    let mut actions = Vec::new();
    if is_wanted(params, CodeActionKind::REFACTOR_REWRITE.as_str()) {
        let plans = processed.report.plans.iter().filter(|plan| touches(plan.extent, asked));
        actions.extend(plans.filter_map(|plan| offer.plan(plan)));
    }
    if is_wanted(params, CodeActionKind::QUICKFIX.as_str()) {
        actions.extend(offer.silences(asked));
    }
    if is_wanted(params, FIX_ALL) {
        actions.extend(offer.all());
    }
    Value::Array(actions)
}

/// Does the client ask for actions of a kind? `source` asks for `source.fixAll` too.
fn is_wanted(params: &CodeActionParams, kind: &str) -> bool {
    let Some(only) = &params.context.only else { return true };
    let is_below =
        |wanted: &str| kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    only.iter().any(|wanted| wanted.as_str().is_empty() || is_below(wanted.as_str()))
}

fn touches(extent: Span, asked: Span) -> bool {
    extent.start <= asked.end && asked.start <= extent.end
}

/// A text of which actions are offered.
struct Offer<'a> {
    document: &'a Document,
    processed: &'a Processed,
    has_versions: bool,
}

impl Offer<'_> {
    /// The change that one pass would make of one construct.
    fn plan(&self, plan: &Plan) -> Option<Value> {
        let assumes = match plan.decision {
            Decision::Apply(Applicability::Safe) => String::new(),
            Decision::Apply(Applicability::Assumed) => {
                let assumed = plan.reasons.iter().filter(|reason| reason.code.kind() == RuleKind::Assumption);
                format!(" ({})", assumed.map(|reason| reason.message.as_str()).collect::<Vec<_>>().join(", "))
            }
            _ => return None,
        };
        let edits = plan
            .edits
            .iter()
            .map(|edit| TextEdit { range: self.document.range(edit.span), new_text: edit.text.clone() });
        let edits: Vec<TextEdit> = edits.collect();
        let title = format!("{}: {}{assumes}", plan.pass, plan.summary);
        (!edits.is_empty()).then(|| self.action(&title, CodeActionKind::REFACTOR_REWRITE.as_str(), &edits))
    }

    /// All that is written without further questions.
    fn all(&self) -> Option<Value> {
        let edits = self.document.edits_to(self.processed.text.as_ref()?);
        Some(self.action("Rewrite all constructs for the device", FIX_ALL, &edits))
    }

    /// A comment above the line of each message that keeps the rule quiet.
    fn silences(&self, asked: Span) -> Vec<Value> {
        let file = &self.document.file;
        let told = messages::of(self.document, self.processed, false);
        let here = self.processed.report.diagnostics.iter().filter_map(|said| Some((said.code?, said.span?)));
        let mut actions: Vec<Value> = Vec::new();
        for (code, span) in here.filter(|(_, span)| touches(*span, asked)) {
            let line = file.lines.line_column(span.start).line;
            let start = file.lines.line_start(line).unwrap_or(0);
            let text = file.show(Span::new(start, span.start.max(start)));
            // Where the line before goes on, a comment would become a part of it.
            if file.text.get(..start).is_some_and(|before| before.trim_ascii_end().ends_with(b"\\")) {
                continue;
            }
            let indent: String = text.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
            let end = file.line_ending().bytes();
            let new_text = format!("{indent}// NOLINTNEXTLINE({}){end}", code.id());
            let range = self.document.range(Span::new(start, start));
            let title = format!("Silence {} here", code.id());
            let mut action = self.action(&title, CodeActionKind::QUICKFIX.as_str(), &[TextEdit { range, new_text }]);
            let range = self.document.range(span);
            let about: Vec<&lsp_types::Diagnostic> = told.iter().filter(|message| message.range == range).collect();
            if let (Some(fields), false) = (action.as_object_mut(), about.is_empty()) {
                fields.insert("diagnostics".to_owned(), json!(about));
            }
            if !actions.iter().any(|known| known.get("title") == action.get("title")) {
                actions.push(action);
            }
        }
        actions
    }

    fn action(&self, title: &str, kind: &str, edits: &[TextEdit]) -> Value {
        let Document { uri, version, .. } = self.document;
        let edit = match self.has_versions {
            true => {
                let document = json!({ "uri": uri, "version": version });
                json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] })
            }
            false => json!({ "changes": { (uri.as_str()): edits } }),
        };
        json!({ "title": title, "kind": kind, "edit": edit })
    }
}
