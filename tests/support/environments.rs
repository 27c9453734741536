//! Random programs in which the host and target constructs share arrays: loops, branches, calls, aliases, swaps, members, lengths that
//! change, data that are present already. Valid and free of races by construction; a program depends on its seed alone.
//!
//! Each function belongs to a family of `families.rs`, which says what it shows and whether `hoist` must change most of such functions.

mod body;
mod calls;
pub mod families;
mod head;
mod kernels;
mod mixed;

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

/// A program of so many functions, all of which `main` calls in several ways.
pub fn program(seed: u64, functions: usize) -> Program {
    let mut rng = Rng::new(seed);
    // Most are C without deferred constructs: one of these anywhere keeps data of others from staying.
    let form = match seed % 5 {
        3 => Form::Deferred,
        4 => Form::Cpp,
        _ => Form::C,
    };
    let families: Vec<&Family> = FAMILIES.iter().filter(|family| family.form == form).collect();
    let mut text = head::text(&mut rng, form);
    let mut main = String::from("\nint main(void)\n{\n    static real a[3 * N];\n");
    let mut placed = Vec::new();
    let first = rng.below(families.len());
    for index in 0..functions {
        let family = families[(first + index) % families.len()];
        let Function { text: function, calls } = (family.make)(&mut rng, index);
        let start = text.len();
        text.push_str(&function);
        placed.push((family, start..text.len()));
        main.push_str(&calls.text(index));
    }
    let _ = write!(text, "{main}    return 0;\n}}\n");
    Program { form, text, functions: placed }
}
