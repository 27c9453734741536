//! The arithmetic types of C and C++: what the words of a type specifier name, and how many bits that has on the targets.
//!
//! Nothing else reads a type's text. Sizes are those of LP64, the data model of x86_64 and of nvptx64, which lays out its data as its
//! host does.

mod headers;

pub use headers::{integer_names, is_common_name};

/// Bits of an address.
pub const POINTER_BITS: u32 = 64;

/// What an integer type is to arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// How many bits it has.
    pub bits: u32,
    /// Is it signed?
    pub signed: bool,
}

/// An arithmetic type, whatever typedef it goes by: `size_t` is `unsigned long`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// `bool`, `_Bool`.
    Bool,
    /// A character type that is no other integer type.
    Character(Character),
    /// A signed or unsigned integer type, `signed char` among them.
    Integer {
        /// Which one.
        rank: Rank,
        /// Is it signed?
        signed: bool,
    },
    /// A real number.
    Floating(Format),
    /// A complex number of two such parts.
    Complex(Format),
    /// An enumeration. Which integer type it has is up to the compiler.
    Enumeration {
        /// Its name; `@` for an anonymous one.
        name: String,
    },
}

/// A character type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Character {
    /// `char`: signed on the targets, unless a flag says otherwise.
    Plain,
    /// `char8_t`.
    Utf8,
    /// `char16_t`.
    Utf16,
    /// `char32_t`.
    Utf32,
    /// `wchar_t`.
    Wide,
}

/// An integer type, its sign aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// `signed char`, `unsigned char`.
    Char,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `long long`: as wide as `long`, but another type.
    LongLong,
    /// `__int128`.
    Int128,
}

/// A format of real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `_Float16`.
    Half,
    /// `float`.
    Single,
    /// `double`.
    Double,
    /// `long double`, with the bytes that fill it up.
    LongDouble,
    /// `__float128`.
    Quad,
    /// `float` in one program and `double` in another, as a macro says.
    SingleOrDouble,
}

impl Rank {
    fn bits(self) -> u32 {
        match self {
            Self::Char => 8,
            Self::Short => 16,
            Self::Int => 32,
            Self::Long | Self::LongLong => 64,
            Self::Int128 => 128,
        }
    }
}

impl Character {
    /// The integer type that it has the values of.
    fn values(self) -> (Rank, bool) {
        match self {
            Self::Plain => (Rank::Char, true),
            Self::Utf8 => (Rank::Char, false),
            Self::Utf16 => (Rank::Short, false),
            Self::Utf32 => (Rank::Int, false),
            Self::Wide => (Rank::Int, true),
        }
    }
}

impl Format {
    /// How many bits it takes up, or `None` if that is up to the program.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        match self {
            Self::Half => Some(16),
            Self::Single => Some(32),
            Self::Double => Some(64),
            Self::LongDouble | Self::Quad => Some(128),
            Self::SingleOrDouble => None,
        }
    }
}

impl Number {
    /// `int`.
    pub const INT: Self = Self::Integer { rank: Rank::Int, signed: true };

    /// The type that a specifier names, in keywords or by a name of the standard headers, or `None` if it is another, or not modelled.
    #[must_use]
    pub fn read(specifier: &str) -> Option<Self> {
        let words: Vec<&str> = specifier.split_whitespace().collect();
        let named = || words.first().and_then(|name| headers::number(name)).filter(|_| words.len() == 1);
        Self::of_keywords(&words).or_else(named)
    }

