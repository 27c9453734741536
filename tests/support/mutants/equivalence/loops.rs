//! Mutants whose rules rest on what the loops of a kernel cover.

use std::collections::BTreeSet;

use super::texts::{TYPES, conditions, has_other_name, last_name, mentions, names, reduced, written};
use crate::support::mutants::Mutant;
use crate::support::mutants::statements::statement;
use ompsplit::validate::host::directives::{clauses, closing, directives, is_kernel, words};

/// The head of a `for` loop that counts by a constant.
struct Head {
    variable: String,
    /// The least value that the variable may have.
    low: String,
    /// What all its values are below.
    bound: String,
    /// Does it have every value in between?
    every: bool,
    /// What is repeated.
    body: String,
}

impl Head {
    fn read(loop_text: &str) -> Option<Self> {
        let text = loop_text.trim();
        let open = text.strip_prefix("for").map(|rest| text.len() - rest.trim_start().len())?;
        let close = closing(text.as_bytes(), open, b'(', b')');
        let mut parts = text.get(open + 1..close)?.split(';').map(str::trim);
        let (init, condition, step) = (parts.next()?, parts.next()?, parts.next()?);
        let (declared, first) = init.split_once(" = ")?;
        let variable = declared.split_whitespace().last()?.to_owned();
        let v = variable.as_str();
        let body = text.get(close + 1..)?.to_owned();
        let ones = [format!("{v}++"), format!("++{v}"), format!("{v} += 1"), format!("{v} = {v} + 1")];
        let back = [format!("{v}--"), format!("--{v}"), format!("{v} -= 1")];
        let steps = |sign: &str| step.strip_prefix(&format!("{v} {sign} ")).is_some_and(|n| n.parse::<u32>().is_ok());
        let (low, bound) = if ones.iter().any(|one| one == step) || steps("+=") {
            let below = [" < ", " != "].iter().find_map(|sign| condition.strip_prefix(&format!("{v}{sign}")));
            let above = || condition.strip_suffix(&format!(" > {v}"));
            let to = || condition.strip_prefix(&format!("{v} <= "))?.strip_suffix(" - 1");
            (first, below.or_else(above).or_else(to)?)
        } else if back.iter().any(|one| one == step) || steps("-=") {
            let low = if condition == format!("{v} >= 0") { "0" } else { "1" };
            let condition = condition.strip_prefix(&format!("{v} > ")).or(condition.strip_prefix(&format!("{v} >= ")));
            (condition.filter(|to| *to == "0").map(|_| low)?, first.strip_suffix(" - 1")?)
        } else {
            return None;
        };
        let every = ones.iter().chain(&back).any(|one| one == step);
        Some(Self { low: low.to_owned(), bound: plain(bound), every, body, variable })
    }
}

/// An expression without blanks, casts to `unsigned` and parentheses around it.
fn plain(expression: &str) -> String {
    let text = expression.replace(' ', "").replace("(unsigned)", "");
    match text.strip_prefix('(') {
        Some(_) if closing(text.as_bytes(), 0, b'(', b')') + 1 == text.len() => plain(&text[1..text.len() - 1]),
        _ => text,
    }
}

/// The statements of a block, or the one statement that a text is.
fn statements(text: &str) -> Vec<&str> {
    let text = text.trim();
    let inside = match text.strip_prefix('{') {
        Some(_) => &text[1..closing(text.as_bytes(), 0, b'{', b'}').min(text.len())],
        None => text,
    };
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let one = statement(inside, at);
        if one.is_empty() {
            return found;
        }
        found.push(&inside[one.clone()]);
        at = one.end;
    }
}

