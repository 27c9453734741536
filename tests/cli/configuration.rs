//! Configuration.

use crate::project::{Project, SPLITS, assert_contains, assert_split};

#[test]
fn the_nearest_configuration_counts_and_flags_win() {
    let project = Project::new(&[
        ("a.c", SPLITS),
        ("sub/deep/a.c", SPLITS),
        (".ompsplit.toml", "passes = [\"split\"]\n"),
        ("sub/.ompsplit.toml", "passes = [\"pipeline\"]\n"),
    ]);
    assert_split(&project.expect(0, &["a.c"]).stdout);
    assert_eq!(project.expect(0, &["sub/deep/a.c"]).stdout, SPLITS.as_bytes());
    assert_split(&project.expect(0, &["--passes", "split", "sub/deep/a.c"]).stdout);
    assert_split(&project.expect(0, &["--no-config", "sub/deep/a.c"]).stdout);
    assert_split(&project.expect(0, &["--config", ".ompsplit.toml", "sub/deep/a.c"]).stdout);
    let piped = project.pipe(&["-", "--stdin-filename", "sub/x.c"], SPLITS.as_bytes());
    assert_eq!(piped.stdout, SPLITS.as_bytes());
}

#[test]
fn a_wrong_configuration_exits_2() {
    let project = Project::new(&[("a.c", SPLITS), ("sub/b.c", SPLITS)]);
    for (text, message) in [
        ("asume = true\n", "unknown key `asume`; did you mean `assume`?"),
        ("passes = [\"splitt\"]\n", "there is no pass `splitt`; did you mean `split`?"),
        ("assume = \"yes\"\n", "assume"),
        ("passes = [\n", "sub/.ompsplit.toml"),
        ("pin = \"registre\"\n", "there is no way to pin memory `registre`; did you mean `register`?"),
        ("pipeline_window = 0\n", "pipeline_window"),
        ("for = \"icc\"\n", "there is no compiler `icc`"),
        ("verify = \"sintax\"\n", "there is no verify level `sintax`; did you mean `syntax`?"),
    ] {
        project.write("sub/.ompsplit.toml", text.as_bytes());
        let ran = project.expect(2, &["--check", "sub/b.c"]);
        assert_contains(&ran.stderr, message);
        project.expect(1, &["--check", "a.c"]);
    }
    assert_contains(&project.expect(2, &["--config", "none.toml", "a.c"]).stderr, "none.toml");
}

#[test]
fn dump_config_prints_what_holds() {
    let project = Project::new(&[("a.c", SPLITS), (".ompsplit.toml", "assume = true\nflags = [\"-DN=1\"]\n")]);
    let dump = project.expect(0, &["--dump-config", "--passes", "split", "a.c", "--", "-DM"]).text();
    let shown: toml::Table = dump.parse().unwrap();
    assert_eq!(shown["assume"].as_bool(), Some(true));
    assert_eq!(shown["passes"].as_array().unwrap().len(), 1);
    assert_eq!(shown["flags"].as_array().unwrap().len(), 2);
    // What is printed is a configuration that says the same.
    project.write("again.toml", dump.as_bytes());
    project.expect(0, &["--config", "again.toml", "a.c"]);
}

#[test]
fn the_options_of_pipelines_are_flags_or_keys() {
    let keys = "pin = \"none\"\npipeline_window = 4\nfor = \"gcc\"\n";
    let project = Project::new(&[("a.c", SPLITS), (".ompsplit.toml", keys)]);
    let dump = |arguments: &[&str]| -> toml::Table {
        project.expect(0, &[&["--dump-config", "a.c"], arguments].concat()).text().parse().unwrap()
    };
    let shown = dump(&[]);
    assert_eq!((shown["pin"].as_str(), shown["for"].as_str()), (Some("none"), Some("gcc")));
    assert_eq!(shown["pipeline_window"].as_integer(), Some(4));
    let shown = dump(&["--pin", "alloc", "--pipeline-window", "8", "--for", "nvhpc"]);
    assert_eq!((shown["pin"].as_str(), shown["for"].as_str()), (Some("alloc"), Some("nvhpc")));
    assert_eq!(shown["pipeline_window"].as_integer(), Some(8));
    let shown = dump(&["--no-config"]);
    assert_eq!((shown["pin"].as_str(), shown["for"].as_str()), (Some("stage"), Some("llvm")));
    assert!(!shown.contains_key("pipeline_window"));
    // Two threads are slower with buffers.
    assert_eq!(dump(&["--no-config", "--pipeline-window", "3"])["pin"].as_str(), Some("register"));
    assert_eq!(dump(&["--no-config", "--pipeline-window", "4"])["pin"].as_str(), Some("stage"));
    assert_eq!(dump(&["--no-config", "--pipeline-window", "2", "--pin", "stage"])["pin"].as_str(), Some("stage"));
    for wrong in [["--pin", "no"], ["--pipeline-tiles", "65537"], ["--pipeline-window", "0"], ["--for", "icc"]] {
        project.expect(2, &[&["--check", "a.c"], &wrong[..]].concat());
    }
    let text = project.expect(0, &["explain", "a.c:5", "--pin", "none", "--pipeline-window", "2"]).text();
    assert_contains(&text, "split");
}

