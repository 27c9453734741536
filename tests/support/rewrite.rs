//! Calls the library the way the command line does without options.

use std::path::Path;

use ompsplit::engine::{self, Options, Outcome};
use ompsplit::source::SourceFile;
use ompsplit::syntax::Limits;
use ompsplit::transforms::TRANSFORMS;

use super::fixtures::Fixture;

/// The options that hold when none are given.
pub fn options(assume: bool) -> Options {
    let passes = TRANSFORMS.iter().filter(|transform| transform.default).map(|transform| transform.pass).collect();
    Options { passes, assume, lines: Vec::new(), limits: Limits::default() }
}

/// What the library makes of a text.
pub fn outcome(path: &Path, text: &[u8], assume: bool) -> Result<Outcome, String> {
    let file = SourceFile::new(path, text.to_vec());
    engine::run(&file, &[], &options(assume)).map_err(|error| format!("{}: {error:?}", path.display()))
}

/// The new text, or the old one where nothing changes.
pub fn rewrite(path: &Path, text: &[u8], assume: bool) -> Result<Vec<u8>, String> {
    Ok(outcome(path, text, assume)?.text.unwrap_or_else(|| text.to_vec()))
}

/// The new text of a fixture.
pub fn fixture(fixture: &Fixture) -> Result<Vec<u8>, String> {
    rewrite(&fixture.path, &fixture.text, fixture.assume)
}
