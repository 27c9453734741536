//! Operators on the environments that an output opens: the directives that a function has more than its original, `target data`,
//! `target update`, `target enter data`, `target exit data`, and what is asked before.

use std::collections::BTreeSet;
use std::ops::Range;

use super::directives::{Edit, items, whole};
use super::{Operator, edited};
use ompsplit::validate::host::directives::{added, clauses, directives, words};
use ompsplit::validate::host::map_clause::Map;

/// One thing done wrong in an output, in one of its functions, so that a file may have one of each function's.
#[derive(Clone, Debug)]
pub struct Planted {
    pub operator: Operator,
    /// The item, clause or directive that was changed.
    pub what: String,
    /// The part of the program that it is in, which runs alone.
    pub part: usize,
    edits: Vec<Edit>,
}

impl Planted {
    /// Something done wrong by edits of an output.
    pub fn new(operator: &Operator, what: String, part: usize, edits: Vec<Edit>) -> Self {
        Self { operator: operator.clone(), what, part, edits }
    }

    /// Is it the same change?
    pub fn is(&self, other: &Self) -> bool {
        self.edits == other.edits
    }
}

/// The output with these things done wrong, each in a part of its own.
pub fn with(output: &str, planted: &[&Planted]) -> String {
    edited(output, planted.iter().flat_map(|it| it.edits.clone()).collect())
}

/// All that can be done wrong in an output. `parts` are the pieces of the two texts that belong together.
pub fn planted(operators: &[Operator], original: &str, output: &str, parts: &[Part]) -> Vec<Planted> {
    let mut all = Vec::new();
    for part in parts {
        let (old, new) = (&original[part.original.clone()], &output[part.output.clone()]);
        let more = added(old.as_bytes(), new.as_bytes());
        let found = directives(output.as_bytes()).into_iter().filter(|d| part.output.contains(&d.start));
        let fresh: Vec<Range<usize>> = found.filter(|d| more.contains(&words(output.as_bytes(), d))).collect();
        for operator in operators.iter().filter(|operator| operator.on == "environment") {
            let mut made = Vec::new();
            for directive in &fresh {
                made.extend(of_directive(operator, output, directive));
            }
            made.extend(of_question(operator, output, part));
            all.extend(made.into_iter().map(|(what, edits)| Planted {
                operator: operator.clone(),
                what,
                part: part.number,
                edits,
            }));
        }
    }
    all
}

/// A piece of a program, in its original and in its output.
pub struct Part {
    pub number: usize,
    pub original: Range<usize>,
    pub output: Range<usize>,
}

/// What was changed, and how.
type Made = (String, Vec<Edit>);

fn of_directive(operator: &Operator, text: &str, directive: &Range<usize>) -> Vec<Made> {
    let said = words(text.as_bytes(), directive);
    let is = |name: &str| said.starts_with(name);
    let is_update = is("target update");
    let has_maps = is("target data map") || is("target enter data") || is("target exit data");
    match operator.does.as_str() {
        "drop-update" if is(&format!("target update {}(", operator.clause)) => {
            vec![(said, vec![lost(text, directive)])]
        }
        "turn-update" if is_update => turned(text, directive, &operator.clause).into_iter().collect(),
        "shorten-update" if is_update => {
            let lists = ["to", "from"].map(|way| clauses(text.as_bytes(), directive, way).next());
            lists.into_iter().flatten().flat_map(|list| shortened(text, &list)).collect()
        }
        "drop-condition" if is(&operator.clause) => {
            condition(text, directive).map(|(clause, _)| (said, vec![(clause, String::new())])).into_iter().collect()
        }
        "negate-condition" if is(&operator.clause) => condition(text, directive)
            .map(|(clause, inner)| (said, vec![(clause, format!("if(!({inner}))"))]))
            .into_iter()
            .collect(),
        "drop-term" if is(&operator.clause) && (!is_update || lists_parameter(text, directive)) => {
            let found = condition(text, directive).filter(|(_, inner)| inner.contains(&operator.from));
            let without = |inner: &str| inner.replacen(&operator.from, "1", 1);
            found.map(|(clause, inner)| (said, vec![(clause, format!("if({})", without(inner)))])).into_iter().collect()
        }
        "set-type" if has_maps => typed(operator, text, directive),
        "shorten-section" if has_maps => {
            clauses(text.as_bytes(), directive, "map").flat_map(|map| shortened(text, &map)).collect()
        }
        "drop-directive" if is(&operator.clause) => vec![(said, vec![lost(text, directive)])],
        _ => Vec::new(),
    }
}

