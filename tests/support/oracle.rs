//! Holds an output against its original: by its results in several grids, by maps that must be present, and by what the
//! runtime moved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;

use ompsplit::validate::host::directives::{clauses, closing, directives, words};
use ompsplit::validate::host::races::host_copy;
use ompsplit::validate::host::{Geometry, Traffic, UNNAMED, harden};

use super::diff;
use super::fixtures::Fixture;
use super::program::{Builder, GEOMETRIES, How, Program, Run, with_late_tiles};

/// What was found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of the programs does not compile.
    Build,
    /// The original has no single result, so that it is no reference.
    Original,
    /// The output prints something else, or ends in another way.
    Results,
    /// The output aborts where every item must be present: a map is missing.
    MissingMap,
    /// A kernel uses a pointer without a mapping that no kernel of the original does.
    UnmappedPointer,
    /// The output moves more bytes than the original.
    Transfers,
    /// The output launches kernels where the original launches none.
    Kernels,
    /// The iterations of a new kernel race.
    Race,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Build,
        Self::Original,
        Self::Results,
        Self::MissingMap,
        Self::UnmappedPointer,
        Self::Transfers,
        Self::Kernels,
        Self::Race,
    ];
}

/// One thing that was found wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What sort of thing.
    pub kind: Kind,
    /// All there is to know, with the command to repeat it.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.text)
    }
}

/// What `ThreadSanitizer` says of a race.
pub const RACE: &str = "WARNING: ThreadSanitizer: data race";

/// A grid in which races show.
const RACES: Geometry = Geometry { teams: 4, threads: 4 };

/// The grid in which the runtime's log is read.
pub const LOGGED: Geometry = Geometry { teams: 1, threads: 1 };

/// What a kernel may move beyond the original: the scalars that its combined construct maps on its own.
pub const BYTES_PER_KERNEL: u64 = 64;

/// Compares two texts of a fixture and gives all that is wrong with the second.
pub fn compare(builder: &Builder, fixture: &Fixture, output: &[u8]) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    let before = match builder.build(fixture, "before", &fixture.text, &[]) {
        Ok(program) => program,
        Err(text) => return Ok(vec![Finding { kind: Kind::Build, text }]),
    };
    if output == fixture.text {
        // There is nothing to compare, and a program that is refused may well depend on its grid; but it must run.
        let run = before.run(LOGGED, false)?;
        if run.end != "exit 0" {
            findings.push(Finding { kind: Kind::Original, text: format!("{}\n{}", run.end, tail(&run.stderr)) });
        }
        return Ok(findings);
    }
    let reference = reference(&before, fixture, &mut findings)?;
    if !findings.is_empty() {
        return Ok(findings);
    }
    let log = run_logged(&before)?;
    let after = match builder.build(fixture, "after", output, &[]) {
        Ok(program) => program,
        Err(text) => return Ok(vec![Finding { kind: Kind::Build, text }]),
    };
    results(&after, &reference, Kind::Results, &mut findings)?;
    transfers(&log, &run_logged(&after)?, &after, &mut findings);

    if let Some(late) = with_late_tiles(output) {
        let program = builder.build(fixture, "late", &late, &[])?;
        results_in(&program, &reference, Kind::Results, &[(RACES, 1), (LOGGED, 1)], &mut findings)?;
    }
    let (hardened, kernels) = harden(&fixture.text, output);
    if kernels > 0 {
        let version = fixture.flags.iter().any(|flag| flag.starts_with("-fopenmp-version"));
        let flags: &[&str] = if version { &[] } else { &["-fopenmp-version=51"] };
        match builder.build(fixture, "present", &hardened, flags) {
            // A map that is missing aborts in any grid.
            Ok(program) => {
                results_in(&program, &reference, Kind::MissingMap, &[(RACES, 1), (LOGGED, 1)], &mut findings)?
            }
            Err(text) => findings.push(Finding { kind: Kind::Build, text }),
        }
    }
    Ok(findings)
}

