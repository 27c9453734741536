//! The values of integer expressions.

use super::literals::{braced_literal, literal};
use super::{Meaning, Named, Reader, Subscript};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::semantics::Integer;
use crate::semantics::symbols::{NameKind, Scope, Variable, is_operand};
use crate::source::Span;
use crate::syntax::{Assignment, Binary, Cast, Conditional, NodeId, NodeKind, Unary};

/// The factors of an index of 64 unsigned bits must fit into this many bits.
const LARGEST_FACTOR: u32 = 32;
/// The longest chain of local copies that is followed: `int a = b; int c = a;` is one of two.
const COPIES: usize = 16;

/// The value of an integer expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// As a polynomial.
    pub form: Polynomial,
    /// The type of the expression.
    pub integer: Integer,
    /// Is it known only up to multiples of 2 to the power of 32?
    pub wraps: bool,
}

impl Value {
    pub(super) fn exact(form: Polynomial, integer: Integer) -> Self {
        Self { form, integer, wraps: false }
    }

    /// The value converted to another type. `None` if the conversion may change too much of it.
    fn converted(self, to: Integer) -> Option<Self> {
        let widens = to.bits > self.integer.bits && (to.signed || !self.integer.signed);
        let is_kept = to == self.integer || widens || self.form.as_constant().is_some_and(|number| to.holds(number));
        // Addresses are computed modulo 2 to the power of 64, so a negative index converted to 64 unsigned bits selects
        // the same element.
        match to.bits {
            _ if is_kept => Some(Self { integer: to, ..self }).filter(|value| !value.wraps || to.bits == 32),
            64 => (!self.wraps).then_some(Self { integer: to, ..self }),
            32 => Some(Self { integer: to, wraps: true, ..self }),
            _ => None,
        }
    }
}

/// Does every coefficient fit into the type? If not, the arithmetic wraps around or is undefined. Values of 64 unsigned
/// bits must have small coefficients: those wrap around only at indices far beyond any array.
pub(super) fn fits(form: &Polynomial, integer: Integer) -> bool {
    let bits =
        if integer.bits == 64 && !integer.signed { LARGEST_FACTOR } else { integer.bits - u32::from(integer.signed) };
    let largest = |coefficient: i128| coefficient.unsigned_abs() < 1_u128 << bits;
    form.coefficients().all(largest) || form.as_constant().is_some()
}

impl Reader<'_, '_> {
    /// The value of a subscript. One that is not understood becomes an unknown value.
    pub(super) fn subscript(&mut self, node: NodeId) -> Subscript {
        match self.value(node) {
            Some(value) => Subscript { form: value.form, wraps: value.wraps },
            None => Subscript { form: self.opaque(node), wraps: false },
        }
    }

    /// The sum of the expressions that select an element: the subscript, and what was added to the pointer before.
    pub(super) fn sum(&mut self, terms: &[(NodeId, bool)]) -> Subscript {
        if let [(only, false)] = terms {
            return self.subscript(*only);
        }
        let mut sum = Polynomial::default();
        for (node, is_subtracted) in terms {
            let value = self.value(*node).filter(|value| !value.wraps).map(|value| value.form);
            let next = value.and_then(|value| if *is_subtracted { sum.minus(&value) } else { sum.plus(&value) });
            match next {
                Some(next) => sum = next,
                None => return Subscript { form: self.varying(), wraps: false },
            }
        }
        Subscript { form: sum, wraps: false }
    }

    /// The sum of the expressions that select an element, behind another one.
    pub(super) fn behind(&mut self, start: &Subscript, terms: &[(NodeId, bool)]) -> Subscript {
        let rest = self.sum(terms);
        let is_exact = !start.wraps && !rest.wraps;
        let form = start.form.plus(&rest.form).filter(|_| is_exact);
        Subscript { form: form.unwrap_or_else(|| self.varying()), wraps: false }
    }

