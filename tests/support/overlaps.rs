//! Random programs for the pass `overlap`: blocks of `target data` with several kernels, which use each array from some kernel on and up to
//! some other one, with code of the host between them. Valid and free of races by construction; a program depends on its seed alone.
//!
//! `main` calls each function with long arrays and short ones, with some that are on the device already, and from a parallel region.

use std::fmt::Write as _;
use std::ops::Range;

use super::generator::rng::Rng;

/// From how many bytes on arrays are copied beside kernels here: long ones are longer, short ones shorter, of every type.
pub const LEAST_BYTES: u64 = 600;

/// What a function shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// An array that the first kernels do not use.
    FirstUse,
    /// One that the last ones do not use.
    LastUse,
    /// One of each.
    Both,
    /// An array that one kernel maps by itself.
    OfOneKernel,
    /// Code between the kernels that may need the host's memory, or an update, so that copies may not move past it.
    HostReaches,
    /// Kernels that use any arrays.
    Anything,
}

/// Every family.
pub const FAMILIES: [Family; 6] =
    [Family::FirstUse, Family::LastUse, Family::Both, Family::OfOneKernel, Family::HostReaches, Family::Anything];

impl Family {
    /// Must most of its functions be changed? In the others copies often may not move.
    pub fn is_meant(self) -> bool {
        !matches!(self, Self::HostReaches | Self::Anything)
    }
}

/// A program, and where the function of which family stands in it.
pub struct Program {
    pub text: String,
    pub functions: Vec<(Family, Range<usize>)>,
}

/// The functions in one file, of each family.
const OF_EACH: usize = 2;
/// The arrays that a function gets.
const ARRAYS: [&str; 4] = ["p", "q", "r", "s"];

const HEAD: &str = "#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 820, LONG = 800, SHORT = 70 };

static int first_of(const void *values) { return *(const signed char *)values & 1; }
";

/// In some calls, what one kernel maps by itself is on the device already, with other values.
const OWN_ENTERS: &str = "    if (steps == 2) {
        #pragma omp target enter data map(to: own[0:n])
        for (int i = 0; i < n; i++)
            own[i] += 3;
    }
";
const OWN_LEAVES: &str = "    if (steps == 2) {
        #pragma omp target exit data map(from: own[0:n])
    }
    for (int i = 0; i < n; i++)
        sum += (long)own[i] * (i % 5 + 1);
    free(own);
";

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let mut text = HEAD.to_owned();
    let mut functions = Vec::new();
    let mut main = String::new();
    for (index, family) in FAMILIES.iter().cycle().take(OF_EACH * FAMILIES.len()).enumerate() {
        let ty = rng.pick(&["int", "long", "short", "double", "float", "unsigned char"]);
        let start = text.len();
        let _ = write!(text, "\n/* part {index} */");
        text.push_str(&function(&mut rng, *family, index, ty));
        functions.push((*family, start..text.len()));
        text.push_str(&calls(index, ty));
        let _ = writeln!(main, "    if (argc < 2 || atoi(argv[1]) == {index})\n        run{index}();");
    }
    let _ = write!(text, "\nint main(int argc, char **argv)\n{{\n{main}    return 0;\n}}\n");
    Program { text, functions }
}

/// What a kernel does with an array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Reads,
    Changes,
    /// It writes every element without reading any.
    Makes,
}

/// Which kernels use which arrays how.
type Kernels = Vec<Vec<(usize, Use)>>;

