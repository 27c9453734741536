//! The clauses: what their parentheses hold, and on which leaf constructs they land.

use super::landing::Rule;

/// What a clause's parentheses hold behind its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentForm {
    /// No parentheses in OpenMP 5.2; 6.0 allows a condition.
    None,
    /// A list of variables and array sections.
    Items,
    /// One expression.
    Expression,
    /// Words of the specification, or several expressions, between commas.
    Words,
    /// Anything else; it is kept as it stands.
    Raw,
}

/// A row of the clause table.
#[derive(Debug, PartialEq, Eq)]
pub struct ClauseSpec {
    /// The clause.
    pub id: ClauseId,
    /// Its name in a program.
    pub name: &'static str,
    /// What its parentheses hold.
    pub form: ArgumentForm,
    /// May (or must) its parentheses be missing?
    pub bare: bool,
    /// The words that may stand before its colon; the directive names of 5.2's `if` and of 6.0 may, too.
    pub modifiers: &'static [&'static str],
    /// The modifier that an expression before the colon, or behind it in a clause that has a list before it, stands for
    /// (`num_teams(2: 4)`: `lower_bound`; `linear(a: 2)`: `step`).
    pub expression_modifier: Option<&'static str>,
    /// Does the list stand before the colon and the modifiers behind it (`linear`, `aligned`)?
    pub list_first: bool,
    /// On which leaf constructs of a combined or composite construct it lands.
    pub rule: Rule,
    /// May it stand only once on a directive?
    pub unique: bool,
}

/// The defaults of a row: a repeatable clause with parentheses and no modifiers, on every leaf that permits it.
const fn row(id: ClauseId, name: &'static str, form: ArgumentForm) -> ClauseSpec {
    let bare = matches!(form, ArgumentForm::None);
    ClauseSpec {
        id,
        name,
        form,
        bare,
        modifiers: &[],
        expression_modifier: None,
        list_first: false,
        rule: Rule::EveryPermitting,
        unique: false,
    }
}

macro_rules! clauses {
    ($($id:ident $name:literal $form:ident $({ $($field:ident: $value:expr),* $(,)? })?;)*) => {
        /// The clauses of OpenMP 5.2, those that 6.0 and clang add, and the constructs that `cancel` names like clauses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the clause of that name")]
        pub enum ClauseId {
            $($id,)*
            /// A clause that the table does not hold.
            Unknown,
        }

        /// The table, sorted by name and in the order of [`ClauseId`].
        pub static CLAUSES: &[ClauseSpec] = &[
            $(ClauseSpec { $($($field: $value,)*)? ..row(ClauseId::$id, $name, ArgumentForm::$form) },)*
            ClauseSpec { bare: true, ..row(ClauseId::Unknown, "", ArgumentForm::Raw) },
        ];
    };
}

