//! Constructs of called functions as their callers see them: what `f(a, b, n)` maps is named by the arguments.

mod arguments;
mod graph;
mod objects;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::Origin;
use crate::semantics::effects::{Binding, HostEffects, Named, Storage, Touch, UnknownKind};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::checks::addresses::operand;
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::first_run::{Root, terms};
use crate::transforms::hoist_maps::items::{Item, Length, compared};
use crate::transforms::hoist_maps::members::text::Changed;
use crate::transforms::hoist_maps::templates::Template;
use arguments::Handed;
use graph::Graph;

/// What calls of functions in sight run.
#[derive(Default)]
pub(super) struct Called {
    /// Their constructs, one after the other for each call.
    pub mappings: Vec<Mapping>,
    /// What keeps its maps because the caller cannot name it: the call, and why.
    pub unnamed: Vec<(NodeId, Reason)>,
}

/// The constructs that calls in the file run, those of functions that the called ones call among them.
pub(super) fn called(cx: &Context<'_>, all: &[Mapping], made: Option<&Changed>) -> Called {
    let mut own: BTreeMap<NodeId, Vec<&Mapping>> = BTreeMap::new();
    for mapping in all {
        if let Some(function) = cx.function_of(cx.tree.span(mapping.body)) {
            own.entry(function).or_default().push(mapping);
        }
    }
    let mut graph = Graph { cx, made, own, calls: BTreeMap::new(), found: BTreeMap::new(), unnamed: Vec::new() };
    for call in calls(cx) {
        if let Some(name) = cx.called_name(call).map(|name| cx.file.show(cx.tree.span(name)).into_owned()) {
            graph.calls.entry(cx.function_of(cx.tree.span(call))).or_default().push((call, name));
        }
    }
    for caller in graph.calls.keys().copied().collect::<Vec<_>>() {
        graph.read(caller, &mut BTreeSet::new());
    }
    let mut mappings: Vec<Mapping> = graph.found.into_values().flatten().collect();
    // In the order of the text; those of one call are in order.
    mappings.sort_by_key(|mapping| mapping.extent.start);
    let mut unnamed = graph.unnamed;
    unnamed.sort_by_key(|(call, _)| cx.tree.span(*call).start);
    Called { mappings, unnamed }
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

/// One call, and what the function does on the host.
struct Call<'c, 'a> {
    cx: &'c Context<'a>,
    /// The text that was made of the file, where it is one.
    made: Option<&'c Changed>,
    statement: NodeId,
    binding: Binding,
    /// What the called function does beside its kernels, in its own terms.
    host: HostEffects,
    /// The variables of the function that its constructs write, such as `n` of `map(tofrom: n)`.
    copied_back: BTreeSet<VariableId>,
    /// Do its constructs stand in data environments of its own?
    are_held: bool,
}

impl<'c, 'a> Call<'c, 'a> {
    fn new(
        cx: &'c Context<'a>,
        made: Option<&'c Changed>,
        statement: NodeId,
        binding: Binding,
        own: &[&Mapping],
    ) -> Self {
        let kernels = kernels_of(cx, binding.definition);
        let body = cx.tree.child(binding.definition, Field::Body);
        let host = body.map(|body| cx.host_effects(body, &kernels)).unwrap_or_default();
        let copied_back = own.iter().flat_map(|mapping| &mapping.touches).filter(|touch| touch.writes);
        let copied_back = copied_back.filter_map(|touch| match &touch.storage {
            Storage::Variable(named) => Some(named.id),
            Storage::Behind(_) | Storage::Memory => None,
        });
        Self { cx, made, statement, binding, host, copied_back: copied_back.collect(), are_held: are_held(own) }
    }

    /// May the function, or one of its constructs, write a variable of its own?
    fn changes(&self, id: VariableId) -> bool {
        self.host.writes_variable(id).is_some() || self.copied_back.contains(&id)
    }

    /// The constructs of the function, and why the caller cannot name some of what they map.
    fn mappings(&self, own: &[&Mapping], unread: Option<String>) -> (Vec<Mapping>, Vec<Reason>) {
        let cx = self.cx;
        let outside = cx.host_effects(self.statement, &[]);
        // The constructs of all that are called are looked at, but for one.
        let unknown = outside.unknown.iter().find(|it| it.kind != UnknownKind::Constructs);
        let trouble = unknown.map(|it| Reason::new(ReasonCode::HostAccess, it.span, it.message.clone()));
        let trouble = trouble.or_else(|| {
            let message = format!("what `{}` runs is not known", unread?);
            Some(Reason::new(ReasonCode::EnvironmentPlace, cx.tree.span(self.statement), message))
        });
        let trouble = trouble.or_else(|| self.written_beside_data(own));
        let mut unnamed = Vec::new();
        // What the statement does is the same for all constructs that it runs, which may be many.
        let inside = cx.effects_with_kernels(self.statement);
        let mut found: Vec<Mapping> = Vec::new();
        let mut around: Option<&Mapping> = None;
        for mapping in own {
            let read = self.mapping(mapping, own, &inside, &mut unnamed);
            match (around.filter(|data| data.extent.contains(mapping.extent)), found.last_mut()) {
                (Some(_), Some(data)) => data.hold(read),
                _ => {
                    around = mapping.is_data.then_some(*mapping);
                    found.push(read);
                }
            }
        }
        if let Some(first) = found.first_mut() {
            first.touches.extend(outside.touches);
            first.trouble = first.trouble.take().or(trouble);
        }
        (found, unnamed)
    }

    /// Why the function's environments may not become part of another one: what the host writes in them is lost where they end, but
    /// only while they copy something back.
    fn written_beside_data(&self, own: &[&Mapping]) -> Option<Reason> {
        let cx = self.cx;
        let is_number = |named: &Named| cx.declared_type(&named.name, named.at).is_some_and(|ty| ty.is_scalar());
        let is_memory =
            |touch: &&Touch| touch.writes && !matches!(&touch.storage, Storage::Variable(named) if is_number(named));
        let holds_data = own.iter().any(|mapping| mapping.is_data);
        self.host.touches.iter().find(is_memory).filter(|_| holds_data)?;
        let message = "the called function writes memory beside a data environment of its own";
        Some(Reason::new(ReasonCode::EnvironmentPlace, cx.tree.span(self.statement), message))
    }

    /// One construct of all in the function.
    fn mapping(&self, own: &Mapping, all: &[&Mapping], inside: &HostEffects, unnamed: &mut Vec<Reason>) -> Mapping {
        let cx = self.cx;
        let kernels = || all.iter().filter(|it| own.is_data && !it.is_data && own.extent.contains(it.extent));
        let writes = |named: &Named| own.writes(cx, named) || kernels().any(|kernel| kernel.writes(cx, named));
        let extent = cx.tree.span(self.statement);
        let body = cx.tree.child(self.binding.definition, Field::Body);
        let guards = body.and_then(|body| self.guards(body, own));
        let changed = |id: VariableId| self.changes(id);
        let touches = own.touches.iter().chain(&own.head_touches(cx)).cloned().collect::<Vec<_>>();
        let touches = touches.iter().filter_map(|touch| cx.as_called(touch, &self.binding, &changed)).collect();
        let mut mapping = Mapping {
            id: own.id,
            body: self.statement,
            extent,
            is_data: false,
            is_conditional: guards.is_none(),
            guards: guards.unwrap_or_default(),
            exits: Vec::new(),
            items: Vec::new(),
            touches,
            called: Some(extent),
            path: std::iter::once(self.binding.definition).chain(own.path.iter().copied()).collect(),
            inside: OnceCell::from(inside.clone()),
            own_items: RefCell::default(),
            only_read: Vec::new(),
            trouble: own.trouble.as_ref().map(|reason| Reason::new(reason.code, extent, in_called(&reason.message))),
        };
        if own.is_data && (own.is_conditional || !own.exits.is_empty()) {
            let message = "the called function has data environments of its own, which may hold nothing";
            mapping.trouble.get_or_insert(Reason::new(ReasonCode::EnvironmentPlace, extent, message));
        }
        for item in own.items.iter().filter(|item| !self.is_nothing(item)) {
            match self.item(item) {
                Ok(found) if mapping.item(found.named.id).is_none() => {
                    mapping.only_read.extend((!writes(&item.named)).then_some(found.named.id));
                    mapping.items.push(found);
                }
                // `dot(r, r, n)`: the copy that the first parameter brings serves both.
                Ok(found) => {
                    let is_read = found.to && !found.from && !writes(&item.named);
                    let is_other = |known: &Item| !is_read || known.from || !known.to || known.section != found.section;
                    let known = mapping.items.iter_mut().filter(|known| known.named.id == found.named.id);
                    known.filter(|known| is_other(known)).for_each(|known| {
                        known.trouble = Some("the call maps it twice");
                    });
                }
                // What is mapped by another expression is memory that the copies read and write.
                Err(reason) => {
                    // An array of the function itself is not there for the caller.
                    let is_reached = cx.owner(&item.named).origin != Origin::AutomaticArray;
                    mapping.touches.extend(is_reached.then(|| self.unnamed(item)));
                    unnamed.push(reason);
                }
            }
        }
        mapping
    }

    /// When the function runs a construct, in the caller's terms: nothing where these would be odd to read, with constants that the call
    /// hands over, of which compilers warn.
    fn guards(&self, body: NodeId, own: &Mapping) -> Option<Vec<Template>> {
        let cx = self.cx;
        (!own.is_conditional).then_some(())?;
        let own = terms(cx, (body, Root::Called), own, &self.host)?;
        let renamed = |value, has_own_brackets| match has_own_brackets {
            true => self.renamed(value, true),
            false => self.renamed_names(value, true),
        };
        let mut found = Vec::new();
        for own in own {
            let term = own.replaced(renamed)?;
            match term.certainty(cx) {
                Some(holds) => holds.then_some(())?,
                None => {
                    term.is_plain(cx).then_some(())?;
                    found.push(term);
                }
            }
        }
        Some(found)
    }

    /// Is a null pointer handed over for it? Then a construct that maps some of it does not run, or maps no bytes.
    fn is_nothing(&self, own: &Item) -> bool {
        let parameter = self.first_behind(&own.named);
        let argument = self.binding.argument(parameter.id);
        let is_kept = !self.changes(parameter.id);
        is_kept && argument.is_some_and(|argument| self.cx.is_null_handed(argument, &parameter))
    }

    fn unnamed(&self, item: &Item) -> Touch {
        let touch =
            Touch { storage: Storage::Behind(item.named.clone()), writes: true, is_of_first: false, span: item.span };
        let changed = |id: VariableId| self.changes(id);
        let extent = self.cx.tree.span(self.statement);
        let memory = Touch { storage: Storage::Memory, writes: true, is_of_first: false, span: extent };
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
        let parameter = self.parameter_behind(&own.named);
        if let Some(handed) = self.member_handed(&own.named) {
            return self.item_of(own, handed).ok_or_else(|| {
                refuse(extent, format!("the section of `{name}` in the called function cannot be computed here"))
            });
        }
        let handed = match self.binding.argument(parameter) {
            Some(argument) => {
                let span = cx.tree.span(argument);
                if self.changes(parameter) {
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
        let renamed = |template: &Template| template.replaced(|value, is_operand| self.renamed(value, is_operand));
        let mut template = renamed(&own.template)?;
        if let Some(offset) = offset {
            let offset = cx.tree.span(offset);
            cx.is_arithmetic(offset).then_some(())?;
            // The section then starts where the argument leads to.
            own.section.starts_with("[:").then_some(())?;
            template = template.starting_at(offset)?;
        }
        let section = template.text(cx);
        let expressions = template.expressions();
        let length = |length: &Length| {
            let template = renamed(&length.template)?;
            Some(Length { text: operand(&template.text(cx)), expressions: template.expressions(), template })
        };
        let lengths = expressions.iter().flat_map(|span| cx.names_in(*span));
        let lengths = lengths.filter_map(|(name, span)| cx.named(&name, span.start)).map(|(named, _)| named).collect();
        Some(Item {
            text: format!("{}{section}", named.name),
            section: compared(cx, &named, &section, cx.tree.span(self.statement).start),
            template,
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
}

impl Mapping {
    /// Takes in a construct that stands in this `target data` of the same called function. What that holds is there already: the
    /// construct's own map says nothing, unless it has modifiers such as `always`, and the `target data` is where data come and go.
    fn hold(&mut self, inner: Self) {
        for item in &inner.items {
            match self.items.iter_mut().find(|held| held.named.id == item.named.id) {
                Some(held) => held.trouble = held.trouble.or(item.trouble),
                None => {
                    let message = "the called function maps more data inside of a data environment of its own";
                    self.trouble.get_or_insert(Reason::new(ReasonCode::EnvironmentPlace, self.extent, message));
                }
            }
        }
        self.touches.extend(inner.touches);
        self.trouble = self.trouble.take().or(inner.trouble);
    }
}

/// What is said of a construct of a called function.
fn in_called(message: &str) -> String {
    const WHERE: &str = "(in the called function)";
    if message.ends_with(WHERE) { message.to_owned() } else { format!("{message} {WHERE}") }
}

fn kernels_of(cx: &Context<'_>, function: NodeId) -> Vec<Span> {
    let span = cx.tree.span(function);
    let targets = cx.constructs.ids_within(span).filter(|id| cx.constructs.is_target(*id));
    targets.filter_map(|id| cx.constructs.construct(id).body).map(|body| cx.tree.span(body)).collect()
}
