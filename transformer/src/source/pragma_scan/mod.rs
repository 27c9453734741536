//! Finds OpenMP directives and the preprocessor lines that matter, without a grammar.

mod bytes;
mod conditional;
mod directive_line;
mod inline;
mod lexer;
mod macros;
#[cfg(test)]
mod tests;
mod unclear;
mod unclosed;

use memchr::memmem;

use crate::source::Span;
use bytes::Bytes;
use lexer::Lexer;
use macros::PragmaMacros;

pub use unclear::{Unclear, unclear};
pub use unclosed::unclosed;

/// How a directive is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `#pragma omp ..`, `# pragma omp ..`, `%:pragma omp ..`, with any continuations.
    Pragma,
    /// `_Pragma("omp ..")`.
    Operator,
    /// `__pragma(omp ..)`.
    Microsoft,
    /// `[[omp::directive(..)]]`, `[[omp::sequence(..)]]`, `[[using omp: ..]]`.
    Attribute,
    /// The use of a macro whose body leads to `_Pragma` or `__pragma`; what it says is not known.
    Macro,
}

/// One OpenMP directive as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveText {
    /// What is blanked so that the host grammar can read on: from `#` (or `_Pragma`, `[[`, the macro's name) to before the
    /// end of the (last, for continued ones) line, trailing comment that belongs to no code included only if it starts
    /// inside the directive.
    pub span: Span,
    /// The text after the `omp` sentinel that a directive's grammar reads, continuations included, a trailing comment
    /// not; `None` where it cannot be read in place (an escape in `_Pragma`'s string, a macro).
    pub body: Option<Span>,
    /// How it is written.
    pub spelling: Spelling,
    /// The `#if` group whose branches hold nothing but directives, where it stands in one: at most one branch's
    /// directives apply. An index into [`Scan::conditionals`], with the branch's number in it.
    pub alternative: Option<(usize, usize)>,
}

/// One `#if .. #elif .. #else .. #endif`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// From the `#if` to the end of the `#endif` line (or of the text, where it is missing).
    pub span: Span,
    /// Its branches in order.
    pub branches: Vec<ConditionalBranch>,
    /// Does it hold nothing but directives, comments and blanks? Then its own lines are blanked too.
    pub only_directives: bool,
}

impl Conditional {
    /// Its own lines in order: those of its branches, and the `#endif`.
    #[must_use]
    pub fn lines(&self) -> Vec<Span> {
        let endif = self.branches.last().map_or(self.span.start, |branch| branch.content.end);
        let mut lines: Vec<Span> = self.branches.iter().map(|branch| branch.line).collect();
        lines.push(Span::new(endif, self.span.end));
        lines
    }
}

/// One branch of a conditional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalBranch {
    /// The `#if`, `#elif` or `#else` line itself.
    pub line: Span,
    /// What lies between it and the next line of the group.
    pub content: Span,
}

/// `#define NAME(..) body`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroDefinition {
    /// The whole line or lines.
    pub span: Span,
    /// Its name.
    pub name: Span,
    /// The text between the parentheses of a function-like macro.
    pub parameters: Option<Span>,
    /// What it is replaced with.
    pub body: Span,
    /// Does its body lead to a pragma, itself or through other macros of this file?
    pub leads_to_pragma: bool,
}

/// `#include "path"` or `#include <path>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The whole line.
    pub span: Span,
    /// The path without its quotes.
    pub path: Span,
    /// Written with `".."`?
    pub quoted: bool,
}

/// A comment that may speak to this tool: it holds `ompsplit` or `NOLINT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The whole comment.
    pub span: Span,
}

/// All that the byte scan finds in one file, each list in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The OpenMP directives.
    pub directives: Vec<DirectiveText>,
    /// What is blanked for the host grammar: directives, other pragmas, and the lines of conditionals that hold only
    /// directives. Sorted and disjoint.
    pub masked: Vec<Span>,
    /// The conditionals, in the order of their `#if`.
    pub conditionals: Vec<Conditional>,
    /// A line of a conditional without the `#if` or the `#endif` that belongs to it, which no compiler takes.
    pub unbalanced: Option<usize>,
    /// The macro definitions.
    pub definitions: Vec<MacroDefinition>,
    /// The included files.
    pub includes: Vec<Include>,
    /// The comments that may speak to this tool.
    pub notes: Vec<Note>,
}

/// Scans the bytes of a file. It never fails: what it cannot make out is no directive.
#[must_use]
pub fn scan(text: &[u8]) -> Scan {
    let no_macros = PragmaMacros::default();
    let mut scan = Lexer::new(text, &no_macros, false).run();
    if bytes::may_hold_word(text, &[b"_Pragma", b"__pragma"]) {
        let macros = PragmaMacros::of(text, &mut scan.definitions);
        let definitions = scan.definitions;
        scan = Lexer::new(text, &macros, true).run();
        scan.definitions = definitions;
    }
    conditional::settle(Bytes(text), &mut scan);
    scan
}

/// May the text hold an OpenMP directive in any spelling? `false` is certain, but for a `_Pragma` whose operand comes from
/// somewhere else, and quick to learn: such a file needs no [`scan`] at all unless its definitions or includes are wanted.
#[must_use]
pub fn may_hold_directives(text: &[u8]) -> bool {
    (bytes::may_hold_word(text, &[b"pragma", b"Pragma"]) || memmem::find(text, b"[[").is_some())
        && bytes::may_hold_word(text, &[b"omp"])
}

/// Can the text hold a directive that concerns a device? Most files cannot, and their headers need not be read.
#[must_use]
pub fn mentions_target(text: &[u8]) -> bool {
    memmem::find(text, b"target").is_some() && memmem::find(text, b"omp").is_some()
}

/// The position behind the comment or literal at `at`, or one byte on: a step that meets no bracket in a string.
pub(crate) fn skip_token(text: &[u8], at: usize) -> usize {
    Bytes(text).token_step(at, &mut None)
}

/// The text with every masked span overwritten by blanks of equal length, line ends kept.
#[must_use]
pub fn mask(text: &[u8], masked: &[Span]) -> Vec<u8> {
    mask_part(text, Span::new(0, text.len()), masked)
}

/// A part of the text with the bytes of the spans made blank, line ends kept. The spans are in order.
#[must_use]
pub fn mask_part(text: &[u8], part: Span, masked: &[Span]) -> Vec<u8> {
    let mut out = text.get(part.start..part.end).unwrap_or_default().to_vec();
    let first = masked.partition_point(|span| span.end <= part.start);
    for span in masked.iter().skip(first).take_while(|span| span.start < part.end) {
        let (start, end) = (span.start.max(part.start), span.end.min(part.end));
        for byte in out.get_mut(start - part.start..end - part.start).unwrap_or_default() {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b' ';
            }
        }
    }
    out
}
