//! The command line contract, checked on the program itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ompsplit");

/// Two loops in one region: `split` makes two kernels of it.
const SPLITS: &str = "\
void f(int n, float *a, float *b){
#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])
{
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]+=b[i];
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]*=2;
}
}
";

/// A function without directives.
const PLAIN: &str = "int g(int x) { return x + 1; }\n";

/// A region that `split` refuses: its structure is not known.
const REFUSED: &str = "\
void f(int n, float *a){
#pragma omp target teams map(tofrom: a[0:n])
{
#pragma omp distribute parallel for
for(int i=0;i<n;i++) a[i]+=;
#pragma omp distribute parallel for
for(int i=0;i<n;i++) a[i]*=2;
}
}
";

/// A folder with files, and what the program does there.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            project.write(name, text.as_bytes());
        }
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.folder.path()).env_remove("NO_COLOR");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(&self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    fn pipe(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let pipe = Stdio::piped;
        let mut child = self.command(arguments).stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // In a thread, since the program may write before it has read everything.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran::new(&output)
    }

    /// Runs and expects the exit status.
    #[track_caller]
    fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        ran
    }
}

/// What a run of the program gave.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Ran {
    fn new(output: &Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code().unwrap(), stdout: output.stdout.clone(), stderr }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// How many kernels a text launches.
fn kernels(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).matches("target teams distribute parallel for").count()
}

#[track_caller]
fn assert_split(text: &[u8]) {
    assert_eq!(kernels(text), 2, "{}", String::from_utf8_lossy(text));
    assert_eq!(String::from_utf8_lossy(text).matches("target data").count(), 1);
}

#[track_caller]
fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}

// Output and exit codes.

#[test]
fn one_path_goes_to_stdout_and_diagnostics_to_stderr() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["a.c"]);
    assert_split(&ran.stdout);
    assert_contains(&ran.stderr, "help: split into 2 kernels");
    assert_contains(&ran.stderr, "a.c:2:1");
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
}

#[test]
fn an_unchanged_file_is_printed_as_it_is() {
    let project = Project::new(&[]);
    let text = b"\xef\xbb\xbfint g; /* \xe9 */\r\nint h;";
    project.write("a.c", text);
    let ran = project.expect(0, &["a.c"]);
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_str()), (text.as_slice(), ""));
}

#[test]
fn several_paths_and_folders_need_a_mode() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", SPLITS)]);
    for paths in [&["a.c", "b.c"][..], &["."][..]] {
        let ran = project.expect(2, paths);
        assert!(ran.stdout.is_empty());
        assert_contains(&ran.stderr, "several files need --in-place, --check or --diff");
    }
}

#[test]
fn in_place_rewrites_several_files() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", SPLITS), ("c.c", PLAIN)]);
    let ran = project.expect(0, &["a.c", "b.c", "c.c", "--in-place"]);
    assert!(ran.stdout.is_empty());
    assert_split(&project.read("a.c"));
    assert_split(&project.read("b.c"));
    assert_eq!(project.read("c.c"), PLAIN.as_bytes());
}

#[test]
fn a_second_run_changes_nothing() {
    let project = Project::new(&[("a.c", SPLITS)]);
    project.expect(0, &["-i", "a.c"]);
    let first = project.read("a.c");
    project.expect(0, &["--check", "a.c"]);
    project.expect(0, &["-i", "a.c"]);
    assert_eq!(project.read("a.c"), first);
}

#[test]
fn check_writes_nothing_and_exits_1() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PLAIN)]);
    let ran = project.expect(1, &["--check", "a.c", "b.c"]);
    assert!(ran.stdout.is_empty());
    assert_contains(&ran.stderr, "would change: a.c");
    assert!(!ran.stderr.contains("would change: b.c"));
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    project.expect(0, &["--check", "b.c"]);
}

#[test]
fn diff_can_be_applied_by_patch() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PLAIN)]);
    let ran = project.expect(1, &["--diff", "a.c", "b.c"]);
    assert!(ran.text().starts_with("--- a/a.c\n+++ b/a.c\n@@ -1,"), "{}", ran.text());
    assert!(!ran.text().contains("b.c"));
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    project.write("x.diff", &ran.stdout);
    let patch = Command::new("patch").args(["-p1", "-i", "x.diff"]).current_dir(project.folder.path()).output();
    // Where `patch` is not installed, the other assertions stand alone.
    if let Ok(patch) = patch {
        assert!(patch.status.success(), "{}", String::from_utf8_lossy(&patch.stdout));
        assert_split(&project.read("a.c"));
        project.expect(0, &["--check", "a.c"]);
    }
    project.expect(0, &["--diff", "b.c"]);
}

#[test]
fn a_refusal_is_a_warning_and_exits_0_unless_asked() {
    let project = Project::new(&[("a.c", REFUSED)]);
    let ran = project.expect(0, &["a.c"]);
    assert_eq!(ran.stdout, REFUSED.as_bytes());
    assert_contains(&ran.stderr, "warning[OMPS101]");
    project.expect(1, &["--error-on-refusal", "a.c"]);
    project.expect(0, &["--check", "a.c"]);
}

