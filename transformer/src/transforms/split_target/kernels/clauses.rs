//! Which clauses each kernel has: those of the region first, then the loop's own in their order.

use crate::syntax::{Clause, ClauseName, ListItem};
use crate::transforms::TEAM_THREADS;
use crate::transforms::split_target::facts::Facts;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::kernels::{NewClause, around};
use crate::transforms::split_target::shape::clauses::KeptClause;
use crate::transforms::split_target::shape::{Form, Shape};

/// The facts from which the kernels' clauses are made.
pub(super) struct Needs<'a> {
    pub shape: &'a Shape,
    pub facts: &'a Facts,
    /// Are grids chosen for a device? Then the pass `geometry` writes them, after the loop has become a kernel.
    pub is_for_device: bool,
}

impl<'a> NewClause<'a> {
    /// A clause with a list of names. `None` if there are no names.
    pub(super) fn names(head: &'static str, names: impl Iterator<Item = &'a str>) -> Option<Self> {
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then_some(Self::Names(head, names))
    }
}

impl<'a> Needs<'a> {
    /// The clauses of one kernel.
    pub(super) fn kernel_clauses(&self, index: usize, piece: &'a Piece) -> Vec<NewClause<'a>> {
        let region = &self.facts.clauses;
        let mut clauses = around::where_it_runs(self.facts, "if(target: ");
        self.maps(index, piece, &mut clauses);
        for clause in &region.used_items {
            let items = clause.items().iter().filter(|item| self.restates(piece, clause.name, item));
            clauses.extend(list(clause, items));
        }
        clauses.extend(region.defaultmap.iter().map(NewClause::Whole));
        clauses.extend(region.kernel.iter().map(NewClause::Evaluated));
        if piece.serial.is_none() {
            if !self.has_own_grid() && !self.is_for_device {
                clauses.push(NewClause::Fixed(format!("thread_limit({TEAM_THREADS})")));
            }
            if region.default_none || piece.clauses.default_none {
                clauses.push(NewClause::Fixed("default(none)".to_owned()));
            }
            clauses.extend(piece.clauses.kept.iter().filter_map(|kept| self.kept(piece, kept)));
        }
        let private = self.facts.data.kernel_private.iter().filter(|(of, _)| *of == index);
        clauses.extend(NewClause::names("private(", private.map(|(_, name)| name.as_str())));
        clauses
    }

    /// Does the original choose teams or threads itself?
    fn has_own_grid(&self) -> bool {
        let chooses = |clause: &Clause| matches!(clause.name, ClauseName::NumTeams | ClauseName::ThreadLimit);
        self.facts.clauses.kernel.iter().any(chooses)
    }

    /// Maps of the region's items that the kernel uses, and maps that only the kernel has.
    fn maps(&self, index: usize, piece: &'a Piece, clauses: &mut Vec<NewClause<'a>>) {
        let data = &self.facts.data;
        let whole = self.shape.form == Form::OneLoop;
        if data.maps_this() && piece.uses("this") {
            clauses.push(NewClause::Fixed(around::THIS.to_owned()));
        }
        let used = |item: &&ListItem| whole || item.base.as_deref().is_none_or(|base| piece.uses(base));
        for clause in &self.facts.clauses.maps {
            let items = clause.items().iter().filter(used).filter(|item| !piece.makes_private(item));
            let items: Vec<&ListItem> = items.collect();
            if !items.is_empty() {
                clauses.push(NewClause::Map { clause, items, restated: !whole });
            }
        }
        let reduced = data.mapped_reductions.iter().filter(|name| piece.uses(name));
        clauses.extend(reduced.map(|name| NewClause::Names("map(tofrom: ", vec![name])));
        for (map_type, head) in [("from", "map(from: "), ("tofrom", "map(tofrom: ")] {
            let own = data.kernel_maps.iter().filter(|(of, _, kind)| *of == index && *kind == map_type);
            clauses.extend(NewClause::names(head, own.map(|(_, name, _)| name.as_str())));
        }
    }

    /// Does a kernel repeat this item of a region's list?
    fn restates(&self, piece: &Piece, clause: ClauseName, item: &ListItem) -> bool {
        let used = item.base.as_deref().is_some_and(|base| piece.variables.contains_key(base));
        let mut reductions = self.facts.clauses.reductions.iter();
        let reduced = clause == ClauseName::Shared && reductions.any(|reduction| reduction.item.base == item.base);
        used && !piece.makes_private(item) && !reduced
    }

    /// A clause of the loop.
    fn kept(&self, piece: &'a Piece, kept: &'a KeptClause) -> Option<NewClause<'a>> {
        match kept {
            KeptClause::Whole(clause) => Some(NewClause::Whole(clause)),
            KeptClause::Condition(span) => Some(NewClause::Expression("if(parallel: ", *span)),
            KeptClause::Shared(clause) => {
                let items = clause.items().iter().filter(|item| !piece.makes_private(item));
                list(clause, items.filter(|item| !self.is_listed_on_region(item)))
            }
            KeptClause::OfParallel(clause, items) => {
                let is_pointer = |item: &ListItem| self.facts.data.kept_pointers.contains(&item.span);
                let listed = |item: &ListItem| clause.name == ClauseName::Shared && self.is_listed_on_region(item);
                list(clause, items.iter().filter(|item| !is_pointer(item) && !listed(item)))
            }
        }
    }

    /// Does a list of the region that stands on each kernel name the item already?
    fn is_listed_on_region(&self, item: &ListItem) -> bool {
        let same = |other: &ListItem| other.base == item.base;
        self.facts.clauses.used_items.iter().any(|clause| {
            matches!(clause.name, ClauseName::Shared | ClauseName::Firstprivate) && clause.items().iter().any(same)
        })
    }
}

/// A list of the original with some of its items. `None` if no item is left.
fn list<'a>(clause: &'a Clause, items: impl Iterator<Item = &'a ListItem>) -> Option<NewClause<'a>> {
    let items: Vec<&ListItem> = items.collect();
    (!items.is_empty()).then_some(NewClause::List(clause, items))
}
