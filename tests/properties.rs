//! What holds for every input: fixtures, damaged fixtures and generated programs.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use ompsplit::engine::{self, EngineError, Outcome};
use ompsplit::plan::{Pass, Plan};
use ompsplit::source::{SourceFile, Span, scan};
use ompsplit::syntax::{HostTree, Limits};
use proptest::prelude::*;
use support::fixtures;
use support::{diff, kept_sums, parallel, program_text, rewrite};

#[test]
fn fixtures_keep_every_property() {
    let report = parallel::report("properties", |fixture| {
        let outcome = rewrite::outcome(&fixture.path, &fixture.text, fixture.assume)?;
        let output = outcome.text.as_ref().unwrap_or(&fixture.text);
        properties(&fixture.path, &fixture.text, &outcome.plans, output, fixture.assume)
    });
    assert!(report.is_empty(), "{report}");
}

#[test]
fn line_ends_stay_what_they_are() {
    let report = parallel::report("properties", |fixture| {
        let lf = fixture.text.iter().copied().filter(|byte| *byte != b'\r').collect::<Vec<_>>();
        let crlf = with_crlf(&lf);
        let expected = with_crlf(&rewrite::rewrite(&fixture.path, &lf, fixture.assume)?);
        let output = rewrite::rewrite(&fixture.path, &crlf, fixture.assume)?;
        if output == expected { Ok(()) } else { Err(diff("LF, converted", &expected, "CRLF", &output)) }
    });
    assert!(report.is_empty(), "{report}");
}

#[test]
fn a_byte_order_mark_and_a_missing_last_newline_stay() {
    let report = parallel::report("properties", |fixture| {
        let plain = fixture.text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&fixture.text).trim_ascii_end();
        let marked = [b"\xef\xbb\xbf", plain].concat();
        let expected = [b"\xef\xbb\xbf".to_vec(), rewrite::rewrite(&fixture.path, plain, fixture.assume)?].concat();
        let output = rewrite::rewrite(&fixture.path, &marked, fixture.assume)?;
        if output == expected { Ok(()) } else { Err(diff("without the mark", &expected, "with it", &output)) }
    });
    assert!(report.is_empty(), "{report}");
}

/// What is made of a file does not depend on the files that are processed before it in the same process.
#[test]
fn the_result_does_not_depend_on_other_files() {
    let fixtures = fixtures::all().unwrap_or_else(|error| panic!("{error}"));
    // At the same time, each order on a thread of its own.
    let [once, again] = std::thread::scope(|scope| {
        let once = scope.spawn(|| fixtures.iter().map(rewrite::fixture).collect::<Vec<_>>());
        let again = scope.spawn(|| fixtures.iter().rev().map(rewrite::fixture).collect::<Vec<_>>());
        [once, again].map(|thread| thread.join().unwrap_or_default())
    });
    assert_eq!((once.len(), again.len()), (fixtures.len(), fixtures.len()));
    for ((fixture, once), again) in fixtures.iter().zip(&once).zip(again.iter().rev()) {
        assert_eq!(once, again, "{}", fixture.name);
    }
}

/// A file processed with all others, on several threads, becomes what it becomes alone.
#[test]
fn a_file_alone_becomes_what_it_becomes_among_others() {
    let scratch = tempfile::tempdir();
    assert!(scratch.is_ok(), "{scratch:?}");
    let Ok(folder) = scratch else { return };
    let command = || Command::new(env!("CARGO_BIN_EXE_ompsplit"));
    let copied = copy_fixtures(folder.path());
    assert_eq!(copied, Ok(()));
    let together = command().args(["--no-config", "--in-place"]).arg(folder.path()).output();
    assert!(together.as_ref().is_ok_and(|run| run.status.success()), "{together:?}");
    let report = parallel::report("properties", |fixture| {
        let io = |error: std::io::Error| error.to_string();
        let among = std::fs::read(folder.path().join(&fixture.name)).map_err(io)?;
        let alone = command().arg("--no-config").arg(&fixture.path).output().map_err(io)?.stdout;
        if among == alone { Ok(()) } else { Err(diff("alone", &alone, "among others", &among)) }
    });
    assert!(report.is_empty(), "{report}");
}

