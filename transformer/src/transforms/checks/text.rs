//! What makes the text of a region uncertain, or leaves no place for directives.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::{ConstructId, Doubt};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::source::{Span, Spelling, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, Directive};

/// Why the text of the region cannot be trusted: syntax errors, conditionals, macros, unknown words.
pub(in crate::transforms) fn text_reasons(cx: &Program<'_>, region: &TargetRegion) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let chains = region.loops().chain(std::iter::once(&region.chain));
    let rewritten: Vec<ConstructId> = chains.flat_map(|chain| chain.constructs.iter().copied()).collect();
    for (construct, directive) in cx.constructs.within(region.extent) {
        reasons.extend(doubt_reason(construct.doubt.as_ref(), directive));
        reasons.extend(directive_reasons(cx, directive));
        if rewritten.iter().any(|id| cx.constructs.construct(*id).directive == construct.directive)
            && directive.spelling != Spelling::Pragma
            && construct.doubt.is_none()
        {
            let message = "only `#pragma` directives are rewritten";
            reasons.push(Reason::new(ReasonCode::Spelling, directive.span, message));
        }
    }
    reasons.extend(other_pragma(cx, region));
    reasons
}

/// The same, for a pass that writes nothing in the body.
pub(in crate::transforms) fn reasons_around_body(cx: &Program<'_>, region: &TargetRegion, body: Span) -> Vec<Reason> {
    let mut reasons = text_reasons(cx, region);
    let is_inside = |reason: &Reason| reason.code == ReasonCode::OtherConstruct && body.contains(reason.span);
    let before = reasons.len();
    reasons.retain(|reason| !is_inside(reason));
    if reasons.len() < before {
        let head = TargetRegion { extent: Span::new(region.extent.start, body.start), ..region.clone() };
        reasons.extend(other_pragma(cx, &head));
    }
    reasons
}

/// The reasons against a change that only writes clauses of the region's only directive. The directive may then stand
/// in a branch of an `#if` whose other branches have other directives for the same statement.
pub(in crate::transforms) fn clause_reasons(cx: &Program<'_>, region: &TargetRegion) -> Vec<Reason> {
    let [id] = region.chain.constructs.as_slice() else { return text_reasons(cx, region) };
    let construct = cx.constructs.construct(*id);
    let Some(Doubt::Alternative(_)) = construct.doubt else { return text_reasons(cx, region) };
    let directive = cx.constructs.directive(*id);
    let mut reasons = directive_reasons(cx, directive);
    if directive.spelling != Spelling::Pragma {
        reasons.push(Reason::new(ReasonCode::Spelling, directive.span, "only `#pragma` directives are rewritten"));
    }
    reasons.extend(text_reasons(cx, &TargetRegion { extent: construct.body_span, ..region.clone() }));
    reasons
}

/// A pragma of the compiler beside the directives: text that is written there could separate it from what it belongs
/// to. Nothing is written in the body of a loop that becomes a kernel.
fn other_pragma(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let first = cx.scan.masked.partition_point(|span| span.start < region.extent.start);
    let masked = cx.scan.masked.get(first..).unwrap_or_default().iter().copied();
    let mut inside = masked.take_while(|span| span.start < region.extent.end).filter(|span| {
        let text = cx.file.show(*span);
        let directives = &cx.constructs.directives;
        let next = directives.partition_point(|directive| directive.span.end <= span.start);
        let is_directive = directives.get(next).is_some_and(|directive| directive.span.overlaps(*span));
        !is_directive && words(&text).any(|word| matches!(word, "pragma" | "_Pragma" | "__pragma"))
    });
    let is_in_kernel = |span: Span| {
        cx.constructs.within(region.extent).any(|(construct, _)| {
            let is_loop =
                matches!(construct.leaves.last(), Some(Leaf::For | Leaf::Simd | Leaf::Loop | Leaf::Distribute));
            is_loop && construct.children.is_empty() && construct.body_span.contains(span)
        })
    };
    let span = inside.find(|span| !is_in_kernel(*span))?;
    let message = "this pragma is about what stands next to it, where something would be written";
    Some(Reason::new(ReasonCode::OtherConstruct, span, message))
}

