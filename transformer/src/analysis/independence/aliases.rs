//! Do different names lead to different storage?

use std::sync::Arc;

use crate::analysis::accesses::{Access, Accesses, RootKind, ScalarUse};
use crate::analysis::independence::pairs::space;
use crate::analysis::independence::{Candidate, reason};
use crate::analysis::polynomial::Polynomial;
use crate::plan::{Certainty, Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Program;
use crate::semantics::effects::Storage;
use crate::semantics::symbols::{DeclaredType, Scope, Variable, VariableId};
use crate::source::{Language, Span};
use crate::syntax::{ClauseName, Field, ListItem, NodeKind, Number};

/// A list item of a `map` clause that has array sections or is a variable of its own.
struct Mapped {
    construct: ConstructId,
    /// The name that it starts with, without blanks: `a`, `net->weights`.
    name: String,
    /// For each section its first element and length: indices into the expressions.
    sections: Vec<(Option<usize>, Option<usize>)>,
}

/// The items that constructs around the loops map.
pub(crate) struct Sections {
    items: Vec<Mapped>,
    spans: Vec<Span>,
    values: Vec<Option<Polynomial>>,
}

impl Sections {
    /// The items of the construct itself and of `target data` constructs around it.
    pub(crate) fn read(candidate: &Candidate<'_, '_>) -> Self {
        let cx = candidate.cx;
        let mut all = Self { items: Vec::new(), spans: Vec::new(), values: Vec::new() };
        let first = candidate.chain.first().copied().unwrap_or(candidate.id);
        let around = std::iter::successors(cx.constructs.enclosing(first), |id| cx.constructs.enclosing(*id));
        let is_data = |id: &ConstructId| cx.constructs.directive(*id).is("target data");
        let data = around.filter(|id| is_data(id) && certainly_maps(cx, *id));
        for id in candidate.chain.iter().copied().chain(data) {
            for clause in cx.constructs.directive(id).clauses_of(ClauseName::Map) {
                let plain = clause.modifiers.iter().all(|modifier| modifier.argument.is_none());
                for item in clause.items().iter().filter(|_| plain) {
                    all.add(cx, id, item);
                }
            }
        }
        all
    }

    fn add(&mut self, cx: &Program<'_>, construct: ConstructId, item: &ListItem) {
        let text = cx.file.show(item.span);
        let name: String = text.split('[').next().unwrap_or_default().split_whitespace().collect();
        if item.base.is_none() || item.sections.iter().any(|section| section.stride.is_some()) {
            return;
        }
        let mut sections = Vec::new();
        for section in &item.sections {
            let mut index = |span: Option<Span>| {
                span.map(|span| {
                    self.spans.push(span);
                    self.spans.len() - 1
                })
            };
            let lower = index(section.lower_bound);
            sections.push((lower, index(section.length)));
        }
        self.items.push(Mapped { construct, name, sections });
    }

    /// The expressions whose values are needed: first elements and lengths of the sections.
    pub(crate) fn expressions(&self) -> Vec<Span> {
        self.spans.clone()
    }

    /// Takes the values of these expressions.
    pub(crate) fn take_values(&mut self, found: &Accesses) {
        self.values.clone_from(&found.expressions);
    }

    /// The constructs that map the storage of all these accesses, each access within the mapped section.
    fn constructs_of(
        &self,
        candidate: &Candidate<'_, '_>,
        found: &Accesses,
        name: &str,
        kind: RootKind,
    ) -> Vec<ConstructId> {
        let is_own = |item: &Mapped| candidate.chain.contains(&item.construct);
        let holds = |item: &&Mapped| {
            self.holds(candidate, found, item, (name, kind))
                && (is_own(item) || kind == RootKind::Object || self.keeps_its_length(candidate.cx, item))
        };
        self.items.iter().filter(holds).map(|item| item.construct).collect()
    }

    /// Is each access by the name within every item for it, of which there is one at least?
    fn all_hold(&self, candidate: &Candidate<'_, '_>, found: &Accesses, name: &Name<'_>) -> bool {
        let mut own = self.items.iter().filter(|item| item.name == name.name).peekable();
        own.peek().is_some() && own.all(|item| self.holds(candidate, found, item, (name.name, name.kind)))
    }

    /// Does the item map all that is accessed by a name?
    fn holds(
        &self,
        candidate: &Candidate<'_, '_>,
        found: &Accesses,
        item: &Mapped,
        (name, kind): (&str, RootKind),
    ) -> bool {
        let mut own = found.accesses.iter().filter(|access| access.root.name == name && access.root.kind == kind);
        item.name == name
            && own.all(|access| kind == RootKind::Object || self.is_within(candidate, found, item, access))
    }

    /// Has a section the length at the loops that it had when the data construct around was entered? Nothing in between may write a variable
    /// that it names.
    fn keeps_its_length(&self, cx: &Program<'_>, item: &Mapped) -> bool {
        let Some(body) = cx.constructs.construct(item.construct).body else { return false };
        let expressions = item.sections.iter().flat_map(|(lower, length)| [*lower, *length]).flatten();
        let spans = expressions.filter_map(|index| self.spans.get(index)).filter(|span| cx.constant(**span).is_none());
        let names: Vec<(String, Span)> = spans.flat_map(|span| cx.names_in(*span)).collect();
        if names.is_empty() {
            return true;
        }
        let host = cx.host_effects(body, &cx.kernels_in(body));
        let may_write_any = !host.unknown.is_empty()
            || host.touches.iter().any(|touch| touch.writes && !matches!(touch.storage, Storage::Variable(_)));
        names.iter().filter(|(_, span)| cx.constant(*span).is_none()).all(|(name, span)| {
            cx.named(name, span.start).is_some_and(|(named, _)| {
                let is_alone = || cx.cannot_be_aliased(name, span.start);
                host.writes_variable(named.id).is_none() && (!may_write_any || is_alone())
            })
        })
    }

    /// Is an access within the section that the item maps, in the first dimension?
    fn is_within(&self, candidate: &Candidate<'_, '_>, found: &Accesses, item: &Mapped, access: &Access) -> bool {
        let Some((lower, length)) = item.sections.first() else { return false };
        let Some(subscript) = access.subscripts.first().filter(|subscript| !subscript.wraps) else { return false };
        let value = |index: usize| self.values.get(index).cloned().flatten();
        let lower = match lower {
            None => Some(Polynomial::default()),
            Some(index) => value(*index),
        };
        let length = length.and_then(value);
        let inside = || {
            let above = subscript.form.minus(&lower?)?;
            let below = length?.minus(&above)?.minus(&Polynomial::constant(1))?;
            let space = space(found, candidate.promised(), &[access], false);
            Some(space.is_nonnegative(&above) && space.is_nonnegative(&below))
        };
        inside().unwrap_or(false)
    }
}

/// Has a data construct no `if`? `hoist` writes one where list items may share storage.
fn certainly_maps(cx: &Program<'_>, id: ConstructId) -> bool {
    cx.constructs.directive(id).clauses_of(ClauseName::If).next().is_none()
}

/// One name by which memory is accessed.
struct Name<'f> {
    name: &'f str,
    key: VariableId,
    kind: RootKind,
    writes: bool,
    /// The type of what is accessed.
    element: Option<DeclaredType>,
    span: Span,
}

