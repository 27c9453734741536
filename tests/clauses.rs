//! Where each clause goes when `split` makes combined constructs of a region's directives: a case for each row of the
//! table in `transformer/src/transforms/split_target/clause_rules.rs`, on the region's directives and on a loop's.
//!
//! A case gives directives, and the directives that come of them or the rule that refuses. Three directives are a region
//! with two loops, two are stacked on one loop, one is combined. The loops use pointers that need no map, so that only
//! the clause in question is seen.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::BTreeSet;

use ompsplit::engine::{self, Options};
use ompsplit::plan::Decision;
use ompsplit::source::SourceFile;

/// On which directives a clause stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// `target`, or `target teams`.
    Region,
    /// The loop's own.
    Loop,
}
use Place::{Loop, Region};

/// What comes of the directives.
#[derive(Clone, Copy, Debug)]
enum Becomes {
    /// These directives, and the declarations before them.
    Text(&'static [&'static str]),
    /// A refusal by this rule.
    Refused(&'static str),
}
use Becomes::{Refused, Text};

struct Case {
    clause: &'static str,
    place: Place,
    given: &'static [&'static str],
    /// The first loop.
    body: &'static str,
    becomes: Becomes,
}

const fn case(clause: &'static str, place: Place, given: &'static [&'static str], becomes: Becomes) -> Case {
    with(COPY, clause, place, given, becomes)
}

const fn with(
    body: &'static str,
    clause: &'static str,
    place: Place,
    given: &'static [&'static str],
    becomes: Becomes,
) -> Case {
    Case { clause, place, given, body, becomes }
}

const COPY: &str = "for (int i = 0; i < n; i++) a[i] = b[i] + k;";
const NEST: &str = "for (int i = 0; i < n; i++) for (int l = 0; l < 64; l++) c[i][l] = k;";
const SUM: &str = "for (int i = 0; i < n; i++) s += b[i];";
const LAST: &str = "for (int i = 0; i < n; i++) { m = i; a[i] = m; }";
const OUTSIDE: &str = "for (j = 0; j < n; j++) a[j] = k;";

const KERNEL: &str = "target teams distribute parallel for";

