//! What stands in a Markdown text.

use std::collections::BTreeSet;

/// The blocks of a Markdown text that are fenced as `language`.
pub fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(name), None) => open = Some((name == language, String::new())),
            (Some(_), Some(_)) => found.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, text)| text)),
            (None, Some((_, block))) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// What stands below a heading of the second level.
pub fn section<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n"))?;
    Some(rest.split_once("\n## ").map_or(rest, |(own, _)| own))
}

/// The lines of the blocks in `sh`, without what follows a `#`.
pub fn commands(text: &str) -> Vec<String> {
    let lines = blocks(text, "sh").join("");
    let code = lines.lines().map(|line| line.split(" #").next().unwrap_or_default().trim().to_owned());
    code.filter(|line| !line.is_empty()).collect()
}

/// The cells of the rows of all tables in a text.
pub fn cells(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The words between backticks.
pub fn quoted(text: &str) -> BTreeSet<&str> {
    let outside = text.split("```").step_by(2);
    outside.flat_map(|part| part.split('`').skip(1).step_by(2)).collect()
}

/// The numbers of the rules that a text names; `OMPS101 to OMPS104` names four.
pub fn rules_in(text: &str) -> BTreeSet<u32> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = BTreeSet::new();
    let mut previous: Option<(u32, usize)> = None;
    for (at, _) in text.match_indices("OMPS") {
        let end = at + 7;
        let Some(number) = text.get(at + 4..end).and_then(|digits| digits.parse::<u32>().ok()) else { continue };
        match previous {
            Some((first, before)) if &text[before..at] == " to " => found.extend(first..=number),
            _ => found.extend([number]),
        }
        previous = Some((number, end));
    }
    found
}
