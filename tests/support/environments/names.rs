//! The families in which names lead to the data in other ways: pointers that change places, parameters, members, objects, arrays of the file.

use super::Function;
use super::body::{Body, Host};
use super::calls::{Calls, Takes};
use super::families::own;
use super::frame::{ALL, Frame, OWN, PARAMETERS, finished, steps};
use super::kernels::{Clauses, Sections};
use crate::support::generator::rng::Rng;
/// Pointers of the function, each to memory of its own or to what it was handed.
pub(super) fn exchanged_in(rng: &mut Rng, index: usize, cpp: bool) -> Function {
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

pub(super) fn exchanged(rng: &mut Rng, index: usize) -> Function {
    exchanged_in(rng, index, false)
}

pub(super) fn std_swap(rng: &mut Rng, index: usize) -> Function {
    exchanged_in(rng, index, true)
}

/// Parameters that nobody but the constructs accesses, with and without the caller's environment.
pub(super) fn of_the_caller(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "q", "r"]);
    body.host = Host { numbers: 15, calls: 10, branches: 10, loops: 10, leaves: 20, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &PARAMETERS, ALL, index, &text)
}

pub(super) fn calls(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["own", "more", "p", "q"]);
    body.host = Host { calls: 80, numbers: 5, elements: 5, loops: 5, ..Host::default() };
    body.accessed.truncate(2);
    let text = steps(&mut body);
    finished(rng, &OWN, ALL, index, &text)
}

pub(super) fn members(rng: &mut Rng, index: usize) -> Function {
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

pub(super) fn objects(rng: &mut Rng, index: usize) -> Function {
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
pub(super) fn of_the_file(rng: &mut Rng, index: usize) -> Function {
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
pub(super) fn overlapping(rng: &mut Rng, index: usize) -> Function {
    let mut body = Body::new(rng, &["p", "q", "own"]);
    body.may_overlap = true;
    body.host = Host { numbers: 10, calls: 10, branches: 5, ..Host::default() };
    let text = steps(&mut body);
    finished(rng, &OWN, Takes { overlaps: true, ..ALL }, index, &text)
}

/// What parameters lead to by `*` or a subscript, also in statements that name an array that stays: it may be an element of that.
pub(super) fn single_objects(rng: &mut Rng, index: usize) -> Function {
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
            "*q += p[1];",
            "sum += p[2] * *r;",
            "*r = own[0] + p[n - 1];",
            "for (int j = 0; j < n; j++)\n            q[j] += p[j] * 0.5;",
        ]);
        let line = format!("        {line}\n");
        inside = if body.rng.chance(50) { inside + &line } else { line + &inside };
    }
    let text = body.around(1, &inside);
    finished(body.rng, &OWN, Takes { overlaps: true, ..ALL }, index, &text)
}

/// What a class holds, in its member functions.
pub(super) fn classes(rng: &mut Rng, index: usize) -> Function {
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
