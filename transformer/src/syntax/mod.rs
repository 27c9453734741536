//! Typed trees: the host program, and each directive with its clauses and list items.

pub mod clause;
pub mod defaultmap;
pub mod directive;
pub mod host;
pub mod list_item;
pub mod lower;
pub mod numbers;
pub mod spec_table;
mod token;

pub use clause::{Clause, ClauseArgument, ClauseName, Modifier};
pub use defaultmap::{Behaviour, Category, Defaultmap};
pub use directive::Directive;
pub use host::{
    ArrayDeclarator, Assignment, Binary, Call, Cast, Conditional, Control, Declaration, EarlierParse, Field, For,
    Function, Goto, HostError, HostTree, If, InSight, Initialised, Labelled, Limits, MacroTexts, Member, New, NodeId,
    NodeKind, Parameter, Pointer, PointerDeclarator, Subscript, TYPE_WORDS, TypeName, Unary, Update,
};
pub use list_item::{ArraySection, ListItem};
pub use numbers::{Integer, Number};
