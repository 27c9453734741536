//! An environment that no block can hold: `target enter data` before its statements, `target exit data` behind them and before each jump
//! out of them.

use crate::context::Context;
use crate::edit::directive_writer::{Layout, indent_of, line_start, starts_line};
use crate::edit::{Edit, braces};
use crate::plan::{Reason, ReasonCode};
use crate::source::{Language, Span};
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::absence::may_declare_before;
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::environments::Environment;
use crate::transforms::hoist_maps::jumps::WaysOut;
use crate::transforms::hoist_maps::updates::next_line;

/// The edits but for updates. `layout` has the blanks before a directive, `indent` those before a statement there.
///
/// # Errors
/// Why there is no place for one of the directives.
pub(super) fn edits(
    cx: &Context<'_>,
    environment: &Environment,
    inside: &[Statement],
    ways: &WaysOut,
    layout: &Layout,
    indent: &str,
) -> Result<Vec<Edit>, Reason> {
    let (Some(first), Some(last)) = (inside.first(), inside.last()) else { return Ok(Vec::new()) };
    let refuse = |span, message: &str| Reason::new(ReasonCode::EnvironmentPlace, span, message);
    if let Some(span) = ways.blocked {
        return Err(refuse(span, "a jump or an exception may lead past the end of the data environment"));
    }
    if let Some(span) = may_throw(cx, inside) {
        return Err(refuse(span, "an exception of this call would leave the data on the device"));
    }
    if let Some(statement) = inside.iter().find(|it| is_no_statement(cx, it.node)) {
        return Err(refuse(statement.extent, "a preprocessor line or a label stands between the constructs"));
    }
    if !may_declare_before(cx, first.node) {
        return Err(refuse(first.extent, "there is no place for a directive of its own before the constructs"));
    }
    let start = line_start(&cx.file.text, first.extent.start);
    let newline = layout.newline;
    let opening = layout.write("target enter data", &environment.clauses_of_enter());
    let text = format!("{}{}{opening}{newline}", environment.questions(layout, indent), layout.indent);
    let mut edits = vec![Edit::insertion(start, text)];
    let exit = |layout: &Layout| {
        format!("{}{}{newline}", layout.indent, layout.write("target exit data", &environment.clauses_of_exit()))
    };
    for jump in &ways.jumps {
        let span = cx.tree.span(*jump);
        if !names_mean_the_same(cx, environment, span.start) {
            return Err(refuse(span, "a name of the data means something else before this jump"));
        }
        let column = |indent: String| if layout.indent.is_empty() { String::new() } else { indent };
        let found = before_jump(cx, *jump, newline, &|indent| exit(&layout.indented(column(indent))));
        edits.extend(found.ok_or_else(|| refuse(span, "there is no place for a directive before this jump"))?);
    }
    let behind = next_line(cx.file, last.extent.end)
        .ok_or_else(|| refuse(last.extent, "other text stands behind the constructs"))?;
    edits.push(Edit::insertion(behind, exit(layout)));
    Ok(edits)
}

/// In C++ a call that is not in sight may end in an exception.
fn may_throw(cx: &Context<'_>, inside: &[Statement]) -> Option<Span> {
    let is_cpp = cx.tree.language() == Language::Cpp;
    let mut unknown = inside.iter().flat_map(|it| &it.host.unknown).filter(|_| is_cpp);
    unknown.next().map(|unknown| unknown.span)
}

fn is_no_statement(cx: &Context<'_>, node: NodeId) -> bool {
    let kind = cx.tree.kind(node);
    kind.is_preprocessor() || matches!(kind, NodeKind::CaseStatement | NodeKind::LabeledStatement)
}

/// Do the names of what is held, and those in its sections, mean there what they mean where the environment opens?
fn names_mean_the_same(cx: &Context<'_>, environment: &Environment, at: usize) -> bool {
    environment.held.iter().map(|held| &held.item).all(|item| {
        let is_it = cx.named(&item.named.name, at).is_some_and(|(named, _)| named.id == item.named.id);
        is_it && item.expressions.iter().all(|span| cx.means_the_same(*span, at))
    })
}

