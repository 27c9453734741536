//! What the file for Vim and Neovim does to a buffer when it is written: tried in both, without a screen.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/editors/ompsplit.vim");

/// Two regions with a function between them; `split` changes both.
const TEXT: &str = "\
// one
// two
void f(int n, float *a, float *b){
#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])
{
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]+=b[i];
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]*=2;
}
}
int between(int x)
{
    return x + 1;
}
void g(int n, float *a, float *b){
#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])
{
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]+=b[i];
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]*=2;
}
}
// last
";

/// The editors and how they run a script; both must be there, as `.ci/test` sees to.
const EDITORS: &[(&str, &[&str])] = &[
    ("vim", &["-N", "-u", "NONE", "-i", "NONE", "-n", "-es"]),
    ("nvim", &["--headless", "-u", "NONE", "-i", "NONE", "-n", "-es"]),
];

/// What stands for `ompsplit` on the path.
#[derive(Clone, Copy)]
enum Program<'a> {
    /// This one.
    Ours,
    /// Nothing.
    Missing,
    /// A shell script.
    Script(&'a str),
}

/// A folder with a file that an editor opens.
struct Desk {
    folder: TempDir,
    name: String,
}

impl Desk {
    fn new(name: &str, text: &[u8]) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap(), name: name.to_owned() };
        fs::write(desk.path(), text).unwrap();
        desk
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    fn read(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    /// What `ompsplit` makes of the file by itself.
    fn expected(&self) -> Vec<u8> {
        let output = Command::new(env!("CARGO_BIN_EXE_ompsplit")).arg(self.path()).output().unwrap();
        assert!(output.status.success() && output.stdout != self.read(), "nothing changes");
        output.stdout
    }

    /// Opens the file with the recipe loaded, runs the lines of the script, and gives what it puts into `g:seen`.
    fn edit(&self, editor: (&str, &[&str]), program: Program<'_>, script: &str) -> Value {
        let bin = self.folder.path().join("bin");
        let _kept = fs::remove_dir_all(&bin);
        fs::create_dir(&bin).unwrap();
        match program {
            Program::Ours => symlink(env!("CARGO_BIN_EXE_ompsplit"), bin.join("ompsplit")).unwrap(),
            Program::Missing => {}
            Program::Script(text) => {
                fs::write(bin.join("ompsplit"), format!("#!/bin/sh\n{text}\n")).unwrap();
                fs::set_permissions(bin.join("ompsplit"), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let (result, script_file) = (self.folder.path().join("seen.json"), self.folder.path().join("script.vim"));
        let _none = fs::remove_file(&result);
        let quoted = |path: PathBuf| path.to_str().unwrap().replace('\'', "''");
        let script = format!(
            "source {RECIPE}\nset hidden\nexecute 'edit' fnameescape('{}')\nlet g:seen = {{}}\n{script}\n\
             call writefile([json_encode(g:seen)], '{}')\nqall!\n",
            quoted(self.path()),
            quoted(result.clone())
        );
        fs::write(&script_file, script).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let (name, flags) = editor;
        let mut command = Command::new(name);
        command.args(flags).arg("-S").arg(&script_file).env("PATH", path).env("TERM", "dumb").stdin(Stdio::null());
        let output = command.output().unwrap_or_else(|error| panic!("{name} (install it as .ci/test does): {error}"));
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        let seen = fs::read_to_string(&result).unwrap_or_else(|error| panic!("{name}: {error}: {said}"));
        serde_json::from_str(&seen).unwrap()
    }
}

/// Everything of a buffer that a user would miss.
const LOOK: &str = "\
function! Look()
  return {'lines': getline(1, '$'), 'cursor': [getline('.'), col('.')], 'mark': getline(\"'m\"),
        \\ 'folds': map(range(1, line('$')), 'foldlevel(v:val) . (foldclosed(v:val) > 0 ? \"+\" : \"\")'),
        \\ 'tick': undotree().seq_cur, 'messages': execute('messages')}
endfunction
";

/// Folds, a mark and the cursor between the two regions, an edit, a save, and the edit undone step by step.
fn session() -> String {
    format!(
        "{LOOK}
set foldmethod=manual undolevels=100
1,2fold
12,15fold
call cursor(14, 5)
mark m
foldopen
call setline(14, '    return x + 22;')
let &undolevels = &undolevels
let g:seen.before = Look()
write
let g:seen.after = Look()
silent undo
let g:seen.undone = Look()
silent undo
let g:seen.original = Look()"
    )
}

fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text).lines().map(str::to_owned).collect()
}

#[test]
fn a_save_rewrites_and_keeps_the_cursor_marks_folds_and_undo() {
    for editor in EDITORS {
        let desk = Desk::new("a.c", TEXT.as_bytes());
        let expected = String::from_utf8(desk.expected()).unwrap().replace("x + 1", "x + 22");
        let seen = desk.edit(*editor, Program::Ours, &session());
        let name = editor.0;
        assert_eq!(desk.read(), expected.as_bytes(), "{name}");
        assert_eq!(seen["after"]["lines"], serde_json::json!(lines(expected.as_bytes())), "{name}");
        for part in ["cursor", "mark"] {
            assert_eq!(seen["after"][part], seen["before"][part], "{name}: {part}");
        }
        // One more line stands before the fold than before.
        let folded = |at: &str| -> Vec<String> {
            let folds = seen[at]["folds"].as_array().unwrap().iter().zip(seen[at]["lines"].as_array().unwrap());
            folds.filter(|(fold, _)| *fold != "0").map(|(fold, line)| format!("{fold} {line}")).collect()
        };
        assert_eq!(folded("before").len(), 6, "{name}");
        assert_eq!(folded("after"), folded("before"), "{name}");
        assert_eq!(seen["undone"]["lines"], seen["before"]["lines"], "{name}: not one step of undo");
        assert_eq!(seen["original"]["lines"], serde_json::json!(lines(TEXT.as_bytes())), "{name}");
    }
}

#[test]
fn whatever_happens_to_the_program_the_buffer_stays() {
    let ours = env!("CARGO_BIN_EXE_ompsplit");
    let half = format!("{ours} \"$@\" | head -c 300; kill -9 $$");
    let short = format!("{ours} \"$@\" | head -c 300; exit 1");
    let other = format!(
        "cat >/dev/null; printf '// x\\n{}' | {ours} --diff -; exit 1",
        TEXT.replace('\n', "\\n").replace('%', "%%")
    );
    for (what, program, is_said) in [
        ("missing", Program::Missing, true),
        ("not a program", Program::Script("exec /no/such/interpreter"), true),
        ("killed at once", Program::Script("kill -9 $$"), true),
        ("killed half way", Program::Script(&half), true),
        ("exit 2 with the input", Program::Script("cat; echo 'error: no' >&2; exit 2"), true),
        ("exit 2 without a word", Program::Script("exit 2"), true),
        ("nothing, exit 0", Program::Script("exit 0"), false),
        ("nothing, exit 1", Program::Script("cat >/dev/null; exit 1"), false),
        ("half a diff", Program::Script(&short), true),
        ("a diff of another text", Program::Script(&other), true),
        ("noise on stderr", Program::Script("cat >/dev/null; echo noise >&2"), false),
    ] {
        for editor in EDITORS {
            let desk = Desk::new("a.c", TEXT.as_bytes());
            let seen = desk.edit(*editor, program, &session());
            let name = editor.0;
            for part in ["lines", "cursor", "mark", "folds", "tick"] {
                assert_eq!(seen["after"][part], seen["before"][part], "{name}: {what}: {part}");
            }
            assert_eq!(desk.read(), TEXT.replace("x + 1", "x + 22").as_bytes(), "{name}: {what}");
            let messages = seen["after"]["messages"].as_str().unwrap();
            assert_eq!(messages.contains("the buffer stays as it is"), is_said, "{name}: {what}: {messages}");
        }
    }
}

#[test]
fn odd_names_line_ends_and_bytes_survive() {
    let crlf = TEXT.replace('\n', "\r\n");
    let mixed = TEXT.replacen("// one\n", "// one\r\n", 1);
    let mut latin1 = TEXT.replace("// one", "// \u{1}ne").into_bytes();
    latin1[3] = 0xe9;
    let mut nul = TEXT.as_bytes().to_vec();
    nul[4] = 0;
    let marked = [b"\xef\xbb\xbf", TEXT.as_bytes()].concat();
    for (name, text) in [
        ("a b's %#!$(x) [y].c", TEXT.as_bytes()),
        ("-i.c", TEXT.as_bytes()),
        ("dos.c", crlf.as_bytes()),
        ("mixed.c", mixed.as_bytes()),
        ("no_newline.c", TEXT.trim_end().as_bytes()),
        ("latin1.c", &latin1),
        ("mark.c", &marked),
    ] {
        for editor in EDITORS {
            let desk = Desk::new(name, text);
            let expected = desk.expected();
            desk.edit(*editor, Program::Ours, "set fileencodings=ucs-bom,utf-8,latin1 nofixendofline\nedit\nwrite");
            assert_eq!(
                String::from_utf8_lossy(&desk.read()),
                String::from_utf8_lossy(&expected),
                "{}: {name}",
                editor.0
            );
            assert_eq!(desk.read(), expected, "{}: {name}", editor.0);
        }
    }
    for editor in EDITORS {
        // What the tool refuses stays, NUL and all.
        let desk = Desk::new("nul.c", &nul);
        desk.edit(*editor, Program::Ours, "write");
        assert_eq!(desk.read(), nul, "{}", editor.0);
    }
}

#[test]
fn the_command_works_without_a_name_and_saving_can_be_left_alone() {
    let script = "\
let b:ompsplit_on_save = 0
write
let g:seen.saved = getline(1, '$')
let b:text = getline(1, '$')
enew
call setline(1, getbufvar('#', 'text'))
set filetype=c
OmpSplit
let g:seen.unnamed = getline(1, '$')
%delete
OmpSplit
let g:seen.empty = getline(1, '$')";
    for editor in EDITORS {
        let desk = Desk::new("a.c", TEXT.as_bytes());
        let expected = desk.expected();
        let seen = desk.edit(*editor, Program::Ours, script);
        assert_eq!(seen["saved"], serde_json::json!(lines(TEXT.as_bytes())), "{}", editor.0);
        assert_eq!(seen["unnamed"], serde_json::json!(lines(&expected)), "{}", editor.0);
        assert_eq!(seen["empty"], serde_json::json!([""]), "{}", editor.0);
    }
}

#[test]
fn a_large_file_is_no_special_case() {
    let filler = "int filler(int x) { return x + 1; } // a line among very many\n".repeat(20_000);
    let text = format!("{filler}{TEXT}{filler}");
    for editor in EDITORS {
        let desk = Desk::new("large.c", text.as_bytes());
        let expected = desk.expected();
        desk.edit(*editor, Program::Ours, "write");
        assert!(desk.read() == expected, "{}", editor.0);
    }
}
