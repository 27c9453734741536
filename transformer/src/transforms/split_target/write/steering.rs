//! Writes a condition that a kernel of one thread evaluates: its result controls the host's control flow.

use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of, on_one_line};
use crate::source::Span;
use crate::syntax::{Control, NodeId, NodeKind};
use crate::transforms::split_target::facts::serial::Steering;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::write::Output;

/// What is written for one condition.
struct Evaluation<'a> {
    steering: &'a Steering,
    /// The condition's place.
    condition: Span,
    /// The clauses of the kernel.
    clauses: Vec<String>,
    layout: Layout,
}

impl Output<'_, '_> {
    /// The edits for a kernel that evaluates a condition. Empty for other kernels.
    pub(super) fn steering(&self, kernel: &Kernel<'_>) -> Vec<Edit> {
        let (Some(run), Some(outer)) = (&kernel.piece.serial, self.shape.outer.first()) else { return Vec::new() };
        let Some(steering) = &run.steering else { return Vec::new() };
        let layout = Layout::of(self.cx.file, self.cx.constructs.directive(*outer));
        let clauses = self.clauses(&kernel.clauses);
        let evaluation = Evaluation { steering, condition: run.span, clauses, layout };
        match self.cx.tree.kind(steering.flow) {
            NodeKind::IfStatement => self.before_branch(&evaluation),
            NodeKind::DoStatement => self.at_end(&evaluation),
            _ => self.at_start(&evaluation),
        }
    }

    /// `int result; result = condition; if (result) ..`, in a block of its own if the `if` is itself a branch or a body
    /// without braces.
    fn before_branch(&self, evaluation: &Evaluation<'_>) -> Vec<Edit> {
        let (file, tree) = (self.cx.file, self.cx.tree);
        let flow = evaluation.steering.flow;
        let span = tree.span(flow);
        let block = tree.parent(flow).is_none_or(|parent| tree.kind(parent) != NodeKind::CompoundStatement);
        let indent = indent_of(file, span.start);
        let newline = evaluation.layout.newline;
        let (start, starts_line) = self.start_of_line(span.start);
        let lines = format!("{}{}", self.declared(evaluation, &indent), self.evaluated(evaluation, &indent));
        let mut edits = vec![self.result_instead(evaluation)];
        if block {
            let text = format!("{{{newline}{lines}{indent}");
            edits.push(Edit::insertion(span.start, text));
            edits.push(self.closing(span.end, newline, &indent));
        } else if starts_line {
            edits.push(Edit::insertion(start, lines));
        } else {
            let text = format!("{newline}{lines}{indent}");
            edits.push(Edit::insertion(span.start, text));
        }
        edits
    }

    /// `while (1) { int result; result = condition; if (!result) break; ..`, and similarly for `for`.
    fn at_start(&self, evaluation: &Evaluation<'_>) -> Vec<Edit> {
        let tree = self.cx.tree;
        let flow = evaluation.steering.flow;
        let Some(body) = Control::at(tree, flow).body() else { return Vec::new() };
        let (indent, inner) = self.indents(flow, body, evaluation);
        let newline = evaluation.layout.newline;
        let result = &evaluation.steering.result;
        let level = inner.strip_prefix(indent.as_str()).unwrap_or(&evaluation.layout.level);
        let lines = format!(
            "{}{}{inner}if (!{result}){newline}{inner}{level}break;",
            self.declared(evaluation, &inner),
            self.evaluated(evaluation, &inner),
        );
        let always = if tree.kind(flow) == NodeKind::WhileStatement { "1" } else { "" };
        let mut edits = vec![Edit { span: evaluation.condition, text: always.to_owned() }];
        if tree.kind(body) == NodeKind::CompoundStatement {
            edits.push(self.behind(tree.span(body).start + 1, &lines, newline, &inner));
        } else {
            let head = self.head_end(flow, body);
            edits.push(Edit::insertion(head, format!(" {{{newline}{lines}")));
            edits.push(self.closing(tree.span(body).end, newline, &indent));
        }
        edits
    }

