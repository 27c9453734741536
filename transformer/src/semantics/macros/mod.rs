//! What macros stand for. `symbols/macros` finds the definition of a name; here it is expanded.
//!
//! `names` says which variables an expression names through a macro, `expansion` reads the expression as the preprocessor leaves it, and
//! `lvalues` says what is written through one.

pub mod expansion;
mod lvalues;
mod names;

pub(crate) use self::names::is_standard_constant;
