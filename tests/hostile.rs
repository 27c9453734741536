//! Input that no sane person wrote: each gives a tree or a clear error in bounded time and memory, and never a panic.

use std::time::{Duration, Instant};

use ompsplit::engine::{self, Options, Outcome};
use ompsplit::source::{Scan, SourceFile, Span, scan};
use ompsplit::syntax::host::parse_expression;
use ompsplit::syntax::{HostError, HostTree, Limits};

/// Far more than any of these takes on a busy machine, less than what is quadratic in their size.
const PATIENCE: Duration = Duration::from_secs(120);

fn read(name: &str, text: impl Into<Vec<u8>>) -> (Scan, Result<HostTree, HostError>) {
    let started = Instant::now();
    let file = SourceFile::new(name, text.into());
    let found = scan(&file.text);
    let tree = HostTree::parse(&file, &found, &Limits::default());
    if let Ok(tree) = &tree {
        use_tree(&file, &found, tree);
    }
    assert!(started.elapsed() < PATIENCE, "{name}: {:?}", started.elapsed());
    (found, tree)
}

/// Asks each directive's question of the tree.
fn use_tree(file: &SourceFile, found: &Scan, tree: &HostTree) {
    for directive in &found.directives {
        let behind = file.text.get(directive.span.end..).unwrap_or_default();
        let blanks = behind.iter().take_while(|b| b.is_ascii_whitespace()).count();
        if let Some(statement) = tree.statement_at(directive.span.end + blanks) {
            assert!(tree.span(statement).end <= file.text.len());
        }
        let _ = (tree.problem_in(directive.span), tree.covering(directive.span));
    }
    assert!(tree.descendants(tree.root()).all(|id| tree.span(id).end <= file.text.len()));
}

/// In C and in C++.
fn read_both(text: impl Into<Vec<u8>>) -> [(Scan, Result<HostTree, HostError>); 2] {
    let text = text.into();
    [read("a.c", text.clone()), read("a.cpp", text)]
}

/// Either outcome will do, as long as there is one.
fn survives(text: impl Into<Vec<u8>>) {
    let outcomes = read_both(text).map(|(_, tree)| tree.map_or_else(|error| error.to_string(), |_| "read".to_owned()));
    assert!(outcomes.iter().all(|outcome| !outcome.is_empty()));
}

#[track_caller]
fn assert_too_deep(name: &str, text: &str) {
    let (_, tree) = read(name, text);
    assert!(matches!(tree, Err(HostError::TooDeep(_) | HostError::Deadline)), "{:?}", tree.map(|t| t.language()));
}

#[track_caller]
fn assert_read(text: impl Into<Vec<u8>>) {
    for (_, tree) in read_both(text) {
        assert!(tree.is_ok(), "{:?}", tree.err());
    }
}

/// A generator that gives the same bytes each time (splitmix64).
fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb).to_be_bytes()[0]
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn binary_files_are_refused() {
    let utf16: Vec<u8> = "#pragma omp parallel\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for text in [b"int x;\0".to_vec(), utf16, random_bytes(1, 1 << 20)] {
        for (_, tree) in read_both(text) {
            assert!(matches!(tree, Err(HostError::Nul(_))));
        }
    }
}

#[test]
fn other_encodings_are_read() {
    assert_read(b"// \xe9\xe8\n#pragma omp parallel\n{ s = \"\xfc\"; } /* \xff\xfe */\n".to_vec());
    assert_read(b"int gr\xf6\xdfe;\n#pragma omp for if(\xf6)\nfor (;;) ;\n".to_vec());
    assert_read(b"\xef\xbb\xbf#pragma omp barrier\n".to_vec());
    assert_read(b"\xff\xfe\xfd\n".repeat(1000));
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("{", "}"), ("(", ")"), ("[", "]"), ("(", ""), ("{", ""), ("[[", "")] {
        let text = format!("void f(void) {{ x = {}1{}; }}\n", open.repeat(100_000), close.repeat(100_000));
        assert_too_deep("a.c", &text);
        assert_too_deep("a.cpp", &text);
    }
    let inside = |text: String| format!("void f(int a) {{\n{text};\n}}\n");
    assert_too_deep("a.c", &inside(format!("a = {}a", "- ".repeat(100_000))));
    assert_too_deep("a.c", &inside(format!("a = a{}", "+a".repeat(100_000))));
    assert_too_deep("a.c", &inside(format!("{}a", "if (a) ".repeat(100_000))));
    assert_too_deep("a.c", &inside(format!("{}a", "if (a) a; else ".repeat(100_000))));
    assert_too_deep("a.c", &inside(format!("{}a", "a ? a : ".repeat(100_000))));
    assert_too_deep("a.c", &inside(format!("{}a", "for (;;)\n#pragma omp for\n".repeat(20_000))));
}

