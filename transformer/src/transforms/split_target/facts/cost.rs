//! Whether a split pays: the work of the loops of a region, as far as the text gives it, compared with the launches.

mod alike;
pub(crate) mod condition;
mod crossover;
pub(crate) mod figures;
mod sizes;
mod spread;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::analysis::associated_loops::trip_count;
use crate::analysis::cost::{ASSUMED_INNER, Estimate, Grid, LoopWork, TEAM, estimate, estimate_in_order};
use crate::context::Context;
use crate::plan::figures::{count, time};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{ClauseName, NodeId, NodeKind};
use crate::transforms::split_target::facts::cost::condition::Condition;
use crate::transforms::split_target::facts::cost::figures::LoopFigures;
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::{Form, HostPart, Shape};

pub(crate) use self::crossover::{Threshold, thresholds};

use self::alike::Alike;
use self::crossover::{PROGRESS, last_change};
use self::sizes::Size;

/// How many times as fast a form must be for which the text stands twice without being asked for.
const TWICE: f64 = 2.0;

/// The result of the cost model for a region.
pub(crate) struct Verdict {
    estimate: Estimate,
    pieces: usize,
    /// The assumptions about lengths that do not follow from the text.
    assumed: Option<Assumed>,
}

/// Assumed lengths.
struct Assumed {
    /// Iterations of a loop.
    iterations: f64,
    /// Variables that give several lengths at once, and their assumed values.
    alike: Alike,
    /// Are there lengths that do not depend on these variables?
    others: bool,
    /// The split pays from this number of iterations on, or from this value of those variables on.
    from: Option<f64>,
    /// Control flow repeats the launches, so that a small matrix is assumed: is it twice as fast with the one that is assumed elsewhere?
    halves_larger: bool,
}

/// Weighs a region.
pub(crate) fn weigh(names: &Context<'_>, region: Span, shape: &Shape, pieces: &[Piece]) -> Verdict {
    let lengths = Lengths::default();
    let assumed = f64::from(names.assumed_iterations);
    let alike = alike::alike(names, region, shape, pieces, &lengths);
    let with = |unknown: f64, alike: &Alike| {
        let taken = Taken::All(unknown, alike);
        // Control flow around the kernels repeats what small loops lose, so that only what is sure to be gained counts there.
        let spreads = !is_steered(shape);
        let counts = |progress| Counts { names, region, progress, taken, lengths: &lengths, spreads };
        // Without such variables, or without control flow around the kernels, the lengths are the same in each round.
        let changes = !alike.is_empty() && is_steered(shape);
        let places: &[u8] = if changes { &PROGRESS } else { &[8] };
        Estimate::mean(places.iter().map(|progress| counts(*progress).estimate(shape, pieces)))
    };
    let taken = Taken::All(0.0, &alike);
    let counts = Counts { names, region, progress: 8, taken, lengths: &lengths, spreads: true };
    let shared = counts.shared(shape);
    let is_known = pieces.iter().all(|piece| counts.is_known(piece))
        && shared.is_none_or(|canonical| counts.trip_count(&canonical).is_some());
    let from = || match alike.is_empty() {
        // The least from which on every larger number pays.
        true => {
            let powers = (5..=30).rev().map(|power| f64::from(1_u32 << power));
            powers.take_while(|unknown| with(*unknown, &alike).pays()).last()
        }
        false => last_change(|value| with(assumed, &alike.with(value)).pays()),
    };
    let estimate = with(assumed, &alike);
    let others = pieces.iter().flat_map(|piece| &piece.nest.loops).any(|canonical| counts.is_open(canonical));
    let from = (!is_known).then(from).flatten();
    let larger = || with(assumed, &alike.with((assumed * ASSUMED_INNER).sqrt().floor()));
    let halves = |Estimate { before, after }: Estimate| before >= TWICE * after;
    let halves_larger = !alike.is_empty() && is_steered(shape) && !estimate.pays() && halves(larger());
    let assumed = (!is_known).then_some(Assumed { iterations: assumed, alike, others, from, halves_larger });
    Verdict { estimate, pieces: pieces.len(), assumed }
}

