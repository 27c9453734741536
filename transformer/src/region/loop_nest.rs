//! Canonical loop nests (OpenMP 5.2, section 4.4.1).

use crate::source::{SourceFile, Span};
use crate::syntax::{For, HostTree, NodeId};

use self::reader::Reader;

mod jumps;
mod reader;

/// The relation between a loop's variable and its bound, the variable on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `var < bound`
    Less,
    /// `var <= bound`
    LessOrEqual,
    /// `var > bound`
    Greater,
    /// `var >= bound`
    GreaterOrEqual,
    /// `var != bound`; the step must be one.
    NotEqual,
}

impl Relation {
    /// The relation written with its sides exchanged: `n > i` is `i < n`.
    fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::NotEqual => Self::NotEqual,
        }
    }
}

/// By how much the variable changes after each iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The whole increment expression.
    pub span: Span,
    /// Is the amount subtracted (`--`, `-=`, `i = i - c`)?
    pub is_subtracted: bool,
    /// The amount; `None` stands for one (`++`, `--`).
    pub amount: Option<Span>,
}

/// What the loop itself says of its variable's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Declared in the loop with an integer type of the language or its standard headers.
    Integer,
    /// Declared in the loop as a pointer.
    Pointer,
    /// Declared in the loop with another name for a type, `auto` or a class: an iterator perhaps.
    Named,
    /// Declared elsewhere.
    Outside,
}

/// One loop of a nest in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalLoop {
    /// The `for` statement.
    pub node: NodeId,
    /// Its bytes.
    pub span: Span,
    /// The name of the loop iteration variable.
    pub variable: String,
    /// Where the variable is named first.
    pub variable_span: Span,
    /// Is it declared in the loop, and so private and invisible behind it?
    pub declared_in_loop: bool,
    /// What the loop says of its type.
    pub kind: VariableKind,
    /// Its type as written in the loop, without qualifiers and stars. `None` if it is declared elsewhere.
    pub declared_type: Option<Span>,
    /// The first value.
    pub lower: Span,
    /// How the variable relates to [`Self::upper`] while the loop runs.
    pub relation: Relation,
    /// The bound that ends the loop; with `>` and `>=` it is the smallest value.
    pub upper: Span,
    /// The test expression as written.
    pub condition: Span,
    /// The change after each iteration.
    pub step: Step,
    /// The statement that is iterated.
    pub body: NodeId,
    /// Where a bound names the variable of a loop around it in the nest: the iteration space is then not rectangular.
    pub names_outer_variable: Option<Span>,
}

/// Loops that are perfectly nested in each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalLoopNest {
    /// The loops, outermost first; never empty.
    pub loops: Vec<CanonicalLoop>,
    /// The statement that the innermost one iterates.
    pub body: NodeId,
}

/// Why a statement is no canonical loop nest of the depth asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// There is no `for` loop, or something else stands beside it.
    NotALoop,
    /// A range-based `for`, which has no bounds to work with.
    RangeFor,
    /// The initialisation is neither `var = lb` nor `type var = lb`.
    Initialisation,
    /// The variable is no plain variable, or is no integer, pointer or iterator.
    Variable,
    /// The condition is not `var < b`, `<=`, `>`, `>=` or `!=`, nor `b > var` and so on.
    Condition,
    /// The increment has no form that the specification lists, or changes another variable.
    Increment,
    /// The loop runs away from its bound (`i < n; i--`), or has `!=` with a step other than one.
    Direction,
    /// The body changes the variable or takes its address.
    VariableChanged,
    /// A bound or the step names the loop's own variable.
    Bound,
    /// `break` out of the loop.
    Break,
    /// `return` out of the loop.
    Return,
    /// `goto` a label outside of the loop.
    Goto,
    /// `throw`. The loop may catch it itself; that is not followed.
    Throw,
    /// The parser found a syntax error in the loop's head.
    SyntaxError,
}

impl Problem {
    /// The end of a sentence "the loop ..".
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::NotALoop => "there is no `for` loop here, or something stands beside it",
            Self::RangeFor => "a range-based `for` is not supported",
            Self::Initialisation => "the loop's initialisation is not of the form `var = lower` or `type var = lower`",
            Self::Variable => "the loop's variable is no plain integer, pointer or iterator",
            Self::Condition => "the loop's condition does not compare its variable with a bound",
            Self::Increment => "the loop's increment is not of a canonical form",
            Self::Direction => "the loop does not run towards its bound",
            Self::VariableChanged => "the loop's body changes its variable or takes its address",
            Self::Bound => "a bound or the step is no integer, or names the loop's own variable",
            Self::Break => "`break` leaves the loop",
            Self::Return => "`return` leaves the loop",
            Self::Goto => "`goto` leaves the loop",
            Self::Throw => "an exception may leave the loop",
            Self::SyntaxError => "the loop's head holds a syntax error",
        }
    }
}

