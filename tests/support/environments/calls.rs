//! How `main` calls a function: with data that are absent, that its caller has on the device, with arrays that overlap, without a step.

use std::fmt::Write as _;

use super::MARK;
use crate::support::generator::rng::Rng;

/// The calls of one function, as statements; `F` stands for its name.
#[derive(Clone, Debug, Default)]
pub struct Calls(Vec<String>);

/// What may be handed to a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Takes {
    /// May its parameters overlap?
    pub overlaps: bool,
    /// May its caller have the data on the device?
    pub present: bool,
    /// May they be null where it has no step?
    pub null: bool,
}

const APART: &str = "a, a + N, a + 2 * N";

impl Calls {
    pub(super) fn new(rng: &mut Rng, takes: Takes) -> Self {
        let ways = [(40, 3), (30, 0), (96, 1), (33, 2), (40, 4)];
        let mut calls: Vec<String> = ways.iter().map(|(n, steps)| format!("F({n}, {steps}, {APART});")).collect();
        if takes.null {
            calls.push("F(40, 0, NULL, NULL, NULL);".to_owned());
        }
        if takes.overlaps {
            calls.push("F(40, 1, a, a + 20, a + 2 * N);".to_owned());
            calls.push(format!("F(40, 3, a + {}, a, a + 2 * N);", rng.pick(&[10, 39, 40, 41])));
        }
        if takes.present {
            let (steps, others) = (rng.range(1, 4), rng.below(4));
            calls.push(around(rng, steps, 5));
            calls.push(around(rng, others, 6));
            calls.push(around(rng, 2, 5));
        }
        Self(calls)
    }

    pub(super) fn text(&self, index: usize) -> String {
        let mut out = format!("    if (argc < 2 || atoi(argv[1]) == {index}) {{\n");
        for (place, call) in self.0.iter().enumerate() {
            let call = call.replace("F(", &format!("f{index}("));
            let _ = writeln!(out, "    fill(a, {place});");
            let _ = writeln!(out, "    fprintf(stderr, \"{MARK}{place} of f{index}\\n\");");
            for line in call.lines() {
                let _ = writeln!(out, "    {line}");
            }
            let _ = writeln!(out, "    show({index}, a);");
        }
        out.push_str("    }\n");
        out
    }
}

/// A call within the caller's own environment. What the device has and the host has not seen stays so.
fn around(rng: &mut Rng, steps: usize, kinds: usize) -> String {
    let call = format!("F(40, {steps}, {APART});");
    let change = rng.pick(&["", "a[7] = 30;", "a[N + 3] = 12;"]);
    let shown = rng.pick(&["", "printf(\"%g %g\\n\", (double)a[7], (double)a[N + 3]);"]);
    let update = rng.pick(&["", "#pragma omp target update from(a)", "#pragma omp target update to(a)"]);
    let again = if rng.chance(40) { call.as_str() } else { "" };
    // What the device has is not what the host has.
    let stale = rng.pick(&["", "for (int i = 0; i < 3 * N; i++)\n        a[i] = 2 * a[i] + 7;"]);
    let inside: Vec<String> = [stale, call.as_str(), change, shown, update, again]
        .iter()
        .map(|line| line.to_string())
        .filter(|l| !l.is_empty())
        .collect();
    let block = |directive: &str, first: &str| {
        let lines: String = inside.iter().map(|line| format!("    {line}\n")).collect();
        format!("{directive}\n{{\n{first}{lines}}}")
    };
    match rng.below(kinds) {
        0 | 1 => block("#pragma omp target data map(tofrom: a)", ""),
        2 => block("#pragma omp target data map(to: a)", ""),
        3 => block("#pragma omp target data map(alloc: a)", "    #pragma omp target update to(a)\n"),
        4 => {
            let end = rng.pick(&["from", "release", "delete"]);
            format!(
                "#pragma omp target enter data map(to: a)\n{}\n#pragma omp target exit data map({end}: a)",
                inside.join("\n")
            )
        }
        // One of the arrays alone is there.
        _ => block("#pragma omp target data map(tofrom: a[0:N])", ""),
    }
}
