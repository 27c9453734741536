//! What an `if` around a place has asked already.

use crate::context::Context;
use crate::semantics::symbols::Scope;
use crate::source::Span;
use crate::syntax::{ClauseName, If, NodeId, NodeKind};

/// Does a condition, a comparison of numbers and variables, hold at a place because an `if` around it asks for it in the same words? Its
/// variables are the function's own and keep one value throughout, on the device as well, and control comes into the `if` by its condition alone.
pub(in crate::transforms) fn holds_at(cx: &Context<'_>, at: usize, condition: &str) -> bool {
    let tree = cx.tree;
    let place = Span::new(at, at + 1);
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let is_label = |node: NodeId| matches!(tree.kind(node), NodeKind::LabeledStatement | NodeKind::CaseStatement);
    let ifs = tree.ancestors(tree.covering(place)).filter_map(|above| If::of(tree, above));
    ifs.into_iter().any(|one| {
        let branch = one.consequence().filter(|branch| tree.span(*branch).contains(place));
        let branch = branch.filter(|branch| !tree.descendants(*branch).any(is_label));
        let parts = one.condition().map(|node| parts(cx, node)).unwrap_or_default();
        let mut parts = parts.into_iter().map(|part| tree.span(part));
        let same = parts.find(|part| plain(&cx.file.show(*part)) == plain(condition));
        branch.zip(same).is_some_and(|(branch, part)| keeps(cx, part, branch, at))
    })
}

/// The parts of a condition all of which must hold.
fn parts(cx: &Context<'_>, condition: NodeId) -> Vec<NodeId> {
    let tree = cx.tree;
    let is_made_of_parts = match tree.kind(condition) {
        NodeKind::ParenthesizedExpression | NodeKind::ConditionClause => true,
        NodeKind::BinaryExpression => tree.operator(condition) == Some(NodeKind::AmpersandAmpersand),
        _ => false,
    };
    match is_made_of_parts {
        true => tree.named_children(condition).flat_map(|part| parts(cx, part)).collect(),
        false => vec![condition],
    }
}

/// Do the names in a condition mean the same at a place in a branch, and have they one value in all of their function?
fn keeps(cx: &Context<'_>, condition: Span, branch: NodeId, at: usize) -> bool {
    let tree = cx.tree;
    let Some(function) = tree.ancestors(branch).find(|node| tree.kind(*node) == NodeKind::FunctionDefinition) else {
        return false;
    };
    let (branch, function) = (tree.span(branch), tree.span(function));
    let names = cx.names_in(condition);
    let is_kept = |(name, span): &(String, Span)| {
        let variable = cx.symbols().lookup(name, span.start).filter(|_| cx.expansion(name, span.start).is_none());
        let is_own = variable.is_some_and(|it| {
            let is_local =
                matches!(it.scope, Scope::Local | Scope::Parameter) && !it.is_static && it.ty.number().is_some();
            is_local && !it.ty.is_volatile() && cx.cannot_be_aliased(name, span.start)
        });
        cx.constant(*span).is_some() || is_own && cx.symbols().written_in(name, span.start, function).is_empty()
    };
    // A construct may give its device another value of a variable that its clauses list.
    let between = cx.constructs.ids().map(|id| (cx.constructs.construct(id).body_span, cx.constructs.directive(id)));
    let mut clauses = between
        .filter(|(body, _)| branch.contains(*body) && body.contains(Span::new(at, at + 1)))
        .flat_map(|(_, directive)| &directive.clauses);
    let is_given = clauses.any(|clause| {
        let lists = |name: &str| clause.items().iter().any(|item| item.base.as_deref() == Some(name));
        clause.name == ClauseName::Defaultmap || names.iter().any(|(name, _)| lists(name))
    });
    !is_given && cx.means_the_same(condition, at) && names.iter().all(is_kept)
}
