//! What a compiler says of names, where the text does not tell, and whether the two agree.

use super::entries::{Entry, EntryKind};
use super::{DeclaredType, Macro, NameKind, Scope, Symbols, Variable};
use crate::source::Span;

/// A name that the text and the compiler take for different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Where it stands.
    pub span: Span,
    /// The name.
    pub name: String,
    /// Where the text declares it, if it does.
    pub declared_at: Option<Span>,
}

impl Symbols<'_> {
    /// What the compiler knows of a name that is declared nowhere in sight.
    pub(super) fn known_elsewhere(&self, name: &str, at: usize) -> Option<Variable> {
        let found = self.facts?.outside.get(name)?;
        if self.macro_definition(name, at).is_some() {
            return None;
        }
        Some(Variable {
            name: name.to_owned(),
            declared_at: Span::default(),
            header: Some(super::ELSEWHERE),
            scope: if found.kind == NameKind::Variable { Scope::File } else { Scope::Unknown },
            kind: found.kind,
            ty: found.ty.clone(),
            is_static: found.is_static,
            is_extern: !found.is_static,
            is_thread_local: false,
            is_constexpr: found.is_constexpr,
            initializer: None,
        })
    }

    /// A macro that is defined in a header out of sight, or by a flag.
    pub(super) fn macro_elsewhere(&self, name: &str, at: usize) -> Option<Macro> {
        let found = self.facts?.macro_at(name, at)?;
        Some(Macro { parameters: found.parameters.clone(), is_elsewhere: true, body: found.body.clone() })
    }

    /// The type that the compiler gives a declaration of the file.
    pub(super) fn type_by_compiler(&self, entry: &Entry) -> Option<DeclaredType> {
        let found = self.facts?.declarations.get(&entry.name_span.start)?;
        let ty = found.ty.clone();
        ty.is_known().then_some(ty)
    }

    /// Does the compiler know that only arithmetic types stand for the template's parameter of this name?
    #[must_use]
    pub fn is_arithmetic_parameter(&self, name: &str, at: usize) -> bool {
        let declared = self.lookup(name, at).filter(|found| found.kind == NameKind::TemplateParameter);
        let place = declared.filter(|found| found.header.is_none()).map(|found| found.declared_at.start);
        place.is_some_and(|place| self.facts.is_some_and(|facts| facts.arithmetic.contains(&place)))
    }

    /// The first name in a piece of the file that the compiler takes for something else than the text: for another variable,
    /// or for one of another type.
    #[must_use]
    pub fn disagreement(&self, span: Span) -> Option<Disagreement> {
        let facts = self.facts?;
        if let Some((span, name)) = self.own.words(span).find(|(_, word)| facts.redefined.contains(*word)) {
            return Some(Disagreement { span, name: name.to_owned(), declared_at: None });
        }
        let used = facts.uses.range(span.start..span.end).find_map(|(at, to)| self.use_disagrees(*at, *to));
        let in_span = |entry: &&Entry| entry.kind == EntryKind::Variable && span.contains(entry.name_span);
        let mut declared = self.own.table.entries.iter().filter(in_span);
        used.or_else(|| {
            declared.find(|entry| self.type_disagrees(entry)).map(|entry| self.found(entry.name_span, entry))
        })
    }

    fn use_disagrees(&self, at: usize, to: Option<usize>) -> Option<Disagreement> {
        let name = self.own.name_at(at);
        let span = Span::new(at, at + name.len());
        let nowhere = Disagreement { span, name: name.clone(), declared_at: None };
        let Some(found) = self.find(None, &name, at) else {
            return to.is_some().then_some(nowhere);
        };
        let entry = found.chosen();
        let is_variable = |entry: &Entry| matches!(entry.kind, EntryKind::Variable | EntryKind::Deduced);
        let is_local = |entry: &Entry| is_variable(entry) && matches!(entry.scope, Scope::Local | Scope::Parameter);
        if found.header.is_some() {
            return None;
        }
        let by_compiler = to.and_then(|to| self.facts?.declarations.get(&to));
        let same = to.is_some_and(|to| found.entries.iter().any(|entry| entry.name_span.start == to));
        let local = is_local(entry) || by_compiler.is_some_and(|declared| declared.is_local);
        if local && !same || (is_variable(entry) && to.is_none()) {
            return Some(self.found(span, entry));
        }
        let mut variables = found.entries.iter().filter(|entry| is_variable(entry));
        variables.any(|entry| self.type_disagrees(entry)).then(|| self.found(span, entry))
    }

    fn found(&self, span: Span, entry: &Entry) -> Disagreement {
        Disagreement { span, name: self.own.name_at(entry.name_span.start), declared_at: Some(entry.name_span) }
    }

    fn type_disagrees(&self, entry: &Entry) -> bool {
        let Some(by_compiler) = self.type_by_compiler(entry) else { return false };
        !agree(&self.written_type(None, entry), &by_compiler)
    }
}

