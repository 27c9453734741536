//! The arithmetic types that the standard headers name.

use super::{Format, Number, Rank};

/// The names of integer types that not every language and compiler reserves: programs may give them another meaning.
pub fn integer_names() -> impl Iterator<Item = &'static str> {
    let keywords = ["wchar_t", "char8_t", "char16_t", "char32_t", "__int128"];
    let integers = TYPEDEFS.iter().filter(|(number, _)| number.is_integer());
    let typedefs = integers.flat_map(|(_, names)| names.iter().copied());
    keywords.into_iter().chain(typedefs).chain(ENUMERATIONS.iter().copied())
}

/// May a program have a type of this name of its own? The standards reserve all other names of their headers.
#[must_use]
pub fn is_common_name(name: &str) -> bool {
    matches!(name, "uint" | "ulong" | "ushort")
}

/// The type that a name of the standard headers stands for.
pub(super) fn number(name: &str) -> Option<Number> {
    let typedef = TYPEDEFS.iter().find(|(_, names)| names.contains(&name)).map(|(number, _)| number.clone());
    typedef.or_else(|| ENUMERATIONS.contains(&name).then(|| Number::Enumeration { name: name.to_owned() }))
}

const fn signed(rank: Rank) -> Number {
    Number::Integer { rank, signed: true }
}

const fn unsigned(rank: Rank) -> Number {
    Number::Integer { rank, signed: false }
}

/// What `stddef.h`, `stdint.h`, `math.h`, `sys/types.h` and `time.h` name, as the targets' C library has it.
const TYPEDEFS: &[(Number, &[&str])] = &[
    (
        unsigned(Rank::Long),
        &[
            "size_t",
            "uintptr_t",
            "uintmax_t",
            "uint64_t",
            "uint_least64_t",
            "uint_fast16_t",
            "uint_fast32_t",
            "uint_fast64_t",
            "ulong",
        ],
    ),
    (
        signed(Rank::Long),
        &[
            "ssize_t",
            "ptrdiff_t",
            "intptr_t",
            "intmax_t",
            "int64_t",
            "int_least64_t",
            "int_fast16_t",
            "int_fast32_t",
            "int_fast64_t",
            "off_t",
            "time_t",
            "clock_t",
        ],
    ),
    (unsigned(Rank::Int), &["uint32_t", "uint_least32_t", "uint"]),
    (signed(Rank::Int), &["int32_t", "int_least32_t", "pid_t"]),
    (unsigned(Rank::Short), &["uint16_t", "uint_least16_t", "ushort"]),
    (signed(Rank::Short), &["int16_t", "int_least16_t"]),
    (unsigned(Rank::Char), &["uint8_t", "uint_least8_t", "uint_fast8_t"]),
    (signed(Rank::Char), &["int8_t", "int_least8_t", "int_fast8_t"]),
    (unsigned(Rank::Int128), &["__uint128_t"]),
    (signed(Rank::Int128), &["__int128_t"]),
    (Number::Floating(Format::Single), &["float_t", "_Float32"]),
    (Number::Floating(Format::Double), &["double_t", "_Float64"]),
];

/// The enumerations of `omp.h`.
const ENUMERATIONS: &[&str] = &["omp_sched_t", "omp_proc_bind_t", "omp_allocator_handle_t", "omp_event_handle_t"];
