//! What one iteration of a kernel's loops does: its accesses and operations, each as often as it is made.

use std::collections::BTreeSet;

use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::cost::ASSUMED_INNER;
use crate::analysis::polynomial::Atom;
use crate::syntax::{HostTree, NodeId, NodeKind};

/// Operations that a call stands for.
const CALL: f64 = 8.0;
/// Operations that a division stands for: a kernel with one for two loads took as long in groups of 4 as before, on an H200.
const DIVISION: f64 = 16.0;

/// How many iterations a loop of known length has.
#[must_use]
pub fn known(trips: Option<i128>) -> Option<f64> {
    trips.and_then(|trips| u32::try_from(trips).ok()).map(f64::from)
}

/// How many iterations each of the `depth` parallel loops has, and whether some are assumed: so many for a loop of unknown length, of
/// several together [`ASSUMED_INNER`] times as many.
#[must_use]
pub fn lengths(found: &Accesses, depth: usize, assumed: u32) -> (Vec<f64>, bool) {
    let own = || found.loops.iter().take(depth);
    let unknown = u32::try_from(own().filter(|one| one.trips.is_none()).count()).unwrap_or(u32::MAX);
    let all = f64::from(assumed) * if unknown > 1 { ASSUMED_INNER } else { 1.0 };
    let each = all.powf(f64::from(unknown.max(1)).recip());
    (own().map(|one| known(one.trips).unwrap_or(each)).collect(), unknown > 0)
}

/// The accesses of an iteration, each once, with the number of times that it is made. What no serial loop changes is made in front of it.
#[must_use]
pub fn different(found: &Accesses, depth: usize) -> Vec<(&Access, f64)> {
    let mut all: Vec<(&Access, f64)> = Vec::new();
    for access in &found.accesses {
        let is_known = |(other, _): &(&Access, f64)| {
            other.root == access.root
                && other.subscripts == access.subscripts
                && other.loops == access.loops
                && other.writes == access.writes
        };
        if !all.iter().any(is_known) {
            all.push((access, times(found, access, depth)));
        }
    }
    all
}

fn times(found: &Accesses, access: &Access, depth: usize) -> f64 {
    let atoms: BTreeSet<Atom> = access.subscripts.iter().flat_map(|one| one.form.atoms()).collect();
    let is_unknown =
        access.writes || atoms.iter().any(|atom| found.opaque.contains(atom) || found.loads.contains_key(atom));
    let inner: Vec<usize> = access.loops.iter().copied().filter(|index| *index >= depth).collect();
    let changes = |index: &usize| found.loops.get(*index).is_some_and(|one| atoms.contains(&one.atom));
    let last = if is_unknown { Some(inner.len()) } else { inner.iter().rposition(changes).map(|at| at + 1) };
    let around = inner.get(..last.unwrap_or(0)).unwrap_or_default();
    around.iter().map(|index| length(found, *index)).product()
}

fn length(found: &Accesses, index: usize) -> f64 {
    found.loops.get(index).and_then(|one| known(one.trips)).unwrap_or(ASSUMED_INNER)
}

/// The operations of one iteration with this body, without those that compute subscripts.
#[must_use]
pub fn operations(tree: &HostTree, found: &Accesses, depth: usize, body: NodeId) -> f64 {
    let each = |node: NodeId| {
        let weight = match tree.kind(node) {
            NodeKind::BinaryExpression if tree.operator(node) == Some(NodeKind::Slash) => DIVISION,
            NodeKind::BinaryExpression | NodeKind::ConditionalExpression => 1.0,
            NodeKind::AssignmentExpression if tree.operator(node) != Some(NodeKind::Equal) => 1.0,
            NodeKind::CallExpression => CALL,
            _ => return 0.0,
        };
        let mut above = tree.ancestors(node).take_while(|above| *above != body);
        if above
            .any(|above| matches!(tree.kind(above), NodeKind::SubscriptArgumentList | NodeKind::SubscriptExpression))
        {
            return 0.0;
        }
        let span = tree.span(node);
        let around = (depth..found.loops.len())
            .filter(|index| found.loops.get(*index).is_some_and(|one| one.span.contains(span)));
        weight * around.map(|index| length(found, index)).product::<f64>()
    };
    tree.descendants(body).map(each).sum()
}
