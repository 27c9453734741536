//! What `auto` stands for, where the initialiser is a number, a name, a member, an element, the memory or the size of a vector, a cast, `new`,
//! or is computed from such numbers.

use super::{DeclaredType, Entry, EntryKind, Symbols};
use crate::syntax::{Call, Field, NodeId, NodeKind, Number};

impl Symbols<'_> {
    /// The type of a variable of the file that is declared with `auto` or `auto *`, or the type as it is written.
    pub(super) fn deduced(&self, entry: &Entry, written: DeclaredType) -> DeclaredType {
        match &written {
            DeclaredType::Auto => {}
            DeclaredType::Pointer { pointee, .. } if **pointee == DeclaredType::Auto => {}
            _ => return written,
        }
        let (file, tree) = (&self.own.file, self.own.tree.as_ref());
        // `decltype(auto)` may be a reference.
        let is_auto = tree.child(entry.declaration, Field::Type).is_some_and(|ty| file.bytes(tree.span(ty)) == b"auto");
        let value = entry.initializer.filter(|_| is_auto && entry.kind == EntryKind::Variable);
        let found = value.filter(|value| !self.names(*value, entry)).and_then(|value| self.type_of_value(value));
        let is_const = entry.storage.is_constexpr
            || tree.children(entry.declaration).any(|part| file.bytes(tree.span(part)) == b"const");
        match (found, written) {
            // `const auto *` is of what it leads to.
            (Some(DeclaredType::Pointer { pointee, .. }), DeclaredType::Pointer { is_const: of_pointer, .. }) => {
                let pointee = Box::new(pointee.qualified(is_const, false));
                DeclaredType::Pointer { pointee, is_const: of_pointer }
            }
            (Some(ty), DeclaredType::Auto) if ty.is_pointer() || ty.is_scalar() => ty.qualified(is_const, false),
            (_, written) => written,
        }
    }

    /// Is the variable named in its own initialiser?
    fn names(&self, value: NodeId, entry: &Entry) -> bool {
        let (file, tree) = (&self.own.file, self.own.tree.as_ref());
        let is_it = |node: &NodeId| {
            tree.kind(*node) == NodeKind::Identifier && file.bytes(tree.span(*node)) == file.bytes(entry.name_span)
        };
        tree.descendants(value).any(|node| is_it(&node))
    }

    /// The type of a value, without references and qualifiers of its own.
    fn type_of_value(&self, value: NodeId) -> Option<DeclaredType> {
        let tree = self.own.tree.as_ref();
        let at = tree.span(value).start;
        let written = |node: NodeId| Some(self.type_written(None, &self.own.file.show(tree.span(node)), at));
        let ty = match tree.kind(value) {
            NodeKind::ParenthesizedExpression => self.type_of_value(tree.named_children(value).next()?)?,
            NodeKind::Identifier | NodeKind::FieldExpression => self.type_of_object(value)?,
            NodeKind::NewExpression if tree.child(value, Field::Declarator).is_some() => {
                DeclaredType::pointer_to(written(tree.child(value, Field::Type)?)?)
            }
            NodeKind::CastExpression => {
                let text = self.own.file.show(tree.span(tree.child(value, Field::Type)?)).into_owned();
                let number = self.type_written(None, text.strip_suffix('*').unwrap_or(&text), at);
                number.is_scalar().then_some(())?;
                if text.ends_with('*') { DeclaredType::pointer_to(number) } else { number }
            }
            NodeKind::SubscriptExpression => {
                let element = self.type_of_value(tree.child(value, Field::Argument)?)?.dereferenced();
                element.is_scalar().then_some(element)?
            }
            NodeKind::NumberLiteral => literal(&self.own.file.show(tree.span(value)))?,
            NodeKind::BinaryExpression => self.type_of_sum(value)?,
            NodeKind::CallExpression => self.type_of_call(value)?,
            _ => return None,
        };
        match ty {
            DeclaredType::Reference { to } => Some(*to),
            DeclaredType::Array { element, dimensions, .. } if dimensions.len() == 1 => {
                Some(DeclaredType::pointer_to(*element))
            }
            DeclaredType::Array { .. } | DeclaredType::Unknown => None,
            DeclaredType::Pointer { pointee, .. } if !pointee.is_known() => None,
            ty => Some(ty.without_const()),
        }
    }

    /// A sum, product or quotient of two numbers of one type, which no promotion changes.
    fn type_of_sum(&self, value: NodeId) -> Option<DeclaredType> {
        let tree = self.own.tree.as_ref();
        let is_arithmetic = matches!(
            tree.operator(value)?,
            NodeKind::Plus | NodeKind::Minus | NodeKind::Star | NodeKind::Slash | NodeKind::Percent
        );
        let [left, right] = [Field::Left, Field::Right].map(|side| self.type_of_value(tree.child(value, side)?));
        let (left, right) = (left?, right?);
        let is_promoted = match left.number()? {
            Number::Enumeration { .. } => true,
            number => number.integer().is_some_and(|integer| integer.bits < 32),
        };
        (is_arithmetic && !is_promoted && left.number() == right.number()).then_some(left)
    }

    /// `v.data()`, `v.size()`.
    fn type_of_call(&self, call: NodeId) -> Option<DeclaredType> {
        let tree = self.own.tree.as_ref();
        let function = Call::of(tree, call)?.function()?;
        let at = tree.span(call).start;
        let object = self.type_of_object(tree.child(function, Field::Argument)?)?;
        match self.calls_vector(call)?.as_str() {
            "data" => Some(DeclaredType::pointer_to(self.vector_element(&object, at)?)),
            "size" => Some(self.type_written(None, "std::size_t", at)),
            _ => None,
        }
    }
}

/// `5` or `0.5`, without a suffix. A sign in front is an operator of its own: `-2147483648` is a `long`.
fn literal(text: &str) -> Option<DeclaredType> {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_integer = text.parse::<i32>().is_ok() && (text == "0" || !text.starts_with('0'));
    if is_integer {
        return Some(DeclaredType::scalar(Number::INT, "int"));
    }
    let is_decimal = text.contains('.') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_decimal.then(|| Number::read("double").map(|number| DeclaredType::scalar(number, "double")))?
}
