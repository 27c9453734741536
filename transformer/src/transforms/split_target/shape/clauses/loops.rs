//! What the clauses of one loop's directives say.

use super::{KeptClause, LoopClauses, Reader, is_of_target, permits};
use crate::plan::ReasonCode;
use crate::region::construct::ConstructId;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Directive};
use crate::transforms::split_target::shape::are_teams_of_one;
use crate::transforms::split_target::shape::clause_rules::{Rule, rule_for};

impl Reader<'_, '_> {
    pub(super) fn loop_directive(&mut self, id: ConstructId, leaves: &[Leaf], read: &mut LoopClauses) {
        let cx = self.cx;
        let on_target = cx.constructs.construct(id).leaves.contains(&Leaf::Target);
        let directive: &Directive = cx.constructs.directive(id);
        for clause in &directive.clauses {
            if on_target && is_of_target(clause) {
                self.region_clause(clause, true, false);
            } else {
                self.loop_clause(clause, on_target, leaves, read);
            }
        }
    }

    /// Reads the `parallel` construct of several loops: its lists are divided among them, other clauses are handled
    /// like a loop's own.
    pub(super) fn parallel_directive(&mut self, id: ConstructId, leaves: &[Leaf], read: &mut LoopClauses) {
        let cx = self.cx;
        let on_target = cx.constructs.construct(id).leaves.contains(&Leaf::Target);
        let clauses = cx.constructs.directive(id).clauses.iter();
        for clause in clauses.filter(|clause| !on_target || !is_of_target(clause)) {
            let items = clause.items();
            let names = items.iter().all(|item| item.is_name) && !items.is_empty();
            match clause.name {
                // Handled in `data` like a variable that the region declares.
                ClauseName::Private if names => continue,
                ClauseName::Firstprivate if names => read.copied_by_parallel.extend(items.iter().cloned()),
                ClauseName::Shared if names => {}
                ClauseName::Reduction => self.reduction(clause, on_target, false, &mut read.reductions),
                _ => {
                    self.loop_clause(clause, on_target, leaves, read);
                    continue;
                }
            }
            read.kept.push(KeptClause::OfParallel(clause.clone(), items.to_vec()));
        }
    }

    fn loop_clause(&mut self, clause: &Clause, on_target: bool, leaves: &[Leaf], read: &mut LoopClauses) {
        let permitted = permits(leaves, clause.name);
        match rule_for(clause.name, true) {
            _ if are_teams_of_one(leaves) && self.league_clause(clause, read) => {}
            // The number of threads of the one team does not matter for a league.
            Rule::Groups if self.form.widens() => read.drops(clause),
            Rule::Kernel | Rule::Groups | Rule::UsedItems if !permitted => self.no_rule(clause),
            Rule::ByName if !permitted && !matches!(clause.name, ClauseName::Bind | ClauseName::Linear) => {
                self.no_rule(clause);
            }
            Rule::Kernel => {
                if clause.name == ClauseName::Collapse {
                    read.collapse = clause.expression().or(read.collapse);
                }
                read.kept.push(KeptClause::Whole(clause.clone()));
            }
            Rule::Groups => read.kept.push(KeptClause::Whole(clause.clone())),
            Rule::UsedItems => read.kept.push(KeptClause::Shared(clause.clone())),
            Rule::Dropped => {}
            Rule::ByName => self.loop_clause_by_name(clause, on_target, leaves, read),
            // Observed on an H200 with clang 19: the item was 0 after the kernel, whatever the last iteration assigned.
            _ if clause.name == ClauseName::Lastprivate => {
                read.private.extend(clause.items().iter().cloned());
                let message = "clang 19 loses the last value of a `distribute` loop on NVIDIA devices";
                self.refuse(ReasonCode::CompilerLimit, clause.span, message);
            }
            _ if clause.name == ClauseName::Ordered => {
                let message = "`ordered` iterations run one after the other";
                self.refuse(ReasonCode::TeamDependent, clause.span, message);
            }
            _ => self.no_rule(clause),
        }
    }

