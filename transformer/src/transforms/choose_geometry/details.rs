//! The facts that `explain` shows about the choice of a grid: the loop, and the launches that were compared.

use crate::analysis::transactions::Transactions;
use crate::device::occupancy::{bounded_blocks, percent};
use crate::device::{DeviceProfile, GridGeometry, KernelResources, KernelShape};
use crate::plan::Detail;
use crate::transforms::choose_geometry::grid::GeometryFigures;

pub(super) fn details(geometry: &GeometryFigures) -> Vec<Detail> {
    let GeometryFigures { device, shape, iterations, is_known, choice, .. } = geometry;
    let origin = if *is_known { "known" } else { "assumed" };
    let KernelShape { accesses, sectors, uncoalesced, inner_loop, .. } = shape;
    let serial = if *inner_loop { " in a serial loop" } else { "" };
    let mut details = vec![
        Detail::head(format!("grid for {}: {iterations} iterations ({origin})", device.title)),
        Detail::inner(format!(
            "{accesses:.0} accesses in each{serial}, {sectors:.1} sectors a warp and access, {uncoalesced} uncoalesced"
        )),
        Detail::inner(moved(geometry.transactions)),
    ];
    details.extend(geometry.counted.map(|counted| {
        let KernelResources { registers, shared_memory } = counted.resources;
        Detail::inner(format!(
            "{registers} registers, {} bytes of them spilled, and {shared_memory} bytes of shared memory, by clang and ptxas",
            counted.spills
        ))
    }));
    details.extend(choice.map(|choice| Detail::inner(format!("rule: {}", choice.class.words()))));
    details.extend(geometry.launches().into_iter().map(|(word, launch)| {
        let GridGeometry { num_teams, thread_limit } = launch.grid;
        let (blocks, limit) = bounded_blocks(device, geometry.resources(), thread_limit);
        let at_once = u64::from(blocks) * u64::from(device.sm_count);
        let resident = num_teams.div_ceil(u64::from(device.sm_count)).min(u64::from(blocks));
        let occupancy = percent(device, u32::try_from(resident).unwrap_or(u32::MAX).saturating_mul(thread_limit));
        Detail::inner(format!(
            "{word}: {num_teams} x {thread_limit}, of which {} teams get work; {occupancy:.0} % occupancy, at most {blocks} \
             blocks on an SM by its {}; waves: {}; {:.0} us",
            launch.working_teams(*iterations),
            limit.name(),
            num_teams.div_ceil(at_once.max(1)),
            geometry.time(launch),
        ))
    }));
    details
}

/// Of a loop that has no grid because addresses hang on data.
pub(super) fn without_grid(device: &DeviceProfile, transactions: Transactions) -> Vec<Detail> {
    vec![
        Detail::head(format!("no grid for {}: addresses of a warp hang on data", device.title)),
        Detail::inner(format!("{}, with 32 for each such access", moved(transactions))),
    ]
}

fn moved(Transactions { loaded, stored }: Transactions) -> String {
    format!("a warp loads {loaded:.0} sectors and stores {stored:.0} in one iteration")
}
