//! Functions of everything at once: parameters, memory of their own, arrays of the file and of the function, in any order.

use std::fmt::Write as _;

use crate::support::generator::rng::Rng;

/// The names that a function's arrays may have: parameters, memory of its own, an array of the file and one of the function.
const NAMES: [&str; 6] = ["p", "q", "r", "own", "kept", "local"];

struct Function<'r> {
    rng: &'r mut Rng,
    text: String,
    /// Do the parameters overlap? Then no construct names two of them.
    overlaps: bool,
    /// What all sections are as long as.
    length: &'static str,
    loops: usize,
    fresh: usize,
}

/// The text of one, and whether its parameters may overlap.
pub(super) fn function(rng: &mut Rng, index: usize) -> (String, bool) {
    let length = if rng.chance(25) { "m" } else { "n" };
    let mut function = Function { rng, text: String::new(), overlaps: true, length, loops: 0, fresh: 0 };
    function.overlaps = function.rng.chance(30);
    let mut text = format!("\nstatic void f{index}(int n, int steps, real *p, real *q, real *r)\n{{\n");
    text.push_str(
        "    int m = n;\n    double sum = start;\n    real local[N] = {1, 2, 3};\n    real *own = malloc(N * sizeof *own);\n",
    );
    text.push_str("    for (int i = 0; i < N; i++)\n        own[i] = value(i), kept[i] = value(i + 5);\n");
    let kept = function.rng.pick(&["own", "own", "p", "local"]);
    let _ = writeln!(text, "    {}keep({kept});", if function.rng.chance(70) { "// " } else { "" });
    let body = function.block(1, 3);
    text.push_str(&body);
    text.push_str(
        "    for (int i = 0; i < n; i++)\n        sum += (i + 1) * (p[i] + 2 * q[i] + 3 * r[i] + 4 * own[i] + 5 * kept[i] + 6 * local[i]);\n",
    );
    let _ = writeln!(text, "    printf(\"%.17g\\n\", sum);\n    free(own);\n    keep(NULL);\n}}");
    (text, function.overlaps)
}

