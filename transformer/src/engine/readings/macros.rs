//! The macros in sight of a file, with every definition that the preprocessor may choose.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::readings::tokens::{Kind, Token, on_one_line, tokens};
use crate::semantics::symbols::FlagDefinition;
use crate::source::{MacroDefinition, Scan, SourceFile, Span, scan, words};

/// One definition of a macro.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// The names of its parameters, `...` among them, or `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// What it is replaced with, on one line.
    pub body: Vec<Token>,
    /// Where it stands, if that is in the file itself.
    pub span: Option<Span>,
    /// The place for people: `context.h:33`.
    pub place: String,
}

/// The macros of the file, of its project's headers and of the compiler's flags.
#[derive(Default)]
pub(super) struct Macros {
    by_name: BTreeMap<String, Vec<Definition>>,
    /// The definitions that hold from their line to the next one of the name, whatever is compiled, in order.
    in_force: BTreeMap<String, Vec<InForce>>,
    /// Names of which it is not known what they stand for at a place.
    unclear: BTreeSet<String>,
}

/// From its place on a name stands for this, or for nothing behind `#undef`.
struct InForce {
    from: usize,
    definition: Option<Definition>,
}

impl Macros {
    /// Reads the definitions. Names that are taken back anywhere are left out, and so are those that compilers and headers out of sight
    /// may define: which definition holds at a place is not known of them.
    pub fn of(file: &SourceFile, own: &Scan, headers: &[SourceFile], flags: &[FlagDefinition]) -> Self {
        let mut all = Self::default();
        let mut taken_back: BTreeSet<String> = BTreeSet::new();
        for flag in flags {
            match &flag.body {
                Some(body) => {
                    let (body, place) = (on_one_line(&tokens(body, None)), format!("-D{}", flag.name));
                    let parameters = flag.parameters.clone();
                    all.add(&flag.name, Definition { parameters, body, span: None, place });
                }
                None => _ = taken_back.insert(flag.name.clone()),
            }
        }
        all.read(file, own, true);
        taken_back.extend(names_taken_back(file));
        for header in headers {
            all.read(header, &scan(&header.text), false);
            taken_back.extend(names_taken_back(header));
        }
        all.in_force = all.certain(file, own, headers);
        let is_unclear = |name: &String| taken_back.contains(name) || name.starts_with('_');
        all.unclear = all.by_name.keys().filter(|name| is_unclear(name)).cloned().collect();
        all.by_name.retain(|name, _| !is_unclear(name));
        all
    }

    /// What holds of names that the file alone defines and takes back, nowhere under an `#if`.
    fn certain(&self, file: &SourceFile, scan: &Scan, headers: &[SourceFile]) -> BTreeMap<String, Vec<InForce>> {
        let is_own = |name: &str| !name.starts_with('_') && self.get(name).iter().all(|other| other.span.is_some());
        let mut certain: BTreeMap<String, Vec<InForce>> = BTreeMap::new();
        for definition in &scan.definitions {
            let name = file.show(definition.name).into_owned();
            if is_own(&name) {
                let known = InForce { from: definition.span.end, definition: Some(read(file, definition, true)) };
                certain.entry(name).or_default().push(known);
            }
        }
        for (name, at) in named_behind(file, "undef") {
            let known = certain.get_mut(&name).into_iter();
            known.for_each(|all| all.push(InForce { from: at, definition: None }));
        }
        let elsewhere = headers.iter().flat_map(names_taken_back);
        let pushed = ["push_macro", "pop_macro"].into_iter().flat_map(|word| named_behind(file, word));
        let unclear: BTreeSet<String> = elsewhere.chain(pushed.map(|(name, _)| name)).collect();
        let is_chosen = |one: &InForce| scan.conditionals.iter().any(|group| group.span.overlaps(one.place()));
        certain.retain(|name, all| !unclear.contains(name) && !all.iter().any(is_chosen));
        certain.values_mut().for_each(|all| all.sort_by_key(|one| one.from));
        certain
    }

    /// The definition that holds at a byte of the file, if that is certain.
    pub fn in_force(&self, name: &str, at: usize) -> Option<&Definition> {
        self.in_force.get(name)?.iter().rev().find(|one| one.from <= at)?.definition.as_ref()
    }

    /// Is it certain of a name what it stands for at each place?
    pub fn is_in_force(&self, name: &str) -> bool {
        self.in_force.contains_key(name)
    }

    /// Are there macros that statements may use and of which it is certain where each definition holds?
    pub fn are_in_force(&self) -> bool {
        !self.in_force.is_empty()
    }

    /// Is a name a macro somewhere in sight, but not known what for?
    pub fn is_unclear(&self, name: &str) -> bool {
        self.unclear.contains(name)
    }

    /// May a name stand for one thing here and another there?
    pub fn changes(&self, name: &str) -> bool {
        self.in_force.get(name).is_some_and(|all| all.len() > 1)
    }

    /// The definitions of a name.
    pub fn get(&self, name: &str) -> &[Definition] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    fn read(&mut self, file: &SourceFile, scan: &Scan, is_own: bool) {
        for definition in &scan.definitions {
            self.add(&file.show(definition.name), read(file, definition, is_own));
        }
    }

    fn add(&mut self, name: &str, definition: Definition) {
        let Definition { parameters, body, .. } = &definition;
        let all = self.by_name.entry(name.to_owned()).or_default();
        if !all.iter().any(|other| other.parameters == *parameters && is_same(&other.body, body)) {
            all.push(definition);
        }
    }
}

/// What a line of a file defines.
fn read(file: &SourceFile, definition: &MacroDefinition, is_own: bool) -> Definition {
    let parameters = definition.parameters.map(|list| {
        let list = file.show(list);
        let names = list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        names.collect::<Vec<_>>()
    });
    let line = file.lines.line_column(definition.span.start).line;
    Definition {
        parameters,
        body: on_one_line(&tokens(&file.show(definition.body), None)),
        span: is_own.then_some(definition.span),
        place: format!("{}:{line}", file.path.display()),
    }
}

impl InForce {
    /// The line that says so, or a part of it.
    fn place(&self) -> Span {
        self.definition.as_ref().and_then(|it| it.span).unwrap_or(Span::new(self.from.saturating_sub(1), self.from))
    }
}

/// Do the tokens read the same, however many blanks stand between them?
fn is_same(one: &[Token], other: &[Token]) -> bool {
    let read = |token: &Token| if token.kind == Kind::Blank { " ".to_owned() } else { token.text.clone() };
    one.iter().map(read).eq(other.iter().map(read))
}

/// The names behind `#undef`, and in `#pragma push_macro("..")`.
pub(in crate::engine) fn names_taken_back(file: &SourceFile) -> Vec<String> {
    let words = ["undef", "push_macro", "pop_macro"];
    words.into_iter().flat_map(|word| named_behind(file, word)).map(|(name, _)| name).collect()
}

/// The first word behind each use of one, wherever that is, with the place where it is sought.
fn named_behind(file: &SourceFile, word: &str) -> Vec<(String, usize)> {
    let places = memchr::memmem::find_iter(&file.text, word).map(|at| at + word.len());
    let named = places.filter_map(|at| {
        let rest = file.text.get(at..).unwrap_or_default();
        let line = String::from_utf8_lossy(rest.split(|byte| *byte == b'\n').next().unwrap_or_default());
        Some((words(&line).next()?.to_owned(), at))
    });
    named.collect()
}
