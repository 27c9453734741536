//! What the host is asked about the lengths of loops, and loops of which it may be asked.

use std::fmt::{self, Display, Formatter};

use crate::context::Context;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::source::{Span, words};

/// A part goes on by as many iterations as there are parts, which needs room behind the last one.
pub(in crate::transforms) const ROOM: i128 = 2_000_000_000;

/// A question of the host about a length.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transforms) struct Question {
    pub variable: String,
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transforms) enum Bound {
    AtLeast(i128),
    Below(i128),
}

impl Display for Question {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.bound {
            Bound::AtLeast(number) => write!(f, "{} >= {number}", self.variable),
            Bound::Below(number) => write!(f, "{} < {number}", self.variable),
        }
    }
}

/// The questions, of each variable the strictest ones alone, in the order in which they come first.
pub(in crate::transforms) fn strictest(questions: impl IntoIterator<Item = Question>) -> Vec<Question> {
    let mut all: Vec<Question> = Vec::new();
    for one in questions {
        let of_both = |known: Bound| match (known, one.bound) {
            (Bound::AtLeast(known), Bound::AtLeast(number)) => Some(Bound::AtLeast(known.max(number))),
            (Bound::Below(known), Bound::Below(number)) => Some(Bound::Below(known.min(number))),
            _ => None,
        };
        let mut same = all.iter_mut().filter(|known| known.variable == one.variable);
        match same.find_map(|known| of_both(known.bound).map(|both| (known, both))) {
            Some((known, both)) => known.bound = both,
            None => all.push(one),
        }
    }
    all
}

/// The questions as one condition.
pub(in crate::transforms) fn condition(questions: &[Question]) -> String {
    questions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" && ")
}

/// Does a loop count by one from a number, so that each part can begin behind it, and in a type that does not wrap around?
pub(in crate::transforms) fn counts_on(cx: &Context<'_>, own: &CanonicalLoop) -> bool {
    let by_one = own.step.amount.is_none_or(|step| cx.constant(step) == Some(1)) && !own.step.is_subtracted;
    let is_up = matches!(own.relation, Relation::Less | Relation::LessOrEqual);
    let is_wide = cx.holds_32_bits(&own.variable, cx.tree.span(own.body).start);
    let starts = cx.constant(own.lower).is_some_and(|from| (0..=i64::from(u16::MAX)).contains(&from));
    by_one && is_up && is_wide && own.declared_in_loop && starts && keeps_sign(cx, own)
}

/// Is the bound the number that the host compares? Where the loop counts without a sign, a negative bound, or one that is formed without a sign, would be very large in it.
fn keeps_sign(cx: &Context<'_>, own: &CanonicalLoop) -> bool {
    let is_signed = |name: &str, at: usize| {
        let integer = cx.integer_type(name, at).and_then(|number| number.integer());
        integer.map(|integer| integer.signed)
    };
    if is_signed(&own.variable, cx.tree.span(own.body).start) == Some(true) || cx.constant(own.upper).is_some() {
        return true;
    }
    let name = cx.file.show(own.upper);
    is_signed(name.trim(), own.upper.start) == Some(false)
}

/// Do only small numbers stand beside a bound's variable, so that the question is nearly the same of the bound?
pub(in crate::transforms) fn has_small_numbers(cx: &Context<'_>, bound: Span) -> bool {
    let is_small = |word: &str| !word.starts_with(|it: char| it.is_ascii_digit()) || word.parse::<u16>().is_ok();
    let constants = cx.names_in(bound).into_iter().filter_map(|(_, at)| cx.constant(at));
    constants.into_iter().all(|it| it.unsigned_abs() <= u64::from(u16::MAX))
        && words(&cx.file.show(bound)).all(is_small)
}
