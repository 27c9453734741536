//! Is a variable or element the same one in all iterations of a loop, and in front of it?

use crate::analysis::combinations::without_parentheses;
use crate::context::Context;
use crate::semantics::Act;
use crate::semantics::symbols::{DeclaredType, Variable};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind, Pointer, Subscript};

/// Is it, by names from outside of the loop `inside`?
pub(super) fn is_steady(cx: &Context<'_>, target: NodeId, inside: Span) -> bool {
    let tree = cx.tree;
    match tree.kind(target) {
        NodeKind::Identifier => is_from_outside(cx, tree.span(target), inside),
        NodeKind::SubscriptExpression => {
            let parts = Subscript::of(tree, target).and_then(|it| Some((it.base()?, it.index()?)));
            parts.is_some_and(|(base, index)| {
                let base = without_parentheses(cx, base);
                let is_row = tree.kind(base) == NodeKind::SubscriptExpression;
                let is_steady_base = if is_row { is_steady } else { is_steady_address };
                is_steady_base(cx, base, inside) && is_steady_index(cx, tree.span(index), inside)
            })
        }
        NodeKind::PointerExpression => Pointer::of(tree, target).filter(|it| it.is_followed()).is_some_and(|pointer| {
            pointer.operand().is_some_and(|it| is_steady_address(cx, without_parentheses(cx, it), inside))
        }),
        _ => false,
    }
}

/// Is it the name of an array, which stays in its place, or of a pointer that keeps its value?
fn is_steady_address(cx: &Context<'_>, node: NodeId, inside: Span) -> bool {
    let span = cx.tree.span(node);
    let variable = cx.symbols().lookup(&cx.file.show(span), span.start);
    let is_array = variable.is_some_and(|found| matches!(found.ty, DeclaredType::Array { is_vla: false, .. }));
    let is_name = cx.tree.kind(node) == NodeKind::Identifier && is_from_outside(cx, span, inside);
    is_name && (is_array || keeps_value(cx, span, inside))
}

/// Does an index follow from numbers and variables that keep their values?
fn is_steady_index(cx: &Context<'_>, index: Span, inside: Span) -> bool {
    let is_followed = |act: Act| {
        use Act::{Arithmetic, Bits, Choice, Conversion, Division, Literal, Name, Test};
        matches!(act, Arithmetic | Bits | Choice | Conversion | Division | Literal | Name | Test)
    };
    let evaluation = cx.evaluation(index);
    let is_plain = evaluation.is_some_and(|it| it.first_without(|part| is_followed(part.act)).is_none());
    let mut names = cx.names_in(index).into_iter();
    is_plain && names.all(|(_, name)| is_from_outside(cx, name, inside) && keeps_value(cx, name, inside))
}

fn is_from_outside(cx: &Context<'_>, name: Span, inside: Span) -> bool {
    let text = cx.file.show(name);
    let is_declared_inside = |found: &Variable| found.id().is_within(inside);
    cx.symbols().lookup(&text, name.start).is_none_or(|found| !is_declared_inside(&found))
        && cx.expansion(&text, name.start).is_none()
}

/// Does only its name reach the variable, by which the loop does not change it?
fn keeps_value(cx: &Context<'_>, name: Span, inside: Span) -> bool {
    let text = cx.file.show(name);
    cx.cannot_be_aliased(&text, name.start) && cx.symbols().written_in(&text, name.start, inside).is_empty()
}
