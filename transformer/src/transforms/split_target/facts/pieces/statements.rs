//! Which statements, expressions and directives may not stand in a kernel.

use super::Reader;
use crate::plan::ReasonCode;
use crate::region::loop_nest::canonical_nest;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::{Role, initialiser_role, uses_below};
use crate::source::{Language, Span};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Binary, Cast, Field, HostTree, Member, NodeId, NodeKind, Pointer, Subscript};
use crate::transforms::checks::text;
use crate::transforms::split_target::shape;

impl Reader<'_, '_> {
    /// Statements and expressions that may not stand in a kernel at all.
    pub(super) fn statements(&mut self, body: NodeId) {
        let tree = self.names.tree;
        for node in tree.descendants(body) {
            let span = tree.span(node);
            match tree.kind(node) {
                NodeKind::ReturnStatement if self.is_in_plain_lambda(node, body) => {}
                NodeKind::LambdaExpression if self.is_plain_lambda(node, body) => {}
                NodeKind::ForRangeLoop if self.names.range_element(node).is_some() => {}
                NodeKind::ReturnStatement
                | NodeKind::GotoStatement
                | NodeKind::LabeledStatement
                | NodeKind::ThrowStatement
                | NodeKind::TryStatement
                | NodeKind::CoAwaitExpression
                | NodeKind::CoReturnStatement
                | NodeKind::CoYieldStatement => {
                    self.refuse(ReasonCode::JumpOut, span, "control may leave the loop here");
                }
                NodeKind::GnuAsmExpression => {
                    self.refuse(ReasonCode::TeamDependent, span, "inline assembly may depend on the team");
                }
                NodeKind::UserDefinedLiteral
                | NodeKind::LambdaExpression
                | NodeKind::NewExpression
                | NodeKind::DeleteExpression
                | NodeKind::OperatorName
                | NodeKind::ForRangeLoop => {
                    self.refuse(ReasonCode::HiddenCode, span, "what this runs is hidden in C++ that is not followed: name a plain function or write the loop out");
                }
                NodeKind::CompoundLiteralExpression if self.is_plain_value(node) => {}
                NodeKind::CompoundLiteralExpression => {
                    let message = "what this object runs or leads to is not followed: give it a name in a declaration";
                    self.refuse(ReasonCode::HiddenCode, span, message);
                }
                // clang 19 accepts it in a `target` construct, but not in a combined one, where it takes it for an item to map.
                NodeKind::FieldExpression if !has_plain_base(tree, node) => {
                    let message = "compilers refuse a member of this expression in a combined construct";
                    self.refuse(ReasonCode::CompilerLimit, span, message);
                }
                NodeKind::TypeIdentifier if initialiser_role(self.names.file, tree, node) == Some(Role::Address) => {
                    self.refuse(
                        ReasonCode::HiddenCode,
                        span,
                        "this may make an object, whose functions are not followed",
                    );
                }
                NodeKind::TypeDescriptor if !self.names.is_builtin_type(span) => {
                    if let Some(name) = self.names.type_parameter_in(&self.names.file.show(span), span.start) {
                        self.assume_arithmetic(&name, span);
                        continue;
                    }
                    self.refuse(
                        ReasonCode::HiddenCode,
                        span,
                        "operators and conversions of this type are not followed",
                    );
                }
                NodeKind::This if self.names.member_of_this(tree, node, span.start).is_none() => {
                    self.refuse(ReasonCode::HiddenCode, span, "what is done with `*this` is not followed");
                }
                NodeKind::StorageClassSpecifier if self.names.file.bytes(span) != b"register" => {
                    self.refuse(ReasonCode::LocalDeclaration, span, "this variable outlives the loop");
                }
                kind if kind.is_preprocessor() => {
                    let directive = self.piece.directive().map(|id| self.names.constructs.directive(id));
                    self.reasons.push(text::cut(directive, span));
                }
                _ => {}
            }
        }
    }

