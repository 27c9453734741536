//! Whether the copy that each kernel takes has the value of the original's single copy: an earlier kernel may write the
//! variable.

use std::collections::BTreeSet;

use crate::plan::{Certainty, Reason, ReasonCode};
use crate::semantics::{Class, Kind};
use crate::source::Span;
use crate::syntax::ListItem;
use crate::transforms::split_target::facts::data::Builder;
use crate::transforms::split_target::facts::pieces::Piece;

impl Builder<'_, '_> {
    /// In the output, a scalar that no clause maps is copied at the start of each kernel; in the original it is copied
    /// once. If the region runs on the host (no device, `if(0)`, unified memory), an earlier kernel may have written it
    /// through another name by then. The host may read such a scalar between the kernels too.
    pub(super) fn aliases(&mut self) {
        let mut reported = BTreeSet::new();
        // In an enclosing loop, later kernels run before earlier ones in the next round.
        let all = self.pieces;
        let before = |index: usize| if self.host.is_empty() { &all[..index] } else { all };
        for (index, piece) in all.iter().enumerate() {
            for (name, variable) in &piece.variables {
                let class = match variable.kind {
                    Kind::Scalar { class, .. } => class,
                    Kind::Pointer { .. } => Class::Pointer,
                    _ => continue,
                };
                self.alias(name, class, variable.first, before(index), &mut reported);
            }
        }
        for (name, class, place) in self.read_by_host() {
            self.alias(&name, class, place, all, &mut reported);
        }
    }

    fn alias(&mut self, name: &str, class: Class, place: Span, earlier: &[Piece], reported: &mut BTreeSet<String>) {
        let own = self.is_on_device(name)
            || self.is_own_copy(name, place.start)
            || self.thread_region(name, place.start).is_some()
            || self.names.cannot_be_aliased(name, place.start)
            || self.is_out_of_reach(name, place.start);
        if own || reported.contains(name) {
            return;
        }
        let variables = earlier.iter().flat_map(|piece| &piece.variables);
        let written = variables.filter(|(other, _)| *other != name).find_map(|(other_name, other)| match &other.kind {
            Kind::Pointer { class: element, .. } if other.any_class || element.may_alias(class) => {
                other.elements_written
            }
            Kind::Scalar { class: own, .. } if own.may_alias(class) => {
                other.written.filter(|_| !self.names.cannot_be_aliased(other_name, other.first.start))
            }
            // Members and elements may be pointers.
            Kind::Struct | Kind::Array { plain: false, .. } => other.elements_written,
            Kind::Array { .. } if self.names.is_reference(name, place.start) => other.elements_written,
            _ => None,
        });
        let combined = || earlier.iter().find_map(|piece| self.combined_alias(piece, class, name));
        if let Some(at) = written.or_else(combined) {
            reported.insert(name.to_owned());
            let message = format!("assumes that no earlier loop writes `{name}` by another name");
            let mut reason = Reason::new(ReasonCode::NotAliased, place, message);
            reason.certainty = Certainty::Assumed;
            self.data.remarks.push(reason.with_label(at, "this may be the same object"));
        }
    }

    /// Is it a variable of the region whose address no loop takes? Pointers from outside cannot point to it, and serial
    /// statements keep no address.
    fn is_out_of_reach(&self, name: &str, at: usize) -> bool {
        let declared = self.names.declared_at(name, at);
        let inside = self.body().zip(declared).is_some_and(|(body, declared)| body.contains(declared));
        let loops = self.pieces.iter().filter(|piece| piece.serial.is_none());
        let mut variables = loops.filter_map(|piece| piece.variables.get(name));
        inside && self.is_local(name, at) && !variables.any(|variable| variable.address)
    }

    /// An item that a loop's reduction writes and that may be the same object as `name`.
    fn combined_alias(&self, piece: &Piece, class: Class, name: &str) -> Option<Span> {
        let mut items = piece.clauses.reductions.iter().map(|reduction| &reduction.item);
        let aliases = |item: &&ListItem| {
            let base = item.base.as_deref().unwrap_or_default();
            let own = match self.names.kind(base, item.span.start) {
                Kind::Scalar { class, .. } => class,
                _ => Class::Any,
            };
            base != name && own.may_alias(class)
        };
        items.find(aliases).map(|item| item.span)
    }
}
