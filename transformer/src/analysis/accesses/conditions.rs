//! What conditions say of integers: those of `if` around an access, those of `c ? x : y`, and the heads of loops.

use super::{Meaning, Reader, Value};
use crate::analysis::dependence::Range;
use crate::analysis::inequalities::have_no_solution;
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::semantics::Integer;
use crate::source::Span;
use crate::syntax::{Binary, Conditional, HostTree, If, NodeId, NodeKind, Unary};

/// What is at least zero where a condition holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guards {
    /// The values that are.
    pub rows: Vec<Polynomial>,
    /// Does that say all that the condition asks for?
    pub is_whole: bool,
}

impl Guards {
    fn unknown() -> Self {
        Self::default()
    }

    fn whole(rows: impl IntoIterator<Item = Option<Polynomial>>) -> Self {
        let rows: Option<Vec<Polynomial>> = rows.into_iter().collect();
        rows.map_or_else(Self::unknown, |rows| Self { rows, is_whole: true })
    }

    fn and(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        Self { is_whole: self.is_whole && other.is_whole, ..self }
    }
}

impl Reader<'_, '_> {
    /// What a condition says if it holds, or if it does not, and `around` is known to be at least zero. Variables that
    /// something changes have values of which nothing else is known.
    pub(super) fn condition(&mut self, node: NodeId, holds: bool, around: &[Polynomial]) -> Guards {
        let tree = self.tree;
        match tree.kind(node) {
            NodeKind::ParenthesizedExpression | NodeKind::ConditionClause => {
                let mut inside = tree.named_children(node);
                match (inside.next(), inside.next()) {
                    (Some(only), None) => self.condition(only, holds, around),
                    _ => Guards::unknown(),
                }
            }
            NodeKind::UnaryExpression => match Unary::of(tree, node).map(|unary| (unary.operator(), unary.operand())) {
                Some((Some(NodeKind::Exclamation), Some(operand))) => self.condition(operand, !holds, around),
                _ => Guards::unknown(),
            },
            NodeKind::BinaryExpression => self.comparison(node, holds, around).unwrap_or_default(),
            _ => Guards::unknown(),
        }
    }

    fn comparison(&mut self, node: NodeId, holds: bool, around: &[Polynomial]) -> Option<Guards> {
        let binary = Binary::of(self.tree, node)?;
        let (left, right, operator) = (binary.left()?, binary.right()?, binary.operator()?);
        match (operator, holds) {
            (NodeKind::AmpersandAmpersand, true) | (NodeKind::BarBar, false) => {
                return Some(self.condition(left, holds, around).and(self.condition(right, holds, around)));
            }
            (NodeKind::AmpersandAmpersand | NodeKind::BarBar, _) => return None,
            _ => {}
        }
        let (left, right) = self.compared(left, right)?;
        let above = |more: &Polynomial, less: &Polynomial, by: i128| more.minus(less)?.minus(&Polynomial::constant(by));
        Some(match (operator, holds) {
            (NodeKind::Less, true) | (NodeKind::GreaterEqual, false) => Guards::whole([above(&right, &left, 1)]),
            (NodeKind::Greater, true) | (NodeKind::LessEqual, false) => Guards::whole([above(&left, &right, 1)]),
            (NodeKind::LessEqual, true) | (NodeKind::Greater, false) => Guards::whole([above(&right, &left, 0)]),
            (NodeKind::GreaterEqual, true) | (NodeKind::Less, false) => Guards::whole([above(&left, &right, 0)]),
            (NodeKind::EqualEqual, true) | (NodeKind::ExclamationEqual, false) => {
                Guards::whole([above(&left, &right, 0), above(&right, &left, 0)])
            }
            (NodeKind::EqualEqual | NodeKind::ExclamationEqual, _) => {
                // Numbers that differ, and of which one is known not to be less, are at least one apart.
                let (more, less) = (above(&left, &right, 0)?, above(&right, &left, 0)?);
                let apart = [more, less].into_iter().find(|it| is_certain(it, around));
                Guards::whole([apart?.minus(&Polynomial::constant(1))])
            }
            _ => return None,
        })
    }

    /// Two operands, if the program compares them as mathematical numbers.
    fn compared(&mut self, left: NodeId, right: NodeId) -> Option<(Polynomial, Polynomial)> {
        let (first, second) = (self.value(left)?, self.value(right)?);
        let common = first.integer.common(second.integer);
        let is_exact = !first.wraps
            && !second.wraps
            && (common.signed || self.is_plain_unsigned(left, &first) && self.is_plain_unsigned(right, &second));
        is_exact.then_some((first.form, second.form))
    }

