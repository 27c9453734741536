//! The variables that a loop combines with a value in each iteration, by one operator and in statements of their own.

use std::sync::Arc;

use crate::context::{Arithmetic, Context};
use crate::semantics::Evaluation;
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::semantics::uses::{Role, uses_below};
use crate::source::Span;
use crate::syntax::numbers::Format;
use crate::syntax::{Assignment, Binary, Call, Conditional, If, NodeId, NodeKind, Number, Update};

/// An operator whose operands may come in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operator {
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
    pub(super) fn clause(self) -> &'static str {
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
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Plus => "sum",
            Self::Times => "product",
            Self::And | Self::Or | Self::Xor => "bits",
            Self::Min => "minimum",
            Self::Max => "maximum",
        }
    }
}

/// A variable that a loop combines.
pub(super) struct Combined {
    pub key: VariableId,
    pub name: String,
    pub variable: Arc<Variable>,
    pub operator: Operator,
    /// Where the loop names it.
    pub names: Vec<Span>,
    /// What it is combined with.
    pub terms: Vec<NodeId>,
    /// The first statement.
    pub first: Span,
}

impl Combined {
    /// Is its value a `float` or a `double`?
    pub(super) fn is_floating(&self) -> bool {
        matches!(
            self.variable.ty.number(),
            Some(Number::Floating(Format::Single | Format::Double | Format::SingleOrDouble))
        )
    }

    /// May another order give another value, which no flag allows?
    pub(super) fn needs_consent(&self, arithmetic: Arithmetic) -> bool {
        let is_free = match self.operator {
            Operator::Min | Operator::Max => arithmetic.ignores_special,
            _ => arithmetic.reassociates,
        };
        self.is_floating() && !is_free
    }

    /// Is it a plain variable of the block or the function, which only its name reaches?
    pub(super) fn is_plain(&self, cx: &Context<'_>) -> bool {
        let Variable { ty, is_extern, .. } = &*self.variable;
        let is_number = matches!(ty, DeclaredType::Scalar { is_volatile: false, is_const: false, .. });
        let is_own = !self.variable.has_static_storage() && !self.variable.is_thread_local && !is_extern;
        is_number && is_own && cx.cannot_be_aliased(&self.name, self.first.start)
    }
}

/// One statement that combines a variable.
struct Found {
    name: String,
    at: usize,
    operator: Operator,
    names: Vec<Span>,
    terms: Vec<NodeId>,
    statement: Span,
}

/// The variables from outside of a loop's body that it combines and uses in no other way.
pub(super) fn combined_in(cx: &Context<'_>, body: NodeId) -> Vec<Combined> {
    let tree = cx.tree;
    let mut all: Vec<Combined> = Vec::new();
    let mut covered = 0;
    for node in tree.descendants(body) {
        // The statement in a choice is part of it.
        if tree.span(node).start < covered {
            continue;
        }
        let Some(found) = chosen(cx, node).or_else(|| combined_by(cx, node)) else { continue };
        covered = found.statement.end;
        let variable = cx.symbols().lookup(&found.name, found.at);
        let Some(variable) = variable.filter(|it| !it.id().is_within(tree.span(body))) else { continue };
        let key = variable.id();
        match all.iter_mut().find(|known| known.key == key && known.operator == found.operator) {
            Some(known) => {
                known.names.extend(found.names);
                known.terms.extend(found.terms);
            }
            None => all.push(Combined {
                key,
                name: found.name,
                variable,
                operator: found.operator,
                names: found.names,
                terms: found.terms,
                first: found.statement,
            }),
        }
    }
    all.retain(|one| is_all(cx, body, one));
    all
}

/// Does the loop name the variable nowhere else?
fn is_all(cx: &Context<'_>, body: NodeId, one: &Combined) -> bool {
    let uses = uses_below(cx.file, cx.tree, body);
    let of_it = uses.iter().filter(|used| {
        used.role != Role::Declaration
            && used.name == one.name
            && cx.symbols().lookup(&used.name, used.span.start).is_some_and(|found| found.id() == one.key)
    });
    let mut others = of_it.filter(|used| !one.names.contains(&used.span));
    let is_name = cx.expansion(&one.name, one.first.start).is_none();
    is_name && others.next().is_none()
}

/// `s += x;`, `s++;`, `s = s + x;`, `s = x > s ? x : s;`, `s = fmax(s, x);`
fn combined_by(cx: &Context<'_>, statement: NodeId) -> Option<Found> {
    let tree = cx.tree;
    (tree.kind(statement) == NodeKind::ExpressionStatement).then_some(())?;
    let expression = tree.named_children(statement).find(|node| tree.kind(*node) != NodeKind::Comment)?;
    let found = |target: NodeId, operator: Operator, mut names: Vec<NodeId>, terms: Vec<NodeId>| {
        names.push(target);
        let names = names.into_iter().map(|node| tree.span(node)).collect();
        let span = tree.span(target);
        let name = cx.file.show(span).into_owned();
        Some(Found { name, at: span.start, operator, names, terms, statement: tree.span(statement) })
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
fn spelled_out(cx: &Context<'_>, name: &str, value: NodeId) -> Option<(Operator, Vec<NodeId>, Vec<NodeId>)> {
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
fn chosen(cx: &Context<'_>, statement: NodeId) -> Option<Found> {
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
    Some(Found { name, at, operator, names, terms: vec![value, tested[1]], statement: tree.span(statement) })
}

/// Which of a variable and a value that does nothing but be one a test finds greater, if the value shall be taken where it holds: the
/// operator, and where both stand in the test.
fn compared(cx: &Context<'_>, name: &str, test: NodeId, value: NodeId) -> Option<(Operator, [NodeId; 2])> {
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

fn is_named(cx: &Context<'_>, node: NodeId, name: &str) -> bool {
    cx.tree.kind(node) == NodeKind::Identifier && cx.file.show(cx.tree.span(node)) == name
}

fn without_parentheses(cx: &Context<'_>, node: NodeId) -> NodeId {
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

fn compact(cx: &Context<'_>, node: NodeId) -> String {
    cx.file.show(cx.tree.span(node)).split_whitespace().collect()
}
