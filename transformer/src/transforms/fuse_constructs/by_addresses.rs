//! Constructs whose data the text does not tell apart, or of which it does not tell how much they are, in two forms: one kernel where the host finds by
//! addresses that they are apart, and by their sizes that the device holds them, and as they were where not.
//!
//! The host asks before the first of them, or before its own loop whose whole body they are: no construct changes a pointer or a length that is
//! compared.

use super::host_loop::HostLoop;
use super::lists::Mapped;
use super::members::Member;
use super::texts::Texts;
use super::{Arrangement, One, Stopped, apart, memory, steady};
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::{Change, Reason};
use crate::source::Span;
use crate::transforms::checks::addresses;
use crate::transforms::two_forms::{self, Twice};

/// How many times as fast one kernel must be predicted to be, for the text to stand twice.
const GAIN_OF_TWO_FORMS: f64 = 2.0;
/// The most pairs of pointers that are compared.
const MOST_COMPARED: usize = 16;

/// Both forms of some constructs of a run.
///
/// # Errors
/// The first construct that cannot be a part of the one kernel, and why.
pub(super) fn decide(
    (cx, texts): (&Context<'_>, &Texts<'_, '_>),
    run: &[Member],
    members: &[&Member],
) -> Result<Change, Stopped> {
    let guarded = members.iter().enumerate().find(|(_, member)| member.guard.is_some());
    if let Some((at, member)) = guarded {
        return Err(Stopped { at, reason: apart(member.directive, "it stands under a condition of its own") });
    }
    if let Some(last) = members.last().filter(|last| addresses::were_compared(cx, last.directive.start)) {
        return Err(Stopped { at: members.len() - 1, reason: other_form(last) });
    }
    let one = One::of((cx, texts), members, &Arrangement::merged(vec![None; members.len()]), GAIN_OF_TWO_FORMS)?;
    let forms = Forms { cx, members, one: &one };
    let edit = forms.edit(members.len() == run.len());
    let edit = edit.map_err(|reason| Stopped { at: members.len() - 1, reason })?;
    let where_asked =
        if one.may_meet.is_empty() { "where there is memory for all" } else { "where their data lie apart" };
    let summary = format!("{where_asked}, {}", one.summary);
    let kernels = Some((members.len(), 1));
    Ok(Change { edits: vec![edit], summary, reasons: one.assumed, kernels, ..Change::default() })
}

/// Why constructs stay that are the other form of one kernel.
pub(super) fn other_form(last: &Member) -> Reason {
    apart(last.directive, "the host asked whether data lie apart and fit, and has one kernel for that")
}

struct Forms<'a, 'c> {
    cx: &'a Context<'c>,
    members: &'a [&'a Member],
    one: &'a One,
}

/// Where both forms stand.
struct Place<'d> {
    twice: Twice<'d>,
    /// When the first of the constructs runs, if it is not certain that it does.
    runs: Option<String>,
}

impl Forms<'_, '_> {
    /// The edit that writes both forms. `are_all` says that the constructs have no other neighbour.
    fn edit(&self, are_all: bool) -> Result<Edit, Reason> {
        let Self { cx, members, one } = *self;
        if one.may_meet.is_empty() && one.memory.is_none() {
            return Err(self.no("there is nothing to be asked".to_owned()));
        }
        if one.may_meet.len() > MOST_COMPARED {
            return Err(self.no(format!("{} pairs of pointers are to be compared", one.may_meet.len())));
        }
        for (member, own) in members.iter().zip(&one.lists) {
            steady::handed(cx, members, (member, own))?;
        }
        let place = self.place(are_all).ok_or_else(|| self.no("it is no statement".to_owned()))?;
        let Place { twice, .. } = &place;
        let of_members = members.iter().find_map(|it| two_forms::cannot_stand_twice(cx, it.id, it.region.extent));
        let whole = || two_forms::statement_cannot_stand_twice(cx, twice.statement, twice.extent);
        if let Some((span, message)) = of_members.or_else(whole) {
            return Err(apart(span, message));
        }
        let conditions = self.conditions(&place)?;
        let comment = match one.may_meet.is_empty() {
            true => "One kernel where the device has memory for all of these data.",
            false => "One kernel where these data lie apart.",
        };
        two_forms::both(cx, twice, &one.edits, &conditions, comment)
            .ok_or_else(|| self.no("there is no place for both forms".to_owned()))
    }

    /// The place of the host's loop where the constructs are all that it repeats, or of the constructs themselves.
    fn place(&self, are_all: bool) -> Option<Place<'_>> {
        let Self { cx, members, .. } = *self;
        let (first, last) = (members.first()?, members.last()?);
        let directive = cx.constructs.directive(first.id);
        let around = HostLoop::around(cx, (first, last)).filter(|_| are_all);
        let has_directive = |node| cx.constructs.ids().any(|id| cx.constructs.construct(id).body == Some(node));
        let of_loop = around.filter(|around| !has_directive(around.statement())).and_then(|around| {
            let statement = around.statement();
            let twice = Twice { statement, extent: cx.tree.span(statement), directive, is_in_block: true };
            Some(Place { twice, runs: around.first_pass(cx, members).ok()? })
        });
        of_loop.or_else(|| {
            let twice = Twice::of_region(cx, (first.id, first.region.extent))?;
            let extent = Span::new(first.region.extent.start, last.region.extent.end);
            Some(Place { twice: Twice { extent, ..twice }, runs: None })
        })
    }

    /// What the host asks: that the constructs run at all, that their data lie apart, and that there is memory for all of them.
    fn conditions(&self, place: &Place<'_>) -> Result<Vec<String>, Reason> {
        let Self { cx, members, one } = *self;
        let mut conditions: Vec<String> = place.runs.iter().cloned().collect();
        for pair in &one.may_meet {
            // The storage of what lies behind a section was not compared.
            let sections = pair.names.each_ref().map(|name| self.section(name, place.twice.extent.start));
            let ([Some(first), Some(second)], true) = (&sections, pair.are_within) else {
                return Err(self.no(format!("`{}` and `{}` cannot be compared", pair.names[0], pair.names[1])));
            };
            conditions.push(addresses::apart(cx, [(&first.0, &first.1), (&second.0, &second.1)]));
        }
        if one.memory.is_some() {
            let bytes = memory::bytes(cx, members, &one.lists)
                .ok_or_else(|| self.no("it is not known how much memory all data take".to_owned()))?;
            conditions.push(format!("{bytes} <= {}", cx.device_memory));
        }
        Ok(conditions)
    }

    /// The pointer and the length of a section that begins at its first element, if they mean the same where the host asks.
    fn section(&self, name: &str, at: usize) -> Option<(String, String)> {
        let cx = self.cx;
        let mut items = self.one.lists.iter().flat_map(|lists| &lists.mapped);
        let item: &Mapped = items.find(|item| item.name == name)?;
        let is_pointer = cx.declared_type(name, item.span.start).is_some_and(|ty| ty.is_pointer());
        let length = item.length.filter(|_| is_pointer && item.is_from_first && cx.means_the_same(item.span, at))?;
        Some((name.to_owned(), addresses::length(cx, length)))
    }

    fn no(&self, message: String) -> Reason {
        apart(self.members.last().map(|last| last.directive).unwrap_or_default(), message)
    }
}
