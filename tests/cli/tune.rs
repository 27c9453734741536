//! `tune`: a program that stands for one with kernels, a driver whose clock is known, and once the real compiler with its x86_64 device.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::project::{Project, Ran, assert_contains};

/// Two kernels whose passes change nothing but grids.
const SOURCE: &str = "\
void f(int n, const double *u, double *v) {
#pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
  for (int i = 0; i < n; i++)
    v[i] = u[i] + 1;
}
void g(int n, const double *u, double *v) {
#pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
  for (int i = 0; i < n; i++)
    v[i] = 2 * u[i];
}
";
/// A build that only some texts survive.
const BUILD: &str = "if grep -q 'thread_limit(256)' src/a.c; then echo no such grid >&2; exit 1; fi; echo built >> log";

/// A project with a program and a driver that are ready.
pub fn with_driver() -> Project {
    let project = Project::new(&[("src/a.c", SOURCE), ("driver/fake.c", include_str!("fake_cuda.c"))]);
    let compile = |arguments: &[&str]| {
        let status = Command::new("cc").args(arguments).current_dir(project.folder.path()).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    compile(&["-shared", "-fPIC", "-w", "driver/fake.c", "-o", "driver/libcuda.so.1"]);
    compile(&["-DPROGRAM", "-w", "driver/fake.c", "-ldl", "-o", "app"]);
    project
}

pub fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(&[&["tune"], arguments].concat());
    command.env("LD_LIBRARY_PATH", project.path("driver")).env("OMPSPLIT_NVIDIA_SMI", "no such program");
    command.stdin(Stdio::null());
    command
}

fn tune(project: &Project, arguments: &[&str]) -> Ran {
    Ran::new(&command(project, arguments).output().unwrap())
}

fn text(project: &Project) -> String {
    String::from_utf8(project.read("src/a.c")).unwrap()
}

/// The clauses of the grid of each kernel.
pub fn limits(text: &str) -> Vec<&str> {
    let clauses = text.split("thread_limit(").skip(1);
    clauses.map(|rest| rest.split(')').next().unwrap()).collect()
}

