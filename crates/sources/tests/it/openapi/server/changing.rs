//! An HTTP server whose document changes while a tool server uses it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tenon_sources::Network;
use tenon_sources::openapi::OpenapiSettings;

use super::harness::{MemoryDocuments, at, settings_in};
use super::http_server::{Reply, Seen, TestHttpServer, document, ok, status};

/// A document that can be changed, with its ETag.
#[derive(Clone)]
pub struct Changing {
    document: Arc<Mutex<Value>>,
    tagged: bool,
    /// How often it was sent as a whole.
    sent: Arc<AtomicUsize>,
}

impl Changing {
    pub fn new(tagged: bool, paths: &[&str]) -> Self {
        Self {
            document: Arc::new(Mutex::new(document(paths))),
            tagged,
            sent: Arc::default(),
        }
    }

    pub fn set(&self, document: Value) {
        *self.document.lock().unwrap() = document;
    }

    pub fn reply(&self, seen: &Seen) -> Reply {
        if seen.path != "/openapi.json" {
            return ok(json!(seen.path));
        }
        let body = self.document.lock().unwrap().to_string();
        let tag = format!("\"{}-{}\"", body.len(), body.matches("x").count());
        if self.tagged && seen.header("if-none-match") == tag {
            return status(304);
        }
        self.sent.fetch_add(1, Ordering::SeqCst);
        let headers = match self.tagged {
            true => vec![("etag", tag)],
            false => Vec::new(),
        };
        Reply::Whole(200, headers, body)
    }

    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }
}

pub async fn http_server(changing: &Changing) -> TestHttpServer {
    let changing = changing.clone();
    TestHttpServer::start(move |seen| changing.reply(seen)).await
}

pub fn keeping(http_server: &TestHttpServer, documents: &Arc<MemoryDocuments>) -> OpenapiSettings {
    let config = at(&http_server.url("/openapi.json"));
    settings_in(config, Network::Anywhere, documents.clone())
}
