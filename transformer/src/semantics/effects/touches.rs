//! In which terms the effects of host code are told: memory, accesses of it, and what is not known.

use crate::semantics::symbols::VariableId;
use crate::source::Span;

/// A variable as a piece of code names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// A byte at which the name means it.
    pub at: usize,
    /// Which one it is.
    pub id: VariableId,
}

/// Memory, by what leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The variable itself, the elements of an array and the members of a structure among it.
    Variable(Named),
    /// What a pointer variable leads to by one subscript, `*` or `->`.
    Behind(Named),
    /// Any memory whose address is known to somebody else than its owner.
    Memory,
}

/// One access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// What is accessed.
    pub storage: Storage,
    /// Is it written (and perhaps read)?
    pub writes: bool,
    /// Is it of the one object that the pointer variable itself leads to: `*p`, `p->m`?
    pub is_of_first: bool,
    /// Where.
    pub span: Span,
}

/// What sort of thing is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKind {
    /// A call of a function that is not in sight: it reaches what others know the address of, and may not come back.
    Call,
    /// A call of a function in sight that has OpenMP constructs.
    Constructs,
    /// Anything else: it may do whatever the program can.
    Code,
}

/// Something whose effect is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What sort of thing.
    pub kind: UnknownKind,
    /// Where.
    pub span: Span,
    /// A few words on it: "`report` is not in sight".
    pub message: String,
}

/// What a piece of host code does.
#[derive(Clone, Debug, Default)]
pub struct HostEffects {
    /// The accesses, in the order of the text.
    pub touches: Vec<Touch>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
    /// The arrays and pointers by which constructs beside the code may write memory of the host, where all of them are known.
    pub written_back: Option<Vec<Named>>,
}

impl HostEffects {
    /// The first place where the variable itself is written by its name.
    #[must_use]
    pub fn writes_variable(&self, id: VariableId) -> Option<Span> {
        self.writes_of(id).next()
    }

    /// All places where the variable itself is written by its name.
    pub fn writes_of(&self, id: VariableId) -> impl Iterator<Item = Span> + '_ {
        let is_meant =
            move |touch: &&Touch| touch.writes && matches!(&touch.storage, Storage::Variable(named) if named.id == id);
        self.touches.iter().filter(is_meant).map(|touch| touch.span)
    }
}