    /// The value of an expression. `None` if it is no integer or is not understood.
    pub(super) fn value(&mut self, node: NodeId) -> Option<Value> {
        match self.tree.kind(node) {
            NodeKind::ParenthesizedExpression => self.value(self.tree.named_children(node).next()?),
            NodeKind::NumberLiteral => literal(&self.text(node)),
            NodeKind::Identifier => self.named(node),
            NodeKind::UnaryExpression => {
                let unary = Unary::of(self.tree, node)?;
                let value = self.value(unary.operand()?)?;
                let integer = value.integer.promoted();
                let value = value.converted(integer)?;
                let wraps = value.wraps || integer.wraps();
                match unary.operator()? {
                    NodeKind::Minus => Some(Value { form: value.form.negated()?, integer, wraps }),
                    NodeKind::Plus => Some(value),
                    _ => None,
                }
            }
            NodeKind::BinaryExpression => self.binary(node),
            NodeKind::CastExpression => {
                let cast = Cast::of(self.tree, node)?;
                let ty = cast.ty()?;
                let at = self.placed(self.tree.span(ty)).start;
                let integer = Integer::of(&self.symbols.type_written(None, &self.text(ty), at))?;
                self.value(cast.value()?)?.converted(integer)
            }
            NodeKind::ConditionalExpression => self.either(node),
            NodeKind::SubscriptExpression => {
                let (load, ty) = self.load(node)?;
                let integer = ty.number()?.integer()?;
                let form = self.varying();
                self.found.loads.extend(form.atoms().first().map(|atom| (*atom, load)));
                Some(Value::exact(form, integer))
            }
            _ => None,
        }
    }

    /// `c ? x : y` is one of two values: an unknown one between bounds that both have. If they differ by a constant, it is
    /// noted to be near both.
    fn either(&mut self, node: NodeId) -> Option<Value> {
        let choice = Conditional::of(self.tree, node)?;
        let first = self.value(choice.consequence()?)?;
        let second = self.value(choice.alternative()?)?;
        let integer = first.integer.common(second.integer);
        let (first, second) = (first.converted(integer)?, second.converted(integer)?);
        let is_near = first.form.minus(&second.form)?.as_constant().is_some();
        let form = if is_near { self.opaque(node) } else { self.varying() };
        let atom = *form.atoms().first()?;
        if !first.wraps && !second.wraps {
            self.bound_choice(node, atom, [&first.form, &second.form], integer.signed);
        }
        self.found.near.extend(is_near.then_some((atom, first.form)));
        Some(Value::exact(form, integer))
    }

    fn binary(&mut self, node: NodeId) -> Option<Value> {
        let binary = Binary::of(self.tree, node)?;
        let operator = binary.operator()?;
        let left = self.value(binary.left()?)?;
        let right = self.value(binary.right()?)?;
        if matches!(operator, NodeKind::LessLess | NodeKind::GreaterGreater) {
            let integer = left.integer.promoted();
            return self.of_constants(node, operator, &left.converted(integer)?, &right);
        }
        let integer = left.integer.common(right.integer);
        let (left, right) = (left.converted(integer)?, right.converted(integer)?);
        let form = match operator {
            NodeKind::Plus => left.form.plus(&right.form)?,
            NodeKind::Minus => left.form.minus(&right.form)?,
            NodeKind::Star => left.form.times(&right.form)?,
            NodeKind::Ampersand if left.form.as_constant().is_some() => {
                return self.of_constants(node, operator, &right, &left);
            }
            _ => return self.of_constants(node, operator, &left, &right),
        };
        if !fits(&form, integer) {
            return None;
        }
        let is_small = form.as_constant().is_some_and(|number| (0..=i128::from(u32::MAX)).contains(&number));
        let wraps = left.wraps || right.wraps || (integer.wraps() && !is_small);
        Some(Value { form, integer, wraps })
    }

