//! Whether the host can execute the statements between the loops: control flow, declarations and expressions.
//!
//! The host must compute the values that the device computed. So it may compute integers, but only compare or copy
//! other numbers, because floating-point arithmetic may be contracted differently. It cannot read device memory. It
//! uses variables that the region declares, which move to the host, and variables that are copied into the region.

use crate::plan::ReasonCode;
use crate::region::target::steered_statements;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::semantics::{Act, Class, Evaluation, Kind, Part};
use crate::source::{Language, Span};
use crate::syntax::{Assignment, Cast, Control, Initialised, NodeId, NodeKind, Update};
use crate::transforms::split_target::facts::data::{Builder, scalar_written};
use crate::transforms::split_target::shape::{HostPart, leaves_inner_loop};

impl Builder<'_, '_> {
    /// Checks every part that moves to the host.
    pub(super) fn host_parts(&mut self) {
        for part in self.host {
            self.host_part(*part);
        }
    }

    pub(super) fn host_part(&mut self, part: HostPart) {
        match part {
            HostPart::Flow(node) => self.flow(node),
            HostPart::Declaration(node) => self.declaration(node),
            HostPart::Statement(node) => self.statement(node),
            HostPart::Control(node) => self.control(node),
        }
    }

    /// Control flow with all statements in it.
    fn control(&mut self, root: NodeId) {
        let tree = self.names.tree;
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            match tree.kind(node) {
                NodeKind::IfStatement
                | NodeKind::ForStatement
                | NodeKind::WhileStatement
                | NodeKind::DoStatement
                | NodeKind::CompoundStatement => {
                    self.flow(node);
                    waiting.extend(steered_statements(tree, node));
                }
                NodeKind::Declaration => self.declaration(node),
                NodeKind::ExpressionStatement => self.statement(node),
                NodeKind::BreakStatement | NodeKind::ContinueStatement if self.stays_in_region(node) => {}
                _ => {
                    let message = "the host would execute this between the kernels, but it needs what is on the device";
                    self.refuse(ReasonCode::SerialStatement, tree.span(node), message);
                }
            }
        }
    }

    /// Does a jump stay inside a loop of the region?
    fn stays_in_region(&self, jump: NodeId) -> bool {
        self.body().is_some_and(|body| leaves_inner_loop(self.names, body, jump))
    }

    /// Is it a variable that the region declares outside of its loops, in the original or in the output?
    pub(super) fn is_local(&self, name: &str, at: usize) -> bool {
        if self.is_own_copy(name, at) {
            return true;
        }
        let declared = self.names.declared_at(name, at);
        self.body().zip(declared).is_some_and(|(body, declared)| {
            body.contains(declared) && !self.pieces.iter().any(|piece| piece.declares(declared))
        })
    }

    /// The variables from outside that the host's parts read: name, class and place.
    pub(super) fn read_by_host(&self) -> Vec<(String, Class, Span)> {
        let cx = self.names;
        let uses = self.host_expressions().into_iter().flat_map(|node| uses_below(cx.file, cx.tree, node));
        uses.filter_map(|used| match self.names.kind(&used.name, used.span.start) {
            Kind::Scalar { class, .. } if used.role != Role::Declaration => Some((used.name, class, used.span)),
            _ => None,
        })
        .collect()
    }

    /// The expressions and declarations that move to the host.
    pub(super) fn host_expressions(&self) -> Vec<NodeId> {
        let parts = self.host.iter().flat_map(|part| match *part {
            HostPart::Flow(node) => self.heads(node),
            HostPart::Declaration(node) | HostPart::Statement(node) | HostPart::Control(node) => vec![node],
        });
        parts.collect()
    }

    /// The expressions that control loops.
    pub(super) fn steering_expressions(&self) -> Vec<NodeId> {
        let flows = self.host.iter().filter_map(|part| match *part {
            HostPart::Flow(node) => Some(self.heads(node)),
            _ => None,
        });
        flows.flatten().collect()
    }

    /// The initialisation, condition and update of a statement that move to the host.
    fn heads(&self, node: NodeId) -> Vec<NodeId> {
        let control = Control::at(self.names.tree, node);
        let condition = control.condition().filter(|_| !self.is_steered(node));
        [control.initializer(), condition, control.update()].into_iter().flatten().collect()
    }

    fn flow(&mut self, node: NodeId) {
        let tree = self.names.tree;
        let known = [
            NodeKind::ForStatement,
            NodeKind::WhileStatement,
            NodeKind::DoStatement,
            NodeKind::IfStatement,
            NodeKind::CompoundStatement,
        ];
        let constexpr = tree.children(node).any(|child| tree.kind(child) == NodeKind::Constexpr);
        if !known.contains(&tree.kind(node)) || constexpr {
            let message =
                "only `for`, `while`, `do`, `if` and blocks around the loops are followed, not this statement";
            return self.refuse(ReasonCode::SequentialControl, tree.span(node), message);
        }
        for head in self.heads(node) {
            if tree.kind(head) == NodeKind::Declaration {
                self.declaration(head);
            } else {
                self.expression(head, ReasonCode::SequentialControl);
            }
        }
    }

    /// The condition of control flow, without the statements in it.
    pub(super) fn condition(&mut self, node: NodeId) {
        if let Some(condition) = Control::at(self.names.tree, node).condition() {
            self.expression(condition, ReasonCode::SequentialControl);
        }
    }

    /// Does a kernel evaluate the condition of this control flow?
    fn is_steered(&self, flow: NodeId) -> bool {
        let mut runs = self.pieces.iter().filter_map(|piece| piece.serial.as_ref());
        runs.any(|run| run.steering.as_ref().is_some_and(|steering| steering.flow == flow))
    }

    fn statement(&mut self, node: NodeId) {
        let tree = self.names.tree;
        if tree.kind(node) == NodeKind::ExpressionStatement {
            self.expression(node, ReasonCode::SerialStatement);
        }
    }

    /// Scalars of the language's own types, with nothing else in their declaration.
    fn declaration(&mut self, node: NodeId) {
        let tree = self.names.tree;
        let plain = [
            NodeKind::PrimitiveType,
            NodeKind::SizedTypeSpecifier,
            NodeKind::TypeIdentifier,
            NodeKind::TypeQualifier,
            NodeKind::Identifier,
        ];
        let mut parts: Vec<NodeId> = tree.named_children(node).collect();
        parts.retain(|part| !plain.contains(&tree.kind(*part)));
        let mut declared: Vec<NodeId> =
            tree.named_children(node).filter(|part| tree.kind(*part) == NodeKind::Identifier).collect();
        for part in parts {
            let initialised = Initialised::of(tree, part);
            let name = initialised.and_then(Initialised::declarator);
            let name = name.filter(|name| tree.kind(*name) == NodeKind::Identifier);
            let Some(name) = name else { return self.lives_on_device(tree.span(part)) };
            declared.push(name);
            if let Some(value) = initialised.and_then(Initialised::value) {
                let target = self.names.number_of_name(name, tree.span(name).end);
                self.value(value, target, ReasonCode::LocalDeclaration);
            }
        }
        for name in declared {
            let text = self.names.file.show(tree.span(name)).into_owned();
            if !self.names.kind(&text, tree.span(name).end).is_host_scalar() {
                self.lives_on_device(tree.span(name));
            }
            self.hides(&text, tree.span(name));
            self.needs_listing(&text, tree.span(name));
        }
    }

    fn lives_on_device(&mut self, span: Span) {
        let message = "this variable is declared between the loops and lives on the device through all of them: declare it before the region";
        self.refuse(ReasonCode::LocalDeclaration, span, message);
    }

    /// Checks every part of an expression.
    fn expression(&mut self, root: NodeId, code: ReasonCode) {
        let tree = self.names.tree;
        let evaluation = Evaluation::of(self.names.file, tree, root);
        if let Some(at) = evaluation.first_without(|part| self.is_host_part(part)) {
            let message = "the host would execute this between the kernels, but it needs what is on the device";
            return self.refuse(code, at, message);
        }
        for used in &evaluation.names {
            self.host_use(used, code);
        }
        for node in self.names.rounded(root) {
            let message = "the host would compute this between the kernels, and may round otherwise than the device";
            self.refuse(code, tree.span(node), message);
        }
    }

    /// The value that is copied to a variable. For a floating-point variable it must be a single number, otherwise
    /// integers.
    fn value(&mut self, value: NodeId, target: Option<Class>, code: ReasonCode) {
        let tree = self.names.tree;
        self.expression(value, code);
        let floating = tree.descendants(value).any(|node| self.names.is_floating_leaf(node));
        let leaf = matches!(tree.kind(value), NodeKind::Identifier | NodeKind::NumberLiteral);
        let copied = target == Some(Class::Floating) && leaf;
        if (target == Some(Class::Floating) || floating && tree.kind(value) == NodeKind::Identifier) && !copied {
            let message = "the host would compute this between the kernels, and may round otherwise than the device";
            self.refuse(code, tree.span(value), message);
        }
    }

    fn is_host_part(&self, part: &Part) -> bool {
        let tree = self.names.tree;
        let node = part.node;
        match part.act {
            Act::Conversion => Cast::of(tree, node).is_some_and(|cast| self.converts_plainly(cast)),
            Act::Type => {
                let span = tree.span(node);
                let ty = self.names.symbols().type_written(None, &self.names.file.show(span), span.start);
                ty.number().is_some_and(|number| !number.is_floating() && !number.is_enumeration())
            }
            Act::Effect => self.is_host_assignment(node),
            // A device may not have such a type, or may have another one by this name.
            Act::Literal => {
                let is_long = || self.names.file.show(tree.span(node)).ends_with(['l', 'L']);
                tree.kind(node) != NodeKind::StringLiteral && !(self.names.is_floating_leaf(node) && is_long())
            }
            Act::Name | Act::Arithmetic | Act::Bits | Act::Test | Act::Division | Act::Choice => true,
            Act::Size | Act::Load | Act::Member | Act::Address | Act::Call | Act::Unknown => false,
        }
    }

    /// In C++ a cast may construct an object.
    fn converts_plainly(&self, cast: Cast<'_>) -> bool {
        let tree = self.names.tree;
        tree.language() == Language::C || cast.ty().is_some_and(|ty| self.names.is_builtin_type(tree.span(ty)))
    }

    /// Does it change a variable: an integer in any way, or another number by copying?
    fn is_host_assignment(&self, node: NodeId) -> bool {
        let tree = self.names.tree;
        let is_leaf = |value: NodeId| matches!(tree.kind(value), NodeKind::Identifier | NodeKind::NumberLiteral);
        let assignment = Assignment::of(tree, node);
        let is_copy = assignment.is_some_and(|it| it.is_plain() && it.value().is_some_and(is_leaf));
        let changed = assignment.map_or_else(|| Update::of(tree, node).and_then(Update::operand), Assignment::target);
        changed.is_some_and(|changed| {
            tree.kind(changed) == NodeKind::Identifier && (is_copy || !self.names.is_floating_leaf(changed))
        })
    }

    /// A variable that the host uses must have the value that it has on the device, and may only be written if the
    /// region declares it.
    fn host_use(&mut self, used: &Use, code: ReasonCode) {
        let at = used.span.start;
        if used.role == Role::Declaration {
            return;
        }
        let kind = self.names.kind(&used.name, at);
        if kind == Kind::Constant
            && self.names.constant(used.span).is_none()
            && self.names.is_computed_macro(&used.name, at)
        {
            let message = format!("what `{}` stands for is computed on the device", used.name);
            return self.refuse(code, used.span, message);
        }
        if kind == Kind::Constant {
            return;
        }
        if !kind.is_host_scalar() {
            let message = format!("`{}` is not a number that the host knows", used.name);
            return self.refuse(code, used.span, message);
        }
        if self.is_local(&used.name, at) {
            return;
        }
        if used.role != Role::Read {
            return self.reasons.push(scalar_written(&used.name, used.span));
        }
        let private = self.region.private.iter().any(|item| item.is_of(&used.name));
        let mapped = self.is_on_device(&used.name) || (self.scalars_are_mapped && !self.is_listed(&used.name));
        let reduced = self.region.reduces(&used.name);
        let elsewhere = self.names.may_be_declared_for_device(&used.name, at);
        if private || mapped || reduced || elsewhere {
            let message = format!("the value of `{}` is on the device, and the loops depend on it", used.name);
            self.refuse(code, used.span, message);
        }
    }
}
