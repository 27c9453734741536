//! The variables in which a loop leaves what all its iterations give.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::refusal;
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::Reason;
use crate::semantics::Integer;
use crate::semantics::symbols::{DeclaredType, Scope, Variable};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::numbers::Format;
use crate::syntax::{Clause, ClauseName, Directive, ListItem, NodeId, Number};
use crate::transforms::checks;

/// How two values become one, where one atomic update can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combiner {
    Plus,
    And,
    Or,
    ExclusiveOr,
    Min,
    Max,
}

impl Combiner {
    fn of(operator: &str) -> Option<Self> {
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

/// A variable that a `reduction` clause lists.
pub(super) struct Combined {
    pub name: String,
    /// The name of a team's own part of it.
    pub part: String,
    /// Its type, as written.
    pub ty: String,
    pub combiner: Combiner,
    /// What a team begins with.
    pub start: String,
    /// Where the clause and the loop name it.
    pub names: Vec<Span>,
    /// Does a clause of the directive map it?
    pub is_mapped: bool,
}

/// Has a loop more results than the compiler keeps in registers? What combines the threads of a team exchanges 32 bits at a time. clang 19 calls it as a function where it is
/// large, and then keeps the values in memory: with five of `double` always in a large file, and with eight of `float`. A loop with five took 2.3 times as long.
pub(super) fn are_in_memory(cx: &Context<'_>, directive: &Directive) -> bool {
    let items: Vec<&ListItem> = directive.clauses_of(ClauseName::Reduction).flat_map(Clause::items).collect();
    let bits = |item: &&ListItem| {
        let name = item.base.as_deref().filter(|_| item.is_name);
        let variable = name.and_then(|name| cx.symbols().lookup(name, item.span.start));
        variable.and_then(|variable| variable.ty.number().and_then(Number::bits)).unwrap_or(64)
    };
    items.len() > 7 || items.iter().map(bits).map(|bits| bits.div_ceil(32)).sum::<u32>() > 8
}

/// The names within a span, as the parts of a team.
pub(super) fn renames(combined: &[Combined], within: Span) -> Vec<Edit> {
    let of = |one: &Combined| {
        let names = one.names.iter().filter(|span| within.contains(**span));
        names.map(|span| Edit { span: *span, text: one.part.clone() }).collect::<Vec<_>>()
    };
    let mut all: Vec<Edit> = combined.iter().flat_map(of).collect();
    all.sort_by_key(|edit| edit.span.start);
    all
}

/// All that the clauses list, in the order of the text.
///
/// # Errors
/// What is no number that one atomic update can change, or not only its name reaches.
pub(super) fn combined(cx: &Context<'_>, directive: &Directive, first: NodeId) -> Result<Vec<Combined>, Reason> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    for clause in directive.clauses_of(ClauseName::Reduction) {
        let operator = match clause.modifiers.as_slice() {
            [one] if one.argument.is_none() => Combiner::of(&one.name),
            _ => None,
        };
        let Some(combiner) = operator else {
            return Err(refusal(clause.span, "no atomic update combines values like this"));
        };
        for item in clause.items() {
            all.push(one(cx, directive, (clause, item), combiner, first, &mut taken)?);
        }
    }
    Ok(all)
}

fn one(
    cx: &Context<'_>,
    directive: &Directive,
    (clause, item): (&Clause, &ListItem),
    combiner: Combiner,
    first: NodeId,
    taken: &mut BTreeSet<String>,
) -> Result<Combined, Reason> {
    let at = item.span.start;
    let name = item.base.clone().filter(|_| item.is_name);
    let variable = name.as_deref().and_then(|name| cx.symbols().lookup(name, at));
    let Some((name, variable)) = name.zip(variable) else {
        return Err(refusal(item.span, "this is no variable in sight"));
    };
    let (ty, start) =
        start(cx, &variable, combiner, at).map_err(|why| refusal(item.span, format!("`{name}` {why}")))?;
    let inside = cx.tree.span(first);
    let names_it = |text: &str| words(text).any(|word| word == name);
    if cx.expansion(&name, at).is_some() || cx.uses_macro_with(inside, &names_it) {
        return Err(refusal(item.span, format!("a macro may stand for `{name}`, or name it")));
    }
    let others = directive
        .clauses
        .iter()
        .filter(|other| other.lists(&name) && !matches!(other.name, ClauseName::Map | ClauseName::Depend));
    if others.filter(|other| !std::ptr::eq(*other, clause)).count() > 0 {
        return Err(refusal(item.span, format!("other clauses list `{name}` too")));
    }
    let uses = uses_below(cx.file, cx.tree, first);
    let is_it = |span: Span| cx.symbols().lookup(&name, span.start).is_some_and(|found| found.id() == variable.id());
    let of_it = uses.iter().filter(|used| used.name == name && used.role != Role::Declaration && is_it(used.span));
    let names = std::iter::once(item.span).chain(of_it.map(|used| used.span)).collect();
    let is_mapped = directive.clauses_of(ClauseName::Map).any(|clause| clause.lists(&name));
    Ok(Combined { part: part(cx, inside, &name, taken), name, ty, combiner, start, names, is_mapped })
}

/// A name for a team's part that means nothing in the loop, nor was given to another part.
fn part(cx: &Context<'_>, inside: Span, name: &str, taken: &mut BTreeSet<String>) -> String {
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
fn start(
    cx: &Context<'_>,
    variable: &Arc<Variable>,
    combiner: Combiner,
    at: usize,
) -> Result<(String, String), &'static str> {
    let DeclaredType::Scalar { number, spelling, is_const: false, is_volatile: false } = &variable.ty else {
        return Err("is no plain number");
    };
    let is_extreme = matches!(combiner, Combiner::Min | Combiner::Max);
    let integer = Integer::of(&variable.ty);
    let fits = match number {
        Number::Floating(Format::Single) if combiner == Combiner::Plus => {
            return Err("is a `float`, and atomic additions take subnormal numbers for zero");
        }
        Number::Floating(Format::Single) => is_extreme,
        Number::Floating(Format::Double) => is_extreme || combiner == Combiner::Plus,
        Number::Integer { .. } => integer.is_some_and(|own| matches!(own.bits, 32 | 64)),
        _ => false,
    };
    // Atomic instructions need an alignment that a packed class does not give to its members.
    if !matches!(variable.scope, Scope::Local | Scope::Parameter | Scope::File) {
        return Err("is no variable of its own");
    }
    if variable.is_thread_local || !fits {
        return Err("is no number that one atomic instruction can combine with another");
    }
    let ty = spelling.to_string();
    if !checks::is_type_at(cx, &ty, at) {
        return Err("has a type whose name means something else here");
    }
    // A header that is not read may have its own idea of such a name.
    let is_certain = ty.split_whitespace().all(Number::is_keyword);
    if is_extreme && integer.is_some_and(|own| own.signed) && !is_certain {
        return Err("has a type whose largest number no keyword tells");
    }
    let start = combiner.neutral(number, &ty).ok_or("has no neutral value")?;
    Ok((ty, start))
}
