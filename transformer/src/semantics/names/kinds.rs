//! What names stand for: kinds of objects, and what they hold.

use crate::semantics::symbols::{DeclaredType, ScalarKind};

/// What an object holds, as far as it decides whether two names may stand for one object (C17, section 6.5).
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
    fn behind(pointer: &DeclaredType) -> Self {
        let mut element = pointer.dereferenced();
        while matches!(element, DeclaredType::Array { .. }) {
            element = element.dereferenced();
        }
        if element.is_scalar() { Self::of(&element) } else { Self::Any }
    }

    fn of(ty: &DeclaredType) -> Self {
        match ty {
            DeclaredType::Scalar { .. } if ty.as_type_parameter().is_some() => Self::Any,
            DeclaredType::Scalar { kind: ScalarKind::Floating, .. } => Self::Floating,
            DeclaredType::Scalar { name, .. } if ["char", "int8_t", "byte"].iter().any(|part| name.contains(part)) => {
                Self::Any
            }
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
            DeclaredType::Scalar { .. } => {
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
    let mut at = ty;
    loop {
        at = match at {
            DeclaredType::Scalar { is_volatile, .. } => return *is_volatile,
            DeclaredType::Pointer { pointee, .. } => pointee,
            DeclaredType::Array { element, .. } | DeclaredType::ArrayParameter { element, .. } => element,
            DeclaredType::Reference { to } => to,
            _ => return false,
        }
    }
}

/// An arithmetic type of the language or its standard headers; an enumeration may have operators of its own in C++.
pub(super) fn is_builtin(ty: &DeclaredType) -> bool {
    let words = ["unsigned", "signed", "int", "long", "short", "char", "float", "double", "bool", "_Bool", "_Complex"];
    let headers = ["size_t", "ptrdiff_t", "ssize_t", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128"];
    let is_sized = |word: &str| word.ends_with("_t") && word.trim_start_matches('u').starts_with("int");
    match ty {
        DeclaredType::Scalar { name, .. } => name.split_whitespace().all(|word| {
            let word = word.trim_start_matches("std::");
            words.contains(&word) || headers.contains(&word) || is_sized(word)
        }),
        _ => false,
    }
}

/// Wider than 64 bits: `long double`, complex numbers, 128-bit integers; a template's parameter may be.
fn is_wide(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Scalar { .. } if ty.as_type_parameter().is_some() => true,
        DeclaredType::Scalar { name, .. } => ["long double", "omplex", "128"].iter().any(|wide| name.contains(wide)),
        _ => false,
    }
}