/// Neighbouring loops that become one, stand side by side, are asked for by addresses, stay or stand in a loop of the host: a function becomes
/// among others what it becomes alone.
#[test]
fn a_function_alone_becomes_what_it_becomes_among_others() {
    let kernel = |loops: &str, body: &str| {
        format!(
            "#pragma omp target teams distribute parallel for map(tofrom: a[0:n], b[0:n])\n    {loops}\n        {body}\n"
        )
    };
    let mut functions = Vec::new();
    for (kind, bound) in [("restrict ", "n"), ("restrict ", "m"), ("", "n")] {
        for (at, second) in ["a[i] += b[i];", "a[i] += b[i + 1];", "b[i] += 2;", "a[i] = b[i];"].iter().enumerate() {
            for steps in ["", "for (int t = 0; t < m; t++)\n"] {
                let name = format!("f_{}_{bound}_{at}_{}", kind.len(), steps.len());
                let parameters = format!("int n, int m, double *{kind}a, double *{kind}b");
                let first = kernel("for (int i = 0; i < n - 1; i++)", "b[i] = 2 * b[i];");
                let second = kernel(&format!("for (int i = 0; i < {bound} - 1; i++)"), second);
                let body = if steps.is_empty() { format!("{first}{second}") } else { format!("{steps}{second}") };
                functions.push(format!("void {name}({parameters})\n{{\n{body}}}\n\n"));
            }
        }
    }
    let rewritten = |text: &str| rewrite::rewrite(Path::new("loops.c"), text.as_bytes(), false);
    let alone: Result<Vec<_>, _> = functions.iter().map(|function| rewritten(function)).collect();
    let (alone, among) = (alone.map(|texts| texts.concat()), rewritten(&functions.concat()));
    assert!(alone.as_ref().is_ok_and(|text| *text != functions.concat().as_bytes()), "nothing changes");
    assert_eq!(alone.map(String::from_utf8), among.map(String::from_utf8));
}

fn copy_fixtures(to: &Path) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    for fixture in fixtures::all()? {
        let path = to.join(&fixture.name);
        let parent = path.parent().unwrap_or(to);
        if !parent.exists() {
            std::fs::create_dir_all(parent).map_err(io)?;
            for beside in
                std::fs::read_dir(fixture.folder()).map_err(io)?.flatten().filter(|entry| entry.path().is_file())
            {
                std::fs::copy(beside.path(), parent.join(beside.file_name())).map_err(io)?;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// A damaged file is read without a panic, and what is still changed in it keeps the properties.
    #[test]
    fn damaged_fixtures_keep_every_property(pick in any::<prop::sample::Index>(), damage in damages()) {
        let fixtures = fixtures::all().map_err(TestCaseError::fail)?;
        prop_assume!(!fixtures.is_empty());
        let fixture = pick.get(&fixtures);
        let text = damage.iter().fold(fixture.text.clone(), |text, damage| damage.apply(&text));
        check(&fixture.path, &text)?;
    }

    #[test]
    fn generated_programs_keep_every_property(program in program_text::program()) {
        check(Path::new("generated.c"), program.as_bytes())?;
    }

    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..600), name in "[a-z]\\.(c|cpp|h)") {
        check(Path::new(&name), &text)?;
    }
}

/// How many cases each property is tried with; `PROPTEST_CASES` raises it.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(192)
}

