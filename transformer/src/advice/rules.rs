//! The table: questions about counters, what a yes to all of a row's questions means, and what to try.
//!
//! Rows are asked from the first to the last. The first that applies names what limits a kernel; the others are told beside. Where a bound
//! stands in what Nsight Compute's own rules print, or a paper says why, the row cites it; [`OWN`] marks bounds that are this tool's choice.

mod table;

use super::counters::Counter;
use super::quantities::{Quantity, Resource, Values};

pub use table::{OWN, TABLE};

/// What limits a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// One team runs, the rest of the device waits.
    OneTeam,
    /// There are fewer teams than multiprocessors.
    FewTeams,
    /// All teams together do not fill the device.
    LittleWork,
    /// A launch takes longer than the kernel.
    Launch,
    /// Threads of a warp load elements that lie apart.
    LoadPattern,
    /// Threads of a warp store elements that lie apart.
    StorePattern,
    /// Values of threads do not fit into registers.
    Spills,
    /// Threads of a warp take different ways.
    Divergence,
    /// The bandwidth of the device's memory.
    DeviceMemory,
    /// The bandwidth of the caches.
    Caches,
    /// Arithmetic, or the instructions that are issued.
    Compute,
    /// Few warps are there, as threads need many registers.
    Registers,
    /// Few warps are there, as teams need much team memory.
    TeamMemory,
    /// Few warps are there, as teams are small.
    SmallTeams,
    /// Few warps are there, as teams do not fit evenly.
    UnevenTeams,
    /// Warps end at different times.
    Imbalance,
    /// Warps wait for memory.
    MemoryLatency,
    /// Warps wait at barriers.
    Barriers,
    /// Memory instructions queue up.
    MemoryInstructions,
    /// Team memory, or special functions.
    TeamMemoryQueue,
    /// Instructions wait for the results of those before them.
    Dependence,
    /// Instructions are not fetched in time.
    Fetch,
    /// Neither arithmetic nor memory is busy.
    Latency,
}

impl Limit {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OneTeam => "a single team, while the rest of the device waits",
            Self::FewTeams => "fewer teams than multiprocessors",
            Self::LittleWork => "too little work to fill the device once",
            Self::Launch => "its launch, which takes longer than the kernel",
            Self::LoadPattern => "loads of elements that lie apart",
            Self::StorePattern => "stores of elements that lie apart",
            Self::Spills => "registers that are spilled to memory",
            Self::Divergence => "threads of a warp that take different ways",
            Self::DeviceMemory => "the bandwidth of the device's memory",
            Self::Caches => "the bandwidth of the caches",
            Self::Compute => "arithmetic and the instructions that are issued",
            Self::Registers => "few warps, as threads need many registers",
            Self::TeamMemory => "few warps, as teams need much shared memory",
            Self::SmallTeams => "few warps, as teams are small",
            Self::UnevenTeams => "few warps, as the size of the teams leaves a part of each multiprocessor empty",
            Self::Imbalance => "warps that end at different times",
            Self::MemoryLatency => "the latency of memory",
            Self::Barriers => "warps that wait for each other at barriers",
            Self::MemoryInstructions => "memory instructions that queue up",
            Self::TeamMemoryQueue => "shared memory or special functions, whose queue is full",
            Self::Dependence => "instructions that wait for the results of those before them",
            Self::Fetch => "instructions that are not fetched in time",
            Self::Latency => "latency: neither arithmetic nor memory is busy",
        }
    }
}

/// What to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Try {
    /// More threads in a team.
    LargerTeams,
    /// Fewer threads in a team.
    SmallerTeams,
    /// Several iterations in a thread.
    Coarsen,
    /// Fewer iterations in a thread, and less unrolling.
    CoarsenLess,
    /// Tiles in team memory.
    Stage,
    /// Kernels of their own for the parallel loops of a region.
    Split,
    /// More loops of a nest in parallel.
    Collapse,
    /// Another order of loops or of elements.
    AccessOrder,
    /// Several kernels in one.
    Fuse,
    /// Several iterations of a serial loop at a time.
    Unroll,
    /// Iterations of equal length.
    Balance,
    /// Measure grids.
    Tune,
}

