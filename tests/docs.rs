//! The documents tell the truth: their examples are what the tool does, their commands run, and what they name exists.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, Options, Passes, error_code};
use ompsplit::plan::{Pass, ReasonCode, RuleKind};
use ompsplit::source::SourceFile;
use ompsplit::transforms::{ByDefault, TRANSFORMS, Waiting};

#[path = "support/markdown.rs"]
mod markdown;

use markdown::{blocks, cells, commands, quoted, rules_in, section};

const DOCUMENTS: &[&str] = &[
    "CHANGELOG.md",
    "README.md",
    "docs/limits.md",
    "docs/passes.md",
    "docs/usage.md",
    "bench/README.md",
    "grammar/README.md",
    "transformer/ARCHITECTURE.md",
    "transformer/GLOSSARY.md",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn ompsplit(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ompsplit")).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn two_commands_do_for_a_fresh_machine() {
    let readme = read("README.md");
    let commands = commands(section(&readme, "Try it on a fresh machine").expect("the section"));
    let [example, test] = &commands[..] else { panic!("not two commands: {commands:?}") };

    let arguments = example.strip_prefix("cargo run --release -- ").expect("a run of the tool");
    let output = ompsplit(&arguments.split(' ').collect::<Vec<_>>(), root());
    let shown = blocks(&readme, "diff").pop().expect("a diff");
    let printed = String::from_utf8_lossy(&output.stdout);
    let rest =
        printed.strip_prefix(shown.as_str()).unwrap_or_else(|| panic!("the README shows another diff:\n{printed}"));
    assert!(rest.is_empty() || rest.starts_with("@@ "), "the README cuts a hunk:\n{rest}");
    assert_eq!(output.status.code(), Some(1));
    assert!(shown.lines().any(|line| line.starts_with("+#pragma omp target data")), "{shown}");

    assert!(root().join(test).is_file(), "{test}");
    let name = Path::new(test).file_name().unwrap().to_string_lossy().into_owned();
    assert!(read(".ci/run").contains(&format!("/{name}\"")), "`.ci/run` does not call `{test}`");
}

#[test]
fn the_examples_of_the_readme_and_of_the_usage_page_run() {
    let mut examples = BTreeSet::new();
    for (document, heading) in [("README.md", "Use"), ("docs/usage.md", "Commands")] {
        let text = read(document);
        let lines = commands(section(&text, heading).expect("the section"));
        let own: BTreeSet<String> = lines.into_iter().filter(|line| line.starts_with("ompsplit ")).collect();
        assert!(own.len() >= 10, "{document}: {own:?}");
        assert!(own.contains("ompsplit src/*.c --in-place"), "{document}: {own:?}");
        examples.extend(own);
    }
    let program = read("fixtures/split_target/first_example.c");
    for line in examples {
        let folder = tempfile::tempdir().unwrap();
        for name in ["src", "include", "build"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("src/solver.c"), &program).unwrap();
        let flags = r#"[{"directory": "..", "file": "src/solver.c", "command": "cc -c src/solver.c"}]"#;
        fs::write(folder.path().join("build/compile_commands.json"), flags).unwrap();
        let line = line.replace("src/*.c", "src/solver.c");
        let output = ompsplit(&line.split(' ').skip(1).collect::<Vec<_>>(), folder.path());
        let findings = line.contains("--diff") || line.contains("--check");
        assert_eq!(
            output.status.code(),
            Some(i32::from(findings)),
            "{line}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn the_configuration_of_the_help_text_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let help = String::from_utf8(ompsplit(&["--help"], folder.path()).stdout).unwrap();
    let (_, example) = help.split_once("\nConfiguration:\n").expect("the configuration");
    let lines = example.lines().skip_while(|line| !line.starts_with("    passes = "));
    let text = lines.map(|line| format!("{}\n", line.trim_start())).collect::<String>();
    assert!(text.lines().count() > 30, "{text}");
    fs::create_dir(folder.path().join("build")).unwrap();
    fs::write(folder.path().join("build/compile_commands.json"), "[]").unwrap();
    fs::write(folder.path().join(".ompsplit.toml"), &text).unwrap();
    fs::write(folder.path().join("f.c"), "int x;\n").unwrap();
    let output = ompsplit(&["--dump-config", "f.c"], folder.path());
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for key in text.lines().filter_map(|line| line.split(" =").next()) {
        assert!(shown.contains(key), "{key} is not in\n{shown}");
    }
}

/// The name and the documentation of every transformation.
fn manual_pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root().join("transformer/src/transforms")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() || name == "mod.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
        let page: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        pages.push((name, format!("{}\n", page.join("\n"))));
    }
    assert!(!pages.is_empty());
    pages
}

#[test]
fn manual_pages_show_what_the_tool_does() {
    for (name, page) in manual_pages() {
        for heading in ["Input", "Output", "Applies when", "Refuses when", "Safety", "References"] {
            assert!(section(&page, heading).is_some_and(|text| !text.trim().is_empty()), "{name}: no `{heading}`");
        }
        let block = |heading: &str| blocks(section(&page, heading).unwrap(), "c");
        let (inputs, outputs) = (block("Input"), block("Output"));
        assert!(
            !inputs.is_empty() && inputs.len() == outputs.len(),
            "{name}: {} and {} blocks",
            inputs.len(),
            outputs.len()
        );
        // One that does not run by default is shown alone.
        let mut options = Options::default();
        let asked_for = TRANSFORMS
            .iter()
            .find(|transform| transform.default != ByDefault::Runs && transform.is_of(name.trim_end_matches(".rs")));
        if let Some(transform) = asked_for {
            options.passes = vec![transform.pass].into();
            options.reassociate = transform.pass == Pass::Reduce;
            options.device = DeviceProfile::named("h200").filter(|_| {
                matches!(transform.pass, Pass::Unroll | Pass::Coarsen | Pass::Stage | Pass::Tile | Pass::Combine)
            });
        }
        for (input, output) in inputs.into_iter().zip(outputs) {
            let file = SourceFile::new("page.c", input.into_bytes());
            let outcome = engine::run(&file, &[], &options).unwrap();
            let text = outcome.text.unwrap_or_else(|| panic!("{name}: nothing changes: {:?}", outcome.plans));
            assert_eq!(String::from_utf8(text).unwrap(), output, "{name}");
        }
    }
}

fn number(code: ReasonCode) -> u32 {
    code.id().trim_start_matches("OMPS").parse().unwrap()
}

#[test]
fn every_rule_that_is_named_exists() {
    let known: BTreeSet<u32> = ReasonCode::ALL.iter().map(|code| number(*code)).collect();
    let documents = DOCUMENTS.iter().map(|name| ((*name).to_owned(), read(name)));
    for (name, text) in documents.chain(manual_pages()) {
        let unknown: Vec<u32> = rules_in(&text).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "{name} names {unknown:?}");
    }
}