impl Verdict {
    /// Why the split is not worth its launches. `None` if it is.
    pub(crate) fn does_not_pay(
        &self,
        names: &Program<'_>,
        region: &TargetRegion,
        condition: Option<&Condition>,
    ) -> Option<Reason> {
        if self.estimate.pays() {
            return None;
        }
        let plural = if self.pieces == 1 { "kernel" } else { "kernels" };
        let Estimate { before, after } = self.estimate;
        let what = if after > before { "slower" } else { "too little to gain" };
        let mut message =
            format!("{what} as {} {plural}: predicted {} instead of {}", self.pieces, time(after), time(before));
        if let Some(assumed) = &self.assumed {
            message = format!("{message} (assumes {})", assumed.words());
        }
        if let Some(from) = self.pays_from(condition) {
            message = format!("{message}; pays {from}");
        }
        if condition.is_some() {
            message.push_str(", which `--versioned` lets the program ask");
        }
        let span = names.constructs.directive(region.chain.constructs.first().copied()?).span;
        Some(Reason::new(ReasonCode::TooSmall, span, message))
    }

    pub(crate) fn estimate(&self) -> Estimate {
        self.estimate
    }

    /// Should the program ask for the lengths: because the user says so, or, with a device, as larger ones gain much that are as likely?
    pub(crate) fn should_ask(&self, cx: &Context<'_>) -> bool {
        cx.versioned || cx.profile.is_some() && self.assumed.as_ref().is_some_and(|assumed| assumed.halves_larger)
    }

    /// From how many iterations or from which value of a variable on it pays, if the lengths are not known: the condition that
    /// `--versioned` writes, where there is one.
    pub(crate) fn pays_from(&self, condition: Option<&Condition>) -> Option<String> {
        let Assumed { alike, from, .. } = self.assumed.as_ref()?;
        if let Some(condition) = condition {
            return Some(format!("where {condition}"));
        }
        from.filter(|from| *from > 1.0).map(|from| match alike.is_empty() {
            true => format!("from about {} iterations on", count(from)),
            false => format!("from about {} = {} on", alike.names(), count(from)),
        })
    }

    /// The assumed lengths. `None` if all lengths are known.
    pub(crate) fn assumed(&self) -> Option<String> {
        self.assumed.as_ref().map(Assumed::words)
    }
}

impl Assumed {
    fn words(&self) -> String {
        let Self { iterations, alike, others, .. } = self;
        let unknown = format!("{} iterations of loops of unknown length", count(*iterations));
        let known = format!("{} = {}", alike.names(), count(alike.value));
        match (alike.is_empty(), others) {
            (true, _) => unknown,
            (false, true) => format!("{known} and {unknown}"),
            (false, false) => known,
        }
    }
}

/// What is assumed for each loop, and how long it takes.
pub(crate) fn loop_figures(names: &Context<'_>, region: Span, shape: &Shape, pieces: &[Piece]) -> Vec<LoopFigures> {
    let assumed = f64::from(names.assumed_iterations);
    let lengths = Lengths::default();
    let alike = alike::alike(names, region, shape, pieces, &lengths);
    let taken = Taken::All(assumed, &alike);
    let counts = Counts { names, region, progress: 8, taken, lengths: &lengths, spreads: !is_steered(shape) };
    let figures = |piece: &Piece| {
        let work = counts.work(piece);
        let Estimate { before, after } = estimate(&[work], grid_of(names, shape), true);
        LoopFigures {
            span: piece.directive().map_or(piece.extent, |id| names.constructs.directive(id).span),
            iterations: work.iterations,
            is_known: counts.is_known(piece),
            operations: work.operations,
            before,
            after,
        }
    };
    pieces.iter().map(figures).collect()
}

fn grid_of(cx: &Program<'_>, shape: &Shape) -> Grid {
    match shape.form {
        _ if shape.has_teams_of_one() => Grid::OneThreadEach,
        Form::League => Grid::League,
        Form::OneLoop | Form::OneTeam => Grid::OneTeam(team_threads(cx, shape)),
    }
}

/// The threads of the one team, which a clause may say, or each loop's own.
fn team_threads(cx: &Program<'_>, shape: &Shape) -> f64 {
    let written = |ids: &[ConstructId], name: ClauseName| {
        let clauses = ids.iter().flat_map(|id| cx.constructs.directive(*id).clauses_of(name));
        let threads = clauses.filter_map(|clause| cx.constant(clause.expression()?)).next()?;
        u32::try_from(threads).ok().filter(|threads| *threads > 0)
    };
    let of_loops = shape.loops.iter().map(|chain| written(&chain.constructs, ClauseName::NumThreads));
    let of_loops = of_loops.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
    let of_region = written(&shape.outer, ClauseName::ThreadLimit);
    of_region.into_iter().chain(of_loops).min().map_or(TEAM, f64::from)
}