    /// The type that the language's own words name, in whichever order: `long unsigned int`.
    #[must_use]
    pub fn of_keywords(words: &[&str]) -> Option<Self> {
        let (mut base, mut sign, mut has_int, mut is_complex) = (Vec::new(), None, false, false);
        for word in words {
            let is_repeated = match *word {
                "signed" | "unsigned" => sign.replace(*word == "signed").is_some(),
                "int" => std::mem::replace(&mut has_int, true),
                "_Complex" => std::mem::replace(&mut is_complex, true),
                other => {
                    base.push(other);
                    false
                }
            };
            if is_repeated {
                return None;
            }
        }
        base.sort_unstable();
        let integer = |rank| Self::Integer { rank, signed: sign.unwrap_or(true) };
        let number = match base.as_slice() {
            [] if has_int || sign.is_some() => integer(Rank::Int),
            ["short"] => integer(Rank::Short),
            ["long"] => integer(Rank::Long),
            ["long", "long"] => integer(Rank::LongLong),
            ["__int128"] if !has_int => integer(Rank::Int128),
            ["char"] if !has_int && sign.is_some() => integer(Rank::Char),
            _ if has_int || sign.is_some() => return None,
            ["bool" | "_Bool"] => Self::Bool,
            ["char"] => Self::Character(Character::Plain),
            ["char8_t"] => Self::Character(Character::Utf8),
            ["char16_t"] => Self::Character(Character::Utf16),
            ["char32_t"] => Self::Character(Character::Utf32),
            ["wchar_t"] => Self::Character(Character::Wide),
            ["_Float16"] => Self::Floating(Format::Half),
            ["float"] => Self::Floating(Format::Single),
            ["double"] => Self::Floating(Format::Double),
            ["double", "long"] => Self::Floating(Format::LongDouble),
            ["__float128"] => Self::Floating(Format::Quad),
            _ => return None,
        };
        match number {
            Self::Floating(format) if is_complex => Some(Self::Complex(format)),
            number => Some(number).filter(|_| !is_complex),
        }
    }

    /// Is it a keyword of a type of numbers?
    #[must_use]
    pub fn is_keyword(word: &str) -> bool {
        matches!(word, "char" | "short" | "int" | "long" | "signed" | "unsigned" | "float" | "double")
    }

    /// How many bits it takes up, or `None` if that is up to the compiler or the program.
    #[must_use]
    pub fn bits(&self) -> Option<u32> {
        match self {
            Self::Bool => Some(8),
            Self::Character(character) => Some(character.values().0.bits()),
            Self::Integer { rank, .. } => Some(rank.bits()),
            Self::Floating(format) => format.bits(),
            Self::Complex(format) => Some(2 * format.bits()?),
            Self::Enumeration { .. } => None,
        }
    }

    /// What it is to arithmetic, if it is an integer type of a known size, and of 64 bits at most.
    #[must_use]
    pub fn integer(&self) -> Option<Integer> {
        let (rank, signed) = match self {
            Self::Integer { rank, signed } => (*rank, *signed),
            Self::Character(character) => character.values(),
            _ => return None,
        };
        Some(Integer { bits: rank.bits(), signed }).filter(|integer| integer.bits <= 64)
    }

    /// Is it an integer type of the language: neither `bool` nor an enumeration?
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Character(_))
    }

    /// Does it hold fractions?
    #[must_use]
    pub fn is_floating(&self) -> bool {
        matches!(self, Self::Floating(_) | Self::Complex(_))
    }

    /// Is it an enumeration, for which C++ programs may declare operators?
    #[must_use]
    pub fn is_enumeration(&self) -> bool {
        matches!(self, Self::Enumeration { .. })
    }

    /// Is it wider than 64 bits?
    #[must_use]
    pub fn is_wide(&self) -> bool {
        matches!(self, Self::Complex(_)) || self.bits().is_some_and(|bits| bits > 64)
    }

    /// May objects of other types be looked at as this one, as characters may (C17, section 6.5)? `std::byte` is an enumeration.
    #[must_use]
    pub fn may_alias_all(&self) -> bool {
        matches!(self, Self::Character(_) | Self::Enumeration { .. } | Self::Integer { rank: Rank::Char, .. })
    }

    /// Do both hold the same values? `None` if the size of one is not known.
    #[must_use]
    pub fn holds_the_same(&self, other: &Self) -> Option<bool> {
        let is_whole = |number: &Self| number.is_enumeration() || number.is_integer();
        match (self.integer(), other.integer()) {
            _ if self == other => Some(true),
            (Some(one), Some(other)) => Some(one == other),
            _ if self.bits().is_some() && other.bits().is_some() => Some(false),
            _ if self.is_floating() && other.is_floating() || is_whole(self) && is_whole(other) => None,
            _ => Some(false),
        }
    }

    /// Keywords that name a type of the same values, or `None` if it is no number of at most 64 bits.
    #[must_use]
    pub fn keywords(&self) -> Option<&'static str> {
        match (self, self.integer().map(|integer| (integer.bits, integer.signed))) {
            (Self::Floating(Format::Single), _) => Some("float"),
            (Self::Floating(Format::Double), _) => Some("double"),
            (Self::Character(Character::Plain), _) => Some("char"),
            (_, Some((8, true))) => Some("signed char"),
            (_, Some((8, false))) => Some("unsigned char"),
            (_, Some((16, true))) => Some("signed short"),
            (_, Some((16, false))) => Some("unsigned short"),
            (_, Some((32, true))) => Some("signed int"),
            (_, Some((32, false))) => Some("unsigned int"),
            (_, Some((64, true))) => Some("signed long"),
            (_, Some((64, false))) => Some("unsigned long"),
            _ => None,
        }
    }
}

