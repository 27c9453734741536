//! Declared types, as far as data environments and dependences need them.

use std::fmt;

use crate::syntax::Number;
use crate::syntax::numbers::POINTER_BITS;

/// How a type is written, for text that the tool writes. Comparisons pass over it: types of several spellings may be one.
#[derive(Clone, Debug)]
pub struct Spelling(String);

impl PartialEq for Spelling {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Spelling {}

impl fmt::Display for Spelling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// What stands between the brackets; empty for `[]`.
    pub text: String,
    /// Its value, where it is a constant that the file and its headers give.
    pub value: Option<i64>,
}

/// The type that a name is declared with, typedefs seen through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// An arithmetic type.
    Scalar {
        /// Which one.
        number: Number,
        /// As named at the end of all typedefs: `unsigned long`, `size_t`.
        spelling: Spelling,
        /// Is it `const` (or `constexpr`)?
        is_const: bool,
        /// Is it `volatile` or atomic?
        is_volatile: bool,
    },
    /// A template's parameter that stands for a type: taken for an arithmetic one, of which nothing else is known.
    TypeParameter {
        /// Its name.
        name: String,
        /// Is it `const`?
        is_const: bool,
        /// Is it `volatile`?
        is_volatile: bool,
    },
    /// An array with storage of its own.
    Array {
        /// What it is made of; never an array itself.
        element: Box<DeclaredType>,
        /// Its dimensions, outermost first.
        dimensions: Vec<Dimension>,
        /// May its size vary at run time? True also where a dimension's name is not known.
        is_vla: bool,
    },
    /// A parameter written as an array: a pointer to `element`, or to an array of it where there are dimensions left.
    ArrayParameter {
        /// What the array written is made of.
        element: Box<DeclaredType>,
        /// The dimensions as written, outermost first; the first one means nothing.
        dimensions: Vec<Dimension>,
    },
    /// A pointer.
    Pointer {
        /// What it points to.
        pointee: Box<DeclaredType>,
        /// Is the pointer itself `const`?
        is_const: bool,
    },
    /// A C++ reference.
    Reference {
        /// What it refers to.
        to: Box<DeclaredType>,
    },
    /// A structure, union or class.
    Record {
        /// Its name as written; empty for an anonymous one.
        name: String,
        /// Is the object `const`?
        is_const: bool,
        /// Is it a C++ class, or may it be one (constructors, operators, a destructor)?
        may_be_class: bool,
    },
    /// A function.
    Function {
        /// The types of its parameters.
        parameters: Vec<DeclaredType>,
        /// Does it take further arguments (`...`)?
        is_variadic: bool,
    },
    /// `auto`: the type of the initialiser.
    Auto,
    /// `void`.
    Void,
    /// Not known: a name declared nowhere in sight, declarations that contradict each other.
    Unknown,
}

impl DeclaredType {
    /// An arithmetic type without qualifiers.
    #[must_use]
    pub fn scalar(number: Number, spelling: &str) -> Self {
        Self::Scalar { number, spelling: Spelling(spelling.to_owned()), is_const: false, is_volatile: false }
    }

    /// An enumeration without qualifiers.
    pub(in crate::semantics) fn enumeration(name: &str) -> Self {
        Self::scalar(Number::Enumeration { name: name.to_owned() }, &format!("enum {name}"))
    }

    /// A template's parameter that stands for a type.
    pub(super) fn type_parameter(name: &str) -> Self {
        Self::TypeParameter { name: name.to_owned(), is_const: false, is_volatile: false }
    }

    /// A pointer to it.
    pub(super) fn pointer_to(pointee: Self) -> Self {
        Self::Pointer { pointee: Box::new(pointee), is_const: false }
    }

    /// It without the `const` of a number.
    #[must_use]
    pub fn without_const(mut self) -> Self {
        if let Self::Scalar { is_const, .. } = &mut self {
            *is_const = false;
        }
        self
    }

