//! Declarative directives that do not stand in the text as such: those that macros make, and those whose two ends stand
//! in different files. They may declare any name as a device variable, a function with variants or a type with a
//! mapper, so that no name is certain to mean what the text says.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::ReasonCode;
use crate::semantics::Program;
use crate::source::{Scan, SourceFile, Span, scan, words};

/// The rule, the place in the file if it is there, and the message.
pub(super) type Found = (ReasonCode, Option<Span>, String);

/// Words that such directives start with (OpenMP 5.2, chapter 7 and section 8.2), and the one for blocks of them.
const DECLARATIVE: &[&str] = &["allocate", "begin", "declare", "groupprivate", "requires", "threadprivate"];

/// A file and what the byte scan finds in it.
type Read<'f> = (&'f SourceFile, Cow<'f, Scan>);

/// The first such directive of the file and its headers.
pub(super) fn find(context: &Program<'_>) -> Option<Found> {
    let headers = context.compilation.headers.iter().map(|header| (header, Cow::Owned(scan(&header.text))));
    let files: Vec<Read<'_>> = std::iter::once((context.file, Cow::Borrowed(context.scan))).chain(headers).collect();
    let place = |file: &SourceFile, span| Some(span).filter(|_| std::ptr::eq(file, context.file));
    let macros = Macros::of(&files, context.compilation.definitions.iter().map(|flag| flag.name.clone()));
    let made =
        files.iter().find_map(|read| Some((read.0, macros.declaring_use(read).or_else(|| macros.in_directive(read))?)));
    if let Some((file, span)) = made {
        let message = "a macro makes a directive that may declare anything";
        return Some((ReasonCode::MacroDirective, place(file, span), message.to_owned()));
    }
    let (file, span) = files.iter().find_map(|read| Some((read.0, open_end(read)?)))?;
    let message = format!("in `{}` stands one end of a block of declarations alone", file.path.display());
    Some((ReasonCode::HiddenCode, place(file, span), message))
}

/// The words of all definitions of each macro.
struct Macros {
    words: BTreeMap<String, BTreeSet<String>>,
}

