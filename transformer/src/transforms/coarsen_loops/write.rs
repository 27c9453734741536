//! The loop that counts groups, and its body in both forms.

use std::collections::BTreeMap;

use super::Kernel;
use super::body::{Copies, Piece, Together};
use crate::context::Context;
use crate::edit::directive_writer::{Layout, indent_of, line_start, starts_line, text_end};
use crate::edit::{Edit, braces};
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::symbols::VariableId;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Declaration, Field, NodeId, NodeKind};
use crate::transforms::two_forms::{edited, indented};

/// The edits that group the iterations of a loop. `None` where the text has a form that is not expected.
pub(super) fn edits(kernel: &Kernel<'_, '_>, own: &CanonicalLoop, copies: &Copies, factor: u32) -> Option<Vec<Edit>> {
    let cx = kernel.cx;
    let body = kernel.candidate.nest.loops.body;
    let construct = cx.constructs.construct(kernel.candidate.id).body_span;
    let innermost = cx.tree.span(kernel.loops().last()?.node);
    let layout = Layout::of(cx.file, cx.constructs.directive(kernel.candidate.id));
    let blanks = indent_of(cx.file, innermost.start);
    let inside = cx.tree.named_children(body).next().map(|node| indent_of(cx.file, cx.tree.span(node).start));
    let level = inside.and_then(|inside| inside.strip_prefix(&blanks).map(str::to_owned));
    let writer = Writer {
        cx,
        own,
        copies,
        factor,
        first: cx.fresh_in(construct, "first"),
        offset: cx.fresh_in(construct, "offset"),
        variable: cx.symbols().lookup(&own.variable, cx.tree.span(own.body).start)?.id(),
        ty: cx.file.show(own.declared_type?).into_owned(),
        function: cx.function_of(cx.tree.span(body)),
        level: level.filter(|level| !level.is_empty()).unwrap_or_else(|| layout.level.clone()),
        layout,
    };
    let mut edits = writer.head()?;
    edits.push(writer.body(body, &blanks)?);
    Some(edits)
}

struct Writer<'w, 'p> {
    cx: &'w Context<'p>,
    own: &'w CanonicalLoop,
    copies: &'w Copies,
    factor: u32,
    /// The variable of the groups: the first iteration of each.
    first: String,
    /// The variable of an iteration in its group.
    offset: String,
    /// The variable of the loop.
    variable: VariableId,
    /// Its type.
    ty: String,
    function: Option<NodeId>,
    level: String,
    layout: Layout,
}

impl Writer<'_, '_> {
    /// The head that counts groups.
    fn head(&self) -> Option<Vec<Edit>> {
        let (cx, own) = (self.cx, self.own);
        let is_name = |node: &NodeId| {
            let span = cx.tree.span(*node);
            let is_identifier = cx.tree.kind(*node) == NodeKind::Identifier;
            is_identifier && own.condition.contains(span) && cx.file.show(span) == own.variable.as_str()
        };
        let mut names = cx.tree.descendants(own.node).filter(is_name);
        let (name, None) = (names.next()?, names.next()) else { return None };
        let edit = |span: Span, text: String| Edit { span, text };
        Some(vec![
            edit(own.variable_span, self.first.clone()),
            edit(cx.tree.span(name), self.first.clone()),
            edit(own.step.span, format!("{} += {}", self.first, self.factor)),
        ])
    }

    fn opening(&self, blanks: &str) -> String {
        braces::opening(self.cx.file, self.cx.tree, self.function, self.layout.newline, blanks)
    }