#[test]
fn closing_brackets_alone_are_read() {
    assert_read("}".repeat(20_000));
    assert_read(")".repeat(20_000));
}

#[test]
fn huge_files_are_refused() {
    let line = format!("int x[] = {{{}}};", "1,".repeat(25 << 20));
    let (_, tree) = read("a.c", line);
    assert!(matches!(tree, Err(HostError::TooLarge(_))));
}

#[test]
fn long_lines_are_read() {
    assert_read(format!("int x[] = {{{}}};", "1,".repeat(100_000)));
    assert_read(format!("#pragma omp target map(to: {})\n{{ }}\n", "a[0:n],".repeat(50_000)));
    assert_read(format!("#pragma omp target {}\n{{ }}\n", "\\\n nowait ".repeat(50_000)));
    assert_read(format!("// {}\n", "\\ ".repeat(100_000)));
    assert_read(format!("#pragma omp target {}\n", "/* x\n */".repeat(50_000)));
}

#[test]
fn random_text_is_read_or_given_up() {
    for seed in 0..4 {
        let text: Vec<u8> = random_bytes(seed, 5_000).into_iter().map(|b| b.max(1)).collect();
        survives(text);
        let ascii: Vec<u8> = random_bytes(seed + 100, 5_000).into_iter().map(|b| b % 95 + 32).collect();
        survives(ascii);
        let pieces =
            ["#pragma omp ", "for", "(", ")", "{", "}", ";", "\n", "x", "=", "if", "else", "#if A\n", "#endif\n"];
        let tokens = random_bytes(seed + 200, 3_000).into_iter().map(|b| pieces[usize::from(b) % pieces.len()]);
        survives(tokens.collect::<String>());
    }
}

#[test]
fn unfinished_files_are_read() {
    let whole = "#include <x.h>\n#define P _Pragma(\"omp for\")\nvoid f(int n) {\n#pragma omp target /* a */ map(to: n) \\\n\
                 if(n)\n#ifdef A\n{ P for (int i = 0; i < 1'000; i++) { s = R\"x(y)x\"; } // z\n#else\n{\n#endif\n}\n\
                 [[omp::directive(parallel)]] { _Pragma(\"omp barrier\"); __pragma(omp barrier); }\n}\n";
    for end in 0..whole.len() {
        assert_read(&whole.as_bytes()[..end]);
        assert_read(&whole.as_bytes()[end..]);
    }
    for opening in
        ["/*", "\"", "'", "R\"(", "R\"x", "_Pragma(\"omp for", "__pragma(omp", "[[omp::directive(", "#if", "\\"]
    {
        let (found, _) = read("a.cpp", format!("int x;\n{opening}\n#pragma omp for\nfor (;;) ;\n"));
        assert!(found.directives.len() <= 1, "{opening}: {found:?}");
        survives(opening.repeat(3_000));
    }
}

#[test]
fn empty_directives_are_found() {
    for text in
        ["#pragma omp", "#pragma omp\n", "#pragma omp \\\n", "#pragma omp \\", "#pragma omp //", "#pragma omp /*"]
    {
        for (found, tree) in read_both(text) {
            assert_eq!(found.directives.len(), 1, "{text:?}");
            assert!(found.directives[0].body.is_some_and(Span::is_empty), "{text:?}");
            assert!(tree.is_ok());
        }
    }
    assert_read("");
}

#[test]
fn many_directives_are_found() {
    let text = format!("void f(void) {{\n{}}}\n", "#pragma omp for\nfor (;;) ;\n".repeat(100_000));
    let (found, tree) = read("a.c", text);
    assert_eq!(found.directives.len(), 100_000);
    let tree = tree.unwrap();
    assert!(found.directives.iter().all(|d| tree.statement_at(d.span.end + 1).is_some()));
}

#[test]
fn many_conditionals_are_followed() {
    let nested = |inside: &str| format!("{}{inside}{}", "#if A\n".repeat(30_000), "#endif\n".repeat(30_000));
    let (found, _) = read("a.c", nested("#pragma omp for\n"));
    assert!(found.conditionals.iter().all(|group| group.only_directives));
    assert_eq!(found.directives[0].alternative, Some((29_999, 0)));
    survives(nested("{\n"));
    survives(nested("int x;\n"));
    survives(format!("{}{{\n", "#if A\n#else\n".repeat(30_000)));
    survives("#if A\n#pragma omp for\n#else\n#pragma omp simd\n#endif\nfor (;;) ;\n".repeat(10_000));
}

