//! Whether each iteration overwrites its whole piece of an array, before it reads any of it.

use crate::analysis::accesses::{Access, Accesses, Loop};
use crate::analysis::polynomial::Polynomial;
use crate::source::Span;
use crate::syntax::{For, HostTree, NodeKind};

/// Does each iteration of the first loop give all elements of its piece, `stride` long, new values before it reads one? True only for
/// `a[i] = ..;` and `for (j = 0; j < stride; j++) a[i * stride + j] = ..;` on every way through an iteration. `touching` are all
/// accesses of the array.
#[must_use]
pub fn overwrites(tree: &HostTree, found: &Accesses, touching: &[&Access], stride: &Polynomial) -> bool {
    touching.iter().any(|access| {
        let store = Store::of(tree, found, access);
        store.is_some_and(|store| store.covers(access, found, stride) && store.is_first(access, touching))
    })
}

/// An assignment that is executed in each iteration.
struct Store<'f> {
    assignment: Span,
    /// The serial loop around it.
    inner: Option<&'f Loop>,
}

impl<'f> Store<'f> {
    /// The assignment whose left side is the access. `None` if an iteration may skip it.
    fn of(tree: &HostTree, found: &'f Accesses, access: &Access) -> Option<Self> {
        let parallel = found.loops.first()?;
        if !access.is_target || access.element.is_none() || jumps(tree, parallel.span) {
            return None;
        }
        // If the text of a macro or an inlined function is accessed, the access stands for the whole expression.
        let node = tree.covering(access.span);
        let assignment = if tree.kind(node) == NodeKind::AssignmentExpression { node } else { tree.parent(node)? };
        let mut inner = None;
        let mut below = tree.parent(assignment).filter(|above| tree.kind(*above) == NodeKind::ExpressionStatement)?;
        for above in tree.ancestors(below) {
            match tree.kind(above) {
                NodeKind::CompoundStatement => {}
                NodeKind::ForStatement if For::of(tree, above)?.body() == Some(below) => {
                    let known = found.loops.iter().find(|known| known.span == tree.span(above))?;
                    if known.atom == parallel.atom {
                        return Some(Self { assignment: tree.span(assignment), inner });
                    }
                    if inner.replace(known).is_some() {
                        return None;
                    }
                }
                _ => return None,
            }
            below = above;
        }
        None
    }

    /// Does it assign, in one iteration, all elements of the iteration's piece?
    fn covers(&self, access: &Access, found: &Accesses, stride: &Polynomial) -> bool {
        let [subscript] = access.subscripts.as_slice() else { return false };
        let own = found.loops.first().and_then(|parallel| stride.times(&Polynomial::atom(parallel.atom)));
        let one = Polynomial::constant(1);
        let expected = match self.inner {
            None => own.filter(|_| *stride == one),
            Some(inner) => {
                let from_start = inner.range.lower.as_ref().is_some_and(Polynomial::is_zero);
                let to_end = inner.range.upper.is_some() && inner.range.upper == stride.minus(&one);
                own.filter(|_| from_start && to_end && inner.step == Some(1))
                    .and_then(|own| own.plus(&Polynomial::atom(inner.atom)))
            }
        };
        !subscript.wraps && expected.is_some_and(|expected| subscript.form == expected)
    }

    /// Do all other accesses of the array come after all of its assignments, or reach the element that was just
    /// assigned?
    fn is_first(&self, store: &Access, touching: &[&Access]) -> bool {
        let end = self.inner.map_or(self.assignment.end, |inner| inner.span.end);
        touching.iter().filter(|access| **access != store).all(|access| {
            let is_same = access.span.start >= self.assignment.end && access.subscripts == store.subscripts;
            is_same || access.span.start >= end
        })
    }
}

/// May a statement of the loop skip others?
fn jumps(tree: &HostTree, parallel: Span) -> bool {
    let kinds = [
        NodeKind::BreakStatement,
        NodeKind::ContinueStatement,
        NodeKind::GotoStatement,
        NodeKind::ReturnStatement,
        NodeKind::LabeledStatement,
    ];
    tree.descendants(tree.covering(parallel)).any(|node| kinds.contains(&tree.kind(node)))
}
