//! Which way the data of a construct must travel: what it only reads need not come back, what it overwrites need not be brought.
//!
//! Only `tofrom` is narrowed, as written or by rule. Where the data are present the type means nothing; where they are absent, the copy that
//! is left out would have brought what its receiver has already, or what nothing reads.

use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{WIDTH, append_clauses, indent_of, line_start, on_one_line};
use crate::plan::{Change, Copies, Pass, Plan, Verdict};
use crate::semantics::symbols::VariableId;
use crate::source::{Span, Spelling};
use crate::syntax::{Clause, ClauseName, Directive};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::overwritten;
use crate::transforms::hoist_maps::storage::constant_bytes;

/// A map type that is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    To,
    From,
    Neither,
}

impl Direction {
    fn word(self) -> &'static str {
        match self {
            Self::To => "to",
            Self::From => "from",
            Self::Neither => "alloc",
        }
    }
}

/// What one construct needs less of.
struct Narrowed<'m> {
    mapping: &'m Mapping,
    items: Vec<(&'m Item, Direction)>,
}

/// The plans for all constructs, which are in the order of the text.
pub(super) fn decide(cx: &Context<'_>, all: &[Mapping]) -> Vec<Plan> {
    let is_free = |mapping: &Mapping| {
        (cx.is_wanted)(mapping.extent)
            && mapping.trouble.is_none()
            && cx.constructs.directive(mapping.id).spelling == Spelling::Pragma
    };
    let mut around: Vec<&Mapping> = Vec::new();
    let mut plans = Vec::new();
    for mapping in all {
        around.retain(|outer| outer.extent.contains(mapping.extent));
        if mapping.is_data {
            around.push(mapping);
        } else if is_free(mapping) {
            plans.extend(narrowed(cx, &around, mapping).and_then(|narrowed| plan(cx, &narrowed)));
        }
    }
    plans
}

/// What a construct within these `target data` constructs needs less of.
fn narrowed<'m>(cx: &Context<'_>, around: &[&Mapping], mapping: &'m Mapping) -> Option<Narrowed<'m>> {
    // What a `target data` around it maps is present, unless its own condition says no.
    let is_present = |item: &Item| around.iter().any(|outer| outer.item(item.named.id).is_some());
    let candidates = mapping.items.iter().filter(|item| item.to && item.from && item.trouble.is_none());
    let items: Vec<(&Item, Direction)> = candidates
        .filter(|item| !is_present(item))
        .filter_map(|item| Some((item, direction(cx, mapping, item)?)))
        .collect();
    (!items.is_empty()).then_some(Narrowed { mapping, items })
}

fn direction(cx: &Context<'_>, mapping: &Mapping, item: &Item) -> Option<Direction> {
    // Of constructs that overlap in time the last to end copies back what all of them have written.
    if cx.runs_together(&item.named, cx.owner(&item.named)).is_some() {
        return None;
    }
    if !mapping.writes(cx, &item.named) {
        return Some(Direction::To);
    }
    let is_brought =
        !overwritten::is_overwritten(cx, mapping, item) && !cx.is_unset_before(&item.named, mapping.extent);
    let comes_back = !cx.is_unread_behind(&item.named, mapping.extent);
    match (is_brought, comes_back) {
        (true, true) => None,
        (true, false) => Some(Direction::To),
        (false, true) => Some(Direction::From),
        (false, false) => Some(Direction::Neither),
    }
}

fn plan(cx: &Context<'_>, narrowed: &Narrowed<'_>) -> Option<Plan> {
    let mapping = narrowed.mapping;
    let directive = cx.constructs.directive(mapping.id);
    let named = |direction: Direction| {
        let names = narrowed.items.iter().filter(move |(_, own)| *own == direction);
        names.map(|(item, _)| format!("`{}`", item.named.name)).collect::<Vec<_>>().join(", ")
    };
    let said = [
        (Direction::To, "only brought to the device"),
        (Direction::From, "only brought back"),
        (Direction::Neither, "only on the device"),
    ];
    let said = said.map(|(direction, what)| (named(direction), what));
    let said: Vec<String> = said
        .into_iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, what)| format!("{names} {what}"))
        .collect();
    let count: usize = narrowed.items.iter().map(|(_, own)| if *own == Direction::Neither { 2 } else { 1 }).sum();
    let copies = if count == 1 { "a copy less".to_owned() } else { format!("{count} copies less") };
    let summary = format!("{}: {copies}", said.join(", "));
    let edits = edits(cx, directive, narrowed);
    (!edits.is_empty()).then(|| {
        let copies = Some(saved(cx, narrowed, count));
        Verdict::Change(Change { edits, summary, copies, ..Change::default() }).into_plan(
            Pass::Hoist,
            directive.span,
            mapping.extent,
        )
    })
}

