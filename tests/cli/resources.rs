//! `--resources clang`: registers and spills that are counted for the choice of a grid.

use std::process::Command;

use crate::project::{Project, Ran, assert_contains};

/// Neighbouring threads read neighbouring rows, of which there are many.
const ROWS: &str = "\
void f(int n, int m, const float *a, float *b) {
#pragma omp target teams distribute parallel for map(to: a[0:n * m]) map(from: b[0:n])
  for (int i = 0; i < 1000000; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++)
      sum += a[i * m + j];
    b[i] = sum;
  }
}
";

/// The H200's profile but for a name and large blocks.
fn large_blocks() -> String {
    let text = include_str!("../../transformer/src/device/profiles/h200.toml");
    let large = text.replace("uncoalesced_threads_per_block = 16", "uncoalesced_threads_per_block = 1024");
    assert_ne!(text, large);
    large.replace("name = \"h200\"", "name = \"large\"")
}

/// A stand-in for `ptxas`, which counts as many registers and spilled bytes for each kernel.
fn ptxas(registers: u32, spills: u32) -> String {
    format!(
        r#"#!/bin/sh
[ "$1" = --version ] && exit 0
for last; do :; done
sed -n 's/.*\.entry \([A-Za-z0-9_$]*\).*/\1/p' "$last" | while read -r name; do
  echo "ptxas info    : Compiling entry function '$name' for 'sm_90'" >&2
  echo "ptxas info    : Function properties for $name" >&2
  echo "    0 bytes stack frame, {spills} bytes spill stores, {spills} bytes spill loads" >&2
  echo "ptxas info    : Used {registers} registers" >&2
done
"#
    )
}

fn run(project: &Project, program: &str, arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    Ran::new(&command.env("OMPSPLIT_PTXAS", project.path(program)).output().unwrap())
}

#[cfg(unix)]
#[test]
fn a_limit_leaves_threads_their_registers() {
    use std::os::unix::fs::PermissionsExt;
    let device = large_blocks();
    let (few, many, spilled) = (ptxas(32, 256), ptxas(100, 0), ptxas(255, 256));
    let files = [("a.c", ROWS), ("large.toml", &device), ("few", &few), ("many", &many), ("spilled", &spilled)];
    let project = Project::new(&files);
    for name in ["few", "many", "spilled"] {
        std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let asked = ["--device", "large.toml", "--resources", "clang", "a.c"];
    if Command::new("clang-19").arg("--version").output().is_ok() {
        let explained = |program: &str| {
            run(&project, program, &["explain", "a.c:2", "--device", "large.toml", "--resources", "clang"]).text()
        };
        assert_contains(&explained("few"), "32 registers, 0 bytes of them spilled");
        assert_contains(&explained("spilled"), "255 registers, 256 bytes of them spilled");
        let limits = |program: &str| run(&project, program, &asked).text();
        assert_contains(&limits("few"), "thread_limit(1024) /* large */");
        // 65,536 registers of a multiprocessor are enough for 512 threads with 100 each, and for 256 with 255.
        assert_contains(&limits("many"), "thread_limit(512) /* large */");
        assert_contains(&limits("spilled"), "thread_limit(256) /* large */");
        project.write("broken.c", ROWS.replace("sum += a[i * m + j]", "sum += b_[j]").as_bytes());
        let broken =
            run(&project, "few", &["--assume", "--device", "large.toml", "--resources=clang", "--check", "broken.c"]);
        assert_eq!(broken.code, 2, "{}", broken.stderr);
        assert_contains(&broken.stderr, "does not compile");
        // A second run changes nothing, and the configuration can ask.
        project.write(".ompsplit.toml", b"resources = \"clang\"\ndevice = \"large.toml\"\n");
        assert_eq!(run(&project, "many", &["-i", "a.c"]).code, 0);
        assert_eq!(run(&project, "many", &["--check", "a.c"]).code, 0);
        assert_contains(&project.expect(0, &["--dump-config", "a.c"]).text(), "resources = \"clang\"");
    }
    project.write(".ompsplit.toml", b"");
    project.write("b.c", ROWS.as_bytes());
    let missing = run(&project, "no-such-ptxas", &["--device", "h200", "--resources", "clang", "--check", "b.c"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    assert_contains(&missing.stderr, "install");
    // Without a device nothing is counted, and so long a loop gets no clause.
    assert_eq!(run(&project, "no-such-ptxas", &["--resources", "clang", "--check", "b.c"]).code, 0);
    project.write(".ompsplit.toml", b"resources = \"gcc\"\n");
    assert_contains(&project.expect(2, &["b.c"]).stderr, "there is no source of resources `gcc`");
}
