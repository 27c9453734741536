//! The constructs that map data, and what each maps, as written and by the rules for variables that no clause names.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::{Chain, TargetRegion, target_regions};
use crate::semantics::effects::{HostEffects, Named, Storage, Touch};
use crate::semantics::symbols::{DeclaredType, Scope, VariableId};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Behaviour, Category, Clause, ClauseName, Defaultmap, Field, ListItem, NodeId, NodeKind};
use crate::transforms::checks;
use crate::transforms::hoist_maps::items::{
    Item, Length, compared, follows_nothing, is_array, is_object, item_trouble, item_trouble_of_whole,
};
use crate::transforms::hoist_maps::pairs::pairs;
use crate::transforms::hoist_maps::templates::Template;

/// A `target` region or a `target data` construct.
pub(super) struct Mapping {
    pub id: ConstructId,
    /// The statement behind its directives.
    pub body: NodeId,
    /// From its first directive to the end of its body.
    pub extent: Span,
    /// Is it `target data`?
    pub is_data: bool,
    /// Is it a `target data` that may map nothing, by its `if`?
    pub is_conditional: bool,
    /// When the called function that it stands in runs it, as far as the caller can tell; nothing stands here for other constructs.
    pub guards: Vec<Template>,
    /// The `target exit data` that end it, where `target enter data` begins it. Its body is the block that it stands in.
    pub exits: Vec<Span>,
    pub items: Vec<Item>,
    /// What the host reads and writes for it besides: copies of variables, sums that come back.
    pub touches: Vec<Touch>,
    /// The call that runs it, where it is a construct of a called function.
    pub called: Option<Span>,
    /// The functions that are entered before it runs: the one that is called here first.
    pub path: Vec<NodeId>,
    /// What its body does on the device, once it is asked for.
    pub(super) inside: OnceCell<HostEffects>,
    /// Which names lead to its items in all of its body, as far as that was asked.
    pub(super) own_items: RefCell<BTreeMap<VariableId, bool>>,
    /// The items that its body is known only to read.
    pub only_read: Vec<VariableId>,
    /// Why it is not understood.
    pub trouble: Option<Reason>,
}

impl Mapping {
    /// Where it stands, for messages.
    pub(super) fn place(&self, cx: &Context<'_>) -> Span {
        self.called.unwrap_or(cx.constructs.directive(self.id).span)
    }

    /// Is a directive one that makes it?
    pub(super) fn is_made_by(&self, cx: &Context<'_>, directive: Span) -> bool {
        cx.constructs.directive(self.id).span == directive || self.exits.contains(&directive)
    }

    /// What it maps of a variable.
    pub(super) fn item(&self, id: VariableId) -> Option<&Item> {
        self.items.iter().find(|item| item.named.id == id)
    }
}

/// All constructs in these functions that map data, in the order of the text.
pub(super) fn read(cx: &Context<'_>, functions: &[Span]) -> Vec<Mapping> {
    let is_inside = |region: &TargetRegion| functions.iter().any(|function| function.contains(region.extent));
    let regions = target_regions(cx.tree, cx.constructs);
    let data = cx.constructs.ids().filter(|id| cx.constructs.directive(*id).is("target data"));
    let data = data.filter_map(|id| data_region(cx, id));
    let mut all: Vec<Mapping> =
        regions.into_iter().chain(data).filter(is_inside).filter_map(|region| mapping(cx, &region)).collect();
    all.extend(functions.iter().flat_map(|function| pairs(cx, *function)));
    all.sort_by_key(|mapping| mapping.extent.start);
    all
}

fn data_region(cx: &Context<'_>, id: ConstructId) -> Option<TargetRegion> {
    cx.constructs.construct(id).body?;
    let extent = Span::new(cx.constructs.directive(id).span.start, cx.constructs.construct(id).body_span.end);
    let chain = Chain { constructs: vec![id], leaves: cx.constructs.construct(id).leaves.clone() };
    Some(TargetRegion { chain, segments: Vec::new(), extent })
}

