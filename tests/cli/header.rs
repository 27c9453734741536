//! The header for page-locked memory: it compiles everywhere, and does with a driver what it says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::project::{Project, SPLITS, assert_contains, assert_split};

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
const C: &[&str] = &["-std=c99", "-D_GNU_SOURCE", "-xc"];
const CPP: &[&str] = &["-std=c++11", "-xc++"];

/// A folder with the header, a program that uses it, and drivers that are none.
struct Pins {
    project: Project,
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn is_there(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok()
}

impl Pins {
    fn new() -> Self {
        let pins = Self {
            project: Project::new(&[
                ("pins.c", include_str!("pins.c")),
                ("driver.c", include_str!("fake_driver.c")),
                ("cuda/empty", ""),
                ("hip/empty", ""),
            ]),
        };
        let header = pins.project.expect(0, &["header"]);
        assert_eq!(header.stderr, "");
        pins.project.write("ompsplit_pin.h", &header.stdout);
        let shared = ["-shared", "-fPIC", "-w", "-pthread", "driver.c", "-o"];
        pins.compile("cc", &[&shared[..], &["cuda/libcuda.so.1"]].concat());
        pins.compile("cc", &[&shared[..], &["hip/libamdhip64.so", "-DFAKE_HIP"]].concat());
        pins
    }

    fn folder(&self) -> &Path {
        self.project.folder.path()
    }

    fn compile(&self, compiler: &str, arguments: &[&str]) {
        succeeds(Command::new(compiler).args(arguments).current_dir(self.folder()));
    }

    /// The program: one unit of the first language, another of the second.
    fn program(&self, compiler: &str, main: &[&str], other: &[&str], flags: &[&str]) -> PathBuf {
        let unit = |language: &[&str], object: &str, more: &[&str]| {
            self.compile(compiler, &[language, &WARNINGS, flags, more, &["-c", "pins.c", "-o", object]].concat());
        };
        unit(main, "main.o", &[]);
        unit(other, "other.o", &["-DOTHER_UNIT"]);
        self.compile(compiler, &[flags, &["main.o", "other.o", "-pthread", "-o", "pins"]].concat());
        self.folder().join("pins")
    }

