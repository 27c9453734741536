//! A folder of files, and runs of the program in it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_ompsplit");

/// Two loops in one region: `split` makes two kernels of it.
pub const SPLITS: &str = "\
void f(int n, float *a, float *b){
#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])
{
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]+=b[i];
#pragma omp parallel for
for(int i=1;i<n;i++) a[i]*=2;
}
}
";

/// A function without directives.
pub const PLAIN: &str = "int g(int x) { return x + 1; }\n";

/// A region that `split` refuses: its structure is not known.
pub const REFUSED: &str = "\
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
pub struct Project {
    pub folder: TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            project.write(name, text.as_bytes());
        }
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.folder.path()).env_remove("NO_COLOR");
        command.env("OMPSPLIT_CACHE", "off");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(&self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    pub fn pipe(&self, arguments: &[&str], input: &[u8]) -> Ran {
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
    pub fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        ran
    }
}

/// What a run of the program gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    pub fn new(output: &Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code().unwrap(), stdout: output.stdout.clone(), stderr }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// How many kernels a text launches.
pub fn kernels(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).matches("target teams distribute parallel for").count()
}

#[track_caller]
pub fn assert_split(text: &[u8]) {
    assert_eq!(kernels(text), 2, "{}", String::from_utf8_lossy(text));
    assert_eq!(String::from_utf8_lossy(text).matches("target data").count(), 1);
}

#[track_caller]
pub fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}
