//! The thread that does the work: it looks at texts and answers requests, one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::request::{CodeActionRequest, Formatting, HoverRequest, RangeFormatting, Request as _};
use lsp_types::{
    CodeActionParams, DocumentFormattingParams, DocumentRangeFormattingParams, HoverParams, PublishDiagnosticsParams,
    TextDocumentIdentifier, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cli::arguments::{HostArguments, OutputArguments};
use crate::cli::process::{self, Engine, Processed};
use crate::cli::server::document::Document;
use crate::cli::server::session::Shared;
use crate::cli::server::settings::ClientSettings;
use crate::cli::server::{actions, messages};
use crate::cli::settings::{Resolver, Settings};
use crate::cli::{explain, inputs};

/// What the session asks for.
pub(super) enum Task {
    /// Other settings of the client.
    Configure(Box<ClientSettings>),
    /// Configurations may have changed.
    Forget,
    /// A text, by the document's name and the version.
    Diagnose(Uri, i32),
    /// A document was closed: nothing is said of it any more.
    Clear(Uri),
    /// A request.
    Answer(Request),
}

/// Is it a request that the worker answers?
pub(super) fn answers(method: &str) -> bool {
    [HoverRequest::METHOD, CodeActionRequest::METHOD, Formatting::METHOD, RangeFormatting::METHOD].contains(&method)
}

/// The worker.
pub(super) struct Worker {
    /// What the session knows.
    pub shared: Arc<Shared>,
    /// Sends a message to the client, if that is still there.
    pub send: Box<dyn Fn(Message) + Send>,
    /// What rewrites a text.
    pub engine: Engine,
    /// Does the client take edits of a certain version of a text?
    pub has_versions: bool,
}

impl Worker {
    /// Works until no task can come any more. What the configuration files say is kept until something may have changed.
    pub(super) fn work(&self, tasks: &mpsc::Receiver<Task>) {
        let mut client = ClientSettings::default();
        let mut waiting = tasks.recv().ok();
        while waiting.is_some() {
            let (context, passes) = client.flags();
            let (output, host) = (OutputArguments::default(), HostArguments::default());
            let desk =
                Desk { worker: self, resolver: Resolver::new(&context, &passes, &output, &host), client: &client };
            let changed = loop {
                match waiting.take() {
                    None => return,
                    Some(Task::Configure(settings)) => break Some(*settings),
                    Some(Task::Forget) => break None,
                    Some(task) => desk.handle(task),
                }
                waiting = tasks.recv().ok();
            };
            client = changed.unwrap_or(client);
            waiting = tasks.recv().ok();
        }
    }

    fn say(&self, uri: Uri, version: Option<i32>, diagnostics: Vec<lsp_types::Diagnostic>) {
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        (self.send)(Notification::new(PublishDiagnostics::METHOD.to_owned(), params).into());
    }
}

/// The worker with the settings that hold now.
struct Desk<'a> {
    worker: &'a Worker,
    resolver: Resolver<'a>,
    client: &'a ClientSettings,
}

