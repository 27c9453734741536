//! How wide the floating-point numbers of an expression are, where the text tells it.

use crate::analysis::accesses::Accesses;
use crate::analysis::integers::{integer_of, returned};
use crate::semantics::Program;
use crate::semantics::symbols::DeclaredType;
use crate::source::Language;
use crate::syntax::numbers::Format;
use crate::syntax::{Binary, Call, Cast, Conditional, NodeId, NodeKind, Number, Unary};

/// Is the value of an expression an integer, or a floating-point number of the format or a narrower one? `found` are the accesses around it.
pub(crate) fn fits(cx: &Program<'_>, found: &Accesses, node: NodeId, own: Format) -> bool {
    if own == Format::Double {
        // No GPU computes with wider numbers, so that they would have to be named.
        return !names_wider(cx, found, node);
    }
    is_no_wider_in(cx, found, node, own)
}

fn names_wider(cx: &Program<'_>, found: &Accesses, node: NodeId) -> bool {
    let is_wider = |format: Format| matches!(format, Format::LongDouble | Format::Quad);
    let of_type = |ty: &DeclaredType| matches!(ty.number(), Some(Number::Floating(format)) if is_wider(*format));
    let whole = cx.tree.span(node);
    let mut elements = found.accesses.iter().filter(|access| whole.contains(access.span));
    let mut names = cx.tree.descendants(node).filter(|inner| match cx.tree.kind(*inner) {
        NodeKind::NumberLiteral => literal(&cx.file.show(cx.tree.span(*inner))).is_some_and(is_wider),
        NodeKind::Identifier => {
            let span = cx.tree.span(*inner);
            cx.symbols().lookup(&cx.file.show(span), span.start).is_some_and(|variable| of_type(&variable.ty))
        }
        _ => false,
    });
    elements.any(|access| access.element.as_ref().is_some_and(of_type)) || names.next().is_some()
}

fn is_no_wider_in(cx: &Program<'_>, found: &Accesses, node: NodeId, own: Format) -> bool {
    let tree = cx.tree;
    let of = |node: Option<NodeId>| node.is_some_and(|node| is_no_wider_in(cx, found, node, own));
    let span = tree.span(node);
    let accessed = || found.accesses.iter().find(|access| access.span == span).and_then(|it| it.element.as_ref());
    if integer_of(cx, found, node).is_some() || accessed().is_some_and(|ty| holds(own, ty)) {
        return true;
    }
    match tree.kind(node) {
        NodeKind::NumberLiteral => literal(&cx.file.show(span)).is_some_and(|format| is_no_wider(format, own)),
        NodeKind::Identifier => {
            let name = cx.file.show(span);
            match cx.symbols().macro_definition(&name, span.start) {
                Some(_) if cx.symbols().is_ambiguous_macro(&name) => false,
                Some(it) => {
                    it.parameters.is_none() && literal(it.body.trim()).is_some_and(|format| is_no_wider(format, own))
                }
                None => cx.symbols().lookup(&name, span.start).is_some_and(|variable| holds(own, &variable.ty)),
            }
        }
        NodeKind::ParenthesizedExpression => of(tree.named_children(node).next()),
        NodeKind::BinaryExpression => Binary::of(tree, node).is_some_and(|it| of(it.left()) && of(it.right())),
        NodeKind::UnaryExpression => of(Unary::of(tree, node).and_then(Unary::operand)),
        NodeKind::ConditionalExpression => {
            Conditional::of(tree, node).is_some_and(|it| of(it.consequence()) && of(it.alternative()))
        }
        NodeKind::CastExpression => {
            let ty = Cast::of(tree, node).and_then(Cast::ty).map(|ty| tree.span(ty));
            ty.is_some_and(|ty| holds(own, &cx.symbols().type_written(None, &cx.file.show(ty), ty.start)))
        }
        NodeKind::CallExpression => Call::of(tree, node).is_some_and(|call| returns(cx, found, call, own)),
        _ => false,
    }
}

/// Does a call give such a number? The functions of the library do so by their names in C, and in C++ by their arguments.
fn returns(cx: &Program<'_>, found: &Accesses, call: Call<'_>, own: Format) -> bool {
    let Some(function) = call.function().map(|function| cx.tree.span(function)) else { return false };
    let name = cx.file.show(function).into_owned();
    if cx.symbols().calls_library_in(None, &name, function.start) {
        let by_name = if name.ends_with('f') { Format::Single } else { Format::Double };
        let is_overloaded = cx.tree.language() == Language::Cpp && !name.ends_with('f');
        let is_floating = |node: &NodeId| integer_of(cx, found, *node).is_none();
        return is_no_wider(by_name, own)
            || is_overloaded
                && call.arguments().all(|argument| fits(cx, found, argument, own))
                && call.arguments().any(|argument| is_floating(&argument));
    }
    returned(cx, call.node).is_some_and(|ty| holds(own, &ty))
}

fn holds(own: Format, ty: &DeclaredType) -> bool {
    match ty.number() {
        Some(Number::Floating(format)) => is_no_wider(*format, own),
        Some(number) => number.is_integer(),
        None => false,
    }
}

/// Which of two formats the program has is up to it, but both names mean the same one.
fn is_no_wider(other: Format, own: Format) -> bool {
    let bits = |format: Format| format.bits();
    other == own || bits(other).zip(bits(own)).is_some_and(|(other, own)| other < own)
}

/// The format of a floating-point number, or `None` if it is none.
fn literal(text: &str) -> Option<Format> {
    let text = text.to_lowercase();
    let is_hexadecimal = text.starts_with("0x");
    let has_point = text.contains('.') || text.contains(if is_hexadecimal { 'p' } else { 'e' });
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-'));
    let format = match text.bytes().last() {
        Some(b'f') => Format::Single,
        Some(b'l') => Format::LongDouble,
        Some(b'0'..=b'9' | b'.') => Format::Double,
        _ => return None,
    };
    (is_number && has_point && rest).then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_formats_of_their_suffixes() {
        assert_eq!(literal("1.5f"), Some(Format::Single));
        assert_eq!(literal("1e-3"), Some(Format::Double));
        assert_eq!(literal(".5"), Some(Format::Double));
        assert_eq!(literal("0x1p3L"), Some(Format::LongDouble));
        assert_eq!(literal("0x1f"), None);
        assert_eq!(literal("31"), None);
        assert_eq!(literal("a.f"), None);
        assert_eq!(literal("1.0q"), None);
    }
}
