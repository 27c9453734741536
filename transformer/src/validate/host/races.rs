//! Races of loops that were widened: a copy whose new kernels are plain `parallel for` on the host, run under
//! ThreadSanitizer, with Archer to tell it what OpenMP synchronises.
//!
//! `num_threads`, `if` and `schedule` of a new kernel are dropped, since a grid ignores them: iterations that they kept
//! apart run side by side there. The schedule comes from the environment, one iteration at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::build::RaceTools;
use super::directives::{added, all_words, apply, directives, is_kernel, words};
use super::program::is_same;
use super::run::Executable;
use super::{HostError, Kind};

/// The clauses that the copy keeps: those of `parallel for` that say what is shared.
const KEPT: &[&str] = &["private", "firstprivate", "lastprivate", "shared", "reduction", "collapse", "linear"];

/// The clauses that choose a grid.
const GRID: &[&str] = &["num_teams", "thread_limit", "dist_schedule"];

/// The schedules and numbers of threads that programs are run with.
pub(super) const SETTINGS: &[(&str, u32)] = &[("static,1", 4), ("dynamic,1", 4), ("static,1", 2), ("dynamic,1", 3)];

/// How much longer a run may take under `ThreadSanitizer`.
const PATIENCE: u32 = 10;

/// The copy, and how many loops in it were widened. Its lines are those of the output.
#[must_use]
pub fn host_copy(original: &[u8], output: &[u8]) -> (Vec<u8>, usize) {
    let added = added(original, output);
    let known: BTreeSet<String> = directives(original).iter().map(|range| without_grid(original, range)).collect();
    let mut edits = Vec::new();
    for directive in directives(output) {
        let text = words(output, &directive);
        let is_new = added.contains(&text) && !known.contains(&without_grid(output, &directive));
        if !is_new || !is_kernel(&text) {
            continue;
        }
        let words = all_words(output, &directive);
        let name: BTreeSet<&str> =
            words.iter().take_while(|word| !word.has_argument).map(|word| word.name.as_str()).collect();
        if !["for", "loop", "distribute"].iter().any(|part| name.contains(part)) {
            continue;
        }
        let mut new = " parallel for schedule(runtime)".to_owned();
        for word in words.iter().filter(|word| word.has_argument && KEPT.contains(&word.name.as_str())) {
            new.push(' ');
            new.push_str(&super::directives::words(output, &word.range));
        }
        let lines = output.get(directive.clone()).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
        new.push_str(&" \\\n".repeat(lines));
        edits.push((directive, new));
    }
    let count = edits.len();
    (apply(output, edits), count)
}

/// A directive's words without the clauses that choose a grid: a directive that only got such a clause is not widened.
fn without_grid(text: &[u8], directive: &Range<usize>) -> String {
    let kept = all_words(text, directive).into_iter().filter(|word| !GRID.contains(&word.name.as_str()));
    kept.map(|word| words(text, &word.range)).collect::<Vec<_>>().join(" ")
}

/// Two places that race. Each is the text of its line, so that a race is recognised after lines have moved.
pub(super) type Race = BTreeSet<String>;

/// The races of a program, each with a sentence that says where and how it was seen.
pub(super) fn races(
    executable: &Executable<'_>,
    tools: &RaceTools,
    texts: &[OwnText],
) -> Result<BTreeMap<Race, String>, HostError> {
    let mut found = BTreeMap::new();
    for (schedule, threads) in SETTINGS {
        let folder = crate::validate::interrupt::folder().map_err(HostError::io)?;
        let log = folder.path().join("log");
        let options = format!(
            "ignore_noninstrumented_modules=1 exitcode=0 log_path='{}' external_symbolizer_path='{}' \
             stack_trace_format='#%n|%l|%s|%f'",
            log.display(),
            tools.symbolizer.display()
        );
        let environment = [
            ("OMP_TARGET_OFFLOAD", "DISABLED".to_owned()),
            ("OMP_WAIT_POLICY", "passive".to_owned()),
            ("OMP_NUM_THREADS", threads.to_string()),
            ("OMP_NUM_TEAMS", "1".to_owned()),
            ("OMP_SCHEDULE", (*schedule).to_owned()),
            ("OMP_TOOL_LIBRARIES", tools.archer.display().to_string()),
            ("TSAN_OPTIONS", options),
        ];
        let run = executable.run(&environment, PATIENCE).map_err(HostError::io)?;
        if !run.exited() {
            let said = super::compare::last_words(&run);
            let text = format!(
                "races cannot be checked: under ThreadSanitizer the program ends with {} (`races = false` in [verify], \
                 or --verify-no-races, leaves this check out){said}",
                run.end
            );
            return Err(HostError::new(Kind::Setup, text));
        }
        let mut logs: Vec<_> =
            fs::read_dir(folder.path()).map_err(HostError::io)?.flatten().map(|e| e.path()).collect();
        logs.sort();
        for log in logs.iter().filter(|log| log.is_file()) {
            let said = String::from_utf8_lossy(&fs::read(log).map_err(HostError::io)?).into_owned();
            for (race, places) in read(&said, texts) {
                let how = format!("{places} (schedule({schedule}), {threads} threads)");
                found.entry(race).or_insert(how);
            }
        }
    }
    Ok(found)
}