/// The same where the output is a mutant: with what `compare` does not look at where nothing is wrong, deferred tasks that
/// begin late, other arguments, and races that what it was made of does not have.
pub fn compare_mutant(
    builder: &Builder,
    fixture: &Fixture,
    sound: &[u8],
    mutant: &[u8],
) -> Result<Vec<Finding>, String> {
    let findings = compare(builder, fixture, mutant)?;
    if !findings.is_empty() {
        return Ok(findings);
    }
    let before = builder.build(fixture, "before", &fixture.text, &[])?;
    let after = builder.build(fixture, "after", mutant, &[])?;
    if mutant.windows(6).any(|part| part == b"nowait")
        && let Some(finding) = other_results(&before, &after, &[], How::Late(LOGGED))?
    {
        return Ok(vec![finding]);
    }
    // A condition on how many arguments there are must go both ways, too.
    let arguments: &[&[&str]] = &[&["7"], &["64"], &["701"], &["701", "2"]];
    let takes_size = String::from_utf8_lossy(&fixture.text).contains("argv[1]");
    let reference = builder.build(fixture, "sound", sound, &[])?;
    for words in arguments.iter().filter(|_| takes_size) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(finding) = other_results(&before, &after, &words, How::Grid(RACES))? {
            return Ok(vec![finding]);
        }
        let moved = |program: &Program| {
            Ok::<Traffic, String>(Traffic::read(program.run_parts(&words, How::Logged(LOGGED))?.stderr.as_bytes()))
        };
        let before = moved(&before)?;
        let findings = traffic(&before, &moved(&after)?);
        if !findings.is_empty() && traffic(&before, &moved(&reference)?).is_empty() {
            return Ok(findings);
        }
    }
    let races = |variant: &str, text: &[u8]| {
        let (copy, widened) = copy_for_threads(&fixture.text, text);
        let Some(program) = builder.build_for_threads(fixture, variant, &copy).ok().filter(|_| widened > 0) else {
            return Ok(false);
        };
        let run = program.run_parts(&[], How::Threads("static,1", 4))?;
        Ok::<bool, String>(run.stderr.contains(RACE))
    };
    if races("threads", mutant)? && !races("threads-sound", sound)? {
        return Ok(vec![Finding { kind: Kind::Race, text: "the iterations of a new kernel race".to_owned() }]);
    }
    Ok(findings)
}

/// What a run gives that is not what the original gives, where that ends well.
fn other_results(before: &Program, after: &Program, arguments: &[String], how: How) -> Result<Option<Finding>, String> {
    let (expected, run) = (before.run_parts(arguments, how)?, after.run_parts(arguments, how)?);
    if expected.end != "exit 0" || (expected.stdout == run.stdout && expected.end == run.end) {
        return Ok(None);
    }
    let difference = diff("expected", &expected.stdout, "printed", &run.stdout);
    Ok(Some(Finding { kind: Kind::Results, text: format!("{how:?} {arguments:?}: {}\n{difference}", run.end) }))
}

/// The copy in which `ThreadSanitizer` looks for races, and how many kernels in it are loops of the host. Of pipelines those of the
/// other branch too: of `teams` on the host Archer does not know that its threads end. Tiles there combine without `reduction`, whose
/// accesses Archer does not look at: each of them is one thread.
pub fn copy_for_threads(original: &[u8], output: &[u8]) -> (Vec<u8>, usize) {
    if with_late_tiles(output).is_none() {
        return host_copy(original, output);
    }
    let (mut copy, count) = host_copy(b"", output);
    let found = directives(&copy);
    let heads: Vec<_> =
        found.iter().filter(|d| words(&copy, d).starts_with("parallel for num_threads(")).cloned().collect();
    for head in heads {
        let brace = copy.iter().skip(head.end).position(|byte| *byte == b'{').map_or(head.end, |at| head.end + at);
        let body = brace..closing(&copy, brace, b'{', b'}');
        for directive in found.iter().filter(|d| body.contains(&d.start)) {
            for clause in clauses(&copy, directive, "reduction").collect::<Vec<_>>() {
                copy.get_mut(clause).unwrap_or_default().fill(b' ');
            }
        }
    }
    (copy, count)
}

/// What every run must give: what the original gives in every grid. Where the original is racy, what the host alone
/// gives with one thread, provided that the program itself found it right (it returns 0).
fn reference(before: &Program, fixture: &Fixture, findings: &mut Vec<Finding>) -> Result<Run, String> {
    if fixture.racy_original {
        let run = before.run_on_host()?;
        if run.end != "exit 0" {
            let text = format!("on the host with one thread the original ends with {}", run.end);
            findings.push(Finding { kind: Kind::Original, text });
        }
        return Ok(run);
    }
    let first = before.run(GEOMETRIES.first().map_or(LOGGED, |(geometry, _)| *geometry), false)?;
    if first.end != "exit 0" {
        let text = format!("it ends with {}:\n{}", first.end, tail(&first.stderr));
        findings.push(Finding { kind: Kind::Original, text });
        return Ok(first);
    }
    results(before, &first, Kind::Original, findings)?;
    Ok(first)
}

