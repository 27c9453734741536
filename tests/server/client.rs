//! A client that talks to the language server over its standard input and output.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// The longest that an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    received: Receiver<Value>,
    /// What came while something else was waited for.
    waiting: VecDeque<Value>,
    asked: i64,
}

impl Client {
    /// Starts a server in a folder, with settings and what else the client can do.
    pub fn start(folder: &Path, settings: Value, workspace: Value) -> Self {
        let mut client = Self::connect(folder);
        let params = json!({
            "processId": null, "rootUri": null,
            "capabilities": { "workspace": workspace },
            "initializationOptions": settings,
        });
        let answer = client.ask("initialize", params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "ompsplit", "{answer}");
        client.tell("initialized", json!({}));
        client
    }

    /// Starts a server without a word.
    pub fn connect(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ompsplit"));
        command.arg("server").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, received) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, received, waiting: VecDeque::new(), asked: 0 }
    }

    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let stdin = self.stdin.as_mut().unwrap();
        write!(stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        stdin.flush().unwrap();
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer; its number.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    pub fn answer(&mut self, id: i64) -> Value {
        self.wait_for(|message| message["id"] == id && message.get("method").is_none())
    }

    /// What the server says of a version of a text.
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let published = self.wait_for(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"] == version
        });
        published["params"]["diagnostics"].as_array().unwrap().clone()
    }

    pub fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&is_it) {
            return self.waiting.remove(at).unwrap();
        }
        loop {
            let message = self.received.recv_timeout(PATIENCE).expect("an answer of the server");
            if is_it(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    pub fn open(&mut self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&mut self, uri: &str, version: i64, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// The actions for a range of lines, of some kinds or of all.
    pub fn actions(&mut self, uri: &str, lines: [u32; 2], only: Option<&str>) -> Vec<Value> {
        let mut context = json!({ "diagnostics": [] });
        if let Some(kind) = only {
            context["only"] = json!([kind]);
        }
        let range =
            json!({ "start": { "line": lines[0], "character": 0 }, "end": { "line": lines[1], "character": 0 } });
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
        self.ask("textDocument/codeAction", params)["result"].as_array().unwrap().clone()
    }

    /// Says goodbye as the protocol has it.
    pub fn finish(mut self) -> ExitStatus {
        let answer = self.ask("shutdown", Value::Null);
        assert!(answer.get("error").is_none(), "{answer}");
        self.tell("exit", Value::Null);
        self.child.wait().unwrap()
    }

    /// Goes away without a word.
    pub fn leave(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }
}

fn read(stdout: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    stdout.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// A text with edits of the protocol made, whose columns are counted in UTF-16.
pub fn edited(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let number = |name: &str| usize::try_from(position[name].as_u64().unwrap()).unwrap();
        let line: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        let mut units = 0;
        let column = text[line..].char_indices().find(|(_, c)| {
            let here = units >= number("character");
            units += c.len_utf16();
            here
        });
        line + column.map_or(text.len() - line, |(at, _)| at)
    };
    let mut edits: Vec<&Value> = edits.as_array().unwrap().iter().collect();
    edits.sort_by_key(|edit| offset(&edit["range"]["start"]));
    let mut result = text.to_owned();
    for edit in edits.iter().rev() {
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        result.replace_range(range, edit["newText"].as_str().unwrap());
    }
    result
}