#[test]
fn failures_exit_2_while_the_other_files_are_written_and_2_wins_over_1() {
    let project = Project::new(&[("a.c", SPLITS), ("nul.c", "int a;\0\n")]);
    let ran = project.expect(2, &["--check", "missing.c", "a.c", "nul.c"]);
    assert_contains(&ran.stderr, "missing.c: ");
    assert_contains(&ran.stderr, "nul.c: ");
    project.expect(2, &["-i", "missing.c", "a.c", "nul.c"]);
    assert_split(&project.read("a.c"));
    assert_eq!(project.read("nul.c"), b"int a;\0\n");
}

#[test]
fn wrong_usage_exits_2() {
    let project = Project::new(&[("a.c", SPLITS)]);
    for arguments in [
        &[][..],
        &["--no-such-flag", "a.c"],
        &["-i", "--check", "a.c"],
        &["-i", "--diff", "a.c"],
        &["--stdin-filename", "x.c", "a.c"],
        &["--lines", "0:3", "a.c"],
        &["--lines", "4:3", "a.c"],
        &["--lines", "x", "a.c"],
        &["--lines", "1:2", "--check", "."],
    ] {
        let ran = project.expect(2, arguments);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments:?}");
    }
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
}

#[test]
fn help_and_version_go_to_stdout() {
    let project = Project::new(&[]);
    let help = project.expect(0, &["--help"]).text();
    for part in ["src/*.c --in-place", "--stdin-filename", "--assume-filename", "--stdin-filepath", "Exit codes:"] {
        assert_contains(&help, part);
    }
    let version = project.expect(0, &["--version"]).text();
    assert_eq!(version.trim_end(), format!("ompsplit {}", env!("CARGO_PKG_VERSION")));
}

// Standard input.

#[test]
fn stdin_is_rewritten_to_stdout() {
    let project = Project::new(&[]);
    for flag in ["--stdin-filename", "--assume-filename", "--stdin-filepath"] {
        let ran = project.pipe(&["-", flag, "src/x.c"], SPLITS.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_split(&ran.stdout);
        assert_contains(&ran.stderr, "src/x.c:2:1");
    }
}

#[test]
fn stdin_comes_back_unchanged_when_something_fails() {
    let project = Project::new(&[(".ompsplit.toml", "wrong = 1\n")]);
    let nul = b"int a;\0\xff\r\n";
    for (arguments, input) in [
        (&["-", "--stdin-filename", "x.c", "--no-config"][..], nul.as_slice()),
        (&["-", "--passes", "no-such-pass", "--no-config"], SPLITS.as_bytes()),
        (&["-", "--no-such-flag"], SPLITS.as_bytes()),
        (&["-", "--stdin-filename", "x.c"], SPLITS.as_bytes()),
        (&["-", "other.c"], SPLITS.as_bytes()),
        (&["-i", "-"], SPLITS.as_bytes()),
        (&["-", "-p", "no-such-folder", "--no-config"], SPLITS.as_bytes()),
    ] {
        let ran = project.pipe(arguments, input);
        assert_eq!(ran.code, 2, "{arguments:?}");
        if !arguments.contains(&"-i") {
            assert_eq!(ran.stdout, input, "{arguments:?}");
        }
        assert!(!ran.stderr.is_empty());
    }
}

#[test]
fn a_failed_diff_of_stdin_prints_no_text() {
    let project = Project::new(&[]);
    for flag in ["--diff", "--check"] {
        let ran = project.pipe(&["-", flag, "--passes", "none"], SPLITS.as_bytes());
        assert_eq!((ran.code, ran.stdout.len()), (2, 0));
    }
    let ran = project.pipe(&["-", "--diff", "--stdin-filename", "x.c"], SPLITS.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.text().starts_with("--- a/x.c\n"));
}

#[test]
fn syntax_errors_on_stdin_are_no_failure() {
    let project = Project::new(&[]);
    let ran = project.pipe(&["-", "--stdin-filename", "x.c"], REFUSED.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_slice()), (0, REFUSED.as_bytes()));
}

// Passes, ranges, assumptions.

#[test]
fn an_unknown_pass_comes_with_a_suggestion() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(2, &["--passes", "splt", "a.c"]);
    assert_contains(&ran.stderr, "there is no pass `splt`; did you mean `split`?");
    assert!(ran.stdout.is_empty());
}

#[test]
fn planned_passes_are_accepted_with_a_note() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["--passes", "pipeline", "a.c"]);
    assert_eq!(ran.stdout, SPLITS.as_bytes());
    assert_contains(&ran.stderr, "`pipeline` is planned but not built");
    let all = project.expect(0, &["--passes", "all", "a.c"]);
    assert_split(&all.stdout);
    assert!(!all.stderr.contains("planned"));
}

