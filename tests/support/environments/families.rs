//! The families of functions, and whether `hoist` is meant to change them. Change a row when it learns what it refused before.

use super::Function;
use super::body::{Body, Host};
use super::calls::{Calls, Takes};
use super::kernels::{Clauses, Sections};
use super::mixed;
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

/// What a function is handed in any way.
const ALL: Takes = Takes { overlaps: false, present: true, null: false };

/// A function with memory of its own: its first lines, its body, and what it prints.
struct Frame {
    declared: &'static str,
    /// What is summed up at the end.
    summed: &'static [&'static str],
    /// The last line.
    end: &'static str,
}

const OWN: Frame = Frame {
    declared: "    real *own = (real *)malloc(N * sizeof(real)), *more = (real *)malloc(N * sizeof(real));\n    real local[N];\n    \
               for (int i = 0; i < N; i++)\n        own[i] = value(i), more[i] = value(i + 5), local[i] = value(i + 11);\n",
    summed: &["own", "more", "local", "p", "q", "r"],
    end: "    free(own);\n    free(more);\n",
};

const PARAMETERS: Frame = Frame { declared: "", summed: &["p", "q", "r"], end: "" };

impl Frame {
    fn function(&self, index: usize, body: &str) -> String {
        let sums: Vec<String> = self
            .summed
            .iter()
            .enumerate()
            .map(|(place, name)| format!("(i + {}) * (double){name}[i]", place * 7 + 1))
            .collect();
        let summed = if sums.is_empty() {
            String::new()
        } else {
            format!("    for (int i = 0; i < n; i++)\n        sum += {};\n", sums.join(" + "))
        };
        let Frame { declared, end, .. } = self;
        format!(
            "\nstatic void f{index}(int n, int steps, real *p, real *q, real *r)\n{{\n    int m = n;\n    long found = 0;\n    double sum = start;\n\
             {declared}{body}{summed}    printf(\"%.17g %d %ld\\n\", sum, m, found);\n{end}}}\n"
        )
    }
}

/// Most functions: constructs in a loop, with what the host does there, and often more beside it.
fn steps(body: &mut Body<'_>) -> String {
    let mut text = String::new();
    if body.rng.chance(30) {
        text.push_str(&body.block(1, 1, 2));
    }
    let count = body.rng.range(1, 2);
    let kernels = body.kernels(2, count);
    let others = body.block(2, 1, 3);
    let inside = if body.rng.chance(50) { kernels + &others } else { others + &kernels };
    text.push_str(&body.around(1, &inside));
    if body.rng.chance(30) {
        text.push_str(&body.repeated(1, 1, 2));
    }
    if body.rng.chance(30) {
        let count = body.rng.range(1, 2);
        text.push_str(&body.kernels(1, count));
    }
    text
}

fn finished(rng: &mut Rng, frame: &Frame, takes: Takes, index: usize, body: &str) -> Function {
    Function { text: frame.function(index, body), calls: Calls::new(rng, takes) }
}

fn anything(rng: &mut Rng, index: usize) -> Function {
    let (text, overlaps) = mixed::function(rng, index);
    Function { text, calls: Calls::new(rng, Takes { overlaps, ..ALL }) }
}

/// Arrays of the function's own, of which the host accesses some in between.
fn own(rng: &mut Rng, index: usize, host: Host) -> Function {
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

/// Pointers of the function, each to memory of its own or to what it was handed.
fn exchanged_in(rng: &mut Rng, index: usize, cpp: bool) -> Function {
    let mut body = Body::new(rng, &["x", "y", "z"]);
    body.exchanged = if body.rng.chance(60) { vec!["x", "y"] } else { vec!["x", "y", "z"] };
    body.cpp = cpp;
    body.host = Host { elements: 8, swaps: 12, numbers: 5, loops: 5, calls: 10, leaves: 5, ..Host::default() };
    let all_own = body.rng.chance(70);
    let first = if all_own { "own" } else { "p" };
    let declared = format!("    real *x = {first}, *y = more, *z = local;\n");
    let mut text = declared;
    let before = body.kernels(2, 1);
    let mut inside = before + &body.block(2, 0, 2);
    inside.push_str(&body.swap("        "));
    if body.rng.chance(30) {
        inside.push_str(&body.block(2, 1, 1));
    }
    text.push_str(&body.around(1, &inside));
    if body.rng.chance(40) {
        text.push_str(&body.kernels(1, 2));
    }
    text.push_str("    for (int i = 0; i < n; i++)\n        sum += 3 * x[i] - y[i];\n");
    finished(rng, &OWN, ALL, index, &text)
}

fn exchanged(rng: &mut Rng, index: usize) -> Function {
    exchanged_in(rng, index, false)
}

fn std_swap(rng: &mut Rng, index: usize) -> Function {
    exchanged_in(rng, index, true)
}

/// Parameters that nobody but the constructs accesses, with and without the caller's environment.
fn of_the_caller(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "q", "r"]);
    body.host = Host { numbers: 15, calls: 10, branches: 10, loops: 10, leaves: 20, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &PARAMETERS, ALL, index, &text)
}

