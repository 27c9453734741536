//! Which declarations can move before the kernel that computes the values of their variables.

use super::Finder;
use crate::semantics::Kind;
use crate::source::Span;
use crate::syntax::{Declaration, Initialised, NodeId, NodeKind};

/// A declaration that moves before its kernel. Its initialisers stay behind as assignments.
#[derive(Clone, Debug)]
pub(crate) struct Hoisted {
    /// Its type: the text before its first declarator.
    pub head: Span,
    pub declarators: Vec<Declarator>,
}

/// One declarator of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declarator {
    pub span: Span,
    pub name: Span,
    /// Does it have an initialiser?
    pub has_value: bool,
}

impl Hoisted {
    /// Is it the place of one of the declared names?
    pub(crate) fn declares(&self, place: Span) -> bool {
        self.declarators.iter().any(|declarator| declarator.name == place)
    }

    /// How many of its variables have an initialiser.
    pub(crate) fn assignments(&self) -> usize {
        self.declarators.iter().filter(|declarator| declarator.has_value).count()
    }

    /// The text that is removed when the initialisers become assignments, and for each part whether another assignment
    /// stands before it.
    pub(crate) fn left_out(&self) -> Vec<(Span, bool)> {
        let mut found = Vec::new();
        let mut end = self.head.start;
        let mut assigned = false;
        for Declarator { span, has_value, .. } in &self.declarators {
            match (assigned, has_value) {
                (_, true) => {
                    found.push((Span::new(if assigned { end } else { self.head.start }, span.start), assigned))
                }
                (true, false) => found.push((Span::new(end, span.end), false)),
                (false, false) => {}
            }
            assigned |= has_value;
            end = span.end;
        }
        found
    }
}

impl Finder<'_, '_> {
    /// Reads a declaration of numbers that shall move. An error holds the place that forbids it.
    pub(super) fn hoisted(&self, node: NodeId, run: Span) -> Result<Option<Hoisted>, Span> {
        let (tree, file) = (self.names.tree, self.names.file);
        let plain =
            [NodeKind::PrimitiveType, NodeKind::SizedTypeSpecifier, NodeKind::TypeIdentifier, NodeKind::TypeQualifier];
        let start = tree.span(node).start;
        let mut declarators: Vec<Declarator> = Vec::new();
        let declaration = Declaration::of(tree, node).ok_or(tree.span(node))?;
        if let Some(other) = declaration.specifiers().find(|specifier| !plain.contains(&tree.kind(*specifier))) {
            return Err(tree.span(other));
        }
        for declarator in declaration.declarators() {
            let span = tree.span(declarator);
            let (name, has_value) = self.number(declarator).ok_or(span)?;
            if self.mentioned_between(name, run.start, start) {
                return Err(span);
            }
            declarators.push(Declarator { span, name, has_value });
        }
        let first = declarators.first().ok_or(tree.span(node))?;
        let hoisted = Hoisted { head: Span::new(start, first.span.start), declarators };
        let commented = hoisted.left_out().iter().map(|(span, _)| *span).chain([hoisted.head]).any(|span| {
            let text = file.show(span);
            text.contains("/*") || text.contains("//") || text.contains('\\')
        });
        let head = file.show(hoisted.head);
        let has_word = |word: &str| head.split_whitespace().any(|other| other == word);
        if commented || hoisted.assignments() == 0 || has_word("constexpr") {
            return Err(tree.span(node));
        }
        let names = || hoisted.declarators.iter().map(|declarator| declarator.name);
        let is_const = names().any(|name| self.names.is_const(&file.show(name), name.end));
        if is_const && !has_word("const") {
            return Err(tree.span(node));
        }
        if let Some(at) = names().filter(|_| is_const).find_map(|name| self.asks_for_const(name)) {
            return Err(at);
        }
        Ok(Some(hoisted))
    }

    /// The name of a declarator of a number, and whether it has an initialiser that an assignment can replace.
    fn number(&self, declarator: NodeId) -> Option<(Span, bool)> {
        let tree = self.names.tree;
        let initialised = Initialised::of(tree, declarator);
        let name = initialised.map_or(Some(declarator), Initialised::declarator)?;
        let value = initialised.and_then(Initialised::value);
        let has_plain_value =
            value.is_none_or(|value| !matches!(tree.kind(value), NodeKind::InitializerList | NodeKind::ArgumentList));
        let span = tree.span(name);
        let kind = self.names.kind(&self.names.file.show(span), span.end);
        let is_reference = self.names.is_reference(&self.names.file.show(span), span.end);
        let is_number = matches!(kind, Kind::Scalar { wide: false, builtin: true, .. }) && !is_reference;
        (tree.kind(name) == NodeKind::Identifier && has_plain_value && is_number).then_some((span, value.is_some()))
    }

    /// A use for which it matters that a variable is constant: the choice of a function, of an association of
    /// `_Generic` or of a template may depend on its type, and it may be needed in a constant expression.
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

    /// Does a name stand between two places, so that there it means another variable?
    fn mentioned_between(&self, name: Span, from: usize, to: usize) -> bool {
        let name = self.names.file.show(name);
        self.mentions.get(name.as_ref()).is_some_and(|places| places.range(from..to).next().is_some())
    }
}
