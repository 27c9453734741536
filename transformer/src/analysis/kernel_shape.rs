//! What one iteration of a kernel's loop does to memory: the facts by which its grid is chosen.

use std::collections::BTreeSet;

use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::coalescing::{Pattern, pattern, pattern_of_parts};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::device::KernelShape;
use crate::semantics::macros::expansion::OPERATIONS;
use crate::semantics::symbols::VariableId;
use crate::syntax::{Call, HostTree, NodeId, NodeKind};

/// Assumed iterations of a serial loop whose trip count does not follow from the text.
const ASSUMED_INNER: f64 = 64.0;
/// Assumed lines that a thread keeps for one access if the text does not tell how often a loop around it goes to
/// another row. With as many lines as four accesses need, kernels of one to ten accesses lose least.
const ASSUMED_LINES: u32 = 4;
/// A serial loop without accesses that runs at least this often is work that hides the cost of accesses.
const HEAVY_TRIPS: u32 = 8;
/// Accesses that are made less often than this fraction of the most frequent one are ignored.
const FREQUENT: f64 = 0.25;

/// The shape of a kernel. `promised` loops run in parallel, the last of them along the threads of a warp; `body` is
/// what it iterates. Returns `None` if something in the body is not understood, if the addresses of a warp depend on
/// data, or if nothing is accessed.
#[must_use]
pub fn kernel_shape(tree: &HostTree, body: NodeId, found: &Accesses, promised: usize) -> Option<KernelShape> {
    let lane = found.loops.get(promised.checked_sub(1)?)?;
    if !is_followed(tree, body, found) {
        return None;
    }
    let known: Vec<Access> = found.accesses.iter().map(|access| near(found, access)).collect();
    let weights: Vec<f64> = known.iter().map(|access| weight(found, access, promised)).collect();
    let accesses: f64 = weights.iter().sum();
    let most = weights.iter().copied().fold(0.0, f64::max);
    if accesses <= 0.0 {
        return None;
    }
    let mut shape = KernelShape {
        accesses,
        lines: 0.0,
        sectors: 0.0,
        uncoalesced: 0,
        inner_loop: false,
        is_length_known: true,
        streams: promised >= 2,
        loops: u32::try_from(promised).unwrap_or(u32::MAX),
        stores_inside: false,
        stores_side_by_side: false,
        is_grouped: found.loops.iter().take(promised).any(|one| one.step.is_some_and(|step| step.abs() > 1)),
        spread: false,
        walks: false,
        heavy: is_heavy(tree, body, found, promised),
        operations: operations(tree, body, found, promised) / accesses,
    };
    let mut streams = BTreeSet::new();
    for (access, weight) in known.iter().zip(&weights) {
        let of_parts = pattern_of_parts(found, access, lane);
        let pattern = of_parts.unwrap_or_else(|| pattern(access, lane.atom, &found.opaque));
        let is_uncoalesced = matches!(pattern, Pattern::Strided | Pattern::Unknown);
        shape.lines += weight * if is_uncoalesced { 32.0 } else { 1.0 } / accesses;
        shape.sectors += weight * pattern.sectors() / accesses;
        if *weight < FREQUENT * most {
            continue;
        }
        if pattern == Pattern::Unknown {
            return None;
        }
        note(&mut shape, found, access, pattern, promised);
        if is_uncoalesced {
            streams.insert((stream(access), held_lines(found, access, promised)));
        }
    }
    shape.uncoalesced = streams.iter().fold(0_u32, |sum, (_, lines)| sum.saturating_add(*lines));
    Some(shape)
}

/// Do all threads of a warp walk along elements of their own whose place data tell, as the rows of a sparse matrix do, and store nothing meanwhile?
/// Each keeps a line in the first-level cache for the elements that come next.
#[must_use]
pub fn walks_along_rows_of_data(tree: &HostTree, body: NodeId, found: &Accesses, promised: usize) -> bool {
    let innermost = |access: &Access| access.loops.last().copied().filter(|index| *index >= promised);
    let is_along = |access: &&Access| {
        let Some(row) = innermost(access).and_then(|index| found.loops.get(index)) else { return false };
        let hangs_on_data =
            row.range.lower.as_ref().is_some_and(|lower| lower.atoms().iter().any(|atom| found.opaque.contains(atom)));
        let is_always = access.guards.is_whole && access.guards.rows.is_empty();
        hangs_on_data && is_always && matches!(pattern(access, row.atom, &[]), Pattern::Near(bytes) if bytes > 0)
    };
    is_followed(tree, body, found)
        && !has_calls(tree, body, found)
        && !found.accesses.iter().any(|access| access.writes && innermost(access).is_some())
        && found.accesses.iter().any(|access| is_along(&access))
}

/// Adds what a frequent access says about the kernel.
fn note(shape: &mut KernelShape, found: &Accesses, access: &Access, pattern: Pattern, promised: usize) {
    let inner: Vec<usize> = access.loops.iter().copied().filter(|index| *index >= promised).collect();
    let is_same = found.loops.iter().take(promised).any(|l| is_same_in_all(found, access, l.atom));
    shape.is_length_known &= inner.iter().all(|index| known_trips(found, *index).is_some());
    shape.streams &= !is_same;
    shape.inner_loop |= !inner.is_empty();
    shape.stores_inside |= access.writes && !inner.is_empty();
    let changes = |index: &usize| found.loops.get(*index).is_some_and(|l| !is_same_in_all(found, access, l.atom));
    shape.stores_side_by_side |= access.writes && !inner.is_empty() && matches!(pattern, Pattern::Near(_));
    let is_spread = matches!(pattern, Pattern::Near(_)) && inner.last().is_some_and(changes);
    shape.spread |= is_spread;
    shape.walks |= is_spread && !is_same && inner.iter().all(changes);
}

