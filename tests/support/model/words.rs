//! Types as clang has them, in plain words.

use clang::source::SourceLocation;
use clang::{Entity, EntityKind, Type, TypeKind};

use super::{ANY, Answers, Question};

/// What is known of a type.
pub(super) fn types(answers: &mut Answers, ty: Type<'_>, of: Entity<'_>) {
    let is_parameter = of.get_kind() == EntityKind::ParmDecl;
    let mut words = Words::default();
    if !words.read(ty, is_parameter) {
        return;
    }
    answers.insert(Question::Qualifier, words.qualifiers.join(" "));
    for (index, length) in words.lengths.into_iter().enumerate() {
        answers.extend(length.map(|length| (Question::Length(index), length)));
    }
    let is_pointer = words.shape.starts_with("pointer");
    let size = if is_pointer { Some(8) } else { ty.get_sizeof().ok() };
    let is_object = !words.shape.starts_with("function") && !words.shape.starts_with("reference") && !of.is_bit_field();
    answers.extend(size.filter(|_| is_object).map(|size| (Question::Size, size.to_string())));
    let is_signed = match words.shape.as_str() {
        "char" | "signed char" | "short" | "int" | "long" | "long long" | "wchar_t" => Some(true),
        "char8_t" | "char16_t" | "char32_t" => Some(false),
        name => name.starts_with("unsigned").then_some(false),
    };
    let sign = is_signed.map(|is_signed| if is_signed { "signed" } else { "unsigned" });
    answers.extend(sign.map(|sign| (Question::Signedness, sign.to_owned())));
    answers.insert(Question::Type, words.shape);
}

/// A type in plain words.
#[derive(Default)]
struct Words {
    shape: String,
    qualifiers: Vec<&'static str>,
    lengths: Vec<Option<String>>,
}

impl Words {
    /// Reads a type from the outside in; false where it depends on the parameters of a template.
    fn read(&mut self, ty: Type<'_>, is_parameter: bool) -> bool {
        self.qualified(ty, is_parameter, (false, false))
    }

    /// As [`Self::read`], with the qualifiers of an array, which are those of its elements.
    fn qualified(&mut self, ty: Type<'_>, is_parameter: bool, outer: (bool, bool)) -> bool {
        let shown = ty.get_display_name();
        let inner = || ty.get_pointee_type();
        let both = (outer.0 | ty.is_const_qualified(), outer.1 | ty.is_volatile_qualified());
        let is_open = shown.contains("type-parameter-") || shown.contains("<dependent type>");
        match ty.get_kind() {
            TypeKind::Pointer => {
                self.qualifiers.push(qualifier(both));
                self.around("pointer to ", inner())
            }
            TypeKind::LValueReference | TypeKind::RValueReference => {
                self.qualifiers.push("reference");
                self.around("reference to ", inner())
            }
            kind if is_array(kind) => {
                if is_parameter {
                    self.qualifiers.push("parameter");
                    self.shape.push_str("pointer to ");
                } else {
                    let varies = matches!(ty.get_kind(), TypeKind::VariableArray | TypeKind::DependentSizedArray);
                    let length = ty.get_size().map(|size| size.to_string());
                    self.lengths.push(if varies { Some(ANY.to_owned()) } else { length });
                    self.shape.push_str("array of ");
                }
                ty.get_element_type().is_some_and(|element| self.qualified(element, false, both))
            }
            TypeKind::FunctionPrototype if is_parameter => {
                self.qualifiers.push("plain");
                self.shape.push_str("pointer to ");
                self.read(ty, false)
            }
            TypeKind::FunctionPrototype => {
                self.qualifiers.push("function");
                self.function(ty)
            }
            TypeKind::FunctionNoPrototype => {
                self.qualifiers.push("function");
                self.shape.push_str("function(...)");
                true
            }
            TypeKind::Void => {
                self.qualifiers.push("void");
                self.shape.push_str("void");
                true
            }
            TypeKind::Record | TypeKind::Enum => {
                self.qualifiers.push(qualifier(both));
                let sort = if ty.get_kind() == TypeKind::Enum { "enum" } else { "record" };
                let name = ty.get_declaration().map(type_name).unwrap_or_default();
                self.shape.push_str(&format!("{sort} {name}"));
                true
            }
            TypeKind::Unexposed if !is_open && shown.ends_with('>') => {
                self.qualifiers.push(qualifier(both));
                self.shape.push_str(&format!("record {}", last_name(&shown)));
                true
            }
            _ if is_open => {
                // Of an instance of a template the name is known.
                let name = shown.split('<').next().filter(|name| !name.contains("type-parameter-") && !name.is_empty());
                self.qualifiers.push(qualifier(both));
                self.shape.push_str(&format!("record {}", last_name(name.unwrap_or_default())));
                name.is_some() && shown.ends_with('>')
            }
            TypeKind::Unexposed if shown.contains("_Atomic(") => {
                let inside = shown.split_once("_Atomic(").map(|(_, inside)| inside.trim_end_matches(')'));
                self.qualifiers.push(qualifier((both.0, true)));
                let inside = inside.unwrap_or_default().trim();
                let (inner, stars) = inside.split_at(inside.trim_end_matches(['*', ' ']).len());
                let stars = stars.matches('*').count();
                self.qualifiers.extend(std::iter::repeat_n("plain", stars));
                self.shape.push_str(&format!("{}{}", "pointer to ".repeat(stars), plain(inner)));
                true
            }
            _ => {
                self.qualifiers.push(qualifier(both));
                self.shape.push_str(&plain(&shown));
                true
            }
        }
    }

