//! Statements that combine a variable with a value by an operator whose operands may come in any order: `s += x;`,
//! `s = x > s ? x : s;`, `if (x < s) s = x;`.

use crate::semantics::{Evaluation, Program};
use crate::source::Span;
use crate::syntax::{Assignment, Binary, Call, Conditional, If, NodeId, NodeKind, Update};

/// An operator whose operands may come in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operator {
    Plus,
    Times,
    And,
    Or,
    Xor,
    Min,
    Max,
}

impl Operator {
    /// As a `reduction` clause names it.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Times => "*",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// What it forms.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Plus => "sum",
            Self::Times => "product",
            Self::And | Self::Or | Self::Xor => "bits",
            Self::Min => "minimum",
            Self::Max => "maximum",
        }
    }
}

/// One statement that combines a variable.
pub(crate) struct Combination {
    pub name: String,
    /// Where its name is looked up.
    pub at: usize,
    pub operator: Operator,
    /// Where it is named.
    pub names: Vec<Span>,
    /// What it is combined with.
    pub terms: Vec<NodeId>,
    pub statement: Span,
}

/// What a statement combines, if it does nothing else.
pub(crate) fn combination(cx: &Program<'_>, statement: NodeId) -> Option<Combination> {
    chosen(cx, statement).or_else(|| combined_by(cx, statement))
}

/// `s += x;`, `s++;`, `s = s + x;`, `s = x > s ? x : s;`, `s = fmax(s, x);`
fn combined_by(cx: &Program<'_>, statement: NodeId) -> Option<Combination> {
    let tree = cx.tree;
    (tree.kind(statement) == NodeKind::ExpressionStatement).then_some(())?;
    let expression = tree.named_children(statement).find(|node| tree.kind(*node) != NodeKind::Comment)?;
    let found = |target: NodeId, operator: Operator, mut names: Vec<NodeId>, terms: Vec<NodeId>| {
        names.push(target);
        let names = names.into_iter().map(|node| tree.span(node)).collect();
        let span = tree.span(target);
        let name = cx.file.show(span).into_owned();
        Some(Combination { name, at: span.start, operator, names, terms, statement: tree.span(statement) })
    };
    if let Some(counted) = Update::of(tree, expression) {
        let target = counted.operand().filter(|it| tree.kind(*it) == NodeKind::Identifier)?;
        return found(target, Operator::Plus, Vec::new(), Vec::new());
    }
    let assignment = Assignment::of(tree, expression)?;
    let target = assignment.target().filter(|it| tree.kind(*it) == NodeKind::Identifier)?;
    let value = assignment.value()?;
    let operator = match assignment.operator()? {
        NodeKind::PlusEqual | NodeKind::MinusEqual => Operator::Plus,
        NodeKind::StarEqual => Operator::Times,
        NodeKind::AmpersandEqual => Operator::And,
        NodeKind::BarEqual => Operator::Or,
        NodeKind::CaretEqual => Operator::Xor,
        NodeKind::Equal => {
            let name = cx.file.show(tree.span(target)).into_owned();
            let (operator, names, terms) = spelled_out(cx, &name, value)?;
            return found(target, operator, names, terms);
        }
        _ => return None,
    };
    found(target, operator, Vec::new(), vec![value])
}

/// The operator and operands of a value that is the variable combined with something: where the variable stands, and the rest.
fn spelled_out(cx: &Program<'_>, name: &str, value: NodeId) -> Option<(Operator, Vec<NodeId>, Vec<NodeId>)> {
    let tree = cx.tree;
    let value = without_parentheses(cx, value);
    if let Some(binary) = Binary::of(tree, value) {
        let (left, right) = (binary.left()?, binary.right()?);
        let operator = operator_of(binary.operator()?)?;
        let is_difference = binary.operator() == Some(NodeKind::Minus);
        if is_named(cx, right, name) && !is_difference {
            return Some((operator, vec![right], vec![left]));
        }
        if is_named(cx, left, name) {
            return Some((operator, vec![left], vec![right]));
        }
        // `s + x + y`
        let (inner, names, mut terms) = spelled_out(cx, name, left).filter(|_| Binary::of(tree, left).is_some())?;
        terms.push(right);
        return (inner == operator).then_some((operator, names, terms));
    }
    if let Some(choice) = Conditional::of(tree, value) {
        let condition = without_parentheses(cx, choice.condition()?);
        let [first, second] = [choice.consequence()?, choice.alternative()?].map(|node| without_parentheses(cx, node));
        let (own, other, takes_first) = match (is_named(cx, first, name), is_named(cx, second, name)) {
            (true, false) => (first, second, false),
            (false, true) => (second, first, true),
            _ => return None,
        };
        let (operator, tested) = compared(cx, name, condition, other)?;
        // The other value is taken where the test holds, or where it does not.
        let operator = if takes_first { operator } else { reversed(operator) };
        return Some((operator, vec![own, tested[0]], vec![other, tested[1]]));
    }
    let call = Call::of(tree, value)?;
    let callee = cx.file.show(tree.span(call.function()?)).into_owned();
    let operator = match callee.as_str() {
        "fmax" | "fmaxf" | "std::fmax" | "std::max" => Operator::Max,
        "fmin" | "fminf" | "std::fmin" | "std::min" => Operator::Min,
        _ => return None,
    };
    let is_library = cx.symbols().function_definitions(&callee).is_empty();
    let arguments: Vec<NodeId> = call.arguments().collect();
    match arguments.as_slice() {
        [own, other] | [other, own] if is_library && is_named(cx, *own, name) => {
            // The functions of C compute with `double`, which does not hold all integers.
            let terms =
                if callee.ends_with("::max") || callee.ends_with("::min") { vec![*other] } else { vec![*other, value] };
            Some((operator, vec![*own], terms))
        }
        _ => None,
    }
}

