//! The loop: messages in order, changes applied at once, the rest given to workers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use gen_lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    PublishDiagnosticsParams, Uri,
};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use saltus::library::ParseCache;
use saltus::simulate::Cancel;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::diagnostics;
use crate::document::Document;
use crate::modes;
use crate::overlay::Overlay;
use crate::position::Encoding;
use crate::requests::{self, Refusal};
use crate::settings::Settings;
use crate::uri::path_of;
use crate::workers::{Workers, guarded};
use crate::world::{Parts, World};

/// How to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folders in which libraries are looked for, behind those of the settings: MODELICAPATH.
    pub libraries: Vec<PathBuf>,
    /// The folder that `~` stands for in settings.
    pub home: Option<PathBuf>,
    /// How long nobody must have typed before models are checked.
    pub check_after: Duration,
    /// How long nobody must have typed before modes are analysed.
    pub analyze_after: Duration,
    /// How long a hover waits for what an analysis says; without it it says less.
    pub patience: Duration,
    /// Whether there is a request `saltus/panic`, which panics: for tests.
    pub may_panic: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            libraries: Vec::new(),
            home: None,
            check_after: Duration::from_millis(150),
            analyze_after: Duration::from_millis(600),
            patience: Duration::from_millis(800),
            may_panic: false,
        }
    }
}

/// What workers report.
enum Event {
    Checked(u64, PathBuf, Vec<Diagnostic>),
    Analyzed(u64),
    /// A run has found something about this generation.
    Found(u64),
    Panicked(String),
}

/// Requests on their way.
type Pending = Arc<Mutex<BTreeMap<String, Cancel>>>;

/// Serves a client until it says goodbye. Returns whether it did so properly: with `shutdown` before `exit`.
pub fn serve(connection: Connection, options: Options) -> bool {
    let Ok((id, params)) = connection.initialize_start() else {
        return false;
    };
    let client = Client::new(&params);
    let capabilities = requests::capabilities(client.encoding);
    let answer = json!({
        "capabilities": capabilities,
        "serverInfo": {"name": "saltus", "version": env!("CARGO_PKG_VERSION")},
    });
    if connection.initialize_finish(id, answer).is_err() {
        return false;
    }
    Server::new(connection, client, options).run()
}

/// What the client said of itself.
#[derive(Clone, Debug)]
struct Client {
    encoding: Encoding,
    roots: Vec<PathBuf>,
    options: Value,
    configuration: bool,
    watches: bool,
    refreshes_lenses: bool,
    refreshes_hints: bool,
    renames_files: bool,
    snippets: bool,
    /// Whether it shows what commands return; others are told of it in a message.
    views: bool,
}

