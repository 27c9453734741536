//! The loops that count groups, and their body in both forms.

use std::collections::BTreeMap;

use super::Kernel;
use super::body::{Copies, Piece, Together};
use super::groups::Axis;
use super::neighbours::Computed;
use super::parts::Part;
use super::window::Window;
use crate::context::Context;
use crate::edit::directive_writer::{Layout, collapse, in_front, indent_of, line_start, starts_line, text_end};
use crate::edit::{Edit, braces};
use crate::semantics::symbols::VariableId;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::Span;
use crate::syntax::{Declaration, Field, NodeId, NodeKind};
use crate::transforms::two_forms::{edited, indented, lines_of};

/// The edits that group iterations. `None` where the text has a form that is not expected.
pub(super) fn edits(kernel: &Kernel<'_, '_>, axes: &[Axis], copies: &Copies) -> Option<Vec<Edit>> {
    let cx = kernel.cx;
    let body = kernel.candidate.nest.loops.body;
    let directive = cx.constructs.directive(kernel.candidate.id);
    let innermost = kernel.loops().last()?;
    let layout = Layout::of(cx.file, directive);
    let blanks = indent_of(cx.file, cx.tree.span(innermost.node).start);
    let inside = cx.tree.named_children(body).next().map(|node| indent_of(cx.file, cx.tree.span(node).start));
    let level = inside.and_then(|inside| inside.strip_prefix(&blanks).map(str::to_owned));
    let parts: Option<Vec<Part<'_>>> = axes.iter().map(|axis| Part::of(kernel, *axis, axes.len() > 1)).collect();
    let writer = Writer {
        cx,
        kernel,
        parts: parts?,
        copies,
        window: Window::of(kernel, copies, axes),
        function: cx.function_of(cx.tree.span(body)),
        level: level.filter(|level| !level.is_empty()).unwrap_or_else(|| layout.level.clone()),
        layout,
    };
    let mut edits = Vec::new();
    for part in &writer.parts {
        edits.extend(part.head(cx)?);
    }
    let lanes = writer.parts.iter().any(|part| part.lane.is_some());
    if lanes {
        edits.push(collapse(cx.file, directive, kernel.loops().len() + 1));
    }
    edits.push(writer.body(innermost.node, body, &blanks)?);
    Some(edits)
}

/// Other text for a statement, and the array that it needs in front.
struct Replaced {
    statement: NodeId,
    array: Option<String>,
    edits: Vec<Edit>,
}

struct Writer<'w, 'p> {
    cx: &'w Context<'p>,
    /// The loops that are grouped, outermost first.
    parts: Vec<Part<'w>>,
    kernel: &'w Kernel<'w, 'p>,
    copies: &'w Copies,
    /// What need not be asked in groups whose windows lie within their arrays.
    window: Option<Window>,
    function: Option<NodeId>,
    level: String,
    layout: Layout,
}

impl Writer<'_, '_> {
    fn opening(&self, blanks: &str) -> String {
        braces::opening(self.cx.file, self.cx.tree, self.function, self.layout.newline, blanks)
    }

