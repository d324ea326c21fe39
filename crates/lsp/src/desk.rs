//! Documents without a connection and without threads: for front ends that ask and wait, such as a page in a browser.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gen_lsp_types::Uri;
use saltus::library::ParseCache;
use saltus::simulate::Cancel;
use serde_json::Value;

use crate::document::Document;
use crate::overlay::Overlay;
use crate::position::Encoding;
use crate::requests;
use crate::settings::Settings;
use crate::uri::path_of;
use crate::world::{Parts, World};

/// Open documents, and what the server would say of them. Positions count UTF-16 units, as those of browsers do.
///
/// ```
/// use serde_json::json;
///
/// let mut desk = saltus_lsp::Desk::new();
/// desk.show("edit:M.mo", "model M Real x = y; end M;".to_owned());
/// let found = desk.ask("textDocument/diagnostic", json!({"textDocument": {"uri": "edit:M.mo"}})).unwrap();
/// assert_eq!(found["items"][0]["range"]["start"], json!({"line": 0, "character": 17}));
/// assert!(desk.ask("textDocument/sing", json!({})).is_err());
/// ```
#[derive(Debug)]
pub struct Desk {
    cache: Arc<ParseCache>,
    documents: BTreeMap<PathBuf, Arc<Document>>,
    overlay: Overlay,
    current: Arc<AtomicU64>,
    world: World,
}

impl Default for Desk {
    fn default() -> Self {
        Desk::new()
    }
}

impl Desk {
    /// With no document. The component library is there.
    pub fn new() -> Desk {
        let (cache, current) = (Arc::new(ParseCache::new()), Arc::default());
        let overlay = Overlay::new();
        Desk {
            world: World::new(parts(&cache, &current, &overlay, BTreeMap::new()), 0),
            documents: BTreeMap::new(),
            cache,
            overlay,
            current,
        }
    }

    /// Opens a document, or gives it another text.
    pub fn show(&mut self, uri: &str, text: String) {
        let generation = self.current.fetch_add(1, Ordering::Relaxed) + 1;
        let uri = Uri(uri.to_owned());
        let path = path_of(&uri);
        let document = Document::new(uri, path.clone(), 0, text, &self.cache, generation);
        self.overlay.show(&path, Arc::clone(&document.text), document.counter);
        self.documents.insert(path, Arc::new(document));
        let parts = parts(&self.cache, &self.current, &self.overlay, self.documents.clone());
        self.world = World::new(parts, generation);
    }

    /// The answer to a request of the protocol, or why there is none.
    pub fn ask(&self, method: &str, params: Value) -> Result<Value, String> {
        requests::answer(&self.world, method, params, &Cancel::new(), false).map_err(|refusal| refusal.message)
    }
}

fn parts(
    cache: &Arc<ParseCache>,
    current: &Arc<AtomicU64>,
    overlay: &Overlay,
    documents: BTreeMap<PathBuf, Arc<Document>>,
) -> Parts {
    Parts {
        documents,
        files: Arc::new(overlay.clone()),
        cache: Arc::clone(cache),
        settings: Settings::default(),
        encoding: Encoding::Utf16,
        roots: Vec::new(),
        libraries: Vec::new(),
        renames_files: false,
        snippets: false,
        // Whoever asks here has nothing else to do.
        patience: Duration::from_secs(3600),
        current: Arc::clone(current),
    }
}
