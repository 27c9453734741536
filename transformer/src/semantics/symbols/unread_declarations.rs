//! Declarations in functions that the grammar takes for something else: `int (*p)[3];` for a call, a structure with attributes for a
//! function, and `if (n) FILE *f = g();` for a product.

use super::entries::{Entry, EntryKind};
use super::types::{standard_class, standard_type};
use super::{DeclaredType, Symbols};
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind, TYPE_WORDS};

/// Words that may stand before a type, besides [`TYPE_WORDS`].
const BESIDE: [&str; 2] = ["auto_type", "extension"];

/// What such declarations are taken for.
pub(super) const UNREAD: &[NodeKind] =
    &[NodeKind::FunctionDefinition, NodeKind::CallExpression, NodeKind::BinaryExpression];

/// Is a word, without the underscores around it, one that has parentheses behind it in specifiers?
fn is_of_type(word: &str) -> bool {
    TYPE_WORDS.contains(&word) || BESIDE.contains(&word)
}

impl Symbols<'_> {
    /// What such a declaration takes up, where a node begins one. Any word in it may be a name that it declares.
    pub(super) fn unread_declaration(&self, node: NodeId) -> Option<Span> {
        let tree = self.own.tree.as_ref();
        match tree.kind(node) {
            // No function is defined in another.
            NodeKind::FunctionDefinition => {
                let above = tree.parent(node).filter(|it| tree.kind(*it) == NodeKind::CompoundStatement)?;
                let span = tree.span(node);
                let end = tree.children(above).map(|other| tree.span(other)).find(|other| other.start >= span.end);
                Some(Span::new(span.start, end.map_or(span.end, |next| next.end)))
            }
            NodeKind::CallExpression => {
                let whole = self.whole_begun_by(node)?;
                let function = tree.child(node, Field::Function)?;
                let is_declaration =
                    self.is_type_word(function) || self.is_type_called(function) && self.is_like_declarator(node);
                is_declaration.then(|| tree.span(whole))
            }
            NodeKind::BinaryExpression => self.declaring_product(node),
            _ => None,
        }
    }

    /// `T *p;`, `T &r = a, s;` below an `if` or a loop, where the grammar has no declarations.
    fn declaring_product(&self, product: NodeId) -> Option<Span> {
        let tree = self.own.tree.as_ref();
        let whole = self.whole_begun_by(product)?;
        tree.operator(product).filter(|sign| matches!(sign, NodeKind::Star | NodeKind::Ampersand))?;
        let is_declaration = tree.child(product, Field::Left).is_some_and(|left| self.is_type_called(left));
        is_declaration.then(|| tree.span(whole))
    }

    /// The statement, or what stands first in the head of a loop, that begins with a node.
    fn whole_begun_by(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.own.tree.as_ref();
        let start = tree.span(node).start;
        let outwards = tree.ancestors(node).take_while(|above| tree.span(*above).start == start);
        std::iter::once(node).chain(outwards).find(|above| self.is_whole(*above))
    }

    /// Is it a statement, or what stands first in the head of a loop?
    fn is_whole(&self, node: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        tree.kind(node) == NodeKind::ExpressionStatement || tree.field(node) == Some(Field::Initializer)
    }

    /// Is what is called a word of the language with which specifiers begin?
    fn is_type_word(&self, function: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let text = self.own.file.show(tree.span(function));
        tree.kind(function) == NodeKind::Identifier && is_of_type(text.trim_matches('_'))
    }

    /// Does what is called name a type?
    fn is_type_called(&self, function: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        match tree.kind(function) {
            NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier => true,
            // `std::lock_guard<std::mutex>(m)`
            NodeKind::TemplateFunction | NodeKind::QualifiedIdentifier => {
                tree.child(function, Field::Name).is_some_and(|name| self.is_type_called(name))
            }
            NodeKind::Identifier => {
                let name = self.own.file.show(tree.span(function));
                let is_type = |entry: &Entry| matches!(entry.kind, EntryKind::Alias | EntryKind::Tag);
                self.entries_named(&name).iter().any(|(_, entry)| is_type(entry))
                    || standard_type(&name).is_some()
                    || standard_class(&name, &name) != DeclaredType::Unknown
            }
            _ => false,
        }
    }

    /// Is a name in parentheses all that is handed over, with what may stand around one in a declarator?
    fn is_like_declarator(&self, call: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        let Some(list) = tree.child(call, Field::Arguments) else { return false };
        let mut arguments = tree.named_children(list);
        let (Some(mut at), None) = (arguments.next(), arguments.next()) else { return false };
        loop {
            let inner = match tree.kind(at) {
                NodeKind::Identifier | NodeKind::QualifiedIdentifier => return true,
                NodeKind::PointerExpression | NodeKind::SubscriptExpression => tree.child(at, Field::Argument),
                NodeKind::CallExpression => tree.child(at, Field::Function),
                NodeKind::ParenthesizedExpression => tree.named_children(at).next(),
                NodeKind::BinaryExpression => return true,
                _ => None,
            };
            match inner {
                Some(inner) => at = inner,
                None => return false,
            }
        }
    }
}
