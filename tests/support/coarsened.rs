//! Random programs for the pass `coarsen`: kernels whose iterations form sums in serial loops, of what is the same for neighbouring iterations
//! and of what is not. Valid and free of races by construction; a program depends on its seed alone.
//!
//! `main` calls each function with lengths that groups divide, with others, and with shorter ones. Results have rows behind the last one,
//! which nobody may write.

use std::fmt::Write as _;

use super::bits::{Program, assembled};
use super::generator::rng::Rng;

/// What a function shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Two loops that are collapsed, as in a product of matrices.
    Products,
    /// One loop, whose serial loops load the same for all of its iterations.
    Elements,
    /// Loops in the serial ones, some of which differ for each iteration.
    Nests,
    /// Conditions and variables that differ, and others that do not.
    Conditions,
    /// Windows around an element, which a condition keeps within the array.
    Windows,
    /// Elements around one, without a serial loop.
    Neighbours,
}

/// Every family.
pub const FAMILIES: [Family; 6] =
    [Family::Products, Family::Elements, Family::Nests, Family::Conditions, Family::Windows, Family::Neighbours];

/// The functions in one file, of each family.
const OF_EACH: usize = 3;

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>

enum { MORE = 8, LENGTHS = 14 };

/* All bytes of a result in one number. */
static unsigned long long folded(unsigned long long hash, size_t size, const void *result)
{
    const unsigned char *bytes = result;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static const int lengths[LENGTHS] = {0, 1, 3, 4, 7, 8, 21, 31, 32, 33, 127, 128, 131, 132};
";

/// The program of a seed.
pub fn program(seed: u64) -> Program<Family> {
    assembled(seed, &FAMILIES, OF_EACH, HEAD, |rng, family, index| {
        let ty = rng.pick(&["float", "float", "double", "unsigned"]);
        let is_nest = family != Family::Elements && rng.chance(70) || family == Family::Products;
        if family == Family::Windows {
            return (window(rng, index, ty), calls(index, ty, true));
        }
        if family == Family::Neighbours {
            return (neighbours(rng, index, ty), calls(index, ty, true));
        }
        (function(rng, family, index, (ty, is_nest)), calls(index, ty, is_nest))
    })
}

/// The function that calls one, and prints what it gives as bits.
fn calls(index: usize, ty: &str, is_nest: bool) -> String {
    // A group of one loop may be as long as sixteen warps.
    let (length, size) = if is_nest {
        ("lengths[l]", "(n + MORE) * (n + MORE)")
    } else {
        ("lengths[l] < 100 ? lengths[l] : lengths[l] * 4 + (l % 2 ? 0 : 3)", "n + MORE")
    };
    format!(
        "
static void run{index}(void)
{{
    printf(\"{index}:\");
    for (int l = 0; l < LENGTHS; l++) {{
        int n = {length}, m = 5 + l % 7;
        int size = {size};
        {ty} *a = malloc(sizeof({ty}) * (n + 1) * m), *b = malloc(sizeof({ty}) * (n + 1) * m);
        {ty} *c = malloc(sizeof({ty}) * size), *d = malloc(sizeof({ty}) * size);
        for (int i = 0; i < (n + 1) * m; i++) {{
            a[i] = ({ty})((i * 7 % 23) * 0.37);
            b[i] = ({ty})((i * 5 % 19) * 0.71);
        }}
        for (int i = 0; i < size; i++)
            c[i] = d[i] = ({ty})(i % 5);
        part{index}(n, m, a, b, c, d);
        printf(\" %llx\", folded(folded(0, size * sizeof({ty}), c), size * sizeof({ty}), d));
        free(a), free(b), free(c), free(d);
    }}
    printf(\"\\n\");
}}
"
    )
}

/// What the statements of a function are made of.
struct Words {
    ty: &'static str,
    /// An element that differs for each iteration, and one that does not, in the serial loop and in front of it.
    own: &'static str,
    shared: &'static str,
    own_before: &'static str,
    shared_before: &'static str,
    result: &'static str,
    /// Factors.
    half: &'static str,
    other: &'static str,
}

fn function(rng: &mut Rng, family: Family, index: usize, (ty, is_nest): (&'static str, bool)) -> String {
    let is_integer = ty == "unsigned";
    let size = if is_nest { "(n + MORE) * (n + MORE)" } else { "n + MORE" };
    let words = Words {
        ty,
        own: if is_nest { "a[i * m + k]" } else { "own" },
        shared: if is_nest { "b[k * n + j]" } else { "b[k]" },
        own_before: if is_nest { "a[i * m]" } else { "a[i]" },
        shared_before: if is_nest { "b[j]" } else { "b[0]" },
        result: if is_nest { "i * n + j" } else { "i" },
        half: if is_integer {
            "3"
        } else if ty == "float" {
            "0.7f"
        } else {
            "0.7"
        },
        other: if is_integer {
            "5"
        } else if ty == "float" {
            "0.3f"
        } else {
            "0.3"
        },
    };
    let (lower, bound) = rng.pick(&[("0", "i < n"), ("0", "i <= n - 1"), ("1", "i < n"), ("0", "n > i")]);
    let up = rng.pick(&["i++", "++i", "i += 1"]);
    let index_type = rng.pick(&["int", "int", "long"]);
    let mut text = format!(
        "\nstatic void part{index}(int n, int m, const {ty} *a, const {ty} *b, {ty} *c, {ty} *d)\n{{\n\
         #pragma omp target teams distribute parallel for{} \\\n    map(to: a[0:(n + 1) * m], b[0:(n + 1) * m]) \
         map(tofrom: c[0:{size}], d[0:{size}])\n    \
         for ({index_type} i = {lower}; {bound}; {up})",
        if is_nest { " collapse(2)" } else { "" },
    );
    if is_nest {
        let (lower, bound) =
            rng.pick(&[("0", "j < n"), ("0", "j < n"), ("1", "j <= n - 1"), ("1", "j < n"), ("0", "n > j")]);
        let up = rng.pick(&["j++", "++j"]);
        let _ = write!(text, "\n        for ({} j = {lower}; {bound}; {up})", rng.pick(&["int", "int", "long"]));
    }
    text.push_str(" {\n");
    for line in body(rng, family, &words, is_nest) {
        let _ = writeln!(text, "            {line}");
    }
    text.push_str("        }\n}\n");
    text
}

/// A kernel that combines the elements of windows: of both dimensions, or of one.
fn window(rng: &mut Rng, index: usize, ty: &str) -> String {
    let (head, rest) = (
        format!("\nstatic void part{index}(int n, int m, const {ty} *a, const {ty} *b, {ty} *c, {ty} *d)\n{{\n"),
        "#pragma omp target teams distribute parallel for collapse(2) \\\n    map(to: a[0:(n + 1) * m], b[0:(n + 1) * m]) \
         map(tofrom: c[0:(n + MORE) * (n + MORE)], d[0:(n + MORE) * (n + MORE)])\n",
    );
    let own =
        rng.pick(&["for (int i = 0; i < n; i++)", "for (int i = 0; i <= n - 1; ++i)", "for (long i = 1; i < n; i++)"]);
    let (before, behind) = (rng.range(0, 3), rng.range(0, 2));
    let asked = rng.pick(&["y >= 0 && y < n", "y < n && y >= 0", "0 <= y && n > y", "y >= 0 && y <= n - 1"]);
    let term = rng.pick(&[
        "s += a[y * m + x] * b[k];",
        "s = s / 2 + a[y * m + x];",
        "s = a[y * m + x] > s ? a[y * m + x] : s;",
    ]);
    let rows = format!("for (int k = 0; k <= {}; k++)", before + behind);
    let from = if own.contains("long") { "(int)i" } else { "i" };
    let serial = if rng.chance(60) {
        let (left, right) = (rng.range(0, 2), rng.range(1, 2));
        format!(
            "            {rows}\n                for (int u = -{left}; u <= {right}; u++) {{\n                    \
             int y = {from} + k - {before}, x = j + u;\n                    if ({asked} && x >= 0 && x < m)\n                        \
             {term}\n                }}\n"
        )
    } else {
        let term = term.replace("* m + x", "* m + j");
        format!(
            "            {rows} {{\n                int y = {from} + k - {before};\n                if ({asked}) {{\n                    \
             {term}\n                    s += b[k]; // in order\n                }}\n            }}\n"
        )
    };
    format!(
        "{head}{rest}    {own}\n        for (int j = 0; j < m; j++) {{\n            {ty} s = b[0];\n{serial}            \
         c[i * m + j] = s;\n            d[i * m + j] += s;\n        }}\n}}\n"
    )
}

/// A kernel that combines elements around one, and stores one or two of what it makes of them.
fn neighbours(rng: &mut Rng, index: usize, ty: &str) -> String {
    let half = if ty == "unsigned" { "3" } else { "0.7f" };
    let own = rng.pick(&[
        "for (int i = 1; i < n; i++)",
        "for (int i = 1; i <= n - 1; ++i)",
        "for (long i = 2; i < n; i += 1)",
    ]);
    let at = |row: &str, column: &str| format!("a[{row} * m + {column}]");
    let (here, left, right) = (at("i", "j"), at("i", "j - 1"), at("i", "j + 1"));
    let is_clamped = rng.chance(30);
    let [row_above, row_below] = if is_clamped { ["above", "below"] } else { ["(i - 1)", "(i + 1)"] };
    let (above, below) = (at(row_above, "j"), at(row_below, "j"));
    let corners = if rng.chance(40) {
        format!(" - {half} * ({} + {})", at(row_above, "j - 1"), at(row_below, "j + 1"))
    } else {
        String::new()
    };
    let sum = format!("{here} + {half} * ({left} + {right} +\n                {above} + {below}){corners}");
    let mut lines = Vec::new();
    if is_clamped {
        lines.push("int above = i > 1 ? (int)i - 1 : (int)i, below = i < n - 1 ? (int)i + 1 : (int)i;".to_owned());
    }
    let (is_direct, place) = (rng.chance(40), rng.pick(&["i * m + j", "i * m + j", "place"]));
    if place == "place" {
        lines.push("const int place = i * m + j; // of the element".to_owned());
    }
    if !is_direct {
        lines.push(format!("{ty} s = {sum};"));
    }
    if !is_direct && rng.chance(40) {
        lines.push(format!("if (s > {below})\n                s = s * {half};"));
    }
    let value = if is_direct { sum } else { format!("s * {half} + {here}") };
    let operator = rng.pick(&["=", "=", "+=", "-="]);
    lines.push(format!("c[{place}] {operator} {value};"));
    let second = [
        String::new(),
        format!("d[{place}] {operator} {left} + {half} * ({above} + {here});"),
        format!("d[{place}] = c[{place}] * {half} + {above};"),
        format!("if ({here} > {above})\n                d[{place}] = {below};"),
    ];
    lines.extend(Some(second[rng.below(4)].clone()).filter(|line| !line.is_empty()));
    let is_bare = lines.len() == 1 && rng.chance(70);
    let [open, close] = if is_bare { ["", ""] } else { [" {", "        }\n"] };
    let body: String = lines.iter().map(|line| format!("            {line}\n")).collect();
    format!(
        "\nstatic void part{index}(int n, int m, const {ty} *a, const {ty} *b, {ty} *c, {ty} *d)\n{{\n\
         #pragma omp target teams distribute parallel for collapse(2) \\\n    map(to: a[0:(n + 1) * m], b[0:(n + 1) * m]) \
         map(tofrom: c[0:(n + MORE) * (n + MORE)], d[0:(n + MORE) * (n + MORE)])\n    {own}\n        \
         for (int j = 1; j < m - 1; j++){open}\n{body}{close}}}\n"
    )
}

fn body(rng: &mut Rng, family: Family, words: &Words, is_nest: bool) -> Vec<String> {
    let Words { ty, own_before, shared_before, result, half, .. } = words;
    let mut lines = Vec::new();
    if !is_nest {
        lines.push(format!("const {ty} own = {own_before};"));
    }
    let sums = rng.range(1, 3);
    let first = |at: usize, rng: &mut Rng| match rng.below(3) {
        0 => format!("s{at} = 0"),
        1 => format!("s{at} = {shared_before} * {half}"),
        _ => format!("s{at} = {own_before} * {half} + {at}"),
    };
    if rng.chance(50) {
        let all: Vec<String> = (0..sums).map(|at| first(at, rng)).collect();
        lines.push(format!("{ty} {}; // its sums", all.join(", ")));
    } else {
        lines.extend((0..sums).map(|at| format!("{ty} {};", first(at, rng))));
    }
    lines.push(format!("{ty} same = {shared_before};"));
    for _ in 0..rng.range(1, 2) {
        lines.extend(serial(rng, family, words, sums));
    }
    if rng.chance(30) {
        lines.push(format!("if (s0 > {own_before})"));
        lines.push(format!("    s0 = s0 * {half};"));
    }
    lines.push(format!("c[{result}] = s0;"));
    let all: Vec<String> = (0..sums).map(|at| format!("s{at}")).collect();
    lines.push(format!("d[{result}] += {} + same;", all.join(" + ")));
    lines
}

/// A serial loop.
fn serial(rng: &mut Rng, family: Family, words: &Words, sums: usize) -> Vec<String> {
    let head = rng.pick(&[
        "for (int k = 0; k < m; k++)",
        "for (int k = 1; k < m; k += 2)",
        "for (int k = m - 1; k >= 0; k--)",
    ]);
    let sum = rng.below(sums);
    if rng.chance(30) {
        return vec![head.to_owned(), format!("    {}", term(words, sum, rng))];
    }
    let mut lines = vec![format!("{head} {{")];
    for at in 0..rng.range(1, 4) {
        let statement = match family {
            Family::Nests => rng.range(0, 5),
            Family::Conditions => rng.pick(&[0, 1, 2, 3, 6, 7]),
            _ => rng.range(0, 3),
        };
        lines.extend(self::statement(rng, words, sums, (statement, at)).into_iter().map(|line| format!("    {line}")));
    }
    lines.push(format!("    {}", term(words, sum, rng)));
    lines.push("}".to_owned());
    lines
}

/// A statement that adds to a sum.
fn term(words: &Words, sum: usize, rng: &mut Rng) -> String {
    let Words { own, shared, half, other, .. } = words;
    match rng.below(4) {
        0 => format!("s{sum} += {own} * {shared};"),
        1 => format!("s{sum} = s{sum} * {other} + {own} * {shared}; // in order"),
        2 => format!("s{sum} += {half} * {own} * {shared};"),
        _ => format!("s{sum} = {own} - s{sum} * {shared} * {other};"),
    }
}

/// One of several sorts of statements, in the place `at`.
fn statement(rng: &mut Rng, words: &Words, sums: usize, (sort, at): (usize, usize)) -> Vec<String> {
    let Words { ty, own, shared, half, other, .. } = words;
    let sum = rng.below(sums);
    match sort {
        0 => vec![term(words, sum, rng)],
        // The same for all iterations of a group.
        1 => vec![format!("const {ty} t{at} = {shared} * {half};"), format!("s{sum} += t{at} * {own};")],
        2 => vec![format!("same = same * {other} + {shared};")],
        3 => vec![
            format!("{ty} v{at} = {own} * {half};"),
            "/* its own */".to_owned(),
            format!("s{sum} += v{at} * {shared};"),
        ],
        4 => vec![
            "for (int q = 0; q < 2; q++)".to_owned(),
            format!("    s{sum} = s{sum} * {other} + {shared} * q + {own};"),
        ],
        5 => vec![format!("for (int q = 0; q < i % 3; q++) {{ s{sum} += {shared} * {half}; }}")],
        6 => vec![
            format!("if ({own} > {shared})"),
            format!("    s{sum} -= {own} * {half};"),
            "else".to_owned(),
            format!("    s{sum} += {shared};"),
        ],
        _ => vec![format!("if ({shared} > 4) {{"), format!("    s{sum} = s{sum} * {other} + {own};"), "}".to_owned()],
    }
}
