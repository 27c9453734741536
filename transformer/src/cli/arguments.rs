//! The command line as clap reads it.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::advise::AdviseCommand;
use crate::cli::generate::Generate;
use crate::cli::help::{AFTER_HELP, CONFIGURATION};
use crate::cli::passes;
use crate::cli::pipeline::PipelineArguments;
use crate::cli::project_report::ReportCommand;
use crate::cli::review::ReviewCommand;
use crate::cli::snapshot::SnapshotCommand;
use crate::cli::tune::TuneCommand;
use crate::report::Format;

/// Rewrite OpenMP offload pragmas so that every kernel uses the whole device, or say why not.
#[derive(Debug, Parser)]
#[command(
    name = "ompsplit",
    version,
    after_help = AFTER_HELP,
    after_long_help = format!("{AFTER_HELP}\n\n{CONFIGURATION}"),
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// What to do instead of rewriting.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to rewrite and how.
    #[command(flatten)]
    pub rewrite: Rewrite,
}

/// The commands. A folder that is called like one is written `./rule`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the page of a rule, or list all rules
    Rule {
        /// The rule's id: OMPS104
        id: Option<String>,
    },
    /// Say what every pass decides about the constructs of a file, or at a line, and why
    Explain {
        /// The place: src/f.c, or src/f.c:120
        #[arg(value_name = "FILE[:LINE]")]
        place: String,
        /// What the decision may rest on.
        #[command(flatten)]
        context: ContextArguments,
        /// Also apply passes that rest on assumptions, or reorder sums, as for rewriting
        #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "stated")]
        assume: Vec<Assume>,
        /// The passes to ask, as for rewriting
        #[arg(long, value_name = "NAMES")]
        passes: Option<String>,
        /// How many iterations a loop is taken to have where the text does not tell, as for rewriting
        #[arg(long, value_name = "N")]
        assumed_iterations: Option<u32>,
        /// How many bytes of the device's memory data may take that stay on it, as for rewriting
        #[arg(long, value_name = "BYTES")]
        device_memory: Option<u64>,
        /// Write both forms where the lengths of loops decide, as for rewriting
        #[arg(long)]
        versioned: bool,
        /// Replace written grids that are far off, as for rewriting
        #[arg(long)]
        retune: bool,
        /// The device to choose grids for, as for rewriting
        #[arg(long, value_name = "NAME")]
        device: Option<String>,
        /// Whose types and names the decisions rest on, as for rewriting
        #[arg(long, value_enum, value_name = "SOURCE")]
        facts: Option<Facts>,
        /// Who counts the registers that a grid is chosen by, as for rewriting
        #[arg(long, value_enum, value_name = "SOURCE")]
        resources: Option<Resources>,
        /// How pipelines are written, as for rewriting
        #[command(flatten)]
        pipeline: PipelineArguments,
    },
    /// List the device profiles
    Devices,
    /// Print completions for a shell, the man page or a JSON schema
    Generate {
        /// What
        #[command(subcommand)]
        what: Generate,
    },
    /// Go through the proposed changes one by one, and write those that are accepted
    Review(ReviewCommand),
    /// Write down what is decided about each file, to be reviewed; --check compares
    Snapshot(SnapshotCommand),
    /// Write one HTML page about a project: gains, changes, what is left alone and why
    Report(ReportCommand),
    /// Build and run what is legal for the kernels of a file, and write what is fastest
    Tune(Box<TuneCommand>),
    /// Say what limits the kernels of a run that NVIDIA's ncu profiled, and what to try
    Advise(Box<AdviseCommand>),
    /// Serve an editor: the language server protocol on standard input and output
    Server,
    /// Print ompsplit_pin.h, the C header that pipelines include to page-lock memory
    Header,
}

/// The arguments of a rewriting run.
#[derive(Clone, Debug, Default, Args)]
pub struct Rewrite {
    /// Files or folders; `-` is standard input
    ///
    /// Folders are walked for C and C++ files (.c .h .cc .cpp .cxx .hpp .hh .hxx ..), without what .gitignore excludes;
    /// symbolic links are not followed out of them. One file goes to standard output; several, or a folder, need
    /// --in-place, --check or --diff.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
    /// The program that is run to check the result.
    #[command(flatten)]
    pub host: HostArguments,
    /// What is done.
    #[command(flatten)]
    pub passes: PassArguments,
    /// How it is reported.
    #[command(flatten)]
    pub report: ReportArguments,
    /// What the decision may rest on.
    #[command(flatten)]
    pub context: ContextArguments,
}

