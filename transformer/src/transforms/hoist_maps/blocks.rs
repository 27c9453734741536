//! The statements of a block: what each maps, and what host code in it reads and writes.

use std::rc::Rc;

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::effects::{HostEffects, Named, Storage, Touch, Unknown, UnknownKind};
use crate::semantics::symbols::VariableId;
use crate::semantics::{Origin, Owner};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::exchanges::{Exchange, exchanges};
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::jumps::{LeavingBranch, leaving_branches};
use crate::transforms::hoist_maps::reach::reach;

/// A statement of a block.
pub(super) struct Statement {
    pub node: NodeId,
    /// With the directives that it stands behind.
    pub extent: Span,
    /// The constructs in it that map data: indices.
    pub mappings: Vec<usize>,
    /// What the host does in it, but for what it does in branches that leave it.
    pub host: HostEffects,
    /// Is it a loop of the host?
    pub is_loop: bool,
    /// The pointers that change places in it.
    pub exchanges: Vec<Exchange>,
    /// The branches that leave it.
    pub branches: Vec<LeavingBranch>,
}

impl Statement {
    /// Does it run constructs that map the variable more than once, and not inside a `target data` of its own that does?
    pub(super) fn repeats(&self, all: &[Mapping], id: VariableId) -> bool {
        let mut own = self.mappings.iter().filter_map(|index| all.get(*index)).filter(|it| it.body == self.node);
        self.is_loop && own.all(|mapping| mapping.is_data && mapping.item(id).is_none())
    }

    /// May a construct in it change what a variable leads to?
    pub(super) fn changes(&self, cx: &Context<'_>, all: &[Mapping], id: VariableId) -> bool {
        let mappings: Vec<&Mapping> = self.mappings.iter().filter_map(|index| all.get(*index)).collect();
        let writes = |mapping: &Mapping, item: &Item| mapping.change_among(cx, &mappings, &item.named).is_some();
        mappings.iter().any(|mapping| mapping.item(id).is_some_and(|item| !item.to || writes(mapping, item)))
    }
}

/// The statements of a block, or the only one that stands for it.
pub(super) fn statements(cx: &Context<'_>, all: &[Mapping], nodes: &[NodeId]) -> Vec<Statement> {
    nodes.iter().map(|node| statement(cx, all, *node)).collect()
}

fn statement(cx: &Context<'_>, all: &[Mapping], node: NodeId) -> Statement {
    let span = cx.tree.span(node);
    let inside = |mapping: &Mapping| mapping.body == node || span.contains(mapping.extent);
    let mappings: Vec<usize> = (0..all.len()).filter(|index| all.get(*index).is_some_and(inside)).collect();
    let own = mappings.iter().filter_map(|index| all.get(*index));
    let own = own.into_iter().find(|mapping| mapping.body == node && mapping.exits.is_empty());
    let extent = own.map_or(span, |mapping| Span::new(mapping.extent.start, span.end));
    let found: Vec<&Mapping> = mappings.iter().filter_map(|index| all.get(*index)).collect();
    let kernels: Vec<Span> = found.iter().filter(|it| !it.is_data).map(|it| cx.tree.span(it.body)).collect();
    let is_free = |branch: &LeavingBranch| !found.iter().any(|mapping| branch.span.overlaps(mapping.extent));
    let branches: Vec<_> = leaving_branches(cx, node).into_iter().filter(is_free).collect();
    let left_out: Vec<Span> = kernels.into_iter().chain(branches.iter().map(|branch| branch.span)).collect();
    let mut host = cx.host_effects(node, &left_out);
    // A jump does nothing to memory; where it leads is looked at where environments are written, and so is the end of the program.
    host.unknown.retain(|it| !leads_out(cx, it.span));
    for mapping in &found {
        host.touches.extend(mapping.touches.iter().cloned());
        host.touches.extend(mapping.head_touches(cx));
        host.unknown.extend(mapping.trouble.as_ref().map(|reason| Unknown {
            kind: UnknownKind::Code,
            span: reason.span,
            message: reason.message.clone(),
        }));
    }
    host.unknown.extend(other_directives(cx, all, extent, &found));
    host.unknown.extend(directive_above(cx, all, node, extent, &found));
    host.unknown.extend(branch_of_preprocessor(cx, node, &found));
    let is_loop =
        matches!(cx.tree.kind(node), NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement);
    let exchanges = if mappings.is_empty() { Vec::new() } else { exchanges(cx, node) };
    Statement { node, extent, mappings, host, is_loop, exchanges, branches }
}

