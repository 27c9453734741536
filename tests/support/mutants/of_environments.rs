//! Mutants of what `hoist` makes of generated programs: one file has one in each of its functions, which run alone.

use std::path::Path;
use std::sync::Mutex;

use ompsplit::engine::{self, Options};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;
use ompsplit::validate::host::{Traffic, harden};

use super::Operator;
use super::environments::{Part, Planted, planted, with};
use crate::support::environments::{self, copies};
use crate::support::fixtures::Fixture;
use crate::support::generator::rng::Rng;
use crate::support::oracle::{LOGGED, traffic};
use crate::support::parallel;
use crate::support::program::{Builder, How, Program};

/// A mutant, where it comes from, and whether it was found.
pub struct Verdict {
    pub planted: Planted,
    pub seed: u64,
    pub found: bool,
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
    let options = Options { passes: vec![Pass::Hoist], ..Options::default() };
    let outcome = engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))?;
    let Some(output) = outcome.text else { return Ok(Vec::new()) };
    let output = String::from_utf8_lossy(&output).into_owned();
    let pairs = environments::parts(&program.text).into_iter().zip(environments::parts(&output)).enumerate();
    let parts: Vec<Part> = pairs.map(|(number, (original, output))| Part { number, original, output }).collect();
    let mut fixture = Fixture::new(&name, Path::new(&name).to_owned(), program.text.clone().into_bytes())?;
    fixture.flags.push("-O0".to_owned());
    let original = builder.build(&fixture, "before", &fixture.text, &[])?;
    let mut verdicts = Vec::new();
    for (round, chosen) in
        rounds(planted(operators, &program.text, &output, &parts), seed, files).into_iter().enumerate()
    {
        let text = with(&output, &chosen.iter().collect::<Vec<_>>());
        let build = |variant: &str, text: &[u8], flags: &[&str]| {
            builder.build(&fixture, &format!("{variant}{round}"), text, flags)
        };
        let after = build("after", text.as_bytes(), &[])?;
        let (hardened, _) = harden(&fixture.text, text.as_bytes());
        let present = build("present", &hardened, &["-fopenmp-version=51"])?;
        for planted in chosen {
            let found = is_found(&original, &after, &present, planted.part)?;
            verdicts.push(Verdict { planted, seed, found });
        }
    }
    Ok(verdicts)
}

/// So many files, each with one mutant in each part; operators of which few were taken come first.
fn rounds(mut all: Vec<Planted>, seed: u64, files: usize) -> Vec<Vec<Planted>> {
    let mut rng = Rng::new(seed);
    let mut taken = std::collections::BTreeMap::<String, usize>::new();
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

/// Does a part of the program do anything that its original does not, copy more, or miss data?
fn is_found(original: &Program, after: &Program, present: &Program, part: usize) -> Result<bool, String> {
    let arguments = [part.to_string()];
    let before = original.run_parts(&arguments, How::Logged(LOGGED))?;
    if before.end != "exit 0" {
        return Ok(false);
    }
    let run = after.run_parts(&arguments, How::Logged(LOGGED))?;
    let is_same = |run: &crate::support::program::Run| run.stdout == before.stdout && run.end == before.end;
    if !is_same(&run) || !copies::further(&before.stderr, &run.stderr).is_empty() {
        return Ok(true);
    }
    let [old, new] = [&before.stderr, &run.stderr].map(|log| Traffic::read(log.as_bytes()));
    if !traffic(&old, &new).is_empty() {
        return Ok(true);
    }
    Ok(!is_same(&present.run_parts(&arguments, How::Grid(LOGGED))?))
}
