//! What names stand for in constant expressions.

use super::constants::{self, At, Converted, Meaning, Operand, Value};
use super::entries::{Entry, EntryKind};
use super::{Symbols, Unit};
use crate::semantics::Integer;
use crate::source::Language;
use crate::syntax::{Field, NodeId, NodeKind, Number};

/// What a name in a constant expression is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    /// Are all constants of an enumeration known to be of one type?
    trusts_siblings: bool,
    /// Is the name all that is asked for, so that no operator that the program declares is applied to it?
    is_alone: bool,
}

impl Asked {
    const IN_ARITHMETIC: Self = Self { trusts_siblings: false, is_alone: false };
}

impl Symbols<'_> {
    /// The value of a constant expression at a byte of the file or a header.
    pub(super) fn constant_in(&self, header: Option<usize>, text: &str, at: usize) -> Option<i64> {
        let meaning = |operand: Operand<'_>, place| {
            let is_alone = operand == Operand::Name(text.trim()) && place == (header, at);
            self.meaning(operand, place, Asked { is_alone, ..Asked::IN_ARITHMETIC })
        };
        constants::evaluate(text, (header, at), &meaning)?.number()
    }

    /// Does a name stand for a constant at a byte of the file: one, or one of several, in branches of an `#if`, that the text does not
    /// choose between?
    #[must_use]
    pub fn is_constant(&self, name: &str, at: usize) -> bool {
        let has_value = |text: &str| self.constant(text, at).is_some();
        let is_certain = !self.is_redefined(name) && !self.is_default_of_standard_macro(name);
        let mut all = self.macros_named(name, at).into_iter().peekable();
        has_value(name)
            || is_certain
                && all.peek().is_some()
                && all.all(|found| found.parameters.is_none() && has_value(&found.body))
                && self.find(None, name, at).is_none()
    }

    /// What an operand stands for in a constant expression.
    fn meaning(&self, operand: Operand<'_>, at: At, asked: Asked) -> Option<Meaning> {
        let (header, byte) = at;
        let name = match operand {
            Operand::Name(name) => name,
            Operand::SizeOf(ty) => {
                let bytes = self.bytes_of_number(header, ty, byte)?;
                return Some(Meaning { text: bytes.to_string(), at, of: Some(Converted::To(Integer::SIZE)) });
            }
        };
        if let Some(found) = self.macro_in(header, name, byte) {
            let is_certain = !self.is_ambiguous_macro(name) && self.find(header, name, byte).is_none();
            let has_value = found.parameters.is_none() && is_certain;
            return has_value.then_some(Meaning { text: found.body, at, of: None });
        }
        let found = self.find(header, name, byte)?;
        let mut meanings = found.entries.iter().map(|entry| match entry.kind {
            EntryKind::Enumerator => self.enumerator(found.header, entry, asked),
            EntryKind::Variable => self.constant_variable(found.header, entry),
            _ => None,
        });
        // Of several declarations, in branches of an `#if`, any may be the one.
        let first = meanings.next()??;
        let is_same = |other: Meaning| other.text == first.text && other.of == first.of;
        meanings.all(|other| other.is_some_and(is_same)).then_some(first)
    }

    fn enumerator(&self, header: Option<usize>, entry: &Entry, asked: Asked) -> Option<Meaning> {
        let unit = self.unit(header)?;
        let specifier = unit.enumeration_of(entry)?;
        let (ty, is_certain) = match unit.chosen_type(specifier) {
            Some(chosen) => (Number::read(&unit.file.show(unit.tree.span(chosen)))?.integer()?.promoted(), true),
            None => (Integer::INT, asked.trusts_siblings || self.are_all_int(header, specifier)),
        };
        let is_plain = asked.is_alone || self.has_own_arithmetic();
        let is_known = is_certain && unit.is_modelled_record(specifier) && is_plain;
        let text = unit.enumerator_text(entry.declaration).filter(|_| is_known)?;
        Some(Meaning { text, at: (header, entry.name_span.start), of: Some(Converted::To(ty)) })
    }

    /// Are all constants of an enumeration of type `int`, as far as they are set to something? One that needs a wider type gives it to all.
    pub(super) fn are_all_int(&self, header: Option<usize>, specifier: NodeId) -> bool {
        // A thread that panicked cannot have left an answer half written.
        let known = || self.int_enumerations.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(answer) = known().get(&(header, specifier)) {
            return *answer;
        }
        let answer = self.find_all_int(header, specifier);
        known().insert((header, specifier), answer);
        answer
    }

    fn find_all_int(&self, header: Option<usize>, specifier: NodeId) -> bool {
        let Some(unit) = self.unit(header) else { return false };
        let list = unit.tree.child(specifier, Field::Body);
        let enumerators = list.map(|list| unit.tree.named_children(list).collect::<Vec<_>>()).unwrap_or_default();
        let values = enumerators.into_iter().filter_map(|node| unit.tree.child(node, Field::Value));
        values.into_iter().all(|value| {
            let span = unit.tree.span(value);
            let asked = Asked { trusts_siblings: true, ..Asked::IN_ARITHMETIC };
            let meaning = |operand: Operand<'_>, at| self.meaning(operand, at, asked);
            let value = constants::evaluate(&unit.file.show(span), (header, span.start), &meaning);
            value.and_then(Value::number).is_some_and(|number| Integer::INT.holds(number.into()))
        })
    }

    /// A `const` number in C++. In C it is none in constant expressions.
    fn constant_variable(&self, header: Option<usize>, entry: &Entry) -> Option<Meaning> {
        let unit = self.unit(header)?;
        let has_plain_name = entry.declarator.is_some_and(|name| unit.tree.kind(name) == NodeKind::Identifier);
        let is_constant = unit.tree.language() == Language::Cpp && has_plain_name && unit.is_const(entry);
        let value = entry.initializer.filter(|_| is_constant)?;
        let of = match unit.tree.child(entry.declaration, Field::Type).map(|ty| unit.tree.kind(ty)) {
            Some(NodeKind::PlaceholderTypeSpecifier | NodeKind::Auto) => Converted::Kept,
            _ => Converted::To(self.integer_of(header, entry)?),
        };
        let text = unit.file.show(unit.tree.span(value)).into_owned();
        Some(Meaning { text, at: (header, entry.name_span.end), of: Some(of) })
    }
}