fn doubt_reason(doubt: Option<&Doubt>, directive: &Directive) -> Option<Reason> {
    Some(match doubt? {
        Doubt::SyntaxError(span) => Reason::new(
            ReasonCode::SyntaxError,
            *span,
            "syntax error, or a macro that is no expression or statement, hides the structure here",
        ),
        Doubt::Conditional(span) | Doubt::Alternative(span) => cut(Some(directive), *span),
        Doubt::Macro(span) => Reason::new(ReasonCode::MacroDirective, *span, "a macro makes this directive"),
        Doubt::NoStatement => {
            Reason::new(ReasonCode::SyntaxError, directive.span, "there is no statement behind this directive")
        }
    })
}

/// A conditional of the preprocessor stands in a construct. The message is about the construct, since that is what is left alone.
pub(in crate::transforms) fn cut(directive: Option<&Directive>, conditional: Span) -> Reason {
    let code = ReasonCode::PreprocessorConditional;
    let message = "`#if` cuts through this construct: move it out, around all of the construct or into a function";
    match directive.map(|directive| directive.span).filter(|span| *span != conditional) {
        Some(span) => Reason::new(code, span, message).with_label(conditional, "the conditional"),
        None => Reason::new(code, conditional, message),
    }
}

fn directive_reasons(cx: &Program<'_>, directive: &Directive) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(problem) = directive.problems.first() {
        reasons.push(Reason::new(ReasonCode::UnknownClause, *problem, "syntax error in this directive"));
    } else if directive.spec.is_none() {
        let message = format!("`{}` is no directive of OpenMP 5.2", directive.name);
        reasons.push(Reason::new(ReasonCode::UnknownClause, directive.span, message));
    }
    if has_comma_behind_name(cx, directive) {
        let message = "clang 19 ignores what stands behind a comma there";
        reasons.push(Reason::new(ReasonCode::UnknownClause, directive.name_span, message));
    }
    for clause in directive.misplaced_clauses().filter(|clause| clause.name != ClauseName::Unknown) {
        let message = format!("`{}` takes no clause `{}`", directive.name, cx.file.show(clause.name_span));
        reasons.push(Reason::new(ReasonCode::UnknownClause, clause.span, message));
    }
    for clause in directive.clauses.iter().filter(|clause| clause.name == ClauseName::Unknown) {
        let message = format!("`{}` is no clause of OpenMP 5.2, and no macro in sight", cx.file.show(clause.name_span));
        reasons.push(Reason::new(ReasonCode::UnknownClause, clause.span, message).unseen());
    }
    reasons
}

/// A directive or another `#` line, or one that is spelled `_Pragma`, also before a loop that is the whole body of
/// another one.
pub(in crate::transforms) fn directive_in(cx: &Program<'_>, span: Span) -> Option<Span> {
    let own = cx.constructs.within(span).next().map(|(_, directive)| directive.span);
    let text = cx.file.bytes(span);
    let is_pragma =
        |line: &[u8]| line.trim_ascii_start().starts_with(b"#") || line.windows(7).any(|it| it == b"_Pragma");
    own.or_else(|| text.split(|byte| *byte == b'\n').any(is_pragma).then_some(span))
}

/// Stands a comma between the name and the first clause, as since OpenMP 5.1 it may?
fn has_comma_behind_name(cx: &Program<'_>, directive: &Directive) -> bool {
    let Some(first) = directive.clauses.first() else { return false };
    let text = cx.file.show(Span::new(directive.name_span.end, first.span.start.max(directive.name_span.end)));
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest.strip_prefix("/*").and_then(|comment| comment.split_once("*/")) {
        rest = behind.trim_start();
    }
    rest.starts_with(',')
}
