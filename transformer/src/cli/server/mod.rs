//! `ompsplit server`: the language server that editors talk to over standard input and output.
//!
//! One thread reads messages and keeps the texts (`session`); another one answers (`worker`), so that a cancelled request or a text
//! that has changed again is known before work on it begins. Positions are counted in UTF-16, as every client understands.

mod actions;
mod document;
mod messages;
mod session;
mod settings;
mod worker;

use std::io;

use lsp_server::Connection;

use crate::cli::Status;
use crate::cli::process::Engine;

/// Serves until the client says goodbye.
pub(super) fn run(engine: Engine) -> io::Result<Status> {
    let (connection, threads) = Connection::stdio();
    let ended = session::serve(&connection, engine);
    drop(connection);
    match ended {
        Ok(session::End::Shutdown) => threads.join().map(|()| Status::Clean),
        // Whoever just goes away leaves threads behind that wait for him.
        Ok(session::End::Left) => Ok(Status::Failure),
        Err(error) => Err(io::Error::other(error)),
    }
}
