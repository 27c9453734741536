//! Diagnostics.

use crate::project::{PLAIN, Project, REFUSED, Ran, SPLITS, assert_contains, assert_split};

#[test]
fn one_construct_gets_one_message_whatever_later_passes_add() {
    let text = "\
void f(int n, const float *u, float *v) {
#pragma omp target teams distribute parallel for map(to: u[0:n]) map(tofrom: v[0:n])
  for (int i = 0; i < n; i++) v[i] += 3 * u[i];
}
";
    let project = Project::new(&[("a.c", text)]);
    let arguments = ["--check", "--passes", "pipeline,geometry", "--device", "h200", "a.c"];
    let said = project.expect(1, &arguments).stderr;
    assert_eq!(said.matches("a.c:2:1: ").count(), 1, "{said}");
    assert_contains(&said, "16 tiles, whose copies of `u`, `v` overlap the kernels; 128 threads in each team for h200");
    let listed = project.expect(1, &[&["-v"], &arguments[..]].concat()).stderr;
    assert!(listed.matches("help: ").count() == 1 && !listed.contains("OMPS251"), "{listed}");
}

#[test]
fn what_is_said_of_several_constructs_is_said_once() {
    let text = [SPLITS, SPLITS, SPLITS].concat().replacen("f(", "g(", 1).replacen("void f(", "void h(", 1);
    let project = Project::new(&[("a.c", &text)]);
    let ran = project.expect(1, &["--check", "a.c"]);
    assert_contains(&ran.stderr, "a.c:2:1: split into 2 kernels inside one target data");
    assert_contains(&ran.stderr, ", also in lines 11 and 20 [split]");
    assert_eq!(ran.stderr.matches("split into").count(), 1, "{}", ran.stderr);
    assert_eq!(project.expect(1, &["-v", "--check", "a.c"]).stderr.matches("split into").count(), 3);
}

#[test]
fn concise_diagnostics_are_one_line_each() {
    let project = Project::new(&[("a.c", REFUSED), ("b.c", SPLITS)]);
    let ran = project.expect(0, &["-v", "--output-format", "concise", "a.c"]);
    let line = ran.stderr.lines().next().unwrap();
    assert!(line.starts_with("a.c:") && line.ends_with(" [OMPS101]"), "{line}");
    let ran = project.expect(0, &["-v", "--output-format", "concise", "b.c"]);
    let line = ran.stderr.lines().next().unwrap();
    assert!(line.starts_with("b.c:2:1: split into 2 kernels") && line.ends_with(" [split]"), "{line}");
}

#[test]
fn json_describes_plans_and_edits() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED)]);
    let ran = project.expect(1, &["--check", "--output-format", "json", "a.c", "b.c"]);
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["files"][0]["changed"], true);
    let change = &document["diagnostics"][0];
    assert_eq!((&change["kind"], &change["pass"]), (&"change".into(), &"split".into()));
    assert_eq!((&change["decision"], &change["applicability"]), (&"apply".into(), &"safe".into()));
    assert_eq!(change["kernels"]["after"], 2);
    assert_eq!(change["range"]["start"], serde_json::json!({ "line": 2, "column": 1, "byte": 35 }));
    assert_eq!(apply(SPLITS, change), project.expect(0, &["a.c"]).text());
    let is_refused = |entry: &&serde_json::Value| entry["kind"] == "refusal" && entry["file"] == "b.c";
    let refusal = document["diagnostics"].as_array().unwrap().iter().find(is_refused).unwrap();
    assert_eq!(refusal["code"], "OMPS101");
    assert_eq!(refusal["decision"], "refuse");
}

/// The text with the edits of a JSON diagnostic applied.
fn apply(text: &str, change: &serde_json::Value) -> String {
    let mut text = text.to_owned();
    for edit in change["edits"].as_array().unwrap().iter().rev() {
        let byte = |end: &str| usize::try_from(edit["range"][end]["byte"].as_u64().unwrap()).unwrap();
        text.replace_range(byte("start")..byte("end"), edit["text"].as_str().unwrap());
    }
    text
}

#[test]
fn sarif_names_the_rules_it_cites() {
    let project = Project::new(&[("a b.c", REFUSED), ("c.c", SPLITS)]);
    let ran = project.expect(2, &["--check", "--output-format", "sarif", "a b.c", "c.c", "missing.c"]);
    let log: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let first = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(first["artifactLocation"]["uri"], "a%20b.c");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert!(run["results"].as_array().unwrap().iter().any(|result| result["fixes"].is_array()));
    for rule in run["tool"]["driver"]["rules"].as_array().unwrap() {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].as_str().is_some_and(|text| text.ends_with(['.', '`', ':'])), "{rule}");
        }
    }
}

