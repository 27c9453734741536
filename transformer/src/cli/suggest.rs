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

/// How many insertions, deletions and replacements of one byte lead from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        let mut next = vec![before];
        for (above, right) in row.iter().skip(1).zip(b.bytes()) {
            let replaced = diagonal + usize::from(!left.eq_ignore_ascii_case(&right));
            before = replaced.min(above + 1).min(before + 1);
            next.push(before);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
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
        assert_eq!(distance("", "abc"), 3);
    }
}
