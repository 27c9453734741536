//! Code that stands beside copies of the host's threads: what it may reach.
//!
//! An array that threads of the host copy must not be touched meanwhile: neither by the host, nor by a kernel under another name. The
//! items of one construct share no storage (OpenMP 5.2, section 5.8.3), so if kernels reach nothing else and host code reaches no memory,
//! every use of an array names it.

use crate::context::Context;
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::semantics::Kind;
use crate::semantics::calls::{RuntimeCall, is_pure, runtime_call};
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Assignment, Call, Clause, ClauseName, NodeId, NodeKind, Update};

/// Does the data construct map this variable?
pub(in crate::transforms) type IsMapped<'m> = &'m dyn Fn(VariableId) -> bool;

/// The statements of the block of a data construct: of what stands behind its directive, where that is no block.
pub(in crate::transforms) fn statements(cx: &Context<'_>, block: &TargetRegion) -> Vec<NodeId> {
    let body = block.chain.constructs.first().and_then(|first| cx.constructs.construct(*first).body);
    let Some(body) = body else { return Vec::new() };
    let starts = |id: ConstructId| cx.constructs.construct(id).body == Some(body);
    let is_one_construct = cx.constructs.ids().filter(|id| starts(*id)).count() > 1;
    if is_one_construct || cx.tree.kind(body) != NodeKind::CompoundStatement {
        return vec![body];
    }
    cx.tree.named_children(body).filter(|node| cx.tree.kind(*node) != NodeKind::Comment).collect()
}

/// The first use of memory that a kernel reaches although the data construct around it does not map it.
pub(in crate::transforms) fn unlisted(
    names: &Context<'_>,
    (block, region): (Span, &TargetRegion),
    is_mapped: IsMapped<'_>,
) -> Option<Use> {
    let body = region.chain.constructs.first().and_then(|first| names.constructs.construct(*first).body)?;
    let uses = uses_below(names.file, names.tree, body);
    uses.into_iter().find(|used| !is_listed(names, (block, region.extent), is_mapped, used))
}

fn is_listed(names: &Context<'_>, extents: (Span, Span), is_mapped: IsMapped<'_>, used: &Use) -> bool {
    let at = used.span.start;
    let is_known = |name: &str| is_known(names, extents, is_mapped, name, at);
    match (names.expansion(&used.name, at), used.role) {
        (Some(inner), _) => inner.is_some_and(|inner| inner.iter().all(|name| is_known(name))),
        (None, Role::Callee) => is_pure(&used.name),
        (None, Role::MethodCall) => false,
        (None, _) => is_known(&used.name),
    }
}

/// Is it a number, a variable of the kernel, an array of the block, or a variable that the data construct maps?
fn is_known(
    names: &Context<'_>,
    (block, kernel): (Span, Span),
    is_mapped: IsMapped<'_>,
    name: &str,
    at: usize,
) -> bool {
    let kind = names.kind(name, at);
    let Some(variable) = names.symbols().lookup(name, at) else { return kind == Kind::Constant };
    // A reference stands for another variable, or for an element of an array.
    let is_value = !matches!(variable.ty, DeclaredType::Reference { .. });
    let is_in = |span: Span| variable.id().is_within(span);
    let is_number = matches!(kind, Kind::Scalar { builtin: true, .. } | Kind::Constant);
    let is_own = is_in(kernel) || is_number || (is_in(block) && matches!(variable.ty, DeclaredType::Array { .. }));
    (is_value && is_own) || is_mapped(variable.id())
}

/// Does a part of the text, including its directives and macros, name a variable?
pub(in crate::transforms) fn names_variable(names: &Context<'_>, extent: Span, name: &str) -> bool {
    let text = names.file.show(extent);
    let is_named = |text: &str| words(text).any(|word| word == name);
    is_named(&text) || names.uses_macro_with(extent, &is_named)
}

/// Host code of a statement that may reach memory through anything but variables of its own.
pub(in crate::transforms) fn obstacle(
    names: &Context<'_>,
    block: Span,
    inside: &[&TargetRegion],
    statement: NodeId,
) -> Option<Span> {
    let tree = names.tree;
    let on_host = |node: &NodeId| !inside.iter().any(|region| region.extent.contains(tree.span(*node)));
    let mut nodes = tree.descendants(statement).filter(on_host);
    let node = nodes.find(|node| tree.is_named(*node) && !is_harmless(names, block, *node))?;
    Some(tree.span(node))
}

