//! Operators on copies beside kernels, as `overlap` writes them: `parallel sections` with the kernels in the first section and a copy in each
//! of the others. One file has a mutant in each of its functions, which run alone.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::path::Path;

use ompsplit::engine::{self, Options, Outcome};
use ompsplit::plan::Pass;
use ompsplit::source::SourceFile;
use ompsplit::validate::host::directives::{directives, is_kernel, words};
use ompsplit::validate::host::{Traffic, harden};

use super::Operator;
use super::directives::Edit;
use super::environments::{Part, Planted, with};
use super::of_environments::{FOUND, NOT_FOUND, Verdict, all_told, rounds};
use super::statements::statement;
use crate::support::environments::parts;
use crate::support::fixtures::Fixture;
use crate::support::oracle::{LOGGED, traffic};
use crate::support::overlaps::{LEAST_BYTES, program};
use crate::support::parallel;
use crate::support::program::{Builder, How, Program, Run};
use crate::support::verified::Verified;

/// The call that delays a section; the tests' programs know it by this name.
const DELAY: &str = "usleep(tile_late);";

/// Which sections begin late, so that what nobody waits for is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    Copies,
    Kernels,
}

/// What the pass makes of a program.
pub fn rewritten(name: &str, text: &str) -> Result<Outcome, String> {
    let file = SourceFile::new(Path::new(name), text.as_bytes().to_vec());
    let mut options = Options { passes: vec![Pass::Overlap].into(), ..Options::default() };
    options.pipeline.least_bytes = Some(LEAST_BYTES);
    engine::run(&file, &[], &options).map_err(|error| format!("{name}: {error}"))
}

/// A copy of an output in which these sections begin late.
pub fn delayed(text: &str, late: Late) -> String {
    let mut out = String::new();
    let mut begins = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let delay = format!("const unsigned tile_late = 4000; {DELAY}");
        match (begins, trimmed == "{", late) {
            (true, true, Late::Kernels) => out.push_str(&format!("{line}{delay}\n")),
            (true, false, Late::Copies) => out.push_str(&format!("{{ {delay} {trimmed} }}\n")),
            _ => out.push_str(line),
        }
        begins = trimmed == "#pragma omp section";
    }
    out
}

/// Kernels with copies beside them.
struct Beside {
    /// From the directive to the last brace.
    whole: Range<usize>,
    /// The block of the kernels, with its braces.
    kernels: Range<usize>,
    /// The calls that copy.
    copies: Vec<Range<usize>>,
}

fn all_beside(text: &str, part: &Range<usize>) -> Vec<Beside> {
    let found = directives(text.as_bytes());
    let heads = found.iter().filter(|d| part.contains(&d.start));
    let heads = heads.filter(|d| words(text.as_bytes(), d).starts_with("parallel sections"));
    let read = |head: &Range<usize>| {
        let body = statement(text, head.end);
        let inside = found.iter().filter(|d| body.contains(&d.start) && words(text.as_bytes(), d) == "section");
        let mut sections = inside.map(|d| statement(text, d.end));
        let kernels = sections.next()?;
        let start = text.get(..head.start)?.rfind('\n')? + 1;
        Some(Beside { whole: start..body.end, kernels, copies: sections.collect() })
    };
    heads.filter_map(read).collect()
}

