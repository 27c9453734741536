//! Which loops can be collapsed, and whether their heads allow it.

use crate::analysis::accesses::{Accesses, Obstacle};
use crate::analysis::atomics::{self, Updates};
use crate::analysis::independence::{Candidate, Nest, counted, reason};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::{Construct, ConstructId, Doubt};
use crate::region::loop_nest::{Problem, canonical_nest, loop_inside};
use crate::semantics::symbols::NameKind;
use crate::semantics::uses::Use;
use crate::semantics::{Act, Integer, Part, Program};
use crate::source::{Span, Spelling};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseArgument, ClauseName, Directive, NodeKind};
use crate::transforms::TEAM_THREADS;
use crate::transforms::checks::may_move;
use crate::transforms::collapse::triangles;

/// The leaves of a loop that the threads of a target region's one team share.
const ONE_TEAM: &[Leaf] = &[Leaf::Parallel, Leaf::For];

/// The most loops that are collapsed.
const DEEPEST: usize = 4;

/// The most places that are reported as not understood.
const MOST_TROUBLES: usize = 3;

/// The constructs from the target construct to a parallel loop of a league, or of its one team. `None` for other constructs, and outside
/// of a target region.
pub(super) fn chain_to_target(cx: &Program<'_>, id: ConstructId) -> Option<Vec<ConstructId>> {
    let leaves = &cx.constructs.construct(id).leaves;
    let is_loop = leaves.ends_with(&[Leaf::Distribute, Leaf::Parallel, Leaf::For])
        || leaves.last() == Some(&Leaf::Loop) && !leaves.contains(&Leaf::Parallel);
    let is_of_team = is_of_one_team(cx, id);
    if !is_loop && !is_of_team {
        return None;
    }
    let above = std::iter::successors(Some(id), |id| cx.constructs.enclosing(*id));
    let mut chain: Vec<ConstructId> = Vec::new();
    for id in above {
        chain.insert(0, id);
        let leaves = &cx.constructs.construct(id).leaves;
        if leaves.first() == Some(&Leaf::Target) {
            let all: Vec<Leaf> = chain.iter().flat_map(|id| cx.constructs.construct(*id).leaves.clone()).collect();
            let teams = all.get(1) == Some(&Leaf::Teams);
            let plain = all.get(2..) == Some(&[Leaf::Loop])
                || all.get(2..) == Some(&[Leaf::Distribute, Leaf::Parallel, Leaf::For]);
            let is_one_team = all.split_first().is_some_and(|(_, inside)| inside == ONE_TEAM) && has_large_team(cx, id);
            return (if is_of_team { is_one_team } else { teams && plain }).then_some(chain);
        }
    }
    None
}

/// Says the target construct that its team has more threads than it has by itself, as `geometry` writes it? `split` knows then that the team can use
/// further iterations, and leaves a region alone that it left alone without them.
fn has_large_team(cx: &Program<'_>, target: ConstructId) -> bool {
    let mut clauses = cx.constructs.directive(target).clauses_of(ClauseName::ThreadLimit);
    clauses.any(|clause| {
        clause.expression().and_then(|span| cx.constant(span)).is_some_and(|n| n > i64::from(TEAM_THREADS))
    })
}

/// Do the threads of one team share the loop?
pub(super) fn is_of_one_team(cx: &Program<'_>, id: ConstructId) -> bool {
    cx.constructs.construct(id).leaves.as_slice() == ONE_TEAM
}

/// Is there a `for` inside the associated loops?
pub(super) fn has_inner_loop(cx: &Program<'_>, id: ConstructId) -> bool {
    let Some(body) = cx.constructs.construct(id).body else { return false };
    cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement).nth(1).is_some()
}

