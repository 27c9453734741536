//! Which variables one data environment around some statements of a block can hold, and when it may open.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::guarded_head;
use crate::semantics::Owner;
use crate::semantics::effects::{HostEffects, Named, Touch};
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::source::Span;
use crate::transforms::hoist_maps::absence::Question;
use crate::transforms::hoist_maps::blocks::{Candidate, InBlock, Statement, leads_out};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::first_run::{Root, conditions, is_stable};
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::jumps::LeavingBranch;
use crate::transforms::hoist_maps::storage;
use crate::transforms::hoist_maps::templates::Template;
use crate::transforms::hoist_maps::updates::{Choice, Update, Wanted};

/// What an environment holds of one variable.
#[derive(Clone)]
pub(super) struct Held {
    pub item: Item,
    pub owner: Owner,
    /// Is it copied to the device where the environment opens?
    pub to: bool,
    /// Is it copied back where it closes?
    pub from: bool,
    /// How often the constructs in the environment copy it, each run once.
    pub copies: usize,
    /// Do its elements have no values before, so that nothing need be brought?
    pub is_unset: bool,
    /// What the host needs of it in between.
    pub updates: Vec<Update>,
}

/// A data environment around neighbouring statements of a block.
pub(super) struct Environment {
    /// The first and the last of them.
    pub statements: (usize, usize),
    pub held: Vec<Held>,
    /// What must hold where it opens, in C.
    pub conditions: Vec<String>,
    /// What is asked before it opens, for its updates.
    pub question: Option<Question>,
}

/// How often one construct copies it.
pub(super) fn copies_of(item: &Item) -> usize {
    usize::from(item.to) + usize::from(item.from)
}

/// Does one comparison of the same expression with a number say less than another: `n > 0` than `n > 1`?
fn is_weaker(one: &str, other: &str) -> bool {
    // The least value that it holds for.
    let least = |term: &str| {
        let (bound, number) = term.rsplit_once(' ')?;
        let (bound, relation) = bound.rsplit_once(' ')?;
        let more = match relation {
            ">" => 1,
            ">=" => 0,
            _ => return None,
        };
        Some((bound.to_owned(), number.parse::<i64>().ok()? + more))
    };
    least(one).zip(least(other)).is_some_and(|((one, least), (other, more))| one == other && least < more)
}

/// All that is known of one block.
pub(super) struct Block<'b, 'c> {
    pub cx: &'b Context<'c>,
    pub all: &'b [Mapping],
    pub statements: &'b [Statement],
    known: RefCell<BTreeMap<VariableId, Rc<InBlock>>>,
}

impl<'b, 'c> Block<'b, 'c> {
    pub(super) fn new(cx: &'b Context<'c>, all: &'b [Mapping], statements: &'b [Statement]) -> Self {
        Self { cx, all, statements, known: RefCell::default() }
    }
}

impl Block<'_, '_> {
    pub(super) fn mappings_of(&self, (first, last): (usize, usize)) -> Vec<&Mapping> {
        let inside = self.statements.get(first..=last).unwrap_or_default();
        inside.iter().flat_map(|it| &it.mappings).filter_map(|index| self.all.get(*index)).collect()
    }

    pub(super) fn host_of(&self, (first, last): (usize, usize)) -> HostEffects {
        let items = self.mappings_of((first, last)).into_iter().flat_map(|mapping| &mapping.items);
        let written_back = Some(items.filter(|item| item.from).map(|item| item.named.clone()).collect());
        let mut merged = HostEffects { written_back, ..HostEffects::default() };
        for statement in self.statements.get(first..=last).unwrap_or_default() {
            merged.touches.extend(statement.host.touches.iter().cloned());
            merged.unknown.extend(statement.host.unknown.iter().cloned());
        }
        merged
    }

    /// The first byte of an environment.
    pub(super) fn start_of(&self, (first, _): (usize, usize)) -> usize {
        self.statements.get(first).map_or(0, |statement| statement.extent.start)
    }

    /// From its first byte to its last.
    fn extent_of(&self, (first, last): (usize, usize)) -> Span {
        let end = self.statements.get(last).map_or(0, |statement| statement.extent.end);
        Span::new(self.start_of((first, last)), end)
    }

    /// A variable that an environment around these statements may hold.
    pub(super) fn candidate(&self, statements: (usize, usize), item: &Item) -> Candidate {
        let owner = self.cx.owner(&item.named);
        let class = self.class_of(statements, item.named.id);
        let in_block = self.known(item.named.id);
        Candidate { named: item.named.clone(), owner, lengths: item.lengths.clone(), in_block, class }
    }

