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

/// Are the values of `later` larger than those of `earlier` by more than chance? The rank-sum test of Mann and Whitney (1947):
/// of all ways to share the values out, at most one in twenty sets them as far apart.
pub fn is_larger(earlier: &[f64], later: &[f64]) -> bool {
    // How many pairs stand the other way round; a draw counts as half.
    let pairs = earlier.iter().flat_map(|one| later.iter().map(move |other| one.total_cmp(other)));
    let against = pairs.map(|order| 1 + order as i64).sum::<i64>();
    let (first, second) = (earlier.len(), later.len());
    // Arrangements of so many values of each kind, by the number of pairs in the wrong order.
    let mut ways = vec![vec![vec![1.0_f64]; second + 1]; first + 1];
    for m in 1..=first {
        for n in 1..=second {
            let mut sums = vec![0.0; m * n + 1];
            // The largest value is one of `later`: no further pair is wrong; or one of `earlier`: all n are.
            for (pairs, count) in ways[m][n - 1].iter().enumerate() {
                sums[pairs] += count;
            }
            for (pairs, count) in ways[m - 1][n].iter().enumerate() {
                sums[pairs + n] += count;
            }
            ways[m][n] = sums;
        }
    }
    let all: f64 = ways[first][second].iter().sum();
    let as_far: f64 =
        (0..).zip(&ways[first][second]).take_while(|(pairs, _)| 2 * pairs <= against).map(|(_, count)| count).sum();
    as_far * 20.0 <= all
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

    #[test]
    fn what_chance_does_is_not_larger() {
        let earlier = [33.0, 33.3, 34.6, 41.8];
        assert!(is_larger(&earlier, &[42.0, 42.1, 43.9, 44.5]));
        assert!(is_larger(&earlier, &[39.2, 42.1, 43.9, 44.5]), "one pair of sixteen: 2 of 70");
        assert!(!is_larger(&earlier, &[34.0, 42.1, 43.9, 44.5]), "two pairs: 4 of 70");
        assert!(!is_larger(&[1.0, 1.0], &[2.0, 2.0]), "two runs tell nothing: 1 of 6");
        assert!(!is_larger(&[1.0; 6], &[1.0; 6]));
    }
}