    /// Both forms of the body: for whole groups, and for what is left over.
    fn body(&self, body: NodeId, blanks: &str) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let span = cx.tree.span(body);
        let content = Span::new(span.start + 1, span.end - 1);
        let mut edits = Vec::new();
        self.pieces(&self.copies.pieces, &mut edits)?;
        let grouped = edited(cx.file, content, &edits)?;
        let original = edited(cx.file, content, &[])?;
        let at = |depth: usize| format!("{blanks}{}", self.level.repeat(depth));
        let lines = |text: &str, depth: usize, levels: usize| {
            let text = text.trim_end();
            let is_inline = !text.split('\n').next().unwrap_or_default().trim().is_empty();
            // What stands behind the brace begins a line of its own.
            let own_line = if is_inline {
                format!("{newline}{}{}", at(depth - levels), text.trim_start())
            } else {
                text.to_owned()
            };
            indented(&own_line, &self.level.repeat(levels))
        };
        let bound = self.bound();
        let (relation, least) = match self.own.relation {
            Relation::LessOrEqual => ("<=", self.factor - 1),
            _ => ("<", self.factor),
        };
        let Self { first, ty, own, .. } = self;
        let (opening, name) = (self.opening(&at(1)), &own.variable);
        let alternative =
            if opening.starts_with(newline) { format!("{newline}{}else", at(1)) } else { " else".to_owned() };
        let upper = cx.file.show(own.upper);
        let text = [
            format!("{{{newline}{}if ({bound} - {first} >= {least}){opening}", at(1)),
            lines(&grouped, 2, 1),
            format!("{newline}{}}}{alternative}{opening}", at(1)),
            format!(
                "{newline}{}for ({ty} {name} = {first}; {name} {relation} {upper}; {name}++){}",
                at(2),
                self.opening(&at(2))
            ),
            lines(&original, 3, 2),
            format!("{newline}{}}}{newline}{}}}{newline}{blanks}}}", at(2), at(1)),
        ];
        Some(Edit { span, text: text.concat() })
    }

    /// The bound as the left side of a difference.
    fn bound(&self) -> String {
        let text = self.cx.file.show(self.own.upper).into_owned();
        let is_plain = |text: &str| text.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_sum = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_ .+-*/%()".contains(&byte));
        // A macro may stand for operators that bind less.
        let opens = |word: &str| {
            let definition = self.cx.symbols().macro_definition(word, self.own.upper.start);
            definition.is_some_and(|definition| !is_plain(&definition.body))
        };
        if is_sum && !words(&text).any(opens) { text } else { format!("({text})") }
    }

    fn pieces(&self, pieces: &[Piece], edits: &mut Vec<Edit>) -> Option<()> {
        for piece in pieces {
            match piece {
                Piece::Once => {}
                Piece::Together(one) if self.is_block(one.body) => self.pieces(&one.pieces, edits)?,
                Piece::Together(one) => match one.pieces.as_slice() {
                    [Piece::Each(_, run)] => edits.push(self.in_braces(one, run)?),
                    other => self.pieces(other, edits)?,
                },
                Piece::Each(_, run) => edits.push(self.in_block(run)?),
            }
        }
        Some(())
    }

    fn is_block(&self, node: NodeId) -> bool {
        self.cx.tree.kind(node) == NodeKind::CompoundStatement
    }

    /// Statements of a block that each iteration of the group makes for itself.
    fn in_block(&self, run: &[NodeId]) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let whole = self.whole(run)?;
        let own = indent_of(cx.file, whole.start);
        if starts_line(cx.file, whole.start) {
            let span = Span::new(line_start(&cx.file.text, whole.start), whole.end);
            return Some(Edit { span, text: self.each(run, whole, &own)? });
        }
        // Blanks in front of it go; a brace behind it begins a line of its own.
        let line = line_start(&cx.file.text, whole.start);
        let start = line + cx.file.bytes(Span::new(line, whole.start)).trim_ascii_end().len();
        let rest = cx.file.text.get(whole.end..).unwrap_or_default();
        let gap = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let closes = rest.get(gap) == Some(&b'}');
        let end = if closes { whole.end + gap } else { whole.end };
        let last = if closes { format!("{newline}{own}") } else { String::new() };
        let blanks = format!("{own}{}", self.level);
        let text = format!("{newline}{}{last}", self.each(run, whole, &blanks)?);
        Some(Edit { span: Span::new(start, end), text })
    }

    /// The statement that is the whole body of a loop, in a block.
    fn in_braces(&self, one: &Together, run: &[NodeId]) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let whole = self.whole(run)?;
        let close = cx.tree.children(one.node).filter(|it| cx.tree.kind(*it) == NodeKind::CloseParenthesis).last()?;
        let span = Span::new(cx.tree.span(close).end, whole.end);
        let gap = Span::new(span.start, whole.start);
        let is_blank = gap.start <= gap.end && cx.file.bytes(gap).iter().all(u8::is_ascii_whitespace);
        let blanks = indent_of(cx.file, cx.tree.span(one.node).start);
        let inner = format!("{blanks}{}", self.level);
        let text = format!("{}{newline}{}{newline}{blanks}}}", self.opening(&blanks), self.each(run, whole, &inner)?);
        is_blank.then_some(Edit { span, text })
    }

    /// The text of statements that follow each other, with a comment at its end.
    fn whole(&self, run: &[NodeId]) -> Option<Span> {
        let [first, last] = [run.first()?, run.last()?].map(|node| self.cx.tree.span(*node));
        Some(Span::new(first.start, text_end(self.cx.file, last.end)))
    }

    /// The loop over the iterations of a group, with the arrays that it needs in front of it, in whole lines but for the last line's end.
    fn each(&self, run: &[NodeId], whole: Span, blanks: &str) -> Option<String> {
        let Self { level, offset, first, factor, layout, .. } = self;
        let newline = layout.newline;
        let mut arrays = String::new();
        let mut edits = Vec::new();
        let mut is_empty = true;
        for (at, statement) in run.iter().enumerate() {
            match self.declared(*statement) {
                Some((array, values)) => {
                    arrays += &format!("{blanks}{array}{newline}");
                    is_empty &= values.is_empty();
                    let span = self.cx.tree.span(*statement);
                    let next = run.get(at + 1).filter(|_| values.is_empty()).map(|node| self.cx.tree.span(*node).start);
                    edits.push(Edit { span: Span::new(span.start, next.unwrap_or(span.end)), text: values });
                }
                None => {
                    is_empty = false;
                    edits.extend(self.renamed(*statement));
                }
            }
        }
        if is_empty {
            return Some(arrays.trim_end().to_owned()).map(|text| format!("{blanks}{}", text.trim_start()));
        }
        let column = if layout.indent.is_empty() { "" } else { blanks };
        let pragma = layout.indented(column.to_owned()).write("unroll", &["full".to_owned()]);
        let names_variable = run.iter().any(|node| self.uses(*node).iter().any(|(_, key)| *key == self.variable));
        let value = format!("{blanks}{level}const {} {} = {first} + {offset};{newline}", self.ty, self.own.variable);
        let text = indented(&edited(self.cx.file, whole, &edits)?, level);
        Some(format!(
            "{arrays}{column}{pragma}{newline}{blanks}for (int {offset} = 0; {offset} < {factor}; {offset}++){}{newline}{}{blanks}{text}{newline}{blanks}}}",
            self.opening(blanks),
            if names_variable { value } else { String::new() },
        ))
    }

    /// The names of variables below a node, and what they mean.
    fn uses(&self, node: NodeId) -> Vec<(Use, VariableId)> {
        let uses = uses_below(self.cx.file, self.cx.tree, node).into_iter();
        let named = |used: Use| {
            let at = if used.role == Role::Declaration { used.span.end } else { used.span.start };
            let key = self.cx.symbols().lookup(&used.name, at)?.id();
            Some((used, key))
        };
        uses.filter_map(named).collect()
    }

    /// Each iteration's own elements in the place of variables.
    fn renamed(&self, node: NodeId) -> Vec<Edit> {
        let uses = self.uses(node).into_iter().filter(|(_, key)| self.copies.crossing.contains_key(key));
        let element = |used: &Use| format!("{}[{}]", used.name, self.offset);
        uses.map(|(used, _)| Edit { text: element(&used), span: used.span }).collect()
    }

    /// The arrays in the place of what a statement declares, and the assignments of its values.
    fn declared(&self, statement: NodeId) -> Option<(String, String)> {
        let (cx, factor) = (self.cx, self.factor);
        let declaration = Declaration::of(cx.tree, statement)?;
        let own: BTreeMap<Span, _> = self
            .uses(statement)
            .into_iter()
            .filter(|(used, _)| used.role == Role::Declaration)
            .filter_map(|(used, key)| Some((used.span, self.copies.crossing.get(&key)?)))
            .collect();
        let ty = own.values().next()?.ty.clone();
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for declarator in declaration.declarators() {
            let target = cx.tree.child(declarator, Field::Declarator).unwrap_or(declarator);
            let one = own.get(&cx.tree.span(target))?;
            names.push(format!("{}[{factor}]", one.name));
            if let Some(value) = cx.tree.child(declarator, Field::Value) {
                let text = edited(cx.file, cx.tree.span(value), &self.renamed(value))?;
                values.push(format!("{}[{}] = {text};", one.name, self.offset));
            }
        }
        Some((format!("{ty} {};", names.join(", ")), values.join(" ")))
    }
}
