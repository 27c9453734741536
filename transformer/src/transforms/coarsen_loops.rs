//! Give each thread a group of iterations, of one loop or of two, which share what is the same for all of them.
//!
//! ## Input
//!
//! ```c
//! void product(int n, const float *a, const float *b, float *c) {
//!   #pragma omp target teams distribute parallel for collapse(2) \
//!       map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n]) thread_limit(128)
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       float sum = 0;
//!       for (int k = 0; k < n; k++)
//!         sum += a[i * n + k] * b[k * n + j];
//!       c[i * n + j] = sum;
//!     }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void product(int n, const float *a, const float *b, float *c) {
//!   /* Shorter loops would leave too few threads in groups (estimate for NVIDIA H200). */
//!   if (n >= 1130) {
//!     #pragma omp target teams distribute parallel for collapse(3) \
//!         map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n]) thread_limit(128)
//!     for (int first_i = 0; first_i < n; first_i += 8)
//!       for (int block = 0; block < n; block += 256)
//!         for (int lane = 0; lane < 32; lane++) {
//!           if (n - first_i >= 8 && n - block >= 256) {
//!             float sum[8][8];
//!             #pragma omp unroll full
//!             for (int offset_i = 0; offset_i < 8; offset_i++) {
//!               #pragma omp unroll full
//!               for (int offset_j = 0; offset_j < 8; offset_j++) {
//!                 sum[offset_i][offset_j] = 0;
//!               }
//!             }
//!             for (int k = 0; k < n; k++) {
//!               #pragma omp unroll full
//!               for (int offset_i = 0; offset_i < 8; offset_i++) {
//!                 const int i = first_i + offset_i;
//!                 #pragma omp unroll full
//!                 for (int offset_j = 0; offset_j < 8; offset_j++) {
//!                   const int j = block + lane + 32 * offset_j;
//!                   sum[offset_i][offset_j] += a[i * n + k] * b[k * n + j];
//!                 }
//!               }
//!             }
//!             #pragma omp unroll full
//!             for (int offset_i = 0; offset_i < 8; offset_i++) {
//!               const int i = first_i + offset_i;
//!               #pragma omp unroll full
//!               for (int offset_j = 0; offset_j < 8; offset_j++) {
//!                 const int j = block + lane + 32 * offset_j;
//!                 c[i * n + j] = sum[offset_i][offset_j];
//!               }
//!             }
//!           } else {
//!             for (int offset_i = 0; offset_i < 8; offset_i++) {
//!               for (int offset_j = 0; offset_j < 8; offset_j++) {
//!                 if (offset_i < n - first_i && lane + 32 * offset_j < n - block) {
//!                   const int i = first_i + offset_i;
//!                   const int j = block + lane + 32 * offset_j;
//!                   float sum = 0;
//!                   for (int k = 0; k < n; k++)
//!                     sum += a[i * n + k] * b[k * n + j];
//!                   c[i * n + j] = sum;
//!                 }
//!               }
//!             }
//!           }
//!         }
//!   } else {
//!     #pragma omp target teams distribute parallel for collapse(2) \
//!         map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n]) thread_limit(128)
//!     for (int i = 0; i < n; i++)
//!       for (int j = 0; j < n; j++) {
//!         float sum = 0;
//!         for (int k = 0; k < n; k++)
//!           sum += a[i * n + k] * b[k * n + j];
//!         c[i * n + j] = sum;
//!       }
//!   }
//! }
//! ```
//!
//! A thread makes a tile of eight rows and eight columns: in a step of `k` it loads eight elements of `a` and eight of `b`, where 64 threads loaded
//! one of each. The array of sums is unrolled into registers. Columns of a tile lie 32 apart, so that the 32 threads of a warp still load
//! elements of `b` side by side. One loop alone is grouped where that gains as much: `for (int first = 0; first < n; first += 4)`, with `float sum[4]`.
//! Measured on an H200: `bench/results/coarsen`.
//!
//! ## Applies when
//!
//! - the kernel is one `distribute parallel for` loop of a league, of which one of the loops that are collapsed counts up by one to a bound
//!   that keeps its value; `--device` names a device, and the output is for clang: `unroll` is a directive of OpenMP 5.1;
//! - its body is a block with a serial loop whose head is the same for all iterations of a group, and in that loop, which stores nothing to
//!   memory, an element is loaded that is the same for all of them too; what is not the same, neighbouring threads load side by side;
//! - it pays: each thread makes up to 4 iterations of a loop, or 8 of each of two loops, and more where its loads come from lines of its own, or
//!   are all the same for the group. A doubling must make the kernel 1.05 times as fast, by the loads of the serial loops (each counted with
//!   the sectors that a warp touches, and those of elements that no other thread loads 16 times) and a quarter of a load for each operation; an eighth of the threads that the device holds must be left, and
//!   a quarter of its threads must find registers. The groups that gain most are taken; two loops, and iterations that lie a warp apart, where that
//!   gains 1.05 times as much as what is simpler. A loop of unknown length counts as `--assumed-iterations`. Or `ompsplit tune` asks for
//!   groups of a size, to measure them.
//!
//! Windows around an element (`window`): where an `if` without `else` in serial loops of known length asks alone whether elements lie within the ranges of the
//! kernel's own loops, groups whose windows all do leave it away, and these loops are unrolled. Then what windows have in common is loaded once, and three times as
//! many threads must be left.
//!
//! Neighbours of an element (`neighbours`): where a nest without serial loops loads elements around the one of its iteration, groups of up to eight
//! iterations of any loop but the innermost one first compute all that they store. Then no store stands between their loads, and the compiler makes those once
//! that several iterations have in common. That must make the kernel 1.15 times as fast, counted like the rest; the host is not asked, since short loops
//! take no longer (`bench/results/coarsen`).
//!
//! Where lengths are unknown and variables say them that the host can read, other loops stand twice, under a host `if`: in groups
//! from the length on from which an eighth of the threads that the device holds are left, and as they are. Where the pass is not named, it writes of these only what is
//! predicted to halve the time, with known lengths or in this form.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS125, OMPS105: the text cannot be read for certain, or the program promises that directives are absent. OMPS860:
//! the body holds something that groups may not share or hold twice. OMPS861: it is not predicted to pay. OMPS862: the iterations are
//! grouped already. OMPS863, without `--assume`: flags allow the compiler to round otherwise in other surroundings. OMPS470: directives
//! stand in the loop.
//!
//! ## Safety
//!
//! Threads share the iterations, in any number and at any time, so that what one iteration writes no other one accesses (OpenMP 5.2,
//! section 1.4.1); clauses that group or order them are refused, and so are variables from outside that the body writes. So the statements
//! of one iteration may stand between those of another one. Within an iteration they keep their order.
//!
//! A statement that stays once has the same operands in all iterations of a group, and stores nothing to memory. All iterations of a group
//! come to it, since only loops are around it whose heads are the same for all. What it loads each of them loaded at this place, so that
//! none of them writes it. A loop with such a head runs equally often for all of them.
//!
//! Where iterations lie apart, a loop counts the threads of a warp, and `collapse` takes it: `block + lane + 32 * offset` has each value of
//! the variable once. Values are formed where a comparison of distances said that they are below the bound, so that none overflows.
//!
//! A condition that windows lie within their array is a sum of loop variables and numbers compared with the ends of the kernel's ranges. Where its least value over all
//! iterations of the serial loops and of a group is not negative, it holds for each of them. That is asked by comparisons and distances to bounds, which overflow nowhere.
//! Every other group asks as before, in each iteration.
//!
//! What an iteration stores, it stores after its own loads and in the order of the text. The value of a second store is computed in front of the first one only
//! where it loads nothing through that one's name, and all names are known to lead to different elements, as `collapse` knows it. `x += y` becomes `new_x = x; new_x += y;`, in which the
//! operation keeps its operands.
//!
//! Each element keeps its own variable, in the type that it had, and its order; each expression keeps its operands and its
//! statement, so that a compiler contracts what it contracted with `-ffp-contract=on` or `off`. With `fast` and `-ffast-math` it may
//! round otherwise: that needs `--assume`. What is left over of the loop's length runs in the original's statements.
//!
//! ## References
//!
//! OpenMP 5.2, sections 1.4.1, 4.4.1 and 9.2. Magni, "Analysis and Parameter Prediction of Compiler Transformations for Graphics
//! Processors" (2015), chapters 4 to 6.

