//! Constructs of called functions as their callers see them: what `f(a, b, n)` maps is named by the arguments.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::effects::{Binding, HostEffects, Named, Storage, Touch, UnknownKind, VariableId};
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::Role;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind, Number};
use crate::transforms::hoist_maps::constructs::{Item, Length, Mapping, is_array, normal, operand};
use crate::transforms::hoist_maps::first_run::conditions;

/// The constructs that calls in the file run, one after the other for each call.
pub(super) fn called(cx: &Context<'_>, all: &[Mapping]) -> Vec<Mapping> {
    let mut by_function: BTreeMap<NodeId, Vec<&Mapping>> = BTreeMap::new();
    for mapping in all {
        if let Some(function) = cx.function_of(cx.tree.span(mapping.body)) {
            by_function.entry(function).or_default().push(mapping);
        }
    }
    let mut found: Vec<Mapping> = Vec::new();
    for call in statements_that_call(cx) {
        let Some((statement, binding)) = call else { continue };
        let Some(own) = by_function.get(&binding.definition) else { continue };
        found.extend(Call::new(cx, statement, binding).mappings(own));
    }
    found
}

/// The calls that are statements of their own, of functions in sight.
fn statements_that_call<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = Option<(NodeId, Binding)>> + 'c {
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    let callees = cx.file_uses().iter().filter(|used| used.role == Role::Callee);
    callees.map(move |used| {
        let call = cx.tree.parent(used.node).filter(|node| cx.tree.kind(*node) == NodeKind::CallExpression)?;
        let statement = cx.tree.parent(call).filter(|node| cx.tree.kind(*node) == NodeKind::ExpressionStatement)?;
        seen.insert(statement).then(|| cx.binding(call).map(|binding| (statement, binding)))?
    })
}

/// One call, and what the function does on the host.
struct Call<'c, 'a> {
    cx: &'c Context<'a>,
    statement: NodeId,
    binding: Binding,
    /// What the called function does beside its kernels, in its own terms.
    host: HostEffects,
}

impl<'c, 'a> Call<'c, 'a> {
    fn new(cx: &'c Context<'a>, statement: NodeId, binding: Binding) -> Self {
        let kernels = kernels_of(cx, binding.definition);
        let body = cx.tree.child(binding.definition, Field::Body);
        let host = body.map(|body| cx.host_effects(body, &kernels)).unwrap_or_default();
        Self { cx, statement, binding, host }
    }

    fn mappings(&self, own: &[&Mapping]) -> Vec<Mapping> {
        let cx = self.cx;
        let outside = cx.host_effects(self.statement, &[]);
        let name = cx.tree.child(self.binding.call, Field::Function).map(|node| cx.file.show(cx.tree.span(node)));
        let own_message = format!("`{}` has constructs of its own", name.unwrap_or_default());
        let mut unknown = outside.unknown.iter();
        let unknown = unknown.find(|it| it.kind != UnknownKind::Constructs || it.message != own_message);
        let trouble = unknown.map(|it| Reason::new(ReasonCode::HostAccess, it.span, it.message.clone()));
        let is_data = own.iter().any(|mapping| mapping.is_data);
        let trouble = trouble.or_else(|| {
            let message = "the called function has data environments of its own";
            is_data.then(|| Reason::new(ReasonCode::EnvironmentPlace, cx.tree.span(self.statement), message))
        });
        let mut found: Vec<Mapping> = own.iter().map(|mapping| self.mapping(mapping)).collect();
        if let Some(first) = found.first_mut() {
            first.touches.extend(outside.touches);
            first.trouble = first.trouble.take().or(trouble);
        }
        found
    }

