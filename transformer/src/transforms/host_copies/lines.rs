//! The lines of the output, and the two forms of a construct that they make up.

use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, WIDTH};
use crate::region::construct::ConstructId;
use crate::source::{Language, Span};
use crate::syntax::NodeId;
use crate::transforms::two_forms::{self, Indents, indented};

/// A line of the output, or several lines of the original.
pub(in crate::transforms) enum Line {
    /// A statement or a part of one, at this depth in the new blocks.
    Code(usize, String),
    /// `if` with terms that must all hold.
    Condition(usize, Vec<String>),
    /// A directive: its name and clauses.
    Directive(usize, String, Vec<String>),
    /// Lines of the original with their own indentation.
    Original(usize, String),
}

impl Line {
    fn write(self, layout: &Layout, indents: &Indents) -> String {
        let at = |depth: usize| format!("{}{}", indents.indent, indents.level.repeat(depth));
        match self {
            Self::Code(depth, text) => format!("{}{text}", at(depth)),
            Self::Condition(depth, terms) => {
                let own = at(depth);
                let text = format!("{own}if ({}) {{", terms.join(" && "));
                if text.len() <= WIDTH {
                    text
                } else {
                    text.replace(" && ", &format!(" &&{}{own}    ", layout.newline))
                }
            }
            Self::Directive(depth, name, clauses) => {
                // Directives that are not indented like statements keep their column.
                let indent = if layout.indent == indents.indent { at(depth) } else { layout.indent.clone() };
                format!("{indent}{}", layout.indented(indent.clone()).write(&name, &clauses))
            }
            Self::Original(depth, text) => indented(&text, &indents.level.repeat(depth)),
        }
    }
}

/// A construct that is written in two forms: with copies by threads of the host, and as in the original.
pub(in crate::transforms) struct Form {
    pub construct: ConstructId,
    pub extent: Span,
    /// What a comment in front says of the first form.
    pub told: &'static str,
    /// The constants that it needs.
    pub constants: Vec<String>,
    /// The conditions under which that form is right and pays. Empty if it always is.
    pub condition: Vec<String>,
}

impl Form {
    /// The depth of that form's lines in the new blocks.
    pub(in crate::transforms) fn depth(&self) -> usize {
        if self.condition.is_empty() { 1 } else { 2 }
    }

    /// The edit, from the lines of that form.
    pub(in crate::transforms) fn write(self, cx: &Context<'_>, first: Vec<Line>) -> Option<Edit> {
        let whole = two_forms::lines_of(cx.file, self.extent);
        let original = std::str::from_utf8(cx.file.bytes(whole)).ok()?;
        let sizes = cx.profile.map_or("NVIDIA H200", |device| device.title.as_str());
        let text = format!("{} (sizes: {sizes}).", self.told);
        let mut lines = vec![Line::Code(0, "{".to_owned()), Line::Code(1, comment(cx, &text))];
        if !self.constants.is_empty() {
            lines.push(Line::Code(1, format!("enum {{ {} }};", self.constants.join(", "))));
        }
        let has_condition = !self.condition.is_empty();
        if has_condition {
            lines.push(Line::Condition(1, self.condition));
        }
        lines.extend(first);
        if has_condition {
            lines.push(Line::Code(1, "} else {".to_owned()));
            lines.push(Line::Original(2, original.to_owned()));
            lines.push(Line::Code(1, "}".to_owned()));
        }
        lines.push(Line::Code(0, "}".to_owned()));
        Some(Edit { span: whole, text: self::text(cx, self.construct, self.extent, lines)? })
    }
}

/// A comment of one line in the file's language.
pub(in crate::transforms) fn comment(cx: &Context<'_>, text: &str) -> String {
    if cx.tree.language() == Language::C { format!("/* {text} */") } else { format!("// {text}") }
}

/// Lines as text, in the style of the construct that they replace.
pub(in crate::transforms) fn text(
    cx: &Context<'_>,
    construct: ConstructId,
    extent: Span,
    lines: Vec<Line>,
) -> Option<String> {
    text_at(cx, construct, (extent, cx.constructs.construct(construct).body?), lines)
}

/// Lines as text that replaces an extent which begins with this statement, in the style of a construct in it.
pub(in crate::transforms) fn text_at(
    cx: &Context<'_>,
    construct: ConstructId,
    (extent, first): (Span, NodeId),
    lines: Vec<Line>,
) -> Option<String> {
    let layout = Layout::of(cx.file, cx.constructs.directive(construct));
    let indents = Indents::of(cx, extent, first, &layout);
    let written: Vec<String> = lines.into_iter().map(|line| line.write(&layout, &indents)).collect();
    Some(written.join(layout.newline))
}

/// `map` clauses, one for each map type.
#[derive(Default)]
pub(in crate::transforms) struct Maps(Vec<(String, Vec<String>)>);

impl Maps {
    pub(in crate::transforms) fn add(&mut self, map_type: &str, item: String) {
        match self.0.iter_mut().find(|(known, _)| known == map_type) {
            Some((_, items)) => items.push(item),
            None => self.0.push((map_type.to_owned(), vec![item])),
        }
    }

    pub(in crate::transforms) fn clauses(self) -> Vec<String> {
        self.0.into_iter().map(|(map_type, items)| format!("map({map_type}: {})", items.join(", "))).collect()
    }
}
