//! The directives: association, leaf constructs and the clauses they may carry.

use super::{Association, ClauseId, ClauseSet, DirectiveSpec, Leaf};
use Association::{Block, Declaration, Delimited, Loop, None as Alone, Separator};
use ClauseId::*;

const ALLOCATES: ClauseSet = ClauseSet::of(&[Allocate, Firstprivate, Private]);
const MEMORY_ORDER: ClauseSet = ClauseSet::of(&[AcqRel, Acquire, Relaxed, Release, SeqCst]);

const PARALLEL: ClauseSet = ALLOCATES.union(ClauseSet::of(&[
    Copyin,
    Default,
    If,
    Induction,
    Message,
    NumThreads,
    OmpxAttribute,
    ProcBind,
    Reduction,
    Safesync,
    Severity,
    Shared,
]));
const TEAMS: ClauseSet = ALLOCATES.union(ClauseSet::of(&[
    Default,
    If,
    NumTeams,
    OmpxAttribute,
    OmpxBare,
    OmpxDynCgroupMem,
    Reduction,
    Shared,
    ThreadLimit,
]));
const TARGET: ClauseSet = ALLOCATES.union(ClauseSet::of(&[
    Defaultmap,
    Depend,
    Device,
    DeviceType,
    HasDeviceAddr,
    If,
    InReduction,
    IsDevicePtr,
    Map,
    Nowait,
    OmpxAttribute,
    OmpxDynCgroupMem,
    Priority,
    Replayable,
    ThreadLimit,
    UsesAllocators,
]));
const DISTRIBUTE: ClauseSet = ALLOCATES.union(ClauseSet::of(&[Collapse, DistSchedule, Induction, Lastprivate, Order]));
const FOR: ClauseSet = ALLOCATES.union(ClauseSet::of(&[
    Collapse,
    Induction,
    Lastprivate,
    Linear,
    Nowait,
    Order,
    Ordered,
    Reduction,
    Schedule,
]));
const SIMD: ClauseSet = ClauseSet::of(&[
    Aligned,
    Collapse,
    If,
    Induction,
    Lastprivate,
    Linear,
    Nontemporal,
    Order,
    Private,
    Reduction,
    Safelen,
    Simdlen,
]);
const LOOP: ClauseSet = ClauseSet::of(&[Bind, Collapse, Lastprivate, Order, Private, Reduction]);
const SECTIONS: ClauseSet = ALLOCATES.union(ClauseSet::of(&[Lastprivate, Nowait, Reduction]));
const MASKED: ClauseSet = ClauseSet::of(&[Filter]);
const TASK: ClauseSet = ALLOCATES.union(ClauseSet::of(&[
    Affinity,
    Default,
    Depend,
    Detach,
    Final,
    If,
    InReduction,
    Mergeable,
    Priority,
    Replayable,
    Shared,
    Threadset,
    Transparent,
    Untied,
]));
const TASKLOOP: ClauseSet = ALLOCATES.union(ClauseSet::of(&[
    Collapse,
    Default,
    Final,
    Grainsize,
    If,
    InReduction,
    Induction,
    Lastprivate,
    Mergeable,
    Nogroup,
    NumTasks,
    Priority,
    Reduction,
    Replayable,
    Shared,
    Threadset,
    Transparent,
    Untied,
]));
const SINGLE: ClauseSet = ALLOCATES.union(ClauseSet::of(&[Copyprivate, Nowait]));
const DATA_MOTION: ClauseSet = ClauseSet::of(&[Depend, Device, If, Nowait, Priority, Replayable]);
const ASSUMPTIONS: ClauseSet =
    ClauseSet::of(&[Absent, Contains, Holds, NoOpenmp, NoOpenmpConstructs, NoOpenmpRoutines, NoParallelism]);
const DECLARE_TARGET: ClauseSet = ClauseSet::of(&[DeviceType, Enter, Indirect, Link, Local, To]);
const CANCEL: ClauseSet = ClauseSet::of(&[For, Parallel, Sections, Taskgroup]);

const NONE: ClauseSet = ClauseSet::EMPTY;
/// Worksharing in a combined `parallel` has no barrier of its own to leave out (5.2, section 17.3).
const NOWAIT: ClauseSet = ClauseSet::of(&[Nowait]);
/// Threads of a `target` construct have no original thread to copy from (5.2, section 17.3).
const COPYIN: ClauseSet = ClauseSet::of(&[Copyin]);
/// The tasks of `parallel .. taskloop` take part in no reduction outside the `parallel` construct (5.2, section 17.3).
const IN_REDUCTION: ClauseSet = ClauseSet::of(&[InReduction]);
/// The iterations of one thread under `distribute` are not those of one sequence (5.2, sections 11.6 and 17.5).
const ORDERED: ClauseSet = ClauseSet::of(&[Ordered]);
const LINEAR: ClauseSet = ClauseSet::of(&[Linear]);

