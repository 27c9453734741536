//! Where in a file another include may stand: at file scope, with nothing before it that changes what it means.
//!
//! Told from tokens alone: brackets, and pragmas that hold until another one ends them. What a branch of an `#if` group opens,
//! branches under the same conditions must close. Wherever a text cannot be followed, no later place counts.

mod pragmas;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::pragma_scan::skip_token;
use super::{Include, Scan, Span};
use pragmas::{Effect, Kind, effect_of_directive, effect_of_pragma};

/// How a file leaves the scope in which it is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Are all its brackets and pragmas closed?
    pub is_closed: bool,
    /// Does it end behind a whole declaration?
    pub is_whole: bool,
}

/// What a file's tokens tell.
#[derive(Clone, Debug)]
pub struct FileScope {
    /// The includes, as indices into [`Scan::includes`], behind which another one may stand.
    pub free: Vec<usize>,
    /// How the file ends.
    pub ending: Ending,
}

impl FileScope {
    /// Follows a text up to a position; `ending_of` says how included files end, as far as they are in sight.
    #[must_use]
    pub fn of(text: &[u8], scan: &Scan, until: usize, ending_of: &dyn Fn(&Include) -> Option<Ending>) -> Self {
        let mut walk = Walk {
            text,
            scan,
            ending_of,
            unclear: unclear_macros(text, scan),
            open: BTreeMap::new(),
            conditions: Vec::new(),
            last: None,
            is_lost: false,
            free: Vec::new(),
        };
        walk.run(until);
        let ending = Ending { is_closed: walk.is_closed(), is_whole: walk.is_whole_but_for_macros() };
        Self { free: walk.free, ending }
    }
}

/// A line, a pragma or an operator that is no part of a declaration.
#[derive(Clone, Copy)]
enum Event {
    Include(usize),
    /// The first, a later, or the last line of an `#if` group.
    If,
    Else,
    Endif,
    Definition,
    Pragma,
    Directive(usize),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The last byte that is kept of a name in capitals.
const MACRO: u8 = b'A';

/// What is open of one kind under one condition.
#[derive(Default)]
struct Open {
    depth: isize,
    is_set: bool,
    saved: Vec<bool>,
}

impl Open {
    fn is_closed(&self) -> bool {
        self.depth == 0 && !self.is_set && self.saved.is_empty()
    }
}

struct Walk<'a> {
    text: &'a [u8],
    scan: &'a Scan,
    ending_of: &'a dyn Fn(&Include) -> Option<Ending>,
    /// Macros of the file whose use opens or closes something.
    unclear: BTreeSet<&'a [u8]>,
    open: BTreeMap<(Vec<u8>, Kind), Open>,
    /// The lines of the `#if` groups around, up to the branch.
    conditions: Vec<Vec<u8>>,
    /// The last byte of a token, none before the first.
    last: Option<u8>,
    is_lost: bool,
    free: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn run(&mut self, until: usize) {
        let mut at = if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        for (span, event) in events(self.scan) {
            if span.start < at {
                continue;
            }
            if span.end > until || self.is_lost {
                break;
            }
            self.tokens(at, span.start);
            self.event(span, event);
            at = span.end;
        }
        self.tokens(at, until);
    }

    fn event(&mut self, span: Span, event: Event) {
        match event {
            Event::Include(index) => self.include(index),
            Event::If => {
                self.branch();
                self.conditions.push(condition(span.of(self.text)));
            }
            Event::Else => {
                self.branch();
                let line = condition(span.of(self.text));
                if let Some(condition) = self.conditions.last_mut() {
                    condition.extend(line);
                }
            }
            Event::Endif => {
                self.branch();
                self.conditions.pop();
            }
            Event::Definition => {}
            Event::Pragma => self.apply(&effect_of_pragma(span.of(self.text))),
            Event::Directive(index) => {
                let body = self.scan.directives.get(index).and_then(|directive| directive.body);
                self.apply(&body.map_or(Effect::Unknown, |body| effect_of_directive(body.of(self.text))));
            }
        }
    }

