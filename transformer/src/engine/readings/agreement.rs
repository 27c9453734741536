//! What the passes decide of every text that a file may be read as, told of the file.

use std::collections::BTreeMap;

use crate::edit::{Edit, directive_writer};
use crate::engine::readings::{MacroUse, Reading, Readings};
use crate::plan::{Applicability, Decision, Pass, Plan, Reason, ReasonCode};
use crate::source::{Span, words};
use crate::syntax::ClauseName;

/// Where the directive and the construct of a plan begin, and who made it.
type Place = (usize, usize, Pass);

/// The number of a text, and what is decided there.
type Said = (usize, Plan);

impl Readings<'_> {
    /// The plans for the file, from those for each of its texts.
    pub fn agreed(&self, plans: Vec<Vec<Plan>>) -> Vec<Plan> {
        let of_file = |(reading, plans): (&Reading<'_>, Vec<Plan>)| {
            plans.into_iter().map(|plan| self.in_file(reading, plan)).collect::<Vec<_>>()
        };
        let mut all: Vec<Vec<Plan>> = self.texts.iter().zip(plans).map(of_file).collect();
        if all.len() < 2 {
            return all.pop().unwrap_or_default();
        }
        let mut of_construct: BTreeMap<(Place, usize), Vec<Said>> = BTreeMap::new();
        for (text, plans) in all.into_iter().enumerate() {
            let mut seen: BTreeMap<Place, usize> = BTreeMap::new();
            for plan in plans {
                let place = (plan.span.start, plan.extent.start, plan.pass);
                let number = seen.entry(place).or_default();
                of_construct.entry((place, *number)).or_default().push((text, plan));
                *number += 1;
            }
        }
        of_construct.into_values().filter_map(|plans| self.one(plans)).collect()
    }

    /// What is done with a construct of which texts say something.
    fn one(&self, plans: Vec<Said>) -> Option<Plan> {
        let is_applied = |(_, plan): &Said| matches!(plan.decision, Decision::Apply(_));
        let agree = plans.windows(2).all(|pair| matches!(pair, [(_, a), (_, b)] if a.edits == b.edits));
        let speaks = |text: usize| plans.iter().any(|(other, _)| *other == text);
        let mut silent = self.texts.iter().enumerate().filter(|(text, _)| !speaks(*text)).map(|(_, text)| text);
        let edits = plans.iter().flat_map(|(_, plan)| &plan.edits);
        // Where the construct is not there, its edits must not be either.
        let is_hidden = silent.all(|text| edits.clone().all(|edit| text.leaves_out(edit.span)));
        let all_applied = plans.iter().all(is_applied);
        let (applied, others): (Vec<Said>, Vec<Said>) = plans.into_iter().partition(is_applied);
        let other = others.into_iter().map(|(_, plan)| plan).max_by_key(|plan| severity(plan.decision));
        // What is refused in one text is refused, and what pays in one alone is not written.
        let Some(mut plan) = applied.into_iter().map(|(_, plan)| plan).max_by_key(applicability) else { return other };
        if all_applied && agree && is_hidden {
            return Some(plan);
        }
        let is_said = |other: &Plan| match other.decision {
            Decision::Refuse => true,
            Decision::DoesNotPay => is_hidden,
            _ => false,
        };
        if let Some(other) = other.filter(is_said) {
            return Some(other);
        }
        plan.refuse(self.disagreement(plan.extent, plan.span));
        Some(plan)
    }

    /// Texts want different things.
    fn disagreement(&self, extent: Span, span: Span) -> Reason {
        let is_several = |used: &&MacroUse| used.places.len() > 1;
        let around = self.conditions.line_at(extent);
        let used = self.uses_in(extent).find(is_several).or_else(|| self.uses.iter().find(is_several));
        match around.or_else(|| self.conditions.first_line().filter(|_| used.is_none())) {
            Some(line) => {
                let message =
                    "`#if` cuts through this construct, and an edit that suits one branch does not suit another";
                Reason::new(ReasonCode::PreprocessorConditional, span, message).with_label(line, "the conditional")
            }
            None => match self.conditions.first_place().filter(|_| used.is_none()) {
                Some(place) => {
                    let message =
                        format!("an edit that suits one branch of the `#if` at {place} does not suit another");
                    Reason::new(ReasonCode::PreprocessorConditional, span, message)
                }
                None => reason(used, span, "an edit that suits one definition of this macro does not suit another"),
            },
        }
    }

    /// A plan for one of the texts in terms of the file; refused where it changes what comes from a macro.
    fn in_file(&self, reading: &Reading<'_>, plan: Plan) -> Plan {
        let edits: Option<Vec<Edit>> = plan.edits.iter().map(|edit| self.edit(reading, edit)).collect();
        let is_writable = edits.is_some();
        let mut plan = Plan { edits: edits.unwrap_or_default(), ..plan.placed(|span| reading.place(span)) };
        if !is_writable && let Some(line) = self.conditions.line_at(plan.extent) {
            let message = "`#if` cuts through what would be changed here";
            let reason = Reason::new(ReasonCode::PreprocessorConditional, plan.span, message);
            plan.refuse(reason.with_label(line, "the conditional"));
        } else if !is_writable {
            let message = "what a macro gives to this directive would be written elsewhere or anew, and stays as it is";
            plan.refuse(reason(self.uses_in(plan.extent).next(), plan.span, message));
        }
        plan
    }

    /// An edit of the file. Clauses go behind the uses of macros, so that they stand at the same place whatever those give.
    fn edit(&self, reading: &Reading<'_>, edit: &Edit) -> Option<Edit> {
        let edit = reading.derived.edit(edit)?;
        if self.uses.iter().any(|used| used.span.start < edit.span.start && edit.span.end < used.span.end) {
            return None;
        }
        let at = edit.span.start;
        let mut directives = self.scan.directives.iter().map(|directive| directive.span);
        let around = directives.find(|span| span.start < at && at <= span.end);
        let Some(directive) = around.filter(|span| edit.span.is_empty() && self.uses_in(*span).next().is_some()) else {
            return Some(edit);
        };
        let clauses = directive_writer::clauses_of(&edit.text);
        let is_clause = |text: &String| words(text).next().map(ClauseName::of_name) != Some(ClauseName::Unknown);
        if !clauses.iter().all(is_clause) {
            return Some(edit);
        }
        Some(directive_writer::insert_clauses(self.file, directive, self.behind_uses(at), &clauses))
    }

    /// The end of the last use of a macro that follows a place, with nothing but blanks before it.
    fn behind_uses(&self, at: usize) -> usize {
        let mut end = at;
        for used in self.uses.iter().map(|used| used.span).filter(|span| span.start >= at) {
            let between = String::from_utf8_lossy(Span::new(end, used.start).of(&self.file.text)).into_owned();
            if between.contains(|c: char| !c.is_whitespace() && c != '\\') {
                break;
            }
            end = used.end;
        }
        end
    }
}

/// A refusal for what a macro does to a construct, with the places of its definitions.
fn reason(used: Option<&MacroUse>, span: Span, message: &str) -> Reason {
    let Some(used) = used else { return Reason::new(ReasonCode::MacroDirective, span, message) };
    let message = format!("{message} (`{}`, defined at {})", used.name, used.places.join(", "));
    Reason::new(ReasonCode::MacroDirective, used.span, message)
}

fn applicability(plan: &Plan) -> Option<Applicability> {
    match plan.decision {
        Decision::Apply(applicability) => Some(applicability),
        _ => None,
    }
}

fn severity(decision: Decision) -> usize {
    match decision {
        Decision::NothingToDo => 0,
        Decision::DoesNotPay => 1,
        Decision::Apply(_) => 2,
        Decision::Refuse => 3,
    }
}
