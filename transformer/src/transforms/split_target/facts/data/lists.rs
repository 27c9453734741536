//! Whether the lists of data-sharing clauses, and the defaults, mean on each kernel what they mean in the original.

use crate::plan::{Reason, ReasonCode};
use crate::semantics::Kind;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Behaviour, Category, ClauseName, Defaultmap, ListItem};
use crate::transforms::split_target::facts::data::{Builder, scalar_written};
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Form;

impl Builder<'_, '_> {
    /// `private` on the region's directives: one object that all threads share unless the loops make it private again.
    pub(super) fn check_region_lists(&mut self) {
        self.check_private_maps();
        let listed = |items: &[ListItem]| -> Vec<(String, Span)> {
            items.iter().filter_map(|item| Some((item.base.clone()?, item.span))).collect()
        };
        for (name, span) in listed(&self.region.private) {
            let used = |piece: &Piece| {
                let variable = piece.variables.get(&name);
                variable.is_some_and(|variable| {
                    let temporary = variable.written_first && self.is_temporary(&name);
                    !temporary && !self.is_own_copy(&name, variable.first.start)
                })
            };
            if self.pieces.iter().any(used) {
                let message = format!("`{name}` is one object for the whole region here, and a loop uses it");
                self.refuse(ReasonCode::SharingConflict, span, message);
            }
        }
        let firstprivate: Vec<(String, Span)> = self.firstprivate_items();
        for (name, span) in firstprivate {
            let kind = self.names.kind(&name, span.start);
            if self.shape.launches_several() && !matches!(kind, Kind::Scalar { .. } | Kind::Pointer { .. }) {
                let message = format!("`{name}` would be copied for each kernel, and may be written in between");
                self.refuse(ReasonCode::SharingConflict, span, message);
            }
            for piece in self.pieces {
                let variable = piece.variables.get(&name);
                let written = variable.and_then(|v| {
                    v.written.or(if matches!(v.kind, Kind::Pointer { .. }) { None } else { v.elements_written })
                });
                if let Some(at) = written {
                    self.reasons.push(scalar_written(&name, at));
                }
                if piece.clauses.reduces(&name) {
                    let message = format!("`{name}` is firstprivate on the region and combined by a loop");
                    self.refuse(ReasonCode::SharingConflict, span, message);
                }
            }
        }
    }

    /// A single loop has no data construct, so a map of what the loop makes private would be lost.
    fn check_private_maps(&mut self) {
        if self.shape.form != Form::OneLoop {
            return;
        }
        for item in self.region.mapped_items() {
            if self.pieces.iter().any(|piece| piece.makes_private(item)) {
                let message = "this item is mapped by the region and private in its loop";
                self.reasons.push(Reason::new(ReasonCode::SharingConflict, item.span, message));
            }
        }
    }

    fn firstprivate_items(&self) -> Vec<(String, Span)> {
        let items = self.region.used_items_of(ClauseName::Firstprivate);
        items.filter_map(|item| Some((item.base.clone()?, item.span))).collect()
    }

    /// Only a `defaultmap` that changes no implicit rule that matters here is accepted; the clause stays on each
    /// kernel.
    pub(super) fn defaultmap(&mut self) {
        for clause in &self.region.defaultmap {
            let unlisted_scalar = || {
                let variables = self.pieces.iter().flat_map(|piece| &piece.variables);
                let mut scalars = variables.filter(|(_, variable)| matches!(variable.kind, Kind::Scalar { .. }));
                scalars.any(|(name, variable)| {
                    !self.is_listed(name) && self.thread_region(name, variable.first.start).is_none()
                }) || self.read_by_host().iter().any(|(name, _, _)| !self.is_listed(name))
            };
            let said = Defaultmap::of(self.names.file, clause).map(|said| (said.category, said.behaviour));
            match said {
                Some((_, Behaviour::None | Behaviour::Default) | (Category::Scalar, Behaviour::Firstprivate)) => {}
                Some((Category::Aggregate, behaviour)) if behaviour.map_type().is_some() => {}
                Some((Category::Scalar, Behaviour::Tofrom)) => self.scalars_are_mapped = true,
                Some((Category::Scalar, _)) if !unlisted_scalar() => {}
                _ => {
                    let message = "there is no safe rule for this default";
                    self.refuse(ReasonCode::ClauseWithoutRule, clause.span, message);
                }
            }
        }
        if self.scalars_are_mapped {
            self.map_scalars();
        }
    }