/// `if (x > s) s = x;`
fn chosen(cx: &Program<'_>, statement: NodeId) -> Option<Combination> {
    let tree = cx.tree;
    let choice = If::of(tree, statement).filter(|choice| choice.alternative().is_none())?;
    let condition = without_parentheses(cx, choice.condition()?);
    let mut inner = choice.consequence()?;
    if tree.kind(inner) == NodeKind::CompoundStatement {
        let mut statements = tree.named_children(inner).filter(|node| tree.kind(*node) != NodeKind::Comment);
        let only = statements.next()?;
        statements.next().is_none().then_some(())?;
        inner = only;
    }
    (tree.kind(inner) == NodeKind::ExpressionStatement).then_some(())?;
    let assignment = Assignment::of(tree, tree.named_children(inner).next()?).filter(|it| it.is_plain())?;
    let target = assignment.target().filter(|it| tree.kind(*it) == NodeKind::Identifier)?;
    let value = without_parentheses(cx, assignment.value()?);
    let name = cx.file.show(tree.span(target)).into_owned();
    let (operator, tested) = compared(cx, &name, condition, value)?;
    let names = [target, tested[0]].map(|node| tree.span(node)).to_vec();
    let at = tree.span(target).start;
    Some(Combination { name, at, operator, names, terms: vec![value, tested[1]], statement: tree.span(statement) })
}

/// Which of a variable and a value that does nothing but be one a test finds greater, if the value shall be taken where it holds: the
/// operator, and where both stand in the test.
fn compared(cx: &Program<'_>, name: &str, test: NodeId, value: NodeId) -> Option<(Operator, [NodeId; 2])> {
    let tree = cx.tree;
    let binary = Binary::of(tree, test)?;
    let [left, right] = [binary.left()?, binary.right()?].map(|node| without_parentheses(cx, node));
    let is_greater = match binary.operator()? {
        NodeKind::Greater | NodeKind::GreaterEqual => true,
        NodeKind::Less | NodeKind::LessEqual => false,
        _ => return None,
    };
    let is_value = |node: NodeId| compact(cx, node) == compact(cx, value);
    let only_gives_value = Evaluation::of(cx.file, tree, value).only_gives_value();
    let of = |is_max: bool| if is_max { Operator::Max } else { Operator::Min };
    match only_gives_value {
        true if is_value(left) && is_named(cx, right, name) => Some((of(is_greater), [right, left])),
        true if is_named(cx, left, name) && is_value(right) => Some((of(!is_greater), [left, right])),
        _ => None,
    }
}

fn reversed(operator: Operator) -> Operator {
    match operator {
        Operator::Max => Operator::Min,
        Operator::Min => Operator::Max,
        other => other,
    }
}

fn operator_of(kind: NodeKind) -> Option<Operator> {
    match kind {
        NodeKind::Plus | NodeKind::Minus => Some(Operator::Plus),
        NodeKind::Star => Some(Operator::Times),
        NodeKind::Ampersand => Some(Operator::And),
        NodeKind::Bar => Some(Operator::Or),
        NodeKind::Caret => Some(Operator::Xor),
        _ => None,
    }
}

fn is_named(cx: &Program<'_>, node: NodeId, name: &str) -> bool {
    cx.tree.kind(node) == NodeKind::Identifier && cx.file.show(cx.tree.span(node)) == name
}

fn without_parentheses(cx: &Program<'_>, node: NodeId) -> NodeId {
    let tree = cx.tree;
    let is_around =
        |node: NodeId| matches!(tree.kind(node), NodeKind::ParenthesizedExpression | NodeKind::ConditionClause);
    let mut inner = node;
    while is_around(inner) {
        let mut parts = tree.named_children(inner).filter(|part| tree.kind(*part) != NodeKind::Comment);
        match (parts.next(), parts.next()) {
            (Some(part), None) => inner = part,
            _ => return inner,
        }
    }
    inner
}

fn compact(cx: &Program<'_>, node: NodeId) -> String {
    cx.file.show(cx.tree.span(node)).split_whitespace().collect()
}
