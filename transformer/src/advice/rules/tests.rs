//! The table: every row applies somewhere, at its bounds and not beyond, and nothing is said that contradicts itself.

use std::collections::BTreeSet;

use super::*;
use crate::advice::counters::Stall;

/// A kernel that nothing limits: busy to 70 %.
fn well() -> Values {
    let mut values: Values = [
        (Counter::Duration, 5000.0),
        (Counter::Teams, 100_000.0),
        (Counter::Threads, 128.0),
        (Counter::Multiprocessors, 132.0),
        (Counter::Waves, 40.0),
        (Counter::Registers, 32.0),
        (Counter::TeamsByMultiprocessor, 32.0),
        (Counter::TeamsByRegisters, 16.0),
        (Counter::TeamsByTeamMemory, 32.0),
        (Counter::TeamsByWarps, 16.0),
        (Counter::PossibleOccupancy, 100.0),
        (Counter::Occupancy, 95.0),
        (Counter::Compute, 50.0),
        (Counter::Memory, 70.0),
        (Counter::DeviceMemory, 70.0),
        (Counter::LoadRatio, 8.0),
        (Counter::LoadUse, 100.0),
        (Counter::StoreRatio, 8.0),
        (Counter::StoreUse, 100.0),
        (Counter::LocalLoads, 0.0),
        (Counter::LocalStores, 0.0),
        (Counter::LoadRequests, 500.0),
        (Counter::StoreRequests, 500.0),
        (Counter::IssueActive, 0.5),
        (Counter::ActiveThreads, 32.0),
    ]
    .into();
    values.extend(Stall::ALL.map(|stall| (Counter::StallPart(stall), 5.0)));
    values
}

fn limits(changes: &[(Counter, f64)]) -> Vec<Limit> {
    let mut values = well();
    values.extend(changes.iter().copied());
    advise(&values).findings.iter().map(|finding| finding.limit).collect()
}

const IDLE: [(Counter, f64); 3] = [(Counter::Compute, 20.0), (Counter::Memory, 30.0), (Counter::DeviceMemory, 30.0)];

#[test]
fn each_row_applies_at_its_bound() {
    let idle = |more: &[(Counter, f64)]| [&IDLE[..], more].concat();
    let stall = |stall: Stall| vec![(Counter::StallPart(stall), 30.0)];
    let cases: Vec<(Vec<(Counter, f64)>, Limit)> = vec![
        (vec![(Counter::Teams, 1.0)], Limit::OneTeam),
        (vec![(Counter::Teams, 131.0)], Limit::FewTeams),
        (vec![(Counter::Waves, 0.99)], Limit::LittleWork),
        (vec![(Counter::Duration, 29.9)], Limit::Launch),
        (vec![(Counter::LoadUse, 49.9)], Limit::LoadPattern),
        (vec![(Counter::LoadRatio, 17.0)], Limit::LoadPattern),
        (vec![(Counter::StoreUse, 25.0)], Limit::StorePattern),
        (vec![(Counter::StoreRatio, 32.0)], Limit::StorePattern),
        (vec![(Counter::LocalLoads, 112.0)], Limit::Spills),
        (vec![(Counter::ActiveThreads, 23.9)], Limit::Divergence),
        (vec![(Counter::DeviceMemory, 80.0), (Counter::Memory, 80.0)], Limit::DeviceMemory),
        (vec![(Counter::Memory, 80.0)], Limit::Caches),
        (vec![(Counter::Compute, 80.0)], Limit::Compute),
        (stall(Stall::Arithmetic), Limit::Compute),
        (
            idle(&[(Counter::PossibleOccupancy, 59.9), (Counter::Occupancy, 55.0), (Counter::TeamsByRegisters, 8.0)]),
            Limit::Registers,
        ),
        (
            idle(&[(Counter::PossibleOccupancy, 25.0), (Counter::Occupancy, 20.0), (Counter::TeamsByTeamMemory, 4.0)]),
            Limit::TeamMemory,
        ),
        (
            idle(&[
                (Counter::PossibleOccupancy, 50.0),
                (Counter::Occupancy, 45.0),
                (Counter::TeamsByMultiprocessor, 8.0),
            ]),
            Limit::SmallTeams,
        ),
        (idle(&[(Counter::PossibleOccupancy, 50.0), (Counter::Occupancy, 45.0)]), Limit::UnevenTeams),
        (idle(&[(Counter::Occupancy, 80.0)]), Limit::Imbalance),
        (stall(Stall::LongScoreboard), Limit::MemoryLatency),
        (stall(Stall::Barrier), Limit::Barriers),
        (stall(Stall::MemoryQueue), Limit::MemoryInstructions),
        (stall(Stall::TeamMemoryQueue), Limit::TeamMemoryQueue),
        (stall(Stall::ShortScoreboard), Limit::TeamMemoryQueue),
        (stall(Stall::Dependence), Limit::Dependence),
        (stall(Stall::Fetch), Limit::Fetch),
        (idle(&[]), Limit::Latency),
    ];
    for (changes, limit) in &cases {
        assert_eq!(limits(changes), [*limit], "{changes:?}");
    }
    let rows: BTreeSet<Limit> = TABLE.iter().map(|rule| rule.limit).collect();
    assert_eq!(rows, cases.iter().map(|(_, limit)| *limit).collect(), "a row that no case reaches");
    assert_eq!(cases.len(), TABLE.len());
}