#[test]
fn lines_choose_the_constructs_that_touch_them() {
    let text = format!("{SPLITS}{}", SPLITS.replace("f(", "g("));
    let project = Project::new(&[("a.c", text.as_str())]);
    assert_eq!(kernels(&project.expect(0, &["a.c"]).stdout), 4);
    let second = project.expect(0, &["--lines", "15:15", "a.c"]).stdout;
    assert_eq!(kernels(&second), 2);
    assert!(second.starts_with(SPLITS.as_bytes()));
    assert_eq!(kernels(&project.expect(0, &["--lines", "3:4", "--lines", "12:99", "a.c"]).stdout), 4);
    assert_eq!(kernels(&project.expect(0, &["--lines", "9:10", "a.c"]).stdout), 0);
}

// Writes.

#[cfg(unix)]
#[test]
fn an_unchanged_file_is_not_touched_and_a_changed_one_keeps_its_mode() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let project = Project::new(&[("a.c", PLAIN), ("b.c", SPLITS)]);
    fs::set_permissions(project.path("b.c"), fs::Permissions::from_mode(0o751)).unwrap();
    let identity = |name: &str| {
        let metadata = fs::metadata(project.path(name)).unwrap();
        (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
    };
    let before = identity("a.c");
    project.expect(0, &["-i", "a.c", "b.c"]);
    assert_eq!(identity("a.c"), before);
    assert_split(&project.read("b.c"));
    assert_eq!(fs::metadata(project.path("b.c")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(fs::read_dir(project.folder.path()).unwrap().count(), 2, "a temporary file is left");
}

#[cfg(unix)]
#[test]
fn symbolic_links_stay_links_and_their_target_is_written() {
    let project = Project::new(&[("real/a.c", SPLITS)]);
    std::os::unix::fs::symlink("real/a.c", project.path("link.c")).unwrap();
    project.expect(0, &["-i", "link.c"]);
    assert!(fs::symlink_metadata(project.path("link.c")).unwrap().file_type().is_symlink());
    assert_split(&project.read("real/a.c"));
}

#[cfg(unix)]
#[test]
fn a_file_given_twice_is_written_once() {
    let project = Project::new(&[("real/a.c", SPLITS)]);
    std::os::unix::fs::symlink("real/a.c", project.path("link.c")).unwrap();
    let ran = project.expect(0, &["-i", "link.c", "real/a.c", "real", "./real/a.c"]);
    assert_split(&project.read("real/a.c"));
    assert_eq!(ran.stderr.matches("help: split").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new(&[("a.c", SPLITS), ("b.c", SPLITS)]);
    fs::set_permissions(project.path("a.c"), fs::Permissions::from_mode(0o444)).unwrap();
    let ran = project.expect(2, &["-i", "a.c", "b.c"]);
    assert_contains(&ran.stderr, "a.c: is read-only");
    assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    assert_split(&project.read("b.c"));
}

#[test]
fn line_ends_marks_and_foreign_bytes_survive() {
    let project = Project::new(&[]);
    let mut text = b"\xef\xbb\xbf/* \xe9t\xe9 */\r\n".to_vec();
    text.extend(SPLITS.replace('\n', "\r\n").trim_end().bytes());
    project.write("a.c", &text);
    let diff = project.expect(1, &["--diff", "a.c"]).stdout;
    let holds = |part: &[u8]| diff.windows(part.len()).any(|window| window == part);
    assert!(holds(b" \xef\xbb\xbf/* \xe9t\xe9 */\r\n"));
    assert!(holds(b" }\n\\ No newline at end of file\n"), "{}", String::from_utf8_lossy(&diff));
    project.expect(0, &["-i", "a.c"]);
    let after = project.read("a.c");
    assert_split(&after);
    assert!(after.starts_with(b"\xef\xbb\xbf/* \xe9t\xe9 */\r\n"));
    assert!(after.ends_with(b"}\r\n}"));
    let newlines = after.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(after.windows(2).filter(|pair| pair == b"\r\n").count(), newlines);
}

// Folders and several files.

#[test]
fn folders_are_walked_without_what_gitignore_excludes() {
    let names = ["a.c", "sub/b.cpp", "sub/c.hpp", "h.h", "x.cc", "y.cxx", "z.hh", "w.hxx"];
    let others = ["build/gen.c", "notes.txt", ".hidden/d.c", "sub/skip_me.c"];
    let files: Vec<_> = names.iter().chain(&others).map(|name| (*name, SPLITS)).collect();
    let project = Project::new(&files);
    project.write(".gitignore", b"/build/\nskip_*.c\n");
    project.expect(0, &["-i", "."]);
    for name in names {
        assert_split(&project.read(name));
    }
    for name in others {
        assert_eq!(project.read(name), SPLITS.as_bytes(), "{name}");
    }
    // A file that is named is wanted, whatever is ignored.
    project.expect(0, &["-i", "build/gen.c"]);
    assert_split(&project.read("build/gen.c"));
}

#[test]
fn a_folder_without_sources_is_noted() {
    let project = Project::new(&[("docs/readme.txt", "x")]);
    let ran = project.expect(0, &["--check", "docs"]);
    assert_contains(&ran.stderr, "docs holds no C or C++ file");
}

#[test]
fn output_is_in_the_order_of_the_arguments_with_any_number_of_jobs() {
    let names: Vec<String> = (0..24).map(|i| format!("f{}.c", (i * 7) % 24)).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), SPLITS)).collect();
    let project = Project::new(&files);
    let run = |jobs: &str| {
        let mut arguments = vec!["--diff", "--output-format", "concise", "--jobs", jobs, "missing.c"];
        arguments.extend(names.iter().map(String::as_str));
        project.run(&arguments)
    };
    let one = run("1");
    assert_eq!(one, run("8"));
    let order: Vec<_> = one.text().lines().filter_map(|line| line.strip_prefix("--- a/").map(str::to_owned)).collect();
    assert_eq!(order, names);
    assert!(one.stderr.starts_with("missing.c: error: "), "{}", one.stderr);
}

