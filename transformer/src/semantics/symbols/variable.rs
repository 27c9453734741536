//! What is told of a name that is looked up.

use super::DeclaredType;
use crate::source::Span;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a block, a loop's head, a lambda's capture.
    Local,
    /// A parameter of a function, a lambda or a handler.
    Parameter,
    /// Outside of all functions, in a namespace or not.
    File,
    /// A member of a class or structure.
    Member,
    /// Not known: an enumerator's, a template parameter's.
    Unknown,
}

/// What sort of thing a name is declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A variable, parameter or data member.
    Variable,
    /// A function.
    Function,
    /// A type.
    Type,
    /// An enumerator: a constant.
    Enumerator,
    /// A parameter of a template, of either kind.
    TemplateParameter,
}

/// A place in the file or one of its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The header, as an index into the headers given; `None` is the file itself.
    pub header: Option<usize>,
    /// Where in it.
    pub span: Span,
}

/// The header of what is declared neither in the file nor in a header that was given.
pub const ELSEWHERE: usize = usize::MAX;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The name in its declaration; the last one visible where there are several.
    pub declared_at: Span,
    /// The header that declares it, or `None` if the file does.
    pub header: Option<usize>,
    /// Where it lives.
    pub scope: Scope,
    /// What it is.
    pub kind: NameKind,
    /// Its declared type.
    pub ty: DeclaredType,
    /// Is it declared `static`?
    pub is_static: bool,
    /// Is it declared `extern`?
    pub is_extern: bool,
    /// Is it declared `thread_local`, `_Thread_local` or `__thread`?
    pub is_thread_local: bool,
    /// Is it declared `constexpr`?
    pub is_constexpr: bool,
    /// The expression or list that it is initialised with.
    pub initializer: Option<Span>,
}

impl Variable {
    /// Does one object serve all calls and threads: declared outside of functions, or `static` in one?
    #[must_use]
    pub fn has_static_storage(&self) -> bool {
        (self.scope == Scope::File || self.is_static || self.is_extern) && !self.is_thread_local
    }
}
