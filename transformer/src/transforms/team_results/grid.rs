//! How many teams combine their results, and how many iterations each takes at once, where no clause says so.

use super::clauses::Shared;
use crate::analysis::associated_loops::known_iterations;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::syntax::{ClauseName, Directive};
use crate::transforms::TEAM_THREADS;
use crate::transforms::checks::heads;
use crate::transforms::checks::lengths::has_hosts_value;

/// How many iterations each thread of a team makes before the team goes on elsewhere. Teams that each have one part of all iterations read from as many
/// places of memory at once, and took up to 1.4 times as long; longer parts leave teams without work. Of several loops each iteration may be a tile of rows.
const ROUNDS: u64 = 4;
const ROUNDS_OF_NEST: u64 = 2;
/// A team goes on by as many iterations as all teams take at once: up to 65,536 times 2,048. With more iterations than this that may not fit 32 bits any more, in which
/// clang counts those of one loop, and the team would never come to an end.
const ROOM: u64 = 2_000_000_000;

/// How many iterations may teams take turns at?
pub(super) enum Turns {
    /// However many there are.
    Always,
    /// So many that this bound of the loop leaves room.
    Below(String),
}

impl Turns {
    /// `None` if there may be too many, and the host cannot ask.
    pub(super) fn of(cx: &Context<'_>, region: &TargetRegion, loops: &[CanonicalLoop]) -> Option<Self> {
        if let Some(known) = known_iterations(cx, region.chain.innermost()) {
            return (known < ROOM).then_some(Self::Always);
        }
        let bits = |own: &CanonicalLoop| {
            let ty = cx.integer_type(&own.variable, cx.tree.span(own.body).start)?;
            ty.integer().map(|integer| integer.bits)
        };
        match loops {
            [own] if bits(own) == Some(64) => Some(Self::Always),
            [own] => has_bound(cx, &region.chain.constructs, own).then(|| Self::Below(heads::bound(cx, own))),
            // Iterations of several loops of such types are counted in 64 bits, unless the flags promise that there are few.
            all => {
                let is_wide = all.iter().all(|own| bits(own).is_some_and(|bits| bits >= 32));
                (is_wide && !cx.pipeline.counts_nests_in_32_bits).then_some(Self::Always)
            }
        }
    }
}

/// Does the loop count up from a number to a bound that the host knows as the kernel does?
fn has_bound(cx: &Context<'_>, kernel: &[ConstructId], own: &CanonicalLoop) -> bool {
    let is_copied =
        |(name, at): (String, Span)| cx.constant(at).is_some() || has_hosts_value(cx, kernel, &name, at.start);
    let is_up = matches!(own.relation, Relation::Less | Relation::LessOrEqual) && !own.step.is_subtracted;
    let starts = cx.constant(own.lower).is_some_and(|lower| (0..=i64::from(i32::MAX)).contains(&lower));
    is_up && starts && cx.is_arithmetic(own.upper) && cx.names_in(own.upper).into_iter().all(is_copied)
}

/// Adds the clauses that are missing. Of `target teams` LLVM's runtime knows no iterations, and starts 3,200 teams.
pub(super) fn complete(
    cx: &Context<'_>,
    (directives, has_loop): (&[&Directive], bool),
    device: &DeviceProfile,
    turns: &Turns,
    shared: &mut Shared,
) {
    let of = |name: ClauseName| directives.iter().find_map(|directive| directive.clauses_of(name).next());
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
    let rounds = if of(ClauseName::Collapse).is_some() { ROUNDS_OF_NEST } else { ROUNDS };
    let part = rounds * u64::from(threads);
    let part = match turns {
        Turns::Always => part.to_string(),
        // One team that takes all iterations at once goes on nowhere.
        Turns::Below(bound) => {
            let condition = format!("{bound} < {ROOM}");
            if !shared.have_one_team_unless(&condition, of(ClauseName::NumTeams).is_some()) {
                return;
            }
            format!("{condition} ? {part} : {bound}")
        }
    };
    if of(ClauseName::DistSchedule).is_none() && !has_loop {
        shared.of_loop.push(format!("dist_schedule(static, {part}) /* {name} */"));
    }
}
