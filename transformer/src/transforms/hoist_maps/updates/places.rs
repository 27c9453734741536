//! Where updates stand in the text: on lines of their own, before and behind statements in braces.

use crate::context::Context;
use crate::edit::directive_writer::line_start;
use crate::semantics::effects::HostEffects;
use crate::source::{SourceFile, Span};
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::updates::Wanted;
use crate::transforms::hoist_maps::updates::elements::Piece;

/// What some statements of the host need of one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::transforms::hoist_maps) struct Update {
    /// The code that it serves.
    pub covers: Vec<Span>,
    /// The innermost loop of the host around it inside the environment.
    pub around: Option<NodeId>,
    /// What else must hold, in C.
    pub condition: Option<String>,
    /// What must hold where the environment opens, in C.
    pub fits: Vec<String>,
    /// What must hold there so that all of it lies in the section whether the code that it serves runs or not; nothing where that is unknown.
    pub lies: Option<Vec<String>>,
    pub place: Place,
    pub piece: Piece,
    /// Does it hang on what the program is asked, whether the environment brings the data?
    pub asks: bool,
    /// Can later statements no longer share it?
    pub is_closed: bool,
}

/// Two lines of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transforms::hoist_maps) struct Place {
    /// Before this line data come back.
    pub before: usize,
    /// Before this line data go to the device.
    pub behind: usize,
    /// A byte of the line whose blanks the directive begins with.
    pub like: usize,
}

impl Place {
    pub(super) fn both(self) -> [usize; 2] {
        [self.before, self.behind]
    }
}

impl Update {
    pub(in crate::transforms::hoist_maps) fn serves(&self, access: Span) -> bool {
        self.covers.iter().any(|covered| covered.contains(access))
    }

    /// Does it bring the whole section back before the code that it serves, and to the device behind what `writes` it?
    pub(in crate::transforms::hoist_maps) fn exchanges(&self, section: &str, writes: bool) -> bool {
        let moves = |items: &[String]| items.iter().any(|item| item == section);
        moves(&self.piece.from) && (!writes || moves(&self.piece.to))
    }

    /// Does it move the whole section?
    pub(in crate::transforms::hoist_maps) fn moves(&self, section: &str) -> bool {
        self.piece.from.iter().chain(&self.piece.to).any(|item| item == section)
    }

    /// Does it certainly bring the whole section back right before a statement of the environment?
    pub(in crate::transforms::hoist_maps) fn brings_before(
        &self,
        cx: &Context<'_>,
        statement: &Statement,
        section: &str,
    ) -> bool {
        let is_there = || first_of_line(cx.file, statement.extent.start) == Some(self.place.before);
        let is_certain = self.around.is_none() && self.condition.is_none();
        is_certain && is_there() && self.piece.from.iter().any(|item| item == section)
    }

    /// Has the host the whole section behind it, whatever happens?
    pub(super) fn brings_all(&self, section: &str) -> bool {
        self.condition.is_none() && !self.is_closed && self.piece.from.iter().any(|item| item == section)
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// One update for this one's statements, the first of these, and for the last of them.
    pub(super) fn joined(&self, wanted: &Wanted<'_, '_>, later: &Self, statements: &[Statement]) -> Option<Self> {
        let cx = wanted.cx;
        let place = Place { behind: later.place.behind, ..self.place };
        let is_free = |update: &Self| !update.is_closed && update.condition.is_none();
        (is_free(self) && is_free(later)).then_some(())?;
        let both = self.with(later, &wanted.item.text);
        let mut host = HostEffects::default();
        statements.iter().for_each(|statement| host.touches.extend(statement.host.touches.iter().cloned()));
        let stays = both.piece.to.is_empty() || !statements.iter().any(|statement| may_leave(cx, statement.node));
        let is_right = stays && wanted.is_named_at(place.both()) && both.piece.is_stable(cx, &host, place.both());
        is_right.then_some(Self { place, ..both })
    }

    /// The update that serves what both serve, at this one's place.
    pub(super) fn with(&self, later: &Self, section: &str) -> Self {
        let lies = self.lies.clone().zip(later.lies.clone());
        Self {
            covers: [&self.covers[..], &later.covers].concat(),
            fits: [&self.fits[..], &later.fits].concat(),
            lies: lies.map(|(own, more)| [own, more].concat()),
            piece: self.piece.with(&later.piece, section),
            ..self.clone()
        }
    }
}

/// The lines before and behind a statement in braces that has its lines for itself.
pub(super) fn around(cx: &Context<'_>, node: NodeId) -> Option<Place> {
    let (tree, span) = (cx.tree, cx.tree.span(node));
    let in_block = tree.parent(node).is_some_and(|parent| tree.kind(parent) == NodeKind::CompoundStatement);
    let is_jumped_to = matches!(tree.kind(node), NodeKind::LabeledStatement | NodeKind::CaseStatement);
    (in_block && !is_jumped_to).then_some(())?;
    let before = first_of_line(cx.file, span.start)?;
    Some(Place { before, behind: next_line(cx.file, span.end)?, like: span.start })
}

/// The line of the brace that ends a block.
pub(super) fn end_of(cx: &Context<'_>, block: NodeId) -> Option<Place> {
    (cx.tree.kind(block) == NodeKind::CompoundStatement).then_some(())?;
    let last = cx.tree.named_children(block).last()?;
    let line = first_of_line(cx.file, cx.tree.span(block).end.checked_sub(1)?)?;
    Some(Place { before: line, behind: line, like: cx.tree.span(last).start })
}

/// The start of the line of a byte, where nothing but blanks stands before it.
fn first_of_line(file: &SourceFile, at: usize) -> Option<usize> {
    let start = line_start(&file.text, at);
    file.bytes(Span::new(start, at)).iter().all(u8::is_ascii_whitespace).then_some(start)
}

/// The start of the next line, where nothing but a comment stands behind a place.
pub(in crate::transforms::hoist_maps) fn next_line(file: &SourceFile, end: usize) -> Option<usize> {
    let rest = file.text.get(end..)?;
    let length = rest.iter().position(|byte| *byte == b'\n')?;
    let text = rest.get(..length)?.trim_ascii();
    let closes = || text.windows(2).position(|pair| pair == b"*/").map(|at| at + 2);
    let is_whole_comment = || text.starts_with(b"/*") && closes() == Some(text.len());
    let is_line_comment = || text.starts_with(b"//") && !text.ends_with(b"\\") && !text.ends_with(b"??/");
    (text.is_empty() || is_line_comment() || is_whole_comment()).then_some(end + length + 1)
}

/// May a statement be left before its end?
pub(super) fn may_leave(cx: &Context<'_>, statement: NodeId) -> bool {
    let tree = cx.tree;
    tree.descendants(statement).any(|node| {
        matches!(
            tree.kind(node),
            NodeKind::BreakStatement
                | NodeKind::ContinueStatement
                | NodeKind::GotoStatement
                | NodeKind::LabeledStatement
                | NodeKind::ReturnStatement
                | NodeKind::ThrowStatement
                | NodeKind::CoReturnStatement
        )
    })
}
