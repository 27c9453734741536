//! What the runs of a program say: which of its outputs do what it does.

use super::manifest::{Built, Output, Program};
use super::results::{Original, Outcome, Verdict};

/// What a process did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What it printed.
    pub stdout: String,
    /// How it ended.
    pub end: End,
    /// The line of stderr that says what was wrong.
    pub complaint: String,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// By itself, as `exit 0` or `signal 6`.
    Status(String),
    /// It was ended after so many seconds.
    TooLate(u64),
}

impl End {
    fn words(&self) -> String {
        match self {
            Self::Status(status) => status.clone(),
            Self::TooLate(seconds) => format!("no end after {seconds} s"),
        }
    }
}

impl Run {
    fn ended_well(&self) -> bool {
        self.end == End::Status("exit 0".to_owned())
    }

    fn is_like(&self, other: &Self) -> bool {
        self.stdout == other.stdout && self.end == other.end
    }

    /// How it ended, with what it complained of.
    fn described(&self) -> String {
        let colon = if self.complaint.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", self.end.words(), self.complaint)
    }
}

/// All runs of a program.
#[derive(Debug, Default)]
pub struct Runs {
    /// Those of each text; what the compiler refused has none.
    pub texts: Vec<Vec<Run>>,
    /// What the original does on the host alone, where that was asked for.
    pub host: Option<Run>,
}

impl Runs {
    /// Are the first runs all as they should be?
    pub fn are_clear(&self) -> bool {
        let Some(reference) = self.texts.first().and_then(|runs| runs.first()) else { return true };
        reference.ended_well() && self.texts.iter().flatten().all(|run| run.is_like(reference))
    }
}

/// What became of a program.
pub fn outcome(program: &Program, runs: &Runs) -> Outcome {
    let of_text = |text: usize| runs.texts.get(text).map_or(&[][..], Vec::as_slice);
    let mut original = original(program, of_text(0));
    let reference = settled(of_text(0)).first().copied().filter(|_| original == Original::Ran);
    let host = runs.host.as_ref().filter(|run| run.ended_well());
    let builds = !matches!(original, Original::DoesNotBuild(_));
    let judge = |output: &Output| match output {
        Output::Error(said) => Verdict::ToolFails(said.clone()),
        Output::Text(0) => Verdict::NotChanged,
        Output::Text(text) => match program.texts.get(*text) {
            Some(Built::Error(said)) if builds => Verdict::DoesNotBuild(said.clone()),
            Some(Built::Binary(_)) if builds => verdict(reference, host, &settled(of_text(*text))),
            _ => Verdict::NotCompared,
        },
    };
    let outputs: Vec<Verdict> = program.outputs.iter().map(judge).collect();
    if let (Some(reference), Some(host)) = (reference, host)
        && outputs.contains(&Verdict::AsHost)
    {
        original = Original::Wrong(difference(host, reference));
    }
    Outcome { name: program.name.clone(), original, outputs }
}

fn original(program: &Program, runs: &[Run]) -> Original {
    if !program.runnable {
        return Original::NotRunnable;
    }
    match program.texts.first() {
        None => return Original::NotChanged,
        Some(Built::Error(said)) => return Original::DoesNotBuild(said.clone()),
        Some(Built::Binary(_)) => {}
    }
    let runs = settled(runs);
    match runs[..] {
        [] => Original::Fails("it was not run".to_owned()),
        [first, ..] => match runs.iter().find(|run| !run.is_like(first)) {
            Some(other) => Original::Varies(difference(first, other)),
            None if first.ended_well() => Original::Ran,
            None => Original::Fails(first.described()),
        },
    }
}

/// What an output did, beside its original on the device, if that is a reference, and on the host.
fn verdict(reference: Option<&Run>, host: Option<&Run>, runs: &[&Run]) -> Verdict {
    let unlike = |expected: &Run| runs.iter().copied().filter(|run| !run.is_like(expected)).collect::<Vec<_>>();
    let wrong = reference.map_or(Vec::new(), unlike);
    if reference.is_some() && wrong.is_empty() {
        return Verdict::Same;
    }
    if host.is_some_and(|host| unlike(host).is_empty()) {
        return Verdict::AsHost;
    }
    let (Some(reference), Some(first)) = (reference, wrong.first()) else { return Verdict::NotCompared };
    let how = difference(reference, first);
    match wrong.len() {
        all if all == runs.len() => Verdict::Differs(how),
        some => Verdict::Varies(format!("in {some} of {} runs {how}", runs.len())),
    }
}

/// The runs that count: a program that was too late once, with many beside it, and ends alone is not wrong.
fn settled(runs: &[Run]) -> Vec<&Run> {
    let late = |run: &Run| matches!(run.end, End::TooLate(_));
    let always = runs.iter().all(late);
    runs.iter().filter(|run| always || !late(run)).collect()
}

