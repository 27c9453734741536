//! What the host compares to find that data lie apart, and how many bytes they take together, in C.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::source::Span;
use crate::syntax::{If, NodeId, NodeKind};

/// What is mapped of a variable.
pub(in crate::transforms) struct Extent<'a> {
    pub name: &'a str,
    /// A place where the name means it.
    pub at: usize,
    /// Is it what a pointer leads to, and not the variable itself?
    pub is_pointed: bool,
    /// How many elements of what the pointer leads to, as an operand; one where nothing is said.
    pub length: Option<&'a str>,
}

impl Extent<'_> {
    fn element(&self) -> String {
        if self.is_pointed { format!("*{}", self.name) } else { self.name.to_owned() }
    }

    /// Are the elements of both of one size?
    fn has_elements_of(&self, other: &Self, cx: &Context<'_>) -> bool {
        let element = |one: &Self| {
            let ty = cx.declared_type(one.name, one.at).filter(|_| one.is_pointed);
            ty.map(|ty| ty.dereferenced().without_const())
        };
        element(self).is_some() && element(self) == element(other)
    }
}

/// The type that holds an address, whatever the file includes.
pub(in crate::transforms) fn integer_of_address(cx: &Context<'_>) -> &'static str {
    let includes = |name: &str| cx.file.show(Span::new(0, cx.file.text.len())).contains(name);
    if includes("<stdint.h>") || includes("<cstdint>") || includes("<inttypes.h>") {
        "uintptr_t"
    } else {
        "__UINTPTR_TYPE__"
    }
}

/// The length of a section as an operand.
pub(in crate::transforms) fn length(cx: &Context<'_>, expression: Span) -> String {
    let text = on_one_line(cx.file, expression);
    let is_macro = cx.expansion(&text, expression.start).is_some();
    if is_macro { format!("({text})") } else { operand(&text) }
}

/// An expression as it may stand beside an operator.
pub(in crate::transforms) fn operand(text: &str) -> String {
    if is_operand(text) { text.to_owned() } else { format!("({text})") }
}

/// Is an expression a name, a number or a member by `.`?
pub(in crate::transforms) fn is_operand(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
}

/// The comparison that says that two sections lie apart, by their pointers and lengths: neither begins before the other's end.
pub(in crate::transforms) fn apart(cx: &Context<'_>, [one, other]: [(&str, &str); 2]) -> String {
    let number = integer_of_address(cx);
    let end = |(name, length): (&str, &str)| format!("({number})({name} + {length})");
    let start = |(name, _): (&str, &str)| format!("({number}){name}");
    format!("({} <= {} || {} <= {})", end(one), start(other), end(other), start(one))
}

/// How many bytes data take together.
pub(in crate::transforms) fn bytes(cx: &Context<'_>, all: &[Extent<'_>]) -> String {
    let mut sizes: Vec<(&Extent<'_>, usize)> = Vec::new();
    for one in all {
        let same = |known: &Extent<'_>| known.length == one.length && known.has_elements_of(one, cx);
        match sizes.iter_mut().find(|(known, _)| same(known)) {
            Some((_, count)) => *count += 1,
            None => sizes.push((one, 1)),
        }
    }
    let term = |(one, count): &(&Extent<'_>, usize)| {
        let times = if *count > 1 { format!("{count} * ") } else { String::new() };
        let length = one.length.map(|length| format!(" * {length}")).unwrap_or_default();
        format!("{times}sizeof({}){length}", one.element())
    };
    sizes.iter().map(term).collect::<Vec<_>>().join(" + ")
}

/// Has an `if` of the host compared addresses or sizes, and found otherwise where this place is reached? Data that lie apart, and fit, have another
/// form, then.
pub(in crate::transforms) fn were_compared(cx: &Context<'_>, at: usize) -> bool {
    let tree = cx.tree;
    let place = Span::new(at, at + 1);
    let is_address = |node: &NodeId| {
        tree.kind(*node) == NodeKind::SizeofExpression
            || matches!(&*cx.file.show(tree.span(*node)), "__UINTPTR_TYPE__" | "uintptr_t")
    };
    let is_denied = |one: If<'_>| {
        let stands = one.alternative().is_some_and(|branch| tree.span(branch).contains(place));
        let condition = one.condition().filter(|_| stands);
        condition.is_some_and(|condition| tree.descendants(condition).any(|node| is_address(&node)))
    };
    tree.ancestors(tree.covering(place)).filter_map(|above| If::of(tree, above)).any(is_denied)
}
