//! The stable ids of all diagnostics, and the page of each.

/// What sort of message a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// The construct was left alone because it cannot be shown to be safe.
    Refusal,
    /// The construct was left alone because changing it does not pay.
    DoesNotPay,
    /// An edit is the same only if this holds.
    Assumption,
    /// Something the user should know.
    Note,
    /// The file could not be processed.
    Error,
}

/// Declares [`ReasonCode`] with each rule's id, kind, title and page. Ids are never reused.
macro_rules! reason_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, $kind:ident, $title:literal;)+) => {
        /// A rule that a diagnostic cites. The documentation of each variant is its page (`ompsplit rule OMPS###`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ReasonCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ReasonCode {
            /// Every rule, in the order of the ids.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The id: `OMPS101`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// What sort of message it gives.
            #[must_use]
            pub fn kind(self) -> RuleKind {
                match self { $(Self::$name => RuleKind::$kind,)+ }
            }

            /// A few words that name it.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Its page in Markdown, from the documentation of the variant.
            #[must_use]
            pub fn page(self) -> String {
                match self { $(Self::$name => concat!($($doc, "\n"),+),)+ }
                    .lines()
                    .map(|line| line.strip_prefix(' ').unwrap_or(line))
                    .collect::<Vec<_>>()
                    .join("\n")
            }

            /// The rule with this id.
            #[must_use]
            pub fn from_id(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(id))
            }
        }
    };
}

