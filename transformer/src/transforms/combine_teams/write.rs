//! The edit: one directive becomes two, with a block of the teams around the second.

use super::clauses::Shared;
use super::results::Combined;
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, text_end};
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::syntax::{ClauseName, Directive, NodeId};
use crate::transforms::two_forms::{Indents, edited, indented, lines_behind, lines_of};

const TEAMS: &str = "target teams";
const LOOP: &str = "distribute parallel for";

/// The edit. `None` where directive and loop do not stand on lines of their own.
pub(super) fn edit(
    cx: &Context<'_>,
    region: &TargetRegion,
    (directive, statement): (&Directive, NodeId),
    shared: Shared,
    combined: &[Combined],
) -> Option<Edit> {
    let file = cx.file;
    let layout = Layout::of(file, directive);
    let Indents { indent, level } = Indents::of(cx, region.extent, statement, &layout);
    let newline = layout.newline;
    let whole = lines_of(file, region.extent);
    let end = text_end(file, region.extent.end);
    file.bytes(Span::new(whole.start, region.extent.start)).iter().all(u8::is_ascii_whitespace).then_some(())?;

    let inside = format!("{indent}{level}");
    let column = if layout.indent.is_empty() { String::new() } else { inside.clone() };
    let inner = layout.indented(column.clone());
    let line = |text: &str| format!("{inside}{text}{newline}");
    let pragma = |name: &str, clauses: &[String]| format!("{column}{}{newline}", inner.write(name, clauses));

    let mut of_teams = shared.of_teams;
    let unmapped: Vec<&str> = combined.iter().filter(|one| !one.is_mapped).map(|one| one.name.as_str()).collect();
    if !unmapped.is_empty() {
        of_teams.push(format!("map(tofrom: {})", unmapped.join(", ")));
    }
    let mut of_loop = shared.of_loop;
    for clause in directive.clauses_of(ClauseName::Reduction) {
        of_loop.push(on_one_line_renamed(cx, clause.span, combined)?);
    }

    let mut text = format!("{}{}{newline}{indent}{{{newline}", layout.indent, layout.write(TEAMS, &of_teams));
    for Combined { ty, part, combiner, .. } in combined {
        let start = combiner.neutral().map(|neutral| format!(" = {neutral}")).unwrap_or_default();
        text += &line(&format!("{ty} {part}{start};"));
    }
    for Combined { name, part, .. } in combined.iter().filter(|one| one.combiner.neutral().is_none()) {
        text += &pragma("atomic", &["read".to_owned()]);
        text += &line(&format!("{part} = {name};"));
    }
    text += &pragma(LOOP, &of_loop);
    let behind = lines_behind(file, directive.span.end, region.extent.end)?;
    let body = edited(file, Span::new(behind.start, end), &renamed(combined, behind))?;
    text += &indented(&body, &level);
    text += newline;
    for Combined { name, part, combiner, .. } in combined {
        let (clause, statement) = combiner.update(name, part);
        text += &pragma("atomic", &clause.map(str::to_owned).into_iter().collect::<Vec<_>>());
        text += &line(&statement);
    }
    text += &format!("{indent}}}");
    Some(Edit { span: Span::new(whole.start, end), text })
}

/// The names within a span, as the parts of a team.
fn renamed(combined: &[Combined], within: Span) -> Vec<Edit> {
    let of = |one: &Combined| {
        let names = one.names.iter().filter(|span| within.contains(**span));
        names.map(|span| Edit { span: *span, text: one.part.clone() }).collect::<Vec<_>>()
    };
    let mut all: Vec<Edit> = combined.iter().flat_map(of).collect();
    all.sort_by_key(|edit| edit.span.start);
    all
}

fn on_one_line_renamed(cx: &Context<'_>, clause: Span, combined: &[Combined]) -> Option<String> {
    let text = edited(cx.file, clause, &renamed(combined, clause))?;
    let lines = text.lines().map(|line| line.trim().trim_end_matches('\\').trim());
    Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
}
