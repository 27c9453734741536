//! What a name means at a place: its declaration, scope and declared type.
//!
//! Names are looked up as C and C++ do, from the point of declaration to the end of the scope. Headers of the project
//! are read when a name is not found in the file, each at most once. What cannot be known (system headers, template
//! parameters, base classes) is said to be unknown, never guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use crate::semantics::facts::Facts;
use crate::source::{Conditional, Language, SourceFile, scan};
use crate::syntax::{HostTree, Limits, NodeId};

mod certain;
mod collect;
mod compiler;
mod conditionals;
mod constants;
mod containers;
mod declarators;
mod deduced;
mod device_dependent;
mod entries;
mod hidden;
mod identity;
mod lent;
mod macro_blocks;
mod macro_declarations;
mod macro_effects;
mod macros;
mod modelled;
mod objects;
mod qualified;
mod recent;
mod records;
mod resolve;
mod types;
mod unread_declarations;
mod values;
mod variable;
mod visible;
mod writes;

pub use compiler::Disagreement;
pub use constants::is_operand;
pub use device_dependent::may_tell_device;
pub use identity::VariableId;
pub use macros::{FlagDefinition, Macro};
pub use modelled::is_attribute;
pub use records::ClassFunctions;
pub use types::{DeclaredType, Dimension, Spelling};
pub use variable::{ELSEWHERE, NameKind, Place, Scope, Variable};
pub use writes::{Write, WriteKind};

use entries::{Entry, EntryKind, Table};
use qualified::Path;
use recent::Recent;
use visible::{Found, NameSpace};

/// One file with its names.
struct Unit<'a> {
    file: &'a SourceFile,
    tree: std::borrow::Cow<'a, HostTree>,
    table: Table,
    /// The conditionals of the preprocessor.
    conditionals: OnceLock<Vec<Conditional>>,
}

