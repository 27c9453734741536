//! The clauses around the loops: which of them allow more loops, and what they say of variables.

use std::collections::BTreeMap;

use crate::analysis::independence::reason;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Program;
use crate::semantics::symbols::{Symbols, VariableId};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Behaviour, Category, Clause, ClauseArgument, ClauseName, Defaultmap, ListItem};

/// What clauses say of variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clauses {
    /// Variables of which each thread has a copy without a value.
    pub private: Vec<VariableId>,
    /// Variables of which each thread has a copy with the original's value.
    pub firstprivate: Vec<VariableId>,
    /// Reduction items and their operators.
    pub reductions: BTreeMap<VariableId, String>,
    /// Scalars that are mapped.
    pub mapped: Vec<VariableId>,
}

impl Clauses {
    /// Does each thread have its own copy?
    pub(crate) fn is_private(&self, key: VariableId) -> bool {
        self.private.contains(&key) || self.firstprivate.contains(&key)
    }
}

/// Does a clause only say how iterations are distributed over teams and threads? The `geometry` pass writes such
/// clauses. A reason with such a clause is given last: other reasons held before the grid was chosen, and matter more
/// to the user.
pub(crate) fn is_of_grid(name: ClauseName) -> bool {
    matches!(name, ClauseName::NumTeams | ClauseName::ThreadLimit | ClauseName::DistSchedule)
}

/// Reads the clauses of the constructs from the target construct inwards.
///
/// # Errors
/// As of [`read_besides`].
pub(crate) fn read(cx: &Program<'_>, chain: &[ConstructId]) -> Result<(Clauses, Vec<Reason>), Vec<Reason>> {
    read_besides(cx, chain, &[])
}

/// Reads the clauses for a change that leaves the loops as they are. The clauses of `besides` are allowed. Also returns
/// the clauses of the grid that forbid the change.
///
/// # Errors
/// All clauses that forbid the change, if one of them is no clause of the grid.
pub(crate) fn read_besides(
    cx: &Program<'_>,
    chain: &[ConstructId],
    besides: &[ClauseName],
) -> Result<(Clauses, Vec<Reason>), Vec<Reason>> {
    let symbols = cx.symbols();
    let mut found = Clauses::default();
    let (mut reasons, mut others) = (Vec::new(), false);
    let has_teams =
        chain.iter().any(|id| cx.constructs.directive(*id).clauses_of(ClauseName::NumTeams).next().is_some());
    let teams_share = chain
        .iter()
        .any(|id| cx.constructs.construct(*id).leaves.iter().any(|leaf| matches!(leaf, Leaf::Distribute | Leaf::Loop)));
    for id in chain {
        for clause in &cx.constructs.directive(*id).clauses {
            // With few threads in a team, as many teams as there are iterations may still share them, unless
            // `num_teams` gives their number.
            if besides.contains(&clause.name) || (limits_team(clause) && teams_share && !has_teams) {
                continue;
            }
            // What makes one chunk for each thread matters only where their number is limited, as in a grid.
            let is_of_grid =
                |name: ClauseName| is_of_grid(name) || name == ClauseName::Schedule && is_static(cx, clause);
            let shares_freely =
                clause.name == ClauseName::Schedule && is_static(cx, clause) && !limits_threads(cx, chain, *id);
            if !shares_freely && !goes_with_more_loops(cx, clause) {
                let text = cx.file.show(clause.name_span);
                let message = format!(
                    "`{text}` says how iterations are grouped or ordered, or hands a value on: leave it away where it is not needed"
                );
                reasons.push(reason(ReasonCode::CollapseClause, clause.span, message));
                others |= !is_of_grid(clause.name);
                continue;
            }
            for item in clause.items() {
                found.take(symbols, clause, item);
            }
        }
    }
    if others { Err(reasons) } else { Ok((found, reasons)) }
}

impl Clauses {
    /// What the clauses of constructs say of variables. All other clauses are ignored.
    pub(crate) fn of(cx: &Program<'_>, chain: &[ConstructId]) -> Self {
        let symbols = cx.symbols();
        let mut found = Self::default();
        for clause in chain.iter().flat_map(|id| &cx.constructs.directive(*id).clauses) {
            for item in clause.items() {
                found.take(symbols, clause, item);
            }
        }
        found
    }

    fn take(&mut self, symbols: &Symbols<'_>, clause: &Clause, item: &ListItem) {
        let Some(variable) = item.base.as_deref().and_then(|base| symbols.lookup(base, item.span.start)) else {
            return;
        };
        let key = variable.id();
        match clause.name {
            ClauseName::Private => self.private.push(key),
            ClauseName::Firstprivate => self.firstprivate.push(key),
            ClauseName::Reduction => {
                let operator = clause.modifiers.last().map(|modifier| modifier.name.clone()).unwrap_or_default();
                self.reductions.insert(key, operator);
            }
            ClauseName::Map => self.mapped.push(key),
            _ => {}
        }
    }
}