fn mapping(cx: &Context<'_>, region: &TargetRegion) -> Option<Mapping> {
    let id = region.chain.constructs.first().copied()?;
    let construct = cx.constructs.construct(id);
    let body = construct.body?;
    let is_data = construct.leaves.first() != Some(&Leaf::Target);
    let directive = cx.constructs.directive(id);
    let mut found = Mapping {
        id,
        body,
        extent: region.extent,
        is_data,
        guards: Vec::new(),
        is_conditional: is_data && directive.clauses_of(ClauseName::If).next().is_some(),
        exits: Vec::new(),
        items: Vec::new(),
        touches: Vec::new(),
        called: None,
        path: Vec::new(),
        inside: OnceCell::new(),
        own_items: RefCell::default(),
        only_read: Vec::new(),
        trouble: None,
    };
    let doubt = if is_data {
        checks::text_reasons(cx, &TargetRegion { extent: directive.span, ..region.clone() }).into_iter().next()
    } else {
        let inside = cx.tree.span(body);
        cx.device_code(region).or_else(|| checks::reasons_around_body(cx, region, inside).into_iter().next())
    };
    found.trouble = doubt.or_else(|| {
        let above = construct.stacked_under.map(|above| cx.constructs.directive(above));
        above.filter(|above| !above.is("target data")).map(|_| stacked(directive.span))
    });
    for clause in &directive.clauses {
        found.read_clause(cx, clause);
    }
    if !is_data {
        found.read_implicit(cx);
    }
    Some(found)
}

/// The words of an expression that are no numbers.
fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| !word.starts_with(|first: char| first.is_ascii_digit()))
}

/// The loop in whose head a name is declared, from the declaration on.
fn loop_of_head(cx: &Context<'_>, name: NodeId) -> Option<Span> {
    let tree = cx.tree;
    let declaration = tree.ancestors(name).find(|node| tree.kind(*node) == NodeKind::Declaration)?;
    let around = tree.parent(declaration).filter(|it| tree.kind(*it) == NodeKind::ForStatement)?;
    Some(Span::new(tree.span(name).end, tree.span(around).end))
}

/// What a `defaultmap` clause says of variables that no other clause lists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByDefault {
    /// Nothing else than what holds without it, or that there are none.
    AsEver,
    /// Scalars come back from the device, where the kernel may have written them.
    ScalarsComeBack,
    /// Structures come back without having been there.
    ObjectsLost,
    /// Scalars come back without having been there.
    ScalarsLost,
}

/// What a `defaultmap` clause says of arrays: are they brought to the device, and back?
fn arrays_by_default(cx: &Context<'_>, clause: &Clause) -> Option<(bool, bool)> {
    let Defaultmap { behaviour, .. } =
        Defaultmap::of(cx.file, clause).filter(|clause| clause.category == Category::Aggregate)?;
    match behaviour {
        Behaviour::To => Some((true, false)),
        Behaviour::From => Some((false, true)),
        Behaviour::Alloc => Some((false, false)),
        _ => None,
    }
}

/// What a `defaultmap` clause says, unless that is about pointers, or of arrays and structures by [`arrays_by_default`].
fn by_default(cx: &Context<'_>, clause: &Clause) -> Option<ByDefault> {
    use Behaviour as B;
    let Defaultmap { behaviour, category } = Defaultmap::of(cx.file, clause)?;
    match (category, behaviour) {
        (Category::All, B::None | B::Default)
        | (Category::Aggregate, B::Tofrom | B::To | B::Alloc | B::None | B::Default)
        | (Category::Scalar, B::Alloc | B::Default | B::Firstprivate | B::None | B::To) => Some(ByDefault::AsEver),
        (Category::Scalar, B::Tofrom) => Some(ByDefault::ScalarsComeBack),
        (Category::Scalar, B::From) => Some(ByDefault::ScalarsLost),
        (Category::Aggregate, B::From) => Some(ByDefault::ObjectsLost),
        _ => None,
    }
}

