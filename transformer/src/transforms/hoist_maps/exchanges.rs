//! Pointers that change places between constructs: `double *t = a; a = b; b = t;`, in a ring of more, or `std::swap(a, b);`.
//!
//! Data are mapped by address, so the arrays stay where they are on the device whatever their names are. What one of them is mapped for,
//! the others may be mapped for in a later pass.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Call, Declaration, Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::environments::{Block, Held};
use crate::transforms::hoist_maps::first_run;
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::updates::Choice;

/// Pointers that change places, each with the next.
pub(super) struct Exchange {
    pub pointers: Vec<VariableId>,
    /// Where their names are assigned.
    pub written: Vec<Span>,
    /// All its statements.
    pub extent: Span,
    /// What they stand in directly.
    pub block: NodeId,
}

/// The exchanges below a statement.
pub(super) fn exchanges(cx: &Context<'_>, root: NodeId) -> Vec<Exchange> {
    let starts = cx
        .tree
        .descendants(root)
        .filter(|node| matches!(cx.tree.kind(*node), NodeKind::ExpressionStatement | NodeKind::Declaration));
    starts.filter_map(|first| exchange(cx, first)).collect()
}

/// The exchange that a statement begins.
fn exchange(cx: &Context<'_>, first: NodeId) -> Option<Exchange> {
    let block = cx.tree.parent(first)?;
    let (names, last) = match swapped(cx, first) {
        Some(both) => (both.to_vec(), first),
        None => ring(cx, first, block)?,
    };
    let extent = Span::new(cx.tree.span(first).start, cx.tree.span(last).end);
    let pointers: Vec<VariableId> = names.iter().map(|name| pointer(cx, *name)).collect::<Option<_>>()?;
    let are_different = pointers.iter().collect::<BTreeSet<_>>().len() == pointers.len();
    let is_bare = cx.constructs.within(extent).next().is_none();
    let written = names.iter().map(|name| cx.tree.span(*name)).collect();
    (are_different && is_bare).then_some(Exchange { pointers, written, extent, block })
}

/// `t = a; a = b; b = c; c = t;`: where `a`, `b` and `c` are assigned, and the last of the statements.
fn ring(cx: &Context<'_>, first: NodeId, block: NodeId) -> Option<(Vec<NodeId>, NodeId)> {
    (cx.tree.kind(block) == NodeKind::CompoundStatement).then_some(())?;
    let (kept, start) = initialised(cx, first).or_else(|| assigned(cx, first))?;
    let (kept, mut wanted) = (pointer(cx, kept)?, pointer(cx, start)?);
    let mut names = Vec::new();
    let later = cx.tree.named_children(block).skip_while(|node| *node != first).skip(1);
    for statement in later.filter(|node| cx.tree.kind(*node) != NodeKind::Comment) {
        let (left, right) = assigned(cx, statement)?;
        (pointer(cx, left)? == wanted && wanted != kept).then_some(())?;
        names.push(left);
        wanted = pointer(cx, right)?;
        if wanted == kept {
            return (names.len() > 1).then_some((names, statement));
        }
    }
    None
}

/// `std::swap(a, b);`: the names `a` and `b`.
fn swapped(cx: &Context<'_>, statement: NodeId) -> Option<[NodeId; 2]> {
    let tree = cx.tree;
    let call = Call::of(tree, tree.named_children(statement).next()?)?;
    (tree.kind(statement) == NodeKind::ExpressionStatement && cx.swaps_values(call)).then_some(())?;
    <[NodeId; 2]>::try_from(call.arguments().collect::<Vec<_>>()).ok()
}

/// The pointer variable that a name is one of.
fn pointer(cx: &Context<'_>, name: NodeId) -> Option<VariableId> {
    let span = cx.tree.span(name);
    let (named, variable) = cx.named(&cx.file.show(span), span.end)?;
    variable.ty.is_pointer().then_some(named.id)
}

/// `double *t = a;`: the names `t` and `a`.
fn initialised(cx: &Context<'_>, statement: NodeId) -> Option<(NodeId, NodeId)> {
    let tree = cx.tree;
    let declarator = tree.child(statement, Field::Declarator)?;
    let is_one = tree.kind(statement) == NodeKind::Declaration
        && tree.kind(declarator) == NodeKind::InitDeclarator
        && Declaration::of(tree, statement).is_some_and(|declared| declared.declarators().count() == 1);
    let name = tree.innermost_declarator(declarator);
    let value = tree.child(declarator, Field::Value)?;
    (is_one && is_name(cx, name) && is_name(cx, value)).then_some((name, value))
}

/// `a = b;`: the names `a` and `b`.
fn assigned(cx: &Context<'_>, statement: NodeId) -> Option<(NodeId, NodeId)> {
    let tree = cx.tree;
    let assignment = tree.named_children(statement).next()?;
    let is_plain = tree.kind(statement) == NodeKind::ExpressionStatement
        && tree.kind(assignment) == NodeKind::AssignmentExpression
        && tree.operator(assignment) == Some(NodeKind::Equal);
    let (left, right) = (tree.child(assignment, Field::Left)?, tree.child(assignment, Field::Right)?);
    (is_plain && is_name(cx, left) && is_name(cx, right)).then_some((left, right))
}

fn is_name(cx: &Context<'_>, node: NodeId) -> bool {
    cx.tree.kind(node) == NodeKind::Identifier
}

