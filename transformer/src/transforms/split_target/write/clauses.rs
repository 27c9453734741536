//! The clauses of the data construct and of each kernel.

use super::{Split, is_private};
use crate::edit::directive_writer::on_one_line;
use crate::source::Span;
use crate::syntax::{Clause, ClauseArgument, ClauseName, ListItem};
use crate::transforms::TEAM_THREADS;
use crate::transforms::split_target::clauses::KeptClause;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::shape::Form;

impl Split<'_, '_> {
    /// The clauses of the `target data` construct; none where it would map nothing, or for a single loop.
    pub(super) fn data_clauses(&self) -> Vec<String> {
        if self.shape.form == Form::OneLoop {
            return Vec::new();
        }
        let mut clauses: Vec<String> =
            self.data.maps.iter().map(|map| format!("map({}{})", map.prefix, self.items(&map.items))).collect();
        // The whole object stands before its members, or a compiler takes them for objects of their own.
        if self.maps_this() {
            clauses.insert(0, "map(tofrom: this[:1])".to_owned());
        }
        for map_type in ["to", "tofrom"] {
            let implicit = self.data.implicit.iter().filter(|(name, kind)| *kind == map_type && name != "this");
            let mut names: Vec<&str> = implicit.map(|(name, _)| name.as_str()).collect();
            if map_type == "tofrom" {
                names.extend(self.data.mapped_reductions.iter().map(String::as_str));
            }
            if !names.is_empty() {
                clauses.push(format!("map({map_type}: {})", names.join(", ")));
            }
        }
        if clauses.is_empty() {
            return clauses;
        }
        clauses.extend(self.where_it_runs("if"));
        clauses
    }

    /// The region's `if` and `device` clauses, the former by the name given.
    pub(super) fn where_it_runs(&self, condition_name: &str) -> Vec<String> {
        let condition = self.clauses.condition.as_ref();
        let condition = condition.map(|clause| match condition_name {
            "if" => format!("if({})", self.expression(clause)),
            modifier => format!("if({modifier}: {})", self.expression(clause)),
        });
        let device = self.clauses.device.as_ref().map(|clause| format!("device({})", self.expression(clause)));
        condition.into_iter().chain(device).collect()
    }

    /// The clauses of one kernel: those of the region first, then the loop's own in their order.
    pub(super) fn kernel_clauses(&self, index: usize, kernel: &Kernel) -> Vec<String> {
        let mut clauses = Vec::new();
        clauses.extend(self.where_it_runs("target"));
        self.kernel_maps(index, kernel, &mut clauses);
        for clause in &self.clauses.used_items {
            let items = clause.items().iter().filter(|item| self.restates(kernel, clause.name, item));
            let items: Vec<String> = items.map(|item| self.item(item)).collect();
            if !items.is_empty() {
                clauses.push(format!("{}({})", self.cx.file.show(clause.name_span), items.join(", ")));
            }
        }
        clauses.extend(self.clauses.defaultmap.iter().map(|clause| self.whole(clause)));
        clauses.extend(self.clauses.kernel.iter().map(|clause| self.with_temporary(clause)));
        if kernel.serial.is_some() {
            clauses.extend(self.private(index));
            return clauses;
        }
        // For a device the pass `geometry` chooses, once the loop stands alone.
        if !self.has_own_grid() && self.cx.device.is_none() {
            clauses.push(format!("thread_limit({TEAM_THREADS})"));
        }
        if self.clauses.default_none || kernel.clauses.default_none {
            clauses.push("default(none)".to_owned());
        }
        for kept in &kernel.clauses.kept {
            clauses.extend(self.kept(kernel, kept));
        }
        clauses.extend(self.private(index));
        clauses
    }

    /// The variables that become private to a kernel.
    fn private(&self, index: usize) -> Option<String> {
        let private = self.data.kernel_private.iter().filter(|(kernel, _)| *kernel == index);
        let names: Vec<&str> = private.map(|(_, name)| name.as_str()).collect();
        (!names.is_empty()).then(|| format!("private({})", names.join(", ")))
    }

    /// Does the original choose teams or threads itself?
    fn has_own_grid(&self) -> bool {
        let chooses = |clause: &Clause| matches!(clause.name, ClauseName::NumTeams | ClauseName::ThreadLimit);
        self.clauses.kernel.iter().any(chooses)
    }

