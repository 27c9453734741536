//! Modules import only what lies below them, and each parser library is named in one file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the bottom up. Modules in the same layer do not know each other.
const LAYERS: &[&[&str]] = &[
    &["source"],
    &["syntax"],
    &["region"],
    &["device"],
    &["edit"],
    &["plan"],
    &["semantics"],
    &["analysis"],
    &["context"],
    &["transforms"],
    &["validate"],
    &["engine"],
    &["advice", "tune"],
    &["report", "output"],
    &["cli"],
];

/// The folders of `split`, in the order in which a region goes through them.
const STEPS: &[&str] = &["shape", "facts", "kernels", "write", "serial_loops"];

/// Which files may name a parser library.
const PARSERS: &[(&str, &[&str])] = &[
    ("tree_sitter_c", &["syntax/host.rs", "syntax/host"]),
    ("tree_sitter_cpp", &["syntax/host.rs", "syntax/host"]),
    ("tree_sitter_openmp", &["syntax/lower.rs", "syntax/lower"]),
];

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transformer/src")
}

/// Every Rust file below a folder, in order.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let deeper = |path: PathBuf| if path.is_dir() { rust_files(&path) } else { vec![path] };
    entries.into_iter().flat_map(deeper).filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

/// The file's name below `transformer/src`, with `/`.
fn name_of(path: &Path) -> String {
    path.strip_prefix(source_root()).unwrap().to_string_lossy().replace('\\', "/")
}

