//! What a name means at a place: its declaration, scope and declared type.
//!
//! Names are looked up as C and C++ do, from the point of declaration to the end of the scope. Headers of the project
//! are read when a name is not found in the file, each at most once. What cannot be known (system headers, template
//! parameters, base classes) is said to be unknown, never guessed.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::semantics::facts::Facts;
use crate::source::{Language, SourceFile, Span, scan};
use crate::syntax::{HostTree, Limits, NodeId, NodeKind};

mod certain;
mod collect;
mod compiler;
mod conditionals;
mod constants;
mod declarators;
mod device_dependent;
mod entries;
mod hidden;
mod identity;
mod lent;
mod macro_declarations;
mod macro_effects;
mod macros;
mod modelled;
mod qualified;
mod records;
mod resolve;
mod types;
mod writes;

pub use compiler::Disagreement;
pub use constants::is_operand;
pub use identity::VariableId;
pub use macros::{FlagDefinition, Macro};
pub use modelled::is_attribute;
pub use records::ClassFunctions;
pub use types::{DeclaredType, Dimension, Spelling};
pub use writes::{Write, WriteKind};

use entries::{Entry, EntryKind, Table};
use qualified::Path;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a block, a loop's head, a lambda's capture.
    Local,
    /// A parameter of a function, a lambda or a handler.
    Parameter,
    /// Outside of all functions, in a namespace or not.
    File,
    /// A member of a class or structure.
    Member,
    /// Not known: an enumerator's, a template parameter's.
    Unknown,
}

/// What sort of thing a name is declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A variable, parameter or data member.
    Variable,
    /// A function.
    Function,
    /// A type.
    Type,
    /// An enumerator: a constant.
    Enumerator,
    /// A parameter of a template, of either kind.
    TemplateParameter,
}

/// A place in the file or one of its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The header, as an index into the headers given; `None` is the file itself.
    pub header: Option<usize>,
    /// Where in it.
    pub span: Span,
}

/// The header of what is declared neither in the file nor in a header that was given.
pub const ELSEWHERE: usize = usize::MAX;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The name in its declaration; the last one visible where there are several.
    pub declared_at: Span,
    /// The header that declares it, or `None` if the file does.
    pub header: Option<usize>,
    /// Where it lives.
    pub scope: Scope,
    /// What it is.
    pub kind: NameKind,
    /// Its declared type.
    pub ty: DeclaredType,
    /// Is it declared `static`?
    pub is_static: bool,
    /// Is it declared `extern`?
    pub is_extern: bool,
    /// Is it declared `thread_local`, `_Thread_local` or `__thread`?
    pub is_thread_local: bool,
    /// Is it declared `constexpr`?
    pub is_constexpr: bool,
    /// The expression or list that it is initialised with.
    pub initializer: Option<Span>,
}

impl Variable {
    /// Does one object serve all calls and threads: declared outside of functions, or `static` in one?
    #[must_use]
    pub fn has_static_storage(&self) -> bool {
        (self.scope == Scope::File || self.is_static || self.is_extern) && !self.is_thread_local
    }
}

/// One file with its names.
struct Unit<'a> {
    file: &'a SourceFile,
    tree: std::borrow::Cow<'a, HostTree>,
    table: Table,
    /// The conditionals of the preprocessor.
    conditionals: OnceLock<Vec<crate::source::Conditional>>,
}

/// The names of one file and its headers.
pub struct Symbols<'a> {
    own: Unit<'a>,
    facts: Option<&'a Facts>,
    definitions: &'a [FlagDefinition],
    signed_wraps: bool,
    /// The names that `using` declarations bring into other scopes.
    brought: OnceLock<BTreeSet<String>>,
    /// Are there namespaces whose names are visible outside of them?
    opens_namespaces: OnceLock<bool>,
    /// Is there a `using enum`?
    uses_enums: OnceLock<bool>,
    /// The macros that the program takes back.
    taken_back: OnceLock<BTreeSet<String>>,
    unread_macros: OnceLock<BTreeSet<String>>,
    /// The macros used as statements that may declare something, in the order of the text.
    declaring_uses: OnceLock<Vec<macro_declarations::DeclaringUse>>,
    /// Does a file include one of the project's that is not in sight?
    misses_headers: OnceLock<bool>,
    /// May the program put other functions in the place of those that are called?
    replaces_functions: OnceLock<bool>,
    headers: Vec<(&'a SourceFile, OnceLock<Option<Unit<'a>>>)>,
}

