//! The `#if` groups of which it is known which branch the compiler takes, whatever else it is told.
//!
//! A name that the same file defines before, in lines that the compiler then certainly reads, is defined; so is one that the flags define.
//! That a name is not defined is never known: flags and headers out of sight may define it. Names that are taken back anywhere in sight
//! say nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::readings::names_taken_back;
use crate::semantics::symbols::FlagDefinition;
use crate::source::{Conditional, MacroDefinition, Scan, SourceFile, Span, scan, words};

/// Longer conditions are not read.
const MOST_TOKENS: usize = 64;

/// How many names may stand for each other.
const MOST_NAMES: usize = 8;

/// The branch that is taken, or `None` if none is.
pub(super) type Taken = Option<usize>;

/// What flags and files define, and take back.
pub(super) struct Defined<'a> {
    flags: BTreeMap<&'a str, &'a str>,
    taken_back: BTreeSet<String>,
    /// The texts that each name stands for anywhere in sight.
    bodies: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Defined<'a> {
    /// Reads the flags, the file and its headers.
    pub fn of(file: &SourceFile, headers: &[SourceFile], flags: &'a [FlagDefinition]) -> Self {
        let mut all = Self { flags: BTreeMap::new(), taken_back: BTreeSet::new(), bodies: BTreeMap::new() };
        for flag in flags {
            match &flag.body {
                Some(body) => {
                    all.flags.insert(&flag.name, body);
                    all.bodies.entry(flag.name.clone()).or_default().insert(body.trim().to_owned());
                }
                None => _ = all.taken_back.insert(flag.name.clone()),
            }
        }
        for file in std::iter::once(file).chain(headers) {
            all.taken_back.extend(names_taken_back(file));
            let scan = scan(&file.text);
            for definition in &scan.definitions {
                // `#ifndef N`: what a flag defines is not defined again.
                let is_default =
                    all.flags.contains_key(&*file.show(definition.name)) && is_default(file, &scan, definition);
                if is_default {
                    continue;
                }
                let body = match definition.parameters {
                    Some(_) => "()".to_owned(),
                    None => file.show(definition.body).trim().to_owned(),
                };
                all.bodies.entry(file.show(definition.name).into_owned()).or_default().insert(body);
            }
        }
        all
    }

    /// The headers without the branches that are not taken.
    pub fn headers(&self, headers: &[SourceFile]) -> Vec<SourceFile> {
        headers.iter().map(|header| self.without_branches(header)).collect()
    }

    fn without_branches(&self, file: &SourceFile) -> SourceFile {
        let scan = scan(&file.text);
        let groups = scan.conditionals.iter().zip(self.groups(file, &scan));
        let known = groups.filter_map(|(group, taken)| Some((group, taken?)));
        let spans: Vec<Span> = known.flat_map(|(group, taken)| not_taken(group, taken)).collect();
        without(file, &spans)
    }

    /// For each group of a file, which branch is taken; `None` where that is not known.
    pub fn groups(&self, file: &SourceFile, scan: &Scan) -> Vec<Option<Taken>> {
        let mut known: Vec<Option<Taken>> = Vec::new();
        for group in &scan.conditionals {
            let place = Place { all: self, file, scan, known: &known, at: group.span.start };
            let taken = place.taken(group);
            known.push(taken);
        }
        known
    }
}

/// The lines of a group, and its branches but for the one that is taken.
pub(super) fn not_taken(group: &Conditional, taken: Taken) -> Vec<Span> {
    let others = group.branches.iter().enumerate().filter(|(index, _)| Some(*index) != taken);
    group.lines().into_iter().chain(others.map(|(_, branch)| branch.content)).filter(|span| !span.is_empty()).collect()
}

