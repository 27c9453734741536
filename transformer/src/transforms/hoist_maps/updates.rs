//! What the host needs of data that stay: which statements between the constructs want `target update`, and of what.
//!
//! Before a statement that reads what kernels write, the section comes back; behind one that writes, it goes to the device. The whole
//! section serves every access, by another pointer too. Single elements serve where nothing else is accessed and the accesses certainly
//! happen. Neighbouring statements share their updates, and a loop's test is served at the end of the loop's body.

mod elements;
mod once;
mod places;
mod rows;

use std::cell::OnceCell;

use crate::context::Context;
use crate::plan::Reason;
use crate::semantics::effects::Touch;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::absence::{Absence, absence};
use crate::transforms::hoist_maps::blocks::{Candidate, Statement, statements};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::first_run::is_stable;
use crate::transforms::hoist_maps::items::Item;
use elements::Piece;
pub(super) use places::{Update, next_line};

/// Among updates that all are right: which serve the host. What the constructs pay for is taken.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// Is the whole section updated at once, even where some elements or a branch would do? That makes the fewest copies.
    pub whole: bool,
    /// Does what a loop of the host reads come back once, before it, where no construct in it changes that?
    pub once: bool,
    /// Is the section known or asked to be so large that one copy of it takes as long as those of `ELEMENTS_FOR_COPY` elements?
    pub is_large: bool,
}

/// How many single elements are copied in the time that a copy of `LARGE` bytes takes: pageable memory travels at 5 to 8 GB/s (measured on an
/// H200), so that it takes 65 to 100 microseconds, and a copy of an element is taken for 10 to 15.
const ELEMENTS_FOR_COPY: usize = 4;

/// In bytes.
pub(super) const LARGE: u64 = 512 * 1024;

impl Choice {
    /// Serves whatever any of them serves.
    pub(super) const WHOLE: Self = Self { whole: true, once: false, is_large: false };

    /// The cheapest first, whatever the section's size is.
    pub(super) const ALL: [Self; 4] = [
        Self { whole: false, once: true, is_large: false },
        Self { whole: false, once: false, is_large: false },
        Self { whole: true, once: true, is_large: false },
        Self::WHOLE,
    ];

    /// Those that only a large section pays for.
    const OF_LARGE: [Self; 2] =
        [Self { whole: false, once: true, is_large: true }, Self { whole: false, once: false, is_large: true }];

    /// The cheapest first, for a section of so many bytes. Where the text does not tell, the program may ask whether it is large, and then
    /// it does so only where nothing else serves.
    pub(super) fn of_section(bytes: Option<u64>) -> Vec<Self> {
        let [elements, wholes] = [&Self::ALL[..2], &Self::ALL[2..]];
        match bytes {
            Some(bytes) if bytes >= LARGE => [elements, &Self::OF_LARGE, wholes].concat(),
            Some(_) => Self::ALL.to_vec(),
            None => [elements, wholes, &Self::OF_LARGE].concat(),
        }
    }

    /// How many copies of single elements one copy of the section pays for.
    fn elements_for_copy(self) -> usize {
        if self.is_large { ELEMENTS_FOR_COPY } else { 1 }
    }
}

/// A variable whose data the host needs in between.
pub(super) struct Wanted<'w, 'c> {
    pub cx: &'w Context<'c>,
    pub all: &'w [Mapping],
    pub candidate: &'w Candidate,
    pub item: &'w Item,
    pub choice: Choice,
    /// The first statement of the environment.
    pub opens: &'w Statement,
    /// Whether the variable was absent there, once it is asked for.
    pub absence: OnceCell<Option<Absence>>,
}

impl Wanted<'_, '_> {
    /// The updates with which a statement leaves the variable on the device, where the environment opens in front of it or earlier.
    ///
    /// # Errors
    /// Why the host needs it there in a way that no update serves.
    pub(super) fn updates(&self, statement: &Statement, opens_here: bool) -> Result<Vec<Update>, Reason> {
        let Some(conflict) = self.candidate.conflict(self.cx, statement) else { return Ok(Vec::new()) };
        if !self.candidate.is_only_accessed(self.cx, statement) || self.absence().is_none() {
            return Err(conflict);
        }
        let found = self.of_statement(statement, None, opens_here);
        if self.serve_all(&found, statement) { Ok(found) } else { Err(conflict) }
    }

    /// Had nobody mapped the variable before?
    fn absence(&self) -> Option<Absence> {
        *self.absence.get_or_init(|| absence(self.cx, self.candidate, self.item, self.opens))
    }

    fn serve_all(&self, updates: &[Update], statement: &Statement) -> bool {
        let is_served = |touch: &Touch| updates.iter().any(|update| update.serves(touch.span));
        self.candidate.accesses(self.cx, statement).all(is_served)
    }

