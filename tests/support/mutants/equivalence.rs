//! Which mutants mean the same as the output they were made of: the checks of `equivalent.toml`.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::Mutant;
use super::directives::is_array;
use ompsplit::validate::host::directives::{clauses, directives, words};
use ompsplit::validate::host::map_clause::{Map, base};

/// A row of `equivalent.toml`.
#[derive(Clone, Debug, Deserialize)]
pub struct Rule {
    pub check: String,
    pub reason: String,
}

#[derive(Deserialize)]
struct Rules {
    rule: Vec<Rule>,
}

/// The rules; each must have a check here, and a reason.
pub fn rules() -> Result<Vec<Rule>, String> {
    let rules: Rules = toml::from_str(include_str!("equivalent.toml")).map_err(|error| error.to_string())?;
    match rules.rule.iter().find(|rule| rule.reason.is_empty() || check(&rule.check).is_none()) {
        Some(rule) => Err(format!("`{}` has no check or no reason", rule.check)),
        None => Ok(rules.rule),
    }
}

/// The first rule by which a mutant of `original`'s output means the same as the output.
pub fn equivalent(rules: &[Rule], original: &str, mutant: &Mutant) -> Option<String> {
    let holds = |rule: &&Rule| check(&rule.check).is_some_and(|check| check(original, mutant));
    rules.iter().find(holds).map(|rule| rule.check.clone())
}

type Check = fn(&str, &Mutant) -> bool;

fn check(name: &str) -> Option<Check> {
    Some(match name {
        "restated" => restated,
        "present-before" => present_before,
        "unused" => unused,
        "never-written" => never_written,
        "independent" => independent,
        _ => return None,
    })
}

fn restated(original: &str, mutant: &Mutant) -> bool {
    let Some((data, _)) = &mutant.data else { return false };
    let mapped = items_of(data).contains(&mutant.what);
    let from_start = mutant.what.contains("[0:") || mutant.what.contains("[:") || !mutant.what.contains('[');
    let aggregate = mutant.what.contains('[') || is_array(original, &mutant.what) || mutant.what == "box";
    let op = &mutant.operator;
    op.on == "kernel" && mapped && (op.does == "set-type" || op.does == "drop-item" && aggregate && from_start)
}

fn present_before(original: &str, mutant: &Mutant) -> bool {
    let Some((data, _)) = &mutant.data else { return false };
    let text = original.as_bytes();
    let before: BTreeSet<String> = directives(text)
        .iter()
        .map(|directive| words(text, directive))
        .filter(|words| words.starts_with("target data") || words.starts_with("target enter data"))
        .flat_map(|words| items_of(&words))
        .map(|item| base(&item))
        .collect();
    let kinds = ["set-type", "drop-item", "drop-item-everywhere", "shorten-section", "shift-section"];
    let present =
        |item: &str| before.contains(&base(item)) || (base(item).starts_with("box") && before.contains("box"));
    let all = mutant.operator.does == "drop-directive" && items_of(data).iter().all(|item| present(item));
    let one = kinds.contains(&mutant.operator.does.as_str()) && present(&mutant.what);
    mutant.operator.on == "data" && !data.contains("always") && (all || one)
}

fn unused(_: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let harmless =
        matches!(op.does.as_str(), "drop-item" | "drop-item-everywhere" | "shorten-section" | "shift-section")
            || (op.does == "set-type" && matches!(op.to.as_str(), "to" | "alloc"));
    op.on == "data" && harmless && !names(body).contains(&base(&mutant.what))
}

fn never_written(_: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let last = base(&mutant.what);
    let last = last.rsplit('.').next().unwrap_or_default();
    op.does == "set-type" && op.on == "data" && op.from == "tofrom" && op.to == "to" && !written(body).contains(last)
}

fn independent(_: &str, mutant: &Mutant) -> bool {
    let Some((one, two)) = &mutant.exchanged else { return false };
    let apart = |a: &str, b: &str| written(a).is_disjoint(&names(b));
    apart(one, two) && apart(two, one)
}

/// The items that a directive of these words maps.
fn items_of(directive: &str) -> Vec<String> {
    let text = directive.as_bytes();
    clauses(text, &(0..text.len()), "map").flat_map(|clause| Map::read(text, &clause).items).collect()
}

/// Every word of a text but those of its directives.
fn names(text: &str) -> BTreeSet<String> {
    let lines = code(text);
    lines.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A text without its directives' lines.
fn code(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    for range in directives(text.as_bytes()) {
        out[range].fill(b' ');
    }
    String::from_utf8_lossy(&out).replace("#pragma omp", "")
}

/// What a text may assign: every name before an assignment's sign, with its subscripts passed over, and every argument of
/// a call.
fn written(text: &str) -> BTreeSet<String> {
    let code = code(text);
    let bytes = code.as_bytes();
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(['=', '+', '-']) {
        let (before, after) = (at.checked_sub(1).and_then(|i| bytes.get(i)), bytes.get(at + 1));
        let compares = after == Some(&b'=') && bytes[at] == b'=' || matches!(before, Some(b'=' | b'<' | b'>' | b'!'));
        let steps = bytes[at] != b'=' && (after == Some(&bytes[at]) || before == Some(&bytes[at]));
        if (bytes[at] == b'=' && !compares) || steps {
            found.extend(name_before(&code[..at]));
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
        let callee = name_before(&code[..at]).unwrap_or_default();
        if !callee.is_empty() && !["for", "while", "if", "int", "unsigned"].contains(&callee.as_str()) {
            let end = ompsplit::validate::host::directives::closing(bytes, at, b'(', b')').min(code.len());
            found.extend(names(&code[at..end]));
        }
    }
    found.remove("");
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