/// A file with blanks in the place of some parts, and its lines as they are.
pub(super) fn without(file: &SourceFile, parts: &[Span]) -> SourceFile {
    let mut text = file.text.clone();
    for span in parts {
        let part = text.get_mut(span.start..span.end).unwrap_or_default();
        part.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    SourceFile { text, ..file.clone() }
}

/// Does a definition stand where the preprocessor has asked that there is none of its name?
fn is_default(file: &SourceFile, scan: &Scan, definition: &MacroDefinition) -> bool {
    let name = file.show(definition.name);
    scan.conditionals.iter().any(|group| {
        let first = group.branches.first().filter(|branch| branch.content.contains(definition.span));
        first.is_some_and(|branch| words(&file.show(branch.line)).eq(["ifndef", &*name]))
    })
}

/// The line at which a group begins.
struct Place<'a> {
    all: &'a Defined<'a>,
    file: &'a SourceFile,
    scan: &'a Scan,
    /// What is known of the groups that begin before.
    known: &'a [Option<Taken>],
    at: usize,
}

impl Place<'_> {
    /// The branch that is taken. What is left out must not hide a second definition of what the flags define: subscripts and bounds take
    /// the text's word for such a name where both are there.
    fn taken(&self, group: &Conditional) -> Option<Taken> {
        let mut found = None;
        for (index, branch) in group.branches.iter().enumerate() {
            if self.answer(branch.line)? {
                found = Some(index);
                break;
            }
        }
        let left_out = group.branches.iter().enumerate().filter(|(index, _)| Some(*index) != found);
        let defines_flag = |content: Span| {
            let text = self.file.show(content);
            text.contains("define") && words(&text).any(|word| self.all.flags.contains_key(word))
        };
        (!left_out.into_iter().any(|(_, branch)| defines_flag(branch.content))).then_some(found)
    }

    /// Is the branch of this line taken, if none before it is?
    fn answer(&self, line: Span) -> Option<bool> {
        let text = self.file.show(line);
        let text = text.trim_start_matches(|c: char| matches!(c, '#' | '%' | ':') || c.is_whitespace());
        let (word, condition) = text.split_at(text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()));
        let condition = condition.split("//").next().unwrap_or_default().trim();
        if condition.contains(['\\', '"', '\'']) || condition.contains("/*") || condition.contains("??") {
            return None;
        }
        match word {
            "else" => Some(true),
            "ifdef" | "elifdef" => self.is_defined(condition).then_some(true),
            "ifndef" | "elifndef" => self.is_defined(condition).then_some(false),
            "if" | "elif" => {
                let tokens = tokens(condition)?;
                let mut reader = Reader { place: self, tokens: &tokens, index: 0 };
                let value = reader.either();
                (reader.index == tokens.len()).then_some(value?).map(|value| value != 0)
            }
            _ => None,
        }
    }

    /// Is a name certainly defined here, by the flags, the file, or what the file asks about in `#ifndef`?
    fn is_defined(&self, name: &str) -> bool {
        self.is_known(name, true)
    }

    /// Is a name certainly defined here? Without `otherwise`, by something in sight.
    fn is_known(&self, name: &str, otherwise: bool) -> bool {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let before = || {
            let definitions = self.scan.definitions.iter().filter(|definition| definition.span.end <= self.at);
            let mut own = definitions.filter(|definition| self.file.show(definition.name) == name);
            own.any(|definition| self.is_certain(definition.span, otherwise))
        };
        is_name && !self.all.taken_back.contains(name) && (self.all.flags.contains_key(name) || before())
    }

    /// Has the compiler read this part of the file wherever it reads the group? With `otherwise`, or does it know the name defined there
    /// without it?
    fn is_certain(&self, part: Span, otherwise: bool) -> bool {
        let around = self.scan.conditionals.iter().zip(self.known).filter(|(group, _)| group.span.contains(part));
        around.into_iter().all(|(group, known)| {
            let branch = group.branches.iter().position(|branch| branch.content.contains(part));
            let Some(branch) = branch.and_then(|index| Some((index, group.branches.get(index)?))) else { return false };
            let is_default = || otherwise && branch.0 == 0 && self.asks_for(branch.1.line, part);
            branch.1.content.contains(Span::new(self.at, self.at))
                || *known == Some(Some(branch.0))
                || known.is_none() && is_default()
        })
    }

    /// `#ifndef N` around the definition of `N`: behind it there is one, whichever it is.
    fn asks_for(&self, line: Span, definition: Span) -> bool {
        let mut defined = self.scan.definitions.iter().filter(|other| other.span == definition);
        let line = self.file.show(line);
        let asked = line.trim_start_matches(['#', ' ', '\t']).strip_prefix("ifndef").map(str::trim);
        defined.next().is_some_and(|defined| asked == Some(&*self.file.show(defined.name)))
    }

    /// The number that a name stands for, perhaps by way of others.
    fn value(&self, name: &str) -> Option<i64> {
        let mut name = name;
        for _ in 0..MOST_NAMES {
            let bodies = self.all.bodies.get(name)?;
            name = bodies.first().filter(|_| bodies.len() == 1 && self.is_known(name, false))?;
            if let Some(number) = number(name) {
                return Some(number);
            }
        }
        None
    }
}