    /// The updates for what can be served; accesses that none of them serves are left.
    fn of_statement(&self, statement: &Statement, around: Option<NodeId>, opens_here: bool) -> Vec<Update> {
        if self.candidate.conflict(self.cx, statement).is_none() || !self.candidate.is_only_accessed(self.cx, statement)
        {
            return Vec::new();
        }
        let in_branches = || self.in_blocks(statement, around);
        if statement.mappings.is_empty() {
            let is_branch = !self.choice.whole && self.cx.tree.kind(statement.node) == NodeKind::IfStatement;
            let found = if is_branch { in_branches() } else { Vec::new() };
            if is_branch && self.serve_all(&found, statement) {
                return found;
            }
            return self.around(statement, around).into_iter().collect();
        }
        // What a construct itself needs of the host is evaluated where it stands.
        let is_construct = |index: &usize| self.all.get(*index).is_some_and(|mapping| mapping.body == statement.node);
        if statement.mappings.iter().any(is_construct) {
            return Vec::new();
        }
        if !statement.is_loop {
            return in_branches();
        }
        let mut found = self.in_blocks(statement, Some(statement.node));
        found.extend(self.test_of(statement, opens_here));
        if self.choice.once { self.brought_once(statement, around, found, opens_here) } else { found }
    }

    fn in_blocks(&self, statement: &Statement, around: Option<NodeId>) -> Vec<Update> {
        let blocks = self.blocks_in(statement.node);
        blocks.into_iter().flat_map(|block| self.in_block(block, around)).collect()
    }

    fn in_block(&self, block: NodeId, around: Option<NodeId>) -> Vec<Update> {
        let nodes: Vec<NodeId> = self.cx.tree.named_children(block).collect();
        let mut found: Vec<Update> = Vec::new();
        // The statements from the one on that the last update serves.
        let mut since: Vec<Statement> = Vec::new();
        // Has the host the whole section as it is, until the next construct?
        let mut is_fresh = false;
        for statement in statements(self.cx, self.all, &nodes) {
            // Another array has the name from here on.
            if statement.host.writes_variable(self.item.named.id).is_some() {
                found.iter_mut().for_each(Update::close);
                since.clear();
                is_fresh = false;
            }
            let mut own = self.of_statement(&statement, around, false);
            if !statement.mappings.is_empty() {
                found.iter_mut().for_each(Update::close);
                found.extend(own);
                since.clear();
                is_fresh = false;
                continue;
            }
            since.push(statement);
            let Some(first) = own.first() else { continue };
            if let Some(joined) = found.last().and_then(|last| last.joined(self, first, &since)) {
                found.pop();
                own = vec![joined];
            } else {
                since.drain(..since.len() - 1);
                own.iter_mut().filter(|_| is_fresh).for_each(|update| update.piece.from.clear());
            }
            is_fresh |= own.iter().any(|update| update.brings_all(&self.item.text));
            found.extend(own);
        }
        found.iter_mut().for_each(Update::close);
        found
    }

