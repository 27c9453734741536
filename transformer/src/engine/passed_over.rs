//! Directives for which no pass finds a region. They are left alone, and the user is told.

use memchr::memmem;

use crate::plan::{Decision, Pass, Plan, Reason, ReasonCode};
use crate::region::construct::{Construct, Doubt};
use crate::semantics::Program;
use crate::source::{SourceFile, Span};
use crate::syntax::spec_table::Leaf;

/// The digraphs of brackets, which the grammars of the host do not know.
const DIGRAPHS: &[&[u8]] = &[b"<%", b"%>", b"<:", b":>"];

/// A refusal for each `target` directive without a statement that can be read, and for each that begins with a trigraph.
pub(super) fn refusals(context: &Program<'_>, pass: Pass) -> Vec<Plan> {
    let refused = |span: Span, reason: Reason| {
        let mut plan = Plan::undecided(pass, span, span, Decision::Refuse);
        plan.reasons.push(reason);
        plan
    };
    let bare = context
        .constructs
        .within(Span::new(0, context.file.text.len()))
        .filter(|(construct, _)| construct.leaves.first() == Some(&Leaf::Target) && construct.body.is_none());
    let bare = bare.map(|(construct, directive)| {
        refused(directive.span, Reason::new(code(construct), directive.span, message(context.file, construct)))
    });
    let trigraphs = trigraphs(&context.file.text).into_iter().map(|span| {
        let message = "a directive that begins with the trigraph `??=` is not read";
        refused(span, Reason::new(ReasonCode::Spelling, span, message))
    });
    bare.chain(trigraphs).collect()
}

fn code(construct: &Construct) -> ReasonCode {
    match construct.doubt {
        Some(Doubt::Conditional(_) | Doubt::Alternative(_)) => ReasonCode::PreprocessorConditional,
        Some(Doubt::Macro(_)) => ReasonCode::MacroDirective,
        _ => ReasonCode::SyntaxError,
    }
}

fn message(file: &SourceFile, construct: &Construct) -> &'static str {
    let behind = file.text.get(construct.body_span.start..).unwrap_or_default();
    let next = behind.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(behind.len());
    let next = behind.get(next..).unwrap_or_default();
    if DIGRAPHS.iter().any(|digraph| next.starts_with(digraph)) || next.starts_with(b"??") {
        "no statement that can be read stands behind this directive: digraphs and trigraphs are not read as brackets"
    } else {
        "no statement that can be read stands behind this directive"
    }
}

/// The lines `??=pragma omp .. target ..`. Whether they are directives depends on the compiler's flags.
pub(super) fn trigraphs(text: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    for at in memmem::find_iter(text, b"??=") {
        let start = text.get(..at).unwrap_or_default().iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        let start = start.map_or(0, |start| start + 1);
        let rest = text.get(at..).unwrap_or_default();
        let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = Span::new(at, at + length);
        let is_first = text.get(start..at).is_some_and(|before| before.iter().all(u8::is_ascii_whitespace));
        let words = String::from_utf8_lossy(line.of(text)).into_owned();
        let mut words = words.trim_start_matches("??=").split_whitespace();
        if is_first
            && words.next() == Some("pragma")
            && words.next() == Some("omp")
            && words.any(|word| word == "target")
        {
            found.push(line);
        }
    }
    found
}