    /// Is it a number, or a variable of an unsigned type itself: no sum, which may have wrapped around, and no copy of a
    /// variable that may be negative?
    fn is_plain_unsigned(&self, node: NodeId, value: &Value) -> bool {
        if value.form.as_constant().is_some_and(|number| number >= 0) {
            return true;
        }
        let at = self.placed(self.tree.span(node)).start;
        let variable = self.variable(&self.text(node), at).filter(|_| self.tree.kind(node) == NodeKind::Identifier);
        variable.is_some_and(|variable| {
            let own = self
                .loop_of(variable.id(), at)
                .and_then(|index| self.found.loops.get(index))
                .map(|l| l.atom)
                .or_else(|| self.atoms.get(&Meaning::Variable(variable.id())).copied());
            Integer::of(&variable.ty).is_some_and(|integer| !integer.signed)
                && own.is_some_and(|own| value.form == Polynomial::atom(own))
        })
    }

    /// What the loops around a place say of their variables.
    pub(super) fn loop_facts(&self, span: Span, is_known: impl Fn(usize) -> bool) -> Vec<Polynomial> {
        let around = self.loops_around(self.placed(span)).into_iter().filter(|index| is_known(*index));
        around.filter_map(|index| self.found.loops.get(index)).flat_map(|l| l.range.facts(l.atom)).collect()
    }

    /// What is known where an access happens: the conditions of all `if` around it in the body of the nest.
    pub(super) fn guards_around(&mut self, node: NodeId) -> Guards {
        if let Some(place) = self.place {
            let (file, main) = (self.main_file, self.main);
            return self.reading((file, main, None), |reader| reader.guards_around(main.covering(place)));
        }
        let (tree, body) = (self.tree, self.body);
        let around = self.loop_facts(tree.span(node), |_| true);
        let mut found = Guards { rows: Vec::new(), is_whole: true };
        let inside = tree.ancestors(node).take_while(|above| tree.span(body).contains(tree.span(*above)));
        let mut below = node;
        for above in inside.collect::<Vec<_>>() {
            if let Some((condition, holds)) = branch(tree, above, below) {
                found = found.and(self.condition(condition, holds, &around));
            }
            below = above;
        }
        found
    }

    /// Notes between which bounds the value of `c ? x : y` lies: those that both sides have under their conditions.
    pub(super) fn bound_choice(&mut self, node: NodeId, atom: Atom, sides: [&Polynomial; 2], is_signed: bool) {
        let Some(condition) = Conditional::of(self.tree, node).and_then(Conditional::condition) else { return };
        let is_shared = !self.found.opaque.contains(&atom);
        let promised = self.promised;
        // The value of an expression that iterations share is also used where inner loops do not run.
        let around = self.loop_facts(self.tree.span(node), |index| !is_shared || index < promised);
        let known =
            [true, false].map(|holds| [around.clone(), self.condition(condition, holds, &around).rows].concat());
        let atoms: Vec<Atom> = sides.iter().flat_map(|side| side.atoms()).collect();
        let ranges: Vec<&Range> =
            self.found.loops.iter().filter(|l| atoms.contains(&l.atom)).map(|l| &l.range).collect();
        let is_never_less = |differences: [Option<Polynomial>; 2]| {
            let mut both = differences.iter().zip(&known);
            both.all(|(difference, rows)| difference.as_ref().is_some_and(|it| is_certain(it, rows)))
        };
        let of_loops = ranges.iter().filter_map(|range| range.lower.as_ref());
        let lower = of_loops.chain(sides).find(|bound| is_never_less(sides.map(|side| side.minus(bound)))).cloned();
        let of_loops = ranges.iter().filter_map(|range| range.upper.as_ref());
        let upper = of_loops.chain(sides).find(|bound| is_never_less(sides.map(|side| bound.minus(side)))).cloned();
        // What is computed without a sign is no mathematical difference where that is negative.
        if is_signed || is_never_less(sides.map(|side| Some(side.clone()))) {
            self.found.ranges.insert(atom, Range { lower, upper });
        }
    }
}

/// Is a value at least zero, if all of `rows` are?
fn is_certain(value: &Polynomial, rows: &[Polynomial]) -> bool {
    let below = value.negated().and_then(|below| below.minus(&Polynomial::constant(1)));
    below.is_some_and(|below| have_no_solution(&[rows, &[below]].concat(), &[]))
}

/// The condition that decides whether one part of a statement or expression is executed, and whether it must hold.
pub(super) fn branch(tree: &HostTree, above: NodeId, below: NodeId) -> Option<(NodeId, bool)> {
    let of_if = || If::of(tree, above).map(|it| (it.condition(), it.consequence(), it.alternative()));
    let of_choice = || Conditional::of(tree, above).map(|it| (it.condition(), it.consequence(), it.alternative()));
    let (condition, consequence, alternative) = of_if().or_else(of_choice)?;
    match (consequence == Some(below), alternative == Some(below)) {
        (true, _) => Some((condition?, true)),
        (_, true) => Some((condition?, false)),
        _ => None,
    }
}
