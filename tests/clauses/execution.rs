//! Where and with how many threads the region runs, and when.

use crate::case::{Becomes::Refused, Becomes::Text, Case, KERNEL, NEST, Place::Loop, Place::Region, case, with};

pub const CASES: &[Case] = &[
    case("num_threads", Loop, &["target", "parallel for num_threads(4)", "parallel for"], Refused("OMPS110")),
    case(
        "num_threads",
        Loop,
        &["target teams", "distribute parallel for num_threads(k)", "distribute parallel for"],
        Text(&["target teams distribute parallel for num_threads(k)", KERNEL]),
    ),
    case(
        "num_threads",
        Loop,
        &["target teams", "distribute parallel for num_threads(pick())", "distribute parallel for"],
        Refused("OMPS122"),
    ),
    // A loop whose iterations are proved independent does not need the promise of one thread for each.
    with(
        NEST,
        "num_threads",
        Loop,
        &["target", "parallel for num_threads(4)", "parallel for"],
        Text(&[KERNEL, KERNEL]),
    ),
    with(NEST, "num_threads", Loop, &["target parallel for num_threads(k)"], Text(&[KERNEL])),
    with(NEST, "num_threads", Loop, &["target parallel for num_threads(pick())"], Refused("OMPS122")),
    // `target teams loop` does not take it, and needs no proof.
    case(
        "num_threads",
        Loop,
        &["target", "parallel loop num_threads(4)", "parallel loop"],
        Text(&["target teams loop", "target teams loop"]),
    ),
    case("num_threads", Region, &["target num_threads(4)", "parallel for", "parallel for"], Refused("OMPS104")),
    case(
        "num_teams",
        Region,
        &["target teams num_teams(8)", "distribute parallel for", "distribute parallel for"],
        Text(&[
            "target teams distribute parallel for num_teams(8)",
            "target teams distribute parallel for num_teams(8)",
        ]),
    ),
    case(
        "num_teams",
        Region,
        &["target teams num_teams(pick())", "distribute parallel for", "distribute parallel for"],
        Text(&[
            "const int region_num_teams = pick();",
            "target teams distribute parallel for num_teams(region_num_teams)",
            "target teams distribute parallel for num_teams(region_num_teams)",
        ]),
    ),
    case(
        "num_teams",
        Region,
        &["target teams num_teams(pick(): 8)", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS122"),
    ),
    // Few teams group the iterations of a `distribute` loop, and so its one thread's.
    case("num_teams", Loop, &["target teams distribute num_teams(8)"], Refused("OMPS110")),
    with(
        NEST,
        "num_teams",
        Loop,
        &["target", "teams distribute num_teams(k)"],
        Text(&["target teams distribute parallel for num_teams(k)"]),
    ),
    case(
        "num_teams",
        Loop,
        &["target teams", "distribute parallel for num_teams(8)", "distribute parallel for"],
        Refused("OMPS104"),
    ),
    case(
        "thread_limit",
        Region,
        &["target teams thread_limit(64)", "distribute parallel for", "distribute parallel for"],
        Text(&[
            "target teams distribute parallel for thread_limit(64)",
            "target teams distribute parallel for thread_limit(64)",
        ]),
    ),
    // Which of one team's threads runs an iteration is left open, unless there is one thread alone or a schedule says it.
    case(
        "thread_limit",
        Region,
        &["target thread_limit(64)", "parallel for", "parallel for"],
        Text(&[
            "target teams distribute parallel for thread_limit(64)",
            "target teams distribute parallel for thread_limit(64)",
        ]),
    ),
    case(
        "thread_limit",
        Region,
        &["target parallel for thread_limit(64)"],
        Text(&["target teams distribute parallel for thread_limit(64)"]),
    ),
    case("thread_limit", Region, &["target thread_limit(1)", "parallel for", "parallel for"], Refused("OMPS110")),
    case("thread_limit", Region, &["target parallel for thread_limit(1)"], Refused("OMPS110")),
    case("thread_limit", Region, &["target parallel for thread_limit(64) schedule(static)"], Refused("OMPS110")),
    // The teams of a `distribute` loop run one thread each, whatever their limit.
    case(
        "thread_limit",
        Loop,
        &["target", "teams distribute thread_limit(64)"],
        Text(&["target teams distribute parallel for thread_limit(64)"]),
    ),
    with(
        NEST,
        "thread_limit",
        Region,
        &["target parallel for thread_limit(64)"],
        Text(&["target teams distribute parallel for thread_limit(64)"]),
    ),
    case("thread_limit", Loop, &["target", "parallel for thread_limit(64)", "parallel for"], Refused("OMPS104")),
    case(
        "device",
        Region,
        &["target map(a[0:n]) device(k)", "parallel for", "parallel for"],
        Text(&[
            "target data map(a[0:n]) device(k)",
            "target teams distribute parallel for device(k) map(a[0:n])",
            "target teams distribute parallel for device(k) map(a[0:n])",
        ]),
    ),
    case(
        "device",
        Region,
        &["target map(a[0:n]) device(device_num: pick())", "parallel for", "parallel for"],
        Text(&[
            "const int region_device = pick();",
            "target data map(a[0:n]) device(region_device)",
            "target teams distribute parallel for device(region_device) map(a[0:n])",
            "target teams distribute parallel for device(region_device) map(a[0:n])",
        ]),
    ),
    case(
        "device",
        Region,
        &["target parallel for device(pick())"],
        Text(&["target teams distribute parallel for device(pick())"]),
    ),
    case("device", Region, &["target device(ancestor: 1)", "parallel for", "parallel for"], Refused("OMPS105")),
    case("device", Loop, &["target", "parallel for device(1)", "parallel for"], Refused("OMPS104")),
    case(
        "if",
        Region,
        &["target map(a[0:n]) if(n > 100)", "parallel for", "parallel for"],
        Text(&[
            "target data map(a[0:n]) if(n > 100)",
            "target teams distribute parallel for if(target: n > 100) map(a[0:n])",
            "target teams distribute parallel for if(target: n > 100) map(a[0:n])",
        ]),
    ),
    case(
        "if",
        Region,
        &["target parallel for if(target: n > 100)"],
        Text(&["target teams distribute parallel for if(target: n > 100)"]),
    ),
    // Without a modifier it is for `parallel` too, and may serialise the loop.
    case("if", Region, &["target parallel for if(n > 100)"], Refused("OMPS110")),
    case("if", Loop, &["target", "parallel for if(n > 100)", "parallel for"], Refused("OMPS110")),
    with(
        NEST,
        "if",
        Region,
        &["target parallel for if(n > 100)"],
        Text(&["target teams distribute parallel for if(target: n > 100)"]),
    ),
    with(NEST, "if", Loop, &["target", "parallel for if(n > 100)"], Text(&[KERNEL])),
    with(NEST, "if", Loop, &["target parallel for simd if(simd: n > 100)"], Refused("OMPS105")),
    case(
        "if",
        Loop,
        &["target teams", "distribute parallel for if(n > 100)", "distribute parallel for"],
        Text(&["target teams distribute parallel for if(parallel: n > 100)", KERNEL]),
    ),
    case(
        "if",
        Loop,
        &["target teams", "distribute parallel for simd if(simd: n > 100)", "distribute parallel for"],
        Refused("OMPS105"),
    ),
    case(
        "nowait",
        Region,
        &["target nowait", "parallel for", "parallel for"],
        Text(&["task firstprivate(a, b, k, n)", KERNEL, KERNEL]),
    ),
    case(
        "nowait",
        Region,
        &["target teams nowait", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS105"),
    ),
    case("nowait", Region, &["target parallel for nowait"], Text(&["target teams distribute parallel for nowait"])),
    // At the end of a region that is one loop nothing waits but the region's end.
    case("nowait", Loop, &["target", "parallel", "for nowait"], Text(&[KERNEL])),
    case(
        "depend",
        Region,
        &["target depend(inout: a[0:n])", "parallel for", "parallel for"],
        Text(&["task if(0) firstprivate(a, b, k, n) depend(inout: a[0:n])", KERNEL, KERNEL]),
    ),
    case(
        "depend",
        Region,
        &["target teams depend(inout: a[0:n])", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS105"),
    ),
    case(
        "depend",
        Region,
        &["target depend(inout: a[0:n])", "parallel for"],
        Text(&["target teams distribute parallel for depend(inout: a[0:n])"]),
    ),
    case("depend", Loop, &["target", "parallel for depend(inout: a[0:n])", "parallel for"], Refused("OMPS104")),
    case(
        "proc_bind",
        Loop,
        &["target", "parallel for proc_bind(close)", "parallel for"],
        Text(&["target teams distribute parallel for proc_bind(close)", KERNEL]),
    ),
    case("proc_bind", Loop, &["target", "parallel loop proc_bind(close)", "parallel loop"], Refused("OMPS105")),
    case("proc_bind", Region, &["target proc_bind(close)", "parallel for", "parallel for"], Refused("OMPS104")),
];