    /// What the program and the driver print, after which driver, what the driver is to do, and the environment.
    fn run(&self, what: &str, driver: &str, variables: &[(&str, &str)]) -> (Vec<String>, String) {
        let mut command = Command::new(self.folder().join("pins"));
        command.arg(what).env("LD_LIBRARY_PATH", self.folder().join(driver)).envs(variables.iter().copied());
        let output = succeeds(&mut command);
        let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        (lines, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The same in short: `+100` for memory that is registered, `-100` unregistered, `up 0` and `down 0` for contexts.
    fn short(&self, what: &str, driver: &str, variables: &[(&str, &str)]) -> String {
        let words = [
            ("driver: retain", "up"),
            ("driver: release", "down"),
            ("driver: register ", "+"),
            ("driver: unregister ", "-"),
            (", flags 1", ""),
        ];
        let lines = self.run(what, driver, variables).0.join("; ");
        words.iter().fold(lines, |text, (long, short)| text.replace(long, short))
    }
}

#[test]
fn the_header_compiles_without_warnings() {
    let pins = Pins::new();
    pins.project.write("alone.c", b"#include \"ompsplit_pin.h\"\n#include \"ompsplit_pin.h\"\n");
    for compiler in ["cc", "gcc", "clang-19"].into_iter().filter(|name| is_there(name)) {
        for language in [C, CPP] {
            for flags in [&[][..], &["-fopenmp"], &["-O2", "-Wunused", "-Wshadow", "-Wsign-conversion"]] {
                let arguments = [language, &WARNINGS, flags, &["-c", "alone.c", "-o", "alone.o"]].concat();
                pins.compile(compiler, &arguments);
            }
        }
    }
    if is_there("clang-19") {
        let device = ["-O1", "-fopenmp", "--offload-arch=sm_90", "-nogpulib", "--offload-device-only", "-c", "-S"];
        for language in [C, CPP] {
            pins.compile("clang-19", &[language, &WARNINGS, &device, &["alone.c", "-o", "alone.s"]].concat());
        }
        let windows = ["--target=x86_64-windows-msvc", "-ffreestanding", "-fsyntax-only", "-std=c99", "alone.c"];
        pins.compile("clang-19", &[&WARNINGS[..], &windows].concat());
    }
}

#[test]
fn the_header_stands_among_any_declarations() {
    let pins = Pins::new();
    pins.project.write("crowded.c", include_bytes!("crowded.c"));
    for compiler in ["cc", "gcc", "clang-19"].into_iter().filter(|name| is_there(name)) {
        for language in [&["-std=gnu99", "-xc"], CPP] {
            for flags in [&["-w"][..], &["-w", "-O2", "-fopenmp"]] {
                pins.compile(compiler, &[language, flags, &["-c", "crowded.c", "-o", "crowded.o"]].concat());
            }
        }
    }
}

#[test]
fn no_name_of_the_header_is_like_those_of_programs() {
    const KEYWORDS: &str = "char const continue enum extern for if inline int long return sizeof static struct typedef \
                            unsigned void volatile while";
    let printed = Project::new(&[]).expect(0, &["header"]).stdout;
    let header = String::from_utf8_lossy(&printed);
    let code = header.lines().filter(|line| !line.starts_with('#')).map(|line| line.split("//").next().unwrap_or(""));
    // What stands in quotes is every second piece.
    let code: String = code.flat_map(|line| line.split('"').step_by(2).chain(["\n"])).collect();
    let words = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
    let plain: BTreeSet<&str> = words
        .filter(|word| !word.ends_with('_') && !word.starts_with("__") && !word.to_lowercase().starts_with("ompsplit_"))
        .filter(|word| !KEYWORDS.split_whitespace().any(|keyword| keyword == *word))
        .collect();
    // These are for compilers other than GCC and clang.
    assert_eq!(plain.into_iter().collect::<Vec<_>>(), ["abort", "size_t"]);
    let includes: Vec<&str> = header.lines().filter(|line| line.starts_with("#include")).collect();
    assert_eq!(includes, ["#include <stddef.h>", "#include <omp.h>", "#include <stdlib.h>"]);
}

#[test]
fn pins_are_counted_and_blocks_never_overlap() {
    let pins = Pins::new();
    pins.program("cc", C, C, &[]);
    for (what, expected) in [
        ("once", "up 0; +100; pin 100: 0; -100; down 0; unpin: 0"),
        ("twice", "up 0; +100; pin 100: 0; pin 100: 0; unpin: 0; -100; down 0; unpin: 0; unpin: 0"),
        ("inside", "up 0; +1000; pin 1000: 0; pin 50: 0; unpin: 0; -1000; down 0; unpin: 0"),
        ("overlapping", "up 0; +100; pin 100: 0; -100; +150; pin 100: 0; unpin: 0; -150; down 0; unpin: 0"),
        (
            "over three",
            "up 0; +10; pin 10: 0; +10; pin 10: 0; +10; pin 10: 0; +10; pin 10: 0; -10; -10; -10; +50; pin 40: 0; \
             unpin: 0; unpin: 0; unpin: 0; -50; unpin: 0; -10; down 0; unpin: 0",
        ),
        ("beside", "up 0; +100; pin 100: 0; +100; pin 100: 0; -100; unpin: 0; -100; down 0; unpin: 0"),
        ("nothing", "up 0; +100; pin 100: 0; pin 0: 0; unpin: 0; still pinned; -100; down 0; unpin: 0; null: 0 0"),
        (
            "smaller and larger",
            "up 0; +100; pin 100: 0; -100; +200; pin 200: 0; unpin: 0; still pinned; -200; down 0; unpin: 0",
        ),
        ("own context", "up 1; up 1; +100; pin 100: 0; -100; down 1; unpin: 0; context: the same"),
    ] {
        assert_eq!(pins.short(what, "cuda", &[]), expected, "{what}");
    }
}

#[test]
fn failures_are_told_and_leave_nothing_half_pinned() {
    let pins = Pins::new();
    pins.program("cc", C, C, &[]);
    let message = "error 2 of the driver";
    for (fake, said, expected) in [
        ("foreign", "", "up 0; +100; down 0; pin 100: 0; up 0; +100; down 0; pin 100: 0; unpin: 0; unpin: 0"),
        ("allocated", "", "up 0; +100; down 0; pin 100: 0; up 0; +100; down 0; pin 100: 0; unpin: 0; unpin: 0"),
        ("full", message, "up 0; +100; down 0; pin 100: 2; up 0; +100; down 0; pin 100: 2; unpin: 0; unpin: 0"),
        ("full at 150", message, "up 0; +100; pin 100: 0; -100; +150; down 0; pin 100: 2; unpin: 0; unpin: 0"),
        ("no context", message, "up 0; pin 100: 2; up 0; pin 100: 2; unpin: 0; unpin: 0"),
        ("no device", "", "pin 100: 0; pin 100: 0; unpin: 0; unpin: 0"),
        ("second in use", "", "up 1; +100; pin 100: 0; -100; +150; pin 100: 0; unpin: 0; -150; down 1; unpin: 0"),
        (
            "read only",
            "",
            "up 0; +100; +100, flags 9; pin 100: 0; -100; +150; +150, flags 9; pin 100: 0; unpin: 0; -150; down 0; \
             unpin: 0",
        ),
    ] {
        assert_eq!(pins.short("overlapping", "cuda", &[("FAKE", fake)]), expected, "{fake}");
        assert_eq!(pins.run("overlapping", "cuda", &[("FAKE", fake)]).1, "");
        let stderr = pins.run("overlapping", "cuda", &[("FAKE", fake), ("OMPSPLIT_PIN", "verbose")]).1;
        assert_eq!(stderr.lines().count(), usize::from(!said.is_empty()), "{fake}: {stderr}");
        assert_contains(&stderr, said);
    }
}

#[test]
fn without_a_driver_nothing_happens() {
    let pins = Pins::new();
    pins.program("cc", C, C, &[]);
    let nothing = "pin 100: 0; pin 100: 0; unpin: 0; unpin: 0";
    assert_eq!(pins.short("overlapping", "none", &[]), nothing);
    assert_eq!(pins.short("overlapping", "cuda", &[("OMPSPLIT_PIN", "off")]), nothing);
    assert_eq!(pins.short("overlapping", "cuda", &[("OMP_TARGET_OFFLOAD", "DISABLED")]), nothing);
    let pinned = "+100; pin 100: 0; -100; +150; pin 100: 0; unpin: 0; -150; unpin: 0";
    assert_eq!(pins.short("overlapping", "hip", &[]), pinned);
    assert_contains(&pins.short("overlapping", "cuda", &[("OMP_TARGET_OFFLOAD", "DEFAULT")]), "+150");
}

#[test]
fn files_of_both_languages_share_what_is_pinned() {
    let pins = Pins::new();
    let shared = "up 0; +100; pin 100: 0; there: 0; unpin: 0; still pinned; -100; down 0; there: 0";
    for compiler in ["cc", "clang-19"].into_iter().filter(|name| is_there(name)) {
        for (main, other) in [(C, C), (C, CPP), (CPP, C)] {
            pins.program(compiler, main, other, &[]);
            assert_eq!(pins.short("units", "cuda", &[]), shared);
        }
    }
}

#[test]
fn threads_pin_and_unpin_at_the_same_time() {
    let pins = Pins::new();
    let thread_sanitizer: &[&str] = &["-g", "-O1", "-fsanitize=thread"];
    for flags in [&["-O2"], thread_sanitizer] {
        if flags.len() > 1 && !is_there("clang-19") {
            continue;
        }
        pins.program(if flags.len() > 1 { "clang-19" } else { "cc" }, C, C, flags);
        let (lines, stderr) = pins.run("threads", "cuda", &[]);
        assert_eq!(stderr, "");
        let count = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
        assert_eq!(count("failed"), 0);
        assert_eq!(count("not registered"), 0);
        assert_eq!(count(": register"), count(": unregister"));
        assert_eq!(count(": unregister 64"), 4 * 500);
        assert_eq!(count("retain"), count("release"));
    }
}

#[test]
fn tiles_pass_through_buffers() {
    if !is_there("clang-19") {
        return;
    }
    let pins = Pins::new();
    pins.project.write("staged.c", include_bytes!("staged.c"));
    let library = succeeds(Command::new("clang-19").arg("-print-file-name=libomptarget.so")).stdout;
    let library = std::fs::canonicalize(String::from_utf8_lossy(&library).trim()).unwrap();
    let libraries = library.parent().unwrap().to_str().unwrap();
    let offload =
        ["-O1", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "-L", libraries, "staged.c", "-o", "staged"];
    pins.compile("clang-19", &[C, &["-xnone"], &WARNINGS, &offload].concat());
    for (driver, fake, expected) in [
        // Up to 4 MiB for each of 8 threads, in halves of it; or without halves, by the runtime.
        ("cuda", "device memory", " copies to the device, "),
        ("cuda", "", "22 of 22 are right"),
        ("cuda", "full", "22 of 22 are right"),
        ("hip", "", "22 of 22 are right"),
        ("none", "", "22 of 22 are right"),
    ] {
        let mut command = Command::new(pins.folder().join("staged"));
        let folders = format!("{}:{libraries}", pins.folder().join(driver).display());
        command.env("LD_LIBRARY_PATH", folders).env("FAKE", fake).env("OMP_TEAMS_THREAD_LIMIT", "2");
        let output = succeeds(&mut command);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_contains(&said, "22 of 22 are right");
        assert_contains(&said, expected);
    }
}

#[test]
fn compilers_that_check_a_result_find_the_header() {
    if !is_there("clang-19") {
        return;
    }
    let text = format!("#include \"ompsplit_pin.h\"\n{SPLITS}");
    for level in ["syntax", "device"] {
        let project = Project::new(&[("a.c", &text)]);
        project.expect(0, &["--in-place", "--verify", level, "a.c"]);
        assert_split(&project.read("a.c"));
    }
    // One beside the file counts more.
    let project = Project::new(&[("a.c", &text), ("ompsplit_pin.h", "#error mine\n")]);
    assert_contains(&project.expect(2, &["--in-place", "--verify", "syntax", "a.c"]).stderr, "mine");
}

#[test]
fn the_header_stands_before_whatever_headers_leave_open() {
    let scale = "void scale(long n, const double *u, double *v)\n{\n#pragma omp target teams distribute parallel for \
                 map(to: u[0:n]) map(from: v[0:n])\n    for (long i = 0; i < n; i++)\n        v[i] = u[i];\n}\n";
    // At the mark stands the header's line in the output; without one nothing changes.
    for (header, includes) in [
        ("int plain(void);\n", "@#include \"a.h\"\n#include <stddef.h>\n"),
        ("DECLARE_PLAIN\n", "@#include <stddef.h>\n#include \"a.h\"\n"),
        ("#pragma pack(push, 1)\n", "@#include \"a.h\"\n"),
        ("namespace inner {\n", "@#include \"a.h\"\n"),
        ("static const\n", "@#include \"a.h\"\nint answer = 42;\n"),
        ("#include \"b.h\"\n", "@#include \"a.h\"\n"),
        ("1, 2, 3\n", "enum {\n#include \"a.h\"\n};\n"),
        ("#pragma omp requires reverse_offload\n", "#include \"a.h\"\n"),
        ("#include \"c.h\"\n", "#include \"a.h\"\n"),
    ] {
        let text = includes.replace('@', "") + scale;
        let others =
            [("b.h", "#pragma GCC visibility push(hidden)\n"), ("c.h", "#pragma omp requires dynamic_allocators\n")];
        let project = Project::new(&[("a.cpp", &text), ("a.h", header), others[0], others[1]]);
        project.expect(0, &["--in-place", "--passes", "pipeline", "--pipeline-from", "1", "a.cpp"]);
        let found = String::from_utf8_lossy(&project.read("a.cpp")).into_owned();
        let expected = includes.replace('@', "#include \"ompsplit_pin.h\"\n");
        assert!(found.starts_with(&expected), "{header}\n{found}");
        assert_eq!(found != text, includes.contains('@'), "{header}\n{found}");
    }
}
