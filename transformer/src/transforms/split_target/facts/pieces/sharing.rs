//! What the threads of a loop share: scalars that each iteration assigns anew, and the lists of a `parallel` construct around several
//! loops.
//!
//! If two threads run a loop that assigns a shared scalar, the original races. If one thread does, each iteration reads
//! only what it assigned itself, which it also does with a copy for each thread.

use std::collections::BTreeSet;

use crate::semantics::{Kind, Program};
use crate::source::{Span, words};
use crate::syntax::{ListItem, NodeId};
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::facts::written_first::written_first;
use crate::transforms::split_target::shape::clauses::{KeptClause, expressions_of};

impl Piece {
    /// A `parallel` construct may have lists for several loops. Gives to the loop the items that it uses and does not
    /// list again itself.
    pub(super) fn take_from_parallel(&mut self, cx: &Program<'_>) {
        let Some(parallel) = self.clauses.parallel else { return };
        let directive = cx.constructs.directive(parallel).span;
        let of_parallel = |item: &ListItem| directive.contains(item.span);
        let clauses = &self.clauses;
        let own = [&clauses.private, &clauses.firstprivate, &clauses.linear].into_iter().flatten();
        let own = own.chain(clauses.reductions.iter().map(|reduction| &reduction.item));
        let own: BTreeSet<String> =
            own.filter(|item| !of_parallel(item)).filter_map(|item| item.base.clone()).collect();
        let (named, loops) = (&self.named, &self.nest.loops);
        // The loop's own variable is private by rule, even if a list of the `parallel` construct names it (OpenMP 5.2,
        // section 5.1.1).
        let counts = |base: &String| loops.iter().any(|canonical| canonical.variable == *base);
        let taken = |item: &ListItem| {
            item.base.as_ref().is_some_and(|base| named.contains(base) && !own.contains(base) && !counts(base))
        };
        let stays = |item: &ListItem| !of_parallel(item) || taken(item);
        self.clauses.reductions.retain(|reduction| stays(&reduction.item));
        self.clauses.copied_by_parallel.retain(taken);
        for kept in &mut self.clauses.kept {
            if let KeptClause::OfParallel(_, items) = kept {
                items.retain(taken);
            }
        }
    }

    /// Notes which scalars each iteration assigns, on every path, before it uses them. `root` is the loop with its heads.
    pub(super) fn find_written_first(&mut self, names: &Program<'_>, root: NodeId) {
        if !self.variables.values().any(|variable| variable.written.is_some()) {
            return;
        }
        let in_clauses = self.names_in_clauses(names);
        let written = written_first(names, &[root]);
        for (name, variable) in &mut self.variables {
            variable.written_first = matches!(variable.kind, Kind::Scalar { .. })
                && variable.written.is_some()
                && !variable.address
                && written.contains(name)
                && !self.shared.contains(name)
                && !in_clauses.iter().any(|(other, _)| other == name)
                && !is_named_by_directive(names, root, name);
        }
    }

    /// The names in the expressions of the loop's clauses.
    pub(super) fn names_in_clauses(&self, names: &Program<'_>) -> Vec<(String, Span)> {
        let directives = self.chain.constructs.iter().map(|id| names.constructs.directive(*id));
        let spans = directives.flat_map(|directive| &directive.clauses).flat_map(expressions_of);
        let dropped = self.clauses.dropped_expressions();
        let stay = spans.filter(|span| !dropped.contains(span));
        stay.flat_map(|span| names.names_in(span)).collect()
    }

    /// Does a list of the loop's clauses use the value that a variable has before the loop?
    pub(crate) fn takes_value(&self, name: &str) -> bool {
        let clauses = &self.clauses;
        let lists = [&clauses.firstprivate, &clauses.linear, &clauses.copied_by_parallel].into_iter().flatten();
        let mut items = lists.chain(clauses.reductions.iter().map(|reduction| &reduction.item));
        items.any(|item| item.is_of(name))
    }
}

/// Does a directive inside the loop name the variable?
fn is_named_by_directive(cx: &Program<'_>, root: NodeId, name: &str) -> bool {
    cx.constructs.within(cx.tree.span(root)).any(|(_, directive)| {
        let text = cx.file.show(directive.span);
        words(&text).any(|word| word == name)
    })
}
