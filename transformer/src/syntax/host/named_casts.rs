//! `static_cast<T>(x)` as `(T)x`: the grammar takes it for the call of a template.

use super::kinds::{Field, NodeKind};
use super::{HostTree, NodeId};
use crate::source::Language;

/// The casts that give the value that they are handed, as another type. `dynamic_cast` looks at the object.
const CASTS: [&[u8]; 3] = [b"static_cast", b"const_cast", b"reinterpret_cast"];

/// A named cast as the grammar reads it.
struct NamedCast {
    call: NodeId,
    ty: NodeId,
    value: NodeId,
}

impl HostTree {
    /// Makes casts of the calls that are such, where all of their text is read. Those to references stay calls: what is done with them is
    /// done with the object itself. `text` is what was parsed.
    pub(super) fn with_named_casts(mut self, text: &[u8]) -> Self {
        let may_hold = self.language() == Language::Cpp && memchr::memmem::find(text, b"_cast").is_some();
        let casts: Vec<NamedCast> = match may_hold {
            true => self.all_of(&[NodeKind::TemplateFunction]).filter_map(|it| self.named_cast(text, it)).collect(),
            false => Vec::new(),
        };
        if !casts.is_empty() {
            self.rewrite(&casts);
        }
        self
    }

    fn named_cast(&self, text: &[u8], function: NodeId) -> Option<NamedCast> {
        let call = self.parent(function).filter(|call| self.kind(*call) == NodeKind::CallExpression)?;
        let name = self.span(self.child(function, Field::Name)?);
        let is_cast = CASTS.contains(&text.get(name.start..name.end)?) && self.field(function) == Some(Field::Function);
        let only = |list: NodeId| {
            let mut parts = self.named_children(list);
            parts.next().filter(|_| parts.next().is_none())
        };
        let ty = only(self.child(function, Field::Arguments)?)?;
        let value = only(self.child(call, Field::Arguments)?)?;
        let is_reference = |node| self.kind(node) == NodeKind::AbstractReferenceDeclarator;
        let is_type = self.kind(ty) == NodeKind::TypeDescriptor && !self.descendants(ty).any(is_reference);
        (is_cast && is_type && self.problem_in(self.span(call)).is_none()).then_some(NamedCast { call, ty, value })
    }

    /// Turns each call into a cast of its type and value, and leaves out what stands around these, but for comments.
    fn rewrite(&mut self, casts: &[NamedCast]) {
        let mut is_kept = vec![true; self.nodes.len()];
        for cast in casts {
            let end = self.nodes.get(cast.call.0 as usize).map_or(0, |call| call.subtree_end);
            let inside = |part: NodeId, id: u32| {
                self.nodes.get(part.0 as usize).is_some_and(|node| id >= part.0 && id < node.subtree_end)
            };
            for id in cast.call.0 + 1..end {
                let is_part = inside(cast.ty, id) || inside(cast.value, id);
                if !is_part && self.kind(NodeId(id)) != NodeKind::Comment {
                    is_kept.get_mut(id as usize).into_iter().for_each(|kept| *kept = false);
                }
            }
        }
        // How many nodes are kept before each, and before the end.
        let before: Vec<u32> = std::iter::once(0)
            .chain(is_kept.iter().scan(0, |count, kept| {
                *count += u32::from(*kept);
                Some(*count)
            }))
            .collect();
        let moved = |id: u32| before.get(id as usize).copied().unwrap_or_default();
        self.relabel(casts);
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for (node, _) in self.nodes.iter().zip(&is_kept).filter(|(_, kept)| **kept) {
            let mut parent = node.parent;
            while !is_kept.get(parent as usize).copied().unwrap_or(true) {
                parent = self.nodes.get(parent as usize).map_or(0, |above| above.parent);
            }
            let mut node = *node;
            node.parent = moved(parent);
            node.subtree_end = moved(node.subtree_end);
            nodes.push(node);
        }
        self.nodes = nodes;
        self.problems.iter_mut().for_each(|problem| problem.0 = moved(problem.0));
    }

    fn relabel(&mut self, casts: &[NamedCast]) {
        let parser = &self.grammar.parser;
        let field = |name: &str| parser.field_id_for_name(name).and_then(|id| u8::try_from(id.get()).ok()).unwrap_or(0);
        let (kind, ty, value) = (parser.id_for_node_kind("cast_expression", true), field("type"), field("value"));
        let nodes = &mut self.nodes;
        for cast in casts {
            nodes.get_mut(cast.call.0 as usize).into_iter().for_each(|node| node.kind = kind);
            nodes.get_mut(cast.ty.0 as usize).into_iter().for_each(|node| node.field = ty);
            nodes.get_mut(cast.value.0 as usize).into_iter().for_each(|node| node.field = value);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::source::{Language, SourceFile, Span};
    use crate::syntax::host::parse_expression;
    use crate::syntax::{Cast, HostTree, NodeKind};

    fn casts(text: &str) -> Vec<(String, String)> {
        let file = SourceFile::new("x.cpp", text.as_bytes().to_vec());
        let tree = parse_expression(&file, Span::new(0, text.len()), Language::Cpp).unwrap();
        let show = |tree: &HostTree, node| file.show(tree.span(node)).into_owned();
        let all = tree.descendants(tree.root()).filter_map(|node| Cast::of(&tree, node));
        all.map(|cast| (show(&tree, cast.ty().unwrap()), show(&tree, cast.value().unwrap()))).collect()
    }

    #[test]
    fn named_casts_are_casts() {
        let pair = |ty: &str, value: &str| (ty.to_owned(), value.to_owned());
        assert_eq!(casts("static_cast<double>(n) + 1"), [pair("double", "n")]);
        assert_eq!(
            casts("f(const_cast<int *>(reinterpret_cast<const int *>(p + 1)), 2)"),
            [pair("int *", "reinterpret_cast<const int *>(p + 1)"), pair("const int *", "p + 1")]
        );
        assert_eq!(casts("const_cast<int &>(n) + own_cast<int>(n) + dynamic_cast<A *>(b)->n"), []);
    }

    #[test]
    fn nodes_keep_their_order_and_their_parents() {
        let text = "g(static_cast<int>(a[i]), b)";
        let file = SourceFile::new("x.cpp", text.as_bytes().to_vec());
        let tree = parse_expression(&file, Span::new(0, text.len()), Language::Cpp).unwrap();
        let names = tree.descendants(tree.root()).filter(|node| tree.kind(*node) == NodeKind::Identifier);
        let shown: Vec<String> = names.map(|node| file.show(tree.span(node)).into_owned()).collect();
        assert_eq!(shown, ["g", "a", "i", "b"]);
        let a = tree.descendants(tree.root()).find(|node| file.show(tree.span(*node)) == "a").unwrap();
        let kinds: Vec<NodeKind> = tree.ancestors(a).map(|node| tree.kind(node)).collect();
        let expected =
            [NodeKind::SubscriptExpression, NodeKind::CastExpression, NodeKind::ArgumentList, NodeKind::CallExpression];
        assert_eq!(kinds, expected);
    }
}
