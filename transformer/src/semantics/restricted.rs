//! What `restrict` says of two parameters (C17, section 6.7.3.1).

use crate::semantics::effects::Named;
use crate::semantics::symbols::{DeclaredType, Variable};
use crate::semantics::{Origin, Program};
use crate::source::Language;

impl Program<'_> {
    /// Is no element that is written through one of two pointers accessed through the other while their function runs? Both are parameters
    /// that nothing sets, so that neither is based on the other, and one of them is `restrict`.
    pub(crate) fn never_meet_in_call(&self, one: &Named, other: &Named) -> bool {
        let of = |named: &Named| self.named(&named.name, named.at).map(|(_, variable)| variable);
        let is_parameter = |named: &Named| self.owner(named).origin == Origin::Parameter;
        one.id != other.id
            && self.function_of(one.id.declared_at) == self.function_of(other.id.declared_at)
            && is_parameter(one)
            && is_parameter(other)
            && [of(one), of(other)].iter().flatten().any(|variable| self.is_restrict(variable))
    }

    /// Does `restrict` stand between the last star of a declarator and its name, or in the first brackets of a parameter that is
    /// written as an array: `double out[restrict n][m]`?
    pub(crate) fn is_restrict(&self, variable: &Variable) -> bool {
        if matches!(variable.ty, DeclaredType::ArrayParameter { .. }) && self.begins_with_restrict(variable) {
            return true;
        }
        let before = self.file.text.get(..variable.declared_at.start).unwrap_or_default();
        let start = before.iter().rposition(|byte| matches!(byte, b'*' | b',' | b'(' | b';' | b'{')).unwrap_or(0);
        let words = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).into_owned();
        words.starts_with('*') && words[1..].split_whitespace().any(|word| self.is_restrict_word(word, variable))
    }

    fn is_restrict_word(&self, word: &str, variable: &Variable) -> bool {
        matches!(word, "restrict" | "__restrict" | "__restrict__")
            && self.symbols().macros_named(word, variable.declared_at.start).is_empty()
    }

    /// Is `restrict` one of the qualifiers that stand before the length in the first brackets behind a parameter's name?
    fn begins_with_restrict(&self, variable: &Variable) -> bool {
        let behind = self.file.text.get(variable.declared_at.end..).unwrap_or_default().trim_ascii_start();
        let brackets = behind.strip_prefix(b"[").and_then(|rest| rest.split(|byte| *byte == b']').next());
        let text = String::from_utf8_lossy(brackets.unwrap_or_default()).into_owned();
        let is_qualifier =
            |word: &&str| matches!(*word, "const" | "static" | "volatile") || self.is_restrict_word(word, variable);
        variable.header.is_none()
            && self.tree.language() == Language::C
            && text.split_whitespace().take_while(is_qualifier).any(|word| self.is_restrict_word(word, variable))
    }
}
