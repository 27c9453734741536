//! From a type as clang writes it to a declared type.

use std::collections::{BTreeMap, BTreeSet};

use crate::semantics::symbols::{DeclaredType, Dimension};
use crate::syntax::Number;

/// How many names are followed into each other.
const FUEL: usize = 32;

/// What the names in written types stand for. A name that stands for several things, in different scopes, is not known.
#[derive(Clone, Debug, Default)]
pub struct TypeNames {
    aliases: BTreeMap<String, BTreeSet<String>>,
    records: BTreeSet<String>,
    enumerations: BTreeSet<String>,
    parameters: BTreeSet<String>,
}

impl TypeNames {
    /// Adds a typedef, `using A = B`.
    pub fn alias(&mut self, name: &str, ty: &str) {
        self.aliases.entry(name.to_owned()).or_default().insert(ty.to_owned());
    }

    /// Adds a structure, union or class.
    pub fn record(&mut self, name: &str) {
        self.records.insert(name.to_owned());
    }

    /// Adds an enumeration.
    pub fn enumeration(&mut self, name: &str) {
        self.enumerations.insert(name.to_owned());
    }

    /// Adds a parameter of a template: the name is then known nowhere.
    pub fn parameter(&mut self, name: &str) {
        self.parameters.insert(name.to_owned());
    }

    /// The one type that a typedef stands for.
    #[must_use]
    pub fn alias_type(&self, name: &str) -> Option<DeclaredType> {
        let found = self.read(name);
        (self.aliases.contains_key(name) && found.is_known()).then_some(found)
    }

    /// The names of all typedefs.
    pub fn alias_names(&self) -> impl Iterator<Item = &str> {
        self.aliases.keys().map(String::as_str)
    }

    /// The type that a text such as `const double *` means; unknown parts stay unknown.
    #[must_use]
    pub fn read(&self, text: &str) -> DeclaredType {
        self.with_fuel(text, FUEL)
    }

    fn with_fuel(&self, text: &str, fuel: usize) -> DeclaredType {
        let text = text.trim();
        let Some(fuel) = fuel.checked_sub(1) else { return DeclaredType::Unknown };
        // `double (*)[4]`: what stands in the parentheses is declared of what stands around them.
        if let Some(at) = text.find("(*").or_else(|| text.find("(&")) {
            return self.grouped(text, at, fuel);
        }
        if let Some(inner) = text.strip_suffix('&') {
            let to = Box::new(self.with_fuel(inner.trim_end_matches('&'), fuel));
            return DeclaredType::Reference { to };
        }
        if text.ends_with(']') {
            return self.array(text, fuel);
        }
        let (rest, is_const, is_volatile) = without_trailing_qualifiers(text);
        if let Some(inner) = rest.strip_suffix('*') {
            return match is_volatile {
                true => DeclaredType::Unknown,
                false => DeclaredType::Pointer { pointee: Box::new(self.with_fuel(inner, fuel)), is_const },
            };
        }
        if text.ends_with(')')
            && !text.contains("(anonymous")
            && !text.contains("(unnamed")
            && !text.contains("(lambda")
        {
            return DeclaredType::Unknown;
        }
        self.named(text, fuel)
    }

    /// `T (*)[4]`, `T (&)[4]`, `T (*const)[4]`.
    fn grouped(&self, text: &str, at: usize, fuel: usize) -> DeclaredType {
        let (element, group) = text.split_at(at);
        let Some((marks, behind)) = group[1..].split_once(')') else { return DeclaredType::Unknown };
        if !behind.trim_start().starts_with('[') {
            return DeclaredType::Unknown;
        }
        let array = self.with_fuel(&format!("{element}{}", behind.trim_start()), fuel);
        match marks.trim() {
            "*" | "*restrict" | "*__restrict" => DeclaredType::Pointer { pointee: Box::new(array), is_const: false },
            "*const" => DeclaredType::Pointer { pointee: Box::new(array), is_const: true },
            "&" => DeclaredType::Reference { to: Box::new(array) },
            _ => DeclaredType::Unknown,
        }
    }

    fn array(&self, text: &str, fuel: usize) -> DeclaredType {
        // The first bracket belongs to the outermost dimension.
        let Some(first) = first_bracket(text) else { return DeclaredType::Unknown };
        let Some(end) = text[first..].find(']').map(|end| first + end) else { return DeclaredType::Unknown };
        let size = text[first + 1..end].trim().to_owned();
        let inner = self.with_fuel(&format!("{}{}", &text[..first], &text[end + 1..]), fuel);
        let value = size.parse::<i64>().ok();
        let varies = value.is_none() && !size.is_empty();
        match inner {
            DeclaredType::Unknown => DeclaredType::Unknown,
            inner => inner.array_of(Dimension { text: size, value }, varies),
        }
    }

    /// A type's name with its qualifiers.
    fn named(&self, text: &str, fuel: usize) -> DeclaredType {
        let qualifier = |word: &&str| matches!(*word, "const" | "volatile" | "restrict" | "__restrict");
        let is_const = text.split_whitespace().any(|word| word == "const");
        let is_volatile = text.split_whitespace().any(|word| word == "volatile");
        if let Some(inner) = text.strip_prefix("_Atomic(").and_then(|inner| inner.strip_suffix(')')) {
            return self.with_fuel(inner, fuel).qualified(is_const, true);
        }
        let words: Vec<&str> = text.split_whitespace().filter(|word| !qualifier(word)).collect();
        if let Some(number) = Number::of_keywords(&words) {
            return DeclaredType::scalar(number, &words.join(" ")).qualified(is_const, is_volatile);
        }
        let ty = match words.as_slice() {
            ["void"] => DeclaredType::Void,
            ["enum", name] => DeclaredType::enumeration(name),
            ["struct" | "union", name] if !name.contains('(') => {
                DeclaredType::Record { name: words.join(" "), is_const: false, may_be_class: false }
            }
            _ => self.by_name(&words.join(" "), fuel),
        };
        ty.qualified(is_const, is_volatile)
    }