/// The names of one file and its headers.
pub struct Symbols<'a> {
    own: Unit<'a>,
    facts: Option<&'a Facts>,
    definitions: &'a [FlagDefinition],
    signed_wraps: bool,
    /// The names that `using` declarations bring into other scopes.
    brought: OnceLock<hidden::Brought>,
    /// Are there namespaces whose names are visible outside of them?
    opens_namespaces: OnceLock<bool>,
    /// Is there a `using enum`?
    uses_enums: OnceLock<bool>,
    /// The macros that the program takes back.
    taken_back: OnceLock<BTreeSet<String>>,
    unread_macros: OnceLock<BTreeSet<String>>,
    /// Where something may be declared that is not seen there, in the order of the text.
    declaring_uses: OnceLock<Vec<macro_declarations::DeclaringUse>>,
    /// Of enumerations that were asked for: are all of their constants of type `int`?
    int_enumerations: Mutex<BTreeMap<(Option<usize>, NodeId), bool>>,
    /// What names mean at bytes of the file that were asked for last.
    recent: Mutex<Recent>,
    /// What single declarations of variables say, of those that were asked for, by header and place.
    variables: Mutex<BTreeMap<Place, Option<Arc<Variable>>>>,
    /// Where variables may be written within ranges that were asked for.
    writes: Mutex<writes::WritesWithin>,
    /// What macros that were asked for may name.
    reaches: Mutex<BTreeMap<String, writes::Reach>>,
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
            int_enumerations: Mutex::default(),
            recent: Mutex::default(),
            variables: Mutex::default(),
            writes: Mutex::default(),
            reaches: Mutex::default(),
            misses_headers: OnceLock::new(),
            replaces_functions: OnceLock::new(),
            headers,
        }
    }

    /// The symbols with the conditionals that the scan of the file found.
    #[must_use]
    pub fn with_conditionals(self, conditionals: &[Conditional]) -> Self {
        self.own.conditionals.get_or_init(|| conditionals.to_vec());
        self
    }

    /// The symbols with what a compiler knows: it answers where the text does not.
    #[must_use]
    pub fn with_facts(mut self, facts: Option<&'a Facts>) -> Self {
        self.facts = facts;
        self
    }

    /// The symbols with the macros that the compiler's flags define or take back.
    #[must_use]
    pub fn with_definitions(mut self, definitions: &'a [FlagDefinition]) -> Self {
        self.definitions = definitions;
        self
    }

    /// The symbols for a compiler whose signed integers wrap around, as with `-fwrapv`, or do not.
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
    pub fn lookup(&self, name: &str, at: usize) -> Option<Arc<Variable>> {
        self.lookup_in(None, name, at)
    }

    /// As [`Self::lookup`], at a byte of a header, or of the file where none is given.
    #[must_use]
    pub fn lookup_in(&self, header: Option<usize>, name: &str, at: usize) -> Option<Arc<Variable>> {
        if header.is_some() {
            return self.look_up(header, name, at);
        }
        if let Some(found) = self.recent.lock().ok().and_then(|recent| recent.get(name, at).cloned()) {
            return found;
        }
        let found = self.look_up(header, name, at);
        if let Ok(mut recent) = self.recent.lock() {
            recent.put(name, at, found.clone());
        }
        found
    }

    fn look_up(&self, header: Option<usize>, name: &str, at: usize) -> Option<Arc<Variable>> {
        match self.find(header, name, at) {
            Some(found) => {
                let mut variable = self.variable(&found, name)?;
                if variable.scope == Scope::File && self.is_named_unread(name) {
                    Arc::make_mut(&mut variable).ty = DeclaredType::Unknown;
                }
                Some(variable)
            }
            None => self.known_elsewhere(name, at).map(Arc::new),
        }
    }

    /// Does a name mean a variable at a byte of a header or of the file? Cheaper than [`Self::lookup_in`].
    #[must_use]
    pub fn is_variable_in(&self, header: Option<usize>, name: &str, at: usize) -> bool {
        self.find(header, name, at).is_some_and(|found| self.kind_of(&found) == Some(NameKind::Variable))
    }

    /// The type that a name stands for at a byte of the file; unknown where it is declared nowhere in sight.
    #[must_use]
    pub fn type_named(&self, name: &str, at: usize) -> DeclaredType {
        let found =
            self.lookup(name, at).filter(|found| matches!(found.kind, NameKind::Type | NameKind::TemplateParameter));
        found.map_or_else(|| self.type_written(None, name, at), |found| found.ty.clone())
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

    /// The language of a header: what sources of C++ include is C++.
    fn language_of(&self, header: &SourceFile) -> Language {
        let is_cpp = self.own.file.language == Language::Cpp && header.language == Language::Either;
        if is_cpp { Language::Cpp } else { header.language }
    }

    fn unit(&self, header: Option<usize>) -> Option<&Unit<'a>> {
        let Some(index) = header else { return Some(&self.own) };
        let (file, cell) = self.headers.get(index)?;
        cell.get_or_init(|| Unit::parse(file, self.language_of(file))).as_ref()
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

    /// What declarations found for a name say of it, or `None` if it cannot be told what they declare.
    fn variable(&self, found: &Found<'_>, name: &str) -> Option<Arc<Variable>> {
        let [Entry { kind: EntryKind::Variable, name_span, .. }] = found.entries.as_slice() else {
            return self.read_variable(found, name).map(Arc::new);
        };
        let key = Place { header: found.header, span: *name_span };
        if let Some(known) = self.variables.lock().ok().and_then(|known| known.get(&key).cloned()) {
            // It may have been asked for by a qualified name.
            return known.map(|mut known| {
                if known.name != name {
                    name.clone_into(&mut Arc::make_mut(&mut known).name);
                }
                known
            });
        }
        let read = self.read_variable(found, name).map(Arc::new);
        if let Ok(mut known) = self.variables.lock() {
            known.insert(key, read.clone());
        }
        read
    }

    fn read_variable(&self, found: &Found<'_>, name: &str) -> Option<Variable> {
        let chosen = found.chosen();
        let kind = self.kind_of(found).filter(|_| self.is_head_read(found))?;
        let types = found.entries.iter().map(|entry| self.type_of(found.header, entry)).collect();
        // What an object is made from is not modelled where it reads like a list of parameters.
        let is_of_kind = |ty: &DeclaredType| kind == chosen.name_kind() || matches!(ty, DeclaredType::Record { .. });
        let mut ty = Some(resolve::agreed_or_real(types, name)).filter(is_of_kind).unwrap_or(DeclaredType::Unknown);
        if kind == NameKind::Function {
            ty = self.type_of_all_functions(name, chosen, ty);
        }
        let is_hidden = ty == DeclaredType::Unknown && self.may_hide_storage(found);
        Some(Variable {
            name: name.to_owned(),
            declared_at: chosen.name_span,
            header: found.header,
            scope: if is_hidden { Scope::Unknown } else { chosen.scope },
            kind,
            ty,
            is_static: found.entries.iter().any(|entry| entry.storage.is_static),
            is_extern: found.entries.iter().any(|entry| entry.storage.is_extern),
            is_thread_local: found.entries.iter().any(|entry| entry.storage.is_thread_local),
            is_constexpr: found.entries.iter().any(|entry| entry.storage.is_constexpr),
            initializer: self.unit(found.header).and_then(|unit| Some(unit.tree.span(chosen.initializer?))),
        })
    }
}

impl<'a> Unit<'a> {
    /// Reads a header, or `None` if it cannot be parsed within the limits.
    fn parse(file: &'a SourceFile, language: Language) -> Option<Self> {
        let tree = HostTree::parse_as(language, file, &scan(&file.text), &Limits::default()).ok()?;
        let table = collect::collect(file, &tree);
        Some(Self { file, tree: std::borrow::Cow::Owned(tree), table, conditionals: OnceLock::new() })
    }
}

#[cfg(test)]
mod tests;
