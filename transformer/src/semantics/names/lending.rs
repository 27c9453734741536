//! Variables whose address functions get only as long as they are called.

use super::storage::last_part;
use crate::semantics::Program;
use crate::semantics::effects::keeps_no_address;
use crate::semantics::symbols::{DeclaredType, Scope};
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};

/// Classes of the standard library whose `>>` stores a number and keeps no address.
const INPUT_STREAMS: [&str; 5] = ["ifstream", "fstream", "istringstream", "stringstream", "istream"];

impl Program<'_> {
    /// Is it a variable of a function that others than its name reach only as long as calls last that get its address (`scanf("%d", &n)`),
    /// or while a stream is read?
    pub(crate) fn is_lent_for_calls_alone(&self, name: &str, at: usize) -> bool {
        let tree = self.tree;
        let is_brief = |span: Span| {
            let node = tree.covering(span);
            let above = tree.parent(node);
            let is_handed = above.is_some_and(|above| {
                tree.kind(above) == NodeKind::PointerExpression
                    && tree.parent(above).is_some_and(|list| tree.kind(list) == NodeKind::ArgumentList)
            });
            tree.kind(node) == NodeKind::Identifier && is_handed && keeps_no_address(self, node)
                || above.is_some_and(|above| self.is_read_from_stream(above, node) || self.is_part_of_time(above, node))
        };
        let variable = self.symbols().lookup(name, at);
        variable.is_some_and(|variable| {
            matches!(variable.scope, Scope::Local | Scope::Parameter)
                && !variable.is_extern
                && !variable.has_static_storage()
                && !matches!(variable.ty, DeclaredType::Reference { .. })
                && !self.is_lent_somewhere(name, &variable, &is_brief)
                && !self.symbols().may_be_reached_elsewhere(name, at, &is_brief)
        })
    }

    /// Is it a part of a structure of the system that holds a time, with which something is computed: `1e6 * now.tv_sec`?
    fn is_part_of_time(&self, member: NodeId, node: NodeId) -> bool {
        let tree = self.tree;
        let span = tree.span(node);
        let of_time = || {
            let variable = self.symbols().lookup(&self.file.show(span), span.start);
            variable.is_some_and(|variable| self.is_time_structure(&variable.ty, span.start))
        };
        let computes = tree.parent(member).is_some_and(|it| tree.kind(it) == NodeKind::BinaryExpression);
        tree.kind(member) == NodeKind::FieldExpression && computes && of_time()
    }

    /// Is it the right side of `std::cin >> n`, or of `>>` behind a stream of a file or a text?
    fn is_read_from_stream(&self, expression: NodeId, node: NodeId) -> bool {
        let tree = self.tree;
        let is_read = tree.operator(expression) == Some(NodeKind::GreaterGreater)
            && tree.child(expression, Field::Right) == Some(node);
        let mut leftmost = expression;
        while let Some(left) = tree.child(leftmost, Field::Left) {
            leftmost = left;
        }
        let span = tree.span(leftmost);
        let stream = self.file.show(span);
        let declared = self.symbols().lookup(&stream, span.start).map(|found| found.declared_at);
        let is_stream = || {
            let around = declared.map(|declared| tree.covering(declared));
            let declaration =
                around.and_then(|node| tree.ancestors(node).find(|above| tree.kind(*above) == NodeKind::Declaration));
            let ty = declaration.and_then(|node| tree.child(node, Field::Type)).map(|ty| self.file.show(tree.span(ty)));
            ty.is_some_and(|ty| INPUT_STREAMS.contains(&last_part(&ty)))
        };
        is_read && (stream == "std::cin" || stream == "cin" && declared.is_none() || is_stream())
    }
}
