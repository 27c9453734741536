//! The commands that read no program.

use std::io;

use crate::cli::{Status, Streams, complain, suggest};
use crate::device::{DeviceProfile, pinned_memory};
use crate::plan::ReasonCode;

/// Prints the page of a rule, or a list of all.
pub(super) fn rule(id: Option<&str>, streams: &mut Streams<'_>) -> io::Result<Status> {
    let Some(id) = id else {
        for code in ReasonCode::ALL {
            writeln!(streams.stdout, "{}  {}", code.id(), code.title())?;
        }
        return Ok(Status::Clean);
    };
    let Some(code) = ReasonCode::from_id(id) else {
        let hint = suggest::hint(id, ReasonCode::ALL.iter().map(|code| code.id()));
        return complain(streams, &format!("there is no rule `{id}`{hint}"));
    };
    writeln!(streams.stdout, "# {}: {}\n\n{}", code.id(), code.title(), code.page().trim_end())?;
    Ok(Status::Clean)
}

/// Lists the device profiles.
pub(super) fn devices(streams: &mut Streams<'_>) -> io::Result<Status> {
    for device in DeviceProfile::shipped() {
        let DeviceProfile { name, title, sm_count, threads_per_sm, registers_per_sm, blocks_per_sm, .. } = device;
        writeln!(
            streams.stdout,
            "{name:<16}{title:<32}{sm_count:>4} SMs, {threads_per_sm} threads, {blocks_per_sm} blocks and \
             {registers_per_sm} registers each"
        )?;
    }
    Ok(Status::Clean)
}

/// Prints the header that pipelines include.
pub(super) fn header(streams: &mut Streams<'_>) -> io::Result<Status> {
    streams.stdout.write_all(pinned_memory::HEADER.as_bytes())?;
    Ok(Status::Clean)
}