#[test]
fn the_result_does_not_depend_on_the_other_arguments() {
    let header = "extern int scale;\n";
    let text = SPLITS.replace("a[i]*=2", "a[i]*=scale");
    let text = format!("#include \"scale.h\"\n{text}");
    let files = [("a.c", text.as_str()), ("scale.h", header), ("b.c", SPLITS)];
    let alone = Project::new(&files);
    alone.expect(0, &["-i", "a.c"]);
    let together = Project::new(&files);
    together.expect(0, &["-i", "b.c", "scale.h", "a.c"]);
    assert_eq!(alone.read("a.c"), together.read("a.c"));
    assert_split(&alone.read("a.c"));
}

#[test]
fn headers_are_found_through_flags_databases_and_configuration() {
    let text = format!("#include \"scale.h\"\n{}", SPLITS.replace("a[i]*=2", "a[i]*=scale"));
    let header = "extern int scale;\n";
    let project = Project::new(&[("src/a.c", text.as_str()), ("include/scale.h", header)]);
    let splits = |arguments: &[&str]| kernels(&project.run(arguments).stdout) == 2;
    assert!(!splits(&["src/a.c"]), "an unknown variable is used");
    assert!(splits(&["src/a.c", "--", "-I", "include"]));
    assert!(splits(&["src/a.c", "--", "-Iinclude"]));
    let folder = project.folder.path().to_str().unwrap();
    let database =
        format!(r#"[{{"directory": "{folder}/src", "file": "a.c", "command": "cc -c -I../include a.c -o a.o"}}]"#);
    project.write("build/compile_commands.json", database.as_bytes());
    assert!(splits(&["-p", "build", "src/a.c"]));
    project.write(".ompsplit.toml", b"include_dirs = [\"include\"]\n");
    assert!(splits(&["src/a.c"]));
    assert!(!splits(&["--no-config", "src/a.c"]));
    project.write(".ompsplit.toml", b"sources = [\"include\"]\n");
    assert!(splits(&["src/a.c"]));
}

#[test]
fn what_a_header_puts_on_the_device_is_tested_there() {
    let text = "#include \"rounds.h\"\nvoid f(int n, double *a) {\n#pragma omp target map(tofrom: a[0:n])\n\
        for (int t = 0; t < rounds; t++) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++)\na[i] = a[i] * a[i] + a[i] * t;\n}\n}\n";
    let project = Project::new(&[("a.c", text), ("rounds.h", "extern int rounds;\n")]);
    let plain = project.expect(0, &["a.c"]);
    assert_eq!(kernels(&plain.stdout), 1);
    assert_contains(&plain.text(), "for (int t = 0; t < rounds; t++)");
    let header = "#pragma omp declare target\nextern int rounds;\n#pragma omp end declare target\n";
    project.write("rounds.h", header.as_bytes());
    assert_contains(&project.expect(0, &["a.c"]).text(), "condition_holds = t < rounds;");
}

// Configuration.

#[test]
fn the_nearest_configuration_counts_and_flags_win() {
    let project = Project::new(&[
        ("a.c", SPLITS),
        ("sub/deep/a.c", SPLITS),
        (".ompsplit.toml", "passes = [\"split\"]\n"),
        ("sub/.ompsplit.toml", "passes = [\"pipeline\"]\n"),
    ]);
    assert_split(&project.expect(0, &["a.c"]).stdout);
    assert_eq!(project.expect(0, &["sub/deep/a.c"]).stdout, SPLITS.as_bytes());
    assert_split(&project.expect(0, &["--passes", "split", "sub/deep/a.c"]).stdout);
    assert_split(&project.expect(0, &["--no-config", "sub/deep/a.c"]).stdout);
    assert_split(&project.expect(0, &["--config", ".ompsplit.toml", "sub/deep/a.c"]).stdout);
    let piped = project.pipe(&["-", "--stdin-filename", "sub/x.c"], SPLITS.as_bytes());
    assert_eq!(piped.stdout, SPLITS.as_bytes());
}

#[test]
fn a_wrong_configuration_exits_2() {
    let project = Project::new(&[("a.c", SPLITS), ("sub/b.c", SPLITS)]);
    for (text, message) in [
        ("asume = true\n", "unknown key `asume`; did you mean `assume`?"),
        ("passes = [\"splitt\"]\n", "there is no pass `splitt`; did you mean `split`?"),
        ("assume = \"yes\"\n", "assume"),
        ("passes = [\n", "sub/.ompsplit.toml"),
        ("verify = \"sintax\"\n", "there is no verify level `sintax`; did you mean `syntax`?"),
    ] {
        project.write("sub/.ompsplit.toml", text.as_bytes());
        let ran = project.expect(2, &["--check", "sub/b.c"]);
        assert_contains(&ran.stderr, message);
        project.expect(1, &["--check", "a.c"]);
    }
    assert_contains(&project.expect(2, &["--config", "none.toml", "a.c"]).stderr, "none.toml");
}

#[test]
fn dump_config_prints_what_holds() {
    let project = Project::new(&[("a.c", SPLITS), (".ompsplit.toml", "assume = true\nflags = [\"-DN=1\"]\n")]);
    let dump = project.expect(0, &["--dump-config", "--passes", "split", "a.c", "--", "-DM"]).text();
    let shown: toml::Table = dump.parse().unwrap();
    assert_eq!(shown["assume"].as_bool(), Some(true));
    assert_eq!(shown["passes"].as_array().unwrap().len(), 1);
    assert_eq!(shown["flags"].as_array().unwrap().len(), 2);
    // What is printed is a configuration that says the same.
    project.write("again.toml", dump.as_bytes());
    project.expect(0, &["--config", "again.toml", "a.c"]);
}

#[test]
fn the_assumed_length_of_loops_decides_what_pays() {
    let league =
        SPLITS.replace("omp target map", "omp target teams map").replace("parallel for", "distribute parallel for");
    let project = Project::new(&[("a.c", &league)]);
    let left_alone = project.expect(0, &["--check", "a.c"]);
    assert_contains(&left_alone.stderr, "with 65536 iterations where the text does not tell");
    let split = project.expect(1, &["--check", "--assumed-iterations", "50000000", "a.c"]);
    assert_contains(&split.stderr, "split into 2 kernels inside one target data; pays from about");
    project.write(".ompsplit.toml", b"assumed_iterations = 50000000\n");
    project.expect(1, &["--check", "a.c"]);
    project.expect(0, &["--check", "--assumed-iterations", "1000", "a.c"]);
}

#[test]
fn both_forms_are_written_on_request_alone() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let plain = project.expect(1, &["--diff", "a.c"]);
    assert!(!plain.text().contains("} else {"), "{}", plain.text());
    let versioned = project.expect(1, &["--diff", "--versioned", "a.c"]);
    assert_contains(&versioned.text(), "if (n >= ");
    project.write(".ompsplit.toml", b"versioned = true\n");
    assert_eq!(project.expect(1, &["--diff", "a.c"]).stdout, versioned.stdout);
    project.expect(0, &["--in-place", "a.c"]);
    project.expect(0, &["--check", "a.c"]);
    project.expect(0, &["--no-config", "--check", "--assumed-iterations", "1000000", "a.c"]);
}

