//! Which expressions give memory that was allocated just now, so that nobody else knows its address.

use crate::semantics::Program;
use crate::semantics::symbols::Scope;
use crate::semantics::uses::{Role, Use};
use crate::syntax::{Call, Cast, Field, Function, NodeId, NodeKind};

/// How many calls deep an allocation is looked for.
const DEPTH: usize = 4;

impl Program<'_> {
    /// Does the variable get nothing but memory that was allocated for it, or null?
    pub(super) fn allocates(&self, uses: &[&Use], depth: usize) -> bool {
        let values: Vec<Option<NodeId>> = uses.iter().filter_map(|used| self.given(used)).collect();
        let is_null = |value: NodeId| self.is_null(value);
        let is_fresh = |value: NodeId| self.is_allocation(value, depth);
        values.iter().all(|value| value.is_some_and(|value| is_null(value) || is_fresh(value)))
            && values.iter().flatten().any(|value| !is_null(*value))
    }

    /// What a use gives the variable, if it does so: another variable's value, what stands there, or the call that allocates for it.
    /// `None` in it is any other change.
    pub(super) fn given(&self, used: &Use) -> Option<Option<NodeId>> {
        match used.role {
            Role::Write => Some(self.assigned(used)),
            Role::Declaration => self.initial_value(used).map(Some),
            Role::Argument => self.swapped_with(used.node).map(Some),
            Role::Address => self.symbols().call_that_allocates_for(used.node).map(Some),
            _ => None,
        }
    }

    /// Is the value the address of memory that nobody else knows yet?
    pub(super) fn is_allocation(&self, value: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let Some(node) = self.without_casts(value) else { return false };
        match tree.kind(node) {
            NodeKind::NewExpression => self.is_new_array(node),
            NodeKind::CallExpression => self.calls_allocator(node, depth),
            _ => false,
        }
    }

    /// `new double[n]`, of numbers or plain structures, with `(std::nothrow)` or without: not one that says where.
    fn is_new_array(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let placement = tree.child(node, Field::Placement).map(|placement| self.file.bytes(tree.span(placement)));
        let is_plain = tree.child(node, Field::Type).is_some_and(|ty| {
            let span = tree.span(ty);
            let made = self.symbols().type_written(None, &self.file.show(span), span.start);
            self.is_builtin_type(span) || self.symbols().is_plain_record(&made, span.start)
        });
        is_plain
            && tree.child(node, Field::Declarator).is_some()
            && placement.is_none_or(|text| text == b"(std::nothrow)")
    }

    fn calls_allocator(&self, call: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let Some(function) = Call::of(tree, call).and_then(Call::function) else { return false };
        let name = self.file.show(tree.span(function)).into_owned();
        let plain = name.strip_prefix("std::").unwrap_or(&name);
        let at = tree.span(function).start;
        if self.symbols().macro_definition(&name, at).is_some() {
            return false;
        }
        if matches!(plain, "malloc" | "calloc" | "aligned_alloc" | "posix_memalign" | "_mm_malloc") {
            return self.symbols().calls_library_in(None, &name, at);
        }
        match self.symbols().function_definitions(&name).as_slice() {
            [(None, definition)] if depth < DEPTH => {
                !self.symbols().is_variable_in(None, &name, at)
                    && !self.symbols().may_call_other(&name)
                    && !self.symbols().may_be_replaced(&name)
                    && self.returns_allocation(*definition, depth + 1)
            }
            _ => false,
        }
    }

    /// Does a function give back nothing but memory that it allocated, and that nobody else knows?
    fn returns_allocation(&self, definition: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let nodes = || tree.descendants(definition);
        let is_fresh = |node: NodeId| {
            let Some(value) = tree.named_children(node).next() else { return false };
            if tree.kind(value) != NodeKind::Identifier {
                return self.is_allocation(value, depth);
            }
            let span = tree.span(value);
            let Some((named, variable)) = self.named(&self.file.show(span), span.start) else { return false };
            let uses = self.uses_of(&named);
            let is_given_back =
                |used: &Use| tree.parent(used.node).is_some_and(|it| tree.kind(it) == NodeKind::ReturnStatement);
            variable.scope == Scope::Local
                && variable.ty.is_pointer()
                && self.is_own_pointer(&variable, &named, &uses)
                && self.allocates(&uses, depth)
                && uses.iter().all(|used| is_given_back(used) || !self.hands_out(used))
        };
        let gives_pointer = Function::of(tree, definition)
            .and_then(Function::declarator)
            .is_some_and(|it| tree.kind(it) == NodeKind::PointerDeclarator);
        gives_pointer
            && nodes().all(|node| tree.kind(node) != NodeKind::LambdaExpression)
            && nodes().any(|node| tree.kind(node) == NodeKind::ReturnStatement)
            && nodes().filter(|node| tree.kind(*node) == NodeKind::ReturnStatement).all(is_fresh)
    }

    /// What stands in parentheses and behind casts.
    pub(super) fn without_casts(&self, value: NodeId) -> Option<NodeId> {
        let tree = self.tree;
        let mut node = value;
        loop {
            node = match tree.kind(node) {
                NodeKind::ParenthesizedExpression => tree.named_children(node).next()?,
                NodeKind::CastExpression => Cast::of(tree, node)?.value()?,
                _ => return Some(node),
            };
        }
    }
}
