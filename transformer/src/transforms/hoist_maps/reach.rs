//! How far host code reaches through a pointer, as an expression that the host can evaluate before.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_head, counter_change};
use crate::semantics::Origin;
use crate::semantics::effects::{Named, Storage, Touch};
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::{Call, Field, Integer, NodeId, NodeKind, Number, Subscript};
use crate::transforms::checks::addresses::{integer_of_address, operand};
use crate::transforms::hoist_maps::items::Length;

/// Functions that access as many bytes from a pointer on as their third argument says.
const OF_BYTES: [&str; 3] = ["memcpy", "memmove", "memset"];

/// How far.
pub(super) enum End {
    /// The one object that the pointer leads to.
    Object,
    /// So many elements, in C.
    Elements(String),
}

/// What host code reaches through a pointer, where the host can tell before: elements from the first up to `end`.
pub(super) struct Reach {
    pub named: Named,
    pub end: End,
    /// The expressions that it is computed from.
    pub expressions: Vec<Span>,
    /// What must not be negative, in C: then nothing before the first element is reached.
    pub naturals: Vec<String>,
}

/// The elements that an access of host code may reach, by a subscript, as the one that the pointer leads to, or by a function for bytes.
pub(super) fn reach(cx: &Context<'_>, touch: &Touch) -> Option<Reach> {
    let tree = cx.tree;
    let Storage::Behind(named) = &touch.storage else { return None };
    let is_number = || cx.declared_type(&named.name, named.at).is_some_and(|ty| ty.dereferenced().is_scalar());
    // A parameter has a value, whether the access happens or not.
    (cx.owner(named).origin == Origin::Parameter).then_some(())?;
    if touch.is_of_first {
        let (expressions, naturals) = (Vec::new(), Vec::new());
        return Some(Reach { named: named.clone(), end: End::Object, expressions, naturals });
    }
    let node = tree.covering(touch.span);
    (tree.span(node) == touch.span && is_number()).then_some(())?;
    let mut bounds = Bounds { cx, around: node, expressions: Vec::new(), naturals: Vec::new() };
    let access = tree.parent(node)?;
    let end = match tree.kind(access) {
        NodeKind::SubscriptExpression if tree.child(access, Field::Argument) == Some(node) => {
            let index = Subscript::of(tree, access)?.index()?;
            if cx.constant(tree.span(index)) == Some(0) { End::Object } else { End::Elements(bounds.end(index)?) }
        }
        NodeKind::ArgumentList => End::Elements(bounds.end_of_bytes(node, access, &named.name)?),
        _ => return None,
    };
    let Bounds { expressions, naturals, .. } = bounds;
    Some(Reach { named: named.clone(), end, expressions, naturals })
}

/// When host code that names an array or pointer accesses only elements below a length, which is evaluated to the same number wherever it
/// is: empty where it does so in any case.
pub(super) fn stays_below(cx: &Context<'_>, touch: &Touch, length: Span) -> Option<Option<String>> {
    let node = cx.tree.covering(touch.span);
    let access = cx.tree.parent(node).filter(|access| cx.tree.child(*access, Field::Argument) == Some(node))?;
    let index = Subscript::of(cx.tree, access)?.index()?;
    if cx.constant(length).is_none()
        && let Some(least) = least_length(cx, index, length)
    {
        return Some(Some(format!("{} > {}", Length::of(cx, length).text, least - 1)));
    }
    is_below(cx, touch, index, length).then_some(None)
}