#[test]
fn beside_their_bounds_rows_do_not_apply() {
    assert_eq!(advise(&well()), Advice::default());
    for changes in [
        vec![(Counter::Teams, 132.0)],
        vec![(Counter::Waves, 1.0)],
        vec![(Counter::Duration, 30.0)],
        vec![(Counter::LoadUse, 50.0), (Counter::LoadRatio, 16.0)],
        // Where arithmetic is busier than memory, its pattern is not what limits.
        vec![(Counter::LoadUse, 10.0), (Counter::Compute, 75.0)],
        vec![(Counter::LocalLoads, 110.0)],
        vec![(Counter::ActiveThreads, 24.0)],
        vec![(Counter::Compute, 79.9), (Counter::Memory, 79.9), (Counter::DeviceMemory, 79.9)],
        // Few warps suffice where a unit is busy.
        vec![(Counter::PossibleOccupancy, 25.0), (Counter::Occupancy, 20.0)],
        vec![(Counter::StallPart(Stall::LongScoreboard), 90.0), (Counter::IssueActive, 0.8)],
        vec![(Counter::StallPart(Stall::Barrier), 29.9)],
    ] {
        assert_eq!(limits(&changes), [], "{changes:?}");
    }
}

#[test]
fn what_is_not_counted_is_named() {
    let few: Values = [(Counter::DeviceMemory, 91.0), (Counter::Teams, 500.0)].into();
    let advice = advise(&few);
    assert_eq!(advice.findings.iter().map(|finding| finding.limit).collect::<Vec<_>>(), [Limit::DeviceMemory]);
    assert_eq!(advice.findings[0].evidence, ["device memory busy to 91.0 % (at least 80)"]);
    assert!(advice.missing.contains(&Counter::Waves) && advice.missing.contains(&Counter::IssueActive), "{advice:?}");
    // What was counted is not missing, and a row that a known counter rules out needs no other one.
    let few = [Counter::DeviceMemory, Counter::Teams, Counter::StallPart(Stall::LongScoreboard)];
    assert!(!advice.missing.iter().any(|counter| few.contains(counter)), "{advice:?}");
    assert!(advise(&Values::new()).findings.is_empty());
}

#[test]
fn advice_does_not_contradict_itself() {
    let changes =
        [&IDLE[..], &[(Counter::ActiveThreads, 8.0), (Counter::StallPart(Stall::LongScoreboard), 60.0)]].concat();
    let mut values = well();
    values.extend(changes);
    let advice = advise(&values);
    let all: Vec<Try> = advice.findings.iter().flat_map(|finding| finding.tries.clone()).collect();
    assert_eq!(all, [Try::SmallerTeams, Try::CoarsenLess, Try::Balance, Try::Stage]);
    assert_eq!(
        advice.findings.iter().map(|one| one.limit).collect::<Vec<_>>(),
        [Limit::Divergence, Limit::MemoryLatency]
    );
    // A warp cannot be made smaller, and a team of 1,024 threads not larger.
    values.insert(Counter::Threads, 32.0);
    assert_eq!(advise(&values).findings[0].tries, [Try::CoarsenLess, Try::Balance]);
    values.extend([(Counter::Threads, 1024.0), (Counter::ActiveThreads, 32.0)]);
    assert_eq!(advise(&values).findings[0].tries, [Try::Coarsen, Try::Stage]);
}

#[test]
fn two_signs_of_one_limit_are_one_finding() {
    let mut values = well();
    values.extend([(Counter::LoadUse, 12.5), (Counter::LoadRatio, 32.0)]);
    let advice = advise(&values);
    assert_eq!(advice.findings.len(), 1);
    let finding = &advice.findings[0];
    assert_eq!((finding.evidence.len(), finding.sources.len()), (4, 2), "{finding:?}");
}
