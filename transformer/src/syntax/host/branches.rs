//! One program out of the several that `#if` groups stand for.
//!
//! A group may open a block in one branch and again in the other; no grammar reads both. Then one branch of each group is
//! kept and the others are blanked, so that positions stay what they are.

use std::collections::BTreeSet;

use super::nesting;
use crate::source::{Conditional, ConditionalBranch, Language, Scan, Span};

/// The groups that may be the cause of problems: those with a branch whose brackets do not match, or, where there are
/// none, those with a line in or next to a problem.
pub(super) fn suspects(text: &[u8], scan: &Scan, problems: &[Span]) -> BTreeSet<usize> {
    let groups = || scan.conditionals.iter().enumerate().filter(|(_, group)| !group.only_directives);
    let is_torn = |branch: &ConditionalBranch| !nesting::is_balanced(text, own_pieces(scan, branch));
    let torn = groups().filter(|(_, group)| group.branches.iter().any(is_torn));
    let torn: BTreeSet<usize> = torn.map(|(index, _)| index).collect();
    if !torn.is_empty() {
        return torn;
    }
    let is_suspect = |group: &Conditional| group.lines().iter().any(|line| is_near(text, *line, problems));
    groups().filter(|(_, group)| is_suspect(group)).map(|(index, _)| index).collect()
}

/// The content of a branch without the groups in it, which answer for themselves.
fn own_pieces<'a>(scan: &'a Scan, branch: &ConditionalBranch) -> impl Iterator<Item = Span> + 'a {
    let mut from = branch.content.start;
    let end = branch.content.end;
    std::iter::from_fn(move || {
        let next = scan.conditionals.partition_point(|group| group.span.start < from);
        let inner = scan.conditionals.get(next).map(|group| group.span).filter(|span| span.start < end);
        let piece = Span::new(from, inner.map_or(end, |span| span.start));
        let is_over = from > end;
        from = inner.map_or(end + 1, |span| span.end);
        (!is_over).then_some(piece)
    })
}

/// Does the line lie in a problem, or is there nothing but blanks between it and one?
fn is_near(text: &[u8], line: Span, problems: &[Span]) -> bool {
    let before = Span::new(0, line.start).of(text).trim_ascii_end().len();
    let after =
        line.end + Span::new(line.end, text.len()).of(text).iter().take_while(|b| b.is_ascii_whitespace()).count();
    let first = problems.partition_point(|problem| problem.end < before);
    problems.get(first).is_some_and(|problem| problem.start <= after)
}

/// What to blank so that only one branch of each group in question is left: the lines of the group and the branches not
/// taken. Sorted and disjoint. Groups that hold only directives are masked already.
pub(super) fn inactive(text: &[u8], scan: &Scan, language: Language, in_question: impl Fn(usize) -> bool) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut blanked_to = 0;
    let mut pieces = Vec::new();
    let groups = scan.conditionals.iter().enumerate().filter(|(index, _)| in_question(*index));
    for (_, group) in groups.filter(|(_, group)| !group.only_directives) {
        pieces.extend(blanked(text, group, language));
    }
    pieces.sort_unstable();
    for piece in pieces {
        // An inner group may lie in a branch of an outer one that is blanked as a whole.
        let piece = Span::new(piece.start.max(blanked_to), piece.end);
        if !piece.is_empty() && piece.end > blanked_to {
            blanked_to = piece.end;
            spans.push(piece);
        }
    }
    spans
}

fn blanked(text: &[u8], group: &Conditional, language: Language) -> Vec<Span> {
    let taken = taken(text, &group.branches, language);
    let mut pieces = Vec::new();
    let mut from = group.span.start;
    if let Some(branch) = taken.and_then(|index| group.branches.get(index)) {
        pieces.push(Span::new(from, branch.content.start));
        from = branch.content.end;
    }
    pieces.push(Span::new(from, group.span.end));
    pieces
}

/// The first branch that is not known to be false.
fn taken(text: &[u8], branches: &[ConditionalBranch], language: Language) -> Option<usize> {
    branches.iter().position(|branch| holds(branch.line.of(text), language) != Some(false))
}

/// What a condition says, as far as it can be known without a compiler: a number, and the macros that tell the language
/// and OpenMP.
fn holds(line: &[u8], language: Language) -> Option<bool> {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches(['#', '%', ':', ' ', '\t']);
    let (word, condition) = line.split_once(|c: char| !c.is_ascii_alphanumeric()).unwrap_or((line, ""));
    let condition = condition.split("//").next().unwrap_or_default();
    let condition = condition.split("/*").next().unwrap_or_default();
    match word {
        "ifdef" | "elifdef" => is_defined(condition, language),
        "ifndef" | "elifndef" => is_defined(condition, language).map(|known| !known),
        "else" => Some(true),
        _ => expression(condition, language),
    }
}

fn expression(condition: &str, language: Language) -> Option<bool> {
    let condition = condition.trim().trim_matches(|c| matches!(c, '(' | ')' | ' '));
    if let Some(negated) = condition.strip_prefix('!') {
        return expression(negated, language).map(|known| !known);
    }
    if let Some(name) = condition.strip_prefix("defined") {
        return is_defined(name, language);
    }
    condition.parse::<u64>().ok().map(|value| value != 0)
}

fn is_defined(name: &str, language: Language) -> Option<bool> {
    match name.trim_matches(|c| matches!(c, '(' | ')' | ' ' | '\t')) {
        "__cplusplus" => Some(language == Language::Cpp),
        "_OPENMP" => Some(true),
        _ => None,
    }
}
