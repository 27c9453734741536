//! What would be found if the tool were wrong: outputs with one thing done wrong on purpose, by the operators of
//! `tests/support/mutants/operators.toml`, must be found wrong by what compares outputs with originals.
//!
//! At least 95 % must be found of the mutants of operators that change the meaning wherever they are applied. Others have a floor of
//! their own there, which was measured, and a reason. Each operator is held to its floor, and so are all together, and those with 95 %.
//! Where nothing is done wrong, nothing may be found. Without more, a sample is tried; `OMPSPLIT_MUTANTS=500` makes it larger,
//! `OMPSPLIT_SEED=3` takes another one, `OMPSPLIT_MUTANTS=all` takes all of 300 programs and of every fixture, which takes days.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use support::batch::{self, Job, Settings};
use support::fixtures::{self, Fixture};
use support::generator::families::Expected;
use support::generator::{Case, HEAD, TILED_SIZES, batch_main, case, piped};
use support::mutants::environments::{Part, planted, with};
use support::mutants::judged::{self, Rows};
use support::mutants::of_environments::{self, Verdict};
use support::mutants::overlaps;
use support::mutants::sharpen::sharpened;
use support::mutants::watched::{self, Effect};
use support::mutants::{Mutant, Operator, mutants, operators, widen};
use support::oracle::{self, Finding, Kind};
use support::program::Builder;
use support::verified::{List, Verified, drawn};
use support::{environments, faults, parallel, rewrite};

/// What became of mutants before.
const LIST: List = List { name: "mutants", test: "mutants", decides: &[include_str!("support/batch.rs")] };
const TILED_LIST: List = List { name: "mutants_of_pipelines", ..LIST };
const ENVIRONMENT_LIST: List = List {
    name: "mutants_of_environments",
    decides: &[
        include_str!("support/mutants/of_environments.rs"),
        include_str!("support/mutants/watched.rs"),
        include_str!("support/environments/copies.rs"),
    ],
    ..LIST
};
const OVERLAP_LIST: List =
    List { name: "mutants_of_overlaps", decides: &[include_str!("support/mutants/overlaps.rs")], ..LIST };

/// Mutants in one file.
const BATCH: usize = 16;
/// The programs that mutants are made of.
const PROGRAMS: usize = 300;
/// The sample: mutants of generated programs, and of fixtures.
const SAMPLE: (usize, usize) = (96, 6);
/// The same of loops in tiles.
const TILED_SAMPLE: (usize, usize) = (64, 6);
/// The programs whose environments mutants are made of, and the files for each.
const ENVIRONMENTS: usize = 3;
const ENVIRONMENT_FILES: usize = 2;
/// The programs whose overlapped copies mutants are made of, and the files for each.
const OVERLAPS: usize = 2;
const OVERLAP_FILES: usize = 2;
/// Of a hundred mutants of environments that count, how many must be found, of all operators together.
const ENVIRONMENTS_FOUND: usize = 95;
/// Of a hundred mutants of environments, how many may do nothing that anybody could see.
const NOT_COUNTED: usize = 25;
/// How much larger deep samples are.
const DEEP: usize = 3;
/// The programs in tiles that mutants are made of.
const TILED: usize = 156;
/// The folder of the fixtures in tiles.
const TILED_FIXTURES: &str = "pipeline_loop/";

/// `n` and `m` that each program runs with: many iterations for each thread, so that a race shows; conditions every way.
const SIZES: &[(usize, usize)] = &[(2500, 5), (701, 4), (300, 3), (5, 1)];

/// The operator of what is no mutant, for nothing may be found of it.
const NOTHING: &str = "nothing is done wrong";

/// One mutant and what it was made of.
struct Trial {
    mutant: Mutant,
    original: String,
    /// What the mutant was made of.
    output: String,
    source: Source,
}