/// Does any directive of the file map the variable?
pub(super) fn is_mapped(cx: &Program<'_>, key: VariableId) -> bool {
    let mut found = Clauses::default();
    for directive in &cx.constructs.directives {
        for clause in directive.clauses.iter().filter(|clause| clause.name == ClauseName::Map) {
            for item in clause.items() {
                found.take(cx.symbols(), clause, item);
            }
        }
    }
    found.mapped.contains(&key)
}

/// Does a `defaultmap` clause leave each thread its own copy of the scalars that no clause lists, or demand that all are listed?
fn keeps_scalars_apart(clause: Defaultmap) -> bool {
    match clause.category {
        Category::Aggregate | Category::Pointer | Category::Allocatable => true,
        Category::Scalar | Category::All => {
            matches!(clause.behaviour, Behaviour::None | Behaviour::Default | Behaviour::Firstprivate)
        }
    }
}

/// Is it `schedule(static)`, which gives each thread at most one chunk, of a size that is not specified?
fn is_static(cx: &Program<'_>, clause: &Clause) -> bool {
    match &clause.argument {
        ClauseArgument::Words(words) => {
            clause.modifiers.is_empty() && matches!(words.as_slice(), [kind] if cx.file.show(*kind).trim() == "static")
        }
        _ => false,
    }
}

/// Is there a bound on the threads that share the iterations of a loop, so that some of these are in one chunk whatever the
/// implementation chooses? Where it chooses the number of teams, or that of the threads in each, it may choose one for each iteration.
fn limits_threads(cx: &Program<'_>, chain: &[ConstructId], id: ConstructId) -> bool {
    let has = |name: ClauseName| chain.iter().any(|id| cx.constructs.directive(*id).clauses_of(name).next().is_some());
    let shares_of_teams = cx.constructs.construct(id).leaves.contains(&Leaf::Distribute);
    let limits_teams = has(ClauseName::NumThreads) || has(ClauseName::ThreadLimit);
    limits_teams && (has(ClauseName::NumTeams) || !shares_of_teams) || has(ClauseName::DistSchedule)
}

/// Does the clause only say how many threads a team has at most?
fn limits_team(clause: &Clause) -> bool {
    let is_number = matches!(clause.argument, ClauseArgument::Expression(_)) && clause.modifiers.is_empty();
    is_number && matches!(clause.name, ClauseName::ThreadLimit | ClauseName::NumThreads)
}

/// Does the clause mean the same with more loops?
fn goes_with_more_loops(cx: &Program<'_>, clause: &Clause) -> bool {
    let symbols = cx.symbols();
    let words = |index: usize| match &clause.argument {
        ClauseArgument::Words(words) => words.get(index).map(|span| cx.file.show(*span).trim().to_owned()),
        _ => None,
    };
    match clause.name {
        ClauseName::Map
        | ClauseName::Device
        | ClauseName::IsDevicePtr
        | ClauseName::HasDeviceAddr
        | ClauseName::Nowait
        | ClauseName::Depend
        | ClauseName::Default
        | ClauseName::Shared
        | ClauseName::Private
        | ClauseName::Firstprivate
        | ClauseName::Collapse
        | ClauseName::Order
        | ClauseName::Bind
        | ClauseName::ProcBind
        | ClauseName::NumTeams => true,
        ClauseName::Defaultmap => Defaultmap::of(cx.file, clause).is_some_and(keeps_scalars_apart),
        // A reduction with a modifier (`task`, `inscan`) or of an array section is not handled.
        ClauseName::Reduction => clause.modifiers.len() == 1 && clause.items().iter().all(|item| item.is_name),
        // `if(target: ..)` is allowed: off the device, the loop is as parallel as before.
        ClauseName::If => clause.modifiers.iter().any(|modifier| modifier.name == "target"),
        // `schedule(static, 1)` hands single iterations to the threads in turn and so does not group them.
        ClauseName::Schedule => {
            clause.modifiers.is_empty() && words(0).as_deref() == Some("static") && words(1).as_deref() == Some("1")
        }
        // With one team of one thread, the iterations would run in order.
        ClauseName::ThreadLimit | ClauseName::NumThreads if limits_team(clause) => match &clause.argument {
            ClauseArgument::Expression(span) => {
                symbols.constant(&cx.file.show(*span), span.start).is_some_and(|threads| threads > 1)
            }
            _ => false,
        },
        _ => false,
    }
}