impl Try {
    /// In a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LargerTeams => "a larger block size",
            Self::SmallerTeams => "a smaller block size",
            Self::Coarsen => "`coarsen`",
            Self::CoarsenLess => "less coarsening",
            Self::Stage => "staging in team memory",
            Self::Split => "`split`",
            Self::Collapse => "`collapse`",
            Self::AccessOrder => "another access order",
            Self::Fuse => "`fuse`",
            Self::Unroll => "`unroll`",
            Self::Balance => "iterations of equal length",
            Self::Tune => "`ompsplit tune`",
        }
    }

    /// How it is done.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::LargerTeams => {
                "a larger block size: `thread_limit` with more threads, so that more warps are there to run while others wait"
            }
            Self::SmallerTeams => "a smaller block size: `thread_limit` with fewer threads",
            Self::Coarsen => {
                "`ompsplit --passes coarsen`: a thread does several iterations, loads what they share once, and has more loads under way"
            }
            Self::CoarsenLess => {
                "smaller groups of `coarsen` and less unrolling, if there are any: they take registers and room for instructions"
            }
            Self::Stage => {
                "tiles in team memory (`groupprivate`, or an array of the team), where its threads read elements again; no pass writes them"
            }
            Self::Split => {
                "`ompsplit --passes split`, or `teams distribute` in the source; `ompsplit explain` tells what keeps the region in one team"
            }
            Self::Collapse => "`ompsplit --passes collapse`: more loops of the nest in parallel, or longer ones",
            Self::AccessOrder => {
                "neighbouring threads on neighbouring elements: `ompsplit --passes collapse` orders loops so where it may; else exchange loops, \
                 transpose arrays, or make structures of arrays"
            }
            Self::Fuse => {
                "`ompsplit --passes fuse`: neighbouring loops in one kernel load once what both use, and are launched once"
            }
            Self::Unroll => {
                "`ompsplit --passes unroll`: fewer branches, and more instructions that do not wait for each other"
            }
            Self::Balance => {
                "iterations of equal length beside each other: `collapse` loops whose lengths differ, or sort what is long"
            }
            Self::Tune => "`ompsplit tune` measures block sizes and coarsening on the device",
        }
    }

    /// What it is the opposite of.
    fn opposite(self) -> Option<Self> {
        match self {
            Self::LargerTeams => Some(Self::SmallerTeams),
            Self::SmallerTeams => Some(Self::LargerTeams),
            Self::Coarsen => Some(Self::CoarsenLess),
            Self::CoarsenLess => Some(Self::Coarsen),
            _ => None,
        }
    }
}

/// A question about counters.
#[derive(Clone, Copy, Debug)]
pub enum Question {
    /// Is a quantity below a bound?
    Below(Quantity, f64),
    /// Is it at least a bound?
    AtLeast(Quantity, f64),
    /// Is a quantity smaller than another one?
    Fewer(Quantity, Quantity),
    /// Is it at least as large as another one?
    NotFewer(Quantity, Quantity),
    /// Is it this resource that bounds the teams on a multiprocessor?
    Bounds(Resource),
}

/// What a question has for an answer.
enum Answer {
    /// Yes, with what told it.
    Yes(Vec<String>),
    No,
    /// Some of these counters are missing.
    Unknown(Vec<Counter>),
}