impl Client {
    fn new(params: &Value) -> Client {
        let at = |path: &str| params.pointer(path);
        let is = |path: &str| at(path).and_then(Value::as_bool).unwrap_or(false);
        let offered = at("/capabilities/general/positionEncodings").and_then(Value::as_array);
        let utf8 = offered.is_some_and(|offered| offered.iter().any(|encoding| encoding == "utf-8"));
        let folders = at("/workspaceFolders").and_then(Value::as_array);
        let mut roots: Vec<PathBuf> = folders
            .into_iter()
            .flatten()
            .filter_map(|folder| folder.get("uri")?.as_str())
            .map(|uri| path_of(&Uri(uri.to_owned())))
            .collect();
        if roots.is_empty() {
            let root = at("/rootUri")
                .and_then(Value::as_str)
                .map(|uri| path_of(&Uri(uri.to_owned())));
            let root = root.or_else(|| at("/rootPath").and_then(Value::as_str).map(PathBuf::from));
            roots.extend(root);
        }
        Client {
            encoding: if utf8 { Encoding::Utf8 } else { Encoding::Utf16 },
            roots,
            options: at("/initializationOptions").cloned().unwrap_or(Value::Null),
            configuration: is("/capabilities/workspace/configuration"),
            watches: is("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
            refreshes_lenses: is("/capabilities/workspace/codeLens/refreshSupport"),
            refreshes_hints: is("/capabilities/workspace/inlayHint/refreshSupport"),
            renames_files: at("/capabilities/workspace/workspaceEdit/resourceOperations")
                .and_then(Value::as_array)
                .is_some_and(|operations| operations.iter().any(|operation| operation == "rename")),
            snippets: is("/capabilities/textDocument/completion/completionItem/snippetSupport"),
            views: is("/initializationOptions/views"),
        }
    }
}

struct Server {
    connection: Connection,
    client: Client,
    options: Options,
    cache: Arc<ParseCache>,
    documents: BTreeMap<PathBuf, Arc<Document>>,
    overlay: Overlay,
    settings: Settings,
    current: Arc<AtomicU64>,
    world: Arc<World>,
    requests: Workers,
    /// Runs and analyses that were asked for: they may take long, and nobody waits behind them.
    commands: Workers,
    checks: Workers,
    analyses: Workers,
    pending: Pending,
    events: (Sender<Event>, Receiver<Event>),
    /// When to check, and when to analyse.
    check_at: Option<Instant>,
    analyze_at: Option<Instant>,
    /// The document changed last: it is looked at first.
    last: Option<PathBuf>,
    /// Whether what was last said of a document is about its syntax only.
    syntax_only: BTreeMap<PathBuf, bool>,
    texts: u64,
    own_requests: i32,
    is_over: bool,
}

impl Server {
    fn new(connection: Connection, client: Client, options: Options) -> Server {
        let cache = Arc::new(ParseCache::new());
        let current = Arc::new(AtomicU64::new(0));
        let settings = Settings::read(&client.options);
        let parts = Parts {
            documents: BTreeMap::new(),
            files: Arc::new(Overlay::new()),
            cache: Arc::clone(&cache),
            settings: settings.clone(),
            encoding: client.encoding,
            roots: Vec::new(),
            libraries: Vec::new(),
            renames_files: client.renames_files,
            snippets: client.snippets,
            patience: options.patience,
            current: Arc::clone(&current),
        };
        let mut server = Server {
            connection,
            client,
            options,
            cache,
            documents: BTreeMap::new(),
            overlay: Overlay::new(),
            settings,
            current,
            world: Arc::new(World::new(parts, 0)),
            requests: Workers::new("request", 2),
            commands: Workers::new("command", 2),
            checks: Workers::new("check", 1),
            analyses: Workers::new("analysis", 1),
            pending: Pending::default(),
            events: unbounded(),
            check_at: None,
            analyze_at: None,
            last: None,
            syntax_only: BTreeMap::new(),
            texts: 0,
            own_requests: 0,
            is_over: false,
        };
        server.renew();
        server
    }

    fn run(mut self) -> bool {
        self.register();
        loop {
            let receiver = self.connection.receiver.clone();
            let events = self.events.1.clone();
            let next = [self.check_at, self.analyze_at].into_iter().flatten().min();
            let wait = next.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            select! {
                recv(receiver) -> message => match message {
                    Ok(Message::Notification(notification)) if notification.method == "exit" => return self.is_over,
                    Ok(message) => self.message(message),
                    // The client has gone without a word.
                    Err(_) => return false,
                },
                recv(events) -> event => {
                    if let Ok(event) = event {
                        self.event(event);
                    }
                }
                default(wait) => self.tick(),
            }
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => {
                let method = notification.method.clone();
                // A change that cannot be applied must not take the others with it.
                let done = guarded(|| self.notification(notification));
                if let Err(panic) = done {
                    self.log(&format!("internal error in {method}: {panic}"));
                }
            }
            Message::Response(response) => self.response(response),
        }
    }

    fn send<P: Serialize>(&self, method: &str, params: P) {
        let notification = Notification::new(method.to_owned(), params);
        let _ = self.connection.sender.send(notification.into());
    }

