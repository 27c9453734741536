//! The texts of plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Source;
use crate::engine::{self, EngineError, Kernel, Options, Outcome};
use crate::plan::instructions::{Instruction, Instructions, LoopHash};
use crate::plan::{Applicability, Decision, Pass};
use crate::source::SourceFile;
use crate::tune::choices::{Choice, Form};

/// What keeps a kernel from being changed by a pass that changes others; nobody reads it.
const LEFT: &str = "left as it is";

/// A text, and its kernels.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text.
    pub text: Vec<u8>,
    /// The line and the loop of each kernel, in the order of the text.
    pub kernels: Vec<(usize, LoopHash)>,
    /// Does it rest on assumptions that the user agreed to, or on another order of sums?
    pub is_assumed: bool,
}

/// The file as it stands.
pub(super) fn original(source: Source<'_>) -> Result<Written, EngineError> {
    written(source, source.file.clone(), false)
}

/// What the passes make of it by themselves.
pub(super) fn passes(source: Source<'_>) -> Result<Written, EngineError> {
    let outcome = engine::run(source.file, source.headers, source.options)?;
    let is_assumed = is_assumed(&outcome, source.options);
    written(source, applied(source.file, outcome), is_assumed)
}

/// The text with a choice for each of the loops.
pub(super) fn chosen(
    source: Source<'_>,
    base: &SourceFile,
    hashes: &[&LoopHash],
    choices: &[Choice],
) -> Result<Written, EngineError> {
    let mut is_assumed = is_base_assumed(source)?;
    // Loops change with their forms; their number and order stay, so that each is followed by its place.
    let of_kernels: Vec<Choice> = kernels(source, base)?
        .iter()
        .map(|kernel| {
            let found = hashes.iter().position(|hash| **hash == kernel.hash);
            found.and_then(|at| choices.get(at)).copied().unwrap_or_default()
        })
        .collect();
    let mut file = base.clone();
    for pass in [Pass::Coarsen, Pass::Unroll, Pass::Geometry] {
        let found = kernels(source, &file)?;
        let (instructions, is_idle) = told(pass, source.options, &found, &of_kernels);
        if is_idle {
            continue;
        }
        let outcome = run(source, &file, pass, instructions)?;
        is_assumed |= self::is_assumed(&outcome, source.options);
        file = applied(&file, outcome);
    }
    written(source, file, is_assumed)
}

/// That the serial loops of a kernel are unrolled.
pub(super) const UNROLLED: Instruction = Instruction { grid: None, group: None, is_unrolled: true };

/// What a pass is told of kernels, and whether it has nothing to do.
fn told(pass: Pass, options: &Options, kernels: &[Kernel], choices: &[Choice]) -> (Instructions, bool) {
    let mut instructions = Instructions::default();
    let mut is_idle = true;
    for (kernel, choice) in kernels.iter().zip(choices) {
        let instruction = match (pass, choice) {
            (_, Choice::Passes) if options.passes.contains(pass) => {
                is_idle = false;
                continue;
            }
            (Pass::Coarsen, Choice::Told { form: Form::Groups(group), .. }) => {
                Some(Instruction { group: Some(*group), ..Instruction::default() })
            }
            (Pass::Unroll, Choice::Told { form: Form::Unrolled, .. }) => Some(UNROLLED),
            (Pass::Geometry, Choice::Told { grid: Some(grid), .. }) => {
                Some(Instruction { grid: Some(*grid), ..Instruction::default() })
            }
            _ => None,
        };
        match instruction {
            Some(instruction) => {
                is_idle = false;
                instructions.told.insert(kernel.hash.clone(), instruction);
            }
            None => {
                instructions.kept.insert(kernel.hash.clone(), LEFT.to_owned());
            }
        }
    }
    (instructions, is_idle)
}

/// Runs one pass over a text, with what it is told.
pub(super) fn run(
    source: Source<'_>,
    file: &SourceFile,
    pass: Pass,
    instructions: Instructions,
) -> Result<Outcome, EngineError> {
    // Only `unroll` needs a device for what is asked of it; another pass must not choose for one that nobody named.
    let device = if pass == Pass::Unroll { super::device(source.options) } else { source.options.device.as_ref() };
    let options = Options {
        passes: source.options.passes.only(pass),
        device: device.cloned(),
        instructions: Arc::new(instructions),
        ..source.options.clone()
    };
    engine::run(file, source.headers, &options)
}

/// The kernels of a text.
pub(super) fn kernels(source: Source<'_>, file: &SourceFile) -> Result<Vec<Kernel>, EngineError> {
    engine::kernels(file, source.headers, &Options { resources: None, ..source.options.clone() }, &[])
}

/// The same instruction for all kernels.
pub(super) fn for_all(kernels: &[Kernel], instruction: Instruction) -> Instructions {
    let told: BTreeMap<LoopHash, Instruction> =
        kernels.iter().map(|kernel| (kernel.hash.clone(), instruction)).collect();
    Instructions { told, ..Instructions::default() }
}

/// The file with the new text.
pub(super) fn applied(file: &SourceFile, outcome: Outcome) -> SourceFile {
    outcome.text.map_or_else(|| file.clone(), |text| SourceFile::new(file.path.clone(), text))
}

fn is_base_assumed(source: Source<'_>) -> Result<bool, EngineError> {
    if !source.options.assume && !source.options.reassociate {
        return Ok(false);
    }
    let options = Options { passes: source.options.passes.clone().without(&super::OPEN), ..source.options.clone() };
    Ok(is_assumed(&engine::run(source.file, source.headers, &options)?, source.options))
}

/// Was anything written that is not simply safe?
fn is_assumed(outcome: &Outcome, options: &Options) -> bool {
    let consent = options.consent();
    outcome.plans.iter().any(|plan| {
        let is_safe = plan.decision == Decision::Apply(Applicability::Safe);
        plan.decision.is_written(consent) && !is_safe
    })
}

fn written(source: Source<'_>, file: SourceFile, is_assumed: bool) -> Result<Written, EngineError> {
    let kernels = kernels(source, &file)?.into_iter().map(|kernel| (kernel.line, kernel.hash)).collect();
    Ok(Written { text: file.text, kernels, is_assumed })
}