// Diagnostics.

#[test]
fn concise_diagnostics_are_one_line_each() {
    let project = Project::new(&[("a.c", REFUSED), ("b.c", SPLITS)]);
    let ran = project.expect(0, &["--output-format", "concise", "a.c"]);
    let line = ran.stderr.lines().next().unwrap();
    assert!(line.starts_with("a.c:") && line.ends_with(" [OMPS101]"), "{line}");
    let ran = project.expect(0, &["--output-format", "concise", "b.c"]);
    let line = ran.stderr.lines().next().unwrap();
    assert!(line.starts_with("b.c:2:1: split into 2 kernels") && line.ends_with(" [split]"), "{line}");
}

#[test]
fn json_describes_plans_and_edits() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED)]);
    let ran = project.expect(1, &["--check", "--output-format", "json", "a.c", "b.c"]);
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["files"][0]["changed"], true);
    let change = &document["diagnostics"][0];
    assert_eq!((&change["kind"], &change["pass"]), (&"change".into(), &"split".into()));
    assert_eq!((&change["decision"], &change["applicability"]), (&"apply".into(), &"safe".into()));
    assert_eq!(change["kernels"]["after"], 2);
    assert_eq!(change["range"]["start"], serde_json::json!({ "line": 2, "column": 1, "byte": 35 }));
    assert_eq!(apply(SPLITS, change), project.expect(0, &["a.c"]).text());
    let refusal = document["diagnostics"].as_array().unwrap().iter().find(|entry| entry["kind"] == "refusal").unwrap();
    assert_eq!((&refusal["file"], &refusal["code"]), (&"b.c".into(), &"OMPS101".into()));
    assert_eq!(refusal["decision"], "refuse");
}

