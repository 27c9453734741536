//! Both forms of a region under a host `if`, for lengths that are known at run time only.
//!
//! The condition asks variables alone, by comparing each with a constant, or the last of a product with a constant divided by
//! the others, which are above zero: nothing in it can overflow, trap or have an effect, and each is a number that the region
//! gets a copy of anyway. Either branch gives the original's results, so the condition need
//! only be right about speed.

use crate::edit::directive_writer::{Layout, indent_of, line_start};
use crate::edit::{Edit, EditSet};
use crate::plan::{Reason, ReasonCode};
use crate::region::target::{Chain, TargetRegion, target_regions};
use crate::source::pragma_scan::mask;
use crate::source::{Language, SourceFile, Span};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, NodeId};
use crate::transforms::Context;
use crate::transforms::split_target::names::{Class, Kind, Names};
use crate::transforms::split_target::work::{Threshold, thresholds};
use crate::transforms::split_target::write::Split;

/// When the split form runs.
pub(super) struct Condition {
    /// The expression: `n >= 610`.
    pub text: String,
}

/// The condition that chooses between both forms; none where one form is the faster whatever the lengths are.
///
/// # Errors
/// A note why it hangs on the lengths, but both forms cannot be written.
pub(super) fn condition(names: &Names<'_>, split: &Split<'_>) -> Result<Option<Condition>, Reason> {
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
    if let Some((span, what)) = cannot_stand_twice(names, split.region) {
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
fn is_readable(names: &Names<'_>, split: &Split<'_>, name: &str) -> bool {
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

/// What would change its meaning, or no longer compile, if it stood twice in the function.
fn cannot_stand_twice(names: &Names<'_>, region: &TargetRegion) -> Option<(Span, &'static str)> {
    let cx = names.cx;
    let first = region.chain.constructs.first().copied()?;
    let Some(body) = cx.constructs.construct(first).body else {
        return Some((region.extent, "it has no statement"));
    };
    for node in cx.tree.descendants(body) {
        let span = cx.tree.span(node);
        let what = match cx.tree.kind(node) {
            "labeled_statement" => "a label is unique in a function",
            "storage_class_specifier" if cx.file.bytes(span) == b"static" => "each copy would have this variable",
            "lambda_expression" => "each copy would have a closure type of its own",
            "gnu_asm_expression" => "a label in it would be defined twice",
            kind if kind.starts_with("preproc") && kind != "preproc_call" => "a preprocessor line stands in it",
            _ => continue,
        };
        return Some((span, what));
    }
    let words = ["__COUNTER__", "__LINE__", "__INCLUDE_LEVEL__"];
    let counted = |text: &str| words.iter().any(|word| text.contains(word));
    let text = cx.file.show(region.extent);
    let counts = counted(&text) || names.uses_macro_with(region.extent, &counted);
    if counts {
        return Some((region.extent, "a macro in it tells its place"));
    }
    let start = line_start(&cx.file.text, region.extent.start);
    let before = cx.file.bytes(Span::new(start, region.extent.start));
    if !before.iter().all(u8::is_ascii_whitespace) {
        return Some((region.extent, "its directive does not stand alone on its line"));
    }
    let is_text = std::str::from_utf8(cx.file.bytes(region.extent)).is_ok();
    (!is_text).then_some((region.extent, "its text is not UTF-8"))
}

/// One edit that writes both forms; none where the split form's edits do not lie within the region.
pub(super) fn write(split: &Split<'_>, edits: &[Edit], condition: &Condition) -> Option<Edit> {
    let (cx, file) = (split.cx, split.cx.file);
    let first = *split.shape.outer.first()?;
    let body = cx.constructs.construct(first).body?;
    let layout = Layout::of(file, cx.constructs.directive(first));
    let whole = Span::new(line_start(&file.text, split.region.extent.start), split.region.extent.end);
    let original = std::str::from_utf8(file.bytes(whole)).ok()?;
    let moved: Option<Vec<Edit>> = edits.iter().map(|edit| within(whole, edit)).collect();
    let text = EditSet::new(moved?).ok()?.apply(original.as_bytes());
    let text = String::from_utf8(text).ok()?;

    let indent = statement_indent(file, cx.tree.span(body).start, &layout.indent);
    let block = !split.is_in_block(first);
    let level =
        if can_be_indented(cx, split.region) { one_level(cx, body, &indent, &layout.level) } else { String::new() };
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

fn within(whole: Span, edit: &Edit) -> Option<Edit> {
    let start = edit.span.start.checked_sub(whole.start)?;
    let end = edit.span.end.checked_sub(whole.start)?;
    (edit.span.end <= whole.end).then(|| Edit { span: Span::new(start, end), text: edit.text.clone() })
}

fn comment(language: Language, widens: bool) -> String {
    let now = if widens { "the one team" } else { "the one kernel" };
    let text = format!("Shorter loops are faster in {now}: each kernel is a launch (estimate for an NVIDIA H200).");
    if language == Language::C { format!("/* {text} */") } else { format!("// {text}") }
}

/// The blanks before the region's statement; those before its directive where it stands on the same line as other text.
fn statement_indent(file: &SourceFile, body: usize, directive: &str) -> String {
    let start = line_start(&file.text, body);
    let blank = file.bytes(Span::new(start, body)).iter().all(u8::is_ascii_whitespace);
    if blank { indent_of(file, body) } else { directive.to_owned() }
}

/// What the region's own block is indented by, or the block around it, where they tell.
fn one_level(cx: &Context<'_>, body: NodeId, indent: &str, otherwise: &str) -> String {
    let indent_at = |node| statement_indent(cx.file, cx.tree.span(node).start, indent);
    let inner = cx.tree.named_children(body).next().filter(|_| cx.tree.kind(body) == "compound_statement");
    let inside = inner.map(indent_at).and_then(|inner| inner.strip_prefix(indent).map(str::to_owned));
    let around = cx.tree.parent(body).map(indent_at);
    let outside = || around.and_then(|outer| indent.strip_prefix(&outer).map(str::to_owned));
    let told = |level: &String| !level.is_empty();
    inside.filter(told).or_else(|| outside().filter(told)).unwrap_or_else(|| otherwise.to_owned())
}

/// May blanks be put before the region's lines? Not where a string may run over the end of a line.
fn can_be_indented(cx: &Context<'_>, region: &TargetRegion) -> bool {
    let text = cx.file.bytes(region.extent);
    let masked = mask(&cx.file.text, &cx.scan.masked);
    let code = masked.get(region.extent.start..region.extent.end).unwrap_or_default();
    let spliced = code.windows(2).any(|pair| pair == b"\\\n" || pair == b"\\\r");
    !spliced && !text.windows(2).any(|pair| pair == b"R\"")
}

/// Puts blanks before each line with text; preprocessor lines in the first column stay there.
fn indented(text: &str, level: &str) -> String {
    let line = |line: &str| {
        let stays = line.trim().is_empty() || line.starts_with('#');
        if stays { line.to_owned() } else { format!("{level}{line}") }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Does the region stand in one branch of an `if` whose other branch holds the same loops, each a kernel on the full grid?
/// Serial statements beside them may have changed: their declarations move.
pub(super) fn is_versioned(cx: &Context<'_>, region: &TargetRegion) -> bool {
    let first = region.chain.constructs.first().copied();
    let Some(body) = first.and_then(|id| cx.constructs.construct(id).body) else { return false };
    let Some(other) = other_branch(cx, body).map(|other| cx.tree.span(other)) else { return false };
    if region.chain.is_loop() {
        return false;
    }
    let regions = target_regions(cx.tree, cx.constructs);
    let grids = regions.iter().filter(|region| {
        other.contains(region.extent) && region.chain.is_loop() && region.chain.leaves.contains(&Leaf::Teams)
    });
    let loop_of = |chain: &Chain| code(cx, cx.constructs.construct(chain.innermost()).body_span);
    let own: Vec<Vec<u8>> = region.loops().map(loop_of).collect();
    !own.is_empty() && own == grids.map(|region| loop_of(&region.chain)).collect::<Vec<_>>()
}

/// The other branch of the `if` that has a statement for one of its branches.
fn other_branch(cx: &Context<'_>, statement: NodeId) -> Option<NodeId> {
    let tree = cx.tree;
    let mut at = statement;
    loop {
        let parent = tree.parent(at)?;
        match tree.kind(parent) {
            "compound_statement" if tree.named_children(parent).count() == 1 => at = parent,
            "else_clause" => return tree.child(tree.parent(parent)?, "consequence"),
            "if_statement" => {
                let otherwise = tree.child(parent, "alternative").filter(|other| *other != at)?;
                return tree.named_children(otherwise).last();
            }
            _ => return None,
        }
    }
}

/// The text of a span without directives, comments, braces and blanks.
fn code(cx: &Context<'_>, span: Span) -> Vec<u8> {
    let masked = mask(&cx.file.text, &cx.scan.masked);
    let node = cx.tree.covering(span);
    let comments: Vec<Span> = cx
        .tree
        .descendants(node)
        .filter(|node| cx.tree.kind(*node) == "comment")
        .map(|node| cx.tree.span(node))
        .collect();
    let without = mask(&masked, &comments);
    let bytes = without.get(span.start..span.end).unwrap_or_default().iter().copied();
    bytes.filter(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'{' | b'}')).collect()
}
