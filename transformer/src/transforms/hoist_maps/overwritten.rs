//! Does a loop assign every element of a section, before anything reads one of them?

use crate::analysis::accesses::{Access, Accesses, Loop, RootKind, accesses};
use crate::analysis::polynomial::Polynomial;
use crate::context::Context;
use crate::region::loop_nest::canonical_nest;
use crate::semantics::effects::Storage;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Directive, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::items::Item;

/// Is each element of the item assigned by the construct's loop, and none read? It is, if an assignment that no condition guards stands in
/// the nest, all accesses are at its place or behind it, and its subscript takes each value below the section's length.
pub(super) fn is_overwritten(cx: &Context<'_>, mapping: &Mapping, item: &Item) -> bool {
    covers(cx, mapping, item).is_some()
}

fn covers(cx: &Context<'_>, mapping: &Mapping, item: &Item) -> Option<()> {
    let construct = cx.constructs.construct(mapping.id);
    let directive = cx.constructs.directive(mapping.id);
    let shares =
        construct.leaves.iter().any(|leaf| matches!(leaf, Leaf::For | Leaf::Distribute | Leaf::Simd | Leaf::Loop));
    let (Some([length]), true) = (item.length.as_ref().map(|length| length.expressions.as_slice()), shares) else {
        return None;
    };
    // Another directive inside may end iterations, or run them elsewhere.
    (cx.constructs.within(mapping.extent).count() == 1).then_some(())?;
    let is_own = mapping.leads_to_own_item(cx, item.named.id);
    (is_own && lengths_are_copied(cx, directive, item)).then_some(())?;
    let mut nest = None;
    for depth in (1..=2).rev() {
        nest = nest.or_else(|| canonical_nest(cx.file, cx.tree, mapping.body, depth).ok());
    }
    let nest = nest?.loops;
    let body = nest.last()?.body;
    runs_to_its_end(cx, nest.first()?.body).then_some(())?;
    let found = accesses(cx.file, cx.tree, cx.symbols(), &nest, nest.len(), &[*length]);
    found.troubles.is_empty().then_some(())?;
    let is_item = |access: &&Access| access.root.key == item.named.id;
    let own: Vec<&Access> = found.accesses.iter().filter(is_item).collect();
    // What an expanded macro accesses stands for the whole expression that the macro is in.
    let is_in_text = |access: &&Access| {
        let node = cx.tree.covering(access.span);
        cx.tree.kind(node) == NodeKind::SubscriptExpression && cx.tree.span(node) == access.span
    };
    own.iter().all(is_in_text).then_some(())?;
    let store = own.iter().find(|access| is_certain_store(cx, &found, access, body, nest.len()))?;
    let is_late = |access: &&Access| access.span == store.span || is_behind(cx, access, store);
    own.iter().all(is_late).then_some(())?;
    reads_it_by_no_other_name(cx, mapping, item, &found).then_some(())?;
    // Calls and macros reach more than the nest shows.
    mapping.reaches_only_at(cx, &item.named, &own.iter().map(|access| access.span).collect::<Vec<_>>()).then_some(())?;
    let [subscript] = store.subscripts.as_slice() else { return None };
    (!subscript.wraps && takes_all_below(&found, &subscript.form, found.expressions.first()?.as_ref()?, nest.len()))
        .then_some(())
}

/// Does no statement of the loops leave them?
fn runs_to_its_end(cx: &Context<'_>, body: NodeId) -> bool {
    let tree = cx.tree;
    tree.descendants(body).all(|node| {
        !matches!(
            tree.kind(node),
            NodeKind::BreakStatement
                | NodeKind::ContinueStatement
                | NodeKind::ReturnStatement
                | NodeKind::GotoStatement
                | NodeKind::LabeledStatement
                | NodeKind::ThrowStatement
                | NodeKind::WhileStatement
                | NodeKind::DoStatement
        )
    })
}

