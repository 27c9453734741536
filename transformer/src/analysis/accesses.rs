//! What the body of a loop nest does to memory: which elements of which arrays it reads and writes, and which variables.
//!
//! Loops, subscripts and bounds come as [`Polynomial`]s in the iteration variables, the variables that the body does
//! not write, and opaque values. Everything that is not understood is reported as a [`Trouble`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analysis::dependence::Range;
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::semantics::Integer;
use crate::semantics::macros::expansion::Expanded;
use crate::semantics::macros::expansion::{Expansion, expansions};
use crate::semantics::symbols::{DeclaredType, Symbols, Variable, VariableId};
use crate::source::{SourceFile, Span};
use crate::syntax::host::parse_expression;
use crate::syntax::{HostTree, NodeId, NodeKind, Number};

mod around;
mod bounds;
mod conditions;
mod divided;
mod elements;
mod literals;
mod names;
mod pointers;
mod statements;
mod values;

pub use around::Around;
pub use conditions::Guards;
pub use divided::{Divided, Part};
pub use values::Value;

/// What an access starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// As written: `a`, `net->weights`.
    pub name: String,
    /// The variable's declaration.
    pub key: VariableId,
    /// What the path leads to.
    pub kind: RootKind,
}

/// Whose storage an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// The storage of the variable itself: an array, a structure, a scalar.
    Object,
    /// What the variable points to.
    Pointer,
    /// What a member of the variable points to, or of what it points to.
    Member,
    /// What an element points to, or another pointer that memory holds.
    Loaded,
}

/// A subscript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    /// Its value.
    pub form: Polynomial,
    /// Is it known only up to multiples of 2 to the power of 32, because its arithmetic may wrap around?
    pub wraps: bool,
}

/// One access of memory that iterations share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What it starts from.
    pub root: Root,
    /// The subscripts up to the first member behind one.
    pub subscripts: Vec<Subscript>,
    /// Is it written (and perhaps read)?
    pub writes: bool,
    /// Is it the left side of an assignment by `=` that is no part of another expression?
    pub is_target: bool,
    /// The type of the element. `None` if it is not known or no number.
    pub element: Option<DeclaredType>,
    /// Where.
    pub span: Span,
    /// The loops around it: indices into [`Accesses::loops`], outermost first.
    pub loops: Vec<usize>,
    /// The conditions under which it happens.
    pub guards: Guards,
}

/// An element whose value is part of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// What it is an element of.
    pub root: Root,
    /// Its subscripts.
    pub subscripts: Vec<Subscript>,
}

/// A loop of the nest, or in its body.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its variable.
    pub key: VariableId,
    /// The atom of the variable in polynomials.
    pub atom: Atom,
    /// The variable's type.
    pub integer: Integer,
    /// The values of its variable.
    pub range: Range,
    /// How often it runs, if that follows from the text.
    pub trips: Option<i128>,
    /// By how much its variable changes, if that follows from the text.
    pub step: Option<i128>,
    /// The statement.
    pub span: Span,
}

/// Why the effects of a nest are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A name that is declared nowhere in sight.
    UnknownName,
    /// A variable whose type is declared nowhere in sight.
    UnknownType,
    /// A call of a function that is not known to compute a number from numbers.
    Call,
    /// A macro that is no number.
    Macro,
    /// C++ that may hide code.
    Hidden,
    /// A directive, `asm`, a volatile object: something other than plain loads and stores.
    NotPlain,
    /// An address that is taken or handed on, a reference, a pointer that the body sets.
    Pointer,
    /// A conditional of the preprocessor.
    Conditional,
}

/// An obstacle and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it is.
    pub obstacle: Obstacle,
    /// Where.
    pub span: Span,
    /// A sentence about it.
    pub message: String,
}

/// A use of a scalar variable that is declared outside of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarUse {
    /// The variable.
    pub name: String,
    /// Its declaration.
    pub key: VariableId,
    /// Is it written?
    pub writes: bool,
    /// The place of the use.
    pub span: Span,
    /// The node of the name.
    pub node: NodeId,
}