#[test]
fn manual_pages_name_every_refusal() {
    let named: BTreeSet<u32> = manual_pages()
        .iter()
        .flat_map(|(_, page)| rules_in(section(page, "Refuses when").unwrap_or_default()))
        .collect();
    let refusals = ReasonCode::ALL.iter().filter(|code| code.kind() == RuleKind::Refusal);
    let missing: Vec<&str> = refusals.filter(|code| !named.contains(&number(**code))).map(|code| code.id()).collect();
    assert!(missing.is_empty(), "no manual page names {missing:?}");
}

#[test]
fn every_rule_has_a_page_for_people() {
    for code in ReasonCode::ALL {
        let output = ompsplit(&["rule", code.id()], root());
        let page = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", code.id());
        let (title, body) = page.split_once("\n\n").unwrap_or_else(|| panic!("{page}"));
        assert!(title.starts_with(&format!("# {}: ", code.id())), "{title}");
        assert!(body.len() > 60, "{}: {body}", code.id());
        assert!(body.trim_end().ends_with(['.', '`']), "{}: {body}", code.id());
        for word in ["crate::", "super::", "unwrap", "ConstructId", "///", "ReasonCode", "TODO"] {
            assert!(!page.contains(word), "{}: `{word}` in {page}", code.id());
        }
    }
}

