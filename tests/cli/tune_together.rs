//! `tune` with several runs at a time: a program that notes which device it sees, where it is and when it ran, and locks its device.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::project::{Project, Ran, assert_contains};
use crate::tune::{command, limits, with_driver};

/// Runs the rest of its arguments under the lock of a device.
const NOTING: &str = "\
[ \"$CUDA_VISIBLE_DEVICES\" = \"$ROCR_VISIBLE_DEVICES\" ] || echo differ >> \"$NOTES/log\"
place=$1; shift
mkdir \"$NOTES/lock-$place\" 2> /dev/null || echo clash \"$place\" >> \"$NOTES/log\"
begin=$(date +%s%N)
\"$@\"
status=$?
sleep 0.02
rmdir \"$NOTES/lock-$place\"
echo ran \"$place\" \"$begin\" \"$(date +%s%N)\" \"$PWD\" >> \"$NOTES/log\"
exit $status
";
const ON_A_DEVICE: &str = "sh noting.sh \"${CUDA_VISIBLE_DEVICES:-none}\" ./app";

/// A project, and a folder for notes.
struct Noted {
    project: Project,
    notes: TempDir,
}

/// A run of the program.
struct Run {
    place: String,
    time: (u128, u128),
    folder: PathBuf,
}

impl Noted {
    fn new() -> Self {
        let project = with_driver();
        project.write("noting.sh", NOTING.as_bytes());
        Self { project, notes: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.project, &[&["src/a.c", "--build", "true"], arguments].concat());
        command.env("NOTES", self.notes.path()).env_remove("CUDA_VISIBLE_DEVICES").env_remove("ROCR_VISIBLE_DEVICES");
        command
    }

    /// Runs, and gives what it told.
    fn tune(&self, fake: &str, arguments: &[&str]) -> Value {
        let mut command = self.command(&[arguments, &["--output-format", "json"]].concat());
        let ran = Ran::new(&command.env("FAKE", fake).output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_slice(&ran.stdout).unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.notes.path().join("log")).unwrap_or_default()
    }

    /// The runs. No two were in one place at a time.
    fn runs(&self) -> Vec<Run> {
        let log = self.log();
        let run = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let ["ran", place, begin, end, folder] = words[..] else { panic!("{line}") };
            let time = (begin.parse().unwrap(), end.parse().unwrap());
            Run { place: place.to_owned(), time, folder: folder.into() }
        };
        log.lines().map(run).collect()
    }
}

/// How many runs there were at once, at most.
fn most_at_once(runs: &[Run]) -> usize {
    let at = |time: u128| runs.iter().filter(|run| run.time.0 <= time && time < run.time.1).count();
    runs.iter().map(|run| at(run.time.0)).max().unwrap_or(0)
}

fn places(runs: &[Run]) -> BTreeMap<&str, BTreeSet<PathBuf>> {
    let mut found: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
    for run in runs {
        found.entry(&run.place).or_default().insert(run.folder.clone());
    }
    found
}

#[test]
fn each_run_has_a_device_of_its_own_and_is_held_against_the_present_form_there() {
    let search = ["--run", ON_A_DEVICE, "--candidates", "7", "--no-replay"];
    let alone = Noted::new();
    let one = alone.tune("", &search);
    assert_eq!(most_at_once(&alone.runs()), 1);
    let noted = Noted::new();
    let told = noted.tune("uneven", &[&search[..], &["--gpus", "0,1"]].concat());
    let runs = noted.runs();
    assert_eq!(most_at_once(&runs), 2, "{}", noted.log());
    let found = places(&runs);
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["0", "1"]);
    let folders: BTreeSet<_> = found.values().flatten().collect();
    assert!(
        found.values().all(|folders| folders.len() == 1) && folders.len() == 2,
        "each in a copy of its own: {found:?}"
    );
    // What is found, and the times in terms of the first device, are those of one device: that the other one is slower changes nothing.
    let text = |noted: &Noted| String::from_utf8(noted.project.read("src/a.c")).unwrap();
    assert_eq!(text(&noted), text(&alone));
    assert!(!limits(&text(&noted)).is_empty());
    for (row, other) in told["rows"].as_array().unwrap().iter().zip(one["rows"].as_array().unwrap()) {
        let time = |row: &Value, field: &str| row[field].as_f64().map(|time| (time * 1e6).round());
        assert!(row["present_us"].is_number(), "{row:#}");
        for field in ["present_us", "passes_us"] {
            assert_eq!(time(row, field), time(other, field), "{field}: {row:#}\n{other:#}");
        }
        assert_eq!(row["best"]["words"], other["best"]["words"]);
    }
    assert!(told["noise"].as_f64().unwrap() < 1e-9, "{told:#}");
}

#[test]
fn all_grids_in_one_run_and_one_gpu_stay_on_the_first_device() {
    let noted = Noted::new();
    let told = noted.tune("uneven", &["--run", ON_A_DEVICE, "--gpus", "1"]);
    assert_eq!(places(&noted.runs()).into_keys().collect::<Vec<_>>(), ["1"]);
    assert!(told["replayed"]["runs"].as_u64().unwrap() > 0);
    assert_eq!(limits(&String::from_utf8(noted.project.read("src/a.c")).unwrap()), ["64", "128"]);
}