fn stacked(span: Span) -> Reason {
    Reason::new(ReasonCode::EnvironmentPlace, span, "another directive stands directly before this one")
}

impl Mapping {
    pub(super) fn read_clause(&mut self, cx: &Context<'_>, clause: &Clause) {
        use ClauseName as C;
        match clause.name {
            C::Map => self.read_map(cx, clause),
            C::Firstprivate | C::Lastprivate | C::Reduction | C::Linear => {
                for item in clause.items() {
                    self.touch_item(cx, item, clause.name != C::Firstprivate);
                }
            }
            C::NumTeams | C::ThreadLimit | C::NumThreads | C::Schedule | C::DistSchedule => {
                self.read_names(cx, clause.span);
            }
            C::If if self.is_data => self.read_names(cx, clause.span),
            C::If if clause.directive_name_modifier().is_some_and(|leaves| !leaves.contains(&Leaf::Target)) => {
                self.read_names(cx, clause.span);
            }
            C::Private
            | C::Shared
            | C::Default
            | C::Collapse
            | C::ProcBind
            | C::Order
            | C::Simdlen
            | C::Safelen
            | C::Aligned
            | C::Bind
            | C::IsDevicePtr
            | C::HasDeviceAddr => {}
            // What no clause lists stays as it is, or is a scalar: see `Self::read_implicit`.
            C::Defaultmap if by_default(cx, clause).is_some() => {}
            C::Defaultmap => {
                let message = "what `defaultmap` says of arrays and pointers that no clause lists is not followed";
                self.trouble.get_or_insert(Reason::new(ReasonCode::EnvironmentPlace, clause.span, message));
            }
            // It may be the tool's own question, of which nobody wants to read by its name.
            C::UseDevicePtr => {
                let message = "a pointer is asked for its address on the device, which tells whether data are there";
                self.trouble.get_or_insert(Reason::new(ReasonCode::EnvironmentPlace, clause.span, message));
            }
            _ => {
                let message =
                    format!("`{}` may make its copies at another time or place", cx.file.show(clause.name_span));
                self.trouble.get_or_insert(Reason::new(ReasonCode::EnvironmentPlace, clause.span, message));
            }
        }
    }

    /// The variables that the host reads for an expression of a clause, and what they lead to.
    fn read_names(&mut self, cx: &Context<'_>, expression: Span) {
        let text = cx.file.show(expression);
        for name in names(&text) {
            let Some((named, variable)) = cx.named(name, expression.start) else { continue };
            let mut note =
                |storage| self.touches.push(Touch { storage, writes: false, is_of_first: false, span: expression });
            match &variable.ty {
                ty if ty.is_scalar() => note(Storage::Variable(named)),
                ty if is_object(cx, ty, named.at) && follows_nothing(cx, expression) => note(Storage::Variable(named)),
                ty => {
                    note(if ty.is_pointer() { Storage::Behind(named) } else { Storage::Variable(named) });
                    // What its elements lead to.
                    note(Storage::Memory);
                }
            }
        }
    }

    /// What the host reads of memory for the heads of the loops that a kernel shares: compilers count their iterations there.
    pub(super) fn head_touches(&self, cx: &Context<'_>) -> Vec<Touch> {
        let mut found = Vec::new();
        let mut node = self.body;
        while cx.tree.kind(node) == NodeKind::ForStatement && !self.is_data {
            let Some(inner) = cx.tree.child(node, Field::Body) else { break };
            for part in cx.tree.children(node).filter(|child| *child != inner) {
                found.extend(cx.host_effects(part, &[]).touches);
            }
            node = inner;
        }
        let is_plain =
            |named: &Named| cx.declared_type(&named.name, named.at).is_some_and(|ty| ty.is_scalar() || ty.is_pointer());
        let is_memory =
            |touch: &Touch| !touch.writes && !matches!(&touch.storage, Storage::Variable(named) if is_plain(named));
        found.retain(is_memory);
        found
    }

