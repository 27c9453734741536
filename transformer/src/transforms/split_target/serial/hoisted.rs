//! Declarations that move before the kernel that computes their variables' values.

use super::Finder;
use crate::edit::Edit;
use crate::semantics::Kind;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind};

/// A declaration that moves before its kernel, its initialisers left behind as assignments.
#[derive(Clone, Debug)]
pub(in crate::transforms::split_target) struct Hoisted {
    /// The declared names, where they stand.
    pub names: Vec<Span>,
    /// What stands before the kernel: `double mean, spread;`.
    pub declaration: String,
    /// How many of its variables have an initialiser.
    pub assignments: usize,
    /// What makes assignments of the initialisers.
    pub edits: Vec<Edit>,
}

impl Hoisted {
    /// Is it the place of one of the declared names?
    pub(in crate::transforms::split_target) fn declares(&self, place: Span) -> bool {
        self.names.contains(&place)
    }
}

impl Finder<'_, '_> {
    /// A declaration of numbers taken apart; the place that forbids it where it cannot be.
    pub(super) fn hoisted(&self, node: NodeId, run: Span) -> Result<Option<Hoisted>, Span> {
        let (tree, file) = (self.names.tree, self.names.file);
        let plain =
            [NodeKind::PrimitiveType, NodeKind::SizedTypeSpecifier, NodeKind::TypeIdentifier, NodeKind::TypeQualifier];
        let start = tree.span(node).start;
        let mut names = Vec::new();
        let mut edits: Vec<(Span, &str)> = Vec::new();
        let mut head: Option<Span> = None;
        let mut end = start;
        let mut assigned = 0;
        for child in tree.named_children(node) {
            let span = tree.span(child);
            if tree.field(child) != Some(Field::Declarator) {
                if !plain.contains(&tree.kind(child)) {
                    return Err(span);
                }
                continue;
            }
            let (name, has_value) = self.number(child).ok_or(span)?;
            if self.mentioned_between(name, run.start, start) {
                return Err(span);
            }
            let _ = head.get_or_insert(Span::new(start, span.start));
            names.push(name);
            edits.extend(match (assigned, has_value) {
                (0, true) => Some((Span::new(start, span.start), "")),
                (_, true) => Some((Span::new(end, span.start), "; ")),
                (0, false) => None,
                (_, false) => Some((Span::new(end, span.end), "")),
            });
            assigned += usize::from(has_value);
            end = span.end;
        }
        let head = head.ok_or(tree.span(node))?;
        let commented = edits.iter().map(|(span, _)| *span).chain(std::iter::once(head)).any(|span| {
            let text = file.show(span);
            text.contains("/*") || text.contains("//") || text.contains('\\')
        });
        let words: Vec<String> = file.show(head).split_whitespace().map(str::to_owned).collect();
        if commented || assigned == 0 || words.iter().any(|word| word == "constexpr") {
            return Err(tree.span(node));
        }
        let is_const = names.iter().any(|name| self.names.is_const(&file.show(*name), name.end));
        if is_const && !words.iter().any(|word| word == "const") {
            return Err(tree.span(node));
        }
        if let Some(at) = names.iter().filter(|_| is_const).find_map(|name| self.asks_for_const(*name)) {
            return Err(at);
        }
        let type_words: Vec<String> = words.into_iter().filter(|word| word != "const").collect();
        let listed: Vec<String> = names.iter().map(|name| file.show(*name).into_owned()).collect();
        let declaration = format!("{} {};", type_words.join(" "), listed.join(", "));
        let edits = edits.into_iter().map(|(span, text)| Edit { span, text: text.to_owned() }).collect();
        Ok(Some(Hoisted { names, declaration, assignments: assigned, edits }))
    }

    /// The name of a declarator of a number, and whether it has an initialiser that an assignment can replace.
    fn number(&self, declarator: NodeId) -> Option<(Span, bool)> {
        let tree = self.names.tree;
        let name = match tree.kind(declarator) {
            NodeKind::Identifier => declarator,
            NodeKind::InitDeclarator => tree.child(declarator, Field::Declarator)?,
            _ => return None,
        };
        let value = tree.child(declarator, Field::Value);
        let has_plain_value =
            value.is_none_or(|value| !matches!(tree.kind(value), NodeKind::InitializerList | NodeKind::ArgumentList));
        let span = tree.span(name);
        let kind = self.names.kind(&self.names.file.show(span), span.end);
        let is_reference = self.names.is_reference(&self.names.file.show(span), span.end);
        let is_number = matches!(kind, Kind::Scalar { wide: false, builtin: true, .. }) && !is_reference;
        (tree.kind(name) == NodeKind::Identifier && has_plain_value && is_number).then_some((span, value.is_some()))
    }

    /// A use of a constant for which it matters that it is one: by its type a function, an association of `_Generic` or a template
    /// may be chosen, and it may be needed in a constant expression.
    fn asks_for_const(&self, declared: Span) -> Option<Span> {
        let (names, tree) = (self.names, self.names.tree);
        let name = names.file.show(declared);
        // `typeof(n)`, which the grammar may take for a type's name.
        let scope =
            tree.ancestors(tree.covering(declared)).find(|node| tree.kind(*node) == NodeKind::CompoundStatement)?;
        let as_type = tree.descendants(scope).find(|node| {
            tree.kind(*node) == NodeKind::TypeIdentifier && names.file.bytes(tree.span(*node)) == name.as_bytes()
        });
        let places = self.mentions.get(name.as_ref()).into_iter().flatten();
        let of_this = places.filter(|at| names.declared_at(&name, **at) == Some(declared) && **at != declared.start);
        let uses = of_this.map(|at| tree.covering(Span::new(*at, *at + 1)));
        let asking =
            uses.filter(|node| tree.kind(*node) == NodeKind::Identifier).find(|node| !names.is_value_alone(*node));
        as_type.or(asking).map(|node| tree.span(node))
    }

    /// Does a name stand between two places, where it means another variable?
    fn mentioned_between(&self, name: Span, from: usize, to: usize) -> bool {
        let name = self.names.file.show(name);
        self.mentions.get(name.as_ref()).is_some_and(|places| places.range(from..to).next().is_some())
    }
}
