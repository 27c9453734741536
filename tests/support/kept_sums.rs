//! Sums that are kept in variables, read as the sums in memory that they stand for: what `scalarize` and `reduce` change is undone by the text alone.

/// Host code, without comments and directives, in which `double sum = V; .. sum .. ; E = sum;` reads `E = V; .. E .. ;`.
pub fn in_memory(code: &str) -> String {
    let mut statements: Vec<String> = code.split_inclusive([';', '{', '}']).map(str::to_owned).collect();
    // From the end: what a sum stores may be another sum that is declared behind it.
    for first in (0..statements.len()).rev() {
        let Some((name, value)) = declared(&statements[first]) else { continue };
        let stored = |statement: &String| {
            let (element, stored) = own(statement).1.strip_suffix(';')?.split_once('=')?;
            let element = element.trim();
            // `reduce` forms the sum of a variable in an unsigned one.
            (stored.trim() == name && (element.contains('[') || element == value)).then(|| element.to_owned())
        };
        let is_again = |statement: &String| declared(statement).is_some_and(|(other, _)| other == name);
        let mut behind = statements.iter().enumerate().skip(first + 1).take_while(|(_, it)| !is_again(it));
        let found = behind.find_map(|(last, it)| Some((last, stored(it)?)));
        let Some((last, element)) = found else { continue };
        for statement in &mut statements[first + 1..last] {
            *statement = renamed(statement, &name, &element);
        }
        let before = [first, last].map(|index| own(&statements[index]).0.to_owned());
        let set = if value == element { String::new() } else { format!("{element} = {value};") };
        statements[first] = format!("{} {set}", before[0]);
        statements[last].clone_from(&before[1]);
    }
    statements.concat()
}

/// The variable of a sum that a statement declares, and its first value.
fn declared(statement: &str) -> Option<(String, String)> {
    let (head, value) = own(statement).1.strip_suffix(';')?.split_once('=')?;
    let (ty, name) = head.trim().rsplit_once(' ')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit());
    let is_type = ty.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ') && !ty.is_empty();
    let is_sum = name.strip_prefix("sum").is_some_and(is_number);
    (is_type && is_sum).then(|| (name.to_owned(), value.trim().to_owned()))
}

/// What stands on lines before a statement, such as a comment, and the statement.
fn own(statement: &str) -> (&str, &str) {
    let trimmed = statement.trim_end();
    let start = trimmed.rfind('\n').map_or(0, |at| at + 1);
    (&trimmed[..start], trimmed[start..].trim())
}

/// A statement with another text in the place of a word.
fn renamed(statement: &str, name: &str, element: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), statement);
    while let Some(start) = rest.find(is_word) {
        let (before, behind) = rest.split_at(start);
        let end = behind.find(|c| !is_word(c)).unwrap_or(behind.len());
        let (word, after) = behind.split_at(end);
        out += before;
        out += if word == name { element } else { word };
        rest = after;
    }
    out + rest
}
