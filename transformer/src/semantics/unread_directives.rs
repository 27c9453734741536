//! Directives that may be in the file without being read: made by macros, in included pieces, or in headers.

use memchr::memmem;

use crate::semantics::Program;
use crate::source::{Span, Spelling, is_part_of_word, words};
use crate::syntax::{ClauseName, Directive, Field, NodeId, NodeKind};

/// What tells of a directive: words that stand one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Telling {
    /// `nowait`: it is deferred.
    Nowait,
    /// `task` or `taskloop`: so are those in it.
    Task,
    Taskloop,
    /// `enter data`: what it maps stays.
    EnterData,
}

impl Telling {
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Nowait => &["nowait"],
            Self::Task => &["omp", "task"],
            Self::Taskloop => &["omp", "taskloop"],
            Self::EnterData => &["enter", "data"],
        }
    }

    /// The word that none of the others has.
    fn word(self) -> &'static str {
        match self {
            Self::Nowait => "nowait",
            Self::Task => "task",
            Self::Taskloop => "taskloop",
            Self::EnterData => "enter",
        }
    }

    /// Where the last of the words stands in a text behind the others.
    fn places(self, text: &str) -> Vec<usize> {
        let Some((last, before)) = self.words().split_last() else { return Vec::new() };
        let stands_at = |at: &usize| {
            let (head, rest) = text.split_at(*at);
            let is_word = words(rest).next() == Some(*last) && !head.ends_with(is_part_of_word);
            is_word
                && words(head).rev().zip(before.iter().rev()).filter(|(word, told)| word == *told).count()
                    == before.len()
        };
        memmem::find_iter(text.as_bytes(), last).filter(stands_at).collect()
    }
}

