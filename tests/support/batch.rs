//! Compares many small programs with their outputs in a few compiler runs: each is a function, and one file holds many.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ompsplit::validate::host::{Geometry, Traffic, harden};

use super::diff;
use super::fixtures::Fixture;
use super::generator::{HEAD, batch_main};
use super::oracle::{BYTES_PER_KERNEL, Finding, Kind, LOGGED};
use super::program::{Builder, GEOMETRIES, Program};

/// A program and what was made of it, without the file's head and `main`.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the names of the output end with: `17`, `17m2`.
    pub id: String,
    /// The same for the original, which several jobs may share.
    pub origin: String,
    pub original: String,
    pub output: String,
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
    let shared = batch.run(&before, &all_origins, first, false)?;
    let spread = |sections: &[Section]| places.iter().map(|place| sections[*place].clone()).collect::<Vec<Section>>();
    let reference = spread(&shared);
    for (section, findings) in reference.iter().zip(&mut findings) {
        if section.end != "exit 0" {
            let text = format!("it ends with {}\n{}", section.end, section.log);
            findings.push(Finding { kind: Kind::Original, text });
        }
    }
    for (geometry, repetitions) in GEOMETRIES {
        for _ in 0..*repetitions {
            let sections = spread(&batch.run(&before, &all_origins, *geometry, false)?);
            compare_sections(&sections, &reference, Kind::Original, *geometry, &mut findings);
        }
    }
    // A map that is missing aborts in any grid.
    batch.results(&present, &reference, Kind::MissingMap, &[(first, 1), (LOGGED, 1)], &mut findings)?;
    batch.results(&after, &reference, Kind::Results, GEOMETRIES, &mut findings)?;
    if !settings.first_only || findings.iter().any(Vec::is_empty) {
        let before = spread(&batch.run(&before, &all_origins, LOGGED, true)?);
        let wanted = batch.wanted(&findings);
        transfers(&before, &batch.run(&after, &wanted, LOGGED, true)?, &wanted, &mut findings);
    }
    Ok(findings)
}

struct Batch<'a> {
    builder: &'a Builder,
    settings: Settings<'a>,
    jobs: &'a [Job],
}

impl Batch<'_> {
    fn build(&self, variant: &str, parts: Vec<(String, String)>) -> Result<Program, String> {
        let (ids, parts): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        let text = format!("{HEAD}\n{}\n{}", parts.join("\n"), batch_main(&ids, self.settings.sizes));
        let path = PathBuf::from(if self.settings.cpp { "generated.cpp" } else { "generated.c" });
        let fixture = Fixture::new(self.settings.name, path, text.clone().into_bytes())?;
        // Nothing here is slow but the compiler.
        self.builder.build(&fixture, variant, text.as_bytes(), &["-O0"])
    }

    /// One program does not compile: finds out which.
    fn halved(&self, text: String) -> Result<Vec<Vec<Finding>>, String> {
        if self.jobs.len() == 1 {
            return Ok(vec![vec![Finding { kind: Kind::Build, text }]]);
        }
        let (one, two) = self.jobs.split_at(self.jobs.len() / 2);
        let mut all = compare(self.builder, self.settings, one)?;
        all.extend(compare(self.builder, self.settings, two)?);
        Ok(all)
    }

    /// What each program did. One that ends the process is passed over in a further run.
    fn run(&self, program: &Program, parts: &[bool], geometry: Geometry, log: bool) -> Result<Vec<Section>, String> {
        let mut sections = vec![Section::default(); parts.len()];
        let skipped = parts.iter().enumerate().filter(|(_, wanted)| !**wanted).map(|(place, _)| place.to_string());
        let skipped: Vec<String> = skipped.collect();
        let mut from = 0;
        while from < parts.len() {
            let arguments = [&[from.to_string()], &skipped[..]].concat();
            let run = program.run_parts(&arguments, geometry, log)?;
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
                    let sections = self.run(program, &wanted, *geometry, false)?;
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

/// Compares what the programs moved, and which pointers their kernels use unmapped.
fn transfers(before: &[Section], after: &[Section], wanted: &[bool], findings: &mut [Vec<Finding>]) {
    for (index, (before, after)) in before.iter().zip(after).enumerate().filter(|(index, _)| wanted[*index]) {
        let (before, after) = (Traffic::read(before.log.as_bytes()), Traffic::read(after.log.as_bytes()));
        let both = format!("before: {before}\nafter:  {after}");
        let unmapped: Vec<_> =
            after.unmapped.keys().filter(|name| !before.unmapped.contains_key(*name)).cloned().collect();
        if !unmapped.is_empty() {
            let text = format!("{}\n{both}", unmapped.join(", "));
            findings[index].push(Finding { kind: Kind::UnmappedPointer, text });
        }
        let slack = BYTES_PER_KERNEL * after.kernels as u64;
        if after.bytes_to > before.bytes_to + slack || after.bytes_from > before.bytes_from + slack {
            findings[index].push(Finding { kind: Kind::Transfers, text: both });
        }
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
