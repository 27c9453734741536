//! `--facts clang`.

use std::process::Command;

use crate::project::{Project, Ran, SPLITS, assert_contains, assert_split};

#[test]
fn facts_of_clang_are_asked_for() {
    let text = SPLITS.replacen("void f(", "#include <elsewhere.h>\nvoid f(", 1).replacen("a[i]*=2", "a[i]*=STEP", 1);
    assert_contains(&text, "STEP");
    let project = Project::new(&[("a.c", text.as_str()), ("include/elsewhere.h", "#define STEP 3\n")]);
    let flags = ["--", "-Iinclude"];
    let with = |arguments: &[&'static str]| [arguments, flags.as_slice()].concat();
    assert_contains(&project.expect(0, &with(&["-v", "a.c"])).stderr, "OMPS107");
    if Command::new("clang-19").arg("--version").output().is_ok() {
        assert_split(&project.expect(0, &with(&["--facts", "clang", "a.c"])).stdout);
        assert_contains(&project.expect(0, &with(&["explain", "a.c:5", "--facts", "clang"])).text(), "applied, safe");
        // Without the folder of the header it does not compile, and its text alone counts.
        let told = project.expect(0, &["-v", "--facts=clang", "--check", "a.c"]).stderr;
        assert_contains(&told, "clang does not compile the file");
        assert_contains(&told, "elsewhere.h");
        assert_contains(&told, "OMPS107");
        project.write(".ompsplit.toml", b"facts = \"clang\"\nflags = [\"-Iinclude\"]\n");
        assert_split(&project.expect(0, &["a.c"]).stdout);
        assert_contains(&project.expect(0, &["--dump-config", "a.c"]).text(), "facts = \"clang\"");
    }
    let output = project.command(&["--facts=clang", "--check", "a.c"]).env("OMPSPLIT_CLANG", "no-such-clang").output();
    let missing = Ran::new(&output.unwrap());
    assert_eq!(missing.code, 2);
    assert_contains(&missing.stderr, "OMPSPLIT_CLANG names `no-such-clang`");
    project.write(".ompsplit.toml", b"facts = \"gcc\"\n");
    assert_contains(&project.expect(2, &["a.c"]).stderr, "there is no source of facts `gcc`");
}