    /// The blocks in braces that a statement runs.
    fn blocks_in(&self, node: NodeId) -> Vec<NodeId> {
        let tree = self.cx.tree;
        let is_block = |node: &NodeId| tree.kind(*node) == NodeKind::CompoundStatement;
        match tree.kind(node) {
            NodeKind::CompoundStatement => vec![node],
            NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement => {
                tree.child(node, Field::Body).filter(is_block).into_iter().collect()
            }
            NodeKind::IfStatement => {
                let branches = [Field::Consequence, Field::Alternative].into_iter();
                branches.filter_map(|field| tree.child(node, field)).flat_map(|branch| self.blocks_in(branch)).collect()
            }
            NodeKind::ElseClause => {
                let inner: Vec<NodeId> = tree.named_children(node).collect();
                inner.into_iter().flat_map(|inner| self.blocks_in(inner)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The updates around a statement without constructs; under its own condition where it is a branch without braces.
    fn around(&self, statement: &Statement, around: Option<NodeId>) -> Option<Update> {
        let place = places::around(self.cx, statement.node)?;
        let asks = self.absence() == Some(Absence::Asked);
        let accesses: Vec<&Touch> = self.candidate.accesses(self.cx, statement).collect();
        let writes = accesses.iter().any(|touch| touch.writes);
        (!writes || !places::may_leave(self.cx, statement.node)).then_some(())?;
        let (condition, part) = match self.branch(statement).filter(|_| !self.choice.whole) {
            Some((condition, part)) => (Some(condition), part),
            None => (None, self.test(statement, &accesses).unwrap_or(statement.node)),
        };
        let covers = vec![statement.extent];
        let row = self.row(statement, &accesses);
        if let Some(row) = row.filter(|row| {
            row.piece.is_named_at(self.cx, place.both()) && row.piece.is_stable(self.cx, &statement.host, place.both())
        }) {
            let (piece, condition, fits, lies) = (row.piece, row.condition, row.fits.clone(), Some(row.fits));
            return Some(Update { covers, around, condition, fits, lies, place, piece, asks, is_closed: false });
        }
        let elements = self.elements(statement, part, &accesses);
        let elements = elements.filter(|(piece, _)| piece.is_named_at(self.cx, place.both()));
        let (piece, lies) = elements.or_else(|| Some((self.section(place.both(), writes)?, Some(Vec::new()))))?;
        let fits = lies.clone().filter(|_| asks).unwrap_or_default();
        Some(Update { covers, around, condition, fits, lies, place, piece, asks, is_closed: false })
    }

    /// The condition, in C, and the branch of an `if` without `else`, where the host may test the condition twice. In braces no update found a
    /// line of its own.
    fn branch(&self, statement: &Statement) -> Option<(String, NodeId)> {
        let (cx, tree) = (self.cx, self.cx.tree);
        (tree.kind(statement.node) == NodeKind::IfStatement).then_some(())?;
        tree.child(statement.node, Field::Alternative).is_none().then_some(())?;
        let condition = tree.span(tree.child(statement.node, Field::Condition)?);
        let part = tree.child(statement.node, Field::Consequence)?;
        let is_access = |touch: &Touch| condition.contains(touch.span);
        let is_pure =
            is_stable(cx, condition, &statement.host) && !self.candidate.accesses(cx, statement).any(is_access);
        let text = crate::edit::directive_writer::on_one_line(cx.file, condition);
        let text = text.strip_prefix('(')?.strip_suffix(')')?.trim().to_owned();
        is_pure.then_some((text, part))
    }

    /// The condition of an `if` that alone accesses the variable.
    fn test(&self, statement: &Statement, accesses: &[&Touch]) -> Option<NodeId> {
        let tree = self.cx.tree;
        (tree.kind(statement.node) == NodeKind::IfStatement).then_some(())?;
        let condition = tree.child(statement.node, Field::Condition)?;
        let is_in_it = |touch: &&Touch| tree.span(condition).contains(touch.span);
        accesses.iter().all(is_in_it).then_some(condition)
    }

    /// What the test of a loop reads comes back at the end of the loop's body. Before the first test the host has it where the environment
    /// has just opened, or where the test comes last.
    fn test_of(&self, statement: &Statement, opens_here: bool) -> Option<Update> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let node = statement.node;
        let body = tree.child(node, Field::Body)?;
        let head = [Field::Condition, Field::Update].into_iter().filter_map(|field| tree.child(node, field));
        let covers: Vec<Span> = head.map(|part| tree.span(part)).collect();
        let is_in_head = |touch: &&Touch| covers.iter().any(|span| span.contains(touch.span));
        let accesses: Vec<&Touch> = self.candidate.accesses(cx, statement).filter(is_in_head).collect();
        let reads = !accesses.is_empty() && accesses.iter().all(|touch| !touch.writes);
        // What the test itself runs on the device may come before what it reads, or behind that.
        let mut own = statement.mappings.iter().filter_map(|index| self.all.get(*index));
        if own.any(|mapping| covers.iter().any(|span| span.contains(mapping.extent))) {
            return None;
        }
        let is_fresh = opens_here || tree.kind(node) == NodeKind::DoStatement;
        let continues = tree.descendants(body).any(|inner| tree.kind(inner) == NodeKind::ContinueStatement);
        (reads && is_fresh && !continues).then_some(())?;
        let place = places::end_of(cx, body)?;
        let asks = self.absence() == Some(Absence::Asked);
        let elements = self.elements_of_test(statement, &accesses);
        let elements = elements.filter(|(piece, _)| piece.is_named_at(cx, place.both()));
        let (piece, lies) = elements.or_else(|| Some((self.section(place.both(), false)?, Some(Vec::new()))))?;
        let fits = lies.clone().filter(|_| asks).unwrap_or_default();
        Some(Update { covers, around: Some(node), condition: None, fits, lies, place, piece, asks, is_closed: true })
    }
}

/// How much of constructs' copies updates take in one pass of each loop, until constructs of the same pass have paid for them.
pub(super) struct Spent {
    left: Vec<(Option<NodeId>, usize)>,
    /// How many copies of single elements one copy of the section pays for.
    pub elements_for_copy: usize,
}

impl Spent {
    pub(super) fn of(updates: &[Update], choice: Choice) -> Self {
        let elements_for_copy = choice.elements_for_copy();
        let price = |piece: &Piece| {
            let elements = piece.count_elements();
            (piece.copies() - elements) * elements_for_copy + elements
        };
        let mut left: Vec<(Option<NodeId>, usize)> = Vec::new();
        for update in updates {
            match left.iter_mut().find(|(around, _)| *around == update.around) {
                Some((_, known)) => *known += price(&update.piece),
                None => left.push((update.around, price(&update.piece))),
            }
        }
        Self { left, elements_for_copy }
    }

    /// A construct in a loop copies the variable so often in each pass: how much of that no update takes the place of, where one copy is as much
    /// as [`Self::elements_for_copy`].
    pub(super) fn pay(&mut self, around: Option<NodeId>, copies: usize) -> usize {
        let offered = copies * self.elements_for_copy;
        let Some((_, left)) = self.left.iter_mut().find(|(known, _)| *known == around) else { return offered };
        let paid = offered.min(*left);
        *left -= paid;
        offered - paid
    }

    pub(super) fn is_covered(&self, around: Option<NodeId>) -> bool {
        self.left.iter().all(|(known, left)| *known != around || *left == 0)
    }
}
