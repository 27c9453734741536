//! The macro that a name stands for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::{Symbols, Unit};
use crate::source::{Span, without_comments, words};
use crate::syntax::{Field, NodeId, NodeKind};

/// A macro that the file or one of its headers defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// The names of its parameters; `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// Is it defined in a header out of sight, or by a flag?
    pub is_elsewhere: bool,
    /// What it is replaced with, with blanks at its ends and comments left out.
    pub body: String,
}

impl Macro {
    /// Is it a floating-point number, in parentheses or not? Integers are such as well.
    #[must_use]
    pub fn is_floating(&self) -> bool {
        let text = self.body.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
        text.trim_end_matches(['f', 'F', 'l', 'L']).parse::<f64>().is_ok()
    }
}

/// A macro that a flag of the compiler defines (`-DN=4`) or takes back (`-UN`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagDefinition {
    /// Its name.
    pub name: String,
    /// The names of its parameters; `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// What it is replaced with, or `None` if it is taken back.
    pub body: Option<String>,
}

impl FlagDefinition {
    /// The macro, if it is not taken back.
    fn as_macro(&self) -> Option<Macro> {
        Some(Macro { parameters: self.parameters.clone(), is_elsewhere: true, body: self.body.clone()? })
    }
}

/// The object-like macros of the C library's headers, of POSIX, and of OpenMP's, as glibc and clang define them, in order.
static STANDARD: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("standard_macros.txt").lines().collect());

impl Symbols<'_> {
    /// Every macro by a name that the file, its headers and the compiler's flags define, whichever of them holds at a place; where
    /// none do, what a compiler knows of it at byte `at`.
    #[must_use]
    pub fn macros_named(&self, name: &str, at: usize) -> Vec<Macro> {
        let own = std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit));
        let written = own.flat_map(|unit| {
            let nodes = unit.table.macros.get(name).map(Vec::as_slice).unwrap_or_default();
            nodes.iter().map(|(node, _)| unit.macro_of(*node))
        });
        let flags = self.definitions.iter().filter(|definition| definition.name == name);
        let of_flags = flags.filter_map(FlagDefinition::as_macro);
        let mut found: Vec<Macro> = written.chain(of_flags).chain(self.unread_macro(name)).collect();
        if found.is_empty() {
            found.extend(self.macro_elsewhere(name, at));
        }
        found.dedup_by(|one, other| one.body == other.body && one.parameters == other.parameters);
        found
    }

    /// Is there a macro by a name: does [`Self::macros_named`] find one?
    #[must_use]
    pub fn is_macro(&self, name: &str, at: usize) -> bool {
        let mut units = std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit));
        units.any(|unit| unit.table.macros.get(name).is_some_and(|all| !all.is_empty()))
            || self.definitions.iter().any(|flag| flag.name == name && flag.body.is_some())
            || self.unread_macro(name).is_some()
            || self.macro_elsewhere(name, at).is_some()
    }

    /// May a macro stand for something else than the definition that is found for it: are there others, or does the program or a
    /// flag take one back?
    #[must_use]
    pub fn is_ambiguous_macro(&self, name: &str) -> bool {
        self.definitions.iter().any(|definition| definition.name == name)
            || self.is_redefined(name)
            || self.is_default_of_standard_macro(name)
            || self.declares_at_file_scope(name) && self.is_named_by_macro(name)
            || self.macros_named(name, self.own.file.text.len()).len() > 1
    }

    /// Does the program define a macro only where nobody else does (`#ifndef SEEK_SET`), and may a header out of sight or the compiler
    /// define it: by a name of theirs, or one that is reserved for them (C17, section 7.1.3)?
    #[must_use]
    pub fn is_default_of_standard_macro(&self, name: &str) -> bool {
        let is_theirs = name.starts_with('_') || STANDARD.contains(name);
        let mut units = std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit));
        is_theirs && units.any(|unit| unit.is_default(name))
    }

    fn is_named_by_macro(&self, name: &str) -> bool {
        !self.macros_named(name, self.own.file.text.len()).is_empty()
    }

    /// May a macro stand for one thing here and another there: does the program or a flag take a definition back, or does a branch that
    /// the tree leaves out define it?
    #[must_use]
    pub fn is_redefined(&self, name: &str) -> bool {
        self.unread_macro(name).is_some()
            || self.taken_back.get_or_init(|| self.names_taken_back()).contains(name)
            || self.definitions.iter().any(|definition| definition.name == name && definition.body.is_none())
    }

    /// May the preprocessor leave out every definition of a macro, as far as a byte of the file can tell?
    pub(super) fn may_macro_be_absent(&self, name: &str, at: usize) -> bool {
        let is_kept = |unit: &Unit<'_>, at: usize| {
            let defined = unit.table.macros.get(name).map(Vec::as_slice).unwrap_or_default();
            let places: Vec<Span> = defined.iter().map(|(_, span)| *span).collect();
            !places.is_empty() && !unit.may_all_be_absent(&places, at)
        };
        let by_flag = self.definitions.iter().any(|flag| flag.name == name && flag.body.is_some());
        let in_headers = || self.header_units().any(|(_, unit)| is_kept(unit, unit.file.text.len()));
        !by_flag && !is_kept(&self.own, at) && !in_headers()
    }

    /// The macro that a name stands for at a byte of the file: the last definition before it, else one of a header, else the number
    /// that flags give it.
    #[must_use]
    pub fn macro_definition(&self, name: &str, at: usize) -> Option<Macro> {
        self.macro_in(None, name, at)
    }

    /// As [`Self::macro_definition`]; at a byte of a header all definitions count.
    #[must_use]
    pub fn macro_in(&self, header: Option<usize>, name: &str, at: usize) -> Option<Macro> {
        let at = if header.is_none() { at } else { usize::MAX };
        let own = self.own.table.macros.get(name).and_then(|all| all.iter().rev().find(|(_, span)| span.end <= at));
        if let Some((node, _)) = own {
            return Some(self.own.macro_of(*node));
        }
        let of_header = self.header_units().find_map(|(_, unit)| {
            let (node, _) = unit.table.macros.get(name)?.last()?;
            Some(unit.macro_of(*node))
        });
        let unread = of_header.or_else(|| self.unread_macro(name));
        unread.or_else(|| self.macro_of_flags(name)).or_else(|| self.macro_elsewhere(name, at))
    }

    /// The number that flags define, where all that name it say the same. Whatever else they define is told by a compiler alone.
    fn macro_of_flags(&self, name: &str) -> Option<Macro> {
        let mut all = self.definitions.iter().filter(|definition| definition.name == name);
        let first = all.next()?;
        let found = first.as_macro().filter(|found| found.parameters.is_none() && is_number(&found.body))?;
        all.all(|other| other == first).then_some(found)
    }

    /// A macro that a branch of `#if` defines which the tree leaves out.
    fn unread_macro(&self, name: &str) -> Option<Macro> {
        let is_defined = self.unread_macros.get_or_init(|| self.names_defined_unread()).contains(name);
        is_defined.then(|| Macro { parameters: None, is_elsewhere: true, body: String::new() })
    }
}

