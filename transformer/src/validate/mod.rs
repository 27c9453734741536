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
    /// Carriage returns within lines, which some compilers take for the end of a line and others do not.
    pub returns: usize,
}

/// Counts the problems of a parsed text.
#[must_use]
pub fn problems(text: &[u8], tree: &HostTree, constructs: &ConstructTree) -> Problems {
    let unreadable = constructs.directives.iter().filter(|d| !d.problems.is_empty() || d.spec.is_none()).count();
    let bare =
        constructs.constructs.iter().filter(|c| matches!(c.doubt, Some(crate::region::construct::Doubt::NoStatement)));
    let returns = memchr::memchr_iter(b'\r', text).filter(|at| text.get(at + 1) != Some(&b'\n'));
    Problems {
        syntax: tree.problems().len(),
        directives: unreadable,
        statements: bare.count(),
        returns: returns.count(),
    }
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
    if after.returns > before.returns {
        return Err("it has a carriage return within a line that the original has not".to_owned());
    }
    Ok(())
}
