//! The loops in a row, and whether the threads of a team may share them.

use super::updates::{Combined, combined_in};
use crate::analysis::accesses::Accesses;
use crate::analysis::combinations::Operator;
use crate::analysis::floats;
use crate::analysis::independence::{self, Candidate, independent_row};
use crate::analysis::integers::integer_of;
use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::{CanonicalLoop, CanonicalLoopNest, Problem, Relation, canonical_nest};
use crate::region::target::TargetRegion;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::{Act, Integer};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, NodeId, NodeKind, Number};
use crate::transforms::checks::team_rows::{SharedLoop, is_allowed_outside, own_variables};
use crate::transforms::checks::{self, type_parameters};

/// With fewer threads in a team than a warp, whole warps would wait.
const FEWEST_THREADS: i64 = 32;
/// Loops that are known to run no more often stay with one thread.
const FEW: i128 = 8;

/// An iteration of a kernel's loop.
pub(super) struct Row<'c, 'p> {
    pub cx: &'c Context<'p>,
    pub region: &'c TargetRegion,
    pub nest: CanonicalLoopNest,
    /// What all of it accesses.
    pub found: Accesses,
}

/// A loop that the threads of a team share.
pub(super) struct Inner {
    pub span: Span,
    pub combined: Vec<Combined>,
    /// What is not proved, but taken to hold.
    pub assumptions: Vec<Reason>,
}

impl Inner {
    /// The variables whose partial sums may overflow where the whole does not: the type without a sign in which they are formed.
    pub(super) fn through_unsigned(combined: &Combined) -> Option<&'static str> {
        unsigned_for(&combined.variable.ty, combined.operator)
    }
}

/// The type without a sign in which a sum or product of integers is formed, so that no part of it overflows where the whole does not.
pub(super) fn unsigned_for(ty: &DeclaredType, operator: Operator) -> Option<&'static str> {
    let own = Integer::of(ty).filter(|own| own.signed)?;
    let is_open = matches!(operator, Operator::Plus | Operator::Times);
    is_open.then_some(if own.bits == 64 { "unsigned long long" } else { "unsigned" })
}

fn refused(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::RowNotShared, span, message)
}

impl<'c, 'p> Row<'c, 'p> {
    /// Reads what a row does.
    pub(super) fn read(cx: &'c Context<'p>, region: &'c TargetRegion, nest: CanonicalLoopNest) -> Self {
        let promised = nest.loops.len();
        let (found, _) = independence::read(&Candidate::of_kernel(cx, region, nest.loops.clone(), promised));
        Self { cx, region, nest, found }
    }

    /// The kernel's own loops.
    pub(super) fn candidate(&self) -> Candidate<'c, 'p> {
        let loops = self.nest.loops.clone();
        Candidate::of_kernel(self.cx, self.region, loops, self.nest.loops.len())
    }

    /// The clause that says how few threads a team has, or how many rows it takes at once: a grid for one thread a row.
    pub(super) fn own_grid(&self) -> Option<Span> {
        let cx = self.cx;
        let is_for_threads = |clause: &&Clause| match clause.name {
            ClauseName::DistSchedule => true,
            ClauseName::ThreadLimit => {
                let threads = clause.expression().and_then(|span| cx.constant(span));
                threads.is_none_or(|threads| threads < FEWEST_THREADS)
            }
            _ => false,
        };
        let mut clauses = self.region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
        clauses.find(is_for_threads).map(|clause| clause.span)
    }

    /// The loops that the threads of a team must share: all but those of a few iterations.
    ///
    /// # Errors
    /// A loop that is none of them.
    pub(super) fn loops(&self) -> Result<Vec<NodeId>, Reason> {
        let mut found = Vec::new();
        self.collect(self.nest.body, &mut found)?;
        Ok(found)
    }

