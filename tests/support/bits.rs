//! Random programs in which one pass changes the order of loops and their statements and no bit of the results: their outputs are run and
//! compared, with and without contraction of the operations of a statement, and mutants of the outputs must be found.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, Options, Outcome};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;

use super::fixtures::Fixture;
use super::generator::rng::Rng;
use super::oracle::{self, Finding};
use super::program::{Builder, How};
use super::questions::{both_ways, for_short_loops};
use super::shares::Shares;
use super::verified::{List, Verified};
use super::{deep, diff, number, parallel};

/// The files of the sample, and of the deep one.
const PROGRAMS: u64 = 2;
pub const DEEP_PROGRAMS: u64 = 20;

/// How many files are rewritten where that is all, and what must be changed of each family, in percent.
const REWRITTEN: u64 = 20;
const LEAST_CHANGED: usize = 60;

/// What of the mutants must be found, in percent.
const LEAST_FOUND: usize = 95;

/// A program, and where the function of which family stands in it. Each function is called `part` with a number, and prints a line.
pub struct Program<F> {
    pub text: String,
    pub functions: Vec<(F, Range<usize>)>,
}

/// A program of so many functions of each family. `function` gives the text of one, and of the function `run` with its number that calls it.
pub fn assembled<F: Copy>(
    seed: u64,
    families: &[F],
    of_each: usize,
    head: &str,
    function: impl Fn(&mut Rng, F, usize) -> (String, String),
) -> Program<F> {
    let mut rng = Rng::new(seed);
    let (mut text, mut functions, mut main) = (head.to_owned(), Vec::new(), String::new());
    for (index, family) in families.iter().copied().cycle().take(of_each * families.len()).enumerate() {
        let (part, calls) = function(&mut rng, family, index);
        let start = text.len();
        text.push_str(&part);
        functions.push((family, start..text.len()));
        text.push_str(&calls);
        main += &format!("    run{index}();\n");
    }
    text += &format!("\nint main(void)\n{{\n{main}    return 0;\n}}\n");
    Program { text, functions }
}

/// The random programs of a pass, and what is done wrong in their outputs.
pub struct Trials<F: 'static> {
    pub pass: Pass,
    /// The iterations of loops of unknown length.
    pub assumed_iterations: u32,
    pub list: List,
    /// What was found of mutants.
    pub mutant_list: List,
    pub families: &'static [F],
    /// The program of a seed.
    pub program: fn(u64) -> Program<F>,
    /// What is wrong, and the text that is exchanged for another one.
    pub mutants: &'static [(&'static str, &'static str, &'static str)],
    /// A function in which a text is exchanged.
    pub mutant: fn(&str, &str, &str) -> String,
}

/// The seeds of a sample of so many programs, or of as many as `OMPSPLIT_PROGRAMS` says.
pub fn seeds(sample: u64) -> Vec<u64> {
    numbered(number("OMPSPLIT_PROGRAMS", sample))
}

fn numbered(count: u64) -> Vec<u64> {
    let first = number("OMPSPLIT_SEED", 1) * 10_000;
    (first..first + count).collect()
}

pub fn fixture(name: &str, text: &str, contract: &str) -> Result<Fixture, String> {
    let mut fixture = Fixture::new(name, Path::new(name).to_owned(), text.as_bytes().to_vec())?;
    let flags = ["-O1", "-mfma", contract];
    fixture.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
    Ok(fixture)
}