impl Block<'_, '_> {
    /// The pointers with which a pointer changes places in the statements, itself among them.
    pub(super) fn class_of(&self, (first, last): (usize, usize), id: VariableId) -> Vec<VariableId> {
        let mut class = vec![id];
        let inside = self.statements.get(first..=last).unwrap_or_default();
        let rings: Vec<&[VariableId]> = inside.iter().flat_map(|it| &it.exchanges).map(|it| &*it.pointers).collect();
        for _ in 0..rings.len() {
            for ring in &rings {
                if ring.iter().any(|one| class.contains(one)) {
                    class.extend(ring.iter().filter(|one| !class.contains(one)).copied().collect::<Vec<_>>());
                }
            }
        }
        class
    }

    /// May a pointer of the class lead to another's data where a construct maps it for the first time?
    pub(super) fn is_exchanged_before(
        &self,
        (first, last): (usize, usize),
        class: &[VariableId],
        mapping: &Mapping,
    ) -> bool {
        let inside = self.statements.get(first..=last).unwrap_or_default();
        let mut before = inside.iter().flat_map(|it| &it.exchanges).filter(|it| it.extent.start < mapping.extent.start);
        before.any(|exchange| exchange.pointers.iter().any(|one| class.contains(one)))
    }

    /// Pointers that change places are held together or not at all.
    pub(super) fn keep_whole_classes(
        &self,
        statements: (usize, usize),
        held: &mut Vec<Held>,
        refused: &mut Vec<(VariableId, Reason)>,
    ) {
        loop {
            let is_held = |id: &VariableId| held.iter().any(|known| known.item.named.id == *id);
            let broken = held.iter().position(|one| !self.class_of(statements, one.item.named.id).iter().all(is_held));
            let Some(one) = broken.map(|index| held.remove(index)) else { return };
            let message = format!("`{}` changes places with a pointer whose data do not stay", one.item.named.name);
            refused.push((one.item.named.id, Reason::new(ReasonCode::MapNotUnited, one.item.span, message)));
        }
    }

    /// What the host needs of one of the pointers that change places, by its name at each place. Memory of the function's own may be copied
    /// in any case.
    pub(super) fn with_updates_of_class(
        &self,
        statements: (usize, usize),
        class: &[VariableId],
        held: Held,
    ) -> Result<Held, Reason> {
        for choice in Choice::ALL {
            let updates = self.updates(statements, &held.item, choice)?;
            if updates.is_empty() {
                return Ok(held);
            }
            if !held.to || !self.may_copy_anyway(statements, class, &held) {
                return Err(self.needed(statements, &held.item));
            }
            let is_plain = updates.iter().all(|update| update.fits.is_empty());
            if is_plain && self.are_paid_in_loops(statements, &held.item, &updates, choice) {
                return Ok(Held { updates, ..held });
            }
        }
        Err(self.needed(statements, &held.item))
    }

    /// What pointers that change places must be like, and when each of them has certainly been mapped as both are.
    pub(super) fn exchanged(
        &self,
        (first, last): (usize, usize),
        class: &[VariableId],
        held: &Held,
    ) -> Result<Vec<String>, Reason> {
        let item = &held.item;
        let inside = self.statements.get(first..=last).unwrap_or_default();
        let message = format!(
            "`{}` changes places with another pointer, but not once in every pass of this loop",
            item.named.name
        );
        let refuse = || Reason::new(ReasonCode::NotCertain, item.span, message);
        let is_moved = self
            .mappings_of((first, last))
            .iter()
            .all(|mapping| class.iter().filter_map(|id| mapping.item(*id)).all(|item| item.to || item.from));
        let host = self.host_of((first, last));
        if is_moved && self.may_copy_anyway((first, last), class, held) {
            let [statement] = inside else { return Ok(Vec::new()) };
            // Beside updates each pass saves one copy at least, and the environment makes two of each array at most.
            let least = if held.updates.is_empty() { class.len() } else { 2 * class.len() };
            let often = first_run::may_run_often(self.cx, statement.node, &host, least);
            return often.map(|term| term.into_iter().collect()).ok_or_else(refuse);
        }
        let [statement] = inside else { return Err(refuse()) };
        let body = self.cx.tree.child(statement.node, Field::Body);
        let own = statement.exchanges.iter().filter(|it| it.pointers.iter().any(|one| class.contains(one)));
        let is_regular = own.clone().count() == 1
            && own.clone().all(|exchange| {
                let mappings = statement.mappings.iter().filter_map(|index| self.all.get(*index));
                let behind = mappings.filter(|mapping| mapping.extent.start > exchange.extent.start);
                Some(exchange.block) == body && behind.count() == 0 && exchange.pointers.len() == class.len()
            });
        let copies = |way: &dyn Fn(&Item) -> bool| {
            let is_meant = |mapping: &Mapping| class.iter().filter_map(|id| mapping.item(*id)).any(way);
            self.certain_where((first, last), is_meant).is_some()
        };
        let is_copied = (!held.to || copies(&|item| item.to)) && (!held.from || copies(&|item| item.from));
        let is_regular = is_regular && is_copied && is_moved;
        let often = first_run::runs_often(self.cx, statement.node, &host, class.len());
        often.filter(|_| is_regular).map(|term| term.into_iter().collect()).ok_or_else(refuse)
    }
}