/// What is different in the second run, in a line.
fn difference(expected: &Run, found: &Run) -> String {
    if expected.end != found.end {
        return format!("{} instead of {}", found.described(), expected.end.words());
    }
    let (mut before, mut after) = (expected.stdout.lines(), found.stdout.lines());
    for line in 1.. {
        match (before.next(), after.next()) {
            (None, None) => break,
            (one, other) if one == other => {}
            (one, other) => {
                let quoted =
                    |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("`{}`", line.trim()));
                return format!("line {line} is {} instead of {}", quoted(other), quoted(one));
            }
        }
    }
    "other ends of lines".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stdout: &str, end: &str) -> Run {
        let end = if end == "late" { End::TooLate(20) } else { End::Status(end.to_owned()) };
        Run { stdout: stdout.to_owned(), end, complaint: "it said why".to_owned() }
    }

    fn program(texts: usize) -> Program {
        let texts: Vec<Built> = (0..texts).map(|text| Built::Binary(text.to_string())).collect();
        let outputs = vec![Output::Text(0), Output::Text(1)];
        Program { name: "p.c".to_owned(), runnable: true, racy: false, texts, outputs }
    }

    fn judged(original: &[Run], output: &[Run]) -> Outcome {
        outcome(&program(2), &runs(original, output))
    }

    fn runs(original: &[Run], output: &[Run]) -> Runs {
        Runs { texts: vec![original.to_vec(), output.to_vec()], host: None }
    }

    #[test]
    fn the_same_is_the_same() {
        let good = [run("1\n", "exit 0")];
        assert!(runs(&good, &good).are_clear());
        let found = judged(&good, &good);
        assert_eq!(found.original, Original::Ran);
        assert_eq!(found.outputs, [Verdict::NotChanged, Verdict::Same]);
    }

    #[test]
    fn a_difference_is_named_by_its_first_line_or_its_end() {
        let good = [run("a\nb\n", "exit 0")];
        let other = [run("a\nc\n", "exit 0")];
        assert!(!runs(&good, &other).are_clear());
        let found = judged(&good, &other);
        assert_eq!(found.outputs[1], Verdict::Differs("line 2 is `c` instead of `b`".to_owned()));
        let found = judged(&good, &[run("a\n", "signal 6")]);
        assert_eq!(found.outputs[1], Verdict::Differs("signal 6: it said why instead of exit 0".to_owned()));
    }

    #[test]
    fn once_wrong_is_wrong_and_once_late_is_not() {
        let good = vec![run("a\n", "exit 0"); 4];
        let mut unsteady = good.clone();
        unsteady[3].stdout.clear();
        let found = judged(&good, &unsteady);
        assert_eq!(found.outputs[1], Verdict::Varies("in 1 of 4 runs line 1 is nothing instead of `a`".to_owned()));
        let mut late = good.clone();
        late[0] = run("", "late");
        assert_eq!(judged(&good, &late).outputs[1], Verdict::Same);
        assert_eq!(judged(&late, &good).original, Original::Ran);
    }

    #[test]
    fn an_original_that_fails_or_varies_is_no_reference() {
        let good = [run("a\n", "exit 0"), run("a\n", "exit 0")];
        let failing = [run("", "late")];
        assert!(!runs(&failing, &failing).are_clear());
        let found = judged(&failing, &good);
        assert_eq!(found.original, Original::Fails("no end after 20 s: it said why".to_owned()));
        assert_eq!(found.outputs[1], Verdict::NotCompared);
        let varying = [run("a\n", "exit 0"), run("b\n", "exit 0")];
        assert_eq!(judged(&varying, &good).original, Original::Varies("line 1 is `b` instead of `a`".to_owned()));
    }

    #[test]
    fn the_host_decides_between_an_original_and_an_output() {
        let (good, other) = (run("a\n", "exit 0"), run("b\n", "exit 0"));
        let on_host = |original: &Run, output: &Run, host: &Run| {
            let texts = vec![vec![original.clone()], vec![output.clone()]];
            let found = outcome(&program(2), &Runs { texts, host: Some(host.clone()) });
            (found.original, found.outputs[1].clone())
        };
        let wrong = Original::Wrong("line 1 is `b` instead of `a`".to_owned());
        assert_eq!(on_host(&other, &good, &good), (wrong, Verdict::AsHost));
        let differs = Verdict::Differs("line 1 is `b` instead of `a`".to_owned());
        assert_eq!(on_host(&good, &other, &good), (Original::Ran, differs.clone()));
        assert_eq!(on_host(&good, &other, &run("c\n", "exit 0")), (Original::Ran, differs));
        let failing = run("", "signal 6");
        assert_eq!(on_host(&failing, &good, &good).1, Verdict::AsHost);
        assert_eq!(on_host(&failing, &other, &good).1, Verdict::NotCompared);
        assert_eq!(on_host(&failing, &failing, &failing).1, Verdict::NotCompared);
    }

    #[test]
    fn what_was_not_built_is_told_apart() {
        let mut program = program(2);
        program.texts[1] = Built::Error("no".to_owned());
        assert_eq!(
            outcome(&program, &runs(&[run("a\n", "exit 0")], &[])).outputs[1],
            Verdict::DoesNotBuild("no".to_owned())
        );
        program.texts[0] = Built::Error("no".to_owned());
        let found = outcome(&program, &runs(&[], &[]));
        assert_eq!(found.original, Original::DoesNotBuild("no".to_owned()));
        assert_eq!(found.outputs[1], Verdict::NotCompared);
        program.texts.clear();
        program.outputs = vec![Output::Text(0), Output::Error("said".to_owned())];
        let found = outcome(&program, &Runs::default());
        assert_eq!(found.original, Original::NotChanged);
        assert_eq!(found.outputs, [Verdict::NotChanged, Verdict::ToolFails("said".to_owned())]);
    }
}