/// Is the text of the construct certain?
pub(super) fn check_text(cx: &Program<'_>, chain: &[ConstructId]) -> Result<(), Vec<Reason>> {
    for at in chain {
        let directive = cx.constructs.directive(*at);
        let refuse = |code, message: &str| Err(vec![reason(code, directive.span, message)]);
        match cx.constructs.construct(*at).doubt {
            None => {}
            Some(Doubt::Conditional(_) | Doubt::Alternative(_)) => {
                return refuse(
                    ReasonCode::PreprocessorConditional,
                    "`#if` cuts through this construct: move it out, around all of the construct or into a function",
                );
            }
            Some(Doubt::Macro(_)) => return refuse(ReasonCode::MacroDirective, "a macro makes this construct"),
            Some(_) => {
                return refuse(
                    ReasonCode::SyntaxError,
                    "syntax error, or a macro that is no expression or statement, hides the structure here",
                );
            }
        }
        if !directive.problems.is_empty() || directive.misplaced_clauses().next().is_some() {
            return refuse(ReasonCode::UnknownClause, "this directive could not be read");
        }
        if directive.spelling != Spelling::Pragma {
            return refuse(ReasonCode::Spelling, "directives in this spelling are not rewritten");
        }
    }
    Ok(())
}

/// The directive between or inside the loops of a construct that keeps them as they are.
pub(super) fn directive_inside(cx: &Program<'_>, id: ConstructId) -> Option<Reason> {
    // A loop transformation such as `tile` may stand between the directive and the loops.
    let body = Span::new(cx.constructs.directive(id).span.end, cx.constructs.construct(id).body_span.end);
    let (_, inner) = cx
        .constructs
        .within(body)
        .find(|(inner, directive)| !is_below_nest(cx, id, inner, directive) && !atomics::is_update(inner, directive))?;
    let what = if inner.name.is_empty() { "a directive".to_owned() } else { format!("`{}`", inner.name) };
    let message = format!("{what} between or inside the loops keeps them from becoming one");
    Some(reason(ReasonCode::NestNotFollowed, inner.span, message))
}

/// The updates by `atomic` constructs in the loops, whose order does not matter.
///
/// # Errors
/// One whose order may matter.
pub(super) fn updates(candidate: &Candidate<'_, '_>, found: &Accesses) -> Result<Updates, Vec<Reason>> {
    let cx = candidate.cx;
    let body = cx.constructs.construct(candidate.id).body_span;
    atomics::updates(cx, body, found).map_err(|span| {
        let message = "the order of these updates may matter: they are not of integers alone".to_owned();
        vec![reason(ReasonCode::NestNotFollowed, span, message)]
    })
}

/// Does a directive unroll a loop that stays serial whatever is collapsed?
fn is_below_nest(cx: &Program<'_>, id: ConstructId, inner: &Construct, directive: &Directive) -> bool {
    let (Some(body), Some(unrolled)) = (cx.constructs.construct(id).body, inner.body) else { return false };
    let nests = (1..=DEEPEST).map_while(|depth| canonical_nest(cx.file, cx.tree, body, depth).ok());
    let is_plain = directive.name == "unroll" && inner.doubt.is_none() && directive.problems.is_empty();
    is_plain && nests.last().is_some_and(|nest| nest.loops.iter().all(|known| known.node != unrolled))
}

/// The loops of a construct, and why no further loop inside them can be taken.
type Found = (Nest, Option<Reason>);

/// The loops of a construct and the reason why no further loop inside them can be taken. The error is the reason why
/// there is nothing to choose: a single loop.
pub(super) fn read(cx: &Program<'_>, id: ConstructId) -> Result<Result<Found, Reason>, Vec<Reason>> {
    let symbols = cx.symbols();
    let construct = cx.constructs.construct(id);
    let directive = cx.constructs.directive(id);
    let nothing = |span, message: &str| Ok(Err(reason(ReasonCode::NothingToCollapse, span, message)));
    let Some(body) = construct.body else { return nothing(directive.span, "the construct has no loop") };
    let promised = match directive.clauses_of(ClauseName::Collapse).next().map(|clause| &clause.argument) {
        None => 1,
        Some(ClauseArgument::Expression(span)) => {
            let value = symbols.constant(&cx.file.show(*span), span.start);
            value
                .and_then(|value| usize::try_from(value).ok())
                .filter(|value| (1..=DEEPEST).contains(value))
                .ok_or_else(|| {
                    vec![reason(ReasonCode::CollapseClause, *span, "how many loops this takes is not known")]
                })?
        }
        Some(_) => {
            return Err(vec![reason(ReasonCode::CollapseClause, directive.span, "`collapse` could not be read")]);
        }
    };
    let nest = |depth| canonical_nest(cx.file, cx.tree, body, depth);
    let mut loops = match nest(promised) {
        Ok(loops) => loops,
        Err((problem, span)) => return nothing(span, problem.explanation()),
    };
    let (mut further, mut between) = (Ok(()), Vec::new());
    for _ in promised + 1..=DEEPEST {
        match loop_inside(cx.file, cx.tree, &loops) {
            Ok((inner, beside)) if beside.is_empty() || may_move(cx, &beside, loops.body, &inner) => {
                between.extend(beside.into_iter().map(|node| (loops.loops.len() - 1, node)));
                loops.body = inner.body;
                loops.loops.push(inner);
            }
            Ok((inner, _)) => {
                further = Err((Problem::NotALoop, inner.span));
                break;
            }
            Err(problem) => {
                further = Err(problem);
                break;
            }
        }
    }
    let no_further = match further {
        _ if loops.loops.len() > promised => None,
        Err((problem, span)) => Some(reason(ReasonCode::NothingToCollapse, span, problem.explanation())),
        Ok(()) => Some(reason(ReasonCode::NothingToCollapse, directive.span, "no loop is left to collapse")),
    };
    match no_further {
        Some(reason) if promised == 1 => Ok(Err(reason)),
        no_further => Ok(Ok((Nest { loops, between, promised }, no_further))),
    }
}

