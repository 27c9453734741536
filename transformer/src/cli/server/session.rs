//! The conversation with the client: what it opens, changes, asks for and takes back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Notification as _,
};
use lsp_types::request::{RegisterCapability, Request as _, Shutdown};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, DidChangeConfigurationParams,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, HoverProviderCapability,
    InitializeParams, OneOf, SaveOptions, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cli::process::Engine;
use crate::cli::server::actions::FIX_ALL;
use crate::cli::server::document::Document;
use crate::cli::server::settings::ClientSettings;
use crate::cli::server::worker::{self, Task, Worker};

/// The stack of the worker, as for files of the command line.
const STACK_BYTES: usize = 16 << 20;

/// How a conversation ended.
pub(super) enum End {
    /// As the protocol has it.
    Shutdown,
    /// The client was gone.
    Left,
}

/// What both threads know.
#[derive(Default)]
pub(super) struct Shared {
    documents: Mutex<BTreeMap<String, Document>>,
    /// The numbers of requests that were taken back and not answered yet.
    cancelled: Mutex<BTreeSet<String>>,
}

impl Shared {
    fn documents(&self) -> MutexGuard<'_, BTreeMap<String, Document>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest text of a document that is open.
    pub(super) fn document(&self, uri: &str) -> Option<Document> {
        self.documents().get(uri).cloned()
    }

    /// Was the request taken back? That is asked once more when it is answered.
    pub(super) fn is_cancelled(&self, id: &RequestId) -> bool {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).contains(&id.to_string())
    }

    fn cancel(&self, id: String) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    /// Forgets that a request was taken back, now that it is answered.
    pub(super) fn answered(&self, id: &RequestId) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string());
    }
}

/// Serves one client.
pub(super) fn serve(connection: &Connection, engine: Engine) -> Result<End, String> {
    let (id, params) = match connection.initialize_start() {
        Ok(start) => start,
        Err(_) => return Ok(End::Left),
    };
    let client: InitializeParams = match serde_json::from_value(params) {
        Ok(client) => client,
        Err(error) => {
            let _gone = connection
                .sender
                .send(Response::new_err(id, ErrorCode::InvalidParams as i32, format!("`initialize`: {error}")).into());
            return Ok(End::Left);
        }
    };
    let answer = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "ompsplit", "version": env!("CARGO_PKG_VERSION") },
    });
    if connection.initialize_finish(id, answer).is_err() {
        return Ok(End::Left);
    }
    let shared = Arc::new(Shared::default());
    let (tasks, received) = mpsc::channel();
    let worker = {
        let (shared, sender) = (Arc::clone(&shared), connection.sender.clone());
        // A client that is gone needs no answer.
        let send = Box::new(move |message| drop(sender.send(message)));
        let worker = Worker { shared, send, engine, has_versions: has_versioned_edits(&client) };
        thread::Builder::new().stack_size(STACK_BYTES).spawn(move || worker.work(&received))
    };
    let worker = worker.map_err(|error| error.to_string())?;
    let session = Session { connection, shared, tasks };
    session.configure(client.initialization_options.as_ref().unwrap_or(&Value::Null));
    session.watch(&client);
    let end = session.listen();
    // The worker ends with the last task.
    drop(session);
    let _ended = worker.join();
    Ok(end)
}

fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let kinds = vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE, CodeActionKind::new(FIX_ALL)];
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(kinds),
            ..CodeActionOptions::default()
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// Does the client take edits of a certain version of a text?
fn has_versioned_edits(client: &InitializeParams) -> bool {
    let workspace = client.capabilities.workspace.as_ref();
    let edit = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
    edit.and_then(|edit| edit.document_changes).unwrap_or(false)
}

/// One conversation.
struct Session<'a> {
    connection: &'a Connection,
    shared: Arc<Shared>,
    tasks: mpsc::Sender<Task>,
}

