//! From text to arena.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree, TreeCursor};

use super::earlier_parse::EarlierParse;
use super::grammar::Grammar;
use super::readable::readable_text;
use super::{ERROR, HostError, HostTree, InSight, Limits, MacroTexts, Node, NodeId, NodeKind, branches, nesting};
use crate::source::pragma_scan::mask;
use crate::source::{Language, Scan, SourceFile, Span};

impl HostTree {
    /// Parses a file with its directives masked.
    ///
    /// # Errors
    /// When the file cannot be read within `limits`.
    pub fn parse(file: &SourceFile, scan: &Scan, limits: &Limits) -> Result<Self, HostError> {
        Self::parse_as(file.language, file, scan, limits)
    }

    /// As [`Self::parse`], in a language that more than the file's name tells.
    ///
    /// # Errors
    /// As there.
    pub fn parse_as(language: Language, file: &SourceFile, scan: &Scan, limits: &Limits) -> Result<Self, HostError> {
        Self::parse_with(language, file, scan, limits, &InSight::default())
    }

    /// As [`Self::parse_as`], where more is known than the file.
    ///
    /// # Errors
    /// As there.
    pub fn parse_with(
        language: Language,
        file: &SourceFile,
        scan: &Scan,
        limits: &Limits,
        known: &InSight<'_>,
    ) -> Result<Self, HostError> {
        let mut macros = MacroTexts::of(file, scan);
        if let Some(others) = known.macros {
            macros.extend(others.clone());
        }
        let text = readable_text(file, scan, limits)?;
        let tree = Self::read(language, &text, scan, limits, known.earlier)?;
        Ok(tree.with_type_casts(file, &macros).distrusted(file, &macros))
    }

    fn read(
        language: Language,
        text: &[u8],
        scan: &Scan,
        limits: &Limits,
        earlier: Option<&EarlierParse>,
    ) -> Result<Self, HostError> {
        let deadline = Instant::now() + Duration::from_millis(limits.milliseconds);
        let mut best: Option<Self> = None;
        for grammar in Grammar::candidates(language) {
            let attempt = Attempt { text, grammar, deadline, depth: limits.depth, earlier };
            let tree = attempt.parse_one_program(scan);
            best = match (best, tree) {
                (Some(old), Ok(new)) if new.badness < old.badness => Some(new),
                (Some(old), _) => Some(old),
                (None, Ok(new)) => Some(new),
                (None, Err(error)) => return Err(error),
            };
            if best.as_ref().is_some_and(|tree| tree.problems.is_empty()) {
                break;
            }
        }
        best.ok_or(HostError::Deadline)
    }
}

/// One text, one grammar, one bound of time.
struct Attempt<'a> {
    text: &'a [u8],
    grammar: &'static Grammar,
    deadline: Instant,
    depth: usize,
    earlier: Option<&'a EarlierParse>,
}

