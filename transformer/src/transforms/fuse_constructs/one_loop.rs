//! What several constructs are as one: the text of the one loop, and what must hold for it.

use super::lists::{self, Lists, joined};
use super::members::Member;
use super::one_range::OneRange;
use super::side_by_side::Beside;
use super::texts::Texts;
use super::write::Asked;
use super::{Stopped, apart, gain, guards, heads, memory, steady, together, write};
use crate::analysis::independence::aliases::MayMeet;
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::Reason;
use crate::source::Span;
use crate::transforms::checks::{self, type_parameters};

/// How the iterations of several constructs stand in one loop.
pub(super) struct Arrangement {
    /// The names of the constants that say which constructs run.
    pub names: Vec<Option<String>>,
    /// The loop over the constructs. Without it each iteration executes those of all.
    pub beside: Option<Beside>,
    /// The loops over the ranges of all, where these differ.
    pub range: Option<OneRange>,
}

impl Arrangement {
    pub(super) fn merged(names: Vec<Option<String>>) -> Self {
        Self { names, beside: None, range: None }
    }

    /// What each construct's statements are asked for.
    fn conditions(&self) -> Vec<Option<Asked>> {
        let runs = |name: &String| Asked { condition: name.clone(), copy: None };
        match (&self.beside, &self.range) {
            (Some(beside), _) => beside.asked.iter().cloned().map(Some).collect(),
            (None, Some(range)) => range.asked.clone(),
            (None, None) => self.names.iter().map(|name| name.as_ref().map(runs)).collect(),
        }
    }

    /// The number of loops that are associated with the directive in the text that is read.
    pub(super) fn depth(&self, first: &Member) -> usize {
        if self.beside.is_some() { 1 } else { first.loops.len() }
    }

    /// The clauses that the directive gets for it.
    fn clauses(&self) -> Vec<String> {
        self.beside.iter().map(|_| "collapse(2)".to_owned()).collect()
    }
}

/// Several constructs as one.
pub(super) struct One {
    pub edits: Vec<Edit>,
    pub summary: String,
    /// The lists of each construct's clauses.
    pub lists: Vec<Lists>,
    /// What must lead to different storage, and is not known to.
    pub may_meet: Vec<MayMeet>,
    /// Why there may be too little memory for all data at once.
    pub memory: Option<Reason>,
    /// What else is assumed.
    pub assumed: Vec<Reason>,
}

impl One {
    /// Reads what some constructs would be as one, which must be predicted to be `least` times as fast.
    ///
    /// # Errors
    /// The first construct that cannot be a part of it, and why.
    pub(super) fn of(
        (cx, texts): (&Context<'_>, &Texts<'_, '_>),
        members: &[&Member],
        arrangement: &Arrangement,
        least: f64,
    ) -> Result<Self, Stopped> {
        let lists = agreed(cx, members, arrangement)?;
        gain::too_large(cx, members, arrangement.beside.is_some()).map_or(Ok(()), Err)?;
        let mut loops = write::loops(cx, members, &arrangement.names, &arrangement.conditions());
        loops.extend(arrangement.range.iter().flat_map(OneRange::heads));
        let all = joined(members, &lists)?;
        let Some(first) = members.first() else { return Err(nothing()) };
        let (to_be_read, written) = match &arrangement.beside {
            None => (loops.clone(), Some(loops)),
            Some(beside) => (beside.to_be_read(members), beside.written(cx, members, loops)),
        };
        let directives = together::directives(cx, members, (&lists, &all), arrangement);
        let read = to_be_read.into_iter().chain([directives]).collect();
        let may_meet = together::may_meet((cx, texts), members, (&lists, arrangement), read, least)?;
        let memory = memory::growth(cx, members, &lists);
        let mut edits = written.ok_or_else(nothing)?;
        edits.extend(write::clauses(cx, members, (&lists, &all), &arrangement.clauses()));
        // Side by side no statements meet that a compiler could combine.
        let rounding = || checks::other_rounding(cx, first.directive);
        let (rounding, summary) = match arrangement.beside {
            Some(_) => (None, format!("{} kernels become one, side by side", members.len())),
            None if arrangement.range.is_some() => {
                (rounding(), format!("{} kernels become one over the range of all", members.len()))
            }
            None => (rounding(), format!("{} kernels over the same range become one", members.len())),
        };
        let parameters = members.iter().find_map(|member| type_parameters::assumption(cx, member.body));
        Ok(Self { edits, summary, lists, may_meet, memory, assumed: rounding.into_iter().chain(parameters).collect() })
    }
}

/// Why constructs stay whose text has no place for one loop.
fn nothing() -> Stopped {
    Stopped { at: 1, reason: apart(Span::default(), "there is no place for one loop") }
}

/// Checks what the text of directives and heads tells, and returns the lists of each construct's clauses.
fn agreed(cx: &Context<'_>, members: &[&Member], arrangement: &Arrangement) -> Result<Vec<Lists>, Stopped> {
    let mut all: Vec<Lists> = Vec::new();
    for (at, (member, name)) in members.iter().zip(&arrangement.names).enumerate() {
        let stop = |reason| Stopped { at, reason };
        let own = Lists::of(cx, member).map_err(stop)?;
        if let Some(beside) = &arrangement.beside {
            steady::handed(cx, members, (member, &own)).map_err(stop)?;
            beside.is_asked_alike(cx, members, (member, &own)).map_err(stop)?;
        }
        if let Some(range) = &arrangement.range {
            steady::handed(cx, members, (member, &own)).map_err(stop)?;
            range.is_asked_alike(cx, (member, &own)).map_err(stop)?;
        }
        if name.is_some() {
            // Those that ask the same may go together without it.
            let at = guards::first_other(cx, members).unwrap_or(at).max(1);
            guards::may_run_idle(cx, member, &own).map_err(|reason| Stopped { at, reason })?;
        }
        let before = members.get(..at).unwrap_or_default();
        if let (Some(first), Some(known)) = (before.first(), all.first()) {
            if arrangement.beside.is_none() && arrangement.range.is_none() {
                heads::same_range(cx, first, member).map_err(stop)?;
            }
            lists::same_otherwise(cx, (first, known), (member, &own)).map_err(stop)?;
            if first.guard.is_some() && member.guard.is_none() {
                return Err(stop(apart(member.directive, "the construct before this one does not always run")));
            }
            steady::handed(cx, before, (member, &own)).map_err(stop)?;
        }
        for (one, known) in before.iter().zip(&all) {
            lists::same_attributes(cx, (one, known), (member, &own)).map_err(stop)?;
        }
        all.push(own);
    }
    Ok(all)
}
