//! Servers out of the configuration people already have.
//!
//! [`read`] takes a text of Claude Desktop, Cursor, Windsurf, VS Code or mcpo, the
//! connections of Open WebUI, a YAML of Toolathlon, a whole OpenAPI document or just an
//! address, and tells which servers are in it. It never starts one and never looks at
//! anything but the text. One server that cannot be used does not spoil the others, and
//! whatever is left out or changed is said in a note.

mod connection;
mod description;
mod fields;
mod names;
mod server;
mod shape;
mod shell_line;
mod text;

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig};
use url::Url;

use crate::openapi::document;
use crate::text::line;

pub use description::{reached, title};
pub use names::{MAX_NAME, clean, is_clean, numbered};
pub use server::{MAX_TIMEOUT_MS, MIN_TIMEOUT_MS, command_words};

/// Many times what anybody has, and read in a moment.
pub const MAX_TEXT: usize = 1024 * 1024;

/// Of a text in which there are whole OpenAPI documents.
pub const MAX_WITH_DOCUMENTS: usize = document::MAX_BYTES;

/// How many servers are taken from one text.
const MAX_SERVERS: usize = 500;

/// A summary is one line of a list.
const MAX_SUMMARY: usize = 200;

const MAX_TITLE: usize = 100;

/// What is in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// In the order they are written, no two of the same name.
    pub servers: Vec<Found>,
    /// What is worth knowing about the text as a whole, as sentences.
    pub notes: Vec<String>,
}

/// One server of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// The name as it is written.
    pub title: String,
    /// How it is reached, or a sentence that says why it cannot be used.
    pub config: Result<SourceConfig, String>,
    /// The document of an OpenAPI server that came along with it.
    pub document: Option<Arc<[u8]>>,
    /// Whether it is switched on where it comes from.
    pub enabled: bool,
    /// What was left out or changed, as sentences.
    pub notes: Vec<String>,
}

/// Why nothing can be taken from a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("There is nothing in it.")]
    Empty,
    #[error(
        "It is too long: at most {} KB are read, and {} MB of an OpenAPI document.",
        MAX_TEXT / 1024,
        MAX_WITH_DOCUMENTS / 1024 / 1024
    )]
    TooLong,
    #[error("Line {line}, column {column}: {why}.")]
    Syntax { line: u64, column: u64, why: String },
    /// A sentence with the place in it.
    #[error("{0}")]
    Document(String),
    #[error(
        "No server was found in it. Expected is JSON such as {{\"mcpServers\": {{\"name\": {{\"command\": \"npx\", \"args\": […]}}}}}}, \
         the YAML of one server, the connections of Open WebUI, an OpenAPI document, or the address of one."
    )]
    NoServers,
}

/// What one server was written as.
struct Taken {
    name: Option<String>,
    /// Where it is not the name.
    title: Option<String>,
    config: Result<SourceConfig, String>,
    document: Option<Arc<[u8]>>,
    enabled: bool,
    notes: Vec<String>,
}

impl Taken {
    fn refused(why: &str) -> Self {
        Self {
            name: None,
            title: None,
            config: Err(why.to_owned()),
            document: None,
            enabled: true,
            notes: Vec::new(),
        }
    }
}

/// The servers in a text. A server without a name is called as its file is, if there is one.
pub fn read(text: &str, file: Option<&str>) -> Result<Reading, Unreadable> {
    if text.len() > MAX_WITH_DOCUMENTS {
        return Err(Unreadable::TooLong);
    }
    if let Some(address) = only_address(text) {
        return Ok(one(description::at(address)));
    }
    match whole(text) {
        Some(Ok(value)) if document::is_document(&value) => {
            return Ok(one(description::given(text, &value, file)));
        }
        Some(Ok(value)) if shape::has_connections(&value) => {
            return reading(std::slice::from_ref(&value), Vec::new(), file);
        }
        Some(Err(wrong)) if text.len() > MAX_TEXT => {
            return Err(Unreadable::Document(wrong.to_string()));
        }
        Some(_) | None => {}
    }
    let text::Documents { values, notes } =
        parse(text, &|value: &Value| shape::shape(value).is_some())?;
    reading(&values, notes, file)
}