impl<'a> Symbols<'a> {
    /// Collects the names of a file. `headers` are the project's own that it includes, in order, each before those that
    /// include it; they are parsed when a name is first looked for in them.
    #[must_use]
    pub fn new(file: &'a SourceFile, tree: &'a HostTree, headers: &'a [SourceFile]) -> Self {
        let table = collect::collect(file, tree);
        let own = Unit { file, tree: std::borrow::Cow::Borrowed(tree), table, conditionals: OnceLock::new() };
        let headers = headers.iter().map(|header| (header, OnceLock::new())).collect();
        Self {
            own,
            facts: None,
            definitions: &[],
            signed_wraps: false,
            brought: OnceLock::new(),
            opens_namespaces: OnceLock::new(),
            uses_enums: OnceLock::new(),
            taken_back: OnceLock::new(),
            unread_macros: OnceLock::new(),
            declaring_uses: OnceLock::new(),
            misses_headers: OnceLock::new(),
            replaces_functions: OnceLock::new(),
            headers,
        }
    }

    /// The same with what a compiler knows: it answers where the text does not.
    #[must_use]
    pub fn with_facts(mut self, facts: Option<&'a Facts>) -> Self {
        self.facts = facts;
        self
    }

    /// The same with the macros that the compiler's flags define or take back.
    #[must_use]
    pub fn with_definitions(mut self, definitions: &'a [FlagDefinition]) -> Self {
        self.definitions = definitions;
        self
    }

    /// The same for a compiler whose signed integers wrap around, as with `-fwrapv`, or do not.
    #[must_use]
    pub fn with_wrapping(mut self, signed_wraps: bool) -> Self {
        self.signed_wraps = signed_wraps;
        self
    }

    /// Do signed integers wrap around?
    #[must_use]
    pub fn signed_wraps(&self) -> bool {
        self.signed_wraps
    }

    /// What a name means at a byte of the file. `None` where neither the file nor its headers declare it, or only in
    /// ways that cannot be told apart.
    #[must_use]
    pub fn lookup(&self, name: &str, at: usize) -> Option<Variable> {
        self.lookup_in(None, name, at)
    }

    /// As [`Self::lookup`], at a byte of a header, or of the file where none is given.
    #[must_use]
    pub fn lookup_in(&self, header: Option<usize>, name: &str, at: usize) -> Option<Variable> {
        match self.find(header, name, at) {
            Some(found) => {
                let mut variable = self.variable(&found, name);
                if variable.scope == Scope::File && self.is_named_unread(name) {
                    variable.ty = DeclaredType::Unknown;
                }
                Some(variable)
            }
            None => self.known_elsewhere(name, at),
        }
    }

    /// Does a name mean a variable at a byte of a header or of the file? Cheaper than [`Self::lookup_in`].
    #[must_use]
    pub fn is_variable_in(&self, header: Option<usize>, name: &str, at: usize) -> bool {
        self.find(header, name, at).is_some_and(|found| found.chosen().name_kind() == NameKind::Variable)
    }

    /// The type that a name stands for at a byte of the file; unknown where it is declared nowhere in sight.
    #[must_use]
    pub fn type_named(&self, name: &str, at: usize) -> DeclaredType {
        let found =
            self.lookup(name, at).filter(|found| matches!(found.kind, NameKind::Type | NameKind::TemplateParameter));
        found.map_or_else(|| self.type_written(None, name, at), |found| found.ty)
    }

    /// The value of an integer constant expression at a byte of the file: literals, macros, enumerators and `const`
    /// integers with constant initialisers are seen through.
    #[must_use]
    pub fn constant(&self, text: &str, at: usize) -> Option<i64> {
        self.constant_in(None, text, at)
    }

