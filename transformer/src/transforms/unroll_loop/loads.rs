//! What the iterations of a serial loop load, as far as loops with such loads were measured.

use crate::analysis::accesses::{Access, Accesses, Loop};
use crate::analysis::coalescing::{Pattern, pattern};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::device::Loads;
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::semantics::Program;
use crate::source::{Span, words};
use crate::syntax::{NodeId, NodeKind, Number};

/// The most operations for each load. With more, the loads no longer determine the time.
const MOST_OPERATIONS: usize = 8;

/// A serial loop whose loads wait for each other.
#[derive(Debug)]
pub(super) struct Serial<'f> {
    /// Its head.
    pub head: CanonicalLoop,
    /// What one iteration loads.
    pub loads: Loads,
    /// How often it runs, in terms of the kernel's values, where it counts from 0 up to its bound.
    pub length: Option<Polynomial>,
    /// The body of the kernel's loop.
    pub kernel: NodeId,
    /// What is known of the kernel.
    pub found: &'f Accesses,
    /// How often it runs, if the text tells.
    pub trips: Option<u64>,
    /// All accesses of it.
    pub inside: Vec<&'f Access>,
    /// Its loads of elements that the thread has for itself, each element once.
    pub own: Vec<&'f Access>,
    /// The atom of the variable in which neighbouring threads differ.
    pub lane: Atom,
    /// Does the kernel's construct collapse several loops?
    pub is_collapsed: bool,
    /// Does it stand around another loop?
    pub has_inner: bool,
}

/// Reads a serial loop, or tells the place and reason why it is left alone.
pub(super) fn serial<'f>(
    cx: &Program<'_>,
    (found, promised): (&'f Accesses, usize),
    kernel: NodeId,
    node: NodeId,
) -> Result<Serial<'f>, (Span, &'static str)> {
    let span = cx.tree.span(node);
    let head = read_loop(cx, node)?;
    let inner = only_loop(cx, head.body);
    let body = inner.map_or(Ok(head.body), |inner| read_loop(cx, inner).map(|inner| inner.body))?;
    if !is_straight(cx, body) {
        return Err((span, "this loop holds more than expressions"));
    }
    let known = |node: NodeId| found.loops.iter().find(|known| known.span == cx.tree.span(node));
    let (Some(own), Some(lane)) = (known(node), found.loops.get(promised - 1)) else {
        return Err((span, "the variable of this loop is no integer"));
    };
    let inside: Vec<&Access> = found.accesses.iter().filter(|access| span.contains(access.span)).collect();
    if let Some(store) = inside.iter().find(|access| access.writes) {
        return Err((store.span, "what is loaded next waits for this store"));
    }
    let kind = match inner.map(known) {
        None => loads_of(found, &inside, own.atom, lane.atom),
        Some(inner) => inner.and_then(|inner| loads_inside(found, &inside, own.atom, inner)),
    };
    let Some(loads) = kind else {
        return Err((span, "no loop with loads like these was measured, so no gain is known"));
    };
    if operations(cx, body) > MOST_OPERATIONS * if loads == Loads::OfRow { 1 } else { 2 } {
        return Err((span, "its arithmetic takes longer than its loads"));
    }
    let is_own = |access: &&Access| pattern(access, lane.atom, &found.opaque) != Pattern::Uniform;
    let own_loads = changing(&inside, &[own.atom]).into_iter().filter(is_own).collect();
    let trips = own.trips.and_then(|trips| u64::try_from(trips).ok());
    let lane = lane.atom;
    let starts = own.range.lower.as_ref().is_some_and(Polynomial::is_zero);
    let length = own.range.upper.as_ref().filter(|_| starts && head.relation == Relation::Less);
    let length = length.and_then(|last| last.plus(&Polynomial::constant(1)));
    Ok(Serial {
        head,
        loads,
        length,
        kernel,
        found,
        trips,
        inside,
        own: own_loads,
        lane,
        is_collapsed: promised > 1,
        has_inner: inner.is_some(),
    })
}

/// The head of a loop if it is understood and its bounds do not change.
fn read_loop(cx: &Program<'_>, node: NodeId) -> Result<CanonicalLoop, (Span, &'static str)> {
    let span = cx.tree.span(node);
    let read = canonical_nest(cx.file, cx.tree, node, 1).ok().and_then(|nest| nest.loops.into_iter().next());
    let Some(read) = read.filter(|read| read.declared_in_loop) else {
        return Err((span, "this loop does not declare its variable, or is not in canonical form"));
    };
    let head = [Some(read.lower), Some(read.upper), read.step.amount, Some(read.variable_span)];
    if head.into_iter().flatten().any(|part| changes(cx, part, read.body)) {
        return Err((span, "this loop changes what its head names"));
    }
    if head.into_iter().flatten().any(|part| is_fractional(cx, part)) {
        return Err((span, "a bound of this loop is no integer"));
    }
    Ok(read)
}

