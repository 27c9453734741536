//! Does an environment cost no more than it saves? What it copies itself, and what the host needs in between, must be copied by the
//! constructs anyway, by those that certainly run.

use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::canonical_head;
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::environments::{Block, Held, copies_of};
use crate::transforms::hoist_maps::first_run::{self, Root, conditions, is_stable};
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::storage;
use crate::transforms::hoist_maps::updates::{Choice, LARGE, Spent, Update};

/// The most passes of a loop that the program is asked for: in three, constructs that copy twice in each have paid for what an environment
/// copies at its ends, one copy in each pass, and one more; where elements go both ways they need more.
const MOST_PASSES: usize = 8;
/// The most elements that a test in a loop may bring back in a pass, where the loop may end in its first one.
const FEW_ELEMENTS: usize = 4;

impl Block<'_, '_> {
    /// Adds the updates that the host needs, by elements or whole, and says when the constructs would copy the variable as often anyway.
    pub(super) fn paid(
        &self,
        statements: (usize, usize),
        held: Held,
        copies_in: bool,
    ) -> Result<(Held, Vec<String>), Reason> {
        let bytes = storage::constant_bytes(self.cx, &held.item);
        for choice in Choice::of_section(bytes) {
            let updates = self.updates(statements, &held.item, choice)?;
            if !updates.is_empty() && !copies_in {
                return Err(self.needed(statements, &held.item));
            }
            // What no construct certainly copies back may be constant.
            let asks = updates.iter().any(|update| update.asks);
            let comes_back = updates.iter().any(|update| !update.piece.from.is_empty());
            let may_be_constant = asks && comes_back && !held.from;
            let is_paid = self.are_paid_in_loops(statements, &held.item, &updates, choice);
            if may_be_constant || !is_paid || !self.fit(statements, &updates) {
                continue;
            }
            let mut fits: Vec<String> = updates.iter().flat_map(|update| update.fits.iter().cloned()).collect();
            if choice.is_large && bytes.is_none() {
                fits.push(format!("{} >= {LARGE}", storage::bytes(self.cx, &held.item)));
            }
            // Before a construct has brought the data or given all of them values, the device has what the environment brought.
            let is_early = updates.iter().any(|update| self.stands_before_all(statements, update, &held.item));
            let to = held.to || copies_in && !held.is_unset && is_early;
            let from = held.from && !self.is_back(statements, &updates, &held.item);
            let held = Held { to, from, updates, ..held.clone() };
            let copied = self.copied_anyway(statements, &held, choice, None);
            let copied = copied.or_else(|| self.copied_in_passes(statements, &held, choice));
            let copied = copied.or_else(|| self.copied_as_often(statements, &held, choice));
            let copied = copied.or_else(|| self.copied_but_for_elements(statements, &held, choice));
            if let Some(terms) = copied.or_else(|| self.copied_in_later_passes(statements, &held)) {
                return Ok((held, terms.into_iter().chain(fits).collect()));
            }
        }
        let name = &held.item.named.name;
        let message = format!("it is not certain that the constructs copy `{name}` as often as the environment would");
        Err(Reason::new(ReasonCode::NotCertain, held.item.span, message))
    }

    /// Does an update copy something before the first of the constructs that map the variable has run?
    fn stands_before_all(&self, statements: (usize, usize), update: &Update, item: &Item) -> bool {
        let mappings = self.mappings_of(statements);
        let first = mappings.iter().find(|mapping| mapping.item(item.named.id).is_some());
        update.piece.copies() > 0 && first.is_none_or(|first| update.place.before < first.extent.end)
    }

    /// Has the host everything before the environment ends: did an update bring the whole section behind all that changes it?
    fn is_back(&self, (first, last): (usize, usize), updates: &[Update], item: &Item) -> bool {
        let (mut is_reached, mut is_back) = (true, false);
        for statement in self.statements.get(first..=last).unwrap_or_default() {
            let brings = |update: &Update| update.brings_before(self.cx, statement, &item.text);
            is_back |= is_reached && updates.iter().any(brings);
            is_back &= !statement.changes(self.cx, self.all, item.named.id);
            is_reached &= self.cx.comes_to_its_end(statement.node);
        }
        is_back
    }

    /// Can what is asked of rows be asked where the environment opens?
    fn fit(&self, statements: (usize, usize), updates: &[Update]) -> bool {
        let (cx, at, host) = (self.cx, self.start_of(statements), self.host_of(statements));
        let is_known =
            |span: &Span| cx.means_the_same(*span, at) && (cx.constant(*span).is_some() || is_stable(cx, *span, &host));
        updates.iter().filter(|update| !update.fits.is_empty()).flat_map(|update| &update.piece.indices).all(is_known)
    }

