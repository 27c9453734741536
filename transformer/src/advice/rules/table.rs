//! The rows.

use super::Question::{AtLeast, Below, Bounds, Fewer, NotFewer};
use super::{BUSY, Limit, Rule, Try};
use crate::advice::counters::{Counter, Stall};
use crate::advice::quantities::{Quantity, Resource};
use crate::device::time::LAUNCH;

/// What a row says whose bound is a choice of this tool.
pub const OWN: &str = "a bound of this tool's own";

const LAUNCHES: &str = "Nsight Compute, rule of the section Launch Statistics: a team for each multiprocessor at least";
const PEAK: &str = "Nsight Compute, rule of the section GPU Speed Of Light: below 60 % of peak is latency, above 80 % a unit is used up";
const PATTERN: &str = "Connors 2017, figures 6 and 7: memory divergence decides first; half of a sector's bytes is a bound of this tool's own";
const SECTORS: &str = "32 threads that access 16 bytes each, side by side, touch 16 sectors of 32 bytes";
const DIVERGENCE: &str = "Connors 2017, section X.A.2: smaller blocks wait less for divergent warps; Magni 2015, sections 5.6.1 and 5.7.2: coarsening \
                          copies divergent regions; three quarters of a warp is a bound of this tool's own";
const OCCUPANCY: &str =
    "Nsight Compute, rule of the section Occupancy, which tells the resource; 60 % is a bound of this tool's own";
const STALLS: &str = "Nsight Compute, rules of the section Warp State Statistics: a stall of 30 % and more where fewer than 0.8 instructions are issued in a cycle";

/// Half of the bytes that are moved are used.
const HALF: f64 = 50.0;
/// The sectors of 32 accesses of 16 bytes, the widest there are.
const WIDEST: f64 = 16.0;
/// A unit that is used up.
const PEAKED: f64 = 80.0;
/// A stall that counts.
const STALLED: f64 = 30.0;
/// Below so many instructions in a cycle a scheduler waits.
const ISSUING: f64 = 0.8;

const COMPUTE: Quantity = Quantity::Of(Counter::Compute);
const MEMORY: Quantity = Quantity::Of(Counter::Memory);
const DEVICE_MEMORY: Quantity = Quantity::Of(Counter::DeviceMemory);
const TEAMS: Quantity = Quantity::Of(Counter::Teams);
const MULTIPROCESSORS: Quantity = Quantity::Of(Counter::Multiprocessors);
const POSSIBLE: Quantity = Quantity::Of(Counter::PossibleOccupancy);
const OCCUPIED: Quantity = Quantity::Of(Counter::Occupancy);
const THREADS: Quantity = Quantity::Of(Counter::Threads);
const REGISTERS: Quantity = Quantity::Of(Counter::Registers);
const ISSUE: super::Question = Below(Quantity::Of(Counter::IssueActive), ISSUING);