/// The array that a call copies.
fn copied(text: &str, call: &Range<usize>) -> String {
    let inside = text.get(call.clone()).unwrap_or_default().split_once('(').map_or("", |(_, rest)| rest);
    let word = inside.trim_start_matches('&');
    word.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// All that can be done wrong in an output.
fn planted(operators: &[Operator], output: &str, parts: &[Part]) -> Vec<Planted> {
    let mut all = Vec::new();
    for part in parts {
        let places = all_beside(output, &part.output);
        for operator in operators.iter().filter(|operator| operator.on == "overlap") {
            let mut made: Vec<Made> = Vec::new();
            for place in &places {
                made.extend(of_place(operator, output, place));
            }
            if operator.does == "drop-question" {
                made.extend(questions(output, &part.output));
            }
            let planted = made.into_iter().map(|(what, edits)| Planted::new(operator, what, part.number, edits));
            all.extend(planted);
        }
    }
    all
}

/// What was changed, and how.
type Made = (String, Vec<Edit>);

fn of_place(operator: &Operator, text: &str, place: &Beside) -> Vec<Made> {
    let function = |way: &str| format!("ompsplit_{way}_device(");
    let mine = place.copies.iter().filter(|call| text[(*call).clone()].starts_with(&function(&operator.clause)));
    let of_call = |call: &Range<usize>| -> Option<Made> {
        let said = text[call.clone()].to_owned();
        let new = match operator.does.as_str() {
            "drop-copy" => ";".to_owned(),
            "turn-copy" => said.replace(&function(&operator.from), &function(&operator.to)),
            "shorten-copy" => said.replace(" * n)", " * (n - 1))"),
            _ => return None,
        };
        (new != said).then(|| (said, vec![(call.clone(), new)]))
    };
    let mut made: Vec<Made> = mine.clone().filter_map(of_call).collect();
    let names = |range: &Range<usize>, array: &str| {
        ompsplit::source::words(text.get(range.clone()).unwrap_or_default()).any(|word| word == array)
    };
    if operator.does == "move-wait" {
        let is_to = operator.clause == "to";
        let neighbour =
            if is_to { kernel_behind(text, place.whole.end) } else { kernel_before(text, place.whole.start) };
        let at = if is_to { place.kernels.end - 1 } else { place.kernels.start + 1 };
        for call in mine {
            let array = copied(text, call);
            if let Some(kernel) = neighbour.clone().filter(|kernel| names(kernel, &array)) {
                let moved = format!("\n{}\n", &text[kernel.clone()]);
                made.push((format!("{array} and a kernel"), vec![(kernel, String::new()), (at..at, moved)]));
            }
        }
    }
    made
}

/// The kernel that stands right behind a place, with its directive.
fn kernel_behind(text: &str, at: usize) -> Option<Range<usize>> {
    let all = directives(text.as_bytes());
    let next = all.iter().find(|d| d.start >= at)?;
    let start = text.get(..next.start)?.rfind('\n')? + 1;
    let is_next = text.get(at..start)?.trim().is_empty() && is_kernel(&words(text.as_bytes(), next));
    is_next.then(|| start..statement(text, next.end).end)
}

/// The kernel that stands right before a place.
fn kernel_before(text: &str, at: usize) -> Option<Range<usize>> {
    let all = directives(text.as_bytes());
    let last = all.iter().rev().find(|d| d.end <= at && is_kernel(&words(text.as_bytes(), d)))?;
    let start = text.get(..last.start)?.rfind('\n')? + 1;
    let end = statement(text, last.end).end;
    (end <= at && text.get(end..at)?.trim().is_empty()).then_some(start..end)
}

/// Each question whether an array is on the device.
fn questions(text: &str, part: &Range<usize>) -> Vec<Made> {
    let inside = text.get(part.clone()).unwrap_or_default();
    let found = inside.match_indices("ompsplit_is_absent(").filter_map(|(at, _)| {
        let start = part.start + at;
        let end = start + text.get(start..)?.find(')')? + 1;
        Some((text[start..end].to_owned(), vec![(start..end, "1".to_owned())]))
    });
    found.collect()
}

/// Plants mutants in the programs of these seeds, in so many files for each, and looks for those of which it is not known whether they are
/// found.
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
    let program = program(seed);
    let name = format!("mutants/overlaps/{seed}.c");
    let Some(output) = rewritten(&name, &program.text)?.text else { return Ok(Vec::new()) };
    let output = String::from_utf8_lossy(&output).into_owned();
    let pairs = parts(&program.text).into_iter().zip(parts(&output)).enumerate();
    let parts: Vec<Part> = pairs.map(|(number, (original, output))| Part { number, original, output }).collect();
    let rounds = rounds(planted(operators, &output, &parts), seed, files);
    let texts: Vec<String> = rounds.iter().map(|chosen| with(&output, &chosen.iter().collect::<Vec<_>>())).collect();
    let mut fixture = Fixture::new(&name, Path::new(&name).to_owned(), program.text.into_bytes())?;
    fixture.flags.push("-O0".to_owned());
    let depends = [name.as_bytes(), &fixture.text, output.as_bytes()].into_iter();
    let number = verified.number(builder, &depends.chain(texts.iter().map(String::as_bytes)).collect::<Vec<_>>());
    let became = verified.or_found(&seed.to_string(), &number, || searched(builder, &fixture, &rounds, &texts))?;
    all_told(&became, rounds.into_iter().flatten().collect(), seed, &output)
}

/// A letter for each mutant.
fn searched(builder: &Builder, fixture: &Fixture, rounds: &[Vec<Planted>], texts: &[String]) -> Result<String, String> {
    let build = |variant: String, text: &[u8], flags: &[&str]| builder.build(fixture, &variant, text, flags);
    let before = build("before".to_owned(), &fixture.text, &[])?;
    let mut runs: BTreeMap<usize, Run> = BTreeMap::new();
    let mut letters = String::new();
    for (round, (chosen, text)) in rounds.iter().zip(texts).enumerate() {
        let mut variants = Vec::new();
        for late in [Late::Copies, Late::Kernels] {
            variants.push(build(format!("{late:?}{round}"), delayed(text, late).as_bytes(), &[])?);
        }
        let (hardened, _) = harden(&fixture.text, text.as_bytes());
        variants.push(build(format!("present{round}"), &hardened, &["-fopenmp-version=51"])?);
        for planted in chosen {
            let input = [planted.part.to_string()];
            let expected = match runs.entry(planted.part) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(before.run_parts(&input, How::Logged(LOGGED))?),
            };
            letters.push(if is_found(expected, &variants, &input)? { FOUND } else { NOT_FOUND });
        }
    }
    Ok(letters)
}

/// Does any variant print something else than the original, end otherwise, or copy more?
fn is_found(expected: &Run, variants: &[Program], input: &[String]) -> Result<bool, String> {
    for program in variants {
        let run = program.run_parts(input, How::Logged(LOGGED))?;
        let [old, new] = [expected, &run].map(|run| Traffic::read(run.stderr.as_bytes()));
        if (&run.stdout, &run.end) != (&expected.stdout, &expected.end) || !traffic(&old, &new).is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