    /// A declaration that is cut by a line of an `#if` group is not followed.
    fn branch(&mut self) {
        self.is_lost |= !self.is_whole_but_for_macros() && self.is_outside_brackets();
    }

    fn include(&mut self, index: usize) {
        let Some(include) = self.scan.includes.get(index) else { return };
        if let Some(ending) = (self.ending_of)(include) {
            self.is_lost |= !ending.is_closed || (!ending.is_whole && self.is_outside_brackets());
        }
        if self.conditions.is_empty() && self.is_closed() && self.is_whole() {
            self.free.push(index);
        }
    }

    fn is_closed(&self) -> bool {
        !self.is_lost && self.open.values().all(Open::is_closed)
    }

    fn is_outside_brackets(&self) -> bool {
        self.open.iter().all(|((_, kind), open)| *kind != Kind::Brackets || open.is_closed())
    }

    fn is_whole(&self) -> bool {
        matches!(self.last, None | Some(b';' | b'{' | b'}'))
    }

    /// A name in capitals, as the last token, may stand for a whole declaration.
    fn is_whole_but_for_macros(&self) -> bool {
        self.is_whole() || self.last == Some(MACRO)
    }

    fn open_mut(&mut self, kind: Kind) -> &mut Open {
        self.open.entry((self.conditions.concat(), kind)).or_default()
    }

    fn apply(&mut self, effect: &Effect) {
        match *effect {
            Effect::Nothing => {}
            Effect::Open(kind) => self.open_mut(kind).depth += 1,
            Effect::Close(kind) => self.open_mut(kind).depth -= 1,
            Effect::Settings { kind, save, restore, set } => {
                let open = self.open_mut(kind);
                if save {
                    open.saved.push(open.is_set);
                }
                if restore {
                    open.is_set = open.saved.pop().unwrap_or(open.is_set);
                }
                open.is_set = set.unwrap_or(open.is_set);
            }
            Effect::Unknown => self.is_lost = true,
        }
    }

    /// Follows the tokens of a part of the text.
    fn tokens(&mut self, from: usize, to: usize) {
        let mut at = from;
        let mut begins_line = true;
        while at < to {
            let rest = self.text.get(at..to).unwrap_or_default();
            let Some(byte) = rest.first().copied() else { return };
            let next = skip_token(self.text, at);
            match byte {
                b'\n' | b'\r' => begins_line = true,
                _ if byte.is_ascii_whitespace() || is_splice(rest) || (byte == b'/' && next > at + 1) => {}
                b'#' if begins_line => {
                    at = line_end(self.text, at);
                    continue;
                }
                _ => {
                    begins_line = false;
                    at = self.token(at, next);
                    continue;
                }
            }
            at = next;
        }
    }

    /// Follows one token and returns its end; `next` is the end of the literal or byte there.
    fn token(&mut self, at: usize, next: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let length = word_length(rest);
        if length > 0 {
            let word = rest.get(..length).unwrap_or_default();
            self.is_lost |= self.unclear.contains(word);
            let is_macro = !word.iter().any(u8::is_ascii_lowercase) && !word.first().is_some_and(u8::is_ascii_digit);
            self.last = Some(if is_macro { MACRO } else { b'a' });
            return at + length;
        }
        let (byte, depth, length) = punctuation(rest);
        self.last = Some(byte);
        if depth != 0 {
            self.open_mut(Kind::Brackets).depth += depth;
        }
        next.max(at + length)
    }
}

/// The byte that punctuation stands for, how it changes the depth of brackets, and its length.
fn punctuation(rest: &[u8]) -> (u8, isize, usize) {
    match *rest {
        [b'<', b'%', ..] => (b'{', 1, 2),
        [b'%', b'>', ..] => (b'}', -1, 2),
        [byte @ (b'(' | b'[' | b'{'), ..] => (byte, 1, 1),
        [byte @ (b')' | b']' | b'}'), ..] => (byte, -1, 1),
        [byte, ..] => (byte, 0, 1),
        [] => (0, 0, 1),
    }
}

