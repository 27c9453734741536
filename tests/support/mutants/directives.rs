//! Operators on directives and their clauses.

use std::ops::Range;

use super::statements::{line_start, statement};
use super::{Mutant, Operator, Site, edited, mutant};
use ompsplit::validate::host::directives::{clauses, directives, words};
use ompsplit::validate::host::map_clause::{Map, base};

pub(super) type Edit = (Range<usize>, String);

/// Mutants of a new data construct.
pub(super) fn of_data(operator: &Operator, text: &str, site: &Site) -> Vec<Mutant> {
    let Some((data, _)) = &site.data else { return Vec::new() };
    let all = || std::iter::once(data).chain(&site.kernels);
    match operator.does.as_str() {
        "drop-item" => items(text, data, |_, _| true)
            .into_iter()
            .map(|(item, edit)| mutant(operator, edited(text, vec![edit]), item))
            .collect(),
        "drop-item-everywhere" => {
            let named = items(text, data, |_, _| true);
            let without = |item: &String| {
                let edits = all().flat_map(|d| items(text, d, |other, _| base(other) == base(item)));
                mutant(operator, edited(text, merged(text, edits.map(|(_, edit)| edit).collect())), item)
            };
            named.iter().map(|(item, _)| without(item)).collect()
        }
        "set-type" => types(operator, text, data, |_, _| true),
        "drop-directive" => vec![mutant(operator, edited(text, vec![whole(text, data)]), "target data")],
        "drop-clause-everywhere" => {
            let edits: Vec<Edit> = all().flat_map(|d| dropped_clauses(text, d, &operator.clause)).collect();
            if edits.is_empty() { Vec::new() } else { vec![mutant(operator, edited(text, edits), &operator.clause)] }
        }
        "drop-modifier" => {
            let found = clauses(text.as_bytes(), data, "map").filter_map(|clause| {
                let old = text.get(clause.clone())?.to_owned();
                let new = old.replacen(&format!("{}, ", operator.clause), "", 1);
                (new != old).then(|| mutant(operator, edited(text, vec![(clause, new)]), old))
            });
            found.collect()
        }
        "shorten-section" | "shift-section" => sections(operator, text, &all().cloned().collect::<Vec<_>>(), data),
        _ => Vec::new(),
    }
}