/// Runs a program in every grid and compares stdout and exit status.
fn results(program: &Program, expected: &Run, kind: Kind, findings: &mut Vec<Finding>) -> Result<(), String> {
    results_in(program, expected, kind, GEOMETRIES, findings)
}

/// The same in some grids, each so often.
fn results_in(
    program: &Program,
    expected: &Run,
    kind: Kind,
    geometries: &[(Geometry, usize)],
    findings: &mut Vec<Finding>,
) -> Result<(), String> {
    for (geometry, repetitions) in geometries {
        for _ in 0..*repetitions {
            let run = program.run(*geometry, false)?;
            if run.stdout != expected.stdout || run.end != expected.end {
                let text = format!(
                    "with {} teams of {} threads: {} instead of {}\n{}{}\nrepeat: {}",
                    geometry.teams,
                    geometry.threads,
                    run.end,
                    expected.end,
                    diff("expected", &expected.stdout, "printed", &run.stdout),
                    tail(&run.stderr),
                    program.repeat(*geometry),
                );
                findings.push(Finding { kind, text });
                return Ok(());
            }
        }
    }
    Ok(())
}

fn run_logged(program: &Program) -> Result<Traffic, String> {
    Ok(Traffic::read(program.run(LOGGED, true)?.stderr.as_bytes()))
}

/// Compares what the two programs moved, and which pointers their kernels use unmapped.
fn transfers(before: &Traffic, after: &Traffic, program: &Program, findings: &mut Vec<Finding>) {
    for mut finding in traffic(before, after) {
        let _ = write!(finding.text, "\nrepeat: {}", program.repeat(LOGGED));
        findings.push(finding);
    }
}

/// What is wrong with what the output launched and moved.
pub fn traffic(before: &Traffic, after: &Traffic) -> Vec<Finding> {
    let both = format!("before: {before}\nafter:  {after}");
    let mut findings = Vec::new();
    let mut found = |kind: Kind, what: String| findings.push(Finding { kind, text: format!("{what}\n{both}") });
    let unmapped: Vec<_> = after.unmapped.keys().filter(|name| !before.unmapped.contains_key(*name)).cloned().collect();
    if !unmapped.is_empty() {
        found(Kind::UnmappedPointer, unmapped.join(", "));
    }
    let slack = BYTES_PER_KERNEL * after.kernels as u64;
    // What comes back in each pass of a loop comes back once more where the environment ends: both directions count together.
    if after.bytes_to + after.bytes_from > before.bytes_to + before.bytes_from + slack {
        found(Kind::Transfers, "more bytes are moved".to_owned());
    }
    // The same bytes under another name are no more: the runtime names members differently in each kind of construct.
    let same = (before.bytes_to, before.bytes_from) == (after.bytes_to, after.bytes_from);
    // What the original keeps on the device comes back in no output; to the device an array of the region's own may go.
    // What has no name in the original's log may have one in the output's.
    let unnamed = |large: &BTreeMap<String, u64>| large.get(UNNAMED).copied().unwrap_or(0);
    // Pointers that change places, arguments and parameters name the same data: only the bytes of all can be compared.
    let of_all = |large: &BTreeMap<String, u64>, name: &str| -> u64 {
        names_of_the_same([before, after], name).iter().filter_map(|name| large.get(name)).sum()
    };
    let moved = |traffic: &Traffic, name: &str| of_all(&traffic.large_to, name) + of_all(&traffic.large_from, name);
    let grows = |name: &String| {
        let known = unnamed(&before.large_to) + unnamed(&before.large_from);
        name != UNNAMED && moved(after, name) > moved(before, name) + known
    };
    let back = after.large_from.keys().find(|name| grows(name));
    let mut known = after.large_to.keys().filter(|name| before.large_to.contains_key(*name));
    let there = known.find(|name| grows(name));
    if let Some(name) = back.or(there).filter(|_| !same) {
        found(Kind::Transfers, format!("`{name}` moves more"));
    }
    if before.kernels == 0 && after.kernels > 0 {
        found(Kind::Kernels, "what the host executed goes to the device".to_owned());
    }
    findings
}

/// The names that lead to the same data as this one in either run, at once or by way of others.
fn names_of_the_same(runs: [&Traffic; 2], name: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::from([name.to_owned()]);
    loop {
        let known = names.len();
        let more: Vec<String> = names.iter().flat_map(|name| runs.iter().flat_map(|run| run.names_of(name))).collect();
        names.extend(more);
        if names.len() == known {
            return names;
        }
    }
}

/// The last lines of a message.
fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines.get(lines.len().saturating_sub(8)..).unwrap_or_default().join("\n")
}