impl Macros {
    fn of(files: &[Read<'_>], flags: impl Iterator<Item = String>) -> Self {
        let mut words_of: BTreeMap<String, BTreeSet<String>> = flags.map(|name| (name, BTreeSet::new())).collect();
        for (file, scan) in files {
            for definition in &scan.definitions {
                let body = file.show(definition.body).into_owned();
                let name = file.show(definition.name).into_owned();
                words_of.entry(name).or_default().extend(words(&body).map(str::to_owned));
            }
        }
        Self { words: words_of }
    }

    /// The words of a macro's replacement, with those of the macros in it.
    fn reach(&self, name: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![name];
        while let Some(name) = waiting.pop() {
            for word in self.words.get(name).into_iter().flatten() {
                if found.insert(word.as_str()) {
                    waiting.push(word);
                }
            }
        }
        found
    }

    /// The first use of a macro that leads to a pragma and whose text or arguments have words of such a directive.
    fn declaring_use(&self, (file, scan): &Read<'_>) -> Option<Span> {
        let text = file.text.as_slice();
        let mut leading = self.words.keys().filter_map(|name| {
            let reach = self.reach(name);
            let is_pragma = reach.contains("_Pragma") || reach.contains("__pragma");
            is_pragma.then(|| (name, reach.iter().any(|word| DECLARATIVE.contains(word))))
        });
        leading.find_map(|(name, declares)| {
            let mut uses = memchr::memmem::find_iter(text, name).filter(|at| is_word(text, *at, name.len()));
            let is_use = |at: &usize| {
                let mut defined = scan.definitions.iter().map(|definition| definition.span);
                let is_definition = defined.any(|span| span.start <= *at && *at < span.end);
                !is_definition && (declares || argument_words(text, at + name.len()))
            };
            uses.find(is_use).map(|at| Span::new(at, at + name.len()))
        })
    }

    /// A directive that declares something through a macro, or whose name comes from a macro.
    fn in_directive(&self, (file, scan): &Read<'_>) -> Option<Span> {
        let names = |text: &str| words(text).any(|word| self.words.contains_key(word));
        let found = scan.directives.iter().find(|directive| {
            let Some(body) = directive.body else { return false };
            let text = file.show(body);
            let mut all = words(&text);
            match (all.next(), all.next()) {
                // Mappers and reductions are searched for in each region that uses their types or operators.
                (Some("declare"), Some("mapper" | "reduction" | "simd")) => false,
                (Some(first), _) if DECLARATIVE.contains(&first) => names(&text),
                (Some(first), _) => self.reach(first).iter().any(|word| DECLARATIVE.contains(word)),
                (None, _) => false,
            }
        });
        found.map(|directive| directive.span)
    }
}

fn is_word(text: &[u8], at: usize, length: usize) -> bool {
    let continues = |at: Option<usize>| {
        at.and_then(|at| text.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    !continues(at.checked_sub(1)) && !continues(Some(at + length))
}

/// Is there a word of such a directive in the parentheses behind a macro's name?
fn argument_words(text: &[u8], behind: usize) -> bool {
    let rest = text.get(behind..).unwrap_or_default().trim_ascii_start();
    let mut depth = 0_usize;
    let end = rest.iter().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let arguments = String::from_utf8_lossy(rest.get(..end.unwrap_or(0)).unwrap_or_default());
    words(&arguments).any(|word| DECLARATIVE.contains(&word))
}

/// A `begin ..` or `declare target` without its end, or an end without its beginning.
fn open_end((file, scan): &Read<'_>) -> Option<Span> {
    let mut open: Vec<Span> = Vec::new();
    for directive in &scan.directives {
        let Some(body) = directive.body else { continue };
        let text = file.show(body);
        let all: Vec<&str> = words(&text).collect();
        match all.as_slice() {
            ["begin", ..] | ["declare", "target"] | ["declare_target"] => open.push(directive.span),
            ["end", ..] if open.pop().is_none() => return Some(directive.span),
            _ => {}
        }
    }
    open.pop()
}

#[cfg(test)]
mod tests {
    use crate::engine::{self, Options};
    use crate::plan::ReasonCode;
    use crate::source::SourceFile;

    const REGION: &str = "void f(int n, double *a, double *b)\n{\n#pragma omp target map(tofrom: a[0:n], b[0:n])\n    {\n\
        #pragma omp parallel for\n        for (int i = 0; i < n; i++) a[i] += level;\n        level++;\n\
        #pragma omp parallel for\n        for (int i = 0; i < n; i++) b[i] += level;\n    }\n}\n";

    /// The reasons why a file with the region behind `head` is not changed. Empty if it is changed.
    fn reasons(head: &str, headers: &[&str]) -> Vec<ReasonCode> {
        let file = SourceFile::new("program.c", format!("{head}\n{REGION}").into_bytes());
        let headers: Vec<SourceFile> =
            headers.iter().map(|text| SourceFile::new("header.h", text.as_bytes().to_vec())).collect();
        let outcome = engine::run(&file, &headers, &Options::default()).unwrap();
        if outcome.text.is_some() {
            return Vec::new();
        }
        outcome.plans.into_iter().flat_map(|plan| plan.reasons).map(|reason| reason.code).collect()
    }

    #[test]
    fn both_ends_of_a_block_stand_in_one_file() {
        let block = "#pragma omp begin declare target\nextern int other;\n#pragma omp end declare target\n";
        assert_eq!(reasons("int level = 4;", &[block]), []);
        let (begin, end) = block.split_at(block.find("extern").unwrap());
        assert!(reasons("int level = 4;", &[begin, end]).contains(&ReasonCode::HiddenCode));
        assert!(reasons("int level = 4;\n#pragma omp end declare target", &[begin]).contains(&ReasonCode::HiddenCode));
    }

    #[test]
    fn a_macro_of_a_header_may_declare() {
        let header = "#define DO(text) _Pragma(#text)\n#define INSIDE(a) DO(omp barrier)\n";
        let used = "int level = 4;\nvoid g(void) { INSIDE(1); }\n";
        assert_eq!(reasons(used, &[header]), []);
        let header = header.replace("barrier", "declare reduction(a : int : omp_out += omp_in)");
        assert!(reasons(used, &[&header]).contains(&ReasonCode::MacroDirective));
    }
}
