//! The text of steps that take turns.

use super::Turns;
use super::elements::{Exchange, Read};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, WIDTH, line_start, on_one_line, replace};
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::source::Span;
use crate::syntax::{Clause, ClauseName, ListItem};
use crate::transforms::checks::heads;
use crate::transforms::fuse_constructs::lists::Mapped;
use crate::transforms::two_forms::{self, Indents};

/// The second construct is replaced by a choice between a step that takes its turn and the copy. `None` where the text has no place for it.
pub(super) fn edit(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<Edit> {
    let Turns { cx, sweep, copy, around, .. } = *turns;
    let file = cx.file;
    let directive = cx.constructs.directive(sweep.id);
    let layout = Layout::of(file, directive);
    let body = cx.constructs.construct(sweep.id).body?;
    let whole = two_forms::lines_of(file, copy.region.extent);
    let lines = two_forms::lines_of(file, sweep.region.extent);
    let turned = two_forms::edited(file, lines, &turned(turns, exchange)?)?;
    let copying = std::str::from_utf8(file.bytes(whole)).ok()?;
    let Indents { indent, level } = Indents::of(cx, turns.extent(), body, &layout);
    let left = &exchange.computed;
    let comment = format!("The next step reads what this one has left in `{left}`, so that nothing is copied back.");
    let comment = two_forms::commented(cx, &comment);
    let (newline, counter) = (layout.newline, around.variable());
    let inside = |text: &str| two_forms::indented(text, &level);
    let text = format!(
        "{indent}{comment}{newline}{indent}if ({}) {{{newline}{indent}{level}{counter}++;{newline}{}{newline}{indent}}} else {{{newline}{}{newline}{indent}}}",
        around.has_two_more(cx),
        inside(&turned),
        inside(copying),
    );
    Some(Edit { span: whole, text })
}

/// The edits that let the first construct read what it has written in the step before.
fn turned(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<Vec<Edit>> {
    let Turns { cx, sweep, .. } = *turns;
    let Exchange { computed, copied_to, written, reads, .. } = exchange;
    let name_of = |span: Span, name: &str| Span::new(span.start, span.start + name.len());
    let mut edits = vec![Edit { span: name_of(*written, computed), text: copied_to.clone() }];
    let newline = Layout::of(cx.file, cx.constructs.directive(sweep.id)).newline;
    let mut lines = Lines { cx, newline, at: None };
    for read in reads {
        if !read.asks() {
            edits.push(Edit { span: name_of(read.span, copied_to), text: computed.clone() });
            continue;
        }
        let here = cx.file.show(read.span);
        let there = format!("{computed}{}", here.strip_prefix(copied_to.as_str())?);
        let text = format!("({} ? {there} : {here})", is_computed(cx, &sweep.loops, read));
        edits.push(lines.placed(read.span, text));
    }
    edits.extend(maps(turns, exchange));
    Some(edits)
}

/// Is the element one that the step before has computed?
fn is_computed(cx: &Context<'_>, loops: &[CanonicalLoop], read: &Read) -> String {
    let asked = loops.iter().zip(&read.apart).filter(|(_, steps)| **steps != 0).map(|(own, steps)| {
        let name = &own.variable;
        if *steps < 0 {
            let least = i128::from(cx.constant(own.lower).unwrap_or_default()) - steps - 1;
            return format!("{name} > {least}");
        }
        let relation = heads::relation(own);
        match (steps, own.relation) {
            (1, Relation::LessOrEqual) => format!("{name} < {}", heads::operand(&cx.file.show(own.upper))),
            (1, _) => format!("{name} + 1 {relation} {}", heads::operand(&cx.file.show(own.upper))),
            (steps, Relation::LessOrEqual) => format!("{} - {name} >= {steps}", heads::bound(cx, own)),
            (steps, _) => format!("{} - {name} > {steps}", heads::bound(cx, own)),
        }
    });
    asked.collect::<Vec<_>>().join(" && ")
}

/// Where accesses that became longer stand.
struct Lines<'a, 'c> {
    cx: &'a Context<'c>,
    newline: &'static str,
    /// The start of the line of the last one, the column of the first one in it, and the columns that the last line has so far.
    at: Option<(usize, usize, usize)>,
}

impl Lines<'_, '_> {
    /// The edit, with a line ending before it where the line would be too long.
    fn placed(&mut self, span: Span, text: String) -> Edit {
        let file = self.cx.file;
        let start = line_start(&file.text, span.start);
        let own = span.start - start;
        let edit = |span: Span, text: String| Edit { span, text };
        match self.at {
            Some((line, first, so_far)) if line == start => {
                let is_free = file.bytes(Span::new(span.start - 1, span.start)) == b" ";
                if so_far + text.len() > WIDTH && is_free {
                    let newline = self.newline;
                    self.at = Some((line, first, first + text.len() + 3));
                    let text = format!("{newline}{}{text}", " ".repeat(first));
                    return edit(Span::new(span.start - 1, span.end), text);
                }
                self.at = Some((line, first, so_far + text.len() + 3));
            }
            _ => self.at = Some((start, own, own + text.len() + 3)),
        }
        edit(span, text)
    }
}

/// The maps of a step that takes its turn: both arrays are read, and the other one is written. They stay where `tofrom` says so already, or
/// where both are on the device anyway.
fn maps(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<Edit> {
    let Turns { cx, sweep, .. } = *turns;
    let directive = cx.constructs.directive(sweep.id);
    let both = [&exchange.copied_to, &exchange.computed].map(|name| turns.items(name)[0]);
    let is_both_ways = |item: &Mapped| item.copies.to && item.copies.from;
    let are_held = [&exchange.computed, &exchange.copied_to].into_iter().all(|name| turns.is_held(name));
    if are_held || both.iter().flatten().all(|item| is_both_ways(item)) {
        return None;
    }
    let is_one = |item: &ListItem| both.iter().flatten().any(|own| own.span == item.span);
    let listed = |clause: &Clause| clause.items().iter().any(is_one);
    let mut clauses = Vec::new();
    let mut is_written = false;
    for clause in &directive.clauses {
        if clause.name != ClauseName::Map || !listed(clause) {
            clauses.push(on_one_line(cx.file, clause.span));
            continue;
        }
        if !is_written {
            let items: Vec<&str> = both.iter().flatten().map(|item| item.text.as_str()).collect();
            clauses.push(format!("map(tofrom: {})", items.join(", ")));
            is_written = true;
        }
        let others = clause.items().iter().filter(|item| !is_one(item));
        let others: Vec<String> = others.map(|item| on_one_line(cx.file, item.span)).collect();
        if !others.is_empty() {
            let kind = clause.modifiers.first().map_or("tofrom", |one| one.name.as_str());
            clauses.push(format!("map({kind}: {})", others.join(", ")));
        }
    }
    let layout = Layout::of(cx.file, directive);
    Some(replace(cx.file, directive, &layout.write(&directive.name, &clauses)))
}