/// The module that a file belongs to: the first part of its name.
fn module_of(name: &str) -> &str {
    name.split('/').next().unwrap().trim_end_matches(".rs")
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The text without comments' lines, so that documentation may speak of any module.
fn code_of(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The top-level modules that a text names by `crate::..`, groups in braces included.
fn imports(code: &str) -> Vec<String> {
    behind(code, "crate::")
}

/// The names that stand behind a path, groups in braces included.
fn behind(code: &str, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(path) {
        let preceded = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        if preceded {
            continue;
        }
        let rest = &code[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_heads(group)),
            None => found.push(head(rest)),
        }
    }
    found
}

/// The first name of each member of `{a::b, c::{d, e}}`, whose opening brace is gone.
fn group_heads(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut heads = vec![head(group.trim_start())];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(head(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

fn head(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn every_module_has_a_layer() {
    let text = fs::read_to_string(source_root().join("lib.rs")).unwrap();
    let modules: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert!(modules.len() > 5, "{modules:?}");
    for module in modules {
        assert!(layer_of(module).is_some(), "`{module}` has no place in LAYERS and in transformer/ARCHITECTURE.md");
    }
}

#[test]
fn imports_point_downward() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in rust_files(&source_root()) {
        let name = name_of(&path);
        let module = module_of(&name);
        let Some(own) = layer_of(module) else { continue };
        for import in imports(&code_of(&fs::read_to_string(&path).unwrap())) {
            count += 1;
            if import != module && layer_of(&import).is_some_and(|layer| layer >= own) {
                wrong.push(format!("{name} imports crate::{import}"));
            }
        }
    }
    assert!(count > 50, "only {count} imports were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The folders and files of passes, as the registry names them.
fn passes() -> Vec<String> {
    let registry = fs::read_to_string(source_root().join("transforms/mod.rs")).unwrap();
    let functions = registry.match_indices("plan: Some(").map(|(at, found)| head(&registry[at + found.len()..]));
    functions.collect()
}

#[test]
fn no_pass_imports_another() {
    let passes = passes();
    assert!(passes.len() >= 5, "{passes:?}");
    let mut wrong = Vec::new();
    for path in rust_files(&source_root().join("transforms")) {
        let name = name_of(&path);
        let own = name.split('/').nth(1).unwrap().trim_end_matches(".rs");
        if own == "mod" {
            continue;
        }
        let code = code_of(&fs::read_to_string(&path).unwrap());
        let named = [behind(&code, "transforms::"), behind(&code, "super::")].concat();
        let others = passes.iter().filter(|pass| *pass != own && named.contains(pass));
        wrong.extend(others.map(|pass| format!("{name} imports {pass}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The files of `split` without its own: the name, the step that it belongs to, the code.
fn files_of_split() -> Vec<(String, String, String)> {
    let files = rust_files(&source_root().join("transforms/split_target")).into_iter();
    let files = files.map(|path| {
        let name = name_of(&path);
        let step = name.split('/').nth(2).unwrap().trim_end_matches(".rs").to_owned();
        (name, step, code_of(&fs::read_to_string(&path).unwrap()))
    });
    files.collect()
}

#[test]
fn each_step_of_split_knows_those_before_it() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, step, code) in files_of_split() {
        let own = STEPS.iter().position(|other| *other == step).unwrap_or_else(|| panic!("{name} belongs to no step"));
        for import in [behind(&code, "split_target::"), behind(&code, "super::")].concat() {
            let other = STEPS.iter().position(|step| *step == import);
            count += usize::from(other.is_some());
            if other.is_some_and(|other| other > own) {
                wrong.push(format!("{name} imports {import}"));
            }
        }
    }
    assert!(count > 50, "only {count} imports were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_the_last_steps_of_split_write() {
    let own = fs::read_to_string(source_root().join("transforms/split_target.rs")).unwrap();
    let mut files = files_of_split();
    files.push(("transforms/split_target.rs".to_owned(), String::new(), code_of(&own)));
    let writes = |code: &str| imports(code).iter().any(|import| import == "edit");
    let (writers, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|(_, step, _)| ["write", "serial_loops"].contains(&step.as_str()));
    assert!(writers.iter().any(|(_, _, code)| writes(code)));
    let wrong: Vec<&String> = others.iter().filter(|(_, _, code)| writes(code)).map(|(name, ..)| name).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a region is shaped like is told by its text, whatever its names mean.
#[test]
fn the_first_step_of_split_reads_no_meaning() {
    let mut count = 0;
    for (name, _, code) in files_of_split().into_iter().filter(|(_, step, _)| step == "shape") {
        for import in behind(&code, "crate::semantics::") {
            assert_eq!(import, "Program", "{name}");
        }
        for part in behind(&code, "cx.") {
            count += 1;
            assert!(["file", "scan", "tree", "constructs"].contains(&part.as_str()), "{name} asks for {part}");
        }
    }
    assert!(count > 50, "only {count} places were found");
}

#[test]
fn each_parser_library_is_named_in_one_place() {
    for (library, allowed) in PARSERS {
        let mut users = Vec::new();
        for path in rust_files(&source_root()) {
            let code = code_of(&fs::read_to_string(&path).unwrap());
            let is_word = |(at, _): (usize, &str)| {
                !code[at + library.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            };
            if code.match_indices(library).any(is_word) {
                users.push(name_of(&path));
            }
        }
        assert!(!users.is_empty(), "nothing names {library}");
        let elsewhere = |name: &&String| !allowed.iter().any(|place| Path::new(name).starts_with(place));
        assert_eq!(users.iter().find(elsewhere), None, "{library}");
    }
}

#[test]
fn the_reader_of_imports_sees_groups_and_paths() {
    let code = "use crate::a::b;\nuse crate::{c::d, e::{f, g}, h};\nfn x() -> crate::i::J { $crate::k!() }";
    assert_eq!(imports(code), ["a", "c", "e", "h", "i"]);
}

/// The kinds of nodes whose names are no words of C, of OpenMP or of English: `for_statement`.
fn compound_kinds() -> Vec<String> {
    let lists = fs::read_to_string(source_root().join("syntax/host/kinds/lists.rs")).unwrap();
    let kinds = lists.split(" Field {").next().unwrap();
    let names = kinds.lines().filter_map(|line| line.split('"').nth(1));
    // Words of the languages have such signs too.
    let is_word = |name: &&str| matches!(*name, "static_assert" | "thread_local") || name.ends_with("_eq");
    let is_compound = |name: &&str| name.contains('_') && name.starts_with(|c: char| c.is_ascii_lowercase());
    names.filter(is_compound).filter(|name| !is_word(name)).map(str::to_owned).collect()
}

#[test]
fn kinds_of_nodes_have_types() {
    let kinds = compound_kinds();
    assert!(kinds.iter().any(|kind| kind == "for_statement"));
    let files = rust_files(&source_root());
    let outside = files.iter().filter(|path| module_of(&name_of(path)) != "syntax");
    let found: Vec<String> = outside
        .flat_map(|path| {
            let code = code_of(&fs::read_to_string(path).unwrap());
            let literals = kinds.iter().filter(|kind| code.contains(&format!("\"{kind}\""))).cloned();
            literals.map(|kind| format!("{}: {kind}", name_of(path))).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{found:?} are told by their text");
}
