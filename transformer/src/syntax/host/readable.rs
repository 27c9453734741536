//! The text that the grammars read: the file's, byte for byte, but for what they cannot read.

use super::{HostError, Limits, nesting};
use crate::source::pragma_scan::mask;
use crate::source::{Scan, SourceFile};

/// The masked text, if it is text and within the limits.
pub(super) fn readable_text(file: &SourceFile, scan: &Scan, limits: &Limits) -> Result<Vec<u8>, HostError> {
    if file.text.len() > limits.bytes.min(u32::MAX as usize / 2) {
        return Err(HostError::TooLarge(file.text.len()));
    }
    if let Some(at) = memchr::memchr(0, &file.text) {
        return Err(HostError::Nul(at));
    }
    let mut text = mask(&file.text, &scan.masked);
    end_empty_definitions(&mut text, scan);
    end_lines_with_newlines(&mut text);
    respell(&mut text);
    simplify_new_pointers(&mut text);
    match nesting::too_deep(&text, limits.depth) {
        Some(at) => Err(HostError::TooDeep(at)),
        None => Ok(text),
    }
}

/// To the grammars a macro's text may begin in the next line where blanks stand behind its name: `#define NONE `. The line ends at the first one.
fn end_empty_definitions(text: &mut [u8], scan: &Scan) {
    for definition in scan.definitions.iter().filter(|definition| definition.body.is_empty()) {
        let head = definition.parameters.unwrap_or(definition.name).end + usize::from(definition.parameters.is_some());
        let rest = text.get_mut(head..definition.span.end).unwrap_or_default();
        rest.iter_mut().take_while(|byte| matches!(byte, b' ' | b'\t')).for_each(|byte| *byte = b'\n');
    }
}

/// Gives words the spelling that the grammars know in each place: that of C knows `_Thread_local` by C23's name alone and would take it for a
/// type, and both read `__restrict` only before other qualifiers of a pointer. What a node shows of the file is still a word of these.
fn respell(text: &mut [u8]) {
    for (word, known) in RESPELLED {
        let places: Vec<usize> = memchr::memmem::find_iter(text, word.as_bytes()).collect();
        for at in places {
            let end = at + word.len();
            let is_part =
                |index: Option<usize>| index.and_then(|index| text.get(index)).is_some_and(|byte| is_word(*byte));
            if !is_part(at.checked_sub(1)) && !is_part(Some(end)) {
                text[at..end].copy_from_slice(known.as_bytes());
            }
        }
    }
}

/// Words and, as long as these, what is read instead.
const RESPELLED: [(&str, &str); 2] = [("_Thread_local", "thread_local "), ("__restrict", "  restrict")];

/// The grammars end a line comment or a preprocessor line only at `\n`; compilers also at a lone `\r`.
fn end_lines_with_newlines(text: &mut [u8]) {
    let lone: Vec<usize> = memchr::memchr_iter(b'\r', text).filter(|at| text.get(at + 1) != Some(&b'\n')).collect();
    for at in lone {
        if let Some(byte) = text.get_mut(at) {
            *byte = b'\n';
        }
    }
}

/// The grammar of C++ does not read `new double*[n]`, an array of pointers: it is told of `new double [n]`. What is made there is memory
/// in both cases, and no type is taken from the expression.
fn simplify_new_pointers(text: &mut [u8]) {
    let places: Vec<usize> = memchr::memmem::find_iter(text, b"new").collect();
    for at in places {
        let is_part = at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|byte| is_word(*byte));
        let stars = if is_part { None } else { stars_of_new(text, at + 3) };
        for byte in text.get_mut(stars.unwrap_or(0..0)).into_iter().flatten().filter(|byte| **byte == b'*') {
            *byte = b' ';
        }
    }
}

/// The `*` between a type and the `[` behind it, where the type begins at a byte.
fn stars_of_new(text: &[u8], start: usize) -> Option<std::ops::Range<usize>> {
    let rest = text.get(start..)?;
    let blanks = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let before = blanks(rest);
    let mut open = 0_usize;
    let mut is_part = |byte: &u8| {
        match byte {
            b'<' => open += 1,
            b'>' => open = open.saturating_sub(1),
            _ => {}
        }
        is_word(*byte) || byte.is_ascii_whitespace() || matches!(byte, b':' | b'<' | b'>') || open > 0 && *byte == b','
    };
    let ty = rest.iter().take_while(|byte| is_part(byte)).count();
    let is_separate = before > 0 && rest.get(before).is_some_and(|byte| is_word(*byte) || *byte == b':');
    let behind = rest.get(ty..)?;
    let stars = behind.iter().take_while(|byte| **byte == b'*' || byte.is_ascii_whitespace()).count();
    let is_it = is_separate && stars > 0 && behind.first() == Some(&b'*') && behind.get(stars) == Some(&b'[');
    is_it.then_some(start + ty..start + ty + stars)
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::{readable_text, respell, simplify_new_pointers};
    use crate::source::{SourceFile, scan};
    use crate::syntax::Limits;

    #[test]
    fn empty_definitions_end_in_their_lines() {
        let read = |text: &str| {
            let file = SourceFile::new("a.c", text.as_bytes().to_vec());
            String::from_utf8(readable_text(&file, &scan(&file.text), &Limits::default()).unwrap()).unwrap()
        };
        assert_eq!(read("#define A \t\nint a;"), "#define A\n\n\nint a;");
        assert_eq!(read("#define A(x) \r\nint a;"), "#define A(x)\n\r\nint a;");
        for same in ["#define A\nint a;", "#define A b \nint a;", "#define A(x)\nint a;", "# define A \\\n\nint a;"] {
            assert_eq!(read(same).replace('\n', " "), same.replace('\n', " "));
        }
    }

    #[test]
    fn words_are_spelt_as_the_grammars_know_them() {
        let mut bytes =
            *b"double *const __restrict p, *__restrict__ q, not__restrict; _Thread_local int _Thread_locals;";
        respell(&mut bytes);
        let read = std::str::from_utf8(&bytes).unwrap();
        assert_eq!(
            read,
            "double *const   restrict p, *__restrict__ q, not__restrict; thread_local  int _Thread_locals;"
        );
    }

    #[test]
    fn new_arrays_of_pointers_become_arrays() {
        let read = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            simplify_new_pointers(&mut bytes);
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(read("p = new double*[n];"), "p = new double [n];");
        assert_eq!(read("p = new std::map<int, T> **[n + 1];"), "p = new std::map<int, T>   [n + 1];");
        for same in
            ["new double[n]", "renew double*[n]", "new T*", "new (at) T*[n]", "new int(a*b[3])", "news*[n]", "new"]
        {
            assert_eq!(read(same), same);
        }
    }
}
