//! Imports servers from the configuration files of other products.
//!
//! [`read`] parses a configuration of Claude Desktop, Cursor, Windsurf, VS Code or mcpo, the
//! connections of Open WebUI, a YAML of Toolathlon, an OpenAPI document or a plain address. It
//! starts no server and reads nothing but the text. A server that cannot be used does not affect
//! the others, and whatever is left out or changed is said in a note.

mod connection;
mod description;
mod entry_fields;
mod error;
mod layout;
mod names;
mod note;
mod parser;
mod server;
mod shell_line;
mod vscode_input;

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{ErrorDetail, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig};
use url::Url;

use tenon_domain::text::line;
use tenon_openapi::document;

use crate::fault::document_fault;

pub use description::title;
pub use error::{ConfigReadError, ServerEntryError};
pub use names::{MAX_NAME_BYTES, clean, is_clean, numbered};
pub use note::ImportNote;
pub use server::{MAX_TIMEOUT_MS, MIN_TIMEOUT_MS, command_words};

/// Hundreds of servers fit, and it is parsed in milliseconds.
pub const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// Limit of a text that contains whole OpenAPI documents.
pub const MAX_WITH_DOCUMENTS_BYTES: usize = document::MAX_BYTES;

/// How many servers are taken from one text.
const MAX_SERVERS: usize = 500;

/// How many arguments, variables or headers a server may have.
const MAX_LIST_ITEMS: usize = 1000;

/// A summary is one line of a list.
const MAX_SUMMARY_CHARS: usize = 200;

const MAX_TITLE_CHARS: usize = 100;

/// The servers of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportResult {
    /// In the order they are written, no two of the same name.
    pub servers: Vec<ImportedServer>,
    /// Notes about the whole text, not about one of its servers.
    pub notes: Vec<ErrorDetail>,
}

/// One server of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedServer {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// The name as it is written.
    pub title: String,
    /// How it is reached, or why it cannot be used.
    pub config: Result<SourceConfig, ServerEntryError>,
    /// The document of an OpenAPI server that came along with it.
    pub document: Option<Arc<[u8]>>,
    /// Whether it is switched on where it comes from.
    pub enabled: bool,
    /// Fields that were left out or changed.
    pub notes: Vec<ErrorDetail>,
}

/// A server of a text before it has its final name.
struct ServerDraft {
    name: Option<String>,
    /// Where it is not the name.
    title: Option<String>,
    config: Result<SourceConfig, ServerEntryError>,
    document: Option<Arc<[u8]>>,
    enabled: bool,
    notes: Vec<ErrorDetail>,
}

impl ServerDraft {
    fn refused(error: ServerEntryError) -> Self {
        Self {
            name: None,
            title: None,
            config: Err(error),
            document: None,
            enabled: true,
            notes: Vec::new(),
        }
    }
}

/// The servers in a text. A server without a name is called as its file is, if there is one.
pub fn read(text: &str, file: Option<&str>) -> Result<ImportResult, ConfigReadError> {
    if text.len() > MAX_WITH_DOCUMENTS_BYTES {
        return Err(too_long());
    }
    if let Some(address) = only_address(text) {
        return Ok(one(description::at(address)));
    }
    match whole(text) {
        Some(Ok(value)) if document::is_document(&value) => {
            return Ok(one(description::given(text, &value, file)));
        }
        Some(Ok(value)) if layout::has_connections(&value) => {
            return reading(std::slice::from_ref(&value), Vec::new(), file);
        }
        Some(Err(wrong)) if text.len() > MAX_TEXT_BYTES => {
            return Err(ConfigReadError::Document(document_fault(&wrong).into()));
        }
        Some(_) | None => {}
    }
    let parser::ParsedConfig { values, notes } =
        parse(text, &|value: &Value| layout::layout(value).is_some())?;
    reading(&values, notes, file)
}

/// A text of JSON or YAML, within the bounds of a configuration. Of several documents the first.
pub fn parse_value(text: &str) -> Result<Value, ConfigReadError> {
    let parsed = parse(text, &|_| true)?;
    parsed
        .values
        .into_iter()
        .next()
        .ok_or(ConfigReadError::Empty)
}

/// Parses the text within the small limit. Only OpenAPI documents may be longer, and those are read
/// before this.
fn parse(
    text: &str,
    is_useful: &dyn Fn(&Value) -> bool,
) -> Result<parser::ParsedConfig, ConfigReadError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(too_long());
    }
    parser::parse(text, &|values| values.iter().any(is_useful))
}

/// The connections of Open WebUI, where a text can be nothing else.
pub fn read_connections(text: &str) -> Result<ImportResult, ConfigReadError> {
    if text.len() > MAX_WITH_DOCUMENTS_BYTES {
        return Err(too_long());
    }
    let parser::ParsedConfig { values, mut notes } = match whole(text) {
        Some(Ok(value)) => parser::ParsedConfig {
            values: vec![value],
            notes: Vec::new(),
        },
        Some(Err(_)) | None => parse(text, &|value| layout::connections(value).is_some())?,
    };
    let layouts: Vec<layout::ConfigLayout> =
        values.iter().filter_map(layout::connections).collect();
    if layouts.is_empty() {
        return Err(ConfigReadError::NoServers);
    }
    let servers = servers(layouts, None, &mut notes);
    Ok(ImportResult { servers, notes })
}

