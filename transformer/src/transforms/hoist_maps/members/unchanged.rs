//! Do members keep their values in a piece of a function, so that a copy may stand for them?

use crate::context::Context;
use crate::semantics::calls::takes_values;
use crate::semantics::effects::{HostEffects, Storage, Touch, Unknown, UnknownKind};
use crate::semantics::symbols::{DeclaredType, Scope};
use crate::source::{Language, Span, words};
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::blocks::leads_out;
use crate::transforms::hoist_maps::members::Path;
use crate::transforms::hoist_maps::members::accesses::is_own_member;

/// Why members may change in a piece of a function, of which it is known that the host writes nothing else that the arrays may be.
pub(super) fn change(cx: &Context<'_>, piece: Span, paths: &[&Path]) -> Option<(Span, String)> {
    let told = |span: Span| {
        let text = cx.file.show(span);
        let is_named = |path: &&&Path| words(&text).any(|word| word == path.key.member);
        let path = paths.iter().find(is_named).or(paths.first());
        (span, format!("`{}` may change here", path.map_or("", |path| path.text.as_str())))
    };
    if !cx.compilation.strict_aliasing {
        return Some(told(piece));
    }
    let names_it = |text: &str| words(text).any(|word| paths.iter().any(|path| path.key.member == word));
    if cx.uses_macro_with(piece, &names_it) || cx.tree.inactive().iter().any(|span| span.overlaps(piece)) {
        return Some(told(piece));
    }
    let mut nodes: Vec<NodeId> = statements(cx, piece);
    let called = bodies_called(cx, &nodes);
    nodes.extend(called.iter().copied());
    let changed = nodes
        .iter()
        .flat_map(|node| cx.tree.descendants(*node))
        .find(|node| names_member(cx, *node, paths) && may_change(cx, *node));
    if let Some(node) = changed {
        return Some(told(cx.tree.span(node)));
    }
    let kernels: Vec<Span> = cx
        .constructs
        .ids()
        .filter(|id| cx.constructs.is_target(*id))
        .map(|id| cx.constructs.construct(id).body_span)
        .filter(|body| piece.contains(*body) || called.iter().any(|function| cx.tree.span(*function).contains(*body)))
        .collect();
    // What kernels of called functions write of structures is copied back.
    let kernel =
        cx.constructs.ids().filter(|id| cx.constructs.is_target(*id)).filter_map(|id| cx.constructs.construct(id).body);
    let written = kernel
        .into_iter()
        .flat_map(|body| cx.tree.descendants(body))
        .find(|node| names_member(cx, *node, paths) && may_change(cx, *node));
    if let Some(node) = written {
        return Some(told(cx.tree.span(node)));
    }
    if let Some(node) = reaches_object(cx, piece).filter(|_| paths.iter().any(|path| path.key.base.is_none())) {
        return Some((cx.tree.span(node), "a construct may reach the object here by other names".to_owned()));
    }
    let merged = nodes.iter().map(|node| cx.host_effects(*node, &kernels));
    merged.into_iter().find_map(|host: HostEffects| {
        let is_free = |unknown: &&Unknown| unknown.kind == UnknownKind::Constructs || leads_out(cx, unknown.span);
        let unknown = host.unknown.iter().find(|unknown| !is_free(unknown)).map(|unknown| unknown.span);
        // What a function in sight writes is told where its body is.
        let is_seen = |touch: &Touch| {
            let node = cx.tree.covering(touch.span);
            cx.tree.kind(node) == NodeKind::CallExpression
                && cx.tree.span(node) == touch.span
                && cx.binding(node).is_some()
        };
        let mut written = host.touches.iter().filter(|touch| touch.writes && !is_seen(touch));
        let written = written.find(|touch| may_reach(cx, touch, paths));
        unknown.or(written.map(|touch| touch.span)).map(told)
    })
}

/// The bodies of the functions in sight that these statements call, and of those that these call.
fn bodies_called(cx: &Context<'_>, nodes: &[NodeId]) -> Vec<NodeId> {
    let mut found: Vec<NodeId> = Vec::new();
    let mut open: Vec<NodeId> = nodes.to_vec();
    while let Some(node) = open.pop() {
        let calls = cx.tree.descendants(node).filter(|inner| cx.tree.kind(*inner) == NodeKind::CallExpression);
        let bindings = calls.filter_map(|call| cx.binding(call));
        for body in bindings.filter_map(|binding| cx.tree.child(binding.definition, Field::Body)) {
            if !found.contains(&body) {
                found.push(body);
                open.push(body);
            }
        }
    }
    found
}

/// Where a kernel may reach the object of a member function otherwise than by the names of its members.
fn reaches_object(cx: &Context<'_>, piece: Span) -> Option<NodeId> {
    let tree = cx.tree;
    let targets = cx.constructs.ids().filter(|id| cx.constructs.is_target(*id));
    let bodies = targets.filter_map(|id| cx.constructs.construct(id).body).filter(|it| piece.contains(tree.span(*it)));
    bodies.into_iter().flat_map(|body| tree.descendants(body)).find(|node| match tree.kind(*node) {
        NodeKind::This => tree.parent(*node).is_none_or(|above| tree.kind(above) != NodeKind::FieldExpression),
        NodeKind::CallExpression => {
            let called = tree.child(*node, Field::Function);
            let is_cast = called.is_some_and(|it| tree.kind(it) == NodeKind::PrimitiveType);
            let name = cx.called_name(*node).map(|name| cx.file.show(tree.span(name)).into_owned());
            let takes_values =
                name.is_some_and(|name| cx.symbols().function_definitions(&name).is_empty() && takes_values(&name));
            !is_cast && !takes_values
        }
        _ => false,
    })
}