reason_codes! {
    /// The region holds a syntax error, or is enclosed by one, so its structure is not known.
    ///
    /// The parser had to skip or invent text there: a macro that is no expression or statement by itself, an unbalanced
    /// brace, an extension of the language that the grammar does not know. Errors elsewhere in the file do no harm.
    SyntaxError = "OMPS101", Refusal, "syntax error in or around the region";

    /// A preprocessor conditional cuts through the region or stands between a directive and its statement.
    ///
    /// Which text the compiler sees depends on macros, so no statement about the region holds for every build.
    PreprocessorConditional = "OMPS102", Refusal, "preprocessor conditional in the region";

    /// The directive comes from a macro, so its clauses are not known. Or a macro has the name of a word that would be written:
    /// `#define num_threads 8` changes each `num_threads` clause behind it.
    MacroDirective = "OMPS103", Refusal, "directive made by a macro";

    /// The directive or one of its clauses is not in the specification's tables, or could not be read.
    ///
    /// A word that the tables do not know may be a macro that hides `nowait`, `map` or `thread_limit`.
    UnknownClause = "OMPS104", Refusal, "unknown directive or clause";

    /// The clause is known, but there is no safe rule for it in this transformation.
    ///
    /// Two examples are `in_reduction`, and `nowait` or `depend` on a league with several loops. Where one team has several
    /// loops, these become the clauses of a task around the kernels, which keeps scalars and pointers as the region does; it
    /// cannot where a clause of the region is evaluated with what is mapped.
    ClauseWithoutRule = "OMPS105", Refusal, "clause without a safe rule";

    /// The region writes a variable that each kernel would get a copy of its own of.
    ///
    /// A scalar that no clause maps is firstprivate in every `target` construct (OpenMP 5.2, section 5.8.1), and one
    /// copy per thread in a combined kernel. Written in one kernel, its value would be lost to the next. The output declares
    /// a number that the region writes anew in the region's block, by the same name; this is refused where the name is not
    /// free for that: where its address is taken, or a clause of the region names it.
    ///
    /// ```c
    /// #pragma omp target firstprivate(last)
    /// {
    /// #pragma omp parallel for
    ///   for (int i = 0; i < n; i++) if (a[i] == 7) { _Pragma("omp atomic write") last = i; }
    /// #pragma omp parallel for
    ///   for (int i = 0; i < n; i++) b[i] = last;
    /// }
    /// ```
    ScalarWritten = "OMPS106", Refusal, "unmapped variable written in the region";

    /// The name is declared neither in the file nor in the project headers that it includes, so what it stands for is
    /// not known: it may be a macro.
    ///
    /// Give the include folders (`-- -Iinclude`, or `-p build` with a compile_commands.json).
    UnknownName = "OMPS107", Refusal, "name declared nowhere in sight";

    /// The region calls a function whose body is not in sight, or that calls one.
    ///
    /// It may ask for team or thread numbers, take a lock, or write what the kernels read.
    UnknownCall = "OMPS108", Refusal, "call of an unknown function";

    /// What the region does depends on its team: a query of team or thread numbers, a lock, `critical`, `barrier`,
    /// `single`, `masked`, `ordered`, or another construct that binds to the team.
    ///
    /// With another number of teams it would mean something else.
    TeamDependent = "OMPS109", Refusal, "the region depends on its team";

    /// The loop's clauses may serialise or group its iterations, so a conforming original may carry dependences between
    /// them that more teams would break.
    ///
    /// `num_threads`, `thread_limit` and `if` on the parallel part, `ordered`, `schedule(runtime)` and a chunk size other
    /// than 1 do so. A prefix sum under `num_threads(1)` is race-free; on many teams it is not.
    ///
    /// The loop is widened all the same where its iterations are proved independent: no two of them access one element that
    /// one of them writes, and none reads a variable that another set. The label says what is not proved. Leave the clause
    /// away, or write `order(concurrent)` or `loop`, if they are independent.
    IterationsGrouped = "OMPS110", Refusal, "iterations may be serialised or grouped";

    /// A serial statement stands beside the loops of the region, and neither can the host run it to the same effect nor can
    /// it be a kernel of its own.
    ///
    /// Statements that compute integers of variables which the region declares move to the host. Others become a kernel of
    /// one thread where the region is one team; each team of `target teams` would execute them.
    SerialStatement = "OMPS111", Refusal, "serial statement in the region";

    /// A variable is declared beside the loops of the region, and it lives on the device for the whole region.
    ///
    /// Numbers move to the host, with their values or computed by a kernel of one thread, and each loop gets them. Small
    /// arrays of numbers are mapped for the rest of their block. Large ones, pointers and objects are not, nor numbers of more
    /// than 64 bits. Declare others inside the loop that
    /// uses them, or before the region and map them. Rename a variable that hides one which a clause of the region names.
    LocalDeclaration = "OMPS112", Refusal, "declaration in the region";

    /// Sequential control flow stands around the loops of the region, an `if`, a `for` without a directive or a `while`,
    /// and it hangs on what only the device knows.
    ///
    /// It decides which loops run and how often. It moves to the host where it is steered by variables that the region
    /// declares and by numbers that no clause maps; an item of a `map` clause may have another value on the device. In a region
    /// of one team a kernel of one thread can evaluate the condition of an `if`, `while` or `do`, or of a `for` whose other
    /// parts the host can do.
    SequentialControl = "OMPS113", Refusal, "sequential control flow around the loops";

    /// The loop is not in canonical form (OpenMP 5.2, section 4.4.1), or not in a form that this tool reads.
    NotCanonical = "OMPS114", Refusal, "loop not in canonical form";

    /// The region is written as a GPU programmer writes: one `parallel` region per team in which the threads work together.
    ///
    /// Team-local arrays, barriers and thread numbers tie the statements to one team; there is nothing to split.
    CudaStyle = "OMPS115", Refusal, "team-local data and barriers, as in CUDA";

    /// The threads of a `parallel` region do more than share its loops: each keeps a value of its own from one loop to the
    /// next, or executes a statement that the host cannot execute for all of them.
    ///
    /// A variable that is private in the `parallel` region exists once for each thread, and the kernels have no threads in
    /// common. Declare it inside the loops, or assign it first in each iteration:
    ///
    /// ```c
    /// #pragma omp target parallel private(t)
    /// {
    /// #pragma omp for
    ///   for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }
    /// #pragma omp for
    ///   for (int i = 0; i < n; i++) c[i] = b[i] + t; // the value of the thread's last iteration above
    /// }
    /// ```
    BareParallel = "OMPS116", Refusal, "threads of a parallel region do more than share loops";

    /// Parallelism is nested inside a `distribute` loop, or the loop has no parallel part: a kernel of its own would not
    /// run in SPMD mode on the full grid.
    ///
    /// Where a `distribute` loop holds several parallel loops, each team takes its iterations through all of them, and needs
    /// no other team: only the order within one iteration is promised. The host may run such a loop in order, with a kernel for
    /// each loop inside, if what the team does beside them allows it; that pays where few iterations hold long loops. One
    /// parallel loop beside serial statements stays as it is, and so does a loop with a `reduction` or `collapse` of its own.
    NestedParallel = "OMPS117", Refusal, "no single-level parallel loop";

    /// The construct stands in a function or region that already runs on the device.
    DeviceCode = "OMPS118", Refusal, "the construct is device code already";

    /// The bound of a loop can only be evaluated on the device: it reads memory, or something that the region writes.
    ///
    /// On a combined `target teams distribute parallel for` the compiler evaluates the trip count on the host as well.
    BoundNotOnHost = "OMPS119", Refusal, "loop bound that the host cannot evaluate";

    /// A reduction that cannot move to a combined construct: of most array sections, with an operator of the user's own, or
    /// whose result the original loses while its variable may be present on the device.
    ///
    /// Each thread of each team has a copy of an array section. Short ones with constant bounds move, of an array or parameter of
    /// the function that a clause maps: others clang 19 compiles for no GPU, or adds up wrong. Atomic updates of the elements
    /// need no copies:
    ///
    /// ```c
    /// #pragma omp target map(to: key[0:n]) map(tofrom: count[0:k])
    /// {
    /// #pragma omp parallel for // instead of: reduction(+: count[0:k])
    ///   for (int i = 0; i < n; i++) {
    ///     #pragma omp atomic
    ///     count[key[i]] += 1;
    ///   }
    /// #pragma omp parallel for
    ///   for (int b = 0; b < k; b++) share[b] = (100 * count[b]) / n;
    /// }
    /// ```
    ///
    /// A sum that a `parallel` region gathers over several of its loops is refused where a loop also reads it.
    ReductionNotMovable = "OMPS120", Refusal, "reduction that cannot move";

    /// Two clauses that stand on different directives would name the same variable on one combined construct, where that
    /// is forbidden or means something else.
    SharingConflict = "OMPS121", Refusal, "data-sharing clauses that cannot be combined";

    /// The expression of a clause would be evaluated on the host instead of the device, and may have another value there.
    ExpressionNotMovable = "OMPS122", Refusal, "clause expression that cannot move to the host";

    /// Control may leave the loop or the region: `return`, `goto`, `break`, a label, an exception.
    ///
    /// An exception that is caught in the same iteration conforms, but NVIDIA devices know none: clang takes a `throw` there for
    /// one that is never reached.
    JumpOut = "OMPS123", Refusal, "jump in the region";

    /// A feature of C++ whose hidden calls or captures are not followed: `this`, a lambda, an object of class type, an
    /// overloaded operator, a type that depends on a template parameter.
    ///
    /// Followed are lambdas that an iteration declares and calls itself and that give numbers, range-based loops over arrays of
    /// numbers in an iteration, structures that are data alone, and classes of numbers without pointers whose operators and
    /// constructors are in sight and write only what they assign or make.
    HiddenCode = "OMPS124", Refusal, "C++ feature that may hide code";

    /// The directives are written in a spelling that this transformation does not write.
    Spelling = "OMPS125", Refusal, "spelling of the directive";

    /// The region holds a construct that is not a loop: `sections`, `task`, `single`, a nested data construct.
    OtherConstruct = "OMPS126", Refusal, "construct that is not a parallel loop";

    /// A `threadprivate` variable is used in the region: each thread has its own, and other threads would run the loop.
    Threadprivate = "OMPS127", Refusal, "threadprivate variable in the region";

    /// The macro is not an expression without side effects, so what it does to the loop is not known.
    ///
    /// Macros whose text is a plain expression (`#define N 1024`, `#define A(i, j) a[(i) * n + (j)]`) are read.
    OpaqueMacro = "OMPS128", Refusal, "macro that is no plain expression";

    /// An inner loop's variable is declared outside the parallel loop and no clause makes it private, so all threads share
    /// it: a race in the original. Each thread can have its own where each iteration sets it before it reads it, and nothing
    /// else in the region reads it; here that is not certain.
    SharedByAccident = "OMPS129", Refusal, "inner loop variable shared by all threads";

    /// An atomic operation on more than 64 bits, which is atomic within a team at best.
    WideAtomic = "OMPS130", Refusal, "atomic operation wider than 64 bits";

    /// Something that a compiler is known to refuse or to get wrong in the combined construct, though it takes it in the
    /// original: with clang 19 a member of a call's result or of a compound literal, and `lastprivate`, whose value is lost
    /// on NVIDIA devices.
    CompilerLimit = "OMPS131", Refusal, "compilers do not take it there";

    /// With `--facts clang`: the compiler takes a name in the construct for another variable, or for one of another type, than
    /// the text of the file and its project headers says.
    ///
    /// A macro of a header out of sight may stand behind it, or a declaration in a branch of an `#if` that the compiler does
    /// not see. Give the flags that the file is compiled with.
    FactsDisagree = "OMPS132", Refusal, "the text and the compiler disagree";

    /// The bounds of an inner loop depend on an outer one, so the iterations form no rectangle.
    ///
    /// `collapse` takes the bounds of all loops once, before the first iteration.
    NotRectangular = "OMPS140", Refusal, "iteration space that is not rectangular";

    /// With `collapse` the bounds of an inner loop are evaluated even where the outer loop has no iteration, and this one
    /// may then trap, or the loop's step or type leaves open how often it runs.
    ///
    /// ```c
    /// for (int i = 0; i < n; i++)
    ///   for (int j = 0; j < *m; j++) // n = 0 and m = NULL is fine as it is
    /// ```
    ///
    /// Copy the bound to a `const` variable before the construct.
    BoundMayTrap = "OMPS141", Refusal, "inner bound that cannot be evaluated in advance";

    /// The iterations of an inner loop are not shown to be independent: two of them may access one element, and one of the
    /// two writes it.
    ///
    /// The outer loop's directive promises that for its own iterations, not for those of the loops inside it.
    InnerLoopDependent = "OMPS142", Refusal, "inner iterations that may depend on each other";

    /// A variable that is declared outside of the inner loop carries a value from one of its iterations to the next.
    ///
    /// A sum over the inner loop is one such value. It stays a loop in each thread.
    ValueCarried = "OMPS143", Refusal, "variable that carries a value between inner iterations";

    /// A clause or directive around the loops says how their iterations are grouped, ordered or handed on, and would mean
    /// something else with more loops: `schedule`, `dist_schedule`, `ordered`, `lastprivate`, `num_threads`, `simd`.
    CollapseClause = "OMPS144", Refusal, "clause that does not go with more loops";

    /// The nest holds something whose effect on memory is not followed: a call, a macro that is no number, a pointer that it
    /// sets, a reference, a directive.
    NestNotFollowed = "OMPS145", Refusal, "nest whose accesses are not all understood";

    /// The head of the parallel loop cannot be cut into tiles: it does not run upwards by ones, or its bounds and the sizes of what
    /// is mapped are not made of numbers and of integers that keep their values; or the loop cannot stand twice in the function.
    ///
    /// Copy such a bound to a local variable before the construct:
    ///
    /// ```c
    /// const int n = *length;
    /// #pragma omp target teams distribute parallel for map(to: a[0:n]) map(from: b[0:n])
    /// ```
    LoopNotTiled = "OMPS150", Refusal, "loop that cannot be cut into tiles";

    /// A clause groups or orders iterations, hands a value on, or would mean something else on each of several tiles:
    /// `lastprivate`, `linear`, `if`, `device`, `schedule` with chunks, `defaultmap`, `map` with modifiers.
    /// Or another construct of the file maps with `nowait`: deferred, it may find arrays present before their tiles are copied.
    TileClause = "OMPS151", Refusal, "clause that does not go with tiles";

    /// The loop reaches memory that no clause of its construct maps, or does something that is not followed: a call, a pointer
    /// out of memory, a directive, a write to a shared variable. It may be part of an array whose tiles come and go.
    /// Or it names a variable of which each thread of the host has its own.
    ///
    /// In the block of a `target data` construct, something else than the loops may need the arrays before or behind their tiles: a
    /// `target update`, a kernel that reaches what the construct does not map, or host code that reaches memory or calls.
    ///
    /// Map each array by a clause of the construct, with its section.
    TileReach = "OMPS152", Refusal, "loop that reaches more than what it maps";

    /// No array that is copied can be cut into pieces, one for each iteration and one behind the other: it is accessed with a stride,
    /// backwards, through an index that memory holds, or by all iterations; or the section that is mapped does not consist
    /// of whole pieces. In a `target data` construct the first statement that uses an array, or the last one, must be a loop
    /// that goes through it so.
    NoPieces = "OMPS153", Refusal, "no array moves piece by piece";

    /// The loops are too small: what the full grid gains is less than the further launches cost.
    ///
    /// A launch is counted as 30 microseconds. The message gives both estimates, and where the text does not tell how long a
    /// loop is, what was assumed (`--assumed-iterations`) and from how many iterations on it would pay.
    TooSmall = "OMPS201", DoesNotPay, "too little work for further launches";

    /// The region is one kernel of two levels: the teams share a `distribute` loop, and the threads of each team the one
    /// parallel loop in it.
    ///
    /// That is a good form for long rows, whose elements neighbouring threads access. Where the inner loop is shorter than the
    /// 32 threads that run in step, most of them are idle; one loop over both may then be faster:
    ///
    /// ```c
    /// #pragma omp target teams distribute parallel for collapse(2)
    /// for (int i = 0; i < rows; i++)
    ///   for (int j = 0; j < 8; j++)
    ///     a[8 * i + j] *= 2;
    /// ```
    TwoLevels = "OMPS202", DoesNotPay, "teams and threads share two loops already";

    /// More parallel loops would not make the kernel faster: the outer loop fills the device already, and the accesses of
    /// neighbouring threads would lie further apart, or not nearer to each other by enough.
    ///
    /// The message gives both estimates, and the 32-byte sectors that 32 neighbouring threads touch in each access on the
    /// average, before and after. Loops whose length the text does not tell are assumed to have as many iterations as it says.
    CollapseDoesNotPay = "OMPS240", DoesNotPay, "collapse gains nothing";

    /// An array without a map clause would be mapped once, explicitly. If only a part of it is present on the device at that
    /// point, the implicit map of the original works and the explicit one fails.
    PartlyPresent = "OMPS301", Assumption, "the array is not partly present on the device";

    /// A variable that no clause maps is copied when each kernel starts. It is taken not to be one that an earlier loop of
    /// the region writes through a pointer or reference.
    ///
    /// On a device both have separate storage. On the host (`if(0)`, no device, unified shared memory) they may be one
    /// object, and the original would still use the value from the region's start:
    ///
    /// ```c
    /// int n = 4, *a = &n;
    /// #pragma omp target map(tofrom: a[0:1])
    /// {
    /// #pragma omp parallel for
    ///   for (int i = 0; i < 1; i++) a[i] = 7;
    /// #pragma omp parallel for
    ///   for (int i = 0; i < 9; i++) b[i] = n; // 4, and 7 after a split on the host
    /// }
    /// ```
    NotAliased = "OMPS302", Assumption, "the variable is not written through another name";

    /// A loop calls a function whose body is not in sight, or uses objects of a type that may have operators of its own. It
    /// is taken not to ask for its team or its threads: with `thread_limit` the answers may be others.
    NoTeamQuery = "OMPS303", Assumption, "the called function does not ask for its team";

    /// The region stands in a template, and a parameter that is a type is taken for an arithmetic type.
    ///
    /// If it stands for a class, operators and conversions in the region are calls of code that is not followed.
    ArithmeticParameter = "OMPS304", Assumption, "the template's parameter is an arithmetic type";

    /// Tiles are written for NVIDIA's HPC compilers (`--for nvhpc`). They were run with clang alone: with its runtime copies of
    /// sections of present arrays, from several threads of the host, are what the specification says.
    ///
    /// Faults of other releases in just that are known, so that `--for nvhpc` changes nothing without `--assume`. Try the result on
    /// inputs that you know the results of.
    UntriedCompiler = "OMPS305", Assumption, "the compiler translates tiles as specified";

    /// Two pointers, of which the loops write through one, are taken not to lead to the same elements.
    ///
    /// It is proved where both are arrays of their own, are `restrict` parameters, point to types that may not alias, or are
    /// mapped with sections by one construct that hold all accesses: such sections must not share storage (OpenMP 5.2,
    /// section 5.8.3).
    PointersDistinct = "OMPS340", Assumption, "the pointers lead to different elements";

    /// Too little is copied for tiles, or most of what is copied is needed by all of them. Each tile costs launches and copies of
    /// its own, and page-locking its memory takes time. Or the runtime that the result is for (`--for gcc`) does one copy or
    /// kernel at a time.
    TooLittleToCopy = "OMPS250", DoesNotPay, "too little to copy in tiles";

    /// The loops of the original are not ordered: a `teams` region has no barrier between `distribute` loops. One reads or
    /// writes what another writes, so the original has a race. After the split they run one after the other.
    ///
    /// Or all threads share a variable that is declared outside of a parallel loop, and each iteration sets it: an inner
    /// loop's counter, a sum. Where more than one thread runs the loop, they race. The output gives each its own.
    OriginalRaces = "OMPS401", Note, "the original's loops race";

    /// A suppression names a rule of this tool that reports nothing there, so it can be removed.
    ///
    /// ```c
    /// #pragma omp target // NOLINT(OMPS101)
    /// ```
    ///
    /// Only suppressions that name an `OMPS` id are reported: a plain `NOLINT` may be meant for another tool.
    UnusedSuppression = "OMPS403", Note, "suppression without effect";

    /// The region is one kernel on the full grid already, or holds no parallel loop: there is nothing to split.
    NothingToSplit = "OMPS404", Note, "nothing to split";

    /// `--versioned` asks for both forms, but they cannot be written here: the host cannot ask for the lengths of the loops before
    /// the region, or the region cannot stand twice.
    ///
    /// The condition compares integers of at least 32 bits which no clause maps; those of a product, as in `i < n * m`, are of one
    /// type. A label, a `static` variable, a lambda or inline assembly keeps a region from standing twice. The decision then
    /// rests on `--assumed-iterations`.
    NotVersioned = "OMPS405", Note, "no two versions";

    /// A loop combines its results in a scalar that no clause maps. It is firstprivate in the region, so the program never
    /// sees the result.
    ///
    /// The split keeps that. Map the variable if the result is wanted:
    ///
    /// ```c
    /// #pragma omp target map(tofrom: sum)
    /// {
    /// #pragma omp parallel for reduction(+: sum)
    ///   for (int i = 0; i < n; i++) sum += a[i];
    /// }
    /// ```
    LostResult = "OMPS406", Note, "result of a reduction is lost";

    /// A clause of the loop's directives says how many threads a team has (`thread_limit`, `num_threads`) or how iterations
    /// go to teams (`dist_schedule`): the choice is the user's.
    GridWritten = "OMPS407", Note, "the grid is written down";

    /// The loops inside the parallel loop are not perfectly nested in it: something stands beside them, or they are not in
    /// canonical form.
    NothingToCollapse = "OMPS440", Note, "no perfect loop nest";

    /// The clauses of a loop choose a grid that is predicted to take more than twice as long on the device that was asked for
    /// as the one that this tool would choose. It is left as it is.
    ///
    /// Take `num_teams` and `thread_limit` away, and the tool writes its own. `ompsplit explain` shows both predictions.
    GridFarOff = "OMPS450", Note, "the written grid is far off";

    /// The loop copies nothing that could overlap with its kernel: no clause maps anything, it is a task already, or the other branch
    /// of its `if` has tasks for it.
    NothingToPipeline = "OMPS460", Note, "nothing to overlap";

    /// The file cannot be read: it is binary, too large, nested too deeply, or took too long to parse.
    Unreadable = "OMPS901", Error, "file cannot be read";

    /// The new text did not pass a check of its own, so the original is kept. This is a fault of the tool: report it.
    ValidationFailed = "OMPS902", Error, "the result failed validation";
}
