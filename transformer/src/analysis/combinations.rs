//! Statements that combine a variable with a value by an operator whose operands may come in any order: `s += x;`,
//! `s = x > s ? x : s;`, `if (x < s) s = x;`.

use crate::analysis::accesses::Accesses;
use crate::analysis::integers::integer_of;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::{Evaluation, Integer, Program};
use crate::source::Span;
use crate::syntax::numbers::Format;
use crate::syntax::{Assignment, Binary, Call, Conditional, If, NodeId, NodeKind, Number, Update};

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
    /// Of `+=` and the like; `-=` adds what is subtracted.
    pub(crate) fn of_assignment(operator: NodeKind) -> Option<Self> {
        match operator {
            NodeKind::PlusEqual | NodeKind::MinusEqual => Some(Self::Plus),
            NodeKind::StarEqual => Some(Self::Times),
            NodeKind::AmpersandEqual => Some(Self::And),
            NodeKind::BarEqual => Some(Self::Or),
            NodeKind::CaretEqual => Some(Self::Xor),
            _ => None,
        }
    }

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
    /// Does a minimum or maximum become a term that is not a number, and so forget what came before?
    pub takes_nan: bool,
    pub statement: Span,
}

impl Combination {
    /// Does a variable of this type get the same value in any order, but for how a floating-point sum is rounded? What is stored may
    /// lose something each time: an `int` the fractions of a sum, a `char` the high bits of a maximum, a `bool` all but whether it is 0.
    /// `found` are the accesses around the statement.
    pub(crate) fn is_free_of_order(&self, cx: &Program<'_>, found: &Accesses, ty: &DeclaredType) -> bool {
        let of_integers = |is_right: &dyn Fn(Integer) -> bool| {
            self.terms.iter().all(|term| integer_of(cx, found, *term).is_some_and(is_right))
        };
        let is_extreme = matches!(self.operator, Operator::Min | Operator::Max);
        match ty.number() {
            Some(Number::Floating(_)) => !self.takes_nan,
            Some(Number::Bool) => {
                let keeps_truth = matches!(self.operator, Operator::And | Operator::Or | Operator::Times);
                keeps_truth && of_integers(&|_| true) || of_integers(&Integer::is_truth)
            }
            Some(number) => {
                number.integer().is_some_and(|own| of_integers(&|term| !is_extreme || own.holds_all_of(term)))
            }
            None => ty.as_type_parameter().is_some_and(|own| self.is_of(cx, found, own) && !self.takes_nan),
        }
    }

    /// Is all that it is combined with of a template's type parameter, in sums and products that nothing makes negative?
    fn is_of(&self, cx: &Program<'_>, found: &Accesses, parameter: &str) -> bool {
        self.terms.iter().all(|term| is_of_parameter(cx, found, *term, parameter))
    }
}

fn is_of_parameter(cx: &Program<'_>, found: &Accesses, term: NodeId, parameter: &str) -> bool {
    let tree = cx.tree;
    let term = without_parentheses(cx, term);
    let span = tree.span(term);
    match tree.kind(term) {
        NodeKind::Identifier => {
            let name = cx.file.show(span);
            let variable = cx.symbols().lookup(&name, span.start).filter(|_| cx.expansion(&name, span.start).is_none());
            variable.is_some_and(|variable| variable.ty.as_type_parameter() == Some(parameter))
        }
        NodeKind::SubscriptExpression | NodeKind::PointerExpression => {
            let access = found.accesses.iter().find(|access| access.span == span);
            let element = access.and_then(|access| access.element.as_ref());
            element.is_some_and(|element| element.as_type_parameter() == Some(parameter))
        }
        NodeKind::BinaryExpression => {
            let binary = Binary::of(tree, term);
            let is_kept = |binary: &Binary<'_>| matches!(binary.operator(), Some(NodeKind::Plus | NodeKind::Star));
            let parts = binary.filter(is_kept).and_then(|binary| Some([binary.left()?, binary.right()?]));
            parts.is_some_and(|parts| parts.into_iter().all(|part| is_of_parameter(cx, found, part, parameter)))
        }
        _ => false,
    }
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
    let found = |target: NodeId, value: Value| {
        let names = value.names.into_iter().chain([target]).map(|node| tree.span(node)).collect();
        let (span, statement) = (tree.span(target), tree.span(statement));
        let (name, at) = (cx.file.show(span).into_owned(), span.start);
        let Value { operator, terms, takes_nan, .. } = value;
        Some(Combination { name, at, operator, names, terms, takes_nan, statement })
    };
    if let Some(counted) = Update::of(tree, expression) {
        let target = counted.operand().filter(|it| tree.kind(*it) == NodeKind::Identifier)?;
        return found(target, Value::of(Operator::Plus, Vec::new(), Vec::new()));
    }
    let assignment = Assignment::of(tree, expression)?;
    let target = assignment.target().filter(|it| tree.kind(*it) == NodeKind::Identifier)?;
    let value = assignment.value()?;
    if assignment.is_plain() {
        let name = cx.file.show(tree.span(target)).into_owned();
        return found(target, spelled_out(cx, &name, value)?);
    }
    let operator = Operator::of_assignment(assignment.operator()?)?;
    found(target, Value::of(operator, Vec::new(), vec![value]))
}

