//! Words and numbers as they stand in HTML.

use crate::plan::Times;

/// A text that stands for itself.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Microseconds in the unit that suits them.
pub(super) fn time(microseconds: u64) -> String {
    match microseconds {
        0..1_000 => format!("{microseconds} µs"),
        1_000..1_000_000 => format!("{}.{} ms", microseconds / 1_000, microseconds % 1_000 / 100),
        _ => format!("{}.{} s", microseconds / 1_000_000, microseconds % 1_000_000 / 100_000),
    }
}

/// Bytes in the unit that suits them.
pub(super) fn bytes(count: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", count / unit, count % unit * 10 / unit);
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

/// How many times as fast, in tenths.
pub(super) fn ratio(times: Times) -> String {
    match times.before.saturating_mul(10).checked_div(times.after) {
        Some(tenths) => format!("{}.{} ×", tenths / 10, tenths % 10),
        None => "–".to_owned(),
    }
}

/// A part of something in percent, at least one where it is anything.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    let percent = part.saturating_mul(100).checked_div(whole).unwrap_or(0).min(100);
    percent.max(u64::from(part > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        assert_eq!(escape("<a href=\"x\">&'\u{1b}"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}");
        assert_eq!([time(999), time(1_500), time(2_340_000)], ["999 µs", "1.5 ms", "2.3 s"]);
        assert_eq!([bytes(999), bytes(1_024), bytes(2_350_000_000)], ["999 B", "1.0 kB", "2.3 GB"]);
        assert_eq!(ratio(Times { before: 100, after: 40 }), "2.5 ×");
        assert_eq!((percent(1, 1000), percent(0, 5), percent(7, 0)), (1, 0, 1));
    }
}
