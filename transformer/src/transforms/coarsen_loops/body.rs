//! Which statements of an iteration a group of them has once, and which each of its iterations makes for itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::neighbours::{Computed, Stored};
use super::refusal;
use crate::context::Context;
use crate::plan::Reason;
use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::Span;
use crate::syntax::numbers::Format;
use crate::syntax::{Declaration, Field, For, NodeId, NodeKind, Number};

/// Statements of a block, in the order of the text.
pub(super) enum Piece {
    /// What the group does once.
    Once,
    /// A loop or block that all iterations of the group make together.
    Together(Together),
    /// What each of them does for itself. The number is that of the piece.
    Each(usize, Vec<NodeId>),
    /// What each of them computes, all of it in front of what they store. The numbers are this one and the next.
    Stored(usize, Stored),
}

/// A loop whose head is the same for all iterations of a group, or a block, which is its own body.
pub(super) struct Together {
    pub node: NodeId,
    pub body: NodeId,
    pub pieces: Vec<Piece>,
}

/// A variable that has a value of its own for each iteration of a group, in several pieces.
#[derive(Clone)]
pub(super) struct Crossing {
    pub name: String,
    /// Its type, as written.
    pub ty: String,
    /// Registers that its value takes.
    pub registers: u32,
}

/// How a group makes its iterations.
pub(super) struct Copies {
    pub pieces: Vec<Piece>,
    pub crossing: BTreeMap<VariableId, Crossing>,
    /// Where iterations may share what they load: the outermost loops that are made together, or all that is computed in front of what is stored.
    pub together: Vec<Span>,
}

impl Copies {
    /// Do neighbouring iterations share elements around their own?
    pub(super) fn have_neighbours(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Stored(..)))
    }

    /// The values that are computed in front of stores.
    pub(super) fn computed(&self) -> impl Iterator<Item = &Computed> {
        self.pieces.iter().flat_map(|piece| match piece {
            Piece::Stored(_, stored) => stored.computed.as_slice(),
            _ => &[],
        })
    }
}

/// How a group of iterations makes the statements of `body`, where these loops are grouped.
///
/// # Errors
/// A variable of which there cannot be several.
pub(super) fn read(
    cx: &Context<'_>,
    grouped: &[&CanonicalLoop],
    body: NodeId,
    stored: Option<Stored>,
) -> Result<Copies, Reason> {
    let mut variables = BTreeSet::new();
    for own in grouped {
        let Some(variable) = cx.symbols().lookup(&own.variable, cx.tree.span(own.body).start) else {
            return Err(refusal(own.variable_span, "the variable of the loop is not understood"));
        };
        variables.insert(variable.id());
    }
    let divergent = variables.clone();
    let mut reader = Reader { cx, inside: cx.tree.span(body), uses: Vec::new(), divergent, next: 0 };
    reader.uses = reader.all_uses(body);
    if let Some(reason) = reader.reached_otherwise() {
        return Err(reason);
    }
    loop {
        let before = reader.divergent.len();
        reader.spread(body);
        if reader.divergent.len() == before {
            break;
        }
    }
    let pieces = match stored {
        Some(stored) => reader.before_stores(stored),
        None => reader.pieces(body),
    };
    let together = shared_in(cx, &pieces);
    let crossing = reader.crossing(&pieces, &variables)?;
    Ok(Copies { pieces, crossing, together })
}

/// The outermost loops that are made together, of which blocks around them are none, and what is computed in front of stores.
fn shared_in(cx: &Context<'_>, pieces: &[Piece]) -> Vec<Span> {
    let of_piece = |piece: &Piece| match piece {
        Piece::Together(one) if one.node == one.body => shared_in(cx, &one.pieces),
        Piece::Together(one) => vec![cx.tree.span(one.node)],
        Piece::Stored(_, stored) => stored.computing(cx),
        Piece::Once | Piece::Each(..) => Vec::new(),
    };
    pieces.iter().flat_map(of_piece).collect()
}

/// A name in the body, and the variable that it means.
struct Named {
    used: Use,
    key: Option<VariableId>,
}

