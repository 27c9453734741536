//! Random programs for the pass `stage`: kernels of two loops that load or store far apart along either of them. Valid and free of races by
//! construction; a program depends on its seed alone.
//!
//! `main` calls each function with lengths that tiles divide, with others, and with none at all. Results have rows and columns behind the last
//! ones, which nobody may write.

use std::fmt::Write as _;

use super::bits::{Program, assembled};
use super::generator::rng::Rng;

/// What a function shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Loads along one loop, stores along the other.
    Transposed,
    /// The same array, or two of them, along both loops.
    Mixed,
    /// Blocks with variables and branches behind the loads.
    Blocks,
    /// A result that is loaded where iterations have stored it, each its own element.
    InPlace,
    /// Sums over rows, along which neighbouring threads load far apart.
    Rows,
}

/// Every family.
pub const FAMILIES: [Family; 5] = [Family::Transposed, Family::Mixed, Family::Blocks, Family::InPlace, Family::Rows];

/// The functions in one file, of each family.
const OF_EACH: usize = 3;

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>

enum { MORE = 40, LENGTHS = 9 };

/* All bytes of a result in one number. */
static unsigned long long folded(unsigned long long hash, size_t size, const void *result)
{
    const unsigned char *bytes = result;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static const int lengths[LENGTHS] = {0, 1, 5, 31, 32, 33, 64, 70, 97};
";

/// The program of a seed.
pub fn program(seed: u64) -> Program<Family> {
    assembled(seed, &FAMILIES, OF_EACH, HEAD, |rng, family, index| {
        let ty = rng.pick(&["float", "float", "double", "unsigned", "short", "unsigned char"]);
        if family == Family::Rows {
            return (rows(rng, index, ty), calls_of_rows(index, ty));
        }
        (function(rng, family, index, ty), calls(index, ty))
    })
}

/// The function that calls one, and prints what it gives as bits.
fn calls(index: usize, ty: &str) -> String {
    format!(
        "
static void run{index}(void)
{{
    printf(\"{index}:\");
    for (int l = 0; l < LENGTHS; l++) {{
        int n = lengths[l], m = lengths[(l * 4 + {index}) % LENGTHS], w = (n > m ? n : m) + MORE;
        int size = w * w;
        {ty} *a = malloc(sizeof({ty}) * size), *b = malloc(sizeof({ty}) * size), *c = malloc(sizeof({ty}) * size);
        for (int i = 0; i < size; i++) {{
            a[i] = ({ty})(i * 7 % 123 * 0.37);
            b[i] = ({ty})(i * 5 % 119 * 0.71);
            c[i] = ({ty})(i % 5);
        }}
        part{index}(n, m, w, a, b, c);
        printf(\" %llx\", folded(0, size * sizeof({ty}), c));
        free(a), free(b), free(c);
    }}
    printf(\"\\n\");
}}
"
    )
}

/// The same for sums over rows: they are staged where there are many.
fn calls_of_rows(index: usize, ty: &str) -> String {
    let long = 129 + index * 7 % 40;
    format!(
        "
static void run{index}(void)
{{
    static const int all[3][3] = {{{{515, 517, {long}}}, {{33, 7951, 130}}, {{4, 5, 3}}}};
    printf(\"{index}:\");
    for (int l = 0; l < 3; l++) {{
        int n = all[l][0], m = all[l][1], w = all[l][2];
        {ty} *a = malloc(sizeof({ty}) * n * w), *b = malloc(sizeof({ty}) * m * w), *c = malloc(sizeof({ty}) * n * m);
        for (int i = 0; i < n * w; i++)
            a[i] = ({ty})(i * 7 % 123 * 0.37);
        for (int i = 0; i < m * w; i++)
            b[i] = ({ty})(i * 5 % 119 * 0.71);
        for (int i = 0; i < n * m; i++)
            c[i] = ({ty})(i % 5);
        part{index}(n, m, w, a, b, c);
        printf(\" %llx\", folded(0, sizeof({ty}) * n * m, c));
        free(a), free(b), free(c);
    }}
    printf(\"\\n\");
}}
"
    )
}

/// A function that forms sums over rows.
fn rows(rng: &mut Rng, index: usize, ty: &str) -> String {
    let (one, other) = ("a[i * w + k]", "b[j * w + k]");
    let half = match ty {
        "float" => "0.7f",
        "double" => "0.7",
        _ => "3",
    };
    let first = rng.pick(&["0", "c[i * m + j]", "i + j"]);
    let (from, test) = rng.pick(&[("0", "k < w"), ("0", "k <= w - 1"), ("1", "k < w"), ("0", "w - 1 > k")]);
    let mut lines = vec![format!("{ty} sum = {first}; // the sum")];
    if rng.chance(30) {
        lines.push(format!("const {ty} scale = {half} + b[j * w];"));
    }
    let scale = if lines.len() > 1 { "scale" } else { half };
    lines.push(format!("for (int k = {from}; {test}; k++)"));
    match rng.below(4) {
        0 => lines.push(format!("    sum += {one} * {other} * {scale};")),
        1 => lines.push(format!("    sum -= {scale} * ({one} - {other}) * ({one} - {other}); /* apart */")),
        2 => lines.extend([
            "{".to_owned(),
            format!("    {ty} x = {one} * {scale};"),
            format!("    if ({other} > x)"),
            "        x -= 1;".to_owned(),
            format!("    sum += x * {other};"),
            "}".to_owned(),
        ]),
        _ => lines.push(format!("    sum = sum * {scale} + {other} - {one};")),
    }
    lines.push(
        rng.pick(&["c[i * m + j] = sum;", "if (sum > 1) c[i * m + j] = sum;", "c[i * m + j] += sum;"]).to_owned(),
    );
    let open = rng.pick(&[" {\n", "\n        {\n"]);
    let body: String = lines.iter().map(|line| format!("            {line}\n")).collect();
    format!(
        "\nstatic void part{index}(int n, int m, int w, const {ty} *a, const {ty} *b, {ty} *c)\n{{\n\
         #pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * w], b[0:m * w]) map(tofrom: c[0:n * m])\n    \
         for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++){open}{body}        }}\n}}\n"
    )
}

/// What the statements of a function are made of.
struct Words {
    ty: &'static str,
    /// The element of the result, and loads across its rows and along them.
    result: String,
    across: Vec<String>,
    along: Vec<String>,
    /// A factor.
    half: &'static str,
}

fn function(rng: &mut Rng, family: Family, index: usize, ty: &'static str) -> String {
    // The result is stored along the columns or along the rows.
    let (row, column) = if rng.chance(50) { ("i", "j") } else { ("j", "i") };
    let element = |array: &str, row: &str, column: &str, more: usize| match more {
        0 => format!("{array}[{row} * w + {column}]"),
        more => format!("{array}[({row} + {more}) * w + {column}]"),
    };
    let half = match ty {
        "float" => "0.7f",
        "double" => "0.7",
        _ => "3",
    };
    // An array that the loops store to as well lies apart from what is stored.
    let source = if family == Family::InPlace { "c" } else { "a" };
    let far = |row: &str, column: &str| {
        if source == "c" { format!("c[({row} + n + m + 2) * v + {column}]") } else { element("a", row, column, 0) }
    };
    let more = rng.range(0, 2);
    let words = Words {
        ty,
        result: if source == "c" { format!("c[{row} * v + {column}]") } else { element("c", row, column, 0) },
        across: vec![far(column, row), element("b", column, row, more)],
        along: vec![element("a", row, column, 0), element("b", row, column, more)],
        half,
    };
    let head = |name: &str, bound: &str, rng: &mut Rng| {
        let (lower, test) = rng.pick(&[("0", "<"), ("0", "<="), ("1", "<"), ("0", ">"), ("1", "<=")]);
        let test = match test {
            "<" => format!("{name} < {bound}"),
            "<=" => format!("{name} <= {bound} - 1"),
            _ => format!("{bound} > {name}"),
        };
        let up = rng.pick(&["++", " += 1"]);
        let ty = rng.pick(&["int", "int", "long"]);
        format!("for ({ty} {name} = {lower}; {test}; {name}{up})")
    };
    let mut text = format!(
        "\nstatic void part{index}(int n, int m, int w, const {ty} *a, const {ty} *b, {ty} *c)\n{{\n\
         {}#pragma omp target teams distribute parallel for collapse(2) \\\n    map(to: a[0:w * w], b[0:w * w]) \
         map(tofrom: c[0:w * w]){}\n    {}\n        {}",
        if source == "c" { "    const int v = w / 2;\n" } else { "" },
        rng.pick(&["", "", " thread_limit(128)", " default(shared)"]),
        head("i", if source == "c" { "n / 2" } else { "n" }, rng),
        head("j", if source == "c" { "m / 2" } else { "m" }, rng),
    );
    let lines = body(rng, family, &words);
    match lines.as_slice() {
        [only] if rng.chance(60) => {
            let _ = writeln!(text, "\n            {only}{}\n}}", rng.pick(&["", " // one statement"]));
        }
        lines => {
            text.push_str(rng.pick(&[" {\n", "\n        {\n", " { // a block\n"]));
            for line in lines {
                let _ = writeln!(text, "            {line}");
            }
            text.push_str("        }\n}\n");
        }
    }
    text
}

fn body(rng: &mut Rng, family: Family, words: &Words) -> Vec<String> {
    let Words { ty, result, across, along, half } = words;
    let operator = rng.pick(&["=", "+=", "-=", "+="]);
    let across = |rng: &mut Rng| across[rng.below(across.len())].clone();
    let along = |rng: &mut Rng| along[rng.below(along.len())].clone();
    match family {
        Family::Transposed => vec![match rng.below(3) {
            0 => format!("{result} {operator} {};", across(rng)),
            1 => format!("{result} {operator} {half} * {} + 1;", across(rng)),
            _ => format!("{result} {operator} {} - {half} * {};", across(rng), across(rng)),
        }],
        // Written by `rows`.
        Family::Rows => Vec::new(),
        Family::InPlace => vec![format!("{result} {operator} {half} * {};", words.across[0])],
        Family::Mixed => {
            vec![format!("{result} {operator} {half} * {} + {} * {};", across(rng), along(rng), across(rng))]
        }
        Family::Blocks => {
            let mut lines = vec![format!("{ty} x = {}; // far apart", across(rng))];
            if rng.chance(60) {
                lines.push(format!("const {ty} y = {} * {half} - {};", along(rng), across(rng)));
                lines.push(format!("x = x * {half} + y;"));
            }
            if rng.chance(50) {
                lines.push(format!("if (x > {})", along(rng)));
                lines.push(format!("    x -= {half};"));
            }
            lines.push(format!("{result} {operator} x;"));
            if rng.chance(50) {
                lines.push(format!("if (x < {})", along(rng)));
                lines.push(format!("    {result} += {half} * {};", along(rng)));
            }
            lines
        }
    }
}
