//! The loops over tiles, and the two loops of a team in each: one loads, the other computes.

use super::loads::Load;
use super::{Kernel, THREADS, TILE};
use crate::context::Context;
use crate::edit::directive_writer::{Layout, append_clauses, indent_of, text_end};
use crate::edit::{Edit, braces};
use crate::region::loop_nest::CanonicalLoop;
use crate::source::{Span, without_comments, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, NodeId, NodeKind};
use crate::transforms::checks::heads;
use crate::transforms::checks::team_rows::for_teams_alone;
use crate::transforms::two_forms::{edited, indented};

/// How many blocks and loops of a tile stand around the statements.
const DEEPER: usize = 3;

/// The edits. `None` where the text has a form that is not expected.
pub(super) fn edits(kernel: &Kernel<'_, '_>, axis: usize, loads: &[Load]) -> Option<Vec<Edit>> {
    let writer = Writer::of(kernel, loads)?;
    let mut edits = heads_of_teams(kernel, &writer.parts, THREADS)?;
    edits.push(writer.body(axis, loads)?);
    Some(edits)
}

/// The edits by which teams of so many threads take the tiles of both loops.
pub(super) fn heads_of_teams(kernel: &Kernel<'_, '_>, parts: &[Part<'_>], threads: u32) -> Option<Vec<Edit>> {
    let cx = kernel.cx;
    let mut edits = vec![for_teams_alone(cx, cx.constructs.directive(kernel.candidate.id))?];
    let mut all = kernel.region.chain.constructs.iter().map(|id| cx.constructs.directive(*id));
    if !all.clone().any(|one| one.clauses_of(ClauseName::ThreadLimit).next().is_some()) {
        let ids = &kernel.region.chain.constructs;
        let is_of_teams =
            |at: &usize| ids.get(*at).is_some_and(|id| cx.constructs.construct(*id).leaves.contains(&Leaf::Teams));
        let at = (0..ids.len()).find(is_of_teams)?;
        edits.push(append_clauses(cx.file, all.nth(at)?, &[format!("thread_limit({threads})")]));
    }
    for part in parts {
        edits.extend(heads::counting(cx, part.own, &part.first, part.length)?);
    }
    Some(edits)
}

/// Does code name a variable? Comments do not; strings may look like them, so that with one everything counts.
pub(super) fn names(text: &str, variable: &str) -> bool {
    let code = if text.contains('"') { text.to_owned() } else { without_comments(text) };
    words(&code).any(|word| word == variable)
}

/// The blanks of one more level of a block than those of the kernel's loops.
pub(super) fn level_of(kernel: &Kernel<'_, '_>, layout: &Layout) -> Option<String> {
    let cx = kernel.cx;
    let [outer, inner] = kernel.loops() else { return None };
    let blanks = indent_of(cx.file, cx.tree.span(inner.node).start);
    let inside = indent_of(cx.file, cx.tree.span(*kernel.statements().first()?).start);
    let deeper = |inner: &str, outer: &str| inner.strip_prefix(outer).filter(|it| !it.is_empty()).map(str::to_owned);
    // A body may stand on the line of its head.
    let level =
        deeper(&inside, &blanks).or_else(|| deeper(&blanks, &indent_of(cx.file, cx.tree.span(outer.node).start)));
    Some(level.unwrap_or_else(|| layout.level.clone()))
}

/// A loop of the kernel, with the names that it needs.
pub(super) struct Part<'w> {
    pub own: &'w CanonicalLoop,
    /// The variable of the tiles: the first iteration of each.
    pub first: String,
    /// The variable of an iteration in its tile.
    pub offset: String,
    /// The type of the loop's variable.
    pub ty: String,
    /// The iterations of a tile.
    pub length: u32,
}

impl<'w> Part<'w> {
    pub(super) fn of(kernel: &Kernel<'_, '_>, own: &'w CanonicalLoop, length: u32) -> Option<Self> {
        let cx = kernel.cx;
        let construct = cx.constructs.construct(kernel.candidate.id).body_span;
        let fresh = |stem: &str| cx.fresh_in(construct, &format!("{stem}_{}", own.variable));
        let ty = cx.file.show(own.declared_type?).into_owned();
        Some(Self { own, first: fresh("first"), offset: fresh("offset"), ty, length })
    }

    /// The head of the loop over the iterations of a tile.
    pub(super) fn head(&self) -> String {
        let Self { offset, ty, length, .. } = self;
        format!("for ({ty} {offset} = 0; {offset} < {length}; {offset}++)")
    }

    /// Is there such an iteration? Distances to the bound are numbers of its type, where the first value that is too large might be none.
    pub(super) fn is_there(&self, cx: &Context<'_>) -> String {
        format!("{} {} {} - {}", self.offset, heads::relation(self.own), heads::bound(cx, self.own), self.first)
    }

    /// The loop's variable.
    pub(super) fn value(&self, cx: &Context<'_>) -> String {
        let Self { first, offset, ty, .. } = self;
        heads::copied_variable(cx, ty, &self.own.variable, &format!("{first} + {offset}"))
    }
}

