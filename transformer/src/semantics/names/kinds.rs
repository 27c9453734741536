//! What names stand for: kinds of objects, and what they hold.

use crate::semantics::symbols::DeclaredType;
use crate::syntax::Number;

/// What an object holds: objects of different classes are never accessed by one another's names (C17, section 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// An integer, characters not.
    Integer,
    /// A real number.
    Floating,
    /// An address.
    Pointer,
    /// A character, which may alias anything, or something that is not known.
    Any,
}

impl Class {
    /// May an object of one class be accessed as one of the other?
    pub(crate) fn may_alias(self, other: Self) -> bool {
        self == other || self == Self::Any || other == Self::Any
    }

    /// Of what is written through a pointer: known where it points to numbers, or to arrays of them.
    pub(in crate::semantics) fn behind(pointer: &DeclaredType) -> Self {
        let mut element = pointer.dereferenced();
        while matches!(element, DeclaredType::Array { .. }) {
            element = element.dereferenced();
        }
        if element.is_scalar() { Self::of(&element) } else { Self::Any }
    }

    pub(in crate::semantics) fn of(ty: &DeclaredType) -> Self {
        match ty {
            DeclaredType::Scalar { number, .. } if number.is_floating() => Self::Floating,
            DeclaredType::Scalar { number, .. } if number.may_alias_all() => Self::Any,
            DeclaredType::Scalar { .. } => Self::Integer,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } => Self::Pointer,
            DeclaredType::Reference { to } => Self::of(to),
            _ => Self::Any,
        }
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An arithmetic object.
    Scalar {
        /// Wider than 64 bits?
        wide: bool,
        /// What it holds.
        class: Class,
        /// Is it of a type of the language or its standard headers, for which nobody declares operators?
        builtin: bool,
    },
    /// Something `volatile` or atomic, or a pointer to it.
    Volatile,
    /// A pointer, an array parameter among them.
    Pointer {
        /// Does it point to arithmetic objects?
        plain: bool,
        /// What those hold.
        class: Class,
    },
    /// An array with storage of its own.
    Array { plain: bool, is_const: bool },
    /// A structure or class.
    Struct,
    /// A member of the class that the region's function belongs to, and what it is: a part of `*this`.
    Member(Box<Kind>),
    /// A function.
    Function,
    /// A constant: an enumerator, a macro without side effects.
    Constant,
    /// A macro that is no plain expression.
    Macro,
    /// Declared nowhere in sight, or of a type that is not understood.
    Unknown,
}

impl Kind {
    /// In C++: may an operator on it be a function?
    pub(crate) fn may_hide_code(&self) -> bool {
        match self {
            Self::Pointer { plain, .. } | Self::Array { plain, .. } => !plain,
            Self::Scalar { builtin, .. } => !builtin,
            Self::Member(inner) => inner.may_hide_code(),
            Self::Struct | Self::Unknown => true,
            _ => false,
        }
    }

    /// Is it a number of one of the language's own types that host and device hold alike?
    pub(crate) fn is_host_scalar(&self) -> bool {
        matches!(self, Self::Scalar { wide: false, builtin: true, .. })
    }

    /// Is it, or is what it holds, wider than 64 bits, or not known?
    pub(crate) fn is_wide(&self) -> bool {
        match self {
            Self::Scalar { wide, .. } => *wide,
            Self::Pointer { plain, .. } | Self::Array { plain, .. } => !plain,
            _ => true,
        }
    }

    /// Of a declared type.
    pub(super) fn of_type(ty: &DeclaredType) -> Self {
        match ty {
            _ if is_volatile(ty) => Self::Volatile,
            DeclaredType::Scalar { .. } | DeclaredType::TypeParameter { .. } => {
                Self::Scalar { wide: is_wide(ty), class: Class::of(ty), builtin: is_builtin(ty) }
            }
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } => {
                let element = innermost(ty);
                let class = Class::behind(ty);
                Self::Pointer { plain: is_builtin(element) && !is_wide(element), class }
            }
            DeclaredType::Array { element, .. } => {
                let element = innermost(element);
                Self::Array {
                    plain: is_builtin(element) && !is_wide(element) && !is_pointed(ty),
                    is_const: ty.is_const(),
                }
            }
            DeclaredType::Reference { to } => Self::of_type(to),
            DeclaredType::Record { .. } => Self::Struct,
            DeclaredType::Function { .. } => Self::Function,
            DeclaredType::Auto | DeclaredType::Void | DeclaredType::Unknown => Self::Unknown,
        }
    }
}

/// What is at the end of pointers and arrays.
fn innermost(ty: &DeclaredType) -> &DeclaredType {
    let mut at = ty;
    loop {
        at = match at {
            DeclaredType::Pointer { pointee, .. } => pointee,
            DeclaredType::Array { element, .. } | DeclaredType::ArrayParameter { element, .. } => element,
            DeclaredType::Reference { to } => to,
            _ => return at,
        }
    }
}

/// Is there a pointer in an array's elements?
fn is_pointed(array: &DeclaredType) -> bool {
    matches!(array, DeclaredType::Array { element, .. } if element.is_pointer())
}

/// May another thread change it at any time: `volatile` or atomic, or what it points to?
fn is_volatile(ty: &DeclaredType) -> bool {
    innermost(ty).is_volatile()
}

/// An arithmetic type of the language or its standard headers; an enumeration may have operators of its own in C++.
pub(super) fn is_builtin(ty: &DeclaredType) -> bool {
    ty.number().is_some_and(|number| !number.is_enumeration())
}

/// Wider than 64 bits: `long double`, complex numbers, 128-bit integers; a template's parameter may be.
fn is_wide(ty: &DeclaredType) -> bool {
    ty.number().map_or_else(|| ty.as_type_parameter().is_some(), Number::is_wide)
}
