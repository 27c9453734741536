//! Which arrays of a region can be declared on the host and have device storage until the end of their block.

use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::{Kind, Program};
use crate::source::Span;
use crate::syntax::{ArrayDeclarator, Declaration, Initialised, NodeId, NodeKind};
use crate::transforms::split_target::shape::stays_within;

/// The most bytes that the arrays of one region may take of the host's stack.
const MOST_BYTES: i64 = 16 << 10;

/// A declaration of arrays.
#[derive(Clone, Debug)]
pub(crate) struct LocalArrays {
    pub node: NodeId,
    /// The declared names, where they stand, and whether the declaration gives them values.
    pub names: Vec<(Span, bool)>,
    bytes: i64,
}

/// Reads a declaration that declares only arrays of numbers, of constant size and with constant values or none.
pub(super) fn local_arrays(names: &Program<'_>, node: NodeId) -> Option<LocalArrays> {
    let tree = names.tree;
    let plain =
        [NodeKind::PrimitiveType, NodeKind::SizedTypeSpecifier, NodeKind::TypeIdentifier, NodeKind::TypeQualifier];
    let declaration = Declaration::of(tree, node)?;
    let mut found = LocalArrays { node, names: Vec::new(), bytes: 0 };
    if !declaration.specifiers().all(|specifier| plain.contains(&tree.kind(specifier))) {
        return None;
    }
    for declarator in declaration.declarators() {
        let initialised = Initialised::of(tree, declarator);
        let array = initialised.map_or(Some(declarator), Initialised::declarator)?;
        let mut name = array;
        while let Some(inner) = ArrayDeclarator::of(tree, name) {
            name = inner.declarator()?;
        }
        let value = initialised.and_then(Initialised::value);
        if value.is_some_and(|value| !is_constant_list(names, value)) || tree.kind(name) != NodeKind::Identifier {
            return None;
        }
        found.names.push((tree.span(name), value.is_some()));
        found.bytes += bytes(names, tree.span(name), tree.span(array).end)?;
    }
    (!found.names.is_empty()).then_some(found)
}

/// Is it a list of numbers in braces?
fn is_constant_list(names: &Program<'_>, value: NodeId) -> bool {
    let tree = names.tree;
    let plain = [NodeKind::InitializerList, NodeKind::NumberLiteral, NodeKind::UnaryExpression, NodeKind::Comment];
    tree.kind(value) == NodeKind::InitializerList
        && tree.descendants(value).all(|node| !tree.is_named(node) || plain.contains(&tree.kind(node)))
}

/// The size of an array that is visible at byte `at`. `None` if it is not constant, or if the elements are no plain
/// numbers.
fn bytes(names: &Program<'_>, name: Span, at: usize) -> Option<i64> {
    let text = names.file.show(name);
    if !matches!(names.kind(&text, at), Kind::Array { plain: true, .. }) {
        return None;
    }
    match names.declared_type(&text, at)? {
        DeclaredType::Array { dimensions, is_vla: false, .. } => dimensions
            .iter()
            .try_fold(8_i64, |bytes, dimension| bytes.checked_mul(dimension.value?))
            .filter(|bytes| *bytes > 0),
        _ => None,
    }
}

/// Why the arrays of a region cannot be declared on the host: they are too large, or control leaves their block.
pub(super) fn reasons(cx: &Program<'_>, region: &TargetRegion, arrays: &[LocalArrays]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let total: i64 = arrays.iter().fold(0, |sum, array| sum.saturating_add(array.bytes));
    if let (true, Some(first)) = (total > MOST_BYTES, arrays.first()) {
        let message = format!("the arrays of the region would take up to {total} bytes of the host's stack");
        reasons.push(Reason::new(ReasonCode::LocalDeclaration, cx.tree.span(first.node), message));
    }
    if let (true, Some(first)) = (cx.file.show(region.extent).contains("defaultmap"), arrays.first()) {
        let message = "a default for what no clause maps may say something else for this array";
        reasons.push(Reason::new(ReasonCode::LocalDeclaration, cx.tree.span(first.node), message));
    }
    for array in arrays {
        let Some(block) = cx.tree.parent(array.node) else { continue };
        let start = cx.tree.span(array.node).end;
        let mut jumps = cx.tree.descendants(block).filter(|node| {
            matches!(cx.tree.kind(*node), NodeKind::BreakStatement | NodeKind::ContinueStatement)
                && cx.tree.span(*node).start > start
        });
        let rest = Span::new(start, cx.tree.span(block).end);
        let leaving = jumps.find(|jump| !stays_within(cx, rest, *jump));
        if let Some(jump) = leaving {
            let message = "this leaves the block in which an array of the region lives on the device";
            let reason = Reason::new(ReasonCode::LocalDeclaration, cx.tree.span(array.node), message);
            reasons.push(reason.with_label(cx.tree.span(jump), "control leaves here"));
        }
    }
    reasons
}
