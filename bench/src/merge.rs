//! `merge`: one result file from those of a run's parts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::results::Results;
use crate::run::part::Part;
use crate::run::write;

/// Joins the parts of one run, given in any order.
pub fn merge(out: &Path, paths: &[PathBuf]) -> Result<()> {
    let mut parts = Vec::new();
    for path in paths {
        let results = Results::read(path)?;
        let (command, part) =
            split(&results.command).with_context(|| format!("{} is no part of a run", path.display()))?;
        parts.push((part, command, results));
    }
    write(&joined(parts)?, out)
}

/// The command without its part, and the part.
fn split(command: &str) -> Result<(String, Part)> {
    let (command, part) = command.split_once(" --part ").context("its command has no --part")?;
    Ok((command.to_owned(), part.parse()?))
}

fn joined(mut parts: Vec<(Part, String, Results)>) -> Result<Results> {
    parts.sort_by_key(|(part, ..)| part.number);
    let (of, command) = parts.first().map(|(part, command, _)| (part.of, command.clone())).context("no parts")?;
    let numbers: Vec<usize> = parts.iter().map(|(part, ..)| part.number).collect();
    ensure!(
        numbers == (1..=of).collect::<Vec<_>>() && parts.iter().all(|(part, ..)| part.of == of),
        "of {of} parts, these are given: {numbers:?}"
    );
    ensure!(parts.iter().all(|(_, other, _)| *other == command), "the parts are not of one command");
    let mut parts = parts.into_iter().map(|(_, _, results)| results);
    let mut all = parts.next().context("no parts")?;
    for part in parts {
        let same = part.commit == all.commit && part.compiler == all.compiler && part.passes == all.passes;
        ensure!(same, "the parts are not of one build");
        ensure!(part.device == all.device, "the parts ran on different machines");
        all.seconds += part.seconds;
        all.cases.extend(part.cases);
    }
    all.command = format!("{command} --part K/{of}, K = 1 .. {of}");
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Device, Limits, SCHEMA};

    fn results(command: &str, commit: &str) -> Results {
        let device =
            Device { name: String::new(), driver: String::new(), architecture: String::new(), host_threads: 1 };
        let limits = Limits {
            to_device_gb_s: 0.0,
            from_device_gb_s: 0.0,
            pageable_to_device_gb_s: 0.0,
            pageable_from_device_gb_s: 0.0,
            both_ways_gb_s: 0.0,
            device_memory_gb_s: 0.0,
            float_tflop_s: 0.0,
            launch_us: 0.0,
        };
        Results {
            schema: SCHEMA,
            date: String::new(),
            command: command.to_owned(),
            commit: commit.to_owned(),
            compiler: String::new(),
            device,
            limits,
            seconds: 2.0,
            passes: String::new(),
            cases: Vec::new(),
        }
    }

    fn merged(all: &[(&str, &str)]) -> Result<Results> {
        let part = |(command, commit): &(&str, &str)| {
            let (plain, part) = split(command)?;
            Ok((part, plain, results(command, commit)))
        };
        joined(all.iter().map(part).collect::<Result<_>>()?)
    }

    #[test]
    fn only_all_parts_of_one_run_make_a_whole() -> Result<()> {
        let whole = merged(&[("run --part 2/2", "a"), ("run --part 1/2", "a")])?;
        assert_eq!((whole.command.as_str(), whole.seconds), ("run --part K/2, K = 1 .. 2", 4.0));
        for wrong in [
            &[("run --part 1/2", "a")][..],
            &[("run --part 1/2", "a"), ("run --part 1/2", "a")],
            &[("run --part 1/2", "a"), ("run --part 2/3", "a")],
            &[("run --part 1/2", "a"), ("run --part 2/2", "b")],
            &[("run --quick --part 1/2", "a"), ("run --part 2/2", "a")],
            &[("run", "a")],
            &[],
        ] {
            assert!(merged(wrong).is_err(), "{wrong:?}");
        }
        Ok(())
    }
}
