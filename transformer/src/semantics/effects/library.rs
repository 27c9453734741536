//! Functions of the C and POSIX libraries that host code calls between kernels: what they do with what their arguments point to.

/// What a function does with the memory that its arguments point to. None of those listed keeps an address beyond the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointeeUse {
    /// Nothing.
    None,
    /// It may read it.
    Reads,
    /// It may read and write it, or end its life.
    Writes,
}

/// What is known of a function by its name, which must mean the library's.
pub(super) fn pointees(name: &str) -> Option<PointeeUse> {
    let name = name.strip_prefix("std::").or(name.strip_prefix("::")).unwrap_or(name);
    if NOTHING.contains(&name) {
        Some(PointeeUse::None)
    } else if READS.contains(&name) {
        Some(PointeeUse::Reads)
    } else if WRITES.contains(&name) {
        Some(PointeeUse::Writes)
    } else {
        None
    }
}

const NOTHING: &[&str] = &[
    "aligned_alloc",
    "calloc",
    "clock",
    "difftime",
    "drand48",
    "lrand48",
    "malloc",
    "mrand48",
    "putchar",
    "rand",
    "random",
    "srand",
    "srand48",
    "srandom",
    "usleep",
];

const READS: &[&str] = &[
    "assert", "atof", "atoi", "atol", "fprintf", "fputc", "fputs", "fwrite", "getenv", "memcmp", "perror", "printf",
    "putc", "puts", "strcmp", "strlen", "strncmp", "strtod", "strtol", "strtoul",
];

const WRITES: &[&str] = &[
    "bzero",
    "clock_gettime",
    "fclose",
    "fflush",
    "fgets",
    "fread",
    "free",
    "frexp",
    "fscanf",
    "gettimeofday",
    "memcpy",
    "memmove",
    "memset",
    "modf",
    "sincos",
    "snprintf",
    "sprintf",
    "sscanf",
    "strcpy",
    "strncpy",
    "time",
];