impl Name<'_> {
    fn number(&self) -> Option<&Number> {
        self.element.as_ref().and_then(DeclaredType::number)
    }
}

/// By what different names are known to lead to different storage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// All that the language and directives say of the elements that are accessed.
    OfAccesses,
    /// What they say of whole objects: `restrict` and types speak of accessed elements alone.
    OfObjects,
}

/// Two names that are not known to lead to different elements.
pub(crate) struct MayMeet {
    pub names: [String; 2],
    /// Is all that is accessed by both within each section that a construct maps of them?
    pub are_within: bool,
    /// The assumption that they do.
    pub assumption: Reason,
}

/// The assumptions under which different names lead to different storage. An error if it is not certain even with
/// assumptions.
pub(crate) fn assumptions(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    sections: &Sections,
) -> Result<Vec<Reason>, Vec<Reason>> {
    let pairs = may_meet(Evidence::OfAccesses, candidate, found, sections)?;
    Ok(pairs.into_iter().map(|pair| pair.assumption).collect())
}

/// The names of which some evidence does not tell that they lead to different storage. An error if it is not certain even with
/// assumptions.
pub(crate) fn may_meet(
    evidence: Evidence,
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    sections: &Sections,
) -> Result<Vec<MayMeet>, Vec<Reason>> {
    check_places(candidate, found)?;
    let names = names(candidate, found);
    let mut pairs: Vec<MayMeet> = Vec::new();
    for (index, first) in names.iter().enumerate() {
        for second in names.get(index + 1..).unwrap_or_default() {
            let same = (first.name, first.key, first.kind) == (second.name, second.key, second.kind);
            let are_distinct = || {
                are_objects_apart(candidate, found, sections, first, second)
                    || evidence == Evidence::OfAccesses && are_accesses_apart(candidate, first, second)
            };
            if same || !(first.writes || second.writes) || are_distinct() {
                continue;
            }
            if first.kind == RootKind::Loaded || second.kind == RootKind::Loaded {
                let message = format!("what `{}` and `{}` lead to is not known", first.name, second.name);
                return Err(vec![
                    reason(ReasonCode::InnerLoopDependent, first.span, message).with_label(second.span, "here"),
                ]);
            }
            let names = [first.name.to_owned(), second.name.to_owned()];
            if pairs.iter().any(|known| known.names == names) {
                continue;
            }
            let message = format!("assumes that `{}` and `{}` lead to different elements", first.name, second.name);
            let mut assumption = reason(ReasonCode::PointersDistinct, first.span, message);
            assumption.certainty = Certainty::Assumed;
            let are_within = [first, second].into_iter().all(|name| sections.all_hold(candidate, found, name));
            pairs.push(MayMeet { names, are_within, assumption: assumption.with_label(second.span, "the other") });
        }
    }
    Ok(pairs)
}