/// The head of a `for` statement in canonical form, whatever its body does.
#[must_use]
pub fn canonical_head(file: &SourceFile, tree: &HostTree, node: NodeId) -> Option<CanonicalLoop> {
    Reader { file, tree }.canonical_loop(node).ok()
}

/// A `for` statement that counts and may end earlier by another part of its test: `for (int i = 0; i < n && e > 1e-6; i++)`.
pub struct GuardedLoop {
    /// The loop as if it only counted.
    pub counting: CanonicalLoop,
    /// The parts of the test before the one that counts, which do not name the variable.
    pub before: Vec<NodeId>,
    /// The parts behind it.
    pub behind: Vec<NodeId>,
}

/// The head of a `for` statement of which one part of the test is canonical.
#[must_use]
pub fn guarded_head(file: &SourceFile, tree: &HostTree, node: NodeId) -> Option<GuardedLoop> {
    let reader = Reader { file, tree };
    let mut before = reader.conjuncts(For::of(tree, node)?.condition()?);
    let index = before.iter().position(|part| reader.loop_tested_by(node, Some(*part)).is_ok())?;
    let behind = before.split_off(index + 1);
    let counting = reader.loop_tested_by(node, before.pop()).ok()?;
    let mut others = before.iter().chain(&behind);
    let is_free = others.all(|part| reader.names(tree.span(*part), &counting.variable).is_none());
    is_free.then_some(GuardedLoop { counting, before, behind })
}

/// With which value a `for` statement begins, and the test of it, whatever the steps are: `for (int k = 2; k <= n; k *= 2)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstTest {
    /// The name of the variable.
    pub variable: String,
    /// Where it is named first.
    pub variable_span: Span,
    /// The first value.
    pub lower: Span,
    /// How the variable relates to [`Self::upper`] while the loop runs.
    pub relation: Relation,
    /// The bound.
    pub upper: Span,
}

/// Reads how a `for` statement begins.
#[must_use]
pub fn first_test(file: &SourceFile, tree: &HostTree, node: NodeId) -> Option<FirstTest> {
    Reader { file, tree }.first_test(node)
}

/// Where the body of a loop changes its variable or takes its address.
#[must_use]
pub fn counter_change(file: &SourceFile, tree: &HostTree, read: &CanonicalLoop) -> Option<Span> {
    Reader { file, tree }.change_of(read)
}

/// Reads `depth` perfectly nested canonical loops from a directive's associated statement.
///
/// Braces around a loop are ignored, as compilers do. Directives are no part of the tree: the caller must check that
/// none stands between two loops of the nest.
///
/// # Errors
/// The first reason why the statement is no such nest, and where.
pub fn canonical_nest(
    file: &SourceFile,
    tree: &HostTree,
    body: NodeId,
    depth: usize,
) -> Result<CanonicalLoopNest, (Problem, Span)> {
    let reader = Reader { file, tree };
    let mut loops: Vec<CanonicalLoop> = Vec::new();
    let mut body = body;
    for _ in 0..depth.max(1) {
        let node = reader.loop_in(body)?;
        let mut read = reader.canonical_loop(node)?;
        read.names_outer_variable = reader.outer_variable(&read, &loops);
        body = read.body;
        loops.push(read);
    }
    if let Some(jump) = loops.iter().find_map(|read| jumps::leaving(file, tree, read.body)) {
        return Err(jump);
    }
    match loops.iter().find_map(|read| reader.change_of(read)) {
        Some(changed) => Err((Problem::VariableChanged, changed)),
        None => Ok(CanonicalLoopNest { loops, body }),
    }
}

/// The canonical loop in the body of a nest, and the declarations that alone stand beside it.
///
/// # Errors
/// Why there is no such loop, and where.
pub fn loop_inside(
    file: &SourceFile,
    tree: &HostTree,
    nest: &CanonicalLoopNest,
) -> Result<(CanonicalLoop, Vec<NodeId>), (Problem, Span)> {
    let reader = Reader { file, tree };
    let (node, declarations) = match reader.loop_in(nest.body) {
        Ok(node) => (node, Vec::new()),
        Err(problem) => reader.loop_behind_declarations(nest.body).ok_or(problem)?,
    };
    let mut read = canonical_nest(file, tree, node, 1)?.loops.pop().ok_or((Problem::NotALoop, tree.span(node)))?;
    read.names_outer_variable = reader.outer_variable(&read, &nest.loops);
    Ok((read, declarations))
}

#[cfg(test)]
mod tests;
