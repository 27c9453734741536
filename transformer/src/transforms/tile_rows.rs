//! Give each thread neighbouring iterations, of loops that are collapsed or whose results are added up.
//!
//! ## Input
//!
//! ```c
//! void smooth(int n, const float *a, float *b) {
//!   #pragma omp target teams distribute parallel for collapse(2) \
//!       map(to: a[0:n*n]) map(tofrom: b[0:n*n]) thread_limit(128)
//!   for (int i = 1; i < n - 1; i++)
//!     for (int j = 1; j < n - 1; j++)
//!       b[i * n + j] = 0.25f * (a[(i - 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j]);
//! }
//!
//! double product(int n, const float *a, const float *b) {
//!   double sum = 0;
//!   #pragma omp target teams distribute parallel for map(to: a[0:n], b[0:n]) map(tofrom: sum) reduction(+: sum)
//!   for (int i = 0; i < n; i++)
//!     sum += a[i] * b[i];
//!   return sum;
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void smooth(int n, const float *a, float *b) {
//!   #pragma omp target teams distribute parallel for collapse(2) \
//!       map(to: a[0:n*n]) map(tofrom: b[0:n*n]) thread_limit(128)
//!   #pragma omp tile sizes(n >= 520 ? 4 : 1, 1) /* h200 */
//!   for (int i = 1; i < n - 1; i++)
//!     for (int j = 1; j < n - 1; j++)
//!       b[i * n + j] = 0.25f * (a[(i - 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j]);
//! }
//!
//! double product(int n, const float *a, const float *b) {
//!   double sum = 0;
//!   #pragma omp target teams distribute parallel for map(to: a[0:n], b[0:n]) map(tofrom: sum) reduction(+: sum)
//!   #pragma omp tile sizes(n < 2147480000 ? 4 : 1) /* h200 */
//!   for (int i = 0; i < n; i++)
//!     sum += a[i] * b[i];
//!   return sum;
//! }
//! ```
//!
//! Iterations of loops that are collapsed have one number, of which compilers make the variables by a division of 64 bits for each loop but the
//! outermost. No GPU has an instruction for it: where an iteration does little, the divisions take longer than all else. Now a thread divides once
//! for four iterations, which lie below each other, so that neighbouring threads still access neighbouring elements.
//! Where there are fewer iterations than the device holds threads, tiles have one row, and all runs as before.
//!
//! A thread that adds up many iterations waits for what one loads before it begins the next. In tiles it loads four elements at once, or of
//! collapsed loops those of eight rows. The terms of a `reduction` have no order. Loops up to the largest numbers leave clang no room for tiles, so that
//! these have one iteration each.
//!
//! Measured on an H200 (`bench/results/tile`), launches included: with 67 million iterations stencils of five, seven and nine points and a copy 1.3 to 1.5
//! times as fast, a step of Floyd-Warshall 1.7 times, sums and products 1.2 to 2.1 times; none slower at any length.
//!
//! ## Applies when
//!
//! - the kernel is one `distribute parallel for` loop of a league with `collapse` or `reduction`, without `simd`, `order` and clauses that group iterations;
//!   `--device` names a device, and the output is for clang: `tile` is a directive of OpenMP 5.1;
//! - its loops count up by one in variables that they declare, from a constant to bounds that are arithmetic; the body holds no loop, no directive, and nothing that is not
//!   followed; neighbouring threads access the same elements, or elements side by side;
//! - collapsed loops do not give each iteration the elements of its own number, `a[i * n + j]` for all `i` and `j` up to `n`, where compilers divide nothing;
//! - an iteration is predicted to become 1.2 times as fast. Divisions, waiting, accesses and operations take time of the
//!   processors; what all iterations load and store once takes at least the time that the device's memory needs for it. Streams of many arrays, or of
//!   `double`, wait for memory, and are left alone: a kernel of four such arrays took 1.15 times as long with tiles;
//! - with `reduction` the body stores nothing, and of one loop the elements of neighbouring threads lie at most 64 bytes apart in all arrays
//!   together, and at most 8 in one iteration of one array;
//! - the innermost loop has as many iterations as a warp has threads. Without `reduction` the text tells that there are as many iterations as the
//!   device holds threads, or integer variables tell how many there are (a size that is no constant needs clang 19), or the pass is named.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS125, OMPS105: the text cannot be read for certain, or the program promises that directives are absent. OMPS866: the loops are
//! none that `tile` takes, or iterations are grouped or ordered by a clause. OMPS867: it is not predicted to pay, or clang would count the iterations wrong.
//!
//! ## Safety
//!
//! Threads share the iterations in any number and order where no clause says otherwise, so that none accesses what another one writes (OpenMP
//! 5.2, sections 1.4.1 and 11.5), and a reduction combines them in any order (section 5.5.5). `tile` makes each of them once (section 9.1), whole tiles or
//! not; a thread makes those of its tile one after the other. Their statements stay as they are, once.
//!
//! clang 19 counts wrong what it tiles where the number of iterations, `upper - lower` in the variable's type, is none: an empty loop with a variable or
//! negative lower bound then runs billions of times. So loops are taken from constants that are not negative, whose bounds have the variable's type. From a
//! constant above 0 the bound must be known not to be far below zero, as a section's length tells. Where a bound of 32 bits may lie near the largest
//! number, the size asks.
//!
//! ## References
//!
//! OpenMP 5.2, sections 1.4.1, 4.4.2, 5.5.5, 9.1 and 11.5. Magni, "Analysis and Parameter Prediction of Compiler Transformations for Graphics Processors"
//! (2015), chapter 4: coarsening takes what is the same for several iterations from all but one of them. Volkov, "Better Performance at Lower
//! Occupancy" (2010): loads under way in one thread stand for threads.

mod counting;
mod gain;
mod numbers;
mod work;

use crate::analysis::accesses::Accesses;
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::independence::{self, Candidate, clauses};
use crate::context::Context;
use crate::edit::directive_writer::{Layout, in_front};
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Times, Verdict};
use crate::region::loop_nest::CanonicalLoop;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName};
use crate::transforms::checks::heads;
use crate::transforms::checks::lengths::Lengths;
use crate::transforms::{Waiting, checks};

