//! Runs the cases of `test/corpus` (the format of `tree-sitter test`) and holds the queries to the grammar.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use tree_sitter::{Parser, Query};

/// One case: `===`, its name, `===`, the text, `---`, the tree.
struct Case {
    name: String,
    text: String,
    tree: String,
}

fn cases(file: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let bar = |line: &str, byte| line.len() >= 3 && line.bytes().all(|b| b == byte);
    let mut lines = file.lines().peekable();
    while let Some(line) = lines.next() {
        if !bar(line, b'=') {
            continue;
        }
        let name = lines.next().unwrap_or_default().to_owned();
        lines.next();
        let mut text = Vec::new();
        text.extend(lines.by_ref().take_while(|line| !bar(line, b'-')));
        let mut tree = Vec::new();
        while let Some(line) = lines.next_if(|line| !bar(line, b'=')) {
            tree.push(line.trim());
        }
        let text = text.join("\n").trim_matches('\n').replace("<CR>", "\r").replace("<BLANKS>", "  \t");
        cases.push(Case { name, text, tree: tree.join(" ").trim().to_owned() });
    }
    cases
}

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_openmp::LANGUAGE.into()).unwrap();
    parser
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus");
    let mut parser = parser();
    let (mut count, mut wrong) = (0, String::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for case in cases(&fs::read_to_string(&path).unwrap()) {
            let found = parser.parse(&case.text, None).unwrap().root_node().to_sexp();
            let expected = case.tree.replace("( ", "(").replace(" )", ")");
            count += 1;
            if found != expected {
                wrong += &format!("\n{}: {}\n  expected {expected}\n  found    {found}", path.display(), case.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 20, "only {count} cases were found");
}

#[test]
fn queries_name_nodes_of_the_grammar() {
    Query::new(&tree_sitter_openmp::LANGUAGE.into(), tree_sitter_openmp::HIGHLIGHTS_QUERY).unwrap();
}

#[test]
fn a_directive_is_read_where_it_stands_in_its_file() {
    let file = "int a;\n#pragma omp target \\\r\n  map(to: a)\nint b;\n";
    let start = file.find("target").unwrap();
    let end = file.find("\nint b").unwrap();
    let mut parser = parser();
    let point = |column, row| tree_sitter::Point { row, column };
    let range =
        tree_sitter::Range { start_byte: start, end_byte: end, start_point: point(12, 1), end_point: point(12, 2) };
    parser.set_included_ranges(&[range]).unwrap();
    let tree = parser.parse(file, None).unwrap();
    let map = tree.root_node().named_child(1).unwrap();
    assert_eq!((map.kind(), &file[map.byte_range()]), ("item", "map(to: a)"));
    assert_eq!(map.start_position(), point(2, 2));
}

#[test]
fn deep_nesting_and_random_bytes_are_read_in_bounded_time() {
    let deep = "(".repeat(100_000);
    for text in [format!("parallel if{deep}"), format!("parallel if{deep}x{}", ")".repeat(100_000))] {
        let tree = parser().parse(&text, None).unwrap();
        assert_eq!(tree.root_node().kind() == "ERROR" || tree.root_node().has_error(), !text.ends_with(')'));
    }
    let mut state = 1_u32;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(20_000)
    .collect();
    assert!(parser().parse(&bytes, None).unwrap().root_node().has_error());
}