impl super::Unit<'_> {
    /// The words in a piece of the file, those in comments too.
    fn words(&self, span: Span) -> impl Iterator<Item = (Span, &str)> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let bytes = self.file.bytes(span);
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at + bytes.get(at..)?.iter().position(is_word)?;
            let end = bytes[start..].iter().position(|byte| !is_word(byte)).map_or(bytes.len(), |len| start + len);
            at = end;
            let word = std::str::from_utf8(&bytes[start..end]).unwrap_or_default();
            Some((Span::new(span.start + start, span.start + end), word))
        })
    }

    /// The name that starts at a byte.
    fn name_at(&self, at: usize) -> String {
        let rest = self.file.text.get(at..).unwrap_or_default();
        let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end]).into_owned()
    }
}

/// May both describe one type? What one of them does not know cannot contradict the other.
fn agree(written: &DeclaredType, compiled: &DeclaredType) -> bool {
    use DeclaredType::{Array, ArrayParameter, Pointer, Record, Reference, Scalar};
    if written.as_type_parameter().is_some() {
        return true;
    }
    match (written, compiled) {
        (DeclaredType::Unknown | DeclaredType::Auto, _) | (_, DeclaredType::Unknown | DeclaredType::Auto) => true,
        (
            Scalar { number, is_const, is_volatile, .. },
            Scalar { number: real, is_const: real_const, is_volatile: real_volatile, .. },
        ) => number.holds_the_same(real) != Some(false) && is_const == real_const && is_volatile == real_volatile,
        (Pointer { pointee, is_const }, Pointer { pointee: inner, is_const: real_const }) => {
            agree(pointee, inner) && is_const == real_const
        }
        (ArrayParameter { .. }, Pointer { pointee, .. }) => agree(&written.dereferenced(), pointee),
        (Reference { to }, Reference { to: inner }) => agree(to, inner),
        (Array { element, dimensions, .. }, Array { element: inner, dimensions: real, .. }) => {
            let mut both = dimensions.iter().zip(real);
            let same = both.all(|(a, b)| a.value.is_none() || b.value.is_none() || a.value == b.value);
            agree(element, inner) && dimensions.len() == real.len() && same
        }
        // A class of another library is a guess.
        (Record { name, .. }, _) if name.starts_with("std::") || name.contains('<') => true,
        (Record { is_const, .. }, Record { is_const: real_const, .. }) => is_const == real_const,
        (DeclaredType::Void, DeclaredType::Void) | (DeclaredType::Function { .. }, _) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Number;
    use crate::syntax::numbers::Format;

    #[test]
    fn numbers_of_other_values_disagree() {
        let number = |specifier: &str| DeclaredType::scalar(Number::read(specifier).unwrap(), specifier);
        let either = DeclaredType::scalar(Number::Floating(Format::SingleOrDouble), "real");
        assert!(agree(&number("size_t"), &number("unsigned long")));
        assert!(agree(&number("int8_t"), &number("signed char")));
        assert!(agree(&DeclaredType::enumeration("color"), &number("unsigned int")));
        assert!(agree(&either, &number("double")));
        assert!(!agree(&number("size_t"), &number("unsigned int")));
        assert!(!agree(&number("time_t"), &number("int")));
        assert!(!agree(&DeclaredType::enumeration("color"), &number("float")));
        assert!(!agree(&either, &number("int")));
    }
}