/// The code behind a line of a page that says what it shows, and the name of a file for it.
fn example(page: &str, what: &str) -> Option<(String, &'static str)> {
    let rest = page.split_once(&format!("\n{what}:\n"))?.1;
    let is_cpp = rest.trim_start().starts_with("```cpp");
    let (language, name) = if is_cpp { ("cpp", "page.cpp") } else { ("c", "page.c") };
    Some((blocks(rest, language).into_iter().next()?, name))
}

/// The rules that only a device or a flag brings up.
const WITH_DEVICE: &[&str] = &[
    "OMPS165", "OMPS170", "OMPS251", "OMPS405", "OMPS450", "OMPS860", "OMPS861", "OMPS864", "OMPS865", "OMPS866",
    "OMPS867", "OMPS868",
];
/// The rules without code that this text alone shows to be left alone: the compiler must disagree, or another one be asked for; or the
/// tool itself is at fault; or it is about flags, or the configuration.
const OUT_OF_SIGHT: &[&str] = &["OMPS132", "OMPS305", "OMPS455", "OMPS863", "OMPS902"];

/// The rules that the default passes, or one pass alone, cite for an example: a whole text, or statements of a function.
fn cited(code: ReasonCode, (example, name): &(String, &str)) -> BTreeSet<ReasonCode> {
    let starts = ["void ", "static ", "struct ", "template "];
    let is_whole = example.lines().any(|line| starts.iter().any(|start| line.starts_with(start)));
    let text = if is_whole {
        example.clone()
    } else {
        format!("void f(int n, int m, double *a, double *b, double *c, double x) {{\n{example}\n}}\n")
    };
    let file = SourceFile::new(*name, text.into_bytes());
    let mut cited = BTreeSet::new();
    let alone = TRANSFORMS.iter().map(|transform| Passes::from(vec![transform.pass]));
    for passes in alone.chain([Options::default().passes]) {
        let mut options = Options { passes, assumed_iterations: 1 << 30, ..Options::default() };
        if WITH_DEVICE.contains(&code.id()) {
            options.device = DeviceProfile::named("h200");
            // A grid that is replaced is not far off any more.
            options.retune = code.id() != "OMPS450";
            options.versioned = true;
        }
        match engine::run(&file, &[], &options) {
            Ok(outcome) => cited.extend(outcome.plans.iter().flat_map(|plan| &plan.reasons).map(|reason| reason.code)),
            Err(error) => cited.extend(error_code(&error)),
        }
    }
    cited
}

#[test]
fn pages_of_rules_show_what_is_left_alone_and_what_to_write_instead() {
    for code in ReasonCode::ALL {
        let page = code.page();
        if OUT_OF_SIGHT.contains(&code.id()) {
            continue;
        }
        let [left, instead] = ["Left alone", "Instead"]
            .map(|what| example(&page, what).unwrap_or_else(|| panic!("{}: no {what}", code.id())));
        // A comment that silences nothing is reported where files are scanned for such, not by the engine.
        if code.id() != "OMPS403" {
            assert!(cited(*code, &left).contains(code), "{}: not cited for\n{}", code.id(), left.0);
        }
        assert!(!cited(*code, &instead).contains(code), "{}: still cited for\n{}", code.id(), instead.0);
    }
}

/// `ompsplit generate schema NAME > docs/schema/NAME.json` writes them anew.
#[test]
fn the_published_schemas_are_those_of_the_program() {
    for name in ["output", "config"] {
        let printed = ompsplit(&["generate", "schema", name], root()).stdout;
        assert_eq!(read(&format!("docs/schema/{name}.json")), String::from_utf8(printed).unwrap(), "{name}");
    }
}

#[test]
fn documents_link_to_what_exists() {
    for name in DOCUMENTS {
        let text = read(name);
        let folder = root().join(name).parent().unwrap().to_path_buf();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            if !target.starts_with("http") && !target.starts_with('#') {
                assert!(folder.join(target).exists(), "{name} links to {target}");
            }
        }
    }
}

