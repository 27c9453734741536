//! Iterations that load elements around their own, as neighbouring iterations of an outer loop do: a stencil. A group first computes all that it
//! stores, so that no store stands between its loads, and the compiler sees which of them are the same.

use super::Kernel;
use super::body::{number, statements};
use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::independence::aliases::{self, Evidence};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::context::Context;
use crate::semantics::Act;
use crate::semantics::evaluation::Part;
use crate::source::{Span, words};
use crate::syntax::{Field, NodeId, NodeKind};

/// How far apart elements of one array may lie, in iterations, that are counted as neighbours.
const FARTHEST: i128 = 8;
/// The most accesses of an iteration: more would take the registers of others.
const MOST_ACCESSES: usize = 48;

/// The statements of an iteration, those in front of the first one that stores and those from it on.
pub(super) struct Stored {
    pub values: Vec<NodeId>,
    pub stores: Vec<NodeId>,
    /// Of the first stores.
    pub computed: Vec<Computed>,
}

/// The value of a store, which is computed in front of all stores.
pub(super) struct Computed {
    pub statement: NodeId,
    /// The element, and all behind it: the operator and the value.
    pub element: Span,
    pub value: Span,
    /// Is it made of the element's old value, as by `+=`?
    pub is_compound: bool,
    /// The variable that holds it, its type and the registers of one.
    pub name: String,
    pub ty: String,
    pub registers: u32,
}

impl Stored {
    /// `None` where the body is not understood, or stores nothing, or the kernel is one loop.
    pub(super) fn of(kernel: &Kernel<'_, '_>) -> Option<Self> {
        let (cx, found) = (kernel.cx, &kernel.found);
        let body = kernel.candidate.nest.loops.body;
        (found.troubles.is_empty() && kernel.loops().len() > 1 && found.accesses.len() <= MOST_ACCESSES)
            .then_some(())?;
        let mut values = statements(cx, body);
        let is_store = |node: &NodeId| {
            let span = cx.tree.span(*node);
            found.accesses.iter().any(|access| access.writes && span.contains(access.span))
        };
        let first = values.iter().position(is_store)?;
        let stores = values.split_off(first);
        // Values of later stores are computed in front of earlier ones only where none of them reads what those write.
        let are_apart = || {
            let pairs = aliases::may_meet(Evidence::OfAccesses, &kernel.candidate, found, &kernel.sections);
            pairs.is_ok_and(|pairs| pairs.is_empty())
        };
        let most = if stores.len() > 1 && !are_apart() { 1 } else { stores.len() };
        let mut computed: Vec<Computed> = Vec::new();
        for statement in stores.iter().take(most) {
            match Computed::of(kernel, *statement, &computed) {
                Some(one) => computed.push(one),
                None => break,
            }
        }
        Some(Self { values, stores, computed })
    }

    /// Where all is computed that no store of the group stands in front of.
    pub(super) fn computing(&self, cx: &Context<'_>) -> Vec<Span> {
        self.parts_in_front(cx).into_iter().map(|(_, span)| span).collect()
    }

    /// What stands in front of the stores, and the statement of each part.
    pub(super) fn parts_in_front(&self, cx: &Context<'_>) -> Vec<(NodeId, Span)> {
        let values = self.values.iter().map(|node| (*node, cx.tree.span(*node)));
        let of_store = self.computed.iter().map(|one| {
            let start = if one.is_compound { one.element.start } else { one.value.start };
            (one.statement, Span::new(start, one.value.end))
        });
        values.chain(of_store).collect()
    }

    /// The stores, of the first one without its value where that is computed in front of it.
    pub(super) fn parts_of_stores(&self, cx: &Context<'_>) -> Vec<(NodeId, Span)> {
        let part = |node: &NodeId| {
            let own = self.computed.iter().find(|one| one.statement == *node);
            (*node, own.map_or_else(|| cx.tree.span(*node), |one| one.element))
        };
        self.stores.iter().map(part).collect()
    }

    /// The statements in front of the stores, with the one whose value is computed there.
    pub(super) fn computing_statements(&self) -> Vec<NodeId> {
        self.values.iter().copied().chain(self.computed.iter().map(|one| one.statement)).collect()
    }
}