    /// `int result; do { .. result = condition; } while (result);`
    fn at_end(&self, evaluation: &Evaluation<'_>) -> Vec<Edit> {
        let tree = self.cx.tree;
        let flow = evaluation.steering.flow;
        let Some(body) = Control::at(tree, flow).body() else { return Vec::new() };
        let (indent, inner) = self.indents(flow, body, evaluation);
        let newline = evaluation.layout.newline;
        let evaluated = self.evaluated(evaluation, &inner);
        let start = tree.span(flow).start;
        let (line, starts_line) = self.start_of_line(start);
        let mut edits = vec![self.result_instead(evaluation)];
        edits.push(if starts_line {
            Edit::insertion(line, self.declared(evaluation, &indent))
        } else {
            Edit::insertion(start, format!("int {}; ", evaluation.steering.result))
        });
        let end = tree.span(body).end;
        if tree.kind(body) == NodeKind::CompoundStatement {
            let close = end - 1;
            let (from, alone) = self.start_of_line(close);
            let (at, text) = if alone { (from, evaluated) } else { (close, format!("{newline}{evaluated}{indent}")) };
            edits.push(Edit::insertion(at, text));
        } else {
            let head = start + "do".len();
            edits.push(Edit::insertion(head, " {"));
            edits.push(self.closing(end, newline, &format!("{evaluated}{indent}")));
        }
        edits
    }

    /// The indents of a statement and of the statements in its body.
    fn indents(&self, flow: NodeId, body: NodeId, evaluation: &Evaluation<'_>) -> (String, String) {
        let (file, tree) = (self.cx.file, self.cx.tree);
        let indent = indent_of(file, tree.span(flow).start);
        let first =
            if tree.kind(body) == NodeKind::CompoundStatement { tree.named_children(body).next() } else { Some(body) };
        let inner = first.map(|first| indent_of(file, tree.span(first).start)).unwrap_or_default();
        let deeper = inner.len() > indent.len() && inner.starts_with(&indent);
        let inner = if deeper { inner } else { format!("{indent}{}", evaluation.layout.level) };
        (indent, inner)
    }

    /// Behind the parenthesis that closes the head of a loop.
    fn head_end(&self, flow: NodeId, body: NodeId) -> usize {
        let tree = self.cx.tree;
        let before = tree.children(flow).take_while(|child| *child != body);
        let closing = before.filter(|child| {
            matches!(
                tree.kind(*child),
                NodeKind::CloseParenthesis | NodeKind::ParenthesizedExpression | NodeKind::ConditionClause
            )
        });
        closing.last().map_or(tree.span(body).start, |child| tree.span(child).end)
    }

    fn result_instead(&self, evaluation: &Evaluation<'_>) -> Edit {
        Edit { span: evaluation.condition, text: evaluation.steering.result.clone() }
    }

    fn declared(&self, evaluation: &Evaluation<'_>, indent: &str) -> String {
        format!("{indent}int {};{}", evaluation.steering.result, evaluation.layout.newline)
    }

    /// The lines of the kernel that evaluates the condition, with the last line end.
    fn evaluated(&self, evaluation: &Evaluation<'_>, indent: &str) -> String {
        let (file, tree) = (self.cx.file, self.cx.tree);
        let mut layout = evaluation.layout.clone();
        layout.indent = if self.directives_are_indented() { indent.to_owned() } else { String::new() };
        let newline = layout.newline;
        let condition = on_one_line(file, evaluation.condition);
        let node = tree.covering(evaluation.condition);
        let operator = tree.operator(node);
        let logical = [
            NodeKind::Less,
            NodeKind::Greater,
            NodeKind::LessEqual,
            NodeKind::GreaterEqual,
            NodeKind::EqualEqual,
            NodeKind::ExclamationEqual,
            NodeKind::AmpersandAmpersand,
            NodeKind::BarBar,
            NodeKind::Exclamation,
        ];
        let is_logical = operator.is_some_and(|operator| logical.contains(&operator));
        let value = if is_logical { condition } else { format!("({condition}) ? 1 : 0") };
        let directive = layout.write("target", &evaluation.clauses);
        let result = &evaluation.steering.result;
        format!("{}{directive}{newline}{indent}{result} = {value};{newline}", layout.indent)
    }
}