/// The statements that a piece consists of.
fn statements(cx: &Context<'_>, piece: Span) -> Vec<NodeId> {
    let around = cx.tree.covering(piece);
    match cx.tree.span(around) == piece {
        true => vec![around],
        false => cx.tree.named_children(around).filter(|node| piece.contains(cx.tree.span(*node))).collect(),
    }
}

/// Is it an expression that names a member called like one of these, of whatever object?
fn names_member(cx: &Context<'_>, node: NodeId, paths: &[&Path]) -> bool {
    let tree = cx.tree;
    let is_called_so = |name: &str| paths.iter().any(|path| path.key.member == name);
    match tree.kind(node) {
        NodeKind::FieldExpression => {
            tree.child(node, Field::Field).is_some_and(|field| is_called_so(&cx.file.show(tree.span(field))))
        }
        NodeKind::Identifier => {
            let span = tree.span(node);
            let name = cx.file.show(span);
            is_called_so(&name) && cx.named(&name, span.start).is_some_and(|(_, variable)| is_own_member(&variable))
        }
        _ => false,
    }
}

/// Is a member itself written here, or may something be made of it that leads to it?
fn may_change(cx: &Context<'_>, member: NodeId) -> bool {
    let tree = cx.tree;
    let mut node = member;
    while let Some(parent) = tree.parent(node).filter(|it| tree.kind(*it) == NodeKind::ParenthesizedExpression) {
        node = parent;
    }
    let Some(parent) = tree.parent(node) else { return true };
    let field = tree.field(node);
    match tree.kind(parent) {
        NodeKind::BinaryExpression => tree.operator(parent) == Some(NodeKind::GreaterGreater),
        NodeKind::SubscriptExpression
        | NodeKind::SubscriptArgumentList
        | NodeKind::CastExpression
        | NodeKind::UnaryExpression
        | NodeKind::SizeofExpression => false,
        NodeKind::PointerExpression => tree.operator(parent) != Some(NodeKind::Star),
        NodeKind::AssignmentExpression => field == Some(Field::Left),
        NodeKind::ArgumentList => tree.language() == Language::Cpp && !is_handed_by_value(cx, parent),
        NodeKind::InitDeclarator => {
            let declarator = tree.child(parent, Field::Declarator);
            declarator.is_none_or(|it| tree.kind(it) == NodeKind::ReferenceDeclarator)
        }
        NodeKind::ConditionalExpression => field != Some(Field::Condition),
        _ => true,
    }
}

/// Does a call get values alone: of a function of the library that is known, or of one in sight without references?
fn is_handed_by_value(cx: &Context<'_>, list: NodeId) -> bool {
    let tree = cx.tree;
    let Some(call) = tree.parent(list) else { return false };
    if let Some(binding) = cx.binding(call) {
        let body = tree.child(binding.definition, Field::Body).map_or(0, |body| tree.span(body).start);
        let start = tree.span(binding.definition).start;
        return !cx.file.show(Span::new(start, body.max(start))).contains('&');
    }
    let name = cx.called_name(call).map(|name| cx.file.show(tree.span(name)).into_owned()).unwrap_or_default();
    cx.symbols().function_definitions(&name).is_empty() && takes_values(&name)
}

/// May a write of host code be one of a member? It is none of a number's own variable, of an element that is a number of another type,
/// and of another member.
fn may_reach(cx: &Context<'_>, touch: &Touch, paths: &[&Path]) -> bool {
    let tree = cx.tree;
    let (Storage::Variable(named) | Storage::Behind(named)) = &touch.storage else { return true };
    let Some((_, variable)) = cx.named(&named.name, named.at) else { return true };
    let node = tree.covering(touch.span);
    let other_member = || {
        let parent = tree.parent(node).filter(|_| tree.span(node) == touch.span);
        parent.is_some_and(|it| tree.kind(it) == NodeKind::FieldExpression && !names_member(cx, it, paths))
    };
    let is_base = paths.iter().any(|path| path.key.base == Some(named.id));
    let is_integer_read = paths.iter().any(|path| !path.is_pointer);
    match &touch.storage {
        Storage::Variable(_) if variable.ty.is_scalar() => {
            variable.scope == Scope::Member && names_it(&named.name, paths)
        }
        Storage::Variable(_) if variable.ty.is_pointer() => is_base || variable.scope == Scope::Member,
        Storage::Variable(_) => match &variable.ty {
            DeclaredType::Array { .. } => variable.scope == Scope::Member,
            _ => !other_member(),
        },
        // Bytes that are copied, and characters, may be those of a member.
        _ if cx.may_write_pointers(touch) => !other_member(),
        _ => match variable.ty.dereferenced() {
            // Elements of floating type are no pointers and no integers.
            ty if ty.is_scalar() => is_integer_read && ty.number().is_none_or(|number| number.integer().is_some()),
            _ => !other_member(),
        },
    }
}

fn names_it(name: &str, paths: &[&Path]) -> bool {
    paths.iter().any(|path| path.key.member == name)
}