    /// One construct of the function.
    fn mapping(&self, own: &Mapping) -> Mapping {
        let cx = self.cx;
        let extent = cx.tree.span(self.statement);
        let body = cx.tree.child(self.binding.definition, Field::Body);
        let terms = body.and_then(|body| conditions(cx, body, own, &self.host, false));
        let changed = |id: VariableId| self.host.writes_variable(id).is_some();
        let touches = own.touches.iter().chain(&own.head_touches(cx)).cloned().collect::<Vec<_>>();
        let touches = touches.iter().filter_map(|touch| cx.as_called(touch, &self.binding, &changed)).collect();
        let mut mapping = Mapping {
            id: own.id,
            body: self.statement,
            extent,
            is_data: false,
            is_conditional: !terms.is_some_and(|terms| terms.is_empty()),
            items: Vec::new(),
            touches,
            called: Some(extent),
            inside: OnceCell::from(cx.effects_with_kernels(self.statement)),
            trouble: own
                .trouble
                .as_ref()
                .map(|reason| Reason::new(reason.code, extent, format!("{} (in the called function)", reason.message))),
        };
        for item in &own.items {
            match self.item(item) {
                Some(item) if mapping.item(item.named.id).is_none() => mapping.items.push(item),
                Some(item) => {
                    mapping.items.iter_mut().filter(|it| it.named.id == item.named.id).for_each(|it| {
                        it.trouble = Some("the call maps it twice");
                    });
                }
                // What is mapped by another expression is memory that the copies read and write.
                None => mapping.touches.push(self.unnamed(item)),
            }
        }
        mapping
    }

    fn unnamed(&self, item: &Item) -> Touch {
        let touch = Touch { storage: Storage::Behind(item.named.clone()), writes: true, span: item.span };
        let changed = |id: VariableId| self.host.writes_variable(id).is_some();
        let extent = self.cx.tree.span(self.statement);
        let memory = Touch { storage: Storage::Memory, writes: true, span: extent };
        self.cx.as_called(&touch, &self.binding, &changed).unwrap_or(memory)
    }

    /// An item in the caller's terms; none where the argument is no name of an array of the same numbers.
    fn item(&self, own: &Item) -> Option<Item> {
        let cx = self.cx;
        let (named, span) = match self.binding.argument(own.named.id) {
            Some(argument) => {
                self.host.writes_variable(own.named.id).is_none().then_some(())?;
                (self.array_handed(argument, &own.named)?, cx.tree.span(argument))
            }
            None => (self.global(&own.named)?, own.span),
        };
        let mut expressions: Vec<Span> = Vec::new();
        let mut rename = |expression: Span| self.renamed(expression, &mut expressions);
        let texts: Option<Vec<(Span, String)>> =
            own.expressions.iter().map(|span| Some((*span, rename(*span)?))).collect();
        let texts = texts?;
        let section = self.section(own, &texts)?;
        let length = |length: &Length| {
            let [span] = length.expressions[..] else { return None };
            let text = texts.iter().find(|(own, _)| *own == span).map(|(_, text)| operand(text))?;
            Some(Length { text, expressions: expressions.clone() })
        };
        let lengths = expressions.iter().flat_map(|span| cx.names_in(*span));
        let lengths = lengths.filter_map(|(name, span)| cx.named(&name, span.start)).map(|(named, _)| named).collect();
        Some(Item {
            text: format!("{}{section}", named.name),
            section: normal(&section),
            first_length: own.first_length.as_ref().and_then(length),
            length: own.length.as_ref().and_then(length),
            lengths,
            expressions,
            to: own.to,
            from: own.from,
            is_explicit: own.is_explicit,
            span,
            trouble: own.trouble,
            named,
        })
    }

    /// The array or pointer that is handed over by its name, where both sides see the same numbers.
    fn array_handed(&self, argument: NodeId, parameter: &Named) -> Option<Named> {
        let cx = self.cx;
        (cx.tree.kind(argument) == NodeKind::Identifier).then_some(())?;
        let span = cx.tree.span(argument);
        let name = cx.file.show(span);
        cx.expansion(&name, span.start).is_none().then_some(())?;
        let (named, variable) = cx.named(&name, span.start)?;
        let (_, other) = cx.named(&parameter.name, parameter.at)?;
        let element = |ty: &DeclaredType| ty.dereferenced().number().cloned();
        let same = element(&variable.ty).is_some() && element(&variable.ty) == element(&other.ty);
        (is_array(&variable.ty) && same).then_some(named)
    }

