//! From a name to the element that the expression around it accesses.

use super::{Access, Key, Obstacle, Reader, Root, RootKind, Subscript};
use crate::analysis::symbols::{DeclaredType, Variable};
use crate::analysis::uses::{Role, Use};
use crate::syntax::NodeId;

/// An expression that accesses memory, read from its name outwards.
struct Path {
    /// The whole expression.
    node: NodeId,
    /// The type of it; unknown behind a member.
    ty: DeclaredType,
    name: String,
    kind: RootKind,
    subscripts: Vec<NodeIdOrZero>,
    /// Was a member named behind a subscript? What follows is not told apart.
    is_cut: bool,
    /// Was a member named before any subscript?
    has_member: bool,
}

/// A subscript's expression; none for `*p`.
type NodeIdOrZero = Option<NodeId>;

impl Reader<'_, '_> {
    /// Takes the access that a use of a variable from outside of the nest is the root of.
    pub(super) fn element(&mut self, used: &Use, variable: &Variable, key: Key) {
        let path = self.path(used.node, &used.name, variable);
        let span = self.tree.span(path.node);
        let writes = matches!(used.role, Role::Write | Role::ElementWrite);
        if matches!(
            path.ty,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } | DeclaredType::Array { .. }
        ) {
            let message = format!("`{}` stands for an address here, which is not followed", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        let around = self.tree.parent(path.node).filter(|parent| self.tree.kind(*parent) == "pointer_expression");
        if around.is_some_and(|parent| operator(self.tree, parent) == Some("&")) {
            let message = format!("the address of `{}` leads to other elements too", self.file.show(span));
            return self.trouble(Obstacle::Pointer, span, message);
        }
        let element = match &path.ty {
            DeclaredType::Scalar { is_volatile: true, .. } => {
                return self.trouble(Obstacle::NotPlain, span, format!("`{}` is volatile", used.name));
            }
            DeclaredType::Scalar { name, .. } => Some(name.clone()),
            _ => None,
        };
        let mut subscripts = Vec::new();
        for node in &path.subscripts {
            subscripts.push(match node {
                Some(node) => self.subscript(*node),
                None => Subscript { form: crate::analysis::polynomial::Polynomial::default(), wraps: false },
            });
        }
        let span = self.placed(span);
        let loops = self.loops_around(span);
        let root = Root { name: path.name, key, kind: path.kind };
        self.found.accesses.push(Access { root, subscripts, writes, element, span, loops });
    }

    /// The type of what a subscript expression gives, as named.
    pub(super) fn element_type(&self, node: NodeId) -> Option<String> {
        let tree = self.tree;
        let mut at = node;
        while tree.kind(at) == "subscript_expression" {
            at = tree.child(at, "argument")?;
        }
        let name = self.text(at).into_owned();
        let variable =
            self.variable(&name, self.placed(tree.span(at)).start).filter(|_| tree.kind(at) == "identifier")?;
        let path = self.path(at, &name, &variable);
        match path.ty {
            DeclaredType::Scalar { name, .. } if path.node == node => Some(name),
            _ => None,
        }
    }

    fn path(&self, name: NodeId, word: &str, variable: &Variable) -> Path {
        let tree = self.tree;
        let mut path = Path {
            node: name,
            ty: variable.ty.clone(),
            name: word.to_owned(),
            kind: RootKind::Object,
            subscripts: Vec::new(),
            is_cut: false,
            has_member: false,
        };
        while let Some(parent) = tree.parent(path.node) {
            let is_argument = tree.field_name(path.node) == Some("argument");
            match tree.kind(parent) {
                "parenthesized_expression" => {}
                "subscript_expression" if is_argument => {
                    let Some(index) = subscript_of(tree, parent) else { return path };
                    path.dereference(Some(index));
                }
                "pointer_expression" if operator(tree, parent) == Some("*") => path.dereference(None),
                "field_expression" if is_argument => {
                    let field =
                        tree.child(parent, "field").map(|field| self.text(field).into_owned()).unwrap_or_default();
                    path.member(&field, operator(tree, parent).unwrap_or("."));
                }
                _ => return path,
            }
            path.node = parent;
        }
        path
    }
}

impl Path {
    fn dereference(&mut self, index: NodeIdOrZero) {
        if self.is_cut {
            // `a[i].p[j]`: a pointer that an element holds, or an array in it.
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
        self.subscripts.push(index);
    }

    fn member(&mut self, field: &str, operator: &str) {
        if operator == "->" {
            let is_first = self.kind == RootKind::Object && self.subscripts.is_empty() && self.ty.is_pointer();
            self.kind = if is_first { RootKind::Pointer } else { RootKind::Loaded };
        }
        self.ty = DeclaredType::Unknown;
        if self.subscripts.is_empty() {
            self.name = format!("{}{operator}{field}", self.name);
            self.has_member = true;
        } else {
            self.is_cut = true;
        }
    }
}

/// The one subscript of a subscript expression.
fn subscript_of(tree: &crate::syntax::HostTree, node: NodeId) -> Option<NodeId> {
    if let Some(index) = tree.child(node, "index") {
        return Some(index);
    }
    let list = tree.child(node, "indices")?;
    let mut indices = tree.named_children(list);
    let first = indices.next()?;
    indices.next().is_none().then_some(first)
}

fn operator(tree: &crate::syntax::HostTree, node: NodeId) -> Option<&'static str> {
    tree.child(node, "operator").map(|operator| tree.kind(operator))
}
