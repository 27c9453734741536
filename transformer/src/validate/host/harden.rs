//! A copy of an output in which a forgotten map aborts.
//!
//! On the x86_64 device a host pointer can be dereferenced, so a map that is missing goes unnoticed. In the copy every
//! kernel inside a `target data` that the output added demands that the items of that `target data` are present:
//! `map(present, ..)`. A `target data` with an `if` demands nothing, unless the kernel has the same `if`. Data that
//! several kernels copy, although one environment could hold them, show in the traffic. Where the program itself deletes data in it, all
//! that its callers mapped together with them goes as well.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::directives::{added, apply, body, clauses, directives, is_kernel, words};
use super::map_clause::{Map, base};

/// The hardened copy, and how many kernels in it were hardened.
#[must_use]
pub fn harden(original: &[u8], output: &[u8]) -> (Vec<u8>, usize) {
    let added = added(original, output);
    let found = directives(output);
    // A kernel may stand in several of them.
    let mut present: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let is_added = |data: &&Range<usize>| {
        let text = words(output, data);
        text.starts_with("target data") && added.contains(&text)
    };
    let environments = found.iter().filter(is_added).map(|data| (data, body(output, data.end)));
    let deletes = |body: &Range<usize>| {
        let mut inside = found.iter().filter(|it| body.contains(&it.start)).map(|it| words(output, it));
        inside.any(|text| text.starts_with("target exit data") && text.contains("delete"))
    };
    for (data, body) in environments.filter(|(_, body)| !deletes(body)) {
        let inside = |kernel: &&Range<usize>| body.contains(&kernel.start) && is_kernel(&words(output, kernel));
        let opens = |kernel: &&Range<usize>| conditions(output, data).is_subset(&conditions(output, kernel));
        for kernel in found.iter().filter(inside).filter(opens) {
            present.entry(kernel.start).or_default().extend(bases(output, data));
        }
    }
    let kernels = found.iter().filter_map(|kernel| Some((kernel, present.get(&kernel.start)?)));
    let edits = kernels.flat_map(|(kernel, present)| kernel_edits(output, kernel, present)).collect();
    (apply(output, edits), present.len())
}

/// The `if` clauses of a directive, as written.
fn conditions(text: &[u8], directive: &Range<usize>) -> BTreeSet<Vec<u8>> {
    let own = clauses(text, directive, "if").filter_map(|clause| text.get(clause));
    own.map(|clause| clause.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()).collect()
}

/// The variables that a directive maps.
fn bases(text: &[u8], directive: &Range<usize>) -> BTreeSet<String> {
    clauses(text, directive, "map").flat_map(|clause| Map::read(text, &clause).items).map(|item| base(&item)).collect()
}

fn kernel_edits(text: &[u8], kernel: &Range<usize>, present: &BTreeSet<String>) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    for clause in clauses(text, kernel, "map") {
        let map = Map::read(text, &clause);
        let (here, other): (Vec<_>, Vec<_>) = map.items.iter().cloned().partition(|item| present.contains(&base(item)));
        if here.is_empty() || map.modifiers.contains("present") {
            continue;
        }
        let mut new = format!("map(present, {}: {})", map.modifiers, here.join(", "));
        if !other.is_empty() {
            new.push_str(&format!(" map({}: {})", map.modifiers, other.join(", ")));
        }
        edits.push((clause, new));
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::harden;

    fn hardened(before: &str, after: &str) -> (String, usize) {
        let (text, count) = harden(before.as_bytes(), after.as_bytes());
        (String::from_utf8_lossy(&text).into_owned(), count)
    }

    #[test]
    fn only_items_of_the_added_data_environment_must_be_present() {
        let before = "#pragma omp target data map(to: z)\n{\n#pragma omp target\n;\n}\n";
        let added = "#pragma omp target data map(tofrom: a[0:f(n)]) \\\n  map(to: b)\n{ // }\n#pragma omp target teams loop \
                     map(tofrom: a[0:f(n)], s) map(b)\n;\n}\n#pragma omp target map(a)\n;\n";
        let (text, count) = hardened(before, &format!("{before}{added}"));
        assert_eq!(count, 1);
        let kernel = "target teams loop map(present, tofrom: a[0:f(n)]) map(tofrom: s) map(present, tofrom: b)\n";
        assert!(text.contains(kernel), "{text}");
        assert_eq!(text.matches("present").count(), 2, "{text}");
    }

    #[test]
    fn an_environment_may_stand_around_a_loop() {
        let output = "#pragma omp target data map(tofrom: a)\nfor (int t = 0; t < n; t++) {\n#pragma omp target map(to: a)\n;\n}\n\
                      #pragma omp target map(to: a)\n;\n";
        let (text, count) = hardened("", output);
        assert_eq!((count, text.matches("present, to: a").count()), (1, 1), "{text}");
    }

    #[test]
    fn an_environment_in_which_data_are_deleted_demands_nothing() {
        let output = "#pragma omp target data map(a)\n{\n#pragma omp target exit data map(delete: b)\n#pragma omp target map(a)\n;\n}\n";
        assert_eq!(hardened("#pragma omp target exit data map(delete: b)\n", output).1, 0);
    }

    #[test]
    fn an_environment_that_may_be_left_out_demands_nothing() {
        let kernel = |clause: &str| {
            format!("#pragma omp target data map(a) if(n > 0)\n{{\n#pragma omp target map(a){clause}\n;\n}}\n")
        };
        assert_eq!(hardened("", &kernel("")).0.matches("present").count(), 0);
        assert_eq!(hardened("", &kernel(" if(n>0)")).0.matches("present").count(), 1);
    }

    #[test]
    fn a_kernel_in_two_data_environments_is_hardened_once() {
        let output = "#pragma omp target data map(tofrom: b, u[0:n])\n{\n#pragma omp target data map(alloc: w)\n{\n\
                      #pragma omp target teams loop map(tofrom: b, u[0:n])\n;\n#pragma omp target map(to: b)\n;\n}\n}\n";
        let (text, count) = hardened("", output);
        assert_eq!(count, 2);
        assert_eq!(text.matches("map(present, tofrom: b, u[0:n])\n").count(), 1, "{text}");
    }
}
