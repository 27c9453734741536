//! Functions of the C, POSIX and MPI libraries that host code calls: what they do with what their arguments point to.

/// What a function does with the memory that its arguments point to. None of those listed keeps an address beyond the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::semantics) enum PointeeUse {
    /// Nothing.
    None,
    /// It may read it.
    Reads,
    /// It may read and write it, or end its life.
    Writes,
}

/// What is known of a function by its name, which must mean the library's.
pub(in crate::semantics) fn pointees(name: &str) -> Option<PointeeUse> {
    let name = plain(name);
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

/// Does a function that writes what some of its arguments point to only read what this one does?
pub(in crate::semantics) fn only_reads_argument(name: &str, index: usize) -> bool {
    match plain(name) {
        "memcpy" | "memmove" | "strcat" | "strcpy" | "strncat" | "strncpy" => index > 0,
        "sprintf" => index > 0,
        "snprintf" => index > 1,
        "fscanf" => index == 1,
        "sscanf" => index < 2,
        // The end of the number goes to where the second argument leads.
        "strtod" | "strtof" | "strtol" | "strtoul" => index != 1,
        _ => false,
    }
}

/// Is an argument a number by the function's prototype, whatever stands there?
pub(in crate::semantics) fn takes_number(name: &str, index: usize) -> bool {
    matches!((plain(name), index), ("clock_gettime" | "clock_getres", 0))
}

/// Which argument of a function that prints is its format.
pub(in crate::semantics) fn format_argument(name: &str) -> Option<usize> {
    match plain(name) {
        "printf" => Some(0),
        "fprintf" | "sprintf" => Some(1),
        "snprintf" => Some(2),
        _ => None,
    }
}

/// May a format, as it is written, have a conversion `%n`, which stores how much was printed (C17, section 7.21.6.1)? Characters that are
/// written as numbers are not read.
pub(in crate::semantics) fn may_store_counts(format: &str) -> bool {
    let mut escapes = format.split('\\').skip(1);
    let has_number =
        escapes.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'x' | 'u' | 'U' | 'N' | 'o')));
    let is_between = |c: char| !c.is_ascii_alphabetic() && c != '%' || "hlLqjztI".contains(c);
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let conversion = behind.trim_start_matches(is_between);
        if conversion.starts_with('n') {
            return true;
        }
        rest = conversion.strip_prefix(|_: char| true).unwrap_or_default();
    }
    has_number
}

fn plain(name: &str) -> &str {
    let name = name.strip_prefix("std::").or(name.strip_prefix("::")).unwrap_or(name);
    name.strip_prefix("__builtin_").unwrap_or(name)
}

/// Is it one of these functions, or another of the C library that gets copies of its arguments?
pub(in crate::semantics) fn is_of_c(name: &str) -> bool {
    pointees(name).is_some() || OTHERS.contains(&plain(name))
}

/// Does a function of this name end the program? What it runs before may read all that others know.
pub(in crate::semantics) fn ends_program(name: &str) -> bool {
    matches!(plain(name), "_Exit" | "abort" | "exit" | "quick_exit")
}

/// Does a text name a function that makes others of the library run code of the program, or read and write memory that it hands over:
/// streams on arrays or with functions of their own, the state of `random`?
pub(in crate::semantics) fn extends_library(text: &str) -> bool {
    EXTENDING.iter().any(|name| text.match_indices(name).any(|(at, _)| hands_something(text, at, name)))
}

/// `setvbuf(stdout, NULL, _IONBF, 0)` and `file.rdbuf()` hand over nothing.
fn hands_something(text: &str, at: usize, name: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    let behind = text.get(at + name.len()..).unwrap_or_default();
    if is_word(before) || is_word(behind.as_bytes().first()) {
        return false;
    }
    let list = behind.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(list, _)| list.trim());
    match (name, list) {
        ("rdbuf", Some(list)) => !list.is_empty(),
        ("setbuf" | "setvbuf", Some(list)) => {
            !list.split(',').nth(1).is_some_and(|buffer| matches!(buffer.trim(), "NULL" | "0" | "nullptr"))
        }
        _ => true,
    }
}