/// What the programs of one file have in common: C++, deferred tasks, and the sizes.
type Kinds = (bool, bool, &'static [(usize, usize)]);

enum Source {
    Program { index: usize, cpp: bool, sizes: &'static [(usize, usize)] },
    Fixture(Box<Fixture>),
}

#[test]
fn mutants_of_outputs_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    println!("{}", tried(&builder, LIST, all_trials(), SAMPLE).unwrap_or_else(|error| panic!("{error}")));
}

/// The same of loops that `pipeline` cuts into tiles.
#[test]
fn mutants_of_pipelines_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    println!("{}", tried(&builder, TILED_LIST, tiled_trials(), TILED_SAMPLE).unwrap_or_else(|error| panic!("{error}")));
}

/// The same of what `hoist` makes of functions that share arrays with the host. `OMPSPLIT_MUTANTS=100` takes so many programs.
#[test]
fn mutants_of_environments_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let operators = operators().unwrap_or_else(|error| panic!("{error}"));
    let wanted = std::env::var("OMPSPLIT_MUTANTS").ok().and_then(|wanted| wanted.parse().ok());
    let times = if support::deep() { DEEP } else { 1 };
    let first = 10_000 * seed();
    // Every fourth program is one of deferred constructs, of which few are changed.
    let seeds: Vec<u64> = (first..)
        .filter(|seed| seed % environments::PROGRAMS != 2)
        .take(wanted.unwrap_or(ENVIRONMENTS * times))
        .collect();
    let verified = Verified::read(ENVIRONMENT_LIST);
    let verdicts = of_environments::verdicts(&builder, &verified, &operators, &seeds, ENVIRONMENT_FILES);
    let verdicts = verdicts.unwrap_or_else(|error| panic!("{error}"));
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
    let mut rows = Rows::new();
    let mut survivors = String::new();
    let mut without = BTreeMap::<(&str, Effect), usize>::new();
    for Verdict { planted, seed, found, effect, shown } in &verdicts {
        let name = planted.operator.name.as_str();
        if *found || *effect == Effect::Read {
            judged::note(&mut rows, &planted.operator, *found);
        } else {
            *without.entry((name, *effect)).or_default() += 1;
        }
        if !found {
            let _ =
                writeln!(survivors, "not found, {effect:?}: {name}: {} (f{} of {seed})", planted.what, planted.part);
            let _ = writeln!(survivors, "{shown}");
        }
    }
    let mut told = judged::table(&rows);
    for ((name, effect), count) in &without {
        let _ = writeln!(told, "not counted, {effect:?}: {name} {count}");
    }
    let not_counted: usize = without.values().sum();
    let _ = writeln!(told, "{survivors}{not_counted} of {} are not counted", verdicts.len());
    println!("{}", judged::judged(&rows, &told).unwrap_or_else(|error| panic!("{error}")));
    let [tried, found] = rows.values().fold([0, 0], |[tried, found], row| [tried + row.tried, found + row.found]);
    assert!(found * 100 >= tried * ENVIRONMENTS_FOUND, "only {found} of {tried} mutants are found");
    assert!(not_counted * 100 <= verdicts.len() * NOT_COUNTED, "too many mutants do nothing: {not_counted}");
}

/// The same of what `overlap` makes of blocks with several kernels. `OMPSPLIT_MUTANTS=100` takes so many programs.
#[test]
fn mutants_of_overlaps_are_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let operators = operators().unwrap_or_else(|error| panic!("{error}"));
    let wanted = std::env::var("OMPSPLIT_MUTANTS").ok().and_then(|wanted| wanted.parse().ok());
    let times = if support::deep() { DEEP } else { 1 };
    let first = 10_000 * seed();
    let seeds: Vec<u64> = (first..).take(wanted.unwrap_or(OVERLAPS * times)).collect();
    let verified = Verified::read(OVERLAP_LIST);
    let verdicts = overlaps::verdicts(&builder, &verified, &operators, &seeds, OVERLAP_FILES);
    let verdicts = verdicts.unwrap_or_else(|error| panic!("{error}"));
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
    let mut rows = Rows::new();
    let mut survivors = String::new();
    for Verdict { planted, seed, found, shown, .. } in &verdicts {
        judged::note(&mut rows, &planted.operator, *found);
        if !found {
            let (name, what, part) = (&planted.operator.name, &planted.what, planted.part);
            let _ = writeln!(survivors, "not found: {name}: {what} (f{part} of {seed})\n{shown}");
        }
    }
    let told = format!("{}{survivors}", judged::table(&rows));
    println!("{}", judged::judged(&rows, &told).unwrap_or_else(|error| panic!("{error}")));
}

