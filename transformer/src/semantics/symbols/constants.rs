//! Values of integer constant expressions: sizes of arrays, bounds that macros name.

/// Evaluates an integer constant expression; `value_of` gives the text that a name stands for.
///
/// Numbers, names, parentheses and the operators `+ - * / % << >>` are read. Anything else has no value here.
pub(super) fn evaluate(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> Option<i64> {
    let mut reader = Reader { text: text.as_bytes(), at: 0, fuel: FUEL, value_of };
    let value = reader.sum(0)?;
    reader.blank();
    (reader.at == reader.text.len()).then_some(value)
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

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    fuel: usize,
    value_of: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    /// Operands joined by operators that bind at least as tightly as `level`.
    fn sum(&mut self, level: u8) -> Option<i64> {
        let mut left = self.operand()?;
        loop {
            self.blank();
            let (operator, binds) = match self.text.get(self.at..).unwrap_or_default() {
                [b'<', b'<', ..] => (b'<', 1),
                [b'>', b'>', ..] => (b'>', 1),
                [sign @ (b'+' | b'-'), ..] => (*sign, 2),
                [sign @ (b'*' | b'/' | b'%'), ..] => (*sign, 3),
                _ => return Some(left),
            };
            if binds <= level {
                return Some(left);
            }
            self.at += if binds == 1 { 2 } else { 1 };
            let right = self.sum(binds)?;
            left = match operator {
                b'+' => left.checked_add(right)?,
                b'-' => left.checked_sub(right)?,
                b'*' => left.checked_mul(right)?,
                b'/' => left.checked_div(right)?,
                b'%' => left.checked_rem(right)?,
                b'<' => left.checked_shl(u32::try_from(right).ok()?).filter(|_| (0..31).contains(&right))?,
                _ => left.checked_shr(u32::try_from(right).ok()?)?,
            };
        }
    }

    fn operand(&mut self) -> Option<i64> {
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
            sign @ (b'-' | b'+') => {
                self.fuel = self.fuel.checked_sub(1)?;
                self.at += 1;
                let value = self.operand()?;
                if sign == b'-' { value.checked_neg() } else { Some(value) }
            }
            b'0'..=b'9' => number(&self.word()),
            _ => self.name(),
        }
    }

    fn name(&mut self) -> Option<i64> {
        let name = self.word();
        if name.is_empty() {
            return None;
        }
        let text = (self.value_of)(&name)?;
        let fuel = self.fuel.checked_sub(1)?;
        let mut inner = Reader { text: text.as_bytes(), at: 0, fuel, value_of: self.value_of };
        let value = inner.sum(0)?;
        inner.blank();
        self.fuel = inner.fuel;
        // `N * 2` with N = `a + b` unbraced is `a + b * 2`: only a whole operand may take its place.
        let stands_alone = self.text.trim_ascii() == name.as_bytes();
        (inner.at == inner.text.len() && (is_operand(&text) || stands_alone)).then_some(value)
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

/// An integer literal of C, with its suffix and digit separators.
fn number(word: &str) -> Option<i64> {
    let digits: String = word.to_ascii_lowercase().chars().filter(|c| *c != '\'').collect();
    let digits = digits.trim_end_matches(['u', 'l', 'z']);
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        i64::from_str_radix(hexadecimal, 16).ok()
    } else if let Some(binary) = digits.strip_prefix("0b") {
        i64::from_str_radix(binary, 2).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()
    } else {
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let names = |name: &str| {
            [("N", "4"), ("M", "(N + 1)"), ("K", "N + 1"), ("LOOP", "LOOP"), ("TWO", "(N) + (1)")]
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, text)| (*text).to_owned())
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
            ("sizeof(int)", None),
            ("3 4", None),
            ("(3", None),
            ("", None),
        ] {
            assert_eq!(evaluate(text, &names), expected, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(100_000), &names), None);
    }
}
