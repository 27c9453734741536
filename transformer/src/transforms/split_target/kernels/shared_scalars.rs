//! Scalars from outside that all threads of the original share and each iteration assigns anew.
//!
//! Where two threads run such a loop, the original races. Where one does, each iteration sees what it assigned itself, and
//! so it does in a copy for each thread.

use crate::semantics::{Kind, Program};
use crate::source::{Span, words};
use crate::syntax::NodeId;
use crate::transforms::split_target::clauses::expressions_of;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::serial::written_first;

impl Kernel {
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

    /// Does a list of the loop's clauses take the value that a variable has before the loop?
    pub(in crate::transforms::split_target) fn takes_value(&self, name: &str) -> bool {
        let clauses = &self.clauses;
        let lists = [&clauses.firstprivate, &clauses.linear, &clauses.copied_by_parallel].into_iter().flatten();
        let mut items = lists.chain(clauses.reductions.iter().map(|reduction| &reduction.item));
        items.any(|item| item.base.as_deref() == Some(name))
    }
}

/// Does a directive inside the loop name the variable?
fn is_named_by_directive(names: &Program<'_>, root: NodeId, name: &str) -> bool {
    let cx = names;
    cx.constructs.within(cx.tree.span(root)).any(|(_, directive)| {
        let text = cx.file.show(directive.span);
        words(&text).any(|word| word == name)
    })
}
