//! Numbers in messages: times with a unit that suits them, counts with a comma between thousands.

/// A time in microseconds as people read it: three digits, and the unit. `35.6 us`, `4.11 s`.
#[must_use]
pub fn time(microseconds: f64) -> String {
    let (number, unit) = match microseconds {
        time if time < 999.5 => (time, "us"),
        time if time < 999_500.0 => (time / 1e3, "ms"),
        time => (time / 1e6, "s"),
    };
    let decimals = match number {
        number if number < 9.995 => 2,
        number if number < 99.95 => 1,
        _ => 0,
    };
    // Parts of a microsecond below a tenth are beyond any prediction.
    let decimals = if unit == "us" { decimals.min(1) } else { decimals };
    format!("{number:.decimals$} {unit}")
}

/// A count that may be a product of estimates, as a whole number.
#[must_use]
pub fn count(number: f64) -> String {
    grouped(&format!("{number:.0}"))
}

/// The digits of a whole number with a comma between thousands.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How many more or fewer transactions with the device's memory the accesses need. `None` below one in a hundred.
#[must_use]
pub fn transactions(before: f64, after: f64) -> Option<String> {
    let percent = if before > 0.0 { (100.0 * (after - before) / before).round() } else { 0.0 };
    let word = if percent < 0.0 { "fewer" } else { "more" };
    (percent.abs() >= 1.0).then(|| format!("{:.0} % {word} memory transactions", percent.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let shown = [0.0, 0.04, 9.96, 35.64, 812.4, 999.7, 5_403.4, 99_960.0, 999_600.0, 16_489_724.0].map(time);
        assert_eq!(
            shown,
            ["0.0 us", "0.0 us", "10.0 us", "35.6 us", "812 us", "1.00 ms", "5.40 ms", "100 ms", "1.00 s", "16.5 s"]
        );
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([7.0, 1180.0, 1_234_567.4].map(count), ["7", "1,180", "1,234,567"]);
    }
}