/// The text with the edits of a JSON diagnostic applied.
fn apply(text: &str, change: &serde_json::Value) -> String {
    let mut text = text.to_owned();
    for edit in change["edits"].as_array().unwrap().iter().rev() {
        let byte = |end: &str| usize::try_from(edit["range"][end]["byte"].as_u64().unwrap()).unwrap();
        text.replace_range(byte("start")..byte("end"), edit["text"].as_str().unwrap());
    }
    text
}

#[test]
fn sarif_names_the_rules_it_cites() {
    let project = Project::new(&[("a b.c", REFUSED), ("c.c", SPLITS)]);
    let ran = project.expect(2, &["--check", "--output-format", "sarif", "a b.c", "c.c", "missing.c"]);
    let log: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let first = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(first["artifactLocation"]["uri"], "a%20b.c");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert!(run["results"].as_array().unwrap().iter().any(|result| result["fixes"].is_array()));
}

#[test]
fn github_annotations_name_file_line_and_rule() {
    let project = Project::new(&[("a.c", REFUSED)]);
    let ran = project.expect(0, &["--check", "--output-format", "github", "a.c"]);
    let line = ran.text().lines().next().unwrap().to_owned();
    assert!(line.starts_with("::warning file=a.c,line=") && line.contains("title=OMPS101::"), "{line}");
}

#[test]
fn formats_for_programs_leave_text_on_stdout_alone() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["--output-format", "json", "a.c"]);
    assert_split(&ran.stdout);
    assert!(serde_json::from_str::<serde_json::Value>(&ran.stderr).is_ok(), "{}", ran.stderr);
}

#[test]
fn quiet_leaves_errors_only() {
    let project = Project::new(&[("a.c", REFUSED), ("b.c", SPLITS)]);
    assert_eq!(project.expect(1, &["-q", "--check", "a.c", "b.c"]).stderr, "");
    assert_contains(&project.expect(2, &["-q", "--check", "missing.c"]).stderr, "missing.c");
}

#[test]
fn colour_follows_the_flag() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let escape = |ran: &Ran| (ran.text().contains('\x1b'), ran.stderr.contains('\x1b'));
    assert_eq!(escape(&project.run(&["--diff", "--color", "always", "a.c"])), (true, true));
    assert_eq!(escape(&project.run(&["--diff", "--color", "never", "a.c"])), (false, false));
    assert_eq!(escape(&project.run(&["--diff", "a.c"])), (false, false));
}

#[test]
fn rule_pages_come_from_the_code() {
    let project = Project::new(&[("rule", PLAIN)]);
    let page = project.expect(0, &["rule", "omps101"]).text();
    assert!(page.starts_with("# OMPS101: syntax error in or around the region\n"), "{page}");
    let list = project.expect(0, &["rule"]).text();
    assert_contains(&list, "OMPS101  syntax error in or around the region");
    assert_contains(&project.expect(2, &["rule", "OMPS999"]).stderr, "there is no rule `OMPS999`");
    assert_eq!(project.expect(0, &["./rule"]).stdout, PLAIN.as_bytes());
}

#[test]
fn explain_gives_decision_and_reasons() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED)]);
    let text = project.expect(0, &["explain", "a.c:5"]).text();
    assert_contains(&text, "a.c:2:1: split: applied, safe");
    assert_contains(&text, "kernels: 1 before, 2 after");
    assert_contains(&project.expect(0, &["explain", "b.c:3"]).text(), "OMPS101 at ");
    assert_contains(&project.expect(0, &["explain", "a.c:1"]).text(), "no pass concerns itself");
    project.expect(2, &["explain", "a.c"]);
    project.expect(2, &["explain", "missing.c:3"]);
}

#[test]
fn explain_says_who_executes_what_stands_between_loops() {
    let text = "void f(int n, double *a, double *b) {\n#pragma omp target map(tofrom: a[0:n], b[0:n])\n{\nint k = 2;\n\
                a[0] = 0.5 * a[1];\n#pragma omp parallel for\nfor (int i = 0; i < 1 << 24; i++) a[i] += k;\nif (a[1] > 2.0)\n\
                #pragma omp parallel for\nfor (int i = 0; i < 1 << 24; i++) b[i] += a[i];\n}\n}\n";
    let project = Project::new(&[("a.c", text)]);
    let text = project.expect(0, &["explain", "a.c:5"]).text();
    assert_contains(&text, "split into 4 kernels, 2 of one thread, inside one target data");
    assert_contains(&text, "  4:1: on the host\n  5:1: serial on the device: a kernel of one thread\n");
    assert_contains(&text, "  8:5: condition on the device: a kernel of one thread\n");
}

#[test]
fn devices_lists_the_profiles() {
    let listed = Project::new(&[]).expect(0, &["devices"]).text();
    assert_contains(&listed, "h200            NVIDIA H200");
    assert_eq!(listed.lines().count(), 10, "{listed}");
}

