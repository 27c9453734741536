//! Updates of integers by `atomic` constructs, which give the same in any order.

use std::collections::BTreeMap;

use crate::analysis::accesses::Accesses;
use crate::analysis::combinations::{Combination, Operator, combination};
use crate::analysis::integers::integer_of;
use crate::region::construct::Construct;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{Assignment, ClauseName, Directive, NodeId, NodeKind, Number, Update};

/// Updates by the places of the elements that they combine.
pub(crate) type Updates = BTreeMap<Span, Operator>;

/// Is it an `atomic` construct that updates something and orders nothing else?
pub(crate) fn is_update(construct: &Construct, directive: &Directive) -> bool {
    let is_plain = |name: ClauseName| matches!(name, ClauseName::Update | ClauseName::Relaxed);
    directive.is("atomic")
        && construct.doubt.is_none()
        && directive.problems.is_empty()
        && directive.clauses.iter().all(|clause| is_plain(clause.name))
}

/// The updates by all `atomic` constructs in a piece of the file.
///
/// # Errors
/// A construct whose updates do not give the same in any order: of floating-point numbers, or with what is no integer.
pub(crate) fn updates(cx: &Program<'_>, piece: Span, found: &Accesses) -> Result<Updates, Span> {
    let atomics = cx.constructs.within(piece).filter(|(construct, directive)| is_update(construct, directive));
    atomics.map(|(construct, directive)| update(cx, construct.body, found).ok_or(directive.span)).collect()
}

/// What an `atomic` construct updates, and with what.
pub(crate) struct Updated {
    /// The element or variable.
    pub target: NodeId,
    pub operator: Operator,
    /// Where it is named.
    pub names: Vec<Span>,
    /// What it is combined with.
    pub terms: Vec<NodeId>,
}

/// Reads `h[i]++;`, `h[i] += x;` or `s = s + x;`.
pub(crate) fn updated(cx: &Program<'_>, body: Option<NodeId>) -> Option<Updated> {
    let tree = cx.tree;
    let statement = body.filter(|body| tree.kind(*body) == NodeKind::ExpressionStatement)?;
    let expression = tree.named_children(statement).find(|node| tree.kind(*node) != NodeKind::Comment)?;
    if let Some(counted) = Update::of(tree, expression) {
        let target = counted.operand()?;
        return Some(Updated { target, operator: Operator::Plus, names: vec![tree.span(target)], terms: Vec::new() });
    }
    let assignment = Assignment::of(tree, expression)?;
    let target = assignment.target()?;
    if assignment.is_plain() {
        let Combination { operator, names, terms, .. } = combination(cx, statement)?;
        return Some(Updated { target, operator, names, terms });
    }
    let operator = Operator::of_assignment(assignment.operator()?)?;
    Some(Updated { target, operator, names: vec![tree.span(target)], terms: vec![assignment.value()?] })
}

/// The place and operator of an update of an integer by an integer.
fn update(cx: &Program<'_>, body: Option<NodeId>, found: &Accesses) -> Option<(Span, Operator)> {
    let Updated { target, operator, terms, .. } = updated(cx, body)?;
    let span = cx.tree.span(target);
    let access = found.accesses.iter().find(|access| access.span == span && access.writes)?;
    let number = access.element.as_ref()?.number()?;
    let is_integer = number.is_integer() && !matches!(number, Number::Bool);
    let is_exact = terms.iter().all(|term| integer_of(cx, found, *term).is_some());
    (is_integer && is_exact).then_some((span, operator))
}
