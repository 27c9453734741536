//! Loops of rows in parts: each thread of a team walks through one, so that it loads several elements at once.

use std::fmt::{self, Display, Formatter};

use super::gain::{can_be_unrolled, is_straight};
use super::rows::Row;
use crate::device::DeviceProfile;
use crate::edit::directive_writer::indent_of;
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::source::{Span, words};
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::lengths::Lengths;
use crate::transforms::two_forms;

/// Elements that a thread loads of its part at once.
pub(super) const AT_ONCE: u32 = 8;
/// A part goes on by as many iterations as there are parts, which needs room behind the last one.
pub(super) const ROOM: i128 = 2_000_000_000;

/// A question of the host about a length.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question {
    pub variable: String,
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    AtLeast(i128),
    Below(i128),
}

impl Display for Question {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.bound {
            Bound::AtLeast(number) => write!(f, "{} >= {number}", self.variable),
            Bound::Below(number) => write!(f, "{} < {number}", self.variable),
        }
    }
}

/// The questions, of each variable the strictest ones alone, in the order in which they come first.
pub(super) fn strictest(questions: impl IntoIterator<Item = Question>) -> Vec<Question> {
    let mut all: Vec<Question> = Vec::new();
    for one in questions {
        let of_both = |known: Bound| match (known, one.bound) {
            (Bound::AtLeast(known), Bound::AtLeast(number)) => Some(Bound::AtLeast(known.max(number))),
            (Bound::Below(known), Bound::Below(number)) => Some(Bound::Below(known.min(number))),
            _ => None,
        };
        let mut same = all.iter_mut().filter(|known| known.variable == one.variable);
        match same.find_map(|known| of_both(known.bound).map(|both| (known, both))) {
            Some((known, both)) => known.bound = both,
            None => all.push(one),
        }
    }
    all
}

/// The questions as one condition.
pub(super) fn condition(questions: &[Question]) -> String {
    questions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" && ")
}

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
    counts_on(row, &own).then_some(own)
}

/// Does a loop count by one from a number, so that each part can begin behind it, and in a type that does not wrap around?
pub(super) fn counts_on(row: &Row<'_, '_>, own: &CanonicalLoop) -> bool {
    let cx = row.cx;
    let by_one = own.step.amount.is_none_or(|step| cx.constant(step) == Some(1)) && !own.step.is_subtracted;
    let is_up = matches!(own.relation, Relation::Less | Relation::LessOrEqual);
    let is_wide = cx.holds_32_bits(&own.variable, cx.tree.span(own.body).start);
    let starts = cx.constant(own.lower).is_some_and(|from| (0..=i64::from(u16::MAX)).contains(&from));
    by_one && is_up && is_wide && own.declared_in_loop && starts && keeps_sign(row, own)
}

/// Is the bound the number that the host compares? Where the loop counts without a sign, a negative bound, or one that is formed without a sign, would be very large in it.
fn keeps_sign(row: &Row<'_, '_>, own: &CanonicalLoop) -> bool {
    let cx = row.cx;
    let is_signed = |name: &str, at: usize| {
        let integer = cx.integer_type(name, at).and_then(|number| number.integer());
        integer.map(|integer| integer.signed)
    };
    if is_signed(&own.variable, cx.tree.span(own.body).start) == Some(true) || cx.constant(own.upper).is_some() {
        return true;
    }
    let name = cx.file.show(own.upper);
    is_signed(name.trim(), own.upper.start) == Some(false)
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
    lengths.length(own).filter(|_| has_small_numbers(row, own.upper))
}

/// Do only small numbers stand beside a bound's variable, so that the question is nearly the same of the bound?
fn has_small_numbers(row: &Row<'_, '_>, bound: Span) -> bool {
    let cx = row.cx;
    let is_small = |word: &str| !word.starts_with(|it: char| it.is_ascii_digit()) || word.parse::<u16>().is_ok();
    let constants = cx.names_in(bound).into_iter().filter_map(|(_, at)| cx.constant(at));
    constants.into_iter().all(|it| it.unsigned_abs() <= u64::from(u16::MAX))
        && words(&cx.file.show(bound)).all(is_small)
}