/// Mutants of one kernel.
pub(super) fn of_kernel(op: &Operator, text: &str, site: &Site, place: usize) -> Vec<Mutant> {
    let kernel = &site.kernels[place];
    let one = |edit: Edit, what: String| mutant(op, edited(text, vec![edit]), what);
    // What the data construct maps is present, so that the kernel's own map of it says nothing.
    let of_data = site.data.iter().flat_map(|(data, _)| items(text, data, |_, _| true));
    let present: Vec<String> = of_data.map(|(item, _)| base(&item)).collect();
    let is_absent = |item: &str, _: &str| !present.contains(&base(item));
    match op.does.as_str() {
        "drop-item" => items(text, kernel, is_absent).into_iter().map(|(item, edit)| one(edit, item)).collect(),
        "set-type" => types(op, text, kernel, is_absent),
        "firstprivate" => {
            let scalars = items(text, kernel, |item, _| !item.contains(['[', '.', '*']) && !is_array(text, item));
            let with =
                |(item, (range, rest)): (String, Edit)| one((range, format!("{rest} firstprivate({item})")), item);
            scalars.into_iter().map(with).collect()
        }
        "drop-clause" => {
            let found = clauses(text.as_bytes(), kernel, &op.clause);
            found.map(|range| one((range.clone(), String::new()), text[range].to_owned())).collect()
        }
        "rename-clause" => {
            let found = clauses(text.as_bytes(), kernel, &op.clause);
            found
                .map(|r| one((r.clone(), text[r.clone()].replacen(&op.clause, &op.to, 1)), text[r].to_owned()))
                .collect()
        }
        "other-operator" => clauses(text.as_bytes(), kernel, "reduction")
            .filter_map(|r| {
                let old = text[r.clone()].to_owned();
                let pairs =
                    [("+:", "*:"), ("max:", "min:"), ("min:", "max:"), ("^:", "|:"), ("*:", "+:"), ("-:", "*:")];
                let (from, to) = pairs.into_iter().find(|(from, _)| old.contains(from))?;
                Some(one((r, old.replacen(from, to, 1)), old))
            })
            .collect(),
        "add-clause" => vec![one((kernel.end..kernel.end, format!(" {}", op.clause)), words(text.as_bytes(), kernel))],
        "deepen-collapse" => {
            let edit = match clauses(text.as_bytes(), kernel, "collapse").next() {
                Some(range) => (range, "collapse(3)".to_owned()),
                None => (kernel.end..kernel.end, " collapse(2)".to_owned()),
            };
            vec![one(edit, words(text.as_bytes(), kernel))]
        }
        "drop-directive" => vec![one(whole(text, kernel), words(text.as_bytes(), kernel))],
        "drop-statement" => {
            let range = whole(text, kernel).0.start..statement(text, kernel.end).end;
            vec![one((range, ";".to_owned()), words(text.as_bytes(), kernel))]
        }
        "swap-statements" => swap(op, text, site, place).into_iter().collect(),
        "shorten-loop" => shorter(text, kernel).map(|edit| one(edit.clone(), edit.1)).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Mutants that lose a directive of the text by its name.
pub(super) fn of_text(operator: &Operator, text: &str) -> Vec<Mutant> {
    let found = directives(text.as_bytes());
    let named = found.iter().filter(|d| words(text.as_bytes(), d).starts_with(&operator.clause));
    let without = |d: &Range<usize>| mutant(operator, edited(text, vec![whole(text, d)]), words(text.as_bytes(), d));
    named.map(without).collect()
}

/// The items of a directive's maps, each with the edit that takes it away.
pub(super) fn items(text: &str, directive: &Range<usize>, wanted: impl Fn(&str, &str) -> bool) -> Vec<(String, Edit)> {
    let mut found = Vec::new();
    for clause in clauses(text.as_bytes(), directive, "map") {
        let map = Map::read(text.as_bytes(), &clause);
        for item in map.items.iter().filter(|item| wanted(item, &map.modifiers)) {
            let rest: Vec<&str> = map.items.iter().filter(|other| *other != item).map(String::as_str).collect();
            let new =
                if rest.is_empty() { String::new() } else { format!("map({}: {})", map.modifiers, rest.join(", ")) };
            found.push((item.clone(), (clause.clone(), new)));
        }
    }
    found
}

/// One edit where several change one clause: items of the same base.
fn merged(text: &str, edits: Vec<Edit>) -> Vec<Edit> {
    let mut all: Vec<Edit> = Vec::new();
    for (range, new) in edits {
        match all.iter_mut().find(|(other, _)| *other == range) {
            Some((_, old)) if new.len() < old.len() => *old = new,
            Some(_) => {}
            None => all.push((range, new)),
        }
    }
    all.retain(|(range, _)| text.get(range.clone()).is_some());
    all
}

fn types(
    operator: &Operator,
    text: &str,
    directive: &Range<usize>,
    wanted: impl Fn(&str, &str) -> bool,
) -> Vec<Mutant> {
    let has_type = |modifiers: &str| modifiers.split([',', ' ']).any(|word| word == operator.from);
    let mut found = Vec::new();
    for clause in clauses(text.as_bytes(), directive, "map") {
        let modifiers = Map::read(text.as_bytes(), &clause).modifiers;
        if !has_type(&modifiers) {
            continue;
        }
        for (item, (range, rest)) in items(text, directive, &wanted).into_iter().filter(|(_, (r, _))| *r == clause) {
            let new: Vec<&str> = modifiers
                .split(", ")
                .map(|word| if word == operator.from { operator.to.as_str() } else { word })
                .collect();
            let edit = (range, format!("{rest} map({}: {item})", new.join(", ")));
            found.push(mutant(operator, edited(text, vec![edit]), item));
        }
    }
    found
}

fn dropped_clauses(text: &str, directive: &Range<usize>, name: &str) -> Vec<Edit> {
    clauses(text.as_bytes(), directive, name).map(|range| (range, String::new())).collect()
}

/// A section made one element shorter, at its end or at its beginning, wherever it stands.
fn sections(operator: &Operator, text: &str, all: &[Range<usize>], data: &Range<usize>) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (item, _) in items(text, data, |item, _| item.contains(':')) {
        let Some((front, section)) = item.rsplit_once('[') else { continue };
        let Some((low, length)) = section.trim_end_matches(']').split_once(':') else { continue };
        let low = if low.trim().is_empty() { "0" } else { low };
        let new = match operator.does.as_str() {
            "shorten-section" => format!("{front}[{low}:({length}) - 1]"),
            _ => format!("{front}[({low}) + 1:({length}) - 1]"),
        };
        let mut edits = Vec::new();
        for directive in all {
            for clause in clauses(text.as_bytes(), directive, "map") {
                let old = &text[clause.clone()];
                if old.contains(&item) {
                    edits.push((clause, old.replacen(&item, &new, 1)));
                }
            }
        }
        found.push(mutant(operator, edited(text, edits), item));
    }
    found
}

/// The lines of a directive.
pub(super) fn whole(text: &str, directive: &Range<usize>) -> Edit {
    let start = line_start(text, directive.start);
    (start..(directive.end + 1).min(text.len()), String::new())
}

fn swap(operator: &Operator, text: &str, site: &Site, place: usize) -> Option<Mutant> {
    let (first, second) = (site.kernels.get(place)?, site.kernels.get(place + 1)?);
    let extent = |kernel: &Range<usize>| line_start(text, kernel.start)..statement(text, kernel.end).end;
    let (one, two) = (extent(first), extent(second));
    if one.end > two.start || !text.get(one.end..two.start)?.trim().is_empty() {
        return None;
    }
    let (first, second) = (text.get(one.clone())?.to_owned(), text.get(two.clone())?.to_owned());
    Some(mutant(operator, edited(text, vec![(one, second), (two, first)]), "two kernels"))
}

/// The condition of a kernel's loop with a bound that is off by one.
fn shorter(text: &str, kernel: &Range<usize>) -> Option<Edit> {
    let open = kernel.end + text.get(kernel.end..)?.find("for")?;
    let first = open + text.get(open..)?.find(';')?;
    let second = first + 1 + text.get(first + 1..)?.find(';')?;
    let condition = text.get(first + 1..second)?;
    let new = if condition.contains('<') && !condition.trim_start().starts_with('0') {
        format!("{condition} - 1")
    } else if condition.contains('>') && condition.trim_end().ends_with('0') {
        format!("{condition} + 1")
    } else {
        return None;
    };
    Some((first + 1..second, new))
}

/// Is a name subscripted anywhere?
pub(super) fn is_array(text: &str, name: &str) -> bool {
    text.contains(&format!("{name}["))
}
