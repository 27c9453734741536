//! Random programs for what the pass `fuse` does with loops of the host: kernels that are repeated, whose iterations keep apart in all passes, and
//! some whose iterations meet in different passes alone. Valid and free of races by construction; a program depends on its seed alone.
//!
//! `main` calls each function with several lengths and numbers of passes. Where a loop makes no pass, there are no arrays, and their length
//! is no length.

use std::fmt::Write as _;

use super::bits::{Program, assembled};
use super::generator::rng::Rng;

/// What a function shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Elements that go on from pass to pass.
    Elements,
    /// Several constructs, which become one first.
    Several,
    /// Rows of a matrix, in one loop with a serial one or in two that are collapsed.
    Rows,
    /// Each pass writes a row of its own from the one before.
    Layers,
    /// Several constructs, each about arrays of its own, which calls let overlap.
    Apart,
    /// Several constructs over different ranges, which stand side by side.
    Beside,
    /// An array is computed from another one, and copied back.
    Turns,
    /// Nests over ranges that differ by numbers.
    Ranges,
    /// Iterations meet, but not in one pass; or each launch does something of its own.
    Meeting,
}

/// Every family of which most functions are changed.
pub const FAMILIES: [Family; 8] = [
    Family::Elements,
    Family::Several,
    Family::Rows,
    Family::Layers,
    Family::Apart,
    Family::Beside,
    Family::Turns,
    Family::Ranges,
];

const ALL: [Family; 9] = [
    Family::Elements,
    Family::Several,
    Family::Rows,
    Family::Layers,
    Family::Apart,
    Family::Beside,
    Family::Turns,
    Family::Ranges,
    Family::Meeting,
];

/// The functions in one file, of each family.
const OF_EACH: usize = 4;

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>

enum { LENGTHS = 5, MOST = 6, COLUMNS = 5 };

