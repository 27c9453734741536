//! Typed trees: the host program, and each directive with its clauses and list items.

pub mod clause;
pub mod directive;
pub mod host;
pub mod list_item;
pub mod lower;
pub mod numbers;
pub mod spec_table;
mod token;

pub use clause::{Clause, ClauseArgument, ClauseName, Modifier};
pub use directive::Directive;
pub use host::{
    Assignment, Binary, Call, Cast, Conditional, Declaration, Field, For, Function, HostError, HostTree, If,
    Initialised, Limits, Member, NodeId, NodeKind, Pointer, Subscript,
};
pub use list_item::{ArraySection, ListItem};
pub use numbers::{Integer, Number};
