//! What macros stand for, where they are expressions without side effects.

use std::collections::BTreeSet;

use crate::semantics::calls::is_pure;
use crate::semantics::macros::expansion::tokens::without_literals;
use crate::semantics::symbols::Macro;
use crate::semantics::uses::{Role, Use};
use crate::semantics::{Evaluation, Program};
use crate::source::{SourceFile, Span, words};
use crate::syntax::host::parse_expression;

impl Program<'_> {
    /// The variables that a macro's text names, where it is an expression without side effects; `None` inside where it is
    /// anything else, or where a function or variable has the name in some builds, and outside where the name is no macro.
    pub(crate) fn expansion(&self, name: &str, at: usize) -> Option<Option<Vec<String>>> {
        let definition = self.symbols().macro_definition(name, at)?;
        if definition.is_elsewhere && is_standard_constant(name) {
            return None;
        }
        if self.symbols().declares_at_file_scope(name) {
            return Some(None);
        }
        let mut names = BTreeSet::new();
        let plain = self.expand(name, at, &mut names);
        Some(plain.then(|| names.into_iter().collect()))
    }

    /// May it be a macro that names the variable?
    pub(crate) fn expands_to(&self, word: &str, at: usize, name: &str) -> bool {
        self.expansion(word, at).is_some_and(|names| names.is_none_or(|names| names.iter().any(|other| other == name)))
    }

    /// Is it a macro whose text is more than one number, in parentheses or not?
    pub(crate) fn is_computed_macro(&self, name: &str, at: usize) -> bool {
        let Some(definition) = self.symbols().macro_definition(name, at) else { return false };
        let number = definition.body.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
        let digits = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        !digits || number.trim_end_matches(['f', 'F']).parse::<f64>().is_err()
    }

    /// Does a piece of the file use a macro whose text, or that of a macro in it, is of some sort? Literals in it are left out.
    pub(crate) fn uses_macro_with(&self, span: Span, sort: &dyn Fn(&str) -> bool) -> bool {
        if span == Span::new(0, self.file.text.len()) {
            let bodies = self.macro_bodies.get_or_init(|| {
                let mut bodies = Vec::new();
                self.find_macro(span, &mut |body| {
                    bodies.push(body.to_owned());
                    false
                });
                bodies
            });
            return bodies.iter().any(|body| sort(body));
        }
        self.find_macro(span, &mut |body| sort(body))
    }

    /// Is one of these texts found? Each is looked at once.
    fn find_macro(&self, span: Span, is_found: &mut dyn FnMut(&str) -> bool) -> bool {
        let text = self.file.show(span);
        let is_macro = |word: &&str| self.symbols().is_macro(word, span.start);
        let mut waiting: Vec<String> = words(&text).filter(is_macro).map(str::to_owned).collect();
        let mut seen = BTreeSet::new();
        while let Some(word) = waiting.pop() {
            if !seen.insert(word.clone()) {
                continue;
            }
            for definition in self.symbols().macros_named(&word, span.start) {
                let body = without_literals(&definition.body);
                if is_found(&body) {
                    return true;
                }
                waiting.extend(words(&body).map(str::to_owned));
            }
        }
        false
    }

    /// Adds the names in all texts that a macro, and the macros in these, may have; `false` where one is no plain expression.
    fn expand(&self, name: &str, at: usize, into: &mut BTreeSet<String>) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let texts = self.symbols().macros_named(&name, at);
            if seen.len() > MOST_MACROS || !texts.iter().all(|text| self.expand_one(text, &mut open, at, into)) {
                return false;
            }
        }
        true
    }

    fn expand_one(&self, definition: &Macro, open: &mut Vec<String>, at: usize, into: &mut BTreeSet<String>) -> bool {
        let text = SourceFile::new("macro", definition.body.clone().into_bytes());
        let whole = Span::new(0, text.text.len());
        let Some(tree) = parse_expression(&text, whole, self.tree.language()) else { return false };
        let evaluation = Evaluation::of_text(&text, tree);
        let is_plain = |used: &Use| used.name != "this";
        if !evaluation.only_gives_value() || !evaluation.names.iter().all(is_plain) {
            return false;
        }
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        evaluation.names.into_iter().all(|used| {
            if parameters.contains(&used.name) {
                return matches!(used.role, Role::Read | Role::Argument);
            }
            if self.symbols().macro_definition(&used.name, at).is_some() {
                open.push(used.name);
                return true;
            }
            match used.role {
                Role::Read | Role::Argument => {
                    into.insert(used.name);
                    true
                }
                Role::Callee => is_pure(&used.name),
                _ => false,
            }
        })
    }
}

/// How many macros are followed into each other.
const MOST_MACROS: usize = 64;

/// Macros of the standard headers that are constants.
pub(crate) fn is_standard_constant(name: &str) -> bool {
    let named =
        ["NULL", "RAND_MAX", "EXIT_SUCCESS", "EXIT_FAILURE", "INFINITY", "NAN", "HUGE_VAL", "BUFSIZ", "true", "false"];
    let prefixed = ["M_PI", "M_E", "M_SQRT", "M_LN", "M_LOG", "M_1_", "M_2_", "INT", "UINT", "FLT_", "DBL_", "LDBL_"];
    let limits = [
        "CHAR_BIT",
        "CHAR_MAX",
        "CHAR_MIN",
        "SCHAR_MAX",
        "SCHAR_MIN",
        "UCHAR_MAX",
        "SHRT_MAX",
        "SHRT_MIN",
        "USHRT_MAX",
        "LONG_MAX",
        "LONG_MIN",
        "ULONG_MAX",
        "LLONG_MAX",
        "LLONG_MIN",
        "ULLONG_MAX",
        "SIZE_MAX",
        "PTRDIFF_MAX",
    ];
    let limited = |name: &str| name.ends_with("_MAX") || name.ends_with("_MIN");
    named.contains(&name)
        || limits.contains(&name)
        || prefixed[..8].iter().any(|prefix| name.starts_with(prefix))
        || (prefixed[8..].iter().any(|prefix| name.starts_with(prefix)) && (limited(name) || name.ends_with("EPSILON")))
}
