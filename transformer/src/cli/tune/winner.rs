//! What won, and its way into the source and the configuration.

use std::io;
use std::path::{Path, PathBuf};

use super::arguments::TuneCommand;
use super::{Read, entries, table};
use crate::cli::tuned::TunedKernel;
use crate::cli::{Status, Streams, complain, uncommitted};
use crate::output;
use crate::plan::instructions::LoopHash;
use crate::source::SourceFile;
use crate::tune::choices::{Choice, Form, Plan};
use crate::tune::decision::Row;
use crate::tune::space::Space;
use crate::tune::store::Measurement;
use crate::tune::task::{ClockKind, tuned_lines};

/// A text to be written, and where it comes from.
pub(super) struct Winner {
    file: SourceFile,
    text: Vec<u8>,
    measurement: Measurement,
    /// What is written down of each kernel.
    entries: Vec<(LoopHash, TunedKernel)>,
    /// The configuration that holds for the file; `None` where there is none yet.
    config: Option<PathBuf>,
    /// May a configuration be written?
    has_config: bool,
    require_clean: bool,
    /// The texts of plans that are faults of this tool.
    faults: Vec<Vec<u8>>,
}

impl Winner {
    /// The text of the plan that was chosen, with the entries for its kernels.
    pub(super) fn of(read: &Read, space: &Space, measurement: Measurement) -> Result<Self, String> {
        let text = |plan: &Plan| space.text(read.source(), plan).map_err(|error| error.to_string());
        let outcome = &measurement.outcome;
        let written = text(&outcome.plan)?;
        let is_like_base = outcome.plan != Plan::Original || space.is_base(&read.file.text);
        let lines = tuned_lines(space, &written, is_like_base);
        let hash_at = |line: usize| written.kernels.iter().find(|(at, _)| *at == line).map(|(_, hash)| hash.clone());
        let mut entries = Vec::new();
        for (index, row) in outcome.rows.iter().enumerate() {
            let own = lines.get(index).into_iter().flatten();
            let kernel = entry(read, &measurement, outcome.plan.choice(index), row);
            entries.extend(own.filter_map(|line| hash_at(*line)).map(|hash| (hash, kernel.clone())));
        }
        if !is_like_base {
            // Other passes would make other kernels of it, and none of them was better: all of it stays.
            let kept = TunedKernel { ratio: Some(1.0), ..entry(read, &measurement, None, &no_row()) };
            entries.extend(written.kernels.iter().map(|(_, hash)| (hash.clone(), kept.clone())));
        }
        entries.dedup_by(|one, other| one.0 == other.0);
        let faults = outcome.faults.iter().map(|(plan, _)| Ok(text(plan)?.text)).collect::<Result<_, String>>()?;
        Ok(Self {
            file: read.file.clone(),
            text: written.text,
            entries,
            config: read.config.clone(),
            has_config: !read.ignores_config,
            require_clean: read.settings.require_clean,
            measurement,
            faults,
        })
    }

    /// Writes or shows it, and tells all.
    pub(super) fn finish(self, command: &TuneCommand, streams: &mut Streams<'_>) -> io::Result<Status> {
        let is_changed = self.text != self.file.text;
        let mut notes = Vec::new();
        if command.diff {
            if is_changed {
                let colour = streams.stdout_colour;
                let diff = output::unified(&self.file.path, &self.file.text, &self.text, colour);
                streams.stdout.write_all(&diff)?;
            }
        } else {
            match self.write(command, is_changed) {
                Ok(said) => notes.extend(said),
                Err(message) => return complain(streams, &message),
            }
        }
        for (number, text) in self.faults.iter().enumerate() {
            let path = PathBuf::from(format!("ompsplit-tune-fault-{}.diff", number + 1));
            let diff = output::unified(&self.file.path, &self.file.text, text, false);
            let kept = std::fs::write(&path, diff);
            let what = kept.map_or_else(|error| error.to_string(), |()| "holds the change".to_owned());
            notes.push(format!(
                "a result differs that should not, a fault of this tool, unless floating-point numbers are summed up in the order that a grid \
                 gives (then say how far they may differ: --verify-tolerance); {} {what}",
                path.display()
            ));
        }
        table::tell(&self.measurement, command, Some((&self.file.path, is_changed)), streams)?;
        for note in notes {
            writeln!(streams.stderr, "ompsplit: note: {note}")?;
        }
        Ok(match (self.faults.is_empty(), command.diff && is_changed) {
            (false, _) => Status::Failure,
            (_, true) => Status::Findings,
            _ => Status::Clean,
        })
    }

    /// Writes the source and the configuration; gives what is to be known of it.
    fn write(&self, command: &TuneCommand, is_changed: bool) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        let path = &self.file.path;
        if is_changed {
            let dirty = uncommitted::uncommitted(std::iter::once(path.as_path()));
            if self.require_clean && !dirty.is_empty() {
                return Err(format!("{}: {}", path.display(), uncommitted::REFUSED));
            }
            let losses = output::replace(path, &self.file.text, &self.text)
                .map_err(|error| format!("{} {error}", path.display()))?;
            notes.extend(losses.into_iter().map(|loss| format!("{}: {loss}", path.display())));
        }
        if !self.has_config {
            notes
                .push("--no-config: nothing is written down of what was found, and passes may choose again".to_owned());
            return Ok(notes);
        }
        let config = self.config.clone().unwrap_or_else(|| {
            command.project.as_deref().unwrap_or(Path::new(".")).join(crate::cli::config::FILE_NAME)
        });
        entries::write(&config, path, &self.entries)?;
        notes.push(format!("{} holds what was found of {} kernels", config.display(), self.entries.len()));
        Ok(notes)
    }
}

/// What is written down of a kernel.
fn entry(read: &Read, measurement: &Measurement, choice: Option<Choice>, row: &Row) -> TunedKernel {
    let plain = Choice::Told { form: Form::Plain, grid: None };
    let form = match choice {
        None => "as it stood".to_owned(),
        Some(choice) if choice == plain => "no grid of this tool".to_owned(),
        Some(choice) => choice.to_string(),
    };
    let times = row.present_us.zip(row.best.as_ref().and_then(|best| best.median_us));
    let ratio = times.filter(|(_, best)| *best > 0.0).map_or(1.0, |(present, best)| present / best);
    let outcome = &measurement.outcome;
    TunedKernel {
        file: read.file.path.clone(),
        device: measurement.device.clone(),
        date: measurement.date.clone(),
        form,
        ratio: (outcome.runs > 0).then(|| (ratio * 1000.0).round() / 1000.0),
        clock: match outcome.clock {
            _ if outcome.runs == 0 => "kernel tuner".to_owned(),
            ClockKind::Device => "device".to_owned(),
            ClockKind::Wall => "wall".to_owned(),
        },
    }
}

fn no_row() -> Row {
    Row { line: 0, candidates: 0, present_us: None, passes_us: None, best: None, measured: Vec::new() }
}