/// Is it one number, in parentheses or not, and without an exponent?
fn is_number(body: &str) -> bool {
    let number = body.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
    let number = number.strip_prefix('-').unwrap_or(number);
    number.starts_with(|c: char| c.is_ascii_digit()) && number.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'.')
}

impl Symbols<'_> {
    fn names_defined_unread(&self) -> BTreeSet<String> {
        let units = std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit));
        let branches = units.flat_map(|unit| unit.tree.inactive().iter().map(|span| unit.file.show(*span)));
        let names = |branch: std::borrow::Cow<'_, str>| {
            let definitions = branch.split("define").skip(1);
            definitions.filter_map(|rest| words(rest).next().map(str::to_owned)).collect::<Vec<_>>()
        };
        branches.flat_map(names).collect()
    }

    /// The names behind `#undef`, and in `#pragma push_macro("..")`.
    fn names_taken_back(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for file in std::iter::once(self.own.file).chain(self.headers.iter().map(|(header, _)| *header)) {
            let finder =
                |word: &'static str| memchr::memmem::find_iter(&file.text, word).map(move |at| at + word.len());
            for at in finder("undef").chain(finder("push_macro")).chain(finder("pop_macro")) {
                let rest = file.text.get(at..).unwrap_or_default();
                let line = String::from_utf8_lossy(rest.split(|byte| *byte == b'\n').next().unwrap_or_default());
                found.extend(words(&line).next().map(str::to_owned));
            }
        }
        found
    }
}

impl Unit<'_> {
    /// Is a macro defined where a conditional asks whether there is one by its name?
    fn is_default(&self, name: &str) -> bool {
        let asks = |node: NodeId| {
            let text = self.file.bytes(self.tree.span(node));
            let line = String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next().unwrap_or_default());
            matches!(self.tree.kind(node), NodeKind::PreprocIf | NodeKind::PreprocIfdef)
                && words(&line).any(|word| word == name)
        };
        let mut defined = self.table.macros.get(name).into_iter().flatten();
        defined.any(|(node, _)| self.tree.ancestors(*node).any(asks))
    }

    pub(super) fn macro_of(&self, node: NodeId) -> Macro {
        let text = |node: NodeId| self.file.show(self.tree.span(node)).into_owned();
        let body = self.tree.child(node, Field::Value).map(text).unwrap_or_default();
        let parameters = self.tree.child(node, Field::Parameters).map(|list| {
            self.tree
                .named_children(list)
                .filter(|item| self.tree.kind(*item) == NodeKind::Identifier)
                .map(text)
                .collect()
        });
        Macro { parameters, is_elsewhere: false, body: without_comments(&body).trim().to_owned() }
    }
}
