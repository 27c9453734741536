//! The edits: `teams distribute` outside, `parallel for` inside, and unsigned variables for the sums of signed ones.

use std::collections::BTreeSet;

use super::rows::{Inner, Row};
use super::updates::Combined;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, append_clauses, indent_of, line_start, text_end};
use crate::source::Span;
use crate::syntax::Directive;
use crate::syntax::spec_table::Leaf;
use crate::transforms::checks::team_rows::for_teams_alone;

/// The edits. `None` where the directive is spelled in a way that is not expected.
pub(super) fn edits(row: &Row<'_, '_>, inner: &[Inner], threads: Option<u32>) -> Option<Vec<Edit>> {
    let cx = row.cx;
    let outer = cx.constructs.directive(row.region.chain.innermost());
    let mut edits = vec![for_teams_alone(cx, outer)?];
    if let (Some(threads), Some(teams)) = (threads, directive_of_teams(row)) {
        edits.push(append_clauses(cx.file, teams, &[format!("thread_limit({threads})")]));
    }
    let mut taken = BTreeSet::new();
    for one in inner {
        edits.extend(loop_edits(row, one, outer, &mut taken));
    }
    Some(edits)
}

pub(super) fn directive_of_teams<'c>(row: &'c Row<'_, '_>) -> Option<&'c Directive> {
    let mut ids = row.region.chain.constructs.iter();
    let id = ids.find(|id| row.cx.constructs.construct(**id).leaves.contains(&Leaf::Teams))?;
    Some(row.cx.constructs.directive(*id))
}

fn loop_edits(row: &Row<'_, '_>, one: &Inner, outer: &Directive, taken: &mut BTreeSet<String>) -> Vec<Edit> {
    let file = row.cx.file;
    let start = one.span.start;
    let indent = indent_of(file, start);
    let layout = Layout::of(file, outer).indented(indent.clone());
    let line = |text: &str| format!("{text}{}{indent}", layout.newline);
    let (mut before, mut behind) = (String::new(), String::new());
    let mut edits = Vec::new();
    let mut items: Vec<(&'static str, String)> = Vec::new();
    for combined in &one.combined {
        let item = match Inner::through_unsigned(combined) {
            None => combined.name.clone(),
            Some(ty) => {
                let sum = fresh(row, taken);
                before.push_str(&line(&format!("{ty} {sum} = {};", combined.name)));
                behind.push_str(&format!("{}{indent}{} = {sum};", layout.newline, combined.name));
                edits.extend(renamed(combined, &sum));
                sum
            }
        };
        items.push((combined.operator.clause(), item));
    }
    before.push_str(&line(&layout.write("parallel for", &clauses(&items))));
    // A directive stands on a line of its own.
    let line = file.bytes(Span::new(line_start(&file.text, start), start));
    let before = match line.trim_ascii_end().len() {
        0 => Edit::insertion(start, before),
        text => {
            let end = start - line.len() + text;
            Edit { span: Span::new(end, start), text: format!("{}{indent}{before}", layout.newline) }
        }
    };
    edits.push(before);
    if !behind.is_empty() {
        edits.push(Edit::insertion(text_end(file, one.span.end), behind));
    }
    edits
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

/// A name that means nothing in the row, nor was given to another sum.
fn fresh(row: &Row<'_, '_>, taken: &mut BTreeSet<String>) -> String {
    let cx = row.cx;
    let body = cx.tree.span(row.nest.body);
    let mut stems = std::iter::once("sum".to_owned()).chain((2..).map(|number| format!("sum{number}")));
    let name = stems.find_map(|stem| {
        let name = cx.fresh_in(body, &stem);
        let is_free = cx.symbols().lookup(&name, body.start).is_none();
        (is_free && taken.insert(name.clone())).then_some(name)
    });
    name.unwrap_or_default()
}
