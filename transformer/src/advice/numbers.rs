//! Numbers and units as ncu prints them.

/// What a counter measures, which says how its units are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// A part of a whole, in percent.
    Percent,
    /// A time, in microseconds.
    Time,
    /// Bytes in a second.
    Rate,
    /// A number of things, or a ratio of two such numbers.
    Count,
}

/// What ncu multiplies by: thousands, also for bytes.
const PREFIXES: [(&str, f64); 5] = [("", 1.0), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

impl Measure {
    /// What a number in a unit is multiplied by; `None` where it is no unit of this measure.
    pub fn scale(self, unit: &str) -> Option<f64> {
        match self {
            Self::Percent => matches!(unit, "%" | "").then_some(1.0),
            Self::Time => time(unit),
            Self::Rate => rate(unit),
            Self::Count => (unit != "%" && time(unit).is_none() && rate(unit).is_none()).then_some(1.0),
        }
    }
}

fn time(unit: &str) -> Option<f64> {
    match unit {
        "ns" | "nsecond" | "nsec" => Some(1e-3),
        "us" | "usecond" | "usec" => Some(1.0),
        "ms" | "msecond" | "msec" => Some(1e3),
        "s" | "second" | "sec" => Some(1e6),
        _ => None,
    }
}

fn rate(unit: &str) -> Option<f64> {
    let (bytes, per) = unit.split_once("byte/")?;
    let factor = PREFIXES.iter().find(|(prefix, _)| *prefix == bytes).map(|(_, factor)| *factor)?;
    match per {
        "s" | "second" | "sec" => Some(factor),
        "us" | "usecond" => Some(factor * 1e6),
        "ns" | "nsecond" => Some(factor * 1e9),
        _ => None,
    }
}

/// A number with commas between thousands and a point before the fraction. `None` inside where nothing was collected.
///
/// # Errors
/// What it is instead, for people.
pub(super) fn number(text: &str) -> Result<Option<f64>, &'static str> {
    let text = text.trim();
    let text = text.strip_prefix("(!)").map_or(text, str::trim_start);
    if text.is_empty() || ["n/a", "nan", "-nan", "inf", "-inf"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split(',');
    let first = groups.next().unwrap_or_default();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let others: Vec<&str> = groups.collect();
    let is_grouped =
        others.iter().all(|group| group.len() == 3 && is_digits(group)) && (others.is_empty() || first.len() <= 3);
    // `1.5e+06` is printed of very large numbers.
    let is_fraction = fraction.is_none_or(|fraction| {
        let (digits, exponent) =
            fraction.split_once(['e', 'E']).map_or((fraction, None), |(all, exponent)| (all, Some(exponent)));
        is_digits(digits) && exponent.is_none_or(|exponent| is_digits(exponent.trim_start_matches(['+', '-'])))
    });
    if !is_digits(first) || !is_grouped || !is_fraction {
        return Err(match text.contains(',') {
            true => {
                "is no number with commas between thousands and a point before its fraction, as ncu prints with LC_ALL=C"
            }
            false => "is no number",
        });
    }
    text.replace(',', "").parse::<f64>().map(Some).map_err(|_| "is no number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_thousands_and_fractions() {
        for (text, value) in [
            ("0", 0.0),
            ("12.50", 12.5),
            ("1,234.5", 1234.5),
            ("1,215,000,000.00", 1.215e9),
            (" -3.25 ", -3.25),
            ("1234567", 1_234_567.0),
            ("1.5e+06", 1.5e6),
        ] {
            assert_eq!(number(text), Ok(Some(value)), "{text}");
        }
        for text in ["", "n/a", "(!) n/a", "nan", "-nan", "N/A"] {
            assert_eq!(number(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn other_locales_and_words_are_no_numbers() {
        for text in ["12,5", "1.234,5", "1,23,456", "1234,567", ",5", "1,", "1.2.3", "12 (1; 2)", "high", "0x10", "."] {
            assert!(number(text).is_err(), "{text}");
        }
        assert!(number("45,67").unwrap_err().contains("LC_ALL=C"));
        assert_eq!(number("high"), Err("is no number"));
    }

    #[test]
    fn units_scale() {
        let close = |measure: Measure, unit: &str, value: f64| {
            let scale = measure.scale(unit).unwrap();
            assert!((scale / value - 1.0).abs() < 1e-12, "{unit}: {scale}");
        };
        close(Measure::Time, "nsecond", 1e-3);
        close(Measure::Time, "us", 1.0);
        close(Measure::Time, "msecond", 1e3);
        close(Measure::Time, "second", 1e6);
        close(Measure::Rate, "Kbyte/second", 1e3);
        close(Measure::Rate, "Gbyte/s", 1e9);
        close(Measure::Rate, "Tbyte/second", 1e12);
        close(Measure::Rate, "byte/ns", 1e9);
        close(Measure::Percent, "%", 1.0);
        close(Measure::Count, "register/thread", 1.0);
        for (measure, unit) in [
            (Measure::Time, "cycle"),
            (Measure::Time, ""),
            (Measure::Percent, "Gbyte/s"),
            (Measure::Rate, "%"),
            (Measure::Rate, "Qbyte/s"),
            (Measure::Rate, "byte/block"),
            (Measure::Count, "%"),
            (Measure::Count, "us"),
        ] {
            assert_eq!(measure.scale(unit), None, "{unit}");
        }
    }
}