/// Decides for every kernel that is several loops, or combines what its iterations give.
pub(super) fn tile_rows(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// Tiles are made after all other passes, which know loops better without them.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    Pass::Tile.before()
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let (loops, promised) = associated_loops(cx, region)?;
    let mut directives = region.chain.constructs.iter().map(|id| cx.constructs.directive(*id));
    let is_sum = directives.any(|directive| directive.clauses_of(ClauseName::Reduction).next().is_some());
    // Where `simd` takes the loops too, no other directive may stand in them.
    if loops.len() < 2 && !is_sum || region.chain.leaves.last() != Some(&Leaf::For) {
        return None;
    }
    let body = loops.last()?.body;
    // How the loops are translated may be written in front of them already.
    let directive = cx.constructs.directive(region.chain.innermost()).span;
    let inside = Span::new(directive.end, cx.tree.span(loops.first()?.node).end);
    if checks::directive_in(cx, inside).is_some() || cx.tree.descendants(body).any(|node| cx.tree.kind(node).is_loop())
    {
        return None;
    }
    let is_confined = cx.is_confined(Pass::Tile, region);
    if is_confined && cx.profile.is_none() {
        return None;
    }
    let verdict = match checks::text_reasons(cx, region) {
        doubts if doubts.is_empty() => Kernel::read(cx, region, loops, promised).decide(),
        doubts => Verdict::Refuse(doubts),
    };
    let directive = cx.constructs.directive(region.chain.constructs.first().copied()?).span;
    let is_said = !is_confined || verdict.is_certain_change();
    is_said.then(|| verdict.into_plan(Pass::Tile, directive, region.extent))
}

