//! The language server, in real sessions: a client of our own, and Neovim's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod client;
mod neovim;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use client::{Client, edited};

/// Two loops in one region: `split` makes two kernels of it.
pub const SPLITS: &str = "\
void f(int n, float *a, float *b){
#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])
{
#pragma omp parallel for
for(int i=0;i<n;i++) a[i]+=b[i];
#pragma omp parallel for
for(int i=1;i<n;i++) a[i]*=2;
}
}
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn uri(folder: &TempDir, name: &str) -> String {
    format!("file://{}", folder.path().join(name).display())
}

/// What the command line makes of a text.
fn rewritten(folder: &Path, name: &str, text: &str, flags: &[&str]) -> String {
    fs::write(folder.join(name), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ompsplit")).arg(name).args(flags).current_dir(folder).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

fn start(folder: &TempDir) -> Client {
    Client::start(folder.path(), Value::Null, json!({ "workspaceEdit": { "documentChanges": true } }))
}

fn edits(action: &Value) -> &Value {
    &action["edit"]["documentChanges"][0]["edits"]
}

#[test]
fn a_text_is_looked_at_while_it_is_typed() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.c");
    let mut client = start(&folder);
    client.open(&uri, "c", SPLITS);
    let said = client.diagnostics(&uri, 1);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0]["message"].as_str().unwrap().starts_with("split into 2 kernels"), "{said:?}");
    assert_eq!(said[0]["severity"], 3);
    assert_eq!(said[0]["range"]["start"], json!({ "line": 1, "character": 0 }));
    // Half a statement: the rule speaks, softly.
    client.change(&uri, 2, &SPLITS.replace("a[i]*=2", "a[i]*="));
    let said = client.diagnostics(&uri, 2);
    assert_eq!((&said[0]["code"], &said[0]["severity"]), (&"OMPS101".into(), &4.into()), "{said:?}");
    // What is no text at all is an error.
    client.change(&uri, 3, &format!("{SPLITS}/*"));
    assert_eq!(client.diagnostics(&uri, 3)[0]["severity"], 1);
    // Of a hundred versions the last one counts.
    for version in 4..=104 {
        client.change(&uri, version, &format!("{}{SPLITS}", "\n".repeat(usize::try_from(version).unwrap())));
    }
    assert_eq!(client.diagnostics(&uri, 104)[0]["range"]["start"]["line"], 105);
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let gone = |message: &Value| message["params"]["diagnostics"] == json!([]) && message["params"]["uri"] == *uri;
    client.wait_for(gone);
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn actions_do_one_plan_or_all() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.c");
    let second = SPLITS.replace("void f", "void g");
    let text = format!("// 😀 é\n{SPLITS}{second}");
    let mut client = start(&folder);
    client.open(&uri, "c", &text);
    let plans = client.actions(&uri, [2, 2], Some("refactor"));
    let titles: Vec<&str> = plans.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert!(titles.len() == 1 && titles[0].starts_with("split: split into 2 kernels"), "{titles:?}");
    let one = edited(&text, edits(&plans[0]));
    assert!(one.contains(&second) && !one.contains(SPLITS), "{one}");
    assert_eq!(plans[0]["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
    for only in [Some("source.fixAll"), Some("source.fixAll.ompsplit"), Some("source")] {
        let all = client.actions(&uri, [0, 0], only);
        assert_eq!(all.len(), 1, "{only:?}");
        assert_eq!(all[0]["kind"], "source.fixAll.ompsplit");
        assert_eq!(edited(&text, edits(&all[0])), rewritten(folder.path(), "a.c", &text, &[]));
    }
    assert!(client.actions(&uri, [0, 0], Some("source.organizeImports")).is_empty());
    // Nothing is left to do in what it wrote.
    let done = rewritten(folder.path(), "a.c", &text, &[]);
    client.change(&uri, 2, &done);
    assert!(client.actions(&uri, [0, 40], Some("source.fixAll")).is_empty());
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn an_assumption_is_named_where_it_is_offered_and_a_rule_can_be_silenced() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.cpp");
    let text = "\
template <class T> void f(int n, T *a) {
    #pragma omp target map(tofrom: a[0:n])
    {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] += 1;
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] *= 2;
    }
}
";
    let mut client = Client::start(folder.path(), Value::Null, json!({}));
    client.open(&uri, "cpp", text);
    assert!(client.diagnostics(&uri, 1)[0]["message"].as_str().unwrap().contains("assumes that `T`"));
    let plans = client.actions(&uri, [1, 1], Some("refactor.rewrite"));
    assert!(plans[0]["title"].as_str().unwrap().contains("(assumes that `T` is an arithmetic type"), "{plans:?}");
    assert!(plans[0]["edit"]["changes"][&uri].is_array(), "{plans:?}");
    assert!(client.actions(&uri, [1, 1], Some("source.fixAll")).is_empty());
    let refused = text.replace("a[i] *= 2", "a[i] *= other");
    client.change(&uri, 2, &refused);
    let said = client.diagnostics(&uri, 2);
    assert_eq!(said[0]["code"], "OMPS107", "{said:?}");
    let line = u32::try_from(said[0]["range"]["start"]["line"].as_u64().unwrap()).unwrap();
    let silence = client.actions(&uri, [line, line + 1], Some("quickfix"));
    assert_eq!(silence[0]["title"], "Silence OMPS107 here", "{silence:?}");
    let silenced = edited(&refused, &silence[0]["edit"]["changes"][&uri]);
    assert!(silenced.contains("        // NOLINTNEXTLINE(OMPS107)\n        for (int i"), "{silenced}");
    client.change(&uri, 3, &silenced);
    assert!(client.diagnostics(&uri, 3).iter().all(|said| said["code"] != "OMPS107"));
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn a_range_or_a_whole_text_is_formatted() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.c");
    for end in ["\n", "\r\n"] {
        let text = format!("{SPLITS}// é 😀\n{}", SPLITS.replace("void f", "void g")).replace('\n', end);
        let mut client = start(&folder);
        client.open(&uri, "c", &text);
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        let range = json!({ "start": { "line": 1, "character": 3 }, "end": { "line": 2, "character": 0 } });
        let asked = json!({ "textDocument": { "uri": uri }, "range": range, "options": options });
        let first = client.ask("textDocument/rangeFormatting", asked);
        let expected = rewritten(folder.path(), "a.c", &text, &["--lines", "2:2"]);
        assert_eq!(edited(&text, &first["result"]), expected);
        assert!(expected != text && expected.contains(&SPLITS.replace("void f", "void g").replace('\n', end)));
        let asked = json!({ "textDocument": { "uri": uri }, "options": options });
        let all = client.ask("textDocument/formatting", asked);
        assert_eq!(edited(&text, &all["result"]), rewritten(folder.path(), "a.c", &text, &[]));
        assert_eq!(client.finish().code(), Some(0));
    }
}

