//! Writes the constants before a region that hold the values of its clauses' expressions.

use super::Output;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of, line_start, on_one_line};
use crate::region::construct::ConstructId;
use crate::source::Span;
use crate::syntax::NodeKind;
use crate::syntax::spec_table::Leaf;

impl Output<'_, '_> {
    /// Writes the constants before the region, in a block of their own if no declaration may stand there.
    pub(super) fn temporaries(&self, edits: &mut Vec<Edit>) {
        if self.facts.data.temporaries.is_empty() {
            return;
        }
        let Some(first) = self.shape.outer.first() else { return };
        let file = self.cx.file;
        let directive = self.cx.constructs.directive(*first);
        let layout = Layout::of(file, directive);
        // Directives may stand at the start of their lines; declarations are indented like statements.
        let indent = indent_of(file, self.cx.constructs.construct(*first).body_span.start);
        let newline = layout.newline;
        let block = self.needs_block(*first);
        let mut text = if block { format!("{indent}{{{newline}") } else { String::new() };
        for (span, temporary) in &self.facts.data.temporaries {
            let value = on_one_line(file, *span);
            let value =
                if temporary.name.starts_with("region_condition") { format!("({value}) ? 1 : 0") } else { value };
            let level = if block { layout.level.as_str() } else { "" };
            text.push_str(&format!(
                "{indent}{level}const {} {} = {value};{newline}",
                temporary.type_name, temporary.name
            ));
            if !self.is_first_value(&temporary.name) {
                text.push_str(&format!("{indent}{level}(void){};{newline}", temporary.name));
            }
        }
        let start = line_start(&file.text, directive.span.start);
        edits.push(Edit::insertion(start, text));
        if !block {
            return;
        }
        let end = Span::new(self.region.extent.end, self.region.extent.end);
        let text = format!("{newline}{indent}}}");
        match edits.iter_mut().find(|edit| edit.span == end) {
            Some(inner) => inner.text.push_str(&text),
            None => edits.push(Edit { span: end, text }),
        }
    }

    /// Is a constant the first value of a variable? Other constants are used only in directives, so compilers without
    /// OpenMP would warn.
    fn is_first_value(&self, name: &str) -> bool {
        self.facts.data.own_copies.iter().any(|copy| copy.initial.as_deref() == Some(name))
    }

    /// The text of a span in which expressions with a constant are replaced by it.
    pub(super) fn substituted(&self, span: Span) -> String {
        let file = self.cx.file;
        let mut out = String::new();
        let mut at = span.start;
        for (inner, temporary) in self.facts.data.temporaries.range(Span::new(span.start, span.start)..) {
            if !span.contains(*inner) || inner.start < at {
                continue;
            }
            out.push_str(&on_one_line(file, Span::new(at, inner.start)));
            out.push_str(&temporary.name);
            at = inner.end;
        }
        out.push_str(&on_one_line(file, Span::new(at, span.end)));
        out
    }

    /// Is a declaration impossible before the region: is it a body without braces, behind a label, or may a jump enter
    /// its block behind the declaration?
    fn needs_block(&self, first: ConstructId) -> bool {
        let tree = self.cx.tree;
        let Some(body) = self.cx.constructs.construct(first).body else { return true };
        let function = tree.ancestors(body).find(|node| tree.kind(*node) == NodeKind::FunctionDefinition);
        let jumps = |node| {
            matches!(tree.kind(node), NodeKind::LabeledStatement | NodeKind::GotoStatement | NodeKind::CaseStatement)
        };
        // The first section may be a statement without a directive: a declaration before it would take its place.
        let is_section = self
            .cx
            .constructs
            .enclosing(first)
            .is_some_and(|around| self.cx.constructs.construct(around).leaves.last() == Some(&Leaf::Sections));
        is_section || !self.is_in_block(first) || function.is_none_or(|function| tree.descendants(function).any(jumps))
    }
}
