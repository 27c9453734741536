//! The one pass over the bytes of a file.
//!
//! Nearly all bytes are skipped by one table look-up; the few that may open a comment, a literal, an attribute or a
//! directive line are looked at. Words are read only where the file may hold `_Pragma` or `__pragma`.

use memchr::memmem;

use super::bytes::{Bytes, is_word};
use super::macros::PragmaMacros;
use super::{Note, Scan};
use crate::source::Span;

/// The bytes that the pass stops at.
type Stops = [bool; 256];

const fn stops(words: bool) -> Stops {
    let mut table = [false; 256];
    table[b'\n' as usize] = true;
    table[b'\r' as usize] = true;
    table[b'"' as usize] = true;
    table[b'\'' as usize] = true;
    table[b'/' as usize] = true;
    table[b'[' as usize] = true;
    let mut byte = 0;
    while words && byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends before 256")]
        let letter = byte as u8;
        if letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'$' || letter >= 0x80 {
            table[byte] = true;
        }
        byte += 1;
    }
    table
}

static STOPS: Stops = stops(false);
static WORD_STOPS: Stops = stops(true);

/// The state of the pass.
pub(super) struct Lexer<'a> {
    pub(super) text: Bytes<'a>,
    pub(super) macros: &'a PragmaMacros,
    pub(super) out: Scan,
    /// The conditionals not closed yet, as indices into `out.conditionals`.
    pub(super) open: Vec<usize>,
    /// How many bytes searches for a closing parenthesis that is not there may still cost: it keeps the pass linear.
    pub(super) budget: usize,
    stops: &'static Stops,
    /// Does the text hold one of the words that make a comment a note?
    has_notes: bool,
    separator: Option<usize>,
}

impl<'a> Lexer<'a> {
    /// A pass over `text`; `words` says whether `_Pragma`, `__pragma` and uses of `macros` are looked for.
    pub(super) fn new(text: &'a [u8], macros: &'a PragmaMacros, words: bool) -> Self {
        Self {
            text: Bytes(text),
            macros,
            out: Scan::default(),
            open: Vec::new(),
            budget: 4 * text.len() + 4096,
            stops: if words { &WORD_STOPS } else { &STOPS },
            has_notes: is_note(text),
            separator: None,
        }
    }

    /// Runs the pass to the end of the text.
    pub(super) fn run(mut self) -> Scan {
        let mark = if self.text.0.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut at = self.line_start(mark, mark);
        let stops = self.stops;
        while let Some(found) = self.text.from(at).iter().position(|b| stops[usize::from(*b)]) {
            at = self.step(at + found);
        }
        self.close_conditionals();
        self.out
    }

    /// Reads what a stop byte opens and returns the position behind it.
    fn step(&mut self, at: usize) -> usize {
        match self.text.at(at) {
            b'\n' | b'\r' => {
                let next = at + self.text.newline(at);
                self.line_start(next, at)
            }
            b'/' => self.comment(at).unwrap_or(at + 1),
            b'[' => self.attribute(at).unwrap_or(at + 1),
            b'"' | b'\'' => self.text.token_step(at, &mut self.separator),
            _ => self.word(at),
        }
    }

    /// Reads the beginning of a line: a directive line, or up to its first token. `before` is the position of the line
    /// end before it.
    fn line_start(&mut self, start: usize, before: usize) -> usize {
        let mut at = start;
        loop {
            at = self.text.skip_blanks(at);
            match self.text.at(at) {
                b'/' => match self.comment(at) {
                    Some(end) => at = end,
                    None => return at,
                },
                b'#' if self.begins_line(before) => return self.directive_line(at, at + 1),
                b'%' if self.text.at(at + 1) == b':' && self.begins_line(before) => {
                    return self.directive_line(at, at + 2);
                }
                _ => return at,
            }
        }
    }

    /// Does a new logical line begin behind the line end at `before`? Not where a splice joins it to code.
    fn begins_line(&self, before: usize) -> bool {
        let head = self.text.0.get(..before).unwrap_or_default();
        let line = head.iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |p| p + 1);
        if !self.text.is_spliced(line, before) {
            return true;
        }
        self.text.skip_blanks(line) > before
    }

    /// Reads a comment and returns its end.
    fn comment(&mut self, at: usize) -> Option<usize> {
        let end = self.text.comment_end(at)?;
        self.note(Span::new(at, end));
        Some(end)
    }

    /// Keeps a comment that may speak to this tool.
    pub(super) fn note(&mut self, span: Span) {
        if self.has_notes && is_note(span.of(self.text.0)) {
            self.out.notes.push(Note { span });
        }
    }

    /// Reads a word; the uses of `_Pragma`, `__pragma` and pragma macros.
    fn word(&mut self, at: usize) -> usize {
        let (word, end) = self.text.word(at);
        let found = match &*word {
            b"_Pragma" => self.pragma_operator(at, end),
            b"__pragma" => self.microsoft_pragma(at, end),
            name => match self.macros.get(name, at) {
                Some(is_function) => self.macro_use(at, end, is_function),
                None => None,
            },
        };
        found.unwrap_or(end.max(at + 1))
    }

    /// The end of the parentheses that open at `at`, as long as failed searches stay cheap.
    pub(super) fn balanced_end(&mut self, at: usize) -> Option<usize> {
        if self.budget == 0 {
            return None;
        }
        match self.text.balanced_end(at) {
            Ok(end) => Some(end),
            Err(reached) => {
                self.budget = self.budget.saturating_sub(reached - at);
                None
            }
        }
    }
}

fn is_note(text: &[u8]) -> bool {
    memmem::find(text, b"ompsplit").is_some() || memmem::find(text, b"NOLINT").is_some()
}

/// Is the byte before `at` no part of a word, so that a word may begin there?
pub(super) fn begins_word(text: Bytes, at: usize) -> bool {
    at == 0 || !is_word(text.at(at - 1))
}
