//! What the clauses of a region and of its loops say, by the rules of [`super::clause_rules`].

mod loops;
mod region;

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::{DirectiveSpec, Leaf};
use crate::syntax::{Clause, ClauseArgument, ClauseName, ListItem};
use crate::transforms::split_target::shape::clause_rules::belongs_to_target;
use crate::transforms::split_target::shape::distribute::is_of_teams;
use crate::transforms::split_target::shape::{Form, Shape};

/// What the clauses of the region's own directives say.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionClauses {
    pub maps: Vec<Clause>,
    pub device: Option<Clause>,
    pub condition: Option<Clause>,
    /// Copied to each kernel as they are.
    pub kernel: Vec<Clause>,
    /// Lists from which each kernel repeats the items that it uses.
    pub used_items: Vec<Clause>,
    pub defaultmap: Vec<Clause>,
    pub default_none: bool,
    pub private: Vec<ListItem>,
    pub reductions: Vec<ReductionItem>,
    /// `nowait` and `depend` of a region with several kernels; they move to a task.
    pub task: Vec<Clause>,
    /// The clause that may limit the one team to few threads, or to one.
    pub grouped: Option<Span>,
    /// The clause that limits the teams of a league.
    pub few_teams: Option<Span>,
}

impl RegionClauses {
    /// The items of all maps.
    pub(crate) fn mapped_items(&self) -> impl Iterator<Item = &ListItem> {
        self.maps.iter().flat_map(Clause::items)
    }

    /// The items of the lists by this name, from which each kernel repeats those that it uses.
    pub(crate) fn used_items_of(&self, name: ClauseName) -> impl Iterator<Item = &ListItem> {
        self.used_items.iter().filter(move |clause| clause.name == name).flat_map(Clause::items)
    }

    /// Is a variable combined by a reduction of the region?
    pub(crate) fn reduces(&self, name: &str) -> bool {
        self.reductions.iter().any(|reduction| reduction.item.is_of(name))
    }
}

/// What the clauses of one loop say.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopClauses {
    /// The clauses of the kernel, in the order in which they are written.
    pub kept: Vec<KeptClause>,
    pub private: Vec<ListItem>,
    pub firstprivate: Vec<ListItem>,
    pub linear: Vec<ListItem>,
    pub reductions: Vec<ReductionItem>,
    pub default_none: bool,
    /// `default(firstprivate)`: each thread has its own copy of variables that no clause names, in the original as
    /// well.
    pub default_firstprivate: Option<Span>,
    /// `order(concurrent)`: the iterations are independent, however they are grouped.
    pub concurrent: bool,
    pub collapse: Option<Span>,
    /// A clause that may serialise or group the iterations of the one team: they must be proved to be independent.
    pub grouped: Option<Span>,
    /// Removed clauses with expressions.
    pub dropped: Vec<Clause>,
    /// The `parallel` construct that the loop shares with others. Its lists hold the variables of all of them.
    pub parallel: Option<ConstructId>,
    /// The `firstprivate` items of that construct: one copy for each thread, which all of its loops use.
    pub copied_by_parallel: Vec<ListItem>,
}

impl LoopClauses {
    /// Removes a clause about how the threads of the one team share the iterations. A league has other threads.
    fn drops(&mut self, clause: &Clause) {
        self.grouped = self.grouped.or(Some(clause.span));
        self.dropped.push(clause.clone());
    }

    /// Is a variable combined by a reduction of the loop?
    pub(crate) fn reduces(&self, name: &str) -> bool {
        self.reductions.iter().any(|reduction| reduction.item.is_of(name))
    }

    /// The expressions that the output does not evaluate.
    pub(crate) fn dropped_expressions(&self) -> Vec<Span> {
        self.dropped.iter().flat_map(expressions_of).collect()
    }

    /// Keeps removed clauses after all, if the kernel may have them.
    pub(crate) fn take_back(&mut self, leaves: &[Leaf], is_kept: impl Fn(&Clause) -> bool) {
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
pub(crate) fn expressions_of(clause: &Clause) -> Vec<Span> {
    match &clause.argument {
        ClauseArgument::Expression(span) => vec![*span],
        ClauseArgument::Words(words) => words.iter().skip(1).copied().collect(),
        _ => Vec::new(),
    }
}

/// A clause of the kernel.
#[derive(Clone, Debug)]
pub(crate) enum KeptClause {
    /// As written.
    Whole(Clause),
    /// `shared`, from which some items may be removed.
    Shared(Clause),
    /// A list of the `parallel` construct that the loop shares with others, with the items of this loop.
    OfParallel(Clause, Vec<ListItem>),
    /// `if` with the modifier that it needs on a combined construct.
    Condition(Span),
}

/// One item of a reduction.
#[derive(Clone, Debug)]
pub(crate) struct ReductionItem {
    pub item: ListItem,
    pub operator: String,
    /// Does it stand on the combined `target` directive, which maps its items (OpenMP 5.2, section 5.8.3)?
    pub on_target: bool,
}

/// Reads all clauses of a region. The error holds the reasons to refuse it.
pub(crate) fn read(cx: &Program<'_>, shape: &Shape) -> (RegionClauses, Vec<LoopClauses>, Vec<Reason>) {
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
pub(crate) fn loop_leaves(leaves: &[Leaf]) -> &[Leaf] {
    leaves.strip_prefix(&[Leaf::Target]).unwrap_or(leaves)
}

/// The name of the directive that a loop's leaves become.
pub(crate) fn kernel_name(leaves: &[Leaf]) -> &'static str {
    match leaves.last() {
        Some(Leaf::Loop) => "target teams loop",
        Some(Leaf::Simd) => "target teams distribute parallel for simd",
        _ => "target teams distribute parallel for",
    }
}

/// Does a clause of a combined directive take effect on its `target` leaf alone?
fn is_of_target(clause: &Clause) -> bool {
    belongs_to_target(clause.name) || clause.has_modifier("target")
}

/// May the kernel's directive have the clause? `target teams loop` allows fewer than `parallel loop`.
fn permits(leaves: &[Leaf], clause: ClauseName) -> bool {
    let spec = DirectiveSpec::of_name(kernel_name(leaves));
    spec.is_some_and(|spec| spec.clauses.contains(&clause))
}

/// Is it one section of a variable, without a stride?
fn is_plain_section(item: &ListItem) -> bool {
    let [section] = item.sections.as_slice() else { return false };
    item.base.is_some() && !item.has_member && section.is_section && section.stride.is_none()
}

struct Reader<'a, 'p> {
    cx: &'a Program<'p>,
    form: Form,
    /// See [`Shape::has_teams_of_one`].
    teams_of_one: bool,
    region: RegionClauses,
    reasons: Vec<Reason>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    /// The word at a place of a clause's argument, without blanks.
    fn word(&self, clause: &Clause, at: usize) -> Option<String> {
        let ClauseArgument::Words(words) = &clause.argument else { return None };
        words.get(at).map(|span| self.cx.file.show(*span).trim().to_owned())
    }

    fn no_rule(&mut self, clause: &Clause) {
        let message =
            format!("the kernels that the split makes cannot take over `{}`", self.cx.file.show(clause.name_span));
        self.refuse(ReasonCode::ClauseWithoutRule, clause.span, message);
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
}