#[test]
fn planned_flags_say_so() {
    let project = Project::new(&[("a.c", PLAIN)]);
    assert_contains(&project.expect(0, &["--facts", "clang", "a.c"]).stderr, "planned");
    assert_contains(&project.expect(0, &["--device", "h200", "a.c"]).stderr, "planned");
}

#[test]
fn stats_count_regions_kernels_and_rules() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED)]);
    let ran = project.expect(1, &["-q", "--check", "--stats=json", "a.c", "b.c"]);
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["files"], &stats["files_changed"]), (&2.into(), &1.into()));
    assert_eq!((&stats["regions"], &stats["regions_changed"]), (&2.into(), &1.into()));
    assert_eq!(stats["refused_by_rule"]["OMPS101"], 1);
    assert_contains(&project.expect(1, &["-q", "--check", "--stats", "a.c"]).stderr, "kernels: 1 before, 2 after");
}

// Suppression.

#[test]
fn constructs_between_off_and_on_are_left_alone() {
    let second = SPLITS.replace("f(", "g(");
    let text = format!("// ompsplit off: vendor code\n{SPLITS}// ompsplit on\n{second}");
    let project = Project::new(&[("a.c", text.as_str())]);
    let ran = project.expect(0, &["a.c"]);
    assert_eq!(kernels(&ran.stdout), 2);
    assert!(ran.text().starts_with(&format!("// ompsplit off: vendor code\n{SPLITS}// ompsplit on\n")));
    assert_eq!(ran.stderr.matches("help: split").count(), 1);
    let open = Project::new(&[("a.c", format!("// ompsplit off\n{SPLITS}").as_str())]);
    open.expect(0, &["--check", "a.c"]);
}

#[test]
fn nolint_silences_one_rule_on_one_line() {
    let project = Project::new(&[("a.c", REFUSED)]);
    let concise = project.expect(0, &["--output-format", "concise", "a.c"]).stderr;
    let line: usize = concise.split(':').nth(1).unwrap().parse().unwrap();
    let with = |comment: &str| {
        let mut lines: Vec<&str> = REFUSED.lines().collect();
        lines.insert(line - 1, comment);
        project.write("a.c", (lines.join("\n") + "\n").as_bytes());
        project.run(&["--error-on-refusal", "a.c"])
    };
    for comment in ["// NOLINTNEXTLINE(OMPS101)", "// NOLINTNEXTLINE", "/* NOLINTNEXTLINE(OMPS*, x) */"] {
        let ran = with(comment);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{comment}");
    }
    let other = with("// NOLINTNEXTLINE(OMPS999, bugprone-foo)");
    assert_eq!(other.code, 1);
    assert_contains(&other.stderr, "OMPS999 is not reported");
    assert_eq!(with("// NOLINTNEXTLINE(bugprone-foo)").stderr.matches("not reported").count(), 0);
}

// Verification.

#[test]
fn a_missing_compiler_is_an_error_and_nothing_is_written() {
    let project = Project::new(&[("a.c", SPLITS)]);
    for level in ["syntax", "device", "host"] {
        let ran = project.command(&["-i", "--verify", level, "a.c"]).env("PATH", "").output().unwrap();
        let ran = Ran::new(&ran);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_contains(&ran.stderr, "install");
        assert_eq!(project.read("a.c"), SPLITS.as_bytes());
    }
}

