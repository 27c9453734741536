//! Rows of which the threads of a team load a part together, before each of them goes on with its sums: `c[i][j] += a[i][k] * a[j][k]`.
//!
//! Each thread has some iterations of both loops, whose sums it keeps in registers while it walks through a part, so that what it has loaded
//! serves several times. Between the parts they stand in the memory of the team.

mod carried;
mod write;

use std::collections::BTreeSet;

use self::carried::Carried;
use super::loads::{Load, Place, element_of, pattern_along, without_blanks};
use super::{Kernel, refusal};
use crate::analysis::accesses::{Access, Loop};
use crate::analysis::coalescing::{Pattern, pattern};
use crate::device::DeviceProfile;
use crate::plan::{Change, Verdict};
use crate::region::loop_nest::{CanonicalLoop, canonical_nest};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::lengths::Lengths;
use crate::transforms::checks::questions::{Bound, Question, ROOM, condition, counts_on, has_small_numbers};
use crate::transforms::checks::restated;
use crate::transforms::two_forms;

/// Iterations of both loops that a team takes. Of the second one there are more, in which neighbouring threads differ.
const TILE: [u32; 2] = [32, 64];
/// How many of them are one thread's. With four of the first loop and half of the threads 512 rows take 1.2 of the time, 4,096 rows 0.85 of it.
const OF_THREAD: [u32; 2] = [2, 2];
/// Threads of a team: one for each of these groups.
const THREADS: u32 = 512;
/// Elements of a row that are loaded at once: as many as there is memory for.
const PARTS: [u32; 2] = [64, 32];
/// The most bytes for rows and sums, of the 48 KiB that a team may have with what the runtime needs.
const LARGEST: u32 = 44 * 1024;
/// Iterations of both loops that make 128 teams. With 64 teams what is gained is lost again (`bench/results/stage`).
const FEWEST: u64 = 262_144;
/// Elements of a row that fill a part.
const SHORTEST: i128 = 64;

/// A row along which one loop goes, and in which of the kernel's loops an iteration has a row of its own.
struct Row {
    load: Load,
    axis: usize,
}

/// A kernel whose iterations walk through rows in one serial loop.
struct Rows<'r, 'c, 'p> {
    kernel: &'r Kernel<'c, 'p>,
    /// The serial loop.
    inner: CanonicalLoop,
    /// What is staged.
    rows: Vec<Row>,
    /// What is declared in front of the loop and used in or behind it.
    carried: Vec<Carried>,
    /// Elements of a row that are loaded at once.
    part: u32,
}

/// The serial loop of a kernel, and what was read of it.
pub(super) struct Walk<'k> {
    inner: CanonicalLoop,
    own: &'k Loop,
}

/// The loop of a kernel that walks through rows which lie far apart for neighbouring threads.
pub(super) fn walk<'k>(kernel: &'k Kernel<'_, '_>) -> Option<Walk<'k>> {
    let inner = serial_loop(kernel)?;
    let own = kernel.found.loops.iter().find(|one| one.span == inner.span)?;
    let has_rows = kernel.found.accesses.iter().any(|access| axis_of_row(kernel, own, access) == Some(1));
    has_rows.then_some(Walk { inner, own })
}

/// What is done with these rows.
pub(super) fn decide(kernel: &Kernel<'_, '_>, Walk { inner, own }: Walk<'_>) -> Verdict {
    let device = match kernel.device() {
        Ok(device) => device,
        Err(verdict) => return *verdict,
    };
    if !kernel.cx.pipeline.transforms_loops() {
        return kernel.does_not_pay("not measured with the version of OpenMP that the output is for");
    }
    let asked = match asked(kernel, &inner, own) {
        Ok(asked) => asked,
        Err(message) => return kernel.does_not_pay(&message),
    };
    if let Some(reason) = kernel.refused(Some(inner.node)) {
        return Verdict::Refuse(vec![reason]);
    }
    match Rows::of(kernel, inner, &|access| axis_of_row(kernel, own, access)) {
        Ok(rows) => rows.change(&asked, device),
        Err((span, message)) => Verdict::Refuse(vec![refusal(span, message)]),
    }
}

