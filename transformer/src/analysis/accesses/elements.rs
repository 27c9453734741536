//! From a name to the element that the expression around it accesses.

use super::{Access, Obstacle, Reader, Root, RootKind};
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::semantics::uses::{Role, Use, role_of_expression};
use crate::syntax;
use crate::syntax::{Field, NodeId, NodeKind};

/// An expression that accesses memory, read from its name outwards.
struct Path {
    /// The whole expression.
    node: NodeId,
    /// The type of it; unknown behind a member.
    ty: DeclaredType,
    name: String,
    kind: RootKind,
    subscripts: Vec<Index>,
    /// What was added to the pointer that the expression gives.
    added: Vec<Term>,
    /// Was a member named behind a subscript? What follows is not told apart.
    is_cut: bool,
    /// Was a member named before any subscript?
    has_member: bool,
}

/// An expression that counts elements, and whether it is subtracted.
type Term = (NodeId, bool);

/// One step from a pointer or an array to an element.
struct Index {
    /// The sum that says which one: `j` and `i` of `(a + i)[j]`; nothing for `*a`.
    terms: Vec<Term>,
    /// What the pointer was before.
    before: (DeclaredType, RootKind),
}

impl Reader<'_, '_> {
    /// Takes the access that a use of a variable from outside of the nest is the root of.
    pub(super) fn element(&mut self, used: &Use, variable: &Variable, key: VariableId) {
        let path = self.path(used.node, &used.name, variable);
        let span = self.tree.span(path.node);
        // Through the address of an element, another one may be written.
        let is_write = |role| matches!(role, Role::Write | Role::ElementWrite);
        let writes = is_write(used.role) || is_write(role_of_expression(self.tree, path.node));
        if matches!(
            path.ty,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } | DeclaredType::Array { .. }
        ) {
            let message = format!("`{}` stands for an address here, which is not followed", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        let around =
            self.tree.parent(path.node).filter(|parent| self.tree.kind(*parent) == NodeKind::PointerExpression);
        if around.is_some_and(|parent| self.tree.operator(parent) == Some(NodeKind::Ampersand)) {
            let message = format!("the address of `{}` leads to other elements too", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        if path.ty.is_volatile() {
            return self.trouble(Obstacle::NotPlain, span, format!("`{}` is volatile", used.name));
        }
        let element = Some(path.ty).filter(DeclaredType::is_scalar);
        let subscripts = path.subscripts.iter().map(|index| self.sum(&index.terms)).collect();
        let span = self.placed(span);
        let loops = self.loops_around(span);
        let root = Root { name: path.name, key, kind: path.kind };
        let is_target = self.is_target(path.node);
        self.found.accesses.push(Access { root, subscripts, writes, is_target, element, span, loops });
    }

    /// Is an expression the left side of a whole assignment by `=`?
    fn is_target(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let above = |node| tree.parent(node).filter(|parent| tree.kind(*parent) != NodeKind::ExpressionStatement);
        above(node).is_some_and(|assignment| {
            let is_plain = tree.kind(assignment) == NodeKind::AssignmentExpression
                && tree.operator(assignment) == Some(NodeKind::Equal);
            is_plain && tree.child(assignment, Field::Left) == Some(node) && above(assignment).is_none()
        })
    }

    /// The type of what a subscript expression gives.
    pub(super) fn element_type(&self, node: NodeId) -> Option<DeclaredType> {
        let tree = self.tree;
        let mut at = node;
        while tree.kind(at) == NodeKind::SubscriptExpression {
            at = tree.child(at, Field::Argument)?;
        }
        let name = self.text(at).into_owned();
        let variable =
            self.variable(&name, self.placed(tree.span(at)).start).filter(|_| tree.kind(at) == NodeKind::Identifier)?;
        let path = self.path(at, &name, &variable);
        Some(path.ty).filter(|_| path.node == node)
    }

    fn path(&self, name: NodeId, word: &str, variable: &Variable) -> Path {
        let tree = self.tree;
        let mut path = Path {
            node: name,
            ty: variable.ty.clone(),
            name: word.to_owned(),
            kind: RootKind::Object,
            subscripts: Vec::new(),
            added: Vec::new(),
            is_cut: false,
            has_member: false,
        };
        while let Some(parent) = tree.parent(path.node) {
            let is_argument = tree.field(path.node) == Some(Field::Argument);
            match tree.kind(parent) {
                NodeKind::ParenthesizedExpression => {}
                NodeKind::SubscriptExpression if is_argument => {
                    let Some(index) = syntax::Subscript::of(tree, parent).and_then(syntax::Subscript::index) else {
                        return path;
                    };
                    path.dereference(Some(index));
                }
                NodeKind::PointerExpression if tree.operator(parent) == Some(NodeKind::Star) => path.dereference(None),
                NodeKind::PointerExpression if tree.operator(parent) == Some(NodeKind::Ampersand) => {
                    if !path.address() {
                        return path;
                    }
                }
                NodeKind::BinaryExpression => {
                    if !path.is_address() {
                        return path;
                    }
                    match added(tree, parent, path.node) {
                        Some(term) => path.added.push(term),
                        None => return path,
                    }
                }
                NodeKind::FieldExpression if is_argument => {
                    let field =
                        tree.child(parent, Field::Field).map(|field| self.text(field).into_owned()).unwrap_or_default();
                    path.member(&field, tree.operator(parent).unwrap_or(NodeKind::Dot));
                }
                _ => return path,
            }
            path.node = parent;
        }
        path
    }
}

impl Path {
    /// Is what was reached a pointer or an array, as far as the text tells of members?
    fn holds_elements(&self) -> bool {
        let through = match &self.ty {
            DeclaredType::Reference { to } => to,
            ty => ty,
        };
        self.has_member || through.is_pointer() || matches!(through, DeclaredType::Array { .. })
    }

    /// Is it a pointer, or an array that stands for one, into what a variable leads to without a member?
    fn is_address(&self) -> bool {
        let leads_on = matches!(
            self.ty,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } | DeclaredType::Array { .. }
        );
        leads_on && !self.has_member && !self.is_cut
    }

    /// Takes the address of what was reached: a pointer into the array again. False where nothing tells of which.
    fn address(&mut self) -> bool {
        let is_known = !self.has_member && !self.is_cut && self.added.is_empty();
        let Some(index) = self.subscripts.pop_if(|_| is_known) else { return false };
        (self.ty, self.kind) = index.before;
        self.added = index.terms;
        true
    }

    fn dereference(&mut self, index: Option<NodeId>) {
        let mut terms = std::mem::take(&mut self.added);
        terms.extend(index.map(|index| (index, false)));
        let before = (self.ty.clone(), self.kind);
        if self.is_cut || !self.subscripts.is_empty() && !self.holds_elements() {
            // `a[i].p[j]`: a pointer that an element holds, or an array in it. A subscript of what is neither: of a vector, of
            // which a store may write all elements at once, or of an object with an operator.
            self.kind = RootKind::Loaded;
            self.ty = DeclaredType::Unknown;
            return;
        }
        let through_pointer = self.ty.is_pointer();
        self.kind = match self.kind {
            _ if self.has_member && self.subscripts.is_empty() => RootKind::Member,
            RootKind::Object if through_pointer && self.subscripts.is_empty() => RootKind::Pointer,
            _ if through_pointer => RootKind::Loaded,
            kind => kind,
        };
        // Through a member nothing tells whether the second subscript leads through another pointer.
        if self.has_member && !self.subscripts.is_empty() {
            self.kind = RootKind::Loaded;
        }
        self.ty = self.ty.dereferenced();
        self.subscripts.push(Index { terms, before });
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

/// What a sum adds to the pointer in it.
fn added(tree: &syntax::HostTree, sum: NodeId, pointer: NodeId) -> Option<Term> {
    let (left, right) = (tree.child(sum, Field::Left)?, tree.child(sum, Field::Right)?);
    match tree.operator(sum)? {
        NodeKind::Plus => Some((if left == pointer { right } else { left }, false)),
        NodeKind::Minus if left == pointer => Some((right, true)),
        _ => None,
    }
}
