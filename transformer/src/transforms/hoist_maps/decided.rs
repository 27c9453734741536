//! What was decided of one text, before it is told.

use crate::plan::{Plan, Reason};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::NodeId;

/// What is decided of one text.
#[derive(Default)]
pub(super) struct Decided {
    pub environments: Vec<Planned>,
    /// Map types that are enough.
    pub narrowed: Vec<Plan>,
    /// What calls map that the caller cannot name.
    pub unnamed: Vec<(NodeId, Reason)>,
    /// Where there are data environments already.
    pub data: Vec<Span>,
}

/// A plan for an environment, or why there is none.
pub(super) struct Planned {
    pub plan: Plan,
    pub opened: Option<Opened>,
}

/// What an environment holds, by name and as variables, and when it opens, in C.
pub(super) struct Opened {
    pub held: Vec<String>,
    pub variables: Vec<VariableId>,
    pub conditions: Vec<String>,
}