// Sections are those of OpenMP 5.2.
clauses! {
    Absent "absent" Words { unique: true }; // 8.3.1
    AcqRel "acq_rel" None { unique: true }; // 15.8.1
    Acquire "acquire" None { unique: true };
    AdjustArgs "adjust_args" Raw; // 7.5.2
    Affinity "affinity" Items { modifiers: &["iterator"] }; // 12.5.1
    Align "align" Expression { unique: true }; // 6.3
    Aligned "aligned" Items { expression_modifier: Some("alignment"), list_first: true }; // 5.11
    Allocate "allocate" Items {
        modifiers: &["allocator", "align"], expression_modifier: Some("allocator"), rule: Rule::Allocate,
    }; // 6.6
    Allocator "allocator" Expression { unique: true }; // 6.4
    AppendArgs "append_args" Raw { unique: true }; // 7.5.3
    Apply "apply" Raw; // 6.0
    At "at" Words { unique: true }; // 8.5.1
    AtomicDefaultMemOrder "atomic_default_mem_order" Words { unique: true }; // 8.2.1
    Bind "bind" Words { unique: true }; // 11.7.1
    Capture "capture" None { unique: true }; // 15.8.3
    Collapse "collapse" Expression { unique: true, rule: Rule::EveryPermitting }; // 4.4.3, 17.2
    Collector "collector" Raw { unique: true }; // 6.0
    Combiner "combiner" Raw { unique: true }; // 6.0
    Compare "compare" None { unique: true };
    Contains "contains" Words { unique: true };
    Copyin "copyin" Items; // 5.7.1
    Copyprivate "copyprivate" Items; // 5.7.2
    Counts "counts" Words { unique: true }; // 6.0
    Default "default" Words { unique: true, modifiers: &["aggregate", "all", "allocatable", "pointer", "scalar"] }; // 5.4.1
    Defaultmap "defaultmap" Words; // 5.8.7
    Depend "depend" Items {
        modifiers: &["iterator", "in", "out", "inout", "inoutset", "mutexinoutset", "depobj", "sink", "source"],
    }; // 15.9.5
    Destroy "destroy" Items { bare: true }; // 3.5
    Detach "detach" Items { unique: true }; // 12.5.2
    Device "device" Expression { unique: true, modifiers: &["ancestor", "device_num"] }; // 13.2
    DeviceSafesync "device_safesync" None; // 6.0
    DeviceType "device_type" Words { unique: true }; // 13.1
    DistSchedule "dist_schedule" Words { unique: true }; // 11.6.1
    Doacross "doacross" Raw { modifiers: &["source", "sink"] }; // 15.9.6
    DynamicAllocators "dynamic_allocators" None { unique: true };
    Enter "enter" Items { bare: true, modifiers: &["automap"] }; // 5.8.4; in `omp::decl` the declared name is its list
    Exclusive "exclusive" Items { unique: true }; // 5.6
    Fail "fail" Words { unique: true }; // 15.8.3
    Filter "filter" Expression { unique: true }; // 10.5.1
    Final "final" Expression { unique: true }; // 12.3
    Firstprivate "firstprivate" Items { rule: Rule::Firstprivate, modifiers: &["saved"] }; // 5.4.4
    For "for" None { unique: true }; // as named by cancel, 11.5.1
    From "from" Items { modifiers: &["present", "mapper", "iterator"] }; // 5.9.2
    Full "full" None { unique: true }; // 9.2.1
    Grainsize "grainsize" Expression { unique: true, modifiers: &["strict"] }; // 12.6.1
    GraphId "graph_id" Expression { unique: true }; // 6.0
    GraphReset "graph_reset" Expression { unique: true, bare: true }; // 6.0
    HasDeviceAddr "has_device_addr" Items; // 5.4.9
    Hint "hint" Expression { unique: true }; // 15.1.2
    Holds "holds" Expression { unique: true }; // 8.3.1
    If "if" Expression; // 3.4
    InReduction "in_reduction" Items; // 5.5.10
    Inbranch "inbranch" None { unique: true }; // 7.7.1
    Inclusive "inclusive" Items { unique: true }; // 5.6
    Indirect "indirect" Expression { unique: true, bare: true }; // 7.8.3
    Induction "induction" Items { modifiers: &["step", "strict", "relaxed"] }; // 6.0
    Inductor "inductor" Raw { unique: true }; // 6.0
    Init "init" Items { modifiers: &["prefer_type", "target", "targetsync", "interop_type", "depinfo"] }; // 14.1.2
    InitComplete "init_complete" None { unique: true }; // 6.0
    Initializer "initializer" Raw { unique: true }; // 5.5.4
    Interop "interop" Items { unique: true }; // 6.0
    IsDevicePtr "is_device_ptr" Items; // 5.4.7
    Lastprivate "lastprivate" Items { modifiers: &["conditional"] }; // 5.4.5
    Linear "linear" Items {
        modifiers: &["step", "val", "ref", "uval"], expression_modifier: Some("step"), list_first: true,
        rule: Rule::Linear,
    }; // 5.4.6
    Link "link" Items { bare: true }; // 5.8.5; as `enter`
    Local "local" Items { bare: true }; // 6.0; as `enter`
    Looprange "looprange" Words { unique: true }; // 6.0
    Map "map" Items {
        modifiers: &[
            "alloc", "always", "assumed", "attach", "close", "delete", "from", "iterator", "mapper", "ompx_hold", "present",
            "ref_ptee", "ref_ptr", "ref_ptr_ptee", "release", "self", "storage", "to", "tofrom",
        ],
    }; // 5.8.3
    Match "match" Raw { unique: true }; // 7.5.1
    Memscope "memscope" Words { unique: true }; // 6.0
    Mergeable "mergeable" None { unique: true }; // 12.2
    Message "message" Expression { unique: true }; // 8.5.2
    NoOpenmp "no_openmp" None { unique: true }; // 8.3.1
    NoOpenmpConstructs "no_openmp_constructs" None { unique: true };
    NoOpenmpRoutines "no_openmp_routines" None { unique: true };
    NoParallelism "no_parallelism" None { unique: true };
    Nocontext "nocontext" Expression { unique: true }; // 7.6.2
    Nogroup "nogroup" None { unique: true }; // 12.7
    Nontemporal "nontemporal" Items; // 10.4.1
    Notinbranch "notinbranch" None { unique: true }; // 7.7.1
    Novariants "novariants" Expression { unique: true }; // 7.6.1
    Nowait "nowait" None { unique: true, rule: Rule::Outermost }; // 15.6
    NumTasks "num_tasks" Expression { unique: true, modifiers: &["strict"] }; // 12.6.2
    NumTeams "num_teams" Expression { unique: true, expression_modifier: Some("lower_bound") }; // 10.2.1
    NumThreads "num_threads" Expression { unique: true, modifiers: &["strict"] }; // 10.1.2
    OmpxAttribute "ompx_attribute" Raw; // clang
    OmpxBare "ompx_bare" None { unique: true }; // clang
    OmpxDynCgroupMem "ompx_dyn_cgroup_mem" Expression { unique: true }; // clang
    Order "order" Words { unique: true, modifiers: &["reproducible", "unconstrained"] }; // 10.3
    Ordered "ordered" Expression { unique: true, bare: true }; // 4.4.4
    Otherwise "otherwise" Raw { unique: true }; // 7.4.2
    Parallel "parallel" None { unique: true }; // as named by cancel
    Partial "partial" Expression { unique: true, bare: true }; // 9.2.2
    Permutation "permutation" Words { unique: true }; // 6.0
    Priority "priority" Expression { unique: true }; // 12.4
    Private "private" Items { rule: Rule::Innermost }; // 5.4.3
    ProcBind "proc_bind" Words { unique: true }; // 10.1.3
    Read "read" None { unique: true }; // 15.8.2
    Reduction "reduction" Items { rule: Rule::Reduction, modifiers: &["inscan", "task", "default", "original"] }; // 5.5.8
    Relaxed "relaxed" None { unique: true };
    Release "release" None { unique: true };
    Replayable "replayable" Expression { unique: true, bare: true }; // 6.0
    ReverseOffload "reverse_offload" None { unique: true }; // 8.2
    Safelen "safelen" Expression { unique: true }; // 10.4.2
    Safesync "safesync" Expression { unique: true, bare: true }; // 6.0
    Schedule "schedule" Words { unique: true, modifiers: &["monotonic", "nonmonotonic", "simd"] }; // 11.5.3
    Sections "sections" None { unique: true }; // as named by cancel
    SelfMaps "self_maps" None { unique: true }; // 6.0
    SeqCst "seq_cst" None { unique: true };
    Severity "severity" Words { unique: true }; // 8.5.2
    Shared "shared" Items; // 5.4.2
    Simd "simd" None { unique: true }; // 15.10.3
    Simdlen "simdlen" Expression { unique: true }; // 10.4.3
    Sizes "sizes" Words { unique: true }; // 9.1.1
    TaskReduction "task_reduction" Items; // 5.5.9
    Taskgroup "taskgroup" None { unique: true }; // as named by cancel
    ThreadLimit "thread_limit" Expression { unique: true }; // 13.3
    Threads "threads" None { unique: true }; // 15.10.3
    Threadset "threadset" Words { unique: true }; // 6.0
    To "to" Items { modifiers: &["present", "mapper", "iterator"] }; // 5.9.1
    Transparent "transparent" Expression { unique: true, bare: true }; // 6.0
    UnifiedAddress "unified_address" None { unique: true };
    UnifiedSharedMemory "unified_shared_memory" None { unique: true };
    Uniform "uniform" Items; // 5.10
    Untied "untied" None { unique: true }; // 12.1
    Update "update" Words { unique: true, bare: true }; // 15.9.3, 15.8.2
    Use "use" Items; // 14.1.3
    UseDeviceAddr "use_device_addr" Items; // 5.4.10
    UseDevicePtr "use_device_ptr" Items; // 5.4.8
    UsesAllocators "uses_allocators" Items { modifiers: &["memspace", "traits"] }; // 6.8
    Weak "weak" None { unique: true };
    When "when" Raw; // 7.4.1
    Write "write" None { unique: true };
}

