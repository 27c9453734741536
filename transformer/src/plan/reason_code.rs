//! The stable ids of all diagnostics, and the page of each.

/// What sort of message a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// The construct was left alone because it cannot be shown to be safe.
    Refusal,
    /// The construct was left alone because changing it does not pay.
    DoesNotPay,
    /// An edit gives the same results only if this holds.
    Assumption,
    /// Something the user should know.
    Note,
    /// The file could not be processed.
    Error,
}

/// Declares [`ReasonCode`] with each rule's id, kind, title and page. Ids are never reused.
macro_rules! reason_codes {
    ($($name:ident = $id:literal, $kind:ident, $title:literal;)+) => {
        /// A rule that a diagnostic cites. The documentation of each variant is its page (`ompsplit rule OMPS###`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ReasonCode {
            $(#[doc = include_str!(concat!("reason_code/", $id, ".md"))] $name,)+
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
                match self { $(Self::$name => include_str!(concat!("reason_code/", $id, ".md")),)+ }.trim_end().to_owned()
            }

            /// The rule with this id.
            #[must_use]
            pub fn from_id(id: &str) -> Option<Self> {
                let is_it = |known: &str| known.eq_ignore_ascii_case(id) || known.strip_prefix("OMPS") == Some(id);
                Self::ALL.iter().copied().find(|code| is_it(code.id()))
            }
        }
    };
}