struct Reader<'c, 'p> {
    cx: &'c Context<'p>,
    /// The body of the loops.
    inside: Span,
    /// The names in it, in the order of the text.
    uses: Vec<Named>,
    /// The variables that may have another value for each iteration of a group.
    divergent: BTreeSet<VariableId>,
    /// The number of the next piece.
    next: usize,
}

impl Reader<'_, '_> {
    fn all_uses(&self, body: NodeId) -> Vec<Named> {
        let cx = self.cx;
        let uses = uses_below(cx.file, cx.tree, body).into_iter();
        let named = |used: Use| Named { key: self.variable_of(&used).map(|found| found.id()), used };
        uses.filter(|used| used.role != Role::Callee).map(named).collect()
    }

    /// The variable that a name means. One that it declares is in scope behind its declarator: behind the name, or behind the lengths of an array.
    fn variable_of(&self, used: &Use) -> Option<Arc<Variable>> {
        let (tree, symbols) = (self.cx.tree, self.cx.symbols());
        if used.role != Role::Declaration {
            return symbols.lookup(&used.name, used.span.start);
        }
        let declarators = tree.ancestors(used.node).take_while(|above| tree.kind(*above).is_declarator());
        let ends = std::iter::once(used.span.end).chain(declarators.map(|above| tree.span(above).end));
        ends.filter_map(|end| symbols.lookup(&used.name, end)).find(|found| found.id().declared_at == used.span)
    }

    /// A variable of the body that may be changed by another name than its own.
    fn reached_otherwise(&self) -> Option<Reason> {
        let is_unknown = |one: &&Named| one.used.role == Role::Declaration && one.key.is_none();
        if let Some(one) = self.uses.iter().find(is_unknown) {
            return Some(refusal(one.used.span, format!("what `{}` declares is not understood", one.used.name)));
        }
        let (mut pointers, mut objects) = (None, false);
        for one in self.uses.iter().filter(|one| self.is_own(one)) {
            let name = &one.used.name;
            if matches!(one.used.role, Role::Address | Role::MethodCall) {
                return Some(refusal(one.used.span, format!("`{name}` may be reached by another name")));
            }
            match self.type_of(one) {
                Some(DeclaredType::Scalar { .. }) => {}
                Some(DeclaredType::Pointer { .. }) => pointers = pointers.or(Some(one)),
                Some(DeclaredType::Array { .. }) => objects = true,
                _ => return Some(refusal(one.used.span, format!("`{name}` is no number, array or pointer"))),
            }
        }
        let one = pointers.filter(|_| objects)?;
        Some(refusal(one.used.span, format!("`{}` may lead to an array of the iteration", one.used.name)))
    }

    fn within(&self, span: Span) -> impl Iterator<Item = &Named> {
        let first = self.uses.partition_point(|one| one.used.span.start < span.start);
        self.uses.get(first..).unwrap_or_default().iter().take_while(move |one| one.used.span.start < span.end)
    }

    fn is_own(&self, one: &Named) -> bool {
        one.key.is_some_and(|key| key.is_within(self.inside))
    }

    /// May a part of the body do something else for each iteration, or store to memory?
    fn is_divergent(&self, span: Span) -> bool {
        self.within(span).any(|one| {
            let differs = match one.key {
                Some(key) => self.divergent.contains(&key),
                None => !self.is_number(one),
            };
            differs || self.stores(one)
        })
    }

    /// Is it a macro or a constant? Macros name no variables of the body.
    fn is_number(&self, one: &Named) -> bool {
        let (name, span) = (&one.used.name, one.used.span);
        self.cx.symbols().is_macro(name, span.start) || self.cx.constant(span).is_some()
    }

    /// May it change memory that is no variable of the body?
    fn stores(&self, one: &Named) -> bool {
        match one.used.role {
            Role::Write => !self.is_own(one),
            Role::ElementWrite => !self.is_own(one) || !self.is_array(one),
            Role::Address | Role::MethodCall => true,
            Role::Argument => !self.is_scalar(one),
            Role::Read | Role::Callee | Role::Declaration => false,
        }
    }

    fn type_of(&self, one: &Named) -> Option<DeclaredType> {
        self.variable_of(&one.used).map(|found| found.ty.clone())
    }

