//! The variables that `reduction` clauses list.

use std::collections::BTreeSet;

use super::refusal;
use crate::context::Context;
use crate::plan::Reason;
use crate::semantics::symbols::Scope;
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Clause, ClauseName, Directive, ListItem, NodeId};
use crate::transforms::team_results::{Combiner, Origin, TeamResult, part, start};

/// All that the clauses list, in the order of the text.
///
/// # Errors
/// What is no number that one atomic update can change, or not only its name reaches.
pub(super) fn combined(cx: &Context<'_>, directive: &Directive, first: NodeId) -> Result<Vec<TeamResult>, Reason> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    for clause in directive.clauses_of(ClauseName::Reduction) {
        let operator = match clause.modifiers.as_slice() {
            [one] if one.argument.is_none() => Combiner::of(&one.name),
            _ => None,
        };
        let Some(combiner) = operator else {
            return Err(refusal(clause.span, "no atomic update combines values like this"));
        };
        for item in clause.items() {
            all.push(one(cx, directive, (clause, item), combiner, first, &mut taken)?);
        }
    }
    Ok(all)
}

fn one(
    cx: &Context<'_>,
    directive: &Directive,
    (clause, item): (&Clause, &ListItem),
    combiner: Combiner,
    first: NodeId,
    taken: &mut BTreeSet<String>,
) -> Result<TeamResult, Reason> {
    let at = item.span.start;
    let name = item.base.clone().filter(|_| item.is_name);
    let variable = name.as_deref().and_then(|name| cx.symbols().lookup(name, at));
    let Some((name, variable)) = name.zip(variable) else {
        return Err(refusal(item.span, "this is no variable in sight"));
    };
    let (ty, start) =
        start(cx, &variable.ty, combiner, at, false).map_err(|why| refusal(item.span, format!("`{name}` {why}")))?;
    // Atomic instructions need an alignment that a packed class does not give to its members.
    if variable.is_thread_local || !matches!(variable.scope, Scope::Local | Scope::Parameter | Scope::File) {
        return Err(refusal(item.span, format!("`{name}` is no variable of its own")));
    }
    let inside = cx.tree.span(first);
    let names_it = |text: &str| words(text).any(|word| word == name);
    if cx.expansion(&name, at).is_some() || cx.uses_macro_with(inside, &names_it) {
        return Err(refusal(item.span, format!("a macro may stand for `{name}`, or name it")));
    }
    let others = directive
        .clauses
        .iter()
        .filter(|other| other.lists(&name) && !matches!(other.name, ClauseName::Map | ClauseName::Depend));
    if others.filter(|other| !std::ptr::eq(*other, clause)).count() > 0 {
        return Err(refusal(item.span, format!("other clauses list `{name}` too")));
    }
    let uses = uses_below(cx.file, cx.tree, first);
    let is_it = |span: Span| cx.symbols().lookup(&name, span.start).is_some_and(|found| found.id() == variable.id());
    let of_it = uses.iter().filter(|used| used.name == name && used.role != Role::Declaration && is_it(used.span));
    let names = std::iter::once(item.span).chain(of_it.map(|used| used.span)).collect();
    let is_mapped = directive.clauses_of(ClauseName::Map).any(|clause| clause.lists(&name));
    let part = part(cx, inside, &name, taken);
    Ok(TeamResult { whole: name, part, ty, combiner, start, names, origin: Origin::Clause { is_mapped } })
}