/// From which length on an index is certainly below it: 4 for the index 3, 2 for the index `n - 2`, 1 for `n / 2`, where `n` is the length.
fn least_length(cx: &Context<'_>, index: NodeId, length: Span) -> Option<i64> {
    let tree = cx.tree;
    let is_small = |value: &i64| (0..=i64::from(i16::MAX)).contains(value);
    if let Some(value) = cx.constant(tree.span(index)) {
        return is_small(&value).then_some(value + 1);
    }
    let index = match tree.kind(index) {
        NodeKind::ParenthesizedExpression => tree.named_children(index).next()?,
        _ => index,
    };
    let [left, right] = [Field::Left, Field::Right].map(|side| tree.child(index, side));
    let (left, right) = (tree.span(left?), cx.constant(tree.span(right?)).filter(is_small)?);
    let is_length = on_one_line(cx.file, left) == on_one_line(cx.file, length)
        && cx.is_arithmetic(left)
        && cx.means_the_same(left, length.start);
    match tree.operator(index)? {
        NodeKind::Minus if is_length && right > 0 => Some(right),
        NodeKind::Slash if is_length && right > 1 => Some(1),
        _ => None,
    }
}

fn is_below(cx: &Context<'_>, touch: &Touch, index: NodeId, length: Span) -> bool {
    let is_it = || {
        let [index_value, length_value] = [cx.tree.span(index), length].map(|span| cx.constant(span));
        if let (Some(index), Some(length)) = (index_value, length_value) {
            return Some((0..length).contains(&index));
        }
        let node = cx.tree.covering(touch.span);
        let mut bounds = Bounds { cx, around: node, expressions: Vec::new(), naturals: Vec::new() };
        let (node_start, length_start) = (touch.span.start, length.start);
        // A length in a clause is no part of the tree: its text tells that it is the loop's bound.
        if let Some(head) = bounds.counting(index).filter(|head| head.relation == Relation::Less) {
            let [upper, length] = [head.upper, length].map(|span| on_one_line(cx.file, span));
            let is_known = cx.is_arithmetic(head.upper) && cx.means_the_same(head.upper, length_start);
            if upper == length && is_known {
                return Some(true);
            }
        }
        let (end, length) = (bounds.end(index)?, bounds.value(length)?);
        let mut names = bounds.expressions.iter();
        let are_the_same =
            names.all(|span| cx.means_the_same(*span, node_start) && cx.means_the_same(*span, length_start));
        Some(end == length && bounds.naturals.is_empty() && are_the_same)
    };
    is_it().unwrap_or(false)
}

/// Upper bounds of expressions at a place, in which loops of the host count.
struct Bounds<'b, 'c> {
    cx: &'b Context<'c>,
    around: NodeId,
    expressions: Vec<Span>,
    naturals: Vec<String>,
}

impl Bounds<'_, '_> {
    /// What is greater than the value of an index wherever it is evaluated.
    fn end(&mut self, index: NodeId) -> Option<String> {
        let span = self.cx.tree.span(index);
        if let Some(value) = self.cx.constant(span).filter(is_natural) {
            return Some((value + 1).to_string());
        }
        match self.counting(index) {
            Some(head) if head.relation == Relation::Less => self.value(head.upper),
            _ => Some(format!("{} + 1", self.most(index)?)),
        }
    }

