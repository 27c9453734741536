//! Writes unrolled loops.

use std::collections::BTreeSet;

use super::forms::{Row, Unrolled};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, WIDTH, in_front, indent_of};
use crate::region::target::TargetRegion;
use crate::source::{Language, Span};
use crate::transforms::two_forms::{edited, indented, lines_of};

/// The edit that unrolls a loop.
pub(super) fn edit(cx: &Context<'_>, region: &TargetRegion, one: &Unrolled, device: &str) -> Edit {
    let layout = Layout::of(cx.file, cx.constructs.directive(region.chain.innermost()));
    if !one.tests.is_empty() {
        return both(cx, &layout, one, device);
    }
    in_front(cx.file, &layout, cx.tree.span(one.node).start, "unroll", &[clause(one, device)])
}

fn line(layout: &Layout, one: &Unrolled, blanks: &str, device: &str) -> String {
    let indent = if layout.indent.is_empty() { "" } else { blanks };
    format!("{indent}{}", layout.write("unroll", &[clause(one, device)]))
}

fn clause(one: &Unrolled, device: &str) -> String {
    format!("partial({}) /* {device} */", one.factor)
}

/// The loop under an `if` of the kernel: unrolled where the tests hold, and as it stands elsewhere.
fn both(cx: &Context<'_>, layout: &Layout, one: &Unrolled, device: &str) -> Edit {
    let span = cx.tree.span(one.node);
    let whole = lines_of(cx.file, span);
    let original = cx.file.show(whole);
    let indent = indent_of(cx.file, span.start);
    let level = level(cx, one, &indent, layout);
    let inner = format!("{indent}{level}");
    let mut text = format!("{}{}", condition(one, &indent, layout.newline), layout.newline);
    let (mut edits, mut taken) = (Vec::new(), BTreeSet::new());
    for row in &one.rows {
        let stem = format!("{}_aligned", row.array);
        let more = if taken.insert(stem.clone()) { "" } else { "_too" };
        let name = cx.fresh_in(whole, &format!("{stem}{more}"));
        text += &format!("{inner}{}{}", declaration(cx, row, &name), layout.newline);
        let named = |place: &Span| Edit { span: *place, text: format!("{name}[{}]", one.variable) };
        edits.extend(row.places.iter().map(named));
    }
    // The places lie in the loop's lines, and its text is UTF-8, or it might not stand twice.
    let unrolled = edited(cx.file, whole, &edits).unwrap_or_else(|| original.to_string());
    let newline = layout.newline;
    text += &format!(
        "{}{newline}{}{newline}{indent}}} else {{{newline}{}{newline}{indent}}}",
        line(layout, one, &inner, device),
        indented(&unrolled, &level),
        indented(&original, &level),
    );
    Edit { span: whole, text }
}

/// The head of the `if`, with one test a line where it would be too long.
fn condition(one: &Unrolled, indent: &str, newline: &str) -> String {
    let head = format!("{indent}if ({}) {{", one.tests.join(" && "));
    if head.len() <= WIDTH { head } else { head.replace(" && ", &format!(" &&{newline}{indent}    ")) }
}

/// The blanks that one more level of a block takes: by as much as the loop lies deeper than the line of the block that it stands in.
fn level(cx: &Context<'_>, one: &Unrolled, indent: &str, layout: &Layout) -> String {
    let around = cx.tree.parent(one.node).map(|parent| indent_of(cx.file, cx.tree.span(parent).start));
    let level = around.and_then(|outer| indent.strip_prefix(&outer).map(str::to_owned));
    level.filter(|level| !level.is_empty()).unwrap_or_else(|| layout.level.clone())
}

/// The pointer to a row of which compilers know that several elements may be loaded at once.
fn declaration(cx: &Context<'_>, row: &Row, name: &str) -> String {
    let Row { ty, start, .. } = row;
    // What the function gives back converts by itself in C alone.
    let cast = if cx.tree.language() == Language::C { String::new() } else { format!("(const {ty} *)") };
    format!("const {ty} *{name} = {cast}__builtin_assume_aligned({start}, 16);")
}
