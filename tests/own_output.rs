//! What the tool says of its own output: with the same options it changes nothing more, and no refusal is about what it wrote.
//!
//! Each program is rewritten with one of the sets of passes and flags; `OMPSPLIT_COMBINATIONS=16 cargo test --test own_output` takes
//! so many of them for each, and more programs, and `OMPSPLIT_SEED` others. `OMPSPLIT_ONLY=hoist_maps/` takes the programs with that in their
//! names.

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, EngineError, Options, Outcome, Passes};
use ompsplit::plan::{Decision, Pass, Plan, Reason, ReasonCode};
use ompsplit::source::SourceFile;
use support::generator::families::{FAMILIES, PIPELINES};
use support::generator::{drawn, piped};
use support::{diff, fixtures, parallel, rewrite};

/// Those that run by default, each pass by itself, and each pair.
fn sets_of_passes() -> Vec<Passes> {
    let all = rewrite::built();
    let alone = all.iter().map(|pass| vec![*pass]);
    let pairs = all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(|other| vec![*one, *other]));
    std::iter::once(Passes::default()).chain(alone.chain(pairs).map(Passes::from)).collect()
}

/// How many ways there are to set the flags.
const FLAGS: usize = 32;

struct Program {
    name: String,
    path: PathBuf,
    text: Vec<u8>,
}

#[test]
fn no_refusal_is_about_what_the_tool_wrote() {
    let (combinations, seed) = (number("OMPSPLIT_COMBINATIONS").unwrap_or(1), number("OMPSPLIT_SEED").unwrap_or(1));
    let programs = programs(if combinations > 1 { 1 } else { 3 });
    let only = std::env::var("OMPSPLIT_ONLY").unwrap_or_default();
    let programs: Vec<Program> = programs.into_iter().filter(|program| program.name.contains(&only)).collect();
    let failures = parallel::failures(&programs, |program| {
        let first = drawn_by_name(&program.name);
        (0..combinations).try_for_each(|turn| {
            let options = options(program, first + turn * 37 + seed);
            check(program, &options).map_err(|text| format!("== {} with {}\n{text}", program.name, shown(&options)))
        })
    });
    assert!(failures.is_empty(), "{} of {} programs fail\n{}", failures.len(), programs.len(), failures.join("\n"));
}

/// A region in both forms, one of which is cut into tiles, is what `split` made of it before.
#[test]
fn both_forms_of_a_region_with_tiles_settle() {
    let text = b"void f(int n, double *a, double *b)\n{\n#pragma omp target map(always, tofrom: a[0:n]) map(tofrom: b[0:n])\n    {\n\
                 #pragma omp parallel for\n        for (int i = 0; i < n; i++) a[i] += 1;\n#pragma omp parallel for\n        \
                 for (int i = 0; i < n; i++) b[i] += a[i];\n    }\n}\n";
    let text = [b"#include <stdio.h>\n", text.as_slice()].concat();
    let program = Program { name: "always.c".into(), path: "always.c".into(), text };
    let options = Options { passes: vec![Pass::Split, Pass::Pipeline].into(), versioned: true, ..Options::default() };
    let output = run(&program.path, &program.text, &options).map(|outcome| outcome.text.unwrap_or_default());
    let output = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    assert!(output.contains("n >= 30000") && output.contains("TILES"), "{output}");
    assert_eq!(check(&program, &options), Ok(()));
}

/// The same of loops that teams of one thread share.
#[test]
fn both_forms_of_a_loop_of_teams_settle() {
    let fixtures = fixtures::all().unwrap_or_default();
    let found = fixtures.iter().find(|fixture| fixture.name == "split_target/teams_distribute_alone.c");
    let Some(fixture) = found else { return };
    let program = Program { name: fixture.name.clone(), path: fixture.path.clone(), text: fixture.text.clone() };
    let options = Options { passes: vec![Pass::Split, Pass::Collapse].into(), versioned: true, ..Options::default() };
    let output = run(&program.path, &program.text, &options).map(|outcome| outcome.text.is_some());
    assert_eq!(output, Ok(true));
    assert_eq!(check(&program, &options), Ok(()));
}

/// The same where `reduce` writes a directive between the heads of two loops.
#[test]
fn both_forms_of_rows_settle() {
    let fixtures = fixtures::all().unwrap_or_default();
    let found = fixtures.iter().find(|fixture| fixture.name == "collapse/league_stays.c");
    let Some(fixture) = found else { return };
    let program = Program { name: fixture.name.clone(), path: fixture.path.clone(), text: fixture.text.clone() };
    let passes = vec![Pass::Split, Pass::Reduce];
    let options = Options { passes: passes.into(), versioned: true, assumed_iterations: 65_536, ..Options::default() };
    let output = run(&program.path, &program.text, &options).map(|outcome| outcome.text.unwrap_or_default());
    let output = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    assert_eq!(output.matches("rows >= 130000").count(), 1, "{output}");
    assert!(output.contains("#pragma omp parallel for\n"), "{output}");
    assert_eq!(check(&program, &options), Ok(()));
}

