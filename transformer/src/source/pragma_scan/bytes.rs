//! Steps over the small things of C's lexical grammar: blanks, splices, comments, literals, words.
//!
//! Every function takes a position and returns the next one; none of them can fail or leave the text.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

/// The text of a file, with reads behind its end giving NUL.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

/// Is it a byte that an identifier or number goes on with? Bytes above ASCII count: they are letters in some encoding.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// May the text hold one of the words, whole or with a line splice inside? `false` is certain.
pub(super) fn may_hold_word(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| memmem::find(text, word).is_some()) || has_spliced_word(Bytes(text))
}

/// Is there a line splice with parts of a word on both sides?
fn has_spliced_word(text: Bytes) -> bool {
    memchr::memchr_iter(b'\\', text.0).any(|at| {
        let splice = text.splice(at);
        splice > 0 && at > 0 && is_word(text.at(at - 1)) && is_word(text.at(at + splice))
    })
}

impl<'a> Bytes<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// The byte at a position; NUL behind the end.
    pub(super) fn at(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// The text from a position on.
    pub(super) fn from(self, at: usize) -> &'a [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// The length of the line end at a position: `\n`, `\r\n` or `\r`; 0 if there is none.
    pub(super) fn newline(self, at: usize) -> usize {
        match self.at(at) {
            b'\n' => 1,
            b'\r' if self.at(at + 1) == b'\n' => 2,
            b'\r' => 1,
            _ => 0,
        }
    }

    /// The length of a splice: a backslash, blanks (compilers allow them) and a line end or the end of the text; 0 if
    /// there is none.
    pub(super) fn splice(self, at: usize) -> usize {
        if self.at(at) != b'\\' {
            return 0;
        }
        let blanks = self.from(at + 1).iter().take_while(|b| is_blank(**b)).count();
        match self.newline(at + 1 + blanks) {
            0 if at + 1 + blanks < self.len() => 0,
            newline => 1 + blanks + newline,
        }
    }

    /// Behind all splices at a position.
    pub(super) fn skip_splices(self, mut at: usize) -> usize {
        loop {
            match self.splice(at) {
                0 => return at,
                splice => at += splice,
            }
        }
    }

    /// Behind blanks and splices.
    pub(super) fn skip_blanks(self, mut at: usize) -> usize {
        loop {
            if is_blank(self.at(at)) {
                at += 1;
            } else {
                match self.splice(at) {
                    0 => return at,
                    splice => at += splice,
                }
            }
        }
    }

    /// Behind blanks, splices and comments, on the same logical line (which a block comment may lengthen).
    pub(super) fn skip_line_trivia(self, mut at: usize) -> usize {
        loop {
            at = self.skip_blanks(at);
            match self.comment_end(at) {
                Some(end) => at = end,
                None => return at,
            }
        }
    }

    /// Behind blanks, line ends, splices and comments.
    pub(super) fn skip_trivia(self, mut at: usize) -> usize {
        loop {
            at = self.skip_line_trivia(at);
            match self.newline(at) {
                0 => return at,
                newline => at += newline,
            }
        }
    }

    /// The end of the comment that starts here: behind `*/`, or before the line end; the end of the text where it is
    /// not closed.
    pub(super) fn comment_end(self, at: usize) -> Option<usize> {
        if self.at(at) != b'/' {
            return None;
        }
        let second = self.skip_splices(at + 1);
        match self.at(second) {
            b'*' => Some(self.block_comment_end(second + 1).unwrap_or(self.len())),
            b'/' => Some(self.plain_line_end(second + 1)),
            _ => None,
        }
    }

    /// Behind the `*/` that closes the comment whose text begins at `at`.
    fn block_comment_end(self, mut at: usize) -> Option<usize> {
        loop {
            at += memchr(b'*', self.from(at))? + 1;
            let slash = self.skip_splices(at);
            if self.at(slash) == b'/' {
                return Some(slash + 1);
            }
        }
    }

    /// Does a comment or raw string begin here that nothing closes?
    pub(super) fn is_unclosed(self, at: usize) -> bool {
        match self.at(at) {
            b'/' => {
                let second = self.skip_splices(at + 1);
                self.at(second) == b'*' && self.block_comment_end(second + 1).is_none()
            }
            b'"' if self.is_raw_string(at) => {
                self.raw_string_close(at).is_some_and(|(from, close)| memmem::find(self.from(from), &close).is_none())
            }
            _ => false,
        }
    }

    /// The end of the logical line, with nothing but splices looked at.
    pub(super) fn plain_line_end(self, mut at: usize) -> usize {
        loop {
            let Some(found) = memchr2(b'\n', b'\r', self.from(at)) else { return self.len() };
            let end = at + found;
            if !self.is_spliced(at, end) {
                return end;
            }
            at = end + self.newline(end);
        }
    }

    /// Does a backslash (and blanks) stand before the line end at `end`, not before `from`?
    pub(super) fn is_spliced(self, from: usize, end: usize) -> bool {
        let line = self.0.get(from..end).unwrap_or_default();
        line.iter().rev().find(|b| !is_blank(**b)) == Some(&b'\\')
    }

    /// Behind the string or character literal whose quote stands at `at`; before the line end where it is not closed.
    pub(super) fn literal_end(self, at: usize) -> usize {
        let quote = self.at(at);
        let mut at = at + 1;
        while at < self.len() {
            match self.at(at) {
                b'\\' => match self.splice(at) {
                    0 => at += 2,
                    splice => at += splice,
                },
                b'\n' | b'\r' => return at,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.len()
    }

    /// Is the quote at `at` that of a raw string: `R"`, `LR"`, `uR"`, `UR"`, `u8R"`?
    pub(super) fn is_raw_string(self, at: usize) -> bool {
        let before = self.0.get(at.saturating_sub(4)..at).unwrap_or_default();
        let start = before.iter().rposition(|b| !is_word(*b)).map_or(0, |p| p + 1);
        matches!(before.get(start..), Some(b"R" | b"LR" | b"uR" | b"UR" | b"u8R"))
    }

    /// Behind the raw string whose quote stands at `at`: no escape and no splice counts in it. Where its opening is
    /// malformed it is read as a plain string; where it is not closed it takes the rest of the text.
    pub(super) fn raw_string_end(self, at: usize) -> usize {
        let Some((from, close)) = self.raw_string_close(at) else { return self.literal_end(at) };
        memmem::find(self.from(from), &close).map_or(self.len(), |found| from + found + close.len())
    }

    /// Where the text of a raw string begins and what closes it; `None` where its opening is malformed.
    fn raw_string_close(self, at: usize) -> Option<(usize, Vec<u8>)> {
        let delimiter = self.from(at + 1);
        let open = delimiter.iter().take(17).position(|b| *b == b'(')?;
        let delimiter = delimiter.get(..open).unwrap_or_default();
        let is_malformed = delimiter.iter().any(|b| b.is_ascii_whitespace() || matches!(b, b')' | b'\\' | b'"'));
        (!is_malformed).then(|| (at + 1 + open, [b")", delimiter, b"\""].concat()))
    }

    /// Behind the string literal at `at`, raw or not.
    pub(super) fn string_end(self, at: usize) -> usize {
        if self.is_raw_string(at) { self.raw_string_end(at) } else { self.literal_end(at) }
    }

    /// Is the quote at `at` a digit separator (`1'000`)? `last` is the separator found before it, if any.
    pub(super) fn is_digit_separator(self, at: usize, last: Option<usize>) -> bool {
        let head = self.0.get(..at).unwrap_or_default();
        let start = head.iter().rposition(|b| !is_word(*b)).map_or(0, |p| p + 1);
        let is_number = self.at(start).is_ascii_digit() || (start > 0 && Some(start - 1) == last);
        start < at && is_number && self.at(at + 1).is_ascii_alphanumeric()
    }

    /// The word at `at` without its splices, and where it ends; empty where there is none.
    pub(super) fn word(self, at: usize) -> (Cow<'a, [u8]>, usize) {
        let end = self.run_end(at);
        let mut word = Cow::Borrowed(self.0.get(at..end).unwrap_or_default());
        let mut end = end;
        while !word.is_empty() {
            let next = self.skip_splices(end);
            let next_end = self.run_end(next);
            if next == end || next_end == next {
                break;
            }
            word.to_mut().extend_from_slice(self.0.get(next..next_end).unwrap_or_default());
            end = next_end;
        }
        (word, end)
    }

    fn run_end(self, at: usize) -> usize {
        at + self.from(at).iter().take_while(|b| is_word(**b)).count()
    }

    /// Behind the closing parenthesis that matches the opening one at `at`, comments and literals skipped. Otherwise
    /// how far the search went.
    pub(super) fn balanced_end(self, at: usize) -> Result<usize, usize> {
        let mut depth = 0_usize;
        let mut separator = None;
        let mut at = at;
        while at < self.len() {
            match self.at(at) {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(at + 1);
                    }
                }
                _ => {}
            }
            at = self.token_step(at, &mut separator);
        }
        Err(at)
    }

    /// Behind the comment or literal at `at`, or one byte on. `separator` remembers the last digit separator.
    pub(super) fn token_step(self, at: usize, separator: &mut Option<usize>) -> usize {
        match self.at(at) {
            b'"' => self.string_end(at),
            b'\'' if self.is_digit_separator(at, *separator) => {
                *separator = Some(at);
                at + 1
            }
            b'\'' => self.literal_end(at),
            b'/' => self.comment_end(at).unwrap_or(at + 1),
            _ => at + 1,
        }
    }
}
