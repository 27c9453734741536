//! Pointers that lead to nothing but memory that their function allocated, whichever of them leads to which.

use crate::semantics::effects::Named;
use crate::semantics::evaluation::is_conversion;
use crate::semantics::symbols::{Scope, VariableId};
use crate::semantics::uses::{Role, Use};
use crate::semantics::{Origin, Program};
use crate::source::Language;
use crate::syntax::{Call, Field, NodeId, NodeKind};

impl Program<'_> {
    /// Is a variable an array of the function or the file, or a pointer to nothing but memory that its function allocated, or nowhere? A
    /// pointer may get the value of another such one.
    pub(crate) fn leads_to_own_memory(&self, named: &Named) -> bool {
        matches!(self.owner(named).origin, Origin::AutomaticArray | Origin::StaticArray)
            || self.leads_to_own(named, &mut Vec::new())
    }

    fn leads_to_own(&self, named: &Named, seen: &mut Vec<VariableId>) -> bool {
        if seen.contains(&named.id) {
            return true;
        }
        seen.push(named.id);
        let Some((_, variable)) = self.named(&named.name, named.at) else { return false };
        let is_pointer_of_call =
            variable.ty.is_pointer() && variable.scope == Scope::Local && !variable.has_static_storage();
        let is_seen = self.symbols().unread_branches(&named.name, self.range_of(named)).next().is_none();
        let uses = self.uses_of(named);
        is_pointer_of_call
            && is_seen
            && self.is_handed_by_value_alone(named)
            && uses.iter().all(|used| self.gives_own(used, seen))
    }

    /// Does it lead to nothing but memory that its function allocated, whose address is known to nobody but pointers of the function that
    /// change places with it?
    pub(crate) fn leads_to_unshared_memory(&self, named: &Named) -> bool {
        let mut reached = Vec::new();
        self.leads_to_own(named, &mut reached) && self.keeps_to_itself(named, &mut Vec::new())
    }

    fn keeps_to_itself(&self, named: &Named, seen: &mut Vec<VariableId>) -> bool {
        if seen.contains(&named.id) {
            return true;
        }
        seen.push(named.id);
        self.leads_to_own(named, &mut Vec::new())
            && self.uses_of(named).iter().all(|used| {
                // What it gets its values from may be handed out by that name.
                let given = match used.role {
                    Role::Write => self.assigned(used),
                    Role::Declaration => self.initial_value(used),
                    _ => None,
                };
                let other = given.filter(|value| self.tree.kind(*value) == NodeKind::Identifier);
                let other = other.or_else(|| self.swapped_with(used.node)).or_else(|| self.taker(used));
                match other {
                    Some(other) => {
                        let span = self.tree.span(other);
                        let found = self.named(&self.file.show(span), span.end);
                        found.is_some_and(|(other, _)| self.keeps_to_itself(&other, seen))
                    }
                    None => !self.hands_out(used),
                }
            })
    }

    /// The variable that a use alone gives its value: `b` in `b = a;` and `double *b = a;`.
    fn taker(&self, used: &Use) -> Option<NodeId> {
        let tree = self.tree;
        let parent = tree.parent(used.node)?;
        let is_value = match tree.kind(parent) {
            NodeKind::AssignmentExpression => {
                tree.field(used.node) == Some(Field::Right) && tree.operator(parent) == Some(NodeKind::Equal)
            }
            NodeKind::InitDeclarator => tree.field(used.node) == Some(Field::Value),
            _ => false,
        };
        let taker = match tree.kind(parent) {
            NodeKind::AssignmentExpression => tree.child(parent, Field::Left)?,
            _ => tree.innermost_declarator(tree.child(parent, Field::Declarator)?),
        };
        (is_value && tree.kind(taker) == NodeKind::Identifier).then_some(taker)
    }

    /// Is what a use gives the pointer, if it does so, memory of the function's own?
    fn gives_own(&self, used: &Use, seen: &mut Vec<VariableId>) -> bool {
        self.given(used).is_none_or(|value| value.is_some_and(|value| self.is_own(value, seen)))
    }

    fn is_own(&self, value: NodeId, seen: &mut Vec<VariableId>) -> bool {
        if self.tree.kind(value) != NodeKind::Identifier {
            return self.is_null(value) || self.is_allocation(value, 0);
        }
        let span = self.tree.span(value);
        self.named(&self.file.show(span), span.end).is_some_and(|(named, _)| self.leads_to_own(&named, seen))
    }

    /// Does nothing but its name reach a variable, apart from `std::swap`? Functions in sight get its value.
    pub(crate) fn is_handed_by_value_alone(&self, named: &Named) -> bool {
        let is_harmless = |span| {
            let node = self.tree.covering(span);
            self.swapped_with(node).is_some() || self.is_handed_by_value(node)
        };
        !self.symbols().may_be_reached_elsewhere(&named.name, named.at, &is_harmless)
    }

    /// Is a name an argument of a function in sight whose parameter is no reference, or of a conversion, `int(n)`?
    fn is_handed_by_value(&self, name: NodeId) -> bool {
        let call = Call::around(self.tree, name);
        if call.is_some_and(|call| is_conversion(self.file, self.tree, call.node)) {
            return true;
        }
        let binding = call.and_then(|call| self.binding(call.node));
        let parameter = binding.and_then(|binding| binding.parameter_of(name));
        let variable = parameter.and_then(|id| self.named(&self.file.show(id.declared_at), id.declared_at.end));
        variable.is_some_and(|(_, variable)| variable.ty.is_pointer() || variable.ty.is_scalar())
    }

    /// Does a call of `std::swap` exchange the values of two variables, which are numbers or pointers?
    pub(crate) fn swaps_values(&self, call: Call<'_>) -> bool {
        let tree = self.tree;
        let is_swap = || call.function().is_some_and(|it| self.file.bytes(tree.span(it)) == b"std::swap");
        let is_variable = |node: NodeId| {
            let span = tree.span(node);
            let name = self.file.show(span);
            let found = self.named(&name, span.end).filter(|_| tree.kind(node) == NodeKind::Identifier);
            found.is_some_and(|(_, variable)| variable.ty.is_scalar() || variable.ty.is_pointer())
                && self.expansion(&name, span.start).is_none()
        };
        tree.language() == Language::Cpp
            && is_swap()
            && call.arguments().count() == 2
            && call.arguments().all(is_variable)
    }

    /// The other variable, where `std::swap` exchanges one with it.
    pub(super) fn swapped_with(&self, argument: NodeId) -> Option<NodeId> {
        let call = Call::around(self.tree, argument).filter(|call| self.swaps_values(*call))?;
        call.arguments().any(|it| it == argument).then(|| call.arguments().find(|it| *it != argument))?
    }
}
