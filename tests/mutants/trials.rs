//! The mutants that there are of generated programs and of fixtures, and which of them are tried.

use std::collections::BTreeMap;
use std::path::Path;

use crate::DEEP;
use crate::support::fixtures::{self, Fixture};
use crate::support::generator::families::Expected;
use crate::support::generator::{Case, HEAD, TILED_SIZES, batch_main, case, piped};
use crate::support::mutants::sharpen::sharpened;
use crate::support::mutants::{Mutant, Operator, mutants, operators, widen};
use crate::support::program::Builder;
use crate::support::verified::{Verified, drawn};
use crate::support::{self, rewrite};

/// The programs that mutants are made of.
const PROGRAMS: usize = 300;
/// The programs in tiles that mutants are made of.
const TILED: usize = 156;
/// The folder of the fixtures in tiles.
const TILED_FIXTURES: &str = "pipeline_loop/";

/// `n` and `m` that each program runs with: many iterations for each thread, so that a race shows; conditions every way.
pub const SIZES: &[(usize, usize)] = &[(2500, 5), (701, 4), (300, 3), (5, 1)];

/// The operator of what is no mutant, for nothing may be found of it.
pub const NOTHING: &str = "nothing is done wrong";

/// One mutant and what it was made of.
pub struct Trial {
    pub mutant: Mutant,
    pub original: String,
    /// What the mutant was made of.
    pub output: String,
    pub source: Source,
}

pub enum Source {
    Program { index: usize, cpp: bool, sizes: &'static [(usize, usize)] },
    Fixture(Box<Fixture>),
}

/// Every mutant there is, of generated programs and of fixtures.
pub fn all_trials() -> Result<Vec<Trial>, String> {
    let operators = operators()?;
    let mut trials = Vec::new();
    for index in 0..PROGRAMS {
        trials.extend(of_program(&operators, &case(1, index))?);
    }
    let others = fixtures::all()?.into_iter().filter(|fixture| !fixture.name.starts_with(TILED_FIXTURES));
    trials.extend(of_fixtures(&operators, others)?);
    Ok(trials)
}

/// Every mutant of a loop over tiles.
pub fn tiled_trials() -> Result<Vec<Trial>, String> {
    let operators = operators()?;
    let mut trials = Vec::new();
    for index in 0..TILED {
        trials.extend(of_program(&operators, &piped(1, index))?);
    }
    let tiled = fixtures::all()?.into_iter().filter(|fixture| fixture.name.starts_with(TILED_FIXTURES));
    trials.extend(of_fixtures(&operators, tiled)?);
    trials.retain(|trial| trial.mutant.operator.on == "tiles" || trial.mutant.operator.name == NOTHING);
    Ok(trials)
}

fn of_fixtures(operators: &[Operator], fixtures: impl Iterator<Item = Fixture>) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for fixture in fixtures.filter(|fixture| fixture.runnable && !fixture.racy_original) {
        let output = rewrite::fixture(&fixture)?;
        let texts = [&fixture.text, &output].map(|text| String::from_utf8_lossy(text).into_owned());
        let made = mutants(operators, &texts[0], &texts[1]);
        trials.extend(made.into_iter().map(|mutant| Trial {
            mutant,
            original: texts[0].clone(),
            output: texts[1].clone(),
            source: Source::Fixture(Box::new(fixture.clone())),
        }));
    }
    Ok(trials)
}

fn of_program(operators: &[Operator], case: &Case) -> Result<Vec<Trial>, String> {
    // What loops in tiles may write is mapped, so that they leave no traces elsewhere.
    let text = if case.is_piped() { case.text() } else { sharpened(&case.text(), &format!("_c{}", case.index)) };
    let output = rewrite::rewrite(Path::new(case.file_name()), text.as_bytes(), false)?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let (original, output) = (Case::part(&text).to_owned(), Case::part(&output).to_owned());
    let mut made = mutants(operators, &original, &output);
    if original != output {
        made.push(Mutant::of_nothing(NOTHING, &output));
    }
    if matches!(case.family.expected, Expected::Refused(_)) {
        made.extend(widen::widened(operators, &original));
    }
    let source = || Source::Program { index: case.index, cpp: case.cpp, sizes: sizes(case) };
    Ok(made
        .into_iter()
        .map(|mutant| {
            let mutant = mutant.of_program(&case.uses);
            let output = if mutant.operator.on == "refused" { &original } else { &output };
            Trial { mutant, original: original.clone(), output: output.clone(), source: source() }
        })
        .collect())
}

