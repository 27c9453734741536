//! Loads that a team makes for a whole tile before its threads compute: which are worth it, and which may be made there.

use std::collections::BTreeSet;

use super::{Kernel, TILE};
use crate::analysis::accesses::{Access, RootKind};
use crate::analysis::coalescing::{Pattern, pattern};
use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::symbols::VariableId;
use crate::source::Span;
use crate::syntax::{Assignment, If, NodeId, NodeKind, Subscript};
use crate::transforms::checks::element;

/// A load that is staged.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// The places where the body loads this element.
    pub places: Vec<Span>,
    /// The name of the array.
    pub array: String,
    /// The type of an element, in keywords.
    pub ty: String,
    /// Its bytes.
    pub bytes: u32,
}

/// Where loads are looked for.
pub(super) struct Place<'l> {
    /// The statements that each iteration runs.
    pub statements: Vec<NodeId>,
    /// The serial loop whose variable tells an element as well.
    pub counted: Option<&'l CanonicalLoop>,
    /// The text of elements that each iteration loads anyway, so that conditions say nothing of them.
    pub loaded: BTreeSet<String>,
}

/// Rows that are known to begin less than this many tiles apart are too short for tiles.
const SHORTEST_ROW: i128 = 2;

/// How neighbouring threads access memory where they differ in the variable of this loop.
pub(super) fn pattern_along(kernel: &Kernel<'_, '_>, access: &Access, axis: usize) -> Pattern {
    let lane = kernel.found.loops.get(axis);
    lane.map_or(Pattern::Unknown, |lane| pattern(access, lane.atom, &kernel.found.opaque))
}

/// Is it a load that neighbouring threads make far apart along one loop, and side by side along the other?
pub(super) fn is_across(kernel: &Kernel<'_, '_>, access: &Access, axis: usize) -> bool {
    let is_far = pattern_along(kernel, access, axis) == Pattern::Strided;
    let is_near = matches!(pattern_along(kernel, access, 1 - axis), Pattern::Near(_));
    !access.writes && is_far && is_near && !has_short_rows(kernel, access, axis)
}

/// Do the elements of neighbouring iterations lie so near that a tile holds several rows of them?
fn has_short_rows(kernel: &Kernel<'_, '_>, access: &Access, axis: usize) -> bool {
    let Some(lane) = kernel.found.loops.get(axis) else { return true };
    let Some((last, others)) = access.subscripts.split_last() else { return true };
    let is_elsewhere = others.iter().any(|other| other.form.mentions(lane.atom));
    let step = last.form.linear_in(lane.atom).and_then(|(step, _)| step.as_constant());
    !is_elsewhere && step.is_some_and(|step| step.abs() < SHORTEST_ROW * i128::from(TILE))
}

/// The loads of the body that are across where threads side by side differ in the variable of the loop `axis`, each element once.
///
/// # Errors
/// Why one of them may not be made in front of the others.
pub(super) fn staged(kernel: &Kernel<'_, '_>, axis: usize) -> Result<Vec<Load>, (Span, String)> {
    let mut known: Vec<(&Access, Load)> = Vec::new();
    let body = Place { statements: kernel.statements(), counted: None, loaded: BTreeSet::new() };
    for access in kernel.found.accesses.iter().filter(|access| is_across(kernel, access, axis)) {
        let load = element_of(kernel, access, &body)?;
        let is_same = |(other, known): &&mut (&Access, Load)| {
            let text = |load: &Load| load.places.first().map(|span| without_blanks(kernel, *span));
            other.root == access.root && text(known) == text(&load)
        };
        match known.iter_mut().find(is_same) {
            Some((_, known)) => known.places.extend(load.places),
            None => known.push((access, load)),
        }
    }
    Ok(known.into_iter().map(|(_, load)| load).collect())
}

/// The text of an element without blanks.
pub(super) fn without_blanks(kernel: &Kernel<'_, '_>, span: Span) -> String {
    kernel.cx.file.show(span).split_whitespace().collect()
}

/// A load that every iteration makes, before it stores anything.
///
/// # Errors
/// Why it may not be made in front of the others.
pub(super) fn element_of(kernel: &Kernel<'_, '_>, access: &Access, at: &Place<'_>) -> Result<Load, (Span, String)> {
    let place = place(kernel, access, at)?;
    let (ty, bytes) = element(kernel.cx, access)?;
    Ok(Load { places: vec![place], array: access.root.name.clone(), ty, bytes })
}