    /// The arithmetic type that it is.
    #[must_use]
    pub fn number(&self) -> Option<&Number> {
        match self {
            Self::Scalar { number, .. } => Some(number),
            _ => None,
        }
    }

    /// The bytes of an object of it, where the type alone tells.
    #[must_use]
    pub fn bytes(&self) -> Option<i64> {
        match self {
            Self::Scalar { number, .. } => Some(i64::from(number.bits()? / 8)),
            Self::Pointer { .. } | Self::ArrayParameter { .. } => Some(i64::from(POINTER_BITS / 8)),
            Self::Array { element, dimensions, .. } => {
                dimensions.iter().try_fold(element.bytes()?, |bytes, dimension| bytes.checked_mul(dimension.value?))
            }
            _ => None,
        }
    }

    /// The template's parameter that it is, or that is at the end of its pointers and arrays.
    #[must_use]
    pub fn as_type_parameter(&self) -> Option<&str> {
        match self {
            Self::TypeParameter { name, .. } => Some(name),
            Self::Pointer { pointee: inner, .. }
            | Self::Array { element: inner, .. }
            | Self::ArrayParameter { element: inner, .. }
            | Self::Reference { to: inner } => inner.as_type_parameter(),
            _ => None,
        }
    }

    /// The structure or class that it is, or that is at the end of its pointers, arrays and references.
    #[must_use]
    pub fn class(&self) -> Option<&Self> {
        match self {
            Self::Record { may_be_class: true, .. } => Some(self),
            Self::Pointer { pointee: inner, .. }
            | Self::Array { element: inner, .. }
            | Self::ArrayParameter { element: inner, .. }
            | Self::Reference { to: inner } => inner.class(),
            _ => None,
        }
    }

    /// Is all of it known: no `auto`, no name declared nowhere in sight, in what it points to neither?
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            Self::Unknown | Self::Auto => false,
            Self::Pointer { pointee: inner, .. }
            | Self::Array { element: inner, .. }
            | Self::ArrayParameter { element: inner, .. }
            | Self::Reference { to: inner } => inner.is_known(),
            _ => true,
        }
    }

    /// Is it an arithmetic type, or a template's parameter that is taken for one?
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::Scalar { .. } | Self::TypeParameter { .. })
    }

    /// Is it a pointer, array parameters included?
    #[must_use]
    pub fn is_pointer(&self) -> bool {
        matches!(self, Self::Pointer { .. } | Self::ArrayParameter { .. })
    }

    /// Can no assignment change an object of this type?
    #[must_use]
    pub fn is_const(&self) -> bool {
        match self {
            Self::Scalar { is_const, .. }
            | Self::TypeParameter { is_const, .. }
            | Self::Pointer { is_const, .. }
            | Self::Record { is_const, .. } => *is_const,
            Self::Array { element, .. } => element.is_const(),
            _ => false,
        }
    }

    /// Is it a number that is `volatile` or atomic?
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        matches!(self, Self::Scalar { is_volatile: true, .. } | Self::TypeParameter { is_volatile: true, .. })
    }

    /// What one subscript or `*` gives.
    #[must_use]
    pub fn dereferenced(&self) -> Self {
        match self {
            Self::Array { element, dimensions, is_vla } if dimensions.len() > 1 => {
                Self::Array { element: element.clone(), dimensions: dimensions[1..].to_vec(), is_vla: *is_vla }
            }
            Self::ArrayParameter { element, dimensions } if dimensions.len() > 1 => {
                Self::Array { element: element.clone(), dimensions: dimensions[1..].to_vec(), is_vla: false }
            }
            Self::Array { element, .. } | Self::ArrayParameter { element, .. } => (**element).clone(),
            Self::Pointer { pointee, .. } => (**pointee).clone(),
            Self::Reference { to } => to.dereferenced(),
            _ => Self::Unknown,
        }
    }

    /// The type with these qualifiers added. Of what is `volatile` only numbers are modelled.
    #[must_use]
    pub fn qualified(mut self, with_const: bool, with_volatile: bool) -> Self {
        let is_modelled = matches!(self, Self::Scalar { .. } | Self::TypeParameter { .. } | Self::Array { .. });
        if with_volatile && !is_modelled {
            return Self::Unknown;
        }
        match &mut self {
            Self::Scalar { is_const, is_volatile, .. } | Self::TypeParameter { is_const, is_volatile, .. } => {
                *is_const |= with_const;
                *is_volatile |= with_volatile;
            }
            Self::Pointer { is_const, .. } | Self::Record { is_const, .. } => *is_const |= with_const,
            Self::Array { element, .. } => {
                let inner = std::mem::replace(&mut **element, Self::Unknown);
                **element = inner.qualified(with_const, with_volatile);
            }
            _ => {}
        }
        self
    }

    /// An array of this type: dimensions are kept together, the new one outermost.
    #[must_use]
    pub fn array_of(self, dimension: Dimension, varies: bool) -> Self {
        match self {
            Self::Array { element, mut dimensions, is_vla } => {
                dimensions.insert(0, dimension);
                Self::Array { element, dimensions, is_vla: is_vla || varies }
            }
            other => Self::Array { element: Box::new(other), dimensions: vec![dimension], is_vla: varies },
        }
    }

    /// The type of a parameter that is written with this type.
    #[must_use]
    pub(super) fn into_parameter(self) -> Self {
        match self {
            Self::Array { element, dimensions, .. } => Self::ArrayParameter { element, dimensions },
            function @ Self::Function { .. } => Self::Pointer { pointee: Box::new(function), is_const: false },
            other => other,
        }
    }
}

