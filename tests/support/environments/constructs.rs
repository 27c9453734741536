//! The families of constructs: which run, what they map, by which clauses, and what stands beside them.

use super::Function;
use super::body::{Body, Host};
use super::calls::{Calls, Takes};
use super::families::own;
use super::frame::{ALL, Frame, OWN, PARAMETERS, finished, steps};
use super::kernels::{Clauses, Sections};
use crate::support::generator::rng::Rng;
/// Without a step nothing may be evaluated of what is null then.
pub(super) fn no_step(rng: &mut Rng, index: usize) -> Function {
    const NOTHING: Frame = Frame { declared: "", summed: &[], end: "" };
    let mut body = Body::new(rng, &["p", "q", "r"]);
    body.host = Host { numbers: 15, calls: 15, ..Host::default() };
    let mut text = String::new();
    for place in 0..body.rng.range(1, 2) {
        let inside = body.kernels(2, 1) + &body.block(2, 1, 2);
        text.push_str(&match body.rng.below(4) {
            0 => {
                format!("    int c{place} = 0;\n    while (c{place} < steps) {{\n{inside}        c{place}++;\n    }}\n")
            }
            1 => format!("    if (steps > 0) {{\n        for (int t = 0; t < 2; t++) {{\n{inside}        }}\n    }}\n"),
            2 => format!("    for (int t = steps; t > 0; t--) {{\n{inside}    }}\n"),
            _ => format!("    for (int t = 0; t < steps; t++) {{\n{inside}    }}\n"),
        });
    }
    finished(rng, &NOTHING, Takes { null: true, ..ALL }, index, &text)
}