    fn collect(&self, statement: NodeId, found: &mut Vec<NodeId>) -> Result<(), Reason> {
        let tree = self.cx.tree;
        match tree.kind(statement) {
            NodeKind::CompoundStatement | NodeKind::IfStatement | NodeKind::ElseClause => {
                tree.named_children(statement).try_for_each(|inner| self.collect(inner, found))
            }
            NodeKind::ForStatement => {
                if self.is_short(statement) {
                    return Ok(());
                }
                found.push(statement);
                self.counted(statement).map(|_| ()).map_err(|it| Reason { code: ReasonCode::RowsDoNotPay, ..it })
            }
            _ => {
                let mut inside = tree.descendants(statement);
                let repeats = inside.find(|node| {
                    matches!(
                        tree.kind(*node),
                        NodeKind::ForStatement
                            | NodeKind::ForRangeLoop
                            | NodeKind::WhileStatement
                            | NodeKind::DoStatement
                            | NodeKind::GotoStatement
                    )
                });
                let message =
                    "one thread of the team would repeat this alone, which every thread did for a row of its own";
                repeats.map_or(Ok(()), |node| Err(Reason::new(ReasonCode::RowsDoNotPay, tree.span(node), message)))
            }
        }
    }

    /// How often a loop of the row runs, if that follows from the text.
    pub(super) fn trips(&self, node: NodeId) -> Option<i128> {
        let span = self.cx.tree.span(node);
        self.found.loops.iter().find(|one| one.span == span).and_then(|one| one.trips)
    }

    /// Does a loop run a few times, with no other inside?
    fn is_short(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        let is_loop = |node: NodeId| {
            matches!(
                tree.kind(node),
                NodeKind::ForStatement | NodeKind::ForRangeLoop | NodeKind::WhileStatement | NodeKind::DoStatement
            )
        };
        let inner = tree.descendants(node).filter(|inner| is_loop(*inner)).count();
        inner <= 1 && self.trips(node).is_some_and(|trips| trips <= FEW)
    }

    /// The loops with what they combine, if a team may share them.
    ///
    /// # Errors
    /// Why it may not.
    pub(super) fn checked(&self, nodes: &[NodeId]) -> Result<Vec<Inner>, Reason> {
        let (cx, region) = (self.cx, self.region);
        if let Some(reason) = checks::excludes_directives(cx, region) {
            return Err(reason);
        }
        if region.chain.leaves.last() != Some(&Leaf::For) {
            let span = cx.constructs.directive(region.chain.innermost()).span;
            return Err(refused(span, "the outer loop has `simd` too"));
        }
        let mut clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
        if let Some(clause) = clauses.find(|clause| !is_allowed_outside(cx, clause)) {
            return Err(refused(clause.span, "this clause may group or order the rows, or hand a value on"));
        }
        if let Some(trouble) = self.found.troubles.first() {
            return Err(refused(trouble.span, trouble.message.clone()));
        }
        if let Some(assumption) = type_parameters::assumption(cx, self.nest.body) {
            return Err(refused(assumption.span, assumption.message));
        }
        let inner = nodes.iter().map(|node| self.inner(*node)).collect::<Result<Vec<Inner>, Reason>>()?;
        let shared: Vec<SharedLoop> =
            inner.iter().map(|one| SharedLoop { span: one.span, variables: Vec::new() }).collect();
        match own_variables(cx, region, &shared) {
            Some((message, span)) => Err(refused(span, message)),
            None => Ok(inner),
        }
    }

    /// A loop as one that counts.
    fn counted(&self, node: NodeId) -> Result<CanonicalLoopNest, Reason> {
        let explained = |(problem, at): (Problem, Span)| refused(at, problem.explanation());
        canonical_nest(self.cx.file, self.cx.tree, node, 1).map_err(explained)
    }

    fn inner(&self, node: NodeId) -> Result<Inner, Reason> {
        let cx = self.cx;
        let span = cx.tree.span(node);
        let head = Span::new(span.start, span.start + 3);
        let nest = self.counted(node)?;
        let Some(read) = nest.loops.first() else { return Err(refused(head, "this loop is not read")) };
        if !read.declared_in_loop {
            let message = format!("`{}` is declared outside of its loop, and has a value behind it", read.variable);
            return Err(refused(read.variable_span, message));
        }
        let combined = combined_in(cx, read.body);
        let places = combined.iter().map(|one| (one.key, one.names.clone())).collect();
        let kernel = (self.region.chain.innermost(), self.region.chain.constructs.clone());
        let (found, assumptions) = independent_row(cx, kernel, &self.nest, &nest, &places).map_err(|reason| {
            let message = "the threads of a team may not share this loop";
            refused(head, message).with_label(reason.span, format!("not proved: {}", reason.message))
        })?;
        if let Some((at, message)) = self.head_trouble(read, &found) {
            return Err(refused(at, message));
        }
        for one in &combined {
            if let Some(message) = self.trouble(node, one, &found) {
                return Err(refused(one.first, message));
            }
        }
        Ok(Inner { span, combined, assumptions })
    }