/// The directive is lost; what it stands before stays a statement.
fn lost(text: &str, directive: &Range<usize>) -> Edit {
    whole(text, directive)
}

/// An update that goes the other way.
fn turned(text: &str, directive: &Range<usize>, from: &str) -> Option<Made> {
    let list = clauses(text.as_bytes(), directive, from).next()?;
    let other = if from == "to" { "from" } else { "to" };
    let new = text[list.clone()].replacen(from, other, 1);
    Some((text[list.clone()].to_owned(), vec![(list, new)]))
}

/// Each section of a list with more than one element, one element short.
fn shortened(text: &str, list: &Range<usize>) -> Vec<Made> {
    let inside = &text[list.clone()];
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut colon = None;
    for (at, c) in inside.char_indices() {
        match c {
            '[' => {
                depth += 1;
                colon = None;
            }
            ':' if depth == 1 => colon = Some(at),
            ']' => {
                depth = depth.saturating_sub(1);
                if let Some(colon) = colon.take().filter(|_| depth == 0) {
                    let length = list.start + colon + 1..list.start + at;
                    let old = &text[length.clone()];
                    if old.trim() != "1" {
                        found.push((format!("{old} in {inside}"), vec![(length, format!("({old}) - 1"))]));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Does an update list what a caller may have mapped: `p`, `q`, `r`?
fn lists_parameter(text: &str, directive: &Range<usize>) -> bool {
    let lists = ["to", "from"].into_iter().flat_map(|way| clauses(text.as_bytes(), directive, way));
    let mut lists = lists.map(|list| text[list].to_owned());
    lists.any(|list| list.split(['(', ' ', ',']).any(|item| is_parameter(item.split('[').next().unwrap_or_default())))
}

fn is_parameter(name: &str) -> bool {
    ["p", "q", "r"].contains(&name)
}

/// The `if` clause, and the expression in it.
fn condition<'t>(text: &'t str, directive: &Range<usize>) -> Option<(Range<usize>, &'t str)> {
    let clause = clauses(text.as_bytes(), directive, "if").next()?;
    let inner = text[clause.clone()].split_once('(')?.1.strip_suffix(')')?;
    Some((clause, inner))
}

/// Each item with another map type, of those that the directive may have.
fn typed(operator: &Operator, text: &str, directive: &Range<usize>) -> Vec<Made> {
    let said = words(text.as_bytes(), directive);
    let to = match operator.to.as_str() {
        "alloc" if said.starts_with("target exit data") => "release",
        "alloc" => "alloc",
        _ if !said.starts_with("target data") => return Vec::new(),
        other => other,
    };
    let mut found = Vec::new();
    for clause in clauses(text.as_bytes(), directive, "map") {
        if Map::read(text.as_bytes(), &clause).modifiers != operator.from {
            continue;
        }
        for (item, (range, rest)) in items(text, directive, |_, _| true) {
            if range == clause {
                let new = format!("{rest} map({to}: {item})");
                found.push((format!("{}: {item}", operator.from), vec![(range, new)]));
            }
        }
    }
    found
}

/// Before the environment opens: whether what a caller may have mapped is absent, taken for granted.
fn of_question(operator: &Operator, text: &str, part: &Part) -> Vec<Made> {
    if operator.does != "drop-question" {
        return Vec::new();
    }
    let inside = &text[part.output.clone()];
    let asked: BTreeSet<usize> = inside.match_indices("_there || ").map(|(at, _)| at).collect();
    let places = asked.into_iter().filter_map(|at| {
        let open = inside[..at].rfind(['(', '='])?;
        let end = at + inside[at..].find([')', ';'])?;
        let question = inside[open + 1..end].trim().to_owned();
        let name = question.rsplit(' ').next().unwrap_or_default();
        if !is_parameter(name) {
            return None;
        }
        let start = part.output.start + open + 1;
        Some((question, vec![(start..part.output.start + end, " 1".to_owned())]))
    });
    places.collect()
}
