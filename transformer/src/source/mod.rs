//! The text of one file and the directives in it, before any grammar reads it.

mod file;
pub mod pragma_scan;
mod span;
mod words;

pub use file::{Language, LineEnding, SourceFile};
pub use pragma_scan::{
    Conditional, ConditionalBranch, DirectiveText, Include, MacroDefinition, Note, Scan, Spelling, Unclear,
    may_hold_directives, mentions_target, scan, unclear, unclosed,
};
pub use span::{LineColumn, LineIndex, Span};
pub use words::{is_part_of_word, with_words, without_comments, words};
