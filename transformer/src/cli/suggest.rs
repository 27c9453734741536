//! Which known name was meant by an unknown one.

/// The known name that is nearest to `name`, if it is near enough to be meant: at most a third of it mistyped.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|candidate| (distance(name, candidate), candidate));
    let (distance, candidate) = distances.min()?;
    (distance * 3 <= name.len().max(candidate.len())).then_some(candidate)
}

/// `; did you mean ..?` where a known name is near, else nothing.
pub(super) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|known| format!("; did you mean `{known}`?")).unwrap_or_default()
}

/// How many insertions, deletions, replacements and exchanges of neighbouring bytes lead from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    // One row for each prefix of `a`: the distances to the prefixes of `b`.
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    let at = |rows: &[Vec<usize>], i: usize, j: usize| rows.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = at(&rows, i, j) + usize::from(left != right);
            let mut best = replaced.min(at(&rows, i, j + 1) + 1).min(row.last().copied().unwrap_or(0) + 1);
            if i > 0 && j > 0 && a.get(i - 1) == Some(right) && b.get(j - 1) == Some(left) {
                best = best.min(at(&rows, i - 1, j - 1) + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let known = ["split", "hoist", "collapse"];
        assert_eq!(nearest("splt", known), Some("split"));
        assert_eq!(nearest("colapse", known), Some("collapse"));
        assert_eq!(nearest("vectorize", known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("spilt", "split"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
