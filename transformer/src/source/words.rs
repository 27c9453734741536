//! Texts that are looked at word by word, without a grammar.

/// The names, keywords and numbers in a text.
pub fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !is_part_of_word(c)).filter(|word| !word.is_empty())
}

/// A text with some of its words replaced.
#[must_use]
pub fn with_words(text: &str, replaced: &dyn Fn(&str) -> Option<String>) -> String {
    let mut found = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, found: &mut String| {
        match replaced(word) {
            Some(other) => found.push_str(&other),
            None => found.push_str(word),
        }
        word.clear();
    };
    for c in text.chars() {
        if is_part_of_word(c) {
            word.push(c);
        } else {
            flush(&mut word, &mut found);
            found.push(c);
        }
    }
    flush(&mut word, &mut found);
    found
}

/// A text with each of its comments replaced by a blank. What looks like a comment in a string is lost as well.
#[must_use]
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        let (code, comment) = rest.split_at(at);
        out.push_str(code);
        out.push(' ');
        let end = if comment.starts_with("/*") { comment.find("*/").map(|end| end + 2) } else { comment.find('\n') };
        rest = end.and_then(|end| comment.get(end..)).unwrap_or_default();
    }
    out + rest
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