#[test]
fn a_directive_is_explained() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.c");
    let mut client = start(&folder);
    // Macros before it give clauses.
    let text = SPLITS.replace("map(to: b[0:n])", "INPUTS").replace("void f", "#define INPUTS map(to: b[0:n])\nvoid f");
    client.open(&uri, "c", &text);
    let mut hover = |line: u32| {
        let position = json!({ "line": line, "character": 2 });
        client.ask("textDocument/hover", json!({ "textDocument": { "uri": uri }, "position": position }))
    };
    let said = hover(2);
    let shown = said["result"]["contents"]["value"].as_str().unwrap();
    assert!(shown.contains("split") && shown.contains("segments:"), "{shown}");
    assert_eq!(said["result"]["range"]["start"]["line"], 2);
    assert_eq!(hover(0)["result"], Value::Null);
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn settings_and_configuration_files_hold() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.c");
    let mut client = Client::start(folder.path(), json!({ "passes": ["collapse"] }), json!({}));
    client.open(&uri, "c", SPLITS);
    assert!(client.diagnostics(&uri, 1).is_empty());
    client.tell("workspace/didChangeConfiguration", json!({ "settings": { "ompsplit": { "passes": ["split"] } } }));
    assert_eq!(client.diagnostics(&uri, 1).len(), 1);
    // A file beside the text says otherwise, as soon as the client tells that there is one.
    client.tell("workspace/didChangeConfiguration", json!({ "settings": {} }));
    assert_eq!(client.diagnostics(&uri, 1).len(), 1);
    fs::write(folder.path().join(".ompsplit.toml"), "passes = [\"collapse\"]\n").unwrap();
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert!(client.diagnostics(&uri, 1).is_empty());
    fs::write(folder.path().join(".ompsplit.toml"), "pases = []\n").unwrap();
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    let said = client.diagnostics(&uri, 1);
    assert!(said[0]["message"].as_str().unwrap().contains("unknown key `pases`"), "{said:?}");
    client.tell("workspace/didChangeConfiguration", json!({ "settings": { "ompsplit": { "pases": [] } } }));
    let shown = client.wait_for(|message| message["method"] == "window/showMessage");
    assert!(shown["params"]["message"].as_str().unwrap().contains("unknown field `pases`"), "{shown}");
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn a_client_that_watches_files_is_asked_to() {
    let folder = folder(&[]);
    let watches = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
    let mut client = Client::start(folder.path(), Value::Null, watches);
    let asked = client.wait_for(|message| message["method"] == "client/registerCapability");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }));
    assert!(asked["params"]["registrations"][0]["registerOptions"]["watchers"].is_array(), "{asked}");
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn what_is_taken_back_is_not_answered() {
    let folder = folder(&[]);
    let uri = uri(&folder, "a.c");
    let mut client = start(&folder);
    let functions: Vec<String> = (0..150).map(|i| SPLITS.replace("void f", &format!("void f{i}"))).collect();
    client.open(&uri, "c", &functions.concat());
    // The first keeps the worker busy while the others wait.
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let asked = json!({ "textDocument": { "uri": uri }, "options": options });
    let ids: Vec<i64> = (0..5).map(|_| client.request("textDocument/formatting", asked.clone())).collect();
    for id in &ids[1..] {
        client.tell("$/cancelRequest", json!({ "id": id }));
    }
    assert!(client.answer(ids[0])["result"].is_array());
    for id in &ids[1..] {
        assert_eq!(client.answer(*id)["error"]["code"], -32800);
    }
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn wrong_messages_do_no_harm() {
    let folder = folder(&[("not.f90", "")]);
    let mut client = start(&folder);
    assert_eq!(client.ask("textDocument/definition", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("textDocument/hover", json!({ "position": 1 }))["error"]["code"], -32602);
    let nowhere = json!({ "textDocument": { "uri": "file:///none.c" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.ask("textDocument/hover", nowhere)["error"]["code"], -32602);
    client.tell("textDocument/didOpen", json!({ "no": "text" }));
    client.tell("textDocument/didChange", json!({}));
    client.change("file:///none.c", 3, "");
    let fortran = uri(&folder, "not.f90");
    client.open(&fortran, "fortran", "end\n");
    let said = client.diagnostics(&fortran, 1);
    assert!(said[0]["message"].as_str().unwrap().contains("Fortran"), "{said:?}");
    let position = json!({ "line": 9, "character": 9 });
    let hover = client.ask("textDocument/hover", json!({ "textDocument": { "uri": fortran }, "position": position }));
    assert_eq!(hover["result"], Value::Null);
    assert!(client.actions(&fortran, [0, 99], None).is_empty());
    // A text without a file.
    client.open("untitled:Untitled-1", "c", SPLITS);
    assert_eq!(client.diagnostics("untitled:Untitled-1", 1).len(), 1);
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn a_client_that_goes_ends_the_server() {
    let folder = folder(&[]);
    assert_eq!(start(&folder).leave().code(), Some(2));
    assert_eq!(Client::connect(folder.path()).leave().code(), Some(2));
}