/// A type of the language or its standard headers by its specifier, without qualifiers.
#[must_use]
pub(super) fn standard_type(specifier: &str) -> Option<DeclaredType> {
    match specifier {
        "void" => Some(DeclaredType::Void),
        "FILE" | "pthread_mutex_t" | "omp_lock_t" | "omp_nest_lock_t" => {
            Some(DeclaredType::Record { name: specifier.to_owned(), is_const: false, may_be_class: false })
        }
        _ => Number::read(specifier).map(|number| DeclaredType::scalar(number, specifier)),
    }
}

/// The class that a name of the standard library of C++ means, written as it is in `text`; unknown for other names: of those with and
/// without arguments many stand for numbers, pointers or arrays.
#[must_use]
pub(super) fn standard_class(name: &str, text: &str) -> DeclaredType {
    if STANDARD_CLASSES.binary_search(&name).is_err() {
        return DeclaredType::Unknown;
    }
    DeclaredType::Record { name: text.to_owned(), is_const: false, may_be_class: true }
}

/// Classes and class templates of the standard library, in order.
const STANDARD_CLASSES: &[&str] = &[
    "array",
    "atomic",
    "basic_string",
    "bernoulli_distribution",
    "bitset",
    "complex",
    "condition_variable",
    "default_random_engine",
    "deque",
    "exception",
    "forward_list",
    "fstream",
    "function",
    "future",
    "ifstream",
    "iostream",
    "istream",
    "istringstream",
    "list",
    "lock_guard",
    "map",
    "mt19937",
    "mt19937_64",
    "multimap",
    "multiset",
    "mutex",
    "normal_distribution",
    "ofstream",
    "optional",
    "ostream",
    "ostringstream",
    "pair",
    "priority_queue",
    "queue",
    "random_device",
    "runtime_error",
    "set",
    "shared_ptr",
    "span",
    "stack",
    "string",
    "string_view",
    "stringstream",
    "thread",
    "tuple",
    "uniform_int_distribution",
    "uniform_real_distribution",
    "unique_lock",
    "unique_ptr",
    "unordered_map",
    "unordered_multimap",
    "unordered_multiset",
    "unordered_set",
    "valarray",
    "variant",
    "vector",
    "weak_ptr",
    "wstring",
];
