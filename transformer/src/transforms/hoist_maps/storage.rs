//! Different names under one environment: they must not lead to storage that overlaps in part, and memory must be there for all.

use crate::context::Context;
use crate::plan::{Copies, Reason, ReasonCode};
use crate::semantics::effects::{Storage, Touch};
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::transforms::checks::addresses::{self, Extent, integer_of_address};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::environments::{Block, Environment, Held};
use crate::transforms::hoist_maps::first_run::is_stable;
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::reach::{End, reach};
use crate::transforms::hoist_maps::updates::Update;

/// The most pairs of pointers that an environment compares.
const MOST_COMPARED: usize = 16;

/// Are all that is held, and all else that the constructs map, apart? What the host has to compare is added to the terms.
///
/// # Errors
/// A variable that cannot be held, and why.
pub(super) fn apart(
    block: &Block<'_, '_>,
    statements: (usize, usize),
    held: &[Held],
    terms: &mut Vec<String>,
) -> Result<(), (VariableId, Reason)> {
    let mappings = block.mappings_of(statements);
    // Constructs may map other sections of a variable: each of them is compared.
    let mut compared: Vec<(Section<'_>, Section<'_>)> = Vec::new();
    for one in held {
        for item in mappings.iter().flat_map(|mapping| &mapping.items) {
            let pair = ordered(section(&one.item), section(item));
            if item.named.id == one.item.named.id || compared.contains(&pair) {
                continue;
            }
            compared.push(pair);
            if one.owner.is_apart_from(block.cx.owner(&item.named)) {
                continue;
            }
            // List items of one construct share no storage, as far as it lists them and their names lead to the same all the time.
            let is_held = held.iter().any(|other| other.item.named.id == item.named.id);
            let keep_place = is_held || block.keeps_place(statements, item);
            let lists_both = |mapping: &Mapping| {
                let lists = |item: &Item| maps(mapping, item).is_some_and(|own| own.is_explicit);
                let exchanged = [&one.item, item].map(|item| block.class_of(statements, item.named.id)).concat();
                let lists_id = |id: &VariableId| mapping.item(*id).is_some_and(|own| own.is_explicit);
                keep_place && lists(&one.item) && lists(item) && exchanged.iter().all(lists_id)
            };
            match block.certain_where(statements, lists_both) {
                Some((_, own)) => terms.extend(own),
                None => terms.extend(comparison(block, statements, &one.item, item, terms).ok_or_else(|| {
                    let message = format!("`{}` and `{}` may overlap", one.item.named.name, item.named.name);
                    let reason = Reason::new(ReasonCode::StorageOverlap, one.item.span, message);
                    (one.item.named.id, reason.with_label(item.span, "the other"))
                })?),
            }
        }
    }
    Ok(())
}

/// A variable with the section of it that is mapped.
type Section<'i> = (VariableId, &'i str);

fn section(item: &Item) -> Section<'_> {
    (item.named.id, &item.section)
}

fn ordered<'i>(one: Section<'i>, other: Section<'i>) -> (Section<'i>, Section<'i>) {
    if one < other { (one, other) } else { (other, one) }
}

/// The item of a construct for this section of the variable.
fn maps<'m>(mapping: &'m Mapping, item: &Item) -> Option<&'m Item> {
    mapping.item(item.named.id).filter(|own| own.section == item.section)
}

