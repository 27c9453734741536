//! The tree of OpenMP constructs of one file.

use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Directive, NodeId};

/// A construct of a [`ConstructTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConstructId(pub u32);

/// An executable directive with the statement that it is associated with.
#[derive(Clone, Debug)]
pub struct Construct {
    /// The directive: an index into [`ConstructTree::directives`].
    pub directive: usize,
    /// The leaf constructs it consists of, outermost first.
    pub leaves: Vec<Leaf>,
    /// The associated statement or declaration. `None` for stand-alone directives, and if the statement is missing in
    /// the text.
    pub body: Option<NodeId>,
    /// The bytes of the body. Empty, at the directive's end, if it has no body. A `section` reaches to the next one or
    /// to the end of its block, a delimited directive (`declare target`) to its `end`; both may hold several
    /// statements.
    pub body_span: Span,
    /// The innermost construct whose body encloses this directive.
    pub parent: Option<ConstructId>,
    /// The constructs whose parent this is, in order.
    pub children: Vec<ConstructId>,
    /// The directive stacked directly above this one (nothing but blanks and comments between): both have the same body.
    pub stacked_under: Option<ConstructId>,
    /// Why the association must not be trusted (an ERROR node around it, `#if` alternatives). `None` if it is certain.
    pub doubt: Option<Doubt>,
}

/// Why an association must not be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The parser found a syntax error in or around the construct.
    SyntaxError(Span),
    /// The directive stands in one branch of an `#if`, or between it and its statement stands a preprocessor line.
    Conditional(Span),
    /// The directive is the only one in its branch of an `#if` whose branches hold nothing but directives, and its
    /// statement stands right behind the `#endif`. So its statement is the same in every configuration.
    Alternative(Span),
    /// The directive comes from a macro, or its statement may come from an included file.
    Macro(Span),
    /// The directive needs a statement, and the text has none.
    NoStatement,
}

/// All directives of a file and the constructs they make.
#[derive(Clone, Debug, Default)]
pub struct ConstructTree {
    /// Every directive in the order of the text, declarative ones included.
    pub directives: Vec<Directive>,
    /// The constructs in the order of the text: one for each directive.
    pub constructs: Vec<Construct>,
}

impl ConstructTree {
    /// A construct.
    #[must_use]
    pub fn construct(&self, id: ConstructId) -> &Construct {
        &self.constructs[id.0 as usize]
    }

    /// Does the construct start a target region?
    #[must_use]
    pub fn is_target(&self, id: ConstructId) -> bool {
        self.construct(id).leaves.first() == Some(&Leaf::Target)
    }

    /// The construct that a construct is closely nested in: the one stacked directly above it, else its parent.
    #[must_use]
    pub fn enclosing(&self, id: ConstructId) -> Option<ConstructId> {
        let construct = self.construct(id);
        construct.stacked_under.or(construct.parent)
    }

    /// Every construct's id, in the order of the text.
    pub fn ids(&self) -> impl Iterator<Item = ConstructId> + use<> {
        (0..u32::try_from(self.constructs.len()).unwrap_or(u32::MAX)).map(ConstructId)
    }

    /// The constructs whose directives lie in `span`, in the order of the text.
    pub fn within(&self, span: Span) -> impl Iterator<Item = (&Construct, &Directive)> {
        let start = self.directives.partition_point(|directive| directive.span.start < span.start);
        let rest =
            self.constructs.iter().skip(start).map(|construct| (construct, &self.directives[construct.directive]));
        rest.take_while(move |(_, directive)| directive.span.start < span.end)
            .filter(move |(_, directive)| span.contains(directive.span))
    }

    /// The ids of the constructs whose directives lie in `span`, in the order of the text.
    pub fn ids_within(&self, span: Span) -> impl Iterator<Item = ConstructId> + '_ {
        let start = self.directives.partition_point(|directive| directive.span.start < span.start);
        let ids = self.ids().skip(start).take_while(move |id| self.directive(*id).span.start < span.end);
        ids.filter(move |id| span.contains(self.directive(*id).span))
    }

    /// A construct's directive.
    #[must_use]
    pub fn directive(&self, id: ConstructId) -> &Directive {
        &self.directives[self.construct(id).directive]
    }
}
