//! Constructs of called functions as their callers see them: what `f(a, b, n)` maps is named by the arguments.

mod arguments;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::effects::{Binding, HostEffects, Storage, Touch, UnknownKind};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::first_run::conditions;
use crate::transforms::hoist_maps::items::{Item, Length, normal, operand};
use arguments::Handed;

/// What calls of functions in sight run.
#[derive(Default)]
pub(super) struct Called {
    /// Their constructs, one after the other for each call.
    pub mappings: Vec<Mapping>,
    /// What keeps its maps because the caller cannot name it: the call, and why.
    pub unnamed: Vec<(NodeId, Reason)>,
}

/// The constructs that calls in the file run.
pub(super) fn called(cx: &Context<'_>, all: &[Mapping]) -> Called {
    let mut by_function: BTreeMap<NodeId, Vec<&Mapping>> = BTreeMap::new();
    for mapping in all {
        if let Some(function) = cx.function_of(cx.tree.span(mapping.body)) {
            by_function.entry(function).or_default().push(mapping);
        }
    }
    let mut found = Called::default();
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    for call in calls(cx) {
        let Some(name) = cx.called_name(call).map(|name| cx.file.show(cx.tree.span(name))) else { continue };
        let definitions = cx.symbols().function_definitions(&name);
        let runs_constructs =
            |(header, node): &(Option<usize>, NodeId)| header.is_none() && by_function.contains_key(node);
        if !definitions.iter().any(runs_constructs) {
            continue;
        }
        let span = cx.tree.span(call);
        let refusal = |message: String| (call, Reason::new(ReasonCode::EnvironmentPlace, span, message));
        let statement = statement_of(cx, call).filter(|statement| seen.insert(*statement));
        let binding = cx.binding(call).and_then(|binding| Some((by_function.get(&binding.definition)?, binding)));
        let mut own = definitions.iter().filter_map(|(_, node)| Some((*node, by_function.get(node)?)));
        if binding.is_none() && own.all(|(function, mappings)| has_own_data(cx, function, mappings)) {
            let message = format!("each call of `{name}` has data of its own, and environments for them");
            found.unnamed.push((call, Reason::new(ReasonCode::NothingToHoist, span, message)));
            continue;
        }
        match (statement, binding) {
            (Some(statement), Some((own, binding))) => {
                let (mappings, unnamed) = Call::new(cx, statement, binding, own).mappings(own);
                found.mappings.extend(mappings);
                found.unnamed.extend(unnamed.into_iter().map(|reason| (call, reason)));
            }
            (None, _) => {
                found.unnamed.push(refusal(format!("`{name}` is not called by a statement of its own here")));
            }
            (_, None) => found.unnamed.push(refusal(format!("which `{name}` is called here is not certain"))),
        }
    }
    found
}

/// Do the constructs of a function map nothing but its local variables, in data environments of that function?
fn has_own_data(cx: &Context<'_>, function: NodeId, mappings: &[&Mapping]) -> bool {
    let body = cx.tree.child(function, Field::Body).map(|body| cx.tree.span(body));
    let is_local = |item: &Item| body.is_some_and(|body| item.named.id.is_within(body));
    are_held(mappings) && mappings.iter().flat_map(|mapping| &mapping.items).all(is_local)
}

/// Do all constructs of a function stand in data environments of that function?
fn are_held(mappings: &[&Mapping]) -> bool {
    let environments: Vec<Span> = mappings.iter().filter(|it| it.is_data).map(|it| it.extent).collect();
    let mut kernels = mappings.iter().filter(|it| !it.is_data);
    kernels.all(|kernel| environments.iter().any(|extent| extent.contains(kernel.extent)))
}

/// The calls of the file.
fn calls<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = NodeId> + 'c {
    cx.tree.all_of(&[NodeKind::CallExpression])
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
    /// Do its constructs stand in data environments of its own?
    are_held: bool,
}

impl<'c, 'a> Call<'c, 'a> {
    fn new(cx: &'c Context<'a>, statement: NodeId, binding: Binding, own: &[&Mapping]) -> Self {
        let kernels = kernels_of(cx, binding.definition);
        let body = cx.tree.child(binding.definition, Field::Body);
        let host = body.map(|body| cx.host_effects(body, &kernels)).unwrap_or_default();
        Self { cx, statement, binding, host, are_held: are_held(own) }
    }