mod body;
mod condition;
mod gain;
mod groups;
mod model;
mod neighbours;
mod parts;
mod window;
mod write;

use self::body::Copies;
use self::gain::{Gain, Set};
use self::neighbours::Stored;
use self::window::Window;
use crate::analysis::accesses::Accesses;
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::independence::aliases::Sections;
use crate::analysis::independence::{self, Candidate, clauses};
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::plan::instructions::Group;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Times, Verdict};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::CanonicalLoop;
use crate::region::target::{TargetRegion, target_regions};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, NodeId, NodeKind};
use crate::transforms::checks::lengths::Lengths;
use crate::transforms::checks::{heads, restated, type_parameters};
use crate::transforms::two_forms::Twice;
use crate::transforms::{Waiting, checks, two_forms};

/// How many times as fast the kernel must become where nobody asked for groups: the text grows by as much.
const SURE_GAIN: f64 = 2.0;

/// Decides for every kernel that is one loop with a serial loop inside.
pub(super) fn coarsen_loops(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// Iterations are grouped when other passes have made the kernel's loop and its sums.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[Pass::Split, Pass::Collapse, Pass::Scalarize, Pass::Fuse, Pass::Reduce, Pass::Stage, Pass::Pipeline]
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let (loops, promised) = associated_loops(cx, region)?;
    let body = loops.last()?.body;
    let has_loop = has_loop(cx, body);
    (has_loop || loops.len() > 1).then_some(())?;
    let is_confined = cx.is_confined(Pass::Coarsen, region);
    if is_confined && cx.profile.is_none() {
        return None;
    }
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let directive = cx.constructs.directive(first).span;
    let verdict = match written(cx, &loops, region) {
        Some(reason) => Verdict::Nothing(reason),
        None => match checks::text_reasons(cx, region) {
            doubts if doubts.is_empty() => Kernel::read(cx, region, loops, promised).decide(),
            doubts => Verdict::Refuse(doubts),
        },
    };
    // Of loops that are no stencils nothing is said.
    let is_said = !is_confined && has_loop || verdict.is_certain_change();
    is_said.then(|| verdict.into_plan(Pass::Coarsen, directive, region.extent))
}