/// The access with each unknown value replaced by a value that is near it. See [`Accesses::near`].
pub(super) fn near(found: &Accesses, access: &Access) -> Access {
    let mut access = access.clone();
    for subscript in &mut access.subscripts {
        // The value that is near may itself contain an earlier unknown value.
        for (atom, value) in found.near.iter().rev() {
            if let Some(form) = subscript.form.mentions(*atom).then(|| subscript.form.with(*atom, value)).flatten() {
                subscript.form = form;
            }
        }
    }
    access
}

/// Is there a call, or a serial loop that accesses nothing and runs for long?
fn is_heavy(tree: &HostTree, body: NodeId, found: &Accesses, promised: usize) -> bool {
    let is_idle = |index: usize| {
        let is_long = known_trips(found, index).is_none_or(|trips| trips >= HEAVY_TRIPS);
        is_long && !found.accesses.iter().any(|access| access.loops.contains(&index))
    };
    (promised..found.loops.len()).any(is_idle) || has_calls(tree, body, found)
}

/// Does the body call a function that was not inlined, and is no instruction?
fn has_calls(tree: &HostTree, body: NodeId, found: &Accesses) -> bool {
    let is_instruction = |node| {
        let function = Call::of(tree, node).and_then(Call::function).map(|function| tree.span(function));
        function.is_some_and(|function| found.instructions.contains(&function))
    };
    own_nodes(tree, body, found).any(|node| tree.kind(node) == NodeKind::CallExpression && !is_instruction(node))
        || found.expanded.iter().any(|expression| expression.calls > 0)
}

/// The nodes of the body that no other text replaces.
fn own_nodes<'t>(tree: &'t HostTree, body: NodeId, found: &'t Accesses) -> impl Iterator<Item = NodeId> + 't {
    let is_own = |node: &NodeId| !found.expanded.iter().any(|expression| expression.span.contains(tree.span(*node)));
    tree.descendants(body).filter(is_own)
}

/// Is the same element accessed for all values of the variable?
fn is_same_in_all(found: &Accesses, access: &Access, variable: Atom) -> bool {
    access.subscripts.iter().all(|subscript| !found.hangs_on(&subscript.form, variable))
}

/// Is everything that the body accesses in sight, and how often?
#[must_use]
pub fn is_followed(tree: &HostTree, body: NodeId, found: &Accesses) -> bool {
    found.troubles.is_empty() && !has_other_loops(tree, body, found)
}

/// Is there a loop that is not in canonical form?
fn has_other_loops(tree: &HostTree, body: NodeId, found: &Accesses) -> bool {
    tree.descendants(body).any(|node| match tree.kind(node) {
        NodeKind::WhileStatement | NodeKind::DoStatement | NodeKind::ForRangeLoop => true,
        NodeKind::ForStatement => !found.loops.iter().any(|known| known.span == tree.span(node)),
        _ => false,
    })
}

/// How often an access is made in one iteration.
fn weight(found: &Accesses, access: &Access, promised: usize) -> f64 {
    let inner = access.loops.iter().filter(|index| **index >= promised);
    inner.map(|index| trips_or_assumed(found, *index)).product()
}

/// How often a serial loop runs; of unknown length, often.
pub(super) fn trips_or_assumed(found: &Accesses, index: usize) -> f64 {
    known_trips(found, index).map_or(ASSUMED_INNER, f64::from)
}

fn known_trips(found: &Accesses, index: usize) -> Option<u32> {
    found.loops.get(index).and_then(|l| l.trips).and_then(|trips| u32::try_from(trips).ok())
}

/// Two accesses with equal results lie in one cache line most of the time: the array is the same, and the subscripts
/// differ by constants.
fn stream(access: &Access) -> (String, VariableId, Vec<Polynomial>) {
    let mut forms: Vec<Polynomial> = access.subscripts.iter().map(|subscript| subscript.form.clone()).collect();
    if let Some(last) = forms.last_mut() {
        let constant = Polynomial::constant(last.constant_part());
        if let Some(rest) = last.minus(&constant) {
            *last = rest;
        }
    }
    (access.root.name.clone(), access.root.key, forms)
}

/// How many cache lines an uncoalesced access keeps for one thread. Loops inside the one that walks along a line go to
/// other lines and come back.
fn held_lines(found: &Accesses, access: &Access, promised: usize) -> u32 {
    let walks = |atom: Atom| matches!(pattern(access, atom, &found.opaque), Pattern::Near(_) | Pattern::Uniform);
    let inner: Vec<usize> = access.loops.iter().copied().filter(|index| *index >= promised).collect();
    let Some(walking) = inner.iter().rposition(|index| found.loops.get(*index).is_some_and(|l| walks(l.atom))) else {
        return 1;
    };
    let others = inner.get(walking + 1..).unwrap_or_default();
    others.iter().fold(1_u32, |product, index| {
        product.saturating_mul(known_trips(found, *index).unwrap_or(ASSUMED_LINES).max(1))
    })
}

/// Arithmetic operations of the body. Infinite if a loop or a call may hide more.
#[expect(clippy::cast_precision_loss, reason = "a count of operators in a text")]
fn operations(tree: &HostTree, body: NodeId, found: &Accesses, promised: usize) -> f64 {
    if has_calls(tree, body, found) || found.loops.len() > promised {
        return f64::INFINITY;
    }
    let own = own_nodes(tree, body, found).filter(|node| OPERATIONS.contains(&tree.kind(*node))).count();
    (own + found.instructions.len() + found.expanded.iter().map(|expression| expression.operations).sum::<usize>())
        as f64
}