    /// The definitions of a function by this name, qualified or not, in the file and its headers; of member functions only
    /// static ones, by their class. Empty also where C++ may call an overload that is only declared.
    #[must_use]
    pub fn function_definitions(&self, name: &str) -> Vec<(Option<usize>, NodeId)> {
        let own = std::iter::once((None, &self.own));
        let units: Vec<_> = own.chain(self.header_units().map(|(index, unit)| (Some(index), unit))).collect();
        let entries: Vec<(Option<usize>, &Entry)> = units
            .into_iter()
            .flat_map(|(index, unit)| unit.functions(name).into_iter().map(move |entry| (index, entry)))
            .collect();
        let (defined, declared): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, entry)| entry.definition.is_some());
        if self.own.tree.language() == Language::Cpp {
            let types: Vec<_> = defined.iter().map(|(index, entry)| self.type_of(*index, entry)).collect();
            if declared.iter().any(|(index, entry)| !types.contains(&self.type_of(*index, entry))) {
                return Vec::new();
            }
        }
        defined.into_iter().filter_map(|(index, entry)| Some((index, entry.definition?))).collect()
    }

    /// The file and tree of a place: of a header, or the file itself.
    #[must_use]
    pub fn source_of(&self, header: Option<usize>) -> Option<(&SourceFile, &HostTree)> {
        self.unit(header).map(|unit| (unit.file, unit.tree.as_ref()))
    }

    fn unit(&self, header: Option<usize>) -> Option<&Unit<'a>> {
        let Some(index) = header else { return Some(&self.own) };
        let (file, cell) = self.headers.get(index)?;
        cell.get_or_init(|| Unit::parse(file)).as_ref()
    }

    fn header_units(&self) -> impl Iterator<Item = (usize, &Unit<'a>)> {
        (0..self.headers.len()).filter_map(|index| Some((index, self.unit(Some(index))?)))
    }

    /// The declarations that a name may mean at a place, all of the innermost scope that has one.
    fn find(&self, header: Option<usize>, name: &str, at: usize) -> Option<Found<'_>> {
        self.find_in(NameSpace::Ordinary, header, name, at)
    }

    fn find_in(&self, space: NameSpace, header: Option<usize>, name: &str, at: usize) -> Option<Found<'_>> {
        let unit = self.unit(header)?;
        if name.contains("::") {
            return self.find_qualified(header, name, at);
        }
        if let Some(found) = unit.visible(space, name, at) {
            let is_hidden = header.is_none() && self.is_hidden(name, at, &found) || unit.may_be_absent(&found, at);
            return (!is_hidden).then_some(Found { header, entries: found });
        }
        let (index, entries) =
            self.header_units().filter(|(index, _)| Some(*index) != header).find_map(|(index, unit)| {
                let end = unit.file.text.len();
                Some((index, unit.visible(space, name, end)?)).filter(|(_, entries)| !unit.may_be_absent(entries, end))
            })?;
        let is_hidden = header.is_none() && self.is_hidden(name, at, &[]);
        (!is_hidden).then_some(Found { header: Some(index), entries })
    }

    fn find_qualified(&self, header: Option<usize>, name: &str, at: usize) -> Option<Found<'_>> {
        let unit = self.unit(header)?;
        let path = Path::of(name)?;
        let around = unit.scopes_around(at);
        if let Some(entries) = unit.qualified(&path, &around, at) {
            return Some(Found { header, entries });
        }
        self.header_units().filter(|(index, _)| Some(*index) != header).find_map(|(index, unit)| {
            let entries = unit.qualified(&path, &around, unit.file.text.len())?;
            Some(Found { header: Some(index), entries })
        })
    }

    fn variable(&self, found: &Found<'_>, name: &str) -> Variable {
        let types: Vec<DeclaredType> = found.entries.iter().map(|entry| self.type_of(found.header, entry)).collect();
        let chosen = found.chosen();
        Variable {
            name: name.to_owned(),
            declared_at: chosen.name_span,
            header: found.header,
            scope: chosen.scope,
            kind: chosen.name_kind(),
            ty: resolve::agreed(types),
            is_static: found.entries.iter().any(|entry| entry.storage.is_static),
            is_extern: found.entries.iter().any(|entry| entry.storage.is_extern),
            is_thread_local: found.entries.iter().any(|entry| entry.storage.is_thread_local),
            is_constexpr: found.entries.iter().any(|entry| entry.storage.is_constexpr),
            initializer: self.unit(found.header).and_then(|unit| Some(unit.tree.span(chosen.initializer?))),
        }
    }
}

