//! Random programs for the pass `combine`: loops of which every iteration adds to one result or to two. Valid and free of races by construction; a program depends on its
//! seed alone. No order changes a result: sums are of whole numbers, and extremes are no NaN.

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
}

/// Every family.
pub const FAMILIES: [Family; 6] = [Family::Sum, Family::Bits, Family::Extreme, Family::Nest, Family::Rows, Family::Two];

/// The functions in one file, of each family.
const OF_EACH: usize = 3;

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>

enum { W = 70, LENGTHS = 8, SIZE = W * W };

static const int lengths[LENGTHS] = {0, 1, 2, 5, 33, 64, 69, -5};
";

/// The program of a seed.
pub fn program(seed: u64) -> Program<Family> {
    assembled(seed, &FAMILIES, OF_EACH, HEAD, |rng, family, index| {
        let integers = ["int", "unsigned", "long", "unsigned long long"];
        let ty = match family {
            Family::Bits => rng.pick(&integers),
            Family::Extreme => rng.pick(&["int", "long", "float", "double", "unsigned"]),
            _ => rng.pick(&["int", "unsigned", "long", "double", "double"]),
        };
        (function(rng, family, index, ty), calls(index, ty))
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

fn function(rng: &mut Rng, family: Family, index: usize, ty: &str) -> String {
    let (collapse, cell) = if family == Family::Nest { (" collapse(2)", "a[i * W + j]") } else { ("", "a[i]") };
    let bound = if family == Family::Nest || family == Family::Rows { "n" } else { "n * m" };
    let value = if family == Family::Rows { "row" } else { cell };
    let value = format!("{value}{}", rng.pick(&["", " * 3", " + (m > 5)"]));
    let (operator, first, update) = result(rng, family, "all", &format!("({value})"));
    let mut clauses = vec![
        "map(to: a[0:SIZE])".to_owned(),
        format!("reduction({operator}: all)"),
        rng.pick(&["", "", "thread_limit(256)", "num_teams(9)", "if(target: n > 4)"]).to_owned(),
    ];
    if rng.chance(70) {
        clauses.insert(1, "map(tofrom: all)".to_owned());
    }
    if rng.chance(30) {
        clauses.push("firstprivate(m)".to_owned());
    }
    let mut declared = format!("    {ty} all = {first};\n");
    let mut updates = format!("        {update}\n");
    let mut given = "(double)all".to_owned();
    if family == Family::Two {
        declared += &format!("    {ty} other = 2;\n");
        updates += &format!("        other += {value} > 40;\n");
        clauses.push("map(tofrom: other) reduction(+: other)".to_owned());
        given += " * 1000 + (double)other";
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

fn head(rng: &mut Rng, name: &str, bound: &str) -> String {
    if rng.chance(30) {
        return format!("for (int {name} = {bound} - 1; {name} >= 0; {name}--)");
    }
    format!("for (int {name} = 0; {name} < {bound}; {name}++)")
}