/* All bytes of a result in one number. */
static unsigned long long folded(unsigned long long hash, size_t size, const void *result)
{
    const unsigned char *bytes = result;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static const int lengths[LENGTHS] = {2, 7, 32, 33, 130};
";

/// The heads of loops over passes, with what tells of a mistake in them.
const HEADS: [&str; 10] = [
    "for (int t = 0; t < steps; t++)",
    "for (int t = 1; t <= steps; ++t)",
    "for (int t = steps; t > 0; t--)",
    "for (int t = steps - 1; t >= 0; t -= 2)",
    "for (long t = 0; t < steps; t += 2)",
    "for (int t = 0; steps > t; t++)",
    "for (int t = steps - 3; t < steps; t++)",
    "for (short t = 1; t < steps; t++)",
    "for (int t = 0; t < 4; t++)",
    "for (int t = 3; t > -2; t -= 2)",
];

/// The program of a seed.
pub fn program(seed: u64) -> Program<Family> {
    assembled(seed, &ALL, OF_EACH, HEAD, |rng, family, index| {
        let ty = rng.pick(&["float", "float", "double", "int"]);
        let head = match family {
            // The rows are as many as the most passes.
            Family::Layers => rng.pick(&["for (int t = 1; t < steps; t++)", "for (int t = 1; steps > t; ++t)"]),
            _ => rng.pick(&HEADS),
        };
        (function(rng, family, index, (ty, head)), calls(family, index, ty, head))
    })
}

/// The function that calls one, and prints what it gives as bits. Where the function expects it, arrays lie apart, overlap in all elements but
/// some or in one, and are the same.
fn calls(family: Family, index: usize, ty: &str, head: &str) -> String {
    let places = match family {
        Family::Apart => "{size, 2 * size}, {1, size}, {size, size + n - 1}, {2 * size, n - 1}, {size, 0}, {n, 2 * n}",
        _ => "{size, 2 * size}",
    };
    format!(
        "
static void run{index}(void)
{{
    printf(\"{index}:\");
    for (int l = 0; l < LENGTHS; l++) {{
        int n = lengths[l], size = (n + 1) * (MOST + COLUMNS);
        int places[][2] = {{{places}}}, arrangements = sizeof places / sizeof *places;
        {ty} *all = malloc(sizeof({ty}) * 3 * size);
        for (int both = -2 * arrangements; both < MOST * arrangements; both++) {{
            int steps = (both + 2 * arrangements) / arrangements - 2;
            int *place = places[(both + 2 * arrangements) % arrangements];
            for (int i = 0; i < 3 * size; i++)
                all[i] = i < size ? ({ty})((i * 7 % 23) * 0.37) : i < 2 * size ? ({ty})((i * 5 % 19) * 0.71) : ({ty})(i % 5);
            int passes = 0;
            {head}
                passes++;
            part{index}(passes ? n : -n, steps, passes ? all : NULL, passes ? all + place[0] : NULL, passes ? all + place[1] : NULL);
            printf(\" %llx\", folded(0, 3 * size * sizeof({ty}), all));
        }}
        free(all);
    }}
    printf(\"\\n\");
}}
"
    )
}

fn function(rng: &mut Rng, family: Family, index: usize, (ty, head): (&str, &str)) -> String {
    let mut text = format!("\nstatic void part{index}(int n, int steps, {ty} *a, {ty} *b, {ty} *c)\n{{\n");
    let own =
        rng.pick(&["for (int i = 0; i < n; i++)", "for (long i = 1; i < n; ++i)", "for (int i = n - 1; i >= 0; i--)"]);
    match family {
        Family::Several => {
            let _ = writeln!(text, "    {head} {{");
            for _ in 0..rng.range(2, 3) {
                let lines = statements(rng, ty, "i", 2);
                let _ = write!(text, "{DIRECTIVE} {}\n{}", maps("n"), loop_of(&lines, &[own], 2));
            }
            text.push_str("    }\n");
        }
        Family::Apart => {
            let _ = writeln!(text, "    {head} {{");
            let half = if ty == "int" { "3" } else { "0.5" };
            for array in ["a", "b", "c"] {
                let line = match rng.below(3) {
                    0 => format!("{array}[i] = {array}[i] / 2 + t * 3 + 1;"),
                    1 => format!("{array}[i] += {array}[i] * {half} - t;"),
                    _ => format!("if ({array}[i] < 40) {array}[i] = {array}[i] * {half} + 3 * t + 5;"),
                };
                let _ = write!(text, "{DIRECTIVE} map(tofrom: {array}[0:n])\n{}", loop_of(&[line], &[own], 2));
            }
            text.push_str("    }\n");
        }
        Family::Beside => text.push_str(&beside(rng, ty, head)),
        Family::Ranges => text.push_str(&ranges(rng, ty, head)),
        Family::Turns => text.push_str(&turns(rng, ty, head)),
        Family::Rows => {
            let is_collapsed = rng.chance(50);
            let inner = "for (int j = 0; j < COLUMNS; j++)";
            let lines = statements(rng, ty, "i * COLUMNS + j", 3);
            let clause = if is_collapsed { " collapse(2)" } else { "" };
            let heads = ["for (int i = 0; i < n; i++)", inner];
            let block = loop_of(&lines, &heads, 2);
            let _ = write!(text, "    {head} {{\n{DIRECTIVE}{clause} {}\n{block}    }}\n", maps("n * COLUMNS"));
        }
        Family::Layers => {
            let (from, to) = ("a[(t - 1) * n + i]", "a[t * n + i]");
            let more = rng.pick(&["b[i] += 2;", "c[i] = c[i] / 2 + b[t * n + i];", "b[t * n + i] = c[i]; c[i] += t;"]);
            let lines = [format!("{to} = {to} + {from} / 2 + t;"), more.to_owned()];
            let block = loop_of(&lines, &["for (int i = 0; i < n; i++)"], 2);
            let _ = write!(text, "    {head} {{\n{DIRECTIVE} {}\n{block}    }}\n", maps("n * MOST"));
        }
        Family::Elements | Family::Meeting => {
            let is_alone = rng.chance(30);
            let (lines, maps) = match family {
                Family::Meeting => meeting(rng, &maps("n")),
                _ => {
                    let count = rng.range(1, 5);
                    (statements(rng, ty, "i", count), maps("n"))
                }
            };
            let [open, close] = if is_alone { ["", ""] } else { [" {", "    }\n"] };
            let note = if is_alone || rng.chance(60) { "" } else { " // each pass" };
            let block = loop_of(&lines, &[own], 2);
            let _ = write!(text, "    {head}{open}{note}\n{DIRECTIVE} {maps}\n{block}{close}");
        }
    }
    text.push_str("}\n");
    text
}

const DIRECTIVE: &str = "#pragma omp target teams distribute parallel for";

fn maps(length: &str) -> String {
    format!("map(tofrom: a[0:{length}], b[0:{length}], c[0:{length}])")
}

/// A loop, or several in each other, in so many blocks.
fn loop_of(lines: &[String], heads: &[&str], depth: usize) -> String {
    let blanks = "    ".repeat(depth);
    let all: String = heads.iter().map(|head| format!("{blanks}{head}\n")).collect();
    let body: String = lines.iter().map(|line| format!("{blanks}    {line}\n")).collect();
    match lines {
        [_] => format!("{all}{body}"),
        _ => {
            format!("{}{{\n{body}{blanks}}}\n", all.strip_suffix('\n').map(|all| format!("{all} ")).unwrap_or_default())
        }
    }
}

/// Constructs over different ranges.
fn beside(rng: &mut Rng, ty: &str, head: &str) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "    {head} {{");
    let half = if ty == "int" { "3" } else { "0.5" };
    let arrays: &[&str] = if rng.chance(50) { &["a", "b"] } else { &["a", "b", "c"] };
    for (at, array) in arrays.iter().enumerate() {
        let index = rng.pick(&["i", "k"]);
        // The second one has another range, so that they do not become one in each iteration.
        let (from, to) = if at == 1 { (rng.range(0, 2), "n - 2") } else { (rng.range(0, 1), "n") };
        let own = format!("for (int {index} = {from}; {index} < {to}; {index}++)");
        let lines = match rng.below(3) {
            0 => vec![format!("{array}[{index}] = {array}[{index}] / 2 + t * 3 + {index};")],
            1 => vec![
                format!("{ty} twice = {array}[{index}] * {half};"),
                format!("{array}[{index}] += twice - t + {index};"),
            ],
            _ => vec![format!("if ({array}[{index}] < 40) {array}[{index}] = {array}[{index}] * {half} + 3 * t + 5;")],
        };
        let _ = write!(text, "{DIRECTIVE} {}\n{}", maps("n"), loop_of(&lines, &[&own], 2));
    }
    text.push_str("    }\n");
    text
}

/// Nests over ranges that differ by numbers.
fn ranges(rng: &mut Rng, ty: &str, head: &str) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "    {head} {{");
    let half = if ty == "int" { "3" } else { "0.5" };
    let range = |rng: &mut Rng| {
        let (from, to) = (rng.range(0, 2), rng.pick(&["n", "n - 1", "n - 3"]));
        let (left, right) = (rng.range(0, 1), rng.pick(&["COLUMNS", "COLUMNS - 1"]));
        [format!("for (int i = {from}; i < {to}; i++)"), format!("for (int j = {left}; j < {right}; j++)")]
    };
    let (one, mut two) = (range(rng), range(rng));
    if one == two {
        two[0] = "for (int i = 3; i < n + 0; i++)".to_owned();
    }
    let at = "i * COLUMNS + j";
    let lines = [
        vec![format!("a[{at}] = a[{at}] * {half} + t;")],
        vec![format!("{ty} own = a[{at}] + {half};"), format!("b[{at}] += own - c[{at}] * t;")],
    ];
    for (lines, heads) in lines.iter().zip([&one, &two]) {
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let _ = write!(text, "{DIRECTIVE} collapse(2) {}\n{}", maps("n * COLUMNS"), loop_of(lines, &heads, 2));
    }
    text.push_str("    }\n");
    text
}