#[test]
fn the_assumed_length_of_loops_decides_what_pays() {
    let league =
        SPLITS.replace("omp target map", "omp target teams map").replace("parallel for", "distribute parallel for");
    let project = Project::new(&[("a.c", &league)]);
    let left_alone = project.expect(0, &["-v", "--check", "a.c"]);
    assert_contains(&left_alone.stderr, "assumes 65,536 iterations of loops of unknown length");
    let split = project.expect(1, &["--check", "--assumed-iterations", "500000000", "a.c"]);
    assert_contains(&split.stderr, "split into 2 kernels inside one target data; pays ");
    project.write(".ompsplit.toml", b"assumed_iterations = 500000000\n");
    project.expect(1, &["--check", "a.c"]);
    project.expect(0, &["--check", "--assumed-iterations", "1000", "a.c"]);
}

#[test]
fn sums_change_their_order_with_consent_to_just_that() {
    let rows = "void f(int n, int m, const float *a, float *s) {\n\
                #pragma omp target teams distribute parallel for map(to: a[0:n*m]) map(from: s[0:n])\n\
                for (int i = 0; i < n; i++) {\nfloat sum = 0;\nfor (int k = 0; k < m; k++)\nsum += a[i * m + k];\n\
                s[i] = sum;\n}\n}\n";
    let project = Project::new(&[("a.c", rows)]);
    let reduce = ["--check", "--passes", "reduce", "a.c"];
    let with = |further: &[&'static str]| [&reduce[..], further].concat();
    let left_alone = project.expect(0, &with(&["-v"]));
    assert_contains(&left_alone.stderr, "not done without `--assume=reassociation`");
    project.expect(0, &with(&["--assume"]));
    let changed = project.expect(1, &with(&["--assume", "reassociation"]));
    assert_contains(&changed.stderr, "whole teams for rows");
    project.expect(1, &with(&["--assume=reassociation"]));
    project.expect(1, &with(&["--", "-ffast-math"]));
    // The consent runs the pass too.
    let both = project.expect(1, &["--diff", "--assume=reassociation", "a.c"]);
    assert_contains(&String::from_utf8_lossy(&both.stdout), "+#pragma omp parallel for reduction(+: sum)");
    project.write(".ompsplit.toml", b"reassociation = true\n");
    project.expect(1, &reduce);
}

#[test]
fn both_forms_are_written_on_request_alone() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let plain = project.expect(1, &["--diff", "a.c"]);
    assert!(!plain.text().contains("} else {"), "{}", plain.text());
    let versioned = project.expect(1, &["--diff", "--versioned", "a.c"]);
    assert_contains(&versioned.text(), "if (n >= ");
    project.write(".ompsplit.toml", b"versioned = true\n");
    assert_eq!(project.expect(1, &["--diff", "a.c"]).stdout, versioned.stdout);
    project.expect(0, &["--in-place", "a.c"]);
    project.expect(0, &["--check", "a.c"]);
    project.expect(0, &["--no-config", "--check", "--assumed-iterations", "1000000", "a.c"]);
}

/// What a configuration was to say is not passed over.
#[test]
fn a_configuration_that_is_no_file_is_an_error() {
    let project = Project::new(&[("src/a.c", SPLITS)]);
    let fails = |why: &str| {
        let ran = project.expect(2, &["-i", "src/a.c"]);
        assert_contains(&ran.stderr, ".ompsplit.toml: ");
        assert_contains(&ran.stderr, why);
        assert_eq!(project.read("src/a.c"), SPLITS.as_bytes());
        let ran = project.pipe(&["-", "--stdin-filename", "src/a.c"], SPLITS.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_slice()), (2, SPLITS.as_bytes()));
    };
    std::fs::create_dir(project.path(".ompsplit.toml")).unwrap();
    fails("is a folder, not a configuration file");
    std::fs::remove_dir(project.path(".ompsplit.toml")).unwrap();
    project.write(".ompsplit.toml", b"passes = \xff\n");
    fails("UTF-8");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};

        for (target, why) in
            [("none", "leads to no file"), (".ompsplit.toml", "leads to no file"), ("/dev/null", "no regular file")]
        {
            std::fs::remove_file(project.path(".ompsplit.toml")).unwrap();
            symlink(target, project.path(".ompsplit.toml")).unwrap();
            fails(why);
        }
        std::fs::remove_file(project.path(".ompsplit.toml")).unwrap();
        project.write(".ompsplit.toml", b"");
        std::fs::set_permissions(project.path(".ompsplit.toml"), std::fs::Permissions::from_mode(0o0)).unwrap();
        // Who may read everything reads this too.
        if std::fs::read(project.path(".ompsplit.toml")).is_err() {
            fails("denied");
        }
        std::fs::remove_file(project.path(".ompsplit.toml")).unwrap();
        std::fs::create_dir(project.path(".ompsplit.toml")).unwrap();
    }
    project.expect(0, &["-i", "--no-config", "src/a.c"]);
    assert_split(&project.read("src/a.c"));
}
