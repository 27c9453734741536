//! The host program's tree in an own arena. Only this module (`host/grammar.rs`) names `tree-sitter-c` and
//! `tree-sitter-cpp`.
//!
//! tree-sitter's own nodes find their parent in time proportional to their depth; the arena does it at once, and
//! everything above this module is free of the parser library.

mod branches;
mod disguised;
mod earlier_parse;
mod grammar;
mod kinds;
mod named_casts;
mod nesting;
mod parse;
mod readable;
#[cfg(test)]
mod tests;
mod type_casts;
mod views;

use std::fmt;
use std::sync::Arc;

use crate::source::{Language, Span};
use grammar::Grammar;

pub use disguised::{MacroTexts, TYPE_WORDS};
pub use earlier_parse::EarlierParse;
pub use kinds::{Field, NodeKind};
pub use parse::parse_expression;
pub use views::{
    ArrayDeclarator, Assignment, Binary, Call, Cast, Conditional, Control, Declaration, For, Function, Goto, If,
    Initialised, Labelled, Member, New, Parameter, Pointer, PointerDeclarator, Subscript, TypeName, Unary, Update,
};

/// A node of a [`HostTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// The bounds of time and memory within which a file is read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest file in bytes.
    pub bytes: usize,
    /// The deepest nesting of the tree.
    pub depth: usize,
    /// The longest a parse may take, in milliseconds.
    pub milliseconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 32 << 20, depth: 1_000, milliseconds: 30_000 }
    }
}

/// What is known besides a file when it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct InSight<'a> {
    /// Macros that headers and flags define.
    pub macros: Option<&'a MacroTexts>,
    /// A text that may have much in common with the file. The tree does not hang on it, only the time.
    pub earlier: Option<&'a EarlierParse>,
}

/// Why a file has no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// It holds a NUL byte: a binary file, or UTF-16.
    Nul(usize),
    /// A comment or raw string is not closed; the line that it begins in, from 1.
    Unclosed(usize),
    /// An `#if` has no `#endif`, or a line such as `#else` no `#if`; its number, from 1.
    Unbalanced(usize),
    /// It is larger than [`Limits::bytes`].
    TooLarge(usize),
    /// Its statements or expressions are nested deeper than [`Limits::depth`]; where.
    TooDeep(usize),
    /// Parsing took longer than [`Limits::milliseconds`].
    Deadline,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul(at) => write!(f, "byte {at} is NUL: this is no C or C++ source text"),
            Self::Unclosed(line) => write!(f, "the comment or string that begins in line {line} is not closed"),
            Self::Unbalanced(line) => write!(f, "line {line} lacks the `#if` or `#endif` that belongs to it"),
            Self::TooLarge(bytes) => write!(f, "the file has {bytes} bytes, more than this tool reads"),
            Self::TooDeep(at) => write!(f, "the nesting at byte {at} is deeper than this tool follows"),
            Self::Deadline => write!(f, "parsing took too long and was given up"),
        }
    }
}

impl std::error::Error for HostError {}

/// One node: named nodes and the anonymous ones (operators, keywords, punctuation) alike.
///
/// Nodes are stored parents first, so the nodes below one are those up to its `subtree_end`, the first child is the next
/// node, and the next sibling is the node at `subtree_end`. 20 bytes a node keep the arena at 5 to 10 bytes per byte of
/// source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    start: u32,
    end: u32,
    /// Itself for the root.
    parent: u32,
    subtree_end: u32,
    kind: u16,
    /// 0: none.
    field: u8,
    /// Did the parser invent it, or is it a statement that it took for a declaration?
    is_unreadable: bool,
}

/// The kind that tree-sitter gives ERROR nodes.
const ERROR: u16 = u16::MAX;

/// The syntax tree of one file (or of one expression in it) with file-exact spans.
#[derive(Clone, Debug)]
pub struct HostTree {
    nodes: Vec<Node>,
    grammar: &'static Grammar,
    /// The ERROR and MISSING nodes, and the statements that look like declarations, that lie in no other, in the order of the text.
    problems: Vec<NodeId>,
    /// How many bytes lie in problems, and one for each: an ERROR around the whole file is worse than ten small ones.
    badness: usize,
    inactive: Vec<Span>,
    /// The parser's own tree, for texts that have much in common with this one.
    parse: Option<Arc<EarlierParse>>,
}

impl HostTree {
    /// The grammar that read it: `C` or `Cpp`.
    #[must_use]
    pub fn language(&self) -> Language {
        self.grammar.language()
    }

    /// What was blanked besides the directives because the file could not be read otherwise: lines and branches of `#if`
    /// groups that split a statement. Sorted and disjoint. A region that overlaps one must not be rewritten, since the
    /// tree shows only one of the programs that it stands for.
    #[must_use]
    pub fn inactive(&self) -> &[Span] {
        &self.inactive
    }

    /// The ERROR and MISSING nodes, and the statements that look like declarations, that lie in no other, in the order of the text.
    #[must_use]
    pub fn problems(&self) -> &[NodeId] {
        &self.problems
    }

    /// What the parser may take over for another text; nothing where the file has syntax errors.
    #[must_use]
    pub fn parse_result(&self) -> Option<&Arc<EarlierParse>> {
        self.parse.as_ref()
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// What a node is: `ForStatement`, `Error`, `Plus`.
    #[must_use]
    pub fn kind(&self, id: NodeId) -> NodeKind {
        self.grammar.kind(self.node(id).kind)
    }

    /// The field of its parent that it fills: `condition`, `body`.
    #[must_use]
    pub fn field(&self, id: NodeId) -> Option<Field> {
        self.grammar.field(self.node(id).field)
    }

    /// The bytes it covers.
    #[must_use]
    pub fn span(&self, id: NodeId) -> Span {
        let node = self.node(id);
        Span::new(node.start as usize, node.end as usize)
    }

    /// Its parent, or `None` for the root.
    #[must_use]
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        let parent = self.node(id).parent;
        (parent != id.0).then_some(NodeId(parent))
    }

