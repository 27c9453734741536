//! The macros in sight of a file, with every definition that the preprocessor may choose.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::readings::tokens::{Kind, Token, on_one_line, tokens};
use crate::semantics::symbols::FlagDefinition;
use crate::source::{Scan, SourceFile, Span, scan, words};

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
}

impl Macros {
    /// Reads the definitions. Names that are taken back anywhere are left out, and so are those that compilers and headers out of sight
    /// may define: which definition holds at a place is not known of them.
    pub fn of(file: &SourceFile, own: &Scan, headers: &[SourceFile], flags: &[FlagDefinition]) -> Self {
        let mut all = Self::default();
        let mut taken_back: BTreeSet<String> = BTreeSet::new();
        for flag in flags {
            match &flag.body {
                Some(body) => all.add(&flag.name, None, body, None, format!("-D{}", flag.name)),
                None => _ = taken_back.insert(flag.name.clone()),
            }
        }
        all.read(file, own, true);
        taken_back.extend(names_taken_back(file));
        for header in headers {
            all.read(header, &scan(&header.text), false);
            taken_back.extend(names_taken_back(header));
        }
        all.by_name.retain(|name, _| !taken_back.contains(name) && !name.starts_with('_'));
        all
    }

    /// The definitions of a name.
    pub fn get(&self, name: &str) -> &[Definition] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    fn read(&mut self, file: &SourceFile, scan: &Scan, is_own: bool) {
        for definition in &scan.definitions {
            let parameters = definition.parameters.map(|list| {
                let list = file.show(list);
                let names = list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
                names.collect::<Vec<_>>()
            });
            let line = file.lines.line_column(definition.span.start).line;
            let place = format!("{}:{line}", file.path.display());
            let span = is_own.then_some(definition.span);
            self.add(&file.show(definition.name), parameters, &file.show(definition.body), span, place);
        }
    }

    fn add(&mut self, name: &str, parameters: Option<Vec<String>>, body: &str, span: Option<Span>, place: String) {
        let body = on_one_line(&tokens(body, None));
        let all = self.by_name.entry(name.to_owned()).or_default();
        if !all.iter().any(|other| other.parameters == parameters && is_same(&other.body, &body)) {
            all.push(Definition { parameters, body, span, place });
        }
    }
}

/// Do the tokens read the same, however many blanks stand between them?
fn is_same(one: &[Token], other: &[Token]) -> bool {
    let read = |token: &Token| if token.kind == Kind::Blank { " ".to_owned() } else { token.text.clone() };
    one.iter().map(read).eq(other.iter().map(read))
}

/// The names behind `#undef`, and in `#pragma push_macro("..")`.
pub(in crate::engine) fn names_taken_back(file: &SourceFile) -> Vec<String> {
    let mut found = Vec::new();
    for word in ["undef", "push_macro", "pop_macro"] {
        for at in memchr::memmem::find_iter(&file.text, word) {
            let rest = file.text.get(at + word.len()..).unwrap_or_default();
            let line = String::from_utf8_lossy(rest.split(|byte| *byte == b'\n').next().unwrap_or_default());
            found.extend(words(&line).next().map(str::to_owned));
        }
    }
    found
}
