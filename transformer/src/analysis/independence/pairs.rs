//! Are iterations independent in their accesses through one name?

use crate::analysis::accesses::{Access, Accesses, Loop, RootKind, Subscript};
use crate::analysis::atomics::Updates;
use crate::analysis::dependence::{Range, Space};
use crate::analysis::independence::{Candidate, reason, witness};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::plan::{Reason, ReasonCode};

/// The atom of a variable in the second iteration is its atom in the first one plus this.
const SECOND: u32 = 1 << 24;

/// Why the first `depth` loops may not run in any order.
pub(crate) fn reasons(candidate: &Candidate<'_, '_>, found: &Accesses, depth: usize) -> Vec<Reason> {
    reasons_beside(candidate, found, depth, &Updates::new())
}

/// The same, of all accesses but what updates by one operator give, which come in any order.
pub(crate) fn reasons_beside(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    depth: usize,
    updates: &Updates,
) -> Vec<Reason> {
    let are_updates = |first: &Access, second: &Access| {
        let operators = [first, second].map(|access| updates.get(&access.span));
        operators[0].is_some() && operators[0] == operators[1]
    };
    let different = different(found, updates);
    let mut reasons: Vec<Reason> = Vec::new();
    for (index, first) in different.iter().enumerate() {
        for second in different.get(index..).unwrap_or_default() {
            let same = first.root == second.root;
            if same
                && (first.writes || second.writes)
                && !are_updates(first, second)
                && !are_independent(candidate, found, depth, first, second)
                && !is_excluded(candidate, found, depth, first, second)
            {
                let whose = if candidate.promised() == 0 { "" } else { " of the inner loop" };
                let message = format!(
                    "different iterations{whose} may access one element of `{}`, and one of them writes it",
                    first.root.name
                );
                let (written, other) = if first.writes { (first, second) } else { (second, first) };
                let mut reason = reason(ReasonCode::InnerLoopDependent, written.span, message);
                if other.span != written.span {
                    reason = reason.with_label(other.span, "the other access");
                }
                reasons.push(reason);
            }
        }
    }
    reasons.truncate(3);
    reasons
}

/// The accesses without those that say the same as one before them: macros and unrolled loops name an element hundreds of times.
fn different<'f>(found: &'f Accesses, updates: &Updates) -> Vec<&'f Access> {
    let mut all: Vec<&Access> = Vec::new();
    for access in &found.accesses {
        let says_the_same = |known: &&Access| {
            (&known.root, &known.subscripts, known.writes) == (&access.root, &access.subscripts, access.writes)
                && (&known.loops, &known.guards) == (&access.loops, &access.guards)
                && updates.get(&known.span) == updates.get(&access.span)
        };
        if !all.iter().any(says_the_same) {
            all.push(access);
        }
    }
    all
}

/// Do two accesses meet only within one iteration of the loops that are not promised to be independent, up to `depth`?
pub(crate) fn are_independent(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    depth: usize,
    first: &Access,
    second: &Access,
) -> bool {
    if first.root.kind == RootKind::Loaded {
        return false;
    }
    let promised = candidate.promised();
    let renamed = |atom: Atom| if is_own(found, promised, atom) { Atom(atom.0 + SECOND) } else { atom };
    let new: Vec<&Loop> = found.loops.get(promised..depth).unwrap_or_default().iter().collect();
    let pairs: Vec<(Atom, Atom)> = new.iter().map(|l| (l.atom, Atom(l.atom.0 + SECOND))).collect();
    let mut differences = Vec::new();
    let mut forced = Vec::new();
    for (one, other) in first.subscripts.iter().zip(&second.subscripts) {
        let Some(difference) = one.form.minus(&other.form.renamed(&renamed)) else { continue };
        if one.wraps || other.wraps {
            forced.extend(
                new.iter()
                    .filter(|l| forces_modulo(&difference, l, one, other))
                    .map(|l| (l.atom, Atom(l.atom.0 + SECOND))),
            );
        } else {
            differences.push(difference);
        }
    }
    // Pairs that must be equal are used as equations for the others.
    differences
        .extend(forced.iter().filter_map(|(one, other)| Polynomial::atom(*one).minus(&Polynomial::atom(*other))));
    let space = space(found, promised, &[first, second], true);
    space.are_independent(&differences, &pairs)
}

