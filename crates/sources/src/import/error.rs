//! Why a text or one of its servers cannot be imported.

use super::{MAX_LIST, MAX_TEXT, MAX_WITH_DOCUMENTS};

/// Why no servers can be read from a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigReadError {
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
    /// A sentence with the position in it.
    #[error("{0}")]
    Document(String),
    #[error(
        "No server was found in it. Expected is JSON such as {{\"mcpServers\": {{\"name\": {{\"command\": \"npx\", \"args\": […]}}}}}}, \
         the YAML of one server, the connections of Open WebUI, an OpenAPI document, or the address of one."
    )]
    NoServers,
}

/// Why one server of a text cannot be used. Displayed, each is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerEntryError {
    #[error("It is not an object with a `command` or a `url`.")]
    NotAServer,
    #[error("It is not an object with a `url`.")]
    NotAConnection,
    #[error("It has no `command`.")]
    NoCommand,
    #[error("It has no `url`.")]
    NoUrl,
    #[error("It has neither a `command` nor a `url`.")]
    NoCommandOrUrl,
    #[error("Its `command` is empty.")]
    EmptyCommand,
    #[error("Its transport “{0}” is not one of stdio, http and sse.")]
    UnknownTransport(String),
    #[error("Its type “{0}” is not one of openapi and mcp.")]
    UnknownType(String),
    #[error("`{0}` cannot be the name of an environment variable.")]
    VariableName(String),
    #[error("Its `url` is not an address that begins with http:// or https://.")]
    InvalidUrl,
    #[error("{0}")]
    Header(String),
    #[error("It has no document in its `spec`.")]
    NoDocument,
    #[error("What stands in its `spec` is no OpenAPI document.")]
    NotADocument,
    #[error("{0}")]
    Document(String),
    #[error("Its `{0}` are more than {MAX_LIST}.")]
    TooManyValues(String),
    #[error("Its `{0}` is not an object of texts.")]
    NotAMap(String),
    #[error("Its `{0}` has more than {MAX_LIST} entries.")]
    TooManyEntries(String),
    #[error("In its `{0}` stands something that is no text.")]
    NotText(String),
    #[error("In its `{0}` stands a text that is too long.")]
    TextTooLong(String),
    #[error("In its `{0}` stands a character that cannot be there.")]
    NulCharacter(String),
    #[error(
        "In its `{0}` a quote is not closed, or a backslash stands at the end. Write it as a list, \
         one text for each argument."
    )]
    UnclosedQuote(String),
    /// A reason of whoever uses the import.
    #[error("{0}")]
    Other(String),
}

impl ServerEntryError {
    pub(super) fn header(error: impl std::fmt::Display) -> Self {
        Self::Header(error.to_string())
    }
}

impl From<&str> for ServerEntryError {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

impl From<String> for ServerEntryError {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}