/// Hostile input ends in a message, in time, and never in a panic.
#[test]
fn hostile_files_are_refused_or_fail() {
    let deep = format!("void f(){{\n#pragma omp target\n{}1{};}}\n", "(".repeat(100_000), ")".repeat(100_000));
    let braces = format!("#pragma omp target\n{}", "{".repeat(100_000));
    let texts: [(&str, &[u8]); 5] = [
        ("deep.c", deep.as_bytes()),
        ("braces.c", braces.as_bytes()),
        ("half.c", &SPLITS.as_bytes()[..SPLITS.len() / 2]),
        ("comment.c", b"#pragma omp target\n/* never closed"),
        ("bytes.c", b"\xff\xfe#pragma omp target\xff{\xc3\x28\n}"),
    ];
    let project = Project::new(&[]);
    for (name, text) in texts {
        project.write(name, text);
        let ran = project.run(&[name]);
        assert!(ran.code == 0 && ran.stdout == text || ran.code == 2, "{name}: {} {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
        assert_eq!(fs::read(Path::new(&project.path(name))).unwrap(), text);
    }
}

/// A fault of the tool itself costs an editor nothing either.
#[test]
fn stdin_comes_back_when_the_tool_itself_fails() {
    let arguments: Vec<std::ffi::OsString> = ["ompsplit", "-", "--no-config"].map(Into::into).into();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = ompsplit::cli::run(
        &arguments,
        &mut ompsplit::cli::Streams {
            stdin: &mut SPLITS.as_bytes(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            stdout_colour: false,
            stderr_colour: false,
        },
        |_, _, _| panic!("a fault"),
    );
    assert_eq!((status.code(), stdout.as_slice()), (2, SPLITS.as_bytes()));
    assert_contains(&String::from_utf8(stderr).unwrap(), "error[OMPS902]");
}

#[test]
fn verified_results_are_written() {
    // `tests/clang.rs` insists on the compiler; here it is enough that the level is wired.
    if Command::new("clang-19").arg("--version").output().is_err() {
        return;
    }
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["--verify", "device", "a.c"]);
    assert_split(&ran.stdout);
    for part in ["no new error or warning", "before", "after"] {
        assert_contains(&ran.stderr, part);
    }
    project.expect(0, &["-i", "--verify", "syntax", "a.c"]);
    assert_split(&project.read("a.c"));
}

// The user's program, before and after.

/// A program with a region that splits; it prints what it computed, its first argument and its standard input.
const PROGRAM_TEXT: &str = "\
#include <stdio.h>
static int a[900];
int main(int n, char **arguments) {
  int k = n > 1 ? arguments[1][0] - '0' : 1, m = n > 5 ? n : 900, c = getchar();
#pragma omp target map(from: a) if(k > 0)
  {
#pragma omp parallel for
    for (int i = 0; i < m; i++) a[i] = i % 7;
#pragma omp parallel for
    for (int i = 0; i < m; i++) a[i] *= 2;
  }
  int s = 0;
  for (int i = 0; i < 900; i++) s += a[i] * (i % 5 + k);
  printf(\"input %d\\nsum %d\\n\", c, s);
  return 0;
}
";

/// Runs the program in this process with an engine that replaces one passage of the right output by another.
fn run_with_fault(
    arguments: &[&str],
    engine: fn(
        &ompsplit::source::SourceFile,
        &[ompsplit::source::SourceFile],
        &ompsplit::engine::Options,
    ) -> Result<ompsplit::engine::Outcome, ompsplit::engine::EngineError>,
) -> (u8, String) {
    let arguments: Vec<std::ffi::OsString> =
        std::iter::once("ompsplit").chain(arguments.iter().copied()).map(Into::into).collect();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut streams = ompsplit::cli::Streams {
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        stdout_colour: false,
        stderr_colour: false,
    };
    let status = ompsplit::cli::run(&arguments, &mut streams, engine);
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn a_program_that_gives_the_same_is_written() {
    let settings = "assumed_iterations = 1000000000\n[verify]\nlevel = \"host\"\nargs = [\"3\"]\nstdin = \"in\"\n\
                    expected = \"out\"\nignore = [\"input\"]\nsources = [\"lib/helper.cpp\"]\n";
    let project = Project::new(&[
        (".ompsplit.toml", settings),
        ("a.c", PROGRAM_TEXT),
        ("in", "x"),
        ("out", "sum 26942\n"),
        ("lib/helper.cpp", "int helper;\n"),
    ]);
    let ran = project.run(&["-i", "a.c"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["give what the original gives (exit 0)", "2 widened loops show no new race", "after  2 kernels"] {
        assert_contains(&ran.stderr, part);
    }
    assert_split(&project.read("a.c"));
    assert_eq!(fs::read_dir(project.folder.path()).unwrap().count(), 5, "something is left");
}

#[test]
fn a_program_that_gives_something_else_is_not_written() {
    let project = Project::new(&[("a.c", PROGRAM_TEXT)]);
    let path = project.path("a.c");
    let path = path.to_str().unwrap();
    let arguments = ["-i", path, "--verify", "host", "--verify-no-races", "--assumed-iterations", "1000000000"];
    let (code, stderr) = run_with_fault(&arguments, |file, headers, options| {
        let mut outcome = ompsplit::engine::run(file, headers, options)?;
        outcome.text = outcome.text.map(|text| String::from_utf8(text).unwrap().replace("*= 2", "*= 3").into_bytes());
        Ok(outcome)
    });
    assert_eq!(code, 2, "{stderr}");
    assert_contains(&stderr, "OMPS902");
    assert_contains(&stderr, "line 2 of standard output is `sum 24249` instead of `sum 16166`");
    assert_eq!(project.read("a.c"), PROGRAM_TEXT.as_bytes());
}

#[test]
fn what_a_program_needs_is_asked_for() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", PROGRAM_TEXT)]);
    let long = ["--verify", "host", "--assumed-iterations", "1000000000"];
    let fails = |arguments: &[&str], part: &str| {
        let ran = project.expect(2, &[arguments, &long].concat());
        assert_contains(&ran.stderr, part);
    };
    fails(&["-i", "a.c"], "there is no `main` to run: name the other sources of the program with --verify-source");
    // With `if(0)` the region stays on the host, so that nothing is compared.
    fails(&["-i", "b.c", "--verify-arg", "0"], "launches none of the changed kernels");
    fails(&["-i", "b.c", "--verify-stdin", "missing"], "could not be built or run");
    fails(&["-i", "b.c", "--verify-tolerance", "0"], "no number above zero");
    assert_eq!((project.read("a.c"), project.read("b.c")), (SPLITS.into(), PROGRAM_TEXT.into()));
}