/// The figures of the suite's own page are those of the last committed run.
#[test]
fn the_suite_shows_the_last_benchmark_results() {
    let suite = read("bench/README.md");
    let shown = section(&suite, "How much it gives").unwrap();
    let results = read("bench/results/h200.md");
    let summary = section(&results, "Summary").unwrap();
    let rows =
        |text: &str| -> Vec<String> { text.lines().filter(|line| line.starts_with('|')).map(str::to_owned).collect() };
    assert!(rows(shown).len() > 4, "the page shows no table");
    assert_eq!(rows(shown), rows(summary));
}

/// The passes of the row of the report that shows what the last one of them adds, or `hoist` between others.
const STEPS: [(&str, &str); 4] = [
    ("split", "split"),
    ("collapse", "split,collapse"),
    ("geometry", "split,collapse,geometry"),
    ("hoist", "split,hoist,collapse,geometry"),
];

/// The README has one figure for each pass, and each stands in a committed report.
#[test]
fn the_readme_shows_the_measured_gain_of_each_pass() {
    let (readme, report) = (read("README.md"), read("bench/results/h200.md"));
    let shown = cells(section(&readme, "Passes").unwrap());
    let steps = cells(section(&report, "Step by step").unwrap());
    for (pass, passes) in STEPS {
        let name = format!("`{pass}`");
        let row = shown.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no row of {pass}"));
        let clock = if row[4].starts_with("kernel") { "kernels" } else { "total" };
        let step = steps.iter().find(|step| step[0] == passes && step[1] == clock);
        assert_eq!(row[3], step.expect("a row of the report")[4], "{pass}");
    }
    for (pass, where_measured) in
        [("pipeline", "times as fast at 64 MiB"), ("unroll", "times as fast in eleven programs")]
    {
        let row = shown.iter().find(|row| row[0] == format!("`{pass}`")).expect("a row of the pass");
        let measured = format!("{} {where_measured}", row[3].trim_end_matches(" x"));
        assert!(read(&format!("bench/results/{pass}/README.md")).contains(&measured), "{measured}");
    }

    // Those in the text, which are of the whole suite with all default passes.
    let whole = read("bench/results/h200-turns.md");
    let summary = cells(section(&whole, "Summary").unwrap());
    let figures = |name: &str| {
        let row = summary.iter().find(|row| row[0] == name && row[1] == "total").expect("a row of the summary");
        (row[3].trim_end_matches(" x").to_owned(), row[5].split(' ').next().unwrap_or_default().to_owned())
    };
    let (mean, best) = figures("output over naive");
    let (of_pragmas, _) = figures("output over pragmas");
    for figure in
        [format!("run {mean} times as fast"), format!("the best is {best} times"), format!("reaches {of_pragmas} of")]
    {
        assert!(readme.contains(&figure), "the README does not say `{figure}`");
    }
}

/// What a new pass needs beside its code: a word in the help, a section for users, and fixtures that it changes.
#[test]
fn every_pass_is_documented_and_shown() {
    let help = Command::new(env!("CARGO_BIN_EXE_ompsplit")).arg("--help").output().expect("the tool runs");
    let (help, passes) = (String::from_utf8_lossy(&help.stdout).into_owned(), read("docs/passes.md"));
    for transform in TRANSFORMS.iter().filter(|transform| transform.plan.is_some()) {
        let pass = transform.pass.name();
        assert!(help.contains(pass), "`--help` does not name {pass}");
        assert!(passes.contains(&format!("`{pass}`")), "docs/passes.md does not say what {pass} does");
        let changed = format!("// {pass}: ");
        let walk = ignore::Walk::new(root().join("fixtures")).map(Result::unwrap);
        let mut files = walk.filter(|entry| entry.path().is_file());
        let is_shown = files.any(|entry| fs::read(entry.path()).unwrap().starts_with(changed.as_bytes()));
        assert!(is_shown, "no fixture begins with `{changed}..`");
    }
}

/// The files and folders in `transformer/src`.
fn modules() -> Vec<String> {
    let names = entries(&root().join("transformer/src")).into_iter();
    let mut found: Vec<String> = names.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    found.sort();
    found.dedup();
    found
}

