//! One clause, typed.

use crate::source::Span;
use crate::syntax::ListItem;

/// The name of a clause. `Unknown` keeps the clause; nothing is known of it.
pub type ClauseName = crate::syntax::spec_table::ClauseId;

/// A modifier before the colon of a clause's argument, or behind it in the old `linear(a: 2)` manner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modifier {
    /// The whole modifier.
    pub span: Span,
    /// Its word in lower case: `tofrom`, `always`, `mapper`, `target` (in `if(target: e)`), `+` (in `reduction(+: s)`),
    /// `iterator`, `none`.
    pub name: String,
    /// What stands in its own parentheses: `mapper(id)`, `iterator(it)`, `linear(val(x))`.
    pub argument: Option<Span>,
}

/// What a clause's parentheses hold after its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseArgument {
    /// No parentheses: `nowait`.
    Absent,
    /// A list: `map`, `private`, `reduction`, `depend`, `linear` ..
    Items(Vec<ListItem>),
    /// One C or C++ expression: `num_teams`, `if`, `device`, `collapse` ..
    Expression(Span),
    /// Words of the specification and what follows them: `schedule(static, 4)`, `default(none)`, `defaultmap(a: b)`,
    /// `bind(teams)`, `order(concurrent)`, `proc_bind(close)`. The pieces between top-level commas, the first in
    /// lower case in [`Clause::modifiers`]' manner.
    Words(Vec<Span>),
    /// Anything else, kept byte for byte.
    Raw(Span),
}

/// One clause as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// From its name to its closing parenthesis.
    pub span: Span,
    /// Its name.
    pub name: ClauseName,
    /// Its name in the file.
    pub name_span: Span,
    /// Its modifiers in order: all that stands before the top-level colon, split at top-level commas. For `map` the map
    /// type is one of them; for `reduction` the operator; for `if` the directive name; for `defaultmap` nothing.
    pub modifiers: Vec<Modifier>,
    /// What follows the colon, or everything where there is none.
    pub argument: ClauseArgument,
}

impl Clause {
    /// Its list items, none where it takes no list.
    #[must_use]
    pub fn items(&self) -> &[ListItem] {
        match &self.argument {
            ClauseArgument::Items(items) => items,
            _ => &[],
        }
    }

    /// Has it this modifier?
    #[must_use]
    pub fn has_modifier(&self, name: &str) -> bool {
        self.modifiers.iter().any(|m| m.name == name)
    }
}
