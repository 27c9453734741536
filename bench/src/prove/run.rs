//! `prove run`: runs every binary as a process of its own, many at a time, and judges what they did.
//!
//! Processes share the GPU but no memory, so that none can disturb another. Where something is not as it should be, all texts
//! of the program run again, with few others beside them, and the original on the host.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::judge::{self, End, Run, Runs};
use super::manifest::{Built, Manifest, Program};
use super::results::{Head, Outcome, Proof, SCHEMA};
use crate::parallel;
use crate::run::{machine, process};

/// How often the texts of a program run again where something is wrong.
const AGAIN: usize = 3;

/// Threads of the host for each process.
const HOST_THREADS: &str = "4";

/// What `prove run` is asked for.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// What was built: the folder with `manifest.json`
    #[arg(long, default_value = "target/proof/tree")]
    pub tree: PathBuf,
    /// The result file
    #[arg(long, default_value = "proof.json")]
    pub out: PathBuf,
    /// How many processes run at a time; half as many as the machine has processors by default, since the driver makes them wait for each other
    #[arg(long)]
    pub jobs: Option<usize>,
    /// How long one process may take
    #[arg(long, default_value_t = 10)]
    pub seconds: u64,
    /// Only programs whose name holds this text
    #[arg(long, default_value = "")]
    pub only: String,
}

/// Runs and compares everything. `false` means that an output does something else than its original.
pub fn run(options: &Options) -> Result<bool> {
    let start = Instant::now();
    let date = jiff::Timestamp::now();
    let mut manifest = Manifest::read(&options.tree)?;
    manifest.programs.retain(|program| program.name.contains(&options.only));
    anyhow::ensure!(!manifest.programs.is_empty(), "no program has `{}` in its name", options.only);
    let device = machine::device(&manifest.architecture)?;
    let runner = Runner { tree: &options.tree, seconds: options.seconds, processes: AtomicUsize::new(0) };
    let programs = runner.prove(&manifest.programs, options.jobs.unwrap_or_else(|| parallel::cores().div_ceil(2)))?;
    let proof = Proof {
        head: Head {
            schema: SCHEMA,
            date: format!("{date:.0}"),
            command: command(options),
            commit: manifest.commit,
            compiler: manifest.compiler,
            generated: manifest.generated,
            seed: manifest.seed,
            device,
            seconds: start.elapsed().as_secs_f64().round(),
            processes: runner.processes.into_inner(),
            sets: manifest.sets,
        },
        programs,
    };
    proof.write(&options.out)?;
    Ok(told(&proof))
}

/// Prints all that is not as it should be; an original that fails is no fault of the tool.
fn told(proof: &Proof) -> bool {
    let mut good = true;
    for program in &proof.programs {
        if let Some(exception) = program.original.exception() {
            println!("original {}: {exception}", program.name);
        }
        for (set, verdict) in program.outputs.iter().enumerate() {
            if let Some(exception) = verdict.exception() {
                println!("FAILED {} {}: {exception}", program.name, proof.set_name(set));
                good = false;
            }
        }
    }
    let ran = proof.programs.iter().filter(|program| program.original.is_reference()).count();
    println!("{ran} programs compared, {} processes, {} s", proof.head.processes, proof.head.seconds);
    good
}

/// The command that repeats the run, without the paths of this machine.
fn command(options: &Options) -> String {
    let mut command = "prove run".to_owned();
    if let Some(jobs) = options.jobs {
        command = format!("{command} --jobs {jobs}");
    }
    if options.seconds != 10 {
        command = format!("{command} --seconds {}", options.seconds);
    }
    if !options.only.is_empty() {
        command = format!("{command} --only {}", options.only);
    }
    command
}

/// Where target regions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On the device.
    Device,
    /// On the host, with one thread.
    Host,
}

struct Runner<'a> {
    tree: &'a Path,
    seconds: u64,
    processes: AtomicUsize,
}

