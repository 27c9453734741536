//! What each piece of a region (a loop or a sequence of serial statements) does with the variables around it, and what
//! forbids that it becomes a kernel.

mod own_pointers;
mod serial;
mod sharing;
mod statements;
mod variables;

pub(crate) use self::serial::read_serial;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoopNest, canonical_nest};
use crate::region::target::Chain;
use crate::semantics::uses::uses_below;
use crate::semantics::{Kind, Program};
use crate::source::Span;
use crate::syntax::{ClauseName, ListItem};
use crate::transforms::split_target::facts::serial::Run;
use crate::transforms::split_target::shape::clauses::{KeptClause, LoopClauses};

/// A loop, or a sequence of serial statements, that shall become a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its directives; empty for serial statements.
    pub chain: Chain,
    pub clauses: LoopClauses,
    /// The associated loops; empty for serial statements, the first of which is then the body.
    pub nest: CanonicalLoopNest,
    /// The statements that one thread executes, if it is no loop.
    pub serial: Option<Run>,
    /// All its statements.
    pub extent: Span,
    /// The variables from outside that the loop or its clauses name, without loop variables and private ones.
    pub variables: BTreeMap<String, Variable>,
    /// The variables that the loop's clauses or the rules for loops make private to each thread.
    pub private: Vec<String>,
    /// The variables that a clause of the loop makes shared.
    pub shared: BTreeSet<String>,
    /// Every name that the loop or its clauses use but do not declare.
    pub named: BTreeSet<String>,
    /// The assumptions under which the piece may become a kernel.
    pub assumed: Vec<Reason>,
    /// Where elements are written through a pointer that the kernel declares or has private copies of.
    own_writes: Option<Span>,
    /// Pointers and arrays from outside that are used as addresses in expressions.
    address_sources: BTreeSet<String>,
}

/// A variable that is declared outside of a loop and used in it.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub kind: Kind,
    /// Where the loop uses it first.
    pub first: Span,
    /// Where the object itself is written, or may be.
    pub written: Option<Span>,
    /// Where an element, a member or what it points to is written, or may be.
    pub elements_written: Option<Span>,
    /// The members through which a structure is written.
    pub members_written: BTreeSet<String>,
    /// May what it points to be written as an object of another type: through a cast, or by a function?
    pub any_class: bool,
    /// Is its address taken, or a reference bound to it?
    pub address: bool,
    /// Is it assigned before each use, by the serial statements or in each iteration, so that the value from before is
    /// never read?
    pub written_first: bool,
}

impl Variable {
    /// A variable that is only read as far as it has been used.
    fn read_at(kind: Kind, first: Span) -> Self {
        Self {
            kind,
            first,
            written: None,
            elements_written: None,
            members_written: BTreeSet::new(),
            any_class: false,
            address: false,
            written_first: false,
        }
    }
}

impl Piece {
    /// A piece before its statements are read.
    fn new(chain: Chain, clauses: LoopClauses, nest: CanonicalLoopNest, serial: Option<Run>, extent: Span) -> Self {
        Self {
            chain,
            clauses,
            nest,
            serial,
            extent,
            variables: BTreeMap::new(),
            private: Vec::new(),
            shared: BTreeSet::new(),
            named: BTreeSet::new(),
            assumed: Vec::new(),
            own_writes: None,
            address_sources: BTreeSet::new(),
        }
    }

    /// Does the kernel use this variable of the program around it?
    pub(crate) fn uses(&self, name: &str) -> bool {
        self.variables.contains_key(name) || self.clauses.reduces(name)
    }

    /// Does the kernel declare in itself what is declared at this place?
    pub(crate) fn declares(&self, place: Span) -> bool {
        self.extent.contains(place) && !self.hoists(place)
    }

    /// Is it the declaration of a variable that serial statements declare and other pieces use?
    pub(crate) fn hoists(&self, place: Span) -> bool {
        self.serial.as_ref().is_some_and(|run| run.hoisted.iter().any(|hoisted| hoisted.declares(place)))
    }

