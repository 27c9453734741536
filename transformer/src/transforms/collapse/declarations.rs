//! Declarations between two loops of a nest: they move to the start of the inner body, where their values are the same.

use crate::analysis::independence::Candidate;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::NodeKind;

/// Moves the declarations between the first `depth` loops into the body of the last of these.
pub(super) fn edits(candidate: &Candidate<'_, '_>, depth: usize) -> Vec<Edit> {
    let (cx, nest) = (candidate.cx, &candidate.nest);
    let Some(innermost) = nest.loops.loops.get(depth - 1) else { return Vec::new() };
    let blocks: Vec<Span> = (0..depth - 1).filter_map(|level| block(candidate, level)).collect();
    if blocks.is_empty() {
        return Vec::new();
    }
    let layout = Layout::of(cx.file, cx.constructs.directive(candidate.id));
    let body = cx.tree.span(innermost.body);
    let is_block = cx.tree.kind(innermost.body) == NodeKind::CompoundStatement;
    let first = if is_block { cx.tree.named_children(innermost.body).next() } else { Some(innermost.body) };
    let outer = indent_of(cx.file, innermost.span.start);
    let indent = match first.map(|first| indent_of(cx.file, cx.tree.span(first).start)) {
        Some(indent) if indent.len() > outer.len() => indent,
        _ => format!("{outer}{}", level(candidate, &blocks).unwrap_or(layout.level)),
    };
    let mut lines: String =
        blocks.iter().map(|block| format!("{}{indent}{}", layout.newline, with_indent(cx, *block, &indent))).collect();
    // What stands behind the brace would become part of a comment that ends with its line.
    let ends_in_comment = lines.lines().next_back().is_some_and(|line| line.contains("//"));
    let rest = cx.file.show(rest_of_line(cx, body.start + 1)).into_owned();
    let mut blanks = 0;
    if is_block && ends_in_comment && !rest.trim().is_empty() {
        lines.push_str(&format!("{}{indent}", layout.newline));
        blanks = rest.len() - rest.trim_start().len();
    }
    let mut edits: Vec<Edit> =
        blocks.iter().map(|block| Edit { span: with_line(cx, *block), text: String::new() }).collect();
    if is_block {
        edits.push(Edit { span: Span::new(body.start + 1, body.start + 1 + blanks), text: lines });
    } else {
        let head = cx.tree.children(innermost.node).find(|it| cx.tree.kind(*it) == NodeKind::CloseParenthesis);
        let head = head.map_or(body.start, |head| cx.tree.span(head).end);
        let is_below = cx.file.show(Span::new(head, body.start)).contains('\n');
        let start = format!("{}{indent}", layout.newline);
        let declared = if is_below { lines.strip_prefix(&start).unwrap_or(&lines) } else { &lines };
        let begin = if is_below { body.start } else { head };
        edits.push(Edit { span: Span::new(head, head), text: " {".to_owned() });
        edits.push(Edit { span: Span::new(begin, body.start), text: format!("{declared}{start}") });
        edits.push(Edit { span: Span::new(body.end, body.end), text: format!("{}{outer}}}", layout.newline) });
    }
    edits
}

/// By how much declarations are indented more than the loop in whose body they stand.
fn level(candidate: &Candidate<'_, '_>, blocks: &[Span]) -> Option<String> {
    let file = candidate.cx.file;
    let first = blocks.first()?;
    let around = candidate.nest.loops.loops.iter().rev().find(|read| read.span.contains(*first))?;
    let own = indent_of(file, first.start);
    own.strip_prefix(indent_of(file, around.span.start).as_str()).filter(|level| !level.is_empty()).map(str::to_owned)
}

/// The declarations in the body of one loop, with the comments before and between them and behind the last on its line.
fn block(candidate: &Candidate<'_, '_>, level: usize) -> Option<Span> {
    let cx = candidate.cx;
    let declarations = || candidate.nest.between.iter().filter(|(at, _)| *at == level).map(|(_, node)| *node);
    let (first, last) = (cx.tree.span(declarations().next()?), cx.tree.span(declarations().next_back()?));
    let opened =
        declarations().next().and_then(|node| cx.tree.parent(node)).map(|body| cx.tree.span(body).start + 1)?;
    // A comment behind the brace is about the loop.
    let begin = rest_of_line(cx, opened).end;
    let comment = cx.file.text.get(begin..first.start).map_or(0, |text| text.trim_ascii_start().len());
    let behind = rest_of_line(cx, last.end);
    let has_comment = cx.file.show(behind).trim_start().starts_with("//");
    Some(Span::new(first.start - comment, if has_comment { behind.end } else { last.end }))
}

/// A text of some lines, all but the first with other blanks before them.
fn with_indent(cx: &Program<'_>, block: Span, indent: &str) -> String {
    let old = indent_of(cx.file, block.start);
    let text = cx.file.show(block);
    let mut lines = text.trim_end().split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| match line.strip_prefix(old.as_str()) {
        Some(rest) => format!("{text}\n{indent}{rest}"),
        None => format!("{text}\n{line}"),
    })
}

/// What is taken away with declarations: their whole lines and blank ones behind, if nothing else stands there.
fn with_line(cx: &Program<'_>, span: Span) -> Span {
    let text = &cx.file.text;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let before = text.get(..span.start).unwrap_or_default();
    let start = span.start - before.iter().rev().take_while(|byte| is_blank(byte)).count();
    let starts_line = start == 0 || text.get(start - 1) == Some(&b'\n');
    let mut end = span.end;
    while let Some(rest) = Some(rest_of_line(cx, end)).filter(|rest| starts_line && rest.end < text.len()) {
        if !cx.file.show(rest).trim().is_empty() {
            break;
        }
        end = rest.end + 1;
    }
    if end > span.end { Span::new(start, end) } else { span }
}

/// From a byte up to the end of its line.
fn rest_of_line(cx: &Program<'_>, start: usize) -> Span {
    let rest = cx.file.text.get(start..).unwrap_or_default();
    Span::new(start, start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()))
}
