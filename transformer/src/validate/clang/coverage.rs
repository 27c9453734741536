//! Which changes a compilation saw. Code that the preprocessor leaves out, or that is compiled for no device, passes
//! every check without having been checked.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::facts::marker;
use crate::source::{Conditional, LineIndex, Span, scan};
use crate::validate::changes::line_of;

/// A changed directive that was not checked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Unchecked {
    /// Its line in the new text.
    pub line: usize,
    /// Why not.
    pub why: Why,
}

/// Why a directive was not checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Why {
    /// The preprocessor leaves it out: the condition, and the macro that would have to be defined.
    LeftOut(Option<String>, Option<String>),
    /// The compiler reads it but makes no kernel of it.
    NoKernel,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut(Some(condition), define) => {
                write!(f, "`{condition}` was not taken: pass ")?;
                define.iter().try_for_each(|name| write!(f, "-D{name}, or "))?;
                f.write_str("the flags that the program is built with, by -p or behind `--`")
            }
            Self::LeftOut(None, _) => f.write_str("the preprocessor left it out"),
            Self::NoKernel => f.write_str(
                "clang made no kernel of it, as of a template that is not instantiated in the file: `--verify host` \
                 checks it through the sources that do",
            ),
        }
    }
}

/// Writes one line for each reason, with the lines of its directives.
pub(super) fn write_unchecked(f: &mut fmt::Formatter<'_>, unchecked: &[Unchecked]) -> fmt::Result {
    let reasons: BTreeSet<&Why> = unchecked.iter().map(|directive| &directive.why).collect();
    reasons.into_iter().try_for_each(|why| {
        let lines = unchecked.iter().filter(|directive| directive.why == *why).map(|found| found.line.to_string());
        write!(f, "\n  not compiled: line {} of the new text: {why}", lines.collect::<Vec<_>>().join(", "))
    })
}

/// The lines of the main file that the preprocessor's output still has, except empty ones.
pub(super) fn lines_left(output: &str, main: &str) -> BTreeSet<usize> {
    let mut left = BTreeSet::new();
    let (mut in_main, mut line) = (false, 0);
    for row in output.lines() {
        if let Some((number, name)) = marker(row) {
            (in_main, line) = (name == main, number);
            continue;
        }
        if in_main && !row.trim().is_empty() {
            left.insert(line);
        }
        line += 1;
    }
    left
}

/// The lines of the directives that are not among the lines left, each with the condition that left it out.
pub(super) fn left_out(text: &[u8], directives: &[usize], left: &BTreeSet<usize>) -> Vec<Unchecked> {
    let conditionals = scan(text).conditionals;
    let missing = directives.iter().filter(|at| !left.contains(&line_of(text, **at)));
    missing.map(|at| Unchecked { line: line_of(text, *at), why: why(text, *at, &conditionals, left) }).collect()
}

/// The outermost condition around a place whose branch the preprocessor left out.
fn why(text: &[u8], at: usize, conditionals: &[Conditional], left: &BTreeSet<usize>) -> Why {
    let lines = LineIndex::new(text);
    let line = |at: usize| lines.line_column(at).line;
    let line_text = |group: &Conditional, index: usize| {
        let span = group.branches.get(index)?.line;
        Some(words(text.get(span.start..span.end)?))
    };
    for group in conditionals {
        let holds = |content: Span| content.start <= at && at < content.end;
        let Some(index) = group.branches.iter().position(|branch| holds(branch.content)) else { continue };
        let Some(content) = group.branches.get(index).map(|branch| branch.content) else { continue };
        if left.range(line(content.start)..=line(content.end)).next().is_some() {
            continue;
        }
        let opening = line_text(group, 0);
        let condition = if index == 0 { opening.clone() } else { line_text(group, index) };
        let condition = condition.map(|text| match &opening {
            Some(opening) if text == "#else" => format!("#else` of `{opening}"),
            _ => text,
        });
        let define = condition.as_deref().and_then(asked_for).map(str::to_owned);
        return Why::LeftOut(condition, define);
    }
    Why::LeftOut(None, None)
}

/// `X` of `#ifdef X` and of `#if defined(X)`.
fn asked_for(condition: &str) -> Option<&str> {
    let name = match condition.strip_prefix("#ifdef ") {
        Some(name) => name,
        None => condition.strip_prefix("#if defined")?.trim_matches(|c| matches!(c, '(' | ')' | ' ')),
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// A preprocessor line with single blanks and none behind its `#`.
fn words(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.split("//").next().unwrap_or_default().split("/*").next().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replacen("# ", "#", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_condition_that_was_not_taken_is_named() {
        let text = b"#ifdef A\nint a;\n#  ifdef B // why\n#pragma omp target\n;\n# else\n#pragma omp target\n;\n#endif\n#endif\n";
        let found = |left: &[usize], at: &[u8]| {
            let places: Vec<usize> = memchr::memmem::find_iter(text, at).collect();
            let found = left_out(text, &places, &left.iter().copied().collect());
            found.into_iter().map(|directive| (directive.line, directive.why)).collect::<Vec<_>>()
        };
        let left_out =
            |condition: &str, define: Option<&str>| Why::LeftOut(Some(condition.to_owned()), define.map(str::to_owned));
        let a = left_out("#ifdef A", Some("A"));
        assert_eq!(found(&[], b"#pragma"), [(4, a.clone()), (7, a)]);
        assert_eq!(found(&[2, 7, 8], b"#pragma"), [(4, left_out("#ifdef B", Some("B")))]);
        assert_eq!(found(&[2, 4, 5], b"#pragma"), [(7, left_out("#else` of `#ifdef B", None))]);
        assert_eq!(asked_for("#if defined(USE_GPU)"), Some("USE_GPU"));
        assert_eq!(asked_for("#if defined(A) && B"), None);
    }

    #[test]
    fn lines_are_those_of_the_main_file() {
        let output =
            "# 1 \"/p/a.c\"\n# 1 \"<built-in>\" 1\n#define X\n# 1 \"/p/h.h\" 1\nint h;\n# 2 \"/p/a.c\" 2\n\nint a;\n";
        assert_eq!(lines_left(output, "/p/a.c").into_iter().collect::<Vec<_>>(), [3]);
    }
}