    /// Is it a rule of the grammar's own name (no keyword, operator or punctuation)?
    #[must_use]
    pub fn is_named(&self, id: NodeId) -> bool {
        self.grammar.is_named(self.node(id).kind)
    }

    /// Is it an ERROR node, one that the parser had to invent, or a statement that it took for a declaration?
    #[must_use]
    pub fn is_problem(&self, id: NodeId) -> bool {
        let node = self.node(id);
        node.is_unreadable || node.kind == ERROR
    }

    fn first_child(&self, id: NodeId) -> Option<NodeId> {
        (self.node(id).subtree_end > id.0 + 1).then_some(NodeId(id.0 + 1))
    }

    fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        let parent = self.parent(id)?;
        let next = self.node(id).subtree_end;
        (next < self.node(parent).subtree_end).then_some(NodeId(next))
    }

    /// Its children, comments among them.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |child| self.next_sibling(*child))
    }

    /// Its named children without comments.
    pub fn named_children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children(id).filter(|child| self.is_named(*child) && self.kind(*child) != NodeKind::Comment)
    }

    /// Where the head of a loop ends: its last closing parenthesis.
    #[must_use]
    pub(crate) fn end_of_head(&self, id: NodeId) -> Option<usize> {
        let closing = self.children(id).filter(|child| self.kind(*child) == NodeKind::CloseParenthesis);
        Some(self.span(closing.last()?).end)
    }

    /// The child that fills a field.
    #[must_use]
    pub fn child(&self, id: NodeId, field: Field) -> Option<NodeId> {
        self.children(id).find(|child| self.field(*child) == Some(field))
    }

    /// What a declarator declares: the innermost one, past pointers, arrays and initialisers.
    #[must_use]
    pub fn innermost_declarator(&self, declarator: NodeId) -> NodeId {
        let inner = |node: &NodeId| self.child(*node, Field::Declarator);
        std::iter::successors(Some(declarator), inner).last().unwrap_or(declarator)
    }

    /// Does a declarator declare a C++ reference: `&r`, `*&p`, `(&a)[4]`?
    #[must_use]
    pub fn declares_reference(&self, declarator: NodeId) -> bool {
        let inner = |node: &NodeId| {
            let in_parentheses = || self.named_children(*node).next();
            let is_parenthesized = self.kind(*node) == NodeKind::ParenthesizedDeclarator;
            self.child(*node, Field::Declarator).or_else(|| in_parentheses().filter(|_| is_parenthesized))
        };
        std::iter::successors(Some(declarator), inner).any(|node| self.kind(node) == NodeKind::ReferenceDeclarator)
    }

    /// The operator of an expression: `Plus`, `PlusEqual`, `Ampersand`.
    #[must_use]
    pub fn operator(&self, id: NodeId) -> Option<NodeKind> {
        self.child(id, Field::Operator).map(|operator| self.kind(operator))
    }

    /// The node itself and all below it, parents first, in the order of the text.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        (id.0..self.node(id).subtree_end).map(NodeId)
    }

    /// All nodes of the tree that are of one of these kinds, in the order of [`Self::descendants`]: quicker than asking each.
    pub fn all_of(&self, kinds: &[NodeKind]) -> impl Iterator<Item = NodeId> + '_ {
        let is_wanted = self.grammar.are_of(kinds);
        let is_wanted = move |node: &Node| is_wanted.get(usize::from(node.kind)).copied().unwrap_or(false);
        (0..).map(NodeId).zip(&self.nodes).filter(move |(_, node)| is_wanted(node)).map(|(id, _)| id)
    }

    /// Its ancestors, the nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |ancestor| self.parent(*ancestor))
    }

    /// The first ERROR or MISSING node that lies within `span`, overlaps it, or encloses it (a problem that encloses
    /// the whole file included). A MISSING node covers no byte: it lies within where it touches the span.
    #[must_use]
    pub fn problem_in(&self, span: Span) -> Option<NodeId> {
        let first = self.problems.partition_point(|problem| self.span(*problem).end < span.start);
        let candidates = self.problems.iter().skip(first).copied();
        candidates.take_while(|problem| self.span(*problem).start <= span.end).find(|problem| {
            let found = self.span(*problem);
            found.is_empty() || found.overlaps(span)
        })
    }

    /// The outermost statement or declaration that starts at byte `start`.
    #[must_use]
    pub fn statement_at(&self, start: usize) -> Option<NodeId> {
        let first = self.nodes.partition_point(|node| (node.start as usize) < start);
        let at_start = self.nodes.iter().enumerate().skip(first).take_while(|(_, node)| node.start as usize == start);
        let found = at_start.filter_map(|(index, _)| u32::try_from(index).ok()).map(NodeId);
        found.into_iter().find(|id| !self.is_problem(*id) && self.kind(*id).is_statement_or_declaration())
    }

    /// The smallest node that covers `span`.
    #[must_use]
    pub fn covering(&self, span: Span) -> NodeId {
        let behind = self.nodes.partition_point(|node| node.start as usize <= span.start);
        let last = NodeId(u32::try_from(behind.saturating_sub(1)).unwrap_or(0));
        let covers = |id: &NodeId| self.span(*id).contains(span);
        std::iter::once(last).chain(self.ancestors(last)).find(covers).unwrap_or(self.root())
    }
}
