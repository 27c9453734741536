//! The variables that a loop combines with a value in each iteration, by one operator and in statements of their own.

use std::sync::Arc;

use crate::analysis::combinations::{Operator, combination};
use crate::context::{Arithmetic, Context};
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::semantics::uses::{Role, uses_below};
use crate::source::Span;
use crate::syntax::numbers::Format;
use crate::syntax::{NodeId, Number};

/// A variable that a loop combines.
pub(super) struct Combined {
    pub key: VariableId,
    pub name: String,
    pub variable: Arc<Variable>,
    pub operator: Operator,
    /// Where the loop names it.
    pub names: Vec<Span>,
    /// What it is combined with.
    pub terms: Vec<NodeId>,
    /// The first statement.
    pub first: Span,
}

impl Combined {
    /// Is its value a `float` or a `double`?
    pub(super) fn is_floating(&self) -> bool {
        matches!(
            self.variable.ty.number(),
            Some(Number::Floating(Format::Single | Format::Double | Format::SingleOrDouble))
        )
    }

    /// May another order give another value, which no flag allows?
    pub(super) fn needs_consent(&self, arithmetic: Arithmetic) -> bool {
        let is_free = match self.operator {
            Operator::Min | Operator::Max => arithmetic.ignores_special,
            _ => arithmetic.reassociates,
        };
        self.is_floating() && !is_free
    }

    /// Is it a plain variable of the block or the function, which only its name reaches?
    pub(super) fn is_plain(&self, cx: &Context<'_>) -> bool {
        let Variable { ty, is_extern, .. } = &*self.variable;
        let is_number = matches!(ty, DeclaredType::Scalar { is_volatile: false, is_const: false, .. });
        let is_own = !self.variable.has_static_storage() && !self.variable.is_thread_local && !is_extern;
        is_number && is_own && cx.cannot_be_aliased(&self.name, self.first.start)
    }
}

/// The variables from outside of a loop's body that it combines and uses in no other way.
pub(super) fn combined_in(cx: &Context<'_>, body: NodeId) -> Vec<Combined> {
    let tree = cx.tree;
    let mut all: Vec<Combined> = Vec::new();
    let mut covered = 0;
    for node in tree.descendants(body) {
        // The statement in a choice is part of it.
        if tree.span(node).start < covered {
            continue;
        }
        let Some(found) = combination(cx, node) else { continue };
        covered = found.statement.end;
        let variable = cx.symbols().lookup(&found.name, found.at);
        let Some(variable) = variable.filter(|it| !it.id().is_within(tree.span(body))) else { continue };
        let key = variable.id();
        match all.iter_mut().find(|known| known.key == key && known.operator == found.operator) {
            Some(known) => {
                known.names.extend(found.names);
                known.terms.extend(found.terms);
            }
            None => all.push(Combined {
                key,
                name: found.name,
                variable,
                operator: found.operator,
                names: found.names,
                terms: found.terms,
                first: found.statement,
            }),
        }
    }
    all.retain(|one| is_all(cx, body, one));
    all
}

/// Does the loop name the variable nowhere else?
fn is_all(cx: &Context<'_>, body: NodeId, one: &Combined) -> bool {
    let uses = uses_below(cx.file, cx.tree, body);
    let of_it = uses.iter().filter(|used| {
        used.role != Role::Declaration
            && used.name == one.name
            && cx.symbols().lookup(&used.name, used.span.start).is_some_and(|found| found.id() == one.key)
    });
    let mut others = of_it.filter(|used| !one.names.contains(&used.span));
    let is_name = cx.expansion(&one.name, one.first.start).is_none();
    is_name && others.next().is_none()
}
