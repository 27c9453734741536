//! What the clauses of the region's own directives say.

use super::{KeptClause, LoopClauses, Reader};
use crate::plan::ReasonCode;
use crate::syntax::{Clause, ClauseArgument, ClauseName};
use crate::transforms::split_target::shape::Form;
use crate::transforms::split_target::shape::clause_rules::{Rule, rule_for};

impl Reader<'_, '_> {
    pub(super) fn region_clause(&mut self, clause: &Clause, on_target: bool, several: bool) {
        match rule_for(clause.name, false) {
            Rule::DataAndKernels => self.map(clause),
            Rule::HostExpression => self.host_expression(clause, on_target),
            Rule::Kernel => {
                if clause.name == ClauseName::NumTeams {
                    self.region.few_teams = Some(clause.span);
                }
                self.region.kernel.push(clause.clone());
            }
            Rule::Groups => {
                let groups = self.form.widens() && !self.teams_of_one;
                self.region.grouped = self.region.grouped.or(groups.then_some(clause.span));
                self.region.kernel.push(clause.clone());
            }
            Rule::UsedItems => self.used_items(clause, on_target),
            Rule::OnTask if !several => self.region.kernel.push(clause.clone()),
            Rule::OnTask => self.on_task(clause),
            Rule::Refused => self.no_rule(clause),
            Rule::Dropped => {}
            Rule::ByName => self.region_clause_by_name(clause, on_target),
        }
    }

    /// A league with such a clause is kept: its kernels gain less than the program loses, which could otherwise run
    /// meanwhile.
    fn on_task(&mut self, clause: &Clause) {
        let argument = clause.name == ClauseName::Nowait && clause.argument != ClauseArgument::Absent;
        if self.form == Form::OneTeam && !argument {
            self.region.task.push(clause.clone());
        } else {
            self.no_rule(clause);
        }
    }

    fn map(&mut self, clause: &Clause) {
        let known = ["to", "from", "tofrom", "alloc", "always", "present", "close"];
        let modifiers = clause.modifiers.iter().all(|m| m.argument.is_none() && known.contains(&m.name.as_str()));
        let items = clause.items();
        if !modifiers || items.is_empty() || items.iter().any(|item| item.base.is_none()) {
            let message = "there is no safe rule for a map with this modifier or item";
            self.refuse(ReasonCode::ClauseWithoutRule, clause.span, message);
        }
        self.region.maps.push(clause.clone());
    }

    fn host_expression(&mut self, clause: &Clause, on_target: bool) {
        let plain = clause.expression().is_some();
        let modifiers = clause.modifiers.iter().all(|m| matches!(m.name.as_str(), "target" | "device_num"));
        if !plain || !modifiers || !on_target {
            self.no_rule(clause);
        } else if clause.name == ClauseName::Device {
            self.region.device = Some(clause.clone());
        } else {
            self.region.condition = Some(clause.clone());
        }
    }

    fn used_items(&mut self, clause: &Clause, on_target: bool) {
        // On `teams` the clause copies the device's value, on a combined construct the host's.
        let moves = clause.name == ClauseName::Firstprivate && !on_target;
        if !moves && clause.items().iter().all(|item| item.is_name) && clause.modifiers.is_empty() {
            self.region.used_items.push(clause.clone());
        } else {
            self.no_rule(clause);
        }
    }

    fn region_clause_by_name(&mut self, clause: &Clause, on_target: bool) {
        match clause.name {
            ClauseName::Private => self.region.private.extend(clause.items().iter().cloned()),
            ClauseName::Default => match self.word(clause, 0).as_deref() {
                Some("shared") => {}
                Some("none") => self.region.default_none = true,
                _ => self.no_rule(clause),
            },
            ClauseName::Defaultmap => self.region.defaultmap.push(clause.clone()),
            ClauseName::Reduction => {
                let mut items = Vec::new();
                self.reduction(clause, on_target, false, &mut items);
                self.region.reductions.extend(items);
            }
            _ => self.no_rule(clause),
        }
    }

    /// An `if` without a modifier on `target teams` may also reduce the league to one team (OpenMP 5.2, section 3.4). A
    /// program can notice that only through clauses that group iterations.
    pub(super) fn condition_of_teams(&mut self, loops: &[LoopClauses]) {
        let Some(condition) = self.region.condition.clone() else { return };
        let groups = |name| matches!(name, ClauseName::NumThreads | ClauseName::Schedule | ClauseName::ThreadLimit);
        let kept = loops.iter().flat_map(|clauses| &clauses.kept).any(|kept| match kept {
            KeptClause::Whole(clause) => groups(clause.name) || clause.name == ClauseName::DistSchedule,
            KeptClause::Condition(_) => true,
            KeptClause::Shared(_) | KeptClause::OfParallel(..) => false,
        });
        let grouped = kept || self.region.kernel.iter().any(|clause| groups(clause.name));
        if self.form == Form::League && condition.modifiers.is_empty() && grouped {
            let message = "this condition asks for one team as well, which the kernels' directives cannot say";
            self.refuse(ReasonCode::IterationsGrouped, condition.span, message);
        }
    }
}
