//! What the names of a program stand for, and what may be done with them.

mod bindings;
mod classes;
mod functions;
mod host_values;
mod kinds;
mod lambdas;
mod lending;
mod lookup;
mod plain_uses;
mod storage;
mod value_uses;

pub(crate) use self::host_values::written_member;
pub(crate) use self::kinds::{Class, Kind};