    fn ask<P: Serialize>(&mut self, id: &str, method: &str, params: P) {
        self.own_requests += 1;
        let id = RequestId::from(format!("{id} {}", self.own_requests));
        let request = Request::new(id, method.to_owned(), params);
        let _ = self.connection.sender.send(request.into());
    }

    fn log(&self, text: &str) {
        self.send("window/logMessage", json!({"type": 1, "message": text}));
    }

    /// Asks to be told of files and settings that change.
    fn register(&mut self) {
        let mut registrations = Vec::new();
        if self.client.watches {
            let watchers = json!([{"globPattern": "**/*.mo"}, {"globPattern": "**/package.order"}]);
            registrations.push(json!({
                "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": {"watchers": watchers},
            }));
        }
        if !registrations.is_empty() {
            self.ask(
                "register",
                "client/registerCapability",
                json!({"registrations": registrations}),
            );
        }
        if self.client.configuration {
            self.ask_for_settings();
        }
    }

    fn ask_for_settings(&mut self) {
        self.ask(
            "settings",
            "workspace/configuration",
            json!({"items": [{"section": "saltus"}]}),
        );
    }

    fn response(&mut self, response: Response) {
        let is_settings = response.id.to_string().trim_matches('"').starts_with("settings ");
        let section = response.response_result.ok().and_then(|value| value.get(0).cloned());
        if let Some(section) = section.filter(|section| is_settings && section.is_object()) {
            self.set(self.configured(&section));
        }
    }

    /// A section of settings; what it does not say is as the first request said.
    fn configured(&self, section: &Value) -> Settings {
        Settings::read_over(section, Settings::read(&self.client.options))
    }

    fn set(&mut self, settings: Settings) {
        if settings != self.settings {
            self.settings = settings;
            self.renew();
        }
    }

    /// A new world: something has changed.
    fn renew(&mut self) {
        let generation = self.current.fetch_add(1, Ordering::Relaxed) + 1;
        let roots = self.client.roots.clone();
        let home = self.options.home.as_deref();
        let mut libraries = self.settings.library_folders(roots.first().map(PathBuf::as_path), home);
        libraries.extend(self.options.libraries.iter().cloned());
        let parts = Parts {
            documents: self.documents.clone(),
            files: Arc::new(self.overlay.clone()),
            cache: Arc::clone(&self.cache),
            settings: self.settings.clone(),
            encoding: self.client.encoding,
            roots,
            libraries,
            renames_files: self.client.renames_files,
            snippets: self.client.snippets,
            patience: self.options.patience,
            current: Arc::clone(&self.current),
        };
        self.world.outdated.cancel();
        self.world = Arc::new(World::new(parts, generation));
        let now = Instant::now();
        self.check_at = Some(now + self.options.check_after);
        self.analyze_at = self.settings.analysis.then_some(now + self.options.analyze_after);
    }