pub fn compared(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<(), String> {
    let mut said: Vec<String> = Vec::new();
    for asked in both_ways(output) {
        said.extend(oracle::compare(builder, fixture, &asked)?.iter().map(Finding::to_string));
    }
    if said.is_empty() {
        return Ok(());
    }
    let changes = diff("original", &fixture.text, "output", output);
    Err(format!("{} {:?}:\n{}\n{changes}", fixture.name, fixture.flags, said.join("\n")))
}

fn none(failures: &[String]) -> Result<(), String> {
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n")) }
}

impl<F: Copy + Debug + Ord + Send + Sync> Trials<F> {
    fn name(&self, seed: u64) -> String {
        format!("{}/{seed}.c", self.list.name)
    }

    fn rewritten(&self, name: &str, text: &str) -> Result<Outcome, String> {
        let file = SourceFile::new(Path::new(name), text.as_bytes().to_vec());
        let device = DeviceProfile::named("h200");
        let (passes, assumed_iterations) = (vec![self.pass].into(), self.assumed_iterations);
        let options = Options { passes, device, assumed_iterations, reassociate: true, ..Options::default() };
        engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))
    }

    /// Outputs give the bits of their originals.
    pub fn give_the_same_bits(&self) -> Result<(), String> {
        let builder = Builder::new()?;
        let verified = Verified::read(self.list);
        let mut failures = parallel::failures(&seeds(if deep() { DEEP_PROGRAMS } else { PROGRAMS }), |seed| {
            let name = self.name(*seed);
            let program = (self.program)(*seed);
            let Some(output) = self.rewritten(&name, &program.text)?.text else {
                return Err(format!("{name}: nothing is changed"));
            };
            for contract in ["-ffp-contract=on", "-ffp-contract=off"] {
                let mut fixture = fixture(&name, &program.text, contract)?;
                fixture.name += contract;
                verified.or_check(&builder, &fixture, &output, || compared(&builder, &fixture, &output))?;
            }
            Ok(())
        });
        failures.extend(verified.finish().err());
        none(&failures)
    }

    /// Most functions of each family are changed, and only once; the table of how many. Rewriting alone is quick, so that more programs are seen here.
    pub fn are_mostly_changed(&self) -> Result<String, String> {
        let shares = Shares::new();
        let failures = parallel::failures(&numbered(REWRITTEN), |seed| {
            let name = format!("{}.c", self.list.name);
            let program = (self.program)(*seed);
            let outcome = self.rewritten(&name, &program.text)?;
            shares.note(&program.functions, &outcome.plans)?;
            let text = outcome.text.unwrap_or_else(|| program.text.into_bytes());
            match self.rewritten(&name, &String::from_utf8_lossy(&text))?.text {
                Some(again) => Err(format!("a second run goes on:\n{}", diff("first", &text, "second", &again))),
                None => Ok(()),
            }
        });
        none(&failures)?;
        shares.hold(self.families.iter().copied(), LEAST_CHANGED);
        Ok(shares.table())
    }

    /// Mutants of the outputs print something else; how many of each were planted and found. Each function prints a line of its own, so that one file shows a mutant of each.
    pub fn have_mutants_that_are_found(&self) -> Result<String, String> {
        let builder = Builder::new()?;
        let verified = Verified::read(self.mutant_list);
        let counts: Mutex<BTreeMap<&str, [usize; 2]>> = Mutex::new(BTreeMap::new());
        let failures = parallel::failures(&seeds(if deep() { DEEP_PROGRAMS } else { PROGRAMS }), |seed| {
            let name = self.name(*seed);
            let program = (self.program)(*seed);
            let output = self.rewritten(&name, &program.text)?.text.unwrap_or_default();
            let output = String::from_utf8_lossy(&output).into_owned();
            let output = for_short_loops(&output).unwrap_or(output);
            let mutants = self.mutants_of(&output);
            let texts: Vec<&[u8]> = [&output].into_iter().chain(&mutants).map(|text| text.as_bytes()).collect();
            let fixture = fixture(&name, &program.text, "-ffp-contract=on")?;
            let number = verified.number(&builder, &texts);
            let found = verified.or_found(&name, &number, || self.found(&builder, &fixture, &output, &mutants))?;
            let mut counts = counts.lock().map_err(|error| error.to_string())?;
            let read = |count: &str| count.parse::<usize>().map_err(|error| error.to_string());
            for ((what, ..), both) in self.mutants.iter().zip(found.split(' ')) {
                let (planted, found) = both.split_once('/').unwrap_or_default();
                let known = counts.entry(what).or_default();
                known[0] += read(planted)?;
                known[1] += read(found)?;
            }
            Ok(())
        });
        none(&failures)?;
        verified.finish()?;
        let counts = counts.into_inner().unwrap_or_default();
        let all = counts.values().fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        let are_found = all[0] > 0 && all[1] * 100 >= all[0] * LEAST_FOUND;
        if are_found { Ok(format!("{counts:?}")) } else { Err(format!("{counts:?}")) }
    }

    /// An output with each of the mistakes in all of its functions.
    fn mutants_of(&self, output: &str) -> Vec<String> {
        let (head, rest) = output.split_once(PART).unwrap_or_default();
        let with = |(_, old, new): &(&str, &str, &str)| {
            let parts = rest.split(PART).map(|part| format!("{PART}{}", (self.mutant)(part, old, new)));
            format!("{head}{}", parts.collect::<String>())
        };
        self.mutants.iter().map(with).collect()
    }

    /// In how many functions each mistake was made, and in how many it shows: `12/12 3/3`.
    fn found(&self, builder: &Builder, fixture: &Fixture, output: &str, mutants: &[String]) -> Result<String, String> {
        let run = |variant: &str, text: &str| {
            let program = builder.build(fixture, variant, text.as_bytes(), &[])?;
            let printed = program.run_parts(&[], How::Grid(oracle::LOGGED))?.stdout;
            Ok::<_, String>(String::from_utf8_lossy(&printed).into_owned())
        };
        let sound = run("sound", output)?;
        let parts = |text: &str| text.split(PART).skip(1).map(str::to_owned).collect::<Vec<_>>();
        let mut counts = Vec::new();
        for mutant in mutants {
            let printed = run("mutant", mutant)?;
            let (mut planted, mut found) = (0, 0);
            for (index, (part, other)) in parts(output).into_iter().zip(parts(mutant)).enumerate() {
                planted += usize::from(part != other);
                found += usize::from(part != other && printed.lines().nth(index) != sound.lines().nth(index));
            }
            counts.push(format!("{planted}/{found}"));
        }
        Ok(counts.join(" "))
    }
}

/// What each function of a program begins with.
const PART: &str = "static void part";