/// The comparison of what host code reaches with what is held, or why there is none.
///
/// # Errors
/// The access that may be of the same storage.
pub(super) fn host_terms(
    block: &Block<'_, '_>,
    statements: (usize, usize),
    held: &Held,
) -> Result<Vec<String>, Reason> {
    let (cx, item) = (block.cx, &held.item);
    let host = block.host_of(statements);
    let candidate = block.candidate(statements, item);
    // The updates for the variable's own accesses may move less than what others in the same statements reach.
    let serves = |update: &Update, touch: &Touch| {
        update.serves(touch.span) && (candidate.is_for_updates(cx, touch) || update.exchanges(&item.text, touch.writes))
    };
    let is_served = |touch: &Touch| held.updates.iter().any(|update| serves(update, touch));
    // What the host writes is not overwritten where nothing is copied back; of the rest no kernel accesses it.
    let never_meets = |touch: &Touch| {
        let Storage::Behind(other) = &touch.storage else { return false };
        (!touch.writes || !held.from) && cx.never_meet_in_call(other, &item.named)
    };
    let needs = |touch: &&Touch| {
        (touch.writes || candidate.in_block.is_written)
            && !is_served(touch)
            && !candidate.is_of_other(&touch.storage)
            && !cx.is_apart(&touch.storage, &item.named, held.owner)
            && !never_meets(touch)
    };
    let mut terms: Vec<String> = Vec::new();
    for touch in host.touches.iter().filter(needs) {
        if let Some(own) = block.listed_beside(statements, item, touch) {
            terms.extend(own.into_iter().filter(|term| !terms.contains(term)).collect::<Vec<_>>());
            continue;
        }
        let term = reach(cx, touch).and_then(|reach| {
            let is_known = reach.expressions.iter().all(|span| cx.constant(*span).is_some() || is_stable(cx, *span, &host));
            let at = block.start_of(statements);
            let names = reach.expressions.iter().flat_map(|span| cx.names_in(*span));
            let names = names.map(|(name, span)| (name, span.start));
            let mut names = names.chain([(reach.named.name.clone(), reach.named.at)]);
            let is_visible = names.all(|(name, there)| {
                let [here, there] = [at, there].map(|at| cx.named(&name, at).map(|(named, _)| named.id));
                here == there && here.is_none_or(|id| host.writes_variable(id).is_none())
            });
            let is_own = cx.cannot_be_aliased(&reach.named.name, reach.named.at);
            let length = item.length.as_ref().filter(|length| length.is_stable(cx, &host))?;
            (is_known && is_visible && is_own).then(|| {
                let number = integer_of_address(cx);
                let (other, own) = (&reach.named.name, &item.named.name);
                terms.extend(reach.naturals.iter().filter(|term| !terms.contains(term)).cloned().collect::<Vec<_>>());
                let end = match &reach.end {
                    End::Object => format!("({number}){other} + sizeof(*{other}) <= ({number}){own}"),
                    End::Elements(end) => format!(
                        "(({number}){other} <= ({number}){own} && {end} <= (({number}){own} - ({number}){other}) / sizeof(*{other}))"
                    ),
                };
                format!("(({number})({own} + {}) <= ({number}){other} || {end})", length.text)
            })
        });
        let Some(term) = term else {
            let message = format!("the host accesses memory here that may be `{}`", item.named.name);
            return Err(Reason::new(ReasonCode::HostAccess, touch.span, message));
        };
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    Ok(terms)
}

/// A comparison of two sections by the host: neither begins before the other's end.
fn comparison(
    block: &Block<'_, '_>,
    statements: (usize, usize),
    one: &Item,
    other: &Item,
    terms: &[String],
) -> Option<Vec<String>> {
    let cx = block.cx;
    let already = terms.iter().filter(|term| term.contains(" <= (")).count();
    let host = block.host_of(statements);
    let is_simple =
        |item: &Item| item.trouble.is_none() && item.length.as_ref().is_some_and(|length| length.is_stable(cx, &host));
    let at = block.start_of(statements);
    let is_visible = |item: &Item| {
        let names = item.expressions.iter().flat_map(|span| cx.names_in(*span));
        let mut names = names.chain(std::iter::once((item.named.name.clone(), item.span)));
        item.expressions.iter().all(|span| cx.means_the_same(*span, at))
            && names.all(|(name, span)| {
                let [here, there] = [at, span.start].map(|at| cx.named(&name, at).map(|(named, _)| named.id));
                here == there && here.is_none_or(|id| host.writes_variable(id).is_none())
            })
    };
    if already >= MOST_COMPARED
        || addresses::were_compared(cx, at)
        || ![one, other].into_iter().all(|item| is_simple(item) && is_visible(item))
    {
        return None;
    }
    let section = |item: &'_ Item| Some((item.named.name.clone(), item.length.as_ref()?.text.clone()));
    let [one, other_section] = [section(one)?, section(other)?];
    // Before the other one's construct runs, its pointer need not lead anywhere, and its length need not be a number.
    let (_, mut found) = block.certain_where(statements, |mapping| maps(mapping, other).is_some())?;
    found.push(addresses::apart(cx, [(&one.0, &one.1), (&other_section.0, &other_section.1)]));
    Some(found)
}

/// What must hold so that the environment takes no more memory than there is, where it takes more than each construct alone.
pub(super) fn growth(block: &Block<'_, '_>, statements: (usize, usize), held: &[Held]) -> Option<String> {
    let lists_all = |mapping: &Mapping| held.iter().all(|one| mapping.item(one.item.named.id).is_some());
    if block.mappings_of(statements).into_iter().any(lists_all) {
        return None;
    }
    Some(format!("{} <= {}", total(block, held), block.cx.device_memory))
}

/// How many bytes these take together, in C.
pub(super) fn total(block: &Block<'_, '_>, held: &[Held]) -> String {
    let all: Vec<Extent<'_>> = held.iter().map(|one| extent(block.cx, &one.item)).collect();
    addresses::bytes(block.cx, &all)
}

/// How many bytes a section has, in C.
pub(super) fn bytes(cx: &Context<'_>, item: &Item) -> String {
    addresses::bytes(cx, &[extent(cx, item)])
}

/// How often the constructs in an environment copy what it holds, and how often the environment does; each update that the host needs counts
/// once.
pub(super) fn copies(block: &Block<'_, '_>, environment: &Environment, before: usize, after: usize) -> Copies {
    let (mut bytes, mut updates) = (Some((0, 0)), 0);
    for held in &environment.held {
        let size = constant_bytes(block.cx, &held.item).filter(|_| held.updates.is_empty());
        let times = [held.copies, usize::from(held.to) + usize::from(held.from)];
        let all = times.map(|times| u64::try_from(times).ok()?.checked_mul(size?));
        updates += held.updates.iter().map(|update| update.piece.copies()).sum::<usize>();
        bytes = bytes.zip(all[0].zip(all[1])).map(|((before, after), (more, less))| (before + more, after + less));
    }
    Copies { before, after: after + updates, bytes }
}

/// How many bytes a section has, where the text tells.
pub(super) fn constant_bytes(cx: &Context<'_>, item: &Item) -> Option<u64> {
    let ty = cx.declared_type(&item.named.name, item.named.at)?;
    let (element, dimensions) = match &ty {
        DeclaredType::Array { element, dimensions, .. } => ((**element).clone(), dimensions.clone()),
        _ => match ty.dereferenced() {
            DeclaredType::Array { element, dimensions, .. } => (*element, dimensions),
            other => (other, Vec::new()),
        },
    };
    let first = match &ty {
        DeclaredType::Array { .. } => 1,
        _ => {
            let [length] = item.first_length.as_ref()?.expressions[..] else { return None };
            cx.constant(length)?
        }
    };
    let lengths = dimensions.iter().map(|dimension| dimension.value);
    let count = std::iter::once(Some(first))
        .chain(lengths)
        .try_fold(1_u64, |count, length| count.checked_mul(u64::try_from(length?).ok()?))?;
    count.checked_mul(u64::from(element.number()?.bits()? / 8))
}

/// What is held of an item: an array as a whole.
fn extent<'i>(cx: &Context<'_>, item: &'i Item) -> Extent<'i> {
    let ty = cx.declared_type(&item.named.name, item.named.at);
    let is_pointed = !ty.is_some_and(|ty| matches!(ty, DeclaredType::Array { .. }));
    let length = item.first_length.as_ref().map(|length| length.text.as_str()).filter(|_| is_pointed);
    Extent { name: &item.named.name, at: item.named.at, is_pointed, length }
}
