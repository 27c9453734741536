//! Compares many small programs with their outputs in a few compiler runs: each is a function, and one file holds many.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ompsplit::validate::host::{Geometry, Traffic, harden};

use super::diff;
use super::fixtures::Fixture;
use super::generator::{HEAD, batch_main};
use super::oracle::{self, Finding, Kind, LOGGED};
use super::program::{Builder, GEOMETRIES, How, Program, with_late_tiles};

/// A program and what was made of it, without the file's head and `main`.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the names of the output end with: `17`, `17m2`.
    pub id: String,
    /// The same for the original, which several jobs may share.
    pub origin: String,
    pub original: String,
    pub output: String,
    /// Where the output is a mutant and races are looked for: what it was made of.
    pub sound: Option<String>,
}

/// What all jobs of a comparison have in common.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The folder that it is built in.
    pub name: &'a str,
    pub cpp: bool,
    /// `n` and `m` that each program runs with.
    pub sizes: &'a [(usize, usize)],
    /// Is one finding for each job enough?
    pub first_only: bool,
}

/// What one program of a file did in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Section {
    stdout: String,
    end: String,
    log: String,
}

/// What is wrong with each output, in the order of the jobs.
pub fn compare(builder: &Builder, settings: Settings<'_>, jobs: &[Job]) -> Result<Vec<Vec<Finding>>, String> {
    let batch = Batch { builder, settings, jobs };
    let mut findings = vec![Vec::new(); jobs.len()];
    let mut origins: Vec<&Job> = Vec::new();
    for job in jobs {
        if !origins.iter().any(|other| other.origin == job.origin) {
            origins.push(job);
        }
    }
    let places: Vec<usize> =
        jobs.iter().filter_map(|job| origins.iter().position(|other| other.origin == job.origin)).collect();
    let before = origins.iter().map(|job| (job.origin.clone(), job.original.clone())).collect();
    let before = match batch.build("before", before) {
        Ok(program) => program,
        Err(text) => return batch.halved(text),
    };
    let after = jobs.iter().map(|job| (job.id.clone(), job.output.clone())).collect();
    let after = match batch.build("after", after) {
        Ok(program) => program,
        Err(text) => return batch.halved(text),
    };
    let hardened = |job: &Job| {
        let (text, _) = harden(job.original.as_bytes(), job.output.as_bytes());
        (job.id.clone(), String::from_utf8_lossy(&text).into_owned())
    };
    let present = match batch.build("present", jobs.iter().map(hardened).collect()) {
        Ok(program) => program,
        Err(text) => return batch.halved(text),
    };
    let all_origins = vec![true; origins.len()];
    let first = GEOMETRIES.first().map_or(LOGGED, |(geometry, _)| *geometry);
    let shared = batch.run(&before, &all_origins, How::Grid(first))?;
    let spread = |sections: &[Section]| places.iter().map(|place| sections[*place].clone()).collect::<Vec<Section>>();
    let reference = spread(&shared);
    for (section, findings) in reference.iter().zip(&mut findings) {
        if section.end != "exit 0" {
            let text = format!("it ends with {}\n{}", section.end, section.log);
            findings.push(Finding { kind: Kind::Original, text });
        }
    }
    // Of mutants' originals the runs of one more grid show whether they have a single result.
    let again: &[(Geometry, usize)] = if settings.first_only { &[(LOGGED, 1)] } else { GEOMETRIES };
    for (geometry, repetitions) in again {
        for _ in 0..*repetitions {
            let sections = spread(&batch.run(&before, &all_origins, How::Grid(*geometry))?);
            compare_sections(&sections, &reference, Kind::Original, *geometry, &mut findings);
        }
    }
    // A map that is missing aborts in any grid.
    batch.results(&present, &reference, Kind::MissingMap, &[(first, 1), (LOGGED, 1)], &mut findings)?;
    batch.results(&after, &reference, Kind::Results, GEOMETRIES, &mut findings)?;
    if !settings.first_only || findings.iter().any(Vec::is_empty) {
        let before = spread(&batch.run(&before, &all_origins, How::Logged(LOGGED))?);
        let wanted = batch.wanted(&findings);
        let after = batch.run(&after, &wanted, How::Logged(LOGGED))?;
        batch.transfers(&before, &after, &wanted, &mut findings);
    }
    batch.late_tiles(&reference, first, &mut findings)?;
    if jobs.iter().any(|job| job.output.contains("nowait")) {
        let wanted = batch.wanted(&findings);
        let sections = batch.run(&after, &wanted, How::Late(LOGGED))?;
        compare_sections(&sections, &reference, Kind::Results, LOGGED, &mut findings);
    }
    batch.races(&mut findings)?;
    Ok(findings)
}

struct Batch<'a> {
    builder: &'a Builder,
    settings: Settings<'a>,
    jobs: &'a [Job],
}