#[test]
fn github_annotations_name_file_line_and_rule() {
    let project = Project::new(&[("a.c", REFUSED)]);
    let ran = project.expect(0, &["--check", "--output-format", "github", "a.c"]);
    let line = ran.text().lines().next().unwrap().to_owned();
    assert!(line.starts_with("::warning file=a.c,line=") && line.contains("title=OMPS101::"), "{line}");
}

#[test]
fn formats_for_programs_leave_text_on_stdout_alone() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let ran = project.expect(0, &["--output-format", "json", "a.c"]);
    assert_split(&ran.stdout);
    assert!(serde_json::from_str::<serde_json::Value>(&ran.stderr).is_ok(), "{}", ran.stderr);
}

#[test]
fn quiet_leaves_errors_only() {
    let project = Project::new(&[("a.c", REFUSED), ("b.c", SPLITS)]);
    assert_eq!(project.expect(1, &["-q", "--check", "a.c", "b.c"]).stderr, "");
    assert_contains(&project.expect(2, &["-q", "--check", "missing.c"]).stderr, "missing.c");
}

#[test]
fn colour_follows_the_flag() {
    let project = Project::new(&[("a.c", SPLITS)]);
    let escape = |ran: &Ran| (ran.text().contains('\x1b'), ran.stderr.contains('\x1b'));
    assert_eq!(escape(&project.run(&["-v", "--diff", "--color", "always", "a.c"])), (true, true));
    assert_eq!(escape(&project.run(&["--diff", "--color", "never", "a.c"])), (false, false));
    assert_eq!(escape(&project.run(&["--diff", "a.c"])), (false, false));
}

#[test]
fn rule_pages_come_from_the_code() {
    let project = Project::new(&[("rule/a.c", PLAIN)]);
    let page = project.expect(0, &["rule", "omps101"]).text();
    assert_eq!(page, project.expect(0, &["rule", "101"]).text());
    assert!(page.starts_with("# OMPS101: syntax error in or around the region\n"), "{page}");
    let list = project.expect(0, &["rule"]).text();
    assert_contains(&list, "OMPS101  syntax error in or around the region");
    assert_contains(&project.expect(2, &["rule", "OMPS999"]).stderr, "there is no rule `OMPS999`");
    assert_eq!(project.expect(0, &["--check", "./rule"]).stdout, b"");
}

#[test]
fn explain_gives_decision_and_reasons() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED)]);
    let text = project.expect(0, &["explain", "a.c:5"]).text();
    assert_contains(&text, "a.c:2:1: split: applied, safe");
    assert_contains(&text, "kernels: 1 before, 2 after");
    assert_contains(&project.expect(0, &["explain", "b.c:3"]).text(), "OMPS101 at ");
    assert_contains(&project.expect(0, &["explain", "a.c:1"]).text(), "the nearest is a.c:2");
    assert_contains(&project.expect(0, &["explain", "a.c"]).text(), "a.c:2:1: split: applied, safe");
    project.write("plain.c", PLAIN.as_bytes());
    assert_contains(&project.expect(0, &["explain", "plain.c:1"]).text(), "holds no construct");
    assert_contains(&project.expect(2, &["explain", "a.c:x"]).stderr, "is no place");
    project.expect(2, &["explain", "missing.c:3"]);
}

#[test]
fn explain_says_who_executes_what_stands_between_loops() {
    let text = "void f(int n, double *a, double *b) {\n#pragma omp target map(tofrom: a[0:n], b[0:n])\n{\nint k = 2;\n\
                a[0] = 0.5 * a[1];\n#pragma omp parallel for\nfor (int i = 0; i < 1 << 24; i++) a[i] += k;\nif (a[1] > 2.0)\n\
                #pragma omp parallel for\nfor (int i = 0; i < 1 << 24; i++) b[i] += a[i];\n}\n}\n";
    let project = Project::new(&[("a.c", text)]);
    let text = project.expect(0, &["explain", "a.c:5"]).text();
    assert_contains(&text, "split into 4 kernels, 2 of one thread, inside one target data");
    assert_contains(&text, "  4:1: on the host\n  5:1: serial on the device: a kernel of one thread\n");
    assert_contains(&text, "  8:5: condition on the device: a kernel of one thread\n");
}

#[test]
fn devices_lists_the_profiles() {
    let listed = Project::new(&[]).expect(0, &["devices"]).text();
    assert_contains(&listed, "h200            NVIDIA H200");
    assert_eq!(listed.lines().count(), 10, "{listed}");
}

