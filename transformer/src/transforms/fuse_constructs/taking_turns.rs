//! Two arrays take turns where a loop of the host repeats one kernel that computes an array from another one, and one that copies it back: every
//! other step reads what the step before has left, and nothing is copied back.
//!
//! The last step, or the last two, stay as they were, so that both arrays end with the values that they had.

mod elements;
mod write;

use self::elements::Exchange;
use super::host_loop::HostLoop;
use super::lists::{Lists, Mapped};
use super::members::Member;
use super::{apart, gain, guards, heads, steady};
use crate::context::Context;
use crate::device::time::{GAIN, LAUNCH};
use crate::plan::figures::time;
use crate::plan::{Change, Reason, ReasonCode};
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::transforms::{checks, two_forms};

/// The most accesses that ask where their element lies.
const MOST_ASKED: usize = 8;
/// What such an access takes, as a part of a kernel with few of them: a kernel of six takes 1.1 times as long.
const ASKED: f64 = 0.02;

/// Both constructs, and the loop around them.
struct Turns<'a, 'c> {
    cx: &'a Context<'c>,
    around: &'a HostLoop,
    /// The one that computes.
    sweep: &'a Member,
    /// The one that copies.
    copy: &'a Member,
    lists: [Lists; 2],
}

/// The change by which arrays take turns. `None` where the constructs are no such pair, of which nothing is said.
pub(super) fn decide(cx: &Context<'_>, run: &[Member]) -> Option<Result<Change, Reason>> {
    let [sweep, copy] = run else { return None };
    let around = HostLoop::around(cx, (sweep, copy))?;
    let lists = [Lists::of(cx, sweep).ok()?, Lists::of(cx, copy).ok()?];
    let turns = Turns { cx, around: &around, sweep, copy, lists };
    let exchange = elements::copied_back(cx, copy)?;
    Some(turns.change(&exchange.names()))
}

impl Turns<'_, '_> {
    fn change(&self, [computed, copied_to]: &[String; 2]) -> Result<Change, Reason> {
        let Self { cx, around, sweep, copy, .. } = *self;
        self.are_plain()?;
        around.counts_up(cx)?;
        for (member, own) in [sweep, copy].into_iter().zip(&self.lists) {
            around.is_free_of_launches(cx, member, own)?;
            steady::handed(cx, &[sweep, copy], (member, own))?;
        }
        heads::same_range(cx, sweep, copy)?;
        self.stay_on_the_device([computed, copied_to])?;
        let exchange = Exchange::of(cx, (sweep, copy), around.variable(), [computed, copied_to])?;
        let asked = exchange.reads.iter().filter(|read| read.asks()).count();
        let (before, after) = self.times(&exchange, asked);
        if asked > MOST_ASKED || before < GAIN * after {
            let message = format!("turns would gain too little: predicted {} instead of {}", time(after), time(before));
            return Err(Reason::new(ReasonCode::FuseDoesNotPay, sweep.directive, message));
        }
        let edit = write::edit(self, &exchange)
            .ok_or_else(|| apart(copy.directive, "there is no place for a step that takes its turn"))?;
        let summary =
            format!("`{computed}` and `{copied_to}` take turns, so that only the last steps copy one to the other");
        Ok(Change { edits: vec![edit], summary, ..Change::default() })
    }

    /// May both constructs stand as they are, and the first one twice?
    fn are_plain(&self) -> Result<(), Reason> {
        let Self { cx, sweep, copy, around, .. } = *self;
        for member in [sweep, copy] {
            let clauses = &cx.constructs.directive(member.id).clauses;
            let is_known = |name: ClauseName| {
                let of_grid = matches!(name, ClauseName::NumTeams | ClauseName::ThreadLimit | ClauseName::DistSchedule);
                of_grid || matches!(name, ClauseName::Map | ClauseName::Collapse)
            };
            if let Some(clause) = clauses.iter().find(|clause| !is_known(clause.name)) {
                return Err(apart(clause.span, "there is no rule for steps in turns with this clause"));
            }
            if member.guard.is_some() || checks::directive_in(cx, member.content).is_some() {
                return Err(apart(member.directive, "something stands around the construct or in its body"));
            }
        }
        let twice = two_forms::cannot_stand_twice(cx, sweep.id, sweep.region.extent)
            .or_else(|| two_forms::cannot_stand_twice(cx, copy.id, copy.region.extent));
        if let Some((span, message)) = twice {
            return Err(apart(span, message));
        }
        if let Some((span, message)) = checks::restated::trouble(cx, sweep.body) {
            return Err(apart(span, message));
        }
        match checks::restated::declared_again(cx, &sweep.loops, sweep.body) {
            Some(span) => Err(apart(span, "this name is that of a loop's variable")),
            None => around.leaves_a_distance(cx),
        }
    }

    /// Are both arrays listed with equal sections by both constructs, and by a `target data` construct around the loop? Otherwise copies to the
    /// device and back take most of the time. Where it is not certain that this one holds them, each construct must hand on what it computes.
    fn stay_on_the_device(&self, [computed, copied_to]: [&String; 2]) -> Result<(), Reason> {
        let no = |span: Span, message: String| Err(apart(span, message));
        for (name, is_computed) in [(computed, true), (copied_to, false)] {
            let [Some(first), Some(second)] = self.items(name) else {
                return no(self.copy.directive, format!("`{name}` is not listed by both constructs"));
            };
            if !self.around.is_in_environment_of(self.cx, name) {
                let message = format!("no `target data` construct around the loop keeps `{name}` on the device");
                return no(second.span, message);
            }
            let is_alike = first.text.split_whitespace().eq(second.text.split_whitespace());
            let hands_on = match is_computed {
                true => first.copies.from && second.copies.to,
                false => first.copies.to && second.copies.from,
            };
            if !is_alike || !hands_on && !self.is_held(name) {
                return no(second.span, format!("it is not certain that both constructs find the same `{name}`"));
            }
        }
        Ok(())
    }

    /// Is an array on the device whatever the constructs map?
    fn is_held(&self, name: &str) -> bool {
        let both = [self.sweep, self.copy].into_iter().zip(self.items(name));
        both.into_iter().all(|(member, item)| item.is_some_and(|item| guards::is_held(self.cx, member, item)))
    }

    /// How long a step takes as it is, and in turns, in microseconds.
    fn times(&self, exchange: &Exchange, asked: usize) -> (f64, f64) {
        let kernel = |found, depth| gain::kernel_time(self.cx, found, depth, &|_| 1.0);
        let depth = self.sweep.loops.len();
        let (sweep, copy) = (kernel(&exchange.sweep, depth), kernel(&exchange.copy, depth));
        let asked = f64::from(u32::try_from(asked).unwrap_or(u32::MAX));
        (2.0 * LAUNCH + sweep + copy, LAUNCH + sweep * (1.0 + ASKED * asked))
    }

    /// What both constructs list of an array.
    fn items(&self, name: &str) -> [Option<&Mapped>; 2] {
        self.lists.each_ref().map(|own| own.mapped.iter().find(|item| item.name == name))
    }

    /// From the first construct to the end of the second.
    fn extent(&self) -> Span {
        Span::new(self.sweep.region.extent.start, self.copy.region.extent.end)
    }
}
