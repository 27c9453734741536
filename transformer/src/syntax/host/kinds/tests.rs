//! The lists are what the grammars have.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Field, NodeKind};
use crate::syntax::host::grammar::Grammar;

/// Operators and punctuation by name; words are named after themselves.
const SIGNS: &[(char, &str)] = &[
    ('!', "Exclamation"),
    ('"', "DoubleQuote"),
    ('#', "Hash"),
    ('%', "Percent"),
    ('&', "Ampersand"),
    ('\'', "Quote"),
    ('(', "OpenParenthesis"),
    (')', "CloseParenthesis"),
    ('*', "Star"),
    ('+', "Plus"),
    (',', "Comma"),
    ('-', "Minus"),
    ('.', "Dot"),
    ('/', "Slash"),
    (':', "Colon"),
    (';', "Semicolon"),
    ('<', "Less"),
    ('=', "Equal"),
    ('>', "Greater"),
    ('?', "Question"),
    ('[', "OpenBracket"),
    (']', "CloseBracket"),
    ('^', "Caret"),
    ('{', "OpenBrace"),
    ('|', "Bar"),
    ('}', "CloseBrace"),
    ('~', "Tilde"),
    ('\n', "NewLine"),
    ('\\', "Backslash"),
];

/// `ForStatement` for `for_statement`, `PlusEqual` for `+=`, `TwoUnderscoresThread` for `__thread`.
fn variant_of(name: &str, is_named: bool) -> String {
    let mut out = String::new();
    if name.starts_with(|c: char| !c.is_alphanumeric() && c != '_') {
        for c in name.chars() {
            match SIGNS.iter().find(|(sign, _)| *sign == c) {
                Some((_, word)) => out.push_str(word),
                None if out.is_empty() || out.ends_with("Hash") => out.extend(c.to_uppercase()),
                None => out.push(c),
            }
        }
        return out;
    }
    let body = name.trim_start_matches('_');
    if !is_named {
        out.push_str(match name.len() - body.len() {
            0 => "",
            1 if body.starts_with(char::is_lowercase) => "SmallUnderscore",
            1 => "Underscore",
            _ => "TwoUnderscores",
        });
    }
    // `u'` and `U'`.
    if body.starts_with(char::is_uppercase) && body.contains(['\'', '"']) {
        out.push_str("Big");
    }
    for part in body.split('_') {
        let mut letters = part.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        for c in letters {
            match SIGNS.iter().find(|(sign, _)| *sign == c) {
                Some((_, word)) => out.push_str(word),
                None => out.push(c),
            }
        }
    }
    if !is_named && name.starts_with("__") && name.ends_with("__") {
        out.push_str("TwoUnderscores");
    }
    out
}

fn list(about: &str, enumeration: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = format!("names_of_grammars! {{\n    /// {about}\n    {enumeration} {{\n");
    for (variant, name) in names {
        let _ = writeln!(out, "        {variant} = {name:?},");
    }
    out + "    }\n}\n"
}

/// The text that `lists.rs` must have.
fn expected() -> String {
    let (mut kinds, mut fields) = (BTreeMap::new(), BTreeMap::new());
    kinds.insert("Error".to_owned(), "ERROR".to_owned());
    for grammar in [Grammar::c(), Grammar::cpp()] {
        let parser = &grammar.parser;
        let ids = 0..u16::try_from(parser.node_kind_count()).unwrap();
        for id in ids.filter(|id| parser.node_kind_is_visible(*id)) {
            let name = parser.node_kind_for_id(id).unwrap();
            let variant = variant_of(name, parser.node_kind_is_named(id) && name != "auto");
            if let Some(other) = kinds.insert(variant.clone(), name.to_owned()) {
                assert_eq!(other, name, "{variant} stands for two kinds");
            }
        }
        for name in (1..=u16::try_from(parser.field_count()).unwrap()).filter_map(|id| parser.field_name_for_id(id)) {
            fields.insert(variant_of(name, true), name.to_owned());
        }
    }
    let head =
        "//! Made from the grammars by the test of this module; see its parent.\n\nuse super::names_of_grammars;\n\n";
    let kinds = list("What a node is: a rule of a grammar, or a word or sign of the language.", "NodeKind", &kinds);
    let fields = list("What a node is to its parent.", "Field", &fields);
    format!("{head}{kinds}\n{fields}")
}

#[test]
fn the_lists_are_those_of_the_grammars() {
    let expected = expected();
    if std::env::var_os("UPDATE_KINDS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/transformer/src/syntax/host/kinds/lists.rs");
        std::fs::write(path, &expected).unwrap();
    } else {
        assert_eq!(include_str!("lists.rs"), expected, "`UPDATE_KINDS=1 cargo test --lib kinds` writes the lists anew");
    }
}

#[test]
fn every_name_is_found_again() {
    assert!(NodeKind::ALL.iter().all(|kind| NodeKind::named(kind.text()) == Some(*kind)));
    assert!(Field::ALL.iter().all(|field| Field::named(field.text()) == Some(*field)));
}
