//! How many teams combine their results, and how many iterations each takes at once, where no clause says so.

use super::clauses::Shared;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::syntax::{ClauseName, Directive, NodeId};
use crate::transforms::TEAM_THREADS;

/// How many iterations each thread of a team makes before the team goes on elsewhere. Teams that each have one part of all iterations read from as many
/// places of memory at once, and took up to 1.4 times as long; longer parts leave teams without work. Of several loops each iteration may be a tile of rows.
const ROUNDS: u64 = 4;
const ROUNDS_OF_NEST: u64 = 2;

/// Adds the clauses that are missing. Of `target teams` LLVM's runtime knows no iterations, and starts 3,200 teams.
pub(super) fn complete(
    cx: &Context<'_>,
    (directive, body): (&Directive, NodeId),
    device: &DeviceProfile,
    shared: &mut Shared,
) {
    let of = |name: ClauseName| directive.clauses_of(name).next();
    let limit = of(ClauseName::ThreadLimit);
    let threads = match limit {
        Some(clause) => {
            clause.expression().and_then(|span| cx.constant(span)).and_then(|limit| u32::try_from(limit).ok())
        }
        None => Some(TEAM_THREADS),
    };
    let Some(threads) = threads.filter(|threads| *threads > 0) else { return };
    let name = &device.name;
    if of(ClauseName::NumTeams).is_none() {
        let most = u64::from(device.sm_count) * u64::from((device.threads_per_sm / threads).max(1));
        let limit = if limit.is_none() { format!(" thread_limit({threads})") } else { String::new() };
        shared.of_teams.push(format!("num_teams({most}){limit} /* {name} */"));
    }
    let has_loop = cx.tree.descendants(body).any(|node| cx.tree.kind(node).is_loop());
    if of(ClauseName::DistSchedule).is_none() && !has_loop {
        let is_nest = of(ClauseName::Collapse).is_some();
        let rounds = if is_nest { ROUNDS_OF_NEST } else { ROUNDS };
        shared.of_loop.push(format!("dist_schedule(static, {}) /* {name} */", rounds * u64::from(threads)));
    }
}