/// Where the result goes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Rewrite the files; unchanged ones are not touched
    ///
    /// A new file takes the place of the old one in one step, with its mode, extended attributes and, where permitted,
    /// its owner. Other hard links to it keep the old text; this is said.
    #[arg(short, long, conflicts_with_all = ["check", "diff"])]
    pub in_place: bool,
    /// With --in-place: where ompsplit_pin.h goes, which pipelines include; by default beside the file
    #[arg(long, value_name = "DIR")]
    pub write_header: Option<PathBuf>,
    /// Write nothing; exit 1 if something would change
    #[arg(long)]
    pub check: bool,
    /// Write nothing; print a unified diff, exit 1 if it is not empty
    #[arg(long)]
    pub diff: bool,
    /// The name that standard input goes by: for messages, the language, the configuration and #include
    #[arg(long, value_name = "FILE", visible_aliases = ["assume-filename", "stdin-filepath"])]
    pub stdin_filename: Option<PathBuf>,
    /// Exit 1 when a construct is refused (what does not pay is no refusal)
    #[arg(long)]
    pub error_on_refusal: bool,
    /// Process at most this many files at a time, but no more than four for each processor; as many as there are
    /// processors by default
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Check the result with clang before it is written
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub verify: Option<VerifyLevel>,
}

/// The program that `--verify host` builds and runs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "The program that --verify host runs (or [verify] in .ompsplit.toml)")]
pub struct HostArguments {
    /// A source of the program besides the changed files; may be given several times [default: those in the
    /// compile_commands.json of -p, or the given files]
    #[arg(long = "verify-source", value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// A flag of the linker, as -lfoo; may be given several times
    #[arg(long = "verify-link", value_name = "FLAG", allow_hyphen_values = true)]
    pub link_flags: Vec<String>,
    /// An argument of the program; may be given several times
    #[arg(long = "verify-arg", value_name = "ARG", allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// The file that is its standard input
    #[arg(long = "verify-stdin", value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// A variable of its environment; may be given several times
    #[arg(long = "verify-env", value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub env: Vec<(String, String)>,
    /// The folder whose copy it runs in, an empty one by default
    #[arg(long = "verify-cwd", value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The longest that one run may take, in seconds [default: 60]
    #[arg(long = "verify-timeout", value_name = "SECONDS", value_parser = parse_positive)]
    pub timeout: Option<f64>,
    /// How far two printed numbers a and b may lie apart, as a part of max(1, |a|, |b|); by default every byte counts
    #[arg(long = "verify-tolerance", value_name = "X", value_parser = parse_positive)]
    pub tolerance: Option<f64>,
    /// Do not compare lines that hold this text; may be given several times
    #[arg(long = "verify-ignore", value_name = "TEXT")]
    pub ignore: Vec<String>,
    /// Compare standard error as well
    #[arg(long = "verify-stderr")]
    pub stderr: bool,
    /// A file that the program writes, relative to its folder, to be compared; may be given several times
    #[arg(long = "verify-output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
    /// A file that holds what the original is expected to print
    #[arg(long = "verify-expected", value_name = "FILE")]
    pub expected: Option<PathBuf>,
    /// The exit status that the program is expected to end with [default: 0]
    #[arg(long = "verify-exit", value_name = "N")]
    pub exit: Option<i32>,
    /// Do not look for races
    #[arg(long = "verify-no-races")]
    pub no_races: bool,
}

/// `--assume reassociation` as `--assume=reassociation`: the flag stands before the names of files as well, so that a value behind a
/// blank is one only if it is that word.
pub(super) fn with_joined_values(arguments: &[OsString]) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        match joined.last_mut().filter(|last| *last == "--assume" && argument == "reassociation") {
            Some(last) => last.push("=reassociation"),
            None => joined.push(argument.clone()),
        }
    }
    joined
}

/// What `--assume` consents to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Assume {
    /// What edits say that they assume
    Stated,
    /// Floating-point sums, minima and maxima in another order; runs `reduce` too
    Reassociation,
}