fn is_harmless(names: &Context<'_>, block: Span, node: NodeId) -> bool {
    let tree = names.tree;
    match tree.kind(node) {
        NodeKind::Identifier => is_own_value(names, block, node) || is_harmless_function(names, node),
        NodeKind::AssignmentExpression => {
            is_own_variable(names, block, Assignment::of(tree, node).and_then(Assignment::target))
        }
        NodeKind::UpdateExpression => is_own_variable(names, block, Update::of(tree, node).and_then(Update::operand)),
        NodeKind::Declaration
        | NodeKind::InitDeclarator
        | NodeKind::ArrayDeclarator
        | NodeKind::PrimitiveType
        | NodeKind::SizedTypeSpecifier
        | NodeKind::TypeQualifier
        | NodeKind::NumberLiteral
        | NodeKind::CharLiteral
        | NodeKind::Character
        | NodeKind::True
        | NodeKind::False
        | NodeKind::BinaryExpression
        | NodeKind::UnaryExpression
        | NodeKind::ParenthesizedExpression
        | NodeKind::ConditionalExpression
        | NodeKind::CastExpression
        | NodeKind::CommaExpression
        | NodeKind::TypeDescriptor
        | NodeKind::ExpressionStatement
        | NodeKind::CompoundStatement
        | NodeKind::ForStatement
        | NodeKind::WhileStatement
        | NodeKind::DoStatement
        | NodeKind::IfStatement
        | NodeKind::ElseClause
        | NodeKind::ConditionClause
        | NodeKind::BreakStatement
        | NodeKind::ContinueStatement
        | NodeKind::Comment
        | NodeKind::CallExpression
        | NodeKind::ArgumentList
        | NodeKind::StringLiteral
        | NodeKind::StringContent
        | NodeKind::EscapeSequence => true,
        NodeKind::TypeIdentifier => {
            names.symbols().is_standard_number(&names.file.show(tree.span(node)), tree.span(node).start)
        }
        _ => false,
    }
}

/// Is it the name of a number or of a variable that is declared here?
fn is_own_value(names: &Context<'_>, block: Span, node: NodeId) -> bool {
    let span = names.tree.span(node);
    let name = names.file.show(span);
    let is_number =
        |name: &str| matches!(names.kind(name, span.start), Kind::Scalar { builtin: true, .. } | Kind::Constant);
    match names.expansion(&name, span.start) {
        Some(inner) => inner.is_some_and(|inner| inner.iter().all(|name| is_number(name))),
        None => is_number(&name) || is_declared_here(names, block, &name, span.start),
    }
}

/// Is it the name of a called function that uses only the values of its arguments, and perhaps writes to a stream?
pub(in crate::transforms) fn is_harmless_function(names: &Context<'_>, node: NodeId) -> bool {
    let tree = names.tree;
    let name = names.file.show(tree.span(node));
    let is_known = is_pure(&name) || name == "printf" || runtime_call(&name) == Some(RuntimeCall::Harmless);
    Call::naming(tree, node).is_some()
        && is_known
        && names.symbols().function_definitions(&name).is_empty()
        && names.symbols().macro_definition(&name, tree.span(node).start).is_none()
}

/// Is it a number that is only reachable by its name?
fn is_own_variable(names: &Context<'_>, block: Span, node: Option<NodeId>) -> bool {
    let Some(node) = node.filter(|node| names.tree.kind(*node) == NodeKind::Identifier) else { return false };
    let span = names.tree.span(node);
    let name = names.file.show(span);
    let is_number = matches!(names.kind(&name, span.start), Kind::Scalar { builtin: true, .. });
    is_number && names.cannot_be_aliased(&name, span.start) || is_declared_here(names, block, &name, span.start)
}

fn is_declared_here(names: &Context<'_>, block: Span, name: &str, at: usize) -> bool {
    let variable = names.symbols().lookup(name, at);
    variable.is_some_and(|variable| {
        variable.header.is_none()
            && block.contains(variable.declared_at)
            && !matches!(variable.ty, DeclaredType::Reference { .. })
    })
}

/// The name of a variable of which each thread of the host has its own, as a message calls it.
pub(in crate::transforms) fn of_one_thread(names: &Context<'_>, extent: Span) -> Option<String> {
    let is_own = |word: &str| {
        let variable = names.symbols().lookup(word, extent.start);
        names.is_threadprivate(word) || variable.is_some_and(|variable| variable.is_thread_local)
    };
    let text = names.file.show(extent);
    let in_macro = |text: &str| words(text).any(is_own);
    let hidden = names.uses_macro_with(extent, &in_macro).then_some("a macro in it");
    let named = words(&text).find(|word| is_own(word)).map(|word| format!("`{word}`"));
    named.or_else(|| hidden.map(str::to_owned))
}

/// Does a clause of a kernel mean the same where threads of the host launch it? Its expressions are another question.
pub(in crate::transforms) fn is_plain(clause: &Clause) -> bool {
    matches!(
        clause.name,
        ClauseName::Map
            | ClauseName::Private
            | ClauseName::Firstprivate
            | ClauseName::Shared
            | ClauseName::Default
            | ClauseName::Reduction
            | ClauseName::Collapse
            | ClauseName::NumTeams
            | ClauseName::ThreadLimit
            | ClauseName::DistSchedule
            | ClauseName::Schedule
            | ClauseName::Order
            | ClauseName::Bind
            | ClauseName::ProcBind
    )
}
