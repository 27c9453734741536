//! Reads the clauses of a region into what they say, by the rules of [`super::clause_rules`].

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::source::Span;
use crate::syntax::spec_table::DirectiveSpec;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseArgument, ClauseName, Directive, ListItem};
use crate::transforms::Context;
use crate::transforms::split_target::clause_rules::{Rule, belongs_to_target, rule_for};
use crate::transforms::split_target::shape::distribute::is_of_teams;
use crate::transforms::split_target::shape::{Form, Shape, are_teams_of_one};
use crate::transforms::split_target::write::kernel_name;

/// What the clauses of the region's own directives say.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionClauses {
    pub maps: Vec<Clause>,
    pub device: Option<Clause>,
    pub condition: Option<Clause>,
    /// Copied to each kernel as they are.
    pub kernel: Vec<Clause>,
    /// Lists of which each kernel restates what it uses.
    pub used_items: Vec<Clause>,
    pub defaultmap: Vec<Clause>,
    pub default_none: bool,
    pub private: Vec<ListItem>,
    pub reductions: Vec<ReductionItem>,
    /// `nowait` and `depend` of a region with several kernels, which become those of a task.
    pub task: Vec<Clause>,
    /// The clause that limits the threads of the one team, to one perhaps.
    pub grouped: Option<Span>,
    /// The clause that limits the teams of a league.
    pub few_teams: Option<Span>,
}

/// What the clauses of one loop say.
#[derive(Clone, Debug, Default)]
pub(super) struct LoopClauses {
    /// In the order written: what stands on the kernel.
    pub kept: Vec<KeptClause>,
    pub private: Vec<ListItem>,
    pub firstprivate: Vec<ListItem>,
    pub linear: Vec<ListItem>,
    pub reductions: Vec<ReductionItem>,
    pub default_none: bool,
    /// `default(firstprivate)`: what no clause names is a copy for each thread in the original too.
    pub default_firstprivate: Option<Span>,
    /// `order(concurrent)`: the iterations are independent whatever groups them.
    pub concurrent: bool,
    pub collapse: Option<Span>,
    /// A clause that may serialise or group the iterations of the one team: they must be proved independent then.
    pub grouped: Option<Span>,
    /// Clauses with expressions that fall away.
    pub dropped: Vec<Clause>,
    /// The `parallel` construct that the loop shares with others, whose lists name what any of them uses.
    pub parallel: Option<ConstructId>,
    /// What that construct makes firstprivate: one copy for each thread, which all of its loops use.
    pub copied_by_parallel: Vec<ListItem>,
}

impl LoopClauses {
    /// Takes a clause that says how the threads of the one team share the iterations. A league has other threads.
    fn drops(&mut self, clause: &Clause) {
        self.grouped = self.grouped.or(Some(clause.span));
        self.dropped.push(clause.clone());
    }

    /// The expressions that the output does not evaluate.
    pub(super) fn dropped_expressions(&self) -> Vec<Span> {
        self.dropped.iter().flat_map(expressions_of).collect()
    }

    /// Takes clauses back that fall away, as far as the kernel may carry them.
    pub(super) fn take_back(&mut self, leaves: &[Leaf], is_kept: impl Fn(&Clause) -> bool) {
        for clause in std::mem::take(&mut self.dropped) {
            match clause.argument {
                _ if !is_kept(&clause) || !permits(loop_leaves(leaves), clause.name) => self.dropped.push(clause),
                ClauseArgument::Expression(condition) if clause.name == ClauseName::If => {
                    self.kept.push(KeptClause::Condition(condition));
                }
                _ => self.kept.push(KeptClause::Whole(clause)),
            }
        }
    }
}

/// The expressions of a clause that has no list.
pub(super) fn expressions_of(clause: &Clause) -> Vec<Span> {
    match &clause.argument {
        ClauseArgument::Expression(span) => vec![*span],
        ClauseArgument::Words(words) => words.iter().skip(1).copied().collect(),
        _ => Vec::new(),
    }
}

/// A clause of the kernel.
#[derive(Clone, Debug)]
pub(super) enum KeptClause {
    /// As written.
    Whole(Clause),
    /// `shared`, of which some items may fall away.
    Shared(Clause),
    /// A list of the `parallel` construct that the loop shares with others, with the items that fall to this loop.
    OfParallel(Clause, Vec<ListItem>),
    /// `if` with the modifier that it needs on a combined construct.
    Condition(Span),
}

/// One item of a reduction.
#[derive(Clone, Debug)]
pub(super) struct ReductionItem {
    pub item: ListItem,
    pub operator: String,
    /// Does it stand on the combined `target` directive, which maps its items (OpenMP 5.2, section 5.8.3)?
    pub on_target: bool,
}