/// Does control flow enclose loops, so that they may run many times for one launch of the original?
pub(crate) fn is_steered(shape: &Shape) -> bool {
    shape.host.iter().any(|part| matches!(part, HostPart::Flow(_)))
}

/// Trip counts, known or assumed.
struct Counts<'a, 'n> {
    names: &'a Context<'n>,
    /// The region; only numbers from outside of it are known to the host.
    region: Span,
    /// How far the enclosing loops have advanced, in sixteenths.
    progress: u8,
    taken: Taken<'a>,
    lengths: &'a Lengths,
    /// Are loops inside counted that `collapse` will spread?
    spreads: bool,
}

/// What is known about the lengths of loops, by the places of their bounds. It is kept because the search for a
/// threshold needs it many times.
#[derive(Default)]
struct Lengths {
    constant: RefCell<BTreeMap<Span, Option<f64>>>,
    /// For each position of the enclosing loops, in sixteenths.
    symbolic: RefCell<BTreeMap<(Span, u8), Option<Size>>>,
    /// The loops inside a loop that `collapse` spreads with it, by the place of its body.
    spread: RefCell<BTreeMap<Span, Rc<[CanonicalLoop]>>>,
    /// The parts of a body, by its place.
    bodies: RefCell<BTreeMap<Span, Rc<[Part]>>>,
}

/// Operations of a body, and the inner loops that repeat them, the outermost first. Loops without canonical form are
/// `None`.
struct Part {
    operations: f64,
    loops: Vec<Option<CanonicalLoop>>,
}

/// The value of a key in a table; computed if the table does not have it.
fn remembered<K: Ord + Clone, V: Clone>(table: &RefCell<BTreeMap<K, V>>, key: K, work_out: impl FnOnce() -> V) -> V {
    let known = table.borrow().get(&key).cloned();
    known.unwrap_or_else(|| {
        let value = work_out();
        table.borrow_mut().insert(key, value.clone());
        value
    })
}

fn add(parts: &mut [Part], at: usize, operations: f64) {
    if let Some(part) = parts.get_mut(at) {
        part.operations += operations;
    }
}