    /// A name that some declaration gave its meaning.
    fn by_name(&self, name: &str, fuel: usize) -> DeclaredType {
        let last = name.split('<').next().unwrap_or_default();
        let last = last.rsplit("::").next().unwrap_or(last).trim();
        if last.is_empty() || self.parameters.contains(last) || name.contains('(') {
            return DeclaredType::Unknown;
        }
        let record = || DeclaredType::Record { name: name.to_owned(), is_const: false, may_be_class: true };
        match (self.aliases.get(last), self.records.contains(last), self.enumerations.contains(last)) {
            _ if name.contains('<') => {
                if self.records.contains(last) && !self.aliases.contains_key(last) {
                    record()
                } else {
                    DeclaredType::Unknown
                }
            }
            (Some(types), _, false) => {
                let mut found: Vec<DeclaredType> = Vec::new();
                for ty in types {
                    // `typedef struct S {..} S;` stands for the structure.
                    let is_itself = ty.split_whitespace().last() == Some(last);
                    let read = if is_itself { self.itself(ty, last) } else { self.with_fuel(ty, fuel) };
                    if !found.contains(&read) {
                        found.push(read);
                    }
                }
                if self.records.contains(last) && found.iter().any(|ty| !matches!(ty, DeclaredType::Record { .. })) {
                    return DeclaredType::Unknown;
                }
                if found.len() == 1 { found.swap_remove(0) } else { DeclaredType::Unknown }
            }
            (None, true, false) => record(),
            (None, false, true) => DeclaredType::enumeration(last),
            _ => DeclaredType::Unknown,
        }
    }

    fn itself(&self, text: &str, last: &str) -> DeclaredType {
        if self.records.contains(last) {
            let may_be_class = !text.starts_with("struct ") && !text.starts_with("union ");
            return DeclaredType::Record { name: text.to_owned(), is_const: false, may_be_class };
        }
        DeclaredType::Unknown
    }
}

/// `*const`, `*restrict`: the qualifiers behind the last star.
fn without_trailing_qualifiers(text: &str) -> (&str, bool, bool) {
    let (mut rest, mut is_const, mut is_volatile) = (text, false, false);
    loop {
        let word = ["const", "__restrict", "restrict", "volatile"].into_iter().find_map(|word| {
            let before = rest.strip_suffix(word)?;
            before.ends_with(['*', ' ']).then_some((word, before.trim_end()))
        });
        match word {
            Some((word, before)) => {
                is_const |= word == "const";
                is_volatile |= word == "volatile";
                rest = before;
            }
            None => return (rest, is_const, is_volatile),
        }
    }
}

/// The first `[` outside of template arguments.
fn first_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    text.bytes().position(|byte| {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            _ => {}
        }
        byte == b'[' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> TypeNames {
        let mut names = TypeNames::default();
        names.alias("real", "double");
        names.alias("row", "real[4]");
        names.alias("value_type", "int");
        names.alias("value_type", "float");
        names.alias("point", "struct point");
        names.record("point");
        names.enumeration("mode");
        names.parameter("T");
        names
    }

    fn number(specifier: &str) -> DeclaredType {
        DeclaredType::scalar(Number::read(specifier).unwrap(), specifier)
    }

    fn double() -> DeclaredType {
        number("double")
    }

    #[test]
    fn types_are_read_through_their_names() {
        let names = names();
        assert_eq!(names.read("real"), double());
        assert_eq!(names.read("const real"), double().qualified(true, false));
        for name in ["unsigned long", "long long", "long double", "_Complex float"] {
            assert_eq!(names.read(name), number(name));
        }
        assert_eq!(names.read("mode"), DeclaredType::enumeration("mode"));
        assert!(matches!(names.read("point"), DeclaredType::Record { .. }));
        let pointer = DeclaredType::Pointer { pointee: Box::new(double()), is_const: true };
        assert_eq!(names.read("real *const __restrict"), pointer);
        assert_eq!(names.read("real &"), DeclaredType::Reference { to: Box::new(double()) });
    }

    #[test]
    fn arrays_keep_their_dimensions_in_order() {
        let names = names();
        let DeclaredType::Array { dimensions, element, is_vla } = names.read("row[2][3]") else { panic!("no array") };
        let values: Vec<_> = dimensions.iter().map(|dimension| dimension.value).collect();
        assert_eq!((values, *element, is_vla), (vec![Some(2), Some(3), Some(4)], double(), false));
        let DeclaredType::Pointer { pointee, .. } = names.read("real (*)[n]") else { panic!("no pointer") };
        assert!(matches!(*pointee, DeclaredType::Array { is_vla: true, .. }));
    }

    #[test]
    fn what_stands_for_several_things_is_not_known() {
        let names = names();
        for text in ["value_type", "T", "T *[4]", "(lambda at f.cpp:1:2)", "int (int)", "typename T::x", "Box<int>"] {
            assert!(!names.read(text).is_known(), "{text}");
        }
    }
}