    /// What the whole block does with a variable: asked for each of its statements, found once.
    fn known(&self, id: VariableId) -> Rc<InBlock> {
        let known = self.known.borrow().get(&id).cloned();
        known.unwrap_or_else(|| {
            let beside = self.beside(id).cloned().collect();
            let found = Rc::new(InBlock { is_written: self.is_written(id), beside });
            self.known.borrow_mut().insert(id, Rc::clone(&found));
            found
        })
    }

    /// What constructs of the block list together with a variable that keeps its place: list items of one construct share no storage
    /// (OpenMP 5.2, section 5.8.3).
    fn beside(&self, id: VariableId) -> impl Iterator<Item = &Item> {
        let whole = (0, self.statements.len().saturating_sub(1));
        let lists = move |mapping: &&Mapping| mapping.item(id).is_some_and(|own| own.is_explicit);
        let is_other = move |other: &&Item| other.named.id != id && other.is_explicit;
        self.mappings_of(whole).into_iter().filter(lists).flat_map(|mapping| &mapping.items).filter(is_other)
    }

    /// When what host code accesses in these statements is certainly an item that a construct lists beside the variable.
    pub(super) fn listed_beside(&self, statements: (usize, usize), item: &Item, touch: &Touch) -> Option<Vec<String>> {
        let keeps_place = |known: &Item| self.keeps_place(statements, known);
        let holds = |other: &Item| {
            let is_other = other.named.id != item.named.id && keeps_place(other);
            other.certainly_holds(self.cx, touch).filter(|_| is_other)
        };
        let holding = |mapping: &Mapping| {
            mapping.item(item.named.id).filter(|own| own.is_explicit && keeps_place(own))?;
            mapping.items.iter().find_map(holds)
        };
        let (mapping, mut terms) = self.certain_where(statements, |mapping| holding(mapping).is_some())?;
        terms.extend(holding(mapping)?);
        Some(terms)
    }

    /// Does a name mean the same section in all of the statements? That pointers change places with others is known to who asks.
    pub(super) fn keeps_place(&self, statements: (usize, usize), item: &Item) -> bool {
        let host = self.host_of(statements);
        let Named { name, at, id } = &item.named;
        let is_pointer = self.cx.declared_type(name, *at).is_none_or(|ty| ty.is_pointer());
        let is_fixed = !is_pointer || host.writes_variable(*id).is_none() && self.cx.cannot_be_aliased(name, *at);
        let is_known = |span: &Span| self.cx.constant(*span).is_some() || is_stable(self.cx, *span, &host);
        is_fixed && item.expressions.iter().all(is_known)
    }

    /// May a construct of the block copy something back that it changed?
    fn is_written(&self, id: VariableId) -> bool {
        let whole = (0, self.statements.len().saturating_sub(1));
        let (mappings, class) = (self.mappings_of(whole), self.class_of(whole, id));
        mappings.iter().any(|mapping| {
            let mut items = class.iter().filter_map(|one| mapping.item(*one));
            items.any(|item| !item.to || self.writes(mapping, &mappings, &item.named))
        })
    }

    /// The updates with which the host leaves a variable on the device in these statements.
    pub(super) fn updates(
        &self,
        (first, last): (usize, usize),
        item: &Item,
        choice: Choice,
    ) -> Result<Vec<Update>, Reason> {
        let candidate = self.candidate((first, last), item);
        let Some(opens) = self.statements.get(first) else { return Ok(Vec::new()) };
        let absence = OnceCell::new();
        let wanted = Wanted { cx: self.cx, all: self.all, candidate: &candidate, item, choice, opens, absence };
        let mut found = Vec::new();
        for index in first..=last {
            let Some(statement) = self.statements.get(index) else { break };
            found.extend(wanted.updates(statement, index == first)?);
        }
        Ok(found)
    }

