//! The macro that a name stands for.

use super::{Symbols, Unit};
use crate::syntax::NodeId;

/// A macro that the file or one of its headers defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// The names of its parameters; `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// Is it defined in a header out of sight, or by a flag?
    pub is_elsewhere: bool,
    /// What it is replaced with, with blanks at its ends and comments left out.
    pub body: String,
}

impl Symbols<'_> {
    /// The macro that a name stands for at a byte of the file: the last definition before it, else one of a header.
    #[must_use]
    pub fn macro_definition(&self, name: &str, at: usize) -> Option<Macro> {
        self.macro_in(None, name, at)
    }

    /// As [`Self::macro_definition`]; at a byte of a header all definitions count.
    #[must_use]
    pub fn macro_in(&self, header: Option<usize>, name: &str, at: usize) -> Option<Macro> {
        let at = if header.is_none() { at } else { usize::MAX };
        let own = self.own.table.macros.get(name).and_then(|all| all.iter().rev().find(|(_, span)| span.end <= at));
        if let Some((node, _)) = own {
            return Some(self.own.macro_of(*node));
        }
        let of_header = self.header_units().find_map(|(_, unit)| {
            let (node, _) = unit.table.macros.get(name)?.last()?;
            Some(unit.macro_of(*node))
        });
        of_header.or_else(|| self.macro_elsewhere(name, at))
    }
}

impl Unit<'_> {
    fn macro_of(&self, node: NodeId) -> Macro {
        let text = |node: NodeId| self.file.show(self.tree.span(node)).into_owned();
        let body = self.tree.child(node, "value").map(text).unwrap_or_default();
        let parameters = self.tree.child(node, "parameters").map(|list| {
            self.tree.named_children(list).filter(|item| self.tree.kind(*item) == "identifier").map(text).collect()
        });
        Macro { parameters, is_elsewhere: false, body: without_comments(&body) }
    }
}

/// The text with its comments replaced by blanks, blanks at the ends left out.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..at]);
        out.push(' ');
        let comment = &rest[at..];
        let end = if comment.starts_with("/*") { comment.find("*/").map(|end| end + 2) } else { comment.find('\n') };
        rest = end.map_or("", |end| &comment[end..]);
    }
    out.push_str(rest);
    out.trim().to_owned()
}