/// The one loop of the body, if that is a statement of it.
fn serial_loop(kernel: &Kernel<'_, '_>) -> Option<CanonicalLoop> {
    let (cx, tree) = (kernel.cx, kernel.cx.tree);
    let mut loops = tree.descendants(kernel.body()).filter(|node| tree.kind(*node).is_loop());
    let (only, None) = (loops.next()?, loops.next()) else { return None };
    let is_block = tree.kind(kernel.body()) == NodeKind::CompoundStatement;
    (is_block && tree.kind(only) == NodeKind::ForStatement && kernel.statements().contains(&only)).then_some(())?;
    canonical_nest(cx.file, tree, only, 1).ok()?.loops.into_iter().next()
}

/// The loop of the kernel for each of whose iterations a load in the serial loop has a row of its own: the second one, if neighbouring threads would
/// load far apart, or the first one, if they would load the same.
fn axis_of_row(kernel: &Kernel<'_, '_>, own: &Loop, access: &Access) -> Option<usize> {
    let is_row = !access.writes
        && own.span.contains(access.span)
        && matches!(pattern(access, own.atom, &kernel.found.opaque), Pattern::Near(_));
    let along = |axis: usize| pattern_along(kernel, access, axis);
    match (along(0), along(1)) {
        _ if !is_row => None,
        (Pattern::Uniform, Pattern::Strided) => Some(1),
        (Pattern::Strided, Pattern::Uniform) => Some(0),
        _ => None,
    }
}

/// What the host must ask first: whether there are enough teams, and rows long enough.
///
/// # Errors
/// Why it does not pay, as far as that is known.
fn asked(kernel: &Kernel<'_, '_>, inner: &CanonicalLoop, own: &Loop) -> Result<Vec<String>, String> {
    let (cx, region) = (kernel.cx, kernel.region);
    let lengths = Lengths { cx, region, loops: kernel.loops(), found: &kernel.found };
    let known: Option<Vec<i128>> = lengths.trips().collect();
    let mut all = Vec::new();
    match known.map(|trips| trips.into_iter().fold(1, i128::saturating_mul)) {
        Some(iterations) if iterations < i128::from(FEWEST) => {
            return Err(format!("{iterations} iterations are too few teams for the device"));
        }
        Some(_) => {}
        None if !lengths.can_be_asked() => return Err("there may be few teams, and the host cannot ask".to_owned()),
        None => all.extend(lengths.at_least(FEWEST)),
    }
    match own.trips {
        Some(trips) if !(SHORTEST..ROOM).contains(&trips) => return Err(format!("rows have {trips} elements")),
        Some(_) => {}
        None => {
            let variable = lengths.length(inner).filter(|_| has_small_numbers(cx, inner.upper));
            let variable = variable.ok_or("rows may be short, and the host cannot ask")?;
            let question = |bound| Question { variable: variable.clone(), bound };
            all.push(condition(&[question(Bound::AtLeast(SHORTEST)), question(Bound::Below(ROOM))]));
        }
    }
    match all.iter().any(|question| two_forms::was_denied(cx, region.extent, question)) {
        true => Err("the host asked how long the loops are, and has teams for rows where they are long".to_owned()),
        false => Ok(all),
    }
}

