//! OpenAPI servers that are written as nothing but their document, or its address.

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{OpenapiConfig, OpenapiOrigin, SourceConfig};

use super::names::{clean, site};
use super::note::ImportNote;
use super::server::address;
use super::{ServerDraft, ServerEntryError};
use tenon_domain::text::line;
use tenon_openapi::document;

/// What is called longer is shown so.
const MAX_TITLE_CHARS: usize = 100;

/// File names that say what a file is but not which API it describes.
const PLAIN: [&str; 6] = ["openapi", "swagger", "api", "api-docs", "spec", "schema"];

/// A server that has its document at an address, or beside it.
pub(super) fn at(url: &str) -> ServerDraft {
    let config = address(url).map(|url| OpenapiConfig::new(OpenapiOrigin::Url { url }));
    ServerDraft {
        title: Some(site(url)),
        config: config.map(SourceConfig::Openapi),
        notes: vec![ImportNote::TakenForOpenapi.into()],
        ..named(&site(url))
    }
}

/// A document that is the whole text.
pub(super) fn given(text: &str, value: &Value, file: Option<&str>) -> ServerDraft {
    let title = title(value);
    let file = file.filter(|file| !PLAIN.contains(&file.to_ascii_lowercase().as_str()));
    let name = file.or(title.as_deref()).unwrap_or("api").to_owned();
    let document: Arc<[u8]> = text.as_bytes().into();
    let mut notes = Vec::new();
    if !says_where(value) {
        notes.push(ImportNote::NoServerAddress.into());
    }
    ServerDraft {
        title: title.or(Some(name.clone())),
        config: Ok(SourceConfig::Openapi(OpenapiConfig::new(origin(&document)))),
        document: Some(document),
        notes,
        ..named(&name)
    }
}

/// What a document says it is called.
pub fn title(document: &Value) -> Option<String> {
    let title = document.pointer("/info/title").and_then(Value::as_str)?;
    let title = line(title, MAX_TITLE_CHARS);
    (!title.is_empty()).then_some(title)
}

/// A document by its hash.
pub(super) fn origin(document: &[u8]) -> OpenapiOrigin {
    OpenapiOrigin::Uploaded {
        document_hash: document::hash(document),
    }
}

/// Called by a name that we made, which needs no note.
fn named(name: &str) -> ServerDraft {
    ServerDraft {
        name: Some(clean(name)),
        ..ServerDraft::refused(ServerEntryError::NotAServer)
    }
}

/// Whether requests can go anywhere without another word.
fn says_where(document: &Value) -> bool {
    let is_whole = |server: &Value| {
        let url = server.get("url").and_then(Value::as_str);
        url.is_some_and(|url| url.contains("://"))
    };
    let servers = document.get("servers").and_then(Value::as_array);
    servers.is_some_and(|servers| servers.iter().any(is_whole)) || document.get("host").is_some()
}