    /// The environment around these statements with as many of the variables as can be held; what stands against the others.
    pub(super) fn environment(
        &self,
        statements: (usize, usize),
        wanted: &[VariableId],
    ) -> (Option<Environment>, Vec<(VariableId, Reason)>) {
        let mut refused = Vec::new();
        let mut held = Vec::new();
        let mut terms: Vec<String> = Vec::new();
        for id in wanted {
            match self.held(statements, *id) {
                Ok((found, own)) => {
                    terms.extend(own);
                    held.push(found);
                }
                Err(reason) => refused.push((*id, reason)),
            }
        }
        self.keep_whole_classes(statements, &mut held, &mut refused);
        while let Err((id, reason)) = storage::apart(self, statements, &held, &mut terms) {
            held.retain(|known| known.item.named.id != id);
            refused.push((id, reason));
            self.keep_whole_classes(statements, &mut held, &mut refused);
        }
        if let Some(limit) = storage::growth(self, statements, &held) {
            terms.push(limit);
        }
        let mut conditions: Vec<String> = Vec::new();
        for term in &terms {
            // Where a number is asked about first it stays so: what follows may divide by it.
            let stronger = terms.iter().filter(|other| is_weaker(term, other));
            let strongest = stronger.reduce(|one, other| if is_weaker(one, other) { other } else { one });
            let term = strongest.unwrap_or(term);
            if !conditions.contains(term) {
                conditions.push(term.clone());
            }
        }
        let environment = Environment { statements, held, conditions, question: None };
        ((!environment.held.is_empty()).then_some(environment), refused)
    }

    /// Can the variable be held around the statements? What is held, and when the environment may open.
    fn held(&self, statements: (usize, usize), id: VariableId) -> Result<(Held, Vec<String>), Reason> {
        let mappings = self.mappings_of(statements);
        let all: Vec<(&Mapping, &Item)> = mappings.iter().filter_map(|it| Some((*it, it.item(id)?))).collect();
        let Some((_, first)) = all.first().copied() else {
            return Err(Reason::new(ReasonCode::MapNotUnited, Span::default(), "nothing maps it"));
        };
        let refuse = |span, message: String| Err(Reason::new(ReasonCode::MapNotUnited, span, message));
        let name = &first.named.name;
        if let Some((item, trouble)) = all.iter().find_map(|(_, item)| Some((item, item.trouble?))) {
            return refuse(item.span, format!("`{name}` keeps its own maps: {trouble}"));
        }
        if let Some(span) = self.cx.runs_together(&first.named, self.cx.owner(&first.named)) {
            let message = format!("constructs may run at the same time because of this, and map `{name}` as well");
            return refuse(span, message);
        }
        let class = self.class_of(statements, id);
        let together: Vec<(&Mapping, &Item)> = mappings
            .iter()
            .flat_map(|mapping| class.iter().filter_map(|one| Some((*mapping, mapping.item(*one)?))))
            .collect();
        let own: Vec<VariableId> = first.lengths.iter().map(|named| named.id).collect();
        let other = together.iter().find(|(_, item)| {
            let ids: Vec<VariableId> = item.lengths.iter().map(|named| named.id).collect();
            item.section != first.section || ids != own
        });
        if let Some((_, item)) = other {
            return refuse(item.span, format!("the constructs map different sections of `{name}`"));
        }
        let at = self.start_of(statements);
        self.check_place(first, at, &self.host_of(statements))?;
        // What each construct finds there has no values, so that what another one has left may be taken for them.
        let is_scratch = self.is_scratch(&together);
        if !is_scratch {
            self.check_maps(&together)?;
        }
        let (certain, terms) = self.certain(statements, id).ok_or_else(|| {
            let message = format!("it is not certain that a construct that maps `{name}` runs");
            Reason::new(ReasonCode::NotCertain, first.span, message)
        })?;
        let copies_in = !is_scratch && together.iter().any(|(_, item)| item.to);
        let is_written_first = all.first().is_some_and(|(mapping, item)| {
            let keeps_name = !self.is_exchanged_before(statements, &class, mapping);
            mapping.id == certain.id && item.from && !item.to && !mapping.is_data && keeps_name
        });
        let from = !is_scratch
            && together
                .iter()
                .any(|(mapping, item)| item.from && (!item.to || self.writes(mapping, &mappings, &item.named)));
        // Pointers that change places lead to each other's data.
        let is_own = class.len() == 1;
        let extent = self.extent_of(statements);
        let is_unset = is_own && self.cx.is_unset_before(&first.named, extent);
        let held = Held {
            item: first.clone(),
            owner: self.cx.owner(&first.named),
            to: copies_in && !is_written_first && !is_unset,
            from: from && !(is_own && self.is_unread_behind(&first.named, statements)),
            is_unset,
            copies: self.copies(&mappings, id),
            updates: Vec::new(),
        };
        let (held, own) = if class.len() > 1 {
            let held = self.with_updates_of_class(statements, &class, held)?;
            let own = self.exchanged(statements, &class, &held)?;
            (held, own)
        } else {
            self.paid(statements, held, copies_in)?
        };
        let mut terms: Vec<String> = terms.into_iter().chain(own).collect();
        terms.extend(storage::host_terms(self, statements, &held)?);
        Ok((held, terms))
    }

