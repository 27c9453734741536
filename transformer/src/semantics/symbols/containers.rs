//! What is known of `std::vector`s by their types: which calls leave them as they are, and which only take numbers.

use super::{DeclaredType, Symbols};
use crate::syntax::{Call, Field, NodeId, NodeKind};

/// Member functions that change nothing and keep nothing.
const OBSERVERS: [&str; 4] = ["capacity", "data", "empty", "size"];

/// Member functions that may give a vector other memory of its own, and that keep no reference to what they are handed.
const GROWERS: [&str; 5] = ["assign", "clear", "push_back", "reserve", "resize"];

impl Symbols<'_> {
    /// The type of the elements of a `std::vector`, which are numbers; those of `bool` are no objects.
    pub(crate) fn vector_element(&self, ty: &DeclaredType, at: usize) -> Option<DeclaredType> {
        let DeclaredType::Record { name, is_const, .. } = ty else { return None };
        let written = name.strip_prefix("std::vector<")?.strip_suffix('>')?;
        let element = self.type_written(None, written, at);
        let is_plain = matches!(&element, DeclaredType::Scalar { is_volatile: false, .. }) && written != "bool";
        is_plain.then(|| if *is_const { element.qualified(true, false) } else { element })
    }

    /// Does a call only look at a `std::vector`: `v.data()`, `a.v.size()`?
    pub(crate) fn observes_vector(&self, call: NodeId) -> bool {
        let has_arguments = Call::of(self.own.tree.as_ref(), call).is_none_or(|call| call.arguments().next().is_some());
        !has_arguments && self.calls_vector(call).is_some_and(|name| OBSERVERS.contains(&name.as_str()))
    }

    /// Is a call one of a vector's member functions that keep no reference to what they are handed?
    pub(crate) fn grows_vector(&self, call: NodeId) -> bool {
        self.calls_vector(call).is_some_and(|name| GROWERS.contains(&name.as_str()))
    }

    /// The member function of a vector that is called.
    pub(super) fn calls_vector(&self, call: NodeId) -> Option<String> {
        let tree = self.own.tree.as_ref();
        let function = Call::of(tree, call)?.function().filter(|it| tree.kind(*it) == NodeKind::FieldExpression)?;
        let ty = self.type_of_object(tree.child(function, Field::Argument)?)?;
        self.vector_element(&ty, tree.span(call).start)?;
        let field = tree.child(function, Field::Field)?;
        Some(self.own.file.show(tree.span(field)).into_owned())
    }

    /// The type of a variable or a member of one.
    pub(super) fn type_of_object(&self, object: NodeId) -> Option<DeclaredType> {
        let tree = self.own.tree.as_ref();
        let span = tree.span(object);
        match tree.kind(object) {
            NodeKind::Identifier => {
                let variable = self.lookup(&self.own.file.show(span), span.start)?;
                Some(match &variable.ty {
                    DeclaredType::Reference { to } => (**to).clone(),
                    ty => ty.clone(),
                })
            }
            NodeKind::FieldExpression => {
                let of = match (self.type_of_object(tree.child(object, Field::Argument)?)?, tree.operator(object)?) {
                    (DeclaredType::Pointer { pointee, .. }, NodeKind::MinusGreater) => *pointee,
                    (of, NodeKind::Dot) => of,
                    _ => return None,
                };
                let member = self.own.file.show(tree.span(tree.child(object, Field::Field)?)).into_owned();
                self.member_type(&of, &member, span.start)
            }
            _ => None,
        }
    }
}
