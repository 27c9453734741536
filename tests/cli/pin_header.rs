//! The header that pipelines include: it is there when the text that includes it is.

use std::fs;
use std::time::SystemTime;

use crate::project::{Project, Ran, assert_contains};

const SCALE: &str = "\
#include <stdlib.h>
void scale(long n, double f, const double *u, double *v) {
  #pragma omp target teams distribute parallel for map(to: u[0:n]) map(from: v[0:n])
  for (long i = 0; i < n; i++)
    v[i] = f * u[i];
}
";
const NAME: &str = "ompsplit_pin.h";
const INCLUDE: &str = "#include \"ompsplit_pin.h\"";

fn sources() -> Project {
    Project::new(&[("src/a.c", SCALE), ("src/b.c", SCALE), ("sub/c.c", SCALE)])
}

fn run(project: &Project, code: i32, arguments: &[&str]) -> Ran {
    project.expect(code, &[&["--passes", "all"], arguments].concat())
}

fn header() -> Vec<u8> {
    Project::new(&[]).expect(0, &["header"]).stdout
}

fn times(project: &Project, names: &[&str]) -> Vec<SystemTime> {
    names.iter().map(|name| fs::metadata(project.path(name)).unwrap().modified().unwrap()).collect()
}

fn includes(project: &Project, name: &str) -> bool {
    String::from_utf8(project.read(name)).unwrap().contains(INCLUDE)
}

#[test]
fn the_header_is_written_beside_each_file_once() {
    let project = sources();
    let ran = run(&project, 0, &["-i", "src", "sub"]);
    for folder in ["src", "sub"] {
        assert_eq!(project.read(&format!("{folder}/{NAME}")), header());
        assert_eq!(ran.stderr.matches(&format!("wrote {folder}/{NAME}, which {folder}/")).count(), 1, "{}", ran.stderr);
    }
    assert!(["src/a.c", "src/b.c", "sub/c.c"].iter().all(|name| includes(&project, name)));
    let names = ["src/a.c", "src/b.c", "sub/c.c", "src/ompsplit_pin.h", "sub/ompsplit_pin.h"];
    let before = times(&project, &names);
    let again = run(&project, 0, &["-i", "src", "sub"]);
    assert_eq!(times(&project, &names), before);
    assert!(!again.stderr.contains("wrote"), "{}", again.stderr);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(project.path(name)).unwrap().permissions().mode();
        project.write("plain", b"");
        assert_eq!(mode("src/ompsplit_pin.h"), mode("plain"));
    }
    // A file that comes later finds it as it is; an older version is replaced.
    let before = times(&project, &["src/ompsplit_pin.h"]);
    project.write("src/d.c", SCALE.as_bytes());
    run(&project, 0, &["-i", "src/d.c"]);
    assert_eq!(times(&project, &["src/ompsplit_pin.h"]), before);
    let older = String::from_utf8(header()).unwrap().replace("4 MiB", "2 MiB");
    project.write("src/ompsplit_pin.h", older.as_bytes());
    project.write("src/e.c", SCALE.as_bytes());
    assert_contains(&run(&project, 0, &["-i", "src/e.c"]).stderr, "wrote src/ompsplit_pin.h");
    assert_eq!(project.read("src/ompsplit_pin.h"), header());
}

#[test]
fn it_goes_where_it_is_asked_for_or_where_it_is_already() {
    let project = sources();
    let ran = run(&project, 0, &["-i", "src/a.c", "sub", "--write-header", "include/gpu"]);
    assert_eq!(project.read("include/gpu/ompsplit_pin.h"), header());
    assert_contains(&ran.stderr, "the compiler needs -I include/gpu");
    assert!(!project.path("src/ompsplit_pin.h").exists() && !project.path("sub/ompsplit_pin.h").exists());
    // The compiler's own folders are looked at.
    run(&project, 0, &["-i", "src/b.c", "--", "-Iinclude/gpu"]);
    assert!(includes(&project, "src/b.c") && !project.path("src/ompsplit_pin.h").exists());
    // A folder that is named is seen to, even where the files are done.
    run(&project, 0, &["-i", "src/b.c", "--write-header", "elsewhere"]);
    assert_eq!(project.read("elsewhere/ompsplit_pin.h"), header());

    let project = sources();
    project.write(".ompsplit.toml", b"write_header = \"include\"\n");
    run(&project, 0, &["-i", "src"]);
    assert_eq!(project.read("include/ompsplit_pin.h"), header());
    assert_contains(&project.expect(2, &["--check", "--write-header", "include", "src"]).stderr, "--in-place");
}

#[test]
fn another_file_of_its_name_is_left_alone_and_so_is_the_source() {
    let foreign = b"#define MINE 1\n";
    for arguments in [&["-i", "src"][..], &["-i", "src", "--write-header", "include"]] {
        let project = sources();
        project.write("src/ompsplit_pin.h", foreign);
        let ran = run(&project, 2, &[arguments, &["sub"]].concat());
        assert_contains(&ran.stderr, "src/ompsplit_pin.h is not the header that the new text includes");
        assert_eq!(project.read("src/ompsplit_pin.h"), foreign);
        assert_eq!(project.read("src/a.c"), SCALE.as_bytes());
        assert!(includes(&project, "sub/c.c"), "the other files are written");
    }
}

#[test]
fn a_text_that_is_only_shown_comes_with_a_note() {
    let project = sources();
    for (code, arguments) in [(0, &["src/a.c"][..]), (1, &["--diff", "src"])] {
        let ran = run(&project, code, arguments);
        assert_contains(&ran.text(), INCLUDE);
        assert_contains(&ran.stderr, "note: the new text of src/a.c includes ompsplit_pin.h: --in-place writes it too");
        assert!(!project.path("src/ompsplit_pin.h").exists());
    }
    assert!(!run(&project, 1, &["--check", "src"]).stderr.contains("ompsplit header"));
    project.write("src/ompsplit_pin.h", &header());
    assert!(!run(&project, 0, &["src/a.c"]).stderr.contains("ompsplit header"));
}
