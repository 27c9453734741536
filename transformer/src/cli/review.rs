//! `review`: goes through the proposed changes of files one by one, and writes those that are accepted.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::cli::arguments::{ContextArguments, HostArguments, OutputArguments, PassArguments};
use crate::cli::inputs::Inputs;
use crate::cli::pin_header::PinHeader;
use crate::cli::process::{self, Engine, Processed};
use crate::cli::settings::{Resolver, Settings};
use crate::cli::{Status, Streams, complain, explain, uncommitted};
use crate::edit::{Edit, EditSet};
use crate::engine::Changed;
use crate::output;
use crate::plan::{Applicability, Decision, Pass, Plan, RuleKind, figures};
use crate::source::SourceFile;

/// What `review` is given.
#[derive(Clone, Debug, clap::Args)]
pub struct ReviewCommand {
    /// Files or folders, as for rewriting
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// What is done.
    #[command(flatten)]
    pub passes: PassArguments,
    /// What the decisions may rest on.
    #[command(flatten)]
    pub context: ContextArguments,
}

const HELP: &str = "  y  accept        n  leave it as it is this time
  k  keep it so: put `// ompsplit off` around it
  e  explain       q  stop; what was accepted is written
";

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accept,
    Skip,
    Suppress,
    Quit,
}

/// Reviews all files.
pub(super) fn run(command: &ReviewCommand, streams: &mut Streams<'_>, engine: Engine) -> io::Result<Status> {
    let (output, host) = (OutputArguments::default(), HostArguments::default());
    let resolver = Resolver::new(&command.context, &command.passes, &output, &host);
    let Streams { stdin, stdout, stderr, stdout_colour, .. } = streams;
    let mut review = Review {
        answers: BufReader::new(&mut **stdin),
        out: &mut **stdout,
        colour: *stdout_colour,
        has_quit: false,
        notes: Vec::new(),
    };
    let (mut written, mut status) = (0, Status::Clean);
    for (path, found) in Inputs::find(&command.paths).files {
        if review.has_quit {
            break;
        }
        match found.and_then(|()| resolver.settings(&path)).map(|settings| review.file(&path, settings, engine)) {
            Ok(Ok(Ok(changed))) => written += usize::from(changed),
            Ok(Ok(Err(message))) | Err(message) => {
                writeln!(stderr, "ompsplit: error: {}: {message}", path.display())?;
                status = Status::Failure;
            }
            Ok(Err(error)) => return Err(error),
        }
    }
    let notes = std::mem::take(&mut review.notes);
    drop(review);
    for note in notes {
        writeln!(stderr, "ompsplit: note: {note}")?;
    }
    if status == Status::Failure {
        return complain(streams, "not every file could be reviewed");
    }
    let files = if written == 1 { "file was" } else { "files were" };
    writeln!(streams.stderr, "\n{written} {files} written")?;
    Ok(status)
}

/// A conversation.
struct Review<'a> {
    answers: BufReader<&'a mut dyn io::Read>,
    out: &'a mut dyn io::Write,
    colour: bool,
    has_quit: bool,
    /// What is said at the end.
    notes: Vec<String>,
}

/// A proposal by what it is about. Constructs that read alike have the same one, and are told apart by their order.
type Key = (Pass, String, String);

