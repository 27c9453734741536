//! Random programs for the pass `tile`: kernels of two or three collapsed loops that do little. Valid and free of races by construction; a
//! program depends on its seed alone.
//!
//! `main` calls each function with lengths that tiles divide, with others, and with none at all. Results have rows and columns behind the last
//! ones, which nobody may write.

use std::fmt::Write as _;

use super::bits::{Program, assembled};
use super::generator::rng::Rng;

/// What a function shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Neighbours in rows and columns.
    Stencil,
    /// Three loops.
    Cube,
    /// The largest value of a column, in place.
    InPlace,
    /// Sums of whole numbers, whose order changes nothing.
    Sum,
    /// Edges, by conditions.
    Edges,
}

/// Every family.
pub const FAMILIES: [Family; 5] = [Family::Stencil, Family::Cube, Family::InPlace, Family::Edges, Family::Sum];

/// The functions in one file, of each family.
const OF_EACH: usize = 3;

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>

enum { W = 40, LENGTHS = 11, SIZE = W * W * 12 };

/* All bytes of a result in one number. */
static unsigned long long folded(unsigned long long hash, size_t size, const void *result)
{
    const unsigned char *bytes = result;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static const int lengths[LENGTHS] = {0, 1, 2, 3, 4, 5, 8, 11, 31, 38, -5};
";

/// The program of a seed.
pub fn program(seed: u64) -> Program<Family> {
    assembled(seed, &FAMILIES, OF_EACH, HEAD, |rng, family, index| {
        let ty = rng.pick(&["float", "short", "short", "unsigned char"]);
        (function(rng, family, index, ty), calls(index, ty))
    })
}

/// The function that calls one, and prints what it gives as bits.
fn calls(index: usize, ty: &str) -> String {
    format!(
        "
static void run{index}(void)
{{
    {ty} *a = malloc(sizeof({ty}) * SIZE), *b = malloc(sizeof({ty}) * SIZE);
    printf(\"{index}:\");
    for (int l = 0; l < LENGTHS; l++) {{
        int n = lengths[l], m = lengths[(l * 3 + {index}) % LENGTHS];
        for (int i = 0; i < SIZE; i++) {{
            a[i] = ({ty})(i * 7 % 123 * 0.37);
            b[i] = ({ty})(i % 5);
        }}
        part{index}(n, m, a, b);
        printf(\" %llx\", folded(0, SIZE * sizeof({ty}), b));
    }}
    free(a), free(b);
    printf(\"\\n\");
}}
"
    )
}

fn function(rng: &mut Rng, family: Family, index: usize, ty: &str) -> String {
    if family == Family::Sum {
        return sum(rng, index, ty);
    }
    let is_cube = family == Family::Cube;
    let (cell, names): (&str, &[(&str, &str)]) = match is_cube {
        true => ("(k * W + i) * W + j", &[("k", "9"), ("i", "n"), ("j", "m")]),
        false => ("i * W + j", &[("i", "n"), ("j", "m")]),
    };
    let length = rng.pick(&["int", "int", "long"]);
    let heads: Vec<String> = names.iter().map(|(name, bound)| head(rng, length, name, bound)).collect();
    let grid = rng.pick(&["", "", " thread_limit(128)", " num_teams(7)", " default(shared)"]);
    let mut text = format!(
        "\nstatic void part{index}({length} n, {length} m, const {ty} *a, {ty} *b)\n{{\n\
         {}#pragma omp target teams distribute parallel for collapse({}){grid} \\\n    map(to: a[0:SIZE]) map(tofrom: b[0:SIZE])\n",
        if rng.chance(30) { "    (void)n, (void)m;\n" } else { "" },
        names.len()
    );
    for (depth, head) in heads.iter().enumerate() {
        let _ = writeln!(text, "{}{head}", "    ".repeat(depth + 1));
    }
    let indent = "    ".repeat(heads.len());
    let _ = writeln!(text, "{indent}{{");
    for line in body(rng, family, ty, cell) {
        let _ = writeln!(text, "{indent}    {line}");
    }
    let _ = write!(text, "{indent}}}\n}}\n");
    text
}

/// A sum of one loop or of two, which goes into the first element of the result.
fn sum(rng: &mut Rng, index: usize, ty: &str) -> String {
    let is_nest = rng.chance(40);
    let (collapse, cell) = if is_nest { (" collapse(2)", "i * W + j") } else { ("", "i") };
    let bound = if is_nest { "n" } else { "n * m * 9" };
    let mut heads = format!("    {}\n", head(rng, "int", "i", bound));
    if is_nest {
        let _ = writeln!(heads, "        {}", head(rng, "int", "j", "m"));
    }
    let (operator, update, first) = rng.pick(&[("+", "+=", "0"), ("^", "^=", "0"), ("|", "|=", "0"), ("+", "-=", "7")]);
    let cast = if ty == "float" { "(unsigned)" } else { "" };
    let other = rng.pick(&["", " + a[W + cell]", " * 3"]).replace("cell", cell);
    let condition = if rng.chance(30) { format!("if (a[{cell}] > 5) ") } else { String::new() };
    format!(
        "\nstatic void part{index}(int n, int m, const {ty} *a, {ty} *b)\n{{\n    unsigned all = {first};\n\
         #pragma omp target teams distribute parallel for{collapse} map(to: a[0:SIZE]) map(tofrom: all) reduction({operator}: all){}\n\
         {heads}            {condition}all {update} {cast}(a[{cell}]{other});\n    b[0] = ({ty})(all & 0xffff), b[1] = ({ty})m;\n}}\n",
        rng.pick(&["", " thread_limit(256)", " num_teams(9)"]),
    )
}

fn head(rng: &mut Rng, ty: &str, name: &str, bound: &str) -> String {
    // From 1 up to and with the bound there are as many as from 0 below it.
    let (lower, test) = rng.pick(&[("0", "<"), ("0", "<"), ("1", "<="), ("0", ">")]);
    let test = match test {
        "<" => format!("{name} < {bound}"),
        "<=" => format!("{name} <= {bound}"),
        _ => format!("{bound} > {name}"),
    };
    let up = rng.pick(&["++", " += 1"]);
    format!("for ({ty} {name} = {lower}; {test}; {name}{up})")
}

fn body(rng: &mut Rng, family: Family, ty: &str, cell: &str) -> Vec<String> {
    let half = if ty == "float" { "0.7f" } else { "3" };
    // Rows and columns around those that are stored are there: `a` begins a row and a column before them.
    let at = |rng: &mut Rng| format!("a[W * W + {cell} + {}]", rng.pick(&["0", "1", "2", "W", "2 * W", "-W", "-1"]));
    let operator = rng.pick(&["=", "=", "=", "-="]);
    match family {
        Family::Stencil => vec![format!("b[{cell}] {operator} {half} * {} + {} - {};", at(rng), at(rng), at(rng))],
        Family::Cube => {
            vec![format!("const {ty} x = {} + {};", at(rng), at(rng)), format!("b[{cell}] {operator} x * {half};")]
        }
        Family::InPlace => vec![
            format!("{ty} x = {} - {half} * {};", at(rng), at(rng)),
            format!("if (x > b[{cell}])"),
            format!("    b[{cell}] = x;"),
        ],
        Family::Sum => Vec::new(),
        Family::Edges => vec![
            "const int above = i > 1 ? i - 1 : i;".to_owned(),
            format!("if ({} > {})", at(rng), at(rng)),
            format!("    b[{cell}] {operator} a[above * W + j] - {};", at(rng)),
            "else".to_owned(),
            format!("    b[{cell}] = {half};"),
        ],
    }
}
