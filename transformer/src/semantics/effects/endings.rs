//! Whether code certainly comes to its end: it does not wait, leave early or end the program.

use super::{Unknown, UnknownKind};
use crate::region::loop_nest::canonical_nest;
use crate::semantics::Program;
use crate::semantics::calls::ends_program;
use crate::source::Span;
use crate::syntax::{Call, Function, NodeId, NodeKind};

impl Program<'_> {
    /// Does a statement certainly come to its end?
    pub(crate) fn comes_to_its_end(&self, statement: NodeId) -> bool {
        self.ends(statement, &[])
    }

    /// Is a statement nothing but a call that ends the program, with a number?
    pub(crate) fn ends_program(&self, statement: NodeId) -> bool {
        let tree = self.tree;
        let call = tree.named_children(statement).next().and_then(|node| Call::of(tree, node));
        let name = call.and_then(Call::function).map(|name| tree.span(name));
        let is_end = |name: Span| {
            let text = self.file.show(name);
            ends_program(&text) && self.symbols().calls_library_in(None, &text, name.start)
        };
        let is_number = |argument: NodeId| {
            let span = tree.span(argument);
            self.constant(span).is_some()
                || self.declared_type(&self.file.show(span), span.start).is_some_and(|ty| ty.is_scalar())
        };
        tree.kind(statement) == NodeKind::ExpressionStatement
            && name.is_some_and(is_end)
            && call.is_some_and(|call| call.arguments().all(is_number))
    }

    /// Does code certainly come to its end: a statement, or the body of the last function of `callers`?
    fn ends(&self, code: NodeId, callers: &[NodeId]) -> bool {
        let tree = self.tree;
        tree.descendants(code).filter(|node| tree.is_named(*node)).all(|node| match tree.kind(node) {
            NodeKind::ReturnStatement => !callers.is_empty(),
            NodeKind::GotoStatement
            | NodeKind::LabeledStatement
            | NodeKind::BreakStatement
            | NodeKind::ContinueStatement
            | NodeKind::ThrowStatement => false,
            // One that does nothing else may be taken to end (C17, section 6.8.5), but it may as well wait for something.
            NodeKind::WhileStatement | NodeKind::DoStatement => false,
            NodeKind::ForStatement => canonical_nest(self.file, tree, node, 1).is_ok(),
            NodeKind::CallExpression => self.call_ends(node, callers),
            _ => true,
        }) && {
            // The constructs of a function in sight are looked at where its body is.
            let is_known = |unknown: &Unknown| unknown.kind == UnknownKind::Constructs;
            self.host_effects(code, &self.kernels_in(code)).unknown.iter().all(is_known)
        }
    }

    /// Does a function in sight return? Of others, what they do says enough.
    fn call_ends(&self, call: NodeId, callers: &[NodeId]) -> bool {
        let function = Call::of(self.tree, call).and_then(Call::function);
        let Some(definition) = self.binding(call).map(|binding| binding.definition) else {
            return function.is_none_or(|function| self.file.bytes(self.tree.span(function)) != b"assert");
        };
        let callers: Vec<NodeId> = callers.iter().copied().chain([definition]).collect();
        let is_new = callers.iter().filter(|caller| **caller == definition).count() == 1;
        let body = Function::of(self.tree, definition).and_then(Function::body);
        is_new && body.is_some_and(|body| self.ends(body, &callers))
    }

    /// What the `target` regions in a statement run on the device.
    pub(crate) fn kernels_in(&self, statement: NodeId) -> Vec<Span> {
        let span = self.tree.span(statement);
        let targets = self.constructs.ids().filter(|id| self.constructs.is_target(*id));
        let bodies = targets.filter_map(|id| self.constructs.construct(id).body).map(|body| self.tree.span(body));
        bodies.filter(|body| span.contains(*body)).collect()
    }
}