fn has_loop(cx: &Context<'_>, body: NodeId) -> bool {
    cx.tree.descendants(body).any(|node| {
        matches!(
            cx.tree.kind(node),
            NodeKind::ForStatement | NodeKind::ForRangeLoop | NodeKind::WhileStatement | NodeKind::DoStatement
        )
    })
}

fn body_span(cx: &Context<'_>, region: &TargetRegion) -> Span {
    cx.constructs.construct(region.chain.innermost()).body_span
}

/// What somebody chose for the loops of a kernel already: groups of iterations, or how serial loops are translated.
fn written(cx: &Context<'_>, loops: &[CanonicalLoop], region: &TargetRegion) -> Option<Reason> {
    let (inside, outermost) = (body_span(cx, region), loops.first()?.node);
    let grouped = |loops: &[CanonicalLoop]| {
        loops.iter().find_map(|one| one.step.amount.filter(|amount| cx.constant(*amount) != Some(1)))
    };
    if let Some(step) = grouped(loops) {
        let message = "each iteration of this loop takes several steps already";
        return Some(Reason::new(ReasonCode::Grouped, step, message));
    }
    // Passes that write two forms later may have put the loops into another `if`.
    let branches = two_forms::other_branches(cx, outermost);
    let mut others = target_regions(cx.tree, cx.constructs)
        .into_iter()
        .filter(|region| region.is_league_loop() && branches.iter().any(|other| other.contains(region.extent)));
    let step = others.find_map(|region| grouped(&associated_loops(cx, &region)?.0));
    if let Some(step) = step {
        let message = "in the other branch each iteration takes several steps: this is the form for short loops";
        return Some(Reason::new(ReasonCode::Grouped, step, message));
    }
    let place = checks::directive_in(cx, inside)?;
    Some(Reason::new(ReasonCode::UnrollWritten, place, "how the loops are translated is written here"))
}

/// A kernel whose iterations may be grouped.
struct Kernel<'c, 'p> {
    cx: &'c Context<'p>,
    region: &'c TargetRegion,
    candidate: Candidate<'c, 'p>,
    found: Accesses,
    /// What constructs around the loops map.
    sections: Sections,
    /// Are only groups wanted that are sure to gain much?
    is_confined: bool,
    /// Has the body no loops, so that only elements around those of an iteration may be shared?
    has_neighbours: bool,
    /// Do the loops stand in both forms, of which the host chooses one by their lengths?
    host_asks: bool,
}

