//! A tree-sitter grammar for the text of one OpenMP directive.
//!
//! The text is what follows the `omp` sentinel, continuations included. Hosts keep their own grammar and read a directive
//! in place with `Parser::set_included_ranges`, so that every node has its position in the file:
//!
//! ```
//! let text = "target map(to: a[0:n])";
//! let mut parser = tree_sitter::Parser::new();
//! parser.set_language(&tree_sitter_openmp::LANGUAGE.into())?;
//! let tree = parser.parse(text, None).ok_or("no tree")?;
//! assert_eq!(
//!     tree.root_node().to_sexp(),
//!     "(directive (item name: (word)) (item name: (word) argument: (argument (word) (word) \
//!      (bracketed (number) (word)))))"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use tree_sitter_language::LanguageFn;

#[expect(unsafe_code, reason = "the generated parser is C")]
unsafe extern "C" {
    fn tree_sitter_openmp() -> *const ();
}

/// The grammar, for `tree_sitter::Parser::set_language`.
#[expect(unsafe_code, reason = "the function is the one that the generated parser defines for this purpose")]
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_openmp) };

/// The names of the nodes and what each may hold, as JSON.
pub const NODE_TYPES: &str = include_str!("../../src/node-types.json");

/// A query for the injections of C and C++: which text of theirs this grammar reads.
pub const HOST_INJECTIONS_QUERY: &str = include_str!("../../queries/host-injections.scm");

/// The query for syntax highlighting.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");