fn calls(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.host = Host { calls: 80, numbers: 5, elements: 5, loops: 5, ..Host::default() };
    body.accessed.truncate(2);
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

fn members(rng: &mut Rng, index: usize) -> Function {
    let by_pointer = rng.chance(60);
    let names: [&str; 2] = if by_pointer { ["g->u", "g->v"] } else { ["d.u", "d.v"] };
    let mut body = Body::new(rng, &names);
    if body.rng.chance(50) {
        body.arrays.push("more".to_owned());
    }
    body.host = Host { elements: 8, numbers: 10, leaves: 10, ..Host::default() };
    let mut text = "    grid d = {n, p, own};\n".to_owned();
    if by_pointer {
        text.push_str("    grid *g = &d;\n");
    }
    text.push_str(&steps(&mut body));
    let own = body.rng.chance(50);
    let text = if own { text.replace("{n, p, own}", "{n, local, own}") } else { text };
    finished(rng, &OWN, ALL, index, &text)
}

fn objects(rng: &mut Rng, index: usize) -> Function {
    let first = rng.pick(&["p", "own", "local"]);
    let mut text = format!("    grid d = {{n, {first}, more}};\n");
    let handed = if rng.chance(50) {
        text.push_str("    grid *g = &d;\n");
        "g"
    } else {
        "&d"
    };
    let mut body = Body::new(rng, &["own", "q"]);
    let mut inside = String::new();
    for _ in 0..body.rng.range(2, 4) {
        let (call, by) = (body.rng.pick(&["relax(G);", "scale(G, BY);", "advance(G);"]), body.rng.range(0, 2));
        inside.push_str(&format!("        {}\n", call.replace('G', handed).replace("BY", &by.to_string())));
    }
    if body.rng.chance(25) {
        inside.push_str(body.rng.pick(&[
            "        sum += d.u[3];\n",
            "        d.v[5] = 2;\n",
            "        d.few[2] = 1;\n",
        ]));
    }
    text.push_str(&body.around(1, &inside));
    if body.rng.chance(30) {
        text.push_str(&body.repeated(1, 2, 3));
    }
    let text = text.replace("&&d", "&d");
    finished(rng, &OWN, ALL, index, &text)
}

/// Arrays of the file and of the function, by their names, by sections, by no clause.
fn of_the_file(rng: &mut Rng, index: usize) -> Function {
    const FILE: Frame = Frame {
        declared: "    for (int i = 0; i < N; i++)\n        grid_of_file[i] = value(i), other_of_file[i] = value(i + 3), kept[i] = value(i + 8);\n",
        summed: &["grid_of_file", "other_of_file", "kept"],
        end: "",
    };
    let mut body = Body::new(rng, &["grid_of_file", "other_of_file", "kept"]);
    if body.rng.chance(60) {
        body.sections = Sections::Named;
        body.length = "N";
    }
    body.host = Host { elements: 4, numbers: 15, branches: 5, loops: 5, leaves: 10, ..Host::default() };
    if body.rng.chance(50) {
        body.host.elements = 0;
    }
    let text = steps(&mut body);
    finished(rng, &FILE, ALL, index, &text)
}

/// No construct lists two of them, so that the host must compare them.
fn overlapping(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "q", "own"]);
    body.may_overlap = true;
    body.host = Host { numbers: 10, calls: 10, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &OWN, Takes { overlaps: true, ..ALL }, index, &text)
}

/// What parameters lead to by `*` alone, which may be an element of an array that stays.
fn single_objects(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "own"]);
    body.host = Host { numbers: 10, branches: 5, ..Host::default() };
    let mut inside = body.kernels(2, 2);
    for _ in 0..body.rng.range(1, 2) {
        let line = body.rng.pick(&[
            "*q += 1.25;",
            "sum += *r;",
            "*r = sum;",
            "if (*q > 3)\n            sum += *q;",
            "*q = *r + 0.5;",
            "sum += first_of(q);",
        ]);
        let line = format!("        {line}\n");
        inside = if body.rng.chance(50) { inside + &line } else { line + &inside };
    }
    let text = body.around(1, &inside);
    finished(body.rng, &OWN, Takes { overlaps: true, ..ALL }, index, &text)
}

