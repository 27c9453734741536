//! The one loop in the place of several.

use std::collections::BTreeSet;

use super::lists::{Joined, Lists, Mapped};
use super::members::Member;
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, append_clauses, comments_of, exchange_clauses, indent_of, line_start};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::{ClauseName, NodeKind};

/// The edits that take the heads of all constructs but the first away, and put their statements behind those of the first.
pub(super) fn loops(cx: &Context<'_>, members: &[&Member]) -> Vec<Edit> {
    let Some(first) = members.first() else { return Vec::new() };
    let form = Form::of(cx, first);
    let has_block: Vec<bool> = (0..members.len()).map(|at| needs_block(cx, members, at)).collect();
    let mut edits = Vec::new();
    for (at, (member, has_block)) in members.iter().zip(has_block).enumerate() {
        edits.push(if at == 0 { form.opening(first, has_block) } else { form.head(first, member, has_block) });
        edits.push(if at + 1 == members.len() {
            form.closing(first, member, has_block)
        } else {
            form.end(member, has_block)
        });
    }
    edits.retain(|edit| !edit.span.is_empty() || !edit.text.is_empty());
    edits
}

/// How the statements of several constructs stand in one loop. A construct has a block of its own where names of it would mean something
/// to another.
struct Form<'a, 'c> {
    cx: &'a Context<'c>,
    newline: &'static str,
    /// The blanks before a statement of the loop.
    indent: String,
    /// The blanks before the loop.
    outside: String,
}

impl<'a, 'c> Form<'a, 'c> {
    fn of(cx: &'a Context<'c>, first: &Member) -> Self {
        let layout = Layout::of(cx.file, cx.constructs.directive(first.id));
        let head = first.loops.first().map_or(first.directive.start, |read| read.span.start);
        let outside = indent_of(cx.file, head);
        let statement = cx.tree.named_children(first.body).next().filter(|_| first.is_block).unwrap_or(first.body);
        let inside = indent_of(cx.file, cx.tree.span(statement).start);
        let indent = if inside.len() > outside.len() { inside } else { format!("{outside}{}", layout.level) };
        Self { cx, newline: layout.newline, indent, outside }
    }

    /// A line of its own.
    fn line(&self, text: &str) -> String {
        format!("{}{text}{}", self.indent, self.newline)
    }

    fn opening(&self, first: &Member, has_block: bool) -> Edit {
        let block = if has_block { format!("{}{}{{", self.newline, self.indent) } else { String::new() };
        if first.is_block {
            let content = self.cx.file.bytes(first.content);
            let blanks = content.len() - content.trim_ascii_start().len();
            // What stands on the line of the brace begins a line of its own.
            let is_inline = !content.get(..blanks).unwrap_or_default().contains(&b'\n');
            let own_line = format!("{block}{}{}", self.newline, self.indent);
            return match is_inline && self.comment_spans(first.content).is_empty() {
                true => Edit { span: Span::new(first.content.start, first.content.start + blanks), text: own_line },
                false => Edit::insertion(first.content.start, block),
            };
        }
        let head = first.loops.first().map_or(first.directive.end, |read| read.span.start);
        let before = self.cx.file.bytes(Span::new(head, first.content.start)).trim_ascii_end().len();
        match self.comment_spans(Span::new(head + before, first.content.start)).is_empty()
            && self.comment_spans(Span::new(head, head + before)).is_empty()
        {
            true => Edit {
                span: Span::new(head + before, first.content.start),
                text: format!(" {{{block}{}{}", self.newline, self.indent),
            },
            false => Edit::insertion(first.content.start, format!("{{{block} ")),
        }
    }

    /// What stands behind the statements of a construct that is not the last one.
    fn end(&self, member: &Member, has_block: bool) -> Edit {
        let span = Span::new(self.last_byte(member), self.cx.constructs.construct(member.id).body_span.end);
        let block = if has_block { format!("{}{}}}", self.newline, self.indent) } else { String::new() };
        let comments = self.comments(span);
        let rest = self.cx.file.text.get(span.end..).unwrap_or_default();
        let is_last = rest.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii().is_empty();
        // What stands behind the construct must not become part of a comment.
        let line = if comments.is_empty() || is_last { "" } else { self.newline };
        Edit { span, text: format!("{block}{comments}{line}") }
    }

