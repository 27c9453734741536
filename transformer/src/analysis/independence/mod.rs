//! Which iterations are proved independent of each other: those of inner loops of a nest, when `collapse` shall take
//! them together with the loops of the directive, or those of the directive's own loops, when a change may group or
//! order them.
//!
//! Iterations that are not understood are taken for dependent.

pub(crate) mod aliases;
pub(crate) mod alone;
pub(crate) mod clauses;
pub(crate) mod counted;
pub(crate) mod pairs;
pub(crate) mod scalars;
mod witness;

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::accesses::{Accesses, ScalarUse, accesses_in};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoop, CanonicalLoopNest};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::NodeId;

use self::aliases::Sections;
use self::clauses::Clauses;

/// A construct whose loops are looked at.
pub(crate) struct Candidate<'a, 'p> {
    pub cx: &'a Program<'p>,
    pub id: ConstructId,
    /// The constructs from the target construct to this one.
    pub chain: Vec<ConstructId>,
    pub clauses: Clauses,
    pub nest: Nest,
    /// Do the iterations go to threads of one team alone, so that storage of the team is storage of theirs?
    pub is_in_team: bool,
}

impl<'a, 'p> Candidate<'a, 'p> {
    /// A kernel that is one construct with these loops, of which the original promises the first `promised` to be independent.
    pub(crate) fn of_kernel(
        cx: &'a Program<'p>,
        region: &TargetRegion,
        loops: Vec<CanonicalLoop>,
        promised: usize,
    ) -> Self {
        let body = loops.last().map_or_else(|| cx.tree.root(), |last| last.body);
        let nest = Nest { loops: CanonicalLoopNest { loops, body }, between: Vec::new(), promised };
        let chain = region.chain.constructs.clone();
        let clauses = Clauses::of(cx, &chain);
        Self { cx, id: region.chain.innermost(), chain, clauses, nest, is_in_team: false }
    }

    /// The loops whose iterations the original promises to be independent.
    pub(crate) fn promised(&self) -> usize {
        self.nest.promised
    }
}

/// The loops of a construct.
pub(crate) struct Nest {
    /// All loops that are nested in each other with at most declarations beside them.
    pub loops: CanonicalLoopNest,
    /// Declarations that stand beside a loop, and in the body of which loop, counted from 0.
    pub between: Vec<(usize, NodeId)>,
    /// How many of them, from the outside, the directive promises to be independent.
    pub promised: usize,
}

/// Why iterations of a construct's own loops may depend on each other. `None` if they are proved to be independent.
/// `chain` leads from the target construct to this one. `assigned` are names that each iteration assigns before it uses
/// them, `own` those of which each thread has its own copy without a clause that says so.
pub(crate) fn dependence(
    cx: &Program<'_>,
    chain: Vec<ConstructId>,
    loops: &CanonicalLoopNest,
    assigned: &BTreeSet<String>,
    own: &BTreeSet<String>,
) -> Option<Reason> {
    let nest = Nest { loops: loops.clone(), between: Vec::new(), promised: 0 };
    let id = chain.last().copied()?;
    let clauses = Clauses::of(cx, &chain);
    let candidate = Candidate { cx, id, chain, clauses, nest, is_in_team: false };
    between_iterations(&candidate, assigned, own)
}

/// Why iterations of a construct in one iteration of other loops may depend on each other, if threads of one team make them. `chain` leads
/// from the target construct to it. The last construct's loops are `inner`, those of the constructs around it `outer`.
pub(crate) fn dependence_in_team(
    cx: &Program<'_>,
    chain: Vec<ConstructId>,
    outer: &CanonicalLoopNest,
    inner: &CanonicalLoopNest,
) -> Option<Reason> {
    let all = outer.loops.iter().chain(&inner.loops).cloned().collect();
    let loops = CanonicalLoopNest { loops: all, body: inner.body };
    let nest = Nest { loops, between: Vec::new(), promised: outer.loops.len() };
    let id = chain.last().copied()?;
    let clauses = Clauses::of(cx, &chain);
    let candidate = Candidate { cx, id, chain, clauses, nest, is_in_team: true };
    between_iterations(&candidate, &BTreeSet::new(), &BTreeSet::new())
}