/// What ends the environment before a jump or the branch that it ends; a jump gets braces where it is a branch without them. `exit` writes it
/// with such blanks.
fn before_jump(cx: &Context<'_>, jump: NodeId, newline: &str, exit: &dyn Fn(String) -> String) -> Option<Vec<Edit>> {
    let (tree, span) = (cx.tree, cx.tree.span(jump));
    let parent = tree.parent(jump)?;
    if tree.kind(parent) == NodeKind::CompoundStatement {
        let start = line_start(&cx.file.text, span.start);
        return match starts_line(cx.file, span.start) {
            true => Some(vec![Edit::insertion(start, exit(indent_of(cx.file, span.start)))]),
            false => on_own_line(cx, (parent, jump), newline, exit),
        };
    }
    let is_branch = tree.kind(parent) == NodeKind::ElseClause
        || tree.kind(parent) == NodeKind::IfStatement && tree.field(jump) == Some(Field::Consequence);
    is_branch.then_some(())?;
    let before: Vec<NodeId> = tree.children(parent).take_while(|sibling| *sibling != jump).collect();
    let end_of = |node: &NodeId| tree.span(*node).end;
    let gap = Span::new(before.last().map(end_of)?, span.start);
    cx.file.bytes(gap).iter().all(u8::is_ascii_whitespace).then_some(())?;
    let outer = indent_of(cx.file, tree.span(parent).start);
    let inner = format!("{outer}{}", level(cx, jump, &outer));
    let brace = braces::opening(cx.file, tree, cx.function_of(span), newline, &outer);
    let directive = format!("{newline}{}{inner}", exit(inner.clone()));
    // At the start of the next line an update of what follows may stand, which belongs behind the brace.
    let line_end = next_line(cx.file, span.end)? - 1;
    let is_crlf = cx.file.text.get(line_end.wrapping_sub(1)) == Some(&b'\r');
    let closing = Edit::insertion(line_end - usize::from(is_crlf), format!("{newline}{outer}}}"));
    // A brace behind `// why` would be part of that.
    let is_line_comment = |node: &NodeId| cx.file.bytes(tree.span(*node)).starts_with(b"//");
    if !before.iter().any(is_line_comment) {
        return Some(vec![Edit { span: gap, text: format!("{brace}{directive}") }, closing]);
    }
    let head = before.iter().rfind(|node| tree.kind(**node) != NodeKind::Comment).map(end_of)?;
    Some(vec![Edit::insertion(head, brace), Edit { span: gap, text: directive }, closing])
}

/// The same in a block that has it in a line with others, `{ puts("failed"); return 1; }`: each gets a line of its own.
fn on_own_line(
    cx: &Context<'_>,
    (block, jump): (NodeId, NodeId),
    newline: &str,
    exit: &dyn Fn(String) -> String,
) -> Option<Vec<Edit>> {
    let (tree, text) = (cx.tree, &cx.file.text);
    let outer = indent_of(cx.file, tree.span(block).start);
    let inner = format!("{outer}{}", level(cx, block, &outer));
    let line = line_start(text, tree.span(jump).start);
    let parts: Vec<NodeId> = tree.children(block).collect();
    let mut edits = Vec::new();
    for pair in parts.windows(2) {
        let [before, part] = [tree.span(*pair.first()?), tree.span(*pair.last()?)];
        if line_start(text, before.end) != line || line_start(text, part.start) != line {
            continue;
        }
        let gap = Span::new(before.end, part.start);
        cx.file.bytes(gap).iter().all(u8::is_ascii_whitespace).then_some(())?;
        let is_last = pair.last() == parts.last();
        let directive = if pair.last() == Some(&jump) { exit(inner.clone()) } else { String::new() };
        let indent = if is_last { &outer } else { &inner };
        edits.push(Edit { span: gap, text: format!("{newline}{directive}{indent}") });
    }
    Some(edits)
}

/// By how much a branch is indented: as its line is against what stands around it.
fn level(cx: &Context<'_>, node: NodeId, outer: &str) -> String {
    let lines = cx.tree.ancestors(node).map(|above| indent_of(cx.file, cx.tree.span(above).start));
    let mut levels = lines.filter_map(|around| outer.strip_prefix(&around).map(str::to_owned));
    levels.find(|level| !level.is_empty()).unwrap_or_else(|| "    ".to_owned())
}
