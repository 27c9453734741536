//! Does the device hold more at once for one kernel than it held for each of several?

use std::collections::BTreeMap;

use super::lists::Lists;
use super::members::Member;
use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::syntax::{ClauseName, ListItem};

/// What a construct maps, and how many bytes each item takes where the text tells.
type Data = BTreeMap<VariableId, (String, Option<u64>)>;

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
    let bytes = all.values().try_fold(0_u64, |sum, (_, bytes)| sum.checked_add((*bytes)?));
    if all.len() == most || bytes.is_some_and(|bytes| bytes <= cx.device_memory) {
        return None;
    }
    let names: Vec<String> = all.values().map(|(name, _)| format!("`{name}`")).collect();
    let message = format!("assumes that the device has memory for {} at the same time", names.join(", "));
    Some(Reason::new(ReasonCode::MemoryForAll, members.last()?.directive, message))
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
        let size = ty.and_then(|ty| match &ty {
            DeclaredType::Array { .. } => bytes(&ty, 1),
            _ if item.is_whole => bytes(&ty, 1),
            _ => bytes(&ty.dereferenced(), cx.constant(item.length?)?),
        });
        (item.key, (item.name.clone(), size))
    });
    let is_listed = |key: &VariableId| {
        lists.listed.iter().any(|one| one.key == *key && one.clause != ClauseName::Shared) || lists.item(*key).is_some()
    };
    let named = member.outside.iter().filter(|(key, _)| !is_listed(key)).filter_map(|(key, used)| {
        let ty = cx.declared_type(&used.name, used.span.start)?;
        let takes_memory = !(ty.is_pointer() || ty.is_scalar());
        takes_memory.then(|| (*key, (used.name.clone(), bytes(&ty, 1))))
    });
    named.chain(written).collect()
}
