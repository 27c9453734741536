//! The queries fit the grammars that they are for.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use tree_sitter::{Language, Parser, Query, QueryCursor, StreamingIterator};

const HOST: &str = include_str!("../queries/host-injections.scm");

const TEXT: &str = "\
void f(int n, float *a) {
#pragma omp target teams map(tofrom: a[0:n]) \\
    thread_limit(128)
  for (int i = 0; i < n; i++) a[i] *= 2;
# pragma ompx fast
#pragma once
#pragma message omp
#pragma omp
}
";

/// The texts that the host's query hands to this grammar.
fn injected(language: &Language) -> Vec<String> {
    let mut parser = Parser::new();
    parser.set_language(language).expect("a grammar of this version");
    let tree = parser.parse(TEXT, None).expect("a tree");
    let query = Query::new(language, HOST).expect("a query for the grammar");
    let content = query.capture_index_for_name("injection.content").expect("the capture");
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), TEXT.as_bytes());
    let mut found = Vec::new();
    while let Some(one) = matches.next() {
        let nodes = one.captures().iter().filter(|capture| capture.index == content);
        found.extend(nodes.map(|capture| TEXT[capture.node.byte_range()].trim().to_owned()));
    }
    found
}

#[test]
fn the_pragmas_of_c_and_cpp_are_handed_on() {
    let wanted = ["omp target teams map(tofrom: a[0:n]) \\\n    thread_limit(128)", "ompx fast", "omp"];
    for language in [tree_sitter_c::LANGUAGE, tree_sitter_cpp::LANGUAGE] {
        assert_eq!(injected(&language.into()), wanted);
    }
}

#[test]
fn an_injected_text_is_highlighted() {
    let language: Language = tree_sitter_openmp::LANGUAGE.into();
    let mut parser = Parser::new();
    parser.set_language(&language).expect("a grammar of this version");
    let query = Query::new(&language, tree_sitter_openmp::HIGHLIGHTS_QUERY).expect("a query for the grammar");
    for text in injected(&tree_sitter_c::LANGUAGE.into()) {
        let tree = parser.parse(&text, None).expect("a tree");
        assert!(!tree.root_node().has_error(), "{text}");
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        assert!(matches.next().is_some(), "{text}");
    }
}