/// Reads all clauses of a region; the reasons are those for which it is refused.
pub(super) fn read(cx: &Context<'_>, shape: &Shape) -> (RegionClauses, Vec<LoopClauses>, Vec<Reason>) {
    let teams_of_one = shape.has_teams_of_one();
    let mut reader =
        Reader { cx, form: shape.form, teams_of_one, region: RegionClauses::default(), reasons: Vec::new() };
    for id in &shape.outer {
        let on_target = cx.constructs.construct(*id).leaves.contains(&Leaf::Target);
        let combined = shape.parallel.contains(id);
        let clauses = cx.constructs.directive(*id).clauses.iter();
        let of_teams = |clause: &Clause| shape.shared.is_some() && is_of_teams(clause);
        for clause in clauses.filter(|clause| (!combined || is_of_target(clause)) && !of_teams(clause)) {
            reader.region_clause(clause, on_target, shape.launches_several());
        }
    }
    let loops = shape.loops.iter().map(|chain| {
        let leaves = loop_leaves(&chain.leaves);
        let clauses = chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
        let mut order = clauses.filter(|clause| clause.name == ClauseName::Order);
        let concurrent = leaves.last() == Some(&Leaf::Loop) || order.any(|clause| reader.is_concurrent(clause));
        let parallel = chain.constructs.first().copied().filter(|id| shape.parallel.contains(id));
        let mut read = LoopClauses { concurrent, parallel, ..LoopClauses::default() };
        for id in &chain.constructs {
            if parallel == Some(*id) {
                reader.parallel_directive(*id, leaves, &mut read);
            } else {
                reader.loop_directive(*id, leaves, &mut read);
            }
        }
        read
    });
    let loops: Vec<LoopClauses> = loops.collect();
    reader.condition_of_teams(&loops);
    (reader.region, loops, reader.reasons)
}

/// The leaves of a loop's chain without a leading `target`.
pub(super) fn loop_leaves(leaves: &[Leaf]) -> &[Leaf] {
    leaves.strip_prefix(&[Leaf::Target]).unwrap_or(leaves)
}

/// Does a clause of a combined directive take effect on its `target` leaf alone?
fn is_of_target(clause: &Clause) -> bool {
    belongs_to_target(clause.name) || clause.has_modifier("target")
}

/// May the kernel's directive carry the clause? `target teams loop` takes fewer than `parallel loop`.
fn permits(leaves: &[Leaf], clause: ClauseName) -> bool {
    let spec = DirectiveSpec::of_name(kernel_name(leaves));
    spec.is_some_and(|spec| spec.clauses.contains(&clause))
}

/// Is it one section of a variable, without a stride?
fn is_plain_section(item: &ListItem) -> bool {
    let [section] = item.sections.as_slice() else { return false };
    item.base.is_some() && !item.has_member && section.is_section && section.stride.is_none()
}

struct Reader<'a> {
    cx: &'a Context<'a>,
    form: Form,
    /// See [`Shape::has_teams_of_one`].
    teams_of_one: bool,
    region: RegionClauses,
    reasons: Vec<Reason>,
}

