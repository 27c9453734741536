//! What compilers said is kept: a second run asks them less, and says the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::project::{Project, Ran, SPLITS, assert_contains};

/// Runs clang, and counts how often it does more than to preprocess.
const COUNTING_CLANG: &str = "#!/bin/sh
case \" $* \" in *' -E '*|*--version*) ;; *) echo run >> \"$COUNT\";; esac
exec \"${REAL:-clang-19}\" \"$@\"
";

struct Desk {
    project: Project,
}

impl Desk {
    fn new() -> Self {
        let text = format!("#include \"n.h\"\n{SPLITS}");
        let project = Project::new(&[("a.c", text.as_str()), ("n.h", "#define N 3\n"), ("clang", COUNTING_CLANG)]);
        fs::set_permissions(project.path("clang"), fs::Permissions::from_mode(0o755)).unwrap();
        Self { project }
    }

    /// A run, and how often it asked clang.
    fn run(&self, arguments: &[&str], cache: &str) -> (Ran, usize) {
        let count = self.project.path("count");
        let _none = fs::remove_file(&count);
        let mut command = self.project.command(arguments);
        command.env("OMPSPLIT_CLANG", self.project.path("clang")).env("COUNT", &count).env("OMPSPLIT_CACHE", cache);
        if let Some(real) = std::env::var_os("OMPSPLIT_CLANG") {
            command.env("REAL", real);
        }
        let ran = Ran::new(&command.output().unwrap());
        (ran, fs::read_to_string(count).map_or(0, |text| text.lines().count()))
    }
}

#[test]
fn a_second_run_asks_less_and_says_the_same() {
    let desk = Desk::new();
    for arguments in [["--diff", "--verify=device", "a.c"], ["--diff", "--facts=clang", "a.c"]] {
        let (first, asked) = desk.run(&arguments, "cache");
        assert_eq!(first.code, 1, "{}", first.stderr);
        assert!(asked > 0);
        assert_eq!(desk.run(&arguments, "cache"), (first, 0), "{arguments:?}");
    }
    let left: Vec<_> = fs::read_dir(desk.project.path("cache")).unwrap().collect();
    assert!(left.len() >= 2);
}

#[test]
fn what_a_compiler_reads_decides() {
    let desk = Desk::new();
    let arguments = ["--diff", "--verify=device", "a.c"];
    let asked = |cache: &str| desk.run(&arguments, cache).1;
    assert!(asked("cache") > 0 && asked("cache") == 0);
    // A header, a flag, and the compiler itself.
    desk.project.write("n.h", b"#define N 4\n");
    assert!(asked("cache") > 0 && asked("cache") == 0);
    assert!(desk.run(&["--diff", "--verify=device", "a.c", "--", "-O1"], "cache").1 > 0);
    desk.project.write("clang", format!("{COUNTING_CLANG}# newer\n").as_bytes());
    assert!(asked("cache") > 0);
    assert!(asked("off") > 0 && asked("off") > 0);
    // What is kept may be damaged.
    for entry in fs::read_dir(desk.project.path("cache")).unwrap() {
        fs::write(entry.unwrap().path(), b"{").unwrap();
    }
    let (ran, count) = desk.run(&arguments, "cache");
    assert!(count > 0);
    assert_contains(&ran.stderr, "no new error or warning");
}
