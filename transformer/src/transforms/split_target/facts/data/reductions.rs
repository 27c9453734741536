//! Whether reductions may move to the kernels, and where their results are.

use crate::plan::ReasonCode;
use crate::semantics::Kind;
use crate::source::Span;
use crate::syntax::ListItem;
use crate::transforms::split_target::facts::data::Builder;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::clauses::ReductionItem;

/// Elements of an array section of which each thread can have a copy.
const LONGEST_SECTION: i64 = 64;

impl Builder<'_, '_> {
    pub(super) fn reduction(&mut self, index: usize, reduction: &ReductionItem) {
        let name = reduction.item.base.clone().unwrap_or_default();
        if matches!(self.names.kind(&name, reduction.item.span.start), Kind::Member(_)) {
            let message = format!("`{name}` is a member of `*this`");
            return self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
        }
        if self.thread_region(&name, reduction.item.span.start).is_some() {
            let message = format!("each thread of the parallel region has a `{name}` of its own");
            return self.refuse(ReasonCode::BareParallel, reduction.item.span, message);
        }
        if !reduction.item.is_name {
            return self.section(&reduction.item, &name);
        }
        if self.is_local(&name, reduction.item.span.start) {
            if self.is_own_copy(&name, reduction.item.span.start) {
                self.lost_result(index, &name, reduction.item.span);
            }
            return self.local(index, &name, reduction.item.span.start, Some(reduction.item.span));
        }
        let region_wide = self.region.reduces(&name);
        if self.is_mapped(&name) || region_wide || self.data.mapped_reductions.contains(&name) {
            return;
        }
        if self.names.is_declare_target(&name) {
            let message = format!("`{name}` lives on the device already");
            return self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
        }
        if reduction.on_target {
            self.data.kernel_maps.push((index, name, "tofrom"));
            return;
        }
        // With `map(to:)` the result would still be lost on a device, but not if the region runs on the host.
        let message = format!("the result in `{name}` is lost at the end of the region; on the kernel it would not be");
        self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
    }

    /// An array section, of which each thread has a copy. clang 19 combines them correctly if the section is short, has
    /// constant bounds, and belongs to an array or parameter of the function. With a variable at file scope the program
    /// does not link, and sections of other lengths do not compile for a GPU.
    fn section(&mut self, item: &ListItem, name: &str) {
        let at = item.span.start;
        let constant = |span: Option<Span>| span.map_or(Some(0), |span| self.names.constant(span));
        let bounds = item.sections.first().and_then(|section| {
            Some((constant(section.lower_bound)?, section.length.and_then(|length| self.names.constant(length))?))
        });
        let short = bounds.is_some_and(|(lower, length)| lower >= 0 && (1..=LONGEST_SECTION).contains(&length));
        let is_array = matches!(
            self.names.kind(name, at),
            Kind::Array { plain: true, is_const: false } | Kind::Pointer { plain: true, .. }
        );
        let mapped = self.region.mapped_items().any(|item| item.is_of(name));
        let own = self.names.is_of_function(name, at) && !self.names.is_reference(name, at);
        if !(short && is_array && mapped && own) || self.is_local(name, at) {
            let message = format!(
                "only a section of at most {LONGEST_SECTION} elements, of constant bounds and of an array or parameter that a \
                 clause maps, moves"
            );
            self.refuse(ReasonCode::ReductionNotMovable, item.span, message);
        }
    }

    /// `reduction` on the region's own directives: each loop must carry it itself, or not name the item.
    pub(super) fn region_reductions(&mut self) {
        for reduction in &self.region.reductions {
            let name = reduction.item.base.clone().unwrap_or_default();
            let uses_it = |piece: &Piece| piece.variables.contains_key(&name);
            let differs = |piece: &Piece| {
                piece
                    .clauses
                    .reductions
                    .iter()
                    .any(|other| other.item.is_of(&name) && other.operator != reduction.operator)
            };
            if self.pieces.iter().any(|piece| uses_it(piece) || differs(piece)) {
                let message = format!("a loop uses `{name}` without the same reduction");
                self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
            } else if !self.is_mapped(&name) {
                if reduction.on_target {
                    self.data.mapped_reductions.push(name);
                } else {
                    let message = format!("the result in `{name}` is lost at the end of the region");
                    self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
                }
            }
        }
    }
}