/// What was not read whole is short, or none of ours.
fn parse(text: &str, is_useful: &dyn Fn(&Value) -> bool) -> Result<text::Documents, Unreadable> {
    match text.len() > MAX_TEXT {
        true => Err(Unreadable::TooLong),
        false => text::parse(text, &|values| values.iter().any(is_useful)),
    }
}

/// The connections of Open WebUI, where a text can be nothing else.
pub fn read_connections(text: &str) -> Result<Reading, Unreadable> {
    if text.len() > MAX_WITH_DOCUMENTS {
        return Err(Unreadable::TooLong);
    }
    let text::Documents { values, mut notes } = match whole(text) {
        Some(Ok(value)) => text::Documents {
            values: vec![value],
            notes: Vec::new(),
        },
        Some(Err(_)) | None => parse(text, &|value| shape::connections(value).is_some())?,
    };
    let shapes: Vec<shape::Shape> = values.iter().filter_map(shape::connections).collect();
    if shapes.is_empty() {
        return Err(Unreadable::NoServers);
    }
    let servers = servers(shapes, None, &mut notes);
    Ok(Reading { servers, notes })
}

/// The same where the value has been read already.
pub fn connections(value: &Value) -> Result<Reading, Unreadable> {
    let shape = shape::connections(value).ok_or(Unreadable::NoServers)?;
    let mut notes = Vec::new();
    let servers = servers(vec![shape], None, &mut notes);
    Ok(Reading { servers, notes })
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
    line(&summary, MAX_SUMMARY)
}

fn reading(
    values: &[Value],
    mut notes: Vec<String>,
    file: Option<&str>,
) -> Result<Reading, Unreadable> {
    let shapes: Vec<shape::Shape> = values.iter().filter_map(shape::shape).collect();
    if shapes.is_empty() {
        return Err(Unreadable::NoServers);
    }
    let servers = servers(shapes, file, &mut notes);
    if servers.is_empty() {
        notes.push("The list of servers is empty.".into());
    }
    Ok(Reading { servers, notes })
}

fn servers(
    shapes: Vec<shape::Shape<'_>>,
    file: Option<&str>,
    notes: &mut Vec<String>,
) -> Vec<Found> {
    let mut given = names::Given::default();
    let mut servers = Vec::new();
    for shape in shapes {
        for entry in shape.entries {
            if servers.len() == MAX_SERVERS {
                notes.push(format!("Only the first {MAX_SERVERS} servers were read."));
                return servers;
            }
            let mut taken = match entry.is_connection {
                true => connection::take(entry.body),
                false => server::take(entry.body, &shape.inputs),
            };
            taken.name = entry.name.or(taken.name).or(file.map(str::to_owned));
            servers.push(found(taken, &mut given));
        }
    }
    servers
}

/// A text that is one server.
fn one(taken: Taken) -> Reading {
    Reading {
        servers: vec![found(taken, &mut names::Given::default())],
        notes: Vec::new(),
    }
}

fn found(taken: Taken, given: &mut names::Given) -> Found {
    let config = taken.config.as_ref().ok();
    let written = taken.name.unwrap_or_else(|| match config {
        Some(config) => names::derive(config),
        None => String::new(),
    });
    let mut notes = taken.notes;
    let name = given.give(&written, config, &mut notes);
    let title = taken.title.unwrap_or(written);
    let title = match line(&title, MAX_TITLE) {
        title if title.is_empty() => name.clone(),
        title => title,
    };
    Found {
        name,
        title,
        config: taken.config,
        document: taken.document,
        enabled: taken.enabled,
        notes,
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
fn whole(text: &str) -> Option<Result<Value, document::Wrong>> {
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

/// Control characters, and those that turn a line around: what no name of anything needs.
/// More than that is left out of what is only shown.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