    /// Is a compound literal a number, or a structure that is data alone, of which the value is used and not the address?
    fn is_plain_value(&self, literal: NodeId) -> bool {
        let (names, tree) = (self.names, self.names.tree);
        let Some(ty) = tree.child(literal, Field::Type) else { return false };
        let mut above = tree.ancestors(literal).skip_while(|it| tree.kind(*it) == NodeKind::ParenthesizedExpression);
        let leads_on = above.next().is_some_and(|above| {
            matches!(tree.kind(above), NodeKind::PointerExpression | NodeKind::SubscriptExpression)
        });
        let is_plain = match (tree.kind(ty), tree.language()) {
            (NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier, _) => true,
            // What a name stands for may be an array, whose address would be used.
            (NodeKind::TypeDescriptor, Language::C) => {
                let span = tree.span(ty);
                let ty = names.symbols().type_written(None, &names.file.show(span), span.start);
                matches!(ty, DeclaredType::Scalar { .. } | DeclaredType::Record { .. })
            }
            (NodeKind::TypeIdentifier, Language::Cpp) => {
                let span = tree.span(ty);
                let ty = names.symbols().type_named(&names.file.show(span), span.start);
                names.symbols().is_plain_record(&ty, span.start) && !names.symbols().declares_operators()
            }
            _ => false,
        };
        is_plain && !leads_on
    }

    fn is_plain_lambda(&self, lambda: NodeId, body: NodeId) -> bool {
        self.piece.serial.is_none() && self.names.is_plain_lambda(lambda, self.names.tree.span(body))
    }

    /// Does a `return` end a lambda of the loop, and not the function around it?
    fn is_in_plain_lambda(&self, node: NodeId, body: NodeId) -> bool {
        let tree = self.names.tree;
        let mut inside = tree.ancestors(node).take_while(|above| *above != body);
        inside
            .find(|above| tree.kind(*above) == NodeKind::LambdaExpression)
            .is_some_and(|lambda| self.is_plain_lambda(lambda, body))
    }

    /// Directives inside the loop: `simd` and `atomic` may stand there.
    pub(super) fn constructs(&mut self, body: NodeId) {
        let cx = self.names;
        let span = cx.tree.span(body);
        for (construct, directive) in cx.constructs.within(span) {
            match directive.name.as_str() {
                "simd" | "unroll" | "tile" => {}
                name if name == "atomic" || name.starts_with("atomic ") => self.atomic(construct.body_span),
                name if construct.leaves.iter().any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Loop)) => {
                    let message = format!("`{name}` is nested in the loop");
                    self.refuse(ReasonCode::NestedParallel, directive.span, message);
                }
                _ => self.reasons.push(shape::outside_loop(directive)),
            }
        }
    }

    fn atomic(&mut self, body: Span) {
        let cx = self.names;
        let node = cx.tree.covering(body);
        let nodes = std::iter::once(node).chain(cx.tree.ancestors(node));
        let mut inside = nodes.take_while(|above| cx.tree.parent(*above) != cx.tree.parent(self.piece.nest.body));
        let waits = inside.any(|above| self.may_wait(above)) || self.may_wait(self.piece.nest.body);
        if waits {
            let message = "an atomic operation in this loop may wait for another thread, which a league cannot promise";
            self.refuse(ReasonCode::TeamDependent, body, message);
        }
        for used in uses_below(cx.file, cx.tree, node) {
            let wide = matches!(used.role, Role::Write | Role::ElementWrite)
                && self.names.kind(&used.name, used.span.start).is_wide();
            if wide {
                let message = format!("`{}` is wider than 64 bits", used.name);
                self.refuse(ReasonCode::WideAtomic, used.span, message);
            }
        }
    }

    /// Is it a loop without a known number of iterations, which may wait for something?
    fn may_wait(&self, node: NodeId) -> bool {
        let cx = self.names;
        match cx.tree.kind(node) {
            NodeKind::WhileStatement | NodeKind::DoStatement => true,
            NodeKind::ForStatement => canonical_nest(cx.file, cx.tree, node, 1).is_err(),
            _ => false,
        }
    }
}

/// Does a member belong to a variable, an element, another member or the target of a pointer?
fn has_plain_base(tree: &HostTree, member: NodeId) -> bool {
    let mut at = member;
    loop {
        let inner = match tree.kind(at) {
            NodeKind::Identifier | NodeKind::This | NodeKind::QualifiedIdentifier => return true,
            NodeKind::FieldExpression => Member::of(tree, at).and_then(Member::object),
            NodeKind::SubscriptExpression => Subscript::of(tree, at).and_then(Subscript::base),
            NodeKind::ParenthesizedExpression => tree.named_children(at).next(),
            NodeKind::PointerExpression => {
                Pointer::of(tree, at).filter(|it| it.is_followed()).and_then(Pointer::operand)
            }
            NodeKind::BinaryExpression => Binary::of(tree, at).and_then(Binary::left),
            NodeKind::CastExpression => Cast::of(tree, at).and_then(Cast::value),
            _ => None,
        };
        match inner {
            Some(inner) => at = inner,
            None => return false,
        }
    }
}
