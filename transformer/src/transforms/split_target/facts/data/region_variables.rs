//! Whether variables of the region can move to the host: which outer names they hide, and the lists that must name
//! them.

use crate::plan::ReasonCode;
use crate::source::{Span, words};
use crate::syntax::ClauseName;
use crate::transforms::split_target::facts::data::Builder;
use crate::transforms::split_target::facts::pieces::Piece;

impl Builder<'_, '_> {
    /// The arrays of the region get clauses of their own.
    pub(super) fn arrays(&mut self) {
        let arrays = self.arrays;
        for (span, _) in arrays.iter().flat_map(|arrays| &arrays.names) {
            let name = self.names.file.show(*span).into_owned();
            self.hides(&name, *span);
            self.needs_listing(&name, *span);
        }
    }

    /// Variables that serial statements declare and other pieces use move to the host.
    pub(super) fn hoisted(&mut self) {
        let pieces = self.pieces;
        for hoisted in pieces.iter().filter_map(|piece| piece.serial.as_ref()).flat_map(|run| &run.hoisted) {
            for span in hoisted.declarators.iter().map(|declarator| declarator.name) {
                let name = self.names.file.show(span).into_owned();
                self.hides(&name, span);
                self.needs_listing(&name, span);
            }
        }
        for copy in self.data.own_copies.clone() {
            let at = self.names.tree.span(copy.block);
            self.needs_listing(&copy.name, at);
        }
    }

    /// The region's clauses are also written on the kernels. There they must not refer to a variable that the region
    /// declares.
    pub(super) fn hides(&mut self, name: &str, at: Span) {
        if self.is_named_by_region(name) || self.is_mapped(name) {
            let message = format!("this variable hides another `{name}`, which a clause of the region names");
            self.refuse(ReasonCode::LocalDeclaration, at, message);
        }
    }

    /// Does a clause of the region name it, other than `private`?
    pub(super) fn is_named_by_region(&self, name: &str) -> bool {
        let cx = self.names;
        let mut clauses = self.shape.outer.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
        clauses.any(|clause| {
            clause.name != ClauseName::Private && {
                let text = cx.file.show(Span::new(clause.name_span.end, clause.span.end));
                words(&text).any(|word| word == name || cx.expands_to(word, clause.span.start, name))
            }
        })
    }

    /// If the region's clauses demand that each variable is listed, the kernels would have to list this one.
    pub(super) fn needs_listing(&mut self, name: &str, at: Span) {
        let cx = self.names;
        let mut defaults = self.region.defaultmap.iter();
        let none = defaults.any(|clause| cx.file.show(clause.span).contains("none"));
        let unlisted = |piece: &Piece| {
            let variable = piece.variables.get(name).filter(|variable| self.is_local(name, variable.first.start));
            variable.is_some_and(|variable| {
                let lists = [&piece.clauses.private, &piece.clauses.firstprivate, &piece.clauses.copied_by_parallel];
                let mut items = lists.into_iter().flatten();
                let listed = piece.shared.contains(name) || items.any(|item| item.is_of(name));
                let by_default = self.region.default_none || piece.clauses.default_none;
                (by_default && !listed) || (none && variable.written.is_none())
            })
        };
        if self.pieces.iter().any(unlisted) {
            let message = format!("no clause says what `{name}` is in a kernel, and a default of `none` demands one");
            self.refuse(ReasonCode::LocalDeclaration, at, message);
        }
    }
}