    // --- Changes ------------------------------------------------------------------------------

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => self.with(params, Self::open),
            "textDocument/didChange" => self.with(params, Self::change),
            "textDocument/didClose" => self.with(params, Self::close),
            "workspace/didChangeWatchedFiles" | "textDocument/didSave" => self.renew(),
            "workspace/didChangeConfiguration" if self.client.configuration => self.ask_for_settings(),
            "workspace/didChangeConfiguration" => {
                let settings = params.get("settings").unwrap_or(&Value::Null);
                self.set(self.configured(settings));
            }
            "workspace/didChangeWorkspaceFolders" => self.change_folders(&params),
            "$/cancelRequest" => {
                let id = params
                    .get("id")
                    .cloned()
                    .and_then(|id| serde_json::from_value::<RequestId>(id).ok());
                let pending = self.pending.lock().unwrap_or_else(|e| e.into_inner());
                if let Some(cancel) = id.and_then(|id| pending.get(&id.to_string())) {
                    cancel.cancel();
                }
            }
            _ => {}
        }
    }

    fn with<P: DeserializeOwned>(&mut self, params: Value, apply: impl FnOnce(&mut Self, P)) {
        match serde_json::from_value(params) {
            Ok(params) => apply(self, params),
            Err(error) => self.log(&format!("a message is not understood: {error}")),
        }
    }

    fn show(&mut self, uri: Uri, version: i32, text: String) {
        self.texts += 1;
        let path = path_of(&uri);
        let document = Document::new(uri, path.clone(), version, text, &self.cache, self.texts);
        self.overlay.show(&path, Arc::clone(&document.text), document.counter);
        self.documents.insert(path.clone(), Arc::new(document));
        self.last = Some(path.clone());
        self.renew();
        self.say_syntax(&path);
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.show(document.uri, document.version, document.text);
        // Nobody types yet: there is nothing to wait for.
        self.check_at = Some(Instant::now());
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.text_document_identifier.uri;
        let Some(document) = self.documents.get(&path_of(&uri)) else {
            return self.log(&format!("a document that is not open is changed: {}", uri.0));
        };
        let text = document.changed(params.content_changes, self.client.encoding);
        self.show(uri, params.text_document.version, text);
    }

    fn close(&mut self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        let path = path_of(&uri);
        self.documents.remove(&path);
        self.overlay.hide(&path);
        self.syntax_only.remove(&path);
        self.publish(uri, None, Vec::new());
        self.renew();
    }

    fn change_folders(&mut self, params: &Value) {
        let folders = |name: &str| -> Vec<PathBuf> {
            let folders = params.pointer(name).and_then(Value::as_array).into_iter().flatten();
            let uris = folders.filter_map(|folder| folder.get("uri")?.as_str());
            uris.map(|uri| path_of(&Uri(uri.to_owned()))).collect()
        };
        let removed = folders("/event/removed");
        self.client.roots.retain(|root| !removed.contains(root));
        self.client.roots.extend(folders("/event/added"));
        self.renew();
    }

    // --- What is said of documents ------------------------------------------------------------

    fn publish(&self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        self.send(
            "textDocument/publishDiagnostics",
            PublishDiagnosticsParams {
                uri,
                version,
                diagnostics,
            },
        );
    }

    /// What is wrong with the syntax is said at once, and whether anything is of a document that was opened; as long as nothing is,
    /// what was said before stays until the check.
    fn say_syntax(&mut self, path: &Path) {
        let Some(document) = self.documents.get(path).map(Arc::clone) else {
            return;
        };
        let has_errors = document.parse.diagnostics.has_errors();
        let before = self.syntax_only.get(path).copied();
        if has_errors || before != Some(false) {
            let found = diagnostics::of_file(&self.world, path, &document.parse.diagnostics);
            self.publish(document.uri.clone(), Some(document.version), found);
        }
        self.syntax_only.insert(path.to_owned(), has_errors);
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if self.check_at.is_some_and(|at| at <= now) {
            self.check_at = None;
            self.check();
        }
        if self.analyze_at.is_some_and(|at| at <= now) {
            self.analyze_at = None;
            self.analyze();
        }
    }

    /// The documents that are checked, the one changed last first.
    fn in_order(&self) -> Vec<PathBuf> {
        let last = self.last.iter().filter(|path| self.documents.contains_key(*path));
        let others = self.documents.keys().filter(|path| Some(*path) != self.last.as_ref());
        last.chain(others)
            .filter(|path| self.world.is_ours(path))
            .cloned()
            .collect()
    }

    fn check(&self) {
        for path in self.in_order() {
            let (world, events) = (Arc::clone(&self.world), self.events.0.clone());
            self.checks.order(move || {
                if world.is_outdated() {
                    return;
                }
                let found = guarded(|| diagnostics::check(&world, &path));
                let event = match found {
                    Ok(found) => Event::Checked(world.generation, path, found),
                    Err(panic) => Event::Panicked(format!("check of {}: {panic}", path.display())),
                };
                let _ = events.send(event);
            });
        }
    }

    /// Finds out about the modes of the document changed last, so that nobody has to wait.
    fn analyze(&self) {
        let Some(path) = self.in_order().into_iter().next() else {
            return;
        };
        let (world, events) = (Arc::clone(&self.world), self.events.0.clone());
        self.analyses.order(move || {
            let done = guarded(|| modes::analyze_file(&world, &path));
            let event = match done {
                Ok(()) => Event::Analyzed(world.generation),
                Err(panic) => Event::Panicked(format!("analysis of {}: {panic}", path.display())),
            };
            let _ = events.send(event);
        });
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Checked(generation, path, found) if generation == self.world.generation => {
                self.world.keep_checked(&path, found.clone());
                if let Some(document) = self.documents.get(&path) {
                    let (uri, version) = (document.uri.clone(), document.version);
                    self.publish(uri, Some(version), found);
                }
            }
            Event::Analyzed(generation) if generation == self.world.generation => {
                if self.client.refreshes_lenses {
                    self.ask("lens", "workspace/codeLens/refresh", Value::Null);
                }
                if self.client.refreshes_hints && self.settings.inlay_hints.need_analysis() {
                    self.ask("hint", "workspace/inlayHint/refresh", Value::Null);
                }
            }
            Event::Found(generation) if generation == self.world.generation => self.check(),
            Event::Checked(..) | Event::Analyzed(_) | Event::Found(_) => {}
            Event::Panicked(text) => self.log(&format!("internal error in the {text}")),
        }
    }

    // --- Requests -----------------------------------------------------------------------------

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if self.is_over {
            let error = "the server is shut down".to_owned();
            return respond(
                &self.connection.sender,
                id,
                Err(Refusal::new(ErrorCode::InvalidRequest, error)),
            );
        }
        if method == "shutdown" {
            self.is_over = true;
            return respond(&self.connection.sender, id, Ok(Value::Null));
        }
        let cancel = Cancel::default();
        let key = id.to_string();
        let mut pending = self.pending.lock().unwrap_or_else(|e| e.into_inner());
        pending.insert(key.clone(), cancel.clone());
        drop(pending);
        let (world, sender, pending) = (
            Arc::clone(&self.world),
            self.connection.sender.clone(),
            Arc::clone(&self.pending),
        );
        let (may_panic, events) = (self.options.may_panic, self.events.0.clone());
        let is_command = method == "workspace/executeCommand";
        let is_told = is_command && !self.client.views;
        let workers = if is_command { &self.commands } else { &self.requests };
        workers.order(move || {
            let answer = if cancel.is_cancelled() {
                Err(Refusal::new(ErrorCode::RequestCanceled, "cancelled".to_owned()))
            } else if world.is_outdated() && requests::is_about_the_moment(&method) {
                Err(Refusal::new(
                    ErrorCode::ContentModified,
                    "the text has changed".to_owned(),
                ))
            } else {
                let work = || requests::answer(&world, &method, params, &cancel, may_panic);
                guarded(work).unwrap_or_else(|panic| {
                    let text = format!("internal error in {method}: {panic}");
                    let log = json!({"type": 1, "message": text});
                    let _ = sender.send(Notification::new("window/logMessage".to_owned(), log).into());
                    Err(Refusal::new(ErrorCode::InternalError, text))
                })
            };
            pending.lock().unwrap_or_else(|e| e.into_inner()).remove(&key);
            let told = answer
                .as_ref()
                .ok()
                .filter(|_| is_told)
                .and_then(|answer| answer["text"].as_str());
            if let Some(text) = told {
                let params = json!({"type": 3, "message": text});
                let _ = sender.send(Notification::new("window/showMessage".to_owned(), params).into());
            }
            respond(&sender, id, answer);
            if is_command && world.take_news() {
                let _ = events.send(Event::Found(world.generation));
            }
        });
    }
}

fn respond(sender: &Sender<Message>, id: RequestId, answer: Result<Value, Refusal>) {
    let response = match answer {
        Ok(value) => Response::new_ok(id, value),
        Err(refusal) => Response::new_err(id, refusal.code, refusal.message),
    };
    let _ = sender.send(response.into());
}
