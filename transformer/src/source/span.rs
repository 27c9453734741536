//! Byte ranges of the original text.

/// A half-open range of bytes, `start..end`, of the original text of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; an end before the start is taken as empty.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// How many bytes it covers.
    #[must_use]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// The same bytes of a text that begins `by` bytes earlier.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// Does it cover no byte?
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Does every byte of `other` lie in it?
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Do the two share a byte?
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The bytes it covers; empty where it reaches past the text.
    #[must_use]
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// A position as people and editors count: both from 1, the column in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
}

/// Where each line of a text starts.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads the line starts of `text`; lines end with `\n`.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        Self { starts }
    }

    /// The line and column of a byte.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        LineColumn { line, column: offset - start + 1 }
    }

    /// The first byte of a line that is counted from 1.
    #[must_use]
    pub fn line_start(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }
}