/// An `#if` that stands for a statement of the block, with constructs in it: it may leave nothing there, or several statements.
fn branch_of_preprocessor(cx: &Context<'_>, node: NodeId, mappings: &[&Mapping]) -> Option<Unknown> {
    let is_group = matches!(cx.tree.kind(node), NodeKind::PreprocIf | NodeKind::PreprocIfdef);
    let first = mappings.first().filter(|_| is_group)?;
    let message = "whether this construct is compiled hangs on `#if`".to_owned();
    Some(Unknown { kind: UnknownKind::Code, span: first.extent, message })
}

/// Is it part of a jump to a label, or the call that ends the program?
pub(super) fn leads_out(cx: &Context<'_>, span: Span) -> bool {
    let node = cx.tree.covering(span);
    let mut both = std::iter::once(node).chain(cx.tree.parent(node));
    both.any(|node| cx.tree.kind(node) == NodeKind::GotoStatement || cx.ends_program(node))
}

/// A pragma that this statement stands behind, and that is no part of a construct that maps data.
fn directive_above(
    cx: &Context<'_>,
    all: &[Mapping],
    node: NodeId,
    extent: Span,
    mappings: &[&Mapping],
) -> Option<Unknown> {
    let tree = cx.tree;
    let parent = tree.parent(node)?;
    let before = tree.children(parent).take_while(|sibling| *sibling != node).last();
    let from = before.map_or(tree.span(parent).start, |sibling| tree.span(sibling).end);
    let own = |span: Span| {
        mappings.iter().any(|mapping| mapping.extent.contains(span))
            || all.iter().any(|mapping| !mapping.exits.is_empty() && mapping.is_made_by(cx, span))
    };
    let between = |span: &&Span| span.start >= from && span.end <= extent.start.max(from) && !own(**span);
    let found = cx.scan.masked.iter().find(between)?;
    let message = "another directive stands directly before".to_owned();
    Some(Unknown { kind: UnknownKind::Code, span: *found, message })
}

/// Directives beside the constructs that map data: some only share the iterations of loops of the host.
fn other_directives(cx: &Context<'_>, all: &[Mapping], extent: Span, mappings: &[&Mapping]) -> Vec<Unknown> {
    let others = cx.constructs.within(extent).filter(|(_, directive)| {
        !mappings.iter().any(|mapping| {
            let own = cx.constructs.directive(mapping.id).span;
            own == directive.span || !mapping.is_data && mapping.extent.contains(directive.span)
        }) && !all.iter().any(|mapping| mapping.is_made_by(cx, directive.span) && mapping.is_data)
    });
    let unknown = others.filter_map(|(construct, directive)| {
        let holds_mapping = mappings.iter().any(|mapping| construct.body_span.contains(mapping.extent));
        let message = format!("`{}` stands between the constructs", directive.name);
        (!directive.shares_host_loops() || holds_mapping).then_some(Unknown {
            kind: UnknownKind::Code,
            span: directive.span,
            message,
        })
    });
    unknown.collect()
}

/// A variable that an environment may hold.
pub(super) struct Candidate {
    pub named: Named,
    pub owner: Owner,
    /// The variables that its section is computed from.
    pub lengths: Vec<Named>,
    /// What the whole block does with it.
    pub in_block: Rc<InBlock>,
    /// The pointers that it changes places with, which are held with it or not at all: what is accessed by them is theirs.
    pub class: Vec<VariableId>,
}

/// What the constructs of a block do with a variable.
pub(super) struct InBlock {
    /// May they change it? What they only read, the host may read as well.
    pub is_written: bool,
    /// What they list beside it, which shares no storage with it.
    pub beside: Vec<Item>,
}

