//! What a program of a family is made of: each field is a choice that the generator then makes at random within.

use super::data::Storage;

/// What the region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `target { parallel for .. }`
    Team,
    /// `target parallel { for .. }`
    Parallel,
    /// `target parallel for`, alone.
    Single,
    /// `target teams { distribute parallel for .. }`
    League,
    /// `target teams distribute` before a loop of which one iteration holds parallel loops.
    Rows,
}

/// What each loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    For,
    Simd,
    /// `loop`, which asserts independent iterations.
    Loop,
    /// No directive: one thread runs all iterations, which are independent.
    Serial,
}

/// Where reductions stand and what becomes of their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    None,
    /// Into scalars that the region maps.
    Mapped,
    /// On the combined directive of a single loop, into a scalar that no clause maps.
    Combined,
    /// On `teams` and on one loop.
    Both,
    /// On an inner directive, into a scalar that no clause maps: the result is lost.
    Lost,
    /// Into a scalar that the region declares.
    Local,
    /// Into a section of a small array that the region maps.
    Section,
}

/// Sequential control flow and integers beside the loops of one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    For,
    Flip,
    While,
    Do,
    If,
    Block,
    Integers,
    Break,
    /// `if` on an element, which only the device knows.
    IfElement,
    /// `while` from an element on.
    WhileElement,
    /// `do` until an element says so.
    UntilElement,
    /// `do` until what loops combined says so.
    UntilSum,
}

/// Serial statements and declarations beside the loops, and other things that stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serial {
    /// `a[0] = a[1] + 2;`
    Element,
    /// `x[0] = 0.5 * x[1] + 0.25;`
    FloatingElement,
    /// `s = s + 1;` where `s` is mapped.
    MappedScalar,
    /// `int v = a[3]; ..`: an element that loops read.
    LocalFromElement,
    /// `double d = 0.5; d = d * 0.5 + 0.25;`
    LocalFloating,
    /// `int w[16];` written by one loop and read by the next.
    LocalArray,
    /// `last = 3;` where no clause maps `last`.
    LostScalar,
    /// The same with a scalar whose declaration has attributes that change nothing.
    AttributedScalar,
    /// The same with one whose declaration is not understood to its last word.
    OddScalar,
    /// `parallel { for; for }` among the loops.
    BareParallel,
    /// `parallel { for nowait; for }` on separate arrays.
    BareNowait,
    /// `parallel sections`
    Sections,
    /// `store(a, 3);`
    Call,
    /// `if (a[0] > 300) a[1] = ..; else ..`
    Branch,
    /// `for (int q = 0; q < 3; q++) a[q] = ..`
    Loop,
    /// `int t = a[0]; a[0] = a[1]; a[1] = t;`
    Swap,
    /// `double w[8];` written by a loop, then by a statement, read by later loops.
    FloatingArray,
    /// `drift = 0.5 * drift;` where no clause maps `drift`.
    LostFloating,
    /// `parallel { for nowait; barrier; for }`
    BareBarrier,
    /// `parallel private(p) { for; for }`
    BarePrivate,
}

/// What stands in the body of a loop beside plain assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    Call,
    PutCall,
    Macro,
    Table,
    Atomic,
    Histogram,
    Private,
    InnerLoop,
    Rows,
    Branch,
    Math,
    /// `auto part = ..;` in C++.
    Auto,
}

/// How variables are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maps {
    /// What is only read `to`, the rest `tofrom`.
    Plain,
    /// Any map type that leaves nothing undefined.
    Types,
    /// No clause where the rules map a variable.
    Implicit,
}

/// Clauses of the region's directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionClause {
    IfTrue,
    IfFalse,
    IfValue,
    Device,
    DeviceCall,
    SectionCall,
    NumTeams,
    ThreadLimit,
    Firstprivate,
    Private,
    DefaultmapScalar,
    DefaultmapAggregate,
    Nowait,
    Depend,
}

/// Clauses of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopClause {
    Schedule,
    DefaultNone,
    DefaultShared,
    Firstprivate,
    Concurrent,
    NumThreads,
    DistSchedule,
    Nowait,
    ProcBind,
}

/// What surrounds the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    None,
    /// `target data`
    Data,
    /// `target enter data` and `target exit data`
    Enter,
}

/// Programs whose region must stay one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// A prefix sum under `num_threads(1)`.
    OneThread,
    /// A dependence inside the chunks of `schedule(static, 8)`.
    Chunk,
    /// A dependence under `if(parallel: 0)`.
    Serialised,
    /// `critical` in the loops.
    Critical,
    /// The number of the thread decides.
    ThreadNumber,
    /// An atomic capture on a scalar that no clause maps.
    Capture,
}

/// The function that holds the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The case's own function, or another one.
    Plain,
    /// `template <int K> static void work(..)`
    Template,
    /// `struct { int n, m; void work(..); }`
    Member,
    /// A function of a namespace.
    Namespace,
}

/// What the loops of pipelines are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiles {
    /// Arrays with a row for each iteration.
    pub rows: bool,
    /// Iterations read pieces of those before them.
    pub behind: bool,
    /// Iterations read pieces of those behind them.
    pub ahead: bool,
    pub sums: bool,
    /// Loops that begin and end elsewhere than their arrays, or have a number of iterations.
    pub ranges: bool,
    pub clauses: bool,
    /// An array is on the device before.
    pub present: bool,
    /// The loops stand in a `target data` construct, which maps the arrays.
    pub block: bool,
    /// How many tiles are on the device at a time.
    pub window: Option<u32>,
    /// The arrays are page-locked, and not copied through buffers.
    pub registered: bool,
}

/// All choices of a family.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub form: Form,
    pub kind: LoopKind,
    /// The fewest and the most loops of a region.
    pub loops: (usize, usize),
    /// Percent of loops whose header is not the plain one.
    pub headers: usize,
    /// Percent of loops over two dimensions.
    pub nests: usize,
    /// Percent of those with `collapse`.
    pub collapse: usize,
    pub storages: Vec<Storage>,
    pub sums: Sums,
    pub control: Vec<Control>,
    pub serial: Vec<Serial>,
    pub bodies: Vec<Body>,
    pub maps: Maps,
    pub region_clauses: Vec<RegionClause>,
    pub loop_clauses: Vec<LoopClause>,
    pub around: Around,
    /// Map modifiers.
    pub modifiers: bool,
    pub forbidden: Option<Forbidden>,
    pub cpp: bool,
    pub holder: Holder,
    /// Both forms, chosen by lengths at run time; sizes on both sides of the choice.
    pub versioned: bool,
    /// A program for the pass `pipeline`, of which nothing else here counts but `cpp`.
    pub tiles: Option<Tiles>,
}

impl Recipe {
    /// A region of this form with plain loops.
    pub fn new(form: Form) -> Self {
        Self {
            form,
            kind: LoopKind::For,
            loops: if form == Form::Single { (1, 1) } else { (2, 4) },
            headers: 15,
            nests: 20,
            collapse: 30,
            storages: vec![Storage::Heap, Storage::Heap, Storage::Heap, Storage::Static],
            sums: Sums::None,
            control: Vec::new(),
            serial: Vec::new(),
            bodies: vec![Body::InnerLoop, Body::Branch],
            maps: Maps::Plain,
            region_clauses: Vec::new(),
            loop_clauses: Vec::new(),
            around: Around::None,
            modifiers: false,
            forbidden: None,
            cpp: false,
            holder: Holder::Plain,
            versioned: false,
            tiles: None,
        }
    }
}
