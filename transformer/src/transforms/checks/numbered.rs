//! `parallel` regions whose threads share no work, so that each does what its number says.

use crate::region::construct::ConstructId;
use crate::semantics::Program;
use crate::semantics::uses::{Role, Use, uses_below};

/// Does each thread of a `parallel` region do what its number and its team's say: by a query, by a macro or function that makes one, or by
/// text that is included? Not where the region, or a function that it calls, shares a loop among them.
pub(crate) fn by_number(cx: &Program<'_>, id: ConstructId) -> bool {
    let construct = cx.constructs.construct(id);
    let span = construct.body_span;
    let Some(body) = construct.body.filter(|_| cx.constructs.within(span).next().is_none()) else { return false };
    let (symbols, calls) = (cx.symbols(), cx.calls());
    let asks = |text: &str| text.contains("omp_get_");
    let shares_work = |name: &str| {
        let own = symbols.function_definitions(name).into_iter().filter(|(header, _)| header.is_none());
        own.into_iter().any(|(_, node)| cx.constructs.within(cx.tree.span(node)).next().is_some())
    };
    let may_ask = |used: &Use| match symbols.macro_definition(&used.name, used.span.start) {
        Some(definition) => asks(&definition.body),
        None => {
            used.role == Role::Callee
                && calls.effects(symbols, &used.name, used.span.start).openmp.is_some()
                && !shares_work(&used.name)
        }
    };
    asks(&cx.file.show(span))
        || cx.scan.includes.iter().any(|include| span.contains(include.span))
        || uses_below(cx.file, cx.tree, body).iter().any(may_ask)
}
