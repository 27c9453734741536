//! The facts that `explain` shows about the decision to split: the input of the cost model for each loop, and its
//! results.

use crate::context::Context;
use crate::plan::figures::{count, time};
use crate::plan::{Decision, Detail, Plan};
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::transforms::split_target::facts::Facts;
use crate::transforms::split_target::facts::cost::{self, condition};
use crate::transforms::split_target::shape::Shape;

/// One loop, or the loops of one nest together.
#[derive(Clone, Debug)]
pub struct LoopFigures {
    /// Its directive.
    pub span: Span,
    /// Iterations of the associated loops.
    pub iterations: f64,
    /// Do they follow from the text?
    pub is_known: bool,
    /// Operations of one iteration. Inner loops of unknown length count 64 times.
    pub operations: f64,
    /// Microseconds in the original, without the launch.
    pub before: f64,
    /// Microseconds as a kernel of its own, with its launch.
    pub after: f64,
}

/// The loops, then the figures of each way to write the region.
pub(crate) fn details(
    cx: &Context<'_>,
    region: &TargetRegion,
    shape: &Shape,
    facts: &Facts,
    plan: &Plan,
) -> Vec<Detail> {
    let verdict = cost::weigh(cx, plan.extent, shape, &facts.pieces);
    let mut details = vec![Detail::head("loops, by the cost model:")];
    let loops = cost::loop_figures(cx, plan.extent, shape, &facts.pieces);
    details.extend(loops.iter().map(|work| {
        let LoopFigures { iterations, operations, before, after, .. } = work;
        let origin = if work.is_known { "known" } else { "assumed" };
        let text = format!(
            "{} iterations ({origin}) of {} operations: {} as it is, {} with a launch of its own",
            count(*iterations),
            count(*operations),
            time(*before),
            time(*after)
        );
        Detail::inner(text).at(work.span)
    }));
    let versions = condition::condition(cx, region, shape, &facts.pieces).transpose();
    let versioned = verdict.should_ask(cx) && matches!(versions, Some(Ok(_)));
    let is_split = matches!(plan.decision, Decision::Apply(_)) && !versioned;
    let chosen = |yes: bool| if yes { "  <- chosen" } else { "" };
    let (estimate, repeated) = (verdict.estimate(), cost::is_steered(shape));
    let launches = if repeated { ", a launch for all rounds" } else { "" };
    let is_left = chosen(plan.decision == Decision::DoesNotPay);
    details.push(Detail::head("candidates:"));
    details.push(Detail::inner(format!("as it is: {}{launches}{is_left}", time(estimate.before))));
    let rounds = if repeated { " in each round" } else { "" };
    let plural = if loops.len() == 1 { "launch" } else { "launches" };
    let threshold = versions.as_ref().and_then(|condition| condition.as_ref().ok());
    let from = verdict.pays_from(threshold).zip(verdict.assumed());
    let from = from.map_or_else(String::new, |(from, assumed)| format!("; pays {from}; assumes {assumed}"));
    let is_chosen = chosen(is_split);
    let number = loops.len();
    details.push(Detail::inner(format!("split: {}, {number} {plural}{rounds}{from}{is_chosen}", time(estimate.after))));
    details.push(match versions {
        None => Detail::inner("versioned: no length decides"),
        Some(Ok(condition)) => {
            let flag = if versioned { "" } else { ", with --versioned only" };
            Detail::inner(format!("versioned: split where {condition}{flag}{}", chosen(versioned)))
        }
        Some(Err(reason)) => {
            Detail::inner(format!("no versioned form: {}: {}", reason.code.id(), reason.message)).at(reason.span)
        }
    });
    details
}