    fn is_array(&self, one: &Named) -> bool {
        matches!(self.type_of(one), Some(DeclaredType::Array { .. }))
    }

    fn is_scalar(&self, one: &Named) -> bool {
        self.type_of(one).is_some_and(|ty| matches!(ty, DeclaredType::Scalar { .. }))
    }

    /// The variables that a part of the body sets.
    fn set_in(&self, span: Span) -> Vec<VariableId> {
        let is_set = |one: &&Named| match one.used.role {
            Role::Read | Role::Callee => false,
            Role::Write => true,
            _ => self.is_own(one),
        };
        self.within(span).filter(is_set).filter_map(|one| one.key).collect()
    }

    /// Adds the variables that statements set otherwise for each iteration.
    fn spread(&mut self, block: NodeId) {
        for statement in statements(self.cx, block) {
            let span = self.cx.tree.span(statement);
            if !self.is_divergent(span) {
                continue;
            }
            match self.together(statement) {
                Some(body) => self.spread(body),
                None => {
                    let set = self.set_in(span);
                    self.divergent.extend(set);
                }
            }
        }
    }

    /// The body of a loop whose head is the same for all iterations of a group; a block is its own body.
    fn together(&self, statement: NodeId) -> Option<NodeId> {
        let tree = self.cx.tree;
        if tree.kind(statement) == NodeKind::CompoundStatement {
            return Some(statement);
        }
        let read = For::of(tree, statement)?;
        let body = read.body()?;
        let head = Span::new(tree.span(statement).start, tree.span(body).start);
        (!self.is_divergent(head)).then_some(body)
    }