impl Question {
    fn answer(self, values: &Values) -> Answer {
        let two = |one: Quantity, other: Quantity| one.value(values).zip(other.value(values));
        let unknown = |all: &[Quantity]| Answer::Unknown(all.iter().flat_map(|one| one.counters()).collect());
        let told = |is_it: bool, words: Vec<String>| if is_it { Answer::Yes(words) } else { Answer::No };
        match self {
            Self::Below(quantity, bound) => quantity.value(values).map_or_else(
                || unknown(&[quantity]),
                |value| told(value < bound, vec![format!("{} (below {bound})", quantity.words(value))]),
            ),
            Self::AtLeast(quantity, bound) => quantity.value(values).map_or_else(
                || unknown(&[quantity]),
                |value| told(value >= bound, vec![format!("{} (at least {bound})", quantity.words(value))]),
            ),
            Self::Fewer(one, other) | Self::NotFewer(one, other) => two(one, other).map_or_else(
                || unknown(&[one, other]),
                |(first, second)| {
                    let is_fewer = matches!(self, Self::Fewer(..));
                    told((first < second) == is_fewer, vec![one.words(first), other.words(second)])
                },
            ),
            Self::Bounds(resource) => match resource.is_least(values) {
                Some(Some(teams)) => Answer::Yes(vec![resource.words(teams)]),
                Some(None) => Answer::No,
                None => Answer::Unknown(Resource::counters()),
            },
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What a yes to all questions means.
    pub limit: Limit,
    /// The questions.
    pub questions: &'static [Question],
    /// What else is worth a look then.
    pub also: &'static [Quantity],
    /// What to try, the most promising first.
    pub tries: &'static [Try],
    /// Where that comes from.
    pub source: &'static str,
}

/// A row that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What limits the kernel.
    pub limit: Limit,
    /// The counters that led there, in words.
    pub evidence: Vec<String>,
    /// What to try.
    pub tries: Vec<Try>,
    /// Where that comes from.
    pub sources: Vec<&'static str>,
}

/// What the table says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The rows that apply, each limit once: the first is what limits the kernel most directly.
    pub findings: Vec<Finding>,
    /// Counters without which questions stayed open.
    pub missing: Vec<Counter>,
}

/// Below so many percent of what it can a unit is not what a kernel waits for.
pub const BUSY: f64 = 60.0;
/// No team has more threads.
const MOST_THREADS: f64 = 1024.0;
/// The threads of a warp.
const WARP: f64 = 32.0;

/// Asks the table.
#[must_use]
pub fn advise(values: &Values) -> Advice {
    let mut advice = Advice::default();
    for rule in TABLE {
        let answers: Vec<Answer> = rule.questions.iter().map(|question| question.answer(values)).collect();
        if answers.iter().any(|answer| matches!(answer, Answer::No)) {
            continue;
        }
        let (mut evidence, mut missing) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Answer::Yes(words) => evidence.extend(words),
                Answer::Unknown(counters) => missing.extend(counters),
                Answer::No => {}
            }
        }
        if missing.is_empty() {
            let also = rule.also.iter().filter_map(|one| one.value(values).map(|value| one.words(value)));
            let new: Vec<String> =
                also.filter(|one| !evidence.iter().any(|known: &String| known.starts_with(one))).collect();
            evidence.extend(new);
            advice.add(rule, evidence);
        } else {
            advice.missing.extend(missing);
        }
    }
    advice.finish(values);
    advice
}

impl Advice {
    fn add(&mut self, rule: &Rule, evidence: Vec<String>) {
        match self.findings.iter_mut().find(|finding| finding.limit == rule.limit) {
            Some(known) => {
                let new: Vec<String> = evidence.into_iter().filter(|one| !known.evidence.contains(one)).collect();
                known.evidence.extend(new);
                if !known.sources.contains(&rule.source) {
                    known.sources.push(rule.source);
                }
            }
            None => self.findings.push(Finding {
                limit: rule.limit,
                evidence,
                tries: rule.tries.to_vec(),
                sources: vec![rule.source],
            }),
        }
    }

    /// Leaves out what cannot be done, and what is the opposite of what an earlier finding asks for.
    fn finish(&mut self, values: &Values) {
        if self.findings.len() > 1 {
            // That nothing is busy is no cause where one is known.
            self.findings.retain(|finding| finding.limit != Limit::Latency);
        }
        let threads = values.get(&Counter::Threads).copied();
        let mut asked: Vec<Try> = Vec::new();
        for finding in &mut self.findings {
            finding.tries.retain(|one| {
                let can = match one {
                    Try::LargerTeams => threads.is_none_or(|threads| threads < MOST_THREADS),
                    Try::SmallerTeams => threads.is_none_or(|threads| threads > WARP),
                    _ => true,
                };
                can && one.opposite().is_none_or(|opposite| !asked.contains(&opposite))
            });
            asked.extend(&finding.tries);
        }
        self.missing.retain(|counter| !values.contains_key(counter));
        self.missing.sort();
        self.missing.dedup();
    }
}

#[cfg(test)]
mod tests;
