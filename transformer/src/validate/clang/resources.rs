//! Registers and spills, from `ptxas -v`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Clang, Compilation, Kernel, Output, VerifyError, kernels};
use crate::device::{CountedKernel, KernelResources};
use crate::validate::cache::Key;
use crate::validate::interrupt;

/// The message if there is no `ptxas`.
pub const MISSING_PTXAS: &str = "no ptxas found, which counts registers: install NVIDIA's CUDA toolkit (Debian: apt-get install \
                                 nvidia-cuda-toolkit; or its `ptxas` alone: pip install nvidia-cuda-nvcc-cu12), and put it on \
                                 PATH or name it in OMPSPLIT_PTXAS";

/// The most registers of a thread, those of a block, and how many are allocated at once, on sm_90 (CUDA C Programming
/// Guide).
const MOST_REGISTERS: u32 = 255;
const REGISTERS_OF_A_BLOCK: u32 = 65_536;
const GRANULE: u32 = 8;

/// What one kernel takes of a multiprocessor, as `ptxas` counts it. The device runtime is not linked in, so calls into
/// it are still in the code: the figures serve to compare two versions of a program, they are not those of the final
/// binary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of registers stored to local memory because there are too few registers.
    pub spill_stores: u32,
    /// Bytes loaded back from there.
    pub spill_loads: u32,
    /// Bytes of static shared memory.
    pub shared: u32,
}

/// The assembler of the CUDA toolkit.
#[derive(Clone, Debug)]
pub struct Ptxas {
    program: PathBuf,
}

impl Ptxas {
    /// The one that `OMPSPLIT_PTXAS` names, or `ptxas` on the search path.
    #[must_use]
    pub fn find() -> Option<Self> {
        let named = std::env::var_os("OMPSPLIT_PTXAS").filter(|name| !name.is_empty());
        let program = PathBuf::from(named.unwrap_or_else(|| "ptxas".into()));
        let runs =
            interrupt::output(Command::new(&program).arg("--version")).is_ok_and(|output| output.status.success());
        runs.then_some(Self { program })
    }

    /// Adds it to what an answer depends on.
    pub(super) fn add_to(&self, key: &mut Key) {
        key.add_program(&self.program);
    }

    /// Assembles `ptx` and notes the resources of each kernel.
    ///
    /// # Errors
    /// When `ptxas` rejects the text or cannot be run.
    pub fn measure(&self, ptx: &str, kernels: &mut [Kernel]) -> Result<(), VerifyError> {
        let failed = |error: std::io::Error| VerifyError::Run(format!("ptxas could not be run: {error}"));
        let folder = interrupt::folder().map_err(failed)?;
        let source = folder.path().join("kernels.ptx");
        std::fs::write(&source, ptx).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.args(["-arch=sm_90", "-v", "-c", "-o"]).arg(folder.path().join("kernels.cubin")).arg(&source);
        let run = interrupt::output(command.env("TMPDIR", folder.path())).map_err(failed)?;
        let text = String::from_utf8_lossy(&run.stderr);
        if !run.status.success() {
            return Err(VerifyError::Run(format!("ptxas: {text}")));
        }
        for kernel in kernels {
            kernel.resources = resources(&text, &kernel.symbol);
        }
        Ok(())
    }
}

/// What the kernels in the text of `path` need, by the line of their directive; the most if several stand on one line.
/// `flags` are the user's compiler flags. Counted for sm_90, whatever the device is.
///
/// # Errors
/// When clang or `ptxas` is missing or cannot be run, or the text does not compile for the device.
pub fn kernel_resources(
    path: &Path,
    text: &[u8],
    flags: &[String],
) -> Result<BTreeMap<usize, CountedKernel>, VerifyError> {
    let clang = Clang::find()?;
    let ptxas = Ptxas::find().ok_or_else(|| VerifyError::MissingCompiler(MISSING_PTXAS.to_owned()))?;
    let compilation = Compilation::new(&clang, path, flags);
    let compiled = |output: Output| -> Result<String, VerifyError> {
        let run = compilation.run(text, output)?;
        let failed = || VerifyError::Run(format!("the text does not compile for nvptx64:\n{}", run.stderr));
        if run.success { Ok(run.output) } else { Err(failed()) }
    };
    let mut found = kernels(&compiled(Output::DeviceIr)?);
    ptxas.measure(&compiled(Output::Ptx)?, &mut found)?;
    let mut lines: BTreeMap<usize, CountedKernel> = BTreeMap::new();
    for kernel in &found {
        let Some(counted) = kernel.resources.map(|resources| counted(kernel, resources)) else { continue };
        let most = lines.entry(kernel.line).or_insert(counted);
        if counted.wanted().registers > most.wanted().registers {
            *most = counted;
        }
    }
    Ok(lines)
}

/// The figures that matter. Spills count if the kernel has all the registers that its launch bound allows. Stores
/// around calls into the runtime, which is not linked in here, do not occur in the final kernel.
fn counted(kernel: &Kernel, found: Resources) -> CountedKernel {
    let bound = kernel.threads.1.and_then(|threads| u32::try_from(threads).ok());
    let room = bound.map_or(MOST_REGISTERS, |threads| (REGISTERS_OF_A_BLOCK / threads.max(1)).min(MOST_REGISTERS));
    let is_full = found.registers + GRANULE > room;
    let resources = KernelResources { registers: found.registers, shared_memory: found.shared };
    CountedKernel { resources, spills: if is_full { found.spill_stores } else { 0 } }
}

/// The figures of a kernel: registers of the entry function, spills of it and of the functions outlined from it.
fn resources(text: &str, symbol: &str) -> Option<Resources> {
    let mut result = Resources::default();
    let mut found = false;
    let mut current = "";
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            current = rest.split('\'').next().unwrap_or_default();
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            current = name.trim();
        } else if line.contains("bytes spill stores") && belongs(current, symbol) {
            result.spill_stores += number_before(line, " bytes spill stores");
            result.spill_loads += number_before(line, " bytes spill loads");
        } else if line.contains(" registers") && current == symbol {
            result.registers = number_before(line, " registers");
            result.shared = number_before(line, " bytes smem");
            found = true;
        }
    }
    found.then_some(result)
}

/// Is this function the kernel, or outlined from it?
fn belongs(function: &str, symbol: &str) -> bool {
    function.strip_prefix(symbol).is_some_and(|rest| rest.is_empty() || rest.starts_with("_omp_outlined"))
}

/// The number that stands before `unit`; 0 if the line has no such unit.
fn number_before(line: &str, unit: &str) -> u32 {
    line.split_once(unit)
        .and_then(|(before, _)| before.rsplit(|c: char| !c.is_ascii_digit()).next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spills_of_outlined_functions_count_for_their_kernel() {
        let text = "ptxas info    : Function properties for k_l1_omp_outlined_omp_outlined\n    72 bytes stack frame, 48 \
                    bytes spill stores, 40 bytes spill loads\nptxas info    : Compiling entry function 'k_l1' for \
                    'sm_90'\nptxas info    : Function properties for k_l1\n    8 bytes stack frame, 4 bytes spill \
                    stores, 2 bytes spill loads\nptxas info    : Used 32 registers, used 1 barriers, 16 bytes smem\n";
        let expected = Resources { registers: 32, spill_stores: 52, spill_loads: 42, shared: 16 };
        assert_eq!(resources(text, "k_l1"), Some(expected));
        assert_eq!(resources(text, "k_l2"), None);
    }
}