    /// The constructs of the function, and why the caller cannot name some of what they map.
    fn mappings(&self, own: &[&Mapping]) -> (Vec<Mapping>, Vec<Reason>) {
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
        let mut unnamed = Vec::new();
        let mut found: Vec<Mapping> = own.iter().map(|mapping| self.mapping(mapping, &mut unnamed)).collect();
        if let Some(first) = found.first_mut() {
            first.touches.extend(outside.touches);
            first.trouble = first.trouble.take().or(trouble);
        }
        (found, unnamed)
    }

    /// One construct of the function.
    fn mapping(&self, own: &Mapping, unnamed: &mut Vec<Reason>) -> Mapping {
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
                Ok(found) if mapping.item(found.named.id).is_none() => {
                    mapping.only_read.extend((!own.writes(cx, &item.named)).then_some(found.named.id));
                    mapping.items.push(found);
                }
                // `dot(r, r, n)`: the copy that the first parameter brings serves both.
                Ok(found) => {
                    let is_read = found.to && !found.from && !own.writes(cx, &item.named);
                    let is_other = |known: &Item| !is_read || known.from || !known.to || known.section != found.section;
                    let known = mapping.items.iter_mut().filter(|known| known.named.id == found.named.id);
                    known.filter(|known| is_other(known)).for_each(|known| {
                        known.trouble = Some("the call maps it twice");
                    });
                }
                // What is mapped by another expression is memory that the copies read and write.
                Err(reason) => {
                    mapping.touches.push(self.unnamed(item));
                    unnamed.push(reason);
                }
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

    /// An item in the caller's terms.
    ///
    /// # Errors
    /// Why there is no name for it.
    fn item(&self, own: &Item) -> Result<Item, Reason> {
        let cx = self.cx;
        let (name, extent) = (&own.named.name, cx.tree.span(self.statement));
        let refuse = |span, message: String| Reason::new(ReasonCode::MapNotUnited, span, message);
        let handed = match self.binding.argument(own.named.id) {
            Some(argument) => {
                let span = cx.tree.span(argument);
                if self.host.writes_variable(own.named.id).is_some() {
                    return Err(refuse(span, format!("the called function changes `{name}`")));
                }
                self.array_handed(argument, &own.named).ok_or_else(|| {
                    refuse(span, format!("what is handed for `{name}` is no array of the same elements by its name"))
                })?
            }
            None if self.is_of_each_call(own) => {
                let message = format!("each call has data of its own for `{name}`");
                return Err(Reason::new(ReasonCode::NothingToHoist, extent, message));
            }
            None => {
                let named = self
                    .global(&own.named)
                    .ok_or_else(|| refuse(extent, format!("`{name}` of the called function has no name here")))?;
                Handed { named, span: own.span, offset: None }
            }
        };
        self.item_of(own, handed).ok_or_else(|| {
            refuse(extent, format!("the section of `{name}` in the called function cannot be computed here"))
        })
    }

    /// Is it a local variable of the function that leads to memory of its own, or that an environment of the function holds?
    fn is_of_each_call(&self, own: &Item) -> bool {
        let is_local = own.named.id.is_within(self.cx.tree.span(self.binding.definition));
        is_local && (self.are_held || self.cx.leads_to_own_memory(&own.named))
    }

    /// The section of the function's item, from where on the array is handed over.
    fn item_of(&self, own: &Item, handed: Handed) -> Option<Item> {
        let cx = self.cx;
        let Handed { named, span, offset } = handed;
        let mut expressions: Vec<Span> = Vec::new();
        let mut rename = |expression: Span| self.renamed(expression, &mut expressions);
        let texts: Option<Vec<(Span, String)>> =
            own.expressions.iter().map(|span| Some((*span, rename(*span)?))).collect();
        let texts = texts?;
        let mut section = self.section(own, &texts)?;
        if let Some(offset) = offset {
            let offset = cx.tree.span(offset);
            cx.is_arithmetic(offset).then_some(())?;
            // The section then starts where the argument leads to.
            let length = normal(&section).strip_prefix("[:").is_some().then(|| section.split_once(':'))??.1.to_owned();
            section = format!("[{}:{length}", on_one_line(cx.file, offset));
            expressions.push(offset);
        }
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
            length: own.length.as_ref().filter(|_| offset.is_none()).and_then(length),
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
    let targets = cx.constructs.ids_within(span).filter(|id| cx.constructs.is_target(*id));
    targets.filter_map(|id| cx.constructs.construct(id).body).map(|body| cx.tree.span(body)).collect()
}
