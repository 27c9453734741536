//! What macros do that stand for elements of arrays: `#define AT(a, i, j) a[(i) * N + (j)]`.

use super::{Reader, Storage, Touch, places};
use crate::semantics::calls::is_pure;
use crate::semantics::evaluation::{Act, act};
use crate::semantics::macros::expansion::{Expansion, expansion_around};
use crate::semantics::macros::is_standard_constant;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::Language;
use crate::syntax::{Call, Field, NodeId, NodeKind, Number};

impl Reader<'_, '_> {
    /// Reads a macro by the whole expression around it, with all macros in it replaced; `false` where that does more than compute with
    /// numbers and elements of arrays of numbers.
    pub(super) fn by_expansion(&mut self, name: NodeId) -> bool {
        let cx = self.cx;
        let Some(expansion) = expansion_around(cx.file, cx.tree, cx.symbols(), name) else { return false };
        if !self.is_followed(&expansion, name) {
            return false;
        }
        let uses = uses_below(&expansion.file, &expansion.tree, expansion.tree.root());
        let touches: Option<Vec<Vec<Touch>>> = uses.iter().map(|used| self.of_use(&expansion, used)).collect();
        self.found.touches.extend(touches.iter().flatten().flatten().cloned());
        touches.is_some()
    }

    /// Is each part of the expression of a kind whose operands tell what it does?
    fn is_followed(&self, expansion: &Expansion, name: NodeId) -> bool {
        let (file, tree) = (&expansion.file, &expansion.tree);
        tree.descendants(tree.root()).all(|node| match tree.kind(node) {
            NodeKind::CallExpression => self.computes(expansion, node, name),
            NodeKind::FieldExpression | NodeKind::This | NodeKind::NewExpression | NodeKind::DeleteExpression => false,
            NodeKind::PointerExpression => tree.operator(node) == Some(NodeKind::Star),
            NodeKind::CastExpression => {
                tree.child(node, Field::Type).is_some_and(|ty| Number::read(&file.show(tree.span(ty))).is_some())
            }
            _ => act(file, tree, node) != Some(Act::Unknown),
        })
    }

    /// Is it a function of the library that computes a number from numbers?
    fn computes(&self, expansion: &Expansion, call: NodeId, name: NodeId) -> bool {
        let (tree, at) = (&expansion.tree, self.cx.tree.span(name).start);
        let function = Call::of(tree, call).and_then(Call::function);
        function.filter(|function| tree.kind(*function) == NodeKind::Identifier).is_some_and(|function| {
            let text = expansion.file.show(tree.span(function));
            is_pure(&text) && self.cx.symbols().calls_library_in(None, &text, at)
        })
    }

    /// What one use of a name reads and writes; `None` where that is not followed. Names mean what they mean where the macro stands. The
    /// place is the whole expression: nothing there says which element it is.
    fn of_use(&self, expansion: &Expansion, used: &Use) -> Option<Vec<Touch>> {
        let (cx, span) = (self.cx, expansion.span);
        if used.role == Role::Callee {
            return Some(Vec::new());
        }
        let touch = |storage, writes| Touch { storage, writes, is_of_first: false, span };
        let Some((named, variable)) = cx.named(&used.name, span.start) else {
            return self.is_constant(&used.name, span.start).then(Vec::new);
        };
        let writes = matches!(used.role, Role::Write | Role::ElementWrite);
        let is_followed = writes || matches!(used.role, Role::Read | Role::Argument);
        if !is_followed || places::is_volatile(&variable.ty) || variable.is_extern && variable.scope == Scope::Local {
            return None;
        }
        match &variable.ty {
            ty if ty.is_scalar() => Some(vec![touch(Storage::Variable(named), writes)]),
            ty @ DeclaredType::Array { element, .. } if element.is_scalar() && !places::is_volatile(ty) => {
                Some(vec![touch(Storage::Variable(named), writes)])
            }
            ty if leads_to_numbers(ty) && used.role != Role::Write => {
                Some(vec![touch(Storage::Variable(named.clone()), false), touch(Storage::Behind(named), writes)])
            }
            _ => None,
        }
    }

    /// Is a name that stands for no variable one for a number?
    fn is_constant(&self, name: &str, at: usize) -> bool {
        let cx = self.cx;
        let is_plain = || cx.tree.language() == Language::C || !cx.has_operators();
        let is_enumerator = || cx.symbols().lookup(name, at).is_some_and(|found| found.kind == NameKind::Enumerator);
        let is_macro = || cx.expansion(name, at).flatten().is_some_and(|names| names.is_empty());
        is_macro() || is_standard_constant(name) || is_enumerator() && is_plain()
    }
}

/// Is it a pointer to numbers or to rows of them, by which no other storage can be reached?
fn leads_to_numbers(ty: &DeclaredType) -> bool {
    let mut element = ty.dereferenced();
    if let DeclaredType::Array { element: inner, .. } = element {
        element = *inner;
    }
    ty.is_pointer() && element.is_scalar() && !places::is_volatile(&element)
}
