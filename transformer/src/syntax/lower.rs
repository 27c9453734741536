//! From the grammar of one directive to its typed form. The only file that names `tree-sitter-openmp`.

use crate::source::{DirectiveText, SourceFile};
use crate::syntax::Directive;

/// Reads directives of one file; it holds the parser between them.
pub struct DirectiveReader {}

impl DirectiveReader {
    /// Reads one directive. A directive that has no readable text comes back with a problem.
    pub fn read(&mut self, _file: &SourceFile, _text: &DirectiveText) -> Option<Directive> {
        None
    }
}
