//! Writes both forms of a region, the split one and the original, under a host `if`.

use crate::edit::Edit;
use crate::edit::directive_writer::Layout;
use crate::source::Language;
use crate::transforms::split_target::facts::cost::condition::Condition;
use crate::transforms::split_target::write::Output;
use crate::transforms::two_forms::{self, Indents, indented};

/// One edit that writes both forms. `None` if the split form's edits do not lie within the region.
pub(crate) fn write(output: &Output<'_, '_>, edits: &[Edit], condition: &Condition) -> Option<Edit> {
    let (cx, file) = (output.cx, output.cx.file);
    let first = *output.shape.outer.first()?;
    let body = cx.constructs.construct(first).body?;
    let layout = Layout::of(file, cx.constructs.directive(first));
    let whole = two_forms::lines_of(file, output.region.extent);
    let original = std::str::from_utf8(file.bytes(whole)).ok()?;
    let text = two_forms::edited(file, whole, edits)?;
    let Indents { indent, level } = Indents::of(cx, output.region.extent, body, &layout);
    let block = !output.is_in_block(first);
    let newline = layout.newline;
    let (open, outer) = if block {
        (format!("{indent}{{{newline}"), format!("{indent}{level}"))
    } else {
        (String::new(), indent.clone())
    };
    let inside = |text: &str| indented(text, &if block { level.repeat(2) } else { level.clone() });
    let comment = comment(cx.tree.language(), output.shape.form.widens());
    let close = if block { format!("{newline}{indent}}}") } else { String::new() };
    let text = format!(
        "{open}{outer}{comment}{newline}{outer}if ({condition}) {{{newline}{}{newline}{outer}}} else {{{newline}{}{newline}{outer}}}{close}",
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
