//! Macros that stand for what is written: `A(i, j) = 0`.

use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::macros::expansion::{Expansion, expansion_around};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::semantics::{Kind, Program};
use crate::source::Span;

impl Program<'_> {
    /// The macros in a region that do more than give a value. Those that stand for elements of arrays may be assigned to in the loops
    /// that become kernels, whose uses of names are read as in [`Self::assigned_through`]; every other one stands against the region.
    pub(crate) fn macro_lvalues(&self, region: &TargetRegion) -> Vec<Reason> {
        let cx = self;
        let Some(body) = cx.constructs.construct(region.chain.innermost()).body else { return Vec::new() };
        let only = Some(&region.chain).filter(|chain| chain.is_loop());
        let kernels: Vec<Span> =
            region.loops().chain(only).map(|chain| cx.constructs.construct(chain.innermost()).body_span).collect();
        let uses = uses_below(cx.file, cx.tree, body);
        let macros = uses.iter().filter(|used| self.symbols().macro_definition(&used.name, used.span.start).is_some());
        let reasons = macros.filter_map(|used| {
            let refuse = |message: String| Some(Reason::new(ReasonCode::OpaqueMacro, used.span, message));
            if used.role == Role::Declaration {
                return refuse(format!("the macro `{}` stands where a name is declared", used.name));
            }
            let through = self.assigned_through(used)?;
            let in_kernel = kernels.iter().any(|kernel| kernel.contains(used.span));
            let are_elements = through.filter(|_| in_kernel).is_some_and(|all| {
                all.iter().all(|(name, role)| match role {
                    Role::Read => true,
                    Role::ElementWrite => {
                        matches!(self.kind(name, used.span.start), Kind::Pointer { .. } | Kind::Array { .. })
                    }
                    _ => false,
                })
            });
            match are_elements {
                true => None,
                false => refuse(format!("what the macro `{}` stands for may be written here", used.name)),
            }
        });
        reasons.collect()
    }

    /// What is done with the names that stand behind the use of a macro, and with its arguments, where more is done with it than that
    /// its value is read; `None` inside if that is not known.
    pub(crate) fn assigned_through(&self, used: &Use) -> Option<Option<Vec<(String, Role)>>> {
        let cx = self;
        if self.symbols().is_value_read(used.node) {
            return None;
        }
        let expansion = expansion_around(cx.file, cx.tree, self.symbols(), used.node);
        Some(expansion.map(|expansion| self.roles_in(&expansion)))
    }

    /// Each name with what an expression does with it; names that its own text writes are seen there.
    fn roles_in(&self, expansion: &Expansion) -> Vec<(String, Role)> {
        let cx = self;
        let shown = uses_below(cx.file, cx.tree, cx.tree.covering(expansion.span));
        let is_shown = |used: &Use| {
            shown.iter().any(|it| it.name == used.name && it.role == used.role && expansion.span.contains(it.span))
        };
        let uses = uses_below(&expansion.file, &expansion.tree, expansion.tree.root());
        uses.into_iter().filter(|used| !is_shown(used)).map(|used| (used.name, used.role)).collect()
    }
}
