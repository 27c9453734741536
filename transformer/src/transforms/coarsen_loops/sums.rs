//! Loops that combine elements of arrays by `reduction`, and do nothing else: a thread that makes neighbouring iterations has as many loads under
//! way at once.
//!
//! A `reduction` lets each thread combine what it likes, in the order of its own iterations, and which iterations are its own no clause says: so
//! may be those of a group. On an H200 a kernel of 50 million `float` took 240 us for a sum and 75 in groups, of `double` 235 and 110, a product of
//! two arrays of `double` 280 and 205, of `float` 205 and 95. Kernels of 500,000 elements took as long as before.

use super::groups::{Axis, elements};
use super::{Kernel, refusal, write};
use crate::analysis::accesses::Access;
use crate::analysis::coalescing::{Pattern, pattern};
use crate::analysis::iteration_work::{different, operations};
use crate::device::DeviceProfile;
use crate::plan::{Change, Reason, ReasonCode, Verdict};
use crate::semantics::symbols::DeclaredType;
use crate::syntax::ClauseName;

/// Iterations of a group.
const FACTOR: u32 = 4;
/// Of more bytes than a thread loads in an iteration, enough are under way without groups.
const MOST_BYTES: i64 = 16;
/// More operations in an iteration than these take longer than its loads.
const MOST_OPERATIONS: f64 = 32.0;
/// A loop of known length must have this many groups: what is left over is made by one thread.
const LEAST_GROUPS: i128 = 16;

/// What becomes of a kernel that combines values; nothing where it does not.
pub(super) fn decide(kernel: &Kernel<'_, '_>, device: &DeviceProfile) -> Option<Verdict> {
    let clauses = kernel.region.chain.constructs.iter().flat_map(|id| &kernel.cx.constructs.directive(*id).clauses);
    let mut clauses = clauses.filter(|clause| clause.name == ClauseName::Reduction);
    clauses.next()?;
    let depth = kernel.loops().len();
    if kernel.found.loops.len() > depth {
        return None;
    }
    let directive = kernel.cx.constructs.directive(kernel.candidate.id).span;
    if let Some(message) = unpaid(kernel, device) {
        return Some(Verdict::DoesNotPay(vec![Reason::new(ReasonCode::GroupsDoNotPay, directive, message)]));
    }
    Some(match change(kernel) {
        Ok(change) => Verdict::Change(change),
        Err(reason) => Verdict::Refuse(vec![reason]),
    })
}

/// Why groups would gain nothing.
fn unpaid(kernel: &Kernel<'_, '_>, device: &DeviceProfile) -> Option<String> {
    let (found, depth) = (&kernel.found, kernel.loops().len());
    let lane = found.loops.get(depth.checked_sub(1)?)?;
    let accesses = different(found, depth);
    let is_kept_back = |access: &Access| access.writes || !access.guards.rows.is_empty() || !access.guards.is_whole;
    if accesses.iter().any(|(access, _)| is_kept_back(access)) {
        return Some("stores and conditions keep loads from being under way at once".to_owned());
    }
    let mut bytes = 0;
    for (access, _) in &accesses {
        let size = access.element.as_ref().and_then(DeclaredType::bytes).unwrap_or(8);
        match pattern(access, lane.atom, &found.opaque) {
            Pattern::Uniform => {}
            Pattern::Near(apart) if i64::from(apart) == size => bytes += size,
            _ => return Some("neighbouring threads load elements that do not lie side by side".to_owned()),
        }
    }
    let nest = &kernel.candidate.nest.loops;
    let operations = operations(kernel.cx.tree, found, depth, nest.body);
    if bytes == 0 || bytes > MOST_BYTES || operations > MOST_OPERATIONS {
        return Some(format!("an iteration loads {bytes} bytes for {operations:.0} operations, which groups do not speed up"));
    }
    let trips: Option<i128> = found.loops.iter().take(depth).map(|one| one.trips).product();
    let least = i128::from(FACTOR) * i128::from(device.threads_per_sm) * i128::from(device.sm_count);
    let is_short = lane.trips.is_some_and(|trips| trips < LEAST_GROUPS * i128::from(FACTOR));
    (is_short || trips.is_some_and(|trips| trips < least)).then(|| "the loop is too short for groups".to_owned())
}

fn change(kernel: &Kernel<'_, '_>) -> Result<Change, Reason> {
    let (cx, found) = (kernel.cx, &kernel.found);
    let directive = cx.constructs.directive(kernel.candidate.id).span;
    let reductions = &kernel.candidate.clauses.reductions;
    if let Some(trouble) = found.troubles.first() {
        return Err(refusal(trouble.span, trouble.message.clone()));
    }
    if let Some(used) = found.scalars.iter().find(|used| used.writes && !reductions.contains_key(&used.key)) {
        return Err(refusal(used.span, format!("`{}` is no variable of one iteration alone, and no sum", used.name)));
    }
    if let Some(reason) = kernel.refused(true) {
        return Err(reason);
    }
    let last = kernel.loops().len().saturating_sub(1);
    let copies = kernel.grouped(&[last])?;
    let axes = [Axis { index: last, factor: FACTOR, apart: 1 }];
    let edits =
        write::edits(kernel, &axes, &copies).ok_or_else(|| refusal(directive, "the statements cannot be written anew"))?;
    let variable = kernel.loops().get(last).map_or("", |own| own.variable.as_str());
    let count = elements(&axes);
    let summary = format!("each thread makes {count} neighbouring iterations of `{variable}`, whose loads are under way at once");
    Ok(Change { edits, summary, reasons: kernel.assumptions(), ..Change::default() })
}
