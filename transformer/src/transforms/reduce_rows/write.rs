//! The edits: `teams distribute` outside, `parallel for` inside, and unsigned variables for the sums of signed ones.

use std::collections::BTreeSet;

use super::parts::{AT_ONCE, Parts, level};
use super::rows::{Inner, Row};
use super::updates::Combined;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, append_clauses, indent_of, line_start, text_end};
use crate::source::Span;
use crate::syntax::Directive;
use crate::syntax::spec_table::Leaf;
use crate::transforms::checks::team_rows::for_teams_alone;
use crate::transforms::two_forms::{edited, indented};

/// The edits. `None` where the directive is spelled in a way that is not expected.
pub(super) fn edits(
    row: &Row<'_, '_>,
    inner: &[Inner],
    threads: Option<u32>,
    parts: Option<&Parts<'_>>,
) -> Option<Vec<Edit>> {
    let cx = row.cx;
    let outer = cx.constructs.directive(row.region.chain.innermost());
    let mut edits = vec![for_teams_alone(cx, outer)?];
    if let (Some(threads), Some(teams)) = (threads, directive_of_teams(row)) {
        edits.push(append_clauses(cx.file, teams, &[format!("thread_limit({threads})")]));
    }
    let mut writer = Writer { row, layout: Layout::of(cx.file, outer), parts, taken: BTreeSet::new() };
    for one in inner {
        edits.extend(writer.loop_edits(one));
    }
    Some(edits)
}

pub(super) fn directive_of_teams<'c>(row: &'c Row<'_, '_>) -> Option<&'c Directive> {
    let mut ids = row.region.chain.constructs.iter();
    let id = ids.find(|id| row.cx.constructs.construct(**id).leaves.contains(&Leaf::Teams))?;
    Some(row.cx.constructs.directive(*id))
}

struct Writer<'w, 'c, 'p> {
    row: &'w Row<'c, 'p>,
    layout: Layout,
    parts: Option<&'w Parts<'w>>,
    /// Names that were given to sums.
    taken: BTreeSet<String>,
}

impl Writer<'_, '_, '_> {
    fn loop_edits(&mut self, one: &Inner) -> Vec<Edit> {
        let file = self.row.cx.file;
        let start = one.span.start;
        let indent = indent_of(file, start);
        let newline = self.layout.newline;
        let mut before: Vec<String> = Vec::new();
        let mut behind = String::new();
        let mut edits = Vec::new();
        let mut items: Vec<(&'static str, String)> = Vec::new();
        for combined in &one.combined {
            let item = match Inner::through_unsigned(combined) {
                None => combined.name.clone(),
                Some(ty) => {
                    let sum = self.fresh("sum");
                    before.push(format!("{indent}{ty} {sum} = {};", combined.name));
                    behind.push_str(&format!("{newline}{indent}{} = {sum};", combined.name));
                    edits.extend(renamed(combined, &sum));
                    sum
                }
            };
            items.push((combined.operator.clause(), item));
        }
        before.push(self.pragma(&indent, "parallel for", &clauses(&items)));
        if let Some((head, in_parts)) = self.in_parts(one, &edits) {
            before.extend(head);
            edits = vec![in_parts];
        }
        let before = before.join(newline) + newline + &indent;
        // A directive stands on a line of its own.
        let line = line_start(&file.text, start);
        let text = file.bytes(Span::new(line, start)).trim_ascii_end().len();
        let first = if text == 0 { "" } else { newline };
        edits.push(Edit { span: Span::new(line + text, start), text: format!("{first}{before}") });
        if !behind.is_empty() {
            edits.push(Edit::insertion(text_end(file, one.span.end), behind));
        }
        edits
    }

    /// A line with a directive. One that begins its line in the text does so here.
    fn pragma(&self, indent: &str, name: &str, clauses: &[String]) -> String {
        let column = if self.layout.indent.is_empty() { "" } else { indent };
        format!("{column}{}", self.layout.indented(column.to_owned()).write(name, clauses))
    }

    /// The lines in front of the loop that walks through a part, and that loop with what is edited in it.
    fn in_parts(&mut self, one: &Inner, edits: &[Edit]) -> Option<(Vec<String>, Edit)> {
        let (cx, parts) = (self.row.cx, self.parts?);
        let own = parts.cut(one.span)?;
        let indent = indent_of(cx.file, one.span.start);
        let level = level(self.row, own.node)?;
        let (part, count) = (self.fresh("part"), parts.count);
        let lower = match cx.constant(own.lower)? {
            0 => part.clone(),
            _ => format!("{} + {part}", cx.file.show(own.lower)),
        };
        let mut edits = edits.to_vec();
        edits.push(Edit { span: own.lower, text: lower });
        edits.push(Edit { span: own.step.span, text: format!("{} += {count}", own.variable) });
        edits.sort_by_key(|edit| edit.span.start);
        let text = indented(&edited(cx.file, one.span, &edits)?, &level);
        let head = format!("{indent}for (int {part} = 0; {part} < {count}; {part}++)");
        let unroll = [format!("partial({AT_ONCE}) /* {} */", parts.device)];
        let unroll = self.pragma(&format!("{indent}{level}"), "unroll", &unroll);
        Some((vec![head, unroll], Edit { span: one.span, text }))
    }

    /// A name that means nothing in the row, nor was given to another sum.
    fn fresh(&mut self, stem: &str) -> String {
        let cx = self.row.cx;
        let body = cx.tree.span(self.row.nest.body);
        let mut stems = std::iter::once(stem.to_owned()).chain((2..).map(|number| format!("{stem}{number}")));
        let name = stems.find_map(|stem| {
            let name = cx.fresh_in(body, &stem);
            let is_free = cx.symbols().lookup(&name, body.start).is_none();
            (is_free && self.taken.insert(name.clone())).then_some(name)
        });
        name.unwrap_or_default()
    }
}

fn renamed<'c>(combined: &'c Combined, sum: &'c str) -> impl Iterator<Item = Edit> + 'c {
    combined.names.iter().map(|span| Edit { span: *span, text: sum.to_owned() })
}

/// One clause for each operator, with its items in the order of the text.
fn clauses(items: &[(&'static str, String)]) -> Vec<String> {
    let mut operators: Vec<&str> = Vec::new();
    for (operator, _) in items {
        if !operators.contains(operator) {
            operators.push(operator);
        }
    }
    let clause = |operator: &&str| {
        let own = items.iter().filter(|(other, _)| other == operator).map(|(_, name)| name.as_str());
        format!("reduction({operator}: {})", own.collect::<Vec<_>>().join(", "))
    };
    operators.iter().map(clause).collect()
}
