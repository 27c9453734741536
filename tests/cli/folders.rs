//! Folders and several files.

use std::fs;

use crate::project::{PLAIN, Project, SPLITS, assert_contains, assert_split, kernels};

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
fn a_file_whose_headers_alone_have_constructs_is_read_with_them() {
    let text = "#include \"twice.h\"\nvoid f(int n, double *a) {\n  for (int t = 0; t < 9; t++)\n    twice(a, n);\n}\n";
    let header = "static void twice(double *a, int n) {\n#pragma omp target teams distribute parallel for map(tofrom: a[0:n])\n\
        for (int i = 0; i < n; i++)\na[i] *= 2;\n}\n";
    let project = Project::new(&[("a.c", text), ("twice.h", header)]);
    let found = project.expect(0, &["--passes", "hoist", "a.c"]);
    assert_contains(&found.text(), "#pragma omp target data map(tofrom: a[0:n])\n  for (int t");
    project.expect(0, &["-i", "--passes", "hoist", "a.c", "twice.h"]);
    assert_eq!(project.read("twice.h"), header.as_bytes());
    project.write("a.c", text.as_bytes());
    project.write("twice.h", header.replace("target", "").as_bytes());
    assert_eq!(project.expect(0, &["--passes", "hoist", "a.c"]).text(), text);
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

#[cfg(unix)]
#[test]
fn links_lead_no_further_than_the_folder() {
    use std::os::unix::fs::symlink;

    let files = ["in/a.c", "in/sub/b.c", "in/text.tmpl", "out/c.c", "out/deep/d.c", "in_too/e.c"];
    let project = Project::new(&files.map(|name| (name, SPLITS)));
    for (link, target) in [
        ("in/to_a.c", "a.c"),
        ("in/to_sub", "sub"),
        ("in/t.c", "text.tmpl"),
        ("in/c.c", "../out/c.c"),
        ("in/twice.c", "c.c"),
        ("in/deep", "../out/deep"),
        ("in/beside.c", "../in_too/e.c"),
        ("in/up", ".."),
        ("in/nowhere.c", "none.c"),
    ] {
        symlink(target, project.path(link)).unwrap();
    }
    let ran = project.expect(0, &["-i", "in"]);
    for name in ["in/a.c", "in/sub/b.c", "in/text.tmpl"] {
        assert_split(&project.read(name));
        assert!(!fs::symlink_metadata(project.path(name)).unwrap().is_symlink());
    }
    for name in ["out/c.c", "out/deep/d.c", "in_too/e.c"] {
        assert_eq!(project.read(name), SPLITS.as_bytes(), "{name}");
    }
    assert_eq!(ran.stderr.matches(": split into").count(), 3, "{}", ran.stderr);
    assert_contains(&ran.stderr, "symbolic links are not followed out of a folder: 5 were found, first in/beside.c");
    // What is named is wanted, wherever it leads.
    symlink("out", project.path("named")).unwrap();
    project.expect(0, &["-i", "in/c.c", "named"]);
    for name in ["out/c.c", "out/deep/d.c"] {
        assert_split(&project.read(name));
    }
}

#[test]
fn no_more_jobs_are_run_than_make_sense() {
    let processors = std::thread::available_parallelism().unwrap().get();
    let names: Vec<String> = (0..=4 * processors).map(|i| format!("f{i}.c")).collect();
    let project = Project::new(&names.iter().map(|name| (name.as_str(), PLAIN)).collect::<Vec<_>>());
    let ran = project.expect(0, &["--check", "--jobs", "99999", "."]);
    assert_contains(&ran.stderr, &format!("only {} files are processed at a time", 4 * processors));
    // Few files need few workers, and then there is nothing to say.
    assert_eq!(project.expect(0, &["--check", "--jobs", "99999", "f0.c"]).stderr, "");
    assert_contains(&project.expect(2, &["--check", "--jobs", "0", "."]).stderr, "--jobs");
}

#[test]
fn a_named_file_that_is_no_c_or_cpp_is_an_error_and_left_out_of_folders() {
    let others = ["a.f90", "b.F90", "c.f", "d.cu", "e.py", "f.txt", "Makefile", "g.c.orig"];
    let project = Project::new(&others.map(|name| (name, SPLITS)));
    for (name, what) in others.iter().zip([
        "is Fortran, which is not supported",
        "is Fortran, which is not supported",
        "is Fortran, which is not supported",
        "is CUDA or HIP",
        "is no C or C++ file by its name",
        "is no C or C++ file by its name",
        "is no C or C++ file by its name",
        "is no C or C++ file by its name",
    ]) {
        for mode in [&["-i"][..], &["--check"], &[]] {
            let ran = project.expect(2, &[mode, &[*name]].concat());
            assert_contains(&ran.stderr, &format!("{name}: "));
            assert_contains(&ran.stderr, what);
            assert_eq!(ran.text(), "");
        }
        let ran = project.pipe(&["-", "--stdin-filename", name], SPLITS.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_slice()), (2, SPLITS.as_bytes()), "{name}");
        assert_contains(&ran.stderr, what);
    }
    assert_contains(&project.expect(2, &["explain", "a.f90:2"]).stderr, "Fortran");
    let walked = project.expect(0, &["-i", "."]).stderr;
    assert_contains(&walked, "holds no C or C++ file");
    assert_contains(&walked, "3 Fortran files are skipped: Fortran is not supported");
    for name in others {
        assert_eq!(project.read(name), SPLITS.as_bytes(), "{name}");
    }
    for name in ["a.inc", "a.C", "a.H", "a.ipp", "a.c++", "a.tcc"] {
        project.write(name, SPLITS.as_bytes());
        project.expect(0, &["-i", name]);
        assert_split(&project.read(name));
    }
}
