//! The lists of a `parallel` construct that several loops share.

use std::collections::BTreeSet;

use crate::semantics::Program;
use crate::syntax::ListItem;
use crate::transforms::split_target::clauses::KeptClause;
use crate::transforms::split_target::kernels::Kernel;

impl Kernel {
    /// Leaves to the loop, of the lists on a `parallel` construct that it shares with others, what it uses and does not
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
        // The loop's own variable is private by rule, whatever it is in the `parallel` region (OpenMP 5.2, section 5.1.1).
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
}