/// An array that is computed from another one, and copied back.
fn turns(rng: &mut Rng, ty: &str, head: &str) -> String {
    let mut text = String::new();
    let (heads, place, length, clause) = match rng.below(3) {
        0 => (vec!["for (int i = 1; i < n - 1; i++)"], "i", "n", ""),
        1 => (vec!["for (int i = 0; i <= n - 3; i++)"], "i", "n", ""),
        _ => {
            let columns = rng.pick(&["for (int j = 1; j < COLUMNS - 1; j++)", "for (int j = 0; j < COLUMNS; j++)"]);
            (vec!["for (int i = 1; i < n - 1; i++)", columns], "i * COLUMNS + j", "n * COLUMNS", " collapse(2)")
        }
    };
    let steps: &[&str] = match (clause, heads[0].contains("= 0")) {
        ("", false) => &["- 1", "+ 1"],
        ("", true) => &["+ 1", "+ 2"],
        _ if heads[1].contains("= 1") => &["- 1", "+ 1", "- COLUMNS", "+ COLUMNS", "- COLUMNS + 1"],
        _ => &["- COLUMNS", "+ COLUMNS"],
    };
    let half = if ty == "int" { "3" } else { "0.5f" };
    let (one, two) = (rng.pick(steps), rng.pick(steps));
    let around = format!("a[{place} {one}] - a[{place}] * {half}");
    let lines = match rng.below(3) {
        0 => vec![format!("b[{place}] = {around} + c[{place}];")],
        1 => {
            vec![format!("{ty} other = a[{place} {two}] + t;"), format!("b[{place}] = ({around}) / 2 + other;")]
        }
        _ => vec![format!("c[{place}] += a[{place} {two}];"), format!("b[{place}] = {around} - c[{place}] * {half};")],
    };
    let maps = maps(length);
    if rng.chance(35) {
        return copied_first(rng, ty, head, (&lines, &heads, place), (&maps, clause));
    }
    let back = [format!("a[{place}] = b[{place}];")];
    let (computed, copied) = (loop_of(&lines, &heads, 2), loop_of(&back, &heads, 2));
    let data = format!("#pragma omp target data {maps} if(n > 0)");
    if rng.chance(60) {
        let _ = write!(text, "{data}\n    {head} {{\n");
        let _ = write!(text, "{DIRECTIVE}{clause} {maps}\n{computed}{DIRECTIVE}{clause} {maps}\n{copied}    }}\n");
        return text;
    }
    // Until little changes.
    let mut lines = lines;
    lines.push(format!("most = b[{place}] - a[{place}] > most ? b[{place}] - a[{place}] : most;"));
    let computed = loop_of(&lines, &heads, 2);
    let least = rng.pick(&["-1", "0", "3"]);
    let of_most = rng.pick(&["reduction(max: most)", "reduction(max: most) map(tofrom: most)"]);
    let leaves =
        rng.pick(&["", "        if (t > 3)\n            break;\n", "        if (most > 100)\n            continue;\n"]);
    let _ = write!(
        text,
        "    int t = 0;\n    {ty} most = 4;\n{data}\n    while (n > 0 && t++ < steps && most > {least}) {{\n        most = 0;\n"
    );
    let _ = write!(
        text,
        "{DIRECTIVE}{clause} {maps} {of_most}\n{computed}{DIRECTIVE}{clause} {maps}\n{copied}{leaves}    }}\n"
    );
    text
}