/// Without a step nothing may be evaluated of what is null then.
fn no_step(rng: &mut Rng, index: usize) -> Function {
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

fn with_sections(rng: &mut Rng, index: usize, sections: Sections) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.sections = sections;
    body.accessed.truncate(2);
    body.host = Host { numbers: 10, elements: 4, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

fn halos(rng: &mut Rng, index: usize) -> Function {
    with_sections(rng, index, Sections::Halos)
}

fn later(rng: &mut Rng, index: usize) -> Function {
    with_sections(rng, index, Sections::Later)
}

/// `target data` around, or within; `target enter data` before, of which the count stays above zero or not; own updates.
fn own_environments(rng: &mut Rng, index: usize) -> Function {
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

fn with_clauses(rng: &mut Rng, index: usize, clauses: Clauses) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.clauses = clauses;
    body.accessed.truncate(2);
    body.host = Host { numbers: 10, elements: 4, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

fn thrown_away(rng: &mut Rng, index: usize) -> Function {
    with_clauses(rng, index, Clauses { kinds: 1, ..Clauses::default() })
}

fn conditions(rng: &mut Rng, index: usize) -> Function {
    with_clauses(rng, index, Clauses { conditions: 15, devices: 15, ..Clauses::default() })
}

fn always(rng: &mut Rng, index: usize) -> Function {
    with_clauses(rng, index, Clauses { modifiers: 20, ..Clauses::default() })
}

/// A function that is left in the middle of its loop.
fn returns(rng: &mut Rng, index: usize) -> Function {
    let own = rng.chance(50);
    let (frame, names): (&Frame, &[&str]) =
        if own { (&OWN, &["own", "more", "p"]) } else { (&PARAMETERS, &["p", "q", "r"]) };
    let mut body = Body::new(rng, names);
    body.accessed.truncate(2);
    body.host = Host { numbers: 15, elements: if own { 8 } else { 0 }, ..Host::default() };
    let inside = body.kernels(2, 2) + &body.block(2, 0, 2);
    let test = body.rng.pick(&["t == 1 && n > 39", "sum > 12", "t + 1 == steps", "t > 4"]);
    let end = frame.end.replace("    ", "            ");
    let leave = format!(
        "        if ({test}) {{\n            printf(\"left %d\\n\", t);\n{end}            return;\n        }}\n"
    );
    let behind = if body.rng.chance(50) { body.kernels(2, 1) } else { String::new() };
    let mut text = format!("    for (int t = 0; t < steps; t++) {{\n{inside}{leave}{behind}    }}\n");
    text.push_str(&body.kernels(1, 1));
    finished(rng, frame, ALL, index, &text)
}

/// What is declared between the constructs is used behind them.
fn declared(rng: &mut Rng, index: usize) -> Function {
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
fn reads_parameters(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "q", "r"]);
    body.accessed.truncate(2);
    body.host = Host { elements: 20, rows: 10, whole: 5, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &PARAMETERS, ALL, index, &text)
}

fn deferred_in(rng: &mut Rng, index: usize, names: &[&str], frame: &Frame) -> Function {
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

fn deferred(rng: &mut Rng, index: usize) -> Function {
    deferred_in(rng, index, &["p", "q", "r"], &PARAMETERS)
}

/// One function of the file defers constructs, but not those of this memory.
fn deferred_own(rng: &mut Rng, index: usize) -> Function {
    own(rng, index, Host { numbers: 10, elements: 8, branches: 5, ..Host::default() })
}

/// What a class holds, in its member functions.
fn classes(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["a", "b"]);
    body.host = Host { numbers: 10, elements: 5, leaves: 10, ..Host::default() };
    if body.rng.chance(50) {
        body.host.elements = 0;
    }
    let own = body.rng.chance(50);
    let inside = steps(&mut body);
    let (first, this) = if own { ("own", "") } else { ("p", "this->") };
    let inside = if this.is_empty() { inside } else { inside.replace("a[", "this->a[").replace("b[", "this->b[") };
    let class = format!(
        "\nstruct Field{index} {{\n    real *a, *b;\n    int n;\n    double sum = 0;\n    Field{index}(real *a, real *b, int n) : a(a), b(b), \
         n(n) {{}}\n    void run(int steps)\n    {{\n        double sum = 0;\n        int n = this->n, m = n;\n        long found = 0;\n{inside}        \
         this->sum += sum + m + found;\n    }}\n}};\n"
    );
    let text = format!("    Field{index} field({first}, more, n);\n    field.run(steps);\n    sum += field.sum;\n");
    Function { text: class + &OWN.function(index, &text), calls: Calls::new(rng, ALL) }
}
