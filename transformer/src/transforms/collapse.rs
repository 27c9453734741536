//! Collapse the loops of a nest into one parallel loop, where that gives more threads or nearer accesses.
//!
//! ## Input
//!
//! ```c
//! void multiply(int n, const float *a, const float *b, float *c) {
//!   #pragma omp target teams distribute parallel for thread_limit(128) \
//!       map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n])
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       float sum = 0;
//!       for (int k = 0; k < n; k++)
//!         sum += a[i * n + k] * b[k * n + j];
//!       c[i * n + j] = sum;
//!     }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void multiply(int n, const float *a, const float *b, float *c) {
//!   #pragma omp target teams distribute parallel for collapse(2) thread_limit(128) \
//!       map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n])
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       float sum = 0;
//!       for (int k = 0; k < n; k++)
//!         sum += a[i * n + k] * b[k * n + j];
//!       c[i * n + j] = sum;
//!     }
//! }
//! ```
//!
//! ## Applies when
//!
//! - the construct is a `distribute parallel for` or a `loop` of a league in a target region, as written or as `split`
//!   makes it in the same run, with or without a `collapse` that reaches less far;
//! - the loops are perfectly nested and rectangular, and the iterations of the inner ones are proved independent;
//! - the estimate says that it pays: more threads where the outer loop does not fill the device, or accesses of
//!   neighbouring threads that are nearer to each other.
//!
//! ## Refuses when
//!
//! OMPS140, OMPS141 bounds that cannot be evaluated in advance; OMPS142, OMPS143 something is carried from one inner
//! iteration to another; OMPS144 a clause that does not go with more loops; OMPS145 something is not followed. OMPS240: it
//! does not pay. OMPS440: there is no perfect nest.
//!
//! ## Safety
//!
//! The outer iterations are independent by the promise of the original: nothing groups or serialises them, so each may have
//! a thread of its own. For the inner loops nothing is promised. Their iterations within one outer iteration are compared:
//! each pair of accesses of one array must have different subscripts in different iterations, and what is reached through
//! different names must be different storage. Arrays of their own are. So are sections that one construct maps, because its
//! list items must not share storage, as long as the accesses stay within them. Scalars from outside must not be written,
//! except those that an iteration sets before it reads them in a private copy, and sums of a `reduction`, whose order is
//! not specified anyway. The bounds are sums and products of variables that nothing changes.
//!
//! ## References
//!
//! OpenMP 5.2, sections 4.4.1, 4.4.3, 5.1.1, 5.5, 5.8.3. Magni, "Analysis and Parameter Prediction of Compiler
//! Transformation for Graphics Processors" (2015), section 4.6. C17, section 6.5.

mod aliases;
mod clauses;
mod gain;
mod independence;
mod nests;
mod scalars;

use std::cell::LazyCell;

