//! What a program means: its names, their types and values, who calls whom. Queries fail closed: what is not modelled is unknown.

mod allocations;
pub mod calls;
mod concurrency;
mod containers;
pub(crate) mod edited_text;
pub mod effects;
pub(crate) mod evaluation;
pub mod facts;
mod fresh;
mod handed;
mod instantiations;
pub mod integers;
pub mod macros;
mod names;
mod own_memory;
mod owners;
pub mod program;
mod restricted;
pub mod symbols;
mod temporaries;
mod unread_directives;
pub mod uses;

pub(crate) use self::evaluation::{Act, Evaluation, Part};
pub use self::integers::Integer;
pub(crate) use self::macros::is_standard_constant;
pub(crate) use self::names::written_member;
pub(crate) use self::names::{Class, Kind};
pub use self::owners::{Origin, Owner};
pub use self::program::{Compilation, Program};
pub(crate) use self::unread_directives::Telling;
