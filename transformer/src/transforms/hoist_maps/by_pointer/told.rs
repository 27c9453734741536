//! A plan for the other text in terms of the file.

use super::around;
use super::functions::Function;
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::{Plan, Reason};
use crate::source::{Span, is_part_of_word};
use crate::transforms::hoist_maps::members::accesses::is_own_member;
use crate::transforms::hoist_maps::members::text::Changed;

/// `None` where the file has no words for it.
pub(super) fn plan(cx: &Context<'_>, functions: &[Function], changed: &Changed, plan: &Plan) -> Option<Plan> {
    let extent = changed.origin_of(plan.extent);
    let function = around(functions, extent);
    let is_own = |word: &str| cx.named(word, extent.start).is_some_and(|(_, variable)| is_own_member(&variable));
    let text = |text: &str| told(text, function, &is_own);
    let code = |text: &str| told(&addressed(text, function), function, &is_own);
    let edits: Option<Vec<Edit>> = plan.edits.iter().map(|edit| self::edit(changed, edit, &code)).collect();
    let reason = |reason: &Reason| {
        let labels = reason.labels.iter().map(|(at, label)| (changed.origin_of(*at), text(label)));
        Reason {
            span: changed.origin_of(reason.span),
            message: text(&reason.message),
            labels: labels.collect(),
            ..reason.clone()
        }
    };
    let reasons = plan.reasons.iter().map(reason).collect();
    let span = changed.origin_of(plan.span);
    Some(Plan { span, extent, edits: edits?, reasons, summary: text(&plan.summary), ..plan.clone() })
}

fn edit(changed: &Changed, edit: &Edit, told: &dyn Fn(&str) -> String) -> Option<Edit> {
    let Span { start, end } = edit.span;
    (changed.is_kept(start) && changed.is_kept(end)).then_some(())?;
    let span = Span::new(changed.origin(start), changed.origin(end));
    (span.len() == edit.span.len()).then(|| Edit { span, text: told(&edit.text) })
}

/// A text with `grid.` in the place of `grid->`, where `grid` is a reference in the file, and members of the object by their names alone,
/// where these mean them.
fn told(text: &str, function: Option<&Function>, is_own: &dyn Fn(&str) -> bool) -> String {
    let Some(function) = function else { return text.to_owned() };
    let mut found = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (word, behind) = rest.split_at(word_length(rest).max(c.len_utf8()));
        let is_reference = function.references.values().any(|reference| reference.name == word);
        let is_object = function.object.as_ref().is_some_and(|object| object.pointer == word);
        rest = match behind.strip_prefix("->") {
            Some(member) if is_reference => {
                found.push_str(word);
                found.push('.');
                member
            }
            Some(member) if is_object && is_own(&member[..word_length(member)]) => member,
            _ => {
                found.push_str(if is_object { "this" } else { word });
                behind
            }
        };
    }
    found
}

/// A piece of code with `&grid` in the place of `grid`, and `grid` in that of `*grid`, where that is a reference in the file.
fn addressed(text: &str, function: Option<&Function>) -> String {
    let Some(function) = function else { return text.to_owned() };
    let is_reference = |word: &str| function.references.values().any(|reference| reference.name == word);
    let mut found = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (word, behind) = rest.split_at(word_length(rest).max(c.len_utf8()));
        let is_selected = found.ends_with("->") || found.ends_with('.');
        if is_reference(word) && !is_selected && !behind.starts_with("->") {
            match found.strip_suffix('*') {
                Some(before) => found.truncate(before.len()),
                None => found.push('&'),
            }
        }
        found.push_str(word);
        rest = behind;
    }
    found
}

/// How long the word is that a text begins with.
fn word_length(text: &str) -> usize {
    text.find(|c| !is_part_of_word(c)).unwrap_or(text.len())
}
