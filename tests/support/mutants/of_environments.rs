//! Mutants of what `hoist` makes of generated programs: one file has one in each of its functions, which run alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
use crate::support::verified::Verified;

/// What is done with a program that runs with so many bytes on the device at most, of which a third of the programs are.
const LITTLE_MEMORY: u64 = 1500;

/// The letters of mutants that are found, and of those that are not although somebody reads what they leave.
pub(super) const FOUND: char = 'f';
pub(super) const NOT_FOUND: char = 'r';

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

/// Plants mutants in the programs of these seeds, in so many files for each, and looks for those of which it is not known what becomes.
pub fn verdicts(
    builder: &Builder,
    verified: &Verified,
    operators: &[Operator],
    seeds: &[u64],
    files: usize,
) -> Result<Vec<Verdict>, String> {
    parallel::collected(seeds, |seed| of_seed(builder, verified, operators, *seed, files))
}

fn of_seed(
    builder: &Builder,
    verified: &Verified,
    operators: &[Operator],
    seed: u64,
    files: usize,
) -> Result<Vec<Verdict>, String> {
    let program = environments::program(seed);
    let name = format!("mutants/environments/{}", program.file_name(seed));
    let file = SourceFile::new(Path::new(&name), program.text.clone().into_bytes());
    let device_memory = seed.is_multiple_of(3).then_some(LITTLE_MEMORY);
    let options = Options { passes: vec![Pass::Hoist].into(), device_memory, ..Options::default() };
    let outcome = engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))?;
    let Some(output) = outcome.text else { return Ok(Vec::new()) };
    let output = String::from_utf8_lossy(&output).into_owned();
    let pairs = environments::parts(&program.text).into_iter().zip(environments::parts(&output)).enumerate();
    let parts: Vec<Part> = pairs.map(|(number, (original, output))| Part { number, original, output }).collect();
    let rounds = rounds(planted(operators, &program.text, &output, &parts), seed, files);
    let texts: Vec<String> = rounds.iter().map(|chosen| with(&output, &chosen.iter().collect::<Vec<_>>())).collect();
    let memory = device_memory.unwrap_or(u64::MAX);
    let fixture = Fixture::new(&name, Path::new(&name).to_owned(), program.text.clone().into_bytes())?;
    let how = format!("{name} {memory} {KINDS} {}", include_str!("watched.h"));
    let parts = [how.as_bytes(), &fixture.text, output.as_bytes()].into_iter();
    let number = verified.number(builder, &parts.chain(texts.iter().map(String::as_bytes)).collect::<Vec<_>>());
    let became = verified.or_found(&seed.to_string(), &number, || {
        let mut tried = Tried::new(builder, fixture, &output, memory)?;
        rounds.iter().zip(&texts).enumerate().map(|(round, (chosen, text))| tried.round(round, chosen, text)).collect()
    })?;
    all_told(&became, rounds.into_iter().flatten().collect(), seed, &output)
}

/// The letter for what became of a mutant.
fn letter(found: bool, effect: Effect) -> char {
    match effect {
        _ if found => FOUND,
        Effect::None => 'n',
        Effect::Unread => 'u',
        Effect::Read => NOT_FOUND,
    }
}

/// What became of mutants, by a letter for each.
pub(super) fn all_told(became: &str, planted: Vec<Planted>, seed: u64, output: &str) -> Result<Vec<Verdict>, String> {
    if became.chars().count() != planted.len() {
        return Err(format!("seed {seed}: `{became}` is not about {} mutants", planted.len()));
    }
    let told = |(planted, letter): (Planted, char)| {
        let effect = [Effect::None, Effect::Unread].into_iter().find(|effect| self::letter(false, *effect) == letter);
        let (found, effect) = (letter == FOUND, effect.unwrap_or(Effect::Read));
        let mutant = || with(output, &[&planted]);
        let shown =
            if found { String::new() } else { diff("output", output.as_bytes(), "mutant", mutant().as_bytes()) };
        Verdict { planted, seed, found, effect, shown }
    };
    Ok(planted.into_iter().zip(became.chars()).map(told).collect())
}

/// The program that mutants are made of, and what it gave.
struct Tried<'a> {
    builder: &'a Builder,
    fixture: Fixture,
    original: Program,
    output: Program,
    /// What environments may take on the device.
    memory: u64,
    /// The runs of the original, and what is noted of those of the output.
    runs: BTreeMap<Input, (Run, BTreeSet<String>)>,
}

impl<'a> Tried<'a> {
    fn new(builder: &'a Builder, mut fixture: Fixture, output: &str, memory: u64) -> Result<Self, String> {
        fixture.flags.extend(["-O0".to_owned(), "-include".to_owned(), watched::header()?]);
        let original = builder.build(&fixture, "before", &fixture.text, &[])?;
        let output = builder.build(&fixture, "sound", output.as_bytes(), &[])?;
        Ok(Self { builder, fixture, original, output, memory, runs: BTreeMap::new() })
    }

    /// A letter for each mutant of a file.
    fn round(&mut self, round: usize, chosen: &[Planted], text: &str) -> Result<String, String> {
        let build =
            |variant: String, text: &[u8], flags: &[&str]| self.builder.build(&self.fixture, &variant, text, flags);
        let after = build(format!("after{round}"), text.as_bytes(), &[])?;
        let (hardened, _) = harden(&self.fixture.text, text.as_bytes());
        let present = build(format!("present{round}"), &hardened, &["-fopenmp-version=51"])?;
        let mut letters = String::new();
        for planted in chosen {
            let inputs = (0..KINDS).map(|kind| [planted.part.to_string(), kind.to_string()]);
            let inputs: Vec<Input> = inputs.collect();
            let mut found = false;
            for input in &inputs {
                found = found || self.is_found(&after, &present, input)?;
            }
            let mut effect = Effect::None;
            for input in inputs.iter().filter(|_| !found) {
                effect = effect.max(watched::effect(&self.output, &after, input)?);
            }
            letters.push(letter(found, effect));
        }
        Ok(letters)
    }

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