impl Runner<'_> {
    /// What becomes of each program.
    fn prove(&self, programs: &[Program], jobs: usize) -> Result<Vec<Outcome>> {
        let texts: Vec<(usize, usize)> = programs
            .iter()
            .enumerate()
            .flat_map(|(place, program)| (0..program.texts.len()).map(move |text| (place, text)))
            .collect();
        let first = parallel::map(&texts, jobs, |(place, text)| self.run_text(&programs[*place], *text))?;
        let mut runs: Vec<Runs> =
            programs.iter().map(|program| Runs { texts: vec![Vec::new(); program.texts.len()], host: None }).collect();
        for ((place, text), run) in texts.iter().zip(first) {
            runs[*place].texts[*text].extend(run);
        }
        let odd: Vec<usize> = (0..programs.len()).filter(|place| !runs[*place].are_clear()).collect();
        println!("{} programs run again", odd.len());
        let again = parallel::map(&odd, jobs.div_ceil(4), |place| {
            let program = &programs[*place];
            Ok((self.again(program)?, self.attempt(program, 0, Place::Host)?))
        })?;
        for (place, (again, host)) in odd.into_iter().zip(again) {
            let runs = &mut runs[place];
            runs.texts.iter_mut().zip(again).for_each(|(runs, again)| runs.extend(again));
            runs.host = host;
        }
        Ok(programs.iter().zip(&runs).map(|(program, runs)| judge::outcome(program, runs)).collect())
    }

    /// Further runs of each text; what does not end is not tried more than once.
    fn again(&self, program: &Program) -> Result<Vec<Vec<Run>>> {
        let texts = 0..program.texts.len();
        texts
            .map(|text| {
                let mut runs = Vec::new();
                for _ in 0..AGAIN {
                    runs.extend(self.run_text(program, text)?);
                    if runs.last().is_none_or(|run| matches!(run.end, End::TooLate(_))) {
                        break;
                    }
                }
                Ok(runs)
            })
            .collect()
    }

    /// One run of a text where it belongs: of what an original with a race may give, what the host gives is what its author
    /// meant, as in the tests.
    fn run_text(&self, program: &Program, text: usize) -> Result<Option<Run>> {
        self.attempt(program, text, if program.racy && text == 0 { Place::Host } else { Place::Device })
    }

    /// One run of a text; nothing where there is no binary.
    fn attempt(&self, program: &Program, text: usize, place: Place) -> Result<Option<Run>> {
        let Some(Built::Binary(binary)) = program.texts.get(text) else { return Ok(None) };
        let mut command = process::command(self.tree, binary)?;
        command.env("OMP_NUM_THREADS", HOST_THREADS);
        if place == Place::Host {
            command.envs([("OMP_TARGET_OFFLOAD", "DISABLED"), ("OMP_NUM_THREADS", "1"), ("OMP_NUM_TEAMS", "1")]);
        }
        let number = self.processes.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(100) {
            println!("{number} processes");
        }
        watch(&mut command, self.seconds).with_context(|| format!("cannot run {binary}")).map(Some)
    }
}

/// Runs a command to its end, or until it has taken too long. What it prints goes into files, so that it never waits for a
/// reader.
fn watch(command: &mut Command, seconds: u64) -> Result<Run> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn()?;
    let end = match wait(&mut child, Duration::from_secs(seconds))? {
        Some(status) => End::Status(described(status)),
        None => {
            child.kill()?;
            // A process that the driver holds back may not even end now; the others go on.
            wait(&mut child, Duration::from_secs(5))?;
            End::TooLate(seconds)
        }
    };
    let complaint = complaint(&content(&mut stderr)?);
    Ok(Run { stdout: content(&mut stdout)?, end, complaint })
}

/// The status of a process that ends in time.
fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || start.elapsed() > patience {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn content(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn described(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

/// The line that says most of what is wrong, without the addresses that differ each time.
fn complaint(stderr: &str) -> String {
    let telling = ["CUDA error", "Assertion", "error:", "ERROR:"];
    let line = telling.iter().find_map(|word| stderr.lines().find(|line| line.contains(word)));
    let line = line.or_else(|| stderr.lines().last().filter(|line| !line.starts_with("== "))).unwrap_or_default();
    line.split_whitespace().filter(|word| !word.contains("0x")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: u64) -> Result<Run> {
        watch(Command::new("sh").args(["-c", script]), seconds)
    }

    #[test]
    fn a_run_is_what_was_printed_and_how_it_ended() -> Result<()> {
        let run = shell("echo 1; echo 'x 0x7f error: at 0x10' >&2; exit 3", 20)?;
        assert_eq!((run.stdout.as_str(), run.complaint.as_str()), ("1\n", "x error: at"));
        assert_eq!(run.end, End::Status("exit 3".to_owned()));
        assert_eq!(shell("kill -6 $$", 20)?.end, End::Status("signal 6".to_owned()));
        Ok(())
    }

    #[test]
    fn what_does_not_end_is_ended() -> Result<()> {
        let run = shell("echo begun; while :; do :; done", 1)?;
        assert_eq!((run.stdout.as_str(), run.end), ("begun\n", End::TooLate(1)));
        Ok(())
    }
}
