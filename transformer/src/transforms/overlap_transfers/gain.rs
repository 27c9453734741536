//! How long the copies and the kernels of a block take, as far as the text tells.

use std::ops::Range;

use crate::analysis::accesses::accesses;
use crate::analysis::associated_loops::loops_of;
use crate::analysis::cost::ASSUMED_INNER;
use crate::context::Context;
use crate::device::TransferRates;
use crate::device::time::{GAIN, LAUNCH};
use crate::region::loop_nest::{CanonicalLoop, canonical_head};
use crate::region::target::TargetRegion;
use crate::source::words;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::overlap_transfers::block::{Block, Wish};
use crate::transforms::overlap_transfers::items::{Item, Size, Way};
use crate::transforms::overlap_transfers::stages::Stage;

/// The same of one that accesses no memory: nobody computes for long without it unless there is much to compute.
const ASSUMED_IDLE: f64 = 4096.0;
/// The bytes of the largest array, if its length does not follow from the text: times of kernels grow with it as those of copies do.
const REFERENCE_BYTES: f64 = 268_435_456.0;
/// One access of memory if all processors work at once, in microseconds: less than measured, since what a kernel hides must be certain.
const ACCESS: f64 = 0.5e-6;
/// One other operation, likewise.
const OPERATION: f64 = 0.05e-6;
/// Starting a team of threads on the host and waiting for it, in milliseconds.
pub(super) const THREADS_MS: f64 = 0.2;

/// The times of a block, in milliseconds.
pub(super) struct Times {
    kernels: Vec<f64>,
    /// For each item, to the device and back.
    copies: Vec<(f64, f64)>,
}

impl Times {
    /// Estimates them.
    pub(super) fn of(cx: &Context<'_>, block: &Block<'_>) -> Self {
        let length = assumed_length(cx, block.items);
        let rates = cx.profile.map_or_else(TransferRates::default, |device| device.transfer.clone());
        let copies = block.items.iter().map(|item| {
            let bytes = item.transfer.as_ref().map_or(0.0, |transfer| bytes(transfer.size, length));
            let ms = |rate: f64| bytes / 1e6 / rate;
            (ms(rates.pageable_to_device_gb_per_s), ms(rates.pageable_from_device_gb_per_s))
        });
        let copies = copies.collect();
        let of_statement = |kernels: &Range<usize>, node: Option<NodeId>| -> f64 {
            let regions = block.kernels.get(kernels.clone()).unwrap_or_default().iter();
            regions.map(|region| around(cx, region, node) * kernel(cx, block, region, length) / 1e3).sum()
        };
        let kernels = block.statements.iter().map(|it| of_statement(&it.kernels, it.node)).collect();
        Self { kernels, copies }
    }

    /// How long a transfer takes where it stands.
    pub(super) fn of_copy(&self, wish: &Wish) -> f64 {
        let (to, from) = self.copies.get(wish.item).copied().unwrap_or_default();
        match wish.way {
            Way::In => to,
            Way::Out => from,
        }
    }

    /// How long the kernels of some statements take.
    pub(super) fn of_kernels(&self, range: &Range<usize>) -> f64 {
        self.kernels.get(range.clone()).unwrap_or_default().iter().sum()
    }

    /// The whole block before and after, in milliseconds.
    pub(super) fn before_and_after(&self, items: &[Item], stages: &[Stage]) -> (f64, f64) {
        let copied = items.iter().zip(&self.copies).map(|(item, (to, from))| {
            let part = |way: Way, ms: f64| if item.is_copied(way) { ms } else { 0.0 };
            part(Way::In, *to) + part(Way::Out, *from)
        });
        let before = self.kernels.iter().sum::<f64>() + copied.sum::<f64>();
        let hidden: f64 = stages.iter().flat_map(|stage| &stage.transfers).map(|(_, hidden)| hidden).sum();
        let threads: f64 = stages.iter().map(|_| THREADS_MS).sum();
        (before, before - hidden + threads)
    }
}

/// Is that worth an edit?
pub(super) fn pays((before, after): (f64, f64)) -> bool {
    before >= GAIN * after
}

/// What each length that the text does not tell is taken for.
fn assumed_length(cx: &Context<'_>, items: &[Item]) -> f64 {
    let sizes = items.iter().filter_map(|item| Some(item.transfer.as_ref().ok()?.size));
    let unknown = sizes.filter_map(|size| match size {
        Size::Unknown { lengths, element } => Some((lengths, element)),
        Size::Known(_) => None,
    });
    unknown.max().map_or(f64::from(cx.assumed_iterations), |(lengths, element)| {
        (REFERENCE_BYTES / number(element)).powf(f64::from(lengths).recip())
    })
}

