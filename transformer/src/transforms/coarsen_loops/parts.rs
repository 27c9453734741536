//! One loop that is grouped, as it is written: its head, the iterations of a group, and what is left over.

use super::Kernel;
use super::groups::Axis;
use crate::context::Context;
use crate::edit::Edit;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::symbols::VariableId;
use crate::transforms::checks::heads;

/// A loop that is grouped, with the names that it needs.
pub(super) struct Part<'w> {
    pub axis: Axis,
    own: &'w CanonicalLoop,
    /// The variable of the groups: the first iteration of each, or of those of a warp.
    pub first: String,
    /// The variable of an iteration in its group.
    pub offset: String,
    /// The variable of a thread in its warp, where iterations lie apart.
    pub lane: Option<String>,
    /// The variable of the loop.
    pub variable: VariableId,
    /// Its type.
    ty: String,
}

impl<'w> Part<'w> {
    /// `None` where the loop has a form that is not expected. One of several loops has names that tell which.
    pub(super) fn of(kernel: &'w Kernel<'_, '_>, axis: Axis, is_one_of_several: bool) -> Option<Self> {
        let cx = kernel.cx;
        let own = kernel.loops().get(axis.index)?;
        let construct = cx.constructs.construct(kernel.candidate.id).body_span;
        let fresh = |stem: &str| {
            let name = if is_one_of_several { format!("{stem}_{}", own.variable) } else { stem.to_owned() };
            cx.fresh_in(construct, &name)
        };
        let is_apart = axis.apart > 1;
        Some(Self {
            axis,
            own,
            first: if is_apart { cx.fresh_in(construct, "block") } else { fresh("first") },
            offset: fresh("offset"),
            lane: is_apart.then(|| cx.fresh_in(construct, "lane")),
            variable: cx.symbols().lookup(&own.variable, cx.tree.span(own.body).start)?.id(),
            ty: cx.file.show(own.declared_type?).into_owned(),
        })
    }

    /// The head that counts groups.
    pub(super) fn head(&self, cx: &Context<'_>) -> Option<[Edit; 3]> {
        heads::counting(cx, self.own, &self.first, self.axis.length())
    }

    /// The head of the loop over the threads of a warp.
    pub(super) fn lanes(&self) -> Option<String> {
        let Self { ty, axis, .. } = self;
        self.lane.as_ref().map(|lane| format!("for ({ty} {lane} = 0; {lane} < {}; {lane}++)", axis.apart))
    }

    /// Is the group, or that of a warp, whole?
    pub(super) fn is_whole(&self, cx: &Context<'_>) -> String {
        let least = self.axis.length() - u32::from(self.own.relation == Relation::LessOrEqual);
        format!("{} - {} >= {least}", heads::bound(cx, self.own), self.first)
    }

    /// The head of the loop over the iterations of a group.
    pub(super) fn loop_head(&self) -> String {
        let Self { offset, axis, .. } = self;
        format!("for (int {offset} = 0; {offset} < {}; {offset}++)", axis.factor)
    }

    /// The variable of the loop in such an iteration.
    pub(super) fn value(&self, cx: &Context<'_>) -> String {
        let Self { first, offset, axis, ty, .. } = self;
        let value = match &self.lane {
            Some(lane) => format!("{first} + {lane} + {} * {offset}", axis.apart),
            None => format!("{first} + {offset}"),
        };
        heads::copied_variable(cx, ty, &self.own.variable, &value)
    }

    /// The head of the loop over what is left over where this loop alone is grouped, and the variable in it where that loop counts something
    /// else. Distances to a bound are numbers of its type, where the first value that is too large might be none.
    pub(super) fn rest(&self, cx: &Context<'_>) -> (String, Option<String>) {
        let Self { first, offset, ty, axis, .. } = self;
        let (name, relation) = (&self.own.variable, heads::relation(self.own));
        let Some(lane) = &self.lane else {
            let upper = cx.file.show(self.own.upper);
            return (format!("for ({ty} {name} = {first}; {name} {relation} {upper}; {name}++)"), None);
        };
        let bound = heads::bound(cx, self.own);
        (
            format!("for ({ty} {offset} = {lane}; {offset} {relation} {bound} - {first}; {offset} += {})", axis.apart),
            Some(heads::copied_variable(cx, ty, name, &format!("{first} + {offset}"))),
        )
    }

    /// The head of the loop over the iterations of a group that may not be whole.
    pub(super) fn partial_head(&self) -> String {
        let Self { offset, ty, axis, .. } = self;
        format!("for ({ty} {offset} = 0; {offset} < {}; {offset}++)", axis.factor)
    }

    /// Is there such an iteration?
    pub(super) fn is_there(&self, cx: &Context<'_>) -> String {
        let Self { first, offset, axis, .. } = self;
        let lane = self.lane.as_ref().map(|lane| format!("{lane} + {} * ", axis.apart)).unwrap_or_default();
        format!("{lane}{offset} {} {} - {first}", heads::relation(self.own), heads::bound(cx, self.own))
    }
}
