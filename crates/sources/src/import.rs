//! Servers out of the configuration people already have.
//!
//! [`read`] takes a text of Claude Desktop, Cursor, Windsurf, VS Code or mcpo, or a
//! YAML of Toolathlon, and tells which servers are in it. It never starts one and never
//! looks at anything but the text. One server that cannot be used does not spoil the
//! others, and whatever is left out or changed is said in a note.

mod names;
mod server;
mod shape;
mod text;

use tenon_domain::{McpConfig, McpTransport};
use url::Url;

use crate::text::line;

pub use names::{MAX_NAME, clean, is_clean, numbered};
pub use server::{MAX_TIMEOUT_MS, MIN_TIMEOUT_MS};

/// Many times what anybody has, and read in a moment.
pub const MAX_TEXT: usize = 1024 * 1024;

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
    pub config: Result<McpConfig, String>,
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
    #[error("It is too long: at most {} KB are read.", MAX_TEXT / 1024)]
    TooLong,
    #[error("Line {line}, column {column}: {why}.")]
    Syntax { line: u64, column: u64, why: String },
    #[error(
        "No server was found in it. Expected is JSON such as {{\"mcpServers\": {{\"name\": {{\"command\": \"npx\", \"args\": […]}}}}}}, \
         or the YAML of one server."
    )]
    NoServers,
}

/// The servers in a text. A server without a name is called as its file is, if there is one.
pub fn read(text: &str, file: Option<&str>) -> Result<Reading, Unreadable> {
    if text.len() > MAX_TEXT {
        return Err(Unreadable::TooLong);
    }
    let text::Documents { values, mut notes } = text::parse(text, &|values| {
        values.iter().any(|value| shape::shape(value).is_some())
    })?;
    let shapes: Vec<shape::Shape> = values.iter().filter_map(shape::shape).collect();
    if shapes.is_empty() {
        return Err(Unreadable::NoServers);
    }
    let mut given = names::Given::default();
    let mut servers = Vec::new();
    for shape in shapes {
        for entry in shape.entries {
            if servers.len() == MAX_SERVERS {
                notes.push(format!("Only the first {MAX_SERVERS} servers were read."));
                return Ok(Reading { servers, notes });
            }
            servers.push(found(entry, &shape.inputs, file, &mut given));
        }
    }
    if servers.is_empty() {
        notes.push("The list of servers is empty.".into());
    }
    Ok(Reading { servers, notes })
}

/// How a server is reached, in a line. Without what is often secret in an address.
pub fn summary(config: &McpConfig) -> String {
    let summary = match &config.transport {
        McpTransport::Stdio { command, args, .. } => {
            let words = [command].into_iter().chain(args);
            words.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => shown_address(url),
    };
    line(&summary, MAX_SUMMARY)
}

fn found(
    entry: shape::Entry<'_>,
    inputs: &[shape::Input],
    file: Option<&str>,
    given: &mut names::Given,
) -> Found {
    let taken = server::take(entry.body, inputs);
    let written = entry.name.or(taken.name).or(file.map(str::to_owned));
    let written = written.unwrap_or_else(|| match &taken.config {
        Ok(config) => names::derive(config),
        Err(_) => String::new(),
    });
    let mut notes = taken.notes;
    let name = given.give(&written, taken.config.as_ref().ok(), &mut notes);
    let title = match line(&written, MAX_TITLE) {
        written if written.is_empty() => name.clone(),
        written => written,
    };
    Found {
        name,
        title,
        config: taken.config,
        enabled: taken.enabled,
        notes,
    }
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

/// Control characters, and those that turn a line around.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