reason_codes! {
    SyntaxError = "OMPS101", Refusal, "syntax error in or around the region";
    PreprocessorConditional = "OMPS102", Refusal, "preprocessor conditional in the region";
    MacroDirective = "OMPS103", Refusal, "directive made by a macro";
    UnknownClause = "OMPS104", Refusal, "unknown directive or clause";
    ClauseWithoutRule = "OMPS105", Refusal, "clause without a safe rule";
    ScalarWritten = "OMPS106", Refusal, "unmapped variable written in the region";
    UnknownName = "OMPS107", Refusal, "name declared nowhere in sight";
    UnknownCall = "OMPS108", Refusal, "call of an unknown function";
    TeamDependent = "OMPS109", Refusal, "the region depends on its team";
    IterationsGrouped = "OMPS110", Refusal, "iterations may be serialised or grouped";
    SerialStatement = "OMPS111", Refusal, "serial statement in the region";
    LocalDeclaration = "OMPS112", Refusal, "declaration in the region";
    SequentialControl = "OMPS113", Refusal, "sequential control flow around the loops";
    NotCanonical = "OMPS114", Refusal, "loop not in canonical form";
    CudaStyle = "OMPS115", Refusal, "team-local data and barriers, as in CUDA";
    BareParallel = "OMPS116", Refusal, "threads of a parallel region do more than share loops";
    NestedParallel = "OMPS117", Refusal, "no single-level parallel loop";
    DeviceCode = "OMPS118", Refusal, "the construct is device code already";
    BoundNotOnHost = "OMPS119", Refusal, "loop bound that the host cannot evaluate";
    ReductionNotMovable = "OMPS120", Refusal, "reduction that cannot move";
    SharingConflict = "OMPS121", Refusal, "data-sharing clauses that cannot be combined";
    ExpressionNotMovable = "OMPS122", Refusal, "clause expression that cannot move to the host";
    JumpOut = "OMPS123", Refusal, "jump in the region";
    HiddenCode = "OMPS124", Refusal, "C++ feature that may hide code";
    Spelling = "OMPS125", Refusal, "spelling of the directive";
    OtherConstruct = "OMPS126", Refusal, "construct that is not a parallel loop";
    Threadprivate = "OMPS127", Refusal, "threadprivate variable in the region";
    OpaqueMacro = "OMPS128", Refusal, "macro that is no plain expression";
    SharedByAccident = "OMPS129", Refusal, "inner loop variable shared by all threads";
    WideAtomic = "OMPS130", Refusal, "atomic operation wider than 64 bits";
    CompilerLimit = "OMPS131", Refusal, "compilers do not take it there";
    FactsDisagree = "OMPS132", Refusal, "the text and the compiler disagree";
    CutWord = "OMPS133", Refusal, "word cut by a line splice or a trigraph";
    OtherType = "OMPS134", Refusal, "standard type with another meaning";
    UnknownAttribute = "OMPS135", Refusal, "attribute that may change a meaning";
    NotRectangular = "OMPS140", Refusal, "iteration space that is not rectangular";
    BoundMayTrap = "OMPS141", Refusal, "inner bound that cannot be evaluated in advance";
    InnerLoopDependent = "OMPS142", Refusal, "inner iterations that may depend on each other";
    ValueCarried = "OMPS143", Refusal, "variable that carries a value between inner iterations";
    CollapseClause = "OMPS144", Refusal, "clause that does not go with more loops";
    NestNotFollowed = "OMPS145", Refusal, "nest whose accesses are not all understood";
    LoopNotTiled = "OMPS150", Refusal, "loop that cannot be cut into tiles";
    TileClause = "OMPS151", Refusal, "clause that does not go with tiles";
    TileReach = "OMPS152", Refusal, "loop that reaches more than what it maps";
    NoPieces = "OMPS153", Refusal, "no array moves piece by piece";
    TransferClause = "OMPS156", Refusal, "array that cannot be copied by itself";
    TransferReach = "OMPS157", Refusal, "what may reach an array while it is copied";
    TransferPlace = "OMPS158", Refusal, "no place for copies beside kernels";
    HostAccess = "OMPS160", Refusal, "the host needs the data between the constructs";
    MapNotUnited = "OMPS161", Refusal, "maps that cannot be united";
    StorageOverlap = "OMPS162", Refusal, "storage that may overlap in part";
    NotCertain = "OMPS163", Refusal, "no construct certainly runs";
    EnvironmentPlace = "OMPS164", Refusal, "no place for a data environment";
    GridDecides = "OMPS165", Refusal, "the written grid may decide a result";
    UnrollNotAllowed = "OMPS170", Refusal, "no `unroll` construct may stand there";
    AccumulatorReached = "OMPS180", Refusal, "sum in memory that more may reach";
    NotOneLoop = "OMPS190", Note, "neighbouring constructs that one cannot stand for";
    IterationsMeet = "OMPS191", Note, "iterations of neighbouring constructs that may meet";
    HostLoopStays = "OMPS192", Note, "a loop of the host that stays around its kernel";
    RowNotShared = "OMPS195", Refusal, "row that a team cannot share";
    NotGrouped = "OMPS860", Refusal, "iterations that one thread cannot group";
    GroupsDoNotPay = "OMPS861", DoesNotPay, "groups of iterations gain nothing";
    Grouped = "OMPS862", Note, "iterations are grouped already";
    OtherRounding = "OMPS863", Assumption, "numbers may be rounded otherwise";
    NotStaged = "OMPS864", Refusal, "loads that a team cannot stage";
    StagingDoesNotPay = "OMPS865", DoesNotPay, "tiles in team memory gain nothing";
    RowsNotTiled = "OMPS866", Refusal, "rows that one thread cannot take together";
    TilesDoNotPay = "OMPS867", DoesNotPay, "tiles of iterations gain nothing, or cannot be counted";
    TeamsNotCombined = "OMPS868", Refusal, "results of teams that no atomic updates combine";
    CombiningDoesNotPay = "OMPS869", DoesNotPay, "atomic updates gain nothing that is known";
    TooSmall = "OMPS201", DoesNotPay, "too little work for further launches";
    TwoLevels = "OMPS202", DoesNotPay, "teams and threads share two loops already";
    CollapseDoesNotPay = "OMPS240", DoesNotPay, "collapse gains nothing";
    PartlyPresent = "OMPS301", Assumption, "the array is not partly present on the device";
    NotAliased = "OMPS302", Assumption, "the variable is not written through another name";
    NoTeamQuery = "OMPS303", Assumption, "the called function does not ask for its team";
    ArithmeticParameter = "OMPS304", Assumption, "the template's parameter is an arithmetic type";
    UntriedCompiler = "OMPS305", Assumption, "the compiler translates tiles as specified";
    PointersDistinct = "OMPS340", Assumption, "the pointers lead to different elements";
    OtherOrder = "OMPS341", Assumption, "the order of a sum may change";
    MemoryForAll = "OMPS342", Assumption, "the device has memory for the data of several kernels";
    FuseDoesNotPay = "OMPS290", DoesNotPay, "no launch is worth saving";
    RowsDoNotPay = "OMPS295", DoesNotPay, "whole teams for rows gain nothing";
    UnrollDoesNotPay = "OMPS270", DoesNotPay, "not known to be faster unrolled";
    GridDoesNotPay = "OMPS251", DoesNotPay, "no grid is predicted to gain anything";
    TooLittleToCopy = "OMPS250", DoesNotPay, "too little to copy in tiles";
    TooLittleHidden = "OMPS256", DoesNotPay, "kernels hide too little of the copies";
    OriginalRaces = "OMPS401", Note, "the original's loops race";
    UnusedSuppression = "OMPS403", Note, "suppression without effect";
    NothingToSplit = "OMPS404", Note, "nothing to split";
    NotVersioned = "OMPS405", Note, "no two versions";
    LostResult = "OMPS406", Note, "result of a reduction is lost";
    GridWritten = "OMPS407", Note, "the grid is written down";
    NothingToCollapse = "OMPS440", Note, "no perfect loop nest";
    GridFarOff = "OMPS450", Note, "the written grid is far off";
    Tuned = "OMPS455", Note, "the kernel was tuned";
    NothingToPipeline = "OMPS460", Note, "nothing to overlap";
    NothingToHoist = "OMPS465", Note, "nothing travels";
    NothingToOverlap = "OMPS480", Note, "no copy that a kernel need not wait for";
    UnrollWritten = "OMPS470", Note, "directives stand in the loop";
    Unreadable = "OMPS901", Error, "file cannot be read";
    ValidationFailed = "OMPS902", Error, "the result failed validation";
}