/// What decides whether a mutant counts: whether anybody reads what it leaves otherwise.
#[test]
fn what_nobody_could_see_does_not_count() {
    const OUTPUT: &str = "#include <stdio.h>
enum { N = 40 };
static double a[N], b[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i] = i;
    #pragma omp target data map(tofrom: a[0:N], b[0:N])
    {
        #pragma omp target update to(a[0:N])
        #pragma omp target teams distribute parallel for map(tofrom: a[0:N], b[0:N])
        for (int i = 0; i < N; i++)
            a[i] += b[i] + 1;
        #pragma omp target update from(a[0:N])
        for (int i = 0; i < N - 1; i++)
            printf(\"%g\\n\", a[i] + b[i]);
        a[N - 1] = 2;
        #pragma omp target update to(a[N - 1:1])
    }
    printf(\"%g %g\\n\", a[N - 1], b[3]);
    return 0;
}
";
    let changes = [
        // The host and the device have the same.
        ("        #pragma omp target update to(a[0:N])\n", "\n", Effect::None),
        ("update to(a[0:N])", "update from(a[0:N])", Effect::None),
        ("map(tofrom: a[0:N], b[0:N])\n    {", "map(tofrom: a[0:N]) map(to: b[0:N])\n    {", Effect::None),
        // The element is assigned before anybody reads it.
        ("update from(a[0:N])", "update from(a[0:N - 1])", Effect::Unread),
        ("update from(a[0:N])", "update from(a[0:N - 2])", Effect::Read),
        ("        #pragma omp target update from(a[0:N])\n", "\n", Effect::Read),
        ("        #pragma omp target update to(a[N - 1:1])\n", "\n", Effect::Read),
        // The update brings what the environment does not.
        ("map(tofrom: a[0:N], b[0:N])\n    {", "map(from: a[0:N]) map(tofrom: b[0:N])\n    {", Effect::None),
        ("map(tofrom: a[0:N], b[0:N])\n    {", "map(tofrom: a[0:N]) map(from: b[0:N])\n    {", Effect::Read),
    ];
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let fixture = Fixture::new("mutants/watched", PathBuf::from("watched.c"), OUTPUT.as_bytes().to_vec());
    let mut fixture = fixture.unwrap_or_else(|error| panic!("{error}"));
    fixture.flags.extend(["-include".to_owned(), watched::header().unwrap_or_else(|error| panic!("{error}"))]);
    let places: Vec<_> = changes.iter().enumerate().collect();
    let failures = parallel::failures(&places, |(place, (old, new, expected))| {
        let mutant = OUTPUT.replacen(old, new, 1);
        assert_ne!(mutant, OUTPUT);
        let output = builder.build(&fixture, &format!("sound{place}"), OUTPUT.as_bytes(), &[])?;
        let mutant = builder.build(&fixture, &format!("mutant{place}"), mutant.as_bytes(), &[])?;
        let effect = watched::effect(&output, &mutant, &["0".to_owned(), "0".to_owned()])?;
        if effect == *expected { Ok(()) } else { Err(format!("{new}: {effect:?} instead of {expected:?}")) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Ways out of an environment that is left by `target exit data`: each is a place for a mutant, and it is found.
#[test]
fn environments_that_are_not_left_are_found() {
    const ORIGINAL: &str = "#include <stdio.h>
enum { N = 40 };
static int steps(int n, int most, double *a)
{
    for (int t = 0; t < 3; t++) {
        #pragma omp target teams distribute parallel for map(tofrom: a[0:n])
        for (int i = 0; i < n; i++)
            a[i] += t;
        if (t == most)
            return t;
    }
    return 3;
}

int main(void)
{
    static double a[N];
    for (int most = 1; most < 5; most += 3) {
        int t = steps(N, most, a);
        printf(\"%d %g\\n\", t, a[5]);
    }
    return 0;
}
";
    let output = ORIGINAL
        .replace("    for (int t = 0;", "    #pragma omp target enter data map(to: a[0:n])\n    for (int t = 0;")
        .replace(
            "            return t;",
            "        {\n            #pragma omp target exit data map(from: a[0:n])\n            return t;\n        }",
        )
        .replace("    return 3;", "    #pragma omp target exit data map(from: a[0:n])\n    return 3;");
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let operators = operators().unwrap_or_else(|error| panic!("{error}"));
    let whole = [Part { number: 0, original: 0..ORIGINAL.len(), output: 0..output.len() }];
    let fixture = Fixture::new("mutants/left", PathBuf::from("left.c"), ORIGINAL.as_bytes().to_vec());
    let fixture = fixture.unwrap_or_else(|error| panic!("{error}"));
    let sound = oracle::compare(&builder, &fixture, output.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert!(sound.is_empty(), "{sound:?}");
    let mut not_left = planted(&operators, ORIGINAL, &output, &whole);
    not_left.retain(|it| it.operator.name == "an environment is not left");
    assert_eq!(not_left.len(), 2, "{not_left:?}");
    let numbered: Vec<_> = not_left.iter().enumerate().collect();
    let failures = parallel::failures(&numbered, |(number, mutant)| {
        let fixture = Fixture { name: format!("mutants/left/{number}"), ..fixture.clone() };
        let found = oracle::compare(&builder, &fixture, with(&output, &[*mutant]).as_bytes())?;
        if found.is_empty() { Err(mutant.what.clone()) } else { Ok(()) }
    });
    assert!(failures.is_empty(), "not found: {}", failures.join(", "));
}

/// Are enough of them found? The table, or what is wrong with it.
fn tried(
    builder: &Builder,
    list: List,
    trials: Result<Vec<Trial>, String>,
    sample: (usize, usize),
) -> Result<String, String> {
    let trials = chosen(trials?, sample);
    let verdicts = verdicts(builder, list, &trials)?;
    let is_sound = |trial: &Trial| trial.mutant.operator.name == NOTHING;
    let (sound, wrong): (Vec<_>, Vec<_>) = trials.iter().zip(&verdicts).partition(|(trial, _)| is_sound(trial));
    let found: Vec<&Finding> = sound.into_iter().flat_map(|(_, findings)| findings).collect();
    if !found.is_empty() {
        return Err(format!("where nothing is done wrong something is found: {found:?}"));
    }
    let (table, rows) = report(&wrong);
    judged::judged(&rows, &table)
}

/// Faults planted by hand, each found for the reason that it was planted for.
#[test]
fn every_planted_fault_is_found() {
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let faults = faults::all();
    let failures = parallel::failures(&faults, |fault| {
        let name = format!("faults/{}", fault.name.replace(' ', "-"));
        let fixture = Fixture::new(&name, PathBuf::from("fault.c"), fault.original.clone().into_bytes())?;
        if fault.expected.is_some() && fault.original == fault.output {
            return Err(format!("{name}: nothing was planted"));
        }
        let findings = oracle::compare(&builder, &fixture, fault.output.as_bytes())?;
        let found = match fault.expected {
            None => findings.is_empty(),
            Some(kind) => findings.iter().any(|finding| finding.kind == kind),
        };
        let shown: Vec<String> = findings.iter().map(Finding::to_string).collect();
        if found { Ok(()) } else { Err(format!("{name}: expected {:?}, found\n{}", fault.expected, shown.join("\n"))) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Every mutant there is, of generated programs and of fixtures.
fn all_trials() -> Result<Vec<Trial>, String> {
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
fn tiled_trials() -> Result<Vec<Trial>, String> {
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

fn seed() -> u64 {
    std::env::var("OMPSPLIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11)
}

/// All of them, or a sample in which every operator has its part. A name decides whether a mutant is in it, so that further programs and
/// fixtures bring theirs and leave most others in place.
fn chosen(mut trials: Vec<Trial>, sample: (usize, usize)) -> Vec<Trial> {
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
    fn name(&self) -> String {
        let source = match &self.source {
            Source::Program { index, sizes, .. } if *sizes == SIZES => format!("program-{index}"),
            Source::Program { index, .. } => format!("program-in-tiles-{index}"),
            Source::Fixture(fixture) => fixture.name.clone(),
        };
        format!("{source} {} {}", self.mutant.operator.name, self.mutant.what)
    }

    /// Its name in a list, and a number of all that what is found of it depends on.
    fn line(&self, verified: &Verified, builder: &Builder) -> Result<(String, String), String> {
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

/// What a list says of what was found.
fn shown(findings: &[Finding]) -> String {
    let kind = |finding: &Finding| if is_of_original(finding) { Kind::Original } else { finding.kind };
    findings.first().map(|finding| format!("{:?}", kind(finding))).unwrap_or_default()
}

/// The same, read.
fn read(found: &str) -> Result<Vec<Finding>, String> {
    let finding = |kind| Finding { kind, text: "found before".to_owned() };
    let found = (!found.is_empty()).then(|| {
        let kind = Kind::ALL.into_iter().find(|kind| format!("{kind:?}") == found);
        kind.map(finding).ok_or_else(|| format!("`{found}` is no kind of finding"))
    });
    found.into_iter().collect()
}

/// What was found of each, in this run where it is not known.
fn verdicts(builder: &Builder, list: List, trials: &[Trial]) -> Result<Vec<Vec<Finding>>, String> {
    let verified = Verified::read(list);
    let mut found = Vec::new();
    let mut unknown = Vec::new();
    for (place, trial) in trials.iter().enumerate() {
        let (name, number) = trial.line(&verified, builder)?;
        let known = verified.known(&name, &number);
        if known.is_none() {
            unknown.push((place, trial, name, number));
        }
        found.push(read(&known.unwrap_or_default())?);
    }
    let tried: Vec<(usize, &Trial)> = unknown.iter().map(|(place, trial, ..)| (*place, *trial)).collect();
    for (place, findings) in searched(builder, &tried)? {
        found[place] = findings;
    }
    for (place, _, name, number) in unknown {
        verified.note(&name, &number, &shown(&found[place]));
    }
    verified.finish()?;
    Ok(found)
}

/// What is found of each.
fn searched(builder: &Builder, trials: &[(usize, &Trial)]) -> Result<Vec<(usize, Vec<Finding>)>, String> {
    let mut batches: BTreeMap<Kinds, Vec<(usize, Job)>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (place, trial) in trials {
        match &trial.source {
            Source::Program { index, cpp, sizes } => {
                let deferred = trial.mutant.text.contains("nowait");
                batches.entry((*cpp, deferred, sizes)).or_default().push((*place, job(*index, *place, trial)));
            }
            Source::Fixture(fixture) => alone.push((*place, fixture, &trial.mutant, &trial.output)),
        }
    }
    let chunks: Vec<_> = batches
        .into_iter()
        .flat_map(|((cpp, _, sizes), jobs)| {
            jobs.chunks(BATCH).map(|chunk| (cpp, sizes, chunk.to_vec())).collect::<Vec<_>>()
        })
        .collect();
    let found = Mutex::new(Vec::new());
    let keep = |place: usize, findings: Vec<Finding>| {
        found.lock().map_err(|error| error.to_string())?.push((place, findings));
        Ok::<(), String>(())
    };
    let mut errors = parallel::failures(&chunks, |(cpp, sizes, chunk)| {
        let (places, jobs): (Vec<usize>, Vec<Job>) = chunk.iter().cloned().unzip();
        let folder = if *sizes == SIZES { "mutants" } else { "mutants/tiles" };
        let name = format!("{folder}/{}", places.first().unwrap_or(&0));
        let settings = Settings { name: &name, cpp: *cpp, sizes, first_only: true };
        let findings = batch::compare(builder, settings, &jobs)?;
        places.into_iter().zip(findings).try_for_each(|(place, findings)| keep(place, findings))
    });
    errors.extend(parallel::failures(&alone, |(place, fixture, mutant, sound)| {
        let fixture = Fixture { name: format!("mutants/{}/{place}", fixture.name), ..(***fixture).clone() };
        keep(*place, oracle::compare_mutant(builder, &fixture, sound.as_bytes(), mutant.text.as_bytes())?)
    }));
    if errors.is_empty() { found.into_inner().map_err(|error| error.to_string()) } else { Err(errors.join("\n")) }
}

/// The mutant under names of its own.
fn job(index: usize, place: usize, trial: &Trial) -> Job {
    let tag = format!("_c{index}");
    let id = format!("{index}m{place}");
    let renamed = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(&tag) {
            let (front, back) = rest.split_at(at + tag.len());
            out.push_str(front);
            if !back.starts_with(|c: char| c.is_ascii_digit()) {
                out.push_str(&format!("m{place}"));
            }
            rest = back;
        }
        out + rest
    };
    // What is printed must not tell the names apart.
    let rename = |text: &str| {
        let text = renamed(text).replace(&format!("_c{id}\", "), &format!("{tag}\", "));
        text.replace(&format!("_c{id} %"), &format!("{tag} %"))
    };
    let (output, sound) = (rename(&trial.mutant.text), Some(rename(&trial.output)));
    Job { id, origin: index.to_string(), original: trial.original.clone(), output, sound }
}

/// Is something wrong with the original, and not with the mutant?
fn is_of_original(finding: &Finding) -> bool {
    finding.kind == Kind::Original || (finding.kind == Kind::Build && finding.text.starts_with("before"))
}

/// What a program's mutants run with.
fn sizes(case: &Case) -> &'static [(usize, usize)] {
    if case.is_piped() { TILED_SIZES } else { SIZES }
}

/// Where a mutant that was not found can be read.
fn kept(place: usize, trial: &Trial) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("survivors").join(format!("{place}.diff"));
    let [output, mutant] = [&trial.output, &trial.mutant.text].map(|text| text.as_bytes());
    let text = format!("{}\n{}", support::diff("output", output, "mutant", mutant), trial.output);
    let written = std::fs::create_dir_all(file.parent().unwrap_or(&file)).and_then(|()| std::fs::write(&file, text));
    written.map_or_else(|error| error.to_string(), |()| file.display().to_string())
}

/// The table, with the mutants that were not found, and its rows.
fn report<'a>(tried: &[(&'a Trial, &Vec<Finding>)]) -> (String, Rows<'a>) {
    let mut rows = Rows::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut survivors = String::new();
    for (place, (trial, findings)) in tried.iter().enumerate() {
        let operator = &trial.mutant.operator;
        // Where the original is no reference, nothing is found of the mutant.
        let finding = findings.first().filter(|finding| !is_of_original(finding));
        judged::note(&mut rows, operator, finding.is_some());
        if let Some(finding) = finding {
            *kinds.entry(format!("{:?}", finding.kind)).or_default() += 1;
        } else {
            let _ = writeln!(survivors, "not found: {}; {}", trial.name(), kept(place, trial));
        }
    }
    (format!("{}found by: {kinds:?}\n{survivors}", judged::table(&rows)), rows)
}