impl ClauseId {
    /// The clause that a word names; [`ClauseId::Unknown`] for any other.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let known = CLAUSES.get(..CLAUSES.len().saturating_sub(1)).unwrap_or_default();
        known
            .binary_search_by(|row| row.name.cmp(name))
            .ok()
            .and_then(|i| known.get(i))
            .map_or(Self::Unknown, |row| row.id)
    }

    /// Its row in the table.
    #[must_use]
    pub fn spec(self) -> &'static ClauseSpec {
        static UNKNOWN: ClauseSpec = ClauseSpec { bare: true, ..row(ClauseId::Unknown, "", ArgumentForm::Raw) };
        CLAUSES.get(self as usize).unwrap_or(&UNKNOWN)
    }

    /// Its name in a program; empty for [`ClauseId::Unknown`].
    #[must_use]
    pub fn name(self) -> &'static str {
        self.spec().name
    }
}

/// A set of clauses that can be built at compile time.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ClauseSet([u64; 3]);

impl ClauseSet {
    /// No clause.
    pub const EMPTY: Self = Self([0; 3]);

    /// The clauses given.
    #[must_use]
    pub const fn of(clauses: &[ClauseId]) -> Self {
        let mut bits = [0; 3];
        let mut i = 0;
        while i < clauses.len() {
            let at = clauses[i] as usize;
            bits[at / 64] |= 1 << (at % 64);
            i += 1;
        }
        Self(bits)
    }

    /// The clauses of either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1], self.0[2] | other.0[2]])
    }

    /// Its clauses without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self([self.0[0] & !other.0[0], self.0[1] & !other.0[1], self.0[2] & !other.0[2]])
    }

    /// Is the clause one of them?
    #[must_use]
    pub const fn contains(&self, clause: &ClauseId) -> bool {
        let at = *clause as usize;
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    /// Its clauses in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = ClauseId> + '_ {
        CLAUSES.iter().map(|row| row.id).filter(|id| self.contains(id))
    }
}

impl std::fmt::Debug for ClauseSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(ClauseId::name)).finish()
    }
}
