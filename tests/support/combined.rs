//! Random programs for the passes `combine` and `reduce`: loops of which every iteration adds to one result or to two, by clauses or by atomic updates. Valid and free of races
//! by construction; a program depends on its seed alone. No order changes a result: sums are of whole numbers, and extremes are no NaN.

use std::fmt::Write as _;

use super::bits::{Program, assembled};
use super::generator::rng::Rng;

/// What a function shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// A sum.
    Sum,
    /// Bits that all elements have, or one, or an odd number.
    Bits,
    /// The largest or least value.
    Extreme,
    /// Of two collapsed loops.
    Nest,
    /// Rows with a loop of their own.
    Rows,
    /// Two results.
    Two,
    /// A sum of each column.
    Columns,
    /// A sum of each row, and a second one.
    LongRows,
    /// A sum over two serial loops, whose terms lie side by side in the other order.
    SerialLoops,
}

/// Every family.
pub const FAMILIES: [Family; 6] = [Family::Sum, Family::Bits, Family::Extreme, Family::Nest, Family::Rows, Family::Two];

/// What `reduce` shares among the threads of a team: those of which one instruction makes an atomic update, rows and columns; and serial loops that change places.
pub const SHARED: [Family; 8] = [
    Family::Sum,
    Family::Bits,
    Family::Nest,
    Family::Rows,
    Family::Two,
    Family::Columns,
    Family::LongRows,
    Family::SerialLoops,
];

/// By what iterations leave their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Clauses,
    AtomicUpdates,
}

/// The functions in one file, of each family.
const OF_EACH: usize = 3;

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>

enum { W = 70, LENGTHS = 8, SIZE = W * W };

static const int lengths[LENGTHS] = {0, 1, 2, 5, 33, 64, 69, -5};
";

/// The program of a seed.
pub fn program(seed: u64) -> Program<Family> {
    program_by(By::Clauses, seed, &FAMILIES)
}

/// The same with `atomic` constructs, and sums of columns and rows.
pub fn program_of_shared(seed: u64) -> Program<Family> {
    program_by(By::AtomicUpdates, seed, &SHARED)
}

fn program_by(by: By, seed: u64, families: &[Family]) -> Program<Family> {
    assembled(seed, families, OF_EACH, HEAD, |rng, family, index| {
        let integers = ["int", "unsigned", "long", "unsigned long long"];
        let ty = match family {
            Family::Bits => rng.pick(&integers),
            Family::Columns | Family::LongRows | Family::SerialLoops => {
                rng.pick(&["unsigned", "float", "double", "unsigned long"])
            }
            Family::Extreme => rng.pick(&["int", "long", "float", "double", "unsigned"]),
            _ => rng.pick(&["int", "unsigned", "long", "double", "double"]),
        };
        let function = match family {
            Family::Columns => columns(rng, index, ty),
            Family::LongRows => long_rows(rng, index, ty),
            Family::SerialLoops => serial_loops(rng, index, ty),
            _ => function(rng, by, family, index, ty),
        };
        (function, calls(index, ty))
    })
}