impl Function<'_> {
    fn name(&mut self) -> &'static str {
        self.rng.pick(&NAMES)
    }

    fn number(&mut self) -> String {
        self.rng.pick(&["0.5", "2", "1.25"]).to_owned()
    }

    fn block(&mut self, depth: usize, most: usize) -> String {
        let count = self.rng.range(1, 2 + most);
        let statements: Vec<String> = (0..count).map(|_| self.statement(depth)).collect();
        statements.concat()
    }

    fn statement(&mut self, depth: usize) -> String {
        let indent = "    ".repeat(depth);
        match self.rng.below(if depth < 3 { 20 } else { 14 }) {
            0..=7 => self.kernel(&indent),
            8 => {
                let (name, at) = (self.name(), self.rng.below(8));
                format!("{indent}sum += {name}[{at}];\n")
            }
            9 => {
                let (name, at, number) = (self.name(), self.rng.below(8), self.number());
                match self.rng.below(4) {
                    0 => format!("{indent}{name}[{at}] = {number};\n"),
                    1 => format!("{indent}store({name}, {at}, {number});\n"),
                    2 => format!("{indent}memset({name}, 0, 2 * sizeof(real));\n"),
                    _ => format!(
                        "{indent}{{\n{indent}    real *alias = {name} + {at};\n{indent}    alias[1] = {number};\n{indent}}}\n"
                    ),
                }
            }
            10 if self.rng.chance(50) => format!("{indent}if (saved)\n{indent}    saved[1] += sum;\n"),
            10 => format!("{indent}sum += first_of({});\n", self.name()),
            11 => format!("{indent}sum = sum * 0.5 + {};\n", self.number()),
            12 if self.length == "m" => format!("{indent}m = m > 8 ? m - 1 : m;\n"),
            12 => format!("{indent}if (getppid() < 0)\n{indent}    sum += 1;\n"),
            13 => self.rng.pick(&[("p", "q"), ("q", "r")]).swap(&indent),
            14..=16 => self.repeated(depth, &indent),
            17 => {
                let body = self.block(depth + 1, 1);
                format!("{indent}if (sum > {}) {{\n{body}{indent}}}\n", self.rng.below(200))
            }
            18 if self.length == "n" && !self.overlaps => self.present(&indent),
            _ => {
                let body = self.block(depth + 1, 1);
                format!("{indent}{{\n{body}{indent}}}\n")
            }
        }
    }

    fn repeated(&mut self, depth: usize, indent: &str) -> String {
        self.loops += 1;
        let counter = format!("t{}", self.loops);
        let body = self.block(depth + 1, 2);
        let leave = match self.rng.below(8) {
            0 => format!("{indent}    if (sum > 300)\n{indent}        break;\n"),
            1 => format!("{indent}    if (sum < 0)\n{indent}        continue;\n"),
            _ => String::new(),
        };
        let (before, after) = if self.rng.chance(50) { (leave, String::new()) } else { (String::new(), leave) };
        match self.rng.below(4) {
            0 => {
                // What would jump over the count is left out.
                let (before, after) = (before.replace("continue", "break"), after.replace("continue", "break"));
                format!(
                    "{indent}int {counter} = 0;\n{indent}while ({counter} < steps) {{\n{indent}    {counter}++;\n{before}{body}{after}{indent}}}\n"
                )
            }
            1 => {
                let (before, after) = (before.replace("continue", "break"), after.replace("continue", "break"));
                format!(
                    "{indent}int {counter} = 0;\n{indent}do {{\n{before}{body}{after}{indent}}} while (++{counter} < steps);\n"
                )
            }
            2 => format!(
                "{indent}for (int {counter} = 1; {counter} <= 2; {counter}++) {{\n{before}{body}{after}{indent}}}\n"
            ),
            _ => format!(
                "{indent}for (int {counter} = 0; {counter} < steps; {counter}++) {{\n{before}{body}{after}{indent}}}\n"
            ),
        }
    }

    /// The host's values are stale while the program's own environment is open.
    fn present(&mut self, indent: &str) -> String {
        let name = self.name();
        let kind = self.rng.pick(&["tofrom", "to"]);
        let body: String = (0..2).map(|_| self.kernel(&format!("{indent}    "))).collect();

        format!("{indent}#pragma omp target data map({kind}: {name}[0:n])\n{indent}{{\n{body}{indent}}}\n")
    }

    /// One that writes all of its section, and may read another array. What it maps `from` it does not read.
    fn kernel(&mut self, indent: &str) -> String {
        if self.rng.chance(10) {
            let (name, length) = (self.name(), self.length);
            let first = self.rng.below(6);
            let argument = self.rng.pick(&["&NAME[FIRST]", "NAME + FIRST", "NAME"]);
            let length = if argument == "NAME" { length.to_owned() } else { format!("{length} - {first}") };
            let argument = argument.replace("NAME", name).replace("FIRST", &first.to_string());
            return format!("{indent}grow({length}, {argument});\n");
        }
        self.fresh += 1;
        let written = self.name();
        let mut read = self.name();
        let are_parameters = |a: &str, b: &str| a.len() == 1 && b.len() == 1;
        while read == written || are_parameters(read, written) && self.overlaps {
            read = self.name();
        }
        let length = self.length;
        let number = self.number();
        let whole = |name: &str| name.to_owned() + "[0:" + length + "]";
        let (maps, body) = match self.rng.below(8) {
            0 => (format!("map(from: {})", whole(written)), format!("{written}[i] = {number} + i;")),
            1 => (
                format!("map(to: {}) map(from: {})", whole(read), whole(written)),
                format!("{written}[i] = {read}[i] * 0.5 + {number};"),
            ),
            2 => (format!("map(tofrom: {})", whole(written)), format!("{written}[i] = {written}[i] * 0.5 + {number};")),
            3 => (
                format!("map(to: {}) map(tofrom: {})", whole(read), whole(written)),
                format!(
                    "{{\n{indent}        {read}[i] += 1;\n{indent}        {written}[i] += 0.25 * {read}[i];\n{indent}    }}"
                ),
            ),
            4 => (
                format!("map(tofrom: {}, {})", whole(read), whole(written)),
                format!("{written}[i] = 0.5 * {written}[i] + {read}[i];"),
            ),
            5 => (
                format!("map(to: {}) map(tofrom: sum) reduction(max: sum)", whole(read)),
                format!("sum = {read}[i] > sum ? {read}[i] : sum;"),
            ),
            _ => (
                format!("map(to: {}) map(tofrom: {})", whole(read), whole(written)),
                format!("{written}[i] = 0.5 * {written}[i] + {read}[i] * 0.25;"),
            ),
        };
        format!(
            "{indent}#pragma omp target teams distribute parallel for {maps}\n{indent}for (int i = 0; i < {length}; i++)\n{indent}    {body}\n"
        )
    }
}

/// Two pointers that change places.
trait Swap {
    fn swap(self, indent: &str) -> String;
}

impl Swap for (&str, &str) {
    fn swap(self, indent: &str) -> String {
        let (one, other) = self;
        format!(
            "{indent}{{\n{indent}    real *other = {one};\n{indent}    {one} = {other};\n{indent}    {other} = other;\n{indent}}}\n"
        )
    }
}