const PARALLEL_FOR: ClauseSet = PARALLEL.union(FOR).without(NOWAIT);
const TASKLOOP_IN_PARALLEL: ClauseSet = TASKLOOP.without(IN_REDUCTION);
const DISTRIBUTE_PARALLEL_FOR: ClauseSet = PARALLEL_FOR.union(DISTRIBUTE).without(ORDERED).without(LINEAR);
const DISTRIBUTE_PARALLEL_FOR_SIMD: ClauseSet = PARALLEL_FOR.union(DISTRIBUTE).union(SIMD).without(ORDERED);
const TARGET_TEAMS: ClauseSet = TARGET.union(TEAMS);
/// `ompx_bare` needs `target teams` as one directive.
const TEAMS_ALONE: ClauseSet = TEAMS.without(ClauseSet::of(&[OmpxBare]));

const fn row(
    name: &'static str,
    association: Association,
    leaves: &'static [Leaf],
    clauses: ClauseSet,
) -> DirectiveSpec {
    DirectiveSpec { name, association, leaves, clauses, takes_argument: false }
}

const fn other(name: &'static str, association: Association, clauses: &[ClauseId]) -> DirectiveSpec {
    row(name, association, &[Leaf::Other], ClauseSet::of(clauses))
}

const fn with_argument(spec: DirectiveSpec) -> DirectiveSpec {
    DirectiveSpec { takes_argument: true, ..spec }
}

