//! Does the device hold more at once for one kernel than it held for each of several?

use std::collections::BTreeMap;

use super::lists::Lists;
use super::members::Member;
use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::source::Span;
use crate::syntax::{ClauseName, ListItem};
use crate::transforms::checks::addresses::{self, Extent};

/// What a construct maps.
type Data = BTreeMap<VariableId, Datum>;

struct Datum {
    name: String,
    /// A place where the name means it.
    at: usize,
    /// The length of its section where it has one, if there is only one.
    section: Option<Option<Span>>,
    /// How many bytes it takes where the text tells.
    bytes: Option<u64>,
}

/// Why one kernel may need more memory than any of the constructs alone: not if one of them maps all data already, what an enclosing
/// `target data` construct holds anyway left out, nor if all sizes are known and together within the limit of the device.
pub(super) fn growth(cx: &Context<'_>, members: &[&Member], lists: &[Lists]) -> Option<Reason> {
    let held = members.first().map(|first| held_around(cx, first.id)).unwrap_or_default();
    let mut all = Data::new();
    let mut most = 0;
    for (member, own) in members.iter().zip(lists) {
        let needed: Data = data_of(cx, member, own).into_iter().filter(|(key, _)| !held.contains(key)).collect();
        most = most.max(needed.len());
        all.extend(needed);
    }
    let bytes = all.values().try_fold(0_u64, |sum, datum| sum.checked_add(datum.bytes?));
    if all.len() == most || bytes.is_some_and(|bytes| bytes <= cx.device_memory) {
        return None;
    }
    let names: Vec<String> = all.values().map(|datum| format!("`{}`", datum.name)).collect();
    let message = format!("assumes that the device has memory for {} at the same time", names.join(", "));
    Some(Reason::new(ReasonCode::MemoryForAll, members.last()?.directive, message))
}

/// How many bytes the data of all take together, in C. `None` where a section has several dimensions.
pub(super) fn bytes(cx: &Context<'_>, members: &[&Member], lists: &[Lists]) -> Option<String> {
    let all: Data = members.iter().zip(lists).flat_map(|(member, own)| data_of(cx, member, own)).collect();
    let lengths: Option<Vec<Option<String>>> = all
        .values()
        .map(|datum| match datum.section {
            None => Some(None),
            Some(length) => Some(Some(addresses::length(cx, length?))),
        })
        .collect();
    let extents = all.values().zip(lengths.as_ref()?).map(|(datum, length)| Extent {
        name: &datum.name,
        at: datum.at,
        is_pointed: datum.section.is_some(),
        length: length.as_deref(),
    });
    Some(addresses::bytes(cx, &extents.collect::<Vec<_>>()))
}

/// The variables that `target data` constructs around a construct certainly map.
fn held_around(cx: &Context<'_>, id: ConstructId) -> Vec<VariableId> {
    let around = std::iter::successors(cx.constructs.enclosing(id), |id| cx.constructs.enclosing(*id));
    let certain = around.map(|id| cx.constructs.directive(id)).filter(|directive| {
        directive.is("target data")
            && !directive.clauses.iter().any(|clause| matches!(clause.name, ClauseName::If | ClauseName::Device))
    });
    let maps = certain.flat_map(|directive| &directive.clauses).filter(|clause| clause.name == ClauseName::Map);
    let variable = |item: &ListItem| cx.symbols().lookup(item.base.as_deref()?, item.span.start).map(|it| it.id());
    maps.flat_map(|clause| clause.items()).filter(|item| !item.has_member).filter_map(variable).collect()
}

/// What a construct maps by its clauses, and the arrays and structures that it maps because it names them.
fn data_of(cx: &Context<'_>, member: &Member, lists: &Lists) -> Data {
    let bytes = |ty: &DeclaredType, count: i64| u64::try_from(ty.bytes()?.checked_mul(count)?).ok();
    let written = lists.mapped.iter().map(|item| {
        let ty = cx.declared_type(&item.name, item.span.start);
        let is_section = !item.is_whole && !matches!(ty, Some(DeclaredType::Array { .. }));
        let bytes = ty.and_then(|ty| match is_section {
            true => bytes(&ty.dereferenced(), cx.constant(item.length?)?),
            false => bytes(&ty, 1),
        });
        let section = is_section.then_some(item.length);
        (item.key, Datum { name: item.name.clone(), at: item.span.start, section, bytes })
    });
    let is_listed = |key: &VariableId| {
        lists.listed.iter().any(|one| one.key == *key && one.clause != ClauseName::Shared) || lists.item(*key).is_some()
    };
    let named = member.outside.iter().filter(|(key, _)| !is_listed(key)).filter_map(|(key, used)| {
        let ty = cx.declared_type(&used.name, used.span.start)?;
        let takes_memory = !(ty.is_pointer() || ty.is_scalar());
        let (name, at) = (used.name.clone(), used.span.start);
        takes_memory.then(|| (*key, Datum { name, at, section: None, bytes: bytes(&ty, 1) }))
    });
    named.chain(written).collect()
}