#[test]
fn stats_count_regions_kernels_and_rules() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED)]);
    let ran = project.expect(1, &["-q", "--check", "--stats=json", "a.c", "b.c"]);
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["files"], &stats["files_changed"]), (&2.into(), &1.into()));
    assert_eq!((&stats["regions"], &stats["regions_changed"]), (&2.into(), &1.into()));
    assert_eq!(stats["refused_by_rule"]["OMPS101"], 1);
    assert_contains(&project.expect(1, &["-q", "--check", "--stats", "a.c"]).stderr, "kernels: 1 before, 2 after");
}

/// What data travel no more is counted: copies always, bytes where the text tells.
#[test]
fn stats_count_copies_and_bytes() {
    let text = "\
static double a[1000];
void f(int n, double *b) {
  for (int t = 0; t < 10; t++) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:1000])
    for (int i = 0; i < 1000; i++)
      a[i] += 1;
  }
  for (int t = 0; t < 10; t++) {
#pragma omp target teams distribute parallel for map(tofrom: b[0:n])
    for (int i = 0; i < n; i++)
      b[i] += 1;
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    let ran = project.expect(1, &["-q", "--check", "--passes", "hoist", "--stats=json", "a.c"]);
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["copies_before"], &stats["copies_after"]), (&4.into(), &4.into()), "{stats}");
    assert_eq!((&stats["bytes_before"], &stats["bytes_after"]), (&16000.into(), &16000.into()), "{stats}");
    assert_eq!(stats["copies_of_unknown_size"], 1);
    let said = project.expect(1, &["-q", "--check", "--passes", "hoist", "--stats", "a.c"]).stderr;
    assert_contains(&said, "copies: 4 before, 4 after (16000 bytes before, 16000 after; changes of unknown size: 1)");
}

/// Kernels that `split` makes are looked at by the passes behind it, and what they decide is said at the loops of the original.
#[test]
fn what_is_decided_about_new_kernels_is_said_at_their_loops() {
    let text = "\
void f(int n, int m, float *a, float *b) {
#pragma omp target map(tofrom: a[0:n * m], b[0:n * m])
  {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) a[i * m + j] += 1;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 1; j < m; j++) b[i * m + j] += b[i * m + j - 1];
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    let ran = project.expect(0, &["-v", "--output-format", "concise", "a.c"]);
    assert_contains(&ran.text(), "parallel for collapse(2) map(tofrom: a[0:n * m])");
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(said.len(), 4, "{}", ran.stderr);
    assert!(said[0].starts_with("a.c:2:1: split into 2 kernels"), "{}", said[0]);
    assert!(said[1].starts_with("a.c:4:1: collapsed 2 loops"), "{}", said[1]);
    assert!(said[2].starts_with("a.c:9:") && said[2].ends_with("[OMPS142]"), "{}", said[2]);
    let again = project.pipe(&["-", "--stdin-filename", "a.c", "-v", "--output-format", "concise"], &ran.stdout);
    assert_eq!(again.stdout, ran.stdout);
    let said: Vec<&str> = again.stderr.lines().filter(|line| !line.contains(" of 1 file ")).collect();
    assert!(said.iter().all(|line| line.ends_with("[OMPS142]")), "{}", again.stderr);
}

#[test]
fn a_pragma_between_a_region_and_its_loop_is_refused() {
    let text = "\
void f(int n, double dt, double *a) {
#pragma omp target map(tofrom: a[0:n])
#pragma unroll
  for (int t = 0; t < 3; t++) {
    dt += a[1];
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] += dt;
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    assert_contains(&project.expect(0, &["explain", "a.c:2"]).text(), "OMPS126 at 3:1");
}

/// A region that cannot be read is left alone, but never without a word.
#[test]
fn directives_and_brackets_in_other_spellings_are_refused() {
    let region = |directive: &str, open: &str, close: &str| {
        let text = SPLITS.replacen("#pragma omp target", directive, 1);
        text.replacen("\n{\n", &format!("\n{open}\n"), 1).replacen("\n}\n", &format!("\n{close}\n"), 1)
    };
    let plain = "#pragma omp target";
    for (text, said) in [
        (region("??=pragma omp target", "{", "}"), "a directive that begins with the trigraph"),
        (region("  ??= pragma  omp target", "{", "}"), "a directive that begins with the trigraph"),
        (region(plain, "<%", "%>"), "digraphs and trigraphs are not read as brackets"),
        (region(plain, "??<", "??>"), "digraphs and trigraphs are not read as brackets"),
        (SPLITS.replace('{', "<%").replace('}', "%>"), "digraphs and trigraphs are not read as brackets"),
        ("void f(void) {\n#pragma omp target\n}\n".to_owned(), "no statement that can be read stands behind"),
    ] {
        let project = Project::new(&[("a.c", &text)]);
        let ran = project.expect(0, &["-v", "--output-format", "concise", "-i", "a.c"]);
        assert_contains(&(ran.text() + &ran.stderr), said);
        assert_eq!(project.read("a.c"), text.as_bytes());
        project.expect(1, &["--error-on-refusal", "--check", "a.c"]);
        project.write("b.c", format!("{text}{}", SPLITS.replace("void f", "void g")).as_bytes());
        let ran = project.expect(0, &["-v", "--output-format", "concise", "-i", "b.c"]);
        assert_eq!((ran.text() + &ran.stderr).matches(said).count(), 1, "{}", ran.stderr);
    }
    // `%:` is what `#` is.
    let project = Project::new(&[("a.c", &SPLITS.replace('#', "%:"))]);
    assert_split(&project.expect(0, &["a.c"]).stdout);
}