/// Is it a word of the language that stands in the specifiers of arithmetic types?
#[must_use]
pub fn is_type_keyword(word: &str) -> bool {
    // This one is no type by itself.
    Number::of_keywords(&[word]).is_some() || word == "_Complex"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_any_order() {
        for (specifier, same) in [
            ("long", "int long signed"),
            ("unsigned", "unsigned int"),
            ("long long unsigned", "unsigned long int long"),
            ("short", "signed short int"),
            ("char unsigned", "uint8_t"),
            ("long double", "double long"),
            ("unsigned long", "size_t"),
            ("double _Complex", "_Complex double"),
        ] {
            assert!(Number::read(specifier).is_some(), "{specifier}");
            assert_eq!(Number::read(specifier), Number::read(same), "{specifier}");
        }
    }

    #[test]
    fn types_are_told_apart() {
        let read = |specifier: &str| Number::read(specifier).unwrap();
        for (one, other, holds_the_same) in [
            ("long", "long long", Some(true)),
            ("char", "signed char", Some(true)),
            ("wchar_t", "int", Some(true)),
            ("long double", "__float128", Some(false)),
            ("int", "unsigned", Some(false)),
            ("bool", "unsigned char", Some(false)),
            ("float", "int", Some(false)),
            ("omp_sched_t", "omp_proc_bind_t", None),
            ("omp_sched_t", "unsigned char", None),
            ("omp_sched_t", "float", Some(false)),
        ] {
            assert_ne!(read(one), read(other), "{one}");
            assert_eq!(read(one).holds_the_same(&read(other)), holds_the_same, "{one} and {other}");
        }
        let either = Number::Floating(Format::SingleOrDouble);
        assert_eq!((either.holds_the_same(&read("double")), either.holds_the_same(&read("int"))), (None, Some(false)));
    }

    #[test]
    fn characters_may_alias_all() {
        let may_alias_all = |specifier: &str| Number::read(specifier).unwrap().may_alias_all();
        assert!(["char", "unsigned char", "int8_t", "uint_least8_t", "int_fast8_t"].into_iter().all(may_alias_all));
        assert!(!["bool", "short", "int16_t", "unsigned", "float", "long double"].into_iter().any(may_alias_all));
    }

    #[test]
    fn what_is_no_type_is_not_read() {
        for specifier in [
            "",
            "unsigned float",
            "signed unsigned",
            "long long long",
            "short long",
            "int int",
            "char int",
            "_Complex",
            "_Complex int",
            "unsigned size_t",
            "void",
            "enum color",
            "std::size_t",
            "T",
        ] {
            assert_eq!(Number::read(specifier), None, "{specifier}");
        }
    }

    #[test]
    fn keywords_name_the_same_values() {
        for name in ["int", "size_t", "char", "uint8_t", "wchar_t", "long long", "float_t", "double", "short"] {
            let number = Number::read(name).unwrap();
            let written = number.keywords().and_then(Number::read).unwrap();
            assert_eq!(number.holds_the_same(&written), Some(true), "{name}");
        }
        assert!(integer_names().all(|name| Number::read(name).is_some() && !name.contains(' ')));
    }
}
