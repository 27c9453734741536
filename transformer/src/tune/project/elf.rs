//! What a program leads to by its place: the folders in which it looks for libraries, or the paths in a script.

/// Does a program or library look for libraries in a folder, or a script name it? Other paths in programs, as those of their sources that
/// `assert` prints, lead nowhere.
pub(super) fn leads_to(bytes: &[u8], folder: &[u8]) -> bool {
    let text = if bytes.starts_with(b"#!") { Some(bytes) } else { dynamic_strings(bytes) };
    text.is_some_and(|text| memchr::memmem::find(text, folder).is_some())
}

/// The table of names that the loader reads: of libraries, of the folders in which they are looked for, and of symbols. Of 64-bit
/// little-endian files, as those of all hosts that have GPUs are.
fn dynamic_strings(elf: &[u8]) -> Option<&[u8]> {
    const LOADED: u64 = 1;
    const DYNAMIC: u64 = 2;
    const TABLE: u64 = 5;
    const TABLE_SIZE: u64 = 10;
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: u64, bytes: u64| -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let field = elf.get(at..at.checked_add(usize::try_from(bytes).ok()?)?)?;
        Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let (headers, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    // The kind of a part, where it begins in the file and in memory, and its size in the file.
    let part = |index: u64| {
        let at = headers.checked_add(index.checked_mul(size)?)?;
        Some((
            number(at, 4)?,
            number(at.checked_add(8)?, 8)?,
            number(at.checked_add(16)?, 8)?,
            number(at.checked_add(32)?, 8)?,
        ))
    };
    let parts: Vec<(u64, u64, u64, u64)> = (0..count).map_while(part).collect();
    let (_, start, _, bytes) = parts.iter().copied().find(|(kind, ..)| *kind == DYNAMIC)?;
    let pair = |index: u64| {
        let at = start.checked_add(index.checked_mul(16)?)?;
        Some((number(at, 8)?, number(at.checked_add(8)?, 8)?))
    };
    // What ends before its size says ends where the file does.
    let entry = |tag: u64| (0..bytes / 16).map_while(pair).find(|(own, _)| *own == tag).map(|(_, value)| value);
    let (table, length) = (entry(TABLE)?, entry(TABLE_SIZE)?);
    let holds = |(kind, _, memory, size): &(u64, u64, u64, u64)| {
        *kind == LOADED && table.checked_sub(*memory).is_some_and(|at| at < *size)
    };
    let (_, offset, memory, _) = parts.iter().copied().find(holds)?;
    let begin = usize::try_from(table - memory).ok()?.checked_add(usize::try_from(offset).ok()?)?;
    elf.get(begin..begin.checked_add(usize::try_from(length).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_lead_to_what_they_name() {
        assert!(leads_to(b"#!/bin/sh\nexec /build/here/app\n", b"/build/here"));
        assert!(!leads_to(b"/build/here/app.c: built\n", b"/build/here"), "a text that is no script");
        assert!(!leads_to(b"#!/bin/sh\nexec ./app\n", b"/build/here"));
    }

    /// The program that runs this test is one that can be read.
    #[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
    #[test]
    fn names_of_libraries_are_found_in_programs_and_no_prefix_of_one_panics() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(leads_to(&own, b"libc.so"));
        assert!(!leads_to(&own, b"no such library"));
        for length in (0..4096).chain([own.len() / 2]) {
            let _read = dynamic_strings(&own[..length]);
        }
        let mut spoilt = own[..4096].to_vec();
        for at in 0..spoilt.len() {
            let before = std::mem::replace(&mut spoilt[at], 0xff);
            let _read = dynamic_strings(&spoilt);
            spoilt[at] = before;
        }
    }
}
