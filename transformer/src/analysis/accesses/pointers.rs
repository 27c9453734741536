//! Pointers that an iteration declares and never changes: `const float *row = a + i * n;`.
//!
//! What they lead to are elements of the array that they were set to: `row[j]` is `a[i * n + j]`.

use super::elements::Path;
use super::{Reader, RootKind, Subscript};
use crate::analysis::polynomial::Polynomial;
use crate::semantics::symbols::{DeclaredType, NameKind, Variable, VariableId};
use crate::syntax::{Binary, Call, Cast, NodeId, NodeKind, Pointer, Subscript as Selection};

/// The longest chain of such pointers that is followed.
const CHAIN: usize = 4;

/// The function whose value is its first argument, of which compilers then know the alignment.
const ALIGNED: &[u8] = b"__builtin_assume_aligned";

/// Where a pointer of an iteration points.
pub(super) struct Followed {
    /// The array or pointer that it was set to.
    pub name: String,
    /// Its declaration.
    pub key: VariableId,
    /// Whose storage the elements are.
    pub kind: RootKind,
    /// The element.
    pub start: Subscript,
    /// The names in its initial value that access nothing: the array's, and a function's that gives back the pointer that it is given.
    pub names: Vec<NodeId>,
}

impl Reader<'_, '_> {
    /// Where a pointer points that the body declares, if it is one to numbers, keeps its value, and that is the place of an element.
    pub(super) fn followed(&mut self, variable: &Variable) -> Option<Followed> {
        let DeclaredType::Pointer { pointee, .. } = &variable.ty else { return None };
        let number = pointee.number().filter(|_| !pointee.is_volatile())?;
        let value = variable.initializer.filter(|_| self.is_inside(variable) && self.depth < CHAIN)?;
        let is_plain = variable.kind == NameKind::Variable && variable.header.is_none();
        if !is_plain || variable.is_static || variable.is_extern || variable.is_thread_local {
            return None;
        }
        let whole = self.main.span(self.body);
        let is_kept = self.symbols.written_in(&variable.name, value.end, whole).is_empty();
        self.depth += 1;
        let (file, main) = (self.main_file, self.main);
        let found = self.reading((file, main, None), |reader| {
            let node = Some(main.covering(value)).filter(|node| is_kept && main.span(*node) == value)?;
            let (address, mut names) = reader.aligned(node)?;
            let (path, root) = if reader.is_lasting(address, whole, true) { reader.address(address) } else { None }?;
            names.push(root);
            let is_same = path.ty.dereferenced().number() == Some(number);
            is_same.then(|| reader.place_of(path, names))
        });
        self.depth -= 1;
        found
    }

    /// Reads an expression that is the address of an element of an array by its name: `a`, `a + i * n`, `&a[i * n]`. Also tells which name
    /// this is.
    fn address(&mut self, node: NodeId) -> Option<(Path, NodeId)> {
        let root = self.root_of(node)?;
        let span = self.tree.span(root);
        let name = self.text(root).into_owned();
        let is_macro = self.symbols.macro_definition(&name, span.start).is_some();
        let variable =
            self.variable(&name, span.start).filter(|found| !is_macro && found.kind == NameKind::Variable)?;
        let path = self.path(root, &name, &variable);
        let is_whole = self.tree.span(path.node).contains(self.tree.span(node));
        (is_whole && path.is_place()).then_some((path, root))
    }

    /// The pointer that `__builtin_assume_aligned` is given, with the name of that function; any other expression as it is.
    fn aligned(&self, node: NodeId) -> Option<(NodeId, Vec<NodeId>)> {
        let tree = self.tree;
        let inner = match tree.kind(node) {
            NodeKind::ParenthesizedExpression => return self.aligned(tree.named_children(node).next()?),
            NodeKind::CastExpression => Cast::of(tree, node)?.value()?,
            _ => node,
        };
        let Some(call) = Call::of(tree, inner) else { return (inner == node).then_some((node, Vec::new())) };
        let function = call.function().filter(|function| self.file.bytes(tree.span(*function)) == ALIGNED)?;
        let mut arguments = call.arguments();
        let (pointer, alignment) = (arguments.next()?, arguments.next()?);
        let is_number = tree.kind(alignment) == NodeKind::NumberLiteral && arguments.next().is_none();
        is_number.then(|| (pointer, vec![function]))
    }

    /// The name of the array, of which an expression may be the address of an element.
    fn root_of(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.tree;
        match tree.kind(node) {
            NodeKind::Identifier => {
                let name = self.text(node);
                let variable = self.variable(&name, tree.span(node).start)?;
                let leads_on = variable.ty.is_pointer() || matches!(variable.ty, DeclaredType::Array { .. });
                leads_on.then_some(node)
            }
            NodeKind::ParenthesizedExpression => self.root_of(tree.named_children(node).next()?),
            NodeKind::BinaryExpression => Binary::of(tree, node)?.operands().find_map(|side| self.root_of(side)),
            NodeKind::PointerExpression => {
                let address = Pointer::of(tree, node).filter(|pointer| pointer.is_address())?;
                self.root_of(Selection::of(tree, address.operand()?)?.base()?)
            }
            _ => None,
        }
    }

    fn place_of(&mut self, path: Path, names: Vec<NodeId>) -> Followed {
        let behind = path.start.unwrap_or_else(|| Subscript { form: Polynomial::default(), wraps: false });
        let start = self.behind(&behind, &path.added);
        let is_pointer = path.kind == RootKind::Object && path.ty.is_pointer();
        let kind = if is_pointer { RootKind::Pointer } else { path.kind };
        Followed { name: path.name, key: path.key, kind, start, names }
    }

    /// Is an address only asked for what is left of it by a number, so that it leads nowhere: `(size_t)&a[i] % 16`?
    pub(super) fn is_only_divided(&self, node: NodeId) -> bool {
        let tree = self.tree;
        let cast = tree.parent(node).filter(|parent| tree.kind(*parent) == NodeKind::CastExpression);
        let rest = cast.and_then(|cast| Binary::of(tree, tree.parent(cast)?).filter(|rest| rest.left() == Some(cast)));
        rest.is_some_and(|rest| {
            let is_number = rest.right().is_some_and(|by| tree.kind(by) == NodeKind::NumberLiteral);
            is_number && rest.operator() == Some(NodeKind::Percent)
        })
    }
}