/// An assignment by `=` that each iteration of the nest executes.
fn is_certain_store(cx: &Context<'_>, found: &Accesses, access: &Access, body: NodeId, depth: usize) -> bool {
    let tree = cx.tree;
    let is_plain = |node: NodeId| {
        matches!(
            tree.kind(node),
            NodeKind::CompoundStatement
                | NodeKind::ExpressionStatement
                | NodeKind::AssignmentExpression
                | NodeKind::SubscriptExpression
        )
    };
    let node = tree.covering(access.span);
    let above: Vec<NodeId> = std::iter::once(node).chain(tree.ancestors(node)).collect();
    let Some(end) = above.iter().position(|above| *above == body) else { return false };
    access.is_target
        && matches!(access.root.kind, RootKind::Pointer)
        && found.loops.len() >= depth
        && access.loops == (0..depth).collect::<Vec<_>>()
        && above.iter().take(end + 1).all(|node| is_plain(*node))
}

/// Does an access read what a statement before it in the same iteration has stored?
fn is_behind(cx: &Context<'_>, access: &Access, store: &Access) -> bool {
    let tree = cx.tree;
    let node = tree.covering(store.span);
    let statement = tree.ancestors(node).find(|above| tree.kind(*above) == NodeKind::ExpressionStatement);
    access.subscripts == store.subscripts
        && statement.is_some_and(|statement| access.span.start >= tree.span(statement).end)
}

/// May nothing else that the loop accesses be the item?
fn reads_it_by_no_other_name(cx: &Context<'_>, mapping: &Mapping, item: &Item, found: &Accesses) -> bool {
    let owner = cx.owner(&item.named);
    let is_other = |access: &Access| {
        let at = access.span.start;
        let Some(named) = cx.named(&access.root.name, at).map(|(named, _)| named).filter(|it| it.id == access.root.key)
        else {
            return false;
        };
        let storage = match access.root.kind {
            RootKind::Object => Storage::Variable(named),
            RootKind::Pointer => Storage::Behind(named),
            RootKind::Member | RootKind::Loaded => return false,
        };
        mapping.leads_to_own_item(cx, access.root.key) || cx.is_apart(&storage, &item.named, owner)
    };
    found.accesses.iter().filter(|access| access.root.key != item.named.id).all(is_other)
}

/// Has each variable that the section's length is computed from the same value on the device as on the host?
fn lengths_are_copied(cx: &Context<'_>, directive: &Directive, item: &Item) -> bool {
    let is_mapped = |name: &str| {
        let copies = |clause: &Clause| matches!(clause.name, ClauseName::Firstprivate);
        directive.clauses.iter().any(|clause| clause.lists(name) && !copies(clause))
    };
    directive.clauses_of(ClauseName::Defaultmap).next().is_none()
        && item.lengths.iter().all(|named| {
            let is_number = cx.declared_type(&named.name, named.at).is_some_and(|ty| ty.is_scalar());
            is_number
                && !is_mapped(&named.name)
                && !cx.is_declare_target(&named.name)
                && !cx.may_be_declared_for_device(&named.name, named.at)
        })
}

/// Does the subscript take every value from 0 to below `length`: `i`, or `i * m + j` with `j` below `m`?
fn takes_all_below(found: &Accesses, form: &Polynomial, length: &Polynomial, depth: usize) -> bool {
    // From the innermost loop outward: how many values are taken so far.
    let mut taken = Polynomial::constant(1);
    let mut rest = form.clone();
    // Two negative numbers have a positive product, and loops up to them have no iterations.
    let mut may_be_negative = 0;
    for known in found.loops.get(..depth).unwrap_or_default().iter().rev() {
        let Some((coefficient, without)) = rest.linear_in(known.atom) else { return false };
        let Some(width) = counts_from_zero(known) else { return false };
        may_be_negative += usize::from(known.integer.signed && width.as_constant().is_none_or(|width| width < 0));
        if coefficient != taken || may_be_negative > 1 {
            return false;
        }
        let Some(more) = taken.times(&width) else { return false };
        (taken, rest) = (more, without);
    }
    rest.is_zero() && taken == *length
}

/// How often a loop runs that counts from 0 by one.
fn counts_from_zero(known: &Loop) -> Option<Polynomial> {
    let is_counted = known.step == Some(1) && known.range.lower.as_ref()?.is_zero();
    is_counted.then(|| known.range.upper.as_ref()?.plus(&Polynomial::constant(1))).flatten()
}
