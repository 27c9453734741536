//! Do the iterations of the kernel keep apart in all passes of the loop that goes inside? The kernel is read with that loop in its body, in
//! a text of its own: there each iteration may be in another pass.

use super::{HostLoop, brought_anew, stays};
use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::associated_loops::loops_of;
use crate::analysis::independence::{self, Candidate, Nest, aliases, clauses, pairs};
use crate::context::Context;
use crate::edit::{Edit, EditSet, Origins};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::fuse_constructs::gain;
use crate::transforms::fuse_constructs::lists::Lists;
use crate::transforms::fuse_constructs::members::Member;
use crate::transforms::fuse_constructs::texts::Texts;

/// The assumptions under which the loop can run inside, of which the edits make that text. `None` where no pass needs what one before it
/// computed.
///
/// # Errors
/// Which iterations may meet, what is not followed, or that the launches do not matter.
pub(super) fn assumptions(
    (cx, texts): (&Context<'_>, &Texts<'_, '_>),
    member: &Member,
    own: &Lists,
    around: &HostLoop,
    edits: Vec<Edit>,
) -> Result<Option<Vec<Reason>>, Reason> {
    let unread = || stays(around.head, "the kernel with this loop inside cannot be read");
    let edits = EditSet::new(edits).map_err(|_| unread())?;
    let found = texts.ask(cx, edits, |program, origins| assumptions_in((cx, program, origins), member, own, around));
    found.unwrap_or_else(|| Err(unread()))
}

/// The same, in that text.
fn assumptions_in(
    (cx, program, origins): (&Context<'_>, &Program<'_>, &Origins),
    member: &Member,
    own: &Lists,
    around: &HostLoop,
) -> Result<Option<Vec<Reason>>, Reason> {
    let unread = || stays(around.head, "the kernel with this loop inside cannot be read");
    let constructs = program.constructs;
    let is_own = |id: &ConstructId| origins.place(constructs.directive(*id).span.start) == member.directive.start;
    let id = constructs.ids().find(|id| constructs.is_target(*id) && is_own(id)).ok_or_else(unread)?;
    let nest = loops_of(program, id).filter(|nest| nest.loops.len() == member.loops.len()).ok_or_else(unread)?;
    let nest = Nest { loops: nest, between: Vec::new(), promised: 0 };
    let clauses = clauses::Clauses::of(program, &[id]);
    let candidate = Candidate { cx: program, id, chain: vec![id], clauses, nest, is_in_team: false };
    let (found, sections) = independence::read(&candidate);
    let inside = Inside { candidate, found, origins };
    inside.is_read(around)?;
    inside.followed()?;
    inside.apart()?;
    inside.keeps_what_is_brought(own)?;
    if !inside.goes_on() {
        return Ok(None);
    }
    let told = |reason: Reason| inside.told(reason);
    let first = |reasons: Vec<Reason>| match reasons.into_iter().next().map(told) {
        Some(reason) => stays(reason.span, reason.message),
        None => unread(),
    };
    let assumed = aliases::assumptions(&inside.candidate, &inside.found, &sections).map_err(first)?;
    gain::saved_launches(cx, member, &inside.found).map_or(Ok(()), Err)?;
    let assumed = assumed.into_iter().map(|reason| Reason { code: ReasonCode::PointersDistinct, ..told(reason) });
    Ok(Some(assumed.collect()))
}

/// The kernel with the loop inside.
struct Inside<'a, 'p> {
    /// Its loops, none of whose iterations is taken to be independent.
    candidate: Candidate<'a, 'p>,
    found: Accesses,
    origins: &'a Origins,
}

impl Inside<'_, '_> {
    /// The number of the kernel's own loops.
    fn depth(&self) -> usize {
        self.candidate.nest.loops.loops.len()
    }

    /// A reason in terms of the file.
    fn told(&self, reason: Reason) -> Reason {
        let labels = reason.labels.into_iter().map(|(span, label)| (self.origins.of(span), label)).collect();
        Reason { span: self.origins.of(reason.span), labels, ..reason }
    }

    /// Is the loop right inside of the kernel's own ones, with the same variable, and are all of them read?
    fn is_read(&self, around: &HostLoop) -> Result<(), Reason> {
        let tree = self.candidate.cx.tree;
        let own = self.candidate.nest.loops.loops.iter().zip(&self.found.loops);
        let are_own = own.filter(|(read, known)| read.span == known.span).count() == self.depth();
        let body = self.candidate.nest.loops.body;
        let node = match tree.kind(body) {
            NodeKind::CompoundStatement => tree.named_children(body).find(|node| tree.kind(*node) != NodeKind::Comment),
            _ => Some(body),
        };
        let is_first = node.is_some_and(|node| {
            let known = self.found.loops.get(self.depth()).filter(|known| known.span == tree.span(node));
            known.is_some_and(|known| known.step.is_some() && known.trips == around.trips)
        });
        match are_own && is_first {
            true => Ok(()),
            false => Err(stays(around.head, "the kernel with this loop inside is not understood")),
        }
    }

    /// Is all that the iterations do followed, and do they keep no variable for another iteration or pass?
    fn followed(&self) -> Result<(), Reason> {
        let no = |span: Span, message: String| Err(stays(self.origins.of(span), message));
        if let Some(trouble) = self.found.troubles.first() {
            return no(trouble.span, trouble.message.clone());
        }
        if let Some(used) = self.found.scalars.iter().find(|used| used.writes) {
            return no(used.span, format!("`{}` begins each launch with the value that the host has", used.name));
        }
        let body = self.candidate.cx.tree.span(self.candidate.nest.loops.body);
        let mut inner = self.found.loops.iter().skip(self.depth());
        match inner.find(|known| !known.key.is_within(body)) {
            Some(known) => {
                let head = Span::new(known.span.start, known.span.start + 3);
                no(head, "the variable of this loop is not declared in the kernel".to_owned())
            }
            None => Ok(()),
        }
    }

    /// Do accesses meet only within one iteration of the kernel, whatever the passes are?
    fn apart(&self) -> Result<(), Reason> {
        for (index, first) in self.found.accesses.iter().enumerate() {
            for second in self.found.accesses.get(index..).unwrap_or_default() {
                let may_meet = first.root == second.root && (first.writes || second.writes);
                if may_meet && !pairs::are_independent(&self.candidate, &self.found, self.depth(), first, second) {
                    let name = &first.root.name;
                    let message = format!("in another pass, another iteration may access the element of `{name}`");
                    let (written, other) = if first.writes { (first, second) } else { (second, first) };
                    let reason = stays(self.origins.of(written.span), message);
                    return Err(match other.span == written.span {
                        true => reason,
                        false => reason.with_label(self.origins.of(other.span), "the other access"),
                    });
                }
            }
        }
        Ok(())
    }

    /// Does the kernel write nothing that each launch brings anew from the host?
    fn keeps_what_is_brought(&self, own: &Lists) -> Result<(), Reason> {
        let mut brought = own.mapped.iter().filter(|item| item.copies.to && !item.copies.from);
        let is_written = |name: &str| {
            let starts = |access: &&Access| access.root.name.split(['.', '-']).next() == Some(name);
            self.found.accesses.iter().filter(starts).any(|access| access.writes)
        };
        match brought.find(|item| is_written(&item.name)) {
            Some(item) => Err(brought_anew(item.span, &item.name)),
            None => Ok(()),
        }
    }

    /// Does a pass read an element before it writes it, so that it goes on from what the pass before made?
    fn goes_on(&self) -> bool {
        let accesses = &self.found.accesses;
        let is_same = |one: &Access, other: &Access| one.root == other.root && one.subscripts == other.subscripts;
        let reads = accesses.iter().filter(|access| !access.is_target && !access.subscripts.is_empty());
        reads.into_iter().any(|read| {
            let is_written = accesses.iter().any(|access| access.writes && is_same(access, read));
            is_written && !accesses.iter().any(|access| self.is_set_before(access, read))
        })
    }

    /// Is an element, or perhaps each in a row, set by a statement before the one that reads it?
    fn is_set_before(&self, set: &Access, read: &Access) -> bool {
        let tree = self.candidate.cx.tree;
        let mut around = tree.ancestors(tree.covering(set.span));
        let statement = around.find(|node| tree.kind(*node) == NodeKind::ExpressionStatement);
        let Some(statement) = statement.filter(|_| set.is_target && set.root == read.root) else { return false };
        let known = self.found.loops.get(self.depth());
        let is_of_pass = |node: NodeId| known.is_some_and(|known| tree.span(node) == known.span);
        let above = tree.parent(statement);
        let is_certain = above.is_some_and(|node| is_of_pass(node) || tree.parent(node).is_some_and(is_of_pass));
        let is_of_row = set.loops.len() > self.depth() + 1;
        tree.span(statement).end <= read.span.start && (is_of_row || is_certain && set.subscripts == read.subscripts)
    }
}
