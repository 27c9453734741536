//! The clauses of constructs, and those of one construct in their place.

use std::collections::{BTreeMap, BTreeSet};

use super::members::Member;
use super::{Stopped, apart};
use crate::edit::directive_writer::on_one_line;
use crate::plan::Reason;
use crate::semantics::Program;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope, VariableId};
use crate::source::{Span, words};
use crate::syntax::{Clause, ClauseArgument, ClauseName, ListItem};

/// What is copied for a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copies {
    /// To the device, at the beginning.
    pub to: bool,
    /// From the device, at the end.
    pub from: bool,
}

impl Copies {
    const BOTH: Self = Self { to: true, from: true };

    /// `None` if the clause has modifiers besides its map type.
    fn of(clause: &Clause) -> Option<Self> {
        match clause.modifiers.as_slice() {
            [] => Some(Self::BOTH),
            [one] if one.argument.is_none() => match one.name.as_str() {
                "to" => Some(Self { to: true, from: false }),
                "from" => Some(Self { to: false, from: true }),
                "tofrom" => Some(Self::BOTH),
                "alloc" => Some(Self { to: false, from: false }),
                _ => None,
            },
            _ => None,
        }
    }

    /// The map type.
    pub(super) fn word(self) -> &'static str {
        match (self.to, self.from) {
            (true, true) => "tofrom",
            (true, false) => "to",
            (false, true) => "from",
            (false, false) => "alloc",
        }
    }
}

/// A list item of a `map` clause.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    pub key: VariableId,
    pub name: String,
    /// As written, on one line.
    pub text: String,
    pub copies: Copies,
    pub span: Span,
    /// Is it a variable itself, and no section?
    pub is_whole: bool,
    /// How many elements its only section has.
    pub length: Option<Span>,
    /// Does its first section begin at the first element?
    pub is_from_first: bool,
    /// Its sections' bounds.
    bounds: Vec<Span>,
}

impl Mapped {
    /// The expressions in its sections.
    pub(super) fn bounds(&self) -> impl Iterator<Item = Span> + '_ {
        self.bounds.iter().copied()
    }
}

/// A variable in another list.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub key: VariableId,
    /// As written.
    pub text: String,
    /// What stands before the list, such as `reduction(+: `.
    pub head: String,
    pub clause: ClauseName,
    pub span: Span,
}

/// The clauses of a construct.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub mapped: Vec<Mapped>,
    pub listed: Vec<Listed>,
    /// The clauses without lists, without blanks.
    others: BTreeSet<String>,
    /// The expressions in them.
    expressions: Vec<Span>,
}

impl Lists {
    /// Reads the clauses of a construct.
    ///
    /// # Errors
    /// The first clause for which there is no rule.
    pub(super) fn of(cx: &Program<'_>, member: &Member) -> Result<Self, Reason> {
        let mut found = Self::default();
        for clause in &cx.constructs.directive(member.id).clauses {
            let no =
                |message: &str| Err(apart(clause.span, format!("`{}`: {message}", cx.file.show(clause.name_span))));
            match clause.name {
                ClauseName::Map => {
                    let Some(copies) = Copies::of(clause) else { return no("only the map type is followed") };
                    for item in clause.items() {
                        let Some(mapped) = mapped(cx, item, copies) else {
                            return no("this item is neither a variable nor a section of one");
                        };
                        if found.mapped.iter().any(|known| known.key == mapped.key) {
                            return no("two parts of one variable are listed");
                        }
                        found.mapped.push(mapped);
                    }
                }
                ClauseName::Private
                | ClauseName::Firstprivate
                | ClauseName::Shared
                | ClauseName::IsDevicePtr
                | ClauseName::HasDeviceAddr
                | ClauseName::Reduction => {
                    let is_plain = clause.modifiers.iter().all(|modifier| modifier.argument.is_none());
                    if !is_plain || clause.modifiers.len() > usize::from(clause.name == ClauseName::Reduction) {
                        return no("its modifiers are not followed");
                    }
                    for item in clause.items() {
                        let Some(listed) = listed(cx, clause, item) else {
                            return no("this item is no variable");
                        };
                        found.listed.push(listed);
                    }
                }
                ClauseName::Collapse
                | ClauseName::NumTeams
                | ClauseName::ThreadLimit
                | ClauseName::NumThreads
                | ClauseName::Device
                | ClauseName::If
                | ClauseName::Schedule
                | ClauseName::DistSchedule
                | ClauseName::Default
                | ClauseName::Order
                | ClauseName::ProcBind => {
                    found.others.insert(without_blanks(&cx.file.show(clause.span)));
                    found.expressions.extend(clause.expression());
                    if let ClauseArgument::Words(words) = &clause.argument {
                        found.expressions.extend(words.get(1));
                    }
                }
                _ => return no("there is no rule for two constructs with this clause"),
            }
        }
        Ok(found)
    }