/// The lines of a text that is checked, by which a place in it is recognised.
pub(super) struct OwnText {
    /// Its file.
    path: PathBuf,
    lines: Vec<String>,
    /// Do messages name the file with each of its lines?
    is_named: bool,
}

impl OwnText {
    /// The text of a file. `is_named` if several files are checked.
    pub(super) fn new(path: &Path, text: &[u8], is_named: bool) -> Self {
        let lines = text.split(|byte| *byte == b'\n').map(|l| String::from_utf8_lossy(l).trim().to_owned()).collect();
        Self { path: std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()), lines, is_named }
    }

    /// Does this name in a message mean this file? A text without a file (standard input) has the name that
    /// [`Compilation::object`](crate::validate::clang::Compilation::object) gives it.
    fn is_own(&self, file: &str) -> bool {
        let file = Path::new(file);
        file == self.path
            || (file.ends_with("source") && !self.path.is_file())
            || (file.file_name() == self.path.file_name() && is_same(file, &self.path))
    }
}

/// The races in ThreadSanitizer's log.
fn read(log: &str, texts: &[OwnText]) -> Vec<(Race, String)> {
    let mut found = Vec::new();
    for report in log.split("WARNING: ThreadSanitizer: ").skip(1).filter(|report| report.starts_with("data race")) {
        let accesses = report.split("\n\n").filter(|part| part.contains(" of size ")).take(2);
        let places: Vec<(String, String)> = accesses.map(|access| place(access, texts)).collect();
        let race = places.iter().map(|(text, _)| text.clone()).collect();
        let mut shown: Vec<&str> = places.iter().map(|(_, shown)| shown.as_str()).collect();
        shown.dedup();
        found.push((race, shown.join(" and ")));
    }
    found
}

/// The place of an access: its innermost frame in a file that is checked, otherwise the innermost frame.
fn place(access: &str, texts: &[OwnText]) -> (String, String) {
    let frames = access.lines().filter_map(|line| {
        let mut parts = line.trim().strip_prefix('#')?.splitn(4, '|').skip(1);
        Some((parts.next()?.parse::<usize>().ok()?, parts.next()?, parts.next()?))
    });
    let mut first = None;
    for (line, file, function) in frames {
        if let Some(own) = texts.iter().find(|own| own.is_own(file)) {
            let text = line.checked_sub(1).and_then(|index| own.lines.get(index)).cloned().unwrap_or_default();
            let name = if own.is_named { format!("{} ", own.path.display()) } else { String::new() };
            let shown = format!("{name}line {line} `{text}`");
            return (text, shown);
        }
        let elsewhere = if line > 0 { format!("{file}:{line}") } else { function.to_owned() };
        first.get_or_insert(elsewhere);
    }
    let first = first.unwrap_or_else(|| "an unknown place".to_owned());
    (first.clone(), first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_kernels_become_parallel_loops_on_the_same_lines() {
        let before = "#pragma omp target teams loop map(z)\nX\n";
        let after = "#pragma omp target data map(a)\n{\n#pragma omp target teams distribute parallel for map(a[f(1)]) \\\n  \
                     num_threads(3) if(x) schedule(static, 4) reduction(+: s) private(t) // if(y)\nY\n#pragma omp target\nZ\n}\n";
        let (text, count) = host_copy(before.as_bytes(), format!("{before}{after}").as_bytes());
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(count, 1);
        let loops =
            "#pragma omp parallel for schedule(runtime) reduction(+: s) private(t) \\\n\nY\n#pragma omp target\n";
        assert!(text.contains(loops) && text.starts_with(before), "{text}");
        assert_eq!(text.lines().count(), format!("{before}{after}").lines().count());
    }

    #[test]
    fn a_kernel_that_gained_a_grid_alone_is_no_new_one() {
        let before = "#pragma omp target teams distribute parallel for num_threads(1) map(a)\n;\n";
        let grid = before.replace(" map(a)", " map(a) thread_limit(128)");
        assert_eq!(host_copy(before.as_bytes(), grid.as_bytes()), (grid.clone().into_bytes(), 0));
        let shared = grid.replace("(128)", "(16) dist_schedule(static, n < 9 ? 1 : 16)");
        assert_eq!(host_copy(before.as_bytes(), shared.as_bytes()), (shared.clone().into_bytes(), 0));
        let widened = grid.replace(" num_threads(1)", "");
        assert_eq!(host_copy(before.as_bytes(), widened.as_bytes()).1, 1);
    }

    #[test]
    fn a_race_is_known_by_its_text() {
        let report = |line: usize| {
            format!(
                "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4 at 0x1 by thread \
                 T3:\n#0|0|<null>|memcpy\n#1|{line}|/p/r.c|f\n\n  Previous read of size 4 at 0x1 by main \
                 thread:\n#0|{line}|/p/r.c|f\n#1|1|/p/r.c|main\n\n  Location is global 'a' of size 8\n"
            )
        };
        let own = |text: &[u8]| [OwnText::new(Path::new("/p/r.c"), text, false)];
        let old = read(&report(1), &own(b"  a += 1;\n"));
        let new = read(&report(2), &own(b"x\n a += 1;\n"));
        assert_eq!(old.len(), 1);
        assert_eq!(old[0].0, new[0].0);
        assert_eq!(new[0].1, "line 2 `a += 1;`");
        assert_eq!(read("WARNING: ThreadSanitizer: thread leak (pid=1)\n", &own(b"")).len(), 0);
    }
}