/// What a nest does.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// The loops: those of the nest, outermost first, then those in its body.
    pub loops: Vec<Loop>,
    /// The accesses of shared memory, in the order of the text.
    pub accesses: Vec<Access>,
    /// The uses of scalars from outside that are no loop variables.
    pub scalars: Vec<ScalarUse>,
    /// Where the text names functions of the library that processors have an instruction for: `fabs`.
    pub instructions: Vec<Span>,
    /// What is not understood.
    pub troubles: Vec<Trouble>,
    /// Atoms of unknown values that differ between iterations.
    pub opaque: Vec<Atom>,
    /// Atoms of unknown values, each with a polynomial from which it differs by a constant. They tell how far apart
    /// accesses are, but never prove two accesses to be the same.
    pub near: BTreeMap<Atom, Polynomial>,
    /// Atoms of values that are loaded from memory.
    pub loads: BTreeMap<Atom, Load>,
    /// Bounds of unknown values.
    pub ranges: BTreeMap<Atom, Range>,
    /// Atoms of unknown values that are parts of others: `i / 16`. They tell which elements threads are likely to access, but never prove
    /// anything.
    pub divided: BTreeMap<Atom, Divided>,
    /// What loops and conditions around the nest say.
    pub around: Vec<Around>,
    /// The values of the expressions asked for. `None` for those that are not understood.
    pub expressions: Vec<Option<Polynomial>>,
    /// The expressions that were replaced by the text of their macros and inlined functions.
    pub expanded: Vec<Expanded>,
    /// Symbols: atoms for variables and values that no iteration changes, with a word for messages.
    pub symbols: BTreeMap<Atom, String>,
}

/// Reads what a nest does. `nest` are its loops, outermost first; The iterations of the first `promised` loops are
/// known to be independent, so only iterations with equal values of these variables are compared. `expressions` of
/// directives are evaluated as well.
#[must_use]
pub fn accesses(
    file: &SourceFile,
    tree: &HostTree,
    symbols: &Symbols<'_>,
    nest: &[CanonicalLoop],
    promised: usize,
    expressions: &[Span],
) -> Accesses {
    let Some(body) = nest.get(promised.saturating_sub(1)).map(|last| last.body) else { return Accesses::default() };
    accesses_in(file, tree, symbols, (nest, body), promised, expressions)
}

/// Reads what one execution of `body` does, the statement of one of the loops. What stands between the loops around it is not read.
#[must_use]
pub fn accesses_in(
    file: &SourceFile,
    tree: &HostTree,
    symbols: &Symbols<'_>,
    (nest, body): (&[CanonicalLoop], NodeId),
    promised: usize,
    expressions: &[Span],
) -> Accesses {
    let expansions = expansions(file, tree, symbols, body);
    let mut reader = Reader {
        file,
        tree,
        place: None,
        main_file: file,
        main: tree,
        expansions: &expansions,
        symbols,
        body,
        promised,
        found: Accesses::default(),
        atoms: BTreeMap::new(),
        next: 0,
        depth: 0,
        passed: BTreeSet::new(),
    };
    if symbols.signed_wraps() {
        reader.trouble(Obstacle::NotPlain, tree.span(body), "with these flags any subscript may wrap around");
    }
    for read in nest {
        reader.add_loop(read);
    }
    reader.inner_loops();
    reader.read_around(nest);
    reader.statements();
    reader.names();
    let values: Vec<_> = expressions.iter().map(|span| reader.expression(*span)).collect();
    let expanded = expansions.iter().filter(|known| !known.is_bound).map(Expansion::counted).collect();
    Accesses { expressions: values, expanded, ..reader.found }
}

/// What an atom stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    /// A variable that the body does not write.
    Variable(VariableId),
    /// An expression whose value no iteration changes, by its text and what its names stand for there.
    Text(String, Vec<Named>),
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    /// A variable.
    Variable(VariableId),
    /// A number, by a macro.
    Number(i128),
}

struct Reader<'a, 's> {
    /// The text that is read: the file's, or an expansion's.
    file: &'a SourceFile,
    /// Its tree, or that of an expression in a directive.
    tree: &'a HostTree,
    /// Where the expression stands in the file that an expansion is read for.
    place: Option<Span>,
    main_file: &'a SourceFile,
    main: &'a HostTree,
    /// The texts that replace expressions (of macros and inlined functions), in the order of the text.
    expansions: &'a [Expansion],
    symbols: &'a Symbols<'s>,
    /// The body of the innermost promised loop.
    body: NodeId,
    promised: usize,
    found: Accesses,
    atoms: BTreeMap<Meaning, Atom>,
    next: u32,
    /// The length of the chain of local copies that is being followed.
    depth: usize,
    /// Names in the file's text that access nothing where they stand, as only an address is made of them.
    passed: BTreeSet<NodeId>,
}

