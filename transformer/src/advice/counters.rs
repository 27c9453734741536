//! The counters that advice goes by, and how ncu calls them: by the names of its metrics (`--page raw`, `--metrics`) or by the labels of its
//! sections (`--page details`). Names changed with its versions; all that are known stand here.

use super::numbers::Measure;

/// Why a warp does not issue its next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    /// It waits for data from memory beyond the multiprocessor.
    LongScoreboard,
    /// It waits for team memory, or for a special function.
    ShortScoreboard,
    /// It waits for other warps of its team.
    Barrier,
    /// The queue of memory instructions is full.
    MemoryQueue,
    /// The queue of team memory and special functions is full.
    TeamMemoryQueue,
    /// The arithmetic units are busy.
    Arithmetic,
    /// It waits for the result of its own last instruction.
    Dependence,
    /// Its next instruction is not fetched yet.
    Fetch,
}

impl Stall {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::LongScoreboard,
        Self::ShortScoreboard,
        Self::Barrier,
        Self::MemoryQueue,
        Self::TeamMemoryQueue,
        Self::Arithmetic,
        Self::Dependence,
        Self::Fetch,
    ];

    /// As ncu calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LongScoreboard => "long_scoreboard",
            Self::ShortScoreboard => "short_scoreboard",
            Self::Barrier => "barrier",
            Self::MemoryQueue => "lg_throttle",
            Self::TeamMemoryQueue => "mio_throttle",
            Self::Arithmetic => "math_pipe_throttle",
            Self::Dependence => "wait",
            Self::Fetch => "no_instruction",
        }
    }
}

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Microseconds.
    Duration,
    /// The teams that were launched.
    Teams,
    /// The threads of a team.
    Threads,
    /// Multiprocessors of the device.
    Multiprocessors,
    /// How often its teams fill the device.
    Waves,
    /// Registers of a thread.
    Registers,
    /// Teams that a multiprocessor takes at most.
    TeamsByMultiprocessor,
    /// Teams that its registers suffice for.
    TeamsByRegisters,
    /// Teams that its shared memory suffices for.
    TeamsByTeamMemory,
    /// Teams that its warps suffice for.
    TeamsByWarps,
    /// The part of a multiprocessor's warps that could be active, in percent.
    PossibleOccupancy,
    /// The part that was.
    Occupancy,
    /// How busy the multiprocessors were, in percent of what they can.
    Compute,
    /// How busy the busiest part of the memory system was.
    Memory,
    /// How busy the device's memory was.
    DeviceMemory,
    /// Bytes of the device's memory in a second.
    DeviceMemoryRate,
    /// Sectors that were found in the first cache, in percent.
    FirstCacheHits,
    /// Sectors that loads asked for.
    LoadSectors,
    /// Loads of warps.
    LoadRequests,
    /// Sectors of a load.
    LoadRatio,
    /// The part of a sector's bytes that loads use, in percent.
    LoadUse,
    /// Bytes of a sector that loads use.
    LoadBytes,
    /// Sectors that stores wrote.
    StoreSectors,
    /// Stores of warps.
    StoreRequests,
    /// Sectors of a store.
    StoreRatio,
    /// The part of a sector's bytes that stores use, in percent.
    StoreUse,
    /// Bytes of a sector that stores use.
    StoreBytes,
    /// Loads of what threads keep in local memory.
    LocalLoads,
    /// Stores of it.
    LocalStores,
    /// Instructions that a scheduler issues in a cycle.
    IssueActive,
    /// Cycles between two instructions of a warp.
    CyclesPerIssue,
    /// Threads of a warp that execute an instruction.
    ActiveThreads,
    /// Cycles of a stall between two instructions of a warp.
    StallCycles(Stall),
    /// The part of a warp's cycles that a stall takes, in percent.
    StallPart(Stall),
}

/// Names of metrics and labels of sections.
type Names = (Counter, &'static [&'static str], &'static [&'static str]);

