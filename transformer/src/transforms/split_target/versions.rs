//! Both forms of a region under a host `if`, for lengths that are known at run time only.
//!
//! The condition asks variables alone, by comparing each with a constant, or the last of a product with a constant divided by
//! the others, which are above zero: nothing in it can overflow, trap or have an effect, and each is a number that the region
//! gets a copy of anyway. Either branch gives the original's results, so the condition need
//! only be right about speed.

use crate::edit::Edit;
use crate::edit::directive_writer::Layout;
use crate::plan::{Reason, ReasonCode};
use crate::region::target::{Chain, TargetRegion, target_regions};
use crate::semantics::{Class, Kind, Program};
use crate::source::pragma_scan::mask;
use crate::source::{Language, Span};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, NodeKind};
use crate::transforms::split_target::work::{Threshold, thresholds};
use crate::transforms::split_target::write::Split;
use crate::transforms::two_forms::{self, Indents, indented};

/// When the split form runs.
pub(super) struct Condition {
    /// The expression: `n >= 610`.
    pub text: String,
}

/// The condition that chooses between both forms; none where one form is the faster whatever the lengths are.
///
/// # Errors
/// A note why it hangs on the lengths, but both forms cannot be written.
pub(super) fn condition(names: &Program<'_>, split: &Split<'_, '_>) -> Result<Option<Condition>, Reason> {
    // How much a loop loses that its teams shared hangs on two lengths at once.
    if split.shape.shared.is_some() {
        return Ok(None);
    }
    let thresholds = thresholds(names, split.region.extent, split.shape, split.kernels);
    let some_pay = thresholds.iter().any(|threshold| threshold.from.is_some());
    if !some_pay || thresholds.iter().any(|threshold| threshold.from.is_some_and(|from| from <= 1.0)) {
        return Ok(None);
    }
    let directive = split.region.extent.start;
    let note = |span, message: String| Reason::new(ReasonCode::NotVersioned, span, message);
    let first = split.region.chain.constructs.first();
    let obstacle = first.and_then(|first| two_forms::cannot_stand_twice(names, *first, split.region.extent));
    if let Some((span, what)) = obstacle {
        return Err(note(span, format!("the region cannot stand twice: {what}")));
    }
    let readable = |threshold: &&Threshold| {
        let mut types = threshold.variables().map(|name| names.integer_type(name, directive));
        let first = types.next();
        types.all(|other| Some(other) == first) && threshold.variables().all(|name| is_readable(names, split, name))
    };
    let terms: Vec<(bool, String)> = thresholds.iter().filter(readable).filter_map(term).collect();
    if terms.is_empty() {
        let all: Vec<String> = thresholds.iter().map(|threshold| format!("`{}`", threshold.name)).collect();
        let message = format!(
            "the length hangs on {}: no integers of 32 bits, and of one type, that the host can read before the region",
            all.join(", ")
        );
        return Err(note(Span::new(directive, directive + 1), message));
    }
    let several = terms.len() > 1;
    let written = |(product, text)| if product && several { format!("({text})") } else { text };
    Ok(Some(Condition { text: terms.into_iter().map(written).collect::<Vec<_>>().join(" || ") }))
}

/// The comparison, and whether it is one of a product: for `a * b * c >= 390` it is `a > 0 && b > 0 && c > 389 / a / b`, which
/// means the same and cannot overflow.
fn term(threshold: &Threshold) -> Option<(bool, String)> {
    let from = threshold.from?;
    let variables: Vec<&str> = threshold.variables().collect();
    let (last, others) = variables.split_last()?;
    if others.is_empty() {
        return Some((false, format!("{last} >= {from:.0}")));
    }
    let positive: String = others.iter().map(|name| format!("{name} > 0 && ")).collect();
    let divided: String = others.iter().map(|name| format!(" / {name}")).collect();
    Some((true, format!("{positive}{last} > {:.0}{divided}", from - 1.0)))
}

/// Is it an integer of at least 32 bits that the region gets a copy of, the host's value?
fn is_readable(names: &Program<'_>, split: &Split<'_, '_>, name: &str) -> bool {
    let cx = split.cx;
    let at = split.region.extent.start;
    let is_number = matches!(names.kind(name, at), Kind::Scalar { wide: false, class: Class::Integer, builtin: true });
    let mut clauses = split.shape.outer.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let on_device = clauses.any(|clause| {
        let listed = clause.items().iter().any(|item| item.base.as_deref() == Some(name));
        clause.name == ClauseName::Defaultmap || (listed && clause.name != ClauseName::Firstprivate)
    });
    is_number
        && !on_device
        && names.holds_32_bits(name, at)
        && !names.is_declare_target(name)
        && !names.may_be_declared_for_device(name, at)
        && !names.is_threadprivate(name)
}