    /// The map type that `defaultmap` gives arrays and structures that no clause lists.
    pub(super) fn aggregate_default(&self) -> &'static str {
        let said = self.region.defaultmap.iter().filter_map(|clause| Defaultmap::of(self.names.file, clause));
        let mut kinds = said.filter(|said| said.category == Category::Aggregate);
        kinds.find_map(|said| said.behaviour.map_type()).unwrap_or("tofrom")
    }

    /// `defaultmap(tofrom: scalar)`: each scalar that no clause names is mapped for the whole region.
    fn map_scalars(&mut self) {
        for piece in self.pieces {
            let scalars = piece.variables.iter().filter(|(_, v)| matches!(v.kind, Kind::Scalar { .. }));
            let scalars = scalars.map(|(name, variable)| (name, variable.first));
            let reduced = piece.clauses.reductions.iter();
            let reduced = reduced.filter_map(|reduction| Some((reduction.item.base.as_ref()?, reduction.item.span)));
            for (name, at) in scalars.chain(reduced) {
                let listed = self.is_listed(name)
                    || self.is_local(name, at.start)
                    || self.thread_region(name, at.start).is_some();
                if !listed && self.mapped.insert(name.clone()) && self.shape.form != Form::OneLoop {
                    self.data.implicit.push((name.clone(), "tofrom"));
                }
            }
        }
        for (index, piece) in self.pieces.iter().enumerate() {
            let own = |name: &String| self.data.implicit.iter().any(|(other, _)| other == name);
            let reduced = piece.clauses.reductions.iter().filter_map(|reduction| reduction.item.base.clone());
            let items: Vec<String> = reduced.filter(own).collect();
            self.data.kernel_maps.extend(items.into_iter().map(|name| (index, name, "tofrom")));
        }
    }

    /// The lists of a loop's own clauses.
    pub(super) fn loop_items(&mut self, index: usize, piece: &Piece) {
        let clauses = &piece.clauses;
        for item in &clauses.firstprivate {
            let name = item.base.clone().unwrap_or_default();
            let kind = self.names.kind(&name, item.span.start);
            // On the combined construct the clause copies the host's value of a pointer, not the device address.
            if !matches!(kind, Kind::Scalar { .. }) || self.is_on_device(&name) {
                let message = format!("`{name}` is on the device, or a pointer to it, and firstprivate in the loop");
                self.refuse(ReasonCode::SharingConflict, item.span, message);
            }
        }
        if let Some(span) = clauses.default_firstprivate {
            self.default_firstprivate(piece, span);
        }
        for item in &clauses.linear {
            let name = item.base.clone().unwrap_or_default();
            if !piece.nest.loops.iter().any(|l| l.variable == name && !l.declared_in_loop) {
                let message = "`linear` on a combined construct with `distribute` is for loop variables only";
                self.refuse(ReasonCode::SharingConflict, item.span, message);
            }
        }
        for reduction in &clauses.reductions {
            self.reduction(index, reduction);
        }
        self.last_values(index, piece);
    }

    /// The variable of a `simd` or `loop` loop, and what `linear` names, has its last value after the loop (OpenMP 5.2,
    /// sections 5.1.1 and 5.4.6).
    fn last_values(&mut self, index: usize, piece: &Piece) {
        let has_last = matches!(piece.chain.leaves.last(), Some(Leaf::Simd | Leaf::Loop));
        if !has_last && piece.clauses.linear.is_empty() {
            return;
        }
        let on_host = self.read_by_host();
        for canonical in piece.nest.loops.iter().filter(|canonical| !canonical.declared_in_loop) {
            let name = &canonical.variable;
            let others = self.pieces.iter().enumerate().filter(|(other, _)| *other != index);
            let read = on_host.iter().any(|(other, _, _)| other == name)
                || others.into_iter().any(|(_, other)| other.variables.contains_key(name));
            if self.is_on_device(name) || read {
                let message = format!("the last value of `{name}` is seen after the loop, and would be lost");
                self.refuse(ReasonCode::SharingConflict, canonical.variable_span, message);
            }
        }
    }

    /// `default(firstprivate)` on a combined construct must mean the same for variables that no clause names.
    fn default_firstprivate(&mut self, piece: &Piece, span: Span) {
        let unlisted = piece.variables.iter().filter(|(name, _)| !piece.shared.contains(*name));
        for (name, variable) in unlisted {
            let copied = matches!(variable.kind, Kind::Scalar { .. } | Kind::Pointer { .. });
            if !copied || self.is_on_device(name) {
                let message = format!("`{name}` is mapped or an array, and would be copied for each team as well");
                let reason = Reason::new(ReasonCode::SharingConflict, span, message);
                self.reasons.push(reason.with_label(variable.first, "used here"));
            }
        }
    }
}