/// What the architecture leaves to the files' first lines.
#[test]
fn every_file_says_first_what_it_holds() {
    let walk = ignore::Walk::new(root().join("transformer/src")).map(Result::unwrap);
    let is_rust = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    let sources = walk.filter(|entry| is_rust(entry.path()) && !entry.path().ends_with("tests.rs"));
    let silent = sources.filter(|entry| !fs::read_to_string(entry.path()).unwrap().starts_with("//! "));
    let silent: Vec<_> = silent.map(|entry| entry.path().to_owned()).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_architecture_names_every_folder_and_nothing_that_is_gone() {
    let text = read("transformer/ARCHITECTURE.md");
    let quoted = quoted(&text);
    let modules = modules();
    let missing: Vec<_> = modules.iter().filter(|name| !quoted.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "transformer/ARCHITECTURE.md does not say what is in {missing:#?}");

    let is_path = |word: &&&str| word.contains('/') && !word.contains(['<', ' ', '*', '{']);
    let bases = ["", "transformer", "transformer/src"];
    let exists = |word: &str| {
        bases
            .iter()
            .map(|base| root().join(base).join(word))
            .any(|path| path.exists() || path.with_extension("rs").exists())
    };
    let gone: Vec<_> = quoted.iter().filter(is_path).filter(|word| !exists(word)).collect();
    assert!(gone.is_empty(), "transformer/ARCHITECTURE.md names what does not exist: {gone:#?}");
}

/// The table has a row for each pass that may wait, with all that it may wait for.
#[test]
fn the_architecture_says_which_pass_waits_for_which() {
    let text = read("transformer/ARCHITECTURE.md");
    let rows: Vec<Vec<&str>> = cells(section(&text, "The way of a round").expect("the section"));
    for transform in TRANSFORMS {
        let plans = [(false, false), (false, true), (true, false), (true, true)];
        let plans = plans.map(|(is_written, for_device)| Waiting { is_written, for_device });
        let waits_for: BTreeSet<&str> =
            plans.iter().flat_map(|plan| (transform.waits_for)(*plan)).map(|pass| pass.name()).collect();
        let name = format!("`{}`", transform.pass.name());
        let row = rows.iter().find(|row| row[0] == name);
        let said = row.map(|row| quoted(row[1])).unwrap_or_default();
        assert_eq!(said, waits_for, "{name}");
    }
}

#[test]
fn every_test_program_has_its_place_in_the_architecture() {
    let text = read("transformer/ARCHITECTURE.md");
    for path in entries(&root().join("tests")).iter().filter(|path| path.is_file() || path.join("main.rs").is_file()) {
        let name = format!("tests/{}", path.file_name().unwrap().to_string_lossy());
        assert!(quoted(&text).contains(name.as_str()), "{name}");
    }
}

/// A path of the machine that something was written on says nothing to anybody else.
#[test]
fn no_text_names_a_folder_of_one_machine() {
    let folders = [["/", "work"].concat(), ["/", "tmp"].concat(), ["/", "farm"].concat(), ["/", "root"].concat()];
    let mut looked_at = 0;
    let walk = ignore::WalkBuilder::new(root()).hidden(false).filter_entry(|e| e.file_name() != ".git").build();
    for entry in walk.map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        looked_at += 1;
        for folder in &folders {
            let at = text.match_indices(folder.as_str()).find(|(at, _)| {
                let part_of_more =
                    |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '}' | ')' | '$' | '*');
                let before = text[..*at].chars().next_back().is_some_and(part_of_more);
                let after = text[at + folder.len()..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
                !before && !after
            });
            if let Some((at, _)) = at {
                let line = text[..at].lines().count();
                panic!("{}:{line} names {folder}", entry.path().display());
            }
        }
    }
    assert!(looked_at > 200, "only {looked_at} files");
}

#[test]
fn the_licences_are_those_of_the_manifest() {
    assert!(read("Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
    assert!(read("LICENSE-MIT").contains("Permission is hereby granted, free of charge"));
    assert!(read("LICENSE-APACHE").contains("Version 2.0, January 2004"));
}
