//! Between which statements of a block each variable could stay on the device.

use crate::plan::{Reason, ReasonCode};
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::environments::Block;
use crate::transforms::hoist_maps::refusals::{Found, refusal};
use crate::transforms::hoist_maps::updates::Choice;

/// Statements of a block between which a variable could stay on the device.
#[derive(PartialEq, Eq)]
pub(super) struct Run {
    pub id: VariableId,
    pub first: usize,
    pub last: usize,
}

/// Where in the block each variable could stay: from one statement that maps it to another, or in one that repeats constructs, with no
/// host code between that needs it.
pub(super) fn runs(block: &Block<'_, '_>, around: &[&Mapping], found: &mut Found) -> Vec<Run> {
    let mut ids: Vec<VariableId> = Vec::new();
    let whole = (0, block.statements.len().saturating_sub(1));
    // What `target enter data` of this block brings stays already.
    let node = block.statements.first().and_then(|first| block.cx.tree.parent(first.node));
    let pairs = block.all.iter().filter(|it| !it.exits.is_empty() && Some(it.body) == node);
    for item in block.mappings_of(whole).into_iter().flat_map(|it| &it.items) {
        let is_held = |outer: &Mapping| outer.item(item.named.id).is_some();
        if !ids.contains(&item.named.id) && !around.iter().any(|outer| is_held(outer)) && !pairs.clone().any(is_held) {
            ids.push(item.named.id);
        }
    }
    let mut all = Vec::new();
    for id in ids {
        let (plain, is_needed_nowhere) = runs_of(block, id, found, false);
        if !is_needed_nowhere {
            let (served, _) = runs_of(block, id, found, true);
            all.extend(served.into_iter().filter(|run| !plain.contains(run)));
        }
        all.extend(plain);
    }
    all
}

/// The environments for one variable, and whether no statement is in their way. Where accesses are `served`, updates let the host have
/// what it needs.
fn runs_of(block: &Block<'_, '_>, id: VariableId, found: &mut Found, served: bool) -> (Vec<Run>, bool) {
    let mappings = |statement: &Statement| {
        statement.mappings.iter().filter_map(|index| block.all.get(*index)).any(|mapping| mapping.item(id).is_some())
    };
    let Some(item) =
        block.mappings_of((0, block.statements.len().saturating_sub(1))).into_iter().find_map(|it| it.item(id))
    else {
        return (Vec::new(), true);
    };
    let section = |index: usize| {
        let mut mappings = block.mappings_of((index, index)).into_iter();
        mappings.find_map(|mapping| mapping.item(id)).map(|item| (item.section.as_str(), item.span))
    };
    let candidate = block.candidate((0, block.statements.len().saturating_sub(1)), item);
    let mut runs: Vec<Run> = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut cut: Option<(usize, Reason)> = None;
    let mut is_free = true;
    let mut close = |open: &mut Option<(usize, usize)>| {
        if let Some((first, last)) = open.take()
            && (last > first || block.statements.get(first).is_some_and(|statement| statement.repeats(block.all, id)))
        {
            runs.push(Run { id, first, last });
        }
    };
    for (index, statement) in block.statements.iter().enumerate() {
        let maps = mappings(statement);
        let conflict = match served {
            true if block.pays_inside(index, item) => block.updates((index, index), item, Choice::WHOLE).err(),
            true => candidate.conflict(block.cx, statement),
            false => candidate.conflict(block.cx, statement),
        };
        if let Some(reason) = conflict {
            is_free = false;
            close(&mut open);
            let is_between = cut.is_some() || maps && statement.repeats(block.all, id);
            if maps && is_between && !served {
                let inside = block.statements.get(index..=index).unwrap_or_default();
                found.refused.extend(refusal(block, inside, id, reason.clone()));
            }
            cut = Some((index, reason));
        } else if maps {
            if let (Some((first, _)), Some((own, span))) = (open, section(index))
                && section(first).is_some_and(|(known, _)| known != own)
            {
                close(&mut open);
                let message = format!("the constructs map different sections of `{}`", item.named.name);
                let inside = block.statements.get(index..=index).unwrap_or_default();
                let reason = Reason::new(ReasonCode::MapNotUnited, span, message);
                found.refused.extend((!served).then(|| refusal(block, inside, id, reason)).flatten());
            }
            if open.is_none()
                && let Some((at, reason)) = cut.take()
            {
                let earlier = block.statements.get(..at).unwrap_or_default().iter().any(mappings);
                if earlier && !served {
                    let inside = block.statements.get(index..=index).unwrap_or_default();
                    found.refused.extend(refusal(block, inside, id, reason));
                }
            }
            open = Some((open.map_or(index, |(first, _)| first), index));
        }
    }
    close(&mut open);
    (runs, is_free)
}

/// Where a variable could stay without the statement at which an environment has no place.
pub(super) fn beside(block: &Block<'_, '_>, (first, last): (usize, usize), id: VariableId, trouble: Span) -> Vec<Run> {
    let Some(at) = statement_at(block, (first, last), trouble) else { return Vec::new() };
    let maps = |index: &usize| {
        let statement = block.statements.get(*index);
        let mut mappings = statement.into_iter().flat_map(|it| &it.mappings).filter_map(|index| block.all.get(*index));
        mappings.any(|mapping| mapping.item(id).is_some())
    };
    let parts = [(first..at), (at + 1..last + 1)].into_iter();
    let runs = parts.filter_map(|part| Some((part.clone().find(maps)?, part.rev().find(maps)?)));
    runs.filter(|run| gains(block, *run, id)).map(|(first, last)| Run { id, first, last }).collect()
}

/// Where a variable could stay that cannot around all of these statements for something in one of them: without it, and in it alone.
pub(super) fn narrower(block: &Block<'_, '_>, place: (usize, usize), id: VariableId, trouble: Span) -> Vec<Run> {
    let at = statement_at(block, place, trouble).filter(|_| place.0 < place.1);
    let alone = at.filter(|at| gains(block, (*at, *at), id)).map(|at| Run { id, first: at, last: at });
    beside(block, place, id, trouble).into_iter().chain(alone).collect()
}

fn statement_at(block: &Block<'_, '_>, (first, last): (usize, usize), at: Span) -> Option<usize> {
    (first..=last).find(|index| block.statements.get(*index).is_some_and(|it| it.extent.contains(at)))
}

/// Is the variable mapped more than once by what these statements run?
pub(super) fn gains(block: &Block<'_, '_>, (first, last): (usize, usize), id: VariableId) -> bool {
    let inside = block.statements.get(first..=last).unwrap_or_default();
    let mut mapping = inside.iter().filter(|statement| {
        statement.mappings.iter().filter_map(|index| block.all.get(*index)).any(|mapping| mapping.item(id).is_some())
    });
    let first = mapping.next();
    mapping.next().is_some() || first.is_some_and(|statement| statement.repeats(block.all, id))
}

pub(super) fn is_needed(block: &Block<'_, '_>, place: (usize, usize), id: VariableId) -> bool {
    let Some(item) = block.mappings_of(place).into_iter().find_map(|mapping| mapping.item(id)) else { return true };
    block.updates(place, item, Choice::WHOLE).is_err()
}

pub(super) fn is_served(block: &Block<'_, '_>, place: (usize, usize), id: VariableId) -> bool {
    let item = block.mappings_of(place).into_iter().find_map(|mapping| mapping.item(id));
    item.is_some_and(|item| block.updates(place, item, Choice::WHOLE).is_ok_and(|updates| !updates.is_empty()))
}
