//! On which leaf constructs of a combined or composite construct a clause takes effect (5.2, section 17.2).

use super::{ClauseId, Leaf};

/// How a clause is handed out to the leaf constructs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// To every leaf that permits it; there is one such leaf for most clauses.
    EveryPermitting,
    /// To the innermost leaf that permits it: `private`.
    Innermost,
    /// To the outermost leaf that permits it: `nowait`.
    Outermost,
    /// To `distribute`, else `teams`; and to the worksharing construct, else `taskloop`, else `parallel`; and to `target` for
    /// an item that appears in neither `map` nor `lastprivate`.
    Firstprivate,
    /// To every leaf that permits it, but not to `parallel` with a loop, `sections` or `taskloop` in it, nor to `teams`
    /// with `loop` in it: there its items are shared.
    Reduction,
    /// To the innermost leaf. Outer leaves treat its items as `lastprivate`, and as `firstprivate` as well unless the
    /// item is the iteration variable of a construct with `simd` in it.
    Linear,
    /// To every leaf that permits it and on which the same item gets a private copy: which those are depends on the item's
    /// other clauses, so that this is an upper bound.
    Allocate,
}

/// The leaves of a construct on which a clause takes effect, outermost first.
///
/// `modifier` is the directive-name modifier (`if(target: e)`), which names the leaf itself. The rule for `firstprivate`
/// counts `target` among its leaves; whether it applies there depends on the item (see [`Rule::Firstprivate`]).
#[must_use]
pub fn landing(clause: ClauseId, modifier: Option<&[Leaf]>, leaves: &[Leaf]) -> Vec<Leaf> {
    let permits = |leaf: &Leaf| leaf.spec().is_some_and(|spec| spec.clauses.contains(&clause));
    let named = |leaf: &Leaf| modifier.is_none_or(|names| names.contains(leaf));
    let permitting: Vec<Leaf> = leaves.iter().copied().filter(permits).filter(named).collect();
    match clause.spec().rule {
        Rule::EveryPermitting | Rule::Allocate => permitting,
        Rule::Innermost | Rule::Linear => permitting.last().copied().into_iter().collect(),
        Rule::Outermost => permitting.first().copied().into_iter().collect(),
        Rule::Firstprivate => permitting.iter().copied().filter(|leaf| takes_firstprivate(*leaf, leaves)).collect(),
        Rule::Reduction => permitting.iter().copied().filter(|leaf| takes_reduction(*leaf, leaves)).collect(),
    }
}

/// The leaves on which a clause's items are shared because its effect itself lies further in or out (5.2, section 17.2):
/// `parallel` and `teams` for `firstprivate`, `lastprivate`, `linear` and `reduction`.
#[must_use]
pub fn shared_on(clause: ClauseId, leaves: &[Leaf]) -> Vec<Leaf> {
    let rule = clause.spec().rule;
    let applies =
        matches!(rule, Rule::Firstprivate | Rule::Reduction | Rule::Linear) || clause == ClauseId::Lastprivate;
    let lands = landing(clause, None, leaves);
    let between = |leaf: &&Leaf| matches!(leaf, Leaf::Teams | Leaf::Parallel) && !lands.contains(leaf);
    if !applies || lands.is_empty() {
        return Vec::new();
    }
    leaves.iter().filter(between).copied().collect()
}

fn takes_firstprivate(leaf: Leaf, leaves: &[Leaf]) -> bool {
    let has = |other| leaves.contains(&other);
    match leaf {
        Leaf::Teams => !has(Leaf::Distribute),
        Leaf::Parallel => !has(Leaf::For) && !has(Leaf::Sections) && !has(Leaf::Taskloop),
        _ => true,
    }
}

fn takes_reduction(leaf: Leaf, leaves: &[Leaf]) -> bool {
    let has = |other| leaves.contains(&other);
    match leaf {
        Leaf::Parallel => !has(Leaf::For) && !has(Leaf::Sections) && !has(Leaf::Loop) && !has(Leaf::Taskloop),
        Leaf::Teams => !has(Leaf::Loop),
        _ => true,
    }
}

/// Two clauses that exclude each other.
#[derive(Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// One of them.
    pub one: ClauseId,
    /// The other.
    pub other: ClauseId,
    /// Do they exclude each other only for the same list item?
    pub same_item: bool,
    /// The leaf construct on which they do; any where there is none.
    pub on: Option<Leaf>,
    /// The section of OpenMP 5.2 that says so.
    pub section: &'static str,
}