    /// Both forms of the body: for whole groups, and for what is left over.
    fn body(&self, innermost: NodeId, body: NodeId, blanks: &str) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let span = cx.tree.span(body);
        let is_block = self.is_block(body);
        let content = match is_block {
            true => Span::new(span.start + 1, span.end - 1),
            false if starts_line(cx.file, span.start) => lines_of(cx.file, self.whole(&[body])?),
            false => return None,
        };
        let mut edits = Vec::new();
        self.pieces(&self.copies.pieces, &mut edits)?;
        let grouped = edited(cx.file, content, &edits)?;
        let original = edited(cx.file, content, &[])?;
        let lanes = self.parts.iter().find_map(Part::lanes);
        let outer = usize::from(lanes.is_some());
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
        let whole = self.is_whole();
        let opening = self.opening(&at(outer + 1));
        let alternative =
            if opening.starts_with(newline) { format!("{newline}{}else", at(outer + 1)) } else { " else".to_owned() };
        let mut text = match &lanes {
            Some(head) => format!("{newline}{}{head}{}", at(1), self.opening(&at(1))),
            None if is_block => "{".to_owned(),
            None => self.opening(&at(0)),
        };
        text += &format!("{newline}{}if ({}){opening}", at(outer + 1), whole.join(" && "));
        text += &lines(&grouped, outer + 2, outer + 1);
        text += &format!("{newline}{}}}{alternative}{opening}", at(outer + 1));
        let (heads, values) = self.rest();
        let mut depth = outer + 2;
        for head in heads {
            text += &format!("{newline}{}{head}{}", at(depth), self.opening(&at(depth)));
            depth += 1;
        }
        for value in values {
            text += &format!("{newline}{}{value}", at(depth));
        }
        text += &lines(&original, depth, depth - 1);
        for depth in (if outer > 0 { 1 } else { 0 }..depth).rev() {
            text += &format!("{newline}{}}}", at(depth));
        }
        match lanes {
            None if is_block => Some(Edit { span, text }),
            _ => self.behind_head(innermost, Span::new(span.start, span.end.max(content.end)), &text),
        }
    }

    /// What asks whether a group is whole, and its windows lie within their arrays.
    fn is_whole(&self) -> Vec<String> {
        let Some(window) = &self.window else {
            return self.parts.iter().map(|part| part.is_whole(self.cx)).collect();
        };
        let axes: Vec<Axis> = self.parts.iter().map(|part| part.axis).collect();
        let first = |index: usize| {
            let part = self.parts.iter().find(|part| part.axis.index == index);
            let own = self.kernel.loops().get(index).map(|own| own.variable.clone()).unwrap_or_default();
            part.map_or(own, |part| part.first.clone())
        };
        window.conditions(self.kernel, &axes, &first)
    }

    /// What stands around the original's statements for what is left over, and the variables in them.
    fn rest(&self) -> (Vec<String>, Vec<String>) {
        if let ([only], None) = (self.parts.as_slice(), &self.window) {
            let (head, value) = only.rest(self.cx);
            return (vec![head], value.into_iter().collect());
        }
        let conditions: Vec<String> = self.parts.iter().map(|part| part.is_there(self.cx)).collect();
        let loops = self.parts.iter().map(Part::partial_head);
        let heads = loops.chain([format!("if ({})", conditions.join(" && "))]).collect();
        (heads, self.parts.iter().map(|part| part.value(self.cx)).collect())
    }

    /// A statement in the place of a loop's body. A comment behind the head stays there, and what follows it begins a line; comments on lines of their own
    /// stand in the block, as clang-format takes what is in front of a brace for more of the comment behind the head.
    fn behind_head(&self, innermost: NodeId, span: Span, text: &str) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let gap = Span::new(cx.tree.end_of_head(innermost)?, span.start);
        let between = cx.file.show(gap);
        let (beside, below) = between.split_once('\n').unwrap_or((between.as_ref(), ""));
        let is_cut = beside.rfind("/*") > beside.rfind("*/");
        let block = text.split_once('{').filter(|(front, _)| front.trim().is_empty());
        let block = block.filter(|_| !is_cut && !below.trim().is_empty());
        let said = if block.is_some() { beside.trim_end().len() } else { between.trim_end().len() };
        let text = match block {
            Some((front, inside)) => format!("{front}{{{newline}{}{inside}", below.trim_end()),
            None => text.to_owned(),
        };
        let text = if said == 0 || text.starts_with(newline) {
            text
        } else {
            format!("{newline}{}{}", indent_of(cx.file, cx.tree.span(innermost).start), text.trim_start())
        };
        Some(Edit { span: Span::new(gap.start + said, span.end), text })
    }

    fn pieces(&self, pieces: &[Piece], edits: &mut Vec<Edit>) -> Option<()> {
        for piece in pieces {
            match piece {
                Piece::Once => {}
                Piece::Together(one) => {
                    if self.window.as_ref().is_some_and(|window| window.unrolled.contains(&one.node)) {
                        let start = self.cx.tree.span(one.node).start;
                        edits.push(in_front(self.cx.file, &self.layout, start, "unroll", &["full".to_owned()]));
                    }
                    match one.pieces.as_slice() {
                        [Piece::Each(_, run)] if !self.is_block(one.body) => edits.push(self.in_braces(one, run)?),
                        other => self.pieces(other, edits)?,
                    }
                }
                Piece::Each(_, run) => edits.push(self.in_block(run, None)?),
                Piece::Stored(_, stored) => {
                    edits.push(self.in_block(&stored.computing_statements(), Some(&stored.stores))?);
                }
            }
        }
        Some(())
    }

    fn is_block(&self, node: NodeId) -> bool {
        self.cx.tree.kind(node) == NodeKind::CompoundStatement
    }

    /// Statements of a block that each iteration of the group makes for itself: all of these, and then all of those that store.
    fn in_block(&self, run: &[NodeId], stores: Option<&[NodeId]>) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let whole = self.whole(&[run, stores.unwrap_or_default()].concat())?;
        let each = |blanks: &str| match stores {
            None => self.each(run, whole, blanks),
            Some(stores) => self.in_front(run, stores, blanks),
        };
        let own = indent_of(cx.file, whole.start);
        if starts_line(cx.file, whole.start) {
            let span = Span::new(line_start(&cx.file.text, whole.start), whole.end);
            return Some(Edit { span, text: each(&own)? });
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
        let text = format!("{newline}{}{last}", each(&blanks)?);
        Some(Edit { span: Span::new(start, end), text })
    }

    /// The statement that is the whole body of a loop, in a block.
    fn in_braces(&self, one: &Together, run: &[NodeId]) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let whole = self.whole(run)?;
        let span = Span::new(cx.tree.end_of_head(one.node)?, whole.end);
        let gap = Span::new(span.start, whole.start);
        let is_blank = gap.start <= gap.end && cx.file.bytes(gap).iter().all(u8::is_ascii_whitespace);
        let blanks = indent_of(cx.file, cx.tree.span(one.node).start);
        let inner = format!("{blanks}{}", self.level);
        let text = format!("{}{newline}{}{newline}{blanks}}}", self.opening(&blanks), self.each(run, whole, &inner)?);
        is_blank.then_some(Edit { span, text })
    }

    /// What a group computes, and then what it stores.
    fn in_front(&self, run: &[NodeId], stores: &[NodeId], blanks: &str) -> Option<String> {
        let [first, last] = [run.first()?, run.last()?].map(|node| self.cx.tree.span(*node));
        let parted: Option<Vec<[Replaced; 2]>> = self.copies.computed().map(|one| self.parted(one, blanks)).collect();
        let (computing, storing): (Vec<_>, Vec<_>) = parted?.into_iter().map(|[one, other]| (one, other)).unzip();
        let values = self.each_with(run, Span::new(first.start, last.end), blanks, &computing)?;
        let behind = self.each_with(stores, self.whole(stores)?, blanks, &storing)?;
        Some(format!("{values}{}{behind}", self.layout.newline))
    }

    /// The assignment of a value to a variable of the group, and that of the variable to the element.
    fn parted(&self, computed: &Computed, blanks: &str) -> Option<[Replaced; 2]> {
        let (own, newline) = (format!("{}{}", computed.name, self.place()), self.layout.newline);
        let renamed =
            |span: Span| self.renamed(computed.statement).into_iter().filter(move |it| span.contains(it.span));
        let element = edited(self.cx.file, computed.element, &renamed(computed.element).collect::<Vec<_>>())?;
        let text = match computed.is_compound {
            true => format!("{own} = {element};{newline}{blanks}{own}"),
            false => own.clone(),
        };
        let assigned = Edit { span: computed.element, text };
        let stored = Edit { span: computed.value, text: format!(" = {own}") };
        let array = format!("{} {}{};", computed.ty, computed.name, self.sizes());
        let of = |array: Option<String>, one: Edit, rest: Span| Replaced {
            statement: computed.statement,
            array,
            edits: renamed(rest).chain([one]).collect(),
        };
        Some([of(Some(array), assigned, computed.value), of(None, stored, computed.element)])
    }

    /// The text of statements that follow each other, with a comment at its end.
    fn whole(&self, run: &[NodeId]) -> Option<Span> {
        let [first, last] = [run.first()?, run.last()?].map(|node| self.cx.tree.span(*node));
        Some(Span::new(first.start, text_end(self.cx.file, last.end)))
    }

    /// The loops over the iterations of a group, with the arrays that it needs in front of them, in whole lines but for the last line's end.
    fn each(&self, run: &[NodeId], whole: Span, blanks: &str) -> Option<String> {
        self.each_with(run, whole, blanks, &[])
    }

    /// The same, with other text in the place of some statements.
    fn each_with(&self, run: &[NodeId], whole: Span, blanks: &str, replaced: &[Replaced]) -> Option<String> {
        let (level, newline) = (&self.level, self.layout.newline);
        let arrays = replaced.iter().filter_map(|one| one.array.as_ref());
        let mut arrays: String = arrays.map(|array| format!("{blanks}{array}{newline}")).collect();
        let mut edits = Vec::new();
        let mut is_empty = true;
        for (at, statement) in run.iter().enumerate() {
            if let Some(replaced) = replaced.iter().find(|one| one.statement == *statement) {
                is_empty = false;
                edits.extend(replaced.edits.iter().cloned());
                continue;
            }
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
                    edits.extend(self.within(*statement));
                }
            }
        }
        if is_empty {
            return Some(arrays.trim_end().to_owned()).map(|text| format!("{blanks}{}", text.trim_start()));
        }
        let mut text = arrays;
        for (depth, part) in self.parts.iter().enumerate() {
            let blanks = format!("{blanks}{}", level.repeat(depth));
            let column = if self.layout.indent.is_empty() { "" } else { &blanks };
            let pragma = self.layout.indented(column.to_owned()).write("unroll", &["full".to_owned()]);
            text += &format!("{column}{pragma}{newline}{blanks}{}{}{newline}", part.loop_head(), self.opening(&blanks));
            if run.iter().any(|node| self.uses(*node).iter().any(|(_, key)| *key == part.variable)) {
                text += &format!("{blanks}{level}{}{newline}", part.value(self.cx));
            }
        }
        let deepest = level.repeat(self.parts.len());
        text += &format!("{blanks}{}", indented(&edited(self.cx.file, whole, &edits)?, &deepest));
        for depth in (0..self.parts.len()).rev() {
            text += &format!("{newline}{blanks}{}}}", level.repeat(depth));
        }
        Some(text)
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
        let element = |used: &Use| format!("{}{}", used.name, self.place());
        uses.map(|(used, _)| Edit { text: element(&used), span: used.span }).collect()
    }

    /// The same of a statement that a group makes, without conditions that hold there.
    fn within(&self, statement: NodeId) -> Vec<Edit> {
        let span = self.cx.tree.span(statement);
        let mut edits = self.renamed(statement);
        let asked = self.window.iter().flat_map(|window| &window.asked);
        if let Some(head) = asked.copied().find(|head| head.start == span.start) {
            edits.retain(|edit| !head.contains(edit.span));
            edits.push(Edit { span: head, text: String::new() });
        }
        edits
    }

    /// The subscripts of an iteration's own element.
    fn place(&self) -> String {
        self.parts.iter().map(|part| format!("[{}]", part.offset)).collect()
    }

    /// The lengths of an array with an element for each iteration.
    fn sizes(&self) -> String {
        self.parts.iter().map(|part| format!("[{}]", part.axis.factor)).collect()
    }

    /// The arrays in the place of what a statement declares, and the assignments of its values.
    fn declared(&self, statement: NodeId) -> Option<(String, String)> {
        let cx = self.cx;
        let sizes = self.sizes();
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
            names.push(format!("{}{sizes}", one.name));
            if let Some(value) = cx.tree.child(declarator, Field::Value) {
                let text = edited(cx.file, cx.tree.span(value), &self.renamed(value))?;
                values.push(format!("{}{} = {text};", one.name, self.place()));
            }
        }
        Some((format!("{ty} {};", names.join(", ")), values.join(" ")))
    }
}
