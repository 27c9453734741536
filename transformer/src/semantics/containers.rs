//! `std::vector`s of a function: where their memory is.

use super::Program;
use super::effects::Named;
use super::symbols::{DeclaredType, Scope};
use super::uses::{Role, Use};
use crate::source::{Language, words};
use crate::syntax::{Call, Field, NodeId, NodeKind};

/// How many calls deep a vector is followed that functions get by reference.
const DEPTH: usize = 4;

impl Program<'_> {
    /// Is a name the object that a call only looks at, `v.data()`, or the one that this is a part of?
    pub(crate) fn is_observed_vector(&self, name: NodeId) -> bool {
        let tree = self.tree;
        let mut above = tree.ancestors(name).skip_while(|node| tree.kind(*node) == NodeKind::FieldExpression);
        tree.language() == Language::Cpp && above.next().is_some_and(|call| self.symbols().observes_vector(call))
    }

    /// Is a vector handed to a function in sight by reference, so that what is done with it is told there?
    pub(crate) fn is_lent_vector(&self, name: NodeId) -> bool {
        self.vector_parameter(name).is_some()
    }

    /// The reference to a vector that a parameter of a function in sight is, which gets this argument.
    fn vector_parameter(&self, argument: NodeId) -> Option<Named> {
        let binding = Call::around(self.tree, argument).and_then(|call| self.binding(call.node))?;
        let id = binding.parameter_of(argument)?;
        let end = self.tree.span(binding.definition).end.saturating_sub(1);
        let (named, variable) = self.named(&self.file.show(id.declared_at), end)?;
        let DeclaredType::Reference { to } = &variable.ty else { return None };
        self.symbols().vector_element(to, named.at).map(|_| named)
    }

    /// Is a value the address of the memory of a vector of the function's own, `v.data()`, that no other pointer gets? Each vector has its
    /// own, as long as none takes the memory of another.
    pub(super) fn is_memory_of_vector(&self, value: NodeId) -> bool {
        let tree = self.tree;
        let Some(node) = self.without_casts(value).filter(|node| self.symbols().observes_vector(*node)) else {
            return false;
        };
        let function = Call::of(tree, node).and_then(Call::function);
        let object = function.and_then(|function| tree.child(function, Field::Argument));
        let Some(object) = object.filter(|object| tree.kind(*object) == NodeKind::Identifier) else { return false };
        let span = tree.span(object);
        let found = self.named(&self.file.show(span), span.start);
        found.is_some_and(|(named, variable)| {
            matches!(variable.ty, DeclaredType::Record { .. })
                && matches!(variable.scope, Scope::Local)
                && !variable.has_static_storage()
                && self.symbols().unread_branches(&named.name, self.range_of(&named)).next().is_none()
                && !self.uses_macro_with(self.range_of(&named), &|body| words(body).any(|it| it == named.name))
                && self.allocates_itself(&named)
                && self.keep_memory(&named, 0)
                && self.uses_of(&named).iter().filter(|used| self.gives_memory(used)).count() <= 1
        })
    }

    /// Does a use of a vector give the address of its memory to anything but a function, as long as that runs?
    fn gives_memory(&self, used: &Use) -> bool {
        let tree = self.tree;
        let mut above = tree.ancestors(used.node);
        let is_data = above.next().is_some_and(|function| {
            let field = tree.child(function, Field::Field);
            field.is_some_and(|field| self.file.bytes(tree.span(field)) == b"data")
        });
        let list = above.nth(1);
        is_data && list.is_none_or(|list| tree.kind(list) != NodeKind::ArgumentList)
    }

    /// Is a vector declared with memory of its own: with sizes, values, or a copy of another by its name, but not with what a call gives?
    fn allocates_itself(&self, named: &Named) -> bool {
        let tree = self.tree;
        let name = tree.covering(named.id.declared_at);
        let declaration = tree.ancestors(name).find(|node| tree.kind(*node) == NodeKind::Declaration);
        let is_plain = |node: NodeId| match tree.kind(node) {
            NodeKind::CallExpression => self.symbols().observes_vector(node),
            NodeKind::LambdaExpression | NodeKind::NewExpression => false,
            _ => true,
        };
        declaration.is_some_and(|declaration| tree.descendants(declaration).all(is_plain))
    }

    /// Do all uses of a vector leave its memory to no other vector?
    fn keep_memory(&self, named: &Named, depth: usize) -> bool {
        depth < DEPTH && self.uses_of(named).iter().all(|used| self.keeps_memory(named, used, depth))
    }

    fn keeps_memory(&self, named: &Named, used: &Use, depth: usize) -> bool {
        let tree = self.tree;
        if used.role == Role::Declaration || used.span == named.id.declared_at || self.is_observed_vector(used.node) {
            return true;
        }
        if let Some(parameter) = self.vector_parameter(used.node) {
            return self.keep_memory(&parameter, depth + 1);
        }
        let Some(parent) = tree.parent(used.node) else { return false };
        // An element; what leads to it leads to no other vector's.
        tree.kind(parent) == NodeKind::SubscriptExpression && tree.field(used.node) == Some(Field::Argument)
            || tree.kind(parent) == NodeKind::ForRangeLoop && tree.field(used.node) == Some(Field::Right)
            || tree.parent(parent).is_some_and(|call| self.symbols().grows_vector(call))
    }
}
