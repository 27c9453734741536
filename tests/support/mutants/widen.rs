//! The split without its checks, for regions that it must refuse.

use super::{Mutant, Operator, edited, mutant};
use ompsplit::validate::host::directives::{clauses, directives, words};

/// Every `parallel for` of every `target` region becomes a kernel of its own, whatever its clauses and statements are.
pub fn widened(operators: &[Operator], original: &str) -> Option<Mutant> {
    let operator = operators.iter().find(|operator| operator.does == "widen")?;
    let bytes = original.as_bytes();
    let mut edits = Vec::new();
    let mut maps = String::new();
    for directive in directives(bytes) {
        let text = words(bytes, &directive);
        let own = || {
            clauses(bytes, &directive, "map").map(|clause| original[clause].to_owned()).collect::<Vec<_>>().join(" ")
        };
        if text == "target" || text.starts_with("target map") || text.starts_with("target if") {
            maps = own();
            edits.push((directive, format!(" target data {maps}")));
        } else if let Some(rest) = text.strip_prefix("target parallel for") {
            edits.push((directive, format!(" target teams distribute parallel for {rest}")));
        } else if let Some(rest) = text.strip_prefix("parallel for") {
            edits.push((directive, format!(" target teams distribute parallel for {maps} {rest}")));
        }
    }
    let text = edited(original, edits);
    (text != original).then(|| mutant(operator, text, "a refused region"))
}