pub(super) fn with_sections(rng: &mut Rng, index: usize, sections: Sections) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.sections = sections;
    body.accessed.truncate(2);
    body.host = Host { numbers: 10, elements: 4, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

pub(super) fn halos(rng: &mut Rng, index: usize) -> Function {
    with_sections(rng, index, Sections::Halos)
}

pub(super) fn later(rng: &mut Rng, index: usize) -> Function {
    with_sections(rng, index, Sections::Later)
}

/// `target data` around, or within; `target enter data` before, of which the count stays above zero or not; own updates.
pub(super) fn own_environments(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.host = Host { numbers: 5, updates: 6, present: 10, elements: 4, branches: 5, ..Host::default() };
    let held = body.array();
    let kind = body.rng.pick(&["tofrom", "to"]);
    let inner = steps(&mut body);
    let text = match body.rng.below(3) {
        0 => format!("    #pragma omp target data map({kind}: {held}[0:n])\n    {{\n{inner}    }}\n"),
        1 => {
            let end = body.rng.pick(&["from", "release", "delete", "from"]);
            let twice = body.rng.chance(30);
            let enter = format!("    #pragma omp target enter data map(to: {held}[0:n])\n");
            let exit = format!("    #pragma omp target exit data map({end}: {held}[0:n])\n");
            let (again, before) = if twice {
                (
                    enter.as_str(),
                    format!("    #pragma omp target exit data map(from: {held}[0:n])\n    sum += {held}[1];\n"),
                )
            } else {
                ("", String::new())
            };
            format!("{enter}{again}    sum += 1;\n{inner}{before}{exit}")
        }
        _ => inner,
    };
    let count = body.rng.range(2, 3);
    let text = text + &body.kernels(1, count);
    finished(rng, &OWN, ALL, index, &text)
}

pub(super) fn with_clauses(rng: &mut Rng, index: usize, clauses: Clauses) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.clauses = clauses;
    body.accessed.truncate(2);
    body.host = Host { numbers: 10, elements: 4, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

pub(super) fn thrown_away(rng: &mut Rng, index: usize) -> Function {
    with_clauses(rng, index, Clauses { kinds: 1, ..Clauses::default() })
}

pub(super) fn conditions(rng: &mut Rng, index: usize) -> Function {
    with_clauses(rng, index, Clauses { conditions: 15, devices: 15, ..Clauses::default() })
}

pub(super) fn always(rng: &mut Rng, index: usize) -> Function {
    with_clauses(rng, index, Clauses { modifiers: 20, ..Clauses::default() })
}

/// A function that is left in the middle of its loop.
pub(super) fn returns(rng: &mut Rng, index: usize) -> Function {
    let own = rng.chance(50);
    let (frame, names): (&Frame, &[&str]) =
        if own { (&OWN, &["own", "more", "p"]) } else { (&PARAMETERS, &["p", "q", "r"]) };
    let mut body = Body::new(rng, names);
    body.accessed.truncate(2);
    body.host = Host { numbers: 15, elements: if own { 8 } else { 0 }, ..Host::default() };
    let inside = body.kernels(2, 2) + &body.block(2, 0, 2);
    let test = body.rng.pick(&["t == 1 && n > 39", "sum > 12", "t + 1 == steps", "t > 4"]);
    let end = frame.end.replace("    ", "            ");
    // What leaves may need the data once more.
    let name = body.rng.pick(names);
    let report = match body.rng.chance(50) {
        true => format!(
            "            {name}[n / 2] += 1;\n            for (int i = 0; i < n; i++)\n                sum += {name}[i];\n"
        ),
        false => String::new(),
    };
    let leave = format!(
        "        if ({test}) {{\n{report}            printf(\"left %d %.17g\\n\", t, sum);\n{end}            return;\n        }}\n"
    );
    let behind = if body.rng.chance(50) { body.kernels(2, 1) } else { String::new() };
    let mut text = format!("    for (int t = 0; t < steps; t++) {{\n{inside}{leave}{behind}    }}\n");
    text.push_str(&body.kernels(1, 1));
    finished(rng, frame, ALL, index, &text)
}

/// What is declared between the constructs is used behind them.
pub(super) fn declared(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.accessed = if body.rng.chance(50) { vec!["own".to_owned()] } else { vec!["p".to_owned(), "q".to_owned()] };
    body.host = Host { numbers: 10, ..Host::default() };
    let name = body.accessed[0].clone();
    let first = body.kernels(1, 2);
    let value = body.rng.pick(&["sum", "n * 0.5", "NAME[3]", "NAME[n - 1] + 1"]).replace("NAME", &name);
    let second = body.kernels(1, 2);
    let third = body.block(1, 1, 2);
    let text = format!(
        "{first}    double between = {value};\n{second}    sum += between;\n{third}    printf(\"%g\\n\", between);\n"
    );
    finished(rng, &OWN, ALL, index, &text)
}

/// With data that are absent, and with the caller's, which the host must not see.
pub(super) fn reads_parameters(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "q", "r"]);
    body.accessed.truncate(2);
    body.host = Host { elements: 20, rows: 10, whole: 5, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &PARAMETERS, ALL, index, &text)
}

pub(super) fn deferred_in(rng: &mut Rng, index: usize, names: &[&str], frame: &Frame) -> Function {
    let mut body = Body::new(rng, names);
    body.clauses.deferred = 40;
    body.host = Host { numbers: 10, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    let text = if body.rng.chance(50) {
        // Two at the same time, of which none maps what the other does.
        let construct = |name: &str| {
            format!(
                "        #pragma omp target teams distribute parallel for map(tofrom: {name}[0:n]) nowait\n        for (int i = 0; i < n; \
                 i++)\n            {name}[i] = 0.5 * {name}[i] + 2;\n"
            )
        };
        let [one, other] = [names[0], names[1]].map(construct);
        let inside = format!("{one}{other}        #pragma omp taskwait\n");
        text + &body.around(1, &inside)
    } else {
        text
    };
    finished(rng, frame, ALL, index, &text)
}

pub(super) fn deferred(rng: &mut Rng, index: usize) -> Function {
    deferred_in(rng, index, &["p", "q", "r"], &PARAMETERS)
}

/// One function of the file defers constructs, but not those of this memory.
pub(super) fn deferred_own(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { numbers: 10, elements: 8, branches: 5, ..Host::default() })
}
