//! Whether a function that is handed an address keeps it beyond the call.

use super::binding::parameters_of;
use crate::semantics::Program;
use crate::semantics::calls::{is_pure, pointees};
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::semantics::uses::{Role, uses_below};
use crate::source::Language;
use crate::syntax::{Call, Cast, Field, Function, HostTree, NodeId, NodeKind};

/// How many calls deep functions are followed.
const DEPTH: usize = 8;

/// Does the call that the value of a name is handed to keep its address no longer than it lasts? It is a function of a library that does
/// so, or one in sight that only follows its parameter, or hands it on to such ones.
pub(in crate::semantics) fn keeps_no_address(cx: &Program<'_>, name: NodeId) -> bool {
    keeps_none(cx, name, 0)
}

fn keeps_none(cx: &Program<'_>, name: NodeId, depth: usize) -> bool {
    let tree = cx.tree;
    let Some(list) = tree.ancestors(name).find(|node| tree.kind(*node) == NodeKind::ArgumentList) else { return false };
    let Some(call) = tree.parent(list).and_then(|call| Call::of(tree, call)) else { return false };
    let index = tree.named_children(list).position(|argument| tree.span(argument).contains(tree.span(name)));
    // A number made of an address may come back as one.
    let becomes_number = |node: NodeId| {
        let ty = Cast::of(tree, node).and_then(Cast::ty);
        ty.is_some_and(|ty| tree.child(ty, Field::Declarator).is_none())
    };
    if tree.ancestors(name).take_while(|node| *node != list).any(becomes_number) {
        return false;
    }
    let Some(function) = call.function() else { return false };
    let at = tree.span(function).start;
    let text: String = cx.file.show(tree.span(function)).split_whitespace().collect();
    if cx.symbols().macro_definition(&text, at).is_some() || cx.symbols().is_variable_in(None, &text, at) {
        return false;
    }
    match cx.symbols().function_definitions(&text).as_slice() {
        [] => {
            let is_known = pointees(&text).is_some() || is_pure(&text);
            let is_discarded =
                || tree.parent(call.node).is_some_and(|it| tree.kind(it) == NodeKind::ExpressionStatement);
            is_known
                && (!returns_argument(&text) || is_discarded())
                && !may_print_address(cx, &text, list)
                && cx.symbols().calls_library_in(None, &text, at)
        }
        [(None, definition)]
            if depth < DEPTH && !cx.symbols().may_call_other(&text) && !cx.symbols().may_be_replaced(&text) =>
        {
            let Some(Some(parameter)) = index.and_then(|index| parameters_of(cx, *definition).into_iter().nth(index))
            else {
                return false;
            };
            !may_give_reference(tree, *definition) && only_follows(cx, *definition, parameter, depth)
        }
        _ => false,
    }
}

/// Does `%p` make a text of an address, from which the program may read it again? What is no literal may say so.
fn may_print_address(cx: &Program<'_>, name: &str, list: NodeId) -> bool {
    let tree = cx.tree;
    let is_text = |node: &NodeId| matches!(tree.kind(*node), NodeKind::StringLiteral | NodeKind::ConcatenatedString);
    let mut texts = tree.named_children(list).filter(is_text).map(|node| cx.file.show(tree.span(node))).peekable();
    let has_address = |text: &str| {
        text.split('%').skip(1).any(|conversion| {
            conversion.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*".contains(c)).starts_with('p')
        })
    };
    name.ends_with("printf") && (texts.peek().is_none() || texts.any(|text| has_address(&text)))
}

/// Does a function give back an address that it was handed?
fn returns_argument(name: &str) -> bool {
    matches!(name, "fgets" | "memcpy" | "memmove" | "memset" | "strchr" | "strcpy" | "strncpy")
}

/// In C++: may what a function gives back be the object itself that a parameter leads to?
pub(super) fn may_give_reference(tree: &HostTree, definition: NodeId) -> bool {
    let declarator = Function::of(tree, definition).and_then(Function::declarator);
    let is_plain = |node: NodeId| matches!(tree.kind(node), NodeKind::FunctionDeclarator | NodeKind::PointerDeclarator);
    let ty = tree.child(definition, Field::Type).map(|ty| tree.kind(ty));
    tree.language() == Language::Cpp
        && (!declarator.is_some_and(is_plain)
            || matches!(ty, Some(NodeKind::PlaceholderTypeSpecifier | NodeKind::Decltype)))
}

/// Does a function only follow a parameter, or hand it on to functions that do?
fn only_follows(cx: &Program<'_>, definition: NodeId, parameter: VariableId, depth: usize) -> bool {
    let tree = cx.tree;
    let name = cx.file.show(parameter.declared_at).into_owned();
    let Some(body) = Function::of(tree, definition).and_then(Function::body) else { return false };
    let uses = uses_below(cx.file, tree, body);
    let mut own = uses.iter().filter(|used| used.name == name);
    own.all(|used| {
        let Some((named, found)) = cx.named(&used.name, used.span.end) else { return false };
        if named.id != parameter {
            return true;
        }
        let (followed, _) = super::places::dereferences(tree, used.node);
        match used.role {
            Role::Read => {
                let reached = (0..followed).fold(found.ty.clone(), |ty, _| ty.dereferenced());
                let is_row = || tree.parent(used.node).is_none_or(|first| cx.leads_to_array(used, first));
                followed > 0
                    && !matches!(reached, DeclaredType::Array { .. })
                    && !is_row()
                    && !cx.may_lend_element(used.node)
            }
            Role::ElementWrite => !cx.may_lend_element(used.node),
            // What of it is handed on must be known, since the caller is told of what it leads to.
            Role::Argument => keeps_none(cx, used.node, depth + 1) && !cx.is_unfollowed_argument(used),
            _ => false,
        }
    })
}