/// Replaces a trip count that does not follow from the text.
#[derive(Clone, Copy)]
enum Taken<'a> {
    /// This many iterations for one associated loop, [`ASSUMED_INNER`] for an inner loop. Several associated loops
    /// share the number, and variables that give several lengths have one value.
    All(f64, &'a Alike),
    /// A value for one variable, or one product of variables, which gives the length of its loops. Other associated
    /// loops are assumed to have no iterations, so that only their launches count; other inner loops and loops of the
    /// same nest run [`ASSUMED_INNER`] iterations.
    One(&'a str, f64),
}

impl Counts<'_, '_> {
    fn estimate(&self, shape: &Shape, pieces: &[Piece]) -> Estimate {
        let loops: Vec<LoopWork> = pieces.iter().map(|piece| self.work(piece)).collect();
        if let Some(shared) = self.shared(shape) {
            let unknown = match self.taken {
                Taken::All(unknown, _) => unknown,
                Taken::One(..) => ASSUMED_INNER,
            };
            return estimate_in_order(&loops, self.trip_count(&shared).unwrap_or(unknown));
        }
        estimate(&loops, grid_of(self.names, shape), is_steered(shape))
    }

    /// The loop that the original's teams share and the host of the output runs in order.
    fn shared(&self, shape: &Shape) -> Option<CanonicalLoop> {
        let cx = self.names;
        canonical_nest(cx.file, cx.tree, shape.shared?, 1).ok()?.loops.into_iter().next()
    }

    fn work(&self, piece: &Piece) -> LoopWork {
        if let Some(run) = &piece.serial {
            let operations = run.nodes.iter().map(|node| self.body_operations(*node)).sum();
            return LoopWork { iterations: 1.0, operations, serial: true, walks: false, spread: 1.0 };
        }
        let operations = self.body_operations(piece.nest.body);
        let walks = self.parts_of(piece.nest.body).iter().any(|part| !part.loops.is_empty());
        let spread = self.spread(piece);
        LoopWork { iterations: self.iterations(piece), operations, serial: false, walks, spread }
    }

    fn iterations(&self, piece: &Piece) -> f64 {
        let loops = &piece.nest.loops;
        let concerned = loops.iter().any(|canonical| self.concerned(canonical).is_some());
        let unknown_loops = loops.iter().filter(|canonical| self.trip_count(canonical).is_none()).count();
        let unknown = |canonical| match self.taken {
            Taken::All(unknown, alike) => {
                self.concerned(canonical).unwrap_or_else(|| alike.evenly(unknown, unknown_loops))
            }
            Taken::One(..) if concerned => self.concerned(canonical).unwrap_or(ASSUMED_INNER),
            Taken::One(..) => 0.0,
        };
        loops.iter().map(|canonical| self.trip_count(canonical).unwrap_or_else(|| unknown(canonical))).product()
    }

    /// The iterations of a loop whose length depends on variables with an assumed value.
    fn concerned(&self, canonical: &CanonicalLoop) -> Option<f64> {
        let size = self.size(canonical)?;
        match self.taken {
            Taken::All(_, alike) => alike.length(&size),
            Taken::One(name, value) => {
                (size.terms.len() == 1 && size.terms.contains_key(name)).then(|| size.value(|_| value))
            }
        }
    }

    /// Is nothing known about a loop's length?
    fn is_open(&self, canonical: &CanonicalLoop) -> bool {
        self.trip_count(canonical).is_none() && self.concerned(canonical).is_none()
    }

    /// The length of a loop in terms of variables.
    fn size(&self, canonical: &CanonicalLoop) -> Option<Size> {
        if self.trip_count(canonical).is_some() {
            return None;
        }
        let work_out = || sizes::trip_count(self.names, self.region, f64::from(self.progress) / 16.0, canonical);
        remembered(&self.lengths.symbolic, (canonical.lower, self.progress), work_out)
    }

    fn is_known(&self, piece: &Piece) -> bool {
        piece.nest.loops.iter().all(|canonical| self.trip_count(canonical).is_some())
    }

    /// The loops inside a statement that have a canonical form, each with its enclosing loops.
    fn nests_inside(&self, body: NodeId) -> Vec<Vec<CanonicalLoop>> {
        self.parts_of(body).iter().map(|part| part.loops.iter().flatten().cloned().collect()).collect()
    }

    fn parts_of(&self, body: NodeId) -> Rc<[Part]> {
        remembered(&self.lengths.bodies, self.names.tree.span(body), || Rc::from(self.parts(body)))
    }

    /// Operators and subscripts in a statement; those of inner loops count once for each iteration.
    fn body_operations(&self, body: NodeId) -> f64 {
        let parts = self.parts_of(body);
        let count = |inner: &Option<CanonicalLoop>| {
            let inner = inner.as_ref()?;
            self.trip_count(inner).or_else(|| self.concerned(inner))
        };
        let weight =
            |part: &Part| part.loops.iter().map(|inner| count(inner).unwrap_or(ASSUMED_INNER)).product::<f64>();
        parts.iter().map(|part| part.operations * weight(part)).sum()
    }

    /// The operations of a statement, grouped by the inner loops around them.
    fn parts(&self, body: NodeId) -> Vec<Part> {
        let cx = self.names;
        let mut parts = vec![Part { operations: 0.0, loops: Vec::new() }];
        // The enclosing loops at the current node, and the indices of their parts.
        let mut around: Vec<(NodeId, usize)> = Vec::new();
        for node in cx.tree.descendants(body) {
            while around.last().is_some_and(|(outer, _)| !cx.tree.span(*outer).contains(cx.tree.span(node))) {
                around.pop();
            }
            let at = around.last().map_or(0, |(_, part)| *part);
            match cx.tree.kind(node) {
                NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement => {
                    // A loop without canonical form has no length.
                    let nest = canonical_nest(cx.file, cx.tree, node, 1).ok();
                    let inner = nest.and_then(|nest| nest.loops.into_iter().next());
                    let outer = parts.get(at).map(|part| part.loops.clone()).unwrap_or_default();
                    let loops = outer.into_iter().chain([inner]).collect();
                    around.push((node, parts.len()));
                    parts.push(Part { operations: 0.0, loops });
                }
                NodeKind::BinaryExpression
                | NodeKind::AssignmentExpression
                | NodeKind::SubscriptExpression
                | NodeKind::UpdateExpression => {
                    add(&mut parts, at, 1.0);
                }
                NodeKind::CallExpression => add(&mut parts, at, 8.0),
                _ => {}
            }
        }
        parts
    }

    fn trip_count(&self, canonical: &CanonicalLoop) -> Option<f64> {
        remembered(&self.lengths.constant, canonical.lower, || trip_count(self.names, canonical))
    }
}
