//! What the functions of most families have in common: their first and last lines, and constructs in a loop.

use super::Function;
use super::body::Body;
use super::calls::{Calls, Takes};
use crate::support::generator::rng::Rng;

/// What a function is handed in any way.
pub(super) const ALL: Takes = Takes { overlaps: false, present: true, null: false };

/// A function with memory of its own: its first lines, its body, and what it prints.
pub(super) struct Frame {
    pub(super) declared: &'static str,
    /// What is summed up at the end.
    pub(super) summed: &'static [&'static str],
    /// The last line.
    pub(super) end: &'static str,
}

pub(super) const OWN: Frame = Frame {
    declared: "    real *own = (real *)malloc(N * sizeof(real)), *more = (real *)malloc(N * sizeof(real));\n    real local[N];\n    \
               for (int i = 0; i < N; i++)\n        own[i] = value(i), more[i] = value(i + 5), local[i] = value(i + 11);\n",
    summed: &["own", "more", "local", "p", "q", "r"],
    end: "    free(own);\n    free(more);\n",
};

pub(super) const PARAMETERS: Frame = Frame { declared: "", summed: &["p", "q", "r"], end: "" };

impl Frame {
    pub(super) fn function(&self, index: usize, body: &str) -> String {
        let sums: Vec<String> = self
            .summed
            .iter()
            .enumerate()
            .map(|(place, name)| format!("(i + {}) * (double){name}[i]", place * 7 + 1))
            .collect();
        let summed = if sums.is_empty() {
            String::new()
        } else {
            format!("    for (int i = 0; i < n; i++)\n        sum += {};\n", sums.join(" + "))
        };
        let Frame { declared, end, .. } = self;
        format!(
            "\nstatic void f{index}(int n, int steps, real *p, real *q, real *r)\n{{\n    int m = n;\n    long found = 0;\n    double sum = start;\n\
             {declared}{body}{summed}    printf(\"%.17g %d %ld\\n\", sum, m, found);\n{end}}}\n"
        )
    }
}

/// Most functions: constructs in a loop, with what the host does there, and often more beside it.
pub(super) fn steps(body: &mut Body<'_>) -> String {
    let mut text = String::new();
    if body.rng.chance(30) {
        text.push_str(&body.block(1, 1, 2));
    }
    let count = body.rng.range(1, 2);
    let kernels = body.kernels(2, count);
    let others = body.block(2, 1, 3);
    let inside = if body.rng.chance(50) { kernels + &others } else { others + &kernels };
    text.push_str(&body.around(1, &inside));
    if body.rng.chance(30) {
        text.push_str(&body.repeated(1, 1, 2));
    }
    if body.rng.chance(30) {
        let count = body.rng.range(1, 2);
        text.push_str(&body.kernels(1, count));
    }
    text
}

pub(super) fn finished(rng: &mut Rng, frame: &Frame, takes: Takes, index: usize, body: &str) -> Function {
    Function { text: frame.function(index, body), calls: Calls::new(rng, takes) }
}