/// A step that copies `a` to `b`, and computes `a` anew from the copy: statements that compute `b` from `a`, with these names exchanged.
fn copied_first(
    rng: &mut Rng,
    ty: &str,
    head: &str,
    (lines, heads, place): (&[String], &[&str], &str),
    (maps, clause): (&str, &str),
) -> String {
    let exchanged = |line: &String| line.replace("a[", "@[").replace("b[", "a[").replace("@[", "b[");
    let mut lines: Vec<String> = lines.iter().map(exchanged).collect();
    let all = ["for (int i = 0; i < n; i++)", "for (int j = 0; j < COLUMNS; j++)"];
    let copied = loop_of(&[format!("b[{place}] = a[{place}];")], &all[..heads.len()], 2);
    let data = format!("#pragma omp target data {maps} if(n > 0)");
    let is_until = rng.chance(40);
    if is_until {
        lines.push(format!("most = a[{place}] - b[{place}] > most ? a[{place}] - b[{place}] : most;"));
    }
    let computed = loop_of(&lines, heads, 2);
    let of_most = if is_until { " reduction(max: most) map(tofrom: most)" } else { "" };
    let both = format!("{DIRECTIVE}{clause} {maps}\n{copied}{DIRECTIVE}{clause} {maps}{of_most}\n{computed}");
    match is_until {
        true => format!(
            "    int t = 0;\n    {ty} most = 4;\n{data}\n    while (n > 0 && t++ < steps && most > 0) {{\n        most = 0;\n{both}    }}\n"
        ),
        false => format!("{data}\n    {head} {{\n{both}    }}\n"),
    }
}