/// The table, sorted by name. Spellings of 6.0 with underscores are looked up with blanks; `metadirective` has the
/// association of the variant that is selected, and its `default` is read as `otherwise`.
pub static DIRECTIVES: &[DirectiveSpec] = {
    use Leaf as L;
    &[
        with_argument(other("allocate", Alone, &[Align, Allocator])),
        other("allocators", Block, &[Allocate]),
        row("assume", Block, &[L::Other], ASSUMPTIONS),
        row("assumes", Alone, &[L::Other], ASSUMPTIONS),
        row(
            "atomic",
            Block,
            &[L::Other],
            MEMORY_ORDER.union(ClauseSet::of(&[Capture, Compare, Fail, Hint, Memscope, Read, Update, Weak, Write])),
        ),
        other("barrier", Alone, &[]),
        row("begin assumes", Delimited, &[L::Other], ASSUMPTIONS),
        row("begin declare target", Delimited, &[L::Other], DECLARE_TARGET),
        other("begin declare variant", Delimited, &[Match]),
        other("begin metadirective", Delimited, &[Otherwise, When]),
        row("cancel", Alone, &[L::Other], CANCEL.union(ClauseSet::of(&[If]))),
        row("cancellation point", Alone, &[L::Other], CANCEL),
        with_argument(other("critical", Block, &[Hint])),
        with_argument(other("declare induction", Alone, &[Collector, Inductor])),
        with_argument(other("declare mapper", Alone, &[Map])),
        with_argument(other("declare reduction", Alone, &[Combiner, Initializer])),
        with_argument(other("declare simd", Declaration, &[Aligned, Inbranch, Linear, Notinbranch, Simdlen, Uniform])),
        with_argument(row("declare target", Delimited, &[L::Other], DECLARE_TARGET)),
        with_argument(other("declare variant", Declaration, &[AdjustArgs, AppendArgs, Match])),
        with_argument(other("depobj", Alone, &[Depend, Destroy, Init, Update])),
        other("dispatch", Block, &[Depend, Device, HasDeviceAddr, Interop, IsDevicePtr, Nocontext, Novariants, Nowait]),
        row("distribute", Loop, &[L::Distribute], DISTRIBUTE),
        row("distribute parallel for", Loop, &[L::Distribute, L::Parallel, L::For], DISTRIBUTE_PARALLEL_FOR),
        row(
            "distribute parallel for simd",
            Loop,
            &[L::Distribute, L::Parallel, L::For, L::Simd],
            DISTRIBUTE_PARALLEL_FOR_SIMD,
        ),
        row("distribute simd", Loop, &[L::Distribute, L::Simd], DISTRIBUTE.union(SIMD)),
        other("end assumes", Alone, &[]),
        other("end declare target", Alone, &[]),
        other("end declare variant", Alone, &[]),
        other("end metadirective", Alone, &[]),
        other("error", Alone, &[At, Message, Severity]),
        with_argument(row("flush", Alone, &[L::Other], MEMORY_ORDER.union(ClauseSet::of(&[Memscope])))),
        row("for", Loop, &[L::For], FOR),
        row("for simd", Loop, &[L::For, L::Simd], FOR.union(SIMD)),
        other("fuse", Loop, &[Apply, Looprange]),
        with_argument(other("groupprivate", Alone, &[DeviceType])),
        other("interchange", Loop, &[Apply, Permutation]),
        other("interop", Alone, &[Depend, Destroy, Device, Init, Nowait, Use]),
        row("loop", Loop, &[L::Loop], LOOP),
        row("masked", Block, &[L::Masked], MASKED),
        row("masked taskloop", Loop, &[L::Masked, L::Taskloop], MASKED.union(TASKLOOP)),
        row("masked taskloop simd", Loop, &[L::Masked, L::Taskloop, L::Simd], MASKED.union(TASKLOOP).union(SIMD)),
        row("master", Block, &[L::Master], NONE),
        row("master taskloop", Loop, &[L::Master, L::Taskloop], TASKLOOP),
        row("master taskloop simd", Loop, &[L::Master, L::Taskloop, L::Simd], TASKLOOP.union(SIMD)),
        other("metadirective", Alone, &[Otherwise, When]),
        other("nothing", Alone, &[Apply]),
        other("ordered", Block, &[Depend, Doacross, Simd, Threads]),
        row("parallel", Block, &[L::Parallel], PARALLEL),
        row("parallel for", Loop, &[L::Parallel, L::For], PARALLEL_FOR),
        row("parallel for simd", Loop, &[L::Parallel, L::For, L::Simd], PARALLEL_FOR.union(SIMD)),
        row("parallel loop", Loop, &[L::Parallel, L::Loop], PARALLEL.union(LOOP)),
        row("parallel masked", Block, &[L::Parallel, L::Masked], PARALLEL.union(MASKED)),
        row(
            "parallel masked taskloop",
            Loop,
            &[L::Parallel, L::Masked, L::Taskloop],
            PARALLEL.union(MASKED).union(TASKLOOP_IN_PARALLEL),
        ),
        row(
            "parallel masked taskloop simd",
            Loop,
            &[L::Parallel, L::Masked, L::Taskloop, L::Simd],
            PARALLEL.union(MASKED).union(TASKLOOP_IN_PARALLEL).union(SIMD),
        ),
        row("parallel master", Block, &[L::Parallel, L::Master], PARALLEL),
        row(
            "parallel master taskloop",
            Loop,
            &[L::Parallel, L::Master, L::Taskloop],
            PARALLEL.union(TASKLOOP_IN_PARALLEL),
        ),
        row(
            "parallel master taskloop simd",
            Loop,
            &[L::Parallel, L::Master, L::Taskloop, L::Simd],
            PARALLEL.union(TASKLOOP_IN_PARALLEL).union(SIMD),
        ),
        row("parallel sections", Block, &[L::Parallel, L::Sections], PARALLEL.union(SECTIONS).without(NOWAIT)),
        // 6.0
        row("parallel single", Block, &[L::Parallel, L::Other], PARALLEL.union(SINGLE).without(NOWAIT)),
        other(
            "requires",
            Alone,
            &[
                AtomicDefaultMemOrder,
                DeviceSafesync,
                DynamicAllocators,
                ReverseOffload,
                SelfMaps,
                UnifiedAddress,
                UnifiedSharedMemory,
            ],
        ),
        other("reverse", Loop, &[Apply]),
        other("scan", Separator, &[Exclusive, Inclusive, InitComplete]),
        row("scope", Block, &[L::Other], ALLOCATES.union(ClauseSet::of(&[Nowait, Reduction]))),
        other("section", Separator, &[]),
        row("sections", Block, &[L::Sections], SECTIONS),
        row("simd", Loop, &[L::Simd], SIMD),
        row("single", Block, &[L::Other], SINGLE),
        other("split", Loop, &[Apply, Counts]),
        other("stripe", Loop, &[Apply, Sizes]),
        row("target", Block, &[L::Target], TARGET),
        other(
            "target data",
            Block,
            &[
                Affinity,
                Allocate,
                Default,
                Depend,
                Detach,
                Device,
                Firstprivate,
                If,
                InReduction,
                Map,
                Mergeable,
                Nogroup,
                Nowait,
                Priority,
                Private,
                Shared,
                Transparent,
                UseDeviceAddr,
                UseDevicePtr,
            ],
        ),
        row("target enter data", Alone, &[L::Other], DATA_MOTION.union(ClauseSet::of(&[Map]))),
        row("target exit data", Alone, &[L::Other], DATA_MOTION.union(ClauseSet::of(&[Map]))),
        row("target loop", Loop, &[L::Target, L::Loop], TARGET.union(LOOP)),
        row("target parallel", Block, &[L::Target, L::Parallel], TARGET.union(PARALLEL).without(COPYIN)),
        row("target parallel for", Loop, &[L::Target, L::Parallel, L::For], PARALLEL_FOR.union(TARGET).without(COPYIN)),
        row(
            "target parallel for simd",
            Loop,
            &[L::Target, L::Parallel, L::For, L::Simd],
            PARALLEL_FOR.union(SIMD).union(TARGET).without(COPYIN),
        ),
        row(
            "target parallel loop",
            Loop,
            &[L::Target, L::Parallel, L::Loop],
            TARGET.union(PARALLEL).union(LOOP).without(COPYIN),
        ),
        row("target simd", Loop, &[L::Target, L::Simd], TARGET.union(SIMD)),
        row("target teams", Block, &[L::Target, L::Teams], TARGET_TEAMS),
        row("target teams distribute", Loop, &[L::Target, L::Teams, L::Distribute], TARGET_TEAMS.union(DISTRIBUTE)),
        row(
            "target teams distribute parallel for",
            Loop,
            &[L::Target, L::Teams, L::Distribute, L::Parallel, L::For],
            TARGET_TEAMS.union(DISTRIBUTE_PARALLEL_FOR).without(COPYIN),
        ),
        row(
            "target teams distribute parallel for simd",
            Loop,
            &[L::Target, L::Teams, L::Distribute, L::Parallel, L::For, L::Simd],
            TARGET_TEAMS.union(DISTRIBUTE_PARALLEL_FOR_SIMD).without(COPYIN),
        ),
        row(
            "target teams distribute simd",
            Loop,
            &[L::Target, L::Teams, L::Distribute, L::Simd],
            TARGET_TEAMS.union(DISTRIBUTE).union(SIMD),
        ),
        row("target teams loop", Loop, &[L::Target, L::Teams, L::Loop], TARGET_TEAMS.union(LOOP)),
        row("target update", Alone, &[L::Other], DATA_MOTION.union(ClauseSet::of(&[From, To]))),
        row("task", Block, &[L::Other], TASK),
        other("task iteration", Alone, &[Affinity, Depend, If]),
        other("taskgraph", Block, &[GraphId, GraphReset, If, Nogroup]),
        other("taskgroup", Block, &[Allocate, TaskReduction]),
        row("taskloop", Loop, &[L::Taskloop], TASKLOOP),
        row("taskloop simd", Loop, &[L::Taskloop, L::Simd], TASKLOOP.union(SIMD)),
        other("taskwait", Alone, &[Depend, Nowait, Replayable]),
        other("taskyield", Alone, &[]),
        row("teams", Block, &[L::Teams], TEAMS_ALONE),
        row("teams distribute", Loop, &[L::Teams, L::Distribute], TEAMS_ALONE.union(DISTRIBUTE)),
        row(
            "teams distribute parallel for",
            Loop,
            &[L::Teams, L::Distribute, L::Parallel, L::For],
            TEAMS_ALONE.union(DISTRIBUTE_PARALLEL_FOR),
        ),
        row(
            "teams distribute parallel for simd",
            Loop,
            &[L::Teams, L::Distribute, L::Parallel, L::For, L::Simd],
            TEAMS_ALONE.union(DISTRIBUTE_PARALLEL_FOR_SIMD),
        ),
        row(
            "teams distribute simd",
            Loop,
            &[L::Teams, L::Distribute, L::Simd],
            TEAMS_ALONE.union(DISTRIBUTE).union(SIMD),
        ),
        row("teams loop", Loop, &[L::Teams, L::Loop], TEAMS_ALONE.union(LOOP)),
        with_argument(other("threadprivate", Alone, &[])),
        other("tile", Loop, &[Apply, Sizes]),
        other("unroll", Loop, &[Apply, Full, Partial]),
    ]
};
