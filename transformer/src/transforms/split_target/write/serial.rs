//! Writes serial statements as a kernel of one thread: its directive, a block around several statements, and the
//! declarations that move before it.

use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of};
use crate::source::Span;
use crate::syntax::NodeKind;
use crate::transforms::split_target::facts::serial::{Hoisted, Run};
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::write::Output;

impl Output<'_, '_> {
    /// The edits for a kernel of serial statements. Empty for a kernel that evaluates a condition.
    pub(super) fn serial(&self, kernel: &Kernel<'_>) -> Vec<Edit> {
        let run = kernel.piece.serial.as_ref().filter(|run| run.steering.is_none());
        let (Some(run), Some(outer)) = (run, self.shape.outer.first()) else { return Vec::new() };
        let file = self.cx.file;
        let mut layout = Layout::of(file, self.cx.constructs.directive(*outer));
        let mut statement = indent_of(file, run.span.start);
        let newline = layout.newline;
        let (start, starts_line) = self.start_of_line(run.span.start);
        if !starts_line && self.is_branch(run) {
            statement.push_str(&layout.level);
        }
        layout.indent = if self.directives_are_indented() { statement.clone() } else { String::new() };
        let block = self.needs_braces(run);
        let level = if block { self.level(run, &statement, &layout) } else { String::new() };
        let mut text = if starts_line { String::new() } else { newline.to_owned() };
        for hoisted in &run.hoisted {
            text.push_str(&format!("{statement}{}{newline}", self.declaration_of(hoisted)));
        }
        let directive = layout.write(kernel.name, &self.clauses(&kernel.clauses));
        text.push_str(&format!("{}{directive}{newline}", layout.indent));
        if block {
            text.push_str(&format!("{statement}{{{newline}"));
        }
        let mut edits: Vec<Edit> = run.hoisted.iter().flat_map(assignments_of).collect();
        if starts_line {
            edits.push(Edit::insertion(start, format!("{text}{level}")));
        } else {
            let before = file.text.get(start..run.span.start).unwrap_or_default();
            let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let span = Span::new(run.span.start - blanks, run.span.start);
            edits.push(Edit { span, text: format!("{text}{statement}{level}") });
        }
        if block {
            edits.extend(self.indented(run, &level));
            edits.push(self.behind(run.span.end, &format!("{statement}}}"), newline, &statement));
        }
        edits
    }

    /// Is it the body of a statement, without braces?
    fn is_branch(&self, run: &Run) -> bool {
        let tree = self.cx.tree;
        let parent = run.nodes.first().and_then(|node| tree.parent(*node));
        parent.is_some_and(|parent| tree.kind(parent) != NodeKind::CompoundStatement)
    }

    /// Several statements need a block, and so do declarations that stay inside.
    fn needs_braces(&self, run: &Run) -> bool {
        let tree = self.cx.tree;
        let hoisted = |span: Span| run.hoisted.iter().any(|hoisted| span.contains(hoisted.head));
        let declares = |node| tree.kind(node) == NodeKind::Declaration && !hoisted(tree.span(node));
        run.nodes.len() > 1
            || run.hoisted.iter().any(|hoisted| hoisted.assignments() > 1)
            || run.nodes.iter().any(|node| declares(*node))
    }

    /// The blanks by which the block's statements move to the right. Empty if a line end is part of a literal.
    fn level(&self, run: &Run, statement: &str, layout: &Layout) -> String {
        let (file, tree) = (self.cx.file, self.cx.tree);
        let text = file.show(run.span);
        if text.contains("\\\n") || text.contains("\\\r") || text.contains("R\"") {
            return String::new();
        }
        let parent = run.nodes.first().and_then(|node| tree.parent(*node));
        let around = parent.map(|parent| indent_of(file, tree.span(parent).start)).unwrap_or_default();
        let level = statement.strip_prefix(around.as_str()).filter(|level| !level.is_empty());
        level.unwrap_or(&layout.level).to_owned()
    }

    /// The lines of the block behind its first.
    fn indented(&self, run: &Run, level: &str) -> Vec<Edit> {
        let text = &self.cx.file.text;
        let cut: Vec<Span> = run.hoisted.iter().flat_map(Hoisted::left_out).map(|(span, _)| span).collect();
        let starts = (run.span.start..run.span.end).filter(|at| text.get(*at) == Some(&b'\n')).map(|at| at + 1);
        let is_text = |at: &usize| {
            let first = text.get(*at..).unwrap_or_default().iter().find(|byte| !matches!(byte, b' ' | b'\t'));
            !matches!(first, None | Some(b'\n' | b'\r' | b'#'))
        };
        let kept = |at: &usize| !cut.iter().any(|span| span.start <= *at && *at < span.end);
        let starts = starts.filter(|at| !level.is_empty() && is_text(at) && kept(at));
        starts.map(|at| Edit::insertion(at, level)).collect()
    }

    /// The declaration before the kernel: `double mean, spread;`.
    fn declaration_of(&self, hoisted: &Hoisted) -> String {
        let file = self.cx.file;
        let head = file.show(hoisted.head);
        let type_words: Vec<&str> = head.split_whitespace().filter(|word| *word != "const").collect();
        let names = hoisted.declarators.iter().map(|declarator| file.show(declarator.name).into_owned());
        format!("{} {};", type_words.join(" "), names.collect::<Vec<String>>().join(", "))
    }
}

/// The edits that turn initialisers into assignments.
fn assignments_of(hoisted: &Hoisted) -> Vec<Edit> {
    let text = |follows| if follows { "; " } else { "" };
    let left_out = hoisted.left_out().into_iter();
    left_out.map(|(span, follows)| Edit { span, text: text(follows).to_owned() }).collect()
}
