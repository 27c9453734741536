//! Do the iterations of several constructs keep apart? The loop that they become is read as any other, in a text of its own.
//!
//! There each construct's maps stand on a `target data` construct around the loop, which says of them what they say in the file: what is
//! listed together shares no storage. What the analysis of independence finds is asked only of pairs of accesses that stand in
//! different constructs of the file.

use std::collections::BTreeSet;

use super::lists::{Joined, Lists};
use super::members::Member;
use super::texts::Texts;
use super::write::added;
use super::{Arrangement, Stopped, apart, gain, guards};
use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::associated_loops::loops_of;
use crate::analysis::independence::aliases::{Evidence, MayMeet};
use crate::analysis::independence::{self, Candidate, Nest, aliases, clauses, pairs};
use crate::context::Context;
use crate::edit::directive_writer::{Layout, on_one_line};
use crate::edit::{Edit, EditSet, Origins};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::{ConstructId, ConstructTree};
use crate::semantics::Program;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::Span;
use crate::syntax::{Clause, ClauseName};

/// The names that must lead to different storage so that constructs can be one, of which the edits make that text. One kernel must be
/// predicted to be `least` times as fast.
pub(super) fn may_meet(
    (cx, texts): (&Context<'_>, &Texts<'_, '_>),
    members: &[&Member],
    (lists, arrangement): (&[Lists], &Arrangement),
    edits: Vec<Edit>,
    least: f64,
) -> Result<Vec<MayMeet>, Stopped> {
    let Some(first) = members.first() else { return Ok(Vec::new()) };
    let no = |message: &str| Stopped { at: members.len() - 1, reason: apart(first.directive, message) };
    let edits = EditSet::new(edits).map_err(|_| no("there is no place for the loop of both"))?;
    let found = texts.ask(cx, edits, |program, origins| {
        may_meet_in((cx, program, origins), (members, first), (lists, arrangement), least)
    });
    found.unwrap_or_else(|| Err(no("the loop of both cannot be read")))
}

/// The same, in that text.
fn may_meet_in(
    (cx, program, origins): (&Context<'_>, &Program<'_>, &Origins),
    (members, first): (&[&Member], &Member),
    (lists, arrangement): (&[Lists], &Arrangement),
    least: f64,
) -> Result<Vec<MayMeet>, Stopped> {
    let last = members.len() - 1;
    let unread = || Stopped { at: last, reason: apart(first.directive, "the loop of both cannot be read") };
    let constructs = program.constructs;
    let is_first = |id: &ConstructId| origins.place(constructs.directive(*id).span.start) >= first.directive.start;
    let kernel = constructs.ids().find(|id| is_first(id) && constructs.is_target(*id));
    let nest = kernel.and_then(|id| loops_of(program, id));
    let depth = arrangement.depth(first);
    let (Some(id), Some(nest)) = (kernel, nest.filter(|nest| nest.loops.len() == depth)) else {
        return Err(unread());
    };
    let chain = maps_around(constructs, id);
    let nest = Nest { loops: nest, between: Vec::new(), promised: 0 };
    let clauses = clauses::Clauses::of(program, &chain);
    let candidate = Candidate { cx: program, id, chain: vec![id], clauses, nest, is_in_team: false };
    let (found, sections) = independence::read(&candidate);
    let together = Together { cx, members, candidate, found, origins };
    // Side by side each construct keeps a loop of its own in that text, and what is declared for all has new names.
    if arrangement.beside.is_none() {
        together.same_names(&arrangement.names)?;
    }
    together.followed()?;
    together.apart()?;
    let assumed = together.distinct(lists, &sections).map_err(|reason| Stopped { at: last, reason })?;
    let place_of = |access: &Access| together.place(access.span).0;
    let does_not_pay = match arrangement.beside {
        Some(_) => {
            let own = together.own_loops().ok_or_else(unread)?;
            gain::beside_does_not_pay(cx, members, (&together.found, &own), &place_of, least)
        }
        None => gain::does_not_pay(cx, members, &together.found, &place_of, least),
    };
    match does_not_pay {
        Some(reason) => Err(Stopped { at: last, reason }),
        None => Ok(assumed),
    }
}

/// The directives in that text: the maps of each construct, and the first construct without any.
pub(super) fn directives(
    cx: &Context<'_>,
    members: &[&Member],
    (lists, all): (&[Lists], &Joined),
    arrangement: &Arrangement,
) -> Edit {
    let names = &arrangement.names;
    let mut lines = Vec::new();
    let mut span = Span::default();
    for (at, (member, name)) in members.iter().zip(names).enumerate() {
        let directive = cx.constructs.directive(member.id);
        let layout = Layout::of(cx.file, directive);
        let (maps, others): (Vec<_>, Vec<_>) =
            directive.clauses.iter().partition(|clause| clause.name == ClauseName::Map);
        let text = |clauses: Vec<&Clause>| -> Vec<String> {
            clauses.into_iter().map(|clause| on_one_line(cx.file, clause.span)).collect()
        };
        if !maps.is_empty() && name.is_none() {
            lines.insert(lines.len().saturating_sub(usize::from(at > 0)), layout.write("target data", &text(maps)));
        }
        if at == 0 {
            span = directive.span;
            lines.push(layout.write(&directive.name, &[text(others), added(all)].concat()));
        }
    }
    if let Some(first) = members.first() {
        let layout = Layout::of(cx.file, cx.constructs.directive(first.id));
        let idle = members.iter().zip(lists).zip(names).filter(|(_, name)| name.is_some()).map(|(one, _)| one);
        let around = guards::evidence(cx, idle).into_iter();
        let line = |items: Vec<String>| layout.write("target data", &[format!("map(alloc: {})", items.join(", "))]);
        lines.splice(0..0, around.map(line));
    }
    Edit { span, text: lines.join("\n") }
}

/// A kernel, behind the constructs right around it that hold its maps.
fn maps_around(constructs: &ConstructTree, id: ConstructId) -> Vec<ConstructId> {
    let body = constructs.construct(id).body;
    let around = std::iter::successors(Some(id), |id| constructs.enclosing(*id));
    let mut chain: Vec<ConstructId> = around.take_while(|id| constructs.construct(*id).body == body).collect();
    chain.reverse();
    chain
}

struct Together<'a, 'c, 'p> {
    cx: &'a Context<'c>,
    members: &'a [&'a Member],
    /// The loop of all, none of whose iterations is taken to be independent.
    candidate: Candidate<'a, 'p>,
    found: Accesses,
    origins: &'a Origins,
}