impl Computed {
    /// `None` where the statement is no assignment to an element, its value is made of variables alone, or of what a store before it writes.
    fn of(kernel: &Kernel<'_, '_>, statement: NodeId, before: &[Self]) -> Option<Self> {
        let (cx, tree, accesses) = (kernel.cx, kernel.cx.tree, &kernel.found.accesses);
        let assignment = tree.named_children(statement).next()?;
        (tree.kind(assignment) == NodeKind::AssignmentExpression).then_some(())?;
        let [left, right] = [Field::Left, Field::Right].map(|field| tree.child(assignment, field));
        let (element, right) = (tree.span(left?), tree.span(right?));
        let of = |span: Span| accesses.iter().find(move |access| access.writes && access.span == span);
        let own = of(element)?;
        let (ty, registers) = number(own.element.as_ref()?)?;
        let is_compound = tree.operator(assignment) != Some(NodeKind::Equal);
        let value = Span::new(if is_compound { element.start } else { right.start }, right.end);
        let mut loads = accesses.iter().filter(|access| value.contains(access.span)).peekable();
        loads.peek()?;
        let stored = |access: &Access| before.iter().filter_map(|one| of(one.element)).any(|it| it.root == access.root);
        (!loads.any(stored)).then_some(())?;
        let is_plain = |part: &Part| !matches!(part.act, Act::Effect | Act::Unknown);
        let are_plain =
            [element, right].map(|span| cx.evaluation(span).is_some_and(|it| it.parts.iter().all(is_plain)));
        (are_plain == [true, true]).then_some(())?;
        let inside = cx.constructs.construct(kernel.candidate.id).body_span;
        let name = words(&own.root.name).last().map(|name| cx.fresh_in(inside, &format!("new_{name}")))?;
        let is_free = before.iter().all(|one| one.name != name);
        let behind = Span::new(element.end, right.end);
        is_free.then_some(Self { statement, element, value: behind, is_compound, name, ty, registers })
    }
}

/// How often the iterations of a group load an element of an array that several of them load, if it lies where this access leads in one of them.
pub(super) fn overlap(kernel: &Kernel<'_, '_>, all: &[&Access], access: &Access, (index, factor): (usize, u32)) -> f64 {
    let found = &kernel.found;
    let Some(variable) = found.loops.get(index).map(|one| one.atom) else { return 1.0 };
    let own = forms(found, access, variable);
    let distances: Vec<i128> = all
        .iter()
        .filter(|other| other.root == access.root && !other.writes)
        .filter_map(|other| {
            let theirs = forms(found, other, variable);
            (-FARTHEST..=FARTHEST).find(|distance| moved(&own, variable, *distance).as_ref() == Some(&theirs))
        })
        .collect();
    let mut loaded: Vec<i128> =
        distances.iter().flat_map(|distance| (0..i128::from(factor)).map(move |offset| distance + offset)).collect();
    let all = loaded.len();
    loaded.sort_unstable();
    loaded.dedup();
    let count = |length: usize| u32::try_from(length).map_or(f64::INFINITY, f64::from);
    if loaded.is_empty() { 1.0 } else { count(all) / count(loaded.len()) }
}

/// The subscripts of an access. A number that is kept within a range counts as that end of the range that lies farther from the loop's variable.
fn forms(found: &Accesses, access: &Access, variable: Atom) -> Vec<Polynomial> {
    let own = Polynomial::atom(variable);
    let kept = |atom: &Atom| {
        let range = found.ranges.get(atom).filter(|_| found.opaque.contains(atom))?;
        let mut ends = [&range.lower, &range.upper].into_iter().flatten();
        ends.find(|end| end.minus(&own).is_some_and(|apart| apart.as_constant().is_some_and(|apart| apart != 0)))
    };
    let form = |form: &Polynomial| {
        let atoms = form.atoms();
        let ends = atoms.iter().filter_map(|atom| Some((atom, kept(atom)?)));
        ends.fold(form.clone(), |form, (atom, end)| form.with(*atom, end).unwrap_or(form))
    };
    access.subscripts.iter().map(|subscript| form(&subscript.form)).collect()
}

/// The same some iterations later.
fn moved(forms: &[Polynomial], variable: Atom, distance: i128) -> Option<Vec<Polynomial>> {
    let later = Polynomial::atom(variable).plus(&Polynomial::constant(distance))?;
    forms.iter().map(|form| form.with(variable, &later)).collect()
}