impl Session<'_> {
    /// Takes messages until the client goes.
    fn listen(&self) -> End {
        let mut is_shut_down = false;
        for message in &self.connection.receiver {
            match message {
                Message::Request(request) if request.method == Shutdown::METHOD => {
                    is_shut_down = true;
                    self.send(Response::new_ok(request.id, Value::Null));
                }
                Message::Request(request) if is_shut_down => {
                    let why = "the server is shut down".to_owned();
                    self.send(Response::new_err(request.id, ErrorCode::InvalidRequest as i32, why));
                }
                Message::Request(request) => self.asked(request),
                Message::Notification(note) if note.method == Exit::METHOD => break,
                Message::Notification(note) => self.told(note),
                Message::Response(_) => {}
            }
        }
        if is_shut_down { End::Shutdown } else { End::Left }
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone needs no answer.
        let _gone = self.connection.sender.send(message.into());
    }

    fn task(&self, task: Task) {
        let _ended = self.tasks.send(task);
    }

    fn asked(&self, request: Request) {
        if worker::answers(&request.method) {
            self.task(Task::Answer(request));
        } else {
            let why = format!("`{}` is not supported", request.method);
            self.send(Response::new_err(request.id, ErrorCode::MethodNotFound as i32, why));
        }
    }

    fn told(&self, note: Notification) {
        match note.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Some(DidOpenTextDocumentParams { text_document: open }) = read(note.params) {
                    self.put(Document::new(open.uri, &open.language_id, open.version, open.text));
                }
            }
            DidChangeTextDocument::METHOD => {
                let Some(DidChangeTextDocumentParams { text_document, mut content_changes }) = read(note.params) else {
                    return;
                };
                // Each change holds the whole text: the last one counts.
                let old = self.shared.document(text_document.uri.as_str());
                if let Some((old, change)) = old.zip(content_changes.pop()) {
                    self.put(old.changed(text_document.version, change.text));
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(DidCloseTextDocumentParams { text_document }) = read(note.params) {
                    self.shared.documents().remove(text_document.uri.as_str());
                    self.task(Task::Clear(text_document.uri));
                }
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => self.look_again(),
            DidChangeConfiguration::METHOD => {
                if let Some(DidChangeConfigurationParams { settings }) = read(note.params) {
                    self.configure(&settings);
                    self.look_again();
                }
            }
            Cancel::METHOD => {
                let id = note.params.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
                if let Some(id) = id {
                    self.shared.cancel(id.to_string());
                }
            }
            _ => {}
        }
    }

    /// Keeps the newest text of a document and has it looked at.
    fn put(&self, document: Document) {
        let (uri, version) = (document.uri.clone(), document.version);
        self.shared.documents().insert(uri.as_str().to_owned(), document);
        self.task(Task::Diagnose(uri, version));
    }

    /// Other files may have changed: configurations and headers are read again, and each text is looked at.
    fn look_again(&self) {
        self.task(Task::Forget);
        for document in self.shared.documents().values() {
            self.task(Task::Diagnose(document.uri.clone(), document.version));
        }
    }

    fn configure(&self, settings: &Value) {
        match ClientSettings::read(settings) {
            Ok(settings) => self.task(Task::Configure(Box::new(settings))),
            Err(message) => {
                let params = json!({ "type": 2, "message": message });
                self.send(Notification::new("window/showMessage".to_owned(), params));
            }
        }
    }

    /// Asks to be told when a configuration or the compiler's flags change.
    fn watch(&self, client: &InitializeParams) {
        let workspace = client.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files);
        if watched.and_then(|watched| watched.dynamic_registration) != Some(true) {
            return;
        }
        let watchers = ["**/.ompsplit.toml", "**/compile_commands.json"].map(|glob| json!({ "globPattern": glob }));
        let registration = json!({
            "id": "ompsplit-files",
            "method": DidChangeWatchedFiles::METHOD,
            "registerOptions": { "watchers": watchers },
        });
        let params = json!({ "registrations": [registration] });
        self.send(Request::new("ompsplit-files".to_owned().into(), RegisterCapability::METHOD.to_owned(), params));
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
