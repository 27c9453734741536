//! Which members stand in the lists of constructs, and what can stand for them.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::handed::Handed;
use super::{Access, Key, Path, accesses};
use crate::context::Context;
use crate::semantics::symbols::{DeclaredType, Scope};
use crate::source::{Language, Span};
use crate::syntax::{ClauseName, Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::pairs::{environments, with_environments};

/// The members that constructs in a function list with sections, those that the sections are computed from, and those that are handed to
/// functions with constructs.
pub(super) fn paths(cx: &Context<'_>, function: NodeId, body: NodeId, handed: &[Span]) -> Vec<Path> {
    let extent = cx.tree.span(body);
    if hinders_variables(cx, body) {
        return Vec::new();
    }
    let directives = cx.constructs.within(extent);
    let maps = directives.flat_map(|(_, directive)| directive.clauses_of(ClauseName::Map));
    let items = maps.flat_map(|clause| clause.items()).filter(|item| !item.sections.is_empty()).map(|item| item.span);
    let stand_alone = may_be_of_class(cx, function, body);
    let names_member = |item: &Span| stand_alone || cx.file.bytes(*item).iter().any(|byte| matches!(byte, b'.' | b'>'));
    let items: Vec<Span> = items.filter(names_member).collect();
    let mut found: Vec<Path> = Vec::new();
    let mut seen: BTreeSet<Key> = BTreeSet::new();
    let listed = items.into_iter().map(|item| (item, true)).chain(handed.iter().map(|argument| (*argument, false)));
    for (item, is_list) in listed {
        for (index, access) in accesses(cx, item).into_iter().enumerate() {
            let is_listed = index == 0 && access.span.start == item.start;
            let fits = |path: &Path| !is_list || path.is_pointer == is_listed;
            if !seen.contains(&access.key)
                && let Some(path) = path(cx, function, body, &access, &found).filter(fits)
            {
                seen.insert(access.key);
                found.push(path);
            }
        }
    }
    found
}

/// Can no variable stand for members in a function? C++ has no jumps over the declaration of one with a value, and a lambda would have to
/// capture it.
fn hinders_variables(cx: &Context<'_>, body: NodeId) -> bool {
    let hinders = |node: NodeId| match cx.tree.kind(node) {
        NodeKind::LambdaExpression => true,
        NodeKind::GotoStatement => cx.tree.language() != Language::C,
        _ => false,
    };
    cx.tree.kind(body) != NodeKind::CompoundStatement || cx.tree.descendants(body).any(hinders)
}

/// May it be a function of a class, where a member needs no object before it?
fn may_be_of_class(cx: &Context<'_>, function: NodeId, body: NodeId) -> bool {
    let head = Span::new(cx.tree.span(function).start, cx.tree.span(body).start);
    cx.tree.language() == Language::Cpp
        && (cx.tree.ancestors(function).any(|above| cx.tree.kind(above) == NodeKind::FieldDeclarationList)
            || cx.file.show(head).contains("::"))
}

/// Adds the members that calls hand over with their objects.
pub(super) fn add_handed(cx: &Context<'_>, function: NodeId, body: NodeId, handed: Vec<Handed>, found: &mut Vec<Path>) {
    for Handed { key, base, is_arrow } in handed {
        if hinders_variables(cx, body) || found.iter().any(|path| path.key == key) {
            continue;
        }
        let text = format!("{}{}{}", cx.file.show(base), if is_arrow { "->" } else { "." }, key.member);
        // A parameter is not declared yet where it is named first.
        let at = base.start.max(cx.tree.span(body).start);
        let access = Access { span: Span::new(at, at), base: Some(base), is_arrow, key };
        found.extend(path_of(cx, function, body, &access, text, found));
    }
}

fn path(cx: &Context<'_>, function: NodeId, body: NodeId, access: &Access, known: &[Path]) -> Option<Path> {
    path_of(cx, function, body, access, cx.file.show(access.span).into_owned(), known)
}

fn path_of(
    cx: &Context<'_>,
    function: NodeId,
    body: NodeId,
    access: &Access,
    text: String,
    known: &[Path],
) -> Option<Path> {
    let ty = member_type(cx, access)?;
    let (ty, is_pointer) = match &ty {
        DeclaredType::Pointer { pointee, .. } => (format!("{} *", number(pointee)?), true),
        ty => (format!("{} ", number(ty)?), false),
    };
    (text.split_whitespace().count() == 1).then_some(())?;
    let base = access.base.map_or_else(|| "this".to_owned(), |base| cx.file.show(base).into_owned());
    let stem = format!("{base}_{}", access.key.member.replace('.', "_").trim_end_matches("()"));
    let local = cx.fresh_in(cx.tree.span(function), &stem);
    known.iter().all(|path| path.local != local).then_some(())?;
    Some(Path {
        key: access.key.clone(),
        ty,
        is_pointer,
        local,
        given: Cell::new(0),
        declared_at: place(cx, function, body, access)?,
        text,
    })
}

/// The type of a member of a structure whose members are read by no function.
fn member_type(cx: &Context<'_>, access: &Access) -> Option<DeclaredType> {
    let at = access.span.start;
    let Some(base) = access.base.filter(|_| access.key.base.is_some()) else {
        let found = cx.symbols().lookup(&access.key.member, at)?;
        return (found.scope == Scope::Member).then_some(found.ty.clone());
    };
    let (_, variable) = cx.named(&cx.file.show(base), at)?;
    let is_own = matches!(variable.scope, Scope::Local | Scope::Parameter) && !variable.has_static_storage();
    is_own.then_some(())?;
    let object = match &variable.ty {
        DeclaredType::Pointer { pointee, .. } if access.is_arrow => pointee.as_ref(),
        DeclaredType::Reference { to } if !access.is_arrow => to.as_ref(),
        DeclaredType::Record { .. } if !access.is_arrow => &variable.ty,
        _ => return None,
    };
    let Some((member, is_memory)) = access.key.of_vector() else {
        return cx.symbols().member_type(object, &access.key.member, at);
    };
    let vector = match member {
        "" => object.clone(),
        member => cx.symbols().member_type(object, member, at)?,
    };
    let element = cx.symbols().vector_element(&vector, at)?.qualified(object.is_const(), false);
    Some(match is_memory {
        true => DeclaredType::Pointer { pointee: Box::new(element), is_const: false },
        false => cx.symbols().type_written(None, "size_t", at),
    })
}

/// How a number is declared that is not volatile.
fn number(ty: &DeclaredType) -> Option<String> {
    match ty {
        DeclaredType::Scalar { spelling, is_const, is_volatile: false, .. } => {
            Some(format!("{}{spelling}", if *is_const { "const " } else { "" }))
        }
        DeclaredType::TypeParameter { name, is_const, is_volatile: false } => {
            Some(format!("{}{name}", if *is_const { "const " } else { "" }))
        }
        _ => None,
    }
}

/// Where a variable may be declared that stands for a member: where the function begins, or behind the declaration of the object.
fn place(cx: &Context<'_>, function: NodeId, body: NodeId, access: &Access) -> Option<usize> {
    let tree = cx.tree;
    let start = tree.span(body).start + 1;
    let Some(id) = access.key.base else { return Some(start) };
    if !tree.span(body).contains(id.declared_at) {
        return tree.span(function).contains(id.declared_at).then_some(start);
    }
    let declared = tree.covering(id.declared_at);
    let declaration = tree.ancestors(declared).find(|node| tree.kind(*node) == NodeKind::Declaration)?;
    let is_in_block = tree.parent(declaration).is_some_and(|it| tree.kind(it) == NodeKind::CompoundStatement);
    is_in_block.then(|| tree.span(declaration).end)
}

/// A pointer of the function's own that a `target data` construct maps, and that was given a member's value.
pub(super) struct HeldPointer {
    pub key: Key,
    pub local: String,
    pub extent: Span,
}

/// The pointers that stand for these members in data environments that are there already.
pub(super) fn held(cx: &Context<'_>, paths: &[Path]) -> Vec<HeldPointer> {
    let functions = with_environments(cx).into_iter();
    let all = functions.flat_map(|function| environments(cx, cx.tree.span(function)));
    let mut found = Vec::new();
    for (id, extent) in all {
        let maps = cx.constructs.directive(id).clauses_of(ClauseName::Map);
        for item in maps.flat_map(|clause| clause.items()).filter(|item| !item.has_member) {
            let Some(name) = item.base.as_deref() else { continue };
            let Some((_, variable)) = cx.named(name, item.span.start) else { continue };
            let value = variable.initializer.and_then(|span| given(cx, span));
            let path = paths.iter().find(|path| Some(&path.key) == value.as_ref());
            found.extend(path.map(|path| HeldPointer { key: path.key.clone(), local: name.to_owned(), extent }));
        }
    }
    found
}

/// The member whose value an initialiser is: `g->u`, `n > 0 ? g->u : 0`.
pub(in crate::transforms::hoist_maps) fn given(cx: &Context<'_>, value: Span) -> Option<Key> {
    let tree = cx.tree;
    let node = tree.covering(value);
    let node = match tree.kind(node) {
        NodeKind::ConditionalExpression => tree.child(node, Field::Consequence)?,
        _ => node,
    };
    let span = tree.span(node);
    let access = accesses(cx, span).into_iter().next()?;
    (access.span == span).then_some(access.key)
}

/// What stands for no address.
pub(super) fn null(cx: &Context<'_>) -> &'static str {
    match cx.tree.language() {
        Language::Cpp => "nullptr",
        Language::C | Language::Either => "0",
    }
}