    /// `memcpy(p + offset, .., bytes)`.
    fn end_of_bytes(&mut self, argument: NodeId, list: NodeId, name: &str) -> Option<String> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let call = tree.parent(list).and_then(|call| Call::of(tree, call))?;
        let function = cx.file.show(tree.span(call.function()?));
        let is_known = OF_BYTES.contains(&function.strip_prefix("std::").unwrap_or(&function));
        let arguments: Vec<NodeId> = call.arguments().collect();
        let [_, _, bytes] = arguments[..] else { return None };
        is_known.then_some(())?;
        let offset = match tree.kind(argument) {
            NodeKind::Identifier => None,
            NodeKind::BinaryExpression if tree.operator(argument) == Some(NodeKind::Plus) => {
                let left = tree.child(argument, Field::Left)?;
                (cx.file.bytes(tree.span(left)) == name.as_bytes()).then_some(())?;
                Some(self.most(tree.child(argument, Field::Right)?)?)
            }
            _ => return None,
        };
        let bytes = self.most(bytes)?;
        let count = format!("({bytes} + sizeof(*{name}) - 1) / sizeof(*{name})");
        Some(offset.map_or(count.clone(), |offset| format!("{offset} + {count}")))
    }

    /// The greatest value of an expression, which only grows with the counters in it.
    fn most(&mut self, node: NodeId) -> Option<String> {
        let (cx, tree) = (self.cx, self.cx.tree);
        if let Some(head) = self.counting(node) {
            let upper = self.value(head.upper)?;
            return match head.relation {
                Relation::Less => Some(format!("({upper} - 1)")),
                Relation::LessOrEqual => Some(upper),
                _ => None,
            };
        }
        match tree.kind(node) {
            NodeKind::ParenthesizedExpression => self.most(tree.named_children(node).next()?),
            NodeKind::CastExpression => {
                let ty = tree.span(tree.child(node, Field::Type)?);
                let number = cx.symbols().type_written(None, &cx.file.show(ty), ty.start);
                let is_wide = |integer: Integer| integer.bits >= 32;
                number.number().and_then(Number::integer).filter(|integer| is_wide(*integer))?;
                self.most(tree.child(node, Field::Value)?)
            }
            NodeKind::SizeofExpression => Some(cx.file.show(tree.span(node)).into_owned()),
            NodeKind::BinaryExpression if self.has_counter(node) || has_sizeof(cx, node) => {
                let operator = match tree.operator(node)? {
                    NodeKind::Plus => "+",
                    NodeKind::Star => "*",
                    _ => return None,
                };
                (self.bits(node)? <= 64).then_some(())?;
                let [left, right] = [Field::Left, Field::Right].map(|side| tree.child(node, side));
                Some(format!("({} {operator} {})", self.most(left?)?, self.most(right?)?))
            }
            _ => {
                let span = tree.span(node);
                let is_unsigned =
                    || cx.declared_type(&cx.file.show(span), span.start).is_some_and(|ty| is_unsigned(&ty));
                let known = cx.constant(span);
                // An element before the first one: nothing could ever stay.
                known.is_none_or(|value| is_natural(&value)).then_some(())?;
                if known.is_none() && !is_unsigned() {
                    let text = on_one_line(cx.file, span);
                    self.naturals.push(format!("{} >= 0", operand(&text)));
                }
                self.value(span)
            }
        }
    }

    /// How many bits hold the value of an expression, of which none may be lost.
    fn bits(&self, node: NodeId) -> Option<u32> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let span = tree.span(node);
        if let Some(value) = cx.constant(span).filter(is_natural) {
            return Some(i64::BITS - value.leading_zeros());
        }
        match tree.kind(node) {
            NodeKind::ParenthesizedExpression => self.bits(tree.named_children(node).next()?),
            NodeKind::CastExpression => self.bits(tree.child(node, Field::Value)?),
            // No element that the host accesses is larger than some hundred bytes.
            NodeKind::SizeofExpression => Some(8),
            NodeKind::Identifier => {
                let ty = cx.declared_type(&cx.file.show(span), span.start)?;
                let integer = ty.number().and_then(Number::integer)?;
                // Signed ones are natural numbers here.
                Some(integer.bits - u32::from(integer.signed))
            }
            NodeKind::BinaryExpression => {
                let [left, right] = [Field::Left, Field::Right].map(|side| tree.child(node, side));
                let (left, right) = (self.bits(left?)?, self.bits(right?)?);
                match tree.operator(node)? {
                    NodeKind::Star => Some(left + right),
                    NodeKind::Plus | NodeKind::Minus => Some(left.max(right) + 1),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// An expression without counters, as the text of an unsigned number.
    fn value(&mut self, expression: Span) -> Option<String> {
        let text = unsigned_value(self.cx, expression)?;
        self.expressions.push(expression);
        Some(text)
    }

    fn has_counter(&self, node: NodeId) -> bool {
        self.cx.tree.descendants(node).any(|inner| self.counting(inner).is_some())
    }

    /// Is it a natural number, a counter, or a sum of such ones?
    fn is_never_negative(&self, node: NodeId) -> bool {
        let (cx, tree) = (self.cx, self.cx.tree);
        cx.constant(tree.span(node)).is_some_and(|value| is_natural(&value))
            || self.counting(node).is_some()
            || tree.operator(node) == Some(NodeKind::Plus)
                && tree.named_children(node).all(|part| self.is_never_negative(part))
    }

    /// The loop around the place whose counter an expression is, where it starts from a natural number and stays one.
    fn counting(&self, node: NodeId) -> Option<CanonicalLoop> {
        let (cx, tree) = (self.cx, self.cx.tree);
        (tree.kind(node) == NodeKind::Identifier).then_some(())?;
        let span = tree.span(node);
        let (counter, _) = cx.named(&cx.file.show(span), span.start)?;
        let loops = tree.ancestors(self.around).filter(|node| tree.kind(*node) == NodeKind::ForStatement);
        let mut heads = loops
            .filter_map(|node| canonical_head(cx.file, tree, node))
            .filter(|read| counter_change(cx.file, tree, read).is_none());
        let read = heads.find(|read| {
            cx.named(&read.variable, tree.span(read.body).start).is_some_and(|(named, _)| named.id == counter.id)
        })?;
        let starts = self.is_never_negative(tree.covering(read.lower));
        let grows = matches!(read.relation, Relation::Less | Relation::LessOrEqual);
        (starts && grows && never_turns_negative(cx, &counter)).then_some(read)
    }
}

fn is_unsigned(ty: &DeclaredType) -> bool {
    ty.number().and_then(Number::integer).is_some_and(|integer| !integer.signed)
}

fn is_natural(value: &i64) -> bool {
    (0..i64::from(i32::MAX)).contains(value)
}

fn has_sizeof(cx: &Context<'_>, node: NodeId) -> bool {
    cx.tree.descendants(node).any(|inner| cx.tree.kind(inner) == NodeKind::SizeofExpression)
}

/// Does a counter that grows from a natural number stay one? A narrow one is converted to its type at each step, and may become negative.
fn never_turns_negative(cx: &Context<'_>, counter: &Named) -> bool {
    let ty = cx.declared_type(&counter.name, counter.at);
    let integer = ty.and_then(|ty| ty.number().and_then(Number::integer));
    integer.is_some_and(|integer| !integer.signed || integer.bits >= 32 && !cx.compilation.signed_wraps)
}

/// A bound as the text of an unsigned number of the width of an address, which is never less than the bound where that is not negative,
/// and which traps nowhere: the original may never evaluate it. `None` for what is no sum or product of integers.
fn unsigned_value(cx: &Context<'_>, expression: Span) -> Option<String> {
    let tree = cx.tree;
    let root = Some(tree.covering(expression)).filter(|node| tree.span(*node) == expression)?;
    let mut names: Vec<Span> = Vec::new();
    for node in tree.descendants(root).filter(|node| tree.is_named(*node)) {
        match tree.kind(node) {
            NodeKind::ParenthesizedExpression => {}
            NodeKind::NumberLiteral => {
                cx.constant(tree.span(node))?;
            }
            NodeKind::BinaryExpression => {
                let operator = tree.operator(node)?;
                matches!(operator, NodeKind::Plus | NodeKind::Minus | NodeKind::Star).then_some(())?;
            }
            NodeKind::Identifier => {
                let span = tree.span(node);
                let ty = cx.declared_type(&cx.file.show(span), span.start);
                let is_integer = ty.is_some_and(|ty| ty.number().is_some_and(|number| number.integer().is_some()));
                (is_integer || cx.constant(span).is_some()).then(|| names.push(span))?;
            }
            _ => return None,
        }
    }
    let number = integer_of_address(cx);
    let (mut text, mut from) = (String::new(), expression.start);
    for span in names {
        text += &format!("{}({number}){}", cx.file.show(Span::new(from, span.start)), cx.file.show(span));
        from = span.end;
    }
    text += &cx.file.show(Span::new(from, expression.end));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(if tree.kind(root) == NodeKind::BinaryExpression { format!("({text})") } else { text })
}
