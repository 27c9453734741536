//! Members that calls hand to functions with constructs: `step(g->u, g->v, g->n)`, or `step(&grid)`, where the function lists `g->u`.

use std::collections::{BTreeMap, BTreeSet};

use super::accesses::{Access, Key, accesses};
use crate::context::Context;
use crate::region::construct::ConstructId;
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::source::{Span, words};
use crate::syntax::{Call, ClauseName, Field, NodeId, NodeKind};

/// How many variables are followed, each of which is declared with the value of the next.
const DEPTH: usize = 4;

/// The calls of functions that run constructs, themselves or by functions that they call.
pub(super) fn calls(cx: &Context<'_>, with_constructs: &BTreeSet<NodeId>) -> Vec<NodeId> {
    let mut running = with_constructs.clone();
    let all: Vec<NodeId> = cx.tree.all_of(&[NodeKind::CallExpression]).collect();
    let mut found: BTreeSet<NodeId> = BTreeSet::new();
    loop {
        let known = found.len();
        for call in &all {
            let Some(name) = cx.called_name(*call).map(|name| cx.file.show(cx.tree.span(name))) else { continue };
            let definitions = cx.symbols().function_definitions(&name);
            if definitions.iter().any(|(header, function)| header.is_none() && running.contains(function)) {
                found.insert(*call);
                running.extend(cx.function_of(cx.tree.span(*call)));
            }
        }
        if found.len() == known {
            return found.into_iter().collect();
        }
    }
}

/// What such calls in a body are handed.
pub(super) fn arguments(cx: &Context<'_>, body: NodeId, calls: &[NodeId]) -> Vec<Span> {
    let extent = cx.tree.span(body);
    let own = calls.iter().filter(|call| extent.contains(cx.tree.span(**call)));
    let arguments = own.filter_map(|call| Call::of(cx.tree, *call)).flat_map(Call::arguments);
    arguments.map(|argument| cx.tree.span(argument)).collect()
}

/// What functions need of the objects that they are handed: which members of what their parameters lead to.
pub(super) struct Needs<'n, 'c> {
    cx: &'n Context<'c>,
    calls: &'n [NodeId],
    known: BTreeMap<NodeId, BTreeSet<(VariableId, String)>>,
}

/// A member that a call hands over with its object: of which variable, and where that is named.
pub(super) struct Handed {
    pub key: Key,
    /// The object or the pointer to it.
    pub base: Span,
    pub is_arrow: bool,
}

impl<'n, 'c> Needs<'n, 'c> {
    pub(super) fn new(cx: &'n Context<'c>, calls: &'n [NodeId]) -> Self {
        Self { cx, calls, known: BTreeMap::new() }
    }

    /// The members that the calls in a function hand over with their objects.
    pub(super) fn handed_by(&mut self, function: NodeId) -> Vec<Handed> {
        let extent = self.cx.tree.span(function);
        let own: Vec<NodeId> =
            self.calls.iter().copied().filter(|call| extent.contains(self.cx.tree.span(*call))).collect();
        let mut found: Vec<Handed> = Vec::new();
        for call in own {
            let Some(binding) = self.cx.binding(call) else { continue };
            for (parameter, member) in self.of(binding.definition) {
                let mut key = Key { base: None, member };
                let handed = binding.argument(parameter).and_then(|argument| object(self.cx, argument, &key));
                let Some((base, id, is_arrow)) = handed else { continue };
                key.base = Some(id);
                found.push(Handed { key, base, is_arrow });
            }
        }
        found
    }

    /// The members that a function finds in the objects that its parameters lead to.
    pub(super) fn found_by(&mut self, function: NodeId) -> Vec<Handed> {
        let members = self.of(function).into_iter();
        let handed = |(id, member)| {
            let key = Key { base: Some(id), member };
            let ty =
                self.cx.named(&self.cx.file.show(id.declared_at), id.declared_at.end).map(|(_, own)| own.ty.clone());
            let is_arrow = ty.is_none_or(|ty| !matches!(ty, DeclaredType::Reference { .. }));
            Handed { key, base: id.declared_at, is_arrow }
        };
        members.map(handed).collect()
    }