/// A grid that gains too little by itself comes in the run that puts data around its loop, or not at all.
#[test]
fn a_grid_comes_with_its_environment() {
    let text = b"void f(int n, int rounds, double *a)\n{\n    for (int t = 0; t < rounds; t++) {\n\
                 #pragma omp target teams distribute parallel for map(tofrom: a[0:n])\n        \
                 for (int i = 0; i < n; i++)\n            a[i] = t;\n    }\n}\n";
    for device in [None, DeviceProfile::named("h200")] {
        let options = |passes: Passes| Options { passes, device: device.clone(), ..Options::default() };
        let made = |text: &[u8], passes: &[Pass]| {
            let outcome = run(&PathBuf::from("rounds.c"), text, &options(passes.to_vec().into()));
            outcome.map(|outcome| outcome.text)
        };
        let both = [Pass::Hoist, Pass::Geometry];
        assert_eq!(made(text, &[Pass::Geometry]), Ok(None));
        let environment = made(text, &[Pass::Hoist]).ok().flatten().unwrap_or_default();
        assert!(String::from_utf8_lossy(&environment).contains("target data"));
        assert_eq!(made(&environment, &both), Ok(None));
        let with_grid = made(text, &both).ok().flatten().unwrap_or_default();
        assert!(String::from_utf8_lossy(&with_grid).contains("thread_limit(128)"));
        assert_eq!(made(&with_grid, &both), Ok(None));
        let again = run(&PathBuf::from("rounds.c"), &with_grid, &options(Passes::default()));
        assert_eq!(again.map(|outcome| outcome.text), Ok(None));
    }
}

/// A serial loop that is all there is in its kernel's loop is unrolled once.
#[test]
fn an_unrolled_loop_without_a_block_settles() {
    let text =
        b"long f(int n, int m, const int *a)\n{\n    long sum = 0;\n#pragma omp target teams distribute parallel for \
                 reduction(+: sum) map(tofrom: sum) map(to: a[0:n * m])\n    for (int i = 0; i < n; i++)\n        \
                 for (int j = 0; j < m; j++)\n            sum += a[i * m + j];\n    return sum;\n}\n";
    let program = Program { name: "sum.c".into(), path: "sum.c".into(), text: text.to_vec() };
    let device = DeviceProfile::named("h200");
    let options = Options { passes: vec![Pass::Split, Pass::Unroll].into(), device, ..Options::default() };
    let output = run(&program.path, &program.text, &options).map(|outcome| outcome.text.unwrap_or_default());
    let output = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    assert_eq!(output.matches("omp unroll").count(), 1, "{output}");
    assert_eq!(check(&program, &options), Ok(()));
}