use crate::analysis::accesses::{Accesses, accesses};
use crate::analysis::symbols::Symbols;
use crate::edit::{Edit, directive_writer};
use crate::plan::{Applicability, Decision, Plan, Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::transforms::Context;

use self::clauses::Clauses;
use self::gain::Gain;
use self::nests::Nest;

/// Decides for every parallel loop of a league in a file.
pub(super) fn collapse(cx: &Context<'_>) -> Vec<Plan> {
    let symbols = LazyCell::new(|| Symbols::new(cx.file, cx.tree, cx.headers));
    cx.constructs.ids().filter_map(|id| plan_construct(cx, &symbols, id)).collect()
}

/// A construct whose loops are looked at.
struct Candidate<'a, 's> {
    cx: &'a Context<'a>,
    symbols: &'a Symbols<'s>,
    id: ConstructId,
    /// From the target construct to this one.
    chain: Vec<ConstructId>,
    clauses: Clauses,
    nest: Nest,
}

impl Candidate<'_, '_> {
    /// The loops that the original runs in parallel.
    fn promised(&self) -> usize {
        self.nest.promised
    }
}

fn plan_construct<'a, F: FnOnce() -> Symbols<'a>>(
    cx: &Context<'_>,
    symbols: &LazyCell<Symbols<'a>, F>,
    id: ConstructId,
) -> Option<Plan> {
    let chain = nests::chain_to_target(cx, id)?;
    let construct = cx.constructs.construct(id);
    let directive = cx.constructs.directive(id);
    let first = chain.first().copied().unwrap_or(id);
    let start = cx.constructs.directive(first).span;
    let is_alone = cx.constructs.construct(first).body == construct.body;
    let span = if is_alone { start } else { directive.span };
    let mut plan = Plan {
        pass: "collapse",
        span,
        extent: Span::new(span.start, construct.body_span.end),
        decision: Decision::Refuse,
        reasons: Vec::new(),
        edits: Vec::new(),
        summary: String::new(),
        kernels: (1, 1),
        follows: false,
        parts: Vec::new(),
    };
    match decide(cx, symbols, id, chain) {
        Ok(None) => return None,
        Ok(Some(Verdict::Nothing(reason))) => {
            plan.decision = Decision::NothingToDo;
            plan.reasons.push(reason);
        }
        Ok(Some(Verdict::DoesNotPay(reason))) => {
            plan.decision = Decision::DoesNotPay;
            plan.reasons.push(reason);
        }
        Ok(Some(Verdict::Collapse { depth, gain, assumptions })) => {
            let assumed = !assumptions.is_empty();
            plan.decision = Decision::Apply(if assumed { Applicability::Assumed } else { Applicability::Safe });
            plan.reasons = assumptions;
            plan.summary = gain.summary(depth);
            plan.edits = vec![edit(cx, id, depth)];
        }
        Err(mut reasons) => {
            reasons.sort_by_key(|reason| (reason.span.start, reason.code));
            reasons.dedup_by(|a, b| a.code == b.code && a.message == b.message);
            plan.reasons = reasons;
        }
    }
    Some(plan)
}

enum Verdict {
    Nothing(Reason),
    DoesNotPay(Reason),
    Collapse { depth: usize, gain: Gain, assumptions: Vec<Reason> },
}

/// All preconditions; `None` where the construct has no loop inside its own.
fn decide<'a, F: FnOnce() -> Symbols<'a>>(
    cx: &Context<'_>,
    symbols: &LazyCell<Symbols<'a>, F>,
    id: ConstructId,
    chain: Vec<ConstructId>,
) -> Result<Option<Verdict>, Vec<Reason>> {
    if !nests::has_inner_loop(cx, id) {
        return Ok(None);
    }
    nests::check_text(cx, id, &chain)?;
    let nest = match nests::read(cx, symbols, id)? {
        Ok(nest) => nest,
        Err(reason) => return Ok(Some(Verdict::Nothing(reason))),
    };
    let clauses = clauses::read(cx, symbols, &chain)?;
    let candidate = Candidate { cx, symbols, id, chain, clauses, nest };
    let mut sections = aliases::Sections::read(&candidate);
    let found =
        accesses(cx.file, cx.tree, symbols, &candidate.nest.loops.loops, candidate.promised(), &sections.expressions());
    sections.take_values(&found);
    nests::check_troubles(&found)?;
    let depth = match legal_depth(&candidate, &found) {
        Ok(depth) => depth,
        Err(reasons) => return without_more_loops(&candidate, &found, reasons),
    };
    let assumptions = aliases::assumptions(&candidate, &found, &sections)?;
    let (best, gain) = gain::best(&candidate, &found, depth);
    if let Some(reason) = gain.does_not_pay(&candidate, best) {
        return Ok(Some(Verdict::DoesNotPay(reason)));
    }
    Ok(Some(Verdict::Collapse { depth: best, gain, assumptions }))
}

/// No more loops may be collapsed. Where some are already and more would not pay either, that is all there is to say.
fn without_more_loops(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    reasons: Vec<Reason>,
) -> Result<Option<Verdict>, Vec<Reason>> {
    if candidate.promised() > 1 {
        let (best, gain) = gain::best(candidate, found, candidate.nest.loops.loops.len());
        if let Some(reason) = gain.does_not_pay(candidate, best) {
            return Ok(Some(Verdict::DoesNotPay(reason)));
        }
    }
    Err(reasons)
}

/// How many loops may be collapsed; the reasons are those against the first further one.
fn legal_depth(candidate: &Candidate<'_, '_>, found: &Accesses) -> Result<usize, Vec<Reason>> {
    let mut legal = candidate.promised();
    for depth in candidate.promised() + 1..=candidate.nest.loops.loops.len() {
        let mut reasons = nests::head_reasons(candidate, depth);
        reasons.extend(scalars::reasons(candidate, found, depth));
        reasons.extend(independence::reasons(candidate, found, depth));
        match reasons.is_empty() {
            true => legal = depth,
            false if legal == candidate.promised() => return Err(reasons),
            false => break,
        }
    }
    Ok(legal)
}

/// Writes the clause: in the place of the one that is there, else behind the directive's name.
fn edit(cx: &Context<'_>, id: ConstructId, depth: usize) -> Edit {
    let directive = cx.constructs.directive(id);
    let clause = format!("collapse({depth})");
    if let Some(old) = directive.clauses_of(ClauseName::Collapse).next() {
        return Edit { span: old.span, text: clause };
    }
    let text = cx.file.show(directive.span);
    let first_line = text.lines().next().unwrap_or_default().len();
    let layout = directive_writer::Layout::of(cx.file, directive);
    if layout.indent.len() + first_line + clause.len() < directive_writer::WIDTH {
        let end = directive.name_span.end;
        return Edit { span: Span::new(end, end), text: format!(" {clause}") };
    }
    let others = directive.clauses.iter().map(|clause| directive_writer::on_one_line(cx.file, clause.span));
    let clauses: Vec<String> = std::iter::once(clause).chain(others).collect();
    directive_writer::replace(cx.file, directive, &layout.write(&directive.name, &clauses))
}

/// A reason against the nest.
fn reason(code: ReasonCode, span: Span, message: impl Into<String>) -> Reason {
    Reason::new(code, span, message)
}