/// Does the nest use no storage that belongs to a team, and no pointer that a write may change?
fn check_places(candidate: &Candidate<'_, '_>, found: &Accesses) -> Result<(), Vec<Reason>> {
    let cx = candidate.cx;
    let region = candidate.chain.first().map(|first| cx.constructs.construct(*first).body_span);
    let own = cx.constructs.construct(candidate.id).body_span;
    let is_of_team = |key: VariableId| {
        !candidate.is_in_team && !key.is_within(own) && region.is_some_and(|region| key.is_within(region))
    };
    let accesses = found.accesses.iter().map(|access| (access.root.key, access.span));
    let scalars = found.scalars.iter().filter(|used| used.writes).map(|used| (used.key, used.span));
    if let Some((_, span)) = accesses.chain(scalars).find(|(key, _)| is_of_team(*key)) {
        let message = "this variable belongs to a team, and other teams would run some of the iterations";
        return Err(vec![reason(ReasonCode::NestNotFollowed, span, message)]);
    }
    let unknown = found.accesses.iter().find(|access| access.writes && access.element.is_none());
    let through_member = found.accesses.iter().find(|access| access.root.kind == RootKind::Member);
    match (unknown, through_member) {
        (Some(written), Some(member)) => {
            let message = format!("this may change the pointer `{}`", member.root.name);
            Err(vec![
                reason(ReasonCode::NestNotFollowed, written.span, message).with_label(member.span, "it is used here"),
            ])
        }
        _ => Ok(()),
    }
}

fn names<'f>(candidate: &Candidate<'_, '_>, found: &'f Accesses) -> Vec<Name<'f>> {
    let mut all: Vec<Name<'f>> = Vec::new();
    for access in &found.accesses {
        all.push(Name {
            name: &access.root.name,
            key: access.root.key,
            kind: access.root.kind,
            writes: access.writes,
            element: access.element.clone(),
            span: access.span,
        });
    }
    for used in found.scalars.iter().filter(|used| is_shared_scalar(candidate, used)) {
        all.push(Name {
            name: &used.name,
            key: used.key,
            kind: RootKind::Object,
            writes: false,
            element: scalar_type(candidate, used),
            span: used.span,
        });
    }
    all.sort_by_key(|name| (name.name, name.kind as u8, !name.writes));
    all.dedup_by(|later, earlier| {
        let same = (later.name, later.key, &later.element) == (earlier.name, earlier.key, &earlier.element);
        same && later.kind == earlier.kind && (earlier.writes || !later.writes)
    });
    all
}

/// May a scalar be something that other names reach? One that no clause maps is a copy (OpenMP 5.2, section 5.8.1), unless it
/// lives on the device for the whole program.
fn is_shared_scalar(candidate: &Candidate<'_, '_>, used: &ScalarUse) -> bool {
    let variable = candidate.cx.symbols().lookup(&used.name, used.span.start);
    let is_global = variable.is_none_or(|variable| {
        !matches!(variable.scope, Scope::Local | Scope::Parameter) && !variable.ty.is_const() || variable.is_static
    });
    !candidate.clauses.is_private(used.key) && (is_global || candidate.clauses.mapped.contains(&used.key))
}

