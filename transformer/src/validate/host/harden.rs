//! A copy of an output in which a forgotten map aborts.
//!
//! On the x86_64 device a host pointer can be dereferenced, and an aggregate that the data environment forgot is mapped
//! by the kernel itself, so both go unnoticed. In the copy every kernel inside a `target data` that the output added
//! demands that its items are present: `map(present, ..)` for the items of that `target data` and for those that several
//! of its kernels name, and `defaultmap(present: aggregate)` for what is named nowhere.

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
    let environments: Vec<_> = found.iter().filter(is_added).map(|data| (data, body(output, data.end))).collect();
    for (data, body) in &environments {
        let inside = |kernel: &&Range<usize>| body.contains(&kernel.start) && is_kernel(&words(output, kernel));
        let kernels: Vec<_> = found.iter().filter(inside).collect();
        let blocks = environments.iter().map(|(_, block)| block).filter(|block| block.contains(&body.start));
        let shared = shared_items(output, data, &blocks.collect::<Vec<_>>(), &kernels);
        for kernel in kernels {
            present.entry(kernel.start).or_default().extend(shared.iter().cloned());
        }
    }
    let kernels = found.iter().filter_map(|kernel| Some((kernel, present.get(&kernel.start)?)));
    let edits = kernels.flat_map(|(kernel, present)| kernel_edits(output, kernel, present)).collect();
    (apply(output, edits), present.len())
}

/// What must be present in the kernels: the items of the `target data`, and those that several kernels name. What one
/// kernel alone names (the scalar of its reduction), or what the region declares, it may map itself.
///
/// `blocks` are those of the data environments around the kernels.
fn shared_items(
    text: &[u8],
    data: &Range<usize>,
    blocks: &[&Range<usize>],
    kernels: &[&Range<usize>],
) -> BTreeSet<String> {
    let mut shared = bases(text, data);
    let mut seen = BTreeSet::new();
    for kernel in kernels {
        for item in bases(text, kernel) {
            if !seen.insert(item.clone()) && !blocks.iter().any(|block| is_declared(text, block, &item)) {
                shared.insert(item);
            }
        }
    }
    shared
}

/// Does a line of the block begin with a type of the language and hold the name?
fn is_declared(text: &[u8], block: &Range<usize>, name: &str) -> bool {
    let types = ["const", "double", "float", "int", "long", "unsigned", "short", "bool"];
    let block = String::from_utf8_lossy(text.get(block.clone()).unwrap_or_default()).into_owned();
    block.lines().any(|line| {
        let mut words = crate::source::words(line);
        words.next().is_some_and(|first| types.contains(&first)) && words.any(|word| word == name)
    })
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
    if !words(text, kernel).contains("defaultmap") {
        edits.push((kernel.end..kernel.end, " defaultmap(present: aggregate)".to_owned()));
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::harden;

    #[test]
    fn only_items_of_the_added_data_environment_must_be_present() {
        let before = "#pragma omp target data map(to: z)\n{\n#pragma omp target\n;\n}\n";
        let added = "#pragma omp target data map(tofrom: a[0:f(n)]) \\\n  map(to: b)\n{ // }\n#pragma omp target teams loop \
                     map(tofrom: a[0:f(n)], s) map(b)\n;\n}\n#pragma omp target map(a)\n;\n";
        let (text, count) = harden(before.as_bytes(), format!("{before}{added}").as_bytes());
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(count, 1);
        let kernel = "target teams loop map(present, tofrom: a[0:f(n)]) map(tofrom: s) map(present, tofrom: b) \
                      defaultmap(present: aggregate)\n";
        assert!(text.contains(kernel), "{text}");
        assert_eq!(text.matches("present").count(), 3, "{text}");
    }

    #[test]
    fn what_the_block_of_an_outer_data_environment_declares_is_mapped_by_its_kernels() {
        let output = "#pragma omp target data map(tofrom: b)\n{\ndouble drift = 6.5;\n#pragma omp target data map(alloc: w)\n{\n\
                      #pragma omp target map(tofrom: drift)\n;\n#pragma omp target map(tofrom: drift)\n;\n}\n}\n";
        let (text, count) = harden(b"", output.as_bytes());
        assert_eq!(count, 2);
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("map(present, "), "{text}");
    }

    #[test]
    fn a_kernel_in_two_data_environments_is_hardened_once() {
        let output = "#pragma omp target data map(tofrom: b, u[0:n])\n{\n#pragma omp target data map(alloc: w)\n{\n\
                      #pragma omp target teams loop map(tofrom: b, u[0:n])\n;\n#pragma omp target map(to: b)\n;\n}\n}\n";
        let (text, count) = harden(b"", output.as_bytes());
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(count, 2);
        assert_eq!(
            text.matches("map(present, tofrom: b, u[0:n]) defaultmap(present: aggregate)\n").count(),
            1,
            "{text}"
        );
    }
}