/// Statements about the elements in a place, of which the first hangs on the order of the passes.
fn statements(rng: &mut Rng, ty: &str, place: &str, most: usize) -> Vec<String> {
    let half = if ty == "float" { "0.7f" } else { "0.7" };
    let half = if ty == "int" { "3" } else { half };
    let mut lines = vec![format!("a[{place}] = a[{place}] / 2 + t * 3 + 1;")];
    for at in 1..most.max(1) {
        let line = match rng.below(8) {
            0 => format!("b[{place}] += a[{place}] * {half};"),
            1 => format!("if (a[{place}] > 4) b[{place}] -= t;"),
            2 => format!("c[{place}] = a[{place}] * {half} - b[{place}];"),
            3 => format!("{ty} own{at} = b[{place}] * {half}; c[{place}] += own{at} * t;"),
            4 => format!("for (int q = 0; q < 3; q++) b[{place}] += {half} * q + t;"),
            5 => {
                format!("a[{place}] = c[{place}] > a[{place}] ? c[{place}] * {half} : a[{place}]; /* the larger one */")
            }
            6 => format!("b[{place}] = t % 2 ? b[{place}] * {half} : c[{place}];"),
            _ => format!("a[{place}] = a[{place}] * {half} + b[{place}] * c[{place}]; // in order"),
        };
        lines.push(line);
    }
    lines
}

/// Statements whose iterations meet in different passes, or that each launch starts anew, with the maps.
fn meeting(rng: &mut Rng, maps: &str) -> (Vec<String>, String) {
    let own = |maps: &str, lines: &[&str]| (lines.iter().map(|line| (*line).to_owned()).collect(), maps.to_owned());
    let brought = "map(tofrom: a[0:n]) map(to: b[0:n], c[0:n])";
    match rng.below(6) {
        0 => own(maps, &["a[(i + (t + 8) % n) % n] += b[i] + t;"]),
        1 => own(maps, &["if (i % 2 == t % 2 && i + 1 < n) a[i] = a[i] / 2 + a[i + 1];"]),
        2 => own(maps, &["if (t % 2) a[i] += b[n - 1 - i];", "else b[i] += a[n - 1 - i] / 2;"]),
        3 => own(brought, &["b[i] += 1;", "a[i] = a[i] / 2 + b[i];"]),
        4 => own(maps, &["steps = i;", "a[i] += steps + t;"]),
        _ => own(maps, &["int at = t % 2 ? n - 1 - i : i;", "a[at] = a[at] / 2 + i;"]),
    }
}
