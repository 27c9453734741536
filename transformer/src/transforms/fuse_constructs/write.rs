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
use crate::transforms::two_forms::line_inserts;

/// The edits that take the heads of all constructs but the first away, and put their statements behind those of the first. `names` are those
/// of the constants that say which constructs run ([`super::guards::names`]); `conditions` are what each construct's statements are asked for.
pub(super) fn loops(
    cx: &Context<'_>,
    members: &[&Member],
    names: &[Option<String>],
    conditions: &[Option<Asked>],
) -> Vec<Edit> {
    let Some(first) = members.first() else { return Vec::new() };
    let form = Form::of(cx, first);
    let block = |(at, asked): (usize, &Option<Asked>)| match asked {
        Some(asked) => Block::If(asked.clone()),
        None if needs_block(cx, members, at) => Block::Braces,
        None => Block::None,
    };
    let blocks: Vec<Block> = conditions.iter().enumerate().map(block).collect();
    let mut edits = Vec::new();
    edits.extend(form.constants(members, names));
    for (at, (member, block)) in members.iter().zip(&blocks).enumerate() {
        edits.push(if at == 0 { form.opening(first, block) } else { form.head(first, member, block) });
        edits.extend(form.moved(at, member, block));
        edits.push(if at + 1 == members.len() {
            form.closing(first, member, block, names)
        } else {
            form.end(member, block)
        });
    }
    edits.retain(|edit| !edit.span.is_empty() || !edit.text.is_empty());
    edits
}

/// What is asked in front of the statements of a construct.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The condition of an `if`.
    pub condition: String,
    /// The declaration of the loop's variable as a copy of that of the one loop, where these have other names throughout.
    pub copy: Option<String>,
}

/// What the statements of a construct stand in.
enum Block {
    None,
    Braces,
    If(Asked),
}

impl Block {
    /// The lines that open it.
    fn opening(&self, level: &str) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::Braces => vec!["{".to_owned()],
            Self::If(Asked { condition, copy }) => {
                let copy = copy.iter().map(|copy| format!("{level}{copy}"));
                std::iter::once(format!("if ({condition}) {{")).chain(copy).collect()
            }
        }
    }

    /// Has it the loop's variable as a copy in any case?
    fn has_copy(&self) -> bool {
        matches!(self, Self::If(Asked { copy: Some(_), .. }))
    }

    fn exists(&self) -> bool {
        !matches!(self, Self::None)
    }
}

/// How the statements of several constructs stand in one loop. A construct has a block of its own where names of it would mean something
/// to another.
pub(super) struct Form<'a, 'c> {
    cx: &'a Context<'c>,
    pub(super) newline: &'static str,
    /// One level of a block.
    pub(super) level: String,
    /// The blanks before a statement of the loop.
    pub(super) indent: String,
    /// The blanks before the loop.
    pub(super) outside: String,
    /// The blanks before its innermost one.
    innermost: String,
}

impl<'a, 'c> Form<'a, 'c> {
    pub(super) fn of(cx: &'a Context<'c>, first: &Member) -> Self {
        let layout = Layout::of(cx.file, cx.constructs.directive(first.id));
        let head = first.loops.first().map_or(first.directive.start, |read| read.span.start);
        let outside = indent_of(cx.file, head);
        let statement = cx.tree.named_children(first.body).next().filter(|_| first.is_block).unwrap_or(first.body);
        let inside = indent_of(cx.file, cx.tree.span(statement).start);
        let indent = if inside.len() > outside.len() { inside } else { format!("{outside}{}", layout.level) };
        let innermost = first.loops.last().map_or_else(|| outside.clone(), |read| indent_of(cx.file, read.span.start));
        let level =
            indent.strip_prefix(&innermost).filter(|level| !level.is_empty()).unwrap_or(&layout.level).to_owned();
        Self { cx, newline: layout.newline, level, indent, outside, innermost }
    }

    /// A line of its own.
    fn line(&self, text: &str) -> String {
        format!("{}{text}{}", self.indent, self.newline)
    }

    /// The blanks before the first statement of a construct.
    fn inside(&self, block: &Block) -> String {
        let level = if matches!(block, Block::If(_)) { self.level.as_str() } else { "" };
        format!("{}{level}", self.indent)
    }

    /// The constants that say which constructs run, and the `if` that asks whether any does.
    fn constants(&self, members: &[&Member], names: &[Option<String>]) -> Option<Edit> {
        let cx = self.cx;
        let guarded =
            |(member, name): (&&Member, &Option<String>)| Some(member.guard.as_ref()?.declaration(cx, name.as_ref()?));
        let declared: Vec<String> = members.iter().zip(names).filter_map(guarded).collect();
        let first = members.first().filter(|_| !declared.is_empty())?;
        let Some(guard) = &first.guard else {
            let start = line_start(&cx.file.text, first.directive.start);
            let lines: String = declared.iter().map(|line| format!("{}{line}{}", self.outside, self.newline)).collect();
            return Some(Edit::insertion(start, lines));
        };
        let indent = indent_of(cx.file, guard.span.start);
        let lines: String = declared.iter().map(|line| format!("{line}{}{indent}", self.newline)).collect();
        let any = names.iter().flatten().cloned().collect::<Vec<_>>().join(" || ");
        let before = cx.file.bytes(Span::new(guard.span.start, first.directive.start)).trim_ascii_end().len();
        let span = Span::new(guard.span.start, guard.span.start + before);
        Some(Edit { span, text: format!("{lines}if ({any}) {{") })
    }