/// One way to damage a text.
#[derive(Clone, Debug)]
enum Damage {
    /// All from here on is missing.
    Truncate(prop::sample::Index),
    /// A line is missing.
    DropLine(prop::sample::Index),
    /// A line stands twice.
    RepeatLine(prop::sample::Index),
    /// Two lines change places.
    SwapLines(prop::sample::Index, prop::sample::Index),
    /// One byte is another.
    Replace(prop::sample::Index, u8),
    /// Something that matters to C or OpenMP stands where it did not.
    Insert(prop::sample::Index, &'static str),
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "(",
        ")",
        ";",
        "\"",
        "'",
        "/*",
        "*/",
        "//",
        "\\\n",
        "#",
        "\n#if 0\n",
        "\n#endif\n",
        "\0",
        "\u{fe}",
        "\n#pragma omp target\n",
        "\n#pragma omp parallel for\n",
        "\n#pragma omp barrier\n",
        " nowait",
        " if(0)",
        " num_threads(1)",
        " reduction(+: x)",
        " map(",
        "else",
        "goto x;",
        "return;",
        "break;",
        "R\"(",
        "_Pragma(\"omp ",
    ];
    let index = any::<prop::sample::Index>;
    let damage = prop_oneof![
        index().prop_map(Damage::Truncate),
        index().prop_map(Damage::DropLine),
        index().prop_map(Damage::RepeatLine),
        (index(), index()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (index(), prop::sample::select(PIECES)).prop_map(|(at, piece)| Damage::Insert(at, piece)),
    ];
    prop::collection::vec(damage, 1..4)
}

impl Damage {
    fn apply(&self, text: &[u8]) -> Vec<u8> {
        let at = |index: &prop::sample::Index| index.index(text.len() + 1);
        let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let line = |index: &prop::sample::Index| index.index(lines.len().max(1));
        match self {
            Self::Truncate(index) => text.get(..at(index)).unwrap_or_default().to_vec(),
            Self::Replace(index, byte) => {
                let mut text = text.to_vec();
                let place = at(index);
                if let Some(old) = text.get_mut(place) {
                    *old = *byte;
                }
                text
            }
            Self::Insert(index, piece) => {
                let (before, after) = text.split_at(at(index));
                [before, piece.as_bytes(), after].concat()
            }
            _ if lines.is_empty() => Vec::new(),
            Self::DropLine(index) => {
                lines.remove(line(index));
                lines.concat()
            }
            Self::RepeatLine(index) => {
                let number = line(index);
                lines.insert(number, lines[number]);
                lines.concat()
            }
            Self::SwapLines(first, second) => {
                let (first, second) = (line(first), line(second));
                lines.swap(first, second);
                lines.concat()
            }
        }
    }
}

/// Runs the whole pipeline, with and without assumptions. Only a text that this tool refuses to read may be an error.
fn check(path: &Path, text: &[u8]) -> Result<(), TestCaseError> {
    for assume in [false, true] {
        let file = SourceFile::new(path, text.to_vec());
        match engine::run(&file, &rewrite::headers(path), &rewrite::options(path, text, assume)) {
            Ok(Outcome { text: Some(output), plans }) => {
                properties(path, text, &plans, &output, assume).map_err(TestCaseError::fail)?;
            }
            Ok(Outcome { text: None, .. }) | Err(EngineError::Host(_)) => {}
            // How many errors a parser sees in a text with errors may hang on lines far from them.
            Err(EngineError::Validation(why)) if why.contains("syntax error") && problems(path, text) > 0 => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
    Ok(())
}

/// What every output keeps of its original.
fn properties(path: &Path, text: &[u8], plans: &[Plan], output: &[u8], assume: bool) -> Result<(), String> {
    let again = rewrite::rewrite(path, output, assume)?;
    if again != output {
        return Err(format!("a second run goes on:\n{}", diff("first", output, "second", &again)));
    }
    // Where braces do not balance, it is not known which block the sum ends in that a scalar keeps.
    // `fuse` leaves out the heads of loops, `coarsen`, `stage` and `reduce` write others, and these and `combine` name a team's part of what a loop combines; that all else stays is
    // shown by what their outputs give when they run.
    let has_other_words = |plan: &Plan| {
        let is_such = matches!(plan.pass, Pass::Fuse | Pass::Reduce | Pass::Coarsen | Pass::Stage | Pass::Combine);
        is_such && plan.decision.is_written(assume)
    };
    let has_other_words = plans.iter().any(has_other_words);
    if let Some(lost) = lost_code(text, output).filter(|_| is_balanced(text) && !has_other_words) {
        return Err(format!("host code is lost or moved near `{lost}`:\n{}", diff("original", text, "output", output)));
    }
    if let Some(lost) = lost_comment(text, output) {
        return Err(format!("the comment `{lost}` is lost:\n{}", diff("original", text, "output", output)));
    }
    let (old, new) = (problems(path, text), problems(path, output));
    if new > old {
        return Err(format!("{old} syntax errors became {new}:\n{}", diff("original", text, "output", output)));
    }
    outside_lines(plans, text, output, assume)
}

/// Lines that no applied plan concerns stand unchanged and in order before and after the construct.
fn outside_lines(plans: &[Plan], text: &[u8], output: &[u8], assume: bool) -> Result<(), String> {
    let later = |plan: &Plan| plan.follows && plan.decision.is_written(assume);
    let applied = || plans.iter().filter(|plan| !plan.edits.is_empty() || later(plan));
    // An environment is written before the line of its first statement, after the constructs in it were changed.
    let line =
        |at: usize| text.get(..at).and_then(|head| head.iter().rposition(|byte| *byte == b'\n')).map_or(0, |at| at + 1);
    let begins = |plan: &Plan| Span::new(line(plan.extent.start), plan.extent.end);
    // A comment on the last line of a construct belongs to it.
    let behind = |at: usize| text.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n')).unwrap_or(0);
    let edits = || plans.iter().flat_map(|plan| &plan.edits).map(|edit| edit.span);
    // In the round after `collapse` a grid is written behind the same directive, and a serial loop inside is unrolled;
    // a sum that a variable keeps in an inner loop may be kept around it in the next round.
    let starts = edits().chain(applied().map(begins)).map(|span| span.start);
    let ends = edits().map(|span| span.end).chain(applied().map(|plan| plan.extent.end + behind(plan.extent.end)));
    let (Some(first), Some(last)) = (starts.min(), ends.max()) else {
        return if text == output { Ok(()) } else { Err("the text changed although no plan has an edit".to_owned()) };
    };
    if !output.starts_with(text.get(..first).unwrap_or_default()) {
        return Err("bytes before the first edit changed".to_owned());
    }
    // A construct that is rewritten in a later round may stand anywhere in the file only if the first round says so.
    if !output.ends_with(text.get(last..).unwrap_or_default()) {
        return Err("bytes behind the last edit changed".to_owned());
    }
    Ok(())
}

/// Where the original's host code, directives and comments masked, braces and blanks left out, is no longer found in
/// order in the output; new declarations may stand between. A declaration may move up and leave an assignment, and a
/// condition may move: types, names and whole pieces need only be there. Sums may be kept in variables. Read with this tool's own scan, but not with its
/// edits.
fn lost_code(text: &[u8], output: &[u8]) -> Option<String> {
    let (old, new) = (code(text), code(output));
    let mut count: BTreeMap<&str, isize> = BTreeMap::new();
    for word in words(&new) {
        *count.entry(word).or_default() += 1;
    }
    for word in words(&old).filter(|word| *word != "const") {
        let left = count.entry(word).or_default();
        *left -= 1;
        if *left < 0 {
            return Some(word.to_owned());
        }
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let new = squeezed(&new);
    let mut rest = new.bytes();
    for piece in old.split([',', ';', '(', ')']) {
        let is_moved = words(piece).next().is_some_and(|word| TYPES.contains(&word))
            || piece.chars().all(|c| c.is_alphanumeric() || c == '_' || c.is_whitespace());
        let piece = if is_moved { piece.split_once('=').map_or("", |(_, value)| value) } else { piece };
        let piece = squeezed(piece);
        let mut ahead = rest.clone();
        if piece.bytes().all(|byte| ahead.any(|other| other == byte)) {
            rest = ahead;
        } else if !new.contains(&piece) {
            return Some(piece);
        }
    }
    None
}

/// Words of which a declaration that moves is made.
const TYPES: [&str; 8] = ["const", "double", "float", "int", "long", "unsigned", "short", "bool"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn code(text: &[u8]) -> String {
    let masked = ompsplit::source::pragma_scan::mask(text, &scan(text).masked);
    kept_sums::in_memory(&without_comments(&String::from_utf8_lossy(&masked))).replace(['{', '}'], " ")
}

/// Comments move with the declarations that they stand behind; whether one is lost is another property.
fn without_comments(code: &str) -> String {
    code.split_inclusive('\n').map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect()
}

/// Does each brace that closes have one that opens before it, and the other way round?
fn is_balanced(text: &[u8]) -> bool {
    let depth = text.iter().try_fold(0_usize, |depth, byte| match byte {
        b'{' => Some(depth + 1),
        b'}' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// The words of a line comment of the original that the output does not hold.
fn lost_comment(text: &[u8], output: &[u8]) -> Option<String> {
    let shown = String::from_utf8_lossy(output);
    let comments = String::from_utf8_lossy(text)
        .lines()
        .filter_map(|line| Some(line.split_once("//")?.1.trim().to_owned()))
        .collect::<Vec<_>>();
    comments.into_iter().find(|comment| !shown.contains(comment.as_str()))
}

/// How many ERROR and MISSING nodes the host text has, with what macros hide in the place of their uses; as many as can be for a
/// text that is not read at all. Of several texts that it may be read as, the most.
fn problems(path: &Path, text: &[u8]) -> usize {
    let file = SourceFile::new(path, text.to_vec());
    let texts = engine::texts(&file, &rewrite::headers(path), &rewrite::options(path, text, false));
    let problems = |file: &SourceFile| match HostTree::parse(file, &scan(&file.text), &Limits::default()) {
        Ok(tree) => tree.descendants(tree.root()).filter(|node| tree.is_problem(*node)).count(),
        Err(_) => usize::MAX,
    };
    texts.map_or(usize::MAX, |texts| texts.iter().map(problems).max().unwrap_or(usize::MAX))
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] }).collect()
}