/// A number as the preprocessor reads it.
fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['l', 'L']);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|number: &i64| is_plain && *number <= i64::from(i32::MAX))
}

/// The words, numbers and operators of a condition.
fn tokens(condition: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    let mut rest = condition.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(first) {
            rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
        } else {
            ["&&", "||", "==", "!=", "<=", ">=", "!", "<", ">", "(", ")"]
                .iter()
                .find(|it| rest.starts_with(**it))?
                .len()
        };
        let (token, after) = rest.split_at(length);
        all.push(token);
        rest = after.trim_start();
    }
    Some(all).filter(|all| all.len() <= MOST_TOKENS)
}

/// Reads a condition from left to right. A value is `None` where it is not known.
struct Reader<'a> {
    place: &'a Place<'a>,
    tokens: &'a [&'a str],
    index: usize,
}

impl<'a> Reader<'a> {
    fn next_if(&mut self, wanted: &[&str]) -> Option<&'a str> {
        let token = self.tokens.get(self.index).copied().filter(|token| wanted.contains(token))?;
        self.index += 1;
        Some(token)
    }

    fn either(&mut self) -> Option<i64> {
        let mut value = self.both();
        while self.next_if(&["||"]).is_some() {
            let other = self.both();
            value = match (value, other) {
                (Some(0), Some(0)) => Some(0),
                (one, other) if one.is_some_and(|it| it != 0) || other.is_some_and(|it| it != 0) => Some(1),
                _ => None,
            };
        }
        value
    }

    fn both(&mut self) -> Option<i64> {
        let mut value = self.equal();
        while self.next_if(&["&&"]).is_some() {
            let other = self.equal();
            value = match (value, other) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (Some(_), Some(_)) => Some(1),
                _ => None,
            };
        }
        value
    }

    fn equal(&mut self) -> Option<i64> {
        let mut value = self.ordered();
        while let Some(operator) = self.next_if(&["==", "!="]) {
            let other = self.ordered();
            value = value.zip(other).map(|(one, other)| i64::from((one == other) == (operator == "==")));
        }
        value
    }

    fn ordered(&mut self) -> Option<i64> {
        let mut value = self.unary();
        while let Some(operator) = self.next_if(&["<", ">", "<=", ">="]) {
            let other = self.unary();
            value = value.zip(other).map(|(one, other)| {
                i64::from(match operator {
                    "<" => one < other,
                    ">" => one > other,
                    "<=" => one <= other,
                    _ => one >= other,
                })
            });
        }
        value
    }

    fn unary(&mut self) -> Option<i64> {
        if self.next_if(&["!"]).is_some() {
            return self.unary().map(|value| i64::from(value == 0));
        }
        if self.next_if(&["("]).is_some() {
            let value = self.either();
            return self.next_if(&[")"]).and(value);
        }
        if self.next_if(&["defined"]).is_some() {
            let has_parenthesis = self.next_if(&["("]).is_some();
            let name = self.tokens.get(self.index).copied().filter(|token| words(token).next() == Some(*token));
            self.index += 1;
            if has_parenthesis && self.next_if(&[")"]).is_none() {
                self.index = usize::MAX;
            }
            return self.place.is_defined(name?).then_some(1);
        }
        let token = self.tokens.get(self.index).copied()?;
        self.index += 1;
        number(token).or_else(|| self.place.value(token))
    }
}
