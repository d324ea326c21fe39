//! A client in memory, and fixtures with marks: `/*^name*/` stands in front of the place that is asked about.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use saltus_lsp::{Options, serve};
use serde_json::{Value, json};

/// Longer than anything here takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    connection: Connection,
    server: Option<JoinHandle<bool>>,
    next: i32,
    versions: BTreeMap<String, i32>,
    pub(crate) notifications: Vec<Notification>,
    pub(crate) requests: Vec<Request>,
    pub(crate) capabilities: Value,
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// A client without a workspace.
    pub(crate) fn start() -> Client {
        Client::with(json!({}), Options::default())
    }

    /// A client with a workspace.
    pub(crate) fn in_folder(root: &Path) -> Client {
        Client::with(json!({"rootUri": uri(root)}), Options::default())
    }

    pub(crate) fn with(mut params: Value, mut options: Options) -> Client {
        options.check_after = Duration::from_millis(1);
        options.analyze_after = Duration::from_millis(20);
        options.patience = PATIENCE;
        options.may_panic = true;
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || serve(other, options));
        if params.get("capabilities").is_none() {
            params["capabilities"] = json!({
                "workspace": {"workspaceEdit": {"resourceOperations": ["rename"]}},
                "textDocument": {"completion": {"completionItem": {"snippetSupport": true}}},
            });
        }
        let mut client = Client {
            connection,
            server: Some(server),
            next: 0,
            versions: BTreeMap::new(),
            notifications: Vec::new(),
            requests: Vec::new(),
            capabilities: Value::Null,
        };
        let answer = client.ask("initialize", params).expect("an answer");
        client.capabilities = answer["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection
            .sender
            .send(notification.into())
            .expect("the server listens");
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).expect("the server listens");
        id
    }

    fn receive(&mut self, until: Instant) -> Option<Response> {
        let left = until.saturating_duration_since(Instant::now());
        match self
            .connection
            .receiver
            .recv_timeout(left)
            .expect("the server answers in time")
        {
            Message::Response(response) => Some(response),
            Message::Notification(notification) => {
                self.notifications.push(notification);
                None
            }
            Message::Request(request) => {
                self.requests.push(request);
                None
            }
        }
    }

    pub(crate) fn wait(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(response) = self.receive(until)
                && response.id == *id
            {
                return response.response_result.map_err(|error| (error.code, error.message));
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send(method, params);
        self.wait(&id)
    }

    pub(crate) fn get(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params)
            .unwrap_or_else(|(code, text)| panic!("{method}: {code} {text}"))
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let document = json!({"uri": uri, "languageId": "modelica", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub(crate) fn change(&mut self, uri: &str, changes: Value) -> i32 {
        let version = self.versions.entry(uri.to_owned()).or_default();
        *version += 1;
        let version = *version;
        let document = json!({"uri": uri, "version": version});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
        version
    }

    /// What is wrong with a document, now.
    pub(crate) fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let report = self.get("textDocument/diagnostic", json!({"textDocument": {"uri": uri}}));
        report["items"].as_array().expect("a list").clone()
    }

    /// Waits until diagnostics of a version are sent that are as wanted.
    pub(crate) fn wait_for(&mut self, uri: &str, wanted: impl Fn(i32, &[Value]) -> bool) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        let mut seen = 0;
        loop {
            while seen < self.notifications.len() {
                let params = &self.notifications[seen].params;
                let is_meant = self.notifications[seen].method.ends_with("publishDiagnostics") && params["uri"] == uri;
                seen += 1;
                let found = params["diagnostics"].as_array().cloned().unwrap_or_default();
                if is_meant && wanted(params["version"].as_i64().unwrap_or(0) as i32, &found) {
                    return found;
                }
            }
            self.receive(until);
        }
    }

    /// Says goodbye.
    pub(crate) fn end(mut self) {
        self.get("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let server = self.server.take().expect("it runs");
        assert!(server.join().expect("it does not panic"), "a proper end");
    }
}

/// The place behind a mark.
pub(crate) fn place(text: &str, mark: &str) -> Value {
    let mark = format!("/*^{mark}*/");
    let at = text.find(&mark).unwrap_or_else(|| panic!("no {mark}")) + mark.len();
    position(text, at)
}

/// The position of an offset, in units of UTF-16.
pub(crate) fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

/// The offset of a position.
pub(crate) fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().expect("a line") as usize;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let mut left = position["character"].as_u64().expect("a column") as usize;
    let mut at = start;
    for c in text[start..].chars() {
        if left == 0 {
            break;
        }
        left -= c.len_utf16().min(left);
        at += c.len_utf8();
    }
    at
}

/// The text of a range.
pub(crate) fn slice<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[offset(text, &range["start"])..offset(text, &range["end"])]
}

/// What a text is after edits of the protocol.
pub(crate) fn apply(text: &str, edits: &[Value]) -> String {
    let mut edits: Vec<(usize, usize, String)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let text_of = edit["newText"].as_str().expect("a text").to_owned();
            (offset(text, &range["start"]), offset(text, &range["end"]), text_of)
        })
        .collect();
    edits.sort();
    let mut result = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        result.replace_range(start..end, &new);
    }
    result
}