    /// Does nobody read the function's own memory behind the environment, and in the branches that leave it? Code out of sight in such a branch
    /// may be a macro that goes on with the loop.
    fn is_unread_behind(&self, named: &Named, statements: (usize, usize)) -> bool {
        let cx = self.cx;
        let inside = self.statements.get(statements.0..=statements.1).unwrap_or_default();
        let is_in_sight = |branch: &LeavingBranch| {
            let unknown = cx.tree.parent(branch.first).map(|block| cx.host_effects(block, &[]).unknown);
            unknown.is_some_and(|unknown| unknown.iter().all(|it| leads_out(cx, it.span)))
        };
        let mut branches = inside.iter().flat_map(|it| &it.branches);
        cx.is_unread_behind(named, self.extent_of(statements))
            && branches.all(|branch| cx.is_unread_in(named, branch.span) && is_in_sight(branch))
    }

    /// How often constructs copy a variable, each run once.
    fn copies(&self, mappings: &[&Mapping], id: VariableId) -> usize {
        let moving = mappings.iter().filter(|mapping| !self.is_inside_other(mapping, mappings));
        moving.filter_map(|mapping| mapping.item(id)).map(copies_of).sum()
    }

    /// How many of the copies that an environment saves are made in each pass of a loop.
    pub(super) fn copies_in_loops(&self, environment: &Environment) -> usize {
        let (first, last) = environment.statements;
        let copies = |id: VariableId| {
            let loops =
                (first..=last).filter(|index| self.statements.get(*index).is_some_and(|it| it.repeats(self.all, id)));
            let mappings: Vec<&Mapping> = loops.flat_map(|index| self.mappings_of((index, index))).collect();
            self.copies(&mappings, id)
        };
        environment.held.iter().map(|held| copies(held.item.named.id)).sum()
    }

    /// From the first to the last of an environment's statements in which a construct maps what it holds.
    pub(super) fn needed_place(&self, environment: &Environment) -> (usize, usize) {
        let (first, last) = environment.statements;
        let maps = |index: &usize| {
            let mappings = self.mappings_of((*index, *index));
            environment.held.iter().any(|held| mappings.iter().any(|it| it.item(held.item.named.id).is_some()))
        };
        let mut needed = (first..=last).filter(maps);
        let start = needed.next().unwrap_or(first);
        (start, needed.next_back().unwrap_or(start))
    }

    /// Why the host needs a variable.
    pub(super) fn needed(&self, (first, last): (usize, usize), item: &Item) -> Reason {
        let candidate = self.candidate((first, last), item);
        let inside = self.statements.get(first..=last).unwrap_or_default();
        let reason = inside.iter().find_map(|statement| candidate.conflict(self.cx, statement));
        reason.unwrap_or_else(|| Reason::new(ReasonCode::HostAccess, item.span, "the host needs it in between"))
    }

    /// Do the names of a section mean the same where the environment opens, and have the same values in all of it?
    fn check_place(&self, item: &Item, at: usize, host: &HostEffects) -> Result<(), Reason> {
        let cx = self.cx;
        let named = cx.named(&item.named.name, at).is_some_and(|(found, _)| found.id == item.named.id);
        if !named || !item.expressions.iter().all(|span| cx.means_the_same(*span, at)) {
            let message = format!("`{}` is declared behind the place where its data would be mapped", item.named.name);
            return Err(Reason::new(ReasonCode::EnvironmentPlace, item.span, message));
        }
        if let Some(other) = self.is_moved_by_bytes(item) {
            let message = format!("the bytes of `{}` or `{other}` may be the pointer to the other", item.named.name);
            return Err(Reason::new(ReasonCode::MapNotUnited, item.span, message));
        }
        match item.expressions.iter().find(|span| cx.constant(**span).is_none() && !is_stable(cx, **span, host)) {
            Some(span) => {
                let message = format!("the section of `{}` may change between the constructs", item.named.name);
                Err(Reason::new(ReasonCode::MapNotUnited, *span, message))
            }
            None => Ok(()),
        }
    }

