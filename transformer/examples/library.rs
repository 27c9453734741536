//! Rewrites a file as the library does it, and says why constructs were left alone.
//!
//! `cargo run --example library -- solver.c`

use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give a file")?;
    let source = ompsplit::SourceFile::new(&path, std::fs::read(&path)?);
    let outcome = ompsplit::rewrite(&source, &ompsplit::Options::default())?;
    for reason in ompsplit::engine::refusals(&outcome.plans) {
        let place = source.lines.line_column(reason.span.start);
        writeln!(std::io::stderr(), "{}:{}: {}", place.line, place.column, reason.message)?;
    }
    std::io::stdout().write_all(&outcome.text.unwrap_or(source.text))?;
    Ok(())
}
