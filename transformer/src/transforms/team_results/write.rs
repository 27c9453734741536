//! The edit: one directive becomes two, with a block of the teams around the second.

use super::Kernel;
use super::clauses::Shared;
use super::result::{Origin, TeamResult, renames};
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, text_end};
use crate::source::Span;
use crate::transforms::two_forms::{Indents, edited, indented, lines_behind, lines_of};

const TEAMS: &str = "target teams";
const LOOP: &str = "distribute parallel for";

/// The edit, with others that are made in the loop. `None` where directive and loop do not stand on lines of their own.
pub(super) fn edit(
    kernel: &Kernel<'_, '_>,
    mut shared: Shared,
    results: &[TeamResult],
    others: Vec<Edit>,
) -> Option<Edit> {
    let Kernel { cx, region, statement, .. } = *kernel;
    let file = cx.file;
    let (first, last) = (kernel.directives.first()?, kernel.directives.last()?);
    let layout = Layout::of(file, first);
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

    let unmapped = results.iter().filter(|one| one.origin == Origin::Clause { is_mapped: false });
    shared.map(&unmapped.map(|one| one.whole.as_str()).collect::<Vec<_>>());
    let Shared { of_teams, of_loop, at_end, .. } = shared;

    let teams = layout.write(TEAMS, &of_teams) + &at_end;
    let mut text = format!("{}{teams}{newline}{indent}{{{newline}", layout.indent);
    for TeamResult { ty, part, start, .. } in results {
        text += &line(&format!("{ty} {part} = {start};"));
    }
    text += &pragma(LOOP, &of_loop);
    let behind = lines_behind(file, last.span.end, region.extent.end)?;
    let mut edits = renames(results, behind);
    edits.extend(others);
    edits.sort_by_key(|edit| edit.span.start);
    let body = edited(file, Span::new(behind.start, end), &edits)?;
    text += &indented(&body, &level);
    text += newline;
    for TeamResult { whole, part, combiner, start, origin, .. } in results {
        let (clause, statement) = combiner.update(whole, part);
        let update = pragma("atomic", &clause.map(str::to_owned).into_iter().collect::<Vec<_>>());
        text += &match origin {
            Origin::Clause { .. } => update + &line(&statement),
            // The original's iterations may all have left the element alone.
            Origin::Updates => {
                line(&format!("if ({part} != {start}) {{")) + &update + &level + &line(&statement) + &line("}")
            }
        };
    }
    text += &format!("{indent}}}");
    Some(Edit { span: Span::new(whole.start, end), text })
}