/// Data: what is mapped, and what a variable is in the region.
const DATA: &[Case] = &[
    case(
        "map",
        Region,
        &["target map(tofrom: a[0:n]) map(to: b[0:n])", "parallel for", "parallel for"],
        Text(&[
            "target data map(tofrom: a[0:n]) map(to: b[0:n])",
            "target teams distribute parallel for map(tofrom: a[0:n]) map(to: b[0:n])",
            "target teams distribute parallel for map(tofrom: a[0:n])",
        ]),
    ),
    case(
        "map",
        Region,
        &[
            "target teams map(always, tofrom: a[0:n]) map(present, to: b[:n])",
            "distribute parallel for",
            "distribute parallel for",
        ],
        Text(&[
            "target data map(always, tofrom: a[0:n]) map(present, to: b[:n])",
            "target teams distribute parallel for map(tofrom: a[0:n]) map(to: b[:n])",
            "target teams distribute parallel for map(tofrom: a[0:n])",
        ]),
    ),
    case(
        "map",
        Region,
        &["target parallel for map(always, tofrom: a[0:n])"],
        Text(&["target teams distribute parallel for map(always, tofrom: a[0:n])"]),
    ),
    case(
        "map",
        Region,
        &["target map(tofrom: a[0:pick()])", "parallel for", "parallel for"],
        Text(&[
            "const long long map_length = pick();",
            "target data map(tofrom: a[0:map_length])",
            "target teams distribute parallel for map(tofrom: a[0:map_length])",
            "target teams distribute parallel for map(tofrom: a[0:map_length])",
        ]),
    ),
    case("map", Region, &["target map(mapper(x), tofrom: a[0:n])", "parallel for", "parallel for"], Refused("OMPS105")),
    case("map", Loop, &["target", "parallel for map(to: k)", "parallel for"], Refused("OMPS104")),
    case(
        "is_device_ptr",
        Region,
        &["target is_device_ptr(b)", "parallel for", "parallel for"],
        Text(&["target teams distribute parallel for is_device_ptr(b)", KERNEL]),
    ),
    case(
        "is_device_ptr",
        Region,
        &["target parallel for is_device_ptr(a, b)"],
        Text(&["target teams distribute parallel for is_device_ptr(a, b)"]),
    ),
    case("is_device_ptr", Loop, &["target", "parallel for is_device_ptr(b)", "parallel for"], Refused("OMPS104")),
    case(
        "has_device_addr",
        Region,
        &["target teams has_device_addr(b)", "distribute parallel for", "distribute parallel for"],
        Text(&["target teams distribute parallel for has_device_addr(b)", KERNEL]),
    ),
    case("has_device_addr", Loop, &["target", "parallel for has_device_addr(b)", "parallel for"], Refused("OMPS104")),
    // It belongs on `target data`, whose pointers a region inside sees as they are; on `target` it is no clause.
    case("use_device_ptr", Region, &["target use_device_ptr(b)", "parallel for", "parallel for"], Refused("OMPS104")),
    case("use_device_ptr", Loop, &["target", "parallel for use_device_ptr(b)", "parallel for"], Refused("OMPS104")),
    case(
        "defaultmap",
        Region,
        &["target map(to: n, k) map(a[0:n], b[0:n]) defaultmap(none)", "parallel for", "parallel for"],
        Text(&[
            "target data map(to: n, k) map(a[0:n], b[0:n])",
            "target teams distribute parallel for map(to: n, k) map(a[0:n], b[0:n]) defaultmap(none)",
            "target teams distribute parallel for map(to: n) map(a[0:n]) defaultmap(none)",
        ]),
    ),
    case(
        "defaultmap",
        Region,
        &["target defaultmap(tofrom: scalar)", "parallel for", "parallel for"],
        Text(&[
            "target data map(tofrom: k, n)",
            "target teams distribute parallel for defaultmap(tofrom: scalar)",
            "target teams distribute parallel for defaultmap(tofrom: scalar)",
        ]),
    ),
    case(
        "defaultmap",
        Region,
        &["target defaultmap(firstprivate: scalar)", "parallel for", "parallel for"],
        Text(&[
            "target teams distribute parallel for defaultmap(firstprivate: scalar)",
            "target teams distribute parallel for defaultmap(firstprivate: scalar)",
        ]),
    ),
    case(
        "defaultmap",
        Region,
        &["target parallel for defaultmap(tofrom: scalar)"],
        Text(&["target teams distribute parallel for defaultmap(tofrom: scalar)"]),
    ),
    case(
        "defaultmap",
        Region,
        &["target defaultmap(alloc: aggregate)", "parallel for", "parallel for"],
        Refused("OMPS105"),
    ),
    case("defaultmap", Region, &["target defaultmap(to: pointer)", "parallel for", "parallel for"], Refused("OMPS105")),
    case("defaultmap", Loop, &["target", "parallel for defaultmap(none)", "parallel for"], Refused("OMPS104")),
    case("in_reduction", Region, &["target in_reduction(+: s)", "parallel for", "parallel for"], Refused("OMPS105")),
    case("in_reduction", Loop, &["target", "parallel for in_reduction(+: s)", "parallel for"], Refused("OMPS104")),
    case("allocate", Region, &["target private(m) allocate(m)", "parallel for", "parallel for"], Refused("OMPS105")),
    case("allocate", Loop, &["target", "parallel for private(m) allocate(m)", "parallel for"], Refused("OMPS105")),
    case(
        "uses_allocators",
        Region,
        &["target uses_allocators(omp_default_mem_alloc)", "parallel for", "parallel for"],
        Refused("OMPS105"),
    ),
    case(
        "uses_allocators",
        Loop,
        &["target", "parallel for uses_allocators(omp_default_mem_alloc)", "parallel for"],
        Refused("OMPS104"),
    ),
];