    /// What stands before the statements of a construct that is not the first one.
    fn head(&self, first: &Member, member: &Member, has_block: bool) -> Edit {
        let cx = self.cx;
        let text = &cx.file.text;
        let start = line_start(text, member.directive.start);
        let is_alone = cx.file.bytes(Span::new(start, member.directive.start)).trim_ascii().is_empty();
        let content = member.content;
        let rest = text.get(content.start..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let span = Span::new(if is_alone { start } else { member.directive.start }, content.start + blanks);
        let mut lines = if is_alone { String::new() } else { self.newline.to_owned() };
        let of_directive = comments_of(cx.file, cx.constructs.directive(member.id));
        let of_heads = self.comments_in(Span::new(member.directive.end, content.start));
        for comment in of_directive.iter().chain(&of_heads) {
            lines += &self.line(comment);
        }
        if has_block {
            lines += &self.line("{");
        }
        for (own, other) in member.loops.iter().zip(&first.loops).filter(|(own, other)| own.variable != other.variable)
        {
            let ty = own.declared_type.map_or("int".into(), |span| cx.file.show(span));
            lines += &self.line(&format!("const {ty} {} = {};", own.variable, other.variable));
        }
        Edit { span, text: format!("{lines}{}", self.indent) }
    }

    /// The braces of the first construct, behind the statements of the last one.
    fn closing(&self, first: &Member, last: &Member, has_block: bool) -> Edit {
        let cx = self.cx;
        let span = Span::new(self.last_byte(last), cx.constructs.construct(last.id).body_span.end);
        let block = if has_block { format!("{}{}}}", self.newline, self.indent) } else { String::new() };
        let mut text = block + &self.comments(span);
        if !first.is_block {
            text += &format!("{}{}}}", self.newline, self.outside);
        }
        let tail = Span::new(first.content.end, cx.constructs.construct(first.id).body_span.end);
        let comments = self.comment_spans(tail);
        let is_brace = |at: &usize| !comments.iter().any(|span| span.start <= *at && *at < span.end);
        let braces = (tail.start..tail.end).filter(|at| cx.file.text.get(*at) == Some(&b'}') && is_brace(at));
        for at in braces {
            let start = line_start(&cx.file.text, at);
            let is_first = cx.file.bytes(Span::new(start, at)).trim_ascii().is_empty();
            let indent = if is_first { indent_of(cx.file, at) } else { self.outside.clone() };
            text += &format!("{}{indent}}}", self.newline);
        }
        Edit { span, text }
    }

    /// The place behind the last statement of a construct, or behind a comment there.
    fn last_byte(&self, member: &Member) -> usize {
        let content = member.content;
        content.start + self.cx.file.bytes(content).trim_ascii_end().len()
    }

    /// The comments in a range whose braces go.
    fn comments(&self, span: Span) -> String {
        self.comments_in(span).iter().map(|comment| format!("{}{}{comment}", self.newline, self.indent)).collect()
    }

    fn comment_spans(&self, span: Span) -> Vec<Span> {
        let tree = self.cx.tree;
        let inside = tree.descendants(tree.covering(span)).filter(|node| tree.kind(*node) == NodeKind::Comment);
        inside.map(|node| tree.span(node)).filter(|comment| span.contains(*comment)).collect()
    }

    fn comments_in(&self, span: Span) -> Vec<String> {
        self.comment_spans(span).into_iter().map(|span| self.cx.file.show(span).into_owned()).collect()
    }
}

/// Would names that one construct declares mean something to another, or has it a copy of the loop variable?
fn needs_block(cx: &Context<'_>, members: &[&Member], at: usize) -> bool {
    let variables = |member: &Member| member.loops.iter().map(|read| read.variable.clone()).collect::<Vec<_>>();
    let (Some(member), Some(first)) = (members.get(at), members.first()) else { return false };
    let Some(declared) = declared(cx, member) else { return true };
    let mut others = members.iter().enumerate().filter(|(other, _)| *other != at);
    variables(member) != variables(first) || others.any(|(_, other)| declared.iter().any(|name| other.names(cx, name)))
}

/// The names that a body declares in its own block. `None` if it declares more than variables.
fn declared(cx: &Context<'_>, member: &Member) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for node in cx.tree.named_children(member.body).filter(|_| member.is_block) {
        let kind = cx.tree.kind(node);
        if kind == NodeKind::Declaration {
            let uses = uses_below(cx.file, cx.tree, node);
            names.extend(uses.into_iter().filter(|used| used.role == Role::Declaration).map(|used| used.name));
            let text = cx.file.show(cx.tree.span(node)).into_owned();
            (!words(&text).any(|word| matches!(word, "struct" | "union" | "enum" | "class"))).then_some(())?;
        } else if !kind.is_statement() {
            return None;
        }
    }
    Some(names)
}

/// The edits of the first construct's clauses.
pub(super) fn clauses(cx: &Context<'_>, members: &[&Member], lists: &[Lists], all: &Joined) -> Vec<Edit> {
    let (Some(first), Some(own)) = (members.first(), lists.first()) else { return Vec::new() };
    let directive = cx.constructs.directive(first.id);
    let is_changed = |item: &Mapped| own.item(item.key).is_some_and(|known| known.copies != item.copies);
    let others = added(all);
    let maps = |items: &mut dyn Iterator<Item = &Mapped>| {
        grouped(items.map(|item| (format!("map({}: ", item.copies.word()), item.text.as_str())))
    };
    if all.mapped.iter().any(is_changed) {
        let old: Vec<usize> = directive
            .clauses
            .iter()
            .enumerate()
            .filter(|(_, it)| it.name == ClauseName::Map)
            .map(|(at, _)| at)
            .collect();
        let new = [maps(&mut all.mapped.iter()), others].concat();
        return exchange_clauses(cx.file, directive, &old, &new);
    }
    let mut added = all.mapped.iter().filter(|item| own.item(item.key).is_none());
    let new = [maps(&mut added), others].concat();
    if new.is_empty() { Vec::new() } else { vec![append_clauses(cx.file, directive, &new)] }
}

/// The clauses of other lists than maps that the first construct gets.
pub(super) fn added(all: &Joined) -> Vec<String> {
    grouped(all.added.iter().map(|one| (one.head.clone(), one.text.as_str())))
}

/// Clauses of items with the same head.
fn grouped<'t>(items: impl Iterator<Item = (String, &'t str)>) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (head, text) in items {
        match found.iter_mut().find(|(known, _)| *known == head) {
            Some((_, list)) => list.push(text),
            None => found.push((head, vec![text])),
        }
    }
    found.into_iter().map(|(head, list)| format!("{head}{})", list.join(", "))).collect()
}
