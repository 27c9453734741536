//! The families of functions, and whether `hoist` is meant to change them. Change a row when it learns what it refused before.

use super::Function;
use super::body::{Body, Host};
use super::calls::{Calls, Takes};
use super::constructs::{
    always, conditions, declared, deferred, deferred_own, halos, later, no_step, own_environments,
};
use super::constructs::{reads_parameters, returns, thrown_away};
use super::frame::{ALL, Frame, OWN, PARAMETERS, finished, steps};
use super::kernels::{Clauses, Sections};
use super::mixed;
use super::names::{
    calls, classes, exchanged, members, objects, of_the_caller, of_the_file, overlapping, single_objects, std_swap,
};
use crate::support::generator::rng::Rng;

/// What files the functions of a family may stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    C,
    /// C with deferred constructs.
    Deferred,
    Cpp,
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    pub form: Form,
    /// How many of a hundred functions must be changed at least; nothing where `hoist` need change none, with the reason.
    pub changed: Result<usize, &'static str>,
    pub(super) make: fn(&mut Rng, usize) -> Function,
}

/// So many of a hundred functions that `hoist` is meant to change must be changed.
const MOST: Result<usize, &str> = Ok(60);

/// The same where statements in any order often need the data, by rule or by chance.
const SOME: Result<usize, &str> = Ok(15);

/// Every family.
pub const FAMILIES: &[Family] = &[
    row("anything", SOME, anything),
    row("elements", MOST, elements),
    row("rows", MOST, rows),
    row("all elements", MOST, whole),
    row("updates of elements", MOST, updated_elements),
    row("updates of rows", MOST, updated_rows),
    row("updates of all elements", SOME, updated_wholly),
    row("updates in inner loops", SOME, updated_within),
    row("functions of the host", MOST, host_functions),
    row("tests of loops", MOST, tests_of_loops),
    row("left early", MOST, left_early),
    row("pointers that change places", MOST, exchanged),
    row("data of the caller", MOST, of_the_caller),
    row("calls", MOST, calls),
    row("members", MOST, members),
    row("objects handed over", MOST, objects),
    row("arrays of the file", MOST, of_the_file),
    row("parameters that may overlap", MOST, overlapping),
    row("single objects", MOST, single_objects),
    row("no step", MOST, no_step),
    row("halos", MOST, halos),
    row("later sections", MOST, later),
    row("the program's own environments", MOST, own_environments),
    row("what is thrown away", MOST, thrown_away),
    row("conditions of constructs", Err("where a construct runs may change in the loop"), conditions),
    row("always", MOST, always),
    row("early returns", MOST, returns),
    row("declared between", MOST, declared),
    row("the host reads parameters", MOST, reads_parameters),
    Family { form: Form::Deferred, ..row("deferred", Err("what others know keeps its maps"), deferred) },
    Family { form: Form::Deferred, ..row("deferred, own memory", MOST, deferred_own) },
    Family { form: Form::Cpp, ..row("std::swap", MOST, std_swap) },
    Family { form: Form::Cpp, ..row("members of classes", MOST, classes) },
    Family { form: Form::Cpp, ..row("elements, in C++", MOST, elements) },
    Family { form: Form::Cpp, ..row("calls, in C++", MOST, calls) },
];

const fn row(
    name: &'static str,
    changed: Result<usize, &'static str>,
    make: fn(&mut Rng, usize) -> Function,
) -> Family {
    Family { name, form: Form::C, changed, make }
}

fn anything(rng: &mut Rng, index: usize) -> Function {
    let (text, overlaps) = mixed::function(rng, index);
    Function { text, calls: Calls::new(rng, Takes { overlaps, ..ALL }) }
}

/// Arrays of the function's own, of which the host accesses some in between.
pub(super) fn own(rng: &mut Rng, index: usize, host: Host) -> Function {
    let mut body = Body::new(rng, &["own", "more", "local"]);
    if body.rng.chance(60) {
        body.arrays.push("p".to_owned());
    }
    if body.rng.chance(30) {
        body.arrays.push("q".to_owned());
    }
    // Of some only the host's own accesses hang on one array.
    if body.rng.chance(50) {
        body.accessed.truncate(1);
    }
    if body.rng.chance(10) {
        body.length = "m";
    }
    body.host = host;
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

fn elements(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { elements: 40, numbers: 5, branches: 10, loops: 5, leaves: 10, ..Host::default() })
}

fn rows(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { rows: 35, elements: 5, branches: 10, numbers: 5, ..Host::default() })
}

fn whole(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { whole: 20, numbers: 5, branches: 5, loops: 5, ..Host::default() })
}

fn host_functions(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { functions: 25, calls: 15, branches: 5, ..Host::default() })
}