fn scalar_type(candidate: &Candidate<'_, '_>, used: &ScalarUse) -> Option<DeclaredType> {
    candidate
        .cx
        .symbols()
        .lookup(&used.name, used.span.start)
        .map(|found| found.ty.clone())
        .filter(DeclaredType::is_scalar)
}

/// Do the language's rules for accesses tell that no element is reached by both names?
fn are_accesses_apart(candidate: &Candidate<'_, '_>, first: &Name<'_>, second: &Name<'_>) -> bool {
    let both = [first, second];
    // Members of one variable may be members of a union.
    let is_certain = |name: &&Name<'_>| is_type_certain(candidate, name);
    let by_types = candidate.cx.compilation.strict_aliasing
        && first.key != second.key
        && have_other_types(first, second)
        && both.iter().all(is_certain)
        && has_lasting_type(candidate, &both);
    by_types || both.iter().all(|name| name.kind != RootKind::Loaded) && are_restricted(candidate, first, second)
}

/// Is the storage of both names that of different objects, or of different items of one construct?
fn are_objects_apart(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    sections: &Sections,
    first: &Name<'_>,
    second: &Name<'_>,
) -> bool {
    let both = [first, second];
    let is_alone = |name: &&Name<'_>| !has_other_label(candidate, name);
    if both.iter().all(|name| name.kind == RootKind::Object) && first.key != second.key && both.iter().all(is_alone) {
        return true;
    }
    if both.iter().any(|name| name.kind == RootKind::Loaded) {
        return false;
    }
    let own = |name: &&Name<'_>| {
        let word = name.name.split(['.', '-']).next().unwrap_or_default();
        name.kind == RootKind::Object && !candidate.cx.symbols().is_address_taken(word, name.span.start)
    };
    if first.key != second.key && both.iter().any(own) {
        return true;
    }
    if have_other_owners(candidate, first, second) {
        return true;
    }
    let other = sections.constructs_of(candidate, found, second.name, second.kind);
    let mapped = sections.constructs_of(candidate, found, first.name, first.kind);
    let common = mapped.into_iter().find(|construct| other.contains(construct));
    let is_part = first.name.starts_with(second.name) || second.name.starts_with(first.name);
    let may_contain = first.key == second.key && is_part;
    !may_contain && common.is_some_and(|construct| both.iter().all(|name| is_unchanged(candidate, name, construct)))
}

/// Do two variables lead to memory that the function got for each of them alone, or the one to such memory and the other to what was
/// there before, or are they parameters that every call gives different storage? Their copies on the device are apart, too.
fn have_other_owners(candidate: &Candidate<'_, '_>, first: &Name<'_>, second: &Name<'_>) -> bool {
    let cx = candidate.cx;
    let owner = |name: &Name<'_>| {
        let is_variable = matches!(name.kind, RootKind::Object | RootKind::Pointer);
        let (named, _) = cx.named(name.name, name.span.start).filter(|_| is_variable)?;
        (named.id == name.key).then(|| (cx.owner(&named), named))
    };
    let both = owner(first).zip(owner(second));
    first.key != second.key
        && both.is_some_and(|((one, first), (other, second))| {
            one.is_apart_from(other) || cx.never_meet_by_calls(&first, &second)
        })
}

/// Does its declaration say by which label the linker knows the object: `int b[] __asm__("a");`?
fn has_other_label(candidate: &Candidate<'_, '_>, name: &Name<'_>) -> bool {
    let tree = candidate.cx.tree;
    let word = name.name.split(['.', '-']).next().unwrap_or_default();
    let Some(variable) = candidate.cx.symbols().lookup(word, name.span.start) else { return true };
    let node = tree.covering(variable.declared_at);
    let declaration = tree.ancestors(node).find(|node| tree.kind(*node) == NodeKind::Declaration);
    let text = declaration.map(|node| candidate.cx.file.show(tree.span(node)).into_owned()).unwrap_or_default();
    variable.header.is_none() && ["asm", "alias", "weakref"].iter().any(|word| text.contains(word))
}

