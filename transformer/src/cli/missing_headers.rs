//! Headers that a file includes and that were not found: what they declare is unknown, so that constructs are refused for it.

use std::path::{Path, PathBuf};

use crate::cli::headers::Missing;
use crate::plan::{Plan, ReasonCode};

/// The most entries of the project that are looked at for a header.
const MOST_ENTRIES: usize = 20_000;
/// How many missing headers are named.
const MOST_NAMED: usize = 3;

/// Says of reasons about declarations that are not in sight which header may hold them.
pub(super) fn name_in(plans: &mut [Plan], file: &Path, missing: &[Missing]) {
    let first = missing.iter().find(|header| !comes_with_compilers(&header.name));
    for reason in plans.iter_mut().flat_map(|plan| &mut plan.reasons).filter(|reason| reason.is_unseen) {
        let end = match first {
            Some(header) => format!("{} was not found, pass `-I` or `-p`", place(file, header)),
            None if reason.code == ReasonCode::UnknownClause => {
                "pass the `-D`, `-I` or `-p` that defines it".to_owned()
            }
            None => "it may stand in a header that is not read, pass `-I`, `-p` or `--facts clang`".to_owned(),
        };
        reason.message = format!("{}: {end}", reason.message);
    }
}

/// One line on the headers that a file missed, with the flag that brings the first of them where the project has it.
pub(super) fn note(file: &Path, missing: &[Missing]) -> Option<String> {
    let missing: Vec<&Missing> = missing.iter().filter(|header| !comes_with_compilers(&header.name)).collect();
    let named: Vec<String> = missing.iter().take(MOST_NAMED).map(|header| place(file, header)).collect();
    let others = missing.len().saturating_sub(MOST_NAMED);
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    let folder = folder_of(file, missing.first()?).map(|folder| format!(" {}", folder.display())).unwrap_or_default();
    let verb = if missing.len() == 1 { "was" } else { "were" };
    let named = named.join(", ");
    Some(format!("{}: {named}{others} {verb} not found: pass `-I{folder}` or `-p`", file.display()))
}

/// `params.h` (line 7), with the name of the header that includes it.
fn place(file: &Path, header: &Missing) -> String {
    let Missing { including, line, name } = header;
    match including == file {
        true => format!("`{name}` (line {line})"),
        false => format!("`{name}` ({}:{line})", including.display()),
    }
}

/// Headers of compilers and of the C library, which are seldom written in quotes, but may be.
fn comes_with_compilers(name: &str) -> bool {
    let headers = [
        "assert.h",
        "complex.h",
        "ctype.h",
        "errno.h",
        "fenv.h",
        "float.h",
        "inttypes.h",
        "limits.h",
        "locale.h",
        "math.h",
        "omp.h",
        "setjmp.h",
        "signal.h",
        "stdarg.h",
        "stdbool.h",
        "stddef.h",
        "stdint.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "sys/time.h",
        "tgmath.h",
        "time.h",
        "unistd.h",
    ];
    headers.contains(&name)
}

/// The folder of the project in which a header is: the nearest one, from the file's own outwards.
fn folder_of(file: &Path, header: &Missing) -> Option<PathBuf> {
    let absolute = std::path::absolute(file).ok()?;
    let root = absolute.ancestors().skip(1).find(|folder| folder.join(".git").exists())?;
    let walk = ignore::WalkBuilder::new(root).follow_links(false).sort_by_file_name(Ord::cmp).build();
    let paths = walk.take(MOST_ENTRIES).flatten().map(ignore::DirEntry::into_path);
    let found = paths.filter(|path| path.ends_with(&header.name)).min_by_key(|path| path.components().count())?;
    let depth = Path::new(&header.name).components().count();
    let folder = found.ancestors().nth(depth)?;
    let here = std::env::current_dir().ok();
    let shown = here.and_then(|here| folder.strip_prefix(here).ok().map(Path::to_path_buf));
    Some(match shown {
        Some(shown) if shown.as_os_str().is_empty() => PathBuf::from("."),
        Some(shown) => shown,
        None => folder.to_path_buf(),
    })
}
