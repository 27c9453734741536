//! Operators on statements, and where a statement ends.

use std::ops::Range;

use super::{Mutant, Operator, Site, edited, mutant};
use ompsplit::validate::host::directives::closing;

/// The first byte of the line.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// The statement that begins behind a place, directives before it included.
pub(super) fn statement(text: &str, from: usize) -> Range<usize> {
    let start = skip_blanks(text, from);
    let rest = text.get(start..).unwrap_or_default();
    let end = if rest.starts_with('{') {
        closing(text.as_bytes(), start, b'{', b'}') + 1
    } else if rest.starts_with('#') {
        statement(text, line_end(text, start)).end
    } else if ["for", "while", "if"].iter().any(|word| starts_with_word(rest, word)) {
        let open = start + rest.find('(').unwrap_or(0);
        let body = statement(text, closing(text.as_bytes(), open, b'(', b')') + 1);
        let next = skip_blanks(text, body.end);
        match text.get(next..) {
            Some(after) if rest.starts_with("if") && starts_with_word(after, "else") => statement(text, next + 4).end,
            _ => body.end,
        }
    } else if starts_with_word(rest, "else") {
        statement(text, start + 4).end
    } else if starts_with_word(rest, "do") {
        let body = statement(text, start + 2);
        text.get(body.end..).and_then(|after| after.find(';')).map_or(text.len(), |at| body.end + at + 1)
    } else {
        rest.find(';').map_or(text.len(), |at| start + at + 1)
    };
    start..end.min(text.len())
}

fn skip_blanks(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let Some(skipped) = comment(trimmed) else { return at };
        at += skipped;
    }
}

fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.strip_prefix("/*").map(|rest| rest.find("*/").map_or(text.len(), |at| at + 4))
}

/// The end of a directive's lines.
fn line_end(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| at + newline);
        if !text.get(at..end).unwrap_or_default().trim_end().ends_with('\\') || end >= text.len() {
            return end;
        }
        at = end + 1;
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Expression statements that stand beside the kernels of a data construct.
pub(super) fn of_host(operator: &Operator, text: &str, site: &Site) -> Vec<Mutant> {
    let Some((_, body)) = &site.data else { return Vec::new() };
    let mut found = Vec::new();
    collect(text, body.start + 1..body.end, &mut found);
    let inside = text.get(body.clone()).unwrap_or_default();
    found.retain(|range| !steers(inside, text.get(range.clone()).unwrap_or_default()));
    let change = |range: Range<usize>| {
        let old = text.get(range.clone()).unwrap_or_default().to_owned();
        let new = if operator.does == "repeat-statement" { format!("{{ {old} {old} }}") } else { ";".to_owned() };
        mutant(operator, edited(text, vec![(range, new)]), old)
    };
    found.into_iter().map(change).collect()
}

fn collect(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut at = range.start;
    while at < range.end {
        let one = statement(text, at);
        if one.end > range.end || one.is_empty() {
            return;
        }
        let inside = text.get(one.clone()).unwrap_or_default();
        if inside.starts_with('{') {
            collect(text, one.start + 1..one.end - 1, found);
        } else if ["for", "while", "if"].iter().any(|word| starts_with_word(inside, word)) {
            let open = one.start + inside.find('(').unwrap_or(0);
            collect(text, closing(text.as_bytes(), open, b'(', b')') + 1..one.end, found);
        } else if starts_with_word(inside, "do") || starts_with_word(inside, "else") {
            let word = if inside.starts_with("do") { 2 } else { 4 };
            collect(text, one.start + word..one.end, found);
        } else if !inside.starts_with('#') && is_assignment(inside) {
            found.push(one.clone());
        }
        at = one.end;
    }
}

/// An assignment or increment, and no declaration.
fn is_assignment(statement: &str) -> bool {
    let target = statement.split(['=', '+', '-', '*', '/', '%', '^', '|', '&']).next().unwrap_or_default().trim();
    let plain = !target.is_empty() && target.chars().all(|c| c.is_alphanumeric() || c == '_');
    plain && statement.contains(['=', '+', '-'])
}

/// Does the variable decide how often a loop runs? Without the statement the program might never end.
fn steers(inside: &str, statement: &str) -> bool {
    let name: String = statement.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let heads = inside.match_indices("while (").filter_map(|(at, _)| inside.get(at..)?.split('\n').next());
    heads.into_iter().any(|head| head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name))
}

/// The constants that were added before a region, each put back to where it is used.
pub(super) fn of_temporaries(operator: &Operator, text: &str) -> Vec<Mutant> {
    let stems =
        ["region_device", "region_condition", "region_num_teams", "region_thread_limit", "map_start", "map_length"];
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.trim_start().starts_with("const ")) {
        let Some((front, value)) = line.trim().trim_end_matches(';').split_once(" = ") else { continue };
        let Some(name) = front.split_whitespace().last().filter(|name| stems.iter().any(|s| name.starts_with(s)))
        else {
            continue;
        };
        let without = text.replacen(&format!("{line}\n"), "", 1);
        found.push(mutant(operator, without.replace(name, &format!("({value})")), line.trim()));
    }
    found
}