    fn pieces(&mut self, block: NodeId) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for statement in statements(self.cx, block) {
            let span = self.cx.tree.span(statement);
            if !self.is_divergent(span) {
                pieces.push(Piece::Once);
            } else if let Some(body) = self.together(statement) {
                pieces.push(Piece::Together(Together { node: statement, body, pieces: self.pieces(body) }));
            } else if let Some(Piece::Each(_, run)) = pieces.last_mut() {
                run.push(statement);
            } else {
                self.next += 1;
                pieces.push(Piece::Each(self.next, vec![statement]));
            }
        }
        pieces
    }

    /// The statements of a block without loops, from the first one that differs on in front of what is stored or behind it.
    fn before_stores(&mut self, mut stored: Stored) -> Vec<Piece> {
        let is_first = |node: &NodeId| self.is_divergent(self.cx.tree.span(*node));
        let first = stored.values.iter().position(is_first).unwrap_or(stored.values.len());
        let once = stored.values.drain(..first).map(|_| Piece::Once).collect::<Vec<_>>();
        for statement in &stored.values {
            let set = self.set_in(self.cx.tree.span(*statement));
            self.divergent.extend(set);
        }
        once.into_iter().chain([Piece::Stored(self.next, stored)]).collect()
    }

    /// The divergent variables that more than one piece uses.
    fn crossing(
        &self,
        pieces: &[Piece],
        variables: &BTreeSet<VariableId>,
    ) -> Result<BTreeMap<VariableId, Crossing>, Reason> {
        let mut places: BTreeMap<VariableId, BTreeSet<usize>> = BTreeMap::new();
        let mut declared = BTreeMap::new();
        self.collect(pieces, &mut places, &mut declared);
        let mut crossing = BTreeMap::new();
        let several = places.into_iter().filter(|(key, places)| !variables.contains(key) && places.len() > 1);
        for (key, _) in several.filter(|(key, _)| self.divergent.contains(key)) {
            let Some((declaration, one)) = declared.get(&key) else {
                return Err(refusal(
                    key.declared_at,
                    "a variable that iterations have for themselves is declared elsewhere",
                ));
            };
            crossing.insert(key, self.as_array(*declaration, one)?);
        }
        // All variables of one declaration are declared in one way.
        for (key, (declaration, one)) in &declared {
            let with_it = |other: &VariableId| declared.get(other).is_some_and(|(other, _)| other == declaration);
            if !crossing.contains_key(key) && crossing.keys().any(with_it) {
                crossing.insert(*key, self.as_array(*declaration, one)?);
            }
        }
        Ok(crossing)
    }

    /// In which pieces each variable stands, and which statement of a piece declares it.
    fn collect<'s>(
        &'s self,
        pieces: &[Piece],
        places: &mut BTreeMap<VariableId, BTreeSet<usize>>,
        declared: &mut BTreeMap<VariableId, (NodeId, &'s Named)>,
    ) {
        for piece in pieces {
            match piece {
                Piece::Once => {}
                Piece::Together(one) => self.collect(&one.pieces, places, declared),
                Piece::Each(number, run) => {
                    for statement in run {
                        self.collect_in(*statement, self.cx.tree.span(*statement), *number, places, declared);
                    }
                }
                Piece::Stored(number, stored) => {
                    for (statement, span) in stored.parts_in_front(self.cx) {
                        self.collect_in(statement, span, *number, places, declared);
                    }
                    for (statement, span) in stored.parts_of_stores(self.cx) {
                        self.collect_in(statement, span, *number + 1, places, declared);
                    }
                }
            }
        }
    }

    fn collect_in<'s>(
        &'s self,
        statement: NodeId,
        part: Span,
        number: usize,
        places: &mut BTreeMap<VariableId, BTreeSet<usize>>,
        declared: &mut BTreeMap<VariableId, (NodeId, &'s Named)>,
    ) {
        for one in self.within(part) {
            let Some(key) = one.key.filter(|_| self.is_own(one)) else { continue };
            places.entry(key).or_default().insert(number);
            let is_declaration = self.cx.tree.kind(statement) == NodeKind::Declaration;
            if is_declaration && one.used.role == Role::Declaration {
                declared.insert(key, (statement, one));
            }
        }
    }

    /// A variable as an array with an element for each iteration of the group.
    fn as_array(&self, declaration: NodeId, one: &Named) -> Result<Crossing, Reason> {
        let (tree, name) = (self.cx.tree, &one.used.name);
        let no =
            |what: &str| Err(refusal(one.used.span, format!("`{name}` {what}, of which a group would need several")));
        let Some((ty, registers)) = self.type_of(one).as_ref().and_then(number) else {
            return no("is no plain number");
        };
        let Some(read) = Declaration::of(tree, declaration) else { return no("is not declared by itself") };
        let is_plain = |declarator: NodeId| match tree.kind(declarator) {
            NodeKind::Identifier => true,
            NodeKind::InitDeclarator => {
                let [target, value] = [Field::Declarator, Field::Value].map(|field| tree.child(declarator, field));
                let is_list = |value| matches!(tree.kind(value), NodeKind::InitializerList | NodeKind::ArgumentList);
                target.is_some_and(|target| tree.kind(target) == NodeKind::Identifier)
                    && value.is_some_and(|value| !is_list(value))
            }
            _ => false,
        };
        if !read.declarators().all(is_plain) {
            return no("is not declared as `type name = value`");
        }
        if tree.descendants(declaration).any(|node| tree.kind(node) == NodeKind::Comment) {
            return no("is declared with a comment inside");
        }
        Ok(Crossing { name: name.clone(), ty, registers })
    }
}

/// The statements of a block, or the statement that stands for one.
pub(super) fn statements(cx: &Context<'_>, block: NodeId) -> Vec<NodeId> {
    match cx.tree.kind(block) {
        NodeKind::CompoundStatement => {
            cx.tree.named_children(block).filter(|node| cx.tree.kind(*node) != NodeKind::Comment).collect()
        }
        _ => vec![block],
    }
}

/// The type of a variable that holds the same numbers, and the registers of one.
pub(super) fn number(ty: &DeclaredType) -> Option<(String, u32)> {
    let DeclaredType::Scalar { number, spelling, is_volatile: false, .. } = ty else { return None };
    let is_wide = match number {
        Number::Floating(format) if matches!(format, Format::Single | Format::Double) => *format == Format::Double,
        Number::Integer { .. } => number.integer().is_none_or(|integer| integer.bits > 32),
        _ => return None,
    };
    Some((spelling.to_string(), if is_wide { 2 } else { 1 }))
}
