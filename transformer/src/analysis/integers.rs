//! The integer types of expressions, where the text tells them.

use crate::analysis::accesses::Accesses;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::{Integer, Program};
use crate::syntax::{Binary, Call, Cast, Conditional, Field, NodeId, NodeKind, Number, Unary};

/// The type of an expression, or `None` if it is no integer of at most 64 bits, or not known. `found` are the accesses around it.
pub(crate) fn integer_of(cx: &Program<'_>, found: &Accesses, node: NodeId) -> Option<Integer> {
    let tree = cx.tree;
    let of = |node: NodeId| integer_of(cx, found, node);
    let span = tree.span(node);
    // An access has its parentheses with it.
    let accessed = || of_type(found.accesses.iter().find(|access| access.span == span)?.element.as_ref()?);
    match tree.kind(node) {
        NodeKind::NumberLiteral => literal(&cx.file.show(span)),
        NodeKind::CharLiteral => Some(Integer::INT),
        NodeKind::Identifier => {
            let name = cx.file.show(span);
            // A macro of the name would stand for something else.
            let variable = cx.symbols().lookup(&name, span.start).filter(|_| cx.expansion(&name, span.start).is_none());
            variable.and_then(|variable| of_type(&variable.ty))
        }
        NodeKind::SubscriptExpression | NodeKind::FieldExpression | NodeKind::PointerExpression => accessed(),
        NodeKind::ParenthesizedExpression => accessed().or_else(|| of(tree.named_children(node).next()?)),
        NodeKind::BinaryExpression => {
            let binary = Binary::of(tree, node)?;
            let operator = binary.operator()?;
            // The result of a test is 0 or 1, in C of type `int`, whatever is compared.
            if operator.is_test() {
                return Some(Integer::TRUTH);
            }
            let (left, right) = (of(binary.left()?)?, of(binary.right()?)?);
            match operator {
                NodeKind::Plus
                | NodeKind::Minus
                | NodeKind::Star
                | NodeKind::Slash
                | NodeKind::Percent
                | NodeKind::Ampersand
                | NodeKind::Bar
                | NodeKind::Caret => Some(left.common(right)),
                NodeKind::LessLess | NodeKind::GreaterGreater => Some(left.promoted()),
                _ => None,
            }
        }
        NodeKind::UnaryExpression => {
            let unary = Unary::of(tree, node)?;
            match unary.operator()? {
                NodeKind::Exclamation => Some(Integer::TRUTH),
                NodeKind::Plus | NodeKind::Minus | NodeKind::Tilde => Some(of(unary.operand()?)?.promoted()),
                _ => None,
            }
        }
        NodeKind::ConditionalExpression => {
            let choice = Conditional::of(tree, node)?;
            Some(of(choice.consequence()?)?.common(of(choice.alternative()?)?))
        }
        NodeKind::CastExpression => {
            let ty = tree.span(Cast::of(tree, node)?.ty()?);
            of_type(&cx.symbols().type_written(None, &cx.file.show(ty), ty.start))
        }
        NodeKind::CallExpression => of_type(&returned(cx, node)?),
        _ => None,
    }
}

/// The integers that a type holds: `false` and `true` are 0 and 1 once it is computed with them.
fn of_type(ty: &DeclaredType) -> Option<Integer> {
    let is_truth = matches!(ty, DeclaredType::Scalar { number: Number::Bool, is_volatile: false, .. });
    if is_truth { Some(Integer::TRUTH) } else { Integer::of(ty) }
}

/// The type of what a call of the one function of its name gives, if the file defines it.
pub(super) fn returned(cx: &Program<'_>, call: NodeId) -> Option<DeclaredType> {
    let tree = cx.tree;
    let function = Call::of(tree, call)?.function()?;
    let (name, at) = (cx.file.show(tree.span(function)), tree.span(function).start);
    let is_name = tree.kind(function) == NodeKind::Identifier && cx.expansion(&name, at).is_none();
    let definitions = cx.symbols().function_definitions(&name);
    let [(None, definition)] = definitions.as_slice() else { return None };
    let is_plain = is_name && !cx.symbols().may_call_other(&name) && !cx.symbols().may_be_replaced(&name);
    let declarator = tree.child(*definition, Field::Declarator).filter(|_| is_plain)?;
    let ty = tree.child(*definition, Field::Type).map(|ty| tree.span(ty))?;
    let is_value = tree.kind(declarator) == NodeKind::FunctionDeclarator;
    is_value.then(|| cx.symbols().type_written(None, &cx.file.show(ty), ty.start))
}

/// The type of a number: `int` where it fits and has no suffix, otherwise one of 64 bits.
fn literal(text: &str) -> Option<Integer> {
    let text = text.to_lowercase();
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain && text.parse::<i32>().is_ok() {
        return Some(Integer::INT);
    }
    let (hexadecimal, digits) = match text.strip_prefix("0x") {
        Some(rest) => (true, rest),
        None => (false, text.as_str()),
    };
    let number = digits.trim_end_matches(['u', 'l']);
    let is_digit = |byte: u8| if hexadecimal { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let is_number = !number.is_empty() && number.bytes().all(is_digit);
    let suffix = digits.get(number.len()..).unwrap_or_default();
    let value = u64::from_str_radix(number, if hexadecimal { 16 } else { 10 }).ok().filter(|_| is_number)?;
    let signed = !suffix.contains('u') && !hexadecimal;
    let is_short = !suffix.contains('l') && (value <= i32::MAX as u64 || !signed && value <= u64::from(u32::MAX));
    Some(Integer { bits: if is_short { 32 } else { 64 }, signed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_types_of_the_language() {
        assert_eq!(literal("7"), Some(Integer::INT));
        assert_eq!(literal("7u"), Some(Integer { bits: 32, signed: false }));
        assert_eq!(literal("7LL"), Some(Integer { bits: 64, signed: true }));
        assert_eq!(literal("4294967295"), Some(Integer { bits: 64, signed: true }));
        assert_eq!(literal("0xffffffff"), Some(Integer { bits: 32, signed: false }));
        assert_eq!(literal("1.5"), None);
        assert_eq!(literal("1e3"), None);
        assert_eq!(literal("1'000"), None);
    }
}
