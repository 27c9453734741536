//! Declarations that the preprocessor may leave out.

use super::Unit;
use super::entries::Entry;
use crate::source::{Conditional, Span, scan};

impl Unit<'_> {
    /// May none of these declarations be there, so that a name at a byte has another meaning, or an unknown one: do they stand in
    /// branches of a conditional around which the byte is not, and another branch has none of them?
    pub(super) fn may_be_absent(&self, found: &[&Entry], at: usize) -> bool {
        let Some(first) = found.first() else { return false };
        let conditionals = self.conditionals.get_or_init(|| scan(&self.file.text).conditionals);
        let mut around = conditionals.iter().filter(|conditional| conditional.span.contains(first.name_span));
        around.any(|conditional| {
            let is_inside = conditional.span.contains(Span::new(at, at)) && at < conditional.span.end;
            let has_one = |content: Span| found.iter().any(|entry| content.contains(entry.name_span));
            let has_else = conditional.branches.last().is_some_and(|branch| self.is_else(branch.line));
            let is_certain = has_else && conditional.branches.iter().all(|branch| has_one(branch.content));
            !is_inside && !is_certain && !self.holds_the_file(conditional)
        })
    }

    fn is_else(&self, line: Span) -> bool {
        let text = self.file.show(line);
        text.trim_start().trim_start_matches(['#', '%', ':']).trim_start().starts_with("else")
    }

    /// Does it stand around the whole file, as the guard of a header does? Who knows a name of the file then knows all.
    fn holds_the_file(&self, conditional: &Conditional) -> bool {
        let rest = self.file.text.get(conditional.span.end..).unwrap_or_default();
        conditional.branches.len() == 1 && rest.iter().all(u8::is_ascii_whitespace)
    }
}