impl Reader<'_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    /// The word at a place of a clause's argument, without blanks.
    fn word(&self, clause: &Clause, at: usize) -> Option<String> {
        let ClauseArgument::Words(words) = &clause.argument else { return None };
        words.get(at).map(|span| self.cx.file.show(*span).trim().to_owned())
    }

    fn no_rule(&mut self, clause: &Clause) {
        self.refuse(ReasonCode::ClauseWithoutRule, clause.span, "there is no safe rule for this clause here");
    }

    fn region_clause(&mut self, clause: &Clause, on_target: bool, several: bool) {
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

    /// A league keeps such a region: its kernels gain less than the program loses that goes on beside them.
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
        let plain = matches!(clause.argument, ClauseArgument::Expression(_));
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
        // On `teams` it copies what the device has; on a combined construct, what the host has.
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

    fn loop_directive(&mut self, id: ConstructId, leaves: &[Leaf], read: &mut LoopClauses) {
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

    /// The `parallel` construct of several loops: its lists are taken apart, the rest is as on a loop's own.
    fn parallel_directive(&mut self, id: ConstructId, leaves: &[Leaf], read: &mut LoopClauses) {
        let cx = self.cx;
        let on_target = cx.constructs.construct(id).leaves.contains(&Leaf::Target);
        let clauses = cx.constructs.directive(id).clauses.iter();
        for clause in clauses.filter(|clause| !on_target || !is_of_target(clause)) {
            let items = clause.items();
            let names = items.iter().all(|item| item.is_name) && !items.is_empty();
            match clause.name {
                // See `data`: as if the region declared it.
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
            // How many threads the one team has means nothing for a league.
            Rule::Groups if self.form.widens() => read.drops(clause),
            Rule::Kernel | Rule::Groups | Rule::UsedItems if !permitted => self.no_rule(clause),
            Rule::ByName if !permitted && !matches!(clause.name, ClauseName::Bind | ClauseName::Linear) => {
                self.no_rule(clause);
            }
            Rule::Kernel => {
                if clause.name == ClauseName::Collapse
                    && let ClauseArgument::Expression(depth) = clause.argument
                {
                    read.collapse = Some(depth);
                }
                read.kept.push(KeptClause::Whole(clause.clone()));
            }
            Rule::Groups => read.kept.push(KeptClause::Whole(clause.clone())),
            Rule::UsedItems => read.kept.push(KeptClause::Shared(clause.clone())),
            Rule::Dropped => {}
            Rule::ByName => self.loop_clause_by_name(clause, on_target, leaves, read),
            // Seen on an H200 with clang 19: the item was 0 after the kernel, whatever the last iteration gave it.
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

    /// Takes a clause of `teams` or `distribute` where each team is one thread, so that it says what each thread gets. Says
    /// whether it is one.
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

    /// `sections`: may an item be an array section?
    fn reduction(&mut self, clause: &Clause, on_target: bool, sections: bool, into: &mut Vec<ReductionItem>) {
        let known = ["+", "*", "-", "&", "|", "^", "&&", "||", "min", "max"];
        let operator = clause.modifiers.last().map(|modifier| modifier.name.clone()).unwrap_or_default();
        let plain = clause.items().iter().all(|item| item.is_name || (sections && is_plain_section(item)));
        if clause.modifiers.len() != 1 || !known.contains(&operator.as_str()) || !plain {
            let message = "only reductions of plain variables with the operators of the language move";
            self.refuse(ReasonCode::ReductionNotMovable, clause.span, message);
        }
        for item in clause.items() {
            let operator = operator.clone();
            into.push(ReductionItem { item: item.clone(), operator, on_target });
        }
    }

    /// A chunk of 1 groups nothing; `runtime` may hold any chunk. Says whether the clause falls away: a schedule hands
    /// iterations to the threads of the one team, and means nothing where each thread of a league gets its own.
    fn schedule(&mut self, clause: &Clause, read: &mut LoopClauses) -> bool {
        let runtime = self.word(clause, 0).is_none_or(|kind| kind == "runtime");
        let is_one = self.word(clause, 1).is_none_or(|chunk| chunk == "1");
        if self.form.widens() && (runtime || !is_one) {
            read.drops(clause);
        }
        self.form.widens()
    }

    /// An `if` without a modifier on `target teams` also asks for one team (OpenMP 5.2, section 3.4), which only the
    /// clauses that group iterations let a program notice.
    fn condition_of_teams(&mut self, loops: &[LoopClauses]) {
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

    /// `order(concurrent)`, without or with a modifier.
    fn is_concurrent(&self, clause: &Clause) -> bool {
        self.word(clause, 0).is_some_and(|order| order == "concurrent")
    }

    fn bind(&mut self, clause: &Clause, leaves: &[Leaf], read: &mut LoopClauses) {
        match (self.word(clause, 0).as_deref(), leaves) {
            (Some("teams"), [Leaf::Loop]) => read.kept.push(KeptClause::Whole(clause.clone())),
            // The loop binds to the league from now on.
            (Some("parallel"), [Leaf::Parallel, Leaf::Loop]) => {}
            _ => self.no_rule(clause),
        }
    }

    fn loop_condition(&mut self, clause: &Clause, on_target: bool, leaves: &[Leaf], read: &mut LoopClauses) {
        let modifier = clause.modifiers.first().map(|modifier| modifier.name.as_str());
        let plain = matches!(clause.argument, ClauseArgument::Expression(_)) && leaves.last() != Some(&Leaf::Simd);
        match modifier {
            None if self.form.widens() && plain && on_target => {
                // It says as well whether the region runs on the device.
                self.region.condition = Some(clause.clone());
                read.grouped = read.grouped.or(Some(clause.span));
                return;
            }
            None | Some("parallel") if self.form.widens() && plain => return read.drops(clause),
            _ if self.form.widens() => return self.no_rule(clause),
            _ => {}
        }
        match (modifier, &clause.argument) {
            (None | Some("parallel"), ClauseArgument::Expression(condition))
                if modifier.is_some() || leaves.last() != Some(&Leaf::Simd) =>
            {
                read.kept.push(KeptClause::Condition(*condition));
            }
            _ => self.no_rule(clause),
        }
    }
}
