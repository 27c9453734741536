//! Constructs of the file that may run at the same time: on threads of the host, or deferred.
//!
//! Where two that map one array overlap in time, the later end of the two decides what is copied back (OpenMP 5.2, section 5.8.3), and
//! whatever one waits for the other for comes between its own constructs. Threads that other files start are not in sight.

use crate::region::construct::{Construct, ConstructId};
use crate::semantics::Program;
use crate::semantics::Telling;
use crate::semantics::effects::{Named, UnknownKind};
use crate::semantics::uses::{Role, Use};
use crate::semantics::{Origin, Owner};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Call, ClauseName, Directive};

/// Functions and classes that start threads.
const STARTERS: [&str; 5] = ["pthread_create", "thrd_create", "std::thread", "std::jthread", "std::async"];

impl Program<'_> {
    /// What in the file may run constructs that map a variable's data beside others that do.
    pub(crate) fn runs_together(&self, named: &Named, owner: Owner) -> Option<Span> {
        let found = self.concurrent_constructs();
        let is_own = matches!(owner.origin, Origin::Allocation | Origin::AutomaticArray) && !owner.is_shared;
        let declared = named.id.header.is_none().then(|| self.function_of(named.id.declared_at)).flatten();
        let is_here = |span: &&Span| declared.is_none() || self.function_of(**span) == declared;
        // What a called function defers goes on behind the call.
        let is_lent = || self.uses_of(named).iter().any(|used| self.is_lent_to_function_in_sight(used));
        found.iter().find(|span| !is_own || is_here(span) || is_lent()).copied()
    }

    fn is_lent_to_function_in_sight(&self, used: &Use) -> bool {
        let call = Call::around(self.tree, used.node).and_then(|call| call.function());
        used.role == Role::Argument
            && call.is_none_or(|function| {
                let name = self.file.show(self.tree.span(function));
                !self.symbols().function_definitions(&name).is_empty()
            })
    }

    fn concurrent_constructs(&self) -> &[Span] {
        self.concurrent.get_or_init(|| {
            let ids = self.constructs.ids().filter(|id| self.may_run_beside_others(*id));
            let constructs = ids.map(|id| self.constructs.directive(id).span);
            let starters = self.file_uses().iter().filter(|used| STARTERS.contains(&used.name.as_str()));
            let hidden = [Telling::Nowait, Telling::Task, Telling::Taskloop].map(|sort| self.unread_directive(sort));
            constructs.chain(starters.map(|used| used.span)).chain(hidden.into_iter().flatten()).collect()
        })
    }

    /// Is it a construct that is deferred, or does it run others on several threads of the host?
    fn may_run_beside_others(&self, id: ConstructId) -> bool {
        let (construct, directive) = (self.constructs.construct(id), self.constructs.directive(id));
        if directive.name.starts_with("target") {
            return directive.clauses_of(ClauseName::Nowait).next().is_some();
        }
        let is_task = directive.name.split(' ').any(|word| matches!(word, "task" | "taskloop"));
        let is_on_threads = is_task || construct.leaves.iter().any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Teams));
        let around = std::iter::successors(self.constructs.enclosing(id), |id| self.constructs.enclosing(*id));
        let is_on_device = around.into_iter().any(|id| self.constructs.is_target(id));
        is_on_threads && !is_on_device && self.runs_constructs(construct)
    }

    /// Are there constructs for the device in its body, or in functions that it calls?
    fn runs_constructs(&self, construct: &Construct) -> bool {
        let is_for_device =
            |(_, directive): (&Construct, &Directive)| directive.name.split(' ').next() == Some("target");
        let calls_some = || {
            let Some(body) = construct.body else { return true };
            let effects = self.host_effects(body, &[]);
            effects.unknown.iter().any(|unknown| unknown.kind == UnknownKind::Constructs)
        };
        self.constructs.within(construct.body_span).any(is_for_device) || calls_some()
    }
}
