//! Data-sharing attributes.

use crate::case::{
    Becomes::Refused, Becomes::Text, CARRIED, Case, KERNEL, LAST, OUTSIDE, Place::Loop, Place::Region, SUM, case, with,
};

pub const CASES: &[Case] = &[
    // One object for the whole region, which the loops share: each thread gets its own where each iteration sets it, or the
    // output declares it there.
    with(
        LAST,
        "private",
        Region,
        &["target private(m)", "parallel for", "parallel for"],
        Text(&["target teams distribute parallel for private(m)", KERNEL]),
    ),
    with(
        CARRIED,
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
        Text(&["target teams distribute parallel for private(m)", KERNEL]),
    ),
    with(
        CARRIED,
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
