//! Macros whose body leads to a pragma.

use std::collections::BTreeMap;

use super::MacroDefinition;
use super::bytes::Bytes;

/// The macros of a file whose use may be a directive.
#[derive(Debug, Default)]
pub(super) struct PragmaMacros {
    /// By name: where the first such definition ends, and whether it takes arguments.
    names: BTreeMap<Vec<u8>, (usize, bool)>,
}

impl PragmaMacros {
    /// Marks the definitions that lead to a pragma, themselves or through others of the file.
    pub(super) fn of(text: &[u8], definitions: &mut [MacroDefinition]) -> Self {
        let text = Bytes(text);
        let words: Vec<Vec<Vec<u8>>> = definitions.iter().map(|d| body_words(text, d)).collect();
        let mut users: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (index, used) in words.iter().enumerate() {
            for word in used {
                users.entry(word).or_default().push(index);
            }
        }
        let mut waiting: Vec<Vec<u8>> = vec![b"_Pragma".to_vec(), b"__pragma".to_vec()];
        let mut names: BTreeMap<Vec<u8>, (usize, bool)> = BTreeMap::new();
        while let Some(word) = waiting.pop() {
            for index in users.remove(&*word).unwrap_or_default() {
                let Some(definition) = definitions.get_mut(index) else { continue };
                definition.leads_to_pragma = true;
                let name = text.word(definition.name.start).0.into_owned();
                let entry = names.entry(name.clone()).or_insert_with(|| {
                    waiting.push(name);
                    (definition.span.end, definition.parameters.is_some())
                });
                entry.0 = entry.0.min(definition.span.end);
                entry.1 &= definition.parameters.is_some();
            }
        }
        Self { names }
    }

    /// Is `name` such a macro at position `at`? Then whether it takes arguments.
    pub(super) fn get(&self, name: &[u8], at: usize) -> Option<bool> {
        self.names.get(name).filter(|(defined, _)| *defined <= at).map(|(_, is_function)| *is_function)
    }
}

/// The words of a definition's body, but not a pragma operator that names another dialect: a macro for
/// `_Pragma("GCC unroll 4")` is no directive.
fn body_words(text: Bytes, definition: &MacroDefinition) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut separator = None;
    let mut at = definition.body.start;
    while at < definition.body.end {
        let (word, end) = text.word(at);
        if word.is_empty() {
            at = text.token_step(at, &mut separator);
            continue;
        }
        if !is_foreign_pragma(text, &word, end) {
            words.push(word.into_owned());
        }
        at = end;
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// Is the word at hand `_Pragma` before a string, or `__pragma`, with another sentinel than `omp`?
fn is_foreign_pragma(text: Bytes, word: &[u8], end: usize) -> bool {
    let opening = text.skip_line_trivia(end);
    if text.at(opening) != b'(' {
        return false;
    }
    let argument = text.skip_line_trivia(opening + 1);
    match word {
        b"_Pragma" if text.at(argument) == b'"' => {
            let sentinel = text.word(text.skip_blanks(argument + 1)).0;
            !sentinel.is_empty() && &*sentinel != b"omp"
        }
        b"__pragma" => {
            let sentinel = text.word(argument).0;
            sentinel.first().is_some_and(u8::is_ascii_lowercase) && &*sentinel != b"omp"
        }
        _ => false,
    }
}
