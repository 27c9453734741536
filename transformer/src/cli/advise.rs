//! `advise`: what a profile of a run says of the kernels of files.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use crate::advice::counters::Counter;
use crate::advice::places::{self, Construct};
use crate::advice::profile::{self, Profiled};
use crate::advice::rules::{Advice, Finding, Try, advise};
use crate::cli::arguments::{ColorWhen, ContextArguments, FormatName, HostArguments, OutputArguments, PassArguments};
use crate::cli::inputs::{self, Inputs};
use crate::cli::process;
use crate::cli::rewrite::STACK_BYTES;
use crate::cli::settings::Resolver;
use crate::cli::{Status, Streams, colour, complain, headers};
use crate::engine::{self, Kernel};
use crate::report::{self, Diagnostic, FileReport, Kind, PlanUse, Severity, Told};
use crate::source::{Scan, SourceFile, Span};

/// The most that a profile may hold.
const MOST_BYTES: u64 = 1 << 30;

/// What `advise` is given.
#[derive(Clone, Debug, clap::Args)]
pub struct AdviseCommand {
    /// The files, or folders of files, that the profiled program was compiled from
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// What `ncu --csv --page raw` printed, or `--page details`
    #[arg(long, value_name = "FILE", required = true)]
    pub counters: PathBuf,
    /// How the advice is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "full")]
    pub output_format: FormatName,
    /// Use colour; NO_COLOR in the environment turns `auto` off
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// What the files are read by.
    #[command(flatten)]
    pub context: ContextArguments,
}

/// Reads the profile and the files, and tells what one says of the other.
pub(super) fn run(command: &AdviseCommand, streams: &mut Streams<'_>) -> io::Result<Status> {
    // Trees are walked as deep as where files are rewritten.
    let told = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let worker = thread.spawn_scoped(scope, || Session::read(command).map(Session::told))?;
        worker.join().map_err(|_| io::Error::other("this tool failed"))
    });
    let told = match told {
        Ok(Ok(told)) => told,
        Ok(Err(message)) => return complain(streams, &message),
        Err(error) => return complain(streams, &error.to_string()),
    };
    let reports: Vec<&FileReport> = told.reports.iter().collect();
    let colour = colour(command.color, streams.stdout_colour);
    report::write(streams.stdout, command.output_format.into(), &reports, Told::All, colour)?;
    for note in &told.notes {
        writeln!(streams.stderr, "ompsplit: note: {note}")?;
    }
    Ok(if told.is_empty { Status::Findings } else { Status::Clean })
}

/// What is told.
struct Said {
    /// Of the files, and of the profile where kernels are of none of them.
    reports: Vec<FileReport>,
    notes: Vec<String>,
    /// Is no kernel of the profile one of the files?
    is_empty: bool,
}

/// The profile and the files.
struct Session {
    profile: SourceFile,
    profiled: Vec<Profiled>,
    files: Vec<(SourceFile, Vec<Kernel>)>,
    notes: Vec<String>,
}

impl Session {
    fn read(command: &AdviseCommand) -> Result<Self, String> {
        let path = &command.counters;
        let text = headers::read_bounded(path, MOST_BYTES).map_err(|error| format!("{}: {error}", path.display()))?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MOST_BYTES {
            return Err(format!("{}: holds more than {MOST_BYTES} bytes", path.display()));
        }
        let launches = profile::read(&text).map_err(|error| format!("{}:{error}", path.display()))?;
        let inputs = Inputs::find(&command.paths);
        let mut notes: Vec<String> =
            inputs.empty.iter().map(|folder| format!("{} holds no C or C++ file", folder.display())).collect();
        let (passes, output, host) = (PassArguments::default(), OutputArguments::default(), HostArguments::default());
        let resolver = Resolver::new(&command.context, &passes, &output, &host);
        let mut files = Vec::new();
        for (path, found) in &inputs.files {
            let failed = |error: String| format!("{}: {error}", path.display());
            found.clone().map_err(failed)?;
            if let Some(message) = inputs::not_a_source(path) {
                return Err(failed(message));
            }
            let settings = resolver.settings(path)?;
            let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
            let file = SourceFile::new(path, text);
            let loaded = headers::load(&file, &settings.include_dirs, &settings.sources);
            match engine::kernels(&file, &loaded.files, &process::options(&settings), &[]) {
                Ok(kernels) => files.push((file, kernels)),
                // Of many files one that cannot be read is no reason to say nothing of the others.
                Err(error) if inputs.files.len() > 1 => notes.push(failed(error.to_string())),
                Err(error) => return Err(failed(error.to_string())),
            }
        }
        let profile = SourceFile::new(path.clone(), text);
        Ok(Self { profile, profiled: profile::kernels(&launches), files, notes })
    }

