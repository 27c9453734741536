//! What the table asks about: counters, and what follows from several.

use std::collections::BTreeMap;

use super::counters::{Counter, Stall};

/// The counters of a kernel.
pub type Values = BTreeMap<Counter, f64>;

/// The bytes of a sector: what the caches and the device's memory exchange at least.
const SECTOR: f64 = 32.0;

/// What bounds the teams on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Its number of teams.
    Teams,
    /// Its registers.
    Registers,
    /// Its shared memory.
    TeamMemory,
    /// Its warps.
    Warps,
}

/// A quantity that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A counter.
    Of(Counter),
    /// The busier one of arithmetic and memory, in percent.
    Busiest,
    /// The part of a sector's bytes that loads use, in percent.
    LoadUse,
    /// The same of stores.
    StoreUse,
    /// Sectors that a load of a warp touches.
    LoadSectors,
    /// The same of stores.
    StoreSectors,
    /// Accesses to local memory, in percent of those to all.
    Local,
    /// How far the occupancy lies below what is possible, in percent of a multiprocessor's warps.
    OccupancyGap,
    /// The part of the time between two instructions of a warp that a stall takes, in percent.
    Stalled(Stall),
}

impl Quantity {
    /// Its value; `None` where counters are missing.
    #[must_use]
    pub fn value(self, values: &Values) -> Option<f64> {
        let of = |counter| values.get(&counter).copied();
        let ratio = |counter, above, below| {
            of(counter).or_else(|| {
                of(above).zip(of(below)).filter(|(_, below)| *below > 0.0).map(|(above, below)| above / below)
            })
        };
        let part = |percent, bytes| of(percent).or_else(|| of(bytes).map(|bytes| 100.0 * bytes / SECTOR));
        match self {
            Self::Of(counter) => of(counter),
            Self::Busiest => of(Counter::Compute).zip(of(Counter::Memory)).map(|(one, other)| one.max(other)),
            Self::LoadUse => part(Counter::LoadUse, Counter::LoadBytes),
            Self::StoreUse => part(Counter::StoreUse, Counter::StoreBytes),
            Self::LoadSectors => ratio(Counter::LoadRatio, Counter::LoadSectors, Counter::LoadRequests),
            Self::StoreSectors => ratio(Counter::StoreRatio, Counter::StoreSectors, Counter::StoreRequests),
            Self::Local => {
                let sum = |one, other| of(one).zip(of(other)).map(|(one, other)| one + other);
                let local = sum(Counter::LocalLoads, Counter::LocalStores)?;
                let all = local + sum(Counter::LoadRequests, Counter::StoreRequests)?;
                (all > 0.0).then(|| 100.0 * local / all)
            }
            Self::OccupancyGap => {
                of(Counter::PossibleOccupancy).zip(of(Counter::Occupancy)).map(|(one, other)| one - other)
            }
            Self::Stalled(stall) => of(Counter::StallPart(stall)).or_else(|| {
                let cycles = of(Counter::StallCycles(stall))?;
                of(Counter::CyclesPerIssue).filter(|all| *all > 0.0).map(|all| 100.0 * cycles / all)
            }),
        }
    }

    /// The counters that tell it.
    #[must_use]
    pub fn counters(self) -> Vec<Counter> {
        match self {
            Self::Of(counter) => vec![counter],
            Self::Busiest => vec![Counter::Compute, Counter::Memory],
            Self::LoadUse => vec![Counter::LoadUse],
            Self::StoreUse => vec![Counter::StoreUse],
            Self::LoadSectors => vec![Counter::LoadRatio],
            Self::StoreSectors => vec![Counter::StoreRatio],
            Self::Local => {
                vec![Counter::LocalLoads, Counter::LocalStores, Counter::LoadRequests, Counter::StoreRequests]
            }
            Self::OccupancyGap => vec![Counter::PossibleOccupancy, Counter::Occupancy],
            Self::Stalled(stall) => vec![Counter::StallPart(stall)],
        }
    }

