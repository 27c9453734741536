//! Constructs and what they cover: association, target regions, loop nests, data environments.

pub mod association;
pub mod construct;
pub mod loop_nest;
pub mod other_text;
pub mod target;