    fn touch_item(&mut self, cx: &Context<'_>, item: &ListItem, writes: bool) {
        let named = item.base.as_deref().and_then(|base| cx.named(base, item.span.start));
        let storage = match named {
            // Which object a reference is bound to, only the calls of the function tell.
            Some((named, variable)) if matches!(variable.ty, DeclaredType::Reference { .. }) => {
                if variable.scope == Scope::Parameter { Storage::Behind(named) } else { Storage::Memory }
            }
            Some((named, variable)) if item.is_name && !variable.ty.is_pointer() => Storage::Variable(named),
            Some((named, _)) => Storage::Behind(named),
            None => Storage::Memory,
        };
        // What a member leads to is no part of the object.
        let members = (item.has_member && storage != Storage::Memory).then_some(Storage::Memory);
        for storage in std::iter::once(storage).chain(members) {
            self.touches.push(Touch { storage, writes, is_of_first: false, span: item.span });
        }
    }

    fn read_map(&mut self, cx: &Context<'_>, clause: &Clause) {
        let kinds = clause.modifiers.iter().filter(|modifier| modifier.argument.is_none());
        let said: Vec<&str> = kinds.map(|modifier| modifier.name.as_str()).collect();
        let (to, from, is_plain) = match said.as_slice() {
            [] | ["tofrom"] => (true, true, true),
            ["to"] => (true, false, true),
            ["from"] => (false, true, true),
            ["alloc"] => (false, false, true),
            _ => (true, true, false),
        };
        let is_plain = is_plain && clause.modifiers.iter().all(|modifier| modifier.argument.is_none());
        for item in clause.items() {
            for expression in item.sections.iter().flat_map(|section| [section.lower_bound, section.length]).flatten() {
                self.read_names(cx, expression);
            }
            let read = item.base.as_deref().and_then(|base| cx.named(base, item.span.start));
            let Some((named, variable)) = read.filter(|(_, variable)| is_array(&variable.ty) && !item.has_member)
            else {
                self.touch_item(cx, item, true);
                continue;
            };
            let trouble = match is_plain {
                _ if self.items.iter().any(|known| known.named.id == named.id) => Some("it is listed twice"),
                false => Some("its `map` has modifiers"),
                true if variable.is_thread_local || variable.is_extern && variable.scope == Scope::Local => {
                    Some("which object it is hangs on the thread or the block")
                }
                true => item_trouble(cx, item, &named, &variable.ty),
            };
            let section_length = || match item.sections.as_slice() {
                [only] if variable.ty.is_pointer() && variable.ty.dereferenced().is_scalar() => only
                    .length
                    .filter(|_| only.lower_bound.is_none_or(|lower| cx.file.bytes(lower) == b"0"))
                    .map(|span| Length::of(cx, span)),
                _ => None,
            };
            let expressions = item.sections.iter().flat_map(|section| [section.lower_bound, section.length]).flatten();
            let expressions: Vec<Span> = expressions.collect();
            let named_in = |span: &Span| {
                let text = cx.file.show(*span);
                names(&text).filter_map(|name| cx.named(name, span.start)).map(|(named, _)| named).collect::<Vec<_>>()
            };
            let lengths = expressions.iter().flat_map(named_in);
            let sections = item.sections.first().zip(item.sections.last());
            let sections = sections.map(|(first, last)| Span::new(first.span.start, last.span.end)).unwrap_or_default();
            let text: String = item.sections.iter().map(|section| on_one_line(cx.file, section.span)).collect();
            self.items.push(Item {
                text: on_one_line(cx.file, item.span),
                section: compared(cx, &named, &text, item.span.start),
                template: Template::of(cx, sections, &expressions),
                lengths: lengths.collect(),
                expressions,
                first_length: item.sections.first().and_then(|section| section.length).map(|span| Length::of(cx, span)),
                length: section_length(),
                to,
                from,
                is_explicit: true,
                span: item.span,
                trouble,
                named,
            });
        }
    }

