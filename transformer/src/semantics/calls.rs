//! What functions do whose bodies are in sight: in the file or in the project's headers.
//!
//! A name stands for all functions of that name that are defined there; what is said holds for each of them. A function
//! without a definition in sight is known only if `known` lists it. In a template, parameters that are types stand for numbers:
//! who asks has to know that the arguments of the call are numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use crate::region::construct::ConstructTree;
use crate::semantics::symbols::{DeclaredType, Place, Symbols};
use crate::source::{SourceFile, Span, scan};
use crate::syntax::{HostTree, NodeId};

mod computes;
mod direct;
mod known;
mod library;

pub use computes::computes;
use direct::Direct;
pub use known::{RuntimeCall, is_one_operation, is_pure, runtime_call, takes_values};
pub(super) use known::{is_reserved_in_c, only_computes};
pub(super) use library::{
    HANDLING, PointeeUse, ends_program, extends_library, format_argument, is_of_c, may_store_counts,
    only_reads_argument, pointees, takes_number,
};

/// What a call of a function may do, itself or through the functions that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Is everything that it calls known?
    pub known: bool,
    /// Where it reaches an OpenMP directive, a call of the OpenMP runtime that means something else in another team, or
    /// `asm`.
    pub openmp: Option<Place>,
    /// The first call of a function that is not known, with its name.
    pub unknown_callee: Option<(String, Place)>,
    /// May it write a variable of static storage?
    pub writes_globals: bool,
    /// May it write members of the object that it is called for?
    pub writes_members: bool,
    /// Does it write to a stream?
    pub output: bool,
    /// May it call itself?
    pub recursion: bool,
    /// The definitions that may run: the header they stand in, and the node.
    pub bodies: Vec<(Option<usize>, NodeId)>,
}

impl Effects {
    /// Is nothing but its result and what its arguments point to affected by a call?
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        self.known && self.openmp.is_none() && !self.writes_globals && !self.writes_members && !self.output
    }
}

/// A function's definition: the header, and the node.
type Function = (Option<usize>, NodeId);

/// Summaries of the functions of one file and its headers; each body is read at most once.
pub struct Calls<'a> {
    headers: &'a [SourceFile],
    own_directives: Vec<Span>,
    header_directives: Vec<OnceLock<Vec<Span>>>,
    summaries: Mutex<BTreeMap<Function, Arc<Direct>>>,
}

impl<'a> Calls<'a> {
    /// Prepares the summaries; nothing is read yet.
    #[must_use]
    pub fn new(
        _file: &'a SourceFile,
        _tree: &'a HostTree,
        constructs: &'a ConstructTree,
        headers: &'a [SourceFile],
    ) -> Self {
        let own_directives = constructs.directives.iter().map(|directive| directive.span).collect();
        let header_directives = headers.iter().map(|_| OnceLock::new()).collect();
        Self { headers, own_directives, header_directives, summaries: Mutex::new(BTreeMap::new()) }
    }

    /// What a call of `name` at byte `at` of the file may do; of a macro, what its text calls and assigns.
    #[must_use]
    pub fn effects(&self, symbols: &Symbols<'_>, name: &str, at: usize) -> Effects {
        let place = Place { header: None, span: Span::new(at, at + name.len()) };
        let first = direct::read_macro(symbols, name, place.span)
            .unwrap_or_else(|| Direct { callees: vec![(name.to_owned(), place)], ..Direct::default() });
        self.effects_of(symbols, &first)
    }

    /// What the use of an object of a class may run without a call in the text, its named functions included.
    #[must_use]
    pub fn class_effects(&self, symbols: &Symbols<'_>, class: &DeclaredType, place: Place) -> Effects {
        self.effects_of(symbols, &Direct { classes: vec![(class.clone(), place)], ..Direct::default() })
    }

    /// Does the body of a function write members of the object that it is called for?
    #[must_use]
    pub fn writes_members(&self, symbols: &Symbols<'_>, function: (Option<usize>, NodeId)) -> bool {
        self.direct(symbols, function).writes_members
    }

    fn effects_of(&self, symbols: &Symbols<'_>, first: &Direct) -> Effects {
        let found = Effects { openmp: first.openmp, writes_globals: first.writes_globals, ..Effects::default() };
        let mut closure = Closure { calls: self, symbols, found, edges: Vec::new(), classes: Vec::new() };
        closure.follow(first);
        let mut found = closure.found;
        found.known = found.unknown_callee.is_none();
        found.recursion = has_cycle(&closure.edges);
        found
    }

    /// What the body of one function does itself.
    fn direct(&self, symbols: &Symbols<'_>, function: Function) -> Arc<Direct> {
        // A thread that panicked cannot have left a summary half written.
        let lock = || self.summaries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = lock().get(&function) {
            return Arc::clone(known);
        }
        let summary = Arc::new(direct::read(symbols, self.directives(function.0), function));
        lock().insert(function, Arc::clone(&summary));
        summary
    }

