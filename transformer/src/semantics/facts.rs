//! What a compiler says of the names of one file, as a second source beside the file's own text.
//!
//! The facts are read outside (`validate/clang`) and handed in, so that what is decided by them depends on nothing else. They
//! hold for one text: `engine` asks anew for each that edits make.

use std::collections::{BTreeMap, BTreeSet};

use crate::semantics::symbols::{DeclaredType, NameKind};

mod types;

pub use types::TypeNames;

/// A declaration in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its type; unknown where it depends on a template's parameter.
    pub ty: DeclaredType,
    /// Does it stand in a function?
    pub is_local: bool,
}

/// A name that the file uses, of something that is declared elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// What it is.
    pub kind: NameKind,
    /// Its type.
    pub ty: DeclaredType,
    /// Is it declared `static`?
    pub is_static: bool,
    /// Is it declared `constexpr`?
    pub is_constexpr: bool,
}

/// A macro that is defined outside of the file: in a header, or by a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroText {
    /// The names of its parameters; `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// What it is replaced with.
    pub body: String,
    /// The byte of the file from which on it is defined.
    pub since: usize,
}

/// What is known of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The variables, parameters and members that the file declares, by where their names start.
    pub declarations: BTreeMap<usize, Declared>,
    /// Where a name is used that is no macro: where the file declares it, or `None` where it does not.
    pub uses: BTreeMap<usize, Option<usize>>,
    /// The names that the file uses and that are declared elsewhere, one declaration each; types by their name.
    pub outside: BTreeMap<String, Outside>,
    /// The macros that have one definition, outside of the file.
    pub macros: BTreeMap<String, MacroText>,
    /// The words of the language that are macros, so that the text does not mean what it says.
    pub redefined: BTreeSet<String>,
    /// The parameters of templates, by where their names start, that only arithmetic types of the language stand for.
    pub arithmetic: BTreeSet<usize>,
}

impl Facts {
    /// What is known of the text that edits make of the file. `place` tells where a byte of the file stands there, if it was copied.
    #[must_use]
    pub fn moved(&self, place: impl Fn(usize) -> Option<usize>) -> Self {
        let declarations = self.declarations.iter().filter_map(|(at, found)| Some((place(*at)?, found.clone())));
        let uses = self.uses.iter().filter_map(|(at, to)| match to {
            Some(to) => Some((place(*at)?, Some(place(*to)?))),
            None => Some((place(*at)?, None)),
        });
        let macros = self.macros.iter().filter_map(|(name, found)| {
            Some((name.clone(), MacroText { since: place(found.since)?, ..found.clone() }))
        });
        Self {
            declarations: declarations.collect(),
            uses: uses.collect(),
            outside: self.outside.clone(),
            macros: macros.collect(),
            redefined: self.redefined.clone(),
            arithmetic: self.arithmetic.iter().filter_map(|at| place(*at)).collect(),
        }
    }

    /// The macro that a name stands for at a byte.
    #[must_use]
    pub fn macro_at(&self, name: &str, at: usize) -> Option<&MacroText> {
        self.macros.get(name).filter(|found| found.since <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 5 to 7 are replaced by 3 more; what stood there is gone, and so is a use of what stood there.
    #[test]
    fn facts_move_with_the_text() {
        let declared = Declared { ty: DeclaredType::Unknown, is_local: true };
        let since = |since| MacroText { parameters: None, body: "1".to_owned(), since };
        let facts = Facts {
            declarations: [2, 6, 9].map(|at| (at, declared.clone())).into(),
            uses: [(3, Some(2)), (4, Some(6)), (8, None), (10, Some(9))].into(),
            macros: [("A".to_owned(), since(0)), ("B".to_owned(), since(8))].into(),
            arithmetic: [5, 11].into(),
            ..Facts::default()
        };
        let place = |at: usize| match at {
            0..5 => Some(at),
            5..8 => None,
            _ => Some(at + 3),
        };
        let moved = facts.moved(place);
        assert_eq!(moved.declarations.into_keys().collect::<Vec<_>>(), [2, 12]);
        assert_eq!(moved.uses, [(3, Some(2)), (11, None), (13, Some(12))].into());
        assert_eq!(moved.macros, [("A".to_owned(), since(0)), ("B".to_owned(), since(11))].into());
        assert_eq!(moved.arithmetic, [14].into());
    }
}