impl<'a> Reader<'a, '_> {
    /// Reads another text: that of an expression at some place of the file, or the file's own.
    fn reading<R>(
        &mut self,
        (file, tree, place): (&'a SourceFile, &'a HostTree, Option<Span>),
        read: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let outer = (self.file, self.tree, self.place);
        (self.file, self.tree, self.place) = (file, tree, place);
        let found = read(self);
        (self.file, self.tree, self.place) = outer;
        found
    }

    /// Reads the text that replaces the expression at a span of the file, from its root; the file's own text if nothing
    /// replaces it.
    fn reading_expansion<R>(&mut self, span: Span, read: impl FnOnce(&mut Self, NodeId) -> R) -> R {
        match self.expansions.iter().find(|known| known.span == span) {
            Some(known) => {
                self.reading((&known.file, &known.tree, Some(span)), |reader| read(reader, known.tree.root()))
            }
            None => {
                let (file, tree) = (self.main_file, self.main);
                self.reading((file, tree, None), |reader| read(reader, tree.covering(span)))
            }
        }
    }

    /// The place in the file of something that is read from a replacing text.
    fn placed(&self, span: Span) -> Span {
        self.place.unwrap_or(span)
    }
}

impl Reader<'_, '_> {
    fn fresh(&mut self) -> Atom {
        self.next += 1;
        Atom(self.next)
    }

    fn text(&self, node: NodeId) -> std::borrow::Cow<'_, str> {
        self.file.show(self.tree.span(node))
    }

    fn variable(&self, name: &str, at: usize) -> Option<Arc<Variable>> {
        self.symbols.lookup(name, at)
    }

    /// The value of an expression in a directive, which is no part of the file's tree.
    fn expression(&mut self, span: Span) -> Option<Polynomial> {
        let tree = parse_expression(self.file, span, self.tree.language())?;
        let mut inner = Reader {
            file: self.file,
            tree: &tree,
            place: None,
            main_file: self.main_file,
            main: self.main,
            expansions: self.expansions,
            symbols: self.symbols,
            body: self.body,
            promised: self.promised,
            found: std::mem::take(&mut self.found),
            atoms: std::mem::take(&mut self.atoms),
            next: self.next,
            depth: 0,
            passed: BTreeSet::new(),
        };
        let value = inner.value(tree.root());
        (self.found, self.atoms, self.next) = (inner.found, inner.atoms, inner.next);
        value.filter(|value| !value.wraps).map(|value| value.form)
    }

    fn is_inside(&self, variable: &Variable) -> bool {
        variable.id().is_within(self.main.span(self.body))
    }

    fn trouble(&mut self, obstacle: Obstacle, span: Span, message: impl Into<String>) {
        let span = self.placed(span);
        self.found.troubles.push(Trouble { obstacle, span, message: message.into() });
    }

    /// The loops inside the nest that are in canonical form. Loops of another form have no variable that is followed.
    fn inner_loops(&mut self) {
        let tree = self.tree;
        for node in tree.descendants(self.body).filter(|node| tree.kind(*node) == NodeKind::ForStatement) {
            if self.found.loops.iter().any(|known| known.span == tree.span(node)) {
                continue;
            }
            if let Some(read) =
                canonical_nest(self.file, tree, node, 1).ok().and_then(|nest| nest.loops.into_iter().next())
            {
                self.add_loop(&read);
            }
        }
    }

    fn add_loop(&mut self, read: &CanonicalLoop) {
        let start = self.tree.span(read.body).start;
        let Some(variable) = self.variable(&read.variable, start) else { return };
        let Some(integer) = variable.ty.number().and_then(Number::integer) else { return };
        let (range, trips, step) = self.range_of(read, integer);
        let key = variable.id();
        let atom = self.fresh();
        self.found.loops.push(Loop { key, atom, integer, range, trips, step, span: read.span });
    }

    /// The loop that has this variable and encloses the byte.
    fn loop_of(&self, key: VariableId, at: usize) -> Option<usize> {
        let inside = |l: &Loop| l.key == key && l.span.start <= at && at < l.span.end;
        self.found.loops.iter().rposition(inside)
    }

    /// The loops around a place, outermost first.
    fn loops_around(&self, span: Span) -> Vec<usize> {
        let mut around: Vec<usize> = (0..self.found.loops.len())
            .filter(|index| self.found.loops.get(*index).is_some_and(|l| l.span.contains(span)))
            .collect();
        around.sort_by_key(|index| self.found.loops.get(*index).map(|l| l.span.start));
        around
    }
}

#[cfg(test)]
mod tests;