    /// It and a value in words.
    #[must_use]
    pub fn words(self, value: f64) -> String {
        let percent = |what: &str| format!("{what} {value:.1} %");
        let count = |what: &str| format!("{} {what}", rounded(value));
        match self {
            Self::Of(Counter::Duration) => format!("a launch takes {value:.1} us"),
            Self::Of(Counter::Teams) if value < 2.0 => "1 team".to_owned(),
            Self::Of(Counter::Teams) => count("teams"),
            Self::Of(Counter::Threads) => count("threads in a team"),
            Self::Of(Counter::Multiprocessors) => count("multiprocessors"),
            Self::Of(Counter::Waves) => format!("the teams fill the device {value:.2} times"),
            Self::Of(Counter::Registers) => count("registers in a thread"),
            Self::Of(Counter::PossibleOccupancy) => percent("possible occupancy"),
            Self::Of(Counter::Occupancy) => percent("occupancy"),
            Self::Of(Counter::Compute) => percent("multiprocessors busy to"),
            Self::Of(Counter::Memory) => percent("memory system busy to"),
            Self::Of(Counter::DeviceMemory) => percent("device memory busy to"),
            Self::Of(Counter::DeviceMemoryRate) => format!("device memory at {:.1} GB/s", value / 1e9),
            Self::Of(Counter::FirstCacheHits) => percent("hits in the first cache"),
            Self::Of(Counter::IssueActive) => format!("{value:.2} instructions issued in a cycle"),
            Self::Of(Counter::ActiveThreads) => format!("{value:.1} of 32 threads of a warp active"),
            Self::Of(counter) => format!("{} {}", counter.metric(), rounded(value)),
            Self::Busiest => percent("arithmetic and memory busy to at most"),
            Self::LoadUse => percent("bytes used of the sectors that loads touch:"),
            Self::StoreUse => percent("bytes used of the sectors that stores touch:"),
            Self::LoadSectors => format!("{value:.1} sectors touched by a load of a warp"),
            Self::StoreSectors => format!("{value:.1} sectors touched by a store of a warp"),
            Self::Local => percent("local memory in accesses:"),
            Self::OccupancyGap => percent("occupancy below what is possible by"),
            Self::Stalled(stall) => percent(&format!("cycles of a warp in the stall `{}`:", stall.name())),
        }
    }
}

/// A number of things, which may be a mean.
fn rounded(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

impl Resource {
    const ALL: [Self; 4] = [Self::Teams, Self::Registers, Self::TeamMemory, Self::Warps];

    fn counter(self) -> Counter {
        match self {
            Self::Teams => Counter::TeamsByMultiprocessor,
            Self::Registers => Counter::TeamsByRegisters,
            Self::TeamMemory => Counter::TeamsByTeamMemory,
            Self::Warps => Counter::TeamsByWarps,
        }
    }

    /// The counters that tell which resource bounds the teams.
    #[must_use]
    pub fn counters() -> Vec<Counter> {
        Self::ALL.iter().map(|one| one.counter()).collect()
    }

    /// How many teams it suffices for, if no other resource suffices for as few: for fewer, or as few where it comes behind this one here.
    /// `None` where counters are missing.
    #[must_use]
    pub fn is_least(self, values: &Values) -> Option<Option<f64>> {
        let all: Option<Vec<(Self, f64)>> =
            Self::ALL.iter().map(|one| Some((*one, *values.get(&one.counter())?))).collect();
        let least = all?.into_iter().rev().min_by(|one, other| one.1.total_cmp(&other.1))?;
        Some((least.0 == self).then_some(least.1))
    }

    /// The number of teams that it suffices for, in words.
    #[must_use]
    pub fn words(self, teams: f64) -> String {
        let what = match self {
            Self::Teams => return format!("a multiprocessor takes no more than {} teams", rounded(teams)),
            Self::Registers => "registers",
            Self::TeamMemory => "shared memory",
            Self::Warps => "warps",
        };
        format!("the {what} of a multiprocessor suffice for {} teams", rounded(teams))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_follow_from_counters() {
        let value = |quantity: Quantity, values: &[(Counter, f64)]| quantity.value(&values.iter().copied().collect());
        let requests = [(Counter::LoadSectors, 800.0), (Counter::LoadRequests, 100.0)];
        assert_eq!(value(Quantity::LoadSectors, &requests), Some(8.0));
        assert_eq!(value(Quantity::LoadSectors, &[(Counter::LoadSectors, 8.0), (Counter::LoadRequests, 0.0)]), None);
        assert_eq!(value(Quantity::LoadUse, &[(Counter::LoadBytes, 8.0)]), Some(25.0));
        assert_eq!(value(Quantity::Busiest, &[(Counter::Compute, 30.0)]), None);
        let stall = [(Counter::StallCycles(Stall::Barrier), 6.0), (Counter::CyclesPerIssue, 12.0)];
        assert_eq!(value(Quantity::Stalled(Stall::Barrier), &stall), Some(50.0));
        assert_eq!(value(Quantity::Stalled(Stall::Barrier), &stall[..1]), None);
        let local = [
            (Counter::LocalLoads, 5.0),
            (Counter::LocalStores, 5.0),
            (Counter::LoadRequests, 60.0),
            (Counter::StoreRequests, 30.0),
        ];
        assert_eq!(value(Quantity::Local, &local), Some(10.0));
    }

    #[test]
    fn the_least_resource_bounds_the_teams() {
        let values: Values = [
            (Counter::TeamsByMultiprocessor, 32.0),
            (Counter::TeamsByRegisters, 4.0),
            (Counter::TeamsByTeamMemory, 32.0),
            (Counter::TeamsByWarps, 4.0),
        ]
        .into();
        let least: Vec<_> = Resource::ALL.iter().map(|one| one.is_least(&values)).collect();
        assert_eq!(
            least,
            [Some(None), Some(None), Some(None), Some(Some(4.0))],
            "warps are never fewer: that is no loss"
        );
        assert_eq!(Resource::Teams.is_least(&Values::new()), None);
    }
}
