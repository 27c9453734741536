//! Values of integer constant expressions: sizes of arrays, bounds that macros name.

use crate::semantics::Integer;

/// An integer with the type that it has in arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    number: i128,
    ty: Integer,
}

impl Value {
    /// The number itself, or `None` beyond 64 bits with a sign.
    pub fn number(self) -> Option<i64> {
        i64::try_from(self.number).ok()
    }

    /// The value of a variable of another type that it initialises, or `None` if that does not hold it.
    fn converted(self, ty: Integer) -> Option<Self> {
        ty.holds(self.number).then_some(Self { number: self.number, ty })
    }

    /// The result of an operation in a type. Where unsigned numbers wrap around, and signed ones must not, it is not known.
    fn within(ty: Integer, number: Option<i128>) -> Option<Self> {
        Some(Self { number: number?, ty }).filter(|value| ty.holds(value.number))
    }
}

/// A place in the program: the header, where it is none of the file itself, and a byte.
pub(super) type At = (Option<usize>, usize);

/// An operand that the text alone does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand<'t> {
    Name(&'t str),
    /// What stands in the parentheses of a `sizeof`.
    SizeOf(&'t str),
}

/// What an operand stands for in a constant expression.
pub(super) struct Meaning {
    /// An expression.
    pub text: String,
    /// Where the names in it are looked up.
    pub at: At,
    /// The type that its value is converted to, or `None` for a macro, whose text takes the place of its name.
    pub of: Option<Converted>,
}

/// To which type the value of a constant is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Converted {
    /// To the one that it is declared with.
    To(Integer),
    /// To none: it is declared with `auto`.
    Kept,
}

/// Evaluates an integer constant expression at a place; `meaning_of` says what an operand stands for at one.
///
/// Numbers, names, `sizeof`, parentheses and the operators `+ - * / % << >> & ^ | ~` are read. Anything else has no value here.
pub(super) fn evaluate(text: &str, at: At, meaning_of: &dyn Fn(Operand<'_>, At) -> Option<Meaning>) -> Option<Value> {
    Reader { text: text.as_bytes(), at: 0, fuel: FUEL, place: at, meaning_of }.whole().map(|(value, _)| value)
}

/// Is a text one operand of whatever operators may stand around it: a word, a number, or in parentheses as a whole?
#[must_use]
pub fn is_operand(text: &str) -> bool {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'' | b'.')) {
        return true;
    }
    // `(1) + (2)` begins and ends with parentheses too.
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return false };
    let mut depth = 0_usize;
    let is_open = inner.bytes().all(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return false,
            b')' => depth -= 1,
            // What stands in strings and characters is not looked at.
            b'"' | b'\'' => return false,
            _ => {}
        }
        true
    });
    is_open && depth == 0
}

/// How many parentheses, signs and names are followed in all: macros that double each other would never end.
const FUEL: usize = 128;
/// How tightly shifts bind.
const SHIFT: u8 = 4;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    fuel: usize,
    place: At,
    meaning_of: &'a dyn Fn(Operand<'_>, At) -> Option<Meaning>,
}

impl<'a> Reader<'a> {
    /// The value of the whole text, and the fuel that is left.
    fn whole(mut self) -> Option<(Value, usize)> {
        let value = self.sum(0)?;
        self.blank();
        (self.at == self.text.len()).then_some((value, self.fuel))
    }

    /// Operands joined by operators that bind at least as tightly as `level`.
    fn sum(&mut self, level: u8) -> Option<Value> {
        let mut left = self.operand()?;
        loop {
            self.blank();
            let (operator, binds) = match self.text.get(self.at..).unwrap_or_default() {
                [b'|', b'|', ..] | [b'&', b'&', ..] => return Some(left),
                [b'|', ..] => (b'|', 1),
                [b'^', ..] => (b'^', 2),
                [b'&', ..] => (b'&', 3),
                [b'<', b'<', ..] => (b'<', SHIFT),
                [b'>', b'>', ..] => (b'>', SHIFT),
                [sign @ (b'+' | b'-'), ..] => (*sign, 5),
                [sign @ (b'*' | b'/' | b'%'), ..] => (*sign, 6),
                _ => return Some(left),
            };
            if binds <= level {
                return Some(left);
            }
            self.at += if binds == SHIFT { 2 } else { 1 };
            let right = self.sum(binds)?;
            left = if binds == SHIFT { shifted(operator, left, right)? } else { computed(operator, left, right)? };
        }
    }