    /// The variables that no clause names: numbers are copied, arrays mapped, pointers translated (OpenMP 5.2, section 5.8.1).
    fn read_implicit(&mut self, cx: &Context<'_>) {
        let body = cx.tree.span(self.body);
        let clauses = &cx.constructs.directive(self.id).clauses;
        let is_listed = |name: &str| clauses.iter().any(|clause| clause.lists(name));
        let default = clauses.iter().filter(|clause| clause.name == ClauseName::Defaultmap);
        let (to, from) = default.clone().find_map(|clause| arrays_by_default(cx, clause)).unwrap_or((true, true));
        let defaults: Vec<ByDefault> = default.filter_map(|clause| by_default(cx, clause)).collect();
        let mut counters: Vec<(String, Span)> = Vec::new();
        for used in uses_below(cx.file, cx.tree, self.body) {
            let is_counter = |(name, of_loop): &(String, Span)| *name == used.name && of_loop.contains(used.span);
            if used.role == Role::Declaration {
                counters.extend(loop_of_head(cx, used.node).map(|of_loop| (used.name, of_loop)));
                continue;
            }
            // The variables that heads of loops declare are those that are used most, and looking up is what costs time.
            if is_listed(&used.name) || counters.iter().any(is_counter) {
                continue;
            }
            let Some((named, variable)) = cx.named(&used.name, used.span.end) else { continue };
            if variable.id().is_within(body) || self.item(named.id).is_some() {
                continue;
            }
            if matches!(variable.ty, DeclaredType::Array { .. }) && self.is_listed_private(cx, &used.name) {
                continue;
            }
            match &variable.ty {
                DeclaredType::Array { is_vla, .. } => {
                    let trouble = match is_vla {
                        true => Some("its length may vary"),
                        false if variable.is_thread_local || variable.is_extern && variable.scope == Scope::Local => {
                            Some("which object it is hangs on the thread or the block")
                        }
                        false => item_trouble_of_whole(cx, &named),
                    };
                    self.items.push(Item {
                        text: used.name.clone(),
                        section: String::new(),
                        template: Template::default(),
                        lengths: Vec::new(),
                        expressions: Vec::new(),
                        first_length: None,
                        length: None,
                        to,
                        from,
                        is_explicit: false,
                        span: used.span,
                        trouble,
                        named,
                    });
                }
                ty => {
                    // A structure that the body only reads comes back as it was.
                    let says = |what: ByDefault| defaults.contains(&what);
                    let comes_back =
                        says(ByDefault::ScalarsLost) || says(ByDefault::ScalarsComeBack) && used.role != Role::Read;
                    let writes = !(ty.is_scalar() && !comes_back
                        || ty.is_pointer()
                        || !says(ByDefault::ObjectsLost)
                            && is_object(cx, ty, named.at)
                            && self.leaves_object(cx, &named));
                    let storage = if ty.is_known() && !matches!(ty, DeclaredType::Reference { .. }) {
                        Storage::Variable(named)
                    } else {
                        Storage::Memory
                    };
                    self.touches.push(Touch { storage, writes, is_of_first: false, span: used.span });
                }
            }
        }
    }

    fn is_listed_private(&self, cx: &Context<'_>, name: &str) -> bool {
        let clauses = &cx.constructs.directive(self.id).clauses;
        clauses.iter().any(|clause| {
            matches!(clause.name, ClauseName::Private | ClauseName::IsDevicePtr | ClauseName::HasDeviceAddr)
                && clause.items().iter().any(|item| item.base.as_deref() == Some(name))
        })
    }
}