/// In which name space a name is looked up (C17, section 6.2.3); C++ has one for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameSpace {
    /// Variables, functions, typedef names, enumerators.
    Ordinary,
    /// What stands behind `struct`, `union` and `enum`.
    Tags,
}

/// The declarations of one name in one scope.
struct Found<'s> {
    header: Option<usize>,
    entries: Vec<&'s Entry>,
}

impl<'s> Found<'s> {
    /// The definition of a function, else the last declaration.
    fn chosen(&self) -> &'s Entry {
        let defined = self.entries.iter().find(|entry| entry.definition.is_some());
        defined.or(self.entries.last()).copied().unwrap_or(&entries::NOTHING)
    }
}

impl<'a> Unit<'a> {
    /// Reads a header, or `None` if it cannot be parsed within the limits.
    fn parse(file: &'a SourceFile) -> Option<Self> {
        let tree = HostTree::parse(file, &scan(&file.text), &Limits::default()).ok()?;
        let table = collect::collect(file, &tree);
        Some(Self { file, tree: std::borrow::Cow::Owned(tree), table, conditionals: OnceLock::new() })
    }

    /// The declarations of a name that are visible at a byte, those of the innermost scope.
    ///
    /// A name of a namespace that is found nowhere else must have been made visible by a `using`: then the only
    /// namespace that has it counts.
    fn visible(&self, space: NameSpace, name: &str, at: usize) -> Option<Vec<&Entry>> {
        let mut candidates = self.table.candidates(name, at)?;
        if self.tree.language() == Language::C {
            candidates.retain(|entry| (entry.kind == EntryKind::Tag) == (space == NameSpace::Tags));
        }
        // A constructor is not found by its name, which means the class.
        let is_constructor = |entry: &Entry| entry.kind == EntryKind::Function && entry.class.as_deref() == Some(name);
        let found = candidates.iter().copied().filter(|entry| entry.is_visible(at) && !is_constructor(entry));
        let mut seen: Vec<&Entry> = found.collect();
        if seen.is_empty() {
            seen = self.members_seen_from(&candidates, at);
        }
        if seen.is_empty() {
            seen = candidates
                .into_iter()
                .filter(|entry| entry.scope == Scope::File && entry.visible.start <= at)
                .collect();
            if seen.iter().any(|entry| Some(entry.scope_node) != seen.first().map(|first| first.scope_node)) {
                return None;
            }
        }
        // `void N::f()`: what `N` declares comes before what stands around it.
        let is_of_file = |entry: &&Entry| !matches!(entry.scope, Scope::Local | Scope::Parameter);
        if self.table.class_around(at).is_some() && seen.iter().all(is_of_file) {
            let is_other = |entry: &&Entry| {
                let is_of_namespace = self.tree.kind(entry.scope_node) == NodeKind::NamespaceDefinition;
                let is_seen = seen.iter().any(|one| std::ptr::eq(*one, *entry));
                entry.scope == Scope::File && is_of_namespace && !is_seen
            };
            if self.table.candidates(name, at)?.iter().any(is_other) {
                return None;
            }
        }
        // Scopes nest: of those that hold a place the innermost is the one that starts last.
        let innermost = seen.iter().map(|entry| (entry.scope_start, entry.scope_node)).max()?.1;
        seen.retain(|entry| entry.scope_node == innermost);
        // In C++ a variable hides a class of the same name.
        if seen.iter().any(|entry| entry.kind != EntryKind::Tag) {
            seen.retain(|entry| entry.kind != EntryKind::Tag);
        }
        Some(seen)
    }

    /// Members of the class whose function `void A::f() ..` is defined around a place.
    fn members_seen_from<'e>(&self, candidates: &[&'e Entry], at: usize) -> Vec<&'e Entry> {
        if candidates.iter().all(|entry| entry.scope != Scope::Member) {
            return Vec::new();
        }
        let Some(class) = self.table.class_around(at) else { return Vec::new() };
        candidates.iter().copied().filter(|entry| entry.class.as_deref() == Some(class)).collect()
    }
}

#[cfg(test)]
mod tests;
