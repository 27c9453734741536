//! What the rules ask of a text.

use std::collections::BTreeSet;

use crate::support::mutants::directives::is_array;
use crate::support::mutants::statements::{line_start, statement};
use ompsplit::validate::host::directives::{clauses, closing, directives};
use ompsplit::validate::host::map_clause::{Map, base};

/// The conditions of the `if` clauses in a text, without their directive-name-modifiers.
pub(super) fn conditions(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let found = clauses(bytes, &(0..bytes.len()), "if").map(|range| {
        let inner = text[range].trim_start_matches("if").trim();
        let inner = inner.trim_start_matches('(').trim_end_matches(')').trim();
        inner.split_once(": ").map_or(inner, |(_, condition)| condition).trim().to_owned()
    });
    found.collect()
}

/// The items that a directive of these words maps.
pub(super) fn items_of(directive: &str) -> Vec<String> {
    let text = directive.as_bytes();
    clauses(text, &(0..text.len()), "map").flat_map(|clause| Map::read(text, &clause).items).collect()
}

/// The items that a directive of these words combines.
pub(super) fn reduced(directive: &str) -> BTreeSet<String> {
    let bytes = directive.as_bytes();
    let lists = clauses(bytes, &(0..bytes.len()), "reduction").filter_map(|range| directive[range].split_once(':'));
    lists.flat_map(|(_, list)| list.trim_end_matches(')').split(',').map(|item| item.trim().to_owned())).collect()
}

/// The variable or member that an item is about.
pub(super) fn last_name(item: &str) -> String {
    base(item).rsplit('.').next().unwrap_or_default().to_owned()
}

/// How often a word stands in a text, directives left out.
pub(super) fn mentions(text: &str, word: &str) -> usize {
    code(text).split(|c: char| !c.is_alphanumeric() && c != '_').filter(|other| *other == word).count()
}

/// Is a variable of this name declared as an array, and no parameter?
pub(super) fn is_declared_array(text: &str, name: &str) -> bool {
    let declares = |line: &str| line.trim_end().ends_with("];") && line.contains(&format!(" {name}["));
    text.lines().any(|line| declares(line) && TYPES.iter().any(|ty| names(line).contains(*ty)))
}

/// Every word of a text but those of its directives.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let lines = code(text);
    lines.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A text without its directives' lines.
pub(super) fn code(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    for range in directives(text.as_bytes()) {
        out[range].fill(b' ');
    }
    String::from_utf8_lossy(&out).replace("#pragma omp", "           ")
}

/// What a text may assign: every name before an assignment's sign, with its subscripts passed over, and every argument of
/// a call.
pub(super) fn written(text: &str) -> BTreeSet<String> {
    let code = code(text);
    let bytes = code.as_bytes();
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(['=', '+', '-']) {
        let (before, after) = (at.checked_sub(1).and_then(|i| bytes.get(i)), bytes.get(at + 1));
        let compares = after == Some(&b'=') && bytes[at] == b'=' || matches!(before, Some(b'=' | b'<' | b'>' | b'!'));
        let steps = bytes[at] != b'=' && (after == Some(&bytes[at]) || before == Some(&bytes[at]));
        if (bytes[at] == b'=' && !compares) || steps {
            found.extend(names_before(&code[..at]));
            found.extend(
                code[at..]
                    .trim_start_matches(['+', '-'])
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
                    .map(str::to_owned),
            );
        }
    }
    for (at, _) in code.match_indices('(') {
        let before = code[..at].trim_end();
        let callee = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if !callee.is_empty() && !["for", "while", "if", "int", "unsigned"].contains(&callee) {
            let end = closing(bytes, at, b'(', b')').min(code.len());
            found.extend(names(&code[at..end]));
        }
    }
    found.remove("");
    found
}

/// The name that a text ends with, and those of the objects that it is a member of: `x` and `box` of `box.x[i] +`.
fn names_before(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(name) = name_before(rest) {
        let end = rest.rfind(&name).unwrap_or(0);
        found.push(name);
        let before = rest[..end].trim_end();
        match before.strip_suffix('.').or_else(|| before.strip_suffix("->")) {
            Some(object) => rest = object,
            None => break,
        }
    }
    found
}

/// The name that a text ends with, operators and subscripts behind it passed over.
fn name_before(text: &str) -> Option<String> {
    let mut rest = text.trim_end_matches(|c: char| "+-*/%&|^<> ".contains(c)).trim_end();
    while rest.ends_with(']') {
        let mut depth = 0;
        let open = rest.char_indices().rev().find(|(_, c)| {
            depth += i32::from(*c == ']') - i32::from(*c == '[');
            depth == 0
        })?;
        rest = rest[..open.0].trim_end();
    }
    let start = rest.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    Some(rest[start..].to_owned()).filter(|name| !name.is_empty())
}

/// May a region reach a variable by another name: a pointer's, a reference's, a macro's, or a function's that it calls?
pub(super) fn has_other_name(original: &str, body: &str, name: &str) -> bool {
    let called = names(body);
    let given = [format!("= {name};"), format!("= {name} ")];
    let array = is_array(original, name);
    let pointed = original.lines().any(|line| {
        let before = |part: &String| line.find(part).map(|at| &line[..at]);
        // Where it is itself a reference, the region must not name what that refers to.
        let refers = line.split_once(&format!(" &{name} = ")).map(|(_, rest)| names(rest));
        let address = line
            .match_indices(&format!("&{name}"))
            .any(|(at, part)| !line[at + part.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        match refers {
            Some(others) => !others.is_disjoint(&called),
            // The value of a scalar leads nowhere.
            None => address || given.iter().filter_map(before).any(|before| array || before.contains('&')),
        }
    });
    let mut function = None;
    pointed
        || original.lines().any(|line| {
            if line.starts_with(|c: char| c.is_alphabetic()) {
                function = line.split_once('(').and_then(|(front, _)| name_before(front));
            }
            let inside = names(line).contains(name);
            inside && (line.starts_with("#define") || function.as_ref().is_some_and(|f| called.contains(f)))
        })
}

/// Does any control flow of the block stand around this place?
pub(super) fn is_steered(block: &str, place: usize) -> bool {
    let mut at = 1;
    loop {
        let one = statement(block, at);
        if one.is_empty() || one.start > place {
            return true;
        }
        let inside = &block[one.clone()];
        if one.contains(&place) {
            match inside.chars().next() {
                Some('#') if line_start(block, place) <= one.start => return false,
                _ if one.start == place => return false,
                Some('{') => at = one.start + 1,
                _ => return true,
            }
        } else {
            at = one.end;
        }
    }
}

/// The types of C that a declaration in a region may begin with.
pub(super) const TYPES: &[&str] = &["long", "int", "unsigned", "double", "float", "short", "bool"];
