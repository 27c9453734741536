//! Values as C expressions.

use std::collections::BTreeMap;

use crate::analysis::polynomial::{Atom, Polynomial};

/// A polynomial in variables of the program as a C expression. `None` if it has other atoms.
pub(in crate::transforms) fn sum(value: &Polynomial, symbols: &BTreeMap<Atom, String>) -> Option<String> {
    let mut terms: Vec<(usize, String, i128)> = Vec::new();
    for (atoms, factor) in value.terms() {
        let mut names = atoms.iter().map(|atom| symbols.get(atom).cloned()).collect::<Option<Vec<_>>>()?;
        names.sort();
        if !names.iter().all(|name| is_name(name)) {
            return None;
        }
        terms.push((names.len(), names.join(" * "), factor));
    }
    // Terms that are added come first, numbers last.
    terms.sort_by(|one, other| (other.2 > 0, other.0).cmp(&(one.2 > 0, one.0)).then(one.1.cmp(&other.1)));
    let mut out = String::new();
    for (_, names, factor) in terms {
        let size = factor.unsigned_abs();
        let term = match (names.as_str(), size) {
            ("", size) => size.to_string(),
            (names, 1) => names.to_owned(),
            (names, size) => format!("{size} * {names}"),
        };
        match (out.is_empty(), factor < 0) {
            (true, true) => out.push('-'),
            (true, false) => {}
            (false, true) => out.push_str(" - "),
            (false, false) => out.push_str(" + "),
        }
        out.push_str(&term);
    }
    Some(if out.is_empty() { "0".to_owned() } else { out })
}

/// A sum without products of variables, as a C expression. A product of `int` has the type `int` even if the program
/// converts its factors, so it could overflow.
pub(in crate::transforms) fn narrow_sum(value: &Polynomial, symbols: &BTreeMap<Atom, String>) -> Option<String> {
    let has_product = value.terms().any(|(atoms, _)| atoms.len() > 1);
    sum(value, symbols).filter(|_| !has_product)
}

/// An expression as an operand of `*` or `-`: in parentheses, unless it is a name, a number, or already in parentheses.
pub(in crate::transforms) fn operand(text: &str) -> String {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    if is_name(inner.unwrap_or(text)) { text.to_owned() } else { format!("({text})") }
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}