    /// When the constructs that certainly run copy the variable at least as often as the environment does, so that it never costs more.
    /// In a loop that certainly makes so many passes, they do so in each.
    fn copied_anyway(
        &self,
        statements: (usize, usize),
        held: &Held,
        choice: Choice,
        often: Option<(NodeId, usize)>,
    ) -> Option<Vec<String>> {
        // As many copies of the same bytes are no gain.
        let more = usize::from(held.updates.iter().any(|update| update.moves(&held.item.text)));
        self.copied(statements, held, choice, (often, more))
    }

    /// When one pass of a loop copies the variable as often as the environment does, and the loop makes two as far as that can be asked.
    fn copied_as_often(&self, (first, last): (usize, usize), held: &Held, choice: Choice) -> Option<Vec<String>> {
        let statement = self.statements.get(first).filter(|it| first == last && it.is_loop)?;
        let term = first_run::may_run_often(self.cx, statement.node, &self.host_of((first, last)), 2)?;
        let terms = self.copied((first, last), held, choice, (None, 0))?;
        Some(terms.into_iter().chain(term).collect())
    }

    /// The same of a loop that may end with its first pass by what the host reads, where a pass copies nothing but a few single elements. If it
    /// does so, which is taken to be rare, these are copied beside what the original copies: some ten microseconds each.
    fn copied_but_for_elements(
        &self,
        (first, last): (usize, usize),
        held: &Held,
        choice: Choice,
    ) -> Option<Vec<String>> {
        let statement = self.statements.get(first).filter(|it| first == last && it.is_loop)?;
        let body = self.cx.tree.child(statement.node, Field::Body)?;
        let copies: usize = held.updates.iter().map(|update| update.piece.copies()).sum();
        let elements: usize = held.updates.iter().map(|update| update.piece.count_elements()).sum();
        let may_end = self.cx.tree.kind(statement.node) != NodeKind::ForStatement || !self.cx.comes_to_its_end(body);
        let is_test = (1..=FEW_ELEMENTS).contains(&copies) && copies == elements && may_end;
        let term =
            first_run::may_run_often(self.cx, statement.node, &self.host_of((first, last)), 2).filter(|_| is_test)?;
        let alone = Held { updates: Vec::new(), ..held.clone() };
        let terms = self.copied((first, last), &alone, choice, (None, 0))?;
        Some(terms.into_iter().chain(term).collect())
    }

    /// When the constructs that certainly run copy the variable so many times `more` than the environment does.
    fn copied(
        &self,
        (first, last): (usize, usize),
        held: &Held,
        choice: Choice,
        (often, more): (Option<(NodeId, usize)>, usize),
    ) -> Option<Vec<String>> {
        let mappings = self.mappings_of((first, last));
        let host = self.host_of((first, last));
        // What no construct certainly copies may not be read or written by the host's side at all: it may be constant.
        let (mut to, mut from) = (held.to, held.from);
        let mut spent = Spent::of(&held.updates, choice);
        let mut left = (usize::from(held.to) + usize::from(held.from) + more) * spent.elements_for_copy;
        let mut terms = Vec::new();
        for index in first..=last {
            let statement = self.statements.get(index)?;
            for mapping in statement.mappings.iter().filter_map(|index| self.all.get(*index)) {
                let Some(item) = mapping.item(held.item.named.id) else { continue };
                let is_done = left == 0 && !to && !from && spent.is_covered(None);
                if is_done || mapping.is_conditional || self.is_inside_other(mapping, &mappings) {
                    continue;
                }
                if let Some(own) = conditions(self.cx, (statement.node, Root::at(index - first)), mapping, &host)
                    && self.terms_are_visible(mapping, first)
                {
                    terms.extend(own);
                    let around = self.loop_around(mapping);
                    let gained = spent.pay(around, copies_of(item));
                    let passes = often.filter(|(node, _)| around == Some(*node)).map_or(1, |(_, passes)| passes);
                    left = left.saturating_sub(gained * passes);
                    (to, from) = (to && !item.to, from && !item.from);
                }
            }
            if left == 0 && !to && !from && spent.is_covered(None) {
                return Some(terms);
            }
            self.cx.comes_to_its_end(statement.node).then_some(())?;
        }
        None
    }

