//! Whether compilers need the variables of collapsed loops at all: where each iteration accesses the elements that have its own number among all iterations,
//! `i * n + j` for `i` and `j` from 0 up to `n`, they fold the division and the multiplication into nothing.

use super::Kernel;
use crate::analysis::accesses::Access;
use crate::analysis::polynomial::Polynomial;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};

/// Do all iterations access elements of their own number, but for a constant, and use the loops' variables for nothing else?
pub(super) fn are_those_of_elements(kernel: &Kernel<'_, '_>) -> bool {
    let Some(number) = number(kernel) else { return false };
    let atoms: Vec<_> = kernel.found.loops.iter().take(kernel.loops().len()).map(|one| one.atom).collect();
    let is_own = |access: &Access| {
        let [subscript] = access.subscripts.as_slice() else { return false };
        let rest = subscript.form.minus(&number);
        rest.is_some_and(|rest| !atoms.iter().any(|atom| rest.mentions(*atom)))
    };
    kernel.found.accesses.iter().all(is_own) && !has_other_use(kernel)
}

/// The number of an iteration among all, if the loops begin at 0.
fn number(kernel: &Kernel<'_, '_>) -> Option<Polynomial> {
    let mut number = Polynomial::constant(0);
    for one in kernel.found.loops.iter().take(kernel.loops().len()) {
        one.range.lower.as_ref().filter(|lower| lower.is_zero())?;
        let length = one.range.upper.as_ref()?.plus(&Polynomial::constant(1))?;
        number = number.times(&length)?.plus(&Polynomial::atom(one.atom))?;
    }
    Some(number)
}

/// Is a loop's variable used outside of subscripts, and of declarations, whose values come to subscripts?
fn has_other_use(kernel: &Kernel<'_, '_>) -> bool {
    let (tree, file) = (kernel.cx.tree, kernel.cx.file);
    let is_variable = |span: Span| kernel.loops().iter().any(|own| file.show(span) == own.variable.as_str());
    let is_in_subscript = |node: NodeId| {
        let is_one = |above: &NodeId| {
            use NodeKind as K;
            matches!(tree.kind(*above), K::SubscriptExpression | K::SubscriptArgumentList | K::InitDeclarator)
        };
        tree.ancestors(node).any(|above| is_one(&above))
    };
    let mut names = tree.descendants(kernel.candidate.nest.loops.body);
    names.any(|node| tree.kind(node) == NodeKind::Identifier && is_variable(tree.span(node)) && !is_in_subscript(node))
}