/// What is done.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Passes")]
pub struct PassArguments {
    /// The passes to run, separated by commas, or `all`
    #[arg(long, value_name = "NAMES", long_help = passes::help())]
    pub passes: Option<String>,
    /// Also write edits that rest on an assumption, each of which prints it; with `reassociation` those that form floating-point sums in
    /// another order, and no others
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "stated")]
    pub assume: Vec<Assume>,
    /// How many iterations a loop is taken to have where the text does not tell [default: 65536]
    #[arg(long, value_name = "N")]
    pub assumed_iterations: Option<u32>,
    /// hoist: how many bytes of the device's memory data may take that stay on it, where no construct needs all at once [default: half
    /// of the device's, 2147483648 without --device]
    #[arg(long, value_name = "BYTES")]
    pub device_memory: Option<u64>,
    /// split: where it hangs on the lengths of loops whether it pays, write both forms and let the program choose
    #[arg(long)]
    pub versioned: bool,
    /// The flags of `pipeline`.
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Only constructs that touch these lines, counted from 1; may be given several times
    #[arg(long, value_name = "A:B", value_parser = parse_lines)]
    pub lines: Vec<(usize, usize)>,
    /// Whose types and names the decisions rest on: the text alone, or clang where the text does not tell
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub facts: Option<Facts>,
    /// The device to choose grids for: a profile's name, a .toml file with one, or `native`, which asks NVIDIA's driver
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// geometry: replace grids in the program's own clauses that are predicted to be far off on the device (needs --device)
    #[arg(long)]
    pub retune: bool,
    /// geometry: who counts the registers that a grid is chosen by: nobody, or clang with ptxas
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub resources: Option<Resources>,
}

/// How it is reported.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Diagnostics")]
pub struct ReportArguments {
    /// How diagnostics are written [default: a line for each change; with -v as `full`]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output_format: Option<FormatName>,
    /// Use colour; NO_COLOR in the environment turns `auto` off
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also print what is left alone and why, one message for each construct
    ///
    /// The formats for programs (json, sarif, github) always hold every reason of every pass.
    #[arg(short, long)]
    pub verbose: bool,
    /// Print counts of regions, decisions and kernels to standard error
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub stats: Option<StatsFormat>,
}

/// What a decision may rest on besides the file.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Configuration and compiler flags")]
pub struct ContextArguments {
    /// Read this configuration instead of the nearest .ompsplit.toml above each file
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long)]
    pub no_config: bool,
    /// Print the configuration in effect for the first path and stop
    #[arg(long)]
    pub dump_config: bool,
    /// Take compiler flags from the compile_commands.json in this folder [default: the nearest above
    /// a file, or in a folder build, builddir or out there, unless flags are given behind `--`]
    #[arg(short = 'p', value_name = "DIR")]
    pub compile_commands: Option<PathBuf>,
    /// A folder of headers, as for a compiler; may be given several times. It adds to the flags of a compile_commands.json that is found
    #[arg(short = 'I', value_name = "DIR", allow_hyphen_values = true)]
    pub include: Vec<String>,
    /// A macro, as for a compiler: NAME or NAME=VALUE; may be given several times. It adds to the flags of a compile_commands.json that
    /// is found
    #[arg(short = 'D', value_name = "MACRO", allow_hyphen_values = true)]
    pub define: Vec<String>,
    /// Further compiler flags, after those of -p
    #[arg(last = true, value_name = "FLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

impl ContextArguments {
    /// All compiler flags, as a compiler takes them.
    pub(super) fn compiler_flags(&self) -> impl Iterator<Item = String> {
        let include = self.include.iter().map(|folder| format!("-I{folder}"));
        let define = self.define.iter().map(|name| format!("-D{name}"));
        include.chain(define).chain(self.flags.iter().cloned())
    }
}

/// `--verify`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum VerifyLevel {
    /// No compiler is run
    #[default]
    None,
    /// clang parses the result for host and device without new messages, and sees what changed
    Syntax,
    /// Also compiles the changed kernels, and shows them before and after
    Device,
    /// Also builds and runs the program before and after, with all results in it together
    Host,
}

/// `--facts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Facts {
    /// The tool's own reading of the text
    Tree,
    /// Also what clang knows; it must be installed, and compile the file with the flags given
    Clang,
}

/// `--resources`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Resources {
    /// An estimate that suits most kernels
    Estimate,
    /// clang and NVIDIA's ptxas count; both must be installed
    Clang,
}

/// `--output-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// With the source lines
    Full,
    /// file:line:col: message [OMPS###]
    Concise,
    /// One JSON object
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Full => Self::Full,
            FormatName::Concise => Self::Concise,
            FormatName::Json => Self::Json,
            FormatName::Sarif => Self::Sarif,
            FormatName::Github => Self::Github,
        }
    }
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// For people
    Text,
    /// One JSON object on one line
    Json,
}

/// Reads `a:b`, two lines counted from 1.
fn parse_lines(text: &str) -> Result<(usize, usize), String> {
    let (first, last) = text.split_once(':').ok_or("give two lines as 10:20")?;
    let line = |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is no line number"));
    let (first, last) = (line(first)?, line(last)?);
    if first == 0 {
        return Err("lines are counted from 1".to_owned());
    }
    if last < first {
        return Err(format!("line {last} comes before line {first}"));
    }
    Ok((first, last))
}

/// Reads `NAME=VALUE`.
fn parse_variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("give it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Reads a finite number above zero.
fn parse_positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}` is no number above zero"))
}
