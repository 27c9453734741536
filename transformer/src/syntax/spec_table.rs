//! The specification's tables as data (OpenMP 5.2).

/// What a directive is associated with (5.2, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Association {
    /// Nothing: a stand-alone or utility directive (`barrier`, `target update`).
    None,
    /// One structured block, or a statement (`target`, `parallel`, `atomic`).
    Block,
    /// A canonical loop nest (`for`, `distribute`, `loop`, `simd`).
    Loop,
    /// A sequence of structured blocks up to the next separator (`section`, `scan`).
    Separator,
    /// A declaration or definition that follows (`declare simd`, `declare variant`).
    Declaration,
    /// All up to its `end` directive (`begin declare target`, `declare target` without arguments).
    Delimited,
}

/// The constructs that a combined or composite construct is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the directive of that name")]
pub enum Leaf {
    Target,
    Teams,
    Distribute,
    Parallel,
    For,
    Simd,
    Loop,
    Sections,
    Masked,
    Master,
    Taskloop,
    /// Any construct that is never combined with one of the above.
    Other,
}

/// A row of the directive table.
#[derive(Debug, PartialEq, Eq)]
pub struct DirectiveSpec {
    /// The name with single blanks between its words.
    pub name: &'static str,
    /// What it stands before.
    pub association: Association,
    /// What it is made of, outermost first.
    pub leaves: &'static [Leaf],
    /// The clauses it may carry.
    pub clauses: &'static [ClauseId],
}

/// The clauses of OpenMP 5.2, and those that clang adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the clause of that name")]
pub enum ClauseId {
    Map,
    Private,
    /// A clause that the table does not hold.
    Unknown,
}
