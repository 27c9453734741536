//! `merge`: one result file from those of a run's parts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::results::Results;
use crate::run::part::Part;
use crate::run::write;

/// Joins the parts of one run, given in any order: those of `--part`, or runs of different programs.
pub fn merge(out: &Path, paths: &[PathBuf]) -> Result<()> {
    let all = paths.iter().map(|path| Results::read(path)).collect::<Result<_>>()?;
    write(&joined(all)?, out)
}

/// What of the whole run one command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Share {
    Part(Part),
    Programs(Vec<String>),
}

/// The command without its share, and the share.
fn split(command: &str) -> Result<(String, Share)> {
    if let Some((command, part)) = command.split_once(" --part ") {
        return Ok((command.to_owned(), Share::Part(part.parse()?)));
    }
    let (before, rest) = command.split_once(" --programs ").context("a command has neither --part nor --programs")?;
    let (programs, behind) = rest.split_once(' ').map_or((rest, String::new()), |(it, rest)| (it, format!(" {rest}")));
    Ok((format!("{before}{behind}"), Share::Programs(programs.split(',').map(str::to_owned).collect())))
}

fn joined(all: Vec<Results>) -> Result<Results> {
    let mut parts: Vec<(String, Share, Results)> = Vec::new();
    for results in all {
        let (command, share) = split(&results.command)?;
        parts.push((command, share, results));
    }
    parts.sort_by_key(|(_, share, _)| number(share));
    let plain = parts.first().map(|(command, ..)| command.clone()).context("no parts")?;
    ensure!(parts.iter().all(|(other, ..)| *other == plain), "the parts are not of one command");
    let shares: Vec<&Share> = parts.iter().map(|(_, share, _)| share).collect();
    let command = whole(&plain, &shares)?;
    let mut parts = parts.into_iter().map(|(_, _, results)| results);
    let mut all = parts.next().context("no parts")?;
    for part in parts {
        let same = part.commit == all.commit && part.compiler == all.compiler && part.passes == all.passes;
        ensure!(same, "the parts are not of one build");
        ensure!(part.device == all.device, "the parts ran on different machines");
        all.seconds += part.seconds;
        all.cases.extend(part.cases);
    }
    all.command = command;
    Ok(all)
}

fn number(share: &Share) -> usize {
    match share {
        Share::Part(part) => part.number,
        Share::Programs(_) => 0,
    }
}

/// The command of all shares together, if they make a whole.
fn whole(plain: &str, shares: &[&Share]) -> Result<String> {
    if let Some(Share::Part(Part { of, .. })) = shares.first() {
        let all: Vec<Share> = (1..=*of).map(|number| Share::Part(Part { number, of: *of })).collect();
        ensure!(all.iter().eq(shares.iter().copied()), "of {of} parts, these are given: {shares:?}");
        return Ok(format!("{plain} --part K/{of}, K = 1 .. {of}"));
    }
    let mut programs: Vec<&str> = Vec::new();
    for share in shares {
        let Share::Programs(own) = share else { anyhow::bail!("parts and programs cannot be joined") };
        ensure!(own.iter().all(|name| !programs.contains(&name.as_str())), "a program is there twice");
        programs.extend(own.iter().map(String::as_str));
    }
    Ok(format!("{plain} --programs {}, one after the other", programs.join(",")))
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
        joined(all.iter().map(|(command, commit)| results(command, commit)).collect())
    }

    #[test]
    fn only_all_parts_of_one_run_make_a_whole() -> Result<()> {
        let whole = merged(&[("run --part 2/2", "a"), ("run --part 1/2", "a")])?;
        assert_eq!((whole.command.as_str(), whole.seconds), ("run --part K/2, K = 1 .. 2", 4.0));
        let whole = merged(&[("run --programs b,c --rounds 3", "a"), ("run --programs a --rounds 3", "a")])?;
        assert_eq!(whole.command, "run --rounds 3 --programs b,c,a, one after the other");
        for wrong in [
            &[("run --part 1/2", "a")][..],
            &[("run --part 1/2", "a"), ("run --part 1/2", "a")],
            &[("run --part 1/2", "a"), ("run --part 2/3", "a")],
            &[("run --part 1/2", "a"), ("run --part 2/2", "b")],
            &[("run --quick --part 1/2", "a"), ("run --part 2/2", "a")],
            &[("run", "a")],
            &[("run --programs a", "a"), ("run --programs b,a", "a")],
            &[("run --programs a", "a"), ("run --programs b --rounds 3", "a")],
            &[("run --part 1/1", "a"), ("run --programs b", "a")],
            &[],
        ] {
            assert!(merged(wrong).is_err(), "{wrong:?}");
        }
        Ok(())
    }
}