    fn around(&mut self, what: &str, inner: Option<Type<'_>>) -> bool {
        self.shape.push_str(what);
        inner.is_some_and(|inner| self.read(inner, false))
    }

    /// The types of the parameters.
    fn function(&mut self, ty: Type<'_>) -> bool {
        let parameters = ty.get_argument_types().unwrap_or_default().into_iter().map(|parameter| {
            let mut words = Self::default();
            words.read(parameter, true).then_some(words.shape)
        });
        let Some(mut parameters) = parameters.collect::<Option<Vec<String>>>() else { return false };
        parameters.extend(ty.is_variadic().then(|| "...".to_owned()));
        self.shape.push_str(&format!("function({})", parameters.join(", ")));
        true
    }
}

fn is_array(kind: TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::ConstantArray | TypeKind::IncompleteArray | TypeKind::VariableArray | TypeKind::DependentSizedArray
    )
}

/// Atomic objects are taken for volatile ones: neither is read or written more often than the text says.
fn qualifier(is_const_and_volatile: (bool, bool)) -> &'static str {
    match is_const_and_volatile {
        (false, false) => "plain",
        (true, false) => "const",
        (false, true) => "volatile",
        (true, true) => "const volatile",
    }
}

/// A type's name without qualifiers, namespaces and template arguments.
fn plain(shown: &str) -> String {
    let words =
        shown.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "restrict" | "__restrict"));
    let name = words.collect::<Vec<_>>().join(" ");
    match name.as_str() {
        "_Bool" => "bool".to_owned(),
        _ => name,
    }
}

/// The name of a structure or enumeration, [`ANY`] where it is a library's own affair.
fn type_name(declaration: Entity<'_>) -> String {
    if declaration.is_in_system_header() {
        return ANY.to_owned();
    }
    // What has no name of its own goes by its typedef's, and stands where its keyword does.
    let at = |place: SourceLocation<'_>| place.get_file_location().offset;
    let start = declaration.get_range().map(|range| at(range.get_start()));
    let is_named = declaration.get_location().map(at) != start;
    if is_named { last_name(&declaration.get_name().unwrap_or_default()) } else { "@".to_owned() }
}

/// `vector` of `std::vector<int>`, `@` of what has no name.
pub(super) fn last_name(name: &str) -> String {
    let name = name.split('<').next().unwrap_or_default();
    let last = name.rsplit("::").next().unwrap_or_default().split_whitespace().last().unwrap_or_default();
    let is_anonymous = last.is_empty() || name.contains('(') || name.contains('@');
    if is_anonymous { "@".to_owned() } else { last.to_owned() }
}
