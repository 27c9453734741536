//! A result that teams find part by part, and how their parts become the whole.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::edit::Edit;
use crate::semantics::Integer;
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::Number;
use crate::syntax::numbers::Format;
use crate::transforms::checks;

/// How two values become one, where one atomic update can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transforms) enum Combiner {
    Plus,
    And,
    Or,
    ExclusiveOr,
    Min,
    Max,
}

impl Combiner {
    /// The one that a `reduction` clause names.
    pub(in crate::transforms) fn of(operator: &str) -> Option<Self> {
        Some(match operator {
            "+" => Self::Plus,
            "&" => Self::And,
            "|" => Self::Or,
            "^" => Self::ExclusiveOr,
            "min" => Self::Min,
            "max" => Self::Max,
            _ => return None,
        })
    }

    /// As a `reduction` clause names it.
    pub(super) fn clause(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::And => "&",
            Self::Or => "|",
            Self::ExclusiveOr => "^",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// What combines with each value of a type to that value, as OpenMP gives it (5.2, table 5.3): for numbers of floating-point types clang begins with the
    /// largest finite one as well.
    fn neutral(self, number: &Number, ty: &str) -> Option<String> {
        let integer = number.integer();
        let all_bits = || format!("~({ty})0");
        let text = match (self, number, integer) {
            (Self::Plus | Self::Or | Self::ExclusiveOr, ..) => "0",
            (Self::And | Self::Min, _, Some(Integer { signed: false, .. })) => return Some(all_bits()),
            (Self::And, ..) => "-1",
            (Self::Max, _, Some(Integer { signed: false, .. })) => "0",
            (Self::Min, _, Some(Integer { bits: 32, .. })) => "2147483647",
            (Self::Max, _, Some(Integer { bits: 32, .. })) => "-2147483647 - 1",
            (Self::Min, _, Some(Integer { bits: 64, .. })) => "9223372036854775807",
            (Self::Max, _, Some(Integer { bits: 64, .. })) => "-9223372036854775807 - 1",
            (Self::Min, Number::Floating(Format::Single), _) => "3.40282347e38f",
            (Self::Max, Number::Floating(Format::Single), _) => "-3.40282347e38f",
            (Self::Min, Number::Floating(Format::Double), _) => "1.7976931348623157e308",
            (Self::Max, Number::Floating(Format::Double), _) => "-1.7976931348623157e308",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// The clause of the `atomic` directive, and the statement that combines a team's value with the whole.
    pub(super) fn update(self, whole: &str, part: &str) -> (Option<&'static str>, String) {
        let assigned = |operator: char| (None, format!("{whole} {operator}= {part};"));
        let chosen =
            |relation: char| (Some("compare"), format!("if ({whole} {relation} {part}) {{ {whole} = {part}; }}"));
        match self {
            Self::Plus => assigned('+'),
            Self::And => assigned('&'),
            Self::Or => assigned('|'),
            Self::ExclusiveOr => assigned('^'),
            Self::Min => chosen('>'),
            Self::Max => chosen('<'),
        }
    }
}

/// A result of a loop.
pub(in crate::transforms) struct TeamResult {
    /// The variable or element, as written.
    pub whole: String,
    /// The name of a team's own part of it.
    pub part: String,
    /// The type of the part, as written.
    pub ty: String,
    pub combiner: Combiner,
    /// What a team begins with.
    pub start: String,
    /// Where the loop and its directive name it.
    pub names: Vec<Span>,
    pub origin: Origin,
}

/// By what the original combined it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transforms) enum Origin {
    /// A `reduction` clause. Does another clause of the directive map the variable?
    Clause { is_mapped: bool },
    /// Atomic updates in the loop, which there may be none of.
    Updates,
}

/// The names within a span, as the parts of a team.
pub(super) fn renames(results: &[TeamResult], within: Span) -> Vec<Edit> {
    let of = |one: &TeamResult| {
        let names = one.names.iter().filter(|span| within.contains(**span));
        names.map(|span| Edit { span: *span, text: one.part.clone() }).collect::<Vec<_>>()
    };
    let mut all: Vec<Edit> = results.iter().flat_map(of).collect();
    all.sort_by_key(|edit| edit.span.start);
    all
}

/// A name for a team's part that means nothing in the loop, nor was given to another part.
pub(in crate::transforms) fn part(cx: &Context<'_>, inside: Span, name: &str, taken: &mut BTreeSet<String>) -> String {
    let stem = format!("{name}_of_team");
    let mut stems = std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}{number}")));
    let free = stems.find_map(|stem| {
        let name = cx.fresh_in(inside, &stem);
        let is_free = cx.symbols().lookup(&name, inside.start).is_none();
        (is_free && taken.insert(name.clone())).then_some(name)
    });
    free.unwrap_or_default()
}

/// The type of a number that one instruction of a GPU can combine with another, as written, and what a team begins with; or why it is none.
///
/// Where there is no such instruction, teams that come at the same time compare and exchange the value until one after the other has had its turn. Minima and maxima of
/// floating-point numbers are combined so too, but most of them change nothing.
pub(in crate::transforms) fn start(
    cx: &Context<'_>,
    ty: &DeclaredType,
    combiner: Combiner,
    at: usize,
    is_updated: bool,
) -> Result<(String, String), &'static str> {
    let DeclaredType::Scalar { number, spelling, is_const: false, is_volatile: false } = ty else {
        return Err("is no plain number");
    };
    let is_extreme = matches!(combiner, Combiner::Min | Combiner::Max);
    let integer = Integer::of(ty);
    let fits = match number {
        Number::Floating(Format::Single) if combiner == Combiner::Plus && !is_updated => {
            return Err("is a `float`, and atomic additions take subnormal numbers for zero");
        }
        Number::Floating(Format::Single | Format::Double) => is_extreme || combiner == Combiner::Plus,
        Number::Integer { .. } => integer.is_some_and(|own| matches!(own.bits, 32 | 64)),
        _ => false,
    };
    if !fits {
        return Err("is no number that one atomic instruction can combine with another");
    }
    let name = spelling.to_string();
    if !checks::is_type_at(cx, &name, at) {
        return Err("has a type whose name means something else here");
    }
    // A header that is not read may have its own idea of such a name.
    let is_certain = name.split_whitespace().all(Number::is_keyword);
    if is_extreme && integer.is_some_and(|own| own.signed) && !is_certain {
        return Err("has a type whose largest number no keyword tells");
    }
    let start = combiner.neutral(number, &name).ok_or("has no neutral value")?;
    Ok((name, start))
}
