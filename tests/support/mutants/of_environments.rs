//! Mutants of what `hoist` makes of generated programs: one file has one in each of its functions, which run alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use ompsplit::engine::{self, Options};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;
use ompsplit::validate::host::{Traffic, harden};

use super::Operator;
use super::environments::{Part, Planted, planted, with};
use super::watched::{self, Effect, Input};
use crate::support::diff;
use crate::support::environments::{self, KINDS, copies};
use crate::support::fixtures::Fixture;
use crate::support::generator::rng::Rng;
use crate::support::oracle::{Kind, LOGGED, traffic};
use crate::support::parallel;
use crate::support::program::{Builder, How, Program, Run};

/// What is done with a program that runs with so many bytes on the device at most, of which a third of the programs are.
const LITTLE_MEMORY: u64 = 1500;

/// A mutant, where it comes from, and what became of it.
pub struct Verdict {
    pub planted: Planted,
    pub seed: u64,
    pub found: bool,
    /// What it does, where it was not found.
    pub effect: Effect,
    /// Where it can be read.
    pub shown: String,
}

/// Plants mutants in the programs of these seeds, in so many files for each, and looks for them.
pub fn verdicts(
    builder: &Builder,
    operators: &[Operator],
    seeds: &[u64],
    files: usize,
) -> Result<Vec<Verdict>, String> {
    let found = Mutex::new(Vec::new());
    let errors = parallel::failures(seeds, |seed| {
        let verdicts = of_seed(builder, operators, *seed, files)?;
        found.lock().map_err(|error| error.to_string())?.extend(verdicts);
        Ok(())
    });
    if errors.is_empty() { found.into_inner().map_err(|error| error.to_string()) } else { Err(errors.join("\n")) }
}

fn of_seed(builder: &Builder, operators: &[Operator], seed: u64, files: usize) -> Result<Vec<Verdict>, String> {
    let program = environments::program(seed);
    let name = format!("mutants/environments/{}", program.file_name(seed));
    let file = SourceFile::new(Path::new(&name), program.text.clone().into_bytes());
    let device_memory = seed.is_multiple_of(3).then_some(LITTLE_MEMORY);
    let options = Options { passes: vec![Pass::Hoist], device_memory, ..Options::default() };
    let outcome = engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))?;
    let Some(output) = outcome.text else { return Ok(Vec::new()) };
    let output = String::from_utf8_lossy(&output).into_owned();
    let pairs = environments::parts(&program.text).into_iter().zip(environments::parts(&output)).enumerate();
    let parts: Vec<Part> = pairs.map(|(number, (original, output))| Part { number, original, output }).collect();
    let mut fixture = Fixture::new(&name, Path::new(&name).to_owned(), program.text.clone().into_bytes())?;
    fixture.flags.extend(["-O0".to_owned(), "-include".to_owned(), watched::header()?]);
    let build = |variant: &str, text: &[u8], flags: &[&str]| builder.build(&fixture, variant, text, flags);
    let mut tried = Tried {
        original: build("before", &fixture.text, &[])?,
        output: build("sound", output.as_bytes(), &[])?,
        memory: device_memory.unwrap_or(u64::MAX),
        runs: BTreeMap::new(),
    };
    let mut verdicts = Vec::new();
    for (round, chosen) in
        rounds(planted(operators, &program.text, &output, &parts), seed, files).into_iter().enumerate()
    {
        let text = with(&output, &chosen.iter().collect::<Vec<_>>());
        let after = build(&format!("after{round}"), text.as_bytes(), &[])?;
        let (hardened, _) = harden(&fixture.text, text.as_bytes());
        let present = build(&format!("present{round}"), &hardened, &["-fopenmp-version=51"])?;
        for planted in chosen {
            let inputs = (0..KINDS).map(|kind| [planted.part.to_string(), kind.to_string()]);
            let inputs: Vec<Input> = inputs.collect();
            let mut found = false;
            for input in &inputs {
                found = found || tried.is_found(&after, &present, input)?;
            }
            let mut effect = Effect::None;
            for input in inputs.iter().filter(|_| !found) {
                effect = effect.max(watched::effect(&tried.output, &after, input)?);
            }
            let shown = if found {
                String::new()
            } else {
                diff("output", output.as_bytes(), "mutant", with(&output, &[&planted]).as_bytes())
            };
            verdicts.push(Verdict { planted, seed, found, effect, shown });
        }
    }
    Ok(verdicts)
}

/// The program that mutants are made of, and what it gave.
struct Tried {
    original: Program,
    output: Program,
    /// What environments may take on the device.
    memory: u64,
    /// The runs of the original, and what is noted of those of the output.
    runs: BTreeMap<Input, (Run, BTreeSet<String>)>,
}

impl Tried {
    /// Does a part of the program do anything that its original does not, copy more, or miss data?
    fn is_found(&mut self, after: &Program, present: &Program, input: &Input) -> Result<bool, String> {
        if !self.runs.contains_key(input) {
            let before = self.original.run_parts(input, How::Logged(LOGGED))?;
            let sound = self.output.run_parts(input, How::Logged(LOGGED))?;
            if before.end != "exit 0" || !is_same(&before, &sound) {
                return Err(format!("{input:?}: the output gives {}, {}", sound.end, self.original.repeat(LOGGED)));
            }
            let noted = self.noted(&before, &sound);
            self.runs.insert(input.clone(), (before, noted));
        }
        let Some((before, known)) = self.runs.get(input) else { return Ok(false) };
        let run = after.run_parts(input, How::Logged(LOGGED))?;
        // What is noted of the output itself is nothing that is wrong with the mutant.
        if !is_same(before, &run) || !self.noted(before, &run).is_subset(known) {
            return Ok(true);
        }
        Ok(!is_same(before, &present.run_parts(input, How::Grid(LOGGED))?))
    }

    /// What a run does more than the original's.
    fn noted(&self, before: &Run, run: &Run) -> BTreeSet<String> {
        let [old, new] = [before, run].map(|run| Traffic::read(run.stderr.as_bytes()));
        let mut noted: BTreeSet<String> =
            copies::further(&before.stderr, &run.stderr, self.memory).into_iter().collect();
        noted.extend(traffic(&old, &new).iter().map(|finding| kind(finding.kind)));
        noted
    }
}

fn kind(kind: Kind) -> String {
    format!("{kind:?}")
}

fn is_same(one: &Run, other: &Run) -> bool {
    one.stdout == other.stdout && one.end == other.end
}

/// So many files, each with one mutant in each part; operators of which few were taken come first.
pub(super) fn rounds(mut all: Vec<Planted>, seed: u64, files: usize) -> Vec<Vec<Planted>> {
    let mut rng = Rng::new(seed);
    let mut taken = BTreeMap::<String, usize>::new();
    let mut rounds = Vec::new();
    for _ in 0..files {
        let mut round: Vec<Planted> = Vec::new();
        let mut left: Vec<usize> = (0..all.len()).collect();
        while !left.is_empty() {
            let times = |at: &usize| taken.get(&all[*at].operator.name).copied().unwrap_or(0);
            let least = left.iter().map(times).min().unwrap_or(0);
            let rare: Vec<usize> = left.iter().copied().filter(|at| times(at) == least).collect();
            let chosen = all[rng.pick(&rare)].clone();
            *taken.entry(chosen.operator.name.clone()).or_default() += 1;
            left.retain(|at| all[*at].part != chosen.part);
            round.push(chosen);
        }
        let is_taken = |one: &Planted| round.iter().any(|other| other.is(one));
        all.retain(|one| !is_taken(one));
        if !round.is_empty() {
            rounds.push(round);
        }
    }
    rounds
}