/// Two regions that change and one that is refused, in three files.
#[test]
fn a_run_says_what_changed_and_in_one_line_what_was_left_alone() {
    let project = Project::new(&[("a.c", SPLITS), ("b.c", REFUSED), ("c.c", SPLITS), ("plain.c", PLAIN)]);
    let ran = project.expect(0, &["-i", "a.c", "b.c", "plain.c"]);
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(said.len(), 2, "{}", ran.stderr);
    assert!(said[0].starts_with("a.c:2:1: split into 2 kernels") && said[0].ends_with("[split]"), "{}", said[0]);
    assert_eq!(said[1], "1 of 3 files changed; 1 region left alone, with a syntax error; `-v` shows it");
    let ran = project.expect(1, &["--check", "b.c", "c.c"]);
    assert_contains(
        &ran.stderr,
        "1 of 2 files would change; 1 region left alone, with a syntax error; `-v` shows it\n",
    );
    assert!(!ran.stderr.contains("OMPS101"), "{}", ran.stderr);
    let ran = project.expect(0, &["-v", "b.c"]);
    assert_eq!(ran.stderr.matches("OMPS101]").count(), 1, "{}", ran.stderr);
    assert_contains(&ran.stderr, "0 of 1 file changed; 1 region left alone, with a syntax error\n");
    // Of a file without constructs there is nothing to say.
    assert_eq!(project.expect(0, &["plain.c"]).stderr, "");
    project.expect(2, &["-q", "-v", "a.c"]);
}

/// All passes' reasons about a construct come as one message.
#[test]
fn a_construct_gets_one_message() {
    let text = "\
#include \"sizes.h\"
void f(int n, double *a, double *b) {
#pragma omp target map(tofrom: a[0:n], b[0:n])
  {
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] += scale;
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] *= other;
  }
}
";
    let project = Project::new(&[("a.c", text)]);
    let ran = project.expect(0, &["-v", "--passes", "split", "a.c"]);
    assert_eq!(ran.stderr.matches("a.c:").count(), 2, "one message and the note on the header: {}", ran.stderr);
    assert_contains(
        &ran.stderr,
        "declaration of `scale` not found: `sizes.h` (line 1) was not found, pass `-I` or `-p`",
    );
    assert_contains(&ran.stderr, "= also: declaration of `other` not found");
    assert_contains(&ran.stderr, "= `ompsplit rule OMPS107` says what to do");
}

#[test]
fn an_edit_says_what_it_assumes() {
    let text = SPLITS.replace("void f(int n, float *a, float *b)", "template <class T> void f(int n, T *a, T *b)");
    let project = Project::new(&[("a.cpp", &text)]);
    let ran = project.expect(0, &["a.cpp"]);
    assert_contains(&ran.stderr, "0 of 1 file changed; 1 region only with `--assume`; `-v` shows it");
    let ran = project.expect(0, &["--assume", "a.cpp"]);
    assert_split(&ran.stdout);
    assert_contains(&ran.stderr, "    assumes that `T` is an arithmetic type wherever this template is used (line ");
    assert_contains(&project.expect(0, &["-v", "a.cpp"]).stderr, "that flag writes it: check first");
}

#[test]
fn completions_and_the_man_page_are_printed() {
    let project = Project::new(&[]);
    let printed = |what: &[&str]| project.expect(0, &[&["generate"], what].concat()).text();
    for (shell, part) in [("bash", "_ompsplit()"), ("zsh", "#compdef ompsplit"), ("fish", "complete -c ompsplit")] {
        let text = printed(&["completions", shell]);
        assert_contains(&text, part);
        assert_contains(&text, "assumed-iterations");
    }
    assert_contains(&printed(&["man"]), ".TH ompsplit 1");
    project.expect(2, &["generate", "schema", "nothing"]);
}
