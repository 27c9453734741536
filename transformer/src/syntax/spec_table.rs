//! The specification's tables as data (OpenMP 5.2, and the names that 5.0, 5.1 and 6.0 use).
//!
//! Adding a directive is a row in `directives.rs`, adding a clause a row in `clauses.rs` and its name in the rows of
//! the directives that permit it.

mod clauses;
mod directives;
mod landing;

pub use clauses::{ArgumentForm, CLAUSES, ClauseId, ClauseSet, ClauseSpec};
pub use directives::DIRECTIVES;
pub use landing::{EXCLUSIONS, Exclusion, Rule, exclusion, landing, shared_on};

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
    pub clauses: ClauseSet,
    /// May its name be followed by an argument in parentheses (`critical(name)`)?
    pub takes_argument: bool,
}

impl DirectiveSpec {
    /// The row of a directive: its name with single blanks between the words.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        DIRECTIVES.binary_search_by(|row| row.name.cmp(name)).ok().and_then(|i| DIRECTIVES.get(i))
    }

    /// Is it a word of some directive's name?
    #[must_use]
    pub fn has_word(word: &str) -> bool {
        DIRECTIVES.iter().any(|row| row.name.split(' ').any(|part| part == word))
    }

    /// Is it made of more than one construct?
    #[must_use]
    pub fn is_combined(&self) -> bool {
        self.leaves.len() > 1
    }

    /// Is this one of the constructs that it is made of?
    #[must_use]
    pub fn has_leaf(&self, leaf: Leaf) -> bool {
        self.leaves.contains(&leaf)
    }
}

impl Leaf {
    /// The name of its directive; empty for [`Leaf::Other`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Teams => "teams",
            Self::Distribute => "distribute",
            Self::Parallel => "parallel",
            Self::For => "for",
            Self::Simd => "simd",
            Self::Loop => "loop",
            Self::Sections => "sections",
            Self::Masked => "masked",
            Self::Master => "master",
            Self::Taskloop => "taskloop",
            Self::Other => "",
        }
    }

    /// The row of its own directive.
    #[must_use]
    pub fn spec(self) -> Option<&'static DirectiveSpec> {
        DirectiveSpec::of_name(self.name())
    }
}

/// The constructs that a directive is made of, outermost first (5.2, section 17.1).
#[must_use]
pub fn decompose(name: &str) -> Option<&'static [Leaf]> {
    DirectiveSpec::of_name(name).map(|row| row.leaves)
}

/// The directive that is made of these constructs, if there is one.
#[must_use]
pub fn combine(leaves: &[Leaf]) -> Option<&'static DirectiveSpec> {
    DIRECTIVES.iter().find(|row| row.leaves == leaves && !leaves.contains(&Leaf::Other))
}

#[cfg(test)]
mod tests;