    /// Why the head of a loop may not be evaluated once, by all threads.
    fn head_trouble(&self, read: &CanonicalLoop, found: &Accesses) -> Option<(Span, String)> {
        let cx = self.cx;
        if read.relation == Relation::NotEqual {
            return Some((read.condition, "a loop with `!=` may run on past its bound".to_owned()));
        }
        if let Some(step) = read.step.amount.filter(|step| cx.constant(*step).is_none()) {
            return Some((step, "the step may be zero".to_owned()));
        }
        let body = cx.tree.span(read.body);
        let stores = found.accesses.iter().any(|access| access.writes);
        [read.lower, read.upper].into_iter().find_map(|bound| {
            let evaluation = cx.evaluation(bound)?;
            let is_plain = |act: Act| {
                matches!(
                    act,
                    Act::Literal
                        | Act::Name
                        | Act::Arithmetic
                        | Act::Bits
                        | Act::Test
                        | Act::Division
                        | Act::Choice
                        | Act::Conversion
                        | Act::Type
                )
            };
            if let Some(at) = evaluation.first_without(|part| is_plain(part.act)) {
                let span = if bound.contains(at) { at } else { bound };
                return Some((
                    span,
                    "a bound that loads or calls something is not evaluated by all threads".to_owned(),
                ));
            }
            let changes = |name: &String, at: Span| {
                let is_constant = cx.constant(at).is_some();
                let is_macro = cx.expansion(name, at.start).is_some();
                let is_written = || !cx.symbols().written_in(name, at.start, body).is_empty();
                let is_reached = || stores && !cx.cannot_be_aliased(name, at.start);
                !is_constant && (is_macro || is_written() || is_reached())
            };
            let changed = cx.names_in(bound).into_iter().find(|(name, at)| changes(name, *at));
            changed.map(|(name, at)| (at, format!("the loop may change `{name}`, which bounds it")))
        })
    }

    /// Why a variable may not be combined in any order.
    pub(super) fn trouble(&self, node: NodeId, one: &Combined, found: &Accesses) -> Option<String> {
        let cx = self.cx;
        if !one.is_plain(cx) {
            return Some(format!("`{}` is no number, or may be reached by more than its name", one.name));
        }
        let is_bits = matches!(one.operator, Operator::And | Operator::Or | Operator::Xor);
        if let Some(Number::Floating(format)) = one.variable.ty.number().filter(|_| one.is_floating()) {
            let is_extreme = matches!(one.operator, Operator::Min | Operator::Max);
            // A wider term may be rounded where it is added to another number, or not fit alone.
            let fits = is_extreme || one.terms.iter().all(|term| floats::fits(cx, found, *term, *format));
            return match (is_bits, fits) {
                (true, _) => Some(format!("`{}` has no bits to combine", one.name)),
                (_, false) => Some(format!("what `{}` is combined with is not known to be of its type", one.name)),
                _ => None,
            };
        }
        let own = Integer::of(&one.variable.ty);
        let terms: Option<Vec<Integer>> = one.terms.iter().map(|term| integer_of(cx, found, *term)).collect();
        let (Some(own), Some(terms)) = (own, terms) else {
            return Some(format!("`{}` and what it is combined with are not known to be integers", one.name));
        };
        let is_right = match one.operator {
            Operator::And | Operator::Or | Operator::Xor => true,
            Operator::Min | Operator::Max => terms.iter().all(|term| *term == own),
            // Only counted, an unsigned number is computed in `int`, where it does not overflow, and cut to its bits.
            Operator::Plus | Operator::Times if own.bits < 32 => !own.signed && terms.is_empty(),
            Operator::Plus | Operator::Times => terms.iter().all(|term| term.promoted().bits <= own.bits),
        };
        if !is_right {
            return Some(format!("`{}` is combined with numbers of another type", one.name));
        }
        if Inner::through_unsigned(one).is_some() {
            if cx.arithmetic.traps {
                return Some(format!("with these flags an overflow of `{}` stops the program", one.name));
            }
            let above = cx.tree.parent(node).map(|above| cx.tree.kind(above));
            if above != Some(NodeKind::CompoundStatement) {
                return Some("a declaration has no place in front of this loop".to_owned());
            }
        }
        None
    }
}