    /// The members that constructs in a function, or in those that it calls, list of what its parameters lead to.
    fn of(&mut self, function: NodeId) -> BTreeSet<(VariableId, String)> {
        if let Some(known) = self.known.get(&function) {
            return known.clone();
        }
        self.known.insert(function, BTreeSet::new());
        let extent = self.cx.tree.span(function);
        let mut found: BTreeSet<(VariableId, String)> = BTreeSet::new();
        let targets: Vec<ConstructId> =
            self.cx.constructs.ids_within(extent).filter(|id| self.cx.constructs.is_target(*id)).collect();
        for id in targets {
            for clause in self.cx.constructs.directive(id).clauses_of(ClauseName::Map) {
                for item in clause.items() {
                    self.collect(function, item.span, DEPTH, &mut found);
                }
            }
        }
        let handed = self.handed_by(function);
        let is_found = |it: &Handed| it.is_arrow || is_vector_of_caller(self.cx, &it.key, it.base);
        found.extend(handed.into_iter().filter(is_found).filter_map(|it| Some((it.key.base?, it.key.member))));
        let body = self.cx.tree.child(function, Field::Body).map(|body| self.cx.tree.span(body)).unwrap_or_default();
        found.retain(|(id, _)| id.is_within(extent) && !id.is_within(body));
        self.known.insert(function, found.clone());
        found
    }

    /// The members in an expression, and in what its variables are declared with.
    fn collect(&self, function: NodeId, expression: Span, depth: usize, found: &mut BTreeSet<(VariableId, String)>) {
        let (cx, extent) = (self.cx, self.cx.tree.span(function));
        let is_of_caller = |access: &Access| access.base.is_some_and(|base| is_vector_of_caller(cx, &access.key, base));
        let own = accesses(cx, expression).into_iter().filter(|access| access.is_arrow || is_of_caller(access));
        found.extend(own.filter_map(|access| Some((access.key.base?, access.key.member))));
        let text = cx.file.show(expression);
        for name in words(&text) {
            let Some((named, variable)) = cx.named(name, expression.start) else { continue };
            let value = variable.initializer.filter(|_| named.id.is_within(extent) && depth > 0);
            if let Some(value) = value {
                self.collect(function, value, depth - 1, found);
            }
        }
    }
}

/// Is a vector asked that a parameter refers to?
pub(in crate::transforms::hoist_maps) fn is_vector_of_caller(cx: &Context<'_>, key: &Key, base: Span) -> bool {
    let ty = cx.named(&cx.file.show(base), base.end).map(|(_, variable)| variable.ty.clone());
    key.of_vector().is_some() && matches!(ty, Some(DeclaredType::Reference { .. }))
}

/// The object of a member that an argument leads to: `&grid`, or `grid`, a pointer; a vector by its name.
pub(in crate::transforms::hoist_maps) fn object(
    cx: &Context<'_>,
    argument: NodeId,
    key: &Key,
) -> Option<(Span, VariableId, bool)> {
    let tree = cx.tree;
    let is_vector = key.of_vector().is_some();
    // Of a vector itself there is no address to go by.
    let is_whole = key.of_vector().is_some_and(|(member, _)| member.is_empty());
    let is_address =
        tree.kind(argument) == NodeKind::PointerExpression && tree.operator(argument) == Some(NodeKind::Ampersand);
    let name = if is_address { tree.child(argument, Field::Argument)? } else { argument };
    (tree.kind(name) == NodeKind::Identifier).then_some(())?;
    let span = tree.span(name);
    let (named, variable) = cx.named(&cx.file.show(span), span.start)?;
    let is_object = match &variable.ty {
        DeclaredType::Record { .. } | DeclaredType::Reference { .. } if is_vector && !is_address => true,
        DeclaredType::Pointer { pointee, .. } => !is_address && matches!(**pointee, DeclaredType::Record { .. }),
        DeclaredType::Record { .. } => is_address && !is_whole,
        _ => false,
    };
    is_object.then_some((span, named.id, variable.ty.is_pointer()))
}
