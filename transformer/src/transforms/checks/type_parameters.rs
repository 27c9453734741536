//! Template parameters that stand for types: operators on them are the language's own if the types are arithmetic.

use std::collections::BTreeSet;

use crate::plan::{Certainty, Reason, ReasonCode};
use crate::semantics::Program;
use crate::semantics::symbols::NameKind;
use crate::source::Language;
use crate::syntax::{NodeId, NodeKind};

/// The assumption on which a part of the program depends: its first type parameter, or type of a variable, that is not
/// known to be arithmetic.
pub(in crate::transforms) fn assumption(cx: &Program<'_>, body: NodeId) -> Option<Reason> {
    let symbols = cx.symbols();
    let tree = cx.tree;
    if tree.language() != Language::Cpp
        || !tree.ancestors(body).any(|node| tree.kind(node) == NodeKind::TemplateDeclaration)
    {
        return None;
    }
    let mut seen = BTreeSet::new();
    let names = tree
        .descendants(body)
        .filter(|node| matches!(tree.kind(*node), NodeKind::Identifier | NodeKind::TypeIdentifier));
    names.into_iter().find_map(|node| {
        let span = tree.span(node);
        let name = cx.file.show(span).into_owned();
        let found = symbols.lookup(&name, span.start)?;
        if !matches!(found.kind, NameKind::Variable | NameKind::TemplateParameter) || !seen.insert(name) {
            return None;
        }
        let parameter = found.ty.as_type_parameter()?;
        (!cx.stands_for_numbers(parameter, span.start)).then(|| reason(parameter, span))
    })
}

/// The assumption that a parameter is an arithmetic type.
pub(in crate::transforms) fn reason(parameter: &str, span: crate::source::Span) -> Reason {
    let message = format!("assumes that `{parameter}` is an arithmetic type wherever this template is used");
    let mut reason = Reason::new(ReasonCode::ArithmeticParameter, span, message);
    reason.certainty = Certainty::Assumed;
    reason
}
