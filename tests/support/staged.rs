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
}

/// Every family.
pub const FAMILIES: [Family; 4] = [Family::Transposed, Family::Mixed, Family::Blocks, Family::InPlace];

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