/// The function that calls one, and prints what it gives.
fn calls(index: usize, ty: &str) -> String {
    format!(
        "
static void run{index}(void)
{{
    {ty} *a = malloc(sizeof({ty}) * SIZE);
    printf(\"{index}:\");
    for (int l = 0; l < LENGTHS; l++) {{
        const int n = lengths[l], m = lengths[(l * 3 + {index}) % LENGTHS];
        for (int i = 0; i < SIZE; i++)
            a[i] = ({ty})(i * (l + 7) % 123 + 1);
        double given;
        part{index}(n, m, a, &given);
        printf(\" %.17g\", given);
    }}
    free(a);
    printf(\"\\n\");
}}
"
    )
}

/// A result: its operator, what it begins with, and how an iteration changes it.
fn result(rng: &mut Rng, family: Family, name: &str, value: &str) -> (&'static str, &'static str, String) {
    let plain = |operator: &str| format!("{name} {operator} {value};");
    match family {
        Family::Bits => {
            let (operator, first) = rng.pick(&[("&", "127"), ("|", "256"), ("^", "9")]);
            (operator, first, plain(&format!("{operator}=")))
        }
        Family::Extreme => {
            let (operator, first, relation) = rng.pick(&[("min", "90", "<"), ("max", "30", ">")]);
            let update = match rng.chance(50) {
                true => format!("if ({value} {relation} {name})\n            {name} = {value};"),
                false => format!("{name} = {value} {relation} {name} ? {value} : {name};"),
            };
            (operator, first, update)
        }
        _ => ("+", rng.pick(&["0", "11"]), plain(rng.pick(&["+=", "+=", "-="]))),
    }
}

fn function(rng: &mut Rng, by: By, family: Family, index: usize, ty: &str) -> String {
    let (collapse, cell) = if family == Family::Nest { (" collapse(2)", "a[i * W + j]") } else { ("", "a[i]") };
    let bound = if family == Family::Nest || family == Family::Rows { "n" } else { "n * m" };
    let value = if family == Family::Rows { "row" } else { cell };
    let value = format!("{value}{}", rng.pick(&["", " * 3", " + (m > 5)"]));
    let is_element = by == By::AtomicUpdates && rng.chance(40);
    let name = if is_element { rng.pick(&["all[1]", "all[m > 5]"]) } else { "all" };
    let (operator, first, update) = result(rng, family, name, &format!("({value})"));
    let mut clauses = vec![
        "map(to: a[0:SIZE])".to_owned(),
        rng.pick(&["", "", "thread_limit(256)", "num_teams(9)", "if(target: n > 4)"]).to_owned(),
    ];
    if by == By::AtomicUpdates || rng.chance(70) {
        clauses.insert(1, "map(tofrom: all)".to_owned());
    }
    if by == By::Clauses {
        clauses.push(format!("reduction({operator}: all)"));
    }
    if rng.chance(30) {
        clauses.push("firstprivate(m)".to_owned());
    }
    let mut declared = match is_element {
        true => format!("    {ty} all[2] = {{{first}, {first}}};\n"),
        false => format!("    {ty} all = {first};\n"),
    };
    let mut updates = updated(rng, by, &update);
    let mut given = if is_element { "(double)all[0] * 3 + (double)all[1]" } else { "(double)all" }.to_owned();
    if family == Family::Two {
        declared += &format!("    {ty} other = 2;\n");
        updates += &updated(rng, by, &format!("other += {value} > 40;"));
        clauses.push("map(tofrom: other)".to_owned());
        if by == By::Clauses {
            clauses.push("reduction(+: other)".to_owned());
        }
        given = format!("({given}) * 1000 + (double)other");
    }
    if family == Family::Rows {
        let row =
            format!("        {ty} row = 1;\n        for (int j = 0; j < m; j++)\n            row += a[i * W + j];\n");
        updates.insert_str(0, &row);
    }
    let mut heads = format!("    {}\n", head(rng, "i", bound));
    if family == Family::Nest {
        let _ = writeln!(heads, "    {}", head(rng, "j", "m"));
    }
    format!(
        "\nstatic void part{index}(int n, int m, const {ty} *a, double *given)\n{{\n{}{declared}\
         #pragma omp target teams distribute parallel for{collapse} {}\n{heads}    {{\n{updates}    }}\n    *given = {given};\n}}\n",
        if rng.chance(30) { "    (void)n, (void)m;\n" } else { "" },
        clauses.join(" ").trim_end(),
    )
}

/// A function that adds up the elements of each of `n` columns, in one sum or in two.
fn columns(rng: &mut Rng, index: usize, ty: &str) -> String {
    let first = rng.pick(&["s[i]", "0", "3"]);
    let (from, to) = (rng.pick(&["0", "0", "2"]), rng.pick(&["< m", "<= m - 1"]));
    let value = rng.pick(&["a[j * W + i]", "a[j * W + i] * scale", "a[j * W + i] * a[j]"]);
    let scale =
        if value.contains("scale") { format!("const {ty} scale = ({ty})(i + 2);\n        ") } else { String::new() };
    let (mut declared, mut update) = (format!("{ty} sum = {first};"), format!("sum += {value};"));
    let mut stored = "s[i] = sum;".to_owned();
    if rng.chance(40) {
        declared = format!("{ty} sum = {first}, ends = 1;");
        update = format!("{{\n            {update}\n            ends += a[j * W + i] * 2;\n        }}");
        stored = rng
            .pick(&[
                "s[i] = sum * 2 + ends;",
                "if (ends > sum)\n            s[i] = sum + ends;\n        else\n            s[i] = sum * 2;",
            ])
            .to_owned();
    }
    let body =
        format!("{scale}{declared}\n        for (int j = {from}; j {to}; j++)\n            {update}\n        {stored}");
    of_sums(index, ty, "", "", &format!("    for (int i = 0; i < n; i++) {{\n        {body}\n    }}\n"))
}

/// A function that adds up rows that overlap, each of up to some thousand elements.
fn long_rows(rng: &mut Rng, index: usize, ty: &str) -> String {
    let first = rng.pick(&["s[i]", "0", "3"]);
    let (from, to) = (rng.pick(&["0", "0", "2"]), rng.pick(&["< length", "<= length - 1"]));
    let value = rng.pick(&["a[i * 10 + j]", "a[i * 10 + j] * 2", "a[i * 10 + j] * (a[j] > 60)"]);
    let (mut declared, mut update) = (format!("{ty} sum = {first};"), format!("sum += {value};"));
    let mut stored = "s[i] = sum;".to_owned();
    if rng.chance(40) {
        declared = format!("{ty} sum = {first}, ends = 1;");
        update = format!("{{\n            {update}\n            ends += a[i * 10 + j];\n        }}");
        stored = rng
            .pick(&[
                "s[i] = sum * 2 + ends;",
                "if (ends > sum)\n            s[i] = sum + ends;\n        else\n            s[i] = sum * 2;",
            ])
            .to_owned();
    }
    let body = format!("{declared}\n        for (int j = {from}; j {to}; j++)\n            {update}\n        {stored}");
    of_sums(
        index,
        ty,
        "    const int length = m * 60;\n",
        "",
        &format!("    for (int i = 0; i < n; i++) {{\n        {body}\n    }}\n"),
    )
}

/// A function whose sums go over two serial loops.
fn serial_loops(rng: &mut Rng, index: usize, ty: &str) -> String {
    let (from, to) = (rng.pick(&["0", "1"]), rng.pick(&["q < m", "q < m", "q <= m"]));
    let layers = rng.pick(&["t = 0; t < 7; t++", "t = 6; t >= 0; t--", "t = 0; t < layers; t += 2"]);
    let braces = rng.chance(50);
    let (open, close) = if braces { (" {", "\n            }") } else { ("", "") };
    let body = format!(
        "{ty} sum = {};\n            for (int q = {from}; {to}; q++){open}\n                for (int {layers})\n                    \
         sum += a[t * W * 8 + i * 8 + q]{};{close}\n            if (j < 4)\n                s[i * 4 + j] {} sum;",
        rng.pick(&["0", "5"]),
        rng.pick(&["", " * a[q]"]),
        rng.pick(&["=", "+="]),
    );
    let loops = format!(
        "    for (int i = 0; i < n / 4; i++)\n        for (int j = 0; j < n; j++) {{\n            {body}\n        }}\n"
    );
    of_sums(index, ty, "    const int layers = n % 8;\n    (void)layers;\n", " collapse(2)", &loops)
}

/// A function that leaves its results in an array of the type, by one kernel.
fn of_sums(index: usize, ty: &str, declared: &str, collapse: &str, loops: &str) -> String {
    format!(
        "\nstatic void part{index}(int n, int m, const {ty} *a, double *given)\n{{\n    {ty} s[W];\n{declared}\
         \x20   for (int i = 0; i < W; i++)\n        s[i] = ({ty})i;\n\
         #pragma omp target teams distribute parallel for{collapse} map(to: a[0:SIZE]) map(tofrom: s)\n{loops}\
         \x20   *given = 0;\n    for (int i = 0; i < W; i++)\n        *given += (double)s[i] * (i % 7 + 1);\n}}\n"
    )
}

/// A statement of an iteration that changes a result.
fn updated(rng: &mut Rng, by: By, update: &str) -> String {
    let pragma = "#pragma omp atomic\n";
    match by {
        By::Clauses => format!("        {update}\n"),
        By::AtomicUpdates if rng.chance(40) => {
            format!("        if (i % 3 != 1)\n{pragma}            {update}\n")
        }
        By::AtomicUpdates => format!("{pragma}        {update}\n"),
    }
}

fn head(rng: &mut Rng, name: &str, bound: &str) -> String {
    if rng.chance(30) {
        return format!("for (int {name} = {bound} - 1; {name} >= 0; {name}--)");
    }
    format!("for (int {name} = 0; {name} < {bound}; {name}++)")
}
