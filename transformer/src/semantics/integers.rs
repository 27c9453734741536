//! The integer types of C, and whether arithmetic in them may wrap around.

use crate::semantics::symbols::DeclaredType;
pub use crate::syntax::Integer;

impl Integer {
    /// `int`.
    pub const INT: Self = Self { bits: 32, signed: true };

    /// `bool`, which is 0 or 1 where it is computed with.
    pub const TRUTH: Self = Self { bits: 1, signed: false };

    /// `size_t`.
    pub const SIZE: Self = Self { bits: 64, signed: false };

    /// The integer type that a declared type is, or `None` if it is another, volatile or not known.
    #[must_use]
    pub fn of(ty: &DeclaredType) -> Option<Self> {
        ty.number().filter(|_| !ty.is_volatile())?.integer()
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

    /// Are all values of the other type its own, and compared alike in both?
    #[must_use]
    pub fn holds_all_of(self, other: Self) -> bool {
        let is_wider = self.bits > other.bits && (self.signed || !other.signed);
        self == other || is_wider
    }

    /// Is it 0 or 1?
    #[must_use]
    pub fn is_truth(self) -> bool {
        self == Self::TRUTH
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
    use crate::syntax::Number;

    #[test]
    fn arithmetic_follows_the_usual_conversions() {
        let named = |name: &str| Number::read(name).and_then(|number| number.integer()).unwrap();
        assert_eq!(named("int").common(named("size_t")), named("size_t"));
        assert_eq!(named("int").common(named("unsigned int")), named("unsigned"));
        assert_eq!(named("unsigned").common(named("long long")), named("long"));
        assert_eq!(named("unsigned char").common(named("short")), Integer::INT);
        assert!(named("unsigned").wraps() && !named("size_t").wraps() && !named("int").wraps());
    }
}
