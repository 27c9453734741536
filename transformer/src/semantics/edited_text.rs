//! The file with edits, read as a program of its own: what a pass asks before it decides.

use crate::edit::{EditSet, Origins};
use crate::region::other_text::OtherText;
use crate::semantics::facts::Facts;
use crate::semantics::{Compilation, Program};

/// Such a text.
pub(crate) struct EditedText {
    text: OtherText,
    /// Where its bytes come from.
    pub origins: Origins,
    /// What a compiler knows of the file, where it stands in this text.
    facts: Option<Facts>,
}

impl EditedText {
    /// Makes it; `None` where it cannot be read.
    pub fn of(cx: &Program<'_>, edits: &EditSet) -> Option<Self> {
        let origins = edits.origins();
        let text = OtherText::read(edits.apply(&cx.file.text), cx.file, cx.tree)?;
        let facts = cx.compilation.facts.map(|facts| facts.moved(|at| origins.copy_of(at)));
        Some(Self { text, origins, facts })
    }

    /// The program that it is, where the file's is compiled so.
    pub fn program<'p>(&'p self, of_file: Compilation<'p>) -> Program<'p> {
        let OtherText { file, scan, tree, constructs } = &self.text;
        Program::new(file, scan, tree, constructs, Compilation { facts: self.facts.as_ref(), ..of_file })
    }
}