impl Candidate {
    /// Why the host code of a statement needs it, or may change where or how long it is.
    pub(super) fn conflict(&self, cx: &Context<'_>, statement: &Statement) -> Option<Reason> {
        self.steered(cx, statement).or_else(|| self.accessed(cx, statement)).or_else(|| self.unknown(cx, statement))
    }

    /// Is what the statement does with it no more than accesses that are in sight?
    pub(super) fn is_only_accessed(&self, cx: &Context<'_>, statement: &Statement) -> bool {
        self.steered(cx, statement).is_none() && self.unknown(cx, statement).is_none()
    }

    fn steered(&self, cx: &Context<'_>, statement: &Statement) -> Option<Reason> {
        let host = &statement.host;
        let moves = host.touches.iter().find(|touch| !self.is_array() && cx.may_move(touch, &self.named));
        if let Some(touch) = moves {
            let message = format!("this may write `{}` itself, which tells where its data are", self.named.name);
            return Some(Reason::new(ReasonCode::HostAccess, touch.span, message));
        }
        let is_exchanged = |span: &Span| statement.exchanges.iter().any(|exchange| exchange.written.contains(span));
        let moved = host.writes_of(self.named.id).find(|span| !self.is_array() && !is_exchanged(span));
        let changed = self.lengths.iter().find_map(|named| Some((host.writes_variable(named.id)?, named)));
        let (span, named) = moved.map(|span| (span, &self.named)).or(changed)?;
        let message = format!("`{}`, which tells where `{}` is, changes here", named.name, self.named.name);
        Some(Reason::new(ReasonCode::HostAccess, span, message))
    }

    /// Where the host needs it, or memory that may be the same. What the host can compare it decides when the program runs.
    pub(super) fn accesses<'s>(
        &'s self,
        cx: &'s Context<'_>,
        statement: &'s Statement,
    ) -> impl Iterator<Item = &'s Touch> {
        statement.host.touches.iter().filter(move |touch| {
            (touch.writes || self.in_block.is_written)
                && !cx.is_apart(&touch.storage, &self.named, self.owner)
                && !self.is_of_other(&touch.storage)
                && self.is_for_updates(cx, touch)
        })
    }

    /// Is it an access that updates must serve? Of others the program asks whether they are of its storage.
    pub(super) fn is_for_updates(&self, cx: &Context<'_>, touch: &Touch) -> bool {
        (self.is_own(&touch.storage) || self.is_array() || reach(cx, touch).is_none())
            && !self.in_block.beside.iter().any(|item| item.certainly_holds(cx, touch).is_some())
    }

    fn is_own(&self, storage: &Storage) -> bool {
        matches!(storage, Storage::Variable(named) | Storage::Behind(named) if named.id == self.named.id)
    }

    /// Is it accessed by a pointer with which this one changes places?
    pub(super) fn is_of_other(&self, storage: &Storage) -> bool {
        matches!(storage, Storage::Behind(named) if named.id != self.named.id && self.class.contains(&named.id))
    }

    fn accessed(&self, cx: &Context<'_>, statement: &Statement) -> Option<Reason> {
        let name = &self.named.name;
        let touch = self.accesses(cx, statement).next()?;
        let what = if touch.writes { "writes" } else { "reads" };
        let message = match self.is_own(&touch.storage) {
            true => format!("the host {what} `{name}` between the constructs"),
            false => format!("the host {what} memory here that may be `{name}`"),
        };
        Some(Reason::new(ReasonCode::HostAccess, touch.span, message))
    }

    fn unknown(&self, cx: &Context<'_>, statement: &Statement) -> Option<Reason> {
        let is_out_of_reach = |unknown: &&Unknown| {
            unknown.kind == UnknownKind::Call
                && self.owner.origin == Origin::Allocation
                && !self.owner.is_shared
                && !cx.may_resume_earlier(unknown.span)
        };
        let unknown = statement.host.unknown.iter().find(|unknown| !is_out_of_reach(unknown))?;
        let message = format!("`{}` may be needed here: {}", self.named.name, unknown.message);
        Some(Reason::new(ReasonCode::HostAccess, unknown.span, message))
    }

    fn is_array(&self) -> bool {
        matches!(self.owner.origin, Origin::AutomaticArray | Origin::StaticArray)
    }
}
