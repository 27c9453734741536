//! Stage tiles of arrays in the memory of a team, where neighbouring threads would load elements far apart in either order of the loops.
//!
//! ## Input
//!
//! ```c
//! void transpose(int n, int m, const float *a, float *b) {
//!   #pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*m]) map(from: b[0:n*m])
//!   for (int j = 0; j < m; j++)
//!     for (int i = 0; i < n; i++)
//!       b[j * n + i] = a[i * m + j];
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void transpose(int n, int m, const float *a, float *b) {
//!   #pragma omp target teams distribute collapse(2) map(to: a[0:n*m]) map(from: b[0:n*m]) \
//!       thread_limit(256)
//!   for (int first_j = 0; first_j < m; first_j += 32)
//!     for (int first_i = 0; first_i < n; first_i += 32) {
//!       float tile[32][33];
//!       #pragma omp parallel for collapse(2)
//!       for (int offset_i = 0; offset_i < 32; offset_i++)
//!         for (int offset_j = 0; offset_j < 32; offset_j++)
//!           if (offset_j < m - first_j && offset_i < n - first_i) {
//!             const int j = first_j + offset_j;
//!             const int i = first_i + offset_i;
//!             tile[offset_j][offset_i] = a[i * m + j];
//!           }
//!       #pragma omp parallel for collapse(2)
//!       for (int offset_j = 0; offset_j < 32; offset_j++)
//!         for (int offset_i = 0; offset_i < 32; offset_i++)
//!           if (offset_j < m - first_j && offset_i < n - first_i) {
//!             const int j = first_j + offset_j;
//!             const int i = first_i + offset_i;
//!             b[j * n + i] = tile[offset_j][offset_i];
//!           }
//!     }
//! }
//! ```
//!
//! In the first loop of a team neighbouring threads load neighbouring elements of `a`, in the second one they store neighbouring elements of `b`.
//! What the body of a `distribute` loop declares belongs to the team: clang 19 puts the tile into the shared memory of a block, and
//! makes one kernel of all of it in which the threads run from the start. A row of the tile has one element more than it needs, so that
//! threads reach different banks of that memory along both directions. It stays one kernel.
//!
//! ## Rows
//!
//! Where each iteration walks through rows in a serial loop, as in `c[i * n + j] += a[i * m + k] * a[j * m + k]`, and neighbouring threads load them far
//! apart, a team takes 32 x 64 iterations. Its threads load a part of the rows together, 64 elements of each or 32, go on with their sums, and load the
//! next part:
//!
//! ```c
//! float a_of_i[32][65];
//! float a_of_j[64][65];
//! float sum_of_team[32][64];
//! /* a loop of the threads sets the sums */
//! for (int first_k = 0; first_k < m; first_k += 64) {
//!   /* two loops of the threads load a part of the rows */
//!   #pragma omp parallel for collapse(2)
//!   for (int group = 0; group < 32; group += 2)
//!     for (int lane = 0; lane < 32; lane++) {
//!       /* 2 x 2 sums in registers, for k from first_k to the end of the part: */
//!       sum[row][column] += a_of_i[offset_i][k - first_k] * a_of_j[offset_j][k - first_k];
//!     }
//! }
//! /* a loop of the threads stores the sums */
//! ```
//!
//! Each sum keeps its order, and each statement its text. What is declared in front of the serial loop and used in it or behind lasts in the
//! memory of the team. Where the text does not tell the lengths, the host asks whether there are 128 teams, and 64 elements in a row.
//!
//! ## Applies when
//!
//! - the kernel is a `distribute parallel for` over two loops of a league, both of which count up by one to a bound that keeps its value;
//!   `--device` names a device, and the output is for clang;
//! - along the loop that neighbouring threads then differ in, loads lie far apart, which lie side by side along the other loop. Each iteration
//!   makes them, before it stores anything to memory; the element is told by the name of an array or pointer and arithmetic with
//!   variables that are declared around the loops. Its type is an integer, a `float` or a `double`, or a parameter of a template;
//! - the body is a statement or block without loops, jumps and directives, and the tiles take at most 40 KiB;
//! - or for rows: the body is a block of declarations of numbers, one `for` that counts up by one from a number, stores nothing to memory and loads an element
//!   of each row in every iteration, and statements behind it; rows and sums take at most 44 KiB. There are 262,144 iterations, in rows of
//!   64 elements. What has been measured decides here, not a prediction;
//! - no clause says a number of teams, or fewer than 64 threads in one (OMPS407);
//! - it pays: no loop is known to have fewer than 64 iterations, and no row to begin less than 64 elements behind the one before. The kernel is
//!   predicted to take at most 0.8 of its time, and of that with its loops in the other order, by the sectors that warps touch (stores far apart
//!   count three times) and 4 microseconds for each tile that a team takes; the construct is 1.05 times as fast, launch included.
//!   A loop of unknown length counts as `--assumed-iterations`.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS125, OMPS105: the text cannot be read for certain, or the program promises that directives are absent. OMPS864:
//! the loads cannot be made in front of all else, or the loops not in tiles. OMPS865: it is not predicted to pay. OMPS863, without `--assume`:
//! flags allow the compiler to round otherwise in other surroundings.
//!
//! ## Safety
//!
//! Threads share the iterations, in any number and at any time, so that what one iteration writes no other one accesses (OpenMP 5.2, section
//! 1.4.1); clauses that group or order them are refused, and so are variables from outside that the body writes. So what an iteration loads before
//! it stores anything, no iteration has written: any thread may load it, and earlier. Nothing is asked of where arrays lie. Rows are as long for
//! one iteration as for another, and each iteration stores behind all of its loads.
//!
//! Each load is made for the iterations that made it, under the conditions that say whether there is one, and with the same values of the same
//! names. The implicit barrier at the end of the first loop orders it before the second one, and that at the end of the second before the next
//! tile (OpenMP 5.2, section 15.3.2). Both loops are shared by the threads of a team, however many there are: with one it makes all iterations in
//! turn. Values are formed where a comparison of distances said that they are below the bound, so that none overflows.
//!
//! An element keeps its bits in the tile, which has its type; each expression keeps its operands and its statement, so that a compiler contracts
//! what it contracted with `-ffp-contract=on` or `off`. With `fast` and `-ffast-math` it may round otherwise: that needs `--assume`.
//!
//! ## References
//!
//! OpenMP 5.2, sections 1.4.1, 4.4.1, 5.1.1 and 15.3.2. Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).

mod gain;
mod loads;
mod rows;
mod write;

use self::loads::Load;
use crate::analysis::accesses::Accesses;
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::independence::{self, Candidate, clauses};
use crate::context::{Context, OutputCompiler};
use crate::device::DeviceProfile;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Times, Verdict};
use crate::region::loop_nest::CanonicalLoop;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, NodeId, NodeKind};
use crate::transforms::checks::team_rows::is_allowed_outside;
use crate::transforms::checks::{heads, restated, type_parameters};
use crate::transforms::{Waiting, checks};

