//! Two arrays take turns where a loop of the host repeats one kernel that computes an array from another one, and one that copies it back: every
//! step reads what the step before has left, and nothing is copied back before the loop has ended. So do they where each step first copies the array and
//! then computes it anew from the copy: only the first step copies, and behind the loop both change places if need be.
//!
//! A variable of the host says which array has what the last step computed: so the loop may end whenever it likes.

mod elements;
mod steps;
mod write;

use self::elements::{CopiedBack, Exchange};
use self::steps::Steps;
use super::lists::{Lists, Mapped};
use super::members::Member;
use super::{apart, gain, guards, heads, steady};
use crate::context::Context;
use crate::device::time::{GAIN, LAUNCH};
use crate::plan::figures::time;
use crate::plan::{Change, Reason, ReasonCode};
use crate::semantics::effects::Storage;
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::transforms::{checks, two_forms};

/// The most accesses that ask where their element lies.
const MOST_ASKED: usize = 8;
/// What such an access takes, as a part of a kernel with few of them: a kernel of six takes 1.1 times as long.
const ASKED: f64 = 0.02;

/// What a step does first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// It computes, and then copies what it has computed to the array that it has read.
    ComputesFirst,
    /// It copies the array that it computes anew from the copy.
    CopiesFirst,
}

/// Both constructs, and the loop around them.
struct Turns<'a, 'c> {
    cx: &'a Context<'c>,
    order: Order,
    steps: Steps<'a, 'c>,
    /// The one that computes.
    sweep: &'a Member,
    /// The one that copies.
    copy: &'a Member,
    lists: [Lists; 2],
}

/// The change by which arrays take turns. `None` where the constructs are no such pair, of which nothing is said.
pub(super) fn decide(cx: &Context<'_>, [first, second]: [&Member; 2]) -> Option<Result<Change, Reason>> {
    let (order, copied, [sweep, copy]) = match elements::copied_back(cx, second) {
        Some(copied) => (Order::ComputesFirst, copied, [first, second]),
        None => (Order::CopiesFirst, elements::copied_back(cx, first)?, [second, first]),
    };
    if order == Order::CopiesFirst && !elements::computes_from_copy(cx, sweep, &copied.names()) {
        return None;
    }
    let steps = Steps::around(cx, (first, second))?;
    let lists = [Lists::of(cx, sweep).ok()?, Lists::of(cx, copy).ok()?];
    let turns = Turns { cx, order, steps, sweep, copy, lists };
    Some(turns.change(&copied))
}

impl Turns<'_, '_> {
    fn change(&self, copied: &CopiedBack) -> Result<Change, Reason> {
        let Self { cx, order, steps, sweep, copy, lists } = self;
        let [computed, copied_to] = &copied.names();
        self.are_plain()?;
        steps.have_a_place()?;
        match order {
            Order::ComputesFirst => heads::same_range(cx, sweep, copy)?,
            Order::CopiesFirst => heads::same_kind(cx, sweep, copy)?,
        }
        steps.repeat(sweep, (copy, &lists[1]))?;
        steps.leave_alone([computed, copied_to])?;
        self.hands_are_free([computed, copied_to])?;
        self.stay_on_the_device([computed, copied_to])?;
        let exchange = Exchange::of(cx, (sweep, copy), (steps, &lists[0], *order), copied)?;
        let asked = exchange.reads.iter().filter(|read| read.asks()).count();
        let (before, after) = self.times(&exchange, asked);
        if asked > MOST_ASKED || before < GAIN * after {
            let message = format!("turns would gain too little: predicted {} instead of {}", time(after), time(before));
            return Err(Reason::new(ReasonCode::FuseDoesNotPay, sweep.directive, message));
        }
        let edits = write::edits(self, &exchange)
            .ok_or_else(|| apart(copy.directive, "there is no place for a step that takes its turn"))?;
        let which = if *order == Order::CopiesFirst { "first" } else { "last" };
        let summary =
            format!("`{computed}` and `{copied_to}` take turns, so that only the {which} step copies one to the other");
        Ok(Change { edits, summary, ..Change::default() })
    }

    /// Do the constructs leave alone what the host hands to them, but for what they reduce, which is part of neither array?
    fn hands_are_free(&self, arrays: [&String; 2]) -> Result<(), Reason> {
        let Self { cx, sweep, copy, steps, .. } = self;
        for (member, own) in [sweep, copy].into_iter().zip(&self.lists) {
            steady::handed_beside(cx, &[sweep, copy], (member, own), &|key| own.reduces(key))?;
            for (name, span) in own.reduced() {
                let named = cx.named(name, span.start).map(|(named, _)| Storage::Variable(named));
                steps.check_storage(&named.unwrap_or(Storage::Memory), span, arrays)?;
            }
        }
        Ok(())
    }

    /// May both constructs stand as they are, and twice?
    fn are_plain(&self) -> Result<(), Reason> {
        let Self { cx, sweep, copy, .. } = *self;
        for member in [sweep, copy] {
            let clauses = &cx.constructs.directive(member.id).clauses;
            let is_known = |name: ClauseName| {
                let of_grid = matches!(name, ClauseName::NumTeams | ClauseName::ThreadLimit | ClauseName::DistSchedule);
                let of_sums = name == ClauseName::Reduction && member.id == sweep.id;
                of_grid || of_sums || matches!(name, ClauseName::Map | ClauseName::Collapse)
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
        for member in [sweep, copy] {
            if let Some((span, message)) = checks::restated::trouble(cx, member.body) {
                return Err(apart(span, message));
            }
            if let Some(span) = checks::restated::declared_again(cx, &member.loops, member.body) {
                return Err(apart(span, "this name is that of a loop's variable"));
            }
        }
        Ok(())
    }

    /// Are both arrays listed with equal sections by both constructs or by none, and by a `target data` construct around the loop? Otherwise copies to the
    /// device and back take most of the time. Where it is not certain that this one holds them, each construct must hand on what it computes.
    fn stay_on_the_device(&self, [computed, copied_to]: [&String; 2]) -> Result<(), Reason> {
        let no = |span: Span, message: String| Err(apart(span, message));
        for (name, is_computed) in [(computed, true), (copied_to, false)] {
            if !self.steps.is_in_environment_of(name) {
                let message = format!("no `target data` construct around the loop keeps `{name}` on the device");
                return no(self.copy.directive, message);
            }
            let (first, second) = match self.items(name) {
                [Some(first), Some(second)] => (first, second),
                // By no list an array is mapped both ways, and what a pointer leads to is found on the device, in both constructs.
                [None, None] => continue,
                _ => return no(self.copy.directive, format!("`{name}` is listed by one of both constructs alone")),
            };
            let is_alike = first.text.split_whitespace().eq(second.text.split_whitespace());
            let hands_on = match is_computed {
                _ if self.order == Order::CopiesFirst => {
                    [first, second].iter().all(|it| it.copies.to && it.copies.from)
                }
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
}
