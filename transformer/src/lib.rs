//! `ompsplit` rewrites the OpenMP offload pragmas of C and C++ sources so that every kernel uses the whole device.
//!
//! ```
//! let source = ompsplit::SourceFile::new("solver.c", b"int x;\n".to_vec());
//! let outcome = ompsplit::rewrite(&source, &ompsplit::Options::default())?;
//! let text = outcome.text.unwrap_or(source.text); // the new text, or the old one where nothing changes
//! # assert_eq!(text, b"int x;\n");
//! # Ok::<(), ompsplit::Error>(())
//! ```
//!
//! [`Outcome::plans`] says what was decided about each construct, and why. What stands here at the top is what the
//! versions of this crate keep; the modules are open to be read, and may change with any version.
//!
//! The data flow is one-directional; each module may import only those above it in this list
//! (`tests/layering.rs` checks it). `transformer/ARCHITECTURE.md` draws the picture.

pub mod advice;
pub mod analysis;
pub mod cli;
pub mod context;
pub mod device;
pub mod edit;
pub mod engine;
pub mod output;
pub mod plan;
pub mod region;
pub mod report;
pub mod semantics;
pub mod source;
pub mod syntax;
pub mod transforms;
pub mod tune;
pub mod validate;

pub use engine::{EngineError as Error, Options, Outcome};
pub use source::SourceFile;

/// Rewrites the text of one file as far as it goes by itself. [`engine::run`] takes the project's headers as well, which tell
/// types and functions that the file only uses.
///
/// # Errors
/// When the text cannot be read, or the result fails validation.
pub fn rewrite(source: &SourceFile, options: &Options) -> Result<Outcome, Error> {
    engine::run(source, &[], options)
}