impl Unit<'_> {
    /// The enumeration that an enumerator stands in.
    pub(super) fn enumeration_of(&self, enumerator: &Entry) -> Option<NodeId> {
        let mut around = self.tree.ancestors(enumerator.declaration);
        around.find(|node| self.tree.kind(*node) == NodeKind::EnumSpecifier)
    }

    /// Is it an enumerator of an enumeration that says which integer type it has: `enum : unsigned { A }`?
    pub(super) fn has_chosen_type(&self, enumerator: &Entry) -> bool {
        self.enumeration_of(enumerator)
            .is_some_and(|node| self.chosen_type(node).is_some() || !self.is_modelled_record(node))
    }

    /// The integer type that an enumeration says it has; the grammars call it by two names.
    fn chosen_type(&self, specifier: NodeId) -> Option<NodeId> {
        let child = |field| self.tree.child(specifier, field);
        child(Field::UnderlyingType).or_else(|| child(Field::Base))
    }

    /// An expression for the value of an enumerator: what it is set to, or one more than the one before.
    fn enumerator_text(&self, enumerator: NodeId) -> Option<String> {
        let tree = &self.tree;
        let list = tree.parent(enumerator)?;
        let (mut base, mut more) = ("0".to_owned(), 0_usize);
        for node in tree.named_children(list).filter(|node| tree.kind(*node) != NodeKind::Comment) {
            // A line of the preprocessor between them may leave some out.
            let is_plain = tree.kind(node) == NodeKind::Enumerator && tree.kind(list) == NodeKind::EnumeratorList;
            match tree.child(node, Field::Value) {
                Some(value) => (base, more) = (self.file.show(tree.span(value)).into_owned(), 0),
                None if !is_plain => base.clear(),
                None => {}
            }
            if node == enumerator {
                return (!base.is_empty()).then(|| if more == 0 { base } else { format!("({base}) + {more}") });
            }
            more += 1;
        }
        None
    }

    /// Is a declaration written with `const` or `constexpr`, and not with `volatile`?
    fn is_const(&self, entry: &Entry) -> bool {
        let words = self.tree.named_children(entry.declaration).map(|word| self.file.bytes(self.tree.span(word)));
        let words: Vec<&[u8]> = words.collect();
        let has = |wanted: &[&[u8]]| words.iter().any(|word| wanted.contains(word));
        has(&[b"const", b"constexpr"]) && !has(&[b"volatile", b"_Atomic"])
    }
}
