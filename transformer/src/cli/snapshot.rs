//! `snapshot`: what is decided about each file, written down to be reviewed, or held against what was written down.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::cli::arguments::{ContextArguments, OutputArguments, PassArguments, Rewrite};
use crate::cli::process::{Engine, Processed};
use crate::cli::{Status, Streams, complain, rewrite};
use crate::output;
use crate::report::snapshot;

/// What `snapshot` is given.
#[derive(Clone, Debug, clap::Args)]
pub struct SnapshotCommand {
    /// Files or folders, as for rewriting; none is changed
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// The folder of the snapshots
    #[arg(short, long, value_name = "DIR", default_value = "ompsplit-snapshots")]
    pub output: PathBuf,
    /// Write nothing; print how the decisions differ from the snapshots, exit 1 if they do
    #[arg(long)]
    pub check: bool,
    /// What is done.
    #[command(flatten)]
    pub passes: PassArguments,
    /// What the decisions may rest on.
    #[command(flatten)]
    pub context: ContextArguments,
}

/// Writes or compares the snapshots of all files.
pub(super) fn run(command: &SnapshotCommand, streams: &mut Streams<'_>, engine: Engine) -> io::Result<Status> {
    let looked = OutputArguments { check: true, ..OutputArguments::default() };
    let (passes, context) = (command.passes.clone(), command.context.clone());
    let arguments = Rewrite { paths: command.paths.clone(), output: looked, passes, context, ..Rewrite::default() };
    let (all, notes) = match rewrite::processed(&arguments, false, engine) {
        Ok(found) => found,
        Err(message) => return complain(streams, &message),
    };
    for note in &notes {
        writeln!(streams.stderr, "ompsplit: note: {note}")?;
    }
    let (mut written, mut different) = (0, 0);
    for processed in &all {
        if processed.failed {
            let message = processed.report.diagnostics.first().map_or("", |said| &said.message);
            return complain(streams, &format!("{}: {message}", processed.report.file.path.display()));
        }
        let path = command.output.join(name_of(&processed.report.file.path));
        let (old, new) = (fs::read(&path).ok(), snapshot_of(processed));
        written += usize::from(new.is_some());
        if old == new {
            continue;
        }
        different += 1;
        if command.check {
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            streams.stdout.write_all(&output::unified(&path, &old, &new, false))?;
        } else if let Err(error) = store(&path, new.as_deref()) {
            return complain(streams, &format!("{}: {error}", path.display()));
        }
    }
    let what = if command.check { "differ from the snapshots" } else { "have another snapshot now" };
    writeln!(streams.stderr, "{different} of {written} files with constructs {what}")?;
    Ok(if command.check && different > 0 { Status::Findings } else { Status::Clean })
}

fn snapshot_of(processed: &Processed) -> Option<Vec<u8>> {
    let file = &processed.report.file;
    let diff = processed.text.as_ref().map(|text| output::unified(&file.path, &file.text, text, false));
    let diff = String::from_utf8_lossy(&diff.unwrap_or_default()).into_owned();
    snapshot::text(&processed.report, &diff).map(String::into_bytes)
}

/// Where the snapshot of a file lies in the folder: by its own path, without what would lead out.
fn name_of(file: &Path) -> PathBuf {
    let mut name = PathBuf::new();
    for part in file.components() {
        match part {
            Component::Normal(part) => name.push(part),
            Component::ParentDir => name.push("up"),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    name.as_mut_os_string().push(".snap");
    name
}

/// Puts a text at a path, or nothing where there is none.
fn store(path: &Path, text: Option<&[u8]>) -> io::Result<()> {
    let Some(text) = text else { return fs::remove_file(path) };
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    fs::write(path, text)
}
