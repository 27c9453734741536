//! What a `defaultmap` clause says.

use crate::source::SourceFile;
use crate::syntax::clause::{Clause, ClauseArgument};

/// What becomes of variables that no other clause lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// As `map(alloc: ..)`.
    Alloc,
    /// As `map(to: ..)`.
    To,
    /// As `map(from: ..)`.
    From,
    /// As `map(tofrom: ..)`.
    Tofrom,
    /// Each thread has its own copy.
    Firstprivate,
    /// Each has its own, without a value.
    Private,
    /// They must be on the device.
    Present,
    /// There are none.
    None,
    /// What holds without the clause.
    Default,
}

impl Behaviour {
    /// The map type that it names.
    #[must_use]
    pub fn map_type(self) -> Option<&'static str> {
        match self {
            Self::Alloc => Some("alloc"),
            Self::To => Some("to"),
            Self::From => Some("from"),
            Self::Tofrom => Some("tofrom"),
            Self::Firstprivate | Self::Private | Self::Present | Self::None | Self::Default => None,
        }
    }
}

/// Which variables are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Numbers and the like, but for pointers.
    Scalar,
    /// Arrays and structures.
    Aggregate,
    /// Pointers.
    Pointer,
    /// Fortran's, of which C has none.
    Allocatable,
    /// All.
    All,
}

/// A `defaultmap` clause (OpenMP 5.2, section 5.8.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaultmap {
    /// What becomes of them.
    pub behaviour: Behaviour,
    /// Of which.
    pub category: Category,
}

impl Defaultmap {
    /// Reads a clause; `None` if it is another one, or says what the specification does not.
    #[must_use]
    pub fn of(file: &SourceFile, clause: &Clause) -> Option<Self> {
        let ClauseArgument::Words(spans) = &clause.argument else { return None };
        let behaviour = match &*file.show(*spans.first()?) {
            "alloc" => Behaviour::Alloc,
            "to" => Behaviour::To,
            "from" => Behaviour::From,
            "tofrom" => Behaviour::Tofrom,
            "firstprivate" => Behaviour::Firstprivate,
            "private" => Behaviour::Private,
            "present" => Behaviour::Present,
            "none" => Behaviour::None,
            "default" => Behaviour::Default,
            _ => return None,
        };
        let category = match spans.get(1) {
            None => Category::All,
            Some(span) => match &*file.show(*span) {
                "scalar" => Category::Scalar,
                "aggregate" => Category::Aggregate,
                "pointer" => Category::Pointer,
                "allocatable" => Category::Allocatable,
                "all" => Category::All,
                _ => return None,
            },
        };
        Some(Self { behaviour, category })
    }
}
