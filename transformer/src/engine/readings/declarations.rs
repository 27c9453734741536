//! The `#if` groups that choose what a name stands for, or which directive stands before a loop.

use std::collections::BTreeSet;

use crate::engine::decided::Defined;
use crate::engine::joined::guard::{Guard, guard};
use crate::engine::parsing::Parsed;
use crate::region::construct::Doubt;
use crate::source::{Conditional, Scan, SourceFile, Span, is_part_of_word, scan, without_comments, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{NodeId, NodeKind};

/// A group by its number in the file, or in one of the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub header: Option<usize>,
    pub group: usize,
}

/// Words before a name that declare nothing.
const NO_TYPES: &[&str] = &["case", "delete", "else", "goto", "new", "operator", "return", "sizeof", "throw"];

/// Words that are no names, whatever stands before them.
const NO_NAMES: &[&str] = &["class", "enum", "struct", "union"];

/// The groups that may matter for some parts of the file, those of directives first, then those of the file.
pub(super) fn groups(
    file: &SourceFile,
    headers: &[(&SourceFile, Scan)],
    parsed: &Parsed,
    defined: &Defined<'_>,
    parts: &[Span],
) -> Vec<Chosen> {
    let mut found = of_directives(file, parsed);
    let texts = std::iter::once((file, &parsed.scan)).chain(headers.iter().map(|(header, scan)| (*header, scan)));
    let used = used_in(file, parsed, texts.collect(), parts);
    let chosen = |header, numbers: Vec<usize>| numbers.into_iter().map(move |group| Chosen { header, group });
    found.extend(chosen(None, of_declarations(file, &parsed.scan, defined, &used)));
    for (index, (header, scan)) in headers.iter().enumerate() {
        // A header that may be read more than once may take another branch each time.
        if !matches!(guard(header, scan), Guard::None) {
            found.extend(chosen(Some(index), of_declarations(header, scan, defined, &used)));
        }
    }
    found
}

/// The groups in which a directive for the device stands beside another one for the same loop.
fn of_directives(file: &SourceFile, parsed: &Parsed) -> Vec<Chosen> {
    let all = parsed.constructs.within(Span::new(0, file.text.len()));
    let of_device = all.filter(|(construct, _)| {
        construct.leaves.contains(&Leaf::Target) && matches!(construct.doubt, Some(Doubt::Alternative(_)))
    });
    let mut found: Vec<usize> = of_device.filter_map(|(_, directive)| Some(directive.alternative?.0)).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|group| Chosen { header: None, group }).collect()
}

/// The groups of which several branches declare one name that is used, each in its own way.
fn of_declarations(file: &SourceFile, scan: &Scan, defined: &Defined<'_>, used: &BTreeSet<String>) -> Vec<usize> {
    let known = defined.groups(file, scan);
    let groups = scan.conditionals.iter().zip(known).enumerate();
    let chooses = |group: &Conditional| chosen_names(file, group).iter().any(|name| used.contains(name));
    groups.filter(|(_, (group, known))| known.is_none() && chooses(group)).map(|(index, _)| index).collect()
}

/// The names that several branches declare.
fn chosen_names(file: &SourceFile, group: &Conditional) -> BTreeSet<String> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut several = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for branch in &group.branches {
        let text = without_comments(&file.show(branch.content));
        let names = declared_names(&text);
        several.extend(names.intersection(&seen).cloned());
        seen.extend(names);
        texts.insert(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if texts.len() > 1 { several } else { BTreeSet::new() }
}

/// The names that a text seems to declare: macros, and what stands behind a type and before what ends a declarator.
fn declared_names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut code = String::new();
    for line in text.lines() {
        match line.trim_start().strip_prefix('#') {
            Some(rest) => {
                let defines = rest.trim_start().strip_prefix("define");
                found.extend(defines.and_then(|rest| words(rest).next()).map(str::to_owned));
            }
            None => {
                code.push_str(line);
                code.push(' ');
            }
        }
    }
    let mut at = 0;
    while let Some(start) = code[at..].find(is_part_of_word).map(|offset| at + offset) {
        let end = code[start..].find(|c| !is_part_of_word(c)).map_or(code.len(), |offset| start + offset);
        let before = code[..start].trim_end();
        let last = words(before).next_back().unwrap_or_default();
        let is_behind_type = match before.chars().next_back() {
            Some(c) if is_part_of_word(c) => !NO_TYPES.contains(&last) && !last.starts_with(|c: char| c.is_numeric()),
            other => matches!(other, Some('*' | '&' | '}' | '>')),
        };
        let behind = code[end..].trim_start().chars().next();
        let is_name = is_behind_type && !NO_NAMES.contains(&&code[start..end]);
        if is_name && matches!(behind, Some(';' | '=' | '[' | '(' | '{' | ',' | ':')) {
            found.insert(code[start..end].to_owned());
        }
        at = end;
    }
    found
}

