//! Where headers and compiler flags are found, and what is said where they are not.

use serde_json::json;

use crate::project::{Project, SPLITS, assert_contains, assert_split};

/// The second loop's factor comes from a header.
fn with_header() -> String {
    let text = SPLITS.replacen("void f(", "\n#include \"params.h\"\nvoid f(", 1).replacen("a[i]*=2", "a[i]*=scale", 1);
    assert_contains(&text, "scale");
    text
}

const PARAMS: (&str, &str) = ("include/params.h", "static const float scale = 2;\n");

#[test]
fn a_missing_header_is_named_with_the_folder_that_has_it() {
    let text = with_header();
    let project = Project::new(&[("src/a.c", text.as_str()), PARAMS, (".git/HEAD", "")]);
    let told = project.expect(0, &["--check", "src/a.c"]).stderr;
    assert_contains(&told, "src/a.c: `params.h` (line 2) was not found: pass `-I include` or `-p`");
    assert!(!project.expect(0, &["-q", "--check", "src/a.c"]).stderr.contains("params.h"));
    for flags in [&["-I", "include"][..], &["-Iinclude"], &["--", "-I", "include"]] {
        assert_split(&project.expect(0, &[&["src/a.c"], flags].concat()).stdout);
    }
}

#[test]
fn folders_and_macros_are_flags_of_the_compiler() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let dump = project.expect(0, &["--dump-config", "-DN=3", "-I", "include", "-DM", "a.c", "--", "-O2"]).text();
    let dump: toml::Table = dump.parse().unwrap();
    let flags: Vec<&str> = dump["flags"].as_array().unwrap().iter().filter_map(|flag| flag.as_str()).collect();
    assert_eq!(flags, ["-Iinclude", "-DN=3", "-DM", "-O2"]);
}

#[test]
fn headers_of_compilers_and_of_files_without_refusals_are_not_named() {
    let text = SPLITS.replacen("void f(", "#include \"omp.h\"\n#include \"other.h\"\nvoid f(", 1);
    let project = Project::new(&[("a.c", text.as_str())]);
    assert!(!project.run(&["--check", "a.c"]).stderr.contains("omp.h"));
    let plain = Project::new(&[("a.c", "#include \"other.h\"\nint g(int x) { return x; }\n")]);
    assert!(!plain.expect(0, &["--check", "a.c"]).stderr.contains("other.h"));
}

#[test]
fn a_database_is_found_in_the_usual_places() {
    let text = with_header();
    for place in ["compile_commands.json", "build/compile_commands.json"] {
        let project = Project::new(&[("src/a.c", text.as_str()), PARAMS]);
        let folder = project.folder.path().to_string_lossy().into_owned();
        let commands = json!([{ "directory": folder, "file": "src/a.c", "command": "cc -Iinclude -c src/a.c" }]);
        project.write(place, commands.to_string().as_bytes());
        let ran = project.expect(0, &["src/a.c"]);
        assert_split(&ran.stdout);
        assert_contains(&ran.stderr, &format!("compiler flags are those of {folder}/{place}"));
        // Flags of one's own, or no configuration, leave it out; and so does one that cannot be read.
        assert_contains(&project.expect(0, &["src/a.c", "--no-config"]).stderr, "`params.h` (line 2) was not found");
        assert_contains(&project.expect(0, &["src/a.c", "--", "-DX"]).stderr, "`params.h` (line 2) was not found");
        // One more macro goes with it.
        assert_contains(&project.expect(0, &["src/a.c", "-DX"]).stderr, "compiler flags are those of");
        project.write(place, b"[{");
        assert_contains(&project.expect(0, &["src/a.c"]).stderr, "`params.h` (line 2) was not found");
    }
}
