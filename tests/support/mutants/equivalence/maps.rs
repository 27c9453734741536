//! Mutants whose maps are others.

use std::collections::BTreeSet;
use std::ops::Range;

use super::texts::{conditions, has_other_name, is_steered, items_of, last_name, names, written};
use crate::support::mutants::Mutant;
use crate::support::mutants::directives::is_array;
use crate::support::mutants::statements::statement;
use ompsplit::validate::host::directives::{clauses, directives, is_kernel, words};
use ompsplit::validate::host::map_clause::{Map, base};

pub(super) fn restated(original: &str, mutant: &Mutant) -> bool {
    let mapped = items_of(&mutant.around).contains(&mutant.what);
    let from_start = mutant.what.contains("[0:") || mutant.what.contains("[:") || !mutant.what.contains('[');
    let aggregate = mutant.what.contains('[') || is_array(original, &mutant.what) || mutant.what == "box";
    let op = &mutant.operator;
    op.on == "kernel" && mapped && (op.does == "set-type" || op.does == "drop-item" && aggregate && from_start)
}

pub(super) fn present_before(original: &str, mutant: &Mutant) -> bool {
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

pub(super) fn unused(original: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let harmless =
        matches!(op.does.as_str(), "drop-item" | "drop-item-everywhere" | "shorten-section" | "shift-section")
            || (op.does == "set-type" && matches!(op.to.as_str(), "to" | "alloc"));
    let name = last_name(&mutant.what);
    op.on == "data" && harmless && !names(body).contains(&name) && !has_other_name(original, body, &name)
}

pub(super) fn never_written(original: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let name = last_name(&mutant.what);
    let kind = op.does == "set-type" && op.on == "data" && op.from == "tofrom" && op.to == "to";
    kind && !written(body).contains(&name) && !has_other_name(original, body, &name)
}

pub(super) fn host_only(original: &str, mutant: &Mutant) -> bool {
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

pub(super) fn used_once(original: &str, mutant: &Mutant) -> bool {
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

pub(super) fn reduction_item(_: &str, mutant: &Mutant) -> bool {
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

pub(super) fn constant_scalar(original: &str, mutant: &Mutant) -> bool {
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

pub(super) fn alloc_always(_: &str, mutant: &Mutant) -> bool {
    let modifiers = Map::read(mutant.what.as_bytes(), &(0..mutant.what.len())).modifiers;
    mutant.operator.does == "drop-modifier" && modifiers.ends_with("alloc")
}