fn function(rng: &mut Rng, family: Family, index: usize, ty: &str) -> String {
    let count = rng.range(3, 5);
    let arrays = rng.range(2, ARRAYS.len());
    // From which kernel on an array is used, and up to which.
    let spans: Vec<(usize, usize)> = (0..arrays)
        .map(|at| match (family, at) {
            // The first one keeps every kernel busy.
            (Family::Anything | Family::HostReaches, _) => {
                let first = rng.below(count);
                (first, rng.range(first, count - 1))
            }
            (_, 0) => (0, count - 1),
            (Family::FirstUse, 1) => (rng.range(1, count - 1), count - 1),
            (Family::LastUse | Family::Both, 1) => (0, rng.below(count - 1)),
            (Family::Both, 2) => (rng.range(1, count - 1), count - 1),
            _ => (0, count - 1),
        })
        .collect();
    let kinds: Vec<&str> =
        spans.iter().map(|_| rng.pick(&["tofrom", "tofrom", "tofrom", "tofrom", "to", "from"])).collect();
    let mut kernels: Kernels = vec![Vec::new(); count];
    for (array, (first, last)) in spans.iter().enumerate() {
        for (at, uses) in kernels.iter_mut().enumerate().take(*last + 1).skip(*first) {
            let is_end = at == *first || at == *last;
            let how = match kinds[array] {
                "from" if at == *first => Use::Makes,
                // What is copied back was changed, so that somebody could see where it was not.
                "tofrom" | "from" if at == *last => Use::Changes,
                _ => rng.pick(&[Use::Reads, Use::Changes]),
            };
            if is_end || array == 0 || rng.chance(50) {
                uses.push((array, how));
            }
        }
    }
    let own = family == Family::OfOneKernel;
    let mut body = String::new();
    // What one kernel maps travels beside the kernels on both sides of it.
    let alone = rng.range(1, count - 2);
    for (at, uses) in kernels.iter().enumerate() {
        if at > 0 || rng.chance(30) {
            host(rng, family, arrays, at, &mut body);
        }
        body.push_str(&kernel(rng, uses, own && at == alone, ty));
    }
    let maps: Vec<String> = kinds.iter().zip(ARRAYS).map(|(kind, name)| format!("map({kind}: {name}[0:n])")).collect();
    let condition = if rng.chance(20) { " if(steps > 1)" } else { "" };
    let parameters = ARRAYS.map(|name| format!("{ty} *{name}")).join(", ");
    // Without a condition no array is needed by name in the kernels; with one, these map what they use.
    let (before, after) = if own {
        (
            format!(
                "    {ty} *own = ({ty} *)malloc(sizeof({ty}) * N);\n    for (int i = 0; i < N; i++)\n        own[i] = i % 9;\n{OWN_ENTERS}"
            ),
            OWN_LEAVES,
        )
    } else {
        (String::new(), "")
    };
    format!(
        "\nstatic long f{index}(int n, int steps, {parameters})\n{{\n    long sum = 0;\n    int k = steps + 2;\n{before}    #pragma omp target data {}{condition}\n    \
         {{\n{body}    }}\n{after}    return sum * 31 + k;\n}}\n",
        maps.join(" ")
    )
}

/// A kernel, whose iterations each change their own elements. It lists what it uses, since the block may not map it.
fn kernel(rng: &mut Rng, uses: &[(usize, Use)], with_own: bool, ty: &str) -> String {
    let mut maps = String::new();
    let read: Vec<&str> = uses.iter().filter(|(_, how)| *how == Use::Reads).map(|(at, _)| ARRAYS[*at]).collect();
    let mut lines = Vec::new();
    for (array, how) in uses {
        let name = ARRAYS[*array];
        let kind = if *how == Use::Reads { "to" } else { "tofrom" };
        let _ = write!(maps, " map({kind}: {name}[0:n])");
        // What is listed is used.
        let others = if lines.is_empty() { read.as_slice() } else { &[] };
        let mut other = String::new();
        for name in others {
            let _ = write!(other, " + (int){name}[{}]", rng.pick(&["i", "n - 1 - i", "(i + k) % n"]));
        }
        match how {
            Use::Reads => {}
            Use::Changes => {
                lines.push(format!("{name}[i] = ({ty})(((int){name}[i] * {} + k{other}) & 63);", rng.pick(&[3, 5, 7])))
            }
            Use::Makes => lines.push(format!("{name}[i] = ({ty})((i * 7 + k{other}) & 63);")),
        }
    }
    if with_own {
        maps.push_str(" map(tofrom: own[0:n])");
        let other = read.first().map_or(String::new(), |name| format!(" + (int){name}[i]"));
        lines.push(format!("own[i] = ({ty})(((int)own[i] * 3 + k{other}) & 63);"));
    }
    let head = format!(
        "        #pragma omp target teams distribute parallel for num_teams(2){maps}\n        for (int i = 0; i < n; i++)"
    );
    match &lines[..] {
        [] => {
            // It reads alone: what it finds is counted.
            let found: Vec<String> = read.iter().map(|name| format!("(int){name}[i]")).collect();
            let found = if found.is_empty() { "i".to_owned() } else { found.join(" + ") };
            format!(
                "{} map(tofrom: sum) reduction(+: sum)\n        for (int i = 0; i < n; i++)\n            sum += {found};\n",
                head.lines().next().unwrap_or_default()
            )
        }
        [one] if rng.chance(50) && !one.contains("i * 7") => {
            format!("{head}\n            for (int t = 0; t < steps; t++)\n                {one}\n")
        }
        all => format!("{head} {{\n            {}\n        }}\n", all.join("\n            ")),
    }
}

