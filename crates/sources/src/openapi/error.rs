//! Why an OpenAPI server cannot be used.

use tenon_openapi::DocumentError;
use tenon_openapi::request::HeaderNameError;

use super::fetch::FetchError;
use super::server::DocumentStoreError;
use crate::variables::FillError;

/// Why an OpenAPI server cannot be used or read; as text it is a sentence for people.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenapiError {
    #[error("The HTTP client cannot be made: {0}.")]
    HttpClient(String),
    #[error(transparent)]
    Header(#[from] HeaderError),
    // What was filled in may be a secret: it is not repeated.
    #[error(
        "The address is none ({0}). Write the whole of it, such as https://example.com/openapi.json."
    )]
    InvalidUrl(url::ParseError),
    #[error("The address has to begin with http:// or https://.")]
    UrlScheme,
    #[error("There is no address to look at.")]
    NoUrl,
    #[error(transparent)]
    Fill(#[from] FillError),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A server answered 304 to a request that was not conditional.
    #[error("It was not sent.")]
    NotSent,
    /// `problems` are sentences about some of them.
    #[error("None of the {count} servers behind it could be read. {problems}")]
    NoSubDocument { count: usize, problems: String },
    #[error("The document is not kept any more: give it again.")]
    NotStored,
    #[error(transparent)]
    Store(#[from] DocumentStoreError),
    #[error("What is kept of it could not be read in time.")]
    StoreTimedOut,
    #[error("It has been stopped.")]
    Stopped,
    #[error("Tenon met a fault of its own while it read this server; its log says more.")]
    Panicked,
    #[error(transparent)]
    Work(#[from] crate::parse_queue::ParserPanic),
}

impl OpenapiError {
    /// Whether the server refuses to show its document to somebody without a key.
    pub fn needs_key(&self) -> bool {
        matches!(self, Self::Fetch(error) if error.needs_key)
    }
}

/// Why a header cannot be sent with every request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error(transparent)]
    Name(#[from] HeaderNameError),
    #[error("The header `{0}` must be one line without control characters.")]
    Value(String),
}
