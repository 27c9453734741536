//! Constructs of called functions as their callers see them: what `f(a, b, n)` maps is named by the arguments.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::effects::{Binding, HostEffects, Named, Storage, Touch, UnknownKind, VariableId};
use crate::semantics::symbols::{DeclaredType, NameKind};
use crate::semantics::uses::Role;
use crate::source::Span;
use crate::syntax::{Field, Integer, NodeId, NodeKind, Number};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::first_run::conditions;
use crate::transforms::hoist_maps::items::{Item, Length, is_array, normal, operand};

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

/// The calls of functions in sight that their statements certainly make once.
fn statements_that_call<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = Option<(NodeId, Binding)>> + 'c {
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    let callees = cx.file_uses().iter().filter(|used| used.role == Role::Callee);
    callees.map(move |used| {
        let mut above =
            cx.tree.ancestors(used.node).skip_while(|node| cx.tree.kind(*node) == NodeKind::TemplateFunction);
        let call = above.next().filter(|node| cx.tree.kind(*node) == NodeKind::CallExpression)?;
        let statement = statement_of(cx, call)?;
        seen.insert(statement).then(|| cx.binding(call).map(|binding| (statement, binding)))?
    })
}

/// The statement that makes a call in any case: `f(a);`, `t += f(a);`, `double t = 2 * f(a);`.
fn statement_of(cx: &Context<'_>, call: NodeId) -> Option<NodeId> {
    let tree = cx.tree;
    let is_around = |node: &NodeId| match tree.kind(*node) {
        NodeKind::AssignmentExpression
        | NodeKind::InitDeclarator
        | NodeKind::ParenthesizedExpression
        | NodeKind::CastExpression => true,
        NodeKind::BinaryExpression => {
            !matches!(tree.operator(*node), Some(NodeKind::AmpersandAmpersand | NodeKind::BarBar))
        }
        _ => false,
    };
    let statement = tree.ancestors(call).find(|node| !is_around(node))?;
    let is_static = || tree.named_children(statement).any(|part| tree.kind(part) == NodeKind::StorageClassSpecifier);
    let is_in_block = || tree.parent(statement).is_some_and(|above| tree.kind(above) == NodeKind::CompoundStatement);
    let is_made = match tree.kind(statement) {
        NodeKind::ExpressionStatement => true,
        NodeKind::Declaration => is_in_block() && !is_static(),
        _ => false,
    };
    is_made.then_some(statement)
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
        let name = cx.called_name(self.binding.call).map(|node| cx.file.show(cx.tree.span(node)));
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
            own_items: RefCell::default(),
            only_read: Vec::new(),
            trouble: own
                .trouble
                .as_ref()
                .map(|reason| Reason::new(reason.code, extent, format!("{} (in the called function)", reason.message))),
        };
        for item in &own.items {
            match self.item(item) {
                Some(found) if mapping.item(found.named.id).is_none() => {
                    mapping.only_read.extend((!own.writes(cx, &item.named)).then_some(found.named.id));
                    mapping.items.push(found);
                }
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
        let (given, own) = (variable.ty.dereferenced(), other.ty.dereferenced());
        // Pointers to numbers of different types do not convert to each other, so that `T` is what it must be.
        let is_of_template = matches!(own, DeclaredType::TypeParameter { .. }) && other.ty.is_pointer();
        let same = given.number().is_some_and(|number| is_of_template || Some(number) == own.number());
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
        cx.is_arithmetic(expression).then_some(())?;
        let mut names = cx.names_in(expression);
        names.sort_by_key(|(_, span)| span.start);
        for (name, span) in names {
            let known = cx.named(&name, span.start).map(|(named, _)| named);
            let replacement = match known.and_then(|named| Some((named.id, self.binding.argument(named.id)?))) {
                Some((id, argument)) => {
                    self.host.writes_variable(id).is_none().then_some(())?;
                    self.keeps_value(&name, span.start, argument, span != expression).then_some(())?;
                    let argument = cx.tree.span(argument);
                    noted.push(argument);
                    operand(&on_one_line(cx.file, argument))
                }
                None => {
                    let macros = [here, span.start].map(|at| cx.symbols().macro_definition(&name, at));
                    let declared = [here, span.start].map(|at| cx.symbols().lookup(&name, at));
                    let declared = declared.map(|found| found.map(|found| (found.header, found.declared_at)));
                    let means_the_same = macros[0] == macros[1] && declared[0] == declared[1];
                    (means_the_same && cx.constant(span).is_some()).then(|| name.clone())?
                }
            };
            text += &cx.file.show(Span::new(from, span.start));
            text += &replacement;
            from = span.end;
        }
        text += &cx.file.show(Span::new(from, expression.end));
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Is an argument a sum or product of integers that the parameter's type can hold? Where something is computed from the parameter, it
    /// must be computed in the same type from the argument.
    fn keeps_value(&self, parameter: &str, at: usize, argument: NodeId, is_computed_with: bool) -> bool {
        let cx = self.cx;
        let integer_of =
            |name: &str, at: usize| cx.declared_type(name, at).and_then(|ty| ty.number().and_then(Number::integer));
        let Some(own) = integer_of(parameter, at).filter(|own| own.bits >= 32) else { return false };
        let is_int = own.bits == 32 && own.signed;
        let is_small = |span: Span| cx.constant(span).is_some_and(|value| (0..=i64::from(i32::MAX)).contains(&value));
        let holds = |given: Integer| given.bits <= own.bits && (given.signed || !own.signed || given.bits < own.bits);
        cx.tree.descendants(argument).filter(|node| cx.tree.is_named(*node)).all(|node| match cx.tree.kind(node) {
            NodeKind::ParenthesizedExpression => true,
            NodeKind::NumberLiteral => {
                let is_plain = cx.file.bytes(cx.tree.span(node)).iter().all(u8::is_ascii_digit);
                is_small(cx.tree.span(node)) && (!is_computed_with || is_int && is_plain)
            }
            NodeKind::BinaryExpression => {
                matches!(cx.tree.operator(node), Some(NodeKind::Plus | NodeKind::Minus | NodeKind::Star))
            }
            NodeKind::Identifier => {
                let span = cx.tree.span(node);
                let given = integer_of(&cx.file.show(span), span.start);
                match given {
                    Some(given) if is_computed_with => given == own,
                    Some(given) => holds(given) || is_small(span),
                    None => is_small(span) && (!is_computed_with || is_int && self.is_int(node)),
                }
            }
            _ => false,
        })
    }

    /// Is a constant's name one of an enumerator, or of a macro that is a plain number?
    fn is_int(&self, name: NodeId) -> bool {
        let (cx, span) = (self.cx, self.cx.tree.span(name));
        let name = cx.file.show(span);
        match cx.symbols().macro_definition(&name, span.start) {
            Some(definition) => definition.body.trim().bytes().all(|byte| byte.is_ascii_digit()),
            None => cx.symbols().lookup(&name, span.start).is_some_and(|found| found.kind == NameKind::Enumerator),
        }
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
