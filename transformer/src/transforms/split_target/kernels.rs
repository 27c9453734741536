//! The constructs that replace a region, with their clauses: the kernels, the `target data` construct around them, and
//! the task around that.

mod around;
mod clauses;

use crate::context::Context;
use crate::source::Span;
use crate::syntax::{Clause, ListItem};
use crate::transforms::split_target::facts::Facts;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Shape;
use crate::transforms::split_target::shape::clauses::kernel_name;

/// The constructs of the output.
#[derive(Clone, Debug)]
pub(super) struct Kernels<'a> {
    /// The clauses of `task`. Empty if there is no such construct.
    pub task: Vec<NewClause<'a>>,
    /// The clauses of `target data`. Empty if there is no such construct.
    pub data: Vec<NewClause<'a>>,
    /// The clauses of `target data` around the arrays of the region, without their maps.
    pub arrays: Vec<NewClause<'a>>,
    /// The kernels in the order of the text.
    pub kernels: Vec<Kernel<'a>>,
}

/// A kernel of the output.
#[derive(Clone, Debug)]
pub(super) struct Kernel<'a> {
    pub piece: &'a Piece,
    /// The name of its directive.
    pub name: &'static str,
    pub clauses: Vec<NewClause<'a>>,
}

/// A clause of the output.
#[derive(Clone, Debug)]
pub(super) enum NewClause<'a> {
    /// As in the original.
    Whole(&'a Clause),
    /// As in the original, but with a constant for an expression that is evaluated before.
    Evaluated(&'a Clause),
    /// An expression of the original, after a text: `if(target: `.
    Expression(&'static str, Span),
    /// A map of the original with some of its items. `always`, `present` and `close` are written only on the data
    /// construct.
    Map { clause: &'a Clause, items: Vec<&'a ListItem>, restated: bool },
    /// A list of the original with some of its items, and its modifiers.
    List(&'a Clause, Vec<&'a ListItem>),
    /// Names after a text: `map(to: `.
    Names(&'static str, Vec<&'a str>),
    /// A clause with a fixed argument: `default(none)`.
    Fixed(String),
}

/// The output of a region whose facts are all known.
pub(super) fn kernels_of<'a>(cx: &Context<'_>, shape: &'a Shape, facts: &'a Facts) -> Kernels<'a> {
    let is_for_device = cx.device.is_some();
    let needs = clauses::Needs { shape, facts, is_for_device };
    let kernel = |(index, piece): (usize, &'a Piece)| {
        let name = if piece.directive().is_some() { kernel_name(&piece.chain.leaves) } else { "target" };
        Kernel { piece, name, clauses: needs.kernel_clauses(index, piece) }
    };
    Kernels {
        task: around::task_clauses(facts),
        data: around::data_clauses(shape, facts),
        arrays: around::where_it_runs(facts, "if("),
        kernels: facts.pieces.iter().enumerate().map(kernel).collect(),
    }
}