impl Program<'_> {
    /// Where a directive of some sort may stand that is not read.
    pub(crate) fn unread_directive(&self, telling: Telling) -> Option<Span> {
        if let Some(known) = self.unread_directives.borrow().get(&telling) {
            return *known;
        }
        let found = self.find_unread_directive(telling);
        self.unread_directives.borrow_mut().insert(telling, found);
        found
    }

    fn find_unread_directive(&self, telling: Telling) -> Option<Span> {
        let tells = |text: &str| !telling.places(text).is_empty();
        let is_in_flags = || {
            let mut bodies = self.compilation.definitions.iter().filter_map(|it| it.body.as_deref());
            bodies.any(|body| words(body).any(|word| word == telling.word()))
        };
        let is_in_headers =
            || self.compilation.headers.iter().any(|header| tells(&String::from_utf8_lossy(&header.text)));
        let hidden = || {
            let mut directives = self.constructs.directives.iter();
            directives.find(|directive| self.may_hide(directive, telling.word())).map(|directive| directive.span)
        };
        self.told_outside_directives(telling)
            .or_else(|| *self.included_code.get_or_init(|| self.included_code()))
            .or_else(hidden)
            .or_else(|| *self.pasted_directive.get_or_init(|| self.pasted_directive()))
            .or_else(|| (is_in_flags() || is_in_headers()).then_some(Span::new(0, 0)))
    }

    /// The words in code or in a macro's text; not in a comment, in a string of the program or in a directive that was read.
    fn told_outside_directives(&self, telling: Telling) -> Option<Span> {
        let Ok(text) = std::str::from_utf8(&self.file.text) else {
            let whole = Span::new(0, self.file.text.len());
            return (!telling.places(&self.file.show(whole)).is_empty()).then_some(Span::new(0, 0));
        };
        let mut places = telling.places(text).into_iter().map(|at| Span::new(at, at + telling.word().len()));
        places.find(|place| {
            let read = self.constructs.directives.iter().filter(|directive| directive.spelling != Spelling::Macro);
            let is_read = || read.into_iter().any(|directive| directive.span.contains(*place));
            let kind = self.tree.kind(self.tree.covering(*place));
            let is_text = matches!(kind, NodeKind::Comment | NodeKind::StringContent | NodeKind::StringLiteral);
            !is_text && !is_read()
        })
    }

    /// A file of the project that is included within a function, and is not in sight.
    fn included_code(&self) -> Option<Span> {
        let tree = self.tree;
        let is_in_sight = |name: &str| self.compilation.headers.iter().any(|header| header.path.ends_with(name));
        let is_hidden = |node: &NodeId| {
            let path = tree.child(*node, Field::Path).map(|path| self.file.show(tree.span(path)).into_owned());
            let is_of_system = path.as_deref().is_some_and(|path| path.starts_with('<'));
            !is_of_system && !path.is_some_and(|path| is_in_sight(path.trim_matches('"')))
        };
        let mut inside =
            tree.all_of(&[NodeKind::PreprocInclude]).filter(|node| self.function_of(tree.span(*node)).is_some());
        inside.find(is_hidden).map(|node| tree.span(node))
    }

    /// May what a directive says be other words, with this one among them, once its macros are expanded?
    fn may_hide(&self, directive: &Directive, word: &str) -> bool {
        let is_macro = |text: &str| words(text).any(|word| self.symbols().is_macro(word, directive.span.start));
        let unknown = directive.clauses.iter().filter(|clause| clause.name == ClauseName::Unknown);
        let mut unknown = unknown.map(|clause| clause.name_span).chain(directive.problems.iter().copied());
        let is_understood = |span: Span| is_macro(&self.file.show(span));
        let expands_to_word = |body: &str| body.contains("##") || words(body).any(|inner| inner == word);
        directive.spec.is_none() && !is_understood(directive.span)
            || unknown.any(|span| !is_understood(span))
            || self.uses_macro_with(directive.span, &expands_to_word)
    }

    /// A macro that makes a directive of what it is given, where macros paste words together.
    fn pasted_directive(&self) -> Option<Span> {
        let tree = self.tree;
        let bodies: Vec<_> = tree
            .all_of(&[NodeKind::PreprocDef, NodeKind::PreprocFunctionDef])
            .map(|node| (tree.span(node), self.file.show(tree.span(node))))
            .collect();
        let pastes = bodies.iter().any(|(_, body)| body.contains("##"));
        let mut makers = bodies.iter().filter(|(_, body)| body.contains("_Pragma"));
        makers.find(|_| pastes).map(|(span, _)| *span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::association::associate;
    use crate::semantics::Compilation;
    use crate::source::{SourceFile, scan};
    use crate::syntax::lower::DirectiveReader;
    use crate::syntax::{HostTree, Limits};

    /// The line of the directive that may stand there unread, from 1 on.
    fn unread(text: &str, header: &str, telling: Telling) -> Option<usize> {
        let file = SourceFile::new("a.c", text.as_bytes().to_vec());
        let scan = scan(&file.text);
        let tree = HostTree::parse(&file, &scan, &Limits::default()).unwrap();
        let mut reader = DirectiveReader::new();
        let directives = scan.directives.iter().map(|directive| reader.read(&file, directive)).collect();
        let constructs = associate(&file, &scan, &tree, directives);
        let headers = [SourceFile::new("h.h", header.as_bytes().to_vec())];
        let compilation = Compilation { headers: &headers, ..Compilation::default() };
        let program = Program::new(&file, &scan, &tree, &constructs, compilation);
        let found = program.unread_directive(telling)?;
        Some(text[..found.start].matches('\n').count() + 1)
    }

    #[test]
    fn what_is_read_or_no_directive_hides_nothing() {
        for text in [
            "void f(int *a) {\n#pragma omp target nowait\na[0] = 1;\n}",
            "void f(int *a) {\n_Pragma(\"omp target nowait\")\na[0] = 1;\n}",
            "// nowait\nvoid f(int *a) { g(\"nowait\"); }",
            "#define LIMIT thread_limit(64)\nvoid f(int *a) {\n#pragma omp target LIMIT\na[0] = 1;\n}",
            "#include <omp.h>\n#define UNROLL _Pragma(\"unroll\")\nvoid f(int *a) { UNROLL for (;;) a[0] = 1; }",
        ] {
            assert_eq!(unread(text, "void g(char *);", Telling::Nowait), None, "{text}");
        }
        assert_eq!(unread("void f(void) { int task = 3, enter = 4, data; }", "", Telling::Task), None);
        assert_eq!(unread("void f(void) { int task = 3, enter = 4, data; }", "", Telling::EnterData), None);
    }

    #[test]
    fn macros_and_included_pieces_hide_directives() {
        for (text, line) in [
            ("#define ASYNC nowait\nvoid f(int *a) {\n#pragma omp target ASYNC\na[0] = 1;\n}", 1),
            ("#define PR(x) _Pragma(#x)\nvoid f(int *a) {\nPR(omp target nowait)\na[0] = 1;\n}", 3),
            ("#define PR _Pragma(\"omp target nowait\")\nvoid f(int *a) {\nPR\na[0] = 1;\n}", 1),
            ("#define PR(x) _Pragma(#x)\n#define GLUE(a, b) a##b\nvoid f(int *a) { g(a); }", 1),
            ("void f(int *a) {\n#include \"piece.h\"\n}", 2),
            ("#include \"macros.h\"\nvoid f(int *a) {\n#pragma omp target SOMETHING\na[0] = 1;\n}", 3),
            ("#include \"macros.h\"\nvoid f(int *a) {\n#pragma omp SOMETHING map(a)\na[0] = 1;\n}", 3),
        ] {
            assert_eq!(unread(text, "", Telling::Nowait), Some(line), "{text}");
        }
        let helper = "static void g(int *a) {\n#pragma omp target nowait\na[0] = 1;\n}";
        assert_eq!(unread("void f(void) {}", helper, Telling::Nowait), Some(1));
    }

    #[test]
    fn data_may_be_entered_unread() {
        for text in [
            "#define ED enter data\nvoid f(int *a) {\n#pragma omp target ED map(to: a[0:9])\n}",
            "#define TED target enter data\nvoid f(int *a) {\n#pragma omp TED map(to: a[0:9])\n}",
            "#define E enter\n#define D data\nvoid f(int *a) {\n#pragma omp target E D map(to: a[0:9])\n}",
            "#define PR(x) _Pragma(#x)\nvoid f(int *a) {\nPR(omp target enter data map(to: a[0:9]))\n}",
            "#define IN _Pragma(\"omp target enter data map(to: a[0:9])\")\nvoid f(int *a) {\nIN\n}",
        ] {
            assert!(unread(text, "", Telling::EnterData).is_some(), "{text}");
        }
    }
}
