//! Bodies of loops whose statements stand in another place, or twice.

use std::collections::BTreeSet;

use crate::analysis::accesses::Accesses;
use crate::analysis::independence::Candidate;
use crate::context::Context;
use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::Act;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Declaration, Field, For, NodeId, NodeKind};

/// Something in the body that may not stand twice, or whose place tells what it does.
pub(in crate::transforms) fn trouble(cx: &Context<'_>, body: NodeId) -> Option<(Span, String)> {
    let tree = cx.tree;
    let span = tree.span(body);
    let text = cx.file.show(span);
    if text.contains("\\\n") || text.contains("\\\r") || text.contains("R\"") {
        return Some((span, "lines of the body are continued, or may be parts of strings".to_owned()));
    }
    let braces = cx.file.bytes(span);
    let is_block = tree.kind(body) == NodeKind::CompoundStatement;
    if is_block && !(braces.starts_with(b"{") && braces.ends_with(b"}")) {
        return Some((span, "the braces of this block are spelled otherwise".to_owned()));
    }
    let other = tree.descendants(body).find(|node| is_refused(tree.kind(*node)));
    if let Some(node) = other {
        return Some((tree.span(node), "a jump, or a statement that is not followed here".to_owned()));
    }
    let names: BTreeSet<String> = uses_below(cx.file, tree, body)
        .into_iter()
        .filter(|used| used.role == Role::Declaration)
        .map(|used| used.name)
        .chain(loops_around(cx, body))
        .collect();
    let names_own = |text: &str| text.contains('#') || words(text).any(|word| names.contains(word));
    cx.uses_macro_with(span, &names_own).then(|| (span, "a macro names variables of the iteration".to_owned()))
}

/// Does a statement declare numbers and pointers alone, with values that nothing changes?
pub(in crate::transforms) fn only_declares(cx: &Context<'_>, statement: NodeId) -> bool {
    let is_followed = |act: Act| !matches!(act, Act::Call | Act::Effect | Act::Unknown | Act::Address);
    let has_plain_value = |declarator: NodeId| {
        let value = cx.tree.child(declarator, Field::Value);
        let evaluation = |value| cx.evaluation(cx.tree.span(value));
        value.is_some_and(|value| {
            evaluation(value).is_some_and(|it| it.first_without(|part| is_followed(part.act)).is_none())
        })
    };
    let uses = uses_below(cx.file, cx.tree, statement);
    let mut names = uses.iter().filter(|used| used.role == Role::Declaration);
    let is_plain = |used: &Use| {
        let variable = cx.symbols().lookup(&used.name, used.span.end);
        variable.is_some_and(|found| (found.ty.is_scalar() || found.ty.is_pointer()) && !found.is_static)
    };
    let declaration = Declaration::of(cx.tree, statement);
    declaration.is_some_and(|it| it.declarators().all(has_plain_value)) && names.all(is_plain)
}

/// Is a declaration's type a name that says all of it, so that another declaration can have it?
pub(in crate::transforms) fn is_name_of_type(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ')) && text != "auto"
}

/// What may go from one iteration of a kernel to another one, or is not followed.
pub(in crate::transforms) fn between_iterations(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
) -> Option<(Span, String)> {
    if let Some(trouble) = found.troubles.first() {
        return Some((trouble.span, trouble.message.clone()));
    }
    if let Some(used) = found.scalars.iter().find(|used| used.writes) {
        return Some((used.span, format!("`{}` is no variable of one iteration alone", used.name)));
    }
    let used = written_by_thread(candidate)?;
    Some((used.span, format!("`{}` belongs to a thread, and not to one iteration", used.name)))
}

/// A variable that the body changes and of which each thread has one for all of its iterations.
fn written_by_thread(candidate: &Candidate<'_, '_>) -> Option<Use> {
    let cx = candidate.cx;
    let is_of_thread = |used: &Use| {
        let key = cx.symbols().lookup(&used.name, used.span.end).map(|found| found.id());
        key.is_some_and(|key| candidate.clauses.is_private(key)) || cx.is_threadprivate(&used.name)
    };
    let changes = |used: &Use| !matches!(used.role, Role::Read | Role::Callee | Role::Declaration);
    uses_below(cx.file, cx.tree, candidate.nest.loops.body).into_iter().find(|used| changes(used) && is_of_thread(used))
}

/// The names that the heads of loops around the body declare.
fn loops_around(cx: &Context<'_>, body: NodeId) -> Vec<String> {
    let tree = cx.tree;
    let heads = tree.ancestors(body).filter_map(|node| For::of(tree, node)?.initializer()).collect::<Vec<_>>();
    let uses = heads.into_iter().flat_map(|head| uses_below(cx.file, tree, head));
    uses.filter(|used| used.role == Role::Declaration).map(|used| used.name).collect()
}

/// Where another variable gets the name of that of a loop, in a loop of the nest or in the body: it would be taken for that one.
pub(in crate::transforms) fn declared_again(cx: &Context<'_>, loops: &[CanonicalLoop], body: NodeId) -> Option<Span> {
    let names: BTreeSet<&str> = loops.iter().map(|own| own.variable.as_str()).collect();
    if let Some(inner) = loops.last().filter(|_| names.len() < loops.len()) {
        return Some(inner.variable_span);
    }
    let mut uses = uses_below(cx.file, cx.tree, body).into_iter();
    uses.find(|used| used.role == Role::Declaration && names.contains(used.name.as_str())).map(|used| used.span)
}

fn is_refused(kind: NodeKind) -> bool {
    use NodeKind as K;
    let is_known = matches!(
        kind,
        K::CompoundStatement
            | K::ExpressionStatement
            | K::ForStatement
            | K::IfStatement
            | K::WhileStatement
            | K::DoStatement
    );
    kind.is_statement() && !is_known
        || kind.is_preprocessor()
        || kind.is_definition()
        || kind.is_specifier() && !matches!(kind, K::SizedTypeSpecifier)
        || matches!(kind, K::ForRangeLoop | K::LambdaExpression)
}
