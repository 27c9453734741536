//! Whether declarations between two loops may stand in the inner one.

use std::collections::BTreeSet;

use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::Program;
use crate::semantics::symbols::{DeclaredType, NameKind};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Declaration, Initialised, NodeId, NodeKind, PointerDeclarator};

/// May these declarations of the body of one loop stand in the body of a loop behind them? Then each iteration of that
/// one has its own variables, with equal values: nothing changes them, and what is read to initialise them is either
/// changed by nothing, or by another iteration only if the iterations depend on each other.
pub(in crate::transforms) fn may_move(
    cx: &Program<'_>,
    declarations: &[NodeId],
    outer: NodeId,
    inner: &CanonicalLoop,
) -> bool {
    let start =
        declarations.first().and_then(|first| cx.tree.parent(*first)).map_or(0, |body| cx.tree.span(body).start);
    let between = cx.file.show(Span::new(start, inner.span.start));
    // A comment may go on in the next line.
    if between.contains("\\\n") || between.contains("\\\r") {
        return false;
    }
    let mut declared = BTreeSet::new();
    for declaration in declarations {
        let Some(names) = plain_variables(cx, *declaration, outer) else { return false };
        declared.extend(names);
    }
    let mut all = declared.clone();
    for declaration in declarations {
        all.extend(words(&cx.file.show(cx.tree.span(*declaration))).map(str::to_owned));
    }
    let at = inner.span.start;
    let mut waiting: Vec<String> = all.iter().cloned().collect();
    while let Some(word) = waiting.pop() {
        for found in cx.symbols().macros_named(&word, at) {
            waiting.extend(words(&found.body).filter(|word| all.insert((*word).to_owned())).map(str::to_owned));
        }
    }
    let head = Span::new(inner.span.start, cx.tree.span(inner.body).start);
    let redeclares = |role, name: &String| role == Role::Declaration && all.contains(name);
    !all.contains(&inner.variable)
        && !words(&cx.file.show(head)).any(|word| declared.contains(word) || is_macro(cx, word, at))
        && !uses_below(cx.file, cx.tree, inner.node).iter().any(|used| redeclares(used.role, &used.name))
}

/// Is it a macro that is no number? What such a one names is not looked for.
fn is_macro(cx: &Program<'_>, word: &str, at: usize) -> bool {
    cx.symbols().macro_definition(word, at).is_some() && !cx.symbols().is_constant(word, at)
}

/// The names of a declaration, if they are numbers or pointers to numbers, with a first value that nothing in a range changes.
fn plain_variables(cx: &Program<'_>, declaration: NodeId, outer: NodeId) -> Option<Vec<String>> {
    let (tree, symbols, range) = (cx.tree, cx.symbols(), cx.tree.span(outer));
    let at = tree.span(declaration).end;
    let plain = |declarator: NodeId| {
        let name = Initialised::of(tree, declarator)?.declarator()?;
        let name = PointerDeclarator::of(tree, name).map_or(Some(name), PointerDeclarator::declarator)?;
        let is_name = tree.kind(name) == NodeKind::Identifier;
        let name = cx.file.show(tree.span(name)).into_owned();
        let variable = symbols.lookup(&name, at).filter(|_| is_name)?;
        let value = match &variable.ty {
            DeclaredType::Pointer { pointee, .. } => pointee,
            ty => ty,
        };
        let is_number = variable.kind == NameKind::Variable && value.is_scalar() && !value.is_volatile();
        let lasts = variable.is_static || variable.is_extern || variable.is_thread_local;
        let is_kept = symbols.written_in(&name, at, range).is_empty() && !symbols.is_address_taken(&name, at);
        (is_number && !lasts && is_kept).then_some(name)
    };
    Declaration::of(tree, declaration)?.declarators().map(plain).collect()
}