    fn told(self) -> Said {
        let constructs: Vec<Construct<'_>> = self
            .files
            .iter()
            .flat_map(|(file, kernels)| kernels.iter().map(|kernel| Construct { file: &file.path, kernel }))
            .collect();
        let owners: Vec<usize> = self
            .files
            .iter()
            .enumerate()
            .flat_map(|(index, (_, kernels))| kernels.iter().map(move |_| index))
            .collect();
        let all: Option<f64> = self.profiled.iter().map(|kernel| kernel.time).sum();
        let mut reports: Vec<FileReport> = self.files.iter().map(|(file, _)| empty_report(file.clone())).collect();
        let mut profile = empty_report(self.profile);
        let mut seen = vec![false; constructs.len()];
        for kernel in &self.profiled {
            match places::find(&kernel.kernel, &constructs) {
                Ok(index) => {
                    let (Some(construct), Some(report)) =
                        (constructs.get(index), owners.get(index).and_then(|owner| reports.get_mut(*owner)))
                    else {
                        continue;
                    };
                    seen.iter_mut().skip(index).take(1).for_each(|one| *one = true);
                    let span = directive(&report.file, construct.kernel.extent);
                    report.diagnostics.push(message(kernel, construct.kernel, span, all));
                }
                Err(why) => profile.diagnostics.push(unknown(kernel, &why)),
            }
        }
        let found = seen.iter().filter(|seen| **seen).count();
        for report in &mut reports {
            report.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        }
        let mut notes = self.notes;
        if found < constructs.len() {
            notes.push(format!("{} of {} constructs are in this profile", found, constructs.len()));
        }
        reports.push(profile);
        Said { reports, notes, is_empty: found == 0 }
    }
}

fn empty_report(file: SourceFile) -> FileReport {
    FileReport::new(file, &Scan::default(), Vec::new(), false, PlanUse::default())
}

/// The first line of a construct.
fn directive(file: &SourceFile, extent: Span) -> Span {
    let rest = file.text.get(extent.start..extent.end).unwrap_or_default();
    let line = rest.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    Span::new(extent.start, extent.start + line.len())
}

fn diagnostic(message: String, span: Span, notes: Vec<String>) -> Diagnostic {
    let labels = Vec::new();
    Diagnostic {
        severity: Severity::Note,
        kind: Kind::Advice,
        code: None,
        message,
        span: Some(span),
        labels,
        notes,
        plan: None,
    }
}

/// A kernel that is of none of the files.
fn unknown(kernel: &Profiled, why: &str) -> Diagnostic {
    diagnostic(format!("no advice: the kernel `{}` {why}", kernel.kernel), kernel.at, Vec::new())
}

/// What limits a kernel and what to try, with what led there.
fn message(kernel: &Profiled, construct: &Kernel, span: Span, all: Option<f64>) -> Diagnostic {
    let advice = advise(&kernel.values);
    let mut notes = vec![launches(kernel, all)];
    for (index, finding) in advice.findings.iter().enumerate() {
        if index > 0 {
            notes.push(format!("also: {}", finding.limit.words()));
        }
        notes.push(format!("because: {}", finding.evidence.join(", ")));
        notes.extend(finding.tries.iter().map(|one| format!("try: {}", one.words())));
        notes.push(format!("source: {}", finding.sources.join("; ")));
    }
    if construct.reduces && advice.findings.iter().any(|finding| finding.tries.contains(&Try::Coarsen)) {
        notes.push("it has a `reduction`, which `coarsen` leaves alone".to_owned());
    }
    if !advice.missing.is_empty() {
        let mut sections: Vec<&str> = advice.missing.iter().map(|counter| counter.section()).collect();
        sections.sort_unstable();
        sections.dedup();
        notes.push(format!(
            "not in this profile, and would tell more: counters of {} (`ncu --set full --csv --page raw` prints all)",
            sections.join(", ")
        ));
    }
    diagnostic(headline(&advice), span, notes)
}

fn headline(advice: &Advice) -> String {
    match advice.findings.first() {
        Some(first) => {
            let Finding { limit, tries, .. } = first;
            let names: Vec<&str> = tries.iter().map(|one| one.name()).collect();
            let tries = if names.is_empty() { String::new() } else { format!("; try {}", names.join(", ")) };
            format!("this kernel is limited by {}{tries}", limit.words())
        }
        None if advice.missing.is_empty() => "nothing that was counted limits this kernel".to_owned(),
        None => "nothing that was counted tells what limits this kernel".to_owned(),
    }
}

/// How often it was launched, in which grid, and how long that took.
fn launches(kernel: &Profiled, all: Option<f64>) -> String {
    let of = |counter| kernel.values.get(&counter).copied();
    let mut text = match kernel.launches {
        1 => "1 launch".to_owned(),
        count => format!("{count} launches"),
    };
    if let Some(time) = kernel.time {
        let _written = write!(text, ", {time:.1} us");
        if let Some(all) = all.filter(|all| *all > 0.0) {
            let _written = write!(text, ", {:.1} % of what was profiled", 100.0 * time / all);
        }
    }
    if let Some((teams, threads)) = of(Counter::Teams).zip(of(Counter::Threads)) {
        let longest =
            if kernel.launches > 1 && kernel.time.is_some() { "; the longest one, which speaks for all," } else { "" };
        let with = if longest.is_empty() { "; " } else { " " };
        let has = if longest.is_empty() { "" } else { "has " };
        let _written = write!(text, "{longest}{with}{has}{teams} teams of {threads} threads");
    }
    text
}
