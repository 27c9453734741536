//! Functions of the standard libraries and of the OpenMP runtime whose effects are known.

use super::library::is_of_c;
use crate::source::words;
use crate::syntax::Number;

/// What a function of a standard library does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It computes its result from the values of its arguments, and does nothing else.
    Pure,
    /// It reads or writes what its arguments point to.
    Memory,
    /// It writes to a stream.
    Output,
}

/// What a function of the OpenMP runtime library depends on (OpenMP 5.2, chapter 18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeCall {
    /// Its result or effect depends on the team, its threads or an enclosing region.
    TeamDependent,
    /// It takes or releases a lock.
    Lock,
    /// It means the same in every team.
    Harmless,
    /// Any other: it sets a control variable, manages memory, or is not known.
    Other,
}

/// The runtime routine of this name; `None` where the name is none.
#[must_use]
pub fn runtime_call(name: &str) -> Option<RuntimeCall> {
    let name = name.strip_prefix("::").unwrap_or(name);
    let is_routine =
        ["omp_", "ompx_", "kmp_", "__kmpc_", "GOMP_", "ompt_"].iter().any(|prefix| name.starts_with(prefix));
    let kind = match name {
        _ if TEAM_DEPENDENT.contains(&name) => RuntimeCall::TeamDependent,
        _ if HARMLESS.contains(&name) => RuntimeCall::Harmless,
        _ if name.contains("_lock") => RuntimeCall::Lock,
        _ => RuntimeCall::Other,
    };
    is_routine.then_some(kind)
}

const TEAM_DEPENDENT: &[&str] = &[
    "omp_get_active_level",
    "omp_get_ancestor_thread_num",
    "omp_get_cancellation",
    "omp_get_dynamic",
    "omp_get_level",
    "omp_get_max_active_levels",
    "omp_get_max_task_priority",
    "omp_get_max_teams",
    "omp_get_max_threads",
    "omp_get_nested",
    "omp_get_num_procs",
    "omp_get_num_teams",
    "omp_get_num_threads",
    "omp_get_partition_num_places",
    "omp_get_place_num",
    "omp_get_proc_bind",
    "omp_get_schedule",
    "omp_get_supported_active_levels",
    "omp_get_team_num",
    "omp_get_team_size",
    "omp_get_teams_thread_limit",
    "omp_get_thread_limit",
    "omp_get_thread_num",
    "omp_in_explicit_task",
    "omp_in_final",
    "omp_in_parallel",
    "ompx_thread_id",
    "ompx_block_id",
    "ompx_block_dim",
    "ompx_grid_dim",
    "ompx_thread_id_x",
    "ompx_block_id_x",
    "ompx_block_dim_x",
    "ompx_grid_dim_x",
    "ompx_sync_block",
    "ompx_sync_block_acq_rel",
];

const HARMLESS: &[&str] = &[
    "omp_get_device_num",
    "omp_get_default_device",
    "omp_get_initial_device",
    "omp_get_num_devices",
    "omp_get_wtick",
    "omp_get_wtime",
    "omp_is_initial_device",
];

/// Is it a function that computes its result from the values of its arguments, and does nothing else?
#[must_use]
pub fn is_pure(name: &str) -> bool {
    of(name) == Some(Known::Pure)
}

/// What the names of the functions in `ompsplit_pin.h` begin with, which take values alone.
const OF_PINNING: &str = "ompsplit_";

/// Does a function take all its arguments by value, or by a reference through which it does not write?
#[must_use]
pub fn takes_values(name: &str) -> bool {
    only_computes(name) || is_of_c(name) || runtime_call(name).is_some() || name.starts_with(OF_PINNING)
}

/// Is it a function that writes nothing but streams?
#[must_use]
pub(in crate::semantics) fn only_computes(name: &str) -> bool {
    of(name).is_some() && !WRITES_ARGUMENTS.contains(&base(name))
}

/// What is known of a function by its name.
#[must_use]
pub(super) fn of(name: &str) -> Option<Known> {
    let base = base(name);
    if MEMORY.contains(&base) || WRITES_ARGUMENTS.contains(&base) {
        Some(Known::Memory)
    } else if OUTPUT.contains(&base) {
        Some(Known::Output)
    } else if PURE.contains(&base) || is_real_variant(base) {
        Some(Known::Pure)
    } else {
        None
    }
}

/// May a program in C have a function of its own by this name, although the standard libraries of systems or of C++ know one?
#[must_use]
pub(in crate::semantics) fn is_reserved_in_c(name: &str) -> bool {
    !(name.starts_with("MPI_") || NOT_OF_C.contains(&name.trim_end_matches(['f', 'l'])) || NOT_OF_C.contains(&name))
}