#[test]
fn the_launcher_is_called_for_several_jobs_at_once() {
    let noted = Noted::new();
    let search = ["--run", "./app", "--candidates", "6", "--no-replay", "--jobs", "3"];
    noted.tune("", &[&search[..], &["--launcher", "sh noting.sh job{job}"]].concat());
    let runs = noted.runs();
    assert_eq!(most_at_once(&runs), 3, "{}", noted.log());
    assert_eq!(places(&runs).into_keys().collect::<Vec<_>>(), ["job0", "job1", "job2"]);
    assert_eq!(limits(&String::from_utf8(noted.project.read("src/a.c")).unwrap()).len(), 2);

    // A launcher that does not tell where it runs each job.
    let noted = Noted::new();
    noted.tune("", &[&search[..], &["--launcher", "sh noting.sh $$"]].concat());
    assert_eq!(most_at_once(&noted.runs()), 3, "{}", noted.log());
}

#[test]
fn a_prepared_folder_is_measured_on_several_devices() {
    let noted = Noted::new();
    let prepare = ["--run", ON_A_DEVICE, "--candidates", "4", "--prepare", "ready"];
    let ran = Ran::new(&noted.command(&prepare).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut measure = command(&noted.project, &["--measure", "ready", "--no-replay", "--gpus", "1,3"]);
    let ran = Ran::new(&measure.env("NOTES", noted.notes.path()).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let runs = noted.runs();
    assert_eq!((most_at_once(&runs), places(&runs).into_keys().collect::<Vec<_>>()), (2, vec!["1", "3"]));
}

#[test]
fn faults_and_hangs_on_one_device_do_not_stop_the_others() {
    let noted = Noted::new();
    let run = format!("{ON_A_DEVICE}; true");
    let arguments =
        ["--run", &run, "--exhaustive", "--rounds", "4", "--diff", "--verify-timeout", "1", "--gpus", "0,1"];
    let ran = Ran::new(&noted.command(&arguments).env("FAKE", "faulty").output().unwrap());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_contains(&ran.stderr, "no end after 1.0 s");
    assert_contains(&ran.stderr, "`wrong` instead of `right`");
    assert_eq!(limits(&ran.text()), ["64", "128"], "{}", ran.text());
}

#[test]
fn what_was_built_is_kept_when_runs_on_several_devices_are_killed() {
    let noted = Noted::new();
    let own = tempfile::tempdir().unwrap();
    let (tmp, builds) = (own.path().join("tmp"), own.path().join("builds"));
    fs::create_dir(&tmp).unwrap();
    let build = format!("echo one >> {}", builds.display());
    let count = || fs::read_to_string(&builds).map_or(0, |text| text.lines().count());
    let arguments = [
        "src/a.c",
        "--build",
        &build,
        "--run",
        ON_A_DEVICE,
        "--candidates",
        "4",
        "--no-replay",
        "--diff",
        "--gpus",
        "0,1",
    ];
    let prepared = |notes: &TempDir| {
        let mut command = command(&noted.project, &arguments);
        command.env("OMPSPLIT_CACHE", own.path().join("cache")).env("TMPDIR", &tmp).env("NOTES", notes.path());
        command
    };
    let mut child = prepared(&noted.notes).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while noted.log().lines().filter(|line| line.starts_with("ran 1 ")).count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none(), "{}", noted.log());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = count();
    assert!(before > 3, "{before}");
    // What was running may still hold its locks.
    let notes = tempfile::tempdir().unwrap();
    let ran = Ran::new(&prepared(&notes).output().unwrap());
    assert!(ran.code < 2, "{}", ran.stderr);
    assert!(count() - before <= 2, "the program as it stands, and the best forms together: {} more", count() - before);
    let left = fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let left: Vec<String> = left.filter(|name| name.starts_with("ompsplit-tune-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_would_share_a_device_or_a_folder_is_refused() {
    let noted = Noted::new();
    noted.project.write("t.c", b"int main(void) { return 0; }\n");
    noted.project.write("smi", b"#!/bin/sh\ncase \"$*\" in *--id=0*) echo NVIDIA A;; *) echo NVIDIA B;; esac\n");
    fs::set_permissions(noted.project.path("smi"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = ["--run", "./app"];
    for (arguments, said) in [
        (&["--jobs", "2"][..], "--jobs needs a --launcher"),
        (&["--gpus", "0,1,0"], "names a device twice"),
        (&["--gpus", "0,,1"], "--gpus names the devices by their numbers"),
        (&["--gpus", "0,1", "--jobs", "2", "--launcher", "sh"], "cannot be used with"),
        (&["--gpus", "0,1", "--prepare", "ready"], "cannot be used with"),
    ] {
        let ran = Ran::new(&noted.command(&[&run[..], arguments].concat()).output().unwrap());
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_contains(&ran.stderr, said);
    }
    let mut kinds = noted.command(&[&run[..], &["--gpus", "0,1"]].concat());
    let ran = Ran::new(&kinds.env("OMPSPLIT_NVIDIA_SMI", noted.project.path("smi")).output().unwrap());
    assert_contains(&ran.stderr, "devices of several kinds, for which other grids are best: NVIDIA A, NVIDIA B");
    let bound = ["src/a.c", "--build", "cc t.c -o tool -Wl,-rpath,$PWD", "--run", "./app", "--gpus", "0,1"];
    let ran = Ran::new(&command(&noted.project, &bound).output().unwrap());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_contains(&ran.stderr, "tool leads to the folder in which it was built");
    assert_eq!(noted.log(), "", "nothing ran");
}