/// The parts of the nest that are not understood.
pub(super) fn check_troubles(found: &Accesses) -> Result<(), Vec<Reason>> {
    let reasons: Vec<Reason> = found
        .troubles
        .iter()
        .take(MOST_TROUBLES)
        .map(|trouble| {
            let code = match trouble.obstacle {
                Obstacle::UnknownName => ReasonCode::UnknownName,
                Obstacle::Conditional => ReasonCode::PreprocessorConditional,
                _ => ReasonCode::NestNotFollowed,
            };
            let reason = reason(code, trouble.span, &trouble.message);
            let is_unseen = matches!(trouble.obstacle, Obstacle::UnknownName | Obstacle::UnknownType);
            Reason { is_unseen, ..reason }
        })
        .collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

/// Why the bounds of the loop at `depth` cannot be evaluated once before all iterations.
pub(super) fn head_reasons(candidate: &Candidate<'_, '_>, found: &Accesses, depth: usize) -> Vec<Reason> {
    let Some(read) = candidate.nest.loops.loops.get(depth - 1) else { return Vec::new() };
    if let Some(outer) = read.names_outer_variable.filter(|_| !triangles::is_allowed(candidate, found, depth)) {
        let message = format!("the bounds of `{}` depend on an outer loop", read.variable);
        return vec![reason(ReasonCode::NotRectangular, outer, message)];
    }
    let mut reasons = Vec::new();
    for span in [read.lower, read.upper] {
        if !is_harmless(candidate.cx, span) {
            let message = "with `collapse` this is evaluated even where the outer loop has no iteration";
            reasons.push(reason(ReasonCode::BoundMayTrap, span, message));
        }
    }
    let miscounts = counted::miscounts(candidate.cx, found, read);
    reasons.extend(miscounts.map(|(span, message)| reason(ReasonCode::BoundMayTrap, span, message)));
    reasons
}

/// Can an expression be evaluated anywhere, because it consists of sums and products of variables and numbers?
fn is_harmless(cx: &Program<'_>, span: Span) -> bool {
    let Some(evaluation) = cx.evaluation(span) else { return false };
    let divides_safely = |part: &Part| evaluation.divisor(part).and_then(|divisor| cx.constant(divisor)) > Some(0);
    let is_safe = |part: &Part| match part.act {
        Act::Literal | Act::Name | Act::Arithmetic => true,
        Act::Division => divides_safely(part),
        _ => false,
    };
    evaluation.first_without(is_safe).is_none() && evaluation.names.iter().all(|used| is_value(cx, used))
}

/// Is it a number, or an integer variable that is neither volatile nor a reference?
fn is_value(cx: &Program<'_>, used: &Use) -> bool {
    let (name, at) = (&used.name, used.span.start);
    if cx.symbols().macro_definition(name, at).is_some() {
        return cx.symbols().is_constant(name, at);
    }
    let variable = cx.symbols().lookup(name, at);
    variable.is_some_and(|variable| variable.kind == NameKind::Enumerator || Integer::of(&variable.ty).is_some())
}
