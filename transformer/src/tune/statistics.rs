//! The few figures by which measurements are judged.

/// The middle value, or the mean of the two middle ones; nothing of nothing.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => Some(f64::midpoint(*sorted.get(half.checked_sub(1)?)?, upper)),
    }
}

/// How far the medians of two measurements of one thing lie apart, as a part of the smaller one. Zero where one of them is missing.
#[must_use]
pub fn noise(one: &[f64], other: &[f64]) -> f64 {
    match (median(one), median(other)) {
        (Some(one), Some(other)) if one.min(other) > 0.0 => (one - other).abs() / one.min(other),
        _ => 0.0,
    }
}

/// Of all ways to share values out, at most one in so many may set them as far apart: several candidates are compared, and one in twenty would
/// often be found by chance.
const RARE: f64 = 100.0;

/// Are the values of `later` larger than those of `earlier` by more than chance? The rank-sum test of Mann and Whitney (1947), exact and
/// one-sided, at 1 %. A draw counts as half a pair.
#[must_use]
pub fn is_larger(earlier: &[f64], later: &[f64]) -> bool {
    let (first, second) = (earlier.len(), later.len());
    if first == 0 || second == 0 {
        return false;
    }
    let pairs = earlier.iter().flat_map(|one| later.iter().map(move |other| one.total_cmp(other)));
    // Twice the number of pairs that stand the other way round.
    let against: usize = pairs.map(|order| usize::try_from(1 + order as i32).unwrap_or(0)).sum();
    let ways = ways(first, second);
    let all: f64 = ways.iter().sum();
    let as_far: f64 = ways.iter().take(against / 2 + 1).sum();
    as_far * RARE <= all
}

/// The spread of single runs is never taken to be less than this part of them: a few runs may lie together by chance.
const LEAST_SPREAD: f64 = 0.005;
/// What a t of so many degrees of freedom is exceeded by once in a thousand times (Student, 1908): the first six.
const STUDENT: [f64; 6] = [318.31, 22.327, 10.215, 7.173, 5.893, 5.208];

/// Are the values of `later` so much larger than those of `earlier` that even a few runs show it? Student's test of the logarithms, one-sided,
/// at 0.1 %: it trusts that times spread alike and is asked more than once, so that more is asked of it than of [`is_larger`].
#[must_use]
pub fn is_far_larger(earlier: &[f64], later: &[f64]) -> bool {
    if earlier.iter().chain(later).any(|value| *value <= 0.0) {
        return false;
    }
    let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let (earlier, later) = (logarithms(earlier), logarithms(later));
    let freedom = (earlier.len() + later.len()).saturating_sub(2);
    let (Some(first), Some(second)) = (mean(&earlier), mean(&later)) else { return false };
    let Some(least) = freedom.checked_sub(1).and_then(|at| STUDENT.get(at).or(STUDENT.last())) else { return false };
    let squares = |values: &[f64], mean: f64| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let spread = ((squares(&earlier, first) + squares(&later, second)) / count(freedom)).sqrt().max(LEAST_SPREAD);
    let error = spread * (1.0 / count(earlier.len()) + 1.0 / count(later.len())).sqrt();
    second - first > least * error
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

#[expect(clippy::cast_precision_loss, reason = "a few runs")]
fn count(values: usize) -> f64 {
    values as f64
}

/// In how many ways so many values of each kind can stand in a row, by the number of pairs in the wrong order.
fn ways(first: usize, second: usize) -> Vec<f64> {
    // Row by row: `row[n]` holds the ways of `m` values of one kind and `n` of the other.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; second + 1];
    for m in 1..=first {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for n in 1..=second {
            let mut sums = vec![0.0; m * n + 1];
            // The largest value is one of the second kind: no further pair is wrong; or one of the first: all n are.
            let without = next.last().into_iter().flatten().enumerate();
            let with = row.get(n).into_iter().flatten().enumerate().map(|(pairs, count)| (pairs + n, count));
            for (pairs, count) in without.chain(with) {
                if let Some(sum) = sums.get_mut(pairs) {
                    *sum += count;
                }
            }
            next.push(sums);
        }
        row = next;
    }
    row.pop().unwrap_or_default()
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
    fn noise_has_no_order() {
        assert!((noise(&[1.1], &[1.0]) - 0.1).abs() < 1e-12);
        assert!((noise(&[1.0], &[1.1]) - 0.1).abs() < 1e-12);
        assert!(noise(&[], &[1.0]) == 0.0);
    }

    #[test]
    fn ways_are_binomial_coefficients_in_all() {
        assert_eq!(ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert!((ways(4, 4).iter().sum::<f64>() - 70.0).abs() < 1e-9);
        assert!((ways(3, 5).iter().sum::<f64>() - 56.0).abs() < 1e-9);
    }

    #[test]
    fn a_great_difference_shows_in_a_few_runs() {
        assert!(is_far_larger(&[100.0, 101.0], &[120.0, 121.0, 119.5, 120.5]));
        assert!(is_far_larger(&[100.0, 100.0], &[104.0, 104.0, 104.0, 104.0]));
        assert!(!is_far_larger(&[100.0, 100.0], &[102.0, 102.0, 102.0, 102.0]), "runs spread by more than these do");
        assert!(!is_far_larger(&[100.0, 120.0], &[130.0, 131.0, 129.0, 130.0]), "they spread too far");
        assert!(!is_far_larger(&[100.0], &[200.0, 200.0]) && is_far_larger(&[100.0], &[120.0, 120.0, 120.0]));
        assert!(!is_far_larger(&[100.0], &[200.0]) && !is_far_larger(&[], &[1.0, 1.0, 1.0]));
        assert!(!is_far_larger(&[0.0, 0.0], &[1.0, 1.0, 1.0]));
    }

    #[test]
    fn what_chance_does_is_not_larger() {
        let earlier = [33.0, 33.3, 34.6, 35.0, 41.8];
        assert!(is_larger(&earlier, &[42.0, 42.1, 43.9, 44.5, 50.0]));
        assert!(is_larger(&earlier, &[39.2, 42.1, 43.9, 44.5, 50.0]), "one pair of 25: 2 of 252");
        assert!(!is_larger(&earlier, &[34.9, 42.1, 43.9, 44.5, 50.0]), "two pairs: 4 of 252");
        assert!(!is_larger(&[1.0, 1.0, 1.0], &[2.0, 2.0, 2.0]), "three runs tell nothing: 1 of 20");
        assert!(!is_larger(&[1.0; 6], &[1.0; 6]));
        assert!(!is_larger(&[], &[1.0]) && !is_larger(&[1.0], &[]));
    }
}