    fn named(&mut self, node: NodeId) -> Option<Value> {
        let span = self.placed(self.tree.span(node));
        let name = self.text(node).into_owned();
        if self.symbols.macro_definition(&name, span.start).is_some() {
            if self.symbols.is_ambiguous_macro(&name) {
                return self.ambiguous_macro(&name, span);
            }
            let is_value = || {
                let body = self.symbols.macro_definition(&name, span.start).map(|found| found.body);
                body.is_some_and(|body| is_operand(&body)) || self.stands_alone(node)
            };
            return self.macro_value(&name, span, COPIES).filter(|_| is_value());
        }
        let variable = self.variable(&name, span.start)?;
        if variable.kind == NameKind::Enumerator {
            let integer = Integer::of(&variable.ty).filter(|_| self.symbols.has_own_arithmetic());
            return integer.and_then(|_| self.constant(&name, span));
        }
        let integer = Integer::of(&variable.ty)?;
        let key = variable.id();
        if let Some(atom) = self.loop_of(key, span.start).and_then(|index| self.found.loops.get(index)).map(|l| l.atom)
        {
            return Some(Value::exact(Polynomial::atom(atom), integer));
        }
        if let Some(copied) = self.copy(&variable, span, integer) {
            return Some(copied);
        }
        // A constant of the file by its value, which the language does not let anything change.
        let is_constant = variable.ty.is_const() && variable.scope == Scope::File;
        if let Some(value) = self.constant(&name, span).and_then(|it| it.converted(integer)).filter(|_| is_constant) {
            return Some(value);
        }
        if self.is_inside(&variable) || !self.is_symbol(&variable, span) {
            return Some(Value::exact(self.varying(), integer));
        }
        Some(Value::exact(Polynomial::atom(self.known(Meaning::Variable(key), &name)), integer))
    }

    /// Does the value of a macro stay whole at this place, because no operator beside it binds more tightly than those
    /// in the macro's text? `i * N` with `#define N 1 + 1` is `i * 1 + 1`, but `i < N` is `i < (1 + 1)`.
    fn stands_alone(&self, node: NodeId) -> bool {
        let Some(parent) = self.tree.parent(node) else { return true };
        match self.tree.kind(parent) {
            NodeKind::BinaryExpression => matches!(
                Binary::of(self.tree, parent).and_then(Binary::operator),
                Some(NodeKind::Less | NodeKind::Greater | NodeKind::LessEqual | NodeKind::GreaterEqual)
            ),
            NodeKind::AssignmentExpression => Assignment::to(self.tree, node).is_none(),
            NodeKind::SubscriptArgumentList | NodeKind::ParenthesizedExpression | NodeKind::InitDeclarator => true,
            kind => !kind.is_expression(),
        }
    }

    fn constant(&self, name: &str, span: Span) -> Option<Value> {
        // The type of a larger constant depends on the compiler.
        let value = i32::try_from(self.symbols.constant(name, span.start)?).ok()?;
        Some(Value::exact(Polynomial::constant(i128::from(value)), Integer::INT))
    }

    /// A macro with several definitions, of which each build uses one: an unknown constant, if the program never
    /// undefines it.
    fn ambiguous_macro(&mut self, name: &str, span: Span) -> Option<Value> {
        let is_plain = |body: &str| braced_literal(body).is_some_and(|value| value.integer == Integer::INT);
        let all = self.symbols.macros_named(name, span.start);
        let is_own = !self.symbols.is_redefined(name) && !self.symbols.is_default_of_standard_macro(name);
        let is_number = is_own && all.iter().all(|found| is_plain(&found.body));
        is_number.then(|| {
            Value::exact(Polynomial::atom(self.known(Meaning::Text(name.to_owned(), Vec::new()), name)), Integer::INT)
        })
    }

