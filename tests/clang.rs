//! What clang and clang-format say of every output: no new warning, kernels that use the whole grid, a layout that
//! settles.
//!
//! `OMPSPLIT_FIXTURE=<part of a name> cargo test --test clang` looks at some of the fixtures.

mod support;

use std::ops::Range;
use std::path::Path;

use ompsplit::device::DeviceProfile;
use ompsplit::engine;
use ompsplit::source::SourceFile;
use ompsplit::validate::clang::{
    Clang, Compilation, Compiled, ExecutionMode, Kernel, Level, Output, Report, VerifyError, kernels, messages, verify,
};
use ompsplit::validate::host::directives::{directives, is_kernel, words};
use support::fixtures::Fixture;
use support::format::{Formatter, STYLES};
use support::program::Builder;
use support::verified::{List, Verified, drawn};
use support::{deep, diff, fixtures, parallel, rewrite};

/// What was found right before.
const LIST: List = List {
    name: "clang",
    test: "clang",
    decides: &[
        include_str!("clang.rs"),
        include_str!("../transformer/src/validate/clang.rs"),
        include_str!("../transformer/src/validate/clang/compile.rs"),
        include_str!("../transformer/src/validate/clang/kernels.rs"),
        include_str!("../transformer/src/validate/clang/messages.rs"),
        include_str!("../transformer/src/validate/clang/report.rs"),
    ],
};
const TOGETHER_LIST: List = List { name: "clang_of_all_passes", ..LIST };

/// One run of the compiler for each output tells both.
#[test]
fn no_output_has_a_new_warning_and_every_new_loop_kernel_is_spmd() {
    let clang = Clang::find().unwrap_or_else(|error| panic!("{error}"));
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let verified = Verified::read(LIST);
    let report = parallel::report("clang", |fixture| {
        let output = rewrite::fixture(fixture)?;
        verified.or_check(&builder, fixture, &output, || not_worse_and_spmd(&clang, fixture, &output))
    });
    assert!(report.is_empty(), "{report}");
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
}

fn not_worse_and_spmd(clang: &Clang, fixture: &Fixture, output: &[u8]) -> Result<(), String> {
    // Originals that are run are compiled there; those that are only compiled are compiled here.
    if output == fixture.text {
        return if fixture.runnable { Ok(()) } else { not_worse(fixture, output) };
    }
    let added = added_kernels(&fixture.text, output, Form::Loop);
    let compiled = compiled(clang, fixture, output, "-O0")?;
    not_spmd(&compiled, &added)?;
    let combining = added_kernels(&fixture.text, output, Form::LoopWithinTeams);
    if !combining.is_empty() {
        not_spmd(&self::compiled(clang, fixture, output, "-O1")?, &combining)?;
    }
    // Without a message there is none to compare, and one of the added kernels was found: clang has seen a change.
    let is_clean = messages(&compiled.stderr).is_empty() && !added.is_empty();
    if is_clean && fixture.runnable { Ok(()) } else { not_worse(fixture, output) }
}

