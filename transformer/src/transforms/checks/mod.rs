//! Checks of a construct that several passes share.

pub(super) mod addresses;
pub(super) mod asked;
mod between;
mod elements;
pub(super) mod groups;
pub(super) mod heads;
pub(super) mod lengths;
pub(super) mod numbered;
mod promises;
pub(super) mod questions;
pub(super) mod restated;
mod rounding;
pub(super) mod team_rows;
pub(super) mod text;
pub(super) mod type_parameters;

pub(super) use self::between::may_move;
pub(super) use self::elements::{element, is_type_at};
pub(super) use self::promises::{excludes_directives, excludes_host_threads, unified_memory};
pub(super) use self::rounding::other_rounding;
pub(super) use self::text::{clause_reasons, directive_in, reasons_around_body, text_reasons};
