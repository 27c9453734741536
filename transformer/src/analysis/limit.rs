//! What a construct waits for that no pass makes faster: how long it is predicted to take as it stands, and what takes that time.
//!
//! The figure is that of the cost model, which knows no more of a body than its operators, subscripts, calls and loops. With a device
//! and a body that is followed it is the prediction for the grid that the construct has.

use crate::analysis::accesses::accesses;
use crate::analysis::associated_loops::{loops_of, trip_count};
use crate::analysis::body_work::body_work;
use crate::analysis::cost::{LoopWork, TEAM, TEAMS, all_threads, busiest_thread};
use crate::analysis::kernel_shape::kernel_shape;
use crate::device::launch::{Launch, WrittenGrid, llvm_launch};
use crate::device::time::{LAUNCH, predict};
use crate::device::{DeviceProfile, KernelResources};
use crate::plan::{Limit, LimitedBy};
use crate::region::loop_nest::CanonicalLoopNest;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::semantics::calls::is_pure;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Field, NodeId, NodeKind};

/// A kernel is assumed to have this many registers and no shared memory, as where a grid is chosen.
const ESTIMATE: KernelResources = KernelResources { registers: 32, shared_memory: 0 };

/// Asks what limits a region. `assumed`: the iterations of a loop of unknown length.
#[must_use]
pub fn limit(program: &Program<'_>, region: &TargetRegion, device: Option<&DeviceProfile>, assumed: u32) -> Limit {
    let id = region.chain.innermost();
    let nest = if region.chain.is_loop() { loops_of(program, id) } else { None };
    let trips = nest.iter().flat_map(|nest| &nest.loops).map(|one| trip_count(program, one));
    let known = trips.clone().all(|trips| trips.is_some());
    let is_known = known && (nest.is_some() || !region.chain.is_loop());
    let iterations = match (is_known, region.chain.is_loop()) {
        (true, _) => trips.flatten().product(),
        (false, _) => f64::from(assumed),
    };
    let body = nest.as_ref().map(|nest| nest.body).or(program.constructs.construct(id).body);
    let (operations, walks) = body.map_or((0.0, false), |body| body_work(program, body));
    let threads = threads(&region.chain.leaves);
    let work = LoopWork { iterations, operations, serial: false, walks, spread: 1.0 };
    let (thread, device_time) = (busiest_thread(&work, threads), all_threads(&work));
    let launch = written_grid(program, region).map(|grid| llvm_launch(rounded(iterations), grid));
    let on_device = device.zip(launch).zip(nest.as_ref());
    let predicted =
        on_device.and_then(|((device, launch), nest)| predicted(program, region, device, nest, (iterations, launch)));
    let kernel = predicted.unwrap_or(thread.max(device_time));
    let by = match () {
        () if kernel <= LAUNCH => LimitedBy::Launch,
        () if threads <= 1.0 => LimitedBy::OneThread,
        () if thread > device_time => LimitedBy::Thread,
        () => LimitedBy::Device,
    };
    Limit {
        by,
        launch: rounded(LAUNCH),
        kernel: rounded(kernel),
        grid: launch.map(|launch| launch.grid),
        iterations: rounded(iterations),
        is_known,
        on_device: predicted.is_some(),
        calls: body.is_some_and(|body| calls(program, body)),
    }
}

/// Does a body call functions but those of the C library that compute numbers? What they do is not counted.
fn calls(program: &Program<'_>, body: NodeId) -> bool {
    let tree = program.tree;
    tree.descendants(body).filter(|node| tree.kind(*node) == NodeKind::CallExpression).any(|call| {
        let callee = tree.child(call, Field::Function);
        callee.is_none_or(|callee| {
            tree.kind(callee) != NodeKind::PrimitiveType && !is_pure(&program.file.show(tree.span(callee)))
        })
    })
}

/// How many threads share the work of a construct with these leaves.
fn threads(leaves: &[Leaf]) -> f64 {
    let has = |leaf: Leaf| leaves.contains(&leaf);
    let team = if has(Leaf::Parallel) || has(Leaf::Loop) { TEAM } else { 1.0 };
    let shared = has(Leaf::Distribute) || has(Leaf::Loop);
    if has(Leaf::Teams) && shared { TEAMS * team } else { team }
}

/// A cast of a float saturates, and takes what is no number for zero.
fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// The clauses of a region.
fn clauses<'a>(program: &'a Program<'_>, region: &'a TargetRegion) -> impl Iterator<Item = &'a Clause> {
    region.chain.constructs.iter().flat_map(|id| &program.constructs.directive(*id).clauses)
}

/// The grid that the clauses of a loop of a league say, if they are numbers.
fn written_grid(program: &Program<'_>, region: &TargetRegion) -> Option<WrittenGrid> {
    if !region.is_league_loop() {
        return None;
    }
    let mut grid = WrittenGrid::default();
    for clause in clauses(program, region) {
        let number = || {
            let span = clause.expression().filter(|_| clause.modifiers.is_empty())?;
            program.constant(span).filter(|number| *number > 0)
        };
        match clause.name {
            ClauseName::NumTeams => grid.num_teams = Some(u64::try_from(number()?).ok()?),
            ClauseName::ThreadLimit | ClauseName::NumThreads => {
                let threads = u32::try_from(number()?).ok()?;
                grid.thread_limit = Some(grid.thread_limit.map_or(threads, |other| other.min(threads)));
            }
            _ => {}
        }
    }
    Some(grid)
}

/// The prediction for a launch of a loop on a device, if its body is followed.
fn predicted(
    program: &Program<'_>,
    region: &TargetRegion,
    device: &DeviceProfile,
    nest: &CanonicalLoopNest,
    (iterations, launch): (f64, Launch),
) -> Option<f64> {
    let is_other =
        |name: ClauseName| matches!(name, ClauseName::Reduction | ClauseName::Schedule | ClauseName::DistSchedule);
    if clauses(program, region).any(|clause| is_other(clause.name)) {
        return None;
    }
    let promised = nest.loops.len();
    let found = accesses(program.file, program.tree, program.symbols(), &nest.loops, promised, &[]);
    let shape = kernel_shape(program.tree, nest.body, &found, promised).filter(|shape| !shape.heavy)?;
    Some(predict(device, ESTIMATE, &shape, rounded(iterations), launch))
}
