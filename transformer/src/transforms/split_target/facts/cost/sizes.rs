//! How often a loop runs: a sum of the numbers that the host knows before the region starts, and of products of them.
//!
//! They are for estimates alone. If a bound depends on the variable of an enclosing loop, that loop is assumed to have
//! advanced by some part: a quarter of the way through an LU decomposition of size n, its loops run 3/4 n iterations.

use std::collections::BTreeMap;

use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_nest};
use crate::semantics::{Class, Kind, Program};
use crate::source::Span;
use crate::syntax::host::parse_expression;
use crate::syntax::{Binary, Cast, HostTree, NodeId, NodeKind};

/// The text between the variables of a product.
const TIMES: &str = " * ";

/// How many levels of loop variables are followed outwards.
const DEPTH: usize = 8;

/// A constant and multiples of variables, or of products of variables: `n * m`, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub constant: f64,
    /// The factor of each variable or product; none is zero.
    pub terms: BTreeMap<String, f64>,
}

impl Size {
    fn constant(constant: f64) -> Self {
        Self { constant, terms: BTreeMap::new() }
    }

    fn variable(name: &str) -> Self {
        Self { constant: 0.0, terms: BTreeMap::from([(name.to_owned(), 1.0)]) }
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.constant *= factor;
        self.terms.values_mut().for_each(|term| *term *= factor);
        self.terms.retain(|_, term| *term != 0.0);
        self
    }

    fn plus(mut self, other: &Self) -> Self {
        self.constant += other.constant;
        for (name, factor) in &other.terms {
            *self.terms.entry(name.clone()).or_default() += factor;
        }
        self.terms.retain(|_, term| *term != 0.0);
        self
    }

    fn minus(self, other: Self) -> Self {
        self.plus(&other.scaled(-1.0))
    }

    /// The product of the parts of two sums that grow; constants are dropped, which is good enough for an estimate: `n
    /// * m` for `(n - 1) * m`. `None` if a sum has several variables.
    fn times(&self, other: &Self) -> Option<Self> {
        let ((one, first), (two, second)) = (self.only_term()?, other.only_term()?);
        let mut variables: Vec<&str> = variables_of(one).chain(variables_of(two)).collect();
        variables.sort_unstable();
        Some(Self { constant: 0.0, terms: BTreeMap::from([(variables.join(TIMES), first * second)]) })
    }

    fn only_term(&self) -> Option<(&str, f64)> {
        let (name, factor) = self.terms.iter().next()?;
        (self.terms.len() == 1).then_some((name.as_str(), *factor))
    }

    /// Its value, at least zero; `value_of` gives the assumed value of a variable.
    pub(super) fn value(&self, value_of: impl Fn(&str) -> f64) -> f64 {
        let terms: f64 = self.terms.iter().map(|(name, factor)| factor * value_of(name)).sum();
        (self.constant + terms).max(0.0)
    }
}

/// The variables of a product, or the one variable.
pub(super) fn variables_of(term: &str) -> impl Iterator<Item = &str> {
    term.split(TIMES)
}

/// How many iterations a loop has when the loops around it are `progress` (0 to 1) of their way through. `None` if a
/// bound is no such sum.
pub(super) fn trip_count(names: &Program<'_>, region: Span, progress: f64, canonical: &CanonicalLoop) -> Option<Size> {
    Reader { names, region, progress }.trip_count(canonical, DEPTH)
}

struct Reader<'a, 'n> {
    names: &'a Program<'n>,
    /// Variables that are declared in this range are not known before it.
    region: Span,
    progress: f64,
}

impl Reader<'_, '_> {
    fn trip_count(&self, canonical: &CanonicalLoop, depth: usize) -> Option<Size> {
        let (lower, upper) = self.bounds(canonical, depth)?;
        let step = canonical.step.amount.map_or(Some(1), |span| self.names.constant(span))?.unsigned_abs().max(1);
        let width = match canonical.relation {
            Relation::Less | Relation::LessOrEqual | Relation::NotEqual => upper.minus(lower),
            Relation::Greater | Relation::GreaterOrEqual => lower.minus(upper),
        };
        let closed = matches!(canonical.relation, Relation::LessOrEqual | Relation::GreaterOrEqual);
        let width = width.plus(&Size::constant(f64::from(u8::from(closed))));
        Some(width.scaled(1.0 / u32::try_from(step).map_or(f64::MAX, f64::from)))
    }

    fn bounds(&self, canonical: &CanonicalLoop, depth: usize) -> Option<(Size, Size)> {
        let bound = |span: Span| {
            let tree = parse_expression(self.names.file, span, self.names.tree.language())?;
            self.sum(&tree, tree.root(), canonical.node, depth)
        };
        Some((bound(canonical.lower)?, bound(canonical.upper)?))
    }

    fn sum(&self, tree: &HostTree, node: NodeId, inside: NodeId, depth: usize) -> Option<Size> {
        let span = tree.span(node);
        if let Some(value) = self.names.constant(span) {
            return i32::try_from(value).ok().map(|value| Size::constant(f64::from(value)));
        }
        let of = |node| self.sum(tree, node, inside, depth);
        match tree.kind(node) {
            NodeKind::Identifier => self.name(span, inside, depth),
            NodeKind::ParenthesizedExpression => of(tree.named_children(node).next()?),
            NodeKind::CastExpression => of(Cast::of(tree, node)?.value()?),
            NodeKind::BinaryExpression => {
                let binary = Binary::of(tree, node)?;
                let (left, right) = (of(binary.left()?)?, of(binary.right()?)?);
                match binary.operator()? {
                    NodeKind::Plus => Some(left.plus(&right)),
                    NodeKind::Minus => Some(left.minus(right)),
                    NodeKind::Star if left.terms.is_empty() => Some(right.scaled(left.constant)),
                    NodeKind::Star if right.terms.is_empty() => Some(left.scaled(right.constant)),
                    NodeKind::Star => left.times(&right),
                    NodeKind::Slash if right.terms.is_empty() && right.constant != 0.0 => {
                        Some(left.scaled(1.0 / right.constant))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value of a loop variable, or of a number from outside of the region.
    fn name(&self, span: Span, inside: NodeId, depth: usize) -> Option<Size> {
        let cx = self.names;
        let name = cx.file.show(span);
        let depth = depth.checked_sub(1)?;
        let mut loops = cx.tree.ancestors(inside).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement);
        let steering = loops.find_map(|node| {
            let nest = canonical_nest(cx.file, cx.tree, node, 1).ok()?;
            nest.loops.into_iter().next().filter(|canonical| canonical.variable == name)
        });
        if let Some(canonical) = steering {
            let (lower, upper) = self.bounds(&canonical, depth)?;
            return Some(lower.scaled(1.0 - self.progress).plus(&upper.scaled(self.progress)));
        }
        let outside = self.names.declared_at(&name, span.start).is_none_or(|at| !self.region.contains(at));
        let kind = self.names.kind(&name, span.start);
        let is_number = matches!(kind, Kind::Scalar { wide: false, class: Class::Integer, builtin: true });
        (outside && is_number).then(|| Size::variable(&name))
    }
}
