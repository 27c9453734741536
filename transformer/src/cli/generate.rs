//! `generate`: completions for shells, the man page, and the schemas of what the program reads and writes.

use std::io;

use clap::{CommandFactory, Subcommand, ValueEnum};
use clap_complete::Shell;
use schemars::schema_for;

use crate::cli::arguments::Arguments;
use crate::cli::config::Config;
use crate::cli::{Status, Streams};
use crate::report;

/// What can be generated.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum Generate {
    /// Completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// The manual page, for `man -l`
    Man,
    /// A JSON schema
    Schema {
        /// Of what
        of: SchemaName,
    },
}

/// What has a JSON schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// What --output-format json writes
    Output,
    /// .ompsplit.toml
    Config,
}

/// Writes what is asked for to standard output.
pub(super) fn run(what: Generate, streams: &mut Streams<'_>) -> io::Result<Status> {
    match what {
        Generate::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "ompsplit", &mut text);
            streams.stdout.write_all(&text)?;
        }
        Generate::Man => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut text)?;
            streams.stdout.write_all(&text)?;
        }
        Generate::Schema { of } => {
            let schema = match of {
                SchemaName::Output => report::json_schema(),
                SchemaName::Config => schema_for!(Config),
            };
            serde_json::to_writer_pretty(&mut *streams.stdout, &schema)?;
            writeln!(streams.stdout)?;
        }
    }
    Ok(Status::Clean)
}
