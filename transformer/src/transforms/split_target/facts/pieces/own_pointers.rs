//! Writes through pointers that a kernel declares or has private copies of: they reach elements of every array that
//! such a pointer may come from.

use crate::semantics::Kind;
use crate::semantics::uses::{Role, Use, is_element_address};
use crate::syntax::{HostTree, Member, Pointer, Subscript};
use crate::transforms::split_target::facts::pieces::{Piece, Reader};

impl Reader<'_, '_> {
    /// Notes a use of a pointer that belongs to the kernel.
    pub(super) fn own_pointer(&mut self, used: &Use) {
        let kind = self.names.kind(&used.name, used.span.start);
        let writes = matches!(used.role, Role::ElementWrite | Role::Argument);
        if writes && !matches!(kind, Kind::Scalar { .. } | Kind::Array { .. } | Kind::Constant) {
            self.piece.own_writes.get_or_insert(used.span);
        }
    }

    /// Notes a pointer or array from outside whose address goes into an expression.
    pub(super) fn address_source(&mut self, used: &Use, kind: &Kind) {
        let leads = matches!(kind, Kind::Pointer { .. } | Kind::Array { .. } | Kind::Struct | Kind::Member(_));
        if leads && is_address(self.names.tree, used) {
            self.piece.address_sources.insert(used.name.clone());
        }
    }
}

/// Is the address itself used, and not only an element behind it?
fn is_address(tree: &HostTree, used: &Use) -> bool {
    let selects = tree.parent(used.node).is_some_and(|parent| {
        let subscript = Subscript::of(tree, parent).and_then(Subscript::base);
        let member = || Member::of(tree, parent).and_then(Member::object);
        let is_selected = subscript.or_else(member) == Some(used.node);
        is_selected || Pointer::of(tree, parent).is_some_and(Pointer::is_followed)
    });
    !selects || is_element_address(tree, used.node)
}

impl Piece {
    /// Counts a write through a pointer of the kernel as a write to all arrays that the pointer may come from.
    pub(super) fn follow_own_pointers(&mut self) {
        let Some(at) = self.own_writes else { return };
        for (name, variable) in &mut self.variables {
            if self.address_sources.contains(name) {
                variable.elements_written.get_or_insert(at);
                variable.members_written.insert(String::new());
            }
        }
    }
}
