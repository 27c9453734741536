//! Which mutants mean the same as the output they were made of: the checks of `equivalent.toml`.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;

use super::Mutant;
use super::directives::is_array;
use super::statements::{line_start, statement};
use ompsplit::validate::host::directives::{clauses, directives, is_kernel, words};
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
        "true-condition" => true_condition,
        "host-only" => host_only,
        "host-kernel" => host_kernel,
        "dead-variable" => dead_variable,
        "used-once" => used_once,
        "reduction-item" => reduction_item,
        "idempotent" => idempotent,
        "constant-scalar" => constant_scalar,
        "alloc-always" => alloc_always,
        "writes-nothing" => writes_nothing,
        _ => return None,
    })
}

fn restated(original: &str, mutant: &Mutant) -> bool {
    let mapped = items_of(&mutant.around).contains(&mutant.what);
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

fn unused(original: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let harmless =
        matches!(op.does.as_str(), "drop-item" | "drop-item-everywhere" | "shorten-section" | "shift-section")
            || (op.does == "set-type" && matches!(op.to.as_str(), "to" | "alloc"));
    let name = last_name(&mutant.what);
    op.on == "data" && harmless && !names(body).contains(&name) && !has_other_name(original, body, &name)
}

/// The variable or member that an item is about.
fn last_name(item: &str) -> String {
    base(item).rsplit('.').next().unwrap_or_default().to_owned()
}

/// May a region reach the elements of an array by another name: a pointer's, a macro's, or a function's that it calls?
fn has_other_name(original: &str, body: &str, name: &str) -> bool {
    let pointed = [format!("= {name};"), format!("= {name} "), format!("&{name}")];
    let called = names(body);
    let mut function = None;
    pointed.iter().any(|part| original.contains(part))
        || original.lines().any(|line| {
            if line.starts_with(|c: char| c.is_alphabetic()) {
                function = line.split_once('(').and_then(|(front, _)| name_before(front));
            }
            let inside = names(line).contains(name);
            inside && (line.starts_with("#define") || function.as_ref().is_some_and(|f| called.contains(f)))
        })
}

fn never_written(original: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let name = last_name(&mutant.what);
    let kind = op.does == "set-type" && op.on == "data" && op.from == "tofrom" && op.to == "to";
    kind && !written(body).contains(&name) && !has_other_name(original, body, &name)
}

fn independent(_: &str, mutant: &Mutant) -> bool {
    let Some((one, two)) = &mutant.exchanged else { return false };
    let own = |text: &str, name: &String| TYPES.iter().any(|ty| text.contains(&format!("{ty} {name} =")));
    let apart = |a: &str, b: &str| {
        let other = names(b);
        written(a).iter().all(|name| !other.contains(name) || (own(a, name) && own(b, name)))
    };
    apart(one, two) && apart(two, one)
}

/// The conditions of the `if` clauses in a text, without their directive-name-modifiers.
fn conditions(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let found = clauses(bytes, &(0..bytes.len()), "if").map(|range| {
        let inner = text[range].trim_start_matches("if").trim();
        let inner = inner.trim_start_matches('(').trim_end_matches(')').trim();
        inner.split_once(": ").map_or(inner, |(_, condition)| condition).trim().to_owned()
    });
    found.collect()
}

fn true_condition(_: &str, mutant: &Mutant) -> bool {
    let op = &mutant.operator;
    let dropped = match (&mutant.data, op.does.as_str()) {
        (_, "drop-clause") => conditions(&mutant.what),
        (Some((data, body)), "drop-clause-everywhere") => {
            let inside = directives(body.as_bytes()).into_iter().flat_map(|d| conditions(&body[d]));
            conditions(data).into_iter().chain(inside).collect()
        }
        _ => return false,
    };
    let is_true = |condition: &String| condition.parse::<u32>().is_ok_and(|value| value != 0);
    op.clause == "if" && !dropped.is_empty() && dropped.iter().all(is_true)
}

fn host_only(original: &str, mutant: &Mutant) -> bool {
    let Some((data, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let never = |text: &str| conditions(text) == ["0"];
    let kernels: Vec<_> =
        directives(body.as_bytes()).into_iter().filter(|d| is_kernel(&words(body.as_bytes(), d))).collect();
    let all = never(data) && kernels.iter().all(|d| never(&body[d.clone()]));
    let aggregate = mutant.what.contains('[') || is_array(original, &mutant.what);
    let sections = ["drop-item", "drop-item-everywhere", "shorten-section", "shift-section"];
    all && match op.does.as_str() {
        "set-type" => true,
        "drop-directive" => op.on == "data",
        does => sections.contains(&does) && aggregate,
    }
}

fn host_kernel(_: &str, mutant: &Mutant) -> bool {
    let op = &mutant.operator;
    let copies = ["private(", "firstprivate(", "reduction("].iter().any(|clause| mutant.what.contains(clause));
    (op.on.as_str(), op.does.as_str()) == ("kernel", "drop-directive") && conditions(&mutant.what) == ["0"] && !copies
}

fn dead_variable(_: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let covered = op.on == "host"
        || matches!(op.does.as_str(), "other-operator" | "firstprivate")
        || (op.on == "kernel" && matches!(op.does.as_str(), "set-type" | "drop-item"));
    let name = if op.on == "host" {
        mutant.what.split([' ', '+', '-', '=', ';']).next().unwrap_or_default()
    } else {
        mutant.what.rsplit(": ").next().unwrap_or_default().trim_end_matches(')')
    };
    let code = code(body);
    // What stands before it is over, where no control flow leads back.
    let from = mutant.place.filter(|place| !is_steered(body, *place)).unwrap_or(0);
    let mut declared = false;
    let mut offset = 0;
    let mut uses = code.split([';', '{', '}']).filter_map(|statement| {
        offset += statement.len() + 1;
        Some((statement.trim(), offset > from)).filter(|(statement, _)| names(statement).contains(name))
    });
    let dies = uses.all(|(statement, follows)| {
        let declares = TYPES.iter().any(|ty| {
            let rest = statement.strip_prefix(ty).and_then(|rest| rest.trim_start().strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" = "))
        });
        declared |= declares;
        let assigns = statement.strip_prefix(name).map(str::trim_start).is_some_and(|rest| {
            let operator = rest.trim_start_matches(['+', '-', '*', '&', '|', '^']);
            operator.starts_with("= ") || matches!(rest, "++" | "--")
        });
        let chosen = statement.starts_with("if (") && statement.contains(&format!(") {name} = "));
        !follows || declares || ((assigns || chosen) && written(statement).iter().all(|other| other == name))
    });
    covered && !name.is_empty() && declared && dies
}

/// The types of C that a declaration in a region may begin with.
const TYPES: &[&str] = &["long", "int", "unsigned", "double", "float", "short", "bool"];

fn used_once(original: &str, mutant: &Mutant) -> bool {
    let Some((data, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let once = |item: &String| is_used_once(original, data, body, item);
    op.on == "data"
        && match op.does.as_str() {
            "drop-item" => once(&mutant.what),
            "drop-directive" => !data.contains("if(") && items_of(data).iter().all(once),
            _ => false,
        }
}

fn is_used_once(original: &str, data: &str, body: &str, item: &str) -> bool {
    let bytes = body.as_bytes();
    let name = last_name(item);
    let statement_of = |d: &Range<usize>| statement(body, d.end);
    let kernels = directives(bytes).into_iter().filter(|d| is_kernel(&words(bytes, d)));
    let uses: Vec<_> = kernels.filter(|d| names(&body[statement_of(d)]).contains(&name)).collect();
    let [only] = &uses[..] else { return false };
    let mut outside = body.to_owned();
    outside.replace_range(statement_of(only), "");
    let typed = |words: &str| {
        let bytes = words.as_bytes();
        let mut maps = clauses(bytes, &(0..bytes.len()), "map").map(|clause| Map::read(bytes, &clause));
        maps.find(|map| map.items.iter().any(|other| other == item)).map(|map| map.modifiers)
    };
    let kernel = words(bytes, only);
    // What no clause of the kernel names is mapped `tofrom` by rule, where it is an array.
    let is_array = original.lines().any(|line| line.trim_end().ends_with("];") && line.contains(&format!(" {item}[")));
    let by_rule = (is_array && !kernel.contains("defaultmap")).then(|| "tofrom".to_owned());
    let same = typed(data).is_some_and(|kind| typed(&kernel).or(by_rule) == Some(kind));
    same && !words(bytes, only).contains("nowait")
        && !names(&outside).contains(&name)
        && !has_other_name(original, body, &name)
        && !is_steered(body, only.start)
}

/// Does any control flow of the block stand around this place?
fn is_steered(block: &str, place: usize) -> bool {
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

fn reduction_item(_: &str, mutant: &Mutant) -> bool {
    let Some((kernel, _)) = &mutant.kernel else { return false };
    let text = kernel.as_bytes();
    let whole = 0..text.len();
    let combined = clauses(text, &whole, "reduction").any(|clause| {
        let list = kernel[clause].rsplit_once(':').map(|(_, list)| list.trim_end_matches(')').to_owned());
        list.is_some_and(|list| list.split(',').any(|item| item.trim() == mutant.what))
    });
    let mut maps = clauses(text, &whole, "map").map(|clause| Map::read(text, &clause));
    let both = maps.any(|map| map.modifiers == "tofrom" && map.items.contains(&mutant.what));
    mutant.operator.does == "drop-item" && combined && both
}

fn constant_scalar(original: &str, mutant: &Mutant) -> bool {
    let (Some((_, body)), Some((kernel, _))) = (&mutant.data, &mutant.kernel) else { return false };
    let name = &mutant.what;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !is_array(original, name);
    let text = mutant.around.as_bytes();
    let mut maps = clauses(text, &(0..text.len()), "map").map(|clause| Map::read(text, &clause));
    let copied = maps.any(|map| matches!(map.modifiers.as_str(), "to" | "tofrom") && map.items.contains(name));
    let combined = directives(body.as_bytes()).into_iter().any(|d| {
        let words = words(body.as_bytes(), &d);
        words.split_once("reduction(").is_some_and(|(_, list)| names(list).contains(name))
    });
    matches!(mutant.operator.does.as_str(), "drop-item" | "firstprivate")
        && plain
        && copied
        && !combined
        && !kernel.contains("defaultmap")
        && !written(body).contains(name)
        && !has_other_name(original, body, name)
}

fn idempotent(_: &str, mutant: &Mutant) -> bool {
    let Some((name, value)) = mutant.what.trim_end_matches(';').split_once(" = ") else { return false };
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let alone = written(&mutant.what).iter().all(|other| other == name) && !names(value).contains(name);
    mutant.operator.does == "repeat-statement" && plain && alone
}

fn alloc_always(_: &str, mutant: &Mutant) -> bool {
    let modifiers = Map::read(mutant.what.as_bytes(), &(0..mutant.what.len())).modifiers;
    mutant.operator.does == "drop-modifier" && modifiers.ends_with("alloc")
}

fn writes_nothing(_: &str, mutant: &Mutant) -> bool {
    let Some((_, statement)) = &mutant.kernel else { return false };
    let declares = |name: &String| TYPES.iter().any(|ty| statement.contains(&format!("{ty} {name} =")));
    mutant.operator.on == "kernel"
        && matches!(mutant.operator.does.as_str(), "drop-statement" | "drop-directive")
        && written(statement).iter().all(declares)
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
    String::from_utf8_lossy(&out).replace("#pragma omp", "           ")
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
        let before = code[..at].trim_end();
        let callee = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if !callee.is_empty() && !["for", "while", "if", "int", "unsigned"].contains(&callee) {
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
