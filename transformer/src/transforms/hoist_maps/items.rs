//! What a construct maps of one variable: its section, by which lengths, and whether it can stay at all.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::semantics::Kind;
use crate::semantics::effects::{HostEffects, Named, Storage, Touch};
use crate::semantics::symbols::{DeclaredType, Dimension};
use crate::source::Span;
use crate::syntax::host::parse_expression;
use crate::syntax::{ArraySection, HostTree, ListItem, NodeId, NodeKind};
use crate::transforms::checks::addresses;
use crate::transforms::hoist_maps::first_run::is_stable;
use crate::transforms::hoist_maps::reach::stays_below;
use crate::transforms::hoist_maps::templates::Template;

/// An array, or what a pointer leads to, as one construct maps it.
#[derive(Clone)]
pub(super) struct Item {
    pub named: Named,
    /// As it is written in a list: `a[0:n]`.
    pub text: String,
    /// The section as it is written, with the expressions in it.
    pub template: Template,
    /// The section without blanks, by which items are compared: `[0:n]`; empty for a whole array.
    pub section: String,
    /// The expressions of the section.
    pub expressions: Vec<Span>,
    /// The variables in them.
    pub lengths: Vec<Named>,
    /// The length of the first section.
    pub first_length: Option<Length>,
    /// The length of the only section of a pointer to numbers that starts at its first element.
    pub length: Option<Length>,
    pub to: bool,
    pub from: bool,
    /// Does a clause name it?
    pub is_explicit: bool,
    pub span: Span,
    /// Why it cannot be part of an environment, where that is certain.
    pub trouble: Option<&'static str>,
}

/// How many elements a section has.
#[derive(Clone)]
pub(super) struct Length {
    /// In C, as an operand.
    pub text: String,
    /// The same, with the expressions in it.
    pub template: Template,
    /// The expressions that it is computed from, where the construct is run.
    pub expressions: Vec<Span>,
}

impl Length {
    pub(super) fn of(cx: &Context<'_>, expression: Span) -> Self {
        let text = addresses::length(cx, expression);
        Self { text, template: Template::of_value(expression), expressions: vec![expression] }
    }

    /// Has it the same value wherever in the environment it is evaluated?
    pub(super) fn is_stable(&self, cx: &Context<'_>, host: &HostEffects) -> bool {
        self.expressions.iter().all(|span| cx.constant(*span).is_some() || is_stable(cx, *span, host))
    }
}

impl Item {
    /// When what host code accesses is certainly part of the item, as long as the pointer and the length keep their values: empty where it
    /// is in any case.
    pub(super) fn certainly_holds(&self, cx: &Context<'_>, touch: &Touch) -> Option<Option<String>> {
        let (Storage::Variable(named) | Storage::Behind(named)) = &touch.storage else { return None };
        (named.id == self.named.id && self.is_explicit && self.trouble.is_none()).then_some(())?;
        if self.section.is_empty() && matches!(touch.storage, Storage::Variable(_)) {
            return Some(None);
        }
        (self.section.starts_with("[:") && self.holds_whole_rows(cx)).then_some(())?;
        let Length { text, expressions, .. } = self.first_length.as_ref()?;
        let mut lengths = expressions.iter().filter(|length| Length::of(cx, **length).text == *text);
        lengths.find_map(|length| stays_below(cx, touch, *length))
    }

    /// Are the sections behind the first one all of the row that an element of the first dimension is?
    fn holds_whole_rows(&self, cx: &Context<'_>) -> bool {
        let ty = cx.declared_type(&self.named.name, self.named.at).map(|ty| ty.dereferenced());
        let dimensions = match &ty {
            Some(DeclaredType::Array { dimensions, .. }) => dimensions.as_slice(),
            _ => &[],
        };
        let lengths: Vec<&str> = self.section.trim_end_matches(']').split("][").skip(1).collect();
        let is_whole = |(length, dimension): (&&str, &Dimension)| {
            let is_it = |span: &&Span| length.strip_prefix(':') == Some(&normal(&on_one_line(cx.file, **span)));
            let own = self.expressions.iter().find(is_it).and_then(|span| cx.constant(*span));
            own.is_some() && own == dimension.value
        };
        lengths.len() == dimensions.len() && lengths.iter().zip(dimensions).all(is_whole)
    }
}