    /// The value of a macro that stands for a number. The type is that of its literals: `int` if no literal has a
    /// suffix.
    fn macro_value(&self, name: &str, span: Span, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1).filter(|_| !self.symbols.is_ambiguous_macro(name))?;
        let body = self.symbols.macro_definition(name, span.start)?.body;
        if let Some(value) = braced_literal(&body) {
            return Some(value);
        }
        let words = body.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let are_plain = words.map(|word| {
            let value = if word.starts_with(|c: char| c.is_ascii_digit()) {
                literal(word)
            } else {
                self.macro_value(word, span, depth)
            };
            value.is_some_and(|value| value.integer == Integer::INT)
        });
        are_plain.into_iter().all(|is_plain| is_plain).then(|| self.constant(name, span))?
    }

    /// Does no iteration write the variable?
    pub(super) fn is_symbol(&self, variable: &Variable, at: Span) -> bool {
        self.symbols.written_in(&variable.name, at.start, self.main.span(self.body)).is_empty()
    }

    /// The initial value of a variable that is never assigned again, if the variables in that value do not change
    /// either.
    fn copy(&mut self, variable: &Variable, at: Span, integer: Integer) -> Option<Value> {
        let initializer = variable.initializer.filter(|_| variable.header.is_none() && self.depth < COPIES)?;
        let is_constant = variable.ty.is_const() || variable.is_constexpr;
        let tree = self.main;
        let function = tree.ancestors(self.body).find(|node| tree.kind(*node) == NodeKind::FunctionDefinition)?;
        let function = tree.span(function);
        let inside = self.is_inside(variable);
        let whole = if inside { tree.span(self.body) } else { function };
        if variable.is_static && !is_constant || !whole.contains(initializer) {
            return None;
        }
        if !is_constant && !self.symbols.written_in(&variable.name, at.start, whole).is_empty() {
            return None;
        }
        self.depth += 1;
        let value = self.reading_expansion(initializer, |reader, node| {
            let is_whole = reader.place.is_some() || reader.tree.span(node) == initializer;
            (is_whole && reader.is_lasting(node, whole, inside)).then(|| reader.value(node))?
        });
        self.depth -= 1;
        value?.converted(integer)
    }

    /// Do all variables of an initial value still have the same values where the variable is used?
    pub(super) fn is_lasting(&self, node: NodeId, whole: Span, inside: bool) -> bool {
        let tree = self.tree;
        let loads = [
            NodeKind::SubscriptExpression,
            NodeKind::CallExpression,
            NodeKind::FieldExpression,
            NodeKind::PointerExpression,
        ];
        tree.descendants(node).all(|node| match tree.kind(node) {
            NodeKind::Identifier => {
                let span = self.placed(tree.span(node));
                let word = self.text(node);
                if self.symbols.macro_definition(&word, span.start).is_some() {
                    return true;
                }
                self.variable(&word, span.start).is_some_and(|part| {
                    self.loop_of(part.id(), span.start).is_some()
                        || self.symbols.written_in(&word, span.start, whole).is_empty()
                })
            }
            kind => inside || !loads.contains(&kind),
        })
    }

    /// An unknown value. Two iterations that are compared have the same one if the expression consists only of what
    /// they share.
    pub(super) fn opaque(&mut self, node: NodeId) -> Polynomial {
        let Some(names) = self.shared_names(node) else { return self.varying() };
        let text = self.text(node).split_whitespace().collect::<String>();
        Polynomial::atom(self.known(Meaning::Text(text.clone(), names), &text))
    }

    /// What the names in an expression stand for, if it is made of variables that no iteration writes and of the promised loops' variables, without
    /// calls and loads.
    fn shared_names(&self, node: NodeId) -> Option<Vec<Named>> {
        let tree = self.tree;
        let mut names = Vec::new();
        for node in tree.descendants(node) {
            match tree.kind(node) {
                NodeKind::CallExpression
                | NodeKind::SubscriptExpression
                | NodeKind::FieldExpression
                | NodeKind::PointerExpression
                | NodeKind::AssignmentExpression
                | NodeKind::UpdateExpression
                | NodeKind::LambdaExpression => return None,
                NodeKind::Identifier => names.push(self.shared_name(node)?),
                _ => {}
            }
        }
        Some(names)
    }

    fn shared_name(&self, node: NodeId) -> Option<Named> {
        let span = self.placed(self.tree.span(node));
        let word = self.text(node);
        if self.symbols.macro_definition(&word, span.start).is_some() {
            return self.constant(&word, span)?.form.as_constant().map(Named::Number);
        }
        let variable = self.variable(&word, span.start)?;
        let is_shared = match self.loop_of(variable.id(), span.start) {
            Some(index) => index < self.promised,
            None => variable.ty.is_scalar() && !self.is_inside(&variable) && self.is_symbol(&variable, span),
        };
        is_shared.then(|| Named::Variable(variable.id()))
    }

    fn varying(&mut self) -> Polynomial {
        let atom = self.fresh();
        self.found.opaque.push(atom);
        Polynomial::atom(atom)
    }

    pub(super) fn known(&mut self, meaning: Meaning, word: &str) -> Atom {
        if let Some(atom) = self.atoms.get(&meaning) {
            return *atom;
        }
        let atom = self.fresh();
        self.atoms.insert(meaning, atom);
        self.found.symbols.insert(atom, word.to_owned());
        atom
    }
}
