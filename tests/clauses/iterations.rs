//! How iterations are handed out.

use crate::case::{Becomes::Refused, Becomes::Text, Case, KERNEL, NEST, Place::Loop, Place::Region, case, with};

pub const CASES: &[Case] = &[
    with(
        NEST,
        "collapse",
        Loop,
        &["target", "parallel for collapse(2)", "parallel for"],
        Text(&["target teams distribute parallel for collapse(2)", KERNEL]),
    ),
    case("collapse", Loop, &["target", "parallel for collapse(2)", "parallel for"], Refused("OMPS114")),
    case("collapse", Region, &["target collapse(1)", "parallel for", "parallel for"], Refused("OMPS104")),
    case("schedule", Loop, &["target", "parallel for schedule(dynamic)", "parallel for"], Text(&[KERNEL, KERNEL])),
    // A schedule is for the threads of one team; where a league takes over, it falls away.
    case("schedule", Loop, &["target", "parallel for schedule(static, 1)", "parallel for"], Text(&[KERNEL, KERNEL])),
    case("schedule", Loop, &["target", "parallel for schedule(static, 16)", "parallel for"], Refused("OMPS110")),
    case("schedule", Loop, &["target parallel for schedule(guided, 4)"], Refused("OMPS110")),
    case("schedule", Loop, &["target", "parallel for schedule(runtime)"], Refused("OMPS110")),
    with(NEST, "schedule", Loop, &["target", "parallel for schedule(runtime)"], Text(&[KERNEL])),
    with(NEST, "schedule", Loop, &["target parallel for schedule(static, 16)"], Text(&[KERNEL])),
    case(
        "schedule",
        Loop,
        &["target teams", "distribute parallel for schedule(static, 16)", "distribute parallel for"],
        Text(&["target teams distribute parallel for schedule(static, 16)", KERNEL]),
    ),
    case(
        "schedule",
        Loop,
        &["target teams", "distribute parallel for schedule(static, pick())", "distribute parallel for"],
        Refused("OMPS122"),
    ),
    case("schedule", Region, &["target schedule(static)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "dist_schedule",
        Loop,
        &["target teams", "distribute parallel for dist_schedule(static, 64)", "distribute parallel for"],
        Text(&["target teams distribute parallel for dist_schedule(static, 64)", KERNEL]),
    ),
    // It says which iterations the one thread of each team runs.
    case("dist_schedule", Loop, &["target teams distribute dist_schedule(static)"], Text(&[KERNEL])),
    case("dist_schedule", Loop, &["target teams distribute dist_schedule(static, 1)"], Text(&[KERNEL])),
    case("dist_schedule", Loop, &["target teams", "distribute dist_schedule(static, 4)"], Refused("OMPS110")),
    with(NEST, "dist_schedule", Loop, &["target teams", "distribute dist_schedule(static, 4)"], Text(&[KERNEL])),
    case(
        "dist_schedule",
        Region,
        &["target teams dist_schedule(static)", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS104"),
    ),
    case(
        "order",
        Loop,
        &["target", "parallel for order(concurrent)", "parallel for"],
        Text(&["target teams distribute parallel for order(concurrent)", KERNEL]),
    ),
    // Independent iterations may be grouped in any way.
    case(
        "order",
        Loop,
        &["target", "parallel for order(concurrent) schedule(static, 16)", "parallel for"],
        Text(&["target teams distribute parallel for order(concurrent)", KERNEL]),
    ),
    case("order", Region, &["target order(concurrent)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "bind",
        Loop,
        &["target teams", "loop bind(teams)", "loop"],
        Text(&["target teams loop bind(teams)", "target teams loop"]),
    ),
    // The loop binds to the league from now on.
    case(
        "bind",
        Loop,
        &["target", "parallel loop bind(parallel)", "parallel loop"],
        Text(&["target teams loop", "target teams loop"]),
    ),
    case("bind", Loop, &["target teams", "loop bind(thread)", "loop"], Refused("OMPS105")),
    case("bind", Region, &["target bind(teams)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "safelen",
        Loop,
        &["target", "parallel for simd safelen(8)", "parallel for"],
        Text(&["target teams distribute parallel for simd safelen(8)", KERNEL]),
    ),
    case("safelen", Region, &["target safelen(8)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "simdlen",
        Loop,
        &["target teams", "distribute parallel for simd simdlen(4)", "distribute parallel for"],
        Text(&["target teams distribute parallel for simd simdlen(4)", KERNEL]),
    ),
    case("simdlen", Region, &["target simdlen(4)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "aligned",
        Loop,
        &["target", "parallel for simd aligned(a: 64)", "parallel for"],
        Text(&["target teams distribute parallel for simd aligned(a: 64)", KERNEL]),
    ),
    case("aligned", Region, &["target aligned(a: 64)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "nontemporal",
        Loop,
        &["target", "parallel for simd nontemporal(a)", "parallel for"],
        Text(&["target teams distribute parallel for simd nontemporal(a)", KERNEL]),
    ),
    case("nontemporal", Region, &["target nontemporal(a)", "parallel for", "parallel for"], Refused("OMPS104")),
    case("ordered", Loop, &["target", "parallel for ordered", "parallel for"], Refused("OMPS109")),
    case("ordered", Region, &["target ordered", "parallel for", "parallel for"], Refused("OMPS104")),
];
