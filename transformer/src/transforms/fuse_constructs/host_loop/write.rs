//! The loop of the host in the body of the kernel.
//!
//! Where it certainly runs, nothing stays in its place, and the construct stands as deep as it did; otherwise the `if` of it does.

use super::{HostLoop, is_last_on_line};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{indent_of, line_start, on_one_line, starts_line};
use crate::source::Span;
use crate::syntax::NodeKind;
use crate::transforms::fuse_constructs::members::Member;
use crate::transforms::fuse_constructs::write::Form;
use crate::transforms::two_forms::line_inserts;

/// The edits that put the loop inside. `asked` is the condition under which it runs at all. `None` where lines of the kernel are continued,
/// or may be parts of strings.
pub(super) fn edits(cx: &Context<'_>, member: &Member, around: &HostLoop, asked: Option<&str>) -> Option<Vec<Edit>> {
    let text = cx.file.show(member.content);
    let is_kept = ["\\\n", "\\\r", "R\""].iter().any(|part| text.contains(part));
    (!is_kept).then_some(())?;
    let form = Form::of(cx, member);
    let head = on_one_line(cx.file, around.head);
    if asked.is_none()
        && let Some((mut edits, outside)) = without_loop(cx, member, around)
    {
        // What moves further inside stood one level deeper.
        let indent = form.indent.strip_suffix(outside.as_str()).unwrap_or(&form.indent);
        edits.extend(inside(cx, member, &form, (indent, ""), &head));
        return Some(edits);
    }
    let innermost = member.loops.last().map(|last| indent_of(cx.file, last.span.start)).unwrap_or_default();
    let level = form.indent.strip_prefix(innermost.as_str()).filter(|level| !level.is_empty()).unwrap_or(&form.level);
    let mut edits = inside(cx, member, &form, (&form.indent, level), &head);
    edits.push(Edit { span: around.head, text: asked.map(|asked| format!("if ({asked})")).unwrap_or_default() });
    Some(edits)
}

/// The head of the loop before the statements of the kernel, and these further inside.
fn inside(
    cx: &Context<'_>,
    member: &Member,
    form: &Form<'_, '_>,
    (indent, level): (&str, &str),
    head: &str,
) -> Vec<Edit> {
    let (content, text) = (member.content, cx.file.bytes(member.content));
    let newline = form.newline;
    if !member.is_block {
        let start = line_start(&cx.file.text, content.start);
        return match starts_line(cx.file, content.start) {
            true => line_inserts(cx.file, Span::new(start, content.end), level, format!("{indent}{head}{newline}")),
            false => vec![Edit::insertion(content.start, format!("{head} "))],
        };
    }
    let Some(first) = text.iter().position(|byte| *byte == b'\n') else {
        return vec![Edit::insertion(content.start, format!(" {head} {{")), Edit::insertion(content.end, "} ")];
    };
    let last = form.last_byte(member);
    let lines = Span::new(content.start + first + 1, last.max(content.start + first + 1));
    let mut edits = vec![Edit::insertion(content.start, format!("{newline}{indent}{head} {{"))];
    edits.extend(line_inserts(cx.file, lines, level, String::new()));
    edits.push(Edit::insertion(last, format!("{newline}{indent}}}")));
    edits.retain(|edit| !edit.span.is_empty() || !edit.text.is_empty());
    edits
}

/// The edits that take the head and the braces of the loop away and put the construct in its place, one level further outside, and that
/// level. `None` where they do not stand in lines of their own.
fn without_loop(cx: &Context<'_>, member: &Member, around: &HostLoop) -> Option<(Vec<Edit>, String)> {
    let text = &cx.file.text;
    let (host, end) = (around.read.span, around.read.span.end);
    let outside = indent_of(cx.file, host.start);
    let head = member.loops.first()?.span.start;
    let level = indent_of(cx.file, head).strip_prefix(&outside)?.to_owned();
    let is_block = cx.tree.kind(around.read.body) == NodeKind::CompoundStatement;
    let body = cx.tree.span(around.read.body);
    let behind = if is_block { body.start + 1 } else { around.head.end };
    let rest = text.get(behind..)?;
    let first = behind + rest.len() - rest.trim_ascii_start().len();
    (starts_line(cx.file, host.start) && starts_line(cx.file, head) && is_last_on_line(cx, end)).then_some(())?;
    let removed = match starts_line(cx.file, first) {
        true => Span::new(line_start(text, host.start), line_start(text, first)),
        // A comment stays where the loop began.
        false => Span::new(host.start, first),
    };
    let mut edits = vec![Edit { span: removed, text: String::new() }];
    let last = if is_block { cx.file.bytes(Span::new(behind, end - 1)).trim_ascii_end().len() + behind } else { end };
    if is_block {
        edits.push(Edit { span: Span::new(last, end), text: String::new() });
    }
    let content = member.content.start + cx.file.bytes(member.content).trim_ascii_end().len();
    let is_apart = !member.is_block && starts_line(cx.file, member.content.start);
    let heads = if is_apart { line_start(text, member.content.start) } else { member.content.start };
    let before = Span::new(removed.end, heads);
    for lines in [before, Span::new(content, last)] {
        edits.extend(outdented(cx, lines, &outside, &level));
    }
    Some((edits, level))
}

/// Takes a level of blanks away from each line that starts in a range and has it.
fn outdented(cx: &Context<'_>, lines: Span, outside: &str, level: &str) -> Vec<Edit> {
    let text = &cx.file.text;
    let starts = (lines.start..lines.end).filter(|at| *at == 0 || text.get(at - 1) == Some(&b'\n'));
    let prefix = format!("{outside}{level}");
    let own = starts.filter(|at| text.get(*at..).is_some_and(|line| line.starts_with(prefix.as_bytes())));
    own.filter(|_| !level.is_empty())
        .map(|at| Edit { span: Span::new(at + outside.len(), at + prefix.len()), text: String::new() })
        .collect()
}
