//! The bounds of loops.

use super::Reader;
use super::values::Value;
use crate::analysis::dependence::Range;
use crate::analysis::polynomial::Polynomial;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::Integer;
use crate::source::Span;

/// The largest step of a variable of 64 unsigned bits that is followed. With larger steps, subscripts of the variable
/// may wrap around.
const LARGEST_STEP: i128 = 1 << 16;

impl Reader<'_, '_> {
    /// The range of a loop's variable, its trip count and its step, if they follow from the text.
    pub(super) fn range_of(&mut self, read: &CanonicalLoop, integer: Integer) -> (Range, Option<i128>, Option<i128>) {
        let step = match read.step.amount {
            None => Some(1),
            Some(span) => self.value_at(span).and_then(|value| value.form.as_constant()).filter(|step| *step > 0),
        };
        let step = step.filter(|step| integer.bits < 64 || integer.signed || *step <= LARGEST_STEP);
        let lower = self.value_at(read.lower).and_then(|value| first_value(value, integer));
        let rises = matches!(read.relation, Relation::Less | Relation::LessOrEqual);
        let from_zero = rises && lower.as_ref().and_then(Polynomial::as_constant).is_some_and(|number| number >= 0);
        let upper = self.value_at(read.upper).and_then(|value| last_value(value, integer, from_zero));
        let (Some(lower), Some(upper), Some(step)) = (lower, upper, step) else {
            return (Range::default(), None, None);
        };
        let one = Polynomial::constant(1);
        let (least, most) = match read.relation {
            Relation::Less => (Some(lower), upper.minus(&one)),
            // A loop that counts down may have `!=` too: see the next arm.
            Relation::NotEqual if !read.step.is_subtracted => (Some(lower), upper.minus(&one)),
            Relation::NotEqual | Relation::Greater => (upper.plus(&one), Some(lower)),
            Relation::LessOrEqual => (Some(lower), Some(upper)),
            Relation::GreaterOrEqual => (Some(upper), Some(lower)),
        };
        let width = most.as_ref().zip(least.as_ref()).and_then(|(most, least)| most.minus(least)?.as_constant());
        let trips = width.map(|width| (width + 1).max(0)).map(|width| (width + step - 1) / step);
        (Range { lower: least, upper: most }, trips, Some(if read.step.is_subtracted { -step } else { step }))
    }

    fn value_at(&mut self, span: Span) -> Option<Value> {
        self.reading_expansion(span, |reader, node| {
            (reader.place.is_some() || reader.tree.span(node) == span).then(|| reader.value(node))?
        })
    }
}

/// The first value of a loop's variable, converted to the variable's type.
fn first_value(value: Value, integer: Integer) -> Option<Polynomial> {
    let is_number = value.form.as_constant().is_some_and(|number| integer.holds(number));
    let same_sign = value.integer.signed == integer.signed || (integer.bits == 64 && !integer.signed);
    (!value.wraps && (is_number || (same_sign && value.integer.bits <= integer.bits))).then_some(value.form)
}

/// The last value of a loop's variable. The bound must compare with a variable of this type as mathematical numbers do.
fn last_value(value: Value, integer: Integer, from_zero: bool) -> Option<Polynomial> {
    let compares = match (integer.signed, value.integer.promoted().signed) {
        (first, second) if first == second => true,
        // A variable that rises from zero is never negative when it is compared, and a wider one keeps its sign.
        (true, false) => from_zero || value.integer.bits < integer.bits,
        // Compared with an unsigned variable, a negative bound becomes huge. With 64 bits such a loop never ends, so it
        // need not be considered.
        _ => integer.bits == 64 || value.form.as_constant().is_some_and(|number| number >= 0),
    };
    (!value.wraps && compares).then_some(value.form)
}