const EXTENDING: [&str; 14] = [
    "fmemopen",
    "fopencookie",
    "funopen",
    "imbue",
    "initstate",
    "open_memstream",
    "open_wmemstream",
    "rdbuf",
    "register_printf_function",
    "register_printf_specifier",
    "setbuf",
    "setbuffer",
    "setstate",
    "setvbuf",
];

/// Functions by which a program acts on a failed `assert`.
pub(in crate::semantics) const HANDLING: [&str; 4] = ["bsd_signal", "sigaction", "signal", "sigset"];

/// They do not come back, or keep, or change what other addresses mean.
const OTHERS: &[&str] = &["_Exit", "abort", "atexit", "exit", "qsort", "quick_exit", "realloc", "setvbuf", "strdup"];

const NOTHING: &[&str] = &[
    "MPI_Barrier",
    "MPI_Wtick",
    "MPI_Wtime",
    "_mm_malloc",
    "aligned_alloc",
    "calloc",
    "clock",
    "difftime",
    "drand48",
    "getpid",
    "isatty",
    "lrand48",
    "malloc",
    "mrand48",
    "putchar",
    "rand",
    "random",
    "sleep",
    "srand",
    "srand48",
    "srandom",
    "usleep",
];

const READS: &[&str] = &[
    "MPI_Send",
    "MPI_Ssend",
    "assert",
    "atof",
    "atoi",
    "atol",
    "fopen",
    "fprintf",
    "fputc",
    "fputs",
    "fwrite",
    "getenv",
    "memcmp",
    "perror",
    "printf",
    "putc",
    "puts",
    "remove",
    "strcasecmp",
    "strcmp",
    "strlen",
    "strncasecmp",
    "strncmp",
];

const WRITES: &[&str] = &[
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Bcast",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Get_count",
    "MPI_Recv",
    "MPI_Reduce",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Sendrecv",
    "_mm_free",
    "bzero",
    "clock_gettime",
    "fclose",
    "fflush",
    "fgetc",
    "fgets",
    "fread",
    "free",
    "frexp",
    "fscanf",
    "fseek",
    "ftell",
    "getrusage",
    "gettimeofday",
    "memcpy",
    "memmove",
    "memset",
    "modf",
    "nanosleep",
    "posix_memalign",
    "rewind",
    "scanf",
    "sincos",
    "snprintf",
    "sprintf",
    "sscanf",
    "strcat",
    "strcpy",
    "strncat",
    "strncpy",
    "strtod",
    "strtof",
    "strtol",
    "strtoul",
    "time",
    "times",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_store_counts_are_known_by_their_conversions() {
        let cases = [
            ("x %d\\n", false),
            ("100 %% none", false),
            ("%-12s %*.3f %lu\\t", false),
            ("%n", true),
            ("xy%hhn", true),
            ("%1$n", true),
            ("%-5.*ln|", true),
            ("%d%%n", false),
            ("%\\156", true),
            ("\\x25n", true),
        ];
        for (format, expected) in cases {
            assert_eq!(may_store_counts(format), expected, "{format}");
        }
    }

    #[test]
    fn streams_without_memory_of_the_program_extend_nothing() {
        let cases = [
            ("setvbuf(stdout, NULL, _IONBF, 0); setbuf(f, nullptr); s << f.rdbuf();", false),
            ("int my_setbuf(FILE *f, char *b); int initstates;", false),
            ("setvbuf(f, (char *)a, _IOFBF, n);", true),
            ("std::cout.rdbuf(&own);", true),
            ("FILE *f = fmemopen (a, n, \"w\");", true),
            ("auto g = fopencookie;", true),
        ];
        for (text, expected) in cases {
            assert_eq!(extends_library(text), expected, "{text}");
        }
    }
}