/// The lines, pragmas and operators of a file in the order of the text.
fn events(scan: &Scan) -> Vec<(Span, Event)> {
    let mut events: Vec<(Span, Event)> = Vec::new();
    events.extend(scan.includes.iter().enumerate().map(|(index, include)| (include.span, Event::Include(index))));
    events.extend(scan.definitions.iter().map(|definition| (definition.span, Event::Definition)));
    for conditional in &scan.conditionals {
        let lines = conditional.lines();
        let last = lines.len().saturating_sub(1);
        let event = |number: usize| match number {
            0 => Event::If,
            _ if number == last => Event::Endif,
            _ => Event::Else,
        };
        events.extend(lines.into_iter().enumerate().map(|(number, line)| (line, event(number))));
    }
    let directives = scan.directives.iter().enumerate();
    events.extend(directives.map(|(index, directive)| (directive.span, Event::Directive(index))));
    let is_known: BTreeSet<usize> = events.iter().map(|(span, _)| span.start).collect();
    let others = scan.masked.iter().filter(|span| !is_known.contains(&span.start));
    events.extend(others.map(|span| (*span, Event::Pragma)));
    events.sort_by_key(|(span, _)| (span.start, span.end));
    events
}

/// The macros of a file whose use may open or close something, themselves or through others.
fn unclear_macros<'a>(text: &'a [u8], scan: &Scan) -> BTreeSet<&'a [u8]> {
    let mut unclear = BTreeSet::new();
    loop {
        let before = unclear.len();
        for definition in &scan.definitions {
            if !is_clear(definition.body.of(text), &unclear) {
                unclear.insert(definition.name.of(text));
            }
        }
        if unclear.len() == before {
            return unclear;
        }
    }
}

/// Does what a macro stands for close all that it opens?
fn is_clear(body: &[u8], unclear: &BTreeSet<&[u8]>) -> bool {
    let mut depth = 0;
    let mut at = 0;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let length = word_length(rest);
        let word = rest.get(..length).unwrap_or_default();
        if unclear.contains(word) {
            return false;
        }
        // The first words behind the operator say what it does, whatever else the body holds.
        if matches!(word, b"_Pragma" | b"__pragma") && effect_of_pragma(rest) != Effect::Nothing {
            return false;
        }
        let (_, change, punctuation) = punctuation(rest);
        depth += if length > 0 { 0 } else { change };
        at = if length > 0 { at + length } else { skip_token(body, at).max(at + punctuation) };
    }
    depth == 0
}

/// The words of a line of an `#if` group, the same for each way to ask whether one macro is defined.
fn condition(line: &[u8]) -> Vec<u8> {
    let words = pragmas::words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = match *words.as_slice() {
        ["#", "ifdef", name] | ["#", "if", "defined", "(", name, ")"] => vec!["#", "if", "defined", name],
        ["#", "ifndef", name] | ["#", "if", "!", "defined", "(", name, ")"] => vec!["#", "if", "!", "defined", name],
        _ => words,
    };
    (words.join(" ") + "\n").into_bytes()
}

/// How long a word or number is, with the separators of its digits.
fn word_length(rest: &[u8]) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let is_number = rest.first().is_some_and(u8::is_ascii_digit);
    let goes_on =
        |at: usize, byte: &u8| is_word(byte) || (is_number && *byte == b'\'' && rest.get(at + 1).is_some_and(is_word));
    rest.iter().enumerate().take_while(|(at, byte)| goes_on(*at, byte)).count()
}

fn is_splice(rest: &[u8]) -> bool {
    matches!(rest, [b'\\', b'\n' | b'\r' | b' ' | b'\t', ..])
}

/// The end of the logical line of a `#` at `at`.
fn line_end(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(rest) = text.get(at..).filter(|rest| !matches!(rest, [] | [b'\n' | b'\r', ..])) {
        at = match rest {
            [b'\\', b'\r', b'\n', ..] => at + 3,
            [b'\\', b'\n' | b'\r', ..] => at + 2,
            _ => skip_token(text, at),
        };
    }
    at
}