/// Iterations of each loop in a tile: as many as a warp has threads.
const TILE: u32 = 32;
/// Threads of a team, where no clause says how many.
const THREADS: u32 = 256;
/// With fewer threads in a team somebody chose them for something else than tiles.
const FEWEST_THREADS: i64 = 64;
/// The most bytes of all tiles of a team: what a block of a GPU may have without asking for more.
const LARGEST: u32 = 40 * 1024;

/// Decides for every kernel that is a loop over two dimensions.
pub(super) fn stage_tiles(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// Tiles are made when other passes have made the kernel's loops.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[Pass::Split, Pass::Collapse, Pass::Scalarize, Pass::Fuse, Pass::Reduce, Pass::Pipeline]
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let (loops, promised) = associated_loops(cx, region).filter(|(loops, _)| loops.len() == 2)?;
    let directive = cx.constructs.directive(region.chain.constructs.first().copied()?).span;
    let kernel = Kernel::read(cx, region, loops, promised);
    let form = match rows::walk(&kernel) {
        Some(walk) => Form::Rows(Box::new(walk)),
        None => Form::Tiles(gain::axis(&kernel)?),
    };
    let verdict = match (checks::text_reasons(cx, region), form) {
        (doubts, _) if !doubts.is_empty() => Verdict::Refuse(doubts),
        (_, Form::Rows(walk)) => rows::decide(&kernel, *walk),
        (_, Form::Tiles(axis)) => kernel.decide(axis),
    };
    Some(verdict.into_plan(Pass::Stage, directive, region.extent))
}

