//! Loops of rows in parts: each thread of a team walks through one, so that it loads several elements at once.

use super::gain::{can_be_unrolled, is_straight};
use super::rows::Row;
use crate::device::DeviceProfile;
use crate::edit::directive_writer::indent_of;
use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::lengths::Lengths;
use crate::transforms::checks::questions::{Bound, Question, ROOM, counts_on, has_small_numbers};
use crate::transforms::two_forms;

/// Elements that a thread loads of its part at once.
pub(super) const AT_ONCE: u32 = 8;
/// The loops of rows that are cut into parts.
pub(super) struct Parts<'c> {
    /// How many parts each has: one for each thread of a team.
    pub count: u32,
    /// The loops.
    pub loops: Vec<CanonicalLoop>,
    /// What the host must ask first.
    pub questions: Vec<Question>,
    /// The name of the device that they are written for.
    pub device: &'c str,
}

impl<'c> Parts<'c> {
    /// The loops of a row that teams of so many threads walk through in parts. The host is asked about loops that do nothing but load and add, which gain most.
    ///
    /// # Errors
    /// The host has asked, and has whole teams where there is room.
    pub(super) fn of(row: &Row<'c, '_>, nodes: &[NodeId], count: u32) -> Result<Option<Self>, Question> {
        let cx = row.cx;
        let is_measured = |device: &&DeviceProfile| !device.shares_host_memory && cx.pipeline.transforms_loops();
        let Some(device) = cx.profile.filter(is_measured) else { return Ok(None) };
        let may_ask = nodes.iter().all(|node| is_straight(row, *node));
        let mut parts = Self { count, loops: Vec::new(), questions: Vec::new(), device: &device.name };
        for own in nodes.iter().filter_map(|node| summing(row, *node)) {
            let room = match row.trips(own.node) {
                Some(trips) => (trips >= i128::from(count * AT_ONCE) && trips < ROOM).then_some(None),
                None if may_ask => {
                    length(row, &own).map(|variable| Some(Question { variable, bound: Bound::Below(ROOM) }))
                }
                None => None,
            };
            let was_denied = |question: &&Question| two_forms::was_denied(cx, row.region.extent, &question.to_string());
            if let Some(question) = room.iter().flatten().find(was_denied) {
                return Err(question.clone());
            }
            if let Some(question) = room {
                parts.questions.extend(question);
                parts.loops.push(own);
            }
        }
        Ok((!parts.loops.is_empty()).then_some(parts))
    }

    /// Is the loop at this place cut?
    pub(super) fn cut(&self, span: Span) -> Option<&CanonicalLoop> {
        self.loops.iter().find(|own| own.span == span)
    }
}

/// A loop that only loads and combines, has no other inside, and whose parts can begin one behind the other.
pub(super) fn summing(row: &Row<'_, '_>, node: NodeId) -> Option<CanonicalLoop> {
    let (cx, tree) = (row.cx, row.cx.tree);
    let span = tree.span(node);
    let stores = row.found.accesses.iter().any(|access| access.writes && span.contains(access.span));
    let has_loop = tree.descendants(node).skip(1).any(|inner| tree.kind(inner).is_loop());
    (!stores && !has_loop && can_be_unrolled(row, node) && level(row, node).is_some()).then_some(())?;
    let own = canonical_nest(cx.file, tree, node, 1).ok()?.loops.into_iter().next()?;
    counts_on(row.cx, &own).then_some(own)
}

/// By what a loop is deeper in its line than the block that it stands in.
pub(super) fn level(row: &Row<'_, '_>, node: NodeId) -> Option<String> {
    let (file, tree) = (row.cx.file, row.cx.tree);
    let block = tree.parent(node).filter(|above| tree.kind(*above) == NodeKind::CompoundStatement)?;
    let indent = indent_of(file, tree.span(node).start);
    let level = indent.strip_prefix(&indent_of(file, tree.span(block).end - 1))?;
    (!level.is_empty()).then(|| level.to_owned())
}

/// The variable of the host that says how long a loop is, but for small numbers.
pub(super) fn length(row: &Row<'_, '_>, own: &CanonicalLoop) -> Option<String> {
    let lengths = Lengths { cx: row.cx, region: row.region, loops: &row.nest.loops, found: &row.found };
    lengths.length(own).filter(|_| has_small_numbers(row.cx, own.upper))
}