    /// Does the loop make the item private to each thread, so that the kernel must not name it in another list?
    pub(crate) fn makes_private(&self, item: &ListItem) -> bool {
        let clauses = &self.clauses;
        let mut listed = clauses.private.iter().chain(&clauses.firstprivate).chain(&clauses.linear);
        let is_counter = |base: &str| self.nest.loops.iter().any(|canonical| canonical.variable == base);
        (item.is_name && item.base.as_deref().is_some_and(is_counter)) || listed.any(|other| other.base == item.base)
    }

    /// The innermost directive, which becomes the kernel's. `None` for serial statements.
    pub(crate) fn directive(&self) -> Option<ConstructId> {
        self.chain.constructs.last().copied()
    }
}

/// Reads one loop. The error holds the reasons to refuse the region.
pub(crate) fn read(cx: &Program<'_>, chain: &Chain, clauses: LoopClauses) -> Result<Piece, Vec<Reason>> {
    let construct = cx.constructs.construct(chain.innermost());
    let Some(body) = construct.body else {
        let message = "there is no loop behind this directive";
        return Err(vec![Reason::new(ReasonCode::NotCanonical, construct.body_span, message)]);
    };
    let depth = clauses.collapse.map_or(Some(1), |span| cx.file.show(span).trim().parse::<usize>().ok());
    let Some(depth) = depth.filter(|depth| *depth <= 16) else {
        let message = "the depth of `collapse` is no plain number";
        return Err(vec![Reason::new(ReasonCode::NotCanonical, clauses.collapse.unwrap_or_default(), message)]);
    };
    let nest = canonical_nest(cx.file, cx.tree, body, depth)
        .map_err(|(problem, span)| vec![Reason::new(ReasonCode::NotCanonical, span, problem.explanation())])?;
    let mut piece = Piece::new(chain.clone(), clauses, nest, None, construct.body_span);
    piece.private = private_names(&piece);
    piece.shared = shared_names(&piece);
    let mut reader = Reader { names: cx, piece: &mut piece, reasons: Vec::new() };
    reader.statements(body);
    reader.constructs(body);
    for used in uses_below(cx.file, cx.tree, body) {
        reader.name(&used);
    }
    reader.clause_expressions();
    let reasons = reader.reasons;
    piece.follow_own_pointers();
    piece.take_from_parallel(cx);
    piece.find_written_first(cx, body);
    if reasons.is_empty() { Ok(piece) } else { Err(reasons) }
}

fn shared_names(piece: &Piece) -> BTreeSet<String> {
    let lists = piece.clauses.kept.iter().filter_map(|kept| match kept {
        KeptClause::Shared(clause) => Some(clause.items()),
        KeptClause::OfParallel(clause, items) if clause.name == ClauseName::Shared => Some(items.as_slice()),
        _ => None,
    });
    lists.flatten().filter_map(|item| item.base.clone()).collect()
}

fn private_names(piece: &Piece) -> Vec<String> {
    let clauses = &piece.clauses;
    let lists = [&clauses.private, &clauses.firstprivate, &clauses.linear];
    let mut names: Vec<String> = lists.into_iter().flatten().filter_map(|item| item.base.clone()).collect();
    names.extend(clauses.reductions.iter().filter_map(|reduction| reduction.item.base.clone()));
    // The iteration variables of the associated loops are private by rule (OpenMP 5.2, section 5.1.1).
    names.extend(piece.nest.loops.iter().filter(|l| !l.declared_in_loop).map(|l| l.variable.clone()));
    names
}

struct Reader<'a, 'n> {
    names: &'a Program<'n>,
    piece: &'a mut Piece,
    reasons: Vec<Reason>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    /// Refuses for a declaration that is not in sight.
    fn refuse_unseen(&mut self, code: ReasonCode, span: Span, message: String) {
        self.reasons.push(Reason::new(code, span, message).unseen());
    }
}
