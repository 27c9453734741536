//! The few figures that the reports are made of.

/// The middle value, or the mean of the two middle ones; nothing of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The geometric mean of positive values; nothing of nothing.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    Some((sum / values.len() as f64).exp())
}

/// How far two medians of the same thing lie apart, as a part of the smaller one.
pub fn deviation(one: f64, other: f64) -> f64 {
    (one - other).abs() / one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn geometric_means() {
        assert_eq!(geometric_mean(&[]), None);
        let mean = geometric_mean(&[1.0, 4.0, 2.0]).unwrap_or_default();
        assert!((mean - 2.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn deviations_have_no_order() {
        assert!((deviation(1.1, 1.0) - 0.1).abs() < 1e-12);
        assert!((deviation(1.0, 1.1) - 0.1).abs() < 1e-12);
    }
}
