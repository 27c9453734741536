//! What in a loop asks for its team or its threads, or may do so in code that is not in sight.

use crate::plan::{Certainty, Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::semantics::calls::Calls;
use crate::semantics::is_standard_constant;
use crate::semantics::symbols::{DeclaredType, NameKind, Place, Symbols};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Language, Span, words};
use crate::syntax::{NodeKind, TypeName};

/// The calls in the loop whose results may depend on the team: queries, or if there are none, the first function that
/// may have some.
pub(super) fn team_queries(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let body = cx.constructs.construct(region.chain.innermost()).body?;
    let uses = uses_below(cx.file, cx.tree, body);
    let is_cpp = cx.tree.language() == Language::Cpp;
    let reasons = uses.iter().filter_map(|used| {
        let (symbols, calls) = (cx.symbols(), cx.calls());
        let is_macro = || symbols.macro_definition(&used.name, used.span.start).is_some();
        if may_call(cx, used) && (used.role == Role::Callee || is_macro()) {
            return team_query(symbols, calls, used);
        }
        let is_known = |used: &Use| {
            used.name == "this"
                || symbols.lookup(&used.name, used.span.start).is_some()
                || is_standard_constant(&used.name)
        };
        match is_known(used) {
            true if is_cpp => class_query(symbols, calls, used),
            true => None,
            false => Some(assumed(used.span, format!("`{}`, which is declared nowhere in sight,", used.name))),
        }
    });
    let types = cx.tree.descendants(body).filter(|_| is_cpp).filter_map(|node| {
        let (symbols, calls) = (cx.symbols(), cx.calls());
        let ty = TypeName::of(cx.tree, node)?.ty()?;
        let is_own = matches!(cx.tree.kind(ty), NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier);
        let span = cx.tree.span(ty);
        let name = cx.file.show(span).split_whitespace().collect::<String>();
        let found = if is_own { DeclaredType::Void } else { symbols.type_named(&name, span.start) };
        class_reason(symbols, calls, &found, &name, span)
    });
    reasons.chain(types).min_by_key(|reason| reason.certainty)
}

/// Is it called, or may it be a macro that calls something?
fn may_call(cx: &Program<'_>, used: &Use) -> bool {
    let is_defined = || cx.scan.definitions.iter().any(|definition| *cx.file.show(definition.name) == *used.name);
    used.role == Role::Callee || !cx.compilation.headers.is_empty() || cx.compilation.facts.is_some() || is_defined()
}

/// In C++: a query that the operators and functions of a variable's class may make.
fn class_query(symbols: &Symbols<'_>, calls: &Calls<'_>, used: &Use) -> Option<Reason> {
    let found = symbols.lookup(&used.name, used.span.start);
    if used.name == "this" || found.is_none() {
        let message = || assumed(used.span, "a function of the object".to_owned());
        return (used.role == Role::MethodCall).then(message);
    }
    let found = found.filter(|found| found.kind == NameKind::Variable && found.ty != DeclaredType::Auto)?;
    class_reason(symbols, calls, &found.ty, &used.name, used.span)
}

/// A query that the functions of a class may make, for a name's type.
fn class_reason(symbols: &Symbols<'_>, calls: &Calls<'_>, ty: &DeclaredType, name: &str, span: Span) -> Option<Reason> {
    if !ty.is_known() {
        return Some(assumed(span, format!("a function of the class of `{name}`")));
    }
    let class = ty.class().filter(|class| !is_standard_class(symbols, class, span))?;
    let effects = calls.class_effects(symbols, class, Place { header: None, span });
    if effects.openmp.is_some() {
        let message = format!("a function of the class of `{name}` reaches an OpenMP construct or query");
        return Some(Reason::new(ReasonCode::TeamDependent, span, message));
    }
    (!effects.known).then(|| assumed(span, format!("a function of the class of `{name}`")))
}

/// A class of the standard library, of numbers if it is a template: it makes no query.
fn is_standard_class(symbols: &Symbols<'_>, class: &DeclaredType, span: Span) -> bool {
    let DeclaredType::Record { name, .. } = class else { return false };
    let Some(rest) = name.strip_prefix("std::") else { return false };
    let is_number = |word: &str| symbols.type_written(None, word, span.start).number().is_some();
    let arguments = rest.split_once('<').map_or("", |(_, arguments)| arguments);
    let mut named = words(arguments);
    named.all(|word| {
        matches!(word, "const" | "std") || is_number(word) || word.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn team_query(symbols: &Symbols<'_>, calls: &Calls<'_>, used: &Use) -> Option<Reason> {
    // A conversion to a template parameter calls functions of that parameter's class.
    if symbols.lookup(&used.name, used.span.start).is_some_and(|found| found.kind == NameKind::TemplateParameter) {
        return None;
    }
    let effects = calls.effects(symbols, &used.name, used.span.start);
    if effects.openmp.is_some() {
        let message = format!("`{}` reaches an OpenMP construct or query", used.name);
        return Some(Reason::new(ReasonCode::TeamDependent, used.span, message));
    }
    let (name, _) = effects.unknown_callee?;
    Some(assumed(used.span, format!("`{name}`")))
}

/// The assumption that something does not depend on the team.
fn assumed(span: Span, what: String) -> Reason {
    let mut reason =
        Reason::new(ReasonCode::NoTeamQuery, span, format!("assumes that {what} does not ask for its team"));
    reason.certainty = Certainty::Assumed;
    reason
}