/// Names of POSIX, GNU, C++ and of compilers, which the standard of C leaves to programs.
const NOT_OF_C: &[&str] = &[
    "_mm_free",
    "_mm_malloc",
    "assume",
    "bswap16",
    "bswap32",
    "bswap64",
    "bzero",
    "clamp",
    "clock_gettime",
    "clz",
    "constant_p",
    "cospi",
    "ctz",
    "drand48",
    "exp10",
    "expect",
    "ffs",
    "finite",
    "gcd",
    "getpid",
    "getrusage",
    "gettimeofday",
    "huge_val",
    "inf",
    "isatty",
    "isinff",
    "isinfl",
    "isnanf",
    "isnanl",
    "j0",
    "j1",
    "lcm",
    "lerp",
    "lgamma_r",
    "lgammaf_r",
    "lrand48",
    "max",
    "midpoint",
    "min",
    "mrand48",
    "nanosleep",
    "numeric_limits",
    "parity",
    "popcount",
    "posix_memalign",
    "prefetch",
    "random",
    "roundeven",
    "rsqrt",
    "sincos",
    "sinpi",
    "sleep",
    "srand48",
    "srandom",
    "strcasecmp",
    "strncasecmp",
    "swap",
    "times",
    "unreachable",
    "usleep",
    "y0",
    "y1",
];

/// Is it a function of real numbers or integers for which processors have one instruction: `fabsf`, `std::max`?
#[must_use]
pub fn is_one_operation(name: &str) -> bool {
    let base = base(name);
    let is = |name: &str| ONE_OPERATION.contains(&name);
    is(base) || base.strip_suffix(['f', 'l']).is_some_and(is)
}

const ONE_OPERATION: &[&str] = &["abs", "copysign", "fabs", "fmax", "fmin", "labs", "llabs", "max", "min"];

/// Arguments of a template that are written down may be classes with code of their own. The casts that are left make references, and
/// are looked at where they stand.
fn is_of_classes(name: &str) -> bool {
    let Some((own, arguments)) = name.split_once('<') else { return false };
    !own.ends_with("_cast")
        && !own.ends_with("numeric_limits")
        && words(arguments).any(|word| word != "std" && Number::read(word).is_none())
}

/// The name without a scope of the standard library or the compiler's prefix, and without a template's arguments.
fn base(name: &str) -> &str {
    if is_of_classes(name) {
        return "";
    }
    let name = name.split('<').next().unwrap_or(name);
    let name = name.strip_prefix("::").unwrap_or(name);
    let name = name.strip_prefix("std::").unwrap_or(name);
    name.strip_prefix("__builtin_").unwrap_or(name)
}

/// `sqrtf` and `sqrtl` for `sqrt`.
fn is_real_variant(base: &str) -> bool {
    base.strip_suffix(['f', 'l']).is_some_and(|stem| REAL.contains(&stem)) || REAL.contains(&base)
}

/// Functions on real numbers, of which there are variants for `float` and `long double`.
const REAL: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "rsqrt",
    "scalbln",
    "scalbn",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "cabs",
    "creal",
    "cimag",
    "cexp",
    "conj",
    "csqrt",
];

const PURE: &[&str] = &[
    "abs",
    "labs",
    "llabs",
    "imaxabs",
    "div",
    "ldiv",
    "isalpha",
    "isdigit",
    "isspace",
    "isalnum",
    "islower",
    "isupper",
    "tolower",
    "toupper",
    "isnan",
    "isinf",
    "isfinite",
    "isnormal",
    "signbit",
    "fpclassify",
    "isgreater",
    "isgreaterequal",
    "isless",
    "islessequal",
    "isunordered",
    "max",
    "min",
    "clamp",
    "expect",
    "constant_p",
    "popcount",
    "popcountl",
    "popcountll",
    "clz",
    "clzl",
    "clzll",
    "ctz",
    "ctzl",
    "ctzll",
    "ffs",
    "parity",
    "bswap16",
    "bswap32",
    "bswap64",
    "inf",
    "huge_val",
    "unreachable",
    "assume",
    "sizeof",
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "offsetof",
    "__popc",
    "lerp",
    "midpoint",
    "gcd",
    "lcm",
    "isnanf",
    "isinff",
    "isnanl",
    "isinfl",
    "finite",
    "numeric_limits",
];

const MEMORY: &[&str] = &["memcpy", "memmove", "memset", "strcpy", "strncpy", "bzero", "memchr", "prefetch", "swap"];

/// Functions that write what an argument points or refers to.
const WRITES_ARGUMENTS: &[&str] = &[
    "frexp",
    "frexpf",
    "frexpl",
    "modf",
    "modff",
    "modfl",
    "remquo",
    "remquof",
    "remquol",
    "sincos",
    "sincosf",
    "sincosl",
    "lgamma_r",
    "lgammaf_r",
    "memcpy",
    "memmove",
    "memset",
    "strcpy",
    "strncpy",
    "bzero",
    "swap",
    "snprintf",
    "sprintf",
];

const OUTPUT: &[&str] =
    &["printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc", "fflush", "perror", "assert"];