fn bytes(size: Size, length: f64) -> f64 {
    match size {
        Size::Known(bytes) => number(bytes),
        Size::Unknown { lengths, element } => number(element) * length.powf(f64::from(lengths)),
    }
}

/// How often the host launches a kernel of a statement.
fn around(cx: &Context<'_>, region: &TargetRegion, statement: Option<NodeId>) -> f64 {
    let first = region.chain.constructs.first();
    let Some(body) = first.and_then(|first| cx.constructs.construct(*first).body) else { return 0.0 };
    let Some(statement) = statement.filter(|statement| *statement != body) else { return 1.0 };
    let loops = cx.tree.ancestors(body).take_while(|node| cx.tree.span(statement).contains(cx.tree.span(*node)));
    loops.map(|node| trips(cx, node, |_| ASSUMED_INNER)).product()
}

/// Microseconds of a kernel, its launch included. Of one that is no loop of a league nothing but the launch is certain.
fn kernel(cx: &Context<'_>, block: &Block<'_>, region: &TargetRegion, length: f64) -> f64 {
    let Some(nest) = loops_of(cx, region.chain.innermost()).filter(|_| is_wide(region)) else { return LAUNCH };
    let found = accesses(cx.file, cx.tree, cx.symbols(), &nest.loops, nest.loops.len(), &[]).loops;
    let known = |at: usize| found.get(at).and_then(|one| one.trips).and_then(|trips| u64::try_from(trips).ok());
    let iterations: f64 = (0..nest.loops.len()).map(|at| known(at).map_or(length, number)).product();
    LAUNCH + iterations * operations(cx, nest.body, &|head| inner(cx, block, head, length))
}

fn is_wide(region: &TargetRegion) -> bool {
    use crate::syntax::spec_table::Leaf::{Distribute, Loop, Teams};
    let leaves = &region.chain.leaves;
    leaves.contains(&Teams) && (leaves.contains(&Distribute) || leaves.contains(&Loop))
}

/// What a serial loop in a kernel is taken for whose length does not follow from the text.
fn inner(cx: &Context<'_>, block: &Block<'_>, head: &CanonicalLoop, length: f64) -> f64 {
    let bound = cx.file.show(head.upper);
    let is_length = block.items.iter().any(|item| {
        let section = item.text.split_once('[').map_or("", |(_, section)| section);
        words(section).any(|word| word == bound.trim())
    });
    let accesses = |node: &NodeId| {
        matches!(
            cx.tree.kind(*node),
            NodeKind::SubscriptExpression | NodeKind::PointerExpression | NodeKind::CallExpression
        )
    };
    match cx.tree.descendants(head.body).any(|node| accesses(&node)) {
        _ if is_length => length,
        true => ASSUMED_INNER,
        false => ASSUMED_IDLE,
    }
}

/// Microseconds of the operations of one iteration if the whole device is busy.
fn operations(cx: &Context<'_>, node: NodeId, otherwise: &dyn Fn(&CanonicalLoop) -> f64) -> f64 {
    let own = match cx.tree.kind(node) {
        NodeKind::SubscriptExpression | NodeKind::PointerExpression => ACCESS,
        NodeKind::BinaryExpression
        | NodeKind::AssignmentExpression
        | NodeKind::UpdateExpression
        | NodeKind::CallExpression => OPERATION,
        _ => 0.0,
    };
    // Of two branches one is executed.
    let part = if cx.tree.kind(node) == NodeKind::IfStatement { 0.5 } else { 1.0 };
    let inner: f64 = cx.tree.named_children(node).map(|child| operations(cx, child, otherwise)).sum();
    own + part * inner * trips(cx, node, otherwise)
}

/// How often a statement executes what stands in it.
fn trips(cx: &Context<'_>, node: NodeId, otherwise: impl Fn(&CanonicalLoop) -> f64) -> f64 {
    if cx.tree.kind(node) != NodeKind::ForStatement {
        return 1.0;
    }
    let Some(head) = canonical_head(cx.file, cx.tree, node) else { return 1.0 };
    let known = || {
        let (from, to) = (cx.constant(head.lower)?, cx.constant(head.upper)?);
        let step = head.step.amount.map_or(Some(1), |amount| cx.constant(amount))?;
        u64::try_from(from.checked_sub(to)?.checked_abs()?.checked_div(step)?).ok()
    };
    known().map_or_else(|| otherwise(&head), number)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn number(count: u64) -> f64 {
    count as f64
}
