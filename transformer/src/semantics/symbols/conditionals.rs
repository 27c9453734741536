//! Declarations that the preprocessor may leave out.

use super::Unit;
use super::entries::Entry;
use crate::source::{Conditional, Span, scan};

impl Unit<'_> {
    /// May none of these declarations be there, so that a name at a byte has another meaning, or an unknown one: do they stand in
    /// branches of a conditional around which the byte is not, and another branch has none of them?
    pub(super) fn may_be_absent(&self, found: &[&Entry], at: usize) -> bool {
        if self.conditionals().is_empty() {
            return false;
        }
        let names: Vec<Span> = found.iter().map(|entry| entry.name_span).collect();
        self.may_all_be_absent(&names, at)
    }

    /// May all that stands at some places of the file be absent where a byte of it is compiled?
    pub(super) fn may_all_be_absent(&self, places: &[Span], at: usize) -> bool {
        let Some(first) = places.first() else { return false };
        let mut around = self.conditionals().iter().filter(|conditional| conditional.span.contains(*first));
        around.any(|conditional| {
            let is_inside = conditional.span.contains(Span::new(at, at)) && at < conditional.span.end;
            let has_one = |content: Span| places.iter().any(|place| content.contains(*place));
            let has_else = conditional.branches.last().is_some_and(|branch| self.is_else(branch.line));
            let is_certain = has_else && conditional.branches.iter().all(|branch| has_one(branch.content));
            !is_inside && !is_certain && !self.holds_the_file(conditional)
        })
    }

    pub(super) fn conditionals(&self) -> &[Conditional] {
        self.conditionals.get_or_init(|| scan(&self.file.text).conditionals)
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