/// Is the variable's type written without macros that may have other values, also within the typedefs of the file that
/// it uses?
fn is_type_certain(candidate: &Candidate<'_, '_>, name: &Name<'_>) -> bool {
    let tree = candidate.cx.tree;
    let text = |node| candidate.cx.file.show(tree.span(node)).into_owned();
    let word = name.name.split(['.', '-']).next().unwrap_or_default();
    let Some(variable) = candidate.cx.symbols().lookup(word, name.span.start) else { return false };
    let node = tree.covering(variable.declared_at);
    let own = tree.ancestors(node).find_map(|around| tree.child(around, Field::Type)).map(text);
    let mut waiting: Vec<String> = own.into_iter().flat_map(|text| names_in(&text)).collect();
    if variable.header.is_some() || name.kind == RootKind::Member {
        // The text of types in headers and structures is not searched, so every macro may be part of it.
        waiting.extend(candidate.cx.scan.definitions.iter().map(|it| candidate.cx.file.show(it.name).into_owned()));
    }
    let mut seen = std::collections::BTreeSet::new();
    while let Some(word) = waiting.pop() {
        if !seen.insert(word.clone()) {
            continue;
        }
        if candidate.cx.symbols().is_ambiguous_macro(&word) {
            return false;
        }
        waiting.extend(
            candidate.cx.symbols().macros_named(&word, name.span.start).iter().flat_map(|found| names_in(&found.body)),
        );
        let same = tree.all_of(&[NodeKind::TypeDefinition]).filter(|node| names_in(&text(*node)).last() == Some(&word));
        waiting.extend(same.flat_map(|node| names_in(&text(node))));
    }
    true
}

fn names_in(text: &str) -> Vec<String> {
    crate::source::words(text).map(str::to_owned).collect()
}

/// Do objects of these types never share storage (C17, section 6.5)?
fn have_other_types(first: &Name<'_>, second: &Name<'_>) -> bool {
    let (Some(one), Some(other)) = (first.number(), second.number()) else { return false };
    let is_real = |number: &Number| matches!(number, Number::Floating(_));
    let is_known = |number: &Number| is_real(number) || number.integer().is_some() && !number.may_alias_all();
    is_known(one) && is_known(other) && (is_real(one) || is_real(other)) && one.holds_the_same(other) == Some(false)
}

/// Is it impossible that the storage changes its type between accesses by two names? In C a store gives allocated
/// storage another type (C17, section 6.5, paragraph 6): numbers may be converted in place, each read before it is
/// overwritten.
fn has_lasting_type(candidate: &Candidate<'_, '_>, both: &[&Name<'_>; 2]) -> bool {
    candidate.cx.tree.language() == Language::Cpp || both.iter().any(|name| name.kind == RootKind::Object)
}

/// Does the name mean the same storage in the loops as at the construct that maps it?
fn is_unchanged(candidate: &Candidate<'_, '_>, name: &Name<'_>, construct: ConstructId) -> bool {
    let word = name.name.split(['.', '-']).next().unwrap_or_default();
    if candidate.chain.contains(&construct) {
        return true;
    }
    let span = candidate.cx.constructs.construct(construct).body_span;
    let is_local = candidate
        .cx
        .symbols()
        .lookup(word, name.span.start)
        .is_some_and(|variable| matches!(variable.scope, Scope::Local | Scope::Parameter));
    is_local
        && name.kind != RootKind::Member
        && candidate.cx.cannot_be_aliased(word, name.span.start)
        && candidate.cx.symbols().written_in(word, name.span.start, span).is_empty()
}

/// Is one of two parameters `restrict`, and are both never assigned in the function, so that neither is based on the
/// other?
fn are_restricted(candidate: &Candidate<'_, '_>, first: &Name<'_>, second: &Name<'_>) -> bool {
    let tree = candidate.cx.tree;
    let parameter = |name: &Name<'_>| -> Option<Arc<Variable>> {
        let variable = candidate.cx.symbols().lookup(name.name, name.span.start)?;
        let node = tree.covering(name.span);
        let function = tree.ancestors(node).find(|node| tree.kind(*node) == NodeKind::FunctionDefinition)?;
        let is_set = !candidate.cx.symbols().written_in(name.name, name.span.start, tree.span(function)).is_empty();
        (variable.scope == Scope::Parameter && name.kind == RootKind::Pointer && !is_set).then_some(variable)
    };
    let (Some(one), Some(other)) = (parameter(first), parameter(second)) else { return false };
    one.declared_at != other.declared_at && [one, other].iter().any(|variable| candidate.cx.is_restrict(variable))
}