/// What a team may stage.
enum Form<'k> {
    /// Parts of the rows that a serial loop walks through.
    Rows(Box<rows::Walk<'k>>),
    /// Tiles, where threads side by side compute along this loop.
    Tiles(usize),
}

/// A kernel whose loads may be staged.
struct Kernel<'c, 'p> {
    cx: &'c Context<'p>,
    region: &'c TargetRegion,
    candidate: Candidate<'c, 'p>,
    found: Accesses,
}

impl<'c, 'p> Kernel<'c, 'p> {
    fn read(cx: &'c Context<'p>, region: &'c TargetRegion, loops: Vec<CanonicalLoop>, promised: usize) -> Self {
        let candidate = Candidate::of_kernel(cx, region, loops, promised);
        let (found, _) = independence::read(&candidate);
        Self { cx, region, candidate, found }
    }

    fn loops(&self) -> &[CanonicalLoop] {
        &self.candidate.nest.loops.loops
    }

    fn body(&self) -> NodeId {
        self.candidate.nest.loops.body
    }

    /// The statements of the body.
    fn statements(&self) -> Vec<NodeId> {
        self.statements_of(self.body())
    }

    /// The statements of the body of a loop.
    fn statements_of(&self, body: NodeId) -> Vec<NodeId> {
        let tree = self.cx.tree;
        match tree.kind(body) {
            NodeKind::CompoundStatement => tree.named_children(body).collect(),
            _ => vec![body],
        }
    }

    fn directive_span(&self) -> Span {
        self.cx.constructs.directive(self.candidate.id).span
    }

