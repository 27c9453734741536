//! Signals: nothing is left behind, and each file is the old one or the new one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::project::{Project, SPLITS};

const SIGNALS: [(&str, i32); 3] = [("HUP", 1), ("INT", 2), ("TERM", 15)];

/// Stands for clang: says where it is and what it started, leaves a file where the real one keeps its own, and hangs.
const HANGING_CLANG: &str = "#!/bin/sh
case \"$*\" in *--version*) echo 'clang version 19'; exit;; esac
sleep 1000 &
echo half > \"${TMPDIR:-.}/half.o\"
echo \"$$ $!\" > \"$MARK.new\"
mv \"$MARK.new\" \"$MARK\"
wait
";

/// A program that reaches its kernels and then hangs, with a name that no other program has in its image.
const HANGING_PROGRAM: &str = "
#include <stdio.h>
#include <unistd.h>
void interrupted_in_its_kernel(int n, float *a, float *b){
#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])
{
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]+=b[i];
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]*=2;
}
}
int main(int count, char **names){
  static float a[1000], b[1000];
  interrupted_in_its_kernel(1000, a, b);
  FILE *mark = fopen(names[1], \"w\");
  fprintf(mark, \"%d\\n\", (int)getpid());
  fclose(mark);
  sleep(1000);
}
";

fn started(project: &Project, arguments: &[&str], clang: Option<&Path>) -> Child {
    fs::create_dir_all(project.path("tmp")).unwrap();
    // Whoever runs the tests may have them ignore signals, as `nohup` does.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=HUP,INT,TERM", crate::project::PROGRAM])
        .args(arguments)
        .current_dir(project.folder.path());
    command.env("TMPDIR", project.path("tmp")).env("MARK", project.path("mark"));
    if let Some(clang) = clang {
        command.env("OMPSPLIT_CLANG", clang);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the mark is there; what it says.
fn marked(project: &Project, child: &mut Child) -> String {
    let began = Instant::now();
    loop {
        match fs::read_to_string(project.path("mark")) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => {}
        }
        if let Some(status) = child.try_wait().unwrap() {
            let mut said = String::new();
            std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
            panic!("{status} before the mark: {said}");
        }
        assert!(began.elapsed() < Duration::from_secs(300), "no mark");
        sleep(Duration::from_millis(10));
    }
}

fn signalled(mut child: Child, name: &str) -> ExitStatus {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    child.wait().unwrap()
}

/// Does a process run? One that nobody has waited for is dead.
fn runs(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

#[track_caller]
fn assert_all_ended(processes: &str) {
    let began = Instant::now();
    while processes.split_whitespace().any(runs) {
        assert!(began.elapsed() < Duration::from_secs(60), "{processes} still run");
        sleep(Duration::from_millis(10));
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.collect()
}

#[test]
fn a_compiler_that_runs_ends_and_leaves_nothing() {
    for (name, number) in SIGNALS {
        for arguments in [&["-i", "--verify", "device", "a.c"][..], &["-i", "--facts", "clang", "a.c"]] {
            let project = Project::new(&[("a.c", SPLITS), ("clang.sh", HANGING_CLANG)]);
            fs::set_permissions(project.path("clang.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            let mut child = started(&project, arguments, Some(&project.path("clang.sh")));
            let processes = marked(&project, &mut child);
            assert_ne!(entries(&project.path("tmp")), [""; 0], "nothing is made, so nothing is shown");
            assert_eq!(signalled(child, name).signal(), Some(number), "{name}");
            assert_all_ended(&processes);
            assert_eq!(entries(&project.path("tmp")), [""; 0], "{name} {arguments:?}");
            assert_eq!(project.read("a.c"), SPLITS.as_bytes());
        }
    }
}

#[test]
fn the_program_of_the_user_ends_and_leaves_nothing() {
    let project = Project::new(&[("a.c", HANGING_PROGRAM)]);
    let mark = project.path("mark").to_str().unwrap().to_owned();
    let arguments =
        ["-i", "--verify", "host", "--verify-no-races", "--verify-timeout", "1000", "--verify-arg", &mark, "a.c"];
    let mut child = started(&project, &arguments, None);
    let process = marked(&project, &mut child);
    assert_eq!(signalled(child, "INT").signal(), Some(2));
    assert_all_ended(&process);
    assert_eq!(entries(&project.path("tmp")), [""; 0]);
    assert_eq!(project.read("a.c"), HANGING_PROGRAM.as_bytes());
    // The runtime's own copies of the device's code.
    for entry in fs::read_dir(Path::new("/").join("tmp")).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("tmpfile_") {
            let image = fs::read(entry.path()).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&image).contains("interrupted_in_its_kernel"), "{:?}", entry.path());
        }
    }
}

#[test]
fn files_are_old_or_new() {
    let names: Vec<String> = (0..200).map(|i| format!("src/f{i}.c")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), SPLITS)).collect();
    let new = Project::new(&[("a.c", SPLITS)]).expect(0, &["a.c"]).stdout;
    for pause in [0, 40, 80, 160, 240] {
        let project = Project::new(&files);
        let child = started(&project, &["-i", "src"], None);
        sleep(Duration::from_millis(pause));
        let status = signalled(child, "TERM");
        assert!(status.signal() == Some(15) || status.success(), "{status}");
        assert_eq!(entries(&project.path("src")).len(), names.len(), "a temporary file is left");
        for name in &names {
            let text = project.read(name);
            assert!(text == SPLITS.as_bytes() || text == new, "{name}: {}", String::from_utf8_lossy(&text));
        }
    }
}

/// Started to ignore a signal, as `nohup` does, the program does so.
#[test]
fn an_ignored_signal_stays_ignored() {
    let project = Project::new(&[("a.c", SPLITS), ("clang.sh", HANGING_CLANG)]);
    fs::set_permissions(project.path("clang.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(project.path("tmp")).unwrap();
    let script = format!("trap '' HUP; exec {} -i --facts clang a.c", crate::project::PROGRAM);
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(project.folder.path()).env("TMPDIR", project.path("tmp"));
    command.env("MARK", project.path("mark")).env("OMPSPLIT_CLANG", project.path("clang.sh"));
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let processes = marked(&project, &mut child);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "HUP", &id]).status().unwrap().success());
    sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    assert!(processes.split_whitespace().all(runs));
    assert_eq!(signalled(child, "TERM").signal(), Some(15));
    assert_all_ended(&processes);
}
