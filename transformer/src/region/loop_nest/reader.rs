//! Reads the head of one loop.

use super::{CanonicalLoop, FirstTest, Problem, Relation, Step, VariableKind};
use crate::source::{SourceFile, Span};
use crate::syntax::{
    Assignment, Binary, Declaration, For, HostTree, Initialised, NodeId, NodeKind, Number, Pointer, PointerDeclarator,
    Update,
};

pub(super) struct Reader<'a> {
    pub file: &'a SourceFile,
    pub tree: &'a HostTree,
}

/// What the initialisation of a loop says.
struct Initialisation {
    variable: NodeId,
    declared_type: Option<Span>,
    kind: VariableKind,
    lower: Span,
}

type Read<T> = Result<T, (Problem, Span)>;

impl Reader<'_> {
    /// The `for` statement that a body consists of, without the braces around it.
    pub fn loop_in(&self, body: NodeId) -> Read<NodeId> {
        let mut node = body;
        loop {
            match self.tree.kind(node) {
                NodeKind::ForStatement => return Ok(node),
                NodeKind::ForRangeLoop => return Err((Problem::RangeFor, self.tree.span(node))),
                NodeKind::CompoundStatement => {
                    let mut inside = self.tree.named_children(node);
                    match (inside.next(), inside.next()) {
                        (Some(only), None) => node = only,
                        (_, second) => {
                            return Err((Problem::NotALoop, self.tree.span(second.unwrap_or(node))));
                        }
                    }
                }
                _ => return Err((Problem::NotALoop, self.tree.span(node))),
            }
        }
    }

    /// The `for` statement at the end of a body that otherwise holds only declarations, and these.
    pub fn loop_behind_declarations(&self, body: NodeId) -> Option<(NodeId, Vec<NodeId>)> {
        let is_block = |node: NodeId| self.tree.kind(node) == NodeKind::CompoundStatement;
        let mut inside: Vec<NodeId> = self.tree.named_children(body).filter(|_| is_block(body)).collect();
        let last = inside.pop()?;
        let are_declared = inside.iter().all(|node| self.tree.kind(*node) == NodeKind::Declaration);
        (are_declared && !inside.is_empty()).then_some((self.loop_in(last).ok()?, inside))
    }

    /// Where a bound names the variable of a loop around it.
    pub fn outer_variable(&self, read: &CanonicalLoop, around: &[CanonicalLoop]) -> Option<Span> {
        let bounds = [read.lower, read.upper];
        around.iter().find_map(|outer| bounds.into_iter().find_map(|bound| self.names(bound, &outer.variable)))
    }

    /// Reads the head of a `for` statement.
    pub fn canonical_loop(&self, node: NodeId) -> Read<CanonicalLoop> {
        let condition = For::of(self.tree, node).and_then(For::condition);
        self.loop_tested_by(node, condition)
    }

    /// Reads the head of a `for` statement as if `condition` were its whole test.
    pub fn loop_tested_by(&self, node: NodeId, condition: Option<NodeId>) -> Read<CanonicalLoop> {
        let span = self.tree.span(node);
        let whole = |problem: Problem| (problem, span);
        let statement = For::of(self.tree, node).ok_or(whole(Problem::SyntaxError))?;
        let body = statement.body().ok_or(whole(Problem::SyntaxError))?;
        let head = Span::new(span.start, self.tree.span(body).start);
        if let Some(problem) = self.tree.children(node).find(|child| self.tree.is_problem(*child)) {
            return Err((Problem::SyntaxError, self.tree.span(problem)));
        }
        let initialisation = self.initialisation(statement.initializer().ok_or((Problem::Initialisation, head))?)?;
        let name = self.file.show(self.tree.span(initialisation.variable)).into_owned();
        let condition = condition.ok_or((Problem::Condition, head))?;
        let (relation, upper) = self.condition(condition, &name)?;
        let step = self.increment(statement.update().ok_or((Problem::Increment, head))?, &name)?;
        check_direction(relation, &step, self.tree.span(condition), self.amount_is_one(&step))?;
        for bound in [Some(initialisation.lower), Some(upper), step.amount].into_iter().flatten() {
            if let Some(own) = self.names(bound, &name) {
                return Err((Problem::Bound, own));
            }
            if self.holds_floating_number(bound) {
                return Err((Problem::Bound, bound));
            }
        }
        Ok(CanonicalLoop {
            node,
            span,
            variable: name,
            variable_span: self.tree.span(initialisation.variable),
            declared_in_loop: initialisation.declared_type.is_some(),
            kind: initialisation.kind,
            declared_type: initialisation.declared_type,
            lower: initialisation.lower,
            relation,
            upper,
            condition: self.tree.span(condition),
            step,
            body,
            names_outer_variable: None,
        })
    }

    /// How a `for` statement begins, whatever its steps are.
    pub fn first_test(&self, node: NodeId) -> Option<FirstTest> {
        let statement = For::of(self.tree, node)?;
        let Initialisation { variable, lower, kind, .. } = self.initialisation(statement.initializer()?).ok()?;
        let name = self.file.show(self.tree.span(variable)).into_owned();
        let (relation, upper) = self.condition(statement.condition()?, &name).ok()?;
        let is_free = |span: Span| self.names(span, &name).is_none() && !self.holds_floating_number(span);
        let is_read = kind != VariableKind::Pointer && is_free(lower) && is_free(upper);
        let variable_span = self.tree.span(variable);
        is_read.then_some(FirstTest { variable: name, variable_span, lower, relation, upper })
    }

    /// Is there a number with a fraction or an exponent?
    fn holds_floating_number(&self, bound: Span) -> bool {
        let nodes = self.tree.descendants(self.tree.covering(bound));
        nodes
            .filter(|node| self.tree.kind(*node) == NodeKind::NumberLiteral && bound.contains(self.tree.span(*node)))
            .any(|node| {
                let text = self.text(node).to_ascii_lowercase();
                let is_hexadecimal = text.starts_with("0x");
                text.contains(['.', 'p']) || !is_hexadecimal && text.contains(['e', 'f'])
            })
    }

    fn initialisation(&self, node: NodeId) -> Read<Initialisation> {
        let problem = (Problem::Initialisation, self.tree.span(node));
        if let Some(declaration) = Declaration::of(self.tree, node) {
            return self.declared(declaration);
        }
        let assignment = Assignment::of(self.tree, node).filter(|it| it.is_plain()).ok_or(problem)?;
        let variable = self.variable(assignment.target().ok_or(problem)?)?;
        let lower = self.tree.span(assignment.value().ok_or(problem)?);
        Ok(Initialisation { variable, declared_type: None, kind: VariableKind::Outside, lower })
    }

    /// `type var = lower`, with any number of stars.
    fn declared(&self, declaration: Declaration<'_>) -> Read<Initialisation> {
        let problem = (Problem::Initialisation, self.tree.span(declaration.node));
        let ty = declaration.ty().ok_or(problem)?;
        let mut declarators = declaration.declarators();
        let (Some(declarator), None) = (declarators.next(), declarators.next()) else { return Err(problem) };
        let has_equals =
            |it: &Initialised<'_>| self.tree.children(it.node).any(|child| self.tree.kind(child) == NodeKind::Equal);
        let initialised = Initialised::of(self.tree, declarator).filter(has_equals).ok_or(problem)?;
        let lower = self.tree.span(initialised.value().ok_or(problem)?);
        let mut name = initialised.declarator().ok_or(problem)?;
        let mut kind = self.kind_of(ty);
        while let Some(pointer) = PointerDeclarator::of(self.tree, name) {
            kind = VariableKind::Pointer;
            name = pointer.declarator().ok_or(problem)?;
        }
        let is_other =
            kind == VariableKind::Named && Number::read(&self.text(ty)).is_some_and(|number| !number.is_integer());
        if self.tree.kind(name) != NodeKind::Identifier || is_other {
            return Err((Problem::Variable, self.tree.span(declarator)));
        }
        Ok(Initialisation { variable: name, declared_type: Some(self.tree.span(ty)), kind, lower })
    }

    /// The kind that a type without pointers gives.
    fn kind_of(&self, ty: NodeId) -> VariableKind {
        let is_own = matches!(self.tree.kind(ty), NodeKind::SizedTypeSpecifier | NodeKind::PrimitiveType);
        let number = Number::read(&self.text(ty)).filter(|_| is_own);
        if number.is_some_and(|number| number.is_integer()) { VariableKind::Integer } else { VariableKind::Named }
    }

    /// A plain variable, with or without parentheses.
    fn variable(&self, node: NodeId) -> Read<NodeId> {
        let inner = self.without_parentheses(node);
        if self.tree.kind(inner) == NodeKind::Identifier {
            Ok(inner)
        } else {
            Err((Problem::Variable, self.tree.span(node)))
        }
    }

    fn condition(&self, node: NodeId, variable: &str) -> Read<(Relation, Span)> {
        let problem = (Problem::Condition, self.tree.span(node));
        let comparison = Binary::of(self.tree, self.without_parentheses(node)).ok_or(problem)?;
        let relation = match comparison.operator() {
            Some(NodeKind::Less) => Relation::Less,
            Some(NodeKind::LessEqual) => Relation::LessOrEqual,
            Some(NodeKind::Greater) => Relation::Greater,
            Some(NodeKind::GreaterEqual) => Relation::GreaterOrEqual,
            Some(NodeKind::ExclamationEqual | NodeKind::NotEq) => Relation::NotEqual,
            _ => return Err(problem),
        };
        let left = comparison.left().ok_or(problem)?;
        let right = comparison.right().ok_or(problem)?;
        if self.is_variable(left, variable) {
            Ok((relation, self.tree.span(right)))
        } else if self.is_variable(right, variable) {
            Ok((relation.mirrored(), self.tree.span(left)))
        } else {
            Err(problem)
        }
    }

    /// The parts of a test that all must hold: `i < n` and `e > 1e-6` of `i < n && e > 1e-6`.
    pub fn conjuncts(&self, test: NodeId) -> Vec<NodeId> {
        let node = self.without_parentheses(test);
        let both = Binary::of(self.tree, node).filter(|it| it.operator() == Some(NodeKind::AmpersandAmpersand));
        match both.and_then(|it| Some((it.left()?, it.right()?))) {
            Some((left, right)) => [self.conjuncts(left), self.conjuncts(right)].concat(),
            None => vec![node],
        }
    }

    fn increment(&self, node: NodeId, variable: &str) -> Read<Step> {
        let span = self.tree.span(node);
        let problem = (Problem::Increment, span);
        let node = self.without_parentheses(node);
        let is_ours = |side: Option<NodeId>| side.is_some_and(|side| self.is_variable(side, variable));
        if let Some(update) = Update::of(self.tree, node).filter(|update| is_ours(update.operand())) {
            let operator = update.operator().ok_or(problem)?;
            return Ok(Step { span, is_subtracted: operator == NodeKind::MinusMinus, amount: None });
        }
        let assignment = Assignment::of(self.tree, node).filter(|it| is_ours(it.target())).ok_or(problem)?;
        let value = assignment.value().ok_or(problem)?;
        match assignment.operator() {
            Some(NodeKind::Equal) => self.sum(value, variable, span),
            Some(operator @ (NodeKind::PlusEqual | NodeKind::MinusEqual)) => {
                Ok(Step { span, is_subtracted: operator == NodeKind::MinusEqual, amount: Some(self.tree.span(value)) })
            }
            _ => Err(problem),
        }
    }

    /// `var + c`, `c + var`, `var - c`.
    fn sum(&self, node: NodeId, variable: &str, span: Span) -> Read<Step> {
        let problem = (Problem::Increment, span);
        let sum = Binary::of(self.tree, self.without_parentheses(node)).ok_or(problem)?;
        let left = sum.left().ok_or(problem)?;
        let right = sum.right().ok_or(problem)?;
        let (amount, is_subtracted) = match sum.operator() {
            Some(NodeKind::Plus) if self.is_variable(left, variable) => (right, false),
            Some(NodeKind::Plus) if self.is_variable(right, variable) => (left, false),
            Some(NodeKind::Minus) if self.is_variable(left, variable) => (right, true),
            _ => return Err(problem),
        };
        Ok(Step { span, is_subtracted, amount: Some(self.tree.span(amount)) })
    }

    /// Is the step certain to be one?
    fn amount_is_one(&self, step: &Step) -> bool {
        step.amount.is_none_or(|amount| self.file.bytes(amount) == b"1")
    }

    /// The first place where an expression names a variable.
    pub fn names(&self, expression: Span, variable: &str) -> Option<Span> {
        self.tree
            .descendants(self.tree.covering(expression))
            .filter(|node| self.is_variable(*node, variable))
            .map(|node| self.tree.span(node))
            .find(|span| expression.contains(*span))
    }

    /// The first place where the body changes a loop's variable or takes its address.
    pub fn change_of(&self, read: &CanonicalLoop) -> Option<Span> {
        self.tree
            .descendants(read.body)
            .filter(|node| self.is_variable(*node, &read.variable))
            .find(|node| self.is_changed(*node) && !self.is_shadowed(*node, read))
            .map(|node| self.tree.span(node))
    }

    /// Is a variable changed at this place, or its address taken?
    fn is_changed(&self, name: NodeId) -> bool {
        let mut node = name;
        while let Some(parent) = self.tree.parent(node) {
            match self.tree.kind(parent) {
                NodeKind::ParenthesizedExpression => node = parent,
                NodeKind::AssignmentExpression => return Assignment::to(self.tree, node).is_some(),
                NodeKind::UpdateExpression => return true,
                _ => return Pointer::of(self.tree, parent).is_some_and(Pointer::is_address),
            }
        }
        false
    }

    /// Does the name mean another variable, declared between this place and the loop?
    fn is_shadowed(&self, name: NodeId, read: &CanonicalLoop) -> bool {
        self.tree.ancestors(name).take_while(|ancestor| *ancestor != read.node).any(|scope| {
            self.tree.children(scope).filter_map(|child| Declaration::of(self.tree, child)).any(|declaration| {
                self.tree.span(declaration.node).start < self.tree.span(name).start
                    && self.declares(declaration, &read.variable)
            })
        })
    }

    fn declares(&self, declaration: Declaration<'_>, variable: &str) -> bool {
        declaration
            .declarators()
            .any(|declarator| self.is_variable(self.tree.innermost_declarator(declarator), variable))
    }

    fn is_variable(&self, node: NodeId, variable: &str) -> bool {
        let node = self.without_parentheses(node);
        self.tree.kind(node) == NodeKind::Identifier && self.file.bytes(self.tree.span(node)) == variable.as_bytes()
    }

    fn without_parentheses(&self, node: NodeId) -> NodeId {
        let mut node = node;
        while self.tree.kind(node) == NodeKind::ParenthesizedExpression {
            match self.tree.named_children(node).next() {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node
    }

    fn text(&self, node: NodeId) -> std::borrow::Cow<'_, str> {
        self.file.show(self.tree.span(node))
    }
}

/// `<` must not come with a variable that is counted down, nor `!=` with a step other than one.
fn check_direction(relation: Relation, step: &Step, at: Span, is_one: bool) -> Read<()> {
    let wrong = match relation {
        Relation::Less | Relation::LessOrEqual => is_one && step.is_subtracted,
        Relation::Greater | Relation::GreaterOrEqual => is_one && !step.is_subtracted,
        Relation::NotEqual => !is_one,
    };
    if wrong { Err((Problem::Direction, at)) } else { Ok(()) }
}