impl Attempt<'_> {
    /// Parses the text as it is; where that leaves problems and `#if` groups may be their cause, with one branch of those
    /// groups, then with one branch of every group. The better tree wins, the earlier where they are even.
    fn parse_one_program(&self, scan: &Scan) -> Result<HostTree, HostError> {
        let mut best = self.parse(self.text, Vec::new())?;
        if best.problems.is_empty() || scan.conditionals.is_empty() {
            return Ok(best);
        }
        let language = self.grammar.language();
        let suspects = branches::suspects(self.text, scan, &problem_spans(&best));
        let suspected = branches::inactive(self.text, scan, language, |index| suspects.contains(&index));
        if suspected.is_empty() {
            return Ok(best);
        }
        let all = branches::inactive(self.text, scan, language, |_| true);
        for inactive in [suspected, all] {
            if best.problems.is_empty() || inactive == best.inactive {
                break;
            }
            let Ok(tree) = self.parse(&mask(self.text, &inactive), inactive) else { break };
            if tree.badness < best.badness {
                best = tree;
            }
        }
        Ok(best)
    }

    fn parse(&self, text: &[u8], inactive: Vec<Span>) -> Result<HostTree, HostError> {
        let known = self.earlier.and_then(|earlier| earlier.tree_for(text, self.grammar));
        let known = known.map(|known| self.parsed(text, Some(&known))).transpose()?;
        // Where errors end hangs on the way in which the parser came to them, which is to be the same for every text.
        let tree = match known.filter(|tree| !tree.root_node().has_error()) {
            Some(tree) => tree,
            None => self.parsed(text, None)?,
        };
        let found = self.arena(&tree)?;
        debug_assert_eq!(
            self.parsed(text, None).and_then(|alone| self.arena(&alone)).map(|alone| alone.tree.nodes),
            Ok(found.tree.nodes.clone()),
            "what is known of another text changes no tree"
        );
        let mut found = found.finish(text, inactive).with_named_casts(text);
        found.parse = EarlierParse::new(text, self.grammar, tree).map(Arc::new);
        Ok(found)
    }

    fn arena(&self, tree: &Tree) -> Result<Arena, HostError> {
        let mut arena = Arena::new(self.grammar, self.depth, tree.root_node().descendant_count());
        arena.fill(&mut tree.walk())?;
        Ok(arena)
    }

    fn parsed(&self, text: &[u8], known: Option<&Tree>) -> Result<Tree, HostError> {
        let mut parser = Parser::new();
        parser.set_language(&self.grammar.parser).map_err(|_| HostError::Deadline)?;
        let mut is_over = |_: &ParseState| match Instant::now() > self.deadline {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut is_over);
        let mut read = |at: usize, _| text.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut read, known, Some(options)).ok_or(HostError::Deadline)
    }
}

fn problem_spans(tree: &HostTree) -> Vec<Span> {
    tree.problems.iter().map(|problem| tree.span(*problem)).collect()
}

/// The nodes of a tree as they are read.
struct Arena {
    tree: HostTree,
    depth: usize,
    /// Up to where the last ERROR node reaches: what lies in it is no problem of its own.
    error_end: u32,
}

impl Arena {
    fn new(grammar: &'static Grammar, depth: usize, count: usize) -> Self {
        let nodes = Vec::with_capacity(count);
        let tree = HostTree { nodes, grammar, problems: Vec::new(), badness: 0, inactive: Vec::new(), parse: None };
        Self { tree, depth, error_end: 0 }
    }

    /// One pass of the cursor over the node it stands on and all below it. Children are counted, since a cursor that is asked for
    /// one that is not there has to look for it.
    fn fill(&mut self, cursor: &mut TreeCursor) -> Result<(), HostError> {
        let mut open: Vec<(u32, u32)> = Vec::new();
        loop {
            let node = cursor.node();
            let id = self.push(node, cursor, open.last().map(|(parent, _)| *parent));
            let children = node.child_count();
            if children > 0 && cursor.goto_first_child() {
                open.push((id, children - 1));
                if open.len() > self.depth {
                    return Err(HostError::TooDeep(self.tree.span(NodeId(id)).start));
                }
                continue;
            }
            self.close(id);
            loop {
                let Some((parent, left)) = open.last_mut() else { return Ok(()) };
                if *left > 0 && cursor.goto_next_sibling() {
                    *left -= 1;
                    break;
                }
                let parent = *parent;
                open.pop();
                self.close(parent);
                cursor.goto_parent();
            }
        }
    }

    fn push(&mut self, node: tree_sitter::Node, cursor: &TreeCursor, parent: Option<u32>) -> u32 {
        let id = position(self.tree.nodes.len());
        let kind = node.kind_id();
        let (start, end) = (position(node.start_byte()), position(node.end_byte()));
        let node = Node {
            start,
            end,
            parent: parent.unwrap_or(id),
            subtree_end: id + 1,
            kind,
            field: if self.tree.grammar.is_punctuation(kind) { 0 } else { field(cursor) },
            // A node that the parser invented covers nothing; asking is not free.
            is_unreadable: start == end && node.is_missing(),
        };
        if (node.is_unreadable || node.kind == ERROR) && (node.start >= self.error_end || id == 0) {
            self.tree.problems.push(NodeId(id));
            if node.kind == ERROR {
                self.error_end = node.end;
            }
            self.tree.badness += 1 + (node.end - node.start) as usize;
        }
        self.tree.nodes.push(node);
        id
    }

