//! What stands between a directive and the first token behind it.

use super::Extent;
use crate::source::{Scan, SourceFile, Span};
use crate::syntax::Directive;

/// What a reader passes on the way from a directive to the first token behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// Where the first token starts. `None` at the end of the file.
    pub token: Option<usize>,
    /// The next directive, if no token stands before it.
    pub next_directive: Option<usize>,
    /// Is one of the directives in between a stand-alone one?
    pub behind_stand_alone: bool,
    /// An `#include` line in between: the statement may come from that file.
    pub include: Option<Span>,
}

/// The gap behind each directive. The gaps are found from the last directive to the first: each reuses the result of
/// the next one, so a long stack of directives is not read again for each of them.
pub(super) fn gaps(
    file: &SourceFile,
    scan: &Scan,
    inactive: &[Span],
    directives: &[Directive],
    extents: &[Extent],
) -> Vec<Gap> {
    let mut gaps = vec![Gap::default(); directives.len()];
    for index in (0..directives.len()).rev() {
        let next = directives.get(index + 1).map_or(usize::MAX, |next| next.span.start);
        let walk = Walk { text: &file.text, masked: &scan.masked, inactive, scan, next };
        let start = directives[index].span.end;
        // Directives of one attribute may share its span.
        let (end, include) = if next <= start { (next, None) } else { walk.from(start) };
        gaps[index] = if end == next {
            let stand_alone = extents[index + 1] == Extent::None;
            let behind = gaps[index + 1];
            Gap {
                next_directive: Some(index + 1),
                behind_stand_alone: behind.behind_stand_alone || stand_alone,
                include: include.or(behind.include),
                ..behind
            }
        } else {
            Gap { token: (end < file.text.len()).then_some(end), include, ..Gap::default() }
        };
    }
    gaps
}

struct Walk<'a> {
    text: &'a [u8],
    masked: &'a [Span],
    /// Lines that the tree leaves out besides directives: [`crate::syntax::HostTree::inactive`].
    inactive: &'a [Span],
    scan: &'a Scan,
    /// Where the next directive starts.
    next: usize,
}

impl Walk<'_> {
    /// Goes on from `at` over blanks, comments, masked text and preprocessor lines. Returns the byte of the first token
    /// or of the next directive, and the first `#include` line in between.
    fn from(&self, mut at: usize) -> (usize, Option<Span>) {
        let mut include = None;
        while at < self.text.len() && at != self.next {
            at = match &self.text[at..] {
                [b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c', ..] => at + 1,
                [b'\\', b'\n', ..] | [b'\\', b'\r', ..] => at + 2,
                [b'/', b'*', ..] => self.block_comment(at),
                [b'/', b'/', ..] => self.line(at),
                _ => {
                    if let Some(mask) = span_at(self.masked, at).or_else(|| span_at(self.inactive, at)) {
                        mask.end.max(at + 1).min(self.next)
                    } else if self.is_preprocessor_line(at) {
                        include = include.or_else(|| self.include_at(at));
                        self.line(at)
                    } else {
                        return (at, include);
                    }
                }
            };
        }
        (at, include)
    }

    fn include_at(&self, at: usize) -> Option<Span> {
        let index = self.scan.includes.partition_point(|include| include.span.end <= at);
        self.scan.includes.get(index).map(|include| include.span).filter(|span| span.start <= at)
    }

    /// One past the `*/`, or the end of the text.
    fn block_comment(&self, at: usize) -> usize {
        let body = self.text.get(at + 2..).unwrap_or_default();
        body.windows(2).position(|pair| pair == b"*/").map_or(self.text.len(), |found| at + 2 + found + 2)
    }

    /// Where the line ends; a line that ends with a backslash goes on with the next one.
    fn line(&self, at: usize) -> usize {
        let mut end = at;
        while let Some(offset) = self.text.get(end..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n')) {
            let newline = end + offset;
            let before = self.text[at..newline].trim_ascii_end();
            if before.last() != Some(&b'\\') {
                return newline;
            }
            end = newline + 1;
        }
        self.text.len()
    }

    fn is_preprocessor_line(&self, at: usize) -> bool {
        matches!(&self.text[at..], [b'#', ..] | [b'%', b':', ..])
    }
}

/// The span that holds a byte. The spans are disjoint and sorted.
fn span_at(spans: &[Span], at: usize) -> Option<Span> {
    let index = spans.partition_point(|span| span.end <= at);
    spans.get(index).copied().filter(|span| span.start <= at)
}