    /// A variable of the file that means the same where the function is called.
    fn global(&self, own: &Named) -> Option<Named> {
        let function = self.cx.tree.span(self.binding.definition);
        let here = self.cx.tree.span(self.statement).start;
        let is_local = own.id.0.is_none() && function.contains(own.id.1);
        let (named, _) = self.cx.named(&own.name, here).filter(|_| !is_local)?;
        (named.id == own.id).then_some(named)
    }

    /// An expression of the function with the arguments in place of its parameters. Where they stand is noted.
    fn renamed(&self, expression: Span, noted: &mut Vec<Span>) -> Option<String> {
        let cx = self.cx;
        let here = cx.tree.span(self.statement).start;
        let (mut text, mut from) = (String::new(), expression.start);
        let mut names = cx.names_in(expression);
        names.sort_by_key(|(_, span)| span.start);
        for (name, span) in names {
            let known = cx.named(&name, span.start).map(|(named, _)| named);
            let replacement = match known.and_then(|named| Some((named.id, self.binding.argument(named.id)?))) {
                Some((id, argument)) => {
                    self.host.writes_variable(id).is_none().then_some(())?;
                    self.keeps_value(&name, span.start, argument).then_some(())?;
                    let argument = cx.tree.span(argument);
                    noted.push(argument);
                    operand(&on_one_line(cx.file, argument))
                }
                None => {
                    let same = [here, span.start].map(|at| cx.symbols().macro_definition(&name, at));
                    let means_the_same = same[0] == same[1] && cx.constant(span).is_some();
                    means_the_same.then(|| name.clone())?
                }
            };
            text += &cx.file.show(Span::new(from, span.start));
            text += &replacement;
            from = span.end;
        }
        text += &cx.file.show(Span::new(from, expression.end));
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Is an argument a sum or product of integers that the parameter's type can hold?
    fn keeps_value(&self, parameter: &str, at: usize, argument: NodeId) -> bool {
        let cx = self.cx;
        let integer_of =
            |name: &str, at: usize| cx.declared_type(name, at).and_then(|ty| ty.number().and_then(Number::integer));
        let Some(own) = integer_of(parameter, at).filter(|own| own.bits >= 32) else { return false };
        cx.tree.descendants(argument).filter(|node| cx.tree.is_named(*node)).all(|node| match cx.tree.kind(node) {
            NodeKind::ParenthesizedExpression => true,
            NodeKind::NumberLiteral => {
                cx.constant(cx.tree.span(node)).is_some_and(|value| value <= i64::from(i32::MAX))
            }
            NodeKind::BinaryExpression => {
                matches!(cx.tree.operator(node), Some(NodeKind::Plus | NodeKind::Minus | NodeKind::Star))
            }
            NodeKind::Identifier => {
                let span = cx.tree.span(node);
                let is_small = |value: i64| (0..=i64::from(i32::MAX)).contains(&value);
                cx.constant(span).is_some_and(is_small)
                    || integer_of(&cx.file.show(span), span.start).is_some_and(|given| {
                        given.bits <= own.bits && (given.signed || !own.signed || given.bits < own.bits)
                    })
            }
            _ => false,
        })
    }

    /// The section with the expressions as the caller writes them.
    fn section(&self, own: &Item, texts: &[(Span, String)]) -> Option<String> {
        let Some(start) = own.text.find('[') else { return Some(String::new()) };
        let at = own.span.start + self.cx.file.show(own.span).find('[')?;
        (start > 0).then_some(())?;
        let (mut text, mut from) = (String::new(), at);
        for (span, expression) in texts {
            text += &self.cx.file.show(Span::new(from, span.start));
            text += expression;
            from = span.end;
        }
        text += &self.cx.file.show(Span::new(from, own.span.end));
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

fn kernels_of(cx: &Context<'_>, function: NodeId) -> Vec<Span> {
    let span = cx.tree.span(function);
    let targets = cx.constructs.ids().filter(|id| cx.constructs.is_target(*id));
    let bodies = targets.filter_map(|id| cx.constructs.construct(id).body).map(|body| cx.tree.span(body));
    bodies.filter(|body| span.contains(*body)).collect()
}
