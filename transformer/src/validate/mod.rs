//! Checks of the output: in the process, with clang, and by running it.

pub mod cache;
pub mod changes;
pub mod clang;
pub mod host;
pub mod interrupt;

use crate::region::construct::ConstructTree;
use crate::syntax::HostTree;

/// The problems of a text, counted: an edit must not add any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problems {
    /// ERROR and MISSING nodes of the host tree.
    pub syntax: usize,
    /// Directives that cannot be read.
    pub directives: usize,
    /// Constructs without a statement.
    pub statements: usize,
}

/// Counts the problems of a parsed text.
#[must_use]
pub fn problems(tree: &HostTree, constructs: &ConstructTree) -> Problems {
    let unreadable = constructs.directives.iter().filter(|d| !d.problems.is_empty() || d.spec.is_none()).count();
    let bare =
        constructs.constructs.iter().filter(|c| matches!(c.doubt, Some(crate::region::construct::Doubt::NoStatement)));
    Problems { syntax: tree.problems().len(), directives: unreadable, statements: bare.count() }
}

/// Checks that a new text has no more problems than the old one.
///
/// # Errors
/// A sentence that says what is new.
pub fn no_new_problems(before: Problems, after: Problems) -> Result<(), String> {
    if after.syntax > before.syntax {
        return Err("it has a syntax error that the original has not".to_owned());
    }
    if after.directives > before.directives {
        return Err("it has a directive that cannot be read".to_owned());
    }
    if after.statements > before.statements {
        return Err("a directive lost its statement".to_owned());
    }
    Ok(())
}
