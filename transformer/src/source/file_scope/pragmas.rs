//! What a pragma opens, closes or sets for what follows it.

use crate::source::pragma_scan::skip_token;

/// What pragmas leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// No pragma: brackets.
    Brackets,
    Packing,
    Options,
    Optimization,
    Visibility,
    Attribute,
    /// `#pragma clang .. begin`.
    Clang,
    /// `#pragma omp begin ..`, and `declare target` without a list.
    OpenMp,
}

/// What a pragma does to what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Open(Kind),
    Close(Kind),
    /// Saves what holds, goes back to what was saved, then says whether other than the usual holds.
    Settings {
        kind: Kind,
        save: bool,
        restore: bool,
        set: Option<bool>,
    },
    Unknown,
}

/// Pragmas that concern no declaration that follows: warnings, loops, floating-point arithmetic.
const HARMLESS: &[&str] = &[
    "once",
    "message",
    "region",
    "endregion",
    "mark",
    "ident",
    "comment",
    "warning",
    "push_macro",
    "pop_macro",
    "STDC",
    "fp_contract",
    "float_control",
    "unroll",
    "nounroll",
    "unroll_and_jam",
    "ivdep",
    "simd",
    "vector",
    "novector",
    "loop",
    "acc",
];
/// The same behind `GCC` or `clang`.
const HARMLESS_OF_COMPILERS: &[&str] =
    &["diagnostic", "warning", "error", "poison", "dependency", "ivdep", "unroll", "novector", "loop", "fp"];

/// The effect of `#pragma ..`, `_Pragma("..")` or `__pragma(..)` for another dialect than OpenMP.
pub(super) fn effect_of_pragma(text: &[u8]) -> Effect {
    let words = words(&inside(text));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        [] => Effect::Nothing,
        ["pack", ref rest @ ..] => packing(rest),
        ["GCC", "push_options"] => settings(Kind::Options, "push", None),
        ["GCC", "pop_options"] => settings(Kind::Options, "pop", None),
        ["GCC", "reset_options"] => settings(Kind::Options, "", Some(false)),
        ["GCC", "optimize" | "target", ..] => settings(Kind::Options, "", Some(true)),
        ["clang", "optimize", word] => settings(Kind::Optimization, "", Some(word != "on")),
        ["GCC", "visibility", "push", ..] => Effect::Open(Kind::Visibility),
        ["GCC", "visibility", "pop"] => Effect::Close(Kind::Visibility),
        ["clang", "attribute", ref rest @ ..] => attribute(rest),
        ["clang", _, "begin"] => Effect::Open(Kind::Clang),
        ["clang", _, "end"] => Effect::Close(Kind::Clang),
        ["GCC" | "clang", word, ..] if HARMLESS_OF_COMPILERS.contains(&word) => Effect::Nothing,
        [word, ..] if HARMLESS.contains(&word) => Effect::Nothing,
        _ => Effect::Unknown,
    }
}

/// The effect of an OpenMP directive, from what stands behind `omp`.
pub(super) fn effect_of_directive(body: &[u8]) -> Effect {
    let words = words(body);
    let words: Vec<&str> = words.iter().flat_map(|word| word.split('_')).collect();
    match *words.as_slice() {
        ["begin", ..] => Effect::Open(Kind::OpenMp),
        ["end", ..] => Effect::Close(Kind::OpenMp),
        ["declare", "target", ref rest @ ..] => {
            let has_list = rest.first() == Some(&"(")
                || rest.windows(2).any(|pair| matches!(pair, ["to" | "enter" | "link" | "local", "("]));
            if has_list { Effect::Nothing } else { Effect::Open(Kind::OpenMp) }
        }
        ["assumes", ..] => Effect::Unknown,
        ["metadirective", ref rest @ ..]
            if rest.iter().any(|word| matches!(*word, "begin" | "end" | "declare" | "assumes")) =>
        {
            Effect::Unknown
        }
        _ => Effect::Nothing,
    }
}

fn settings(kind: Kind, does: &str, set: Option<bool>) -> Effect {
    Effect::Settings { kind, save: does == "push", restore: does == "pop", set }
}

/// `pack(push)`, `pack(push, name, 4)`, `pack(pop)`, `pack(4)`, `pack()`.
fn packing(words: &[&str]) -> Effect {
    let arguments: Vec<&str> = words.iter().copied().filter(|word| !matches!(*word, "(" | ")" | ",")).collect();
    match *arguments.as_slice() {
        ["show"] => Effect::Nothing,
        [does @ ("push" | "pop"), ref rest @ ..] => settings(Kind::Packing, does, (!rest.is_empty()).then_some(true)),
        ref rest => settings(Kind::Packing, "", Some(!rest.is_empty())),
    }
}

/// `push (..)`, `name.push (..)`, `pop`, `name.pop`, or `(..)`, which adds to what was pushed.
fn attribute(words: &[&str]) -> Effect {
    let head = words.split(|word| *word == "(").next().unwrap_or_default();
    match head.last() {
        Some(&"push") => Effect::Open(Kind::Attribute),
        Some(&"pop") => Effect::Close(Kind::Attribute),
        None => Effect::Nothing,
        Some(_) => Effect::Unknown,
    }
}

/// What stands behind `pragma`, or in the parentheses of an operator.
fn inside(text: &[u8]) -> Vec<u8> {
    let text = text.trim_ascii();
    if text.starts_with(b"_Pragma") {
        let quoted = text.iter().position(|byte| *byte == b'"').and_then(|first| text.get(first + 1..));
        let last = quoted.and_then(|rest| rest.iter().rposition(|byte| *byte == b'"'));
        return quoted.and_then(|rest| rest.get(..last?)).unwrap_or(b"?").to_vec();
    }
    let behind = memchr::memmem::find(text, b"pragma").and_then(|at| text.get(at + b"pragma".len()..));
    let Some(behind) = behind else { return b"?".to_vec() };
    match behind.trim_ascii() {
        [b'(', content @ .., b')'] if text.starts_with(b"__") => content.to_vec(),
        content => content.to_vec(),
    }
}

/// Words and single bytes of punctuation, without comments and splices.
pub(super) fn words(text: &[u8]) -> Vec<String> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_word(byte)).count();
        let next = skip_token(text, at);
        if length > 0 {
            words.push(String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned());
            at += length;
            continue;
        }
        if !byte.is_ascii_whitespace() && byte != b'\\' && !(byte == b'/' && next > at + 1) {
            words.push(char::from(byte).to_string());
        }
        at = next;
    }
    words
}