impl<'r, 'c, 'p> Rows<'r, 'c, 'p> {
    fn of(
        kernel: &'r Kernel<'c, 'p>,
        inner: CanonicalLoop,
        axis_of: &impl Fn(&Access) -> Option<usize>,
    ) -> Result<Self, (Span, String)> {
        let cx = kernel.cx;
        if !counts_on(cx, &inner) {
            return Err((inner.condition, "the loop does not count up by one from a number".to_owned()));
        }
        let inside = |access: &&Access| inner.span.contains(access.span);
        if let Some(stored) = kernel.found.accesses.iter().filter(inside).find(|access| access.writes) {
            return Err((stored.span, "this is stored between loads of rows".to_owned()));
        }
        if let Some((name, at)) = bound_inside(kernel, &inner) {
            return Err((at, format!("`{name}` may differ between iterations, which then have rows of other lengths")));
        }
        let declares = |statement: &NodeId| restated::only_declares(cx, *statement);
        let before = statements_before(kernel, &inner);
        if let Some(other) = before.iter().find(|statement| !declares(statement)) {
            return Err((cx.tree.span(*other), "more than declarations stands in front of the loop".to_owned()));
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut place =
            Place { statements: kernel.statements_of(inner.body), counted: Some(&inner), loaded: BTreeSet::new() };
        let all = || kernel.found.accesses.iter().filter_map(|access| Some((axis_of(access)?, access)));
        let loaded = all().filter_map(|(_, access)| element_of(kernel, access, &place).ok());
        place.loaded = loaded.flat_map(|load| load.places).map(|span| without_blanks(kernel, span)).collect();
        for (axis, access) in all() {
            let found = element_of(kernel, access, &place).and_then(|load| told_by(kernel, axis, load));
            match (axis, found) {
                (_, Ok(load)) => add(kernel, &mut rows, Row { load, axis }),
                // All threads of a warp load the same element, which may stay so.
                (0, Err(_)) => {}
                (_, Err(problem)) => return Err(problem),
            }
        }
        let carried = carried::carried(kernel, &inner, &before)?;
        let bytes = |part: u32| {
            let rows = rows.iter().map(|row| row.load.bytes * TILE.get(row.axis).copied().unwrap_or(0) * (part + 1));
            let carried = carried.iter().map(|one| one.bytes * TILE.iter().product::<u32>());
            rows.chain(carried).fold(0, u32::saturating_add)
        };
        let Some(part) = PARTS.into_iter().find(|part| bytes(*part) <= LARGEST) else {
            let message = format!("rows and sums would take {} bytes of a team's memory", bytes(PARTS[1]));
            return Err((kernel.directive_span(), message));
        };
        Ok(Self { kernel, inner, rows, carried, part })
    }

    fn change(&self, asked: &[String], device: &DeviceProfile) -> Verdict {
        let (kernel, cx) = (self.kernel, self.kernel.cx);
        let refused = |span: Span, message: &str| Verdict::Refuse(vec![refusal(span, message)]);
        let Some(mut edits) = write::edits(self) else {
            return refused(kernel.directive_span(), "the statements cannot be written anew");
        };
        let mut names: Vec<String> = self.rows.iter().map(|row| format!("`{}`", row.load.array)).collect();
        names.dedup();
        let mut summary = format!(
            "each team loads rows of {} in parts of {} elements for {} x {} iterations, {} x {} of which are a thread's",
            names.join(" and "),
            self.part,
            TILE[0],
            TILE[1],
            OF_THREAD[0],
            OF_THREAD[1],
        );
        if !asked.is_empty() {
            let condition = asked.join(" && ");
            let comment =
                format!("Fewer or shorter rows are faster without memory of teams (estimate for {}).", device.title);
            match two_forms::of_region(cx, kernel.region, &edits, &condition, &comment) {
                Ok(both) => edits = vec![both],
                Err((span, message)) => return refused(span, message),
            }
            summary = format!("where {condition} {summary}");
        }
        Verdict::Change(Change { edits, summary, reasons: kernel.assumptions(), ..Change::default() })
    }
}

/// A row, or another place where a known one is loaded.
fn add(kernel: &Kernel<'_, '_>, rows: &mut Vec<Row>, row: Row) {
    let text = |load: &Load| load.places.first().map(|span| without_blanks(kernel, *span));
    match rows.iter_mut().find(|known| known.axis == row.axis && text(&known.load) == text(&row.load)) {
        Some(known) => known.load.places.extend(row.load.places),
        None => rows.push(row),
    }
}

/// Is the element told by the variable of one loop of the kernel, not by both?
fn told_by(kernel: &Kernel<'_, '_>, axis: usize, load: Load) -> Result<Load, (Span, String)> {
    let cx = kernel.cx;
    let other = kernel.loops().get(1 - axis).map(|own| own.variable.as_str());
    let mut names = load.places.iter().flat_map(|place| cx.names_in(*place));
    match names.find(|(name, _)| Some(name.as_str()) == other) {
        Some((name, at)) => Err((at, format!("`{name}` tells the element as well"))),
        None => Ok(load),
    }
}

/// A name in the bounds of the serial loop that means something else in other iterations.
fn bound_inside(kernel: &Kernel<'_, '_>, inner: &CanonicalLoop) -> Option<(String, Span)> {
    let cx = kernel.cx;
    let kernel_loops = kernel.loops().first().map_or(inner.span, |own| own.span);
    [inner.lower, inner.upper].into_iter().flat_map(|bound| cx.names_in(bound)).find(|(name, at)| {
        let found = cx.symbols().lookup(name, at.start).map(|found| found.id());
        cx.constant(*at).is_none() && found.is_none_or(|id| id.is_within(kernel_loops))
    })
}

/// The statements of the body in front of the loop.
fn statements_before(kernel: &Kernel<'_, '_>, inner: &CanonicalLoop) -> Vec<NodeId> {
    let tree = kernel.cx.tree;
    let before = kernel.statements().into_iter().take_while(|node| *node != inner.node);
    before.filter(|node| tree.kind(*node) != NodeKind::Comment).collect()
}
