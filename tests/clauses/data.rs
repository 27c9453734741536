//! Data: what is mapped, and what a variable is in the region.

use crate::case::{Becomes::Refused, Becomes::Text, Case, KERNEL, Place::Loop, Place::Region, case};

pub const CASES: &[Case] = &[
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
        Text(&[
            "target teams distribute parallel for defaultmap(alloc: aggregate)",
            "target teams distribute parallel for defaultmap(alloc: aggregate)",
        ]),
    ),
    case(
        "defaultmap",
        Region,
        &["target defaultmap(firstprivate: aggregate)", "parallel for", "parallel for"],
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