    /// Two items of which the one are bytes, of which any object is made (C17, section 6.5, paragraph 7), and the other one lies behind a pointer
    /// that others reach: what a construct brings back to these bytes may be that pointer.
    fn is_moved_by_bytes(&self, item: &Item) -> Option<String> {
        let cx = self.cx;
        let pointer = |named: &Named| cx.declared_type(&named.name, named.at).filter(DeclaredType::is_pointer);
        let is_reached = |named: &Named| pointer(named).is_some() && !cx.cannot_be_aliased(&named.name, named.at);
        let bits = |named: &Named| pointer(named)?.dereferenced().number()?.bits();
        let may_hold = |bytes: &Item, other: &Named| bytes.from && bits(&bytes.named) == Some(8) && is_reached(other);
        let whole = (0, self.statements.len().saturating_sub(1));
        let mut others = self.mappings_of(whole).into_iter().flat_map(|mapping| &mapping.items);
        let other = others.find(|other| {
            let is_other = other.named.id != item.named.id;
            is_other && (may_hold(item, &other.named) || may_hold(other, &item.named))
        });
        other.map(|other| other.named.name.clone())
    }

    /// Do the constructs only get storage for the variable, which none of them copies? Those in a `target data` of the statements that
    /// certainly maps it find it present.
    fn is_scratch(&self, all: &[(&Mapping, &Item)]) -> bool {
        let mappings: Vec<&Mapping> = all.iter().map(|(mapping, _)| *mapping).collect();
        all.iter().all(|(mapping, item)| self.is_inside_other(mapping, &mappings) || !item.to && !item.from)
    }

    /// May the constructs share one copy: does none change a copy that it would throw away?
    fn check_maps(&self, all: &[(&Mapping, &Item)]) -> Result<(), Reason> {
        let mappings: Vec<&Mapping> = all.iter().map(|(mapping, _)| *mapping).collect();
        for (mapping, item) in all {
            if self.is_inside_other(mapping, &mappings) || item.from {
                continue;
            }
            let Some((span, what)) = mapping.change_among(self.cx, &mappings, &item.named) else { continue };
            if !self.cx.is_unread_behind(&item.named, mapping.extent) {
                let kind = if item.to { "to" } else { "alloc" };
                let name = &item.named.name;
                let message = format!("{what} `{name}`, which is mapped `{kind}`, so that the change is thrown away");
                let reason = Reason::new(ReasonCode::MapNotUnited, span, message);
                return Err(reason.with_label(item.span, "mapped here"));
            }
        }
        Ok(())
    }

    /// Does a `target data` that certainly maps the variable enclose the construct?
    pub(super) fn is_inside_other(&self, mapping: &Mapping, others: &[&Mapping]) -> bool {
        others.iter().any(|other| {
            other.is_data && !other.is_conditional && other.id != mapping.id && other.extent.contains(mapping.extent)
        })
    }

    /// May the construct, or one inside it, change what the variable leads to?
    fn writes(&self, mapping: &Mapping, mappings: &[&Mapping], named: &Named) -> bool {
        mapping.change_among(self.cx, mappings, named).is_some()
    }

    /// The first construct that maps the variable and certainly runs, and under which conditions it does.
    pub(super) fn certain(&self, (first, last): (usize, usize), id: VariableId) -> Option<(&Mapping, Vec<String>)> {
        self.certain_where((first, last), |mapping| mapping.item(id).is_some())
    }

    /// The first construct that certainly runs and `is_meant` accepts, and under which conditions it runs.
    pub(super) fn certain_where(
        &self,
        (first, last): (usize, usize),
        is_meant: impl Fn(&Mapping) -> bool,
    ) -> Option<(&Mapping, Vec<String>)> {
        let host = self.host_of((first, last));
        for index in first..=last {
            let statement = self.statements.get(index)?;
            let mut mappings = statement.mappings.iter().filter_map(|index| self.all.get(*index));
            let found = mappings.find_map(|mapping| {
                if !is_meant(mapping) || mapping.is_conditional {
                    return None;
                }
                let terms = conditions(self.cx, (statement.node, Root::at(index - first)), mapping, &host)?;
                self.terms_are_visible(mapping, first).then_some((mapping, terms))
            });
            if found.is_some() {
                return found;
            }
            if !self.cx.comes_to_its_end(statement.node) {
                return None;
            }
        }
        None
    }

    /// Do the names in the heads of the loops around a construct mean the same where the environment opens?
    pub(super) fn terms_are_visible(&self, mapping: &Mapping, first: usize) -> bool {
        let (cx, at) = (self.cx, self.start_of((first, first)));
        let loops = cx.tree.ancestors(mapping.body).take_while(|node| cx.tree.span(*node).start >= at);
        let mut heads = loops.filter_map(|node| guarded_head(cx.file, cx.tree, node));
        let mut guards = mapping.guards.iter().flat_map(Template::expressions);
        heads.all(|head| cx.means_the_same(head.counting.upper, at)) && guards.all(|guard| cx.means_the_same(guard, at))
    }
}