impl Review<'_> {
    /// Reviews one file; was it written?
    fn file(&mut self, path: &Path, settings: Settings, engine: Engine) -> io::Result<Result<bool, String>> {
        let mut settings = Settings { explain: true, ..settings };
        let first = process::path(path, &settings, engine);
        let original = first.report.file.clone();
        // Before anything is asked: answers to what cannot be written would be lost.
        let dirty = uncommitted::uncommitted(first.text.iter().map(|_| path));
        if settings.require_clean && !dirty.is_empty() {
            return Ok(Err(uncommitted::REFUSED.to_owned()));
        }
        let mut left: BTreeMap<Key, usize> = BTreeMap::new();
        let mut round = first;
        // What is accepted makes room for further passes, until nothing new is proposed.
        loop {
            if round.failed {
                let said = round.report.diagnostics.first();
                return Ok(Err(said.map_or_else(String::new, |said| said.message.clone())));
            }
            let (edits, plans) = self.round(&round, &mut left)?;
            let text = edits.apply(&round.report.file.text);
            if edits.is_empty() || self.has_quit {
                let header = PinHeader::of(
                    &original,
                    Some(&text).filter(|text| **text != original.text).map(|v| &**v),
                    &settings,
                );
                let wrote = header.write(&original);
                let wrote = wrote.and_then(|_| output::replace(path, &original.text, &text).map_err(|e| e.to_string()));
                let is_new = text != original.text;
                self.notes.extend(uncommitted::note(&dirty).filter(|_| is_new));
                return Ok(wrote.map(|_| is_new));
            }
            settings.earlier.push(Changed::new(plans.into_iter(), &edits));
            round = process::file(SourceFile::new(path, text), &settings, engine);
        }
    }

    /// Asks for each proposal of a round; the edits that were accepted, and the plans that they carry out.
    fn round<'p>(
        &mut self,
        round: &'p Processed,
        left: &mut BTreeMap<Key, usize>,
    ) -> io::Result<(EditSet, Vec<&'p Plan>)> {
        let file = &round.report.file;
        let mut accepted: Vec<Edit> = Vec::new();
        let mut carried_out = Vec::new();
        // How many of those that were left in earlier rounds are still to come.
        let mut known = left.clone();
        let proposals = round.report.plans.iter().filter(|plan| {
            matches!(plan.decision, Decision::Apply(Applicability::Safe | Applicability::Assumed))
                && !plan.edits.is_empty()
        });
        for plan in proposals {
            let key = (plan.pass, file.show(plan.span).into_owned(), plan.summary.clone());
            // What meets an accepted change is proposed in the next round, if it still is then.
            let together = |edits: &[Edit]| EditSet::new(accepted.iter().chain(edits).cloned().collect());
            if let Some(count) = known.get_mut(&key).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            if self.has_quit || together(&plan.edits).is_err() {
                continue;
            }
            match self.ask(file, plan)? {
                Answer::Accept => {
                    accepted.extend(plan.edits.iter().cloned());
                    carried_out.push(plan);
                }
                Answer::Skip => *left.entry(key).or_default() += 1,
                Answer::Suppress => {
                    let comments = switched_off(file, plan);
                    match together(&comments) {
                        Ok(_) => accepted.extend(comments),
                        Err(_) => *left.entry(key).or_default() += 1,
                    }
                }
                Answer::Quit => self.has_quit = true,
            }
        }
        Ok((EditSet::new(accepted).unwrap_or_default(), carried_out))
    }

    /// Shows a proposal and waits for an answer. Whoever goes has answered.
    fn ask(&mut self, file: &SourceFile, plan: &Plan) -> io::Result<Answer> {
        let place = file.lines.line_column(plan.span.start);
        writeln!(self.out, "\n{}:{}: {}: {}", file.path.display(), place.line, plan.pass, plan.summary)?;
        if let Some(times) = plan.times {
            let [before, after] = [times.before, times.after].map(|time| figures::time(time as f64));
            writeln!(self.out, "  predicted: {before} now, {after} then")?;
        }
        for reason in &plan.reasons {
            let mark = if reason.code.kind() == RuleKind::Assumption { "! " } else { "  " };
            writeln!(self.out, "{mark}{} [{}]", reason.message, reason.code.id())?;
        }
        let after = EditSet::new(plan.edits.clone()).unwrap_or_default().apply(&file.text);
        self.out.write_all(&output::unified(&file.path, &file.text, &after, self.colour))?;
        loop {
            write!(self.out, "Accept? [y,n,k,e,q,?] ")?;
            self.out.flush()?;
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Ok(Answer::Quit);
            }
            match line.trim() {
                "y" => return Ok(Answer::Accept),
                "n" => return Ok(Answer::Skip),
                "k" => return Ok(Answer::Suppress),
                "q" => return Ok(Answer::Quit),
                "e" => explain::write_one(file, plan, self.out)?,
                _ => write!(self.out, "{HELP}")?,
            }
        }
    }
}

/// Comments that keep the tool away from a construct, on lines of their own.
fn switched_off(file: &SourceFile, plan: &Plan) -> Vec<Edit> {
    let line_start = |offset: usize| file.lines.line_start(file.lines.line_column(offset).line).unwrap_or(0);
    let start = line_start(plan.extent.start);
    let indent: String = file
        .show(crate::source::Span::new(start, plan.extent.start))
        .chars()
        .take_while(|c| c.is_whitespace())
        .collect();
    let last = file.lines.line_column(plan.extent.end.saturating_sub(1)).line;
    let end = file.line_ending().bytes();
    let (behind, before) = match file.lines.line_start(last + 1) {
        Some(next) => (next, ""),
        None => (file.text.len(), end),
    };
    vec![
        Edit::insertion(start, format!("{indent}// ompsplit off{end}")),
        Edit::insertion(behind, format!("{before}{indent}// ompsplit on{end}")),
    ]
}