/// One edit that writes both forms; none where the split form's edits do not lie within the region.
pub(super) fn write(split: &Split<'_, '_>, edits: &[Edit], condition: &Condition) -> Option<Edit> {
    let (cx, file) = (split.cx, split.cx.file);
    let first = *split.shape.outer.first()?;
    let body = cx.constructs.construct(first).body?;
    let layout = Layout::of(file, cx.constructs.directive(first));
    let whole = two_forms::lines_of(file, split.region.extent);
    let original = std::str::from_utf8(file.bytes(whole)).ok()?;
    let text = two_forms::edited(file, whole, edits)?;
    let Indents { indent, level } = Indents::of(cx, split.region.extent, body, &layout);
    let block = !split.is_in_block(first);
    let newline = layout.newline;
    let (open, outer) = if block {
        (format!("{indent}{{{newline}"), format!("{indent}{level}"))
    } else {
        (String::new(), indent.clone())
    };
    let inside = |text: &str| indented(text, &if block { level.repeat(2) } else { level.clone() });
    let comment = comment(cx.tree.language(), split.shape.form.widens());
    let close = if block { format!("{newline}{indent}}}") } else { String::new() };
    let text = format!(
        "{open}{outer}{comment}{newline}{outer}if ({}) {{{newline}{}{newline}{outer}}} else {{{newline}{}{newline}{outer}}}{close}",
        condition.text,
        inside(&text),
        inside(original),
    );
    Some(Edit { span: whole, text })
}

fn comment(language: Language, widens: bool) -> String {
    let now = if widens { "the one team" } else { "the one kernel" };
    let text = format!("Shorter loops are faster in {now}: each kernel is a launch (estimate for an NVIDIA H200).");
    if language == Language::C { format!("/* {text} */") } else { format!("// {text}") }
}

/// Does the region stand in one branch of an `if` whose other branch holds the same loops, each a kernel on the full grid?
/// Other passes may have changed that branch since: a loop cut into tiles stands there twice, once as it was, and the heads of
/// collapsed loops may have changed places. Serial statements beside them may have changed too: their declarations move.
pub(super) fn is_versioned(cx: &Program<'_>, region: &TargetRegion) -> bool {
    let first = region.chain.constructs.first().copied();
    let Some(body) = first.and_then(|id| cx.constructs.construct(id).body) else { return false };
    let Some(other) = two_forms::other_branch(cx, body).map(|other| cx.tree.span(other)) else { return false };
    let is_grid = |chain: &Chain| {
        let has_threads = chain.leaves.iter().any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Loop));
        chain.is_loop() && chain.leaves.contains(&Leaf::Teams) && has_threads
    };
    if is_grid(&region.chain) {
        return false;
    }
    let regions = target_regions(cx.tree, cx.constructs);
    let grids = regions.iter().filter(|region| other.contains(region.extent) && is_grid(&region.chain));
    let loop_of = |chain: &Chain| sorted_code(cx, cx.constructs.construct(chain.innermost()).body_span);
    let mut grids = grids.map(|region| loop_of(&region.chain));
    // A loop that teams share, each with one thread, is all that its region has.
    let whole = region.chain.is_loop().then_some(&region.chain);
    let own: Vec<Vec<u8>> = whole.into_iter().chain(region.loops()).map(loop_of).collect();
    !own.is_empty() && own.iter().all(|own| grids.any(|grid| grid == *own))
}

/// The bytes of a span without directives, comments, braces and blanks, in an order that is the same wherever its parts stand.
fn sorted_code(cx: &Program<'_>, span: Span) -> Vec<u8> {
    let mut code = code(cx, span);
    code.sort_unstable();
    code
}

/// The text of a span without directives, comments, braces and blanks.
fn code(cx: &Program<'_>, span: Span) -> Vec<u8> {
    let masked = mask(&cx.file.text, &cx.scan.masked);
    let node = cx.tree.covering(span);
    let comments: Vec<Span> = cx
        .tree
        .descendants(node)
        .filter(|node| cx.tree.kind(*node) == NodeKind::Comment)
        .map(|node| cx.tree.span(node))
        .collect();
    let without = mask(&masked, &comments);
    let bytes = without.get(span.start..span.end).unwrap_or_default().iter().copied();
    bytes.filter(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'{' | b'}')).collect()
}