/// A value that is the variable combined with something.
struct Value {
    operator: Operator,
    /// Where the variable stands.
    names: Vec<NodeId>,
    /// The rest.
    terms: Vec<NodeId>,
    takes_nan: bool,
}

impl Value {
    fn of(operator: Operator, names: Vec<NodeId>, terms: Vec<NodeId>) -> Self {
        Self { operator, names, terms, takes_nan: false }
    }
}

/// The value of an assignment to the variable, if it is the variable combined with something.
fn spelled_out(cx: &Program<'_>, name: &str, value: NodeId) -> Option<Value> {
    let tree = cx.tree;
    let value = without_parentheses(cx, value);
    if let Some(binary) = Binary::of(tree, value) {
        let (left, right) = (binary.left()?, binary.right()?);
        let operator = operator_of(binary.operator()?)?;
        let is_difference = binary.operator() == Some(NodeKind::Minus);
        if is_named(cx, right, name) && !is_difference {
            return Some(Value::of(operator, vec![right], vec![left]));
        }
        if is_named(cx, left, name) {
            return Some(Value::of(operator, vec![left], vec![right]));
        }
        // `s + x + y`
        let mut inner = spelled_out(cx, name, left).filter(|_| Binary::of(tree, left).is_some())?;
        inner.terms.push(right);
        return (inner.operator == operator).then_some(inner);
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
        // No comparison holds for it.
        let takes_nan = !takes_first;
        return Some(Value { operator, names: vec![own, tested[0]], terms: vec![other, tested[1]], takes_nan });
    }
    let call = Call::of(tree, value)?;
    let function = tree.span(call.function()?);
    let callee = cx.file.show(function).into_owned();
    let operator = match callee.as_str() {
        "fmax" | "fmaxf" | "std::fmax" | "std::max" => Operator::Max,
        "fmin" | "fminf" | "std::fmin" | "std::min" => Operator::Min,
        _ => return None,
    };
    // These round both to `float` first, which other variables are not.
    let variable = cx.symbols().lookup(name, function.start)?;
    let is_single = variable.ty.number() == Some(&Number::Floating(Format::Single));
    (is_single || !matches!(callee.as_str(), "fmaxf" | "fminf")).then_some(())?;
    let is_library = cx.symbols().calls_library_in(None, &callee, function.start);
    let arguments: Vec<NodeId> = call.arguments().collect();
    let of_templates = callee.ends_with("::max") || callee.ends_with("::min");
    match arguments.as_slice() {
        [own, other] | [other, own] if is_library && is_named(cx, *own, name) => {
            // The functions of C compute with `double`, which does not hold all integers.
            let terms = if of_templates { vec![*other] } else { vec![*other, value] };
            // `std::max(a, b)` is `a < b ? b : a`; `fmax` leaves out what is no number.
            let takes_nan = of_templates && arguments.first() == Some(other);
            Some(Value { operator, names: vec![*own], terms, takes_nan })
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
    let (terms, statement) = (vec![value, tested[1]], tree.span(statement));
    Some(Combination { name, at, operator, names, terms, takes_nan: false, statement })
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

/// An expression without the parentheses around it.
pub(crate) fn without_parentheses(cx: &Program<'_>, node: NodeId) -> NodeId {
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
