//! The text of steps that take turns.

use super::elements::{Exchange, Read};
use super::{Order, Turns};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, WIDTH, indent_of, line_start, on_one_line, replace};
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::source::{SourceFile, Span};
use crate::syntax::{Clause, ClauseName, ListItem};
use crate::transforms::checks::heads;
use crate::transforms::fuse_constructs::lists::Mapped;
use crate::transforms::fuse_constructs::members::Member;
use crate::transforms::two_forms::{self, Indents};

/// The variable that says which array has what the last step computed.
const NEWEST: &str = "newest";

/// A choice between both forms of a step in the place of both constructs, and the copies behind the loop. `None` where the text has no place for them.
pub(super) fn edits(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<Vec<Edit>> {
    let Turns { cx, sweep, steps, .. } = turns;
    let file = cx.file;
    let layout = Layout::of(file, cx.constructs.directive(sweep.id));
    let Indents { indent, level } = Indents::of(cx, steps.both, cx.constructs.construct(sweep.id).body?, &layout);
    let (newline, outer) = (layout.newline, indent_of(file, steps.span.start));
    let newest = if steps.is_in_block { cx.fresh(NEWEST) } else { cx.fresh_in(steps.span, NEWEST) };
    let [as_it_is, turned] = sweeps(turns, exchange)?.map(|text| two_forms::indented(&text, &level));
    let first = match turns.order {
        Order::ComputesFirst => String::new(),
        Order::CopiesFirst => {
            let [copy, comments] = copied_first(turns)?;
            let copy = two_forms::indented(&copy, &level);
            format!("{indent}if ({newest} == 0) {{{newline}{copy}{newline}{indent}}}{newline}{comments}")
        }
    };
    let choice = format!(
        "{first}{indent}if ({newest} != 1) {{{newline}{indent}{level}{newest} = 1;{newline}{as_it_is}{newline}{indent}}} else {{{newline}\
         {indent}{level}{newest} = 2;{newline}{turned}{newline}{indent}}}"
    );
    let comment = format!(
        "Each step reads what the one before has left: {newest} is 1 in `{}`, 2 in `{}`.",
        exchange.computed, exchange.copied_to
    );
    let declared = format!("{outer}{}{newline}{outer}int {newest} = 0;{newline}", two_forms::commented(cx, &comment));
    let behind = match turns.order {
        Order::ComputesFirst => {
            let [back, over] = copies(turns, exchange)?;
            format!(
                "({newest} == 1) {{{newline}{back}{newline}{outer}}} else if ({newest} == 2) {{{newline}{over}{newline}{outer}}}"
            )
        }
        Order::CopiesFirst => format!("({newest} == 2) {{{newline}{}{newline}{outer}}}", exchanged(turns, exchange)?),
    };
    let behind = format!("{newline}{outer}if {behind}");
    let choice = Edit { span: two_forms::lines_of(file, steps.both), text: choice };
    let whole = Span::new(line_start(&file.text, steps.span.start), line_end(file, steps.span.end));
    let insert = |at: usize, text: String| Edit { span: Span::new(at, at), text };
    if steps.is_in_block {
        return Some(vec![insert(whole.start, declared), choice, insert(whole.end, behind)]);
    }
    let inside = format!("{declared}{}{behind}", two_forms::edited(file, whole, &[choice])?);
    let inside = two_forms::indented(&inside, &level);
    let text = format!("{outer}{{{newline}{inside}{newline}{outer}}}");
    Some(vec![Edit { span: whole, text }])
}

/// The end of the line, before what ends it.
fn line_end(file: &SourceFile, at: usize) -> usize {
    let rest = file.text.get(at..).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    at + line.strip_suffix(b"\r").unwrap_or(line).len()
}

/// The first construct as it is, and with both arrays' parts exchanged.
fn sweeps(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<[String; 2]> {
    let lines = two_forms::lines_of(turns.cx.file, turns.sweep.region.extent);
    let as_it_is = two_forms::edited(turns.cx.file, lines, &[])?;
    Some([as_it_is, two_forms::edited(turns.cx.file, lines, &turned(turns, exchange)?)?])
}

/// The second construct as it is, with the comments before it, and the other way round.
fn copies(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<[String; 2]> {
    let Turns { cx, sweep, copy, .. } = turns;
    let lines = two_forms::lines_of(cx.file, copy.region.extent);
    let back = format!("{}{}", comments_between(cx, sweep, copy)?, two_forms::edited(cx.file, lines, &[])?);
    let Exchange { computed, copied_to, copied: [from, to], .. } = exchange;
    let mut edits = vec![renamed(*from, computed, copied_to), renamed(*to, copied_to, computed)];
    edits.extend(maps(turns, exchange, (copy, 1)));
    Some([back, two_forms::edited(cx.file, lines, &edits)?])
}

/// The first construct, where that copies, and the comments behind it.
fn copied_first(turns: &Turns<'_, '_>) -> Option<[String; 2]> {
    let Turns { cx, sweep, copy, .. } = turns;
    let lines = two_forms::lines_of(cx.file, copy.region.extent);
    Some([two_forms::edited(cx.file, lines, &[])?, comments_between(cx, copy, sweep)?])
}

/// What is said between two constructs, in whole lines.
fn comments_between(cx: &Context<'_>, first: &Member, second: &Member) -> Option<String> {
    let lines = two_forms::lines_of(cx.file, second.region.extent);
    let gap = cx.file.show(Span::new(first.region.extent.end, lines.start));
    let blanks = indent_of(cx.file, cx.tree.span(cx.constructs.construct(second.id).body?).start);
    let newline = Layout::of(cx.file, cx.constructs.directive(second.id)).newline;
    Some(if gap.trim().is_empty() { String::new() } else { format!("{blanks}{}{newline}", gap.trim()) })
}

/// The construct that copies, as one in which both arrays' elements change places.
fn exchanged(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<String> {
    let Turns { cx, copy, .. } = turns;
    let (file, tree) = (cx.file, cx.tree);
    let Exchange { copied: [from, to], assignment, element, .. } = exchange;
    let newline = Layout::of(file, cx.constructs.directive(copy.id)).newline;
    let kept = cx.fresh_in(copy.region.extent, "kept");
    let [from, to] = [from, to].map(|span| file.show(*span));
    let statements =
        [format!("const {element} {kept} = {from};"), format!("{from} = {to};"), format!("{to} = {kept};")];
    let (span, lines) = (tree.span(*assignment), two_forms::lines_of(file, copy.region.extent));
    let inner = format!("{newline}{}", indent_of(file, span.start));
    let edit = if copy.is_block {
        Edit { span, text: statements.join(&inner) }
    } else {
        let innermost = copy.loops.last()?.node;
        let blanks = indent_of(file, tree.span(innermost).start);
        let text = format!(" {{{inner}{}{newline}{blanks}}}", statements.join(&inner));
        let start = tree.end_of_head(innermost)?;
        let is_blank = file.bytes(Span::new(start, span.start)).iter().all(u8::is_ascii_whitespace);
        is_blank.then_some(Edit { span: Span::new(start, span.end), text })?
    };
    two_forms::edited(file, lines, &[edit])
}

/// Another name in the place of that with which an access begins.
fn renamed(access: Span, name: &str, other: &str) -> Edit {
    Edit { span: Span::new(access.start, access.start + name.len()), text: other.to_owned() }
}

/// The edits that let the first construct read what it has written in the step before.
fn turned(turns: &Turns<'_, '_>, exchange: &Exchange) -> Option<Vec<Edit>> {
    let Turns { cx, sweep, .. } = turns;
    let Exchange { computed, copied_to, written, read_again, reads, .. } = exchange;
    let own = [written].into_iter().chain(read_again);
    let mut edits: Vec<Edit> = own.map(|span| renamed(*span, computed, copied_to)).collect();
    let newline = Layout::of(cx.file, cx.constructs.directive(sweep.id)).newline;
    edits.extend(reads.iter().filter(|read| !read.asks()).map(|read| renamed(read.span, copied_to, computed)));
    let mut lines = Lines { cx, newline, renamed: edits.clone(), at: None };
    for read in reads.iter().filter(|read| read.asks()) {
        let here = cx.file.show(read.span);
        let there = format!("{computed}{}", here.strip_prefix(copied_to.as_str())?);
        let text = format!("({} ? {there} : {here})", is_computed(cx, &sweep.loops, read));
        edits.push(lines.placed(read.span, text));
    }
    edits.extend(maps(turns, exchange, (sweep, 0)));
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
    /// The names that are others now.
    renamed: Vec<Edit>,
    /// The start of the line of the last one, the column of the first one in it, and the columns that the last line has so far.
    at: Option<(usize, usize, usize)>,
}

impl Lines<'_, '_> {
    /// The column of a place in its line, with other names before it.
    fn column(&self, start: usize, at: usize) -> usize {
        let before = self.renamed.iter().filter(|edit| (start..at).contains(&edit.span.start));
        let (more, less) = before.fold((0, 0), |(more, less), edit| (more + edit.text.len(), less + edit.span.len()));
        (at - start + more).saturating_sub(less)
    }

    /// The edit, with a line ending before it where the line would be too long.
    fn placed(&mut self, span: Span, text: String) -> Edit {
        let file = self.cx.file;
        let start = line_start(&file.text, span.start);
        let own = self.column(start, span.start);
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
fn maps(turns: &Turns<'_, '_>, exchange: &Exchange, (member, index): (&Member, usize)) -> Option<Edit> {
    let cx = turns.cx;
    let directive = cx.constructs.directive(member.id);
    let both = [&exchange.copied_to, &exchange.computed].map(|name| turns.items(name)[index]);
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
