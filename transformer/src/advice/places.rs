//! Which construct a kernel is: clang's names of kernels tell the function and the line of the directive in the file that was compiled.

use std::path::Path;

use crate::engine::Kernel;
use crate::validate::clang;

/// A construct of one of the user's files.
#[derive(Clone, Copy, Debug)]
pub struct Construct<'a> {
    /// The file.
    pub file: &'a Path,
    /// The construct.
    pub kernel: &'a Kernel,
}

/// The index of the construct that a kernel of this name is.
///
/// # Errors
/// Why none is known, or which of several it may be: nothing is guessed.
pub fn find(name: &str, constructs: &[Construct<'_>]) -> Result<usize, String> {
    let Some((function, line)) = clang::place(name) else {
        return Err("is not named as clang names kernels (`__omp_offloading_.._FUNCTION_lLINE`)".to_owned());
    };
    let there: Vec<(usize, &Construct<'_>)> =
        constructs.iter().enumerate().filter(|(_, one)| one.kernel.line == line).collect();
    let mut own =
        there.iter().filter(|(_, one)| one.kernel.function.as_deref().is_some_and(|own| is_same(own, &function)));
    let shown = |one: &Construct<'_>| format!("{}:{}", one.file.display(), one.kernel.line);
    match (own.next(), own.next()) {
        (Some((index, _)), None) => Ok(*index),
        (Some((_, first)), Some((_, second))) => {
            Err(format!("is either the construct at {} or that at {}", shown(first), shown(second)))
        }
        (None, _) => Err(match there.first() {
            Some((_, other)) => {
                let named = other.kernel.function.as_deref().map_or_else(String::new, |name| format!(" in `{name}`"));
                format!("is of `{function}`; the construct at {} is another one{named}", shown(other))
            }
            None => format!(
                "is of `{function}`, line {line}, where no construct of these files begins: the program was compiled from other files, or from \
                 another version of them"
            ),
        }),
    }
}

/// Is a function, as its kernel's name tells it, the one that the source names so? Names that are not read hold their length and text.
fn is_same(own: &str, told: &str) -> bool {
    if told.starts_with("_Z") {
        return told.contains(&format!("{}{own}", own.len()));
    }
    let told = told.split(['(', '<']).next().unwrap_or(told);
    told.rsplit("::").next().unwrap_or(told).trim() == own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Options, kernels};
    use crate::source::SourceFile;

    fn found(text: &str, names: &[&str]) -> Vec<Result<usize, String>> {
        let file = SourceFile::new("a.cpp", text.as_bytes().to_vec());
        let kernels = kernels(&file, &[], &Options::default(), &[]).unwrap();
        let constructs: Vec<Construct<'_>> =
            kernels.iter().map(|kernel| Construct { file: Path::new("a.cpp"), kernel }).collect();
        names.iter().map(|name| find(name, &constructs)).collect()
    }

    const LOOP: &str = "#pragma omp target teams distribute parallel for\nfor (int i = 0; i < n; i++) a[i] = i;\n";

    #[test]
    fn function_and_line_name_a_construct() {
        let text = format!(
            "namespace x {{ struct S {{ int *a; void step(int n) {{\n{LOOP}}} }}; }}\nstatic int *fill(int n, int *a) {{\n{LOOP}return a; }}\n\
             template <class T> void all(int n, T *a) {{\n{LOOP}}}\nvoid main_l8(int n, int *a) {{\n{LOOP}}}\n"
        );
        let all = found(
            &text,
            &[
                "__omp_offloading_fd00_1_x::S::step(int)_l2",
                "__omp_offloading_fd00_1__ZN1x1S4stepEi_l2",
                "__omp_offloading_fd00_1__ZL4filliPi_l6",
                "__omp_offloading_fd00_1_fill_l6_1",
                "__omp_offloading_fd00_1__Z3allIdEviPT__l10",
                "__omp_offloading_fd00_1_main_l8_l14",
                "__omp_offloading_fd00_1__ZZ4fillvENKUlvE_clEv_l6",
            ],
        );
        assert_eq!(all, [Ok(0), Ok(0), Ok(1), Ok(1), Ok(2), Ok(3), Ok(1)], "{text}");
    }

    #[test]
    fn what_is_not_known_is_told_and_not_guessed() {
        let text = format!("void f(int n, int *a) {{\n{LOOP}}}\n");
        let all = found(&text, &["matrixMul(float *)", "__omp_offloading_1_2_f_l7", "__omp_offloading_1_2_g_l2"]);
        let said: Vec<String> = all.into_iter().map(Result::unwrap_err).collect();
        assert!(said[0].contains("not named as clang"), "{said:?}");
        assert!(said[1].contains("line 7, where no construct"), "{said:?}");
        assert!(said[2].contains("is of `g`; the construct at a.cpp:2 is another one in `f`"), "{said:?}");
        let both = "#pragma omp target\n{ a[0] = 1; } _Pragma(\"omp target\") { a[1] = 1; }\n";
        let one_line = format!(
            "void f(int *a) {{\n{}}}\n",
            both.replace('\n', " ").replacen("#pragma omp target", "_Pragma(\"omp target\")", 1)
        );
        let said = found(&one_line, &["__omp_offloading_1_2_f_l2"]);
        assert!(said[0].as_ref().is_err_and(|said| said.contains("either")), "{said:?}");
    }
}