impl Desk<'_> {
    fn handle(&self, task: Task) {
        match task {
            Task::Diagnose(uri, version) => self.diagnose(uri, version),
            Task::Clear(uri) => self.worker.say(uri, None, Vec::new()),
            Task::Answer(request) => self.answer(request),
            Task::Configure(_) | Task::Forget => {}
        }
    }

    /// Says what is to be said of a text, if it is still the newest.
    fn diagnose(&self, uri: Uri, version: i32) {
        let shared = &self.worker.shared;
        let Some(document) = shared.document(uri.as_str()).filter(|document| document.version == version) else {
            return;
        };
        let found = catch_unwind(AssertUnwindSafe(|| match self.process(&document, |_| {}) {
            Ok(processed) => messages::of(&document, &processed, self.client.quiet),
            Err(message) => vec![messages::failure(message)],
        }));
        // A text that changed in the meantime has a task of its own behind this one.
        if shared.document(uri.as_str()).is_some_and(|newest| newest.version == version) {
            self.worker.say(uri, Some(version), found.unwrap_or_default());
        }
    }

    fn answer(&self, request: Request) {
        let Request { id, method, params } = request;
        let shared = &self.worker.shared;
        let result = match shared.is_cancelled(&id) {
            true => None,
            false => Some(catch_unwind(AssertUnwindSafe(|| self.result(&method, params)))),
        };
        let response = match result {
            _ if shared.is_cancelled(&id) => {
                Response::new_err(id.clone(), ErrorCode::RequestCanceled as i32, "taken back".to_owned())
            }
            Some(Ok(Ok(value))) => Response::new_ok(id.clone(), value),
            Some(Ok(Err(message))) => Response::new_err(id.clone(), ErrorCode::InvalidParams as i32, message),
            Some(Err(_)) | None => {
                let why = "this tool failed on the request".to_owned();
                Response::new_err(id.clone(), ErrorCode::InternalError as i32, why)
            }
        };
        shared.answered(&id);
        (self.worker.send)(response.into());
    }

    fn result(&self, method: &str, params: Value) -> Result<Value, String> {
        match method {
            HoverRequest::METHOD => {
                let HoverParams { text_document_position_params: at, .. } = read(params)?;
                self.hover(&self.open(&at.text_document)?, at.position.line)
            }
            CodeActionRequest::METHOD => {
                let params: CodeActionParams = read(params)?;
                let document = self.open(&params.text_document)?;
                let processed = self.process(&document, |_| {}).ok();
                let has_versions = self.worker.has_versions;
                let found = processed.filter(|processed| !processed.failed);
                Ok(found.map_or_else(|| json!([]), |found| actions::of(&document, &found, &params, has_versions)))
            }
            Formatting::METHOD => {
                let DocumentFormattingParams { text_document, .. } = read(params)?;
                self.format(&self.open(&text_document)?, None)
            }
            _ => {
                let DocumentRangeFormattingParams { text_document, range, .. } = read(params)?;
                let document = self.open(&text_document)?;
                let line = |line: u32| usize::try_from(line).unwrap_or(usize::MAX).saturating_add(1);
                // A range that ends before the first character of a line does not touch it.
                let last = line(range.end.line) - usize::from(range.end.character == 0 && range.end > range.start);
                self.format(&document, Some((line(range.start.line), last)))
            }
        }
    }

    fn open(&self, document: &TextDocumentIdentifier) -> Result<Document, String> {
        let uri = document.uri.as_str();
        self.worker.shared.document(uri).ok_or_else(|| format!("{uri} is not open"))
    }

    /// Looks at a text with the settings that hold for it, which `adapt` may change.
    fn process(&self, document: &Document, adapt: impl Fn(&mut Settings)) -> Result<Processed, String> {
        let path = &document.file.path;
        if let Some(message) = inputs::not_a_source(path) {
            return Err(message);
        }
        let mut settings = self.resolver.settings(path)?;
        adapt(&mut settings);
        Ok(process::file(document.file.clone(), &settings, self.worker.engine))
    }

    fn format(&self, document: &Document, lines: Option<(usize, usize)>) -> Result<Value, String> {
        let processed = self.process(document, |settings| settings.lines.extend(lines))?;
        let edits = processed.text.map(|text| document.edits_to(&text)).unwrap_or_default();
        serde_json::to_value(edits).map_err(|error| error.to_string())
    }

    /// What `explain` says of the directive at a line, counted from 0.
    fn hover(&self, document: &Document, line: u32) -> Result<Value, String> {
        let Ok(settings) = self.resolver.settings(&document.file.path) else { return Ok(Value::Null) };
        let Ok(processed) = self.process(document, |settings| settings.explain = true) else { return Ok(Value::Null) };
        let is_here = |range: &lsp_types::Range| (range.start.line..=range.end.line).contains(&line);
        let places = processed.report.plans.iter().map(|plan| (plan, document.range(plan.span)));
        let Some((_, range)) = places.into_iter().find(|(_, range)| is_here(range)) else { return Ok(Value::Null) };
        let mut text = Vec::new();
        let number = usize::try_from(line).unwrap_or(usize::MAX).saturating_add(1);
        explain::write(&processed, &settings, Some(number), &mut text).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&text).replace("```", "'''");
        Ok(json!({ "contents": { "kind": "markdown", "value": format!("```text\n{text}```") }, "range": range }))
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}
