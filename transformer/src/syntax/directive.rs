//! One directive, typed.

use crate::source::{Span, Spelling};
use crate::syntax::Clause;
use crate::syntax::spec_table::DirectiveSpec;

/// One OpenMP directive: its name, taken apart by the specification's table, and its clauses as written.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The whole directive, `#pragma omp` included: [`crate::source::DirectiveText::span`].
    pub span: Span,
    /// How it is written down.
    pub spelling: Spelling,
    /// The words of its name in the file (`target teams`, with what lies between them); empty if there is none.
    pub name_span: Span,
    /// The name with single blanks between its words and 6.0's underscores taken as blanks.
    pub name: String,
    /// The table's row for the name; `None` for a directive that it does not know.
    pub spec: Option<&'static DirectiveSpec>,
    /// The argument that some directives take in parentheses right after their name (`critical(name)`, `flush(list)`,
    /// `declare target(list)`, `depobj(x)`), without the parentheses.
    pub argument: Option<Span>,
    /// The clauses in the order written.
    pub clauses: Vec<Clause>,
    /// Where the text could not be read as a directive; such a directive must not be touched.
    pub problems: Vec<Span>,
    /// The `#if` alternatives it stands in, as in [`crate::source::DirectiveText::alternative`].
    pub alternative: Option<(usize, usize)>,
}
