//! The `#if` groups that choose what a name stands for, or which directive stands before a loop.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::decided::Defined;
use crate::engine::joined::guard::{Guard, guard};
use crate::engine::parsing::Parsed;
use crate::region::construct::Doubt;
use crate::source::{Conditional, Scan, SourceFile, is_part_of_word, scan, without_comments, words};
use crate::syntax::spec_table::Leaf;

/// A group by its number in the file, or in one of the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub header: Option<usize>,
    pub group: usize,
}

/// Words before a name that declare nothing.
const NO_TYPES: &[&str] = &["case", "delete", "else", "goto", "new", "operator", "return", "sizeof", "throw"];

/// The groups, those of directives first, then those of the file.
pub(super) fn groups(
    file: &SourceFile,
    headers: &[(&SourceFile, Scan)],
    parsed: &Parsed,
    defined: &Defined<'_>,
) -> Vec<Chosen> {
    let mut found = of_directives(file, parsed);
    let used = Used::of(std::iter::once(file).chain(headers.iter().map(|(header, _)| *header)));
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
    let all = parsed.constructs.within(crate::source::Span::new(0, file.text.len()));
    let of_device = all.filter(|(construct, _)| {
        construct.leaves.contains(&Leaf::Target) && matches!(construct.doubt, Some(Doubt::Alternative(_)))
    });
    let mut found: Vec<usize> = of_device.filter_map(|(_, directive)| Some(directive.alternative?.0)).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|group| Chosen { header: None, group }).collect()
}

/// The groups without directives of which several branches declare one name, each in its own way, that is used elsewhere.
fn of_declarations(file: &SourceFile, scan: &Scan, defined: &Defined<'_>, used: &Used) -> Vec<usize> {
    let known = defined.groups(file, scan);
    let groups = scan.conditionals.iter().zip(known).enumerate();
    let chooses = |group: &Conditional| {
        let has_directive = scan.directives.iter().any(|directive| directive.span.overlaps(group.span));
        let names = if has_directive { BTreeSet::new() } else { chosen_names(file, group) };
        let text = file.show(group.span);
        names.iter().any(|name| used.count(name) > words(&text).filter(|word| word == name).count())
    };
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
        if is_behind_type && matches!(behind, Some(';' | '=' | '[' | '(' | '{' | ',' | ':')) {
            found.insert(code[start..end].to_owned());
        }
        at = end;
    }
    found
}

/// How often each word stands in all texts.
struct Used {
    counts: BTreeMap<String, usize>,
}

impl Used {
    fn of<'a>(files: impl Iterator<Item = &'a SourceFile>) -> Self {
        let mut counts = BTreeMap::new();
        for file in files {
            let text = String::from_utf8_lossy(&file.text);
            words(&text).for_each(|word| *counts.entry(word.to_owned()).or_default() += 1);
        }
        Self { counts }
    }

    fn count(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }
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