/// The copies of what travels less: each item was copied both ways.
fn saved(cx: &Context<'_>, narrowed: &Narrowed<'_>, count: usize) -> Copies {
    let before = 2 * narrowed.items.len();
    let bytes = narrowed.items.iter().try_fold((0, 0), |(before, after), (item, direction)| {
        let size = constant_bytes(cx, item)?;
        let left = if *direction == Direction::Neither { 0 } else { size };
        Some((before + 2 * size, after + left))
    });
    Copies { before, after: before - count, bytes }
}

fn edits(cx: &Context<'_>, directive: &Directive, narrowed: &Narrowed<'_>) -> Vec<Edit> {
    let direction_of = |id: VariableId| {
        narrowed.items.iter().find(|(item, _)| item.named.id == id && item.is_explicit).map(|(_, direction)| *direction)
    };
    let mut edits: Vec<Edit> =
        directive.clauses_of(ClauseName::Map).filter_map(|clause| edit(cx, directive, clause, &direction_of)).collect();
    let implicit: Vec<&(&Item, Direction)> = narrowed.items.iter().filter(|(item, _)| !item.is_explicit).collect();
    let clause = |direction: Direction| {
        let names = implicit.iter().filter(|(_, own)| *own == direction).map(|(item, _)| item.text.as_str());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("map({}: {})", direction.word(), names.join(", ")))
    };
    let clauses: Vec<String> =
        [Direction::To, Direction::From, Direction::Neither].into_iter().filter_map(clause).collect();
    if !clauses.is_empty() {
        edits.push(append_clauses(cx.file, directive, &clauses));
    }
    edits
}

/// One `map` clause of which some items get another type: the type alone where all get the same.
fn edit(
    cx: &Context<'_>,
    directive: &Directive,
    clause: &Clause,
    direction_of: &dyn Fn(VariableId) -> Option<Direction>,
) -> Option<Edit> {
    let items = clause.items();
    let words = items.iter().map(|item| {
        let named = item.base.as_deref().and_then(|base| cx.named(base, item.span.start));
        let direction = named.and_then(|(named, _)| direction_of(named.id));
        (direction.map_or("tofrom", Direction::word), item.span)
    });
    let words: Vec<(&str, Span)> = words.collect();
    let (first, _) = *words.first()?;
    words.iter().any(|(word, _)| *word != "tofrom").then_some(())?;
    if words.iter().all(|(word, _)| *word == first) {
        let edit = match clause.modifiers.first() {
            Some(kind) => Edit { span: kind.span, text: first.to_owned() },
            None => {
                let start = items.first()?.span.start;
                Edit { span: Span::new(start, start), text: format!("{first}: ") }
            }
        };
        return Some(edit);
    }
    let of = |kind: &str| {
        let texts = words.iter().filter(|(word, _)| *word == kind).map(|(_, span)| on_one_line(cx.file, *span));
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| format!("map({kind}: {})", texts.join(", ")))
    };
    let clauses: Vec<String> = ["to", "from", "alloc", "tofrom"].into_iter().filter_map(of).collect();
    let start = line_start(&cx.file.text, clause.span.start);
    let rest = cx.file.text.get(clause.span.end..).unwrap_or_default().split(|byte| *byte == b'\n').next();
    let behind = rest.map_or(0, |rest| rest.trim_ascii_end().len());
    let mut width = clause.span.start - start;
    let mut text = String::new();
    for (index, clause) in clauses.iter().enumerate() {
        if index > 0 && width + 1 + clause.len() + behind > WIDTH {
            let layout = crate::edit::directive_writer::Layout::of(cx.file, directive);
            let indent = format!("{}    ", indent_of(cx.file, directive.span.start));
            text.push_str(&format!(" \\{}{indent}", layout.newline));
            width = indent.len();
        } else if index > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(clause);
        width += clause.len();
    }
    Some(Edit { span: clause.span, text })
}
