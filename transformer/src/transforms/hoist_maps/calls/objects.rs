//! What the caller has for members that a called function finds by a parameter: `p->x` in `move(&particles)`.

use std::sync::Arc;

use super::Call;
use super::arguments::Handed;
use crate::semantics::effects::Named;
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::source::Span;
use crate::syntax::{Call as FunctionCall, ClauseName, Field, NodeId, NodeKind, Number};
use crate::transforms::hoist_maps::members::accesses::{Key, accesses};
use crate::transforms::hoist_maps::members::handed::{is_vector_of_caller, object};
use crate::transforms::hoist_maps::members::paths::given;
use crate::transforms::hoist_maps::pairs::environments;

/// How many variables are followed, each of which has the value of the next, converted.
const CONVERTED: usize = 4;

impl Call<'_, '_> {
    /// The array that a pointer of the function is a member's value for.
    pub(super) fn member_handed(&self, own: &Named) -> Option<Handed> {
        let (named, variable) = self.standing(&self.first_behind(own))?;
        let (_, parameter) = self.cx.named(&own.name, own.at)?;
        (variable.ty.is_pointer() && self.are_of_one_type(&variable.ty, &parameter.ty)).then_some(())?;
        Some(Handed { span: self.cx.tree.span(self.statement), named, offset: None })
    }

    /// Where the caller names a variable of the value of an integer of the function, and whether it is of its type. If not, the function
    /// converts it.
    pub(super) fn number_handed(&self, own: &Named) -> Option<(Span, bool)> {
        let (named, variable) = self.standing_number(&self.first_behind(own), own)?;
        let is_of_type = self.is_of_one_kind(own, &variable.ty);
        let (cx, tree) = (self.cx, self.cx.tree);
        let caller = cx.function_of(tree.span(self.statement))?;
        let is_use = |node: &NodeId| {
            let span = tree.span(*node);
            tree.kind(*node) == NodeKind::Identifier
                && span != named.id.declared_at
                && cx.named(&cx.file.show(span), span.start).is_some_and(|(other, _)| other.id == named.id)
        };
        tree.descendants(caller).find(is_use).map(|node| (tree.span(node), is_of_type))
    }

    /// The variable of the caller that stands for a member whose value a number has, converted to types as wide as that of `own` at least.
    fn standing_number(&self, number: &Named, own: &Named) -> Option<(Named, Arc<Variable>)> {
        let bits = |ty: &DeclaredType| ty.number().and_then(Number::integer).map(|integer| integer.bits);
        let least = bits(&self.cx.declared_type(&own.name, own.at)?)?;
        let mut number = number.clone();
        for _ in 0..CONVERTED {
            if let Some(found) = self.standing(&number).filter(|(_, it)| bits(&it.ty).is_some()) {
                return Some(found);
            }
            let value = self.unconverted(self.only_value(&number)?, own);
            let span = self.cx.tree.span(value);
            let (named, variable) = self.cx.named(&self.cx.file.show(span), span.start)?;
            (bits(&variable.ty)? >= least && named.id != number.id).then_some(())?;
            number = self.first_behind(&named);
        }
        None
    }

    /// A value without conversions that take nothing away which a variable of this name's type could hold: `v.size()` for
    /// `static_cast<int>(v.size())`.
    fn unconverted(&self, value: NodeId, own: &Named) -> NodeId {
        let (cx, tree) = (self.cx, self.cx.tree);
        let bits = |ty: DeclaredType| Some(ty.number()?.integer()?.bits);
        let is_wide = |ty: Option<NodeId>| {
            let ty = tree.span(ty?);
            let written = bits(cx.symbols().type_written(None, &cx.file.show(ty), ty.start))?;
            Some(written >= bits(cx.declared_type(&own.name, own.at)?)?)
        };
        let inner = match tree.kind(value) {
            NodeKind::ParenthesizedExpression => tree.named_children(value).next(),
            NodeKind::CastExpression if is_wide(tree.child(value, Field::Type)) == Some(true) => {
                tree.child(value, Field::Value)
            }
            // `int(v.size())`.
            NodeKind::CallExpression => FunctionCall::of(tree, value)
                .filter(|call| call.function().is_some_and(|ty| tree.kind(ty) == NodeKind::PrimitiveType))
                .filter(|call| is_wide(call.function()) == Some(true))
                .and_then(|call| call.arguments().next()),
            _ => None,
        };
        inner.map_or(value, |inner| self.unconverted(inner, own))
    }

    /// The variable of the caller that was made to stand for a member, whose value a variable of the function has.
    fn standing(&self, own: &Named) -> Option<(Named, Arc<Variable>)> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let made = self.made?;
        let value = tree.span(self.unconverted(self.only_value(own)?, own));
        let access = accesses(cx, value).into_iter().next().filter(|it| it.span == value)?;
        let is_of_caller = || access.base.is_some_and(|base| is_vector_of_caller(cx, &access.key, base));
        (access.is_arrow || is_of_caller()).then_some(())?;
        let parameter = access.key.base.filter(|id| !self.changes(*id))?;
        let (_, base, _) = object(cx, self.binding.argument(parameter)?, &access.key)?;
        let key = Key { base: Some(base), member: access.key.member };
        if let Some(held) = self.held(&key) {
            return Some(held);
        }
        let caller = cx.function_of(tree.span(self.statement))?;
        let declared = tree.descendants(caller).filter(|node| tree.kind(*node) == NodeKind::InitDeclarator);
        let mut standing = declared.filter_map(|declarator| {
            let name = tree.span(tree.innermost_declarator(tree.child(declarator, Field::Declarator)?));
            let is_it = !made.is_kept(name.start)
                && given(cx, tree.span(tree.child(declarator, Field::Value)?)).as_ref() == Some(&key);
            is_it.then(|| cx.named(&cx.file.show(name), tree.span(declarator).end))?
        });
        standing.next()
    }

    /// The pointer that was given a member, and that a data environment around the call maps already.
    fn held(&self, key: &Key) -> Option<(Named, Arc<Variable>)> {
        let cx = self.cx;
        let extent = cx.tree.span(self.statement);
        let function = cx.function_of(extent).map(|function| cx.tree.span(function));
        let all = function.into_iter().flat_map(|function| environments(cx, function));
        let around = all.filter(|(_, environment)| environment.contains(extent)).map(|(id, _)| id);
        let maps = around.flat_map(|id| cx.constructs.directive(id).clauses_of(ClauseName::Map));
        maps.flat_map(|clause| clause.items()).filter(|item| !item.has_member).find_map(|item| {
            let (named, variable) = cx.named(item.base.as_deref()?, item.span.start)?;
            self.has_value(variable.initializer?, key).then_some((named, variable))
        })
    }

    /// Is a value the member's, or that of the variable that stands for it?
    fn has_value(&self, value: Span, key: &Key) -> bool {
        let (cx, tree) = (self.cx, self.cx.tree);
        let node = tree.covering(value);
        let node = match tree.kind(node) {
            NodeKind::ConditionalExpression => tree.child(node, Field::Consequence).unwrap_or(node),
            _ => node,
        };
        let span = tree.span(node);
        let standing = cx.named(&cx.file.show(span), span.start).filter(|_| tree.kind(node) == NodeKind::Identifier);
        let is_made = |id: VariableId| self.made.is_some_and(|made| !made.is_kept(id.declared_at.start));
        let value = match standing {
            Some((named, variable)) if is_made(named.id) => variable.initializer,
            _ => Some(value),
        };
        value.and_then(|value| given(cx, value)).as_ref() == Some(key)
    }
}