impl<'c, 'p> Kernel<'c, 'p> {
    fn read(cx: &'c Context<'p>, region: &'c TargetRegion, loops: Vec<CanonicalLoop>, promised: usize) -> Self {
        let candidate = Candidate::of_kernel(cx, region, loops, promised);
        let (found, sections) = independence::read(&candidate);
        let is_confined = cx.is_confined(Pass::Coarsen, region);
        let asks = cx.told(region).group.is_none();
        let has_neighbours = !has_loop(cx, candidate.nest.loops.body);
        let mut kernel = Self { cx, region, candidate, found, sections, is_confined, has_neighbours, host_asks: false };
        kernel.host_asks = asks && !has_neighbours && kernel.lengths().can_be_asked();
        kernel
    }

    fn lengths(&self) -> Lengths<'_, 'c, 'p> {
        Lengths { cx: self.cx, region: self.region, loops: self.loops(), found: &self.found }
    }

    fn loops(&self) -> &[CanonicalLoop] {
        &self.candidate.nest.loops.loops
    }

    fn decide(&self) -> Verdict {
        let directive = self.cx.constructs.directive(self.candidate.id).span;
        let no = |message: &str| Verdict::DoesNotPay(vec![Reason::new(ReasonCode::GroupsDoNotPay, directive, message)]);
        let told = self.cx.told(self.region).group;
        let profile = self.cx.profile.or_else(|| told.and_then(|_| DeviceProfile::stand_in()));
        let Some(device) = profile else {
            return no("no device is asked for, whose registers and threads decide");
        };
        match told {
            Some(Group { factor: 1, columns: 1, .. }) => return no("no groups are asked for"),
            Some(group) if !groups::is_writable(group) => {
                return Verdict::Refuse(vec![refusal(directive, format!("{group} are not written"))]);
            }
            _ => {}
        }
        if !self.cx.pipeline.transforms_loops() {
            return no("not measured with the compiler that the output is for");
        }
        let body = self.candidate.nest.loops.body;
        if self.cx.tree.kind(body) != NodeKind::CompoundStatement && !self.has_neighbours {
            return no(gain::NOTHING_SHARED);
        }
        let may_share = self.has_neighbours || gain::may_share(&self.found, self.loops().len());
        let (mut copies, mut refused): (Vec<Set>, Vec<Reason>) = (Vec::new(), Vec::new());
        for set in self.sets() {
            match self.grouped(&set) {
                Ok(one) if !may_share && Window::of(self, &one, &[]).is_none() => return no(gain::NOTHING_SHARED),
                Ok(one) => copies.push((set, one)),
                Err(reason) => refused.push(reason),
            }
        }
        let chosen = match told {
            Some(told) => gain::told(self, device, &copies, told)
                .ok_or_else(|| "the loop that is asked for cannot be grouped".to_owned()),
            None => gain::best(self, device, &copies),
        };
        let is_sure = |gain: &Gain| {
            self.has_neighbours
                || gain.times.0 >= SURE_GAIN * gain.times.1
                    && (self.host_asks || self.lengths().trips().all(|trips| trips.is_some()))
        };
        match chosen {
            Ok((gain, _)) if self.is_confined && !is_sure(&gain) => no("it is not sure to gain much"),
            Ok((gain, copies)) => match self.refused() {
                Some(reason) => Verdict::Refuse(vec![reason]),
                None => self.change(&gain, copies, device),
            },
            // What keeps a loop from being grouped is worth a word only where no other one could be.
            Err(_) if copies.is_empty() => Verdict::Refuse(refused.into_iter().take(1).collect()),
            Err(message) => no(&message),
        }
    }

    fn change(&self, gain: &Gain, copies: &Copies, device: &DeviceProfile) -> Verdict {
        let unclear = || {
            let span = self.cx.constructs.directive(self.candidate.id).span;
            Verdict::Refuse(vec![refusal(span, "the statements cannot be written anew")])
        };
        let Some(mut edits) = write::edits(self, &gain.axes, copies) else { return unclear() };
        let (mut summary, times) = (gain.summary(self), Times::rounded(gain.times.0, gain.times.1));
        if let Some(condition) = condition::condition(self, device, gain).filter(|_| self.host_asks) {
            let Some(region) = Twice::of_region(self.cx, (self.first(), self.region.extent)) else { return unclear() };
            let comment =
                format!("Shorter loops would leave too few threads in groups (estimate for {}).", device.title);
            let asked = [condition.clone()];
            let Some(both) = two_forms::both(self.cx, &region, &edits, &asked, &comment) else { return unclear() };
            edits = vec![both];
            summary = format!("where {condition} {summary}");
        }
        let reasons = self.assumptions();
        Verdict::Change(Change { edits, summary, reasons, times: Some(times), ..Change::default() })
    }

    /// The loops that may be grouped: each of them, and each two. Where elements around others are shared, any but the innermost one, whose
    /// iterations are neighbouring threads'.
    fn sets(&self) -> Vec<Vec<usize>> {
        let depth = self.loops().len();
        if self.has_neighbours {
            return (0..depth.saturating_sub(1)).map(|index| vec![index]).collect();
        }
        let pairs = (0..depth).flat_map(|one| (one + 1..depth).map(move |other| vec![one, other]));
        (0..depth).map(|index| vec![index]).chain(pairs).collect()
    }

    /// How the statements of a group stand, where these loops are grouped.
    fn grouped(&self, set: &[usize]) -> Result<Copies, Reason> {
        let own: Vec<&CanonicalLoop> = set.iter().filter_map(|index| self.loops().get(*index)).collect();
        let body = self.candidate.nest.loops.body;
        for one in &own {
            heads::check(self.cx, one, body).map_err(|(span, message)| refusal(span, message))?;
        }
        if let Some(again) = restated::declared_again(self.cx, self.loops(), body) {
            return Err(refusal(again, "the name of a loop's variable is declared again inside"));
        }
        let nothing = || refusal(self.cx.tree.span(body), gain::NOTHING_SHARED);
        let stored = if self.has_neighbours { Some(Stored::of(self).ok_or_else(nothing)?) } else { None };
        body::read(self.cx, &own, body, stored)
    }

    /// What keeps all loops of the kernel from being grouped.
    fn refused(&self) -> Option<Reason> {
        let (cx, region) = (self.cx, self.region);
        let directive = cx.constructs.directive(self.candidate.id);
        if let Some(reason) = checks::excludes_directives(cx, region) {
            return Some(reason);
        }
        if let Some(other) = two_forms::other_form(cx, self.candidate.nest.loops.body) {
            let message = "a region in the other branch may be another form of this one, and is known by these loops";
            return Some(refusal(directive.span, message).with_label(other, "the other region"));
        }
        if region.chain.leaves.last() != Some(&Leaf::For) {
            return Some(refusal(
                directive.name_span,
                "the loop has `simd` too, in which no other directive may stand",
            ));
        }
        let mut all = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
        let is_barred = |name: ClauseName| matches!(name, ClauseName::Reduction | ClauseName::Order);
        if let Some(clause) = all.find(|clause| is_barred(clause.name)) {
            let message = "with this clause the loop holds sums of its threads, or no other directive";
            return Some(refusal(clause.span, message));
        }
        let (Ok(grid) | Err(grid)) = clauses::read(cx, &region.chain.constructs).map(|(_, grid)| grid);
        if let Some(reason) = grid.into_iter().next() {
            return Some(Reason { code: ReasonCode::NotGrouped, ..reason });
        }
        if let Some((span, message)) = restated::between_iterations(&self.candidate, &self.found) {
            return Some(refusal(span, message));
        }
        let body = self.candidate.nest.loops.body;
        let inner = self.found.loops.get(self.loops().len()..).unwrap_or_default();
        if let Some(outside) = inner.iter().find(|one| !one.key.is_within(cx.tree.span(body))) {
            let head = Span::new(outside.span.start, outside.span.start + 3);
            return Some(refusal(head, "the variable of this loop is declared outside of the iteration"));
        }
        if let Some((span, message)) = two_forms::cannot_stand_twice(cx, self.first(), region.extent) {
            return Some(refusal(span, message));
        }
        restated::trouble(cx, body).map(|(span, message)| refusal(span, message))
    }

    fn first(&self) -> ConstructId {
        self.region.chain.constructs.first().copied().unwrap_or(self.candidate.id)
    }

    /// What must be assumed where the change is made.
    fn assumptions(&self) -> Vec<Reason> {
        let cx = self.cx;
        let directive = cx.constructs.directive(self.candidate.id).span;
        let rounding = checks::other_rounding(cx, directive);
        rounding.into_iter().chain(type_parameters::assumption(cx, self.candidate.nest.loops.body)).collect()
    }
}

fn refusal(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::NotGrouped, span, message)
}