const NAMES: &[Names] = &[
    (Counter::Duration, &["gpu__time_duration.sum", "gpu__time_duration.avg"], &["Duration"]),
    (Counter::Teams, &["launch__grid_size"], &["Grid Size"]),
    (Counter::Threads, &["launch__block_size"], &["Block Size"]),
    (Counter::Multiprocessors, &["launch__sm_count", "device__attribute_multiprocessor_count"], &["# SMs"]),
    (Counter::Waves, &["launch__waves_per_multiprocessor"], &["Waves Per SM"]),
    (Counter::Registers, &["launch__registers_per_thread"], &["Registers Per Thread"]),
    (Counter::TeamsByMultiprocessor, &["launch__occupancy_limit_blocks"], &["Block Limit SM"]),
    (Counter::TeamsByRegisters, &["launch__occupancy_limit_registers"], &["Block Limit Registers"]),
    (Counter::TeamsByTeamMemory, &["launch__occupancy_limit_shared_mem"], &["Block Limit Shared Mem"]),
    (Counter::TeamsByWarps, &["launch__occupancy_limit_warps"], &["Block Limit Warps"]),
    (Counter::PossibleOccupancy, &["sm__maximum_warps_per_active_cycle_pct"], &["Theoretical Occupancy"]),
    (Counter::Occupancy, &["sm__warps_active.avg.pct_of_peak_sustained_active"], &["Achieved Occupancy"]),
    (
        Counter::Compute,
        &["sm__throughput.avg.pct_of_peak_sustained_elapsed"],
        &["Compute (SM) Throughput", "Compute (SM) [%]", "SM [%]", "SOL SM"],
    ),
    (
        Counter::Memory,
        &["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"],
        &["Memory Throughput", "Memory [%]", "SOL Memory"],
    ),
    (
        Counter::DeviceMemory,
        &[
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        ],
        &["DRAM Throughput", "SOL DRAM", "SOL FB"],
    ),
    (Counter::DeviceMemoryRate, &["dram__bytes.sum.per_second"], &["Memory Throughput"]),
    (Counter::FirstCacheHits, &["l1tex__t_sector_hit_rate.pct"], &["L1/TEX Hit Rate"]),
    (Counter::LoadSectors, &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], &[]),
    (Counter::LoadRequests, &["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], &[]),
    (Counter::LoadRatio, &["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"], &[]),
    (Counter::LoadUse, &["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"], &[]),
    (Counter::LoadBytes, &["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"], &[]),
    (Counter::StoreSectors, &["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], &[]),
    (Counter::StoreRequests, &["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], &[]),
    (Counter::StoreRatio, &["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"], &[]),
    (Counter::StoreUse, &["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"], &[]),
    (Counter::StoreBytes, &["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"], &[]),
    (
        Counter::LocalLoads,
        &["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "smsp__sass_inst_executed_op_local_ld.sum"],
        &[],
    ),
    (
        Counter::LocalStores,
        &["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "smsp__sass_inst_executed_op_local_st.sum"],
        &[],
    ),
    (Counter::IssueActive, &["smsp__issue_active.avg.per_cycle_active"], &["Issued Warp Per Scheduler"]),
    (
        Counter::CyclesPerIssue,
        &["smsp__average_warp_latency_per_inst_issued.ratio", "smsp__average_warps_active_per_issue_active.ratio"],
        &["Warp Cycles Per Issued Instruction"],
    ),
    (
        Counter::ActiveThreads,
        &["smsp__thread_inst_executed_per_inst_executed.ratio"],
        &["Avg. Active Threads Per Warp"],
    ),
];

impl Counter {
    /// The counters of a metric's name or a label: a label may stand for several, which their units tell apart.
    pub(super) fn named(name: &str) -> Vec<Self> {
        let known = NAMES.iter().filter(|(_, names, labels)| names.contains(&name) || labels.contains(&name));
        let known: Vec<Self> = known.map(|(counter, ..)| *counter).collect();
        if known.is_empty() { stall(name).into_iter().collect() } else { known }
    }

    /// The first of its names: a metric that `ncu --metrics` takes.
    #[must_use]
    pub fn metric(self) -> String {
        match self {
            Self::StallCycles(stall) => {
                format!("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", stall.name())
            }
            Self::StallPart(stall) => format!("smsp__warp_issue_stalled_{}_per_warp_active.pct", stall.name()),
            _ => {
                let names = NAMES.iter().find(|(counter, ..)| *counter == self).map(|(_, names, _)| *names);
                names.and_then(<[_]>::first).copied().unwrap_or_default().to_owned()
            }
        }
    }

    /// The section of ncu that counts it.
    #[must_use]
    pub fn section(self) -> &'static str {
        match self {
            Self::Duration | Self::Compute | Self::Memory | Self::DeviceMemory => "SpeedOfLight",
            Self::Teams | Self::Threads | Self::Multiprocessors | Self::Waves | Self::Registers => "LaunchStats",
            Self::TeamsByMultiprocessor
            | Self::TeamsByRegisters
            | Self::TeamsByTeamMemory
            | Self::TeamsByWarps
            | Self::PossibleOccupancy
            | Self::Occupancy => "Occupancy",
            Self::DeviceMemoryRate | Self::FirstCacheHits => "MemoryWorkloadAnalysis",
            Self::IssueActive => "SchedulerStats",
            Self::CyclesPerIssue | Self::ActiveThreads | Self::StallCycles(_) | Self::StallPart(_) => "WarpStateStats",
            _ => "MemoryWorkloadAnalysis_Tables",
        }
    }

    /// What it measures.
    pub(super) fn measure(self) -> Measure {
        match self {
            Self::Duration => Measure::Time,
            Self::DeviceMemoryRate => Measure::Rate,
            Self::PossibleOccupancy
            | Self::Occupancy
            | Self::Compute
            | Self::Memory
            | Self::DeviceMemory
            | Self::FirstCacheHits
            | Self::LoadUse
            | Self::StoreUse
            | Self::StallPart(_) => Measure::Percent,
            _ => Measure::Count,
        }
    }
}

fn stall(name: &str) -> Option<Counter> {
    let between = |start: &str, end: &str| name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    let of = |word: &str| Stall::ALL.into_iter().find(|stall| stall.name() == word);
    if let Some(word) = between("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio") {
        return of(word).map(Counter::StallCycles);
    }
    between("smsp__warp_issue_stalled_", "_per_warp_active.pct").and_then(of).map(Counter::StallPart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_leads_back_to_its_counter() {
        for (counter, names, labels) in NAMES {
            for name in names.iter().chain(*labels) {
                assert!(Counter::named(name).contains(counter), "{name}");
            }
            assert_eq!(Counter::named(&counter.metric()), [*counter]);
        }
        for stall in Stall::ALL {
            for counter in [Counter::StallCycles(stall), Counter::StallPart(stall)] {
                assert_eq!(Counter::named(&counter.metric()), [counter]);
            }
        }
        assert_eq!(Counter::named("Elapsed Cycles"), []);
        assert_eq!(Counter::named("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"), []);
    }

    #[test]
    fn counters_of_one_label_differ_in_their_measure() {
        let both = Counter::named("Memory Throughput");
        assert_eq!(both, [Counter::Memory, Counter::DeviceMemoryRate]);
        assert_ne!(both[0].measure(), both[1].measure());
    }
}