/// Code of the host between two kernels.
fn host(rng: &mut Rng, family: Family, arrays: usize, at: usize, body: &mut String) {
    if rng.chance(50) {
        body.push_str(rng.pick(&[
            "        k = (k * 5 + 3) % 17;\n",
            "        if (k > 8)\n            k -= 4;\n",
            "        for (int j = 0; j < 3; j++)\n            k += j;\n",
            "        k += n % 3;\n",
        ]));
    }
    if rng.chance(15) {
        let _ = write!(body, "        int w{at} = k + 1;\n        k = w{at} % 13;\n");
    }
    let is_any = family == Family::Anything;
    if family == Family::HostReaches || is_any && rng.chance(15) {
        let name = ARRAYS[rng.below(arrays)];
        let text = rng.pick(&[
            "        sum += (long)A[3];\n",
            "        A[5] = 9;\n",
            "        sum += first_of(A);\n",
            "        #pragma omp target update from(A[0:n])\n        sum += (long)A[2];\n",
            "        A[4] = 11;\n        #pragma omp target update to(A[4:1])\n",
        ]);
        body.push_str(&text.replace('A', name));
    }
}

/// How `main` calls a function.
fn calls(index: usize, ty: &str) -> String {
    format!(
        "
static void call{index}(int n, int steps, int how)
{{
    {ty} *a = ({ty} *)malloc(sizeof({ty}) * 4 * N);
    {ty} *given = a + how % 4 * N;
    long sum, told = 0;
    for (int i = 0; i < 4 * N; i++)
        a[i] = (i * 5 + steps) % 23;
    if (how > 0 && how < 5) {{
        #pragma omp target enter data map(to: given[0:n])
        for (int i = 0; i < n; i++)
            given[i] += 2;
        sum = f{index}(n, steps, a, a + N, a + 2 * N, a + 3 * N);
        told = (long)given[3];
        #pragma omp target exit data map(from: given[0:n])
    }} else if (how == 5) {{
        #pragma omp target data map(tofrom: a[0:4 * N])
        sum = f{index}(n, steps, a, a + N, a + 2 * N, a + 3 * N);
    }} else {{
        sum = f{index}(n, steps, a, a + N, a + 2 * N, a + 3 * N);
    }}
    for (int i = 0; i < 4 * N; i++)
        told = (told * 31 + (long)a[i]) % 1000003;
    #pragma omp critical
    printf(\"{index}: %d %d %d: %ld %ld\\n\", n, steps, how, sum, told);
    free(a);
}}

static void run{index}(void)
{{
    call{index}(LONG, 3, 0);
    call{index}(SHORT, 2, 0);
    for (int how = 1; how < 6; how++)
        call{index}(LONG, 2 + how % 2, how);
    call{index}(LONG + 1, 1, 0);
    #pragma omp parallel num_threads(2)
    {{
        #pragma omp master
        call{index}(LONG, 4, 0);
    }}
}}
"
    )
}