    /// Can the updates in the loops of a statement be paid for there, by elements or whole?
    pub(super) fn pays_inside(&self, index: usize, item: &Item) -> bool {
        Choice::of_section(storage::constant_bytes(self.cx, item)).into_iter().any(|choice| {
            let updates = self.updates((index, index), item, choice).unwrap_or_default();
            self.are_paid_in_loops((index, index), item, &updates, choice)
        })
    }

    /// Do the constructs in each pass of a loop copy the variable at least as often as the updates in that pass?
    pub(super) fn are_paid_in_loops(
        &self,
        statements: (usize, usize),
        item: &Item,
        updates: &[Update],
        choice: Choice,
    ) -> bool {
        let mappings = self.mappings_of(statements);
        let host = self.host_of(statements);
        updates.iter().filter_map(|update| update.around).all(|around| {
            let mut spent = Spent::of(updates, choice);
            let Some(body) = self.cx.tree.child(around, Field::Body) else { return false };
            let inside = mappings.iter().filter(|mapping| self.loop_around(mapping) == Some(around));
            for mapping in inside.filter(|it| !it.is_conditional && !self.is_inside_other(it, &mappings)) {
                let is_certain =
                    || conditions(self.cx, (body, Root::Later), mapping, &host).is_some_and(|terms| terms.is_empty());
                if let Some(item) = mapping.item(item.named.id).filter(|_| is_certain()) {
                    spent.pay(Some(around), copies_of(item));
                }
            }
            spent.is_covered(Some(around))
        })
    }

    /// When one of the loops makes a few passes, in which the constructs copy the variable more often than the updates do.
    fn copied_in_passes(&self, (first, last): (usize, usize), held: &Held, choice: Choice) -> Option<Vec<String>> {
        let host = self.host_of((first, last));
        let loops = self.statements.get(first..=last)?.iter().filter(|it| it.is_loop && !held.updates.is_empty());
        loops.into_iter().find_map(|statement| {
            let head = canonical_head(self.cx.file, self.cx.tree, statement.node)?;
            let is_named = self.cx.means_the_same(head.upper, self.start_of((first, last)));
            (2..=MOST_PASSES).find_map(|passes| {
                let term = first_run::runs_often(self.cx, statement.node, &host, passes).filter(|_| is_named)?;
                let often = Some((statement.node, passes));
                let mut terms = self.copied_anyway((first, last), held, choice, often)?;
                terms.extend(term);
                Some(terms)
            })
        })
    }

    /// A loop whose later passes copy what its first one may not: where the environment may copy it anyway, and the loop makes two passes as
    /// far as that can be asked.
    fn copied_in_later_passes(&self, (first, last): (usize, usize), held: &Held) -> Option<Vec<String>> {
        let statement = self.statements.get(first).filter(|it| first == last && it.is_loop)?;
        let is_free = held.updates.is_empty() && self.may_copy_anyway((first, last), &[held.item.named.id], held);
        let term = first_run::may_run_often(self.cx, statement.node, &self.host_of((first, last)), 2)?;
        is_free.then(|| term.into_iter().collect())
    }

    /// May the environment copy what these variables lead to both ways, although the constructs may not? Memory of the function's own may
    /// be read and written, and what was brought comes back as it was. That a loop ends after its first pass is taken to be rare.
    pub(super) fn may_copy_anyway(&self, statements: (usize, usize), class: &[VariableId], held: &Held) -> bool {
        let mappings = self.mappings_of(statements);
        let is_own = |id: &VariableId| {
            let named = mappings.iter().find_map(|mapping| mapping.item(*id)).map(|item| &item.named);
            named.is_some_and(|named| self.cx.leads_to_own_memory(named))
        };
        let id = held.item.named.id;
        let comes_from = |(mapping, _): (&Mapping, _)| mapping.item(id).is_some_and(|item| item.from);
        (held.to || self.certain(statements, id).is_some_and(comes_from)) && class.iter().all(is_own)
    }

    /// The innermost loop of the host around a construct, in the block.
    pub(super) fn loop_around(&self, mapping: &Mapping) -> Option<NodeId> {
        let tree = self.cx.tree;
        let is_inside = |node: &NodeId| self.statements.iter().any(|it| tree.span(it.node).contains(tree.span(*node)));
        let mut inside = tree.ancestors(mapping.body).take_while(is_inside);
        inside.find(|node| {
            matches!(tree.kind(*node), NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement)
        })
    }
}