/// Where an element is loaded, if every iteration loads it and before it stores anything.
fn place(kernel: &Kernel<'_, '_>, access: &Access, at: &Place<'_>) -> Result<Span, (Span, String)> {
    let cx = kernel.cx;
    let name = &access.root.name;
    let no = |message: String| (access.span, message);
    let Some((node, statement)) = expression(kernel, access, at) else {
        return Err(no(format!("`{name}` is not loaded as an element of an array, by its name")));
    };
    let is_loaded = at.loaded.contains(&without_blanks(kernel, cx.tree.span(node)));
    if let Some(problem) = conditional(kernel, node, statement).filter(|_| !is_loaded) {
        return Err(problem);
    }
    if let Some(stored) = stored_before(kernel, node, statement) {
        return Err((stored, format!("this is stored before `{name}` is loaded, and may change it")));
    }
    let mut base = node;
    while let Some(subscript) = Subscript::of(cx.tree, base) {
        let index = subscript.index().map(|index| cx.tree.span(index));
        if !index.is_some_and(|index| cx.is_arithmetic_with_casts(index) && names_are_outer(kernel, index, at.counted))
        {
            return Err(no(format!(
                "a subscript of `{name}` is more than arithmetic with variables that keep their values"
            )));
        }
        let Some(next) = subscript.base() else { break };
        base = next;
    }
    let is_array = cx.tree.kind(base) == NodeKind::Identifier
        && matches!(access.root.kind, RootKind::Object | RootKind::Pointer)
        && names_are_outer(kernel, cx.tree.span(base), None);
    if is_array { Ok(cx.tree.span(node)) } else { Err(no(format!("`{name}` is no array or pointer of its own"))) }
}

/// The subscript expression of an access, and the statement of the body that it stands in.
fn expression(kernel: &Kernel<'_, '_>, access: &Access, at: &Place<'_>) -> Option<(NodeId, NodeId)> {
    let tree = kernel.cx.tree;
    let mut node = tree.covering(access.span);
    if tree.span(node) != access.span {
        return None;
    }
    while tree.kind(node) == NodeKind::ParenthesizedExpression {
        node = tree.named_children(node).next()?;
    }
    let statement = std::iter::once(node).chain(tree.ancestors(node)).find(|above| at.statements.contains(above))?;
    (tree.kind(node) == NodeKind::SubscriptExpression).then_some((node, statement))
}

/// What may keep an iteration from loading the element: a condition, or an expression that is not followed.
fn conditional(kernel: &Kernel<'_, '_>, node: NodeId, statement: NodeId) -> Option<(Span, String)> {
    use NodeKind as K;
    let tree = kernel.cx.tree;
    let mut above = tree.ancestors(node);
    let in_condition = |one: If<'_>| one.condition().is_some_and(|it| tree.span(it).contains(tree.span(node)));
    let is_made = |above: NodeId| match tree.kind(above) {
        // Both operands of these are evaluated.
        K::BinaryExpression => tree.operator(above).is_some_and(|operator| {
            matches!(operator, K::Plus | K::Minus | K::Star | K::Slash | K::Percent)
                || operator.is_test() && !matches!(operator, K::AmpersandAmpersand | K::BarBar)
        }),
        K::UnaryExpression | K::ParenthesizedExpression | K::CastExpression => true,
        K::CallExpression | K::ArgumentList | K::AssignmentExpression => true,
        K::InitDeclarator | K::Declaration | K::ExpressionStatement => true,
        K::IfStatement => If::of(tree, above).is_some_and(in_condition),
        _ => false,
    };
    let stands = above.by_ref().take_while(|above| *above != statement).find(|above| !is_made(*above));
    let other = stands.or_else(|| Some(statement).filter(|statement| !is_made(*statement)))?;
    let message = "not every iteration loads this element, or not by this expression alone";
    Some((tree.span(other), message.to_owned()))
}

/// A store to memory that an iteration may make before it comes to an expression.
fn stored_before(kernel: &Kernel<'_, '_>, node: NodeId, statement: NodeId) -> Option<Span> {
    let tree = kernel.cx.tree;
    let (own, place) = (tree.span(statement), tree.span(node));
    let assigned = tree.named_children(statement).next().and_then(|whole| {
        let one = Assignment::of(tree, whole)?;
        let is_in_value = one.value().is_some_and(|value| tree.span(value).contains(place));
        one.target().filter(|_| is_in_value).map(|target| tree.span(target))
    });
    let is_before = |access: &&Access| {
        let in_statement = own.contains(access.span);
        let is_after = in_statement && assigned.is_some_and(|target| target.contains(access.span));
        access.writes && !is_after && (in_statement || access.span.start < own.start)
    };
    kernel.found.accesses.iter().find(is_before).map(|access| access.span)
}

/// Do all names in an expression mean variables of the loops, or such as are declared around them?
fn names_are_outer(kernel: &Kernel<'_, '_>, span: Span, counted: Option<&CanonicalLoop>) -> bool {
    let cx = kernel.cx;
    let construct = cx.tree.span(kernel.body());
    cx.names_in(span).into_iter().all(|(name, at)| {
        let found = cx.symbols().lookup(&name, at.start).map(|found| found.id());
        let is_counted = |id: VariableId| counted.is_some_and(|own| id.declared_at == own.variable_span);
        let is_outer = found.is_some_and(|id| !id.is_within(construct) || is_counted(id));
        cx.constant(at).is_some() || is_outer && cx.expansion(&name, at.start).is_none()
    })
}