/// What a serial loop in an iteration of a construct's own loops accesses, if its iterations are proved to be independent but for variables
/// that they combine, `combined`, with the places where they do; and the assumptions under which that is so. `outer` are the loops of the
/// construct `id`, which `chain` leads to, `inner` is the serial loop.
///
/// # Errors
/// Why its iterations may depend on each other.
pub(crate) fn independent_row(
    cx: &Program<'_>,
    (id, chain): (ConstructId, Vec<ConstructId>),
    outer: &CanonicalLoopNest,
    inner: &CanonicalLoopNest,
    combined: &BTreeMap<VariableId, Vec<Span>>,
) -> Result<(Accesses, Vec<Reason>), Reason> {
    let all = outer.loops.iter().chain(&inner.loops).cloned().collect();
    let loops = CanonicalLoopNest { loops: all, body: inner.body };
    let nest = Nest { loops, between: Vec::new(), promised: outer.loops.len() };
    let clauses = Clauses::of(cx, &chain);
    let candidate = Candidate { cx, id, chain, clauses, nest, is_in_team: true };
    let (found, sections) = by_names(&candidate, &BTreeSet::new(), &BTreeSet::new(), combined)?;
    match aliases::assumptions(&candidate, &found, &sections) {
        Ok(assumptions) => Ok((found, assumptions)),
        Err(reasons) => {
            let unknown = || unproved(cx.tree.span(inner.body), "it is not known what the loop accesses".to_owned());
            Err(reasons.into_iter().next().unwrap_or_else(unknown))
        }
    }
}

/// Why iterations of the loops behind those that are promised to be independent may depend on each other.
fn between_iterations(
    candidate: &Candidate<'_, '_>,
    assigned: &BTreeSet<String>,
    own: &BTreeSet<String>,
) -> Option<Reason> {
    match by_names(candidate, assigned, own, &BTreeMap::new()) {
        Ok((found, sections)) => not_distinct(candidate, &found, &sections),
        Err(reason) => Some(reason),
    }
}

/// What the loops access, if their iterations are independent but for variables that are used at places of `combined` alone, as long as
/// different names lead to different storage.
fn by_names(
    candidate: &Candidate<'_, '_>,
    assigned: &BTreeSet<String>,
    own: &BTreeSet<String>,
    combined: &BTreeMap<VariableId, Vec<Span>>,
) -> Result<(Accesses, Sections), Reason> {
    let (cx, loops) = (candidate.cx, &candidate.nest.loops.loops);
    let body = cx.constructs.construct(candidate.id).body_span;
    if let Some((_, inner)) = cx.constructs.within(body).next() {
        return Err(unproved(inner.span, format!("`{}` stands in the loop", inner.name)));
    }
    let depth = loops.len();
    let (mut found, sections) = read(candidate);
    let known = loops.iter().zip(&found.loops).filter(|(read, known)| read.span == known.span).count();
    if known < depth {
        return Err(unproved(body, "the variable of a loop is no integer".to_owned()));
    }
    if let Some(trouble) = found.troubles.first() {
        return Err(unproved(trouble.span, trouble.message.clone()));
    }
    let mut new = loops.iter().skip(candidate.promised());
    if let Some((span, message)) = new.find_map(|read| counted::miscounts(cx, &found, read)) {
        return Err(unproved(span, message.to_owned()));
    }
    let is_beside = |used: &&ScalarUse| combined.get(&used.key).is_some_and(|places| !places.contains(&used.span));
    if let Some(used) = found.scalars.iter().find(is_beside) {
        return Err(unproved(used.span, format!("`{}` is used other than by combining it", used.name)));
    }
    found.scalars.retain(|used| !combined.contains_key(&used.key));
    let carried = scalars::carried(candidate, &found, depth, assigned, own)
        .or_else(|| pairs::reasons(candidate, &found, depth).into_iter().next());
    carried.map_or(Ok((found, sections)), Err)
}

/// What the loops of a candidate access, and what is mapped around them.
pub(crate) fn read(candidate: &Candidate<'_, '_>) -> (Accesses, Sections) {
    let cx = candidate.cx;
    let mut sections = Sections::read(candidate);
    let loops = &candidate.nest.loops.loops;
    let expressions = sections.expressions();
    let promised = candidate.promised();
    // What stands between the loops of a team and those of its threads is no part of the latter.
    let of = if candidate.is_in_team { promised } else { promised.saturating_sub(1) };
    let mut found = match loops.get(of) {
        Some(one) => accesses_in(cx.file, cx.tree, cx.symbols(), (loops, one.body), promised, &expressions),
        None => Accesses::default(),
    };
    sections.take_values(&found);
    // The device may have the value that a mapped variable had earlier.
    found.around.retain(|around| !around.variables.iter().any(|key| clauses::is_mapped(cx, *key)));
    (found, sections)
}

/// The conditions under which different names lead to different storage.
fn not_distinct(candidate: &Candidate<'_, '_>, found: &Accesses, sections: &Sections) -> Option<Reason> {
    match aliases::assumptions(candidate, found, sections) {
        Ok(assumed) => assumed.into_iter().next().map(|assumption| {
            let message = format!("nothing shows what this {}", assumption.message);
            unproved(assumption.span, message)
        }),
        Err(reasons) => reasons.into_iter().next(),
    }
}

fn unproved(span: Span, message: String) -> Reason {
    reason(ReasonCode::IterationsGrouped, span, message)
}

/// A reason not to change the loops.
pub(crate) fn reason(code: ReasonCode, span: Span, message: impl Into<String>) -> Reason {
    Reason::new(code, span, message)
}
