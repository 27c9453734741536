//! One program out of the several that `#if` groups stand for.
//!
//! A group may open a block in one branch and again in the other; no grammar reads both. Then one branch of each group is
//! kept and the others are blanked, so that positions stay what they are.

use crate::source::{Conditional, ConditionalBranch, Language, Scan, Span};

/// What to blank so that only one branch of each group in question is left: the lines of the group and the branches not
/// taken. Sorted and disjoint. Groups that hold only directives are masked already.
pub(super) fn inactive(
    text: &[u8],
    scan: &Scan,
    language: Language,
    in_question: impl Fn(&Conditional) -> bool,
) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut blanked_to = 0;
    let mut pieces = Vec::new();
    for group in scan.conditionals.iter().filter(|group| !group.only_directives && in_question(group)) {
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
