//! What was decided in a function, and which refusals are told.

use std::collections::BTreeMap;

use crate::context::Context;
use crate::plan::{Detail, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::NodeId;
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::decided::Planned;
use crate::transforms::hoist_maps::environments::Block;
use crate::transforms::hoist_maps::is_repeated;

/// What the names that other passes write begin with.
pub(super) const OWN_NAMES: &[u8] = b"ompsplit_";

/// What was decided in one function.
#[derive(Default)]
pub(super) struct Found {
    pub(super) plans: Vec<Planned>,
    /// What is not held, by the place of the plan, with the constructs that map it.
    pub(super) refused: Vec<Refused>,
    /// The variables that environments hold, and where these are.
    pub(super) held: Vec<(VariableId, Span)>,
    /// Names of variables that environments declare.
    pub(super) given: Vec<String>,
}

/// A variable that is not held, and where a programmer would look for it.
pub(super) struct Refused {
    id: VariableId,
    directive: Span,
    extent: Span,
    reason: Reason,
}

impl Found {
    /// Tells of each environment why what it holds does not stay for longer.
    pub(super) fn explain_limits(&self, cx: &Context<'_>) {
        for Planned { plan, opened } in &self.plans {
            let holds = |id: VariableId| opened.as_ref().is_some_and(|opened| opened.variables.contains(&id));
            let wider = self
                .refused
                .iter()
                .filter(|one| one.extent.contains(plan.extent) && one.extent != plan.extent && holds(one.id));
            let mut lines: Vec<Detail> = Vec::new();
            for Refused { reason, .. } in wider {
                let line = Detail::inner(format!("{} [{}]", reason.message, reason.code.id())).at(reason.span);
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            if !lines.is_empty() {
                let head = Detail::head("not kept for longer:");
                cx.explain_more(Pass::Hoist, plan.extent, std::iter::once(head).chain(lines));
            }
        }
    }

    /// Of a variable that cannot be held at several places, one inside the other, the innermost says why.
    pub(super) fn into_plans(self) -> Vec<Planned> {
        let Self { mut plans, refused, held, .. } = self;
        let counts = |one: &&Refused| {
            let is_held = held
                .iter()
                .any(|(id, extent)| *id == one.id && (extent.contains(one.extent) || one.extent.contains(*extent)));
            let is_outer = refused
                .iter()
                .any(|other| other.id == one.id && one.extent != other.extent && one.extent.contains(other.extent));
            !is_held && !is_outer
        };
        let mut places: Vec<(Span, Span, Vec<Reason>)> = Vec::new();
        for one in refused.iter().filter(counts) {
            match places.iter_mut().find(|(directive, extent, _)| (*directive, *extent) == (one.directive, one.extent))
            {
                Some((_, _, reasons)) => reasons.push(one.reason.clone()),
                None => places.push((one.directive, one.extent, vec![one.reason.clone()])),
            }
        }
        let refusals = places
            .into_iter()
            .map(|(span, extent, reasons)| Verdict::Refuse(reasons).into_plan(Pass::Hoist, span, extent))
            .map(|plan| Planned { plan, opened: None });
        plans.extend(refusals);
        plans
    }
}

/// What is told of a variable that the constructs in these statements map, and that is not held; nothing where that is no news.
pub(super) fn refusal(block: &Block<'_, '_>, inside: &[Statement], id: VariableId, reason: Reason) -> Option<Refused> {
    let mappings = inside.iter().flat_map(|it| &it.mappings).filter_map(|index| block.all.get(*index));
    let mappings: Vec<&Mapping> = mappings.filter(|mapping| mapping.item(id).is_some()).collect();
    // Where an environment stands already, by the program or by `split`, somebody has decided how far it reaches.
    let is_decided =
        |mapping: &&Mapping| block.all.iter().any(|other| other.is_data && other.extent.contains(mapping.extent));
    let mapping = mappings.first().filter(|_| !mappings.iter().any(is_decided))?;
    // A call that no loop repeats is no place where a programmer looks for copies.
    let is_worth_a_word = mapping.called.is_none() || inside.iter().any(|statement| statement.is_loop);
    is_worth_a_word.then_some(())?;
    let directive = mapping.place(block.cx);
    let extent = Span::new(inside.first()?.extent.start, inside.last()?.extent.end);
    // What the tool made itself keeps its data where it wants them.
    let is_own_output = block.cx.file.bytes(extent).windows(OWN_NAMES.len()).any(|word| word == OWN_NAMES);
    (!is_own_output).then_some(())?;
    Some(Refused { id, directive, extent, reason })
}

/// What is told of calls in loops whose constructs keep their maps because the caller has no name for what they map. Where the data are the
/// called function's own, or environments in the program hold them, there is nothing to do.
pub(super) fn not_named(cx: &Context<'_>, unnamed: &[(NodeId, Reason)], held: &[Span], data: &[Span]) -> Vec<Plan> {
    let mut by_call: BTreeMap<NodeId, Vec<Reason>> = BTreeMap::new();
    for (call, reason) in unnamed {
        let reasons = by_call.entry(*call).or_default();
        if !reasons.iter().any(|known| known.message == reason.message) {
            reasons.push(reason.clone());
        }
    }
    let is_told = |(call, _): &(NodeId, Vec<Reason>)| {
        is_repeated(cx, *call) && !held.iter().any(|extent| extent.contains(cx.tree.span(*call)))
    };
    let told = by_call.into_iter().filter(is_told);
    told.map(|(call, reasons)| {
        let span = cx.tree.span(call);
        let (nothing, mut refused): (Vec<Reason>, Vec<Reason>) =
            reasons.into_iter().partition(|reason| reason.code == ReasonCode::NothingToHoist);
        let environment = data.iter().any(|extent| extent.contains(span));
        if environment {
            refused.clear();
        }
        let decided = || {
            let message = "the data environment around this call says how far the data stay";
            Reason::new(ReasonCode::NothingToHoist, span, message)
        };
        let verdict = match (refused.is_empty(), nothing.into_iter().next()) {
            (true, found) => Verdict::Nothing(found.unwrap_or_else(decided)),
            (false, _) => Verdict::Refuse(refused),
        };
        verdict.into_plan(Pass::Hoist, span, span)
    })
    .collect()
}