/// Takes this mutant away what the item's elements are at the beginning of the region, each of which the first kernel that
/// names it assigns before anything reads it?
pub(super) fn overwritten(original: &str, mutant: &Mutant) -> bool {
    let Some((data, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let types = [("tofrom", "from"), ("to", "alloc")].contains(&(op.from.as_str(), op.to.as_str()));
    let section = mutant.what.split_once("[0:").and_then(|(name, length)| Some((name, length.strip_suffix(']')?)));
    let Some((name, length)) = section.filter(|(name, _)| last_name(name) == *name) else { return false };
    let kept = written(body).is_disjoint(&names(length));
    op.on == "data"
        && op.does == "set-type"
        && types
        && kept
        && !data.contains("nowait")
        && !has_other_name(original, body, name)
        && is_overwritten_first(data, body, name, &plain(length))
}

/// Does the first statement of a block that names an array assign all its elements?
fn is_overwritten_first(data: &str, block: &str, name: &str, length: &str) -> bool {
    // Before it, iterations may assign and read elements of their own.
    let own = |one: &&str| {
        let directive = directives(one.as_bytes()).into_iter().next().filter(|_| one.starts_with('#'));
        directive.is_some_and(|directive| is_assigned_first(&one[directive.end..], name))
    };
    let mut naming = statements(block).into_iter().filter(|one| names(one).contains(name)).peekable();
    let mut last = None;
    while let Some(first) = naming.next_if(own) {
        if is_overwritten_by(data, first, name, length) {
            return true;
        }
        last = Some(first);
    }
    let first = naming.next().or(last);
    first.is_some_and(|first| match first.starts_with('{') {
        true => is_overwritten_first(data, first, name, length),
        false => is_overwritten_by(data, first, name, length),
    })
}

/// Is a statement a kernel on the device that assigns all elements?
fn is_overwritten_by(data: &str, first: &str, name: &str, length: &str) -> bool {
    let bytes = first.as_bytes();
    let Some(directive) = directives(bytes).into_iter().next().filter(|_| first.starts_with('#')) else { return false };
    let said = words(bytes, &directive);
    let device = |text: &str| {
        let bytes = text.as_bytes();
        clauses(bytes, &(0..bytes.len()), "device").map(|range| text[range].to_owned()).collect::<Vec<_>>()
    };
    let on_device = conditions(&said).iter().all(|condition| condition.parse::<u32>().is_ok_and(|value| value != 0));
    is_kernel(&said)
        && on_device
        && device(&said) == device(data)
        && !said.contains("nowait")
        && assigns_all(&first[directive.end..], name, length)
}

/// Does a loop assign `name[0]` to `name[length - 1]`, each before it uses it?
fn assigns_all(loop_text: &str, name: &str, length: &str) -> bool {
    let takes_all = |head: &Head| head.low == "0" && head.every && !written(&head.body).contains(&head.variable);
    let Some(head) = Head::read(loop_text).filter(takes_all) else { return false };
    if head.bound == length {
        return assigns_first(&head.body, name, &[head.variable.clone(), format!("({})", head.variable)]);
    }
    let inner = statements(&head.body).into_iter().find(|one| names(one).contains(name));
    let Some(inner) = inner.and_then(Head::read).filter(takes_all) else { return false };
    let place = format!("{} * {} + {}", head.variable, inner.bound, inner.variable);
    length == format!("{}*{}", head.bound, inner.bound)
        && !jumps(&head.body)
        && assigns_first(&inner.body, name, &[format!("({place})"), place])
}

/// Is the first statement that names the array an assignment to this element, which does not read the array?
fn assigns_first(body: &str, name: &str, places: &[String]) -> bool {
    let Some(first) = statements(body).into_iter().find(|one| names(one).contains(name)) else { return false };
    if jumps(body) {
        return false;
    }
    if first.starts_with('{') {
        return assigns_first(first, name, places);
    }
    let value = places.iter().find_map(|place| first.strip_prefix(&format!("{name}[{place}] = ")));
    value.is_some_and(|value| !names(value).contains(name))
}

fn jumps(text: &str) -> bool {
    let found = names(text);
    ["continue", "break", "goto", "return"].iter().any(|word| found.contains(*word))
}

/// Takes this mutant away what the item's elements are at the beginning, where nothing reads an element but an iteration that has
/// assigned it, and nothing is copied back?
pub(super) fn assigned_before_read(original: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let name = last_name(&mutant.what);
    let kernels: Vec<_> =
        directives(body.as_bytes()).into_iter().filter(|d| is_kernel(&words(body.as_bytes(), d))).collect();
    let mut inside = kernels.iter().map(|d| &body[statement(body, d.end)]).filter(|one| names(one).contains(&name));
    let (Some(one), None) = (inside.next(), inside.next()) else { return false };
    op.on == "data"
        && (op.does.as_str(), op.from.as_str(), op.to.as_str()) == ("set-type", "to", "alloc")
        && mentions(body, &name) == mentions(one, &name)
        && !has_other_name(original, body, &name)
        && is_assigned_first(one, &name)
}

/// Is the first of a statement's statements that name an array an assignment to an element, in a block whose other mentions are all of
/// that element, and outside of which none is?
fn is_assigned_first(text: &str, name: &str) -> bool {
    let all = statements(text);
    let naming: Vec<&str> = all.iter().copied().filter(|one| names(one).contains(name)).collect();
    let Some(first) = naming.first().copied().filter(|_| !jumps(text)) else { return false };
    if let Some(head) = Head::read(first) {
        return naming.len() == 1 && is_assigned_first(&head.body, name);
    }
    if first.starts_with('{') && naming.len() == 1 {
        return is_assigned_first(first, name);
    }
    let own = if first.starts_with('{') { statements(first) } else { vec![first] };
    let first = own.into_iter().find(|one| names(one).contains(name)).unwrap_or_default();
    let Some(rest) = first.strip_prefix(&format!("{name}[")) else { return false };
    let close = closing(first.as_bytes(), name.len(), b'[', b']');
    let (Some(place), Some(value)) = (first.get(name.len() + 1..close), first.get(close + 1..)) else { return false };
    let same = text.matches(&format!("{name}[{place}]")).count();
    !rest.is_empty()
        && value.starts_with(" = ")
        && !names(value).contains(name)
        && same == mentions(text, name)
        && written(text).is_disjoint(&names(place))
}

/// Does no iteration reach the element that the section has no more, at its beginning or its end?
pub(super) fn not_reached(original: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let section = mutant.what.split_once("[0:").and_then(|(name, length)| Some((name, length.strip_suffix(']')?)));
    let Some((name, length)) = section.filter(|(name, _)| last_name(name) == *name) else { return false };
    let bytes = body.as_bytes();
    let mut left = mentions(body, name);
    for kernel in directives(bytes).into_iter().filter(|d| is_kernel(&words(bytes, d))) {
        let text = &body[statement(body, kernel.end)];
        let count = mentions(text, name);
        let Some(head) = Head::read(text).filter(|_| count > 0) else { continue };
        let is_inside = match op.does.as_str() {
            "shift-section" => head.low.parse::<u32>().is_ok_and(|low| low > 0),
            "shorten-section" => head.bound == format!("{}-1", plain(length)),
            _ => false,
        };
        let own = text.matches(&format!("{name}[{}]", head.variable)).count();
        if is_inside && own == count && !written(&head.body).contains(&head.variable) {
            left -= count;
        }
    }
    let shorter = matches!(op.does.as_str(), "shift-section" | "shorten-section");
    op.on == "data"
        && shorter
        && left == 0
        && written(body).is_disjoint(&names(length))
        && !has_other_name(original, body, name)
}

/// Does each iteration of the loop that is collapsed as well write elements of its own alone, which no other one names?
pub(super) fn own_element(original: &str, mutant: &Mutant) -> bool {
    let Some((said, loop_text)) = &mutant.kernel else { return false };
    let plain_kernel = !said.contains("collapse(") && !said.contains("private(") && !said.contains("linear(");
    let (Some(outer), true) = (Head::read(loop_text), plain_kernel) else { return false };
    let body = statements(&outer.body);
    let [inner_text] = body[..] else { return false };
    let Some(inner) = Head::read(inner_text) else { return false };
    let bounds: BTreeSet<String> = [&inner.low, &inner.bound].into_iter().flat_map(|text| names(text)).collect();
    let is_natural = inner.low.parse::<u32>().is_ok();
    let writes = written(&inner.body);
    let place = format!("[({} * {} + {})]", outer.variable, inner.bound, inner.variable);
    let combined = reduced(said);
    let own = |name: &String| {
        let declared = TYPES.iter().any(|ty| inner.body.contains(&format!("{ty} {name} =")));
        let alone = mentions(loop_text, name) == loop_text.matches(&format!("{name}{place}")).count();
        declared || combined.contains(name) || (alone && !has_other_name(original, loop_text, name))
    };
    mutant.operator.does == "deepen-collapse"
        && is_natural
        && !bounds.contains(&outer.variable)
        && bounds.is_disjoint(&writes)
        && !writes.contains(&outer.variable)
        && !writes.contains(&inner.variable)
        && writes.iter().all(own)
}
