//! Errors and warnings of clang, and which of them are new.

use std::collections::BTreeSet;
use std::fmt;

/// How grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text does not compile.
    Error,
    /// It compiles, but something is odd.
    Warning,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// How grave it is.
    pub severity: Severity,
    /// `file:line:column`. Empty if clang names no place.
    pub place: String,
    /// What it says, with the flag that governs it in brackets.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        if self.place.is_empty() {
            write!(f, "{severity}: {}", self.text)
        } else {
            write!(f, "{}: {severity}: {}", self.place, self.text)
        }
    }
}

/// The errors and warnings in what clang wrote; notes and excerpts of the source are passed over.
#[must_use]
pub fn messages(stderr: &str) -> Vec<Message> {
    stderr.lines().filter_map(message).collect()
}

/// The messages of `after` whose text does not occur in `before`. Places are not compared, because an edit moves lines.
/// Each text is given once, because the compilations for host and device both report it.
#[must_use]
pub fn new_messages(before: &[Message], after: &[Message]) -> Vec<Message> {
    let old: BTreeSet<_> = before.iter().map(kind).collect();
    let mut seen = BTreeSet::new();
    after.iter().filter(|message| !old.contains(&kind(message)) && seen.insert(kind(message))).cloned().collect()
}

/// Severity and text: two messages are equal if these are.
fn kind(message: &Message) -> (Severity, &str) {
    (message.severity, &message.text)
}

fn message(line: &str) -> Option<Message> {
    for (marker, severity) in
        [("fatal error: ", Severity::Error), ("error: ", Severity::Error), ("warning: ", Severity::Warning)]
    {
        if let Some(text) = line.strip_prefix(marker) {
            return Some(Message { severity, place: String::new(), text: text.to_owned() });
        }
        if let Some((place, text)) = line.split_once(&format!(": {marker}"))
            && is_place(place)
        {
            return Some(Message { severity, place: place.to_owned(), text: text.to_owned() });
        }
    }
    None
}

/// `file:line:column`, or the name of the compiler.
fn is_place(place: &str) -> bool {
    let mut parts = place.rsplitn(3, ':');
    let numbers = parts.next().zip(parts.next());
    numbers.is_some_and(|(column, line)| [column, line].iter().all(|n| n.bytes().all(|b| b.is_ascii_digit())))
        || (place.contains("clang") && !place.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a.c:3:4: warning: unused variable 'x' [-Wunused-variable]\n    3 |  int x; // warning: no\n";

    #[test]
    fn only_messages_are_read() {
        let read = messages(TEXT);
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].place, "a.c:3:4");
        assert_eq!(read[0].text, "unused variable 'x' [-Wunused-variable]");
    }

    #[test]
    fn a_moved_message_is_not_new_and_a_new_one_is_given_once() {
        let before = messages(TEXT);
        let moved = messages(&TEXT.replace("a.c:3:4", "a.c:7:4"));
        assert_eq!(new_messages(&before, &moved), []);
        let worse = messages(&format!("{TEXT}a.c:9:1: error: no\na.c:9:1: error: no\n"));
        assert_eq!(new_messages(&before, &worse).len(), 1);
    }
}