    fn kernel_maps(&self, index: usize, kernel: &Kernel, clauses: &mut Vec<String>) {
        let whole = self.shape.form == Form::OneLoop;
        if self.maps_this() && kernel.uses("this") {
            clauses.push("map(tofrom: this[:1])".to_owned());
        }
        for map in &self.data.maps {
            let used = map.items.iter().filter(|item| whole || self.is_restated(kernel, item)).cloned();
            let used: Vec<ListItem> = used.filter(|item| !is_private(kernel, item)).collect();
            if used.is_empty() {
                continue;
            }
            let prefix = if whole { &map.prefix } else { &map.kernel_prefix };
            clauses.push(format!("map({prefix}{})", self.items(&used)));
        }
        for name in &self.data.mapped_reductions {
            if kernel.uses(name) {
                clauses.push(format!("map(tofrom: {name})"));
            }
        }
        for map_type in ["from", "tofrom"] {
            let own = self.data.kernel_maps.iter().filter(|(of, _, kind)| *of == index && *kind == map_type);
            let names: Vec<&str> = own.map(|(_, name, _)| name.as_str()).collect();
            if !names.is_empty() {
                clauses.push(format!("map({map_type}: {})", names.join(", ")));
            }
        }
    }

    /// Is `*this` mapped by rule, for the members that the region names?
    pub(super) fn maps_this(&self) -> bool {
        self.data.implicit.iter().any(|(name, _)| name == "this")
    }

    fn is_restated(&self, kernel: &Kernel, item: &ListItem) -> bool {
        item.base.as_deref().is_none_or(|base| kernel.uses(base))
    }

    /// Does a kernel take this item of a region's list?
    fn restates(&self, kernel: &Kernel, clause: ClauseName, item: &ListItem) -> bool {
        let used = item.base.as_deref().is_some_and(|base| kernel.variables.contains_key(base));
        let reduced = clause == ClauseName::Shared
            && self.clauses.reductions.iter().any(|reduction| reduction.item.base == item.base);
        used && !is_private(kernel, item) && !reduced
    }

    fn kept(&self, kernel: &Kernel, kept: &KeptClause) -> Option<String> {
        match kept {
            KeptClause::Whole(clause) => Some(self.whole(clause)),
            KeptClause::Condition(span) => Some(format!("if(parallel: {})", on_one_line(self.cx.file, *span))),
            KeptClause::Shared(clause) => {
                let items = clause.items().iter().filter(|item| !is_private(kernel, item));
                let items = items.filter(|item| !self.listed_on_region(item));
                let items: Vec<String> = items.map(|item| self.item(item)).collect();
                (!items.is_empty()).then(|| format!("shared({})", items.join(", ")))
            }
            KeptClause::OfParallel(clause, items) => {
                let is_pointer = |item: &&ListItem| self.data.kept_pointers.contains(&item.span);
                let listed = |item: &&ListItem| clause.name == ClauseName::Shared && self.listed_on_region(item);
                let items: Vec<String> =
                    items.iter().filter(|i| !is_pointer(i) && !listed(i)).map(|item| self.item(item)).collect();
                let first = clause.items().first()?.span.start;
                let head = on_one_line(self.cx.file, Span::new(clause.span.start, first));
                (!items.is_empty()).then(|| format!("{head}{})", items.join(", ")))
            }
        }
    }

    /// Does a list of the region that stands on each kernel name the item already?
    fn listed_on_region(&self, item: &ListItem) -> bool {
        let same = |other: &ListItem| other.base == item.base;
        self.clauses.used_items.iter().any(|clause| {
            matches!(clause.name, ClauseName::Shared | ClauseName::Firstprivate) && clause.items().iter().any(same)
        })
    }

    pub(super) fn whole(&self, clause: &Clause) -> String {
        on_one_line(self.cx.file, clause.span)
    }

    fn with_temporary(&self, clause: &Clause) -> String {
        match &clause.argument {
            ClauseArgument::Expression(span) if self.data.temporaries.contains_key(span) => {
                format!("{}({})", self.cx.file.show(clause.name_span), self.expression(clause))
            }
            _ => self.whole(clause),
        }
    }

    fn items(&self, items: &[ListItem]) -> String {
        items.iter().map(|item| self.item(item)).collect::<Vec<_>>().join(", ")
    }

    fn item(&self, item: &ListItem) -> String {
        self.substituted(item.span)
    }
}