    /// All expressions that the host evaluates for the clauses.
    pub(super) fn expressions(&self) -> impl Iterator<Item = Span> {
        self.expressions.iter().chain(self.mapped.iter().flat_map(|item| &item.bounds)).copied()
    }

    pub(super) fn item(&self, key: VariableId) -> Option<&Mapped> {
        self.mapped.iter().find(|item| item.key == key)
    }

    /// The clauses other than `map` that list a variable.
    fn sharing(&self, key: VariableId) -> BTreeSet<&str> {
        self.listed.iter().filter(|one| one.key == key).map(|one| one.head.as_str()).collect()
    }

    /// Has a name in a bound the value that it has on the host wherever the kernel evaluates it: is it a constant, or a scalar that no clause
    /// lists, which is firstprivate?
    pub(super) fn leave_a_copy_of(&self, cx: &Program<'_>, name: &str, at: Span) -> bool {
        let variable = cx.symbols().lookup(name, at.start);
        let is_constant = variable.as_ref().is_some_and(|it| it.kind == NameKind::TemplateParameter);
        let is_copied = variable.filter(|it| it.kind == NameKind::Variable).is_some_and(|it| {
            let is_of_device = cx.is_declare_target(name)
                || cx.is_threadprivate(name)
                || cx.may_be_declared_for_device(name, at.start);
            let has_place = matches!(it.scope, Scope::Local | Scope::Parameter | Scope::File);
            let is_listed = self.item(it.id()).is_some() || self.listed.iter().any(|one| one.key == it.id());
            has_place && !it.is_thread_local && it.ty.number().is_some() && !is_of_device && !is_listed
        });
        cx.constant(at).is_some() || is_copied || is_constant
    }

    /// The variables in lists of `reduction`.
    pub(super) fn reduced(&self) -> impl Iterator<Item = (&str, Span)> {
        let reduced = self.listed.iter().filter(|one| one.clause == ClauseName::Reduction);
        reduced.map(|one| (one.text.as_str(), one.span))
    }