const fn items(one: ClauseId, other: ClauseId, on: Option<Leaf>, section: &'static str) -> Exclusion {
    Exclusion { one, other, same_item: true, on, section }
}

const fn clauses(one: ClauseId, other: ClauseId, section: &'static str) -> Exclusion {
    Exclusion { one, other, same_item: false, on: None, section }
}

/// What may not stand together on one leaf construct once a combined construct is taken apart. Data-sharing clauses exclude
/// each other for the same item, `firstprivate` with `lastprivate` excepted (5.4).
pub static EXCLUSIONS: &[Exclusion] = {
    use ClauseId::*;
    &[
        items(Private, Firstprivate, None, "5.4"),
        items(Private, Lastprivate, None, "5.4"),
        items(Private, Linear, None, "5.4"),
        items(Private, Reduction, None, "5.4"),
        items(Private, InReduction, None, "5.4"),
        items(Private, Shared, None, "5.4"),
        items(Firstprivate, Linear, None, "5.4"),
        items(Firstprivate, Reduction, None, "5.4"),
        items(Firstprivate, InReduction, None, "5.4"),
        items(Firstprivate, Shared, None, "5.4"),
        items(Lastprivate, Linear, None, "5.4"),
        items(Lastprivate, Reduction, None, "5.4"),
        items(Lastprivate, InReduction, None, "5.4"),
        items(Lastprivate, Shared, None, "5.4"),
        items(Linear, Reduction, None, "5.4"),
        items(Reduction, Shared, None, "5.4"),
        items(Reduction, InReduction, None, "5.4"),
        items(Shared, InReduction, None, "5.4"),
        items(Firstprivate, Lastprivate, Some(Leaf::Distribute), "11.6"),
        items(Map, Private, Some(Leaf::Target), "5.8.3"),
        items(Map, Firstprivate, Some(Leaf::Target), "5.8.3"),
        items(Map, IsDevicePtr, Some(Leaf::Target), "5.8.3"),
        items(Map, HasDeviceAddr, Some(Leaf::Target), "5.8.3"),
        items(Private, IsDevicePtr, Some(Leaf::Target), "5.4"),
        items(Private, HasDeviceAddr, Some(Leaf::Target), "5.4"),
        items(Firstprivate, IsDevicePtr, Some(Leaf::Target), "5.4"),
        items(Firstprivate, HasDeviceAddr, Some(Leaf::Target), "5.4"),
        items(IsDevicePtr, HasDeviceAddr, Some(Leaf::Target), "5.4"),
        items(UseDevicePtr, UseDeviceAddr, None, "5.4"),
        items(To, From, None, "13.9"),
        clauses(Grainsize, NumTasks, "12.6"),
        clauses(Nogroup, Reduction, "12.6"),
        clauses(Mergeable, Detach, "12.5"),
        clauses(Inbranch, Notinbranch, "7.7"),
        clauses(Full, Partial, "9.2"),
        clauses(Order, Ordered, "10.3"),
        clauses(Linear, Order, "10.3"),
        clauses(Inclusive, Exclusive, "5.6"),
        clauses(Threads, Doacross, "15.10.2"),
        clauses(Read, Write, "15.8.2"),
        clauses(Read, Update, "15.8.2"),
        clauses(Write, Update, "15.8.2"),
        clauses(Copyprivate, Nowait, "5.7.2"),
    ]
};

/// The rule, if there is one, against two clauses on one construct: for the same item where it says so, and only if both
/// land on the leaf that it names (or on any common leaf).
#[must_use]
pub fn exclusion(one: ClauseId, other: ClauseId, leaves: &[Leaf]) -> Option<&'static Exclusion> {
    EXCLUSIONS.iter().find(|row| {
        let pair = (row.one == one && row.other == other) || (row.one == other && row.other == one);
        pair && (!row.same_item || meet(row, leaves))
    })
}

/// Do both clauses of a row land on one leaf where it holds? An item in `map` keeps `firstprivate` off `target` wherever
/// another leaf takes it.
fn meet(row: &Exclusion, leaves: &[Leaf]) -> bool {
    if leaves.iter().all(|leaf| *leaf == Leaf::Other) {
        return row.on.is_none();
    }
    let one = landing(row.one, None, leaves);
    let other = landing(row.other, None, leaves);
    let combined = leaves.len() > 1;
    one.iter().any(|leaf| {
        let here = other.contains(leaf) && row.on.is_none_or(|on| on == *leaf);
        here && !(combined && *leaf == Leaf::Target && row.one == ClauseId::Map)
    })
}
