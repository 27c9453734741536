//! From a name to the element that the expression around it accesses.

use super::{Access, Load, Obstacle, Reader, Root, RootKind, Subscript as Position};
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::semantics::uses::{Role, Use, role_of_expression};
use crate::syntax::{Assignment, Binary, Member, NodeId, NodeKind, Pointer, Subscript};

/// An expression that accesses memory, read from its name outwards.
pub(super) struct Path {
    /// The whole expression.
    pub node: NodeId,
    /// The type of it. Unknown for a member.
    pub ty: DeclaredType,
    /// What it starts from.
    pub name: String,
    /// Its declaration.
    pub key: VariableId,
    /// What the path leads to.
    pub kind: RootKind,
    /// How far a pointer that the iteration declares points behind what the path starts from, until it is followed.
    pub start: Option<Position>,
    subscripts: Vec<Index>,
    /// What was added to the pointer that the expression gives.
    pub added: Vec<Term>,
    /// Was a member named behind a subscript (`a[i].x`)? Subscripts behind that are not told apart.
    is_cut: bool,
    /// Was a member named before any subscript (`s.a[i]`)?
    has_member: bool,
}

/// An expression that counts elements, and whether it is subtracted.
pub(super) type Term = (NodeId, bool);

/// One step from a pointer or an array to an element.
struct Index {
    /// The terms of the index: `j` and `i` of `(a + i)[j]`; empty for `*a`.
    terms: Vec<Term>,
    /// What is added to them: where a pointer of the iteration points.
    start: Option<Position>,
    /// Type and kind of the pointer before this step.
    before: (DeclaredType, RootKind),
}

