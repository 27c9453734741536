//! The values of numbers as written.

use super::Value;
use crate::analysis::polynomial::Polynomial;
use crate::semantics::Integer;

/// The value of a number, in parentheses or not.
pub(super) fn braced_literal(text: &str) -> Option<Value> {
    literal(text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')')))
}

/// A number with its suffix.
pub(super) fn literal(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase().replace('\'', "");
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = lower.get(digits.len()..)?;
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, digits.get(2..)?),
        [b'0', b'b', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits),
        _ => (10, digits),
    };
    let number = i64::from_str_radix(digits, radix).ok()?;
    let value = i128::from(number);
    let is_unsigned = suffix.contains('u');
    let fits = |integer: Integer| (integer.signed || is_unsigned || radix != 10) && integer.holds(value);
    let all = [(32, !is_unsigned), (32, false), (64, !is_unsigned), (64, false)]
        .map(|(bits, signed)| Integer { bits, signed });
    let long = suffix.contains(['l', 'z']);
    let integer = all.into_iter().find(|integer| fits(*integer) && (!long || integer.bits == 64))?;
    Some(Value::exact(Polynomial::constant(value), integer))
}