/// The words of the functions around some parts of the file, and of what declares these words, from one to the next.
fn used_in(file: &SourceFile, parsed: &Parsed, texts: Vec<(&SourceFile, &Scan)>, parts: &[Span]) -> BTreeSet<String> {
    let tree = &parsed.tree;
    let is_function = |node: &NodeId| tree.kind(*node) == NodeKind::FunctionDefinition;
    let function = |part: Span| tree.ancestors(tree.covering(part)).find(is_function).map(|node| tree.span(node));
    let around = parts.iter().map(|part| function(*part).unwrap_or(*part));
    let mut used: BTreeSet<String> = around.flat_map(|span| all_words(&file.show(span))).collect();
    let mut rest: Vec<Declaration> = texts.into_iter().flat_map(|(file, scan)| declarations(file, scan)).collect();
    loop {
        let is_used = |declaration: &mut Declaration| declaration.names.iter().any(|name| used.contains(name));
        let found: Vec<Declaration> = rest.extract_if(.., is_used).collect();
        if found.is_empty() {
            return used;
        }
        used.extend(found.into_iter().flat_map(|declaration| declaration.words));
    }
}

/// What a piece of text outside of functions declares, and its words.
struct Declaration {
    names: BTreeSet<String>,
    words: BTreeSet<String>,
}

/// The declarations and macros of a text, roughly: what matters is that none is missed.
fn declarations(file: &SourceFile, scan: &Scan) -> Vec<Declaration> {
    let mut found: Vec<Declaration> = Vec::new();
    for definition in &scan.definitions {
        let names = std::iter::once(file.show(definition.name).into_owned()).collect();
        found.push(Declaration { names, words: all_words(&file.show(definition.body)) });
    }
    let text = without_comments(&String::from_utf8_lossy(&file.text));
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        depth = match byte {
            b'{' => depth + 1,
            b'}' => depth.saturating_sub(1),
            _ => depth,
        };
        if depth == 0 && matches!(byte, b';' | b'}') {
            // The name of a structure stands behind its brace.
            let behind = text.get(at + 1..).unwrap_or_default();
            let is_name_behind =
                byte == b'}' && behind.find([';', '{', '(', '}']).is_some_and(|end| behind[end..].starts_with(';'));
            if !is_name_behind {
                let piece = text.get(start..=at).unwrap_or_default();
                found.push(Declaration { names: declared_names(piece), words: all_words(piece) });
                start = at + 1;
            }
        }
    }
    found
}

fn all_words(text: &str) -> BTreeSet<String> {
    words(text).map(str::to_owned).collect()
}

/// What the byte scan finds in each header.
pub(super) fn scans(headers: &[SourceFile]) -> Vec<(&SourceFile, Scan)> {
    headers.iter().map(|header| (header, scan(&header.text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_names_stand_behind_types() {
        for (text, expected) in [
            ("typedef double real;", &["real"][..]),
            ("#define REAL float\n#include \"a.h\"", &["REAL"]),
            ("using real = double;", &["real"]),
            ("typedef struct { float x, y; } pair;", &["pair", "x"]),
            ("static inline float f(float v) { return v; }", &["f"]),
            ("x = 3; g(y);", &[]),
        ] {
            assert_eq!(declared_names(text).iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