/// Does a bound name a floating-point variable? Then the loop is not in canonical form (OpenMP 5.2, section 4.4.1).
fn is_fractional(cx: &Program<'_>, part: Span) -> bool {
    let symbols = cx.symbols();
    let text = cx.file.show(part);
    words(&text).any(|word| {
        let variable = symbols.lookup(word, part.start);
        variable.is_some_and(|variable| variable.ty.number().is_some_and(Number::is_floating))
    })
}

/// The loop that is the whole body of another one.
fn only_loop(cx: &Program<'_>, body: NodeId) -> Option<NodeId> {
    let mut statements = cx.tree.named_children(body).filter(|node| cx.tree.kind(*node) != NodeKind::Comment);
    let only = match cx.tree.kind(body) {
        NodeKind::CompoundStatement => statements.next().filter(|_| statements.next().is_none())?,
        _ => body,
    };
    (cx.tree.kind(only) == NodeKind::ForStatement).then_some(only)
}

/// Does the body of a loop write a variable that a part of its head names?
pub(super) fn changes(cx: &Program<'_>, part: Span, body: NodeId) -> bool {
    let symbols = cx.symbols();
    let text = cx.file.show(part);
    let body = cx.tree.span(body);
    words(&text).any(|word| {
        symbols.is_ambiguous_macro(word) || !symbols.written_in(word, part.start.max(body.start), body).is_empty()
    })
}

/// Does it consist only of declarations and expressions without calls?
fn is_straight(cx: &Program<'_>, body: NodeId) -> bool {
    cx.tree.descendants(body).all(|node| match cx.tree.kind(node) {
        NodeKind::CompoundStatement | NodeKind::ExpressionStatement => true,
        kind => !kind.is_statement() && kind != NodeKind::ForRangeLoop && kind != NodeKind::CallExpression,
    })
}

/// The different accesses whose address changes with some of the variables; others are loaded before the loop.
fn changing<'f>(inside: &[&'f Access], variables: &[Atom]) -> Vec<&'f Access> {
    let changes = |access: &&&Access| {
        let mut forms = access.subscripts.iter().map(|it| it.form.atoms());
        forms.any(|atoms| variables.iter().any(|variable| atoms.contains(variable)))
    };
    let mut different: Vec<&Access> = Vec::new();
    for access in inside.iter().filter(changes) {
        if !different.iter().any(|known| known.root == access.root && known.subscripts == access.subscripts) {
            different.push(access);
        }
    }
    different
}

/// The loads of a loop around another one.
fn loads_inside(found: &Accesses, inside: &[&Access], variable: Atom, inner: &Loop) -> Option<Loads> {
    let different = changing(inside, &[variable, inner.atom]);
    let [access] = different.as_slice() else { return None };
    let is_near = |variable| matches!(pattern(access, variable, &found.opaque), Pattern::Near(_));
    (inner.trips.is_none() && is_near(variable) && !is_near(inner.atom)).then_some(Loads::InLoopInside)
}

/// What one iteration loads. `None` if that was not measured.
fn loads_of(found: &Accesses, inside: &[&Access], variable: Atom, lane: Atom) -> Option<Loads> {
    let different = changing(inside, &[variable]);
    let pattern_of = |access: &&&Access| pattern(access, lane, &found.opaque);
    let walks_along_row = |access: &Access| matches!(pattern(access, variable, &found.opaque), Pattern::Near(_));
    let own: Vec<&&Access> = different.iter().filter(|access| pattern_of(access) != Pattern::Uniform).collect();
    let are_rows = own.iter().all(|access| pattern_of(access) == Pattern::Strided && walks_along_row(access));
    let are_beside = own.iter().all(|access| matches!(pattern_of(access), Pattern::Near(_)));
    match (own.len(), different.len() - own.len()) {
        (1, 0) if are_rows => Some(Loads::OfRow),
        (1, 0) if are_beside => Some(Loads::OfColumn),
        (1, 1) if are_rows => Some(Loads::OfRowAndShared),
        (1, 1) if are_beside => Some(Loads::OfColumnAndShared),
        (2, 0 | 1) if are_rows => Some(Loads::OfTwoRows),
        _ => None,
    }
}

fn operations(cx: &Program<'_>, body: NodeId) -> usize {
    let is_one = |kind: NodeKind| {
        matches!(kind, NodeKind::BinaryExpression | NodeKind::AssignmentExpression | NodeKind::ConditionalExpression)
    };
    cx.tree.descendants(body).filter(|node| is_one(cx.tree.kind(*node))).count()
}
