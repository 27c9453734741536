//! Which variable a name means: the one identity that all passes share.

use crate::semantics::symbols::Variable;
use crate::source::Span;

/// One variable, known by the place of its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId {
    /// The header that declares it, or `None` for the file.
    pub header: Option<usize>,
    /// Its name in the declaration.
    pub declared_at: Span,
}

impl VariableId {
    /// Is it declared within a part of the file?
    #[must_use]
    pub fn is_within(self, part: Span) -> bool {
        self.header.is_none() && part.contains(self.declared_at)
    }
}

impl Variable {
    /// Which variable it is.
    #[must_use]
    pub fn id(&self) -> VariableId {
        VariableId { header: self.header, declared_at: self.declared_at }
    }
}
