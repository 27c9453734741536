//! What loops and conditions around a nest say of the variables in it.

use super::{Meaning, Reader};
use crate::analysis::dependence::Range;
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::region::loop_nest::{CanonicalLoop, canonical_head, counter_change};
use crate::semantics::Integer;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope, VariableId};
use crate::source::Span;
use crate::syntax::{For, NodeId, NodeKind};

/// What one loop or condition around a nest says. It holds where the nest reads the variables that the host has, and not
/// what the device was given of them earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// The variables that it is about.
    pub variables: Vec<VariableId>,
    /// The bounds of the loop's variable.
    pub range: Option<(Atom, Range)>,
    /// What is at least zero.
    pub rows: Vec<Polynomial>,
}

impl Reader<'_, '_> {
    /// Reads the loops and conditions around the nest, up to its function.
    pub(super) fn read_around(&mut self, nest: &[CanonicalLoop]) {
        let Some(mut below) = nest.first().map(|first| first.node) else { return };
        let tree = self.tree;
        for above in tree.ancestors(below).collect::<Vec<_>>() {
            let found = match tree.kind(above) {
                NodeKind::FunctionDefinition | NodeKind::LambdaExpression => break,
                _ if self.may_be_entered(above) => None,
                NodeKind::ForStatement if For::of(tree, above).and_then(For::body) == Some(below) => {
                    self.loop_around(above)
                }
                _ => self.condition_around(above, below),
            };
            self.found.around.extend(found);
            below = above;
        }
        // The bounds of a loop may name the variables of those around it.
        self.found.around.reverse();
    }

    /// May control enter a statement other than from its beginning?
    fn may_be_entered(&self, node: NodeId) -> bool {
        self.tree
            .descendants(node)
            .any(|inside| matches!(self.tree.kind(inside), NodeKind::LabeledStatement | NodeKind::CaseStatement))
    }

    fn loop_around(&mut self, node: NodeId) -> Option<Around> {
        let read = canonical_head(self.file, self.tree, node)?;
        if counter_change(self.file, self.tree, &read).is_some() {
            return None;
        }
        let at = self.tree.span(read.body).start;
        let variable = self.variable(&read.variable, at)?;
        let integer = Integer::of(&variable.ty)?;
        let mut variables = vec![variable.id()];
        for bound in [read.lower, read.upper] {
            variables.extend(self.unchanged(bound, read.span)?);
        }
        let is_own = variable.scope == Scope::Local && !variable.is_static;
        if !is_own || self.symbols.is_address_taken(&read.variable, at) || !self.is_symbol(&variable, read.span) {
            return None;
        }
        let (range, _, step) = self.range_of(&read, integer);
        // With a larger step a variable without a sign may jump over its bound and begin again at zero.
        let step = step.filter(|step| integer.signed || step.abs() == 1);
        step?;
        let atom = self.known(Meaning::Variable(variable.id()), &read.variable);
        let rows = range.facts(atom);
        Some(Around { variables, range: Some((atom, range)), rows })
    }

    fn condition_around(&mut self, above: NodeId, below: NodeId) -> Option<Around> {
        let (condition, holds) = super::conditions::branch(self.tree, above, below)?;
        let span = Span::new(self.tree.span(condition).start, self.tree.span(above).end);
        let variables = self.unchanged(self.tree.span(condition), span)?;
        let rows = self.condition(condition, holds, &[]).rows;
        Some(Around { variables, range: None, rows })
    }

    /// The variables of an expression, if they are of the function alone and nothing in a range changes them.
    fn unchanged(&self, expression: Span, range: Span) -> Option<Vec<VariableId>> {
        let tree = self.tree;
        let names = tree.descendants(tree.covering(expression)).filter(|node| expression.contains(tree.span(*node)));
        let mut found = Vec::new();
        for node in names.filter(|node| tree.kind(*node) == NodeKind::Identifier) {
            let (name, at) = (self.text(node), tree.span(node).start);
            if self.symbols.is_constant(&name, at) {
                continue;
            }
            let variable = self.variable(&name, at)?;
            let is_own = matches!(variable.scope, Scope::Local | Scope::Parameter)
                && variable.kind == NameKind::Variable
                && !variable.is_static
                && !matches!(variable.ty, DeclaredType::Reference { .. });
            if !is_own
                || self.symbols.is_address_taken(&name, at)
                || !self.symbols.written_in(&name, at, range).is_empty()
            {
                return None;
            }
            found.push(variable.id());
        }
        Some(found)
    }
}