    /// Where the directives of the file or of a header stand.
    fn directives(&self, header: Option<usize>) -> &[Span] {
        let Some(index) = header else { return &self.own_directives };
        let (Some(file), Some(cell)) = (self.headers.get(index), self.header_directives.get(index)) else { return &[] };
        cell.get_or_init(|| scan(&file.text).directives.iter().map(|directive| directive.span).collect())
    }
}

/// Follows calls from one function to the next.
struct Closure<'s, 'a, 'b> {
    calls: &'s Calls<'a>,
    symbols: &'s Symbols<'b>,
    found: Effects,
    /// Who calls whom; `None` is the call asked for.
    edges: Vec<(Option<Function>, Function)>,
    /// The classes that were looked at.
    classes: Vec<DeclaredType>,
}

impl Closure<'_, '_, '_> {
    fn follow(&mut self, first: &Direct) {
        let mut seen: BTreeSet<Function> = BTreeSet::new();
        let mut open = self.callees(None, first);
        while let Some(function) = open.pop() {
            if !seen.insert(function) {
                continue;
            }
            self.found.bodies.push(function);
            let direct = self.calls.direct(self.symbols, function);
            self.found.openmp = self.found.openmp.or(direct.openmp);
            self.found.writes_globals |= direct.writes_globals;
            self.found.writes_members |= direct.writes_members;
            open.extend(self.callees(Some(function), &direct));
        }
    }

    /// The functions in sight that a body calls; what is known of the others is noted.
    fn callees(&mut self, caller: Option<Function>, direct: &Direct) -> Vec<Function> {
        let mut all = Vec::new();
        for (name, place) in &direct.callees {
            let definitions = self.definitions(name, *place);
            if definitions.is_empty() {
                self.note(name, *place);
            }
            self.edges.extend(definitions.iter().map(|definition| (caller, *definition)));
            all.extend(definitions);
        }
        let mut classes = direct.classes.clone();
        while let Some((class, place)) = classes.pop() {
            if self.classes.contains(&class) {
                continue;
            }
            let at = if place.header.is_none() { place.span.start } else { usize::MAX };
            match self.symbols.class_functions(&class, at) {
                Some(found) => {
                    all.extend(found.bodies);
                    classes.extend(found.classes.into_iter().map(|class| (class, place)));
                }
                None => {
                    let DeclaredType::Record { name, .. } = &class else { continue };
                    self.unknown(name, place);
                }
            }
            self.classes.push(class);
        }
        if let Some((name, place)) = &direct.hidden_call {
            self.unknown(name, *place);
        }
        all
    }

    /// The definitions that a name stands for, or `None` if it is a variable, through which anything may be called.
    fn definitions(&self, name: &str, place: Place) -> Vec<Function> {
        if self.symbols.is_variable_in(place.header, name, place.span.start) || self.symbols.may_call_other(name) {
            return Vec::new();
        }
        self.symbols.function_definitions(name)
    }

    /// A function without a definition in sight.
    fn note(&mut self, name: &str, place: Place) {
        let is_variable = self.symbols.is_variable_in(place.header, name, place.span.start);
        match (runtime_call(name), known::of(name)) {
            _ if is_variable => self.unknown(name, place),
            (None, Some(_)) if !self.symbols.calls_library_in(place.header, name, place.span.start) => {
                self.unknown(name, place);
            }
            (Some(RuntimeCall::Harmless), _) => {}
            (Some(_), _) => self.found.openmp = self.found.openmp.or(Some(place)),
            (None, Some(known::Known::Output)) => self.found.output = true,
            (None, Some(_)) => {}
            (None, None) => self.unknown(name, place),
        }
    }

    fn unknown(&mut self, name: &str, place: Place) {
        self.found.unknown_callee.get_or_insert_with(|| (name.to_owned(), place));
    }
}

/// Is there a way from a function back to itself? Functions that call no function left are taken away until none is.
fn has_cycle(edges: &[(Option<Function>, Function)]) -> bool {
    let mut calls: BTreeMap<Function, usize> = BTreeMap::new();
    let mut callers: BTreeMap<Function, Vec<Function>> = BTreeMap::new();
    for (caller, callee) in edges {
        calls.entry(*callee).or_default();
        if let Some(caller) = caller {
            *calls.entry(*caller).or_default() += 1;
            callers.entry(*callee).or_default().push(*caller);
        }
    }
    let mut done: Vec<Function> =
        calls.iter().filter(|(_, count)| **count == 0).map(|(function, _)| *function).collect();
    let mut removed = 0;
    while let Some(function) = done.pop() {
        removed += 1;
        for caller in callers.get(&function).map(Vec::as_slice).unwrap_or_default() {
            if let Some(count) = calls.get_mut(caller) {
                *count -= 1;
                if *count == 0 {
                    done.push(*caller);
                }
            }
        }
    }
    removed < calls.len()
}

#[cfg(test)]
mod tests;