    /// Reads a clause of `teams` or `distribute` of a league whose teams are one thread each: there it says what each
    /// thread gets. Returns whether it is one.
    fn league_clause(&mut self, clause: &Clause, read: &mut LoopClauses) -> bool {
        match clause.name {
            ClauseName::NumTeams => {
                read.grouped = read.grouped.or(Some(clause.span));
                self.region.kernel.push(clause.clone());
            }
            ClauseName::ThreadLimit => self.region.kernel.push(clause.clone()),
            ClauseName::DistSchedule => {
                if self.word(clause, 1).is_some_and(|chunk| chunk != "1") {
                    read.drops(clause);
                }
            }
            _ => return false,
        }
        true
    }

    fn loop_clause_by_name(&mut self, clause: &Clause, on_target: bool, leaves: &[Leaf], read: &mut LoopClauses) {
        let items = clause.items();
        let names = items.iter().all(|item| item.is_name) && !items.is_empty();
        match clause.name {
            ClauseName::Private if names => read.private.extend(items.iter().cloned()),
            ClauseName::Firstprivate if names => read.firstprivate.extend(items.iter().cloned()),
            // A compiler may map what a combined target construct makes linear (OpenMP 5.2, section 5.8).
            ClauseName::Linear if names && !on_target => return read.linear.extend(items.iter().cloned()),
            ClauseName::Reduction => {
                let sections = self.form.widens() && !self.teams_of_one;
                self.reduction(clause, on_target, sections, &mut read.reductions);
            }
            ClauseName::Default => match self.word(clause, 0).as_deref() {
                Some("shared") => return,
                Some("none") => {
                    read.default_none = true;
                    return;
                }
                Some("firstprivate") => read.default_firstprivate = Some(clause.span),
                _ => return self.no_rule(clause),
            },
            ClauseName::Schedule => {
                if self.schedule(clause, read) {
                    return;
                }
            }
            ClauseName::Bind => {
                self.bind(clause, leaves, read);
                return;
            }
            ClauseName::If => {
                self.loop_condition(clause, on_target, leaves, read);
                return;
            }
            _ => {
                self.no_rule(clause);
                return;
            }
        }
        read.kept.push(KeptClause::Whole(clause.clone()));
    }

    /// A chunk of 1 groups nothing; `runtime` may mean any chunk. Returns whether the clause is removed: a schedule
    /// distributes iterations over the threads of the one team, and has no meaning if each thread of a league gets its
    /// own iterations.
    fn schedule(&mut self, clause: &Clause, read: &mut LoopClauses) -> bool {
        let runtime = self.word(clause, 0).is_none_or(|kind| kind == "runtime");
        let is_one = self.word(clause, 1).is_none_or(|chunk| chunk == "1");
        if self.form.widens() && (runtime || !is_one) {
            read.drops(clause);
        }
        self.form.widens()
    }

    /// `order(concurrent)`, without or with a modifier.
    pub(super) fn is_concurrent(&self, clause: &Clause) -> bool {
        self.word(clause, 0).is_some_and(|order| order == "concurrent")
    }

    fn bind(&mut self, clause: &Clause, leaves: &[Leaf], read: &mut LoopClauses) {
        match (self.word(clause, 0).as_deref(), leaves) {
            (Some("teams"), [Leaf::Loop]) => read.kept.push(KeptClause::Whole(clause.clone())),
            // The loop now binds to the league.
            (Some("parallel"), [Leaf::Parallel, Leaf::Loop]) => {}
            _ => self.no_rule(clause),
        }
    }

    fn loop_condition(&mut self, clause: &Clause, on_target: bool, leaves: &[Leaf], read: &mut LoopClauses) {
        let modifier = clause.modifiers.first().map(|modifier| modifier.name.as_str());
        let plain = clause.expression().is_some() && leaves.last() != Some(&Leaf::Simd);
        match modifier {
            None if self.form.widens() && plain && on_target => {
                // The clause also decides whether the region runs on the device.
                self.region.condition = Some(clause.clone());
                read.grouped = read.grouped.or(Some(clause.span));
                return;
            }
            None | Some("parallel") if self.form.widens() && plain => return read.drops(clause),
            _ if self.form.widens() => return self.no_rule(clause),
            _ => {}
        }
        match (modifier, clause.expression()) {
            (None | Some("parallel"), Some(condition)) if modifier.is_some() || leaves.last() != Some(&Leaf::Simd) => {
                read.kept.push(KeptClause::Condition(condition));
            }
            _ => self.no_rule(clause),
        }
    }
}