impl Reader<'_, '_> {
    /// Notes the access that begins with this use of a variable from outside of the nest.
    pub(super) fn element(&mut self, used: &Use, variable: &Variable) {
        let path = self.path(used.node, &used.name, variable);
        let span = self.tree.span(path.node);
        // Whoever has the address of an element may write other elements.
        let is_write = |role| matches!(role, Role::Write | Role::ElementWrite);
        let writes = is_write(used.role) || is_write(role_of_expression(self.tree, path.node));
        if matches!(
            path.ty,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } | DeclaredType::Array { .. }
        ) {
            if self.is_only_divided(path.node) {
                return;
            }
            let message = format!("`{}` stands for an address here, which is not followed", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        if path.ty == DeclaredType::Unknown && self.is_index_of_number(path.node) {
            let message = format!("`{}` may be an array, of which an element is selected here", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        let around = self.tree.parent(path.node).and_then(|parent| Pointer::of(self.tree, parent));
        if around.is_some_and(Pointer::is_address) {
            let message = format!("the address of `{}` leads to other elements too", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        if path.ty.is_volatile() {
            return self.trouble(Obstacle::NotPlain, span, format!("`{}` is volatile", used.name));
        }
        let element = Some(path.ty).filter(DeclaredType::is_scalar);
        let subscripts = path.subscripts.iter().map(|index| self.position(index)).collect();
        let span = self.placed(span);
        let loops = self.loops_around(span);
        let root = Root { name: path.name, key: path.key, kind: path.kind };
        let is_target = self.is_target(path.node);
        let guards = self.guards_around(path.node);
        self.found.accesses.push(Access { root, subscripts, writes, is_target, element, span, loops, guards });
    }

    /// Does an expression stand where an index does, behind what is no array by its name: `1[u[i].a]`, which is `u[i].a[1]`?
    fn is_index_of_number(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let subscript = tree.ancestors(node).find_map(|above| Subscript::of(tree, above));
        let is_index = |base: &NodeId| !tree.span(*base).contains(tree.span(node));
        let Some(base) = subscript.and_then(Subscript::base).filter(is_index) else { return false };
        let holds_number = |name: NodeId| {
            let span = self.placed(tree.span(name));
            self.variable(&self.text(name), span.start).is_none_or(|variable| variable.ty.is_scalar())
        };
        match tree.kind(base) {
            NodeKind::Identifier => holds_number(base),
            NodeKind::SubscriptExpression | NodeKind::FieldExpression => false,
            _ => true,
        }
    }

    /// Is an expression the left side of `=` in a statement of its own?
    fn is_target(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let above = |node| tree.parent(node).filter(|parent| tree.kind(*parent) != NodeKind::ExpressionStatement);
        Assignment::to(tree, node).is_some_and(|assignment| assignment.is_plain() && above(assignment.node).is_none())
    }

    /// The element that a subscript expression selects, and its type.
    pub(super) fn load(&mut self, node: NodeId) -> Option<(Load, DeclaredType)> {
        let tree = self.tree;
        let mut at = node;
        while let Some(subscript) = Subscript::of(tree, at) {
            at = subscript.base()?;
        }
        let name = self.text(at).into_owned();
        let variable =
            self.variable(&name, self.placed(tree.span(at)).start).filter(|_| tree.kind(at) == NodeKind::Identifier)?;
        let path = self.path(at, &name, &variable);
        if path.node != node {
            return None;
        }
        let subscripts = path.subscripts.iter().map(|index| self.position(index)).collect();
        let root = Root { name: path.name, key: path.key, kind: path.kind };
        Some((Load { root, subscripts }, path.ty))
    }

    /// Where an index leads, behind what a pointer of the iteration was set to.
    fn position(&mut self, index: &Index) -> Position {
        let Some(start) = &index.start else { return self.sum(&index.terms) };
        self.behind(start, &index.terms)
    }

    pub(super) fn path(&mut self, name: NodeId, word: &str, variable: &Variable) -> Path {
        let tree = self.tree;
        let followed = self.followed(variable);
        let mut path = Path {
            node: name,
            ty: variable.ty.clone(),
            name: word.to_owned(),
            key: variable.id(),
            kind: RootKind::Object,
            start: None,
            subscripts: Vec::new(),
            added: Vec::new(),
            is_cut: false,
            has_member: false,
        };
        if let Some(array) = followed {
            (path.name, path.key, path.kind, path.start) = (array.name, array.key, array.kind, Some(array.start));
        }
        while let Some(parent) = tree.parent(path.node) {
            let has_grown = tree.kind(parent) == NodeKind::ParenthesizedExpression || self.grow(&mut path, parent);
            if !has_grown {
                break;
            }
            path.node = parent;
        }
        path
    }

    /// Continues a path with the expression around it. Returns false if that expression does not lead on to an element.
    fn grow(&self, path: &mut Path, parent: NodeId) -> bool {
        let tree = self.tree;
        if let Some(subscript) = Subscript::of(tree, parent).filter(|it| it.base() == Some(path.node)) {
            let index = subscript.index();
            if index.is_some() {
                path.dereference(index);
            }
            return index.is_some();
        }
        if let Some(member) = Member::of(tree, parent).filter(|it| it.object() == Some(path.node)) {
            let name = member.name().map(|name| self.text(name).into_owned()).unwrap_or_default();
            path.member(&name, member.operator().unwrap_or(NodeKind::Dot));
            return true;
        }
        if let Some(pointer) = Pointer::of(tree, parent) {
            if pointer.is_followed() {
                path.dereference(None);
            }
            return pointer.is_followed() || pointer.is_address() && path.address();
        }
        let sum = Binary::of(tree, parent).filter(|_| path.is_address());
        let term = sum.and_then(|sum| added(sum, path.node));
        path.added.extend(term);
        term.is_some()
    }
}

impl Path {
    /// Is the path at a pointer or an array? Members have no known type; they are taken for one.
    fn holds_elements(&self) -> bool {
        let through = match &self.ty {
            DeclaredType::Reference { to } => to,
            ty => ty,
        };
        self.has_member || through.is_pointer() || matches!(through, DeclaredType::Array { .. })
    }

    /// Is the path at a pointer or array that was reached from the variable without a member?
    fn is_address(&self) -> bool {
        let leads_on = matches!(
            self.ty,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } | DeclaredType::Array { .. }
        );
        leads_on && !self.has_member && !self.is_cut
    }

    /// Is it the address of a number in an array or behind a pointer, by the name of which it begins?
    pub(super) fn is_place(&self) -> bool {
        self.is_address() && self.subscripts.is_empty() && self.ty.dereferenced().is_scalar()
    }

    /// Takes the address of an element: a pointer into the array again. Returns false if the array is not known.
    fn address(&mut self) -> bool {
        let is_known = !self.has_member && !self.is_cut && self.added.is_empty();
        let Some(index) = self.subscripts.pop_if(|_| is_known) else { return false };
        (self.ty, self.kind) = index.before;
        (self.added, self.start) = (index.terms, index.start);
        true
    }

    fn dereference(&mut self, index: Option<NodeId>) {
        let mut terms = std::mem::take(&mut self.added);
        terms.extend(index.map(|index| (index, false)));
        let before = (self.ty.clone(), self.kind);
        if self.is_cut || !self.subscripts.is_empty() && !self.holds_elements() {
            // `a[i].p[j]` reads a pointer or an array from an element. `a[i][j]` may also select a part of a vector,
            // where one store may write all elements, or call an operator of a class.
            self.kind = RootKind::Loaded;
            self.ty = DeclaredType::Unknown;
            return;
        }
        let through_pointer = self.ty.is_pointer();
        let start = self.start.take();
        self.kind = match self.kind {
            // A pointer of the iteration leads to the elements of what it was set to.
            kind if start.is_some() => kind,
            _ if self.has_member && self.subscripts.is_empty() => RootKind::Member,
            RootKind::Object if through_pointer && self.subscripts.is_empty() => RootKind::Pointer,
            _ if through_pointer => RootKind::Loaded,
            kind => kind,
        };
        // The type of a member is not known: its second subscript may lead through another pointer.
        if self.has_member && !self.subscripts.is_empty() {
            self.kind = RootKind::Loaded;
        }
        self.ty = self.ty.dereferenced();
        self.subscripts.push(Index { terms, start, before });
    }

    fn member(&mut self, field: &str, operator: NodeKind) {
        if operator == NodeKind::MinusGreater {
            let is_first = self.kind == RootKind::Object && self.subscripts.is_empty() && self.ty.is_pointer();
            self.kind = if is_first { RootKind::Pointer } else { RootKind::Loaded };
        }
        self.ty = DeclaredType::Unknown;
        if self.subscripts.is_empty() {
            self.name = format!("{}{}{field}", self.name, operator.text());
            self.has_member = true;
        } else {
            self.is_cut = true;
        }
    }
}

/// What a sum adds to the pointer that is one of its operands.
fn added(sum: Binary<'_>, pointer: NodeId) -> Option<Term> {
    let (left, right) = (sum.left()?, sum.right()?);
    match sum.operator()? {
        NodeKind::Plus => Some((if left == pointer { right } else { left }, false)),
        NodeKind::Minus if left == pointer => Some((right, true)),
        _ => None,
    }
}