    fn operand(&mut self) -> Option<Value> {
        self.blank();
        match *self.text.get(self.at)? {
            b'(' => {
                self.fuel = self.fuel.checked_sub(1)?;
                self.at += 1;
                let value = self.sum(0)?;
                self.blank();
                self.at += usize::from(self.text.get(self.at) == Some(&b')'));
                (self.text.get(self.at - 1) == Some(&b')')).then_some(value)
            }
            sign @ (b'-' | b'+' | b'~') => {
                self.fuel = self.fuel.checked_sub(1)?;
                self.at += 1;
                let value = self.operand()?;
                let ty = value.ty.promoted();
                let number = match sign {
                    b'-' => value.number.checked_neg(),
                    b'~' => Some(!value.number),
                    _ => Some(value.number),
                };
                Value::within(ty, number)
            }
            b'0'..=b'9' => number(&self.word()),
            b'\'' => self.character(),
            _ => self.name(),
        }
    }

    /// A character without an escape; where it is a `char`, it is an `int` in arithmetic.
    fn character(&mut self) -> Option<Value> {
        let [b'\'', code, b'\''] = *self.text.get(self.at..self.at + 3)? else { return None };
        self.at += 3;
        let is_plain = code.is_ascii_graphic() && !matches!(code, b'\\' | b'\'') || code == b' ';
        is_plain.then_some(Value { number: code.into(), ty: Integer::INT })
    }

    fn name(&mut self) -> Option<Value> {
        let name = self.word();
        if name.is_empty() {
            return None;
        }
        let operand = if name == "sizeof" { Operand::SizeOf(self.parenthesised()?) } else { Operand::Name(&name) };
        let meaning = (self.meaning_of)(operand, self.place)?;
        let fuel = self.fuel.checked_sub(1)?;
        let text = meaning.text.as_bytes();
        let inner = Reader { text, at: 0, fuel, place: meaning.at, meaning_of: self.meaning_of };
        let (value, fuel) = inner.whole()?;
        self.fuel = fuel;
        match meaning.of {
            Some(Converted::To(ty)) => value.converted(ty),
            Some(Converted::Kept) => Some(value),
            None => {
                // `N * 2` with N = `a + b` unbraced is `a + b * 2`: only a whole operand may take its place.
                let stands_alone = self.text.trim_ascii() == name.as_bytes();
                (is_operand(&meaning.text) || stands_alone).then_some(value)
            }
        }
    }

    /// What stands in parentheses, with none inside.
    fn parenthesised(&mut self) -> Option<&'a str> {
        self.blank();
        let rest = self.text.get(self.at..)?.strip_prefix(b"(")?;
        let length = rest.iter().position(|byte| matches!(byte, b'(' | b')')).filter(|at| rest[*at] == b')')?;
        self.at += length + 2;
        std::str::from_utf8(&rest[..length]).ok().map(str::trim)
    }

    fn word(&mut self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length =
            rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte == b'\'').count();
        self.at += length;
        rest[..length].iter().map(|byte| char::from(*byte)).collect()
    }

    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }
}

/// An operation in the type that both operands are converted to (C17, section 6.3.1.8).
fn computed(operator: u8, left: Value, right: Value) -> Option<Value> {
    let ty = left.ty.common(right.ty);
    let (left, right) = (left.converted(ty)?.number, right.converted(ty)?.number);
    let number = match operator {
        b'+' => left.checked_add(right),
        b'-' => left.checked_sub(right),
        b'*' => left.checked_mul(right),
        b'/' => left.checked_div(right),
        b'|' => Some(left | right),
        b'^' => Some(left ^ right),
        b'&' => Some(left & right),
        _ => left.checked_rem(right),
    };
    Value::within(ty, number)
}

/// A shift in the type of the left operand.
fn shifted(operator: u8, left: Value, right: Value) -> Option<Value> {
    let ty = left.ty.promoted();
    let places = u32::try_from(right.number).ok().filter(|places| *places < ty.bits && left.number >= 0)?;
    let number = if operator == b'<' { left.number.checked_mul(1 << places) } else { Some(left.number >> places) };
    Value::within(ty, number)
}

