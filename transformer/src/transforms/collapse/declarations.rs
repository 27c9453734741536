//! Declarations between two loops of a nest: they move to the start of the inner body, where their values are the same.

use std::collections::BTreeSet;

use crate::analysis::independence::Candidate;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of};
use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::Program;
use crate::semantics::symbols::NameKind;
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Declaration, Initialised, NodeId, NodeKind};

/// May these declarations of the body of one loop stand in the body of a loop behind them? Then each iteration of that
/// one has its own variables, with equal values: nothing changes them, and what is read to initialise them is either
/// changed by nothing, or by another iteration only if the iterations depend on each other.
pub(super) fn may_move(cx: &Program<'_>, declarations: &[NodeId], outer: NodeId, inner: &CanonicalLoop) -> bool {
    let mut declared = BTreeSet::new();
    for declaration in declarations {
        let Some(names) = plain_variables(cx, *declaration, outer) else { return false };
        declared.extend(names);
    }
    let mut all = declared.clone();
    for declaration in declarations {
        all.extend(words(&cx.file.show(cx.tree.span(*declaration))).map(str::to_owned));
    }
    let at = inner.span.start;
    let mut waiting: Vec<String> = all.iter().cloned().collect();
    while let Some(word) = waiting.pop() {
        for found in cx.symbols().macros_named(&word, at) {
            waiting.extend(words(&found.body).filter(|word| all.insert((*word).to_owned())).map(str::to_owned));
        }
    }
    let head = Span::new(inner.span.start, cx.tree.span(inner.body).start);
    let redeclares = |role, name: &String| role == Role::Declaration && all.contains(name);
    !all.contains(&inner.variable)
        && !words(&cx.file.show(head)).any(|word| declared.contains(word) || is_macro(cx, word, at))
        && !uses_below(cx.file, cx.tree, inner.node).iter().any(|used| redeclares(used.role, &used.name))
}

/// Is it a macro that is no number? What such a one names is not looked for.
fn is_macro(cx: &Program<'_>, word: &str, at: usize) -> bool {
    cx.symbols().macro_definition(word, at).is_some() && !cx.symbols().is_constant(word, at)
}

/// The names of a declaration, if they are numbers with a first value that nothing in a range changes.
fn plain_variables(cx: &Program<'_>, declaration: NodeId, outer: NodeId) -> Option<Vec<String>> {
    let (tree, symbols, range) = (cx.tree, cx.symbols(), cx.tree.span(outer));
    let at = tree.span(declaration).end;
    let plain = |declarator: NodeId| {
        let name = Initialised::of(tree, declarator)?.declarator()?;
        let is_name = tree.kind(name) == NodeKind::Identifier;
        let name = cx.file.show(tree.span(name)).into_owned();
        let variable = symbols.lookup(&name, at).filter(|_| is_name)?;
        let is_number = variable.kind == NameKind::Variable && variable.ty.is_scalar() && !variable.ty.is_volatile();
        let lasts = variable.is_static || variable.is_extern || variable.is_thread_local;
        let is_kept = symbols.written_in(&name, at, range).is_empty() && !symbols.is_address_taken(&name, at);
        (is_number && !lasts && is_kept).then_some(name)
    };
    Declaration::of(tree, declaration)?.declarators().map(plain).collect()
}

/// Moves the declarations between the first `depth` loops into the body of the last of these.
pub(super) fn edits(candidate: &Candidate<'_, '_>, depth: usize) -> Vec<Edit> {
    let (cx, nest) = (candidate.cx, &candidate.nest);
    let moved: Vec<NodeId> = nest.between.iter().filter(|(level, _)| level + 1 < depth).map(|(_, it)| *it).collect();
    let Some(innermost) = nest.loops.loops.get(depth - 1).filter(|_| !moved.is_empty()) else { return Vec::new() };
    let layout = Layout::of(cx.file, cx.constructs.directive(candidate.id));
    let body = cx.tree.span(innermost.body);
    let outer = indent_of(cx.file, innermost.span.start);
    let is_block = cx.tree.kind(innermost.body) == NodeKind::CompoundStatement;
    let first = cx.tree.named_children(innermost.body).next().filter(|_| is_block);
    let indent = match first.map(|first| indent_of(cx.file, cx.tree.span(first).start)) {
        Some(indent) if indent.len() > outer.len() => indent,
        _ => format!("{outer}{}", layout.level),
    };
    let taken: Vec<Span> = moved.iter().map(|it| with_comment(cx, cx.tree.span(*it))).collect();
    let lines: String =
        taken.iter().map(|span| format!("{}{indent}{}", layout.newline, cx.file.show(*span).trim_end())).collect();
    let mut edits: Vec<Edit> =
        taken.iter().map(|span| Edit { span: with_line(cx, *span), text: String::new() }).collect();
    let at = |offset| Span::new(offset, offset);
    if is_block {
        edits.push(Edit { span: at(body.start + 1), text: lines });
    } else {
        let before = format!("{{{lines}{}{indent}", layout.newline);
        edits.push(Edit { span: at(body.start), text: before });
        edits.push(Edit { span: at(body.end), text: format!("{}{outer}}}", layout.newline) });
    }
    edits
}

/// A declaration with the comment behind it on its line.
fn with_comment(cx: &Program<'_>, span: Span) -> Span {
    let rest = rest_of_line(cx, span.end);
    let behind = cx.file.show(rest).into_owned();
    let is_comment = behind.trim_start().starts_with("//");
    if is_comment { Span::new(span.start, rest.end) } else { span }
}

/// What is taken away with a declaration: its whole line, if nothing else stands there.
fn with_line(cx: &Program<'_>, span: Span) -> Span {
    let text = &cx.file.text;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let before = text.get(..span.start).unwrap_or_default();
    let start = span.start - before.iter().rev().take_while(|byte| is_blank(byte)).count();
    let rest = rest_of_line(cx, span.end);
    let is_alone = (start == 0 || text.get(start - 1) == Some(&b'\n')) && cx.file.show(rest).trim().is_empty();
    if is_alone { Span::new(start, (rest.end + 1).min(text.len())) } else { span }
}

/// From a byte up to the end of its line.
fn rest_of_line(cx: &Program<'_>, start: usize) -> Span {
    let rest = cx.file.text.get(start..).unwrap_or_default();
    Span::new(start, start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()))
}