impl Batch<'_> {
    fn build(&self, variant: &str, parts: Vec<(String, String)>) -> Result<Program, String> {
        let fixture = self.file(parts)?;
        // Nothing here is slow but the compiler.
        self.builder.build(&fixture, variant, &fixture.text, &["-O0"])
    }

    fn file(&self, parts: Vec<(String, String)>) -> Result<Fixture, String> {
        let (ids, parts): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        let parts = parts.join("\n");
        // What the output includes stands in the head, which its part leaves out.
        let header = if parts.contains("ompsplit_") { "#include \"ompsplit_pin.h\"\n" } else { "" };
        let text = format!("{HEAD}{header}\n{parts}\n{}", batch_main(&ids, self.settings.sizes));
        let path = PathBuf::from(if self.settings.cpp { "generated.cpp" } else { "generated.c" });
        Fixture::new(self.settings.name, path, text.into_bytes())
    }

    /// Compares the results where some tiles of pipelines begin late.
    fn late_tiles(
        &self,
        reference: &[Section],
        geometry: Geometry,
        findings: &mut [Vec<Finding>],
    ) -> Result<(), String> {
        let late = |job: &Job| {
            let text = with_late_tiles(job.output.as_bytes());
            text.map_or_else(|| job.output.clone(), |text| String::from_utf8_lossy(&text).into_owned())
        };
        let parts: Vec<(String, String)> = self.jobs.iter().map(|job| (job.id.clone(), late(job))).collect();
        if parts.iter().zip(self.jobs).all(|((_, late), job)| *late == job.output) {
            return Ok(());
        }
        let program = self.build("late", parts)?;
        self.results(&program, reference, Kind::Results, &[(geometry, 1), (LOGGED, 1)], findings)
    }

    /// Compares what the programs launched and moved, between each two marks of the log.
    fn transfers(&self, before: &[Section], after: &[Section], wanted: &[bool], findings: &mut [Vec<Finding>]) {
        let read =
            |log: &str| -> Vec<Traffic> { log.split("-- mark\n").map(|log| Traffic::read(log.as_bytes())).collect() };
        for (place, job) in self.jobs.iter().enumerate().filter(|(place, _)| wanted[*place]) {
            let before = read(&before[place].log);
            // The names of the original.
            let after = read(&after[place].log.replace(&format!("_c{}", job.id), &format!("_c{}", job.origin)));
            let found = before.iter().zip(&after).map(|(before, after)| oracle::traffic(before, after));
            findings[place].extend(found.filter(|found| !found.is_empty()).take(1).flatten());
        }
    }

    /// Looks for races of mutants that nothing else was found of, and that what they were made of does not have.
    fn races(&self, findings: &mut [Vec<Finding>]) -> Result<(), String> {
        let empty: Vec<bool> = findings.iter().map(Vec::is_empty).collect();
        let wanted = |(place, job): (usize, &Job)| empty[place] && job.sound.is_some();
        let wanted: Vec<bool> = self.jobs.iter().enumerate().map(wanted).collect();
        let racing = self.racing("threads", &wanted, |job| &job.output)?;
        let wrong = self.racing("threads-sound", &racing, |job| job.sound.as_ref().unwrap_or(&job.output))?;
        for (place, racing) in racing.iter().enumerate() {
            if *racing && !wrong[place] {
                let text = "the iterations of a new kernel race".to_owned();
                findings[place].push(Finding { kind: Kind::Race, text });
            }
        }
        Ok(())
    }

    /// Which of the wanted jobs' texts race.
    fn racing(&self, variant: &str, wanted: &[bool], text: impl Fn(&Job) -> &String) -> Result<Vec<bool>, String> {
        let mut found = vec![false; self.jobs.len()];
        let places: Vec<usize> = (0..self.jobs.len()).filter(|place| wanted[*place]).collect();
        if places.is_empty() {
            return Ok(found);
        }
        let copy = |place: &usize| {
            let job = &self.jobs[*place];
            let (text, _) = oracle::copy_for_threads(job.original.as_bytes(), text(job).as_bytes());
            (job.id.clone(), String::from_utf8_lossy(&text).into_owned())
        };
        let fixture = self.file(places.iter().map(copy).collect())?;
        let Ok(program) = self.builder.build_for_threads(&fixture, variant, &fixture.text) else {
            return Ok(found);
        };
        for (schedule, threads) in [("static,1", 4), ("dynamic,1", 3)] {
            let sections = self.run(&program, &vec![true; places.len()], How::Threads(schedule, threads))?;
            for (place, section) in places.iter().zip(&sections) {
                found[*place] |= section.log.contains(oracle::RACE);
            }
        }
        Ok(found)
    }

    /// One program does not compile: finds out which, and goes on with the others.
    fn halved(&self, text: String) -> Result<Vec<Vec<Finding>>, String> {
        if self.jobs.len() == 1 {
            return Ok(vec![vec![Finding { kind: Kind::Build, text }]]);
        }
        let mut all = Vec::new();
        for job in self.jobs {
            let fixture = self.file(vec![(job.id.clone(), job.output.clone())])?;
            let said = self.builder.errors(&fixture, &fixture.text)?;
            all.push(said.map(|text| vec![Finding { kind: Kind::Build, text }]));
        }
        let rest: Vec<Job> =
            self.jobs.iter().zip(&all).filter(|(_, found)| found.is_none()).map(|(job, _)| job.clone()).collect();
        let mut others = Vec::new();
        if rest.len() < self.jobs.len() && !rest.is_empty() {
            others = compare(self.builder, self.settings, &rest)?;
        } else if !rest.is_empty() {
            let (one, two) = rest.split_at(rest.len() / 2);
            others = compare(self.builder, self.settings, one)?;
            others.extend(compare(self.builder, self.settings, two)?);
        }
        let mut others = others.into_iter();
        Ok(all.into_iter().map(|found| found.or_else(|| others.next()).unwrap_or_default()).collect())
    }

    /// What each program did. One that ends the process is passed over in a further run.
    fn run(&self, program: &Program, parts: &[bool], how: How) -> Result<Vec<Section>, String> {
        let mut sections = vec![Section::default(); parts.len()];
        let skipped = parts.iter().enumerate().filter(|(_, wanted)| !**wanted).map(|(place, _)| place.to_string());
        let skipped: Vec<String> = skipped.collect();
        let mut from = 0;
        while from < parts.len() {
            let arguments = [&[from.to_string()], &skipped[..]].concat();
            let run = program.run_parts(&arguments, how)?;
            let stdout = split(&String::from_utf8_lossy(&run.stdout));
            let stderr = split(&run.stderr);
            for (place, text) in &stdout {
                let end = if text.ends_with("== end\n") { "exit 0".to_owned() } else { run.end.clone() };
                if let Some(section) = sections.get_mut(*place) {
                    *section =
                        Section { stdout: text.clone(), end, log: stderr.get(place).cloned().unwrap_or_default() };
                }
            }
            match stdout.last_key_value() {
                Some((last, _)) if *last >= from && run.end != "exit 0" => from = last + 1,
                _ => break,
            }
        }
        for (section, _) in
            sections.iter_mut().zip(parts).filter(|(section, wanted)| **wanted && section.end.is_empty())
        {
            section.end = "not begun".to_owned();
        }
        Ok(sections)
    }

    /// The jobs that are looked at still: where one finding is enough, those without.
    fn wanted(&self, findings: &[Vec<Finding>]) -> Vec<bool> {
        findings.iter().map(|findings| !self.settings.first_only || findings.is_empty()).collect()
    }

    fn results(
        &self,
        program: &Program,
        reference: &[Section],
        kind: Kind,
        geometries: &[(Geometry, usize)],
        findings: &mut [Vec<Finding>],
    ) -> Result<(), String> {
        for (geometry, repetitions) in geometries {
            for _ in 0..*repetitions {
                let wanted = self.wanted(findings);
                if wanted.iter().any(|wanted| *wanted) {
                    let sections = self.run(program, &wanted, How::Grid(*geometry))?;
                    compare_sections(&sections, reference, kind, *geometry, findings);
                }
            }
        }
        Ok(())
    }
}

