//! Declares the variables that are copies for the whole region.

use std::collections::BTreeMap;

use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of, line_start};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::split_target::facts::data::OwnCopy;
use crate::transforms::split_target::write::Output;

impl Output<'_, '_> {
    /// Declares the copies at the start of their blocks; a statement without braces gets some.
    pub(super) fn own_copies(&self, edits: &mut Vec<Edit>) {
        let mut blocks: BTreeMap<NodeId, Vec<&OwnCopy>> = BTreeMap::new();
        for copy in self.facts.data.own_copies.iter().filter(|copy| copy.is_declared) {
            blocks.entry(copy.block).or_default().push(copy);
        }
        let (file, tree) = (self.cx.file, self.cx.tree);
        let Some(first) = self.shape.outer.first() else { return };
        let layout = Layout::of(file, self.cx.constructs.directive(*first));
        let newline = layout.newline;
        for (block, copies) in blocks {
            let span = tree.span(block);
            let outer = indent_of(file, span.start);
            let inner = tree.named_children(block).next().map(|child| tree.span(child).start);
            let own_line = |at: usize| line_start(&file.text, at) > span.start;
            let inner = inner.filter(|at| own_line(*at)).map(|at| indent_of(file, at));
            let inner = inner.unwrap_or_else(|| format!("{outer}{}", layout.level));
            let declarations: Vec<String> = copies.iter().flat_map(|copy| declaration(copy)).collect();
            if tree.kind(block) == NodeKind::CompoundStatement {
                let at = Span::new(span.start + 1, span.start + 1);
                let text = declarations.iter().map(|line| format!("{newline}{inner}{line}")).collect();
                edits.push(Edit { span: at, text });
                continue;
            }
            let lines: String =
                declarations.iter().map(|line| format!("{outer}{}{line}{newline}", layout.level)).collect();
            let start = line_start(&file.text, span.start);
            edits.push(Edit::insertion(start, format!("{outer}{{{newline}{lines}")));
            edits.push(Edit::insertion(span.end, format!("{newline}{outer}}}")));
        }
    }
}

/// The lines that declare a copy. If the region only assigns it, a line that uses it prevents warnings.
fn declaration(copy: &OwnCopy) -> Vec<String> {
    let value = copy.initial.as_ref().map_or(String::new(), |initial| format!(" = {initial}"));
    let declared = format!("{} {}{value};", copy.type_name, copy.name);
    let used = (!copy.is_read).then(|| format!("(void){};", copy.name));
    std::iter::once(declared).chain(used).collect()
}