#[test]
fn each_kernel_gets_its_best_grid_by_the_devices_clock() {
    let project = with_driver();
    let arguments = ["src/a.c", "--build", "echo built > log", "--run", "./app", "--candidates", "7"];
    let ran = tune(&project, &[&arguments[..], &["--output-format", "json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(told["clock"], "device", "{told:#}");
    // The number of threads that is best of those that were tried.
    let fastest = |kernel: usize, best: f64| {
        let tried = told["rows"][kernel]["measured"].as_array().unwrap().iter();
        let threads = tried.filter_map(|one| one["choice"]["told"]["grid"]["threads"].as_f64());
        threads.min_by(|one, other| (one / best).ln().abs().total_cmp(&(other / best).ln().abs())).unwrap().to_string()
    };
    let text = text(&project);
    assert_eq!(limits(&text), [fastest(0, 64.0), fastest(1, 128.0)], "{text}\n{told:#}");
    let first = &told["rows"][0];
    assert!(first["present_us"].as_f64().unwrap() > 1.5 * first["best"]["median_us"].as_f64().unwrap());

    // What was found is written down, and ordinary runs keep it without a word.
    let config = String::from_utf8(project.read(".ompsplit.toml")).unwrap();
    assert_eq!(config.matches("[tuned.").count(), 2, "{config}");
    assert_contains(&config, "file = \"src/a.c\"");
    assert_contains(&config, "clock = \"device\"");
    for more in [&[][..], &["--device", "h200"], &["--device", "h200", "--passes", "all", "--retune"]] {
        let again = project.expect(0, &[&["--check", "src/a.c"], more].concat());
        assert!(!again.stderr.contains("OMPS450") && !again.stderr.contains("note:"), "{}", again.stderr);
    }
    assert_contains(&project.expect(0, &["explain", "--device", "h200", "src/a.c"]).text(), "OMPS455");
    project.write("src/a.c", text.replace("2 * u[i]", "3 * u[i]").as_bytes());
    let stale = project.run(&["--check", "src/a.c"]);
    assert_contains(&stale.stderr, "is about a loop that is no longer there");
}

/// `tune` with all grids in one run, a driver that is not as usual, and a count of builds; what it told.
fn replayed(fake: &str, more: &[&str]) -> (Project, Ran, Value, usize) {
    let project = with_driver();
    let own = tempfile::tempdir().unwrap();
    let builds = own.path().join("builds");
    let build = format!("echo one >> {}", builds.display());
    let arguments = ["src/a.c", "--build", &build, "--run", "./app", "--output-format", "json"];
    let mut command = command(&project, &[&arguments[..], more].concat());
    let ran = Ran::new(&command.env("FAKE", fake).env("OMPSPLIT_CACHE", "off").output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = serde_json::from_slice(&ran.stdout).unwrap();
    let count = fs::read_to_string(builds).unwrap().lines().count();
    (project, ran, told, count)
}

#[test]
fn all_grids_are_launched_in_one_run_and_leave_no_trace() {
    let (project, _, told, builds) = replayed("", &[]);
    // The program prints what it should although each kernel was launched many times.
    assert_eq!(told["replayed"]["refused"], serde_json::json!({}), "{told:#}");
    let forms = usize::try_from(told["replayed"]["runs"].as_u64().unwrap()).unwrap();
    for (row, best) in told["rows"].as_array().unwrap().iter().zip([64, 128]) {
        let measured = row["measured"].as_array().unwrap();
        let searched: Vec<&Value> = measured.iter().filter(|one| one["searched_us"].is_number()).collect();
        assert!(searched.len() > 20 && measured.len() > searched.len() - 1, "every grid was launched: {row:#}");
        let grid = |one: &Value| one["choice"]["told"]["grid"]["threads"].as_u64();
        let fastest = searched.iter().filter(|one| grid(one).is_some()).min_by(|one, other| {
            one["searched_us"].as_f64().unwrap().total_cmp(&other["searched_us"].as_f64().unwrap())
        });
        assert_eq!(grid(fastest.unwrap()), Some(best));
        assert!(
            measured.iter().filter(|one| one["median_us"].is_number()).count() < 8,
            "few ran by themselves: {row:#}"
        );
    }
    assert_eq!(limits(&text(&project)), ["64", "128"]);
    // The program as it stands, what the passes make, each form, the best grids, and their best together.
    assert!(builds <= 2 + forms + 4, "{builds} builds");
    // Four rounds of the program, its twin, what the passes make, and three finalists; and once more of the best together.
    assert!(told["runs"].as_u64().unwrap() <= 1 + 3 + 4 * 6 + 4 * 4 + u64::try_from(forms).unwrap(), "{told:#}");
}

#[test]
fn replays_can_be_left() {
    let (_, _, told, _) = replayed("", &["--no-replay", "--candidates", "3"]);
    assert!(told["replayed"].is_null() && told["rows"][0]["best"].is_object(), "{told:#}");
}

#[test]
fn what_cannot_be_replayed_runs_by_itself() {
    for (fake, why) in [
        ("forgetful", "`wrong` instead of `right`"),
        ("generic", "generic mode"),
        ("managed", "managed memory"),
        ("full", "no room for a copy"),
        ("capturing", "its launch is captured, not made"),
        ("host-alloc", "memory of the host mapped"),
        ("host-old", "memory of the host mapped"),
        ("host-register", "memory of the host mapped"),
        ("host-pointer", "memory of the host mapped"),
        ("create", "maps memory of the device by itself"),
    ] {
        let (project, _, told, _) = replayed(fake, &["--part", "0.01"]);
        let refused = told["replayed"]["refused"].as_object().unwrap();
        assert_eq!(refused.len(), 2, "{fake}: {told:#}");
        for told in refused.values() {
            assert_contains(told.as_str().unwrap(), why);
        }
        assert!(told["rows"][0]["best"].is_object(), "{fake}: {told:#}");
        assert!(!limits(&text(&project)).is_empty());
    }
}

/// What kernels change beside what was allocated is restored too, and memory of the host that no kernel sees is no obstacle.
#[test]
fn variables_of_modules_are_restored_and_locked_memory_is_left() {
    for fake in ["variable", "locked", "async"] {
        let (project, _, told, _) = replayed(fake, &["--candidates", "4"]);
        assert_eq!(told["replayed"]["refused"], serde_json::json!({}), "{fake}: {told:#}");
        assert!(told["replayed"]["runs"].as_u64().unwrap() > 0, "{fake}: {told:#}");
        assert!(!limits(&text(&project)).is_empty(), "{fake}");
    }
}

/// Loops of which no build can leave the grid open are told of, each with the reason.
#[test]
fn loops_that_are_not_replayed_are_told() {
    let project = with_driver();
    let sum = "\
long h(int n, const long *u) {
  long sum = 0;
#pragma omp target teams distribute parallel for map(to: u[0:n]) reduction(+: sum)
  for (int i = 0; i < n; i++)
    sum += u[i];
  return sum;
}
int bound(int);
void k(int n, double *v) {
#pragma omp target teams distribute parallel for map(tofrom: v[0:n])
  for (int i = 0; i < bound(n); i++)
    v[i] = 1;
}
";
    for (source, lines) in [(sum.to_owned(), [3, 10]), (format!("{SOURCE}{sum}"), [13, 20])] {
        project.write("src/a.c", source.as_bytes());
        let arguments = ["src/a.c", "--build", "true", "--run", "./app", "--candidates", "2", "--diff"];
        let ran = tune(&project, &arguments);
        assert!(ran.code < 2, "{}", ran.stderr);
        let [reduces, unknown] = lines;
        assert_contains(
            &ran.stderr,
            &format!("line {reduces}: its grids are tried in runs of their own: it has a `reduction`"),
        );
        assert_contains(
            &ran.stderr,
            &format!("line {unknown}: its grids are tried in runs of their own: its bounds are no simple expressions"),
        );
        let ran = tune(&project, &[&arguments[..], &["--no-replay"]].concat());
        assert!(!ran.stderr.contains("runs of their own"), "{}", ran.stderr);
    }
}

#[test]
fn the_clocks_library_takes_turns_and_keeps_its_time() {
    let project = with_driver();
    let prepare = ["src/a.c", "--build", "true", "--run", "./app", "--candidates", "1", "--prepare", "ready"];
    let ran = tune(&project, &prepare);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fs::copy(project.path("ready/replays/0.c"), project.path("src/a.c")).unwrap();
    let paths = std::env::join_paths([project.path("ready/clock"), project.path("driver")]).unwrap();
    let replay = |orders: &str, fake: &str| {
        let times = tempfile::tempdir().unwrap();
        project.write("orders", orders.as_bytes());
        let mut app = Command::new(project.path("app"));
        app.current_dir(project.folder.path()).env("LD_LIBRARY_PATH", &paths).env("FAKE", fake);
        app.env("OMPSPLIT_CLOCK", times.path()).env("OMPSPLIT_REPLAY", project.path("orders"));
        assert_eq!(app.output().unwrap().stdout, b"right\n");
        let file = fs::read_dir(times.path()).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(file).unwrap()
    };
    let grids = "grid 32 3200\ngrid 1024 3200\ngrid 64 3200\ngrid 64 8\ngrid 128 2\ngrid 64 16\n";
    let orders = format!("kernel 2 __omp_offloading_\n{grids}kernel 8 __omp_offloading_\n{grids}");
    let told = replay(&orders, "");
    let found: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("replay 2 1 ")).collect();
    let all = [
        // 1,000 iterations are 16 teams of 64, however many more there may be; 1,024 threads cannot be launched.
        "32 3200 3.000000",
        "64 3200 2.000000",
        "64 16 2.000000",
        "64 8 2.000000",
        "128 2 3.000000",
        // Twice more, beginning elsewhere, what is not far from the best.
        "64 3200 2.000000",
        "64 16 2.000000",
        "64 8 2.000000",
        "128 2 3.000000",
        "32 3200 3.000000",
        "128 2 3.000000",
        "32 3200 3.000000",
        "64 3200 2.000000",
        "64 16 2.000000",
        "64 8 2.000000",
    ];
    assert_eq!(found, all, "{told}");
    assert_contains(&told, "kernel 1 3.000000 8 128 ");
    let told = replay(&format!("budget 0.1\n{orders}"), "slow");
    assert!(!told.contains("replay 2"), "{told}");
    assert_contains(&told, "refused 2 its launches take longer than the time for them");
}

#[test]
fn what_replays_tell_is_confirmed_by_builds() {
    let (project, _, told, _) = replayed("misleading", &[]);
    let searched = |threads: u64| {
        let is_it =
            |one: &&Value| one["choice"]["told"]["grid"]["threads"] == threads && one["searched_us"].is_number();
        let mut found = told["rows"][0]["measured"].as_array().unwrap().iter().filter(is_it);
        found.next().unwrap()["searched_us"].as_f64().unwrap()
    };
    assert!(searched(512) < searched(64), "{told:#}");
    // 512 threads are better than the present form, and no better than what builds show of them.
    let best = &told["rows"][0]["best"];
    assert!(best["median_us"].as_f64().unwrap() > 5000.0, "{told:#}");
    assert_eq!(limits(&text(&project))[0], "512");
}

#[test]
fn wrong_results_hangs_and_failing_builds_are_told() {
    let project = with_driver();
    let run = "./app; true";
    // Every grid, so that those that fail are among them; the kernels are tried together, and alone where that fails.
    let arguments =
        ["src/a.c", "--build", BUILD, "--run", run, "--exhaustive", "--rounds", "4", "--diff", "--verify-timeout", "1"];
    let ran = Ran::new(&command(&project, &arguments).env("FAKE", "faulty").output().unwrap());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_contains(&ran.stderr, "no such grid");
    assert_contains(&ran.stderr, "no end after 1.0 s");
    assert_contains(&ran.stderr, "fault of this tool: ");
    assert_contains(&ran.stderr, "`wrong` instead of `right`");
    let diff = String::from_utf8(project.read("ompsplit-tune-fault-1.diff")).unwrap();
    assert_contains(&diff, "+");
    assert_contains(&diff, "thread_limit(512)");
    assert_eq!(text(&project), SOURCE, "--diff writes nothing");
    let shown = ran.text();
    let added: Vec<&str> = limits(&shown);
    assert_eq!(added, ["64", "128"], "{shown}");
    assert!(!project.path(".ompsplit.toml").exists());
}

#[test]
fn a_folder_can_be_measured_on_another_machine() {
    let project = with_driver();
    let run = "./app {N}";
    let size = "N in 125..4000, work N";
    let prepare = ["src/a.c", "--build", "echo built > log", "--run", run, "--size", size, "--candidates", "8"];
    let ran = tune(&project, &[&prepare[..], &["--prepare", "ready"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_contains(&ran.stderr, "--measure");
    assert_eq!(tune(&project, &[&prepare[..], &["--prepare", "ready"]].concat()).code, 2, "it is not empty any more");
    fs::rename(project.path("ready"), project.path("moved")).unwrap();
    let ran = tune(&project, &["--measure", "moved", "--no-replay"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_contains(&ran.stderr, "searched at 500");
    let every = tune(&project, &["--measure", "moved", "--exhaustive", "--rounds", "4"]);
    assert_eq!(every.code, 0, "{}", every.stderr);
    let ran = tune(&project, &["--measure", "moved"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_contains(&ran.stderr, "kernels were launched in all grids");
    let runs =
        |ran: &Ran| ran.stderr.split(" runs in ").next().unwrap().lines().last().unwrap().parse::<usize>().unwrap();
    assert!(3 * runs(&ran) < 2 * runs(&every), "{}\n{}", ran.stderr, every.stderr);
    assert_eq!(text(&project), SOURCE);
    let ran = tune(&project, &["src/a.c", "--finish", "moved"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!limits(&text(&project)).is_empty(), "{}\n{}", text(&project), ran.stderr);
    assert_eq!(tune(&project, &["src/a.c", "--finish", "moved"]).code, 2, "it is another text now");
}

#[test]
fn what_was_built_is_kept_when_a_run_is_killed() {
    let project = with_driver();
    let own = tempfile::tempdir().unwrap();
    let (tmp, builds) = (own.path().join("tmp"), own.path().join("builds"));
    fs::create_dir(&tmp).unwrap();
    let build = format!("echo one >> {}", builds.display());
    let count = || fs::read_to_string(&builds).map_or(0, |text| text.lines().count());
    let arguments = ["src/a.c", "--build", &build, "--run", "./app", "--candidates", "4", "--diff"];
    let prepared = || {
        let mut command = command(&project, &arguments);
        command.env("OMPSPLIT_CACHE", own.path().join("cache")).env("TMPDIR", &tmp);
        command
    };
    let mut child = prepared().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    // The program as it stands, and two candidates.
    while count() < 3 {
        assert!(began.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = count();
    let ran = Ran::new(&prepared().output().unwrap());
    assert!(ran.code < 2, "{}", ran.stderr);
    let all = count() - before;
    fs::remove_file(&builds).unwrap();
    assert!(Ran::new(&prepared().output().unwrap()).code < 2);
    assert_eq!(count(), 1, "all but the program as it stands was built before");
    fs::remove_file(&builds).unwrap();
    assert!(Ran::new(&prepared().env("OMPSPLIT_CACHE", own.path().join("other")).output().unwrap()).code < 2);
    // The program as it stands is built by each run. Of the others that were built before the kill, the last one may not have been kept yet.
    assert!(all + (before - 2) <= count(), "{before} before, {all} behind, {} in one run", count());
    let left = fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let left: Vec<String> = left.filter(|name| name.starts_with("ompsplit-tune-")).collect();
    assert!(left.is_empty(), "the project that the killed run copied is gone too: {left:?}");
}

#[test]
fn an_interrupt_leaves_nothing() {
    let project = with_driver();
    let own = tempfile::tempdir().unwrap();
    let mark = own.path().join("mark");
    let tmp = own.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    let mut child = Command::new("env")
        .args([
            "--default-signal=INT",
            crate::project::PROGRAM,
            "tune",
            "src/a.c",
            "--build",
            "sleep 1000 & echo $! > $MARK; wait",
            "--run",
            "./app",
        ])
        .current_dir(project.folder.path())
        .env("TMPDIR", &tmp)
        .env("MARK", &mark)
        .env("OMPSPLIT_CACHE", "off")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let process = loop {
        match fs::read_to_string(&mark) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
        assert!(began.elapsed() < Duration::from_secs(120));
    };
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(2));
    let stat = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    while stat().rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X'])) {
        assert!(began.elapsed() < Duration::from_secs(120), "{process} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fs::read_dir(&tmp).unwrap().count(), 0);
    assert_eq!(text(&project), SOURCE);
}

/// The real compiler, and its device without a clock.
#[test]
fn a_program_is_tuned_on_the_x86_64_device() {
    let main = "
#include <stdio.h>
int main(void) {
  static double u[200], v[200];
  for (int i = 0; i < 200; i++)
    u[i] = i;
  f(200, u, v);
  g(200, v, u);
  printf(\"%.1f %.1f\\n\", u[3], u[199]);
  return 0;
}
";
    let project = Project::new(&[("src/a.c", &format!("{SOURCE}{main}"))]);
    let clang = std::env::var("OMPSPLIT_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    let asked = Command::new(&clang).arg("-print-file-name=libomptarget.so").output().unwrap();
    let library = fs::canonicalize(String::from_utf8(asked.stdout).unwrap().trim()).unwrap();
    let runtime = library.parent().unwrap().to_str().unwrap();
    let build =
        format!("LIBRARY_PATH={runtime} {clang} -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu src/a.c -o app");
    let arguments = [
        "src/a.c",
        "--build",
        &build,
        "--run",
        "./app",
        "--candidates",
        "1",
        "--rounds",
        "4",
        "--output-format",
        "json",
    ];
    let mut command = command(&project, &arguments);
    command.env("LD_LIBRARY_PATH", runtime).env("OMP_NUM_TEAMS", "2").env("OMP_TEAMS_THREAD_LIMIT", "2");
    command.env("OMP_WAIT_POLICY", "passive").env("KMP_TEAMS_THREAD_LIMIT", "64");
    let ran = Ran::new(&command.output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&told["clock"], &told["faults"]), (&Value::from("wall"), &serde_json::json!([])), "{told:#}");
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["measured"].as_array().unwrap().len() >= 2), "{told:#}");
    assert_eq!(told["changed"], told["plan"] != "original");
    project.expect(0, &["--check", "--device", "h200", "--passes", "geometry,coarsen,unroll", "src/a.c"]);
}

#[test]
fn what_kernel_tuner_found_is_written() {
    let project = Project::new(&[("src/a.c", SOURCE)]);
    let ran = tune(&project, &["src/a.c", "--emit-kernel-tuner", "space.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let space: Value = serde_json::from_slice(&project.read("space.json")).unwrap();
    let kernel = &space["kernels"][1];
    let wanted = kernel["configurations"].as_array().unwrap().iter().find(|one| one["threads"] == 256).unwrap();
    let result = serde_json::json!({"schema_version": "1.0.0", "results": [
        {"configuration": wanted, "invalidity": "correct", "measurements": [{"name": "time", "value": 0.25, "unit": "ms"}]},
    ]});
    project.write("found.json", result.to_string().as_bytes());
    let ran = tune(&project, &["src/a.c", "--read-kernel-tuner", "found.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(limits(&text(&project)).last(), Some(&"256"), "{}", text(&project));
    assert_contains(&String::from_utf8(project.read(".ompsplit.toml")).unwrap(), "clock = \"kernel tuner\"");
}

#[test]
fn the_command_line_is_checked() {
    let project = Project::new(&[("src/a.c", SOURCE), ("b.c", SOURCE)]);
    for (arguments, said) in [
        (&["src/a.c"][..], "--build and --run"),
        (&["b.c", "--build", "true", "--run", "true", "--project", "src"], "is not below"),
        (&["src/a.c", "--build", "true", "--run", "true", "--size", "N in 1..4"], "write {N}"),
        (&["src/a.c", "--build", "true", "--run", "true", "--size", "N of 4"], "is not as"),
        (&["src/a.c", "--build", "exit 7", "--run", "true"], "ends with exit 7"),
        (&["src/a.c", "--build", "true", "--run", "exit 3"], "ends with exit 3 instead of exit 0"),
        (&["src/a.c", "--build", "true", "--run", "date +%N"], "other results when it runs again"),
        (&["--measure", "nowhere"], "nowhere: "),
    ] {
        let ran = tune(&project, arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_contains(&ran.stderr, said);
    }
    assert_eq!(text(&project), SOURCE);
}