fn compare_sections(
    sections: &[Section],
    reference: &[Section],
    kind: Kind,
    geometry: Geometry,
    findings: &mut [Vec<Finding>],
) {
    for (index, (section, expected)) in sections.iter().zip(reference).enumerate() {
        let same = section.stdout == expected.stdout && section.end == expected.end;
        // One that is not looked at any more was not run.
        let same = same || *section == Section::default();
        if same || findings[index].iter().any(|finding| finding.kind == kind) {
            continue;
        }
        let text = format!(
            "with {} teams of {} threads: {} instead of {}\n{}{}",
            geometry.teams,
            geometry.threads,
            section.end,
            expected.end,
            diff("expected", expected.stdout.as_bytes(), "printed", section.stdout.as_bytes()),
            last_lines(&section.log),
        );
        findings[index].push(Finding { kind, text });
    }
}

/// The parts of an output that follow `== number` lines.
fn split(text: &str) -> BTreeMap<usize, String> {
    let mut parts = BTreeMap::new();
    let mut current = None;
    for line in text.split_inclusive('\n') {
        if let Some(place) = line.strip_prefix("== ").and_then(|rest| rest.trim_end().parse::<usize>().ok()) {
            current = Some(place);
            parts.insert(place, String::new());
        } else if let Some(part) = current.and_then(|place| parts.get_mut(&place)) {
            part.push_str(line);
        }
    }
    parts
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines.get(lines.len().saturating_sub(6)..).unwrap_or_default().join("\n")
}