    /// Is a variable in a list of `reduction`?
    pub(super) fn reduces(&self, key: VariableId) -> bool {
        self.listed.iter().any(|one| one.key == key && one.clause == ClauseName::Reduction)
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

fn mapped(cx: &Program<'_>, item: &ListItem, copies: Copies) -> Option<Mapped> {
    let name = item.base.clone()?;
    let variable = cx.symbols().lookup(&name, item.span.start)?;
    let is_plain = item.sections.iter().all(|section| section.is_section && section.stride.is_none());
    let is_item = match &variable.ty {
        DeclaredType::Array { .. } => true,
        DeclaredType::Scalar { .. } => item.is_name && cx.cannot_be_aliased(&name, item.span.start),
        DeclaredType::Record { .. } => item.is_name,
        ty => ty.is_pointer() && !item.is_name,
    };
    let bounds = item.sections.iter().flat_map(|section| [section.lower_bound, section.length]).flatten().collect();
    let text = on_one_line(cx.file, item.span);
    (is_plain && is_item && !item.has_member).then(|| Mapped {
        key: variable.id(),
        name,
        text,
        copies,
        span: item.span,
        is_whole: item.is_name,
        length: item.sections.first().filter(|_| item.sections.len() == 1).and_then(|section| section.length),
        is_from_first: item
            .sections
            .first()
            .is_some_and(|section| section.lower_bound.is_none_or(|lower| cx.constant(lower) == Some(0))),
        bounds,
    })
}

fn listed(cx: &Program<'_>, clause: &Clause, item: &ListItem) -> Option<Listed> {
    let variable = cx.symbols().lookup(item.base.as_deref()?, item.span.start)?;
    let name = cx.file.show(clause.name_span).into_owned();
    let head = match clause.modifiers.first() {
        Some(modifier) => format!("{name}({}: ", modifier.name),
        None => format!("{name}("),
    };
    let text = cx.file.show(item.span).into_owned();
    let is_reached = clause.name == ClauseName::Reduction && !cx.cannot_be_aliased(&text, item.span.start);
    (item.is_name && !is_reached).then(|| Listed {
        key: variable.id(),
        text,
        head,
        clause: clause.name,
        span: item.span,
    })
}

/// Are all clauses alike but those with lists, and does each variable that both name have one attribute?
pub(super) fn same_otherwise(
    cx: &Program<'_>,
    (first, known): (&Member, &Lists),
    (second, own): (&Member, &Lists),
) -> Result<(), Reason> {
    let name = |member: &Member| cx.constructs.directive(member.id).name.clone();
    if name(first) != name(second) || known.others != own.others {
        let message = "the constructs differ in their directives, or in clauses that one kernel has only once";
        return Err(apart(second.directive, message).with_label(first.directive, "the other construct"));
    }
    Ok(())
}

/// Checks that each variable that two constructs name has one attribute in both.
pub(super) fn same_attributes(
    cx: &Program<'_>,
    (first, known): (&Member, &Lists),
    (second, own): (&Member, &Lists),
) -> Result<(), Reason> {
    let [before, behind] = [(first, known), (second, own)].map(|(member, lists)| names(cx, member, lists));
    for (key, (name, span)) in behind {
        let Some((_, other)) = before.get(&key) else { continue };
        let map = |lists: &Lists| lists.item(key).map(|item| without_blanks(&item.text));
        if known.reduces(key) || own.reduces(key) || known.sharing(key) != own.sharing(key) || map(known) != map(own) {
            let message = format!("`{name}` is not the same to both constructs");
            return Err(apart(span, message).with_label(*other, "the other use"));
        }
    }
    Ok(())
}

/// The variables that a construct names, in its body, its clauses and its loops.
fn names(cx: &Program<'_>, member: &Member, lists: &Lists) -> BTreeMap<VariableId, (String, Span)> {
    let mut found = BTreeMap::new();
    for (key, used) in member.outside.iter() {
        found.entry(*key).or_insert_with(|| (used.name.clone(), used.span));
    }
    for item in &lists.mapped {
        found.entry(item.key).or_insert_with(|| (item.name.clone(), item.span));
    }
    for one in &lists.listed {
        found.entry(one.key).or_insert_with(|| (one.text.clone(), one.span));
    }
    for span in member.bounds().chain(lists.expressions()) {
        for word in words(&cx.file.show(span)) {
            if let Some(variable) = cx.symbols().lookup(word, span.start) {
                found.entry(variable.id()).or_insert_with(|| (word.to_owned(), span));
            }
        }
    }
    found
}

/// The lists of one construct in the place of several.
pub(super) struct Joined {
    pub mapped: Vec<Mapped>,
    /// Of constructs behind the first, what no list of one before has.
    pub added: Vec<Listed>,
}

/// Joins the lists of constructs.
///
/// # Errors
/// The place of a construct in the list, and the item that does not keep its value for it or for the host.
pub(super) fn joined(members: &[&Member], lists: &[Lists]) -> Result<Joined, Stopped> {
    let mut all = Joined { mapped: Vec::new(), added: Vec::new() };
    let mut listed: BTreeSet<(VariableId, String)> = BTreeSet::new();
    let mut written: BTreeSet<VariableId> = BTreeSet::new();
    for (at, (member, own)) in members.iter().zip(lists).enumerate() {
        let writes = member.written();
        for item in &own.mapped {
            match all.mapped.iter_mut().find(|known| known.key == item.key) {
                Some(known) => {
                    let lost = [
                        !known.copies.from && item.copies.to && written.contains(&item.key),
                        known.copies.from && !item.copies.from && writes.contains(&item.key),
                    ];
                    if lost.contains(&true) {
                        let message = format!(
                            "what one construct writes to `{}` is not copied back, and would be in one kernel",
                            item.name
                        );
                        let reason = apart(item.span, message).with_label(known.span, "the other map");
                        return Err(Stopped { at, reason });
                    }
                    known.copies = Copies {
                        to: known.copies.to || item.copies.to && !known.copies.from,
                        from: known.copies.from || item.copies.from,
                    };
                }
                None => all.mapped.push(item.clone()),
            }
        }
        for one in &own.listed {
            if listed.insert((one.key, one.head.clone())) && at > 0 {
                all.added.push(one.clone());
            }
        }
        written.extend(writes);
    }
    Ok(all)
}