/// Would the two accesses meet only where the original has a race?
fn is_excluded(candidate: &Candidate<'_, '_>, found: &Accesses, depth: usize, first: &Access, second: &Access) -> bool {
    let write = if first.writes { first } else { second };
    witness::never_meet(candidate, found, depth, (first, second))
        && are_independent(candidate, found, depth, write, write)
}

/// Can subscripts be equal modulo 2 to the power of 32 only within one iteration? An odd factor can be divided out, and
/// variables of 32 bits that are equal modulo 2 to the power of 32 are equal.
fn forces_modulo(difference: &Polynomial, l: &Loop, one: &Subscript, other: &Subscript) -> bool {
    let (first, second) = (l.atom, Atom(l.atom.0 + SECOND));
    let parts = difference.linear_in(first).and_then(|(with_first, rest)| {
        let (with_second, rest) = rest.linear_in(second)?;
        rest.is_zero().then_some(())?;
        Some((with_first.as_constant()?, with_second.as_constant()?))
    });
    one.wraps && other.wraps && l.integer.bits <= 32 && parts.is_some_and(|(a, b)| a == -b && a % 2 != 0)
}

/// May the value of an atom be another one in the second iteration?
fn is_own(found: &Accesses, promised: usize, atom: Atom) -> bool {
    found.opaque.contains(&atom) || found.loops.iter().skip(promised).any(|l| l.atom == atom)
}

/// What is known if all of these accesses happen: the loops around them have at least one iteration. With `twice`, the
/// last one happens in another iteration, in which what varies has other values.
pub(super) fn space(found: &Accesses, promised: usize, accesses: &[&Access], twice: bool) -> Space {
    let mut space = Space::default();
    let copies: &[u32] = if twice { &[0, SECOND] } else { &[0] };
    let renamed = |copy: u32| {
        move |atom: Atom| if copy > 0 && is_own(found, promised, atom) { Atom(atom.0 + copy) } else { atom }
    };
    let in_copy = |range: &Range, copy: u32| Range {
        lower: range.lower.as_ref().map(|lower| lower.renamed(&renamed(copy))),
        upper: range.upper.as_ref().map(|upper| upper.renamed(&renamed(copy))),
    };
    let opaque = found.opaque.iter().map(|atom| (*atom, found.ranges.get(atom).cloned().unwrap_or_default()));
    let mut varying: Vec<(Atom, Range)> = opaque.chain(found.loops.iter().map(|l| (l.atom, l.range.clone()))).collect();
    // The bounds of an atom name only those that were made before it.
    varying.sort_by_key(|(atom, _)| *atom);
    for (atom, range) in &varying {
        for copy in copies.iter().filter(|copy| **copy == 0 || is_own(found, promised, *atom)) {
            space.varying.push((Atom(atom.0 + copy), in_copy(range, *copy)));
        }
    }
    let shared = found.ranges.iter().filter(|(atom, _)| !found.opaque.contains(atom));
    let around = found.around.iter().filter_map(|around| around.range.clone());
    space.steady = around.chain(shared.map(|(atom, range)| (*atom, range.clone()))).collect();
    space.facts.extend(found.around.iter().flat_map(|around| around.rows.clone()));
    for (index, access) in accesses.iter().enumerate() {
        let copy = if twice && index > 0 { SECOND } else { 0 };
        space.facts.extend(access.guards.rows.iter().map(|row| row.renamed(&renamed(copy))));
        for l in access.loops.iter().filter_map(|index| found.loops.get(*index)) {
            space.facts.extend(l.range.facts(l.atom).iter().map(|row| row.renamed(&renamed(copy))));
            space.runs(&l.range);
        }
    }
    space
}
