//! The integer types of C, as far as arithmetic in them may wrap around.

use crate::semantics::symbols::DeclaredType;

/// An integer type on a machine with 64-bit `long`, the one that offload targets have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// How many bits it has.
    pub bits: u32,
    /// Is it signed?
    pub signed: bool,
}

impl Integer {
    /// `int`.
    pub const INT: Self = Self { bits: 32, signed: true };

    /// The integer type that a declared type is; none where it is another, volatile or not known.
    #[must_use]
    pub fn of(ty: &DeclaredType) -> Option<Self> {
        match ty {
            DeclaredType::Scalar { name, is_volatile: false, .. } => Self::named(name),
            _ => None,
        }
    }

    /// The type of this name; none where it is no integer of the language or its standard headers.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let words: Vec<&str> = name.split(' ').collect();
        let has = |word: &str| words.contains(&word);
        let known = ["unsigned", "signed", "int", "long", "short", "char"];
        if words.iter().all(|word| known.contains(word)) {
            let bits = match () {
                () if has("char") => 8,
                () if has("short") => 16,
                () if has("long") => 64,
                () => 32,
            };
            // A plain `char` may be either; signed or not, it is promoted to `int`.
            return Some(Self { bits, signed: !has("unsigned") });
        }
        let (bits, signed) = match name {
            "size_t" | "uintptr_t" | "uintmax_t" | "uint64_t" | "ulong" | "uint_fast32_t" | "uint_fast64_t"
            | "uint_least64_t" => (64, false),
            "ssize_t" | "ptrdiff_t" | "intptr_t" | "intmax_t" | "int64_t" | "off_t" | "time_t" | "int_fast32_t"
            | "int_fast64_t" | "int_least64_t" => (64, true),
            "uint32_t" | "uint" | "uint_least32_t" => (32, false),
            "int32_t" | "int_least32_t" => (32, true),
            "uint16_t" | "ushort" => (16, false),
            "int16_t" => (16, true),
            "uint8_t" => (8, false),
            "int8_t" => (8, true),
            _ => return None,
        };
        Some(Self { bits, signed })
    }

    /// The type in which two operands are computed (C17, section 6.3.1.8).
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let (first, second) = (self.promoted(), other.promoted());
        match first.bits.cmp(&second.bits) {
            std::cmp::Ordering::Greater => first,
            std::cmp::Ordering::Less => second,
            std::cmp::Ordering::Equal => Self { bits: first.bits, signed: first.signed && second.signed },
        }
    }

    /// The type in which it is computed with alone.
    #[must_use]
    pub fn promoted(self) -> Self {
        if self.bits < 32 { Self::INT } else { self }
    }

    /// Is the number one of its values?
    #[must_use]
    pub fn holds(self, number: i128) -> bool {
        let limit = 1_i128 << (self.bits - u32::from(self.signed));
        number < limit && number >= if self.signed { -limit } else { 0 }
    }

    /// Does arithmetic in it wrap around at a size that programs reach?
    ///
    /// Signed arithmetic must not overflow. Of 64 bits no array has so many elements, and no loop so many iterations.
    #[must_use]
    pub fn wraps(self) -> bool {
        !self.signed && self.bits == 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_follows_the_usual_conversions() {
        let named = |name: &str| Integer::named(name).unwrap();
        assert_eq!(named("int").common(named("size_t")), named("size_t"));
        assert_eq!(named("int").common(named("unsigned int")), named("unsigned"));
        assert_eq!(named("unsigned").common(named("long long")), named("long"));
        assert_eq!(named("unsigned char").common(named("short")), Integer::INT);
        assert!(named("unsigned").wraps() && !named("size_t").wraps() && !named("int").wraps());
        assert_eq!(Integer::named("float"), None);
        assert_eq!(Integer::named("enum color"), None);
    }
}