#[test]
fn searches_for_closing_brackets_stay_linear() {
    for opening in ["[[omp::directive(", "_Pragma(", "__pragma(", "_Pragma(\"omp for\"", "[[using omp: "] {
        survives(format!("{opening} ").repeat(50_000));
    }
    survives(format!("{}{}", "[[a ".repeat(50_000), "]]".repeat(50_000)));
    survives(format!("#define P(x) _Pragma(#x)\n{}", "P( ".repeat(50_000)));
    let chain: String = (0..20_000).map(|i| format!("#define A{i} A{}\n", i + 1)).collect();
    let (found, _) = read("a.c", format!("{chain}#define A20000 _Pragma(\"omp for\")\nA0 for (;;) ;\n"));
    assert_eq!(found.directives.len(), 1);
}

#[test]
fn deep_expressions_are_refused() {
    let file = SourceFile::new("a.c", format!("{}x", "-(".repeat(100_000)).into_bytes());
    let whole = Span::new(0, file.text.len());
    assert!(parse_expression(&file, whole, file.language).is_none());
    let file = SourceFile::new("a.c", format!("a{}", "+a".repeat(100_000)).into_bytes());
    assert!(parse_expression(&file, Span::new(0, file.text.len()), file.language).is_none());
    assert!(parse_expression(&file, Span::new(5, 1 << 40), file.language).is_none());
}

/// What the whole pipeline makes of clauses whose expressions are none: refusals, no output that fails its own checks.
#[test]
fn expressions_that_are_none_are_refused() {
    for section in ["x[0:n<]", "x[0:]]", "x[:n*]", "x[0:(n]", "x[0:n n]", "x[0:if(0) n]"] {
        let text = format!(
            "void f(int n, double *x) {{\n#pragma omp target map(tofrom: {section})\n{{\n#pragma omp parallel for\n\
             for (int i = 0; i < n; i++) x[i] += 1;\nx[0] = x[0] * 0.5;\n#pragma omp parallel for\n\
             for (int i = 0; i < n; i++) x[i] *= 2;\n}}\n}}\n"
        );
        for (name, assume) in [("a.c", false), ("a.c", true), ("a.cpp", true)] {
            let file = SourceFile::new(name, text.clone().into_bytes());
            let outcome = engine::run(&file, &[], &Options { assume, ..Options::default() });
            assert!(matches!(outcome, Ok(Outcome { text: None, .. })), "{section}, {name}: {outcome:?}");
        }
    }
}

#[test]
fn what_no_compiler_reads_to_its_end_is_refused_with_its_line() {
    let kernel = "void f(int *a) {\n#pragma omp target map(a[0:9])\nfor (int i = 0; i < 9; i++) a[i]++;\n}\n";
    for (rest, expected) in [
        ("/* on", HostError::Unclosed(5)),
        ("auto s = R\"x(on)\";", HostError::Unclosed(5)),
        ("\n#if A\n#else\n", HostError::Unbalanced(6)),
        ("#if A\n#endif\n#endif\n", HostError::Unbalanced(7)),
        ("int x;\n#elif A\n", HostError::Unbalanced(6)),
    ] {
        let file = SourceFile::new("a.cpp", [kernel, rest].concat().into_bytes());
        let outcome = engine::run(&file, &[], &Options::default());
        assert_eq!(outcome.err(), Some(engine::EngineError::Host(expected)), "{rest}");
    }
}

/// Where `##` may make any name that ends with a word of the text, and `_` and all letters are words of it.
#[test]
fn names_are_found_where_every_letter_is_a_word() {
    let letters: String = ('A'..='Z').chain('a'..='z').map(|letter| format!("int {letter}, _{letter};\n")).collect();
    for words in ["const char *between = \"_\";\n", &format!("int _;\n{letters}")] {
        let text = format!(
            "#define CAT(a, b) a##b\n{words}void f(double *data, int count) {{\n#pragma omp target teams distribute parallel for \
             map(tofrom: data[0:count])\nfor (int at = 0; at < count; at++) {{ data[at] += 1; for (int by = 0; by < count; by++) data[at] += by; }}\n}}\n"
        );
        let file = SourceFile::new("names.c", text.into_bytes());
        let outcome = engine::run(&file, &[], &Options::default()).unwrap();
        let text = String::from_utf8(outcome.text.expect("the sum gets a variable")).unwrap();
        assert!(text.contains("double sum"), "{text}");
    }
}
