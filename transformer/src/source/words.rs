//! Texts that are looked at word by word, without a grammar.

/// The names, keywords and numbers in a text.
pub fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !is_part_of_word(c)).filter(|word| !word.is_empty())
}

/// Is it a character of names, keywords and numbers?
#[must_use]
pub fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_stands_between_other_characters() {
        let found: Vec<&str> = words("map(to: a_1[0:n2]) \\\n  x::y").collect();
        assert_eq!(found, ["map", "to", "a_1", "0", "n2", "x", "y"]);
        assert_eq!(words("").count(), 0);
    }
}