/// The rows, from the most direct cause to what is left.
pub const TABLE: &[Rule] = &[
    Rule {
        limit: Limit::OneTeam,
        questions: &[Below(TEAMS, 2.0)],
        also: &[MULTIPROCESSORS],
        tries: &[Try::Split, Try::Collapse],
        source: LAUNCHES,
    },
    Rule {
        limit: Limit::FewTeams,
        questions: &[AtLeast(TEAMS, 2.0), Fewer(TEAMS, MULTIPROCESSORS)],
        also: &[THREADS],
        tries: &[Try::SmallerTeams, Try::Collapse, Try::CoarsenLess],
        source: LAUNCHES,
    },
    Rule {
        limit: Limit::LittleWork,
        questions: &[AtLeast(TEAMS, 2.0), Below(Quantity::Of(Counter::Waves), 1.0)],
        also: &[TEAMS, THREADS],
        tries: &[Try::Collapse, Try::Fuse, Try::CoarsenLess],
        source: "Nsight Compute, rule of the section GPU Speed Of Light: a grid of less than a full wave",
    },
    Rule {
        limit: Limit::Launch,
        questions: &[Below(Quantity::Of(Counter::Duration), LAUNCH)],
        also: &[],
        tries: &[Try::Fuse],
        source: "this tool's cost model: a launch counts as 30 us",
    },
    Rule {
        limit: Limit::LoadPattern,
        questions: &[Below(Quantity::LoadUse, HALF), NotFewer(MEMORY, COMPUTE)],
        also: &[],
        tries: &[Try::AccessOrder, Try::Stage],
        source: PATTERN,
    },
    Rule {
        limit: Limit::LoadPattern,
        questions: &[AtLeast(Quantity::LoadSectors, WIDEST + 1.0), NotFewer(MEMORY, COMPUTE)],
        also: &[],
        tries: &[Try::AccessOrder, Try::Stage],
        source: SECTORS,
    },
    Rule {
        limit: Limit::StorePattern,
        questions: &[Below(Quantity::StoreUse, HALF), NotFewer(MEMORY, COMPUTE)],
        also: &[],
        tries: &[Try::AccessOrder],
        source: PATTERN,
    },
    Rule {
        limit: Limit::StorePattern,
        questions: &[AtLeast(Quantity::StoreSectors, WIDEST + 1.0), NotFewer(MEMORY, COMPUTE)],
        also: &[],
        tries: &[Try::AccessOrder],
        source: SECTORS,
    },
    Rule {
        limit: Limit::Spills,
        questions: &[AtLeast(Quantity::Local, 10.0)],
        also: &[REGISTERS, THREADS],
        tries: &[Try::CoarsenLess, Try::SmallerTeams],
        source: OWN,
    },
    Rule {
        limit: Limit::Divergence,
        questions: &[Below(Quantity::Of(Counter::ActiveThreads), 24.0)],
        also: &[],
        tries: &[Try::SmallerTeams, Try::CoarsenLess, Try::Balance],
        source: DIVERGENCE,
    },
    Rule {
        limit: Limit::DeviceMemory,
        questions: &[AtLeast(DEVICE_MEMORY, PEAKED)],
        also: &[Quantity::Of(Counter::DeviceMemoryRate)],
        tries: &[Try::Fuse, Try::Stage, Try::Tune],
        source: PEAK,
    },
    Rule {
        limit: Limit::Caches,
        questions: &[AtLeast(MEMORY, PEAKED), Below(DEVICE_MEMORY, PEAKED), NotFewer(MEMORY, COMPUTE)],
        also: &[Quantity::Of(Counter::FirstCacheHits)],
        tries: &[Try::Coarsen, Try::AccessOrder, Try::Stage],
        source: "Nsight Compute, rule of the section GPU Speed Of Light (80 %); Magni 2015, sections 5.6.1 and 5.7.1: coarsening drops loads that \
                 iterations share",
    },
    Rule {
        limit: Limit::Compute,
        questions: &[AtLeast(COMPUTE, PEAKED), NotFewer(COMPUTE, MEMORY)],
        also: &[],
        tries: &[Try::Coarsen, Try::Unroll],
        source: "Nsight Compute, rule of the section GPU Speed Of Light (80 %); Magni 2015, section 5.7.2: coarsening executes fewer branches",
    },
    Rule {
        limit: Limit::Compute,
        questions: &[AtLeast(Quantity::Stalled(Stall::Arithmetic), STALLED), ISSUE],
        also: &[],
        tries: &[Try::Coarsen, Try::Unroll],
        source: STALLS,
    },
    Rule {
        limit: Limit::Registers,
        questions: &[Below(POSSIBLE, BUSY), Bounds(Resource::Registers), Below(Quantity::Busiest, BUSY)],
        also: &[REGISTERS, THREADS],
        tries: &[Try::CoarsenLess, Try::Tune],
        source: OCCUPANCY,
    },
    Rule {
        limit: Limit::TeamMemory,
        questions: &[Below(POSSIBLE, BUSY), Bounds(Resource::TeamMemory), Below(Quantity::Busiest, BUSY)],
        also: &[THREADS],
        tries: &[Try::LargerTeams, Try::Tune],
        source: OCCUPANCY,
    },
    Rule {
        limit: Limit::SmallTeams,
        questions: &[Below(POSSIBLE, BUSY), Bounds(Resource::Teams), Below(Quantity::Busiest, BUSY)],
        also: &[THREADS],
        tries: &[Try::LargerTeams],
        source: OCCUPANCY,
    },
    Rule {
        limit: Limit::UnevenTeams,
        questions: &[Below(POSSIBLE, BUSY), Bounds(Resource::Warps), Below(Quantity::Busiest, BUSY)],
        also: &[THREADS],
        tries: &[Try::SmallerTeams, Try::Tune],
        source: OCCUPANCY,
    },
    Rule {
        limit: Limit::Imbalance,
        questions: &[
            AtLeast(Quantity::OccupancyGap, 20.0),
            Below(Quantity::Busiest, BUSY),
            AtLeast(Quantity::Of(Counter::Waves), 1.0),
        ],
        also: &[OCCUPIED, POSSIBLE],
        tries: &[Try::SmallerTeams, Try::Balance],
        source: "Nsight Compute, rule of the section Occupancy: achieved below theoretical is imbalance; 20 % is a bound of this tool's own",
    },
    Rule {
        limit: Limit::MemoryLatency,
        questions: &[AtLeast(Quantity::Stalled(Stall::LongScoreboard), STALLED), ISSUE, Below(DEVICE_MEMORY, PEAKED)],
        also: &[OCCUPIED, Quantity::Of(Counter::FirstCacheHits)],
        tries: &[Try::Coarsen, Try::Stage, Try::LargerTeams],
        source: STALLS,
    },
    Rule {
        limit: Limit::Barriers,
        questions: &[AtLeast(Quantity::Stalled(Stall::Barrier), STALLED), ISSUE],
        also: &[THREADS],
        tries: &[Try::SmallerTeams, Try::Balance],
        source: "Nsight Compute, rule of the section Warp State Statistics: from 512 threads on, smaller groups",
    },
    Rule {
        limit: Limit::MemoryInstructions,
        questions: &[AtLeast(Quantity::Stalled(Stall::MemoryQueue), STALLED), ISSUE],
        also: &[],
        tries: &[Try::Coarsen, Try::AccessOrder],
        source: STALLS,
    },
    Rule {
        limit: Limit::TeamMemoryQueue,
        questions: &[AtLeast(Quantity::Stalled(Stall::TeamMemoryQueue), STALLED), ISSUE],
        also: &[],
        tries: &[Try::Coarsen],
        source: STALLS,
    },
    Rule {
        limit: Limit::TeamMemoryQueue,
        questions: &[AtLeast(Quantity::Stalled(Stall::ShortScoreboard), STALLED), ISSUE],
        also: &[],
        tries: &[Try::Coarsen],
        source: STALLS,
    },
    Rule {
        limit: Limit::Dependence,
        questions: &[AtLeast(Quantity::Stalled(Stall::Dependence), STALLED), ISSUE],
        also: &[OCCUPIED],
        tries: &[Try::Unroll, Try::Coarsen, Try::LargerTeams],
        source: STALLS,
    },
    Rule {
        limit: Limit::Fetch,
        questions: &[AtLeast(Quantity::Stalled(Stall::Fetch), STALLED), ISSUE],
        also: &[],
        tries: &[Try::CoarsenLess, Try::Fuse],
        source: STALLS,
    },
    Rule {
        limit: Limit::Latency,
        questions: &[Below(Quantity::Busiest, BUSY)],
        also: &[COMPUTE, MEMORY, OCCUPIED],
        tries: &[Try::Tune],
        source: PEAK,
    },
];