    /// The statements of a construct further inside, but for the line whose blanks are written anew.
    fn moved(&self, at: usize, member: &Member, block: &Block) -> Vec<Edit> {
        let text = &self.cx.file.text;
        let content = self.cx.file.bytes(member.content);
        let first = member.content.start + content.len() - content.trim_ascii_start().len();
        // It may have stood as deep before.
        if !matches!(block, Block::If(_)) || indent_of(self.cx.file, first) != self.indent {
            return Vec::new();
        }
        let own_line = line_start(text, first);
        let is_kept = at == 0 && member.is_block && own_line > member.content.start;
        let next =
            text.get(first..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n')).map(|to| first + to + 1);
        let start = if is_kept { Some(own_line) } else { next };
        let last = self.last_byte(member);
        let lines = start.filter(|start| *start < last).map(|start| Span::new(start, last));
        lines.map(|lines| line_inserts(self.cx.file, lines, &self.level, String::new())).unwrap_or_default()
    }

    fn opening(&self, first: &Member, own: &Block) -> Edit {
        let lines = own.opening(&self.level).into_iter();
        let block: String = lines.map(|line| format!("{}{}{line}", self.newline, self.indent)).collect();
        if first.is_block {
            let content = self.cx.file.bytes(first.content);
            let blanks = content.len() - content.trim_ascii_start().len();
            // What stands on the line of the brace begins a line of its own.
            let is_inline = !content.get(..blanks).unwrap_or_default().contains(&b'\n');
            let own_line = format!("{block}{}{}", self.newline, self.inside(own));
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
                text: format!(" {{{block}{}{}", self.newline, self.inside(own)),
            },
            false => Edit::insertion(first.content.start, format!("{{{block} ")),
        }
    }

    /// What stands behind the statements of a construct that is not the last one.
    fn end(&self, member: &Member, block: &Block) -> Edit {
        let span = Span::new(self.last_byte(member), member.whole().end);
        let block = if block.exists() { format!("{}{}}}", self.newline, self.indent) } else { String::new() };
        let comments = self.comments(span);
        let rest = self.cx.file.text.get(span.end..).unwrap_or_default();
        let is_last = rest.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii().is_empty();
        // What stands behind the construct must not become part of a comment.
        let line = if comments.is_empty() || is_last { "" } else { self.newline };
        Edit { span, text: format!("{block}{comments}{line}") }
    }

    /// What stands before the statements of a construct that is not the first one.
    fn head(&self, first: &Member, member: &Member, block: &Block) -> Edit {
        let cx = self.cx;
        let text = &cx.file.text;
        let whole = member.whole();
        let start = line_start(text, whole.start);
        let is_alone = cx.file.bytes(Span::new(start, whole.start)).trim_ascii().is_empty();
        let content = member.content;
        let rest = text.get(content.start..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let span = Span::new(if is_alone { start } else { whole.start }, content.start + blanks);
        let mut lines = if is_alone { String::new() } else { self.newline.to_owned() };
        let of_directive = comments_of(cx.file, cx.constructs.directive(member.id));
        let of_heads = self.comments_in(Span::new(member.directive.end, content.start));
        for comment in of_directive.iter().chain(&of_heads) {
            lines += &self.line(comment);
        }
        lines.extend(block.opening(&self.level).iter().map(|line| self.line(line)));
        let inside = self.inside(block);
        let renamed = member.loops.iter().zip(&first.loops).filter(|(own, other)| own.variable != other.variable);
        for (own, other) in renamed.filter(|_| !block.has_copy()) {
            let ty = own.declared_type.map_or("int".into(), |span| cx.file.show(span));
            lines += &format!("{inside}const {ty} {} = {};{}", own.variable, other.variable, self.newline);
        }
        Edit { span, text: format!("{lines}{inside}") }
    }

    /// The braces of the first construct, behind the statements of the last one.
    fn closing(&self, first: &Member, last: &Member, block: &Block, names: &[Option<String>]) -> Edit {
        let cx = self.cx;
        let span = Span::new(self.last_byte(last), last.whole().end);
        let block = if block.exists() { format!("{}{}}}", self.newline, self.indent) } else { String::new() };
        let mut text = block + &self.comments(span);
        if !first.is_block {
            text += &format!("{}{}}}", self.newline, self.innermost);
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
        if let Some(guard) = &first.guard
            && (guard.is_block || names.iter().any(Option::is_some))
        {
            text += &format!("{}{}}}", self.newline, indent_of(cx.file, guard.span.start));
        }
        Edit { span, text }
    }

    /// The place behind the last statement of a construct, or behind a comment there.
    pub(super) fn last_byte(&self, member: &Member) -> usize {
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

/// The edits of the first construct's clauses, which gets some `more`.
pub(super) fn clauses(
    cx: &Context<'_>,
    members: &[&Member],
    (lists, all): (&[Lists], &Joined),
    more: &[String],
) -> Vec<Edit> {
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
        let new = [more.to_vec(), maps(&mut all.mapped.iter()), others].concat();
        return exchange_clauses(cx.file, directive, &old, &new);
    }
    let mut added = all.mapped.iter().filter(|item| own.item(item.key).is_none());
    let new = [more.to_vec(), maps(&mut added), others].concat();
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
