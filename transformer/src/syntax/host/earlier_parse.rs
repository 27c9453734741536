//! A text that was parsed, from which the parser takes what another text has in common with it.
//!
//! The rounds of a run, the texts that a file is read as and those that passes make of it differ in few lines. tree-sitter parses such a
//! text several times as fast when it is told which.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use tree_sitter::{InputEdit, Point, Tree};

use super::grammar::Grammar;
use crate::source::Language;

/// How long lines are compared; what is not compared by then counts as changed.
const LONGEST: Duration = Duration::from_millis(100);

/// A text without syntax errors, and its tree.
#[derive(Debug)]
pub struct EarlierParse {
    text: Vec<u8>,
    language: Language,
    tree: Tree,
}

impl EarlierParse {
    /// Nothing, if the tree has errors: where they end hangs on the way in which the parser came to them.
    pub(super) fn new(text: &[u8], grammar: &Grammar, tree: Tree) -> Option<Self> {
        let is_good = !tree.root_node().has_error();
        is_good.then(|| Self { text: text.to_vec(), language: grammar.language(), tree })
    }

    /// Its tree with the lines marked that another text has in their place. Nothing, if another grammar reads that text.
    pub(super) fn tree_for(&self, text: &[u8], grammar: &Grammar) -> Option<Tree> {
        if grammar.language() != self.language {
            return None;
        }
        let (old, new) = (Lines::of(&self.text), Lines::of(text));
        let until = Some(Instant::now() + LONGEST);
        let ops = capture_diff_slices_deadline(Algorithm::Patience, &old.lines, &new.lines, until);
        let mut tree = self.tree.clone();
        // From the last one on, so that the places of the others stay what they are.
        for op in ops.iter().rev() {
            if !matches!(op, DiffOp::Equal { .. }) {
                tree.edit(&edit(&old, &new, op));
            }
        }
        Some(tree)
    }
}

/// A text by lines.
struct Lines<'a> {
    /// With their ends.
    lines: Vec<&'a [u8]>,
    /// Where each begins, and at last where the text ends.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a [u8]) -> Self {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let ends = lines.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        });
        let starts = std::iter::once(0).chain(ends).collect();
        Self { lines, starts }
    }

    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(0)
    }

    /// Where `count` lines end that are put behind `before` lines of a text.
    fn end(&self, first: usize, count: usize, before: usize) -> Point {
        let last = count.checked_sub(1).and_then(|last| self.lines.get(first + last));
        match last.filter(|last| !last.ends_with(b"\n")) {
            Some(last) => Point::new(before + count - 1, last.len()),
            None => Point::new(before + count, 0),
        }
    }
}

fn edit(old: &Lines<'_>, new: &Lines<'_>, op: &DiffOp) -> InputEdit {
    let (removed, added) = (op.old_range(), op.new_range());
    let start_byte = old.start(removed.start);
    InputEdit {
        start_byte,
        old_end_byte: old.start(removed.end),
        new_end_byte: start_byte + (new.start(added.end) - new.start(added.start)),
        start_position: Point::new(removed.start, 0),
        old_end_position: old.end(removed.start, removed.len(), removed.start),
        new_end_position: new.end(added.start, added.len(), removed.start),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use crate::source::{SourceFile, scan};
    use crate::syntax::{HostTree, InSight, Limits};

    /// What keeps a program one that can be read.
    const LINES: &[&str] = &[
        "int x = 1;",
        "double *a, b;",
        "a * b;",
        "T * c;",
        "x = (T)(b) - 1;",
        "if (x) x = 2;",
        "if (x) { x++; } else { x--; }",
        "for (int i = 0; i < x; i++)",
        "  a[i] += f(x, a);",
        "#pragma omp parallel for",
        "{ x = 1; }",
        "} void g(T x) {",
        "// comment",
        "/* more */ ;",
        "",
    ];

    /// What may not.
    const OTHERS: &[&str] = &["}", "{", "(", "#if A", "#endif", "/*", "*/", "\\", "else", "x"];

    fn lines(others: &[&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select([LINES, LINES, others].concat()), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// A text has the same tree whatever was parsed before it.
        #[test]
        fn trees_do_not_hang_on_what_was_parsed_before(
            parts in prop::collection::vec(lines(&[]), 3), other in lines(OTHERS), ends_in_line: bool, is_cpp: bool,
        ) {
            let text = |middle: &[&str]| {
                let all = [&["void f(int x, double *a) {"], &*parts[0], middle, &*parts[1], &["}"], &*parts[2]].concat();
                all.join("\n") + if ends_in_line { "\n" } else { "" }
            };
            let file = |middle: &[&str]| SourceFile::new(if is_cpp { "a.cpp" } else { "a.c" }, text(middle).into_bytes());
            let (old, new) = (file(&[]), file(&other));
            for (old, new) in [(&old, &new), (&new, &old)] {
                let parse = |file: &SourceFile, known: &InSight<'_>| {
                    HostTree::parse_with(file.language, file, &scan(&file.text), &Limits::default(), known)
                };
                let Ok(before) = parse(old, &InSight::default()) else { continue };
                let earlier = before.parse_result().map(Arc::as_ref);
                let trees = [InSight::default(), InSight { macros: None, earlier }].map(|known| parse(new, &known));
                let [alone, after] = trees.map(|tree| tree.map(|tree| tree.nodes));
                prop_assert_eq!(alone, after);
            }
        }
    }
}