    /// All below the node has been read.
    fn close(&mut self, id: u32) {
        let end = position(self.tree.nodes.len());
        if let Some(node) = self.tree.nodes.get_mut(id as usize) {
            node.subtree_end = end;
        }
    }

    fn finish(mut self, text: &[u8], inactive: Vec<Span>) -> HostTree {
        self.tree.inactive = inactive;
        if memchr::memchr(b'\r', text).is_some() {
            self.end_comments_before_returns(text);
        }
        self.tree
    }

    /// To the grammars the carriage return of a line's end belongs to the comment there. What is inserted behind a comment must not come
    /// between both.
    fn end_comments_before_returns(&mut self, text: &[u8]) {
        for id in 0..self.tree.nodes.len() {
            let (span, kind) = (self.tree.span(NodeId(position(id))), self.tree.kind(NodeId(position(id))));
            if kind == NodeKind::Comment && span.of(text).ends_with(b"\r") {
                self.tree.nodes[id].end -= 1;
            }
        }
    }
}

fn field(cursor: &TreeCursor) -> u8 {
    cursor.field_id().and_then(|field| u8::try_from(field.get()).ok()).unwrap_or(0)
}

/// A position or count that the size limit keeps within 32 bits.
fn position(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// What goes before an expression to make it a statement: behind `=` nothing can be taken for a declaration.
const BEFORE: &[u8] = b"_=";

/// Texts in a language, and their trees, or `None` for those that are no expressions.
type Expressions = BTreeMap<(Language, Vec<u8>), Option<HostTree>>;

/// So many expressions are kept; most files have fewer different ones.
const MOST_KNOWN: usize = 1 << 12;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    /// What texts are as expressions, by the grammars that were tried, as if they stood at the start of a file.
    static KNOWN: RefCell<Expressions> = const { RefCell::new(Expressions::new()) };
}

/// Parses one C or C++ expression of a file in place (a clause's argument, a bound): the root is the expression, its
/// spans are those of the file. `None` where it is no expression. Only the expression's own bytes are read.
#[must_use]
pub fn parse_expression(file: &SourceFile, span: Span, language: Language) -> Option<HostTree> {
    let text = file.bytes(span);
    let mut found = KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.entry((language, text.to_vec())).or_insert_with(|| expression(text, language)).clone()
    })?;
    for node in &mut found.nodes {
        node.start = position(node.start as usize + span.start);
        node.end = position(node.end as usize + span.start);
    }
    Some(found)
}

fn expression(text: &[u8], language: Language) -> Option<HostTree> {
    let statement = [BEFORE, text, b"\n;"].concat();
    if text.is_empty() || nesting::too_deep(&statement, Limits::default().depth).is_some() {
        return None;
    }
    Grammar::candidates(language).into_iter().find_map(|grammar| right_of_assignment(&statement, grammar))
}

fn right_of_assignment(statement: &[u8], grammar: &'static Grammar) -> Option<HostTree> {
    let tree = PARSER.with_borrow_mut(|parser| {
        parser.set_language(&grammar.parser).ok()?;
        parser.parse(statement, None)
    })?;
    let right = right_hand_side(&tree)?;
    let mut arena = Arena::new(grammar, Limits::default().depth, right.descendant_count());
    arena.fill(&mut right.walk()).ok()?;
    let mut found = arena.finish(statement, Vec::new()).with_named_casts(statement);
    for node in &mut found.nodes {
        node.start = position((node.start as usize).saturating_sub(BEFORE.len()));
        node.end = position((node.end as usize).saturating_sub(BEFORE.len()));
    }
    Some(found)
}

/// The right-hand side of the one assignment that the tree is.
fn right_hand_side(tree: &Tree) -> Option<tree_sitter::Node<'_>> {
    let root = tree.root_node();
    let mut cursor = root.walk();
    let mut statements = root.named_children(&mut cursor).filter(|child| child.kind() != "comment");
    let statement = statements.next().filter(|s| s.kind() == "expression_statement")?;
    if root.has_error() || statements.next().is_some() {
        return None;
    }
    let assignment = statement.named_child(0).filter(|child| child.kind() == "assignment_expression")?;
    let is_plain = assignment.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "=");
    let right = assignment.child_by_field_name("right")?;
    (is_plain && right.kind() != "initializer_list").then_some(right)
}