pub fn seed() -> u64 {
    std::env::var("OMPSPLIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11)
}

/// All of them, or a sample in which every operator has its part. A name decides whether a mutant is in it, so that further programs and
/// fixtures bring theirs and leave most others in place.
pub fn chosen(mut trials: Vec<Trial>, sample: (usize, usize)) -> Vec<Trial> {
    let wanted = std::env::var("OMPSPLIT_MUTANTS").unwrap_or_default();
    if wanted == "all" {
        return trials;
    }
    let times = if support::deep() { DEEP } else { 1 };
    let sample = (sample.0 * times, sample.1 * times);
    let (programs, fixtures) = wanted.parse().map_or(sample, |count: usize| (count, count / 10));
    // Those of one name are drawn one by one, for they are alike.
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    trials.sort_by_cached_key(|trial| {
        let number = alike.entry(trial.name()).or_default();
        *number += 1;
        drawn(&format!("{} {} {number}", seed(), trial.name()))
    });
    let mut taken: BTreeMap<(bool, String), usize> = BTreeMap::new();
    let mut ranked: [Vec<(usize, Trial)>; 3] = Default::default();
    for trial in trials {
        let is_fixture = matches!(trial.source, Source::Fixture(_));
        let is_sound = !is_fixture && trial.mutant.operator.name == NOTHING;
        let round = taken.entry((is_fixture, trial.mutant.operator.name.clone())).or_default();
        *round += 1;
        ranked[if is_sound { 2 } else { usize::from(is_fixture) }].push((*round, trial));
    }
    let counts = [programs, fixtures, programs / 8];
    let take = |(mut ranked, count): (Vec<(usize, Trial)>, usize)| {
        ranked.sort_by_key(|(round, _)| *round);
        ranked.into_iter().take(count).map(|(_, trial)| trial)
    };
    ranked.into_iter().zip(counts).flat_map(take).collect()
}

impl Trial {
    /// What it is made of, and what was changed.
    pub fn name(&self) -> String {
        let source = match &self.source {
            Source::Program { index, sizes, .. } if *sizes == SIZES => format!("program-{index}"),
            Source::Program { index, .. } => format!("program-in-tiles-{index}"),
            Source::Fixture(fixture) => fixture.name.clone(),
        };
        format!("{source} {} {}", self.mutant.operator.name, self.mutant.what)
    }

    /// Its name in a list, and a number of all that what is found of it depends on.
    pub fn line(&self, verified: &Verified, builder: &Builder) -> Result<(String, String), String> {
        let how = match &self.source {
            Source::Program { cpp, sizes, .. } => {
                format!("{cpp} {HEAD}{}", batch_main(&["0".to_owned()], sizes)).into()
            }
            Source::Fixture(fixture) => builder.key(fixture, &format!("{:?}", fixture.flags), &fixture.text)?,
        };
        let texts = [&self.original, &self.output, &self.mutant.text].map(String::as_bytes);
        let number = verified.number(builder, &[&how[..], texts[0], texts[1], texts[2]]);
        // Names hold words and blanks, and several mutants may have one.
        let source = self.name().split(' ').next().unwrap_or_default().to_owned();
        Ok((format!("{source}/{:016x}", drawn(&format!("{} {}", self.name(), self.mutant.text))), number))
    }
}

/// What a program's mutants run with.
fn sizes(case: &Case) -> &'static [(usize, usize)] {
    if case.is_piped() { TILED_SIZES } else { SIZES }
}
