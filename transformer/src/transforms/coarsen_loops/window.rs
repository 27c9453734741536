//! Windows around an element, which a condition keeps within an array: in groups of which all windows lie within it nothing needs to be asked.
//!
//! There a group's loads are those of one window that is a few elements longer, and serial loops of known length are unrolled, so that the
//! compiler sees which loads are the same.

use super::Kernel;
use super::body::{Copies, Piece};
use super::groups::{Axis, elements};
use crate::analysis::accesses::{Access, Loop};
use crate::analysis::polynomial::Polynomial;
use crate::region::loop_nest::Relation;
use crate::semantics::uses::{Role, uses_below};
use crate::source::Span;
use crate::syntax::{If, NodeId, NodeKind};
use crate::transforms::checks::heads;

/// The most iterations of an unrolled serial loop.
const LONGEST: i128 = 16;
/// The most copies of a statement that unrolling makes.
const MOST_COPIES: i128 = 1024;

/// What is known of the windows of a kernel.
pub(super) struct Window {
    /// The conditions that hold within, from `if` up to the statement.
    pub asked: Vec<Span>,
    /// The serial loops over a window.
    pub unrolled: Vec<NodeId>,
    /// How near to each end of each loop's range windows lie within.
    margins: Vec<Margin>,
}

/// Windows lie within the array from this value of a loop's variable on, and up to one that is so much below the largest.
#[derive(Clone, Copy, Default)]
struct Margin {
    least: i128,
    before_end: i128,
}

impl Window {
    /// `None` where nothing asks for windows, or more than whether they lie within the ranges of the kernel's loops.
    pub(super) fn of(kernel: &Kernel<'_, '_>, copies: &Copies, axes: &[Axis]) -> Option<Self> {
        let cx = kernel.cx;
        let depth = kernel.loops().len();
        let inner = kernel.found.loops.get(depth..)?;
        let mut found = Self { asked: Vec::new(), unrolled: Vec::new(), margins: vec![Margin::default(); depth] };
        let mut choices = Vec::new();
        found.collect(kernel, &copies.pieces, &mut choices);
        for choice in choices {
            let one = If::of(cx.tree, choice)?;
            let body = cx.tree.span(one.consequence().filter(|_| one.alternative().is_none())?);
            let of_body = |access: &&Access| body.contains(access.span) && access.guards.is_whole;
            let guarded = kernel.found.accesses.iter().find(of_body)?;
            for row in &guarded.guards.rows {
                found.holds(kernel, inner, row)?;
            }
            let head = Span::new(cx.tree.span(choice).start, body.start);
            found.leaves_names_used(kernel, head)?;
            found.asked.push(head);
        }
        let lengths = found.unrolled.iter().map(|node| {
            let known = inner.iter().find(|own| own.span == cx.tree.span(*node)).and_then(|own| own.trips);
            known.filter(|trips| (1..=LONGEST).contains(trips))
        });
        let copies: i128 = lengths.collect::<Option<Vec<i128>>>()?.into_iter().product();
        let is_small = copies * i128::from(elements(axes)) <= MOST_COPIES;
        let is_told = kernel.loops().iter().all(|own| heads::check(cx, own, kernel.candidate.nest.loops.body).is_ok());
        (is_small && is_told && !found.asked.is_empty() && axes.iter().all(|axis| axis.apart == 1)).then_some(found)
    }

    /// The conditions in loops that a group makes together, and these loops.
    fn collect(&mut self, kernel: &Kernel<'_, '_>, pieces: &[Piece], choices: &mut Vec<NodeId>) {
        for piece in pieces {
            let Piece::Together(one) = piece else { continue };
            if kernel.cx.tree.kind(one.node) == NodeKind::ForStatement {
                self.unrolled.push(one.node);
                for piece in &one.pieces {
                    let Piece::Each(_, run) = piece else { continue };
                    choices.extend(run.iter().filter(|node| kernel.cx.tree.kind(**node) == NodeKind::IfStatement));
                }
            }
            self.collect(kernel, &one.pieces, choices);
        }
    }

    /// Takes what a condition asks for, `row` not to be negative, as a distance to an end of a loop's range.
    fn holds(&mut self, kernel: &Kernel<'_, '_>, inner: &[Loop], row: &Polynomial) -> Option<()> {
        let row = least(row, inner)?;
        let loops = kernel.found.loops.iter().take(kernel.loops().len());
        for ((own, margin), written) in loops.zip(&mut self.margins).zip(kernel.loops()) {
            let variable = Polynomial::atom(own.atom);
            if let Some(rest) = row.minus(&variable)?.as_constant() {
                margin.least = margin.least.max(-rest);
                return Some(());
            }
            let to_end = own.range.upper.as_ref()?.minus(&variable)?;
            if let Some(rest) = row.minus(&to_end)?.as_constant() {
                margin.before_end = margin.before_end.max(-rest);
                return matches!(written.relation, Relation::Less | Relation::LessOrEqual).then_some(());
            }
        }
        None
    }

    /// Are all variables that a condition names named elsewhere too? Compilers warn of others where it goes.
    fn leaves_names_used(&self, kernel: &Kernel<'_, '_>, head: Span) -> Option<()> {
        let cx = kernel.cx;
        let uses = uses_below(cx.file, cx.tree, kernel.candidate.nest.loops.body);
        let (asked, others): (Vec<_>, Vec<_>) = uses.iter().partition(|used| head.contains(used.span));
        let is_used = |name: &str| {
            let mut others = others.iter().filter(|used| used.name == name);
            let is_own = others.clone().any(|used| used.role == Role::Declaration);
            !is_own || others.any(|used| used.role != Role::Declaration)
        };
        asked.iter().all(|used| is_used(&used.name)).then_some(())
    }

    /// What asks whether all windows of a group lie within the array.
    pub(super) fn conditions(
        &self,
        kernel: &Kernel<'_, '_>,
        axes: &[Axis],
        first: &dyn Fn(usize) -> String,
    ) -> Vec<String> {
        let mut conditions = Vec::new();
        for (index, (margin, own)) in self.margins.iter().zip(kernel.loops()).enumerate() {
            let length = axes.iter().find(|axis| axis.index == index).map(|axis| i128::from(axis.length()));
            let name = first(index);
            let starts = kernel.cx.constant(own.lower).is_some_and(|lower| i128::from(lower) >= margin.least);
            if !starts {
                conditions.push(format!("{name} >= {}", margin.least));
            }
            if length.is_some() || margin.before_end > 0 {
                let least = margin.before_end + length.unwrap_or(1) - i128::from(own.relation == Relation::LessOrEqual);
                conditions.push(format!("{} - {name} >= {least}", heads::bound(kernel.cx, own)));
            }
        }
        conditions
    }
}

/// The least value of a sum over all iterations of serial loops of known ranges.
fn least(row: &Polynomial, inner: &[Loop]) -> Option<Polynomial> {
    inner.iter().filter(|own| row.mentions(own.atom)).try_fold(row.clone(), |row, own| {
        let (factor, _) = row.linear_in(own.atom)?;
        let (lower, upper) = (own.range.lower.as_ref()?, own.range.upper.as_ref()?);
        let (lower, upper) = (lower.as_constant()?, upper.as_constant()?);
        let at = if factor.as_constant()? > 0 { lower } else { upper };
        row.with(own.atom, &Polynomial::constant(at))
    })
}