/// A kernel without loops in its body.
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

    fn decide(&self) -> Verdict {
        let cx = self.cx;
        let span = cx.constructs.directive(self.candidate.id).span;
        let no = |message: &str| Verdict::DoesNotPay(vec![Reason::new(ReasonCode::TilesDoNotPay, span, message)]);
        let Some(device) = cx.profile else {
            return no("no device is asked for, for which tiles are measured");
        };
        if !cx.pipeline.transforms_loops() {
            return no("not measured with the compiler that the output is for");
        }
        if let Some(reason) = self.refused() {
            return Verdict::Refuse(vec![reason]);
        }
        if let Some(reason) = self.miscounted() {
            return Verdict::DoesNotPay(vec![reason]);
        }
        match gain::gain(self, device) {
            Ok(gain) => self.change(&gain, &device.name),
            Err(message) => no(&message),
        }
    }

    fn change(&self, gain: &gain::Gain, device: &str) -> Verdict {
        let cx = self.cx;
        let layout = Layout::of(cx.file, cx.constructs.directive(self.candidate.id));
        let size = |index: usize| if index == gain.tiled { gain.size() } else { "1".to_owned() };
        let sizes: Vec<String> = (0..self.loops().len()).map(size).collect();
        let clause = format!("sizes({}) /* {device} */", sizes.join(", "));
        let first = self.loops().first().map_or(0, |own| cx.tree.span(own.node).start);
        Verdict::Change(Change {
            edits: vec![in_front(cx.file, &layout, first, "tile", &[clause])],
            summary: gain.summary(self),
            times: Some(Times::rounded(gain.times.0, gain.times.1)),
            ..Change::default()
        })
    }

    fn lengths(&self) -> Lengths<'_, 'c, 'p> {
        Lengths { cx: self.cx, region: self.region, loops: self.loops(), found: &self.found }
    }

    /// Does each thread add up, or otherwise combine, what its iterations give?
    fn is_sum(&self) -> bool {
        self.clauses().any(|clause| clause.name == ClauseName::Reduction)
    }

    /// Are only tiles wanted that are sure to lose nothing?
    fn is_confined(&self) -> bool {
        self.cx.is_confined(Pass::Tile, self.region)
    }

    fn clauses(&self) -> impl Iterator<Item = &'c Clause> {
        let cx = self.cx;
        self.region.chain.constructs.iter().flat_map(move |id| &cx.constructs.directive(*id).clauses)
    }

    /// What keeps the loops from being tiled, whatever it gains.
    fn refused(&self) -> Option<Reason> {
        let (cx, region) = (self.cx, self.region);
        if let Some(reason) = checks::excludes_directives(cx, region) {
            return Some(reason);
        }
        let orders = |name: ClauseName| matches!(name, ClauseName::Order | ClauseName::Schedule);
        if let Some(clause) = self.clauses().find(|clause| orders(clause.name)) {
            return Some(refusal(clause.span, "this clause says how iterations are grouped or ordered"));
        }
        let (Ok(grid) | Err(grid)) = clauses::read(cx, &region.chain.constructs).map(|(_, grid)| grid);
        if let Some(reason) = grid.into_iter().next() {
            return Some(Reason { code: ReasonCode::RowsNotTiled, ..reason });
        }
        if let Some(trouble) = self.found.troubles.first() {
            return Some(refusal(trouble.span, trouble.message.clone()));
        }
        let body = self.candidate.nest.loops.body;
        let head = self.loops().iter().find_map(|own| heads::check(cx, own, body).err());
        head.map(|(span, message)| refusal(span, message))
    }

    /// A loop whose iterations the compiler may count wrong in tiles.
    fn miscounted(&self) -> Option<Reason> {
        let lengths = self.lengths();
        let mut loops = self.loops().iter().zip(lengths.trips());
        let (span, message) = loops.find_map(|(own, trips)| counting::check(self, own, trips).err())?;
        Some(Reason::new(ReasonCode::TilesDoNotPay, span, message))
    }
}

fn refusal(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::RowsNotTiled, span, message)
}
