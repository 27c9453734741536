//! Mutants whose maps are others.

use std::ops::Range;

use super::texts::{
    conditions, has_other_name, is_declared_array, is_steered, items_of, last_name, names, reduced, written,
};
use crate::support::mutants::Mutant;
use crate::support::mutants::directives::is_array;
use crate::support::mutants::statements::{line_start, statement};
use ompsplit::validate::host::directives::{clauses, directives, is_kernel, words};
use ompsplit::validate::host::map_clause::{Map, base};

pub(super) fn restated(original: &str, mutant: &Mutant) -> bool {
    let item = &mutant.what;
    let always = mutant.kernel.as_ref().is_none_or(|(kernel, _)| kernel.contains("always"));
    let mapped = items_of(&mutant.around).contains(item) || (!always && is_present(mutant, item));
    // The pointer's own target is one of the elements: a section of the programs that begins before it is longer than that.
    let from_start = ["[0:", "[:", "[-4:n"].iter().any(|low| item.contains(low)) || !item.contains('[');
    let aggregate = item.contains('[') || is_array(original, item) || item == "box";
    let op = &mutant.operator;
    op.on == "kernel" && mapped && (op.does == "set-type" || op.does == "drop-item" && aggregate && from_start)
}

pub(super) fn present_before(_: &str, mutant: &Mutant) -> bool {
    let Some((data, _)) = &mutant.data else { return false };
    let kinds = ["set-type", "drop-item", "drop-item-everywhere", "shorten-section", "shift-section"];
    let all = mutant.operator.does == "drop-directive" && items_of(data).iter().all(|item| is_present(mutant, item));
    let one = kinds.contains(&mutant.operator.does.as_str()) && is_present(mutant, &mutant.what);
    mutant.operator.on == "data" && !data.contains("always") && (all || one)
}

/// Is the item present where the changed directive stands, by a data construct around it or one before it in its function?
fn is_present(mutant: &Mutant, item: &str) -> bool {
    let text = mutant.text.as_str();
    let Some(before) = text.get(..mutant.at) else { return false };
    let bytes = before.as_bytes();
    let holds = |said: &str| {
        let of_struct = |other: &String| base(item).starts_with("box") && other == "box";
        items_of(said).iter().map(|other| base(other)).any(|other| other == base(item) || of_struct(&other))
    };
    let always = |said: &str| !said.contains(" if(") && !said.contains(" device(") && !said.contains("nowait");
    let own = mutant.kernel.as_ref().or(mutant.data.as_ref()).map_or("", |(said, _)| said.as_str());
    if own.replace(" device(0)", "").contains(" device(") {
        return false;
    }
    directives(bytes).into_iter().any(|directive| {
        let said = words(bytes, &directive);
        if !always(&said) || !holds(&said) {
            return false;
        }
        if said.starts_with("target enter data") {
            let behind = &before[directive.end..];
            let gone = |other: Range<usize>| {
                let said = words(behind.as_bytes(), &other);
                said.starts_with("target exit data") && holds(&said)
            };
            let guard = before[..line_start(before, directive.start)].trim_end();
            guard.ends_with([';', '{', '}'])
                && stays_open(behind)
                && !directives(behind.as_bytes()).into_iter().any(gone)
        } else {
            said.starts_with("target data") && statement(text, directive.end).contains(&mutant.at)
        }
    })
}

/// Does no brace of a text close a block that it does not open?
fn stays_open(text: &str) -> bool {
    let mut depth = 0_i32;
    text.chars().all(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth >= 0
    })
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
    // What is copied to the device for nothing.
    let idle = |item: &String| {
        let name = last_name(item);
        let bytes = data.as_bytes();
        let mut maps = clauses(bytes, &(0..bytes.len()), "map").map(|clause| Map::read(bytes, &clause));
        let there = maps.any(|map| matches!(map.modifiers.as_str(), "to" | "alloc") && map.items.contains(item));
        there && !names(body).contains(&name) && !has_other_name(original, body, &name)
    };
    op.on == "data"
        && match op.does.as_str() {
            "drop-item" => once(&mutant.what),
            "drop-item-everywhere" => once(&mutant.what) && is_mapped_by_rule(original, body, &mutant.what),
            "drop-directive" => !data.contains("if(") && items_of(data).iter().all(|item| once(item) || idle(item)),
            _ => false,
        }
}

/// Does no kernel map the item by a clause?
fn is_mapped_by_rule(original: &str, body: &str, item: &str) -> bool {
    let bytes = body.as_bytes();
    let mut named = directives(bytes).into_iter().flat_map(|d| items_of(&words(bytes, &d)));
    is_declared_array(original, item) && !named.any(|other| base(&other) == item)
}

/// Does a kernel of these words map arrays `tofrom` that no clause names?
fn maps_arrays_by_rule(kernel: &str) -> bool {
    !kernel.replace("defaultmap(tofrom: scalar)", "").contains("defaultmap")
}

