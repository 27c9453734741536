//! What each loop, or run of serial statements, does with the variables of the program around it, and what forbids it to
//! become a kernel.

mod own_pointers;
mod serial;
mod shared_lists;
mod shared_scalars;
mod statements;
mod variables;

pub(super) use self::serial::read_serial;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoopNest, canonical_nest};
use crate::region::target::Chain;
use crate::semantics::uses::uses_below;
use crate::semantics::{Kind, Program};
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::transforms::split_target::clauses::{KeptClause, LoopClauses};
use crate::transforms::split_target::serial::Run;

/// A loop, or a run of serial statements, that is to become a kernel.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// Its directives; none for serial statements.
    pub chain: Chain,
    pub clauses: LoopClauses,
    /// The associated loops; none for serial statements, whose first one is then the body.
    pub nest: CanonicalLoopNest,
    /// The statements that one thread executes, where it is no loop.
    pub serial: Option<Run>,
    /// All its statements.
    pub extent: Span,
    /// The variables from outside that the loop or its clauses name, loop and private variables left out.
    pub variables: BTreeMap<String, Variable>,
    /// Program that the loop's clauses or the rules of the loop make private to each thread.
    pub private: Vec<String>,
    /// Program that a clause of the loop makes shared.
    pub shared: BTreeSet<String>,
    /// Every name that the loop or its clauses use and do not declare.
    pub named: BTreeSet<String>,
    /// What holds only under an assumption.
    pub assumed: Vec<Reason>,
    /// Where elements are written through a pointer that the kernel declares or has private copies of.
    own_writes: Option<Span>,
    /// Pointers and arrays from outside whose addresses go into expressions.
    address_sources: BTreeSet<String>,
}

/// A variable that is declared outside of a loop and used in it.
#[derive(Clone, Debug)]
pub(super) struct Variable {
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
    /// Do the serial statements, or does each iteration, assign it before each use, so that its value from before means
    /// nothing?
    pub written_first: bool,
}

impl Kernel {
    /// Does the kernel use this variable of the program around it?
    pub(super) fn uses(&self, name: &str) -> bool {
        self.variables.contains_key(name)
            || self.clauses.reductions.iter().any(|r| r.item.base.as_deref() == Some(name))
    }

    /// Does the kernel declare in itself what is declared at this place?
    pub(super) fn declares(&self, place: Span) -> bool {
        self.extent.contains(place) && !self.hoists(place)
    }

    /// Is it the declaration of a variable that serial statements declare and others use?
    pub(super) fn hoists(&self, place: Span) -> bool {
        self.serial.as_ref().is_some_and(|run| run.hoisted.iter().any(|hoisted| hoisted.declares(place)))
    }

    /// The innermost directive, which becomes the kernel's; none for serial statements.
    pub(super) fn directive(&self) -> Option<ConstructId> {
        self.chain.constructs.last().copied()
    }
}

/// Reads one loop; the reasons are those for which the region is refused.
pub(super) fn read(names: &Program<'_>, chain: &Chain, clauses: LoopClauses) -> Result<Kernel, Vec<Reason>> {
    let cx = names;
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
    let mut kernel = Kernel {
        chain: chain.clone(),
        clauses,
        nest,
        serial: None,
        extent: construct.body_span,
        variables: BTreeMap::new(),
        private: Vec::new(),
        shared: BTreeSet::new(),
        named: BTreeSet::new(),
        assumed: Vec::new(),
        own_writes: None,
        address_sources: BTreeSet::new(),
    };
    kernel.private = private_names(&kernel);
    kernel.shared = shared_names(&kernel);
    let mut reader = Reader { names, kernel: &mut kernel, reasons: Vec::new() };
    reader.statements(body);
    reader.constructs(body);
    for used in uses_below(cx.file, cx.tree, body) {
        reader.name(&used);
    }
    reader.clause_expressions();
    let reasons = reader.reasons;
    kernel.follow_own_pointers();
    kernel.take_from_parallel(cx);
    kernel.find_written_first(names, body);
    if reasons.is_empty() { Ok(kernel) } else { Err(reasons) }
}

fn shared_names(kernel: &Kernel) -> BTreeSet<String> {
    let lists = kernel.clauses.kept.iter().filter_map(|kept| match kept {
        KeptClause::Shared(clause) => Some(clause.items()),
        KeptClause::OfParallel(clause, items) if clause.name == ClauseName::Shared => Some(items.as_slice()),
        _ => None,
    });
    lists.flatten().filter_map(|item| item.base.clone()).collect()
}

fn private_names(kernel: &Kernel) -> Vec<String> {
    let clauses = &kernel.clauses;
    let lists = [&clauses.private, &clauses.firstprivate, &clauses.linear];
    let mut names: Vec<String> = lists.into_iter().flatten().filter_map(|item| item.base.clone()).collect();
    names.extend(clauses.reductions.iter().filter_map(|reduction| reduction.item.base.clone()));
    // The iteration variables of the associated loops are private by rule (OpenMP 5.2, section 5.1.1).
    names.extend(kernel.nest.loops.iter().filter(|l| !l.declared_in_loop).map(|l| l.variable.clone()));
    names
}

struct Reader<'a, 'n> {
    names: &'a Program<'n>,
    kernel: &'a mut Kernel,
    reasons: Vec<Reason>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }
}