/// Is it a structure that is data alone, whose use runs no code of its own?
pub(super) fn is_object(cx: &Context<'_>, ty: &DeclaredType, at: usize) -> bool {
    matches!(ty, DeclaredType::Record { .. }) && cx.symbols().is_plain_record(ty, at)
}

/// Does an expression read variables and their members by `.` alone, following nothing to other storage?
pub(super) fn follows_nothing(cx: &Context<'_>, expression: Span) -> bool {
    let Some(tree) = parse_expression(cx.file, expression, cx.tree.language()) else { return false };
    tree.descendants(tree.root()).all(|node| {
        !matches!(
            tree.kind(node),
            NodeKind::PointerExpression
                | NodeKind::SubscriptExpression
                | NodeKind::CallExpression
                | NodeKind::MinusGreater
        )
    })
}

pub(super) fn is_array(ty: &DeclaredType) -> bool {
    ty.is_pointer() || matches!(ty, DeclaredType::Array { .. })
}

/// The text of sections, whose names mean what they mean at a place, as they are compared: nothing where they are all of an array with known
/// dimensions.
pub(super) fn compared(cx: &Context<'_>, named: &Named, sections: &str, at: usize) -> String {
    let sections = normal(sections);
    let ty = cx.declared_type(&named.name, named.at);
    let Some(DeclaredType::Array { dimensions, .. }) = &ty else { return sections };
    let lengths: Vec<&str> = sections.trim_start_matches('[').trim_end_matches(']').split("][").collect();
    let is_all = |(length, dimension): (&&str, &Dimension)| {
        let length = length.strip_prefix(':').and_then(|length| cx.symbols().constant(length, at));
        length.is_some() && length == dimension.value
    };
    let is_whole = !sections.is_empty()
        && lengths.len() <= dimensions.len()
        && lengths.iter().zip(dimensions).all(is_all)
        && dimensions.iter().all(|dimension| dimension.value.is_some());
    if is_whole { String::new() } else { sections }
}

/// A section without blanks, and without the zero that it may begin with.
pub(super) fn normal(section: &str) -> String {
    let text: String = section.split_whitespace().collect();
    text.replace("[0:", "[:")
}

pub(super) fn item_trouble(
    cx: &Context<'_>,
    item: &ListItem,
    named: &Named,
    ty: &DeclaredType,
) -> Option<&'static str> {
    let is_whole = matches!(ty, DeclaredType::Array { .. }) && item.sections.is_empty();
    let rows = match ty.dereferenced() {
        DeclaredType::Array { dimensions, .. } => dimensions.len(),
        _ => 0,
    };
    let has_sections = !item.sections.is_empty()
        && item.sections.len() <= 1 + rows
        && item
            .sections
            .iter()
            .all(|section| section.is_section && section.length.is_some() && section.stride.is_none());
    match (is_whole, has_sections) {
        (false, false) => Some("it is no plain section"),
        (false, true) if item.sections.iter().any(|section| chooses(cx, section)) => {
            Some("clang 19 fails on a data environment with a choice in a section")
        }
        _ => item_trouble_of_whole(cx, named),
    }
}

/// Is an expression of a section a choice, `?:`, or a condition of several parts?
fn chooses(cx: &Context<'_>, section: &ArraySection) -> bool {
    let is_choice = |tree: &HostTree, node: NodeId| match tree.kind(node) {
        NodeKind::ConditionalExpression => true,
        NodeKind::BinaryExpression => {
            matches!(
                tree.operator(node),
                Some(NodeKind::AmpersandAmpersand | NodeKind::BarBar | NodeKind::And | NodeKind::Or)
            )
        }
        _ => false,
    };
    let parsed = |span| parse_expression(cx.file, span, cx.tree.language());
    let expressions = [section.lower_bound, section.length].into_iter().flatten();
    expressions
        .into_iter()
        .any(|span| parsed(span).is_none_or(|tree| tree.descendants(tree.root()).any(|node| is_choice(&tree, node))))
}

pub(super) fn item_trouble_of_whole(cx: &Context<'_>, named: &Named) -> Option<&'static str> {
    if cx.kind(&named.name, named.at) == Kind::Volatile {
        return Some("it is volatile or atomic");
    }
    (cx.is_declare_target(&named.name) || cx.may_be_declared_for_device(&named.name, named.at))
        .then_some("it is on the device for the whole program")
}
