//! Comments by which a source file keeps the tool away from its constructs, or silences a diagnostic.
//!
//! `// ompsplit off` .. `// ompsplit on` (or the end of the file): constructs that touch the range are not changed, and
//! get no diagnostics. `NOLINT(OMPS104)` silences that rule on its own line, `NOLINTNEXTLINE(..)` on the next, and
//! without a list every rule, as in clang-tidy.

use crate::source::{Scan, SourceFile, Span};

/// One `NOLINT` or `NOLINTNEXTLINE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The comment.
    pub span: Span,
    /// The line, counted from 1, whose diagnostics it silences.
    pub line: usize,
    /// The names in its parentheses, which may end with `*`; `None` silences every rule.
    pub names: Option<Vec<String>>,
}

impl Silence {
    /// Does it silence the rule `id`?
    #[must_use]
    pub fn covers(&self, id: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|name| matches(name, id)))
    }

    /// The names in it that are rules of this tool, without patterns.
    pub fn own_rules(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter().flatten().map(String::as_str);
        names.filter(|name| is_own_rule(name))
    }
}

/// All suppressions of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    /// The ranges that are switched off, in order and disjoint.
    pub off: Vec<Span>,
    /// The silenced lines, in the order of the text.
    pub silences: Vec<Silence>,
}

impl Suppressions {
    /// Reads the comments that the scan noted.
    #[must_use]
    pub fn read(file: &SourceFile, scan: &Scan) -> Self {
        let mut all = Self::default();
        let mut off_since = None;
        for note in &scan.notes {
            match switch(&file.show(note.span)) {
                Some(Switch::Off) => off_since = off_since.or(Some(note.span.start)),
                Some(Switch::On) => all.off.extend(off_since.take().map(|start| Span::new(start, note.span.end))),
                None => all.silences.extend(silences(file, note.span)),
            }
        }
        all.off.extend(off_since.map(|start| Span::new(start, file.text.len())));
        all
    }

    /// Is a construct that covers `extent` switched off, in whole or in part?
    #[must_use]
    pub fn is_off(&self, extent: Span) -> bool {
        self.off.iter().any(|off| off.overlaps(extent))
    }

    /// The suppression (an index into [`Self::silences`]) that silences the rule `id` on one of these lines.
    #[must_use]
    pub fn silenced_by(&self, id: &str, lines: &[usize]) -> Option<usize> {
        self.silences.iter().position(|silence| lines.contains(&silence.line) && silence.covers(id))
    }
}

/// `ompsplit off` and `ompsplit on`.
enum Switch {
    Off,
    On,
}

/// The switch in a comment: its first word is `ompsplit`, the second the state; the rest is for people.
fn switch(comment: &str) -> Option<Switch> {
    let text = comment.trim_start_matches(['/', '*', '!', '<', ' ', '\t']);
    let rest = text.strip_prefix("ompsplit")?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let word = rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()?;
    match word {
        "off" => Some(Switch::Off),
        "on" => Some(Switch::On),
        _ => None,
    }
}

/// Every `NOLINT` and `NOLINTNEXTLINE` in a comment.
fn silences(file: &SourceFile, span: Span) -> Vec<Silence> {
    let text = file.bytes(span);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = find(text, at, b"NOLINT") {
        let rest = text.get(offset + b"NOLINT".len()..).unwrap_or_default();
        let (rest, next_line) = rest.strip_prefix(b"NEXTLINE").map_or((rest, 0), |rest| (rest, 1));
        at = text.len() - rest.len();
        // `NOLINTBEGIN`, `NOLINTEND` and words that merely contain the name are not suppressions of this tool.
        let joined = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let before = offset.checked_sub(1).and_then(|index| text.get(index));
        if rest.first().is_some_and(joined) || before.is_some_and(joined) {
            continue;
        }
        let line = file.lines.line_column(span.start + offset).line + next_line;
        found.push(Silence { span, line, names: names(rest) });
    }
    found
}

/// The comma-separated names in the parentheses that follow at once.
fn names(rest: &[u8]) -> Option<Vec<String>> {
    let inner = rest.strip_prefix(b"(")?;
    let end = inner.iter().position(|byte| *byte == b')')?;
    let list = String::from_utf8_lossy(inner.get(..end)?);
    Some(list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
}

/// Does `pattern`, in which `*` stands for any text, match `id`? `*` counts only at the start or the end of a pattern.
fn matches(pattern: &str, id: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (_, Some(start)) if !start.starts_with('*') => id.starts_with(start),
        (Some(end), _) => id.ends_with(end.trim_end_matches('*')),
        _ => pattern.eq_ignore_ascii_case(id),
    }
}

/// Is a name the id of a rule of this tool: `OMPS` and digits?
fn is_own_rule(name: &str) -> bool {
    name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("OMPS"))
        && name.len() > 4
        && name.bytes().skip(4).all(|byte| byte.is_ascii_digit())
}

/// Where `needle` next stands in `text`.
fn find(text: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(needle.len()).position(|window| window == needle).map(|index| from + index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Note;

    /// Reads the suppressions of a text in which every line that starts with `//` or `/*` is a comment.
    fn read(text: &str) -> Suppressions {
        let file = SourceFile::new("a.c", text.as_bytes().to_vec());
        let mut scan = Scan::default();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(at) = line.find("//").or_else(|| line.find("/*")) {
                scan.notes.push(Note { span: Span::new(start + at, start + line.trim_end().len()) });
            }
            start += line.len();
        }
        Suppressions::read(&file, &scan)
    }

    #[test]
    fn off_reaches_to_on_or_to_the_end() {
        let text = "a\n// ompsplit off: vendor code\nb\n/* ompsplit on */\nc\n// ompsplit off\nd\n";
        let all = read(text);
        let shown: Vec<_> = all.off.iter().map(|span| &text[span.start..span.end]).collect();
        assert_eq!(shown, ["// ompsplit off: vendor code\nb\n/* ompsplit on */", "// ompsplit off\nd\n"]);
        let at = |word: &str| text.find(word).unwrap();
        assert!(all.is_off(Span::new(at("b\n"), at("b\n") + 1)));
        assert!(!all.is_off(Span::new(at("c\n"), at("c\n") + 1)));
    }

    #[test]
    fn words_that_only_look_like_switches_are_none() {
        assert_eq!(read("// ompsplit offers much\n// ompsplitter off\n// see ompsplit off\n"), Suppressions::default());
    }

    #[test]
    fn nolint_names_rules_on_its_own_or_the_next_line() {
        let all = read("x; // NOLINT(OMPS104, bugprone-foo)\n// NOLINTNEXTLINE(OMPS2*)\ny;\nz; // NOLINT\n");
        let ids = |line: usize| -> Vec<&str> {
            let known = ["OMPS104", "OMPS201", "OMPS301"];
            known.into_iter().filter(|id| all.silenced_by(id, &[line]).is_some()).collect()
        };
        assert_eq!(ids(1), ["OMPS104"]);
        assert!(ids(2).is_empty());
        assert_eq!(ids(3), ["OMPS201"]);
        assert_eq!(ids(4).len(), 3);
    }

    #[test]
    fn nolintbegin_is_not_nolint() {
        assert_eq!(read("// NOLINTBEGIN(OMPS104)\n// XNOLINT\n// NOLINTEND\n"), Suppressions::default());
    }

    #[test]
    fn only_whole_ids_count_as_named() {
        let all = read("// NOLINT(OMPS104, OMPS*, bugprone-foo, OMPSX1)\n");
        assert_eq!(all.silences[0].own_rules().collect::<Vec<_>>(), ["OMPS104"]);
    }
}