impl Together<'_, '_, '_> {
    /// In which construct something stands, and where in the file.
    fn place(&self, span: Span) -> (usize, Span) {
        let span = self.origins.of(span);
        let own = self.members.iter().position(|member| member.content.contains(span));
        (own.unwrap_or(self.members.len() - 1), span)
    }

    /// Which of the loops that are read is each construct's own, where the first one is that over the constructs.
    fn own_loops(&self) -> Option<Vec<usize>> {
        let own = |member: &&Member| {
            let start = member.loops.first()?.span.start;
            let mut inner = self.found.loops.iter().enumerate().skip(1);
            inner.find(|(_, read)| self.origins.place(read.span.start) == start).map(|(index, _)| index)
        };
        self.members.iter().map(own).collect()
    }

    /// A reason in terms of the file, with the place of the construct that it stops.
    fn told(&self, reason: Reason) -> Stopped {
        let labels = reason.labels.into_iter().map(|(span, label)| (self.place(span).1, label)).collect();
        let (at, span) = self.place(reason.span);
        Stopped { at, reason: Reason { code: ReasonCode::IterationsMeet, span, labels, ..reason } }
    }

    fn no(&self, span: Span, message: String) -> Stopped {
        self.told(Reason::new(ReasonCode::IterationsMeet, span, message))
    }

    /// Does every name mean what it meant in its own construct?
    fn same_names(&self, names: &[Option<String>]) -> Result<(), Stopped> {
        let program = self.candidate.cx;
        let is_new = |used: &Use| names.iter().flatten().any(|name| *name == used.name);
        let uses = uses_below(program.file, program.tree, self.candidate.nest.loops.body);
        for used in uses.into_iter().filter(|used| !is_new(used)) {
            let span = self.origins.of(used.span);
            let Some((at, member)) = self.members.iter().enumerate().find(|(_, it)| it.content.contains(span)) else {
                continue;
            };
            let new = program.symbols().lookup(&used.name, used.span.start).map(|found| found.id());
            let old = self.cx.symbols().lookup(&used.name, span.start).map(|found| found.id());
            let is_own = |key| member.variables.iter().position(|own| *own == Some(key));
            let is_same = match (old, new) {
                (Some(old), Some(new)) => match is_own(old).filter(|_| old.is_within(member.region.extent)) {
                    Some(index) => self.is_loop_variable(index, &used.name, new.declared_at),
                    None if old.header.is_some() || new.header.is_some() => old == new,
                    None => self.origins.of(new.declared_at) == old.declared_at,
                },
                (old, new) => old.is_none() && new.is_none(),
            };
            if !is_same && used.role != Role::Callee {
                let message = format!("`{}` would mean something else in one loop", used.name);
                return Err(Stopped { at, reason: apart(span, message) });
            }
        }
        Ok(())
    }

    /// Is it the variable of the loop in this place, or declared as its copy?
    fn is_loop_variable(&self, index: usize, name: &str, declared_at: Span) -> bool {
        let Some(own) = self.candidate.nest.loops.loops.get(index) else { return false };
        let start = self.candidate.cx.tree.span(self.candidate.nest.loops.body).start;
        let variable = |name: &str, at: usize| self.candidate.cx.symbols().lookup(name, at).map(|it| it.declared_at);
        let is_copy =
            || own.variable != name && declared_at.start > start && self.origins.is_written(declared_at.start);
        variable(&own.variable, start + 1) == Some(declared_at) || is_copy()
    }

    /// Is all that the bodies do followed, and do they keep no variable from one iteration for the next?
    fn followed(&self) -> Result<(), Stopped> {
        let Candidate { clauses, nest, .. } = &self.candidate;
        if let Some(trouble) = self.found.troubles.first() {
            return Err(self.no(trouble.span, trouble.message.clone()));
        }
        let is_kept = |key| !clauses.private.contains(&key) && !clauses.reductions.contains_key(&key);
        if let Some(used) = self.found.scalars.iter().find(|used| used.writes && is_kept(used.key)) {
            return Err(self.no(used.span, format!("`{}` may carry a value to another iteration", used.name)));
        }
        let body = self.candidate.cx.tree.span(nest.loops.body);
        let mut inner = self.found.loops.iter().skip(nest.loops.loops.len());
        let shared = inner.find(|l| !l.key.is_within(body) && !clauses.private.contains(&l.key));
        match shared {
            Some(l) => {
                let head = Span::new(l.span.start, l.span.start + 3);
                Err(self.no(head, "the variable of this loop is not private to it".to_owned()))
            }
            None => Ok(()),
        }
    }

    /// Do accesses in different constructs meet only within one iteration?
    fn apart(&self) -> Result<(), Stopped> {
        let depth = self.candidate.nest.loops.loops.len();
        for (index, first) in self.found.accesses.iter().enumerate() {
            for second in self.found.accesses.get(index + 1..).unwrap_or_default() {
                let (one, other) = (self.place(first.span).0, self.place(second.span).0);
                let may_meet = one != other && first.root == second.root && (first.writes || second.writes);
                if may_meet && !pairs::are_independent(&self.candidate, &self.found, depth, first, second) {
                    let name = &first.root.name;
                    let message =
                        format!("another iteration may access the element of `{name}`, and one of them writes it");
                    let (early, late) = if one < other { (first, second) } else { (second, first) };
                    let reason = Reason::new(ReasonCode::IterationsMeet, late.span, message);
                    return Err(self.told(reason.with_label(early.span, "the other access")));
                }
            }
        }
        Ok(())
    }

    /// The names that must lead to different storage and are not known to: one of them is written, or only one construct maps what it
    /// leads to.
    fn distinct(&self, lists: &[Lists], sections: &aliases::Sections) -> Result<Vec<MayMeet>, Reason> {
        let mapped: BTreeSet<&str> = lists.iter().flat_map(|own| &own.mapped).map(|item| item.name.as_str()).collect();
        let in_all = |name: &str| lists.iter().all(|own| own.mapped.iter().any(|item| item.name == name));
        let is_used = |name: &str| self.found.accesses.iter().any(|access| access.root.name == name);
        let unused = lists
            .iter()
            .flat_map(|own| &own.mapped)
            .find(|item| !item.is_whole && !in_all(&item.name) && !is_used(&item.name));
        if let Some(item) = unused {
            let message = format!("only one construct maps `{}`, and does not access it", item.name);
            return Err(apart(item.span, message));
        }
        let mut asked = self.found.clone();
        asked.accesses.retain(|access| mapped.contains(access.root.name.as_str()));
        for access in &mut asked.accesses {
            access.writes = !in_all(&access.root.name);
        }
        let told = |reasons: Vec<Reason>| {
            let first = reasons.into_iter().next();
            first.map_or_else(|| apart(Span::default(), "storage may be shared"), |reason| self.told(reason).reason)
        };
        let mut pairs =
            aliases::may_meet(Evidence::OfAccesses, &self.candidate, &self.found, sections).map_err(told)?;
        let of_items = aliases::may_meet(Evidence::OfObjects, &self.candidate, &asked, sections).map_err(told)?;
        for pair in of_items {
            if !pairs.iter().any(|known| known.names == pair.names) {
                pairs.push(pair);
            }
        }
        for pair in &mut pairs {
            let told = self.told(pair.assumption.clone()).reason;
            pair.assumption = Reason { code: ReasonCode::PointersDistinct, ..told };
        }
        Ok(pairs)
    }
}

/// The construct that an access stands in.
pub(super) type PlaceOf<'a> = dyn Fn(&Access) -> usize + 'a;
