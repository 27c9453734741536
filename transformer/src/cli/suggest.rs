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

/// How many insertions, deletions, replacements and exchanges of neighbours lead from `a` to `b`, whatever the case of their letters.
fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_ascii_lowercase(), &b.to_ascii_lowercase())
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
        assert_eq!(distance("Spilt", "split"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
