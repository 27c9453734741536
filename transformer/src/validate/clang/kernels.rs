//! The kernels in LLVM's device IR: name, place and execution mode.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Resources;

/// How the threads of a team run (LLVM's `OMPTgtExecModeFlags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum ExecutionMode {
    /// One thread runs until a `parallel` wakes the others, through a state machine.
    Generic,
    /// All threads run from the start.
    Spmd,
    /// Written as generic, turned into SPMD by the compiler, launched with the grid of a generic kernel.
    GenericSpmd,
    /// A number this version does not know.
    Other(i64),
}

impl fmt::Display for ExecutionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generic => f.pad("generic"),
            Self::Spmd => f.pad("SPMD"),
            Self::GenericSpmd => f.pad("generic-SPMD"),
            Self::Other(number) => f.pad(&format!("mode {number}")),
        }
    }
}

/// One kernel as clang compiled it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Kernel {
    /// Its symbol, without `_kernel_environment`.
    pub symbol: String,
    /// The function that holds the construct; a C++ name is shown without its parameters.
    pub function: String,
    /// The line of the directive, counted from 1.
    pub line: usize,
    /// How its threads run.
    pub mode: ExecutionMode,
    /// Does it keep the state machine that calls parallel regions by pointer?
    pub state_machine: bool,
    /// The least and the most threads of a team. `None` if the compiler gives no bound.
    pub threads: (Option<i64>, Option<i64>),
    /// The least and the most teams.
    pub teams: (Option<i64>, Option<i64>),
    /// The figures of `ptxas`.
    pub resources: Option<Resources>,
}

/// The kernels of a module, in the order of their lines.
#[must_use]
pub fn kernels(ir: &str) -> Vec<Kernel> {
    let mut found: Vec<Kernel> = ir.lines().filter_map(kernel).collect();
    found.sort_by(|a, b| (a.line, &a.symbol).cmp(&(b.line, &b.symbol)));
    found
}

/// Reads `@<symbol>_kernel_environment = .. constant %struct.KernelEnvironmentTy { .. }`.
fn kernel(line: &str) -> Option<Kernel> {
    let (symbol, rest) = line.strip_prefix('@')?.split_once("_kernel_environment = ")?;
    let symbol = symbol.trim_matches('"');
    let (function, line) = place(symbol)?;
    let numbers = configuration(rest)?;
    let at = |index: usize| numbers.get(index).copied();
    // The compiler writes 0 or -1 if it gives no bound.
    let bound = |index: usize| at(index).filter(|number| *number > 0);
    Some(Kernel {
        symbol: symbol.to_owned(),
        function,
        line,
        mode: match at(2)? {
            1 => ExecutionMode::Generic,
            2 => ExecutionMode::Spmd,
            3 => ExecutionMode::GenericSpmd,
            other => ExecutionMode::Other(other),
        },
        state_machine: at(0)? != 0,
        threads: (bound(3), bound(4)),
        teams: (bound(5), bound(6)),
        resources: None,
    })
}

/// The numbers of the inner `ConfigurationEnvironmentTy { i8 0, i8 1, .. }`.
fn configuration(text: &str) -> Option<Vec<i64>> {
    let (_, inner) = text.split_once("ConfigurationEnvironmentTy { ")?;
    let (inner, _) = inner.split_once('}')?;
    inner.split(',').map(|field| field.split_whitespace().last()?.parse().ok()).collect()
}

/// Function and line of `__omp_offloading_<device>_<file>_<function>_l<line>`. A suffix `_<number>` tells kernels on
/// one line apart; what shows parameters may follow.
#[must_use]
pub fn place(symbol: &str) -> Option<(String, usize)> {
    let rest = symbol.strip_prefix("__omp_offloading_")?;
    let (_device, rest) = rest.split_once('_')?;
    let (_file, rest) = rest.split_once('_')?;
    let (function, line) = rest.rsplit_once("_l")?;
    let digits = line.split(['_', '(']).next().unwrap_or(line);
    Some((readable(function), digits.parse().ok()?))
}

/// The name in a mangled C++ name, with its scopes, without parameters. Any other text is returned as it is.
fn readable(name: &str) -> String {
    let Some(mangled) = name.strip_prefix("_Z") else { return name.to_owned() };
    let mut rest = mangled.trim_start_matches(['N', 'L', 'K']);
    let mut parts = Vec::new();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (length, tail) = rest.split_at(end);
        let Some((part, tail)) = length.parse().ok().and_then(|length: usize| tail.split_at_checked(length)) else {
            return name.to_owned();
        };
        parts.push(part);
        rest = tail;
        if !mangled.starts_with('N') {
            break;
        }
    }
    if parts.is_empty() { name.to_owned() } else { parts.join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_environment_is_read() {
        let line = "@__omp_offloading_fe00_98e0a3_main_l8_kernel_environment = weak_odr protected constant \
                    %struct.KernelEnvironmentTy { %struct.ConfigurationEnvironmentTy { i8 1, i8 0, i8 2, i32 1, i32 128, \
                    i32 -1, i32 -1, i32 0, i32 0 }, ptr @1, ptr @x }";
        let found = kernels(line);
        assert_eq!(found.len(), 1);
        let kernel = &found[0];
        assert_eq!((kernel.function.as_str(), kernel.line, kernel.mode), ("main", 8, ExecutionMode::Spmd));
        assert!(kernel.state_machine);
        assert_eq!((kernel.threads, kernel.teams), ((Some(1), Some(128)), (None, None)));
    }

    #[test]
    fn names_are_readable() {
        assert_eq!(place("__omp_offloading_fe00_9_run_l2_all_l17_1"), Some(("run_l2_all".to_owned(), 17)));
        assert_eq!(place("__omp_offloading_fe00_9__Z4axpyiPf_l17(int, float *)"), Some(("axpy".to_owned(), 17)));
        assert_eq!(readable("_ZN3abc4step"), "abc::step");
        assert_eq!(readable("_Z4axpyiPf"), "axpy");
        assert_eq!(readable("_Zx"), "_Zx");
    }
}
