//! Random programs in which the host and target constructs share arrays: loops, branches, calls, aliases, swaps, members, lengths that
//! change, data that are present already. Valid and free of races by construction; a program depends on its seed alone.
//!
//! Each function belongs to a family of `families.rs`, which says what it shows and whether `hoist` must change most of such functions.

mod body;
mod calls;
mod constructs;
pub mod copies;
pub mod families;
mod frame;
mod head;
mod kernels;
mod mixed;
mod names;

use std::fmt::Write as _;

use super::generator::rng::Rng;
use calls::Calls;
use families::{FAMILIES, Family, Form};

/// A function of a program.
pub struct Function {
    /// Its definition, with what it needs before it.
    pub text: String,
    /// How `main` calls it.
    pub calls: Calls,
}

/// A program, and where the function of which family stands in it.
pub struct Program {
    /// `C`, or what else its functions need.
    pub form: Form,
    pub text: String,
    /// The families of its functions, each with the bytes from the function's first to its last.
    pub functions: Vec<(&'static Family, std::ops::Range<usize>)>,
}

impl Program {
    /// The name that a file of it has.
    pub fn file_name(&self, seed: u64) -> String {
        let ending = if self.form == Form::Cpp { "cpp" } else { "c" };
        format!("{seed}.{ending}")
    }
}

/// A small sample: a file of each form, and one more of C.
pub const PROGRAMS: u64 = 4;

/// How many kinds of values arrays may begin with: the second argument of a program.
pub const KINDS: usize = 3;

/// What the program says on stderr before each call of a function, with the call behind it.
pub const MARK: &str = "-- call ";

/// What stands before each function, with its number behind it.
const PART: &str = "/* part ";

/// The functions of a text, the program's own or one that was made of it.
pub fn parts(text: &str) -> Vec<std::ops::Range<usize>> {
    let starts = text.match_indices(PART).map(|(at, _)| at);
    let starts: Vec<usize> = starts.chain([text.rfind("int main(").unwrap_or(text.len())]).collect();
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// A program of functions, each of which `main` calls in several ways; only the one whose number it is given, if it is.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    // Most are C without deferred constructs: one of these anywhere keeps data of others from staying.
    let (form, functions) = match seed % PROGRAMS {
        2 => (Form::Deferred, 8),
        3 => (Form::Cpp, 12),
        _ => (Form::C, 24),
    };
    let families: Vec<&Family> = FAMILIES.iter().filter(|family| family.form == form).collect();
    let mut text = head::text(&mut rng, form);
    let mut main = String::from(
        "\nint main(int argc, char **argv)\n{\n    static real a[3 * N];\n    kind = argc > 2 ? atoi(argv[2]) : 0;\n",
    );
    let mut placed = Vec::new();
    let first = rng.below(families.len());
    for index in 0..functions {
        let family = families[(first + index) % families.len()];
        let Function { text: function, calls } = (family.make)(&mut rng, index);
        let start = text.len();
        let _ = write!(text, "\n{PART}{index} */");
        text.push_str(&function);
        placed.push((family, start..text.len()));
        main.push_str(&calls.text(index));
    }
    let _ = write!(text, "{main}    return 0;\n}}\n");
    Program { form, text, functions: placed }
}