/// The same where the value has been read already.
pub fn connections(value: &Value) -> Result<ImportResult, ConfigReadError> {
    let layout = layout::connections(value).ok_or(ConfigReadError::NoServers)?;
    let mut notes = Vec::new();
    let servers = servers(vec![layout], None, &mut notes);
    Ok(ImportResult { servers, notes })
}

/// How a server is reached, in a line. Without what is often secret in an address.
pub fn summary(config: &SourceConfig) -> String {
    let summary = match config {
        SourceConfig::Mcp(config) => match &config.transport {
            McpTransport::Stdio { command, args, .. } => {
                let words = [command].into_iter().chain(args);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => shown_address(url),
        },
        SourceConfig::Openapi(OpenapiConfig {
            origin: OpenapiOrigin::Url { url },
            ..
        }) => shown_address(url),
        SourceConfig::Openapi(config) => match &config.base_url {
            Some(url) => format!("a document, at {}", shown_address(url)),
            None => "a document".to_owned(),
        },
    };
    line(&summary, MAX_SUMMARY_CHARS)
}

fn reading(
    values: &[Value],
    mut notes: Vec<ErrorDetail>,
    file: Option<&str>,
) -> Result<ImportResult, ConfigReadError> {
    let layouts: Vec<layout::ConfigLayout> = values.iter().filter_map(layout::layout).collect();
    if layouts.is_empty() {
        return Err(ConfigReadError::NoServers);
    }
    let servers = servers(layouts, file, &mut notes);
    if servers.is_empty() {
        notes.push(ImportNote::NoEntries.into());
    }
    Ok(ImportResult { servers, notes })
}

fn servers(
    layouts: Vec<layout::ConfigLayout<'_>>,
    file: Option<&str>,
    notes: &mut Vec<ErrorDetail>,
) -> Vec<ImportedServer> {
    let mut names = names::UniqueNames::default();
    let mut servers = Vec::new();
    for layout in layouts {
        for entry in layout.entries {
            if servers.len() == MAX_SERVERS {
                notes.push(ImportNote::FirstServers { max: MAX_SERVERS }.into());
                return servers;
            }
            let mut draft = if entry.is_connection {
                connection::read(entry.body)
            } else {
                server::read(entry.body, &layout.inputs)
            };
            draft.name = entry.name.or(draft.name).or(file.map(str::to_owned));
            servers.push(finish(draft, &mut names));
        }
    }
    servers
}

/// A text that is one server.
fn one(draft: ServerDraft) -> ImportResult {
    ImportResult {
        servers: vec![finish(draft, &mut names::UniqueNames::default())],
        notes: Vec::new(),
    }
}

fn finish(draft: ServerDraft, names: &mut names::UniqueNames) -> ImportedServer {
    let config = draft.config.as_ref().ok();
    let written = draft.name.unwrap_or_else(|| match config {
        Some(config) => names::derive(config),
        None => String::new(),
    });
    let mut notes = draft.notes;
    let name = names.assign(&written, config, &mut notes);
    let title = draft.title.unwrap_or(written);
    let title = match line(&title, MAX_TITLE_CHARS) {
        title if title.is_empty() => name.clone(),
        title => title,
    };
    ImportedServer {
        name,
        title,
        config: draft.config,
        document: draft.document,
        enabled: draft.enabled,
        notes,
    }
}

fn too_long() -> ConfigReadError {
    ConfigReadError::TooLong {
        kb: MAX_TEXT_BYTES / 1024,
        mb: MAX_WITH_DOCUMENTS_BYTES / 1024 / 1024,
    }
}

/// A text that is an address and nothing else.
fn only_address(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_one = !text.contains(char::is_whitespace) && !text.starts_with(['{', '[', '"']);
    let url = is_one.then(|| Url::parse(text).ok()).flatten()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(text)
}

/// The value of a text in which there may be OpenAPI documents: with room for them.
fn whole(text: &str) -> Option<Result<Value, document::DocumentError>> {
    let tells = ["openapi", "swagger"];
    let may_be = tells.iter().any(|word| text.contains(word));
    may_be.then(|| document::read(text.as_bytes()))
}

fn shown_address(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) => {
            url.set_query(None);
            url.set_fragment(None);
            // Fails only for addresses that cannot have them.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.into()
        }
        Err(_) => {
            let end = address.find(['?', '#']).unwrap_or(address.len());
            address[..end].to_owned()
        }
    }
}

/// Control characters and direction overrides, which no name needs. Texts that are only shown are
/// cleaned more strictly.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