/// An integer literal of C with its type (C17, section 6.4.4.1), with its suffix and digit separators.
fn number(word: &str) -> Option<Value> {
    let digits: String = word.to_ascii_lowercase().chars().filter(|c| *c != '\'').collect();
    let (digits, suffix) = digits.split_at(digits.trim_end_matches(['u', 'l', 'z']).len());
    let prefixed =
        [("0x", 16), ("0b", 2)].into_iter().find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)));
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    let (digits, radix) = prefixed.unwrap_or((digits, if is_octal { 8 } else { 10 }));
    let number = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let is_unsigned = suffix.contains('u');
    let is_long = suffix.contains(['l', 'z']);
    let types = [(32, true), (32, false), (64, true), (64, false)].map(|(bits, signed)| Integer { bits, signed });
    let is_possible = |ty: &Integer| {
        let fits_sign = if is_unsigned { !ty.signed } else { ty.signed || radix != 10 };
        fits_sign && (ty.bits == 64 || !is_long) && ty.holds(number)
    };
    types.into_iter().find(is_possible).map(|ty| Value { number, ty })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let macros = [("N", "4"), ("M", "(N + 1)"), ("K", "N + 1"), ("LOOP", "LOOP"), ("TWO", "(N) + (1)")];
        let byte = Converted::To(Integer { bits: 8, signed: false });
        let int = Converted::To(Integer::INT);
        let variables =
            [("b", "200", byte), ("wide", "300", byte), ("all", "0xffffffff", int), ("k", "0xff", Converted::Kept)];
        let names = |operand: Operand<'_>, at: At| {
            let Operand::Name(name) = operand else {
                let of = Some(Converted::To(Integer { bits: 64, signed: false }));
                return (operand == Operand::SizeOf("long")).then(|| Meaning { text: "8".to_owned(), at, of });
            };
            let variables = variables.iter().map(|(name, text, of)| (*name, *text, Some(*of)));
            let mut known = macros.iter().map(|(name, text)| (*name, *text, None)).chain(variables);
            let (_, text, of) = known.find(|(known, ..)| *known == name)?;
            Some(Meaning { text: text.to_owned(), at, of })
        };
        for (text, expected) in [
            ("3", Some(3)),
            (" 0x10UL ", Some(16)),
            ("010", Some(8)),
            ("1'000", Some(1000)),
            ("1 << 10", Some(1024)),
            ("2 + 3 * 4 - 1", Some(13)),
            ("10 - 4 - 3", Some(3)),
            ("(2 + 3) * 4", Some(20)),
            ("-2 + 5", Some(3)),
            ("N * M", Some(20)),
            ("K", Some(5)),
            ("K * 2", None),
            ("TWO", Some(5)),
            ("TWO * 2", None),
            ("(TWO) * 2", None),
            ("LOOP", None),
            ("n", None),
            ("1 / 0", None),
            // Unsigned numbers wrap around, and signed ones must not overflow.
            ("1u - 2", None),
            ("1u - 1", Some(0)),
            ("-1 + 1u", None),
            ("0xffffffff + 1", None),
            ("0xffffffffL + 1", Some(0x1_0000_0000)),
            ("4294967295 + 1", Some(0x1_0000_0000)),
            ("65536 * 65536", None),
            ("65536L * 65536", Some(0x1_0000_0000)),
            ("1 << 31", None),
            ("1u << 31", Some(0x8000_0000)),
            ("1 << 32", None),
            ("-1 << 3", None),
            ("18446744073709551615u", None),
            ("1 | 6 & 3 ^ 1", Some(3)),
            ("~0", Some(-1)),
            ("~0u", None),
            ("1 && 2", None),
            ("'a' + 1", Some(98)),
            ("'\\n'", None),
            ("'ab'", None),
            ("3 | | 4", None),
            ("b * 2", Some(400)),
            ("k + 1", Some(256)),
            ("wide", None),
            ("all", None),
            ("sizeof(int)", None),
            ("2 * sizeof ( long ) - 1", Some(15)),
            ("8 - 2 * sizeof(long)", None),
            ("sizeof long", None),
            ("sizeof((long))", None),
            ("3 4", None),
            ("(3", None),
            ("", None),
        ] {
            let value = evaluate(text, (None, 0), &names).and_then(Value::number);
            assert_eq!(value, expected, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(100_000), (None, 0), &names), None);
    }
}