struct Writer<'w, 'p> {
    kernel: &'w Kernel<'w, 'p>,
    cx: &'w Context<'p>,
    parts: [Part<'w>; 2],
    /// The names of the tiles, one for each load.
    tiles: Vec<String>,
    innermost: NodeId,
    function: Option<NodeId>,
    /// The blanks of one more level of a block.
    level: String,
    layout: Layout,
}

impl<'w, 'p> Writer<'w, 'p> {
    fn of(kernel: &'w Kernel<'_, 'p>, loads: &[Load]) -> Option<Self> {
        let cx = kernel.cx;
        let [outer, inner] = kernel.loops() else { return None };
        let construct = cx.constructs.construct(kernel.candidate.id).body_span;
        let mut tiles: Vec<String> = Vec::new();
        for load in loads {
            let stem = if loads.len() == 1 { "tile".to_owned() } else { format!("tile_{}", load.array) };
            let mut stems = std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}{number}")));
            tiles.push(stems.find_map(|stem| {
                let name = cx.fresh_in(construct, &stem);
                (!tiles.contains(&name)).then_some(name)
            })?);
        }
        let layout = Layout::of(cx.file, cx.constructs.directive(kernel.candidate.id));
        Some(Self {
            kernel,
            cx,
            parts: [Part::of(kernel, outer, TILE)?, Part::of(kernel, inner, TILE)?],
            tiles,
            innermost: inner.node,
            function: cx.function_of(cx.tree.span(kernel.body())),
            level: level_of(kernel, &layout)?,
            layout,
        })
    }

    fn opening(&self, blanks: &str) -> String {
        braces::opening(self.cx.file, self.cx.tree, self.function, self.layout.newline, blanks)
    }

    /// What stands in the place of the body: in front of it a comment may stay.
    fn body(&self, axis: usize, loads: &[Load]) -> Option<Edit> {
        let (cx, newline) = (self.cx, self.layout.newline);
        let (tree, body) = (cx.tree, self.whole());
        let gap = Span::new(tree.end_of_head(self.innermost)?, body.start);
        let said = cx.file.bytes(gap).trim_ascii_end().len();
        let blanks = indent_of(cx.file, tree.span(self.innermost).start);
        let inside = format!("{blanks}{}", self.level);
        let mut text = self.opening(&blanks);
        for (load, tile) in loads.iter().zip(&self.tiles) {
            // One more column than rows, so that neighbouring threads reach different banks along both.
            text += &format!("{newline}{inside}{} {tile}[{TILE}][{}];", load.ty, TILE + 1);
        }
        let mut copies = Vec::new();
        for (load, tile) in loads.iter().zip(&self.tiles) {
            copies.push(format!("{}{} = {};", tile, self.place(), cx.file.show(*load.places.first()?)));
        }
        text += &self.shared(1 - axis, &inside, &copies.join(&format!("{newline}{inside}")))?;
        text += &self.shared(axis, &inside, &self.computed(loads)?)?;
        text += &format!("{newline}{blanks}}}");
        Some(Edit { span: Span::new(gap.start + said, body.end), text })
    }

    fn is_block(&self) -> bool {
        self.cx.tree.kind(self.kernel.body()) == NodeKind::CompoundStatement
    }

    /// The body; a comment behind a statement belongs to it.
    fn whole(&self) -> Span {
        let span = self.cx.tree.span(self.kernel.body());
        if self.is_block() { span } else { Span::new(span.start, text_end(self.cx.file, span.end)) }
    }

    /// The subscripts of an iteration's element in a tile.
    fn place(&self) -> String {
        self.parts.iter().map(|part| format!("[{}]", part.offset)).collect()
    }

    /// The statements of the body, with elements of tiles in the place of loads.
    fn computed(&self, loads: &[Load]) -> Option<String> {
        let cx = self.cx;
        let body = self.whole();
        let content = if self.is_block() { Span::new(body.start + 1, body.end - 1) } else { body };
        let mut edits: Vec<Edit> = Vec::new();
        for (load, tile) in loads.iter().zip(&self.tiles) {
            edits.extend(load.places.iter().map(|span| Edit { span: *span, text: format!("{tile}{}", self.place()) }));
        }
        edits.sort_by_key(|edit| edit.span.start);
        edited(cx.file, content, &edits)
    }

    /// A loop whose iterations the threads of a team share, those side by side along the loop `axis`, each with these statements.
    fn shared(&self, axis: usize, blanks: &str, statements: &str) -> Option<String> {
        let (cx, newline, level) = (self.cx, self.layout.newline, &self.level);
        let [slow, fast] = [self.parts.get(1 - axis)?, self.parts.get(axis)?];
        let column = if self.layout.indent.is_empty() { "" } else { blanks };
        let layout = self.layout.indented(column.to_owned());
        let at = |depth: usize| format!("{blanks}{}", level.repeat(depth));
        let pragma = layout.write("parallel for", &["collapse(2)".to_owned()]);
        let conditions: Vec<String> = self.parts.iter().map(|part| part.is_there(cx)).collect();
        let mut text = format!("{newline}{column}{pragma}{newline}{blanks}{}", slow.head());
        text += &format!("{newline}{}{}", at(1), fast.head());
        text += &format!("{newline}{}if ({}){}", at(2), conditions.join(" && "), self.opening(&at(2)));
        let is_named = |part: &&Part<'_>| names(statements, &part.own.variable);
        for part in self.parts.iter().filter(is_named) {
            text += &format!("{newline}{}{}", at(3), part.value(cx));
        }
        text += &self.lines(statements, blanks);
        text += &format!("{newline}{}}}", at(2));
        Some(text)
    }

    /// Statements as lines, deeper by the blocks that are around them now.
    fn lines(&self, statements: &str, inside: &str) -> String {
        let text = statements.trim_end();
        let is_inline = !text.split('\n').next().unwrap_or_default().trim().is_empty();
        // What stands behind a brace or a head begins a line of its own.
        let own_line =
            if is_inline { format!("{}{inside}{}", self.layout.newline, text.trim_start()) } else { text.to_owned() };
        indented(&own_line, &self.level.repeat(DEEPER))
    }
}