/// Why a loop is not cut into tiles is what the user hears, whatever grid it got.
#[test]
fn a_grid_hides_no_reason() {
    let fixtures = fixtures::all().unwrap_or_default();
    let found = fixtures.iter().find(|fixture| fixture.name == "pipeline_loop/no_pieces.c");
    let Some(fixture) = found else { return };
    let device = DeviceProfile::named("h200");
    let codes = |passes: &[Pass]| -> Result<BTreeSet<&str>, String> {
        let base = rewrite::options(&fixture.path, &fixture.text, false);
        let options = Options { passes: passes.to_vec().into(), device: device.clone(), ..base };
        let outcome = run(&fixture.path, &fixture.text, &options)?;
        let own = outcome.plans.iter().filter(|plan| plan.pass == Pass::Pipeline && plan.decision == Decision::Refuse);
        Ok(own.flat_map(|plan| &plan.reasons).map(|reason| reason.code.id()).collect())
    };
    assert_eq!(codes(&[Pass::Geometry, Pass::Pipeline]), codes(&[Pass::Pipeline]));
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// The fixtures, and a program of each family, or of one among `every` so many.
fn programs(every: usize) -> Vec<Program> {
    let fixtures = fixtures::all().unwrap_or_default().into_iter();
    let fixtures = fixtures.map(|fixture| Program { name: fixture.name, path: fixture.path, text: fixture.text });
    let whole = (0..FAMILIES.len()).step_by(every).map(|index| drawn(1, index));
    let cases = whole.chain((0..PIPELINES.len()).step_by(every).map(|index| piped(1, index)));
    let generated = cases.map(|case| Program {
        name: format!("program {} of {}", case.index, case.family.name),
        path: case.file_name().into(),
        text: case.text().into_bytes(),
    });
    fixtures.chain(generated).collect()
}

/// A number that depends on a program's name alone, so that further programs change nothing for the others.
fn drawn_by_name(name: &str) -> usize {
    let hash = blake3::hash(name.as_bytes());
    hash.as_bytes().iter().take(3).fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// One of the sets of passes and flags; all passes every second time.
fn options(program: &Program, number: usize) -> Options {
    let mut options = rewrite::options(&program.path, &program.text, false);
    let sets = sets_of_passes();
    let (set, flags) = if number.is_multiple_of(2) {
        (rewrite::built().into(), number / 2)
    } else {
        (sets[number / 2 % sets.len()].clone(), number / 2 / sets.len())
    };
    let is_set = |bit: usize| (flags % FLAGS) & (1 << bit) != 0;
    options.passes = set;
    options.device = (!is_set(0)).then(|| DeviceProfile::named("h200")).flatten();
    options.versioned = is_set(1);
    options.pipeline.least_bytes = (!is_set(2)).then_some(1);
    options.assume = is_set(3);
    options.reassociate = is_set(3);
    options.retune = options.device.is_some();
    options.assumed_iterations = if is_set(4) { 65_536 } else { 1 << 30 };
    options
}

fn shown(options: &Options) -> String {
    let Options { passes, device, versioned, retune, pipeline, assume, assumed_iterations, .. } = options;
    let flag = |name: &'static str, is_set: bool| if is_set { name } else { "" };
    format!(
        "--passes {} --assumed-iterations {assumed_iterations}{}{}{}{}{}",
        passes.names().join(","),
        flag(" --device h200", device.is_some()),
        flag(" --versioned", *versioned),
        flag(" --retune", *retune),
        flag(" --pipeline-from 1", pipeline.least_bytes.is_some()),
        flag(" --assume --assume=reassociation", *assume),
    )
}

fn run(path: &std::path::Path, text: &[u8], options: &Options) -> Result<Outcome, String> {
    match engine::run(&SourceFile::new(path, text.to_vec()), &rewrite::headers(path), options) {
        Ok(outcome) => Ok(outcome),
        Err(EngineError::Host(_)) => Ok(Outcome { text: None, plans: Vec::new() }),
        Err(error) => Err(error.to_string()),
    }
}

fn check(program: &Program, options: &Options) -> Result<(), String> {
    let first = run(&program.path, &program.text, options)?;
    let Some(output) = &first.text else { return Ok(()) };
    let second = run(&program.path, output, options).map_err(|error| format!("the second run: {error}"))?;
    let changes = || diff("original", &program.text, "output", output);
    if let Some(again) = &second.text {
        return Err(format!("a second run goes on:\n{}{}", changes(), diff("output", output, "second", again)));
    }
    let original = squeezed(&program.text);
    let said: BTreeSet<(ReasonCode, &str)> = first
        .plans
        .iter()
        .filter(|plan| !plan.follows)
        .flat_map(refused)
        .map(|reason| (reason.code, reason.message.as_str()))
        .collect();
    let is_new = |reason: &&Reason| !said.contains(&(reason.code, reason.message.as_str()));
    let of_first = first.plans.iter().flat_map(refused).find(|reason| names_own(reason, &original));
    let of_second = second.plans.iter().flat_map(refused).filter(is_new);
    let of_second = of_second.into_iter().find(|it| names_own(it, &original) || stands_in_own(it, output, &original));
    match of_first.filter(is_new).or(of_second) {
        None => Ok(()),
        Some(reason) => Err(format!("{} {}\n{}", reason.code.id(), reason.message, changes())),
    }
}

/// What a plan warns of: a refusal, and a grid that is far off.
fn refused(plan: &Plan) -> impl Iterator<Item = &Reason> {
    let is_refused = plan.decision == Decision::Refuse;
    plan.reasons.iter().filter(move |reason| is_refused || reason.code == ReasonCode::GridFarOff)
}

/// Does its message name something that the original does not hold? A member that a called function finds goes by the words of the caller
/// and of that function: each of them is the original's.
fn names_own(reason: &Reason, original: &str) -> bool {
    let mut names = reason.message.split('`').skip(1).step_by(2).map(|name| squeezed(name.as_bytes()));
    let is_of_original = |name: &String| {
        let mut members = name.split("->").flat_map(|part| part.split('.'));
        let is_path = members.clone().count() > 1;
        original.contains(name) || is_path && members.all(|word| has_word(original, word))
    };
    names.any(|name| !is_of_original(&name))
}

/// Does a name stand there, and not as a part of a longer one?
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = !name.is_empty() && name.bytes().all(|byte| is_part(Some(byte)));
    is_name
        && text.match_indices(name).any(|(at, _)| {
            let bytes = text.as_bytes();
            !is_part(at.checked_sub(1).and_then(|before| bytes.get(before).copied()))
                && !is_part(bytes.get(at + name.len()).copied())
        })
}

/// Is its place a clause of a name that the original does not hold, or an expression in one?
fn stands_in_own(reason: &Reason, output: &[u8], original: &str) -> bool {
    let place = squeezed(output.get(reason.span.start..reason.span.end).unwrap_or_default());
    // Of a statement with a directive in it, such as one behind a label, what stands before that tells whose it is.
    let before = place.split("#pragma").next().unwrap_or_default();
    if original.contains(&place) || before.len() < place.len() && original.contains(before) {
        return false;
    }
    let name = place.split_inclusive('(').next().unwrap_or_default();
    let is_clause = name.trim_end_matches('(').chars().all(|c| c.is_alphabetic() || c == '_');
    !(is_clause && original.contains(name))
}

/// A text without blanks and continued lines.
fn squeezed(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
}
