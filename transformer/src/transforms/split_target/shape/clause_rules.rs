//! Where each clause goes when the leaves of several directives become one combined construct: a table.

use crate::syntax::ClauseName;

/// What becomes of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// On the `target data` construct and on each kernel that uses its items, there without `always` and `present`.
    DataAndKernels,
    /// The host evaluates its expression; it is written on the data construct and on each kernel.
    HostExpression,
    /// As written, on each kernel; its expressions must have the same value on the host.
    Kernel,
    /// On each kernel, with the items that the kernel uses and its loop does not make private.
    UsedItems,
    /// As written if the region is one loop. On a task around the kernels if one team has several loops.
    OnTask,
    /// It may serialise or group iterations. In a league it is treated as [`Rule::Kernel`]. If one team becomes many,
    /// the iterations must be proved to be independent, and the clause is removed from a loop.
    Groups,
    /// Removed: the combined construct does not need it.
    Dropped,
    /// Handled by name: see [`super::clauses`].
    ByName,
    /// There is no safe rule.
    Refused,
}

/// A row: a clause on the region's directives (`target`, `teams`), and on a loop's (`distribute`, `parallel`, `for`,
/// `simd`, `loop`).
#[derive(Clone, Copy, Debug)]
pub(super) struct ClauseRule {
    pub clause: ClauseName,
    pub on_region: Rule,
    pub on_loop: Rule,
}

const fn row(clause: ClauseName, on_region: Rule, on_loop: Rule) -> ClauseRule {
    ClauseRule { clause, on_region, on_loop }
}

/// Every clause that has a rule. All other clauses are refused.
pub(super) const CLAUSE_RULES: &[ClauseRule] = &[
    row(ClauseName::Map, Rule::DataAndKernels, Rule::Refused),
    row(ClauseName::Device, Rule::HostExpression, Rule::Refused),
    row(ClauseName::If, Rule::HostExpression, Rule::ByName),
    row(ClauseName::IsDevicePtr, Rule::UsedItems, Rule::Refused),
    row(ClauseName::HasDeviceAddr, Rule::UsedItems, Rule::Refused),
    row(ClauseName::Defaultmap, Rule::ByName, Rule::Refused),
    row(ClauseName::Nowait, Rule::OnTask, Rule::Dropped),
    row(ClauseName::Depend, Rule::OnTask, Rule::Refused),
    row(ClauseName::NumTeams, Rule::Kernel, Rule::Refused),
    row(ClauseName::ThreadLimit, Rule::Groups, Rule::Refused),
    row(ClauseName::Default, Rule::ByName, Rule::ByName),
    row(ClauseName::Shared, Rule::UsedItems, Rule::UsedItems),
    row(ClauseName::Private, Rule::ByName, Rule::ByName),
    row(ClauseName::Firstprivate, Rule::UsedItems, Rule::ByName),
    row(ClauseName::Reduction, Rule::ByName, Rule::ByName),
    row(ClauseName::Lastprivate, Rule::Refused, Rule::Refused),
    row(ClauseName::Linear, Rule::Refused, Rule::ByName),
    row(ClauseName::Collapse, Rule::Refused, Rule::Kernel),
    row(ClauseName::Schedule, Rule::Refused, Rule::ByName),
    row(ClauseName::DistSchedule, Rule::Refused, Rule::Kernel),
    row(ClauseName::Order, Rule::Refused, Rule::Kernel),
    row(ClauseName::Bind, Rule::Refused, Rule::ByName),
    row(ClauseName::Safelen, Rule::Refused, Rule::Kernel),
    row(ClauseName::Simdlen, Rule::Refused, Rule::Kernel),
    row(ClauseName::Aligned, Rule::Refused, Rule::Kernel),
    row(ClauseName::Nontemporal, Rule::Refused, Rule::Kernel),
    row(ClauseName::ProcBind, Rule::Refused, Rule::Kernel),
    row(ClauseName::NumThreads, Rule::Refused, Rule::Groups),
    row(ClauseName::Ordered, Rule::Refused, Rule::Refused),
    row(ClauseName::InReduction, Rule::Refused, Rule::Refused),
    row(ClauseName::Allocate, Rule::Refused, Rule::Refused),
    row(ClauseName::UsesAllocators, Rule::Refused, Rule::Refused),
];

/// What becomes of a clause on the region's directives (`on_loop` false) or on a loop's.
pub(super) fn rule_for(clause: ClauseName, on_loop: bool) -> Rule {
    CLAUSE_RULES
        .iter()
        .find(|row| row.clause == clause)
        .map_or(Rule::Refused, |row| if on_loop { row.on_loop } else { row.on_region })
}

/// Does a clause of a combined `target parallel for` belong to its `target` leaf?
pub(super) fn belongs_to_target(clause: ClauseName) -> bool {
    matches!(
        clause,
        ClauseName::Map
            | ClauseName::Device
            | ClauseName::IsDevicePtr
            | ClauseName::HasDeviceAddr
            | ClauseName::Defaultmap
            | ClauseName::Nowait
            | ClauseName::Depend
            | ClauseName::ThreadLimit
            | ClauseName::InReduction
            | ClauseName::UsesAllocators
    )
}