/// Constructs that change one array in a loop, and one access of the host between them.
fn updated(rng: &mut Rng, index: usize, access: fn(&mut Body<'_>, &str) -> String) -> Function {
    let name = rng.pick(&["own", "own", "local", "p"]);
    let mut body = Body::new(rng, &["own", "more", "local", "p"]);
    body.accessed = vec![name.to_owned()];
    let indent = "        ";
    let other = body.another(name);
    let number = body.number();
    let construct = |maps: &str, statement: &str| {
        format!(
            "{indent}#pragma omp target teams distribute parallel for {maps}\n{indent}for (int i = 0; i < n; i++)\n{indent}    {statement}\n"
        )
    };
    let both = format!("map(tofrom: {name}[0:n])");
    let mut lines = vec![
        construct(
            &format!("map(to: {other}[0:n]) {both}"),
            &format!("{name}[i] = 0.5 * {name}[i] + 0.25 * {other}[i] + {number};"),
        ),
        construct(&both, &format!("{name}[i] = 0.75 * {name}[i] + i;")),
        construct(
            &format!("map(to: {name}[0:n]) map(tofrom: {other}[0:n])"),
            &format!("{other}[i] = 0.5 * {other}[i] + {name}[i];"),
        ),
        construct(&both, &format!("{name}[i] = 0.5 * {name}[i] + 3;")),
    ];
    let at = body.rng.below(lines.len() + 1);
    let access = access(&mut body, indent);
    lines.insert(at, access);
    let passes = body.rng.pick(&["steps", "steps", "3"]);
    let text = format!("    for (int t = 0; t < {passes}; t++) {{\n{}    }}\n", lines.concat());
    finished(rng, &OWN, ALL, index, &text)
}

fn updated_elements(rng: &mut Rng, index: usize) -> Function {
    updated(rng, index, |body, indent| body.element(indent))
}

fn updated_rows(rng: &mut Rng, index: usize) -> Function {
    updated(rng, index, |body, indent| body.row(indent))
}

fn updated_wholly(rng: &mut Rng, index: usize) -> Function {
    updated(rng, index, |body, indent| body.all(indent))
}

/// In an inner loop, with another construct.
fn updated_within(rng: &mut Rng, index: usize) -> Function {
    updated(rng, index, |body, indent| {
        let deeper = format!("{indent}    ");
        let name = body.accessed[0].clone();
        let kernel = format!(
            "{deeper}#pragma omp target teams distribute parallel for map(tofrom: {name}[0:n])\n{deeper}for (int i = 0; i < n; \
             i++)\n{deeper}    {name}[i] = 0.5 * {name}[i] + k;\n"
        );
        let access = body.element(&deeper);
        format!("{indent}for (int k = 0; k < 2; k++) {{\n{kernel}{access}{indent}}}\n")
    })
}

/// `while` with what a construct or the host finds; elements in its test.
fn tests_of_loops(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["own", "more", "local", "p"]);
    body.host = Host { elements: 10, numbers: 10, ..Host::default() };
    body.accessed.truncate(2);
    let mut text = String::new();
    if body.rng.chance(40) {
        text.push_str(&body.kernels(1, 1));
    }
    let inside = body.kernels(2, 2) + &body.block(2, 0, 2);
    let (array, other) = (body.array(), body.array());
    let reduction = |kind: &str| {
        format!(
            "        error = 0;\n        #pragma omp target teams distribute parallel for map(to: {array}[0:n]) map(tofrom: error) \
             reduction({kind}: error)\n        for (int i = 0; i < n; i++)\n            error = {array}[i] > error ? {array}[i] : error;\n"
        )
    };
    let bound = body.rng.below(5);
    let most = body.rng.range(2, 5);
    text.push_str(&match body.rng.below(5) {
        0 => format!("    double error = 9;\n    int count = 0;\n    while (error > {bound} && count < {most}) {{\n{inside}{}        count++;\n    }}\n", reduction("max")),
        1 => format!("    double error = 9;\n    int count = 0;\n    do {{\n{inside}{}    }} while (error > {bound} && ++count < {most});\n", reduction("max")),
        2 => format!("    int count = 0;\n    while (own[{bound}] > {bound} && count < {most}) {{\n{inside}        count++;\n    }}\n"),
        3 => format!("    for (int t = 0; t < {most} && {array}[3] > {bound} - 2; t++) {{\n{inside}    }}\n"),
        _ => format!("    int count = 0;\n    do {{\n{inside}        sum += {other}[2] > {bound};\n    }} while (++count < {most} && own[0] < 90);\n"),
    });
    if body.rng.chance(30) {
        text.push_str(&body.kernels(1, 2));
    }
    finished(rng, &OWN, ALL, index, &text)
}

fn left_early(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { elements: 10, numbers: 10, branches: 5, leaves: 90, loops: 5, ..Host::default() })
}
