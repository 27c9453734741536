//! Writes the data constructs of arrays that the region declares.

use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of};
use crate::syntax::NodeId;
use crate::transforms::split_target::facts::local_arrays::LocalArrays;
use crate::transforms::split_target::write::Output;

impl Output<'_, '_> {
    /// `target data` around the rest of each block that declares arrays. Adjacent declarations share one.
    pub(super) fn arrays(&self) -> Vec<Edit> {
        let tree = self.cx.tree;
        let mut edits = Vec::new();
        let mut together: Vec<&LocalArrays> = Vec::new();
        let follows = |node: NodeId| {
            let mut siblings = tree.parent(node).into_iter().flat_map(|block| tree.named_children(block));
            siblings.find(|sibling| tree.span(*sibling).start >= tree.span(node).end)
        };
        for array in &self.facts.arrays {
            together.push(array);
            let next = follows(array.node);
            let shares = |other: &LocalArrays| Some(other.node) == next;
            let masked =
                next.is_some_and(|next| self.directive_between(tree.span(array.node).end, tree.span(next).start));
            if masked || !self.facts.arrays.iter().any(shares) {
                edits.extend(self.data_of(&std::mem::take(&mut together)));
            }
        }
        edits
    }

    fn directive_between(&self, from: usize, to: usize) -> bool {
        self.cx.constructs.directives.iter().any(|directive| from <= directive.span.start && directive.span.end <= to)
    }

    fn data_of(&self, arrays: &[&LocalArrays]) -> Vec<Edit> {
        let (file, tree) = (self.cx.file, self.cx.tree);
        let (Some(last), Some(outer)) = (arrays.last(), self.shape.outer.first()) else { return Vec::new() };
        let Some(block) = tree.parent(last.node) else { return Vec::new() };
        let names = |initialised: bool| {
            let listed = arrays.iter().flat_map(|array| &array.names).filter(|(_, value)| *value == initialised);
            let names = listed.map(|(name, _)| file.show(*name).into_owned());
            names.collect::<Vec<String>>().join(", ")
        };
        let mut clauses = Vec::new();
        for (map_type, listed) in [("to", names(true)), ("alloc", names(false))] {
            clauses.extend((!listed.is_empty()).then(|| format!("map({map_type}: {listed})")));
        }
        clauses.extend(self.clauses(&self.kernels.arrays));
        let mut layout = Layout::of(file, self.cx.constructs.directive(*outer));
        let indent = indent_of(file, tree.span(last.node).start);
        layout.indent = if self.directives_are_indented() { indent.clone() } else { String::new() };
        let newline = layout.newline;
        let directive = layout.write("target data", &clauses);
        let text = format!("{}{directive}{newline}{indent}{{", layout.indent);
        let opening = self.behind(tree.span(last.node).end, &text, newline, &indent);
        let close = tree.span(block).end - 1;
        let (line, own_line) = self.start_of_line(close);
        let closing =
            if own_line { Edit::insertion(line, format!("{indent}}}{newline}")) } else { Edit::insertion(close, "} ") };
        vec![opening, closing]
    }
}
