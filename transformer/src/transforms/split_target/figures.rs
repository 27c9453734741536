//! The figures behind a decision, for people: what the cost model was told of each loop, and what it said.

use crate::analysis::cost::Estimate;
use crate::context::Context;
use crate::plan::Reason;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::transforms::split_target::shape::distribute::in_order;
use crate::transforms::split_target::write::Split;
use crate::transforms::split_target::{Checked, Parts, checked, versions, work};

/// What is known of one region that can be split.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The region, directive and body.
    pub extent: Span,
    /// Its loops, in the order of the text.
    pub loops: Vec<LoopFigures>,
    /// Both versions with the assumed lengths, in microseconds.
    pub estimate: Estimate,
    /// What is taken for what the text does not tell; none where it tells all.
    pub assumed: Option<String>,
    /// From how many such iterations on a split pays, or from which value of a variable on.
    pub pays_from: Option<String>,
    /// Does control flow around the loops run them many times for the one launch of the original?
    pub repeated: bool,
    /// When the split form would run if both were written: the condition, or why there is none. None where one form is the
    /// faster whatever the lengths are.
    pub versions: Option<Result<String, Reason>>,
    /// Are both written?
    pub both_written: bool,
}

/// One loop, or the loops of one nest together.
#[derive(Clone, Debug)]
pub struct LoopFigures {
    /// Its directive.
    pub span: Span,
    /// Iterations of the associated loops.
    pub iterations: f64,
    /// Does the text tell them?
    pub is_known: bool,
    /// Operations of one iteration; loops inside whose length the text does not tell count 64 times.
    pub operations: f64,
    /// In the original, the launch left out, in microseconds.
    pub before: f64,
    /// As a kernel of its own, its launch included, in microseconds.
    pub after: f64,
}

/// The figures of every region of the file that can be split, worth it or not.
#[must_use]
pub fn figures(cx: &Context<'_>) -> Vec<Figures> {
    let regions = target_regions(cx.tree, cx.constructs);
    let split = |region: &TargetRegion| {
        let in_order = in_order(cx, region);
        let region = in_order.as_ref().unwrap_or(region);
        let Ok(Checked::Split(parts)) = checked(cx, region) else { return None };
        let Parts { shape, clauses, kernels, data } = *parts;
        let verdict = work::weigh(cx, region.extent, &shape, &kernels);
        let split = Split { cx, region, shape: &shape, clauses: &clauses, kernels: &kernels, data: &data };
        let versions = versions::condition(cx, &split).transpose();
        Some(Figures {
            extent: region.extent,
            loops: work::loop_figures(cx, region.extent, &shape, &kernels),
            estimate: verdict.estimate(),
            assumed: verdict.assumed(),
            pays_from: verdict.pays_from(),
            repeated: work::is_steered(&shape),
            both_written: cx.versioned && matches!(versions, Some(Ok(_))),
            versions: versions.map(|condition| condition.map(|condition| condition.text)),
        })
    };
    regions.iter().filter(|region| !versions::is_versioned(cx, region)).filter_map(split).collect()
}