pub(super) fn by_rule(original: &str, mutant: &Mutant) -> bool {
    let Some((kernel, _)) = &mutant.kernel else { return false };
    let bytes = kernel.as_bytes();
    let mut maps = clauses(bytes, &(0..bytes.len()), "map").map(|clause| Map::read(bytes, &clause));
    let both = maps.any(|map| map.modifiers == "tofrom" && map.items.contains(&mutant.what));
    let op = &mutant.operator;
    let dropped = op.on == "kernel" && op.does == "drop-item";
    dropped
        && both
        && is_declared_array(original, &mutant.what)
        && maps_arrays_by_rule(kernel)
        && !kernel.contains("default(none)")
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
    let by_rule = (is_declared_array(original, item) && maps_arrays_by_rule(&kernel)).then(|| "tofrom".to_owned());
    let same = typed(data).is_some_and(|kind| typed(&kernel).or(by_rule) == Some(kind));
    same && !words(bytes, only).contains("nowait")
        && !names(&outside).contains(&name)
        && !has_other_name(original, body, &name)
        && !is_steered(body, only.start)
}

pub(super) fn reduction_item(_: &str, mutant: &Mutant) -> bool {
    let name = &mutant.what;
    let Some((kernel, _)) = &mutant.kernel else { return false };
    let text = kernel.as_bytes();
    let mut maps = clauses(text, &(0..text.len()), "map").map(|clause| Map::read(text, &clause));
    let both = maps.any(|map| map.modifiers == "tofrom" && map.items.contains(name));
    mutant.operator.does == "drop-item" && reduced(kernel).contains(name) && both
}

pub(super) fn through_host(original: &str, mutant: &Mutant) -> bool {
    let everywhere = mutant.operator.does == "drop-item-everywhere";
    let Some((data, body)) = &mutant.data else { return false };
    let (name, bytes) = (&mutant.what, body.as_bytes());
    let text = data.as_bytes();
    let mut maps = clauses(text, &(0..text.len()), "map").map(|clause| Map::read(text, &clause));
    let both = maps.any(|map| map.modifiers == "tofrom" && map.items.contains(name));
    let mut rest = body.clone();
    let mut combines = true;
    for kernel in directives(bytes).into_iter().filter(|d| is_kernel(&words(bytes, d))) {
        let inside = statement(body, kernel.end);
        if names(&body[inside.clone()]).contains(name) {
            let said = words(bytes, &kernel);
            let mut maps =
                clauses(said.as_bytes(), &(0..said.len()), "map").map(|clause| Map::read(said.as_bytes(), &clause));
            let mapped = !everywhere && maps.any(|map| map.modifiers == "tofrom" && map.items.contains(name));
            let on_device = conditions(&said).iter().all(|it| it.parse::<u32>().is_ok_and(|value| value != 0));
            combines &= (mapped || reduced(&said).contains(name)) && !said.contains("nowait") && on_device;
            rest.replace_range(inside.clone(), &" ".repeat(inside.len()));
        }
    }
    let dropped = mutant.operator.on == "data" && (everywhere || mutant.operator.does == "drop-item");
    let on_device = conditions(data).iter().all(|it| it.parse::<u32>().is_ok_and(|value| value != 0));
    dropped
        && both
        && on_device
        && combines
        && !name.contains(['[', '.'])
        && !is_array(original, name)
        && !names(&rest).contains(name)
        && !has_other_name(original, body, name)
}

pub(super) fn constant_scalar(original: &str, mutant: &Mutant) -> bool {
    let Some((data, body)) = &mutant.data else { return false };
    let everywhere = mutant.operator.does == "drop-item-everywhere";
    let (kernel, around) = match &mutant.kernel {
        Some((kernel, _)) => (kernel, &mutant.around),
        // Where scalars are mapped `tofrom` by rule, each kernel copies the same value there and back.
        None if (everywhere || mutant.operator.does == "drop-item")
            && !body.replace("defaultmap(tofrom: scalar)", "").contains("defaultmap")
            && !body.contains("default(none")
            && kernels_copy(body, &mutant.what) =>
        {
            (data, data)
        }
        None => return false,
    };
    let name = &mutant.what;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !is_array(original, name);
    let text = around.as_bytes();
    let mut maps = clauses(text, &(0..text.len()), "map").map(|clause| Map::read(text, &clause));
    let copied = maps.any(|map| matches!(map.modifiers.as_str(), "to" | "tofrom") && map.items.contains(name));
    let combined = directives(body.as_bytes()).into_iter().any(|d| {
        let words = words(body.as_bytes(), &d);
        words.split_once("reduction(").is_some_and(|(_, list)| names(list).contains(name))
    });
    (everywhere || matches!(mutant.operator.does.as_str(), "drop-item" | "firstprivate"))
        && plain
        && copied
        && !combined
        && !kernel.contains("defaultmap(none")
        && !kernel.contains("default(none")
        && !written(body).contains(name)
        && !has_other_name(original, body, name)
}

/// Does every map of an item in a region bring its value to the device?
fn kernels_copy(body: &str, item: &String) -> bool {
    let bytes = body.as_bytes();
    let maps = directives(bytes).into_iter().flat_map(|d| clauses(bytes, &d, "map").collect::<Vec<_>>());
    let mut maps = maps.map(|clause| Map::read(bytes, &clause)).filter(|map| map.items.contains(item));
    maps.all(|map| matches!(map.modifiers.as_str(), "to" | "tofrom"))
}

pub(super) fn alloc_always(_: &str, mutant: &Mutant) -> bool {
    let modifiers = Map::read(mutant.what.as_bytes(), &(0..mutant.what.len())).modifiers;
    mutant.operator.does == "drop-modifier" && modifiers.ends_with("alloc")
}