/// Data-sharing attributes.
const SHARING: &[Case] = &[
    // One object for the whole region, which the loops share: the output declares it there.
    with(
        LAST,
        "private",
        Region,
        &["target private(m)", "parallel for", "parallel for"],
        Text(&["target teams distribute parallel for map(tofrom: m)", KERNEL]),
    ),
    with(
        LAST,
        "private",
        Region,
        &["target teams private(m)", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS121"),
    ),
    // Each loop has its own: the region's is never used.
    with(
        LAST,
        "private",
        Region,
        &["target teams private(m)", "distribute parallel for private(m)", "distribute parallel for"],
        Text(&["target teams distribute parallel for private(m)", KERNEL]),
    ),
    with(
        LAST,
        "private",
        Loop,
        &["target", "parallel for private(m)", "parallel for"],
        Text(&["target teams distribute parallel for private(m)", KERNEL]),
    ),
    with(
        LAST,
        "private",
        Loop,
        &["target parallel for private(m)"],
        Text(&["target teams distribute parallel for private(m)"]),
    ),
    case(
        "firstprivate",
        Region,
        &["target firstprivate(n, k)", "parallel for", "parallel for"],
        Text(&[
            "target teams distribute parallel for firstprivate(n, k)",
            "target teams distribute parallel for firstprivate(n)",
        ]),
    ),
    with(LAST, "firstprivate", Region, &["target firstprivate(m)", "parallel for", "parallel for"], Refused("OMPS106")),
    with(
        LAST,
        "firstprivate",
        Loop,
        &["target", "parallel for firstprivate(m)", "parallel for"],
        Text(&["target teams distribute parallel for firstprivate(m)", KERNEL]),
    ),
    case(
        "firstprivate",
        Loop,
        &["target map(tofrom: k)", "parallel for firstprivate(k)", "parallel for"],
        Refused("OMPS121"),
    ),
    case(
        "shared",
        Region,
        &["target teams shared(a, k)", "distribute parallel for", "distribute parallel for"],
        Text(&["target teams distribute parallel for shared(a, k)", "target teams distribute parallel for shared(a)"]),
    ),
    // What a loop makes its own is not shared on its kernel.
    case(
        "shared",
        Region,
        &["target teams shared(k)", "distribute parallel for firstprivate(k)", "distribute parallel for"],
        Text(&["target teams distribute parallel for firstprivate(k)", KERNEL]),
    ),
    case(
        "shared",
        Loop,
        &["target", "parallel for shared(a, k)", "parallel for"],
        Text(&["target teams distribute parallel for shared(a, k)", KERNEL]),
    ),
    // The threads share the region's copy.
    with(
        LAST,
        "shared",
        Loop,
        &["target", "parallel for shared(m)", "parallel for"],
        Text(&["const int m_before = m;", "target teams distribute parallel for map(tofrom: m) shared(m)", KERNEL]),
    ),
    with(LAST, "shared", Loop, &["target", "parallel for shared(m)"], Refused("OMPS106")),
    case(
        "default",
        Region,
        &["target teams default(shared)", "distribute parallel for", "distribute parallel for"],
        Text(&[KERNEL, KERNEL]),
    ),
    case(
        "default",
        Region,
        &[
            "target teams default(none) shared(a, b) firstprivate(n, k)",
            "distribute parallel for",
            "distribute parallel for",
        ],
        Text(&[
            "target teams distribute parallel for shared(a, b) firstprivate(n, k) default(none)",
            "target teams distribute parallel for shared(a) firstprivate(n) default(none)",
        ]),
    ),
    case(
        "default",
        Region,
        &["target teams default(firstprivate)", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS105"),
    ),
    case(
        "default",
        Region,
        &["target teams default(private)", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS105"),
    ),
    case("default", Loop, &["target", "parallel for default(shared)", "parallel for"], Text(&[KERNEL, KERNEL])),
    case(
        "default",
        Loop,
        &["target", "parallel for default(none) shared(a, b, n) firstprivate(k)", "parallel for"],
        Text(&["target teams distribute parallel for default(none) shared(a, b, n) firstprivate(k)", KERNEL]),
    ),
    case(
        "default",
        Loop,
        &["target", "parallel for default(firstprivate)", "parallel for"],
        Text(&["target teams distribute parallel for default(firstprivate)", KERNEL]),
    ),
    case(
        "default",
        Loop,
        &["target map(tofrom: a[0:n])", "parallel for default(firstprivate)", "parallel for"],
        Refused("OMPS121"),
    ),
    case("default", Loop, &["target", "parallel for default(private)", "parallel for"], Refused("OMPS105")),
    // The result is lost in the original, and stays lost in the region's copy; a single loop has no region to put it in.
    with(
        SUM,
        "reduction",
        Loop,
        &["target", "parallel for reduction(+: s)", "parallel for"],
        Text(&[
            "const double s_before = s;",
            "target teams distribute parallel for map(tofrom: s) reduction(+: s)",
            KERNEL,
        ]),
    ),
    with(SUM, "reduction", Loop, &["target", "parallel for reduction(+: s)"], Refused("OMPS120")),
    with(
        SUM,
        "reduction",
        Loop,
        &["target map(tofrom: s)", "parallel for reduction(+: s)", "parallel for"],
        Text(&[
            "target data map(tofrom: s)",
            "target teams distribute parallel for map(tofrom: s) reduction(+: s)",
            KERNEL,
        ]),
    ),
    // On the combined directive it maps its item.
    with(
        SUM,
        "reduction",
        Loop,
        &["target parallel for reduction(+: s)"],
        Text(&["target teams distribute parallel for map(tofrom: s) reduction(+: s)"]),
    ),
    with(
        SUM,
        "reduction",
        Loop,
        &["target map(tofrom: s)", "parallel for reduction(task, +: s)", "parallel for"],
        Refused("OMPS120"),
    ),
    with(
        SUM,
        "reduction",
        Loop,
        &["target map(tofrom: s)", "parallel for reduction(merge: s)", "parallel for"],
        Refused("OMPS120"),
    ),
    case("reduction", Loop, &["target", "parallel for reduction(+: a[0:4])", "parallel for"], Refused("OMPS120")),
    with(
        SUM,
        "reduction",
        Region,
        &["target teams reduction(+: s)", "distribute parallel for reduction(+: s)", "distribute parallel for"],
        Text(&[
            "target data map(tofrom: s)",
            "target teams distribute parallel for map(tofrom: s) reduction(+: s)",
            KERNEL,
        ]),
    ),
    with(
        SUM,
        "reduction",
        Region,
        &["target teams reduction(+: s)", "distribute parallel for", "distribute parallel for"],
        Refused("OMPS120"),
    ),
    with(
        LAST,
        "lastprivate",
        Loop,
        &["target map(tofrom: m)", "parallel for lastprivate(m)", "parallel for"],
        Refused("OMPS131"),
    ),
    with(
        LAST,
        "lastprivate",
        Loop,
        &["target map(tofrom: m)", "parallel for lastprivate(conditional: m)", "parallel for"],
        Refused("OMPS131"),
    ),
    with(
        LAST,
        "lastprivate",
        Loop,
        &["target map(tofrom: m)", "parallel for firstprivate(m) lastprivate(m)", "parallel for"],
        Refused("OMPS121"),
    ),
    with(LAST, "lastprivate", Region, &["target lastprivate(m)", "parallel for", "parallel for"], Refused("OMPS104")),
    with(OUTSIDE, "linear", Loop, &["target parallel for simd linear(j)"], Refused("OMPS105")),
    with(
        OUTSIDE,
        "linear",
        Loop,
        &["target", "parallel for simd linear(j)", "parallel for"],
        Text(&["target teams distribute parallel for simd", KERNEL]),
    ),
    with(LAST, "linear", Loop, &["target", "parallel for simd linear(m: 1)", "parallel for"], Refused("OMPS121")),
    case("linear", Region, &["target linear(k: 0)", "parallel for", "parallel for"], Refused("OMPS104")),
];

/// How iterations are handed out.
const ITERATIONS: &[Case] = &[
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

/// Where and with how many threads the region runs, and when.
const EXECUTION: &[Case] = &[
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
    // `target teams loop` does not take it.
    case("num_threads", Loop, &["target", "parallel loop num_threads(4)", "parallel loop"], Refused("OMPS105")),
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
    case("thread_limit", Region, &["target thread_limit(64)", "parallel for", "parallel for"], Refused("OMPS110")),
    case("thread_limit", Region, &["target parallel for thread_limit(64)"], Refused("OMPS110")),
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

/// Every clause that meets a target region: each has a case.
const CLAUSES: &[&str] = &[
    "map",
    "private",
    "firstprivate",
    "shared",
    "default",
    "defaultmap",
    "reduction",
    "in_reduction",
    "lastprivate",
    "linear",
    "collapse",
    "schedule",
    "dist_schedule",
    "order",
    "bind",
    "safelen",
    "simdlen",
    "aligned",
    "nontemporal",
    "num_threads",
    "num_teams",
    "thread_limit",
    "device",
    "if",
    "is_device_ptr",
    "has_device_addr",
    "use_device_ptr",
    "allocate",
    "uses_allocators",
    "nowait",
    "depend",
    "proc_bind",
];

fn cases() -> impl Iterator<Item = &'static Case> {
    [DATA, SHARING, ITERATIONS, EXECUTION].into_iter().flatten()
}

/// The program of a case.
fn program(case: &Case) -> String {
    let mut text = String::from("int pick(void);\n");
    text.push_str("void f(int n, int k, double s, double *a, double *b, double (*c)[64]) {\n  int m = 0, j = 0;\n");
    let (outer, rest, second) = match case.given {
        // `parallel` with `for` on its own below it is one loop as well.
        [outer, first, second] if !second.starts_with("for") => (outer, vec![*first], Some(second)),
        [outer, rest @ ..] => (outer, rest.to_vec(), None),
        [] => panic!("a case without directives"),
    };
    text.push_str(&format!("  #pragma omp {outer}\n"));
    if second.is_some() {
        text.push_str("  {\n");
    }
    for directive in rest {
        text.push_str(&format!("  #pragma omp {directive}\n"));
    }
    text.push_str(&format!("  {}\n", case.body));
    if let Some(second) = second {
        text.push_str(&format!("  #pragma omp {second}\n  for (int i = 0; i < n; i++) a[i] += 1.0;\n  }}\n"));
    }
    text.push_str("}\n");
    text
}

/// The directives of a text without `#pragma omp`, and the constants before them, each on one line.
fn directives(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let taken = lines.filter_map(|line| match line.strip_prefix("#pragma omp ") {
        Some(directive) => Some(directive.to_owned()),
        None => line.starts_with("const ").then_some(line),
    });
    taken.collect()
}

/// A directive without the `thread_limit` that a kernel gets where the original chooses no grid; none if it lacks it there,
/// or has it elsewhere.
fn without_default_grid(case: &Case, line: &str) -> Option<String> {
    let chooses = |directive: &&str| directive.contains("num_teams") || directive.contains("thread_limit");
    let wanted = line.starts_with("target teams") && !case.given.iter().any(chooses);
    let parts: Vec<&str> = line.split(" thread_limit(128)").collect();
    (parts.len() == 1 + usize::from(wanted)).then(|| parts.concat())
}

/// What the tool makes of a case, if it is not what the case says.
fn difference(case: &Case) -> Option<String> {
    let text = program(case);
    let file = SourceFile::new("case.c", text.clone().into_bytes());
    let options = Options { passes: vec!["split"], assumed_iterations: 1 << 30, ..Options::default() };
    let outcome = engine::run(&file, &[], &options).unwrap();
    let reasons = outcome.plans.iter().flat_map(|plan| &plan.reasons);
    let ids: BTreeSet<&str> = reasons.map(|reason| reason.code.id()).collect();
    let refused = outcome.plans.iter().any(|plan| plan.decision == Decision::Refuse);
    let got = outcome.text.map(|text| directives(&String::from_utf8(text).unwrap()));
    let right = match (&got, case.becomes) {
        (Some(got), Text(expected)) => {
            got.iter().map(|line| without_default_grid(case, line)).collect::<Option<Vec<_>>>().as_deref()
                == Some(&expected.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
        }
        (None, Refused(id)) => refused && ids.contains(id),
        _ => false,
    };
    (!right).then(|| format!("{} on {:?}: {:?}\n  got {got:#?} {ids:?}", case.clause, case.place, case.given))
}

#[test]
fn every_clause_goes_where_its_case_says() {
    let wrong: Vec<String> = cases().filter_map(difference).collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases().count(), wrong.join("\n"));
}

#[test]
fn every_case_holds_its_clause() {
    for case in cases() {
        let holds = |directive: &&str| directive.split([' ', '(']).any(|word| word == case.clause);
        assert!(case.given.iter().any(holds), "{} is not in {:?}", case.clause, case.given);
    }
}

#[test]
fn every_clause_has_a_case() {
    let covered: BTreeSet<&str> = cases().map(|case| case.clause).collect();
    let missing: Vec<_> = CLAUSES.iter().filter(|clause| !covered.contains(**clause)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `IsDevicePtr` as `is_device_ptr`.
fn spelling(variant: &str) -> String {
    let mut text = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// The rows of the table: clause, rule on the region's directives, rule on a loop's.
fn rows() -> Vec<(String, [(Place, String); 2])> {
    let source = include_str!("../transformer/src/transforms/split_target/clause_rules.rs");
    let rows = source.lines().filter_map(|line| line.trim().strip_prefix("row(ClauseName::")?.strip_suffix("),"));
    let rows = rows.map(|row| {
        let parts: Vec<&str> = row.split(", ").map(|part| part.trim_start_matches("Rule::")).collect();
        let [clause, region, own] = parts[..] else { panic!("{row}") };
        (spelling(clause), [(Region, region.to_owned()), (Loop, own.to_owned())])
    });
    rows.collect()
}

#[test]
fn every_row_of_the_table_has_cases_that_show_its_rules() {
    let rows = rows();
    assert!(rows.len() > 25, "only {} rows were found", rows.len());
    let mut missing = Vec::new();
    for (clause, rules) in &rows {
        for (place, rule) in rules {
            let mut own = cases().filter(|case| case.clause == *clause && case.place == *place);
            let shown = own.any(|case| match case.becomes {
                Refused(_) => rule == "Refused",
                Text(_) => rule != "Refused",
            });
            if !shown {
                missing.push(format!("{clause} on {place:?}: {rule}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A clause that depends on the form must be shown in more than one.
#[test]
fn rules_with_exceptions_show_them() {
    for (clause, rules) in rows() {
        for (place, rule) in rules.iter().filter(|(_, rule)| rule == "Groups" || rule == "OnTask") {
            let own: Vec<&Case> = cases().filter(|case| case.clause == clause && case.place == *place).collect();
            let refuses = own.iter().any(|case| matches!(case.becomes, Refused(_)));
            let writes = own.iter().any(|case| matches!(case.becomes, Text(_)));
            assert!(refuses && writes, "{clause} on {place:?}: {rule}");
        }
    }
}