/// The same of all passes together.
#[test]
fn no_output_of_all_passes_has_a_new_warning() {
    let fixtures = fixtures::all().unwrap_or_else(|error| panic!("{error}"));
    let builder = Builder::new().unwrap_or_else(|error| panic!("{error}"));
    let verified = Verified::read(TOGETHER_LIST);
    let failures = parallel::failures(&fixtures, |fixture| {
        let mut options = rewrite::options(&fixture.path, &fixture.text, fixture.assume);
        options.passes = rewrite::built().into();
        options.device = DeviceProfile::named("h200");
        options.versioned |= drawn(&fixture.name).is_multiple_of(4);
        options.pipeline.least_bytes = Some(1);
        let file = SourceFile::new(fixture.path.clone(), fixture.text.clone());
        let outcome = engine::run(&file, &rewrite::headers(&fixture.path), &options)
            .map_err(|error| format!("{}: {error}", fixture.name))?;
        let Some(output) = outcome.text else { return Ok(()) };
        let verify = || match verify(Level::Syntax, &fixture.path, &fixture.text, &output, &with_warnings(fixture)) {
            // What does not compile for a device without further flags has no messages to compare.
            Ok(_) | Err(VerifyError::Original(_)) => Ok(()),
            Err(error) => {
                let changes = diff("original", &fixture.text, "output", &output);
                Err(format!("{}: {error}\n{changes}", fixture.name))
            }
        };
        verified.or_check(&builder, fixture, &output, verify)
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    verified.finish().unwrap_or_else(|error| panic!("{error}"));
}

fn with_warnings(fixture: &Fixture) -> Vec<String> {
    [&["-Wall".to_owned(), "-Wextra".to_owned()][..], &fixture.flags].concat()
}

/// The device code of an output as the front end writes it, and the messages of the host's and the device's pass.
fn compiled(clang: &Clang, fixture: &Fixture, output: &[u8], level: &str) -> Result<Compiled, String> {
    let flags = [with_warnings(fixture), vec![level.to_owned()]].concat();
    Compilation::new(clang, &fixture.path, &flags).run(output, Output::DeviceIr).map_err(|error| error.to_string())
}

/// Fails on a message about an output that its original does not have, and where clang sees no change.
fn not_worse(fixture: &Fixture, output: &[u8]) -> Result<(), String> {
    verify(Level::Syntax, &fixture.path, &fixture.text, output, &with_warnings(fixture))
        .and_then(Report::insist)
        .map(|_| ())
        .map_err(|error| format!("{error}\n{}", diff("original", &fixture.text, "output", output)))
}

/// ompsplit, clang-format, ompsplit, clang-format: from there on neither changes anything. So it is with clang-format first.
#[test]
fn clang_format_and_ompsplit_settle_in_two_rounds_in_either_order() {
    let formatter = Formatter::new().unwrap_or_else(|error| panic!("{error}"));
    let fixtures = fixtures::all().unwrap_or_else(|error| panic!("{error}"));
    // Each fixture in one style; with --deep in all.
    let styles = STYLES.len() as u64;
    let is_asked = |style: usize, fixture: &&Fixture| deep() || drawn(&fixture.name) % styles == style as u64;
    let of_style = |(index, style)| {
        let asked: Vec<Fixture> = fixtures.iter().filter(|fixture| is_asked(index, fixture)).cloned().collect();
        asked.chunks(64).map(|some| (style, some.to_vec())).collect::<Vec<_>>()
    };
    let parts: Vec<(&&str, Vec<Fixture>)> = STYLES.iter().enumerate().flat_map(of_style).collect();
    let failures = parallel::failures(&parts, |(style, fixtures)| {
        let wrong = not_settled(&formatter, fixtures, style).map_err(|error| format!("{style}: {error}"))?;
        if wrong.is_empty() { Ok(()) } else { Err(format!("{style}:\n{}", wrong.join("\n"))) }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A compiler that is missing must be an error that says what to install, never a check that passes.
#[test]
fn verification_finds_what_is_worse() {
    let path = Path::new("program.c");
    let good =
        b"int f(int *a) {\n  int x = 0;\n#pragma omp target teams loop map(a[0:9])\n  for (int i = 0; i < 9; i++) \
                 a[i] = x;\n  return 0;\n}\n";
    let flags = ["-Wall".to_owned()];
    let report = verify(Level::Device, path, good, good, &flags).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        report.before.iter().map(|kernel| (kernel.function.as_str(), kernel.line)).collect::<Vec<_>>(),
        [("f", 3)]
    );
    assert_eq!(report.regions, [(vec![0], vec![0])]);

    let error = String::from_utf8_lossy(good).replace("a[i] = x", "a[i] = y");
    let error = verify(Level::Syntax, path, good, error.as_bytes(), &flags);
    assert!(matches!(&error, Err(VerifyError::NewMessages(new)) if new.len() == 1), "{error:?}");
    let warning = String::from_utf8_lossy(good).replace("int x = 0;", "int x = 0, unused;");
    let warning = verify(Level::Syntax, path, good, warning.as_bytes(), &flags);
    assert!(matches!(&warning, Err(VerifyError::NewMessages(new)) if new.len() == 1), "{warning:?}");
    let broken = verify(Level::Syntax, path, b"int f( {", good, &flags);
    assert!(
        matches!(&broken, Err(VerifyError::Original(message)) if message.place.ends_with("program.c:1:8")),
        "{broken:?}"
    );
}

/// A kernel whose threads wait in a state machine is not what was promised: the check must see it.
#[test]
fn a_generic_kernel_is_found() {
    let clang = Clang::find().unwrap_or_else(|error| panic!("{error}"));
    let text = |first: &str, second: &str| {
        format!("void f(int *a) {{\n{first}\n  {{\n{second}\n  for (int i = 0; i < 9; i++) a[i] = i;\n  }}\n}}\n")
    };
    let original = text("#pragma omp target map(a[0:9])", "#pragma omp parallel for");
    // The statement before the loop keeps clang from taking the nest for a combined construct.
    let generic = text("#pragma omp target teams map(a[:9])", "  a[0] = 7;\n#pragma omp distribute parallel for");
    let spmd =
        text("#pragma omp target data map(a[0:9])", "#pragma omp target teams distribute parallel for map(a[0:9])");
    let check = |output: &str| {
        let fixture = Fixture::new("f.c", "f.c".into(), original.clone().into_bytes())?;
        let of = |form| added_kernels(&fixture.text, output.as_bytes(), form);
        let added = [of(Form::Loop), of(Form::LoopWithinTeams)].concat();
        not_spmd(&compiled(&clang, &fixture, output.as_bytes(), "-O0")?, &added)
    };
    assert_eq!(check(&spmd), Ok(()));
    let found = check(&generic).err().unwrap_or_default();
    assert!(found.contains("f:2"), "{found}");
}

/// Fails on a kernel of a directive that the output added, if it runs a loop and is not SPMD. What is SPMD as the front end writes it stays so;
/// optimisation makes SPMD kernels of others.
fn not_spmd(compiled: &Compiled, added: &[Range<usize>]) -> Result<(), String> {
    if !compiled.success {
        return Err(format!("the output does not compile for nvptx64:\n{}", compiled.stderr));
    }
    let found = kernels(&compiled.output);
    let is_added = |kernel: &&Kernel| added.iter().any(|lines| lines.contains(&kernel.line));
    let slow = found
        .iter()
        .filter(is_added)
        .filter(|kernel| !matches!(kernel.mode, ExecutionMode::Spmd | ExecutionMode::GenericSpmd));
    let slow: Vec<_> = slow.map(|k| format!("{}:{} is {}", k.function, k.line, k.mode)).collect();
    if !slow.is_empty() {
        return Err(slow.join(", "));
    }
    // A kernel in code that is never compiled (`#if 0`, an unused template) has no entry; but all of them cannot.
    if !added.is_empty() && !found.iter().any(|kernel| is_added(&kernel)) {
        return Err(format!("none of the {} added kernels is in the device code", added.len()));
    }
    Ok(())
}

/// How a kernel comes to its parallel loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Its directive is that of the loop, or the only statement in its region is: SPMD as the front end writes it.
    Loop,
    /// The loop stands among statements of the teams (`combine`): SPMD once it is optimised.
    LoopWithinTeams,
}

/// The lines of each directive that launches a kernel of a form, runs a loop, and has no line in common with the original.
fn added_kernels(original: &[u8], output: &[u8], form: Form) -> Vec<Range<usize>> {
    let known: Vec<String> = directives(original).iter().map(|range| words(original, range)).collect();
    let line = |at: usize| 1 + output.iter().take(at).filter(|byte| **byte == b'\n').count();
    let mut added = Vec::new();
    let all = directives(output);
    for (index, range) in all.iter().enumerate() {
        let words = words(output, range);
        let next = all.get(index + 1).map(|range| self::words(output, range)).unwrap_or_default();
        // `target teams` around `distribute` runs the loop of the construct inside it.
        let runs_a_loop = ["parallel", "loop", "teams"].iter().any(|name| words.contains(name));
        // Teams that share a parallel loop inside of a distributed one start it from one thread each.
        let only_distributes = |words: &str| words.contains("distribute") && !words.contains("parallel");
        let has_two_levels = only_distributes(&words)
            || !words.contains("distribute") && words.contains("teams") && only_distributes(&next);
        let between = all.get(index + 1).and_then(|next| output.get(range.end..next.start)).unwrap_or_default();
        let has_statements = !matches!(between.trim_ascii(), b"" | b"{");
        let shares = words.contains("teams") && !words.contains("distribute") && next.contains("distribute parallel");
        let found = if shares && has_statements { Form::LoopWithinTeams } else { Form::Loop };
        if is_kernel(&words) && runs_a_loop && !has_two_levels && found == form && !known.contains(&words) {
            added.push(line(range.start)..line(range.end) + 1);
        }
    }
    added
}

/// What of the fixtures does not settle.
fn not_settled(formatter: &Formatter, fixtures: &[Fixture], style: &str) -> Result<Vec<String>, String> {
    let format = |texts: &[Vec<u8>]| {
        let named: Vec<_> = fixtures.iter().zip(texts).map(|(f, text)| (f.path.as_path(), text.as_slice())).collect();
        formatter.format(&named, style)
    };
    let split = |texts: &[Vec<u8>]| {
        let each = fixtures.iter().zip(texts);
        each.map(|(f, text)| rewrite::rewrite(&f.path, text, f.assume)).collect::<Result<Vec<_>, _>>()
    };
    let originals: Vec<Vec<u8>> = fixtures.iter().map(|fixture| fixture.text.clone()).collect();
    let mut wrong = Vec::new();
    for is_first in [false, true] {
        let start = if is_first { format(&originals)? } else { originals.clone() };
        let first = format(&split(&start)?)?;
        let second = split(&first)?;
        let second = if is_first { second } else { format(&second)? };
        let (split_again, formatted_again) = (split(&second)?, format(&second)?);
        let ends = second.iter().zip(&split_again).zip(&formatted_again);
        for (fixture, ((end, split), format)) in fixtures.iter().zip(ends) {
            let order = if is_first { "clang-format first" } else { "ompsplit first" };
            if split != end {
                wrong.push(format!(
                    "{}, {order}: ompsplit goes on:\n{}",
                    fixture.name,
                    diff("settled", end, "changed", split)
                ));
            } else if format != end && settles_alone(formatter, fixture, style)? {
                let changes = diff("settled", end, "changed", format);
                wrong.push(format!("{}, {order}: clang-format goes on:\n{changes}", fixture.name));
            }
        }
    }
    Ok(wrong)
}

/// Does clang-format settle on a text by itself? It does not where a style reads another standard than the file is
/// written in (GNU and the digit separators of C++14).
fn settles_alone(formatter: &Formatter, fixture: &Fixture, style: &str) -> Result<bool, String> {
    let format = |text: &[u8]| formatter.format(&[(&fixture.path, text)], style);
    let once = format(&format(&fixture.text)?.concat())?.concat();
    Ok(format(&once)?.concat() == once)
}