    fn clauses(&self) -> impl Iterator<Item = &'c Clause> {
        let cx = self.cx;
        self.region.chain.constructs.iter().flat_map(move |id| &cx.constructs.directive(*id).clauses)
    }

    /// The device that the output is measured for.
    ///
    /// # Errors
    /// Why the kernel stays as it is, for that or for its grid.
    fn device(&self) -> Result<&'c DeviceProfile, Box<Verdict>> {
        let cx = self.cx;
        let no = |message| Box::new(self.does_not_pay(message));
        let device = cx.profile.ok_or_else(|| no("no device is asked for, for which tiles are measured"))?;
        if cx.pipeline.compiler != OutputCompiler::Llvm {
            return Err(no("not measured with the compiler that the output is for"));
        }
        let message = "the grid that is written down gives iterations to single threads";
        let nothing = |span| Box::new(Verdict::Nothing(Reason::new(ReasonCode::GridWritten, span, message)));
        self.own_grid().map_or(Ok(device), |span| Err(nothing(span)))
    }

    fn does_not_pay(&self, message: &str) -> Verdict {
        Verdict::DoesNotPay(vec![Reason::new(ReasonCode::StagingDoesNotPay, self.directive_span(), message)])
    }

    fn decide(&self, axis: usize) -> Verdict {
        let device = match self.device() {
            Ok(device) => device,
            Err(verdict) => return *verdict,
        };
        let gain = match gain::gain(self, device, axis) {
            Ok(gain) => gain,
            Err(message) => return self.does_not_pay(&message),
        };
        if let Some(reason) = self.refused(None) {
            return Verdict::Refuse(vec![reason]);
        }
        let loads = match loads::staged(self, axis) {
            Ok(loads) => loads,
            Err((span, message)) => return Verdict::Refuse(vec![refusal(span, message)]),
        };
        let bytes = loads.iter().map(|load| load.bytes.saturating_mul(TILE * (TILE + 1))).fold(0, u32::saturating_add);
        if bytes > LARGEST {
            let message = format!("{} tiles would take {bytes} bytes of a team's memory", loads.len());
            return Verdict::Refuse(vec![refusal(self.directive_span(), message)]);
        }
        self.change(axis, &loads, &gain)
    }

    fn change(&self, axis: usize, loads: &[Load], gain: &gain::Gain) -> Verdict {
        let Some(edits) = write::edits(self, axis, loads) else {
            return Verdict::Refuse(vec![refusal(self.directive_span(), "the statements cannot be written anew")]);
        };
        let times = Some(Times::rounded(gain.times.0, gain.times.1));
        Verdict::Change(Change {
            edits,
            summary: gain.summary(loads),
            reasons: self.assumptions(),
            times,
            ..Change::default()
        })
    }

    /// The clause that says how many teams there are, or how few threads in one: a grid for single iterations.
    fn own_grid(&self) -> Option<Span> {
        let is_for_iterations = |clause: &&Clause| match clause.name {
            ClauseName::NumTeams | ClauseName::DistSchedule => true,
            ClauseName::ThreadLimit => {
                let threads = clause.expression().and_then(|span| self.cx.constant(span));
                threads.is_none_or(|threads| threads < FEWEST_THREADS)
            }
            _ => false,
        };
        self.clauses().find(is_for_iterations).map(|clause| clause.span)
    }

    /// What keeps the kernel from being written in tiles, whatever is loaded; one serial loop may stand in it.
    fn refused(&self, serial: Option<NodeId>) -> Option<Reason> {
        let (cx, region) = (self.cx, self.region);
        let directive = cx.constructs.directive(self.candidate.id);
        if let Some(reason) = checks::excludes_directives(cx, region) {
            return Some(reason);
        }
        if region.chain.leaves.last() != Some(&Leaf::For) {
            return Some(refusal(directive.name_span, "the loop has `simd` too, in which no other loop may be shared"));
        }
        if let Some(clause) = self.clauses().find(|clause| !self.is_kept(clause)) {
            let message = "with this clause the loops hold a value of their threads, or say how these share them";
            return Some(refusal(clause.span, message));
        }
        let (Ok(grid) | Err(grid)) = clauses::read(cx, &region.chain.constructs).map(|(_, grid)| grid);
        if let Some(reason) = grid.into_iter().next() {
            return Some(Reason { code: ReasonCode::NotStaged, ..reason });
        }
        if let Some((span, message)) = restated::between_iterations(&self.candidate, &self.found) {
            return Some(refusal(span, message));
        }
        self.refused_text(serial)
    }

    /// What in the text of the loops cannot be written anew.
    fn refused_text(&self, serial: Option<NodeId>) -> Option<Reason> {
        let (cx, body) = (self.cx, self.body());
        if let Some(place) = checks::directive_in(cx, cx.tree.span(body)) {
            return Some(refusal(place, "another directive stands in the loop"));
        }
        for own in self.loops() {
            if let Err((span, message)) = heads::check(cx, own, body) {
                return Some(refusal(span, message));
            }
            if let Some(step) = own.step.amount.filter(|amount| cx.constant(*amount) != Some(1)) {
                return Some(refusal(step, "the loop does not count by one"));
            }
        }
        if let Some(again) = restated::declared_again(cx, self.loops(), body) {
            return Some(refusal(again, "the name of a loop's variable is declared again inside"));
        }
        let is_other = |node: &NodeId| cx.tree.kind(*node).is_loop() && Some(*node) != serial;
        if let Some(node) = cx.tree.descendants(body).find(is_other) {
            let head = Span::new(cx.tree.span(node).start, cx.tree.span(node).start + 2);
            return Some(refusal(head, "a loop stands in the body, whose loads are not staged"));
        }
        restated::trouble(cx, body).map(|(span, message)| refusal(span, message))
    }

    /// Does a clause say the same where teams share tiles, and the threads of a team the iterations of one?
    fn is_kept(&self, clause: &Clause) -> bool {
        match clause.name {
            // Variables that bound the loops would have to be listed, and each thread would have its own tile.
            ClauseName::Default => self.cx.file.show(clause.span).contains("shared"),
            ClauseName::Private => false,
            _ => is_allowed_outside(self.cx, clause),
        }
    }

    /// What must be assumed where the change is made.
    fn assumptions(&self) -> Vec<Reason> {
        let rounding = checks::other_rounding(self.cx, self.directive_span());
        rounding.into_iter().chain(type_parameters::assumption(self.cx, self.body())).collect()
    }
}

fn refusal(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::NotStaged, span, message)
}
