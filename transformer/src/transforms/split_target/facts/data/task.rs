//! What a task around the kernels captures, if the region may be deferred or depends on other tasks.
//!
//! A `target` construct is a task: `nowait` lets it be deferred, `depend` orders it among its siblings (OpenMP 5.2, section
//! 13.8). An explicit task around the kernels is ordered and waited for in the same way. Like the original it keeps the
//! values that scalars and pointers have where it is reached, and shares what is mapped.

use std::collections::BTreeSet;

use crate::plan::ReasonCode;
use crate::semantics::Kind;
use crate::source::Span;
use crate::syntax::Clause;
use crate::transforms::split_target::facts::data::Builder;

/// What a task's clauses name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskLists {
    pub firstprivate: BTreeSet<String>,
    pub shared: BTreeSet<String>,
}

impl Builder<'_, '_> {
    /// Determines what the task captures, if there is one.
    pub(super) fn task(&mut self) {
        if self.region.task.is_empty() {
            return;
        }
        let mut used: Vec<(String, Span)> = Vec::new();
        for piece in self.pieces {
            used.extend(piece.variables.iter().map(|(name, variable)| (name.clone(), variable.first)));
            let items =
                piece.clauses.reductions.iter().map(|reduction| &reduction.item).chain(&piece.clauses.firstprivate);
            used.extend(items.filter_map(|item| Some((item.base.clone()?, item.span))));
        }
        used.extend(self.read_by_host().into_iter().map(|(name, _, at)| (name, at)));
        let maps = self.region.maps.iter().chain(&self.region.used_items).flat_map(Clause::items);
        used.extend(maps.filter_map(|item| Some((item.base.clone()?, item.span))));
        let mut lists = TaskLists::default();
        for (name, at) in used {
            self.captured(&name, at, &mut lists);
        }
        self.captured_by_expressions(&mut lists);
        self.data.task = lists;
    }

    fn captured(&mut self, name: &str, at: Span, lists: &mut TaskLists) {
        if self.is_local(name, at.start) || self.thread_region(name, at.start).is_some() {
            return;
        }
        let mut whole = self.region.mapped_items().filter(|item| item.is_of(name));
        match self.names.kind(name, at.start) {
            Kind::Constant => {}
            Kind::Scalar { .. } if !self.is_on_device(name) && !self.scalars_are_mapped => {
                lists.firstprivate.insert(name.to_owned());
            }
            Kind::Pointer { .. } if !whole.any(|item| item.is_name) && !self.is_on_device_itself(name) => {
                lists.firstprivate.insert(name.to_owned());
            }
            Kind::Scalar { .. } | Kind::Pointer { .. } | Kind::Array { .. } | Kind::Struct => {
                lists.shared.insert(name.to_owned());
            }
            _ => {
                let message = format!("a task around the kernels cannot keep `{name}` as the region does");
                self.refuse(ReasonCode::ClauseWithoutRule, at, message);
            }
        }
    }

    /// The original evaluates the clauses of the region when it reaches it; the kernels evaluate theirs in the task.
    fn captured_by_expressions(&mut self, lists: &mut TaskLists) {
        let region = self.region;
        let clauses = region.device.iter().chain(&region.condition).chain(&region.kernel);
        let mut spans: Vec<Span> = clauses.filter_map(Clause::expression).collect();
        for section in region.mapped_items().flat_map(|item| &item.sections) {
            spans.extend([section.lower_bound, section.length, section.stride].into_iter().flatten());
        }
        spans.retain(|span| !self.data.temporaries.contains_key(span));
        for (name, at) in spans.into_iter().flat_map(|span| self.names.names_in(span)) {
            let expanded = self.names.expansion(&name, at.start).flatten();
            for name in expanded.unwrap_or_else(|| vec![name]) {
                self.captured(&name, at, lists);
                if lists.shared.contains(&name) {
                    let message = format!("`{name}` may have another value when the task around the kernels starts");
                    self.refuse(ReasonCode::ClauseWithoutRule, at, message);
                }
            }
        }
    }
}
