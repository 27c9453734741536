//! The macros of a compilation, from the output of `-E -dD`.

use std::collections::{BTreeMap, BTreeSet};

use crate::semantics::facts::MacroText;
use crate::source::LineIndex;

/// The macros that are defined outside of the file.
#[derive(Debug, Default)]
pub(super) struct Macros {
    /// The macros with one definition that is never taken back.
    pub known: BTreeMap<String, MacroText>,
    /// Every name that is a macro anywhere.
    pub names: BTreeSet<String>,
}

/// Reads the preprocessor's output; `main` is the name of the file in its line markers.
pub(super) fn read(output: &str, main: &str, text: &[u8]) -> Macros {
    let lines = LineIndex::new(text);
    let mut found = Macros::default();
    let mut doubtful: BTreeSet<String> = BTreeSet::new();
    let (mut in_main, mut line) = (false, 0_usize);
    for row in output.lines() {
        if let Some((number, name)) = marker(row) {
            in_main = name == main;
            line = if in_main { number } else { line };
            continue;
        }
        if let Some(definition) = row.strip_prefix("#define ") {
            let since = if line == 0 { 0 } else { lines.line_start(line).unwrap_or(text.len()) };
            let Some((name, definition)) = definition_of(definition, since) else { continue };
            let again = found.names.contains(&name)
                && found
                    .known
                    .get(&name)
                    .is_none_or(|known| known.body != definition.body || known.parameters != definition.parameters);
            if in_main || again {
                doubtful.insert(name.clone());
            }
            found.names.insert(name.clone());
            found.known.entry(name).or_insert(definition);
        } else if let Some(name) = row.strip_prefix("#undef ") {
            found.names.insert(name.trim().to_owned());
            doubtful.insert(name.trim().to_owned());
        }
        line += usize::from(in_main);
    }
    found.known.retain(|name, _| !doubtful.contains(name));
    found
}

/// `# 12 "file.h" 1`: the line and the file.
pub(in crate::validate::clang) fn marker(row: &str) -> Option<(usize, String)> {
    let (number, rest) = row.strip_prefix("# ")?.split_once(' ')?;
    let name = rest.strip_prefix('"')?.rsplit_once('"')?.0;
    Some((number.parse().ok()?, name.replace("\\\\", "\\").replace("\\\"", "\"")))
}

/// The macro that stands behind `#define`.
fn definition_of(text: &str, since: usize) -> Option<(String, MacroText)> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (parameters, body) = match rest.strip_prefix('(') {
        Some(rest) => {
            let (list, body) = rest.split_once(')')?;
            let names = list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
            (Some(names.collect()), body)
        }
        None => (None, rest),
    };
    (!name.is_empty()).then(|| (name.to_owned(), MacroText { parameters, body: body.trim().to_owned(), since }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_macros_with_one_definition_elsewhere_are_known() {
        let output = "# 1 \"<built-in>\" 1\n#define N 4\n# 1 \"/p/f.c\" 2\nint a;\n# 1 \"/p/h.h\" 1\n#define SIZE (N * 2)\n\
                      #define AT(i, j) a[(i) * SIZE + (j)]\n#define TWICE 1\n#undef TWICE\n#define OWN 3\n# 3 \"/p/f.c\" 2\n\
                      #define OWN 2\n#define HERE 1\n";
        let macros = read(output, "/p/f.c", b"int a;\n#include \"h.h\"\n#define OWN 2\n");
        let names: Vec<&str> = macros.known.keys().map(String::as_str).collect();
        assert_eq!(names, ["AT", "N", "SIZE"]);
        assert_eq!((macros.known["N"].since, macros.known["SIZE"].since), (0, 7));
        assert_eq!(macros.known["AT"].parameters.as_deref(), Some(["i".to_owned(), "j".to_owned()].as_slice()));
        assert!(["TWICE", "OWN", "HERE"].iter().all(|name| macros.names.contains(*name)));
    }
}
