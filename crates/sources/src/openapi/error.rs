//! Why an OpenAPI server cannot be used.

use tenon_domain::{CodedError, ErrorDetail};
use tenon_openapi::DocumentError;
use tenon_openapi::request::HeaderNameError;

use super::document_store::DocumentStoreError;
use super::fetch::FetchError;
use super::http_client::HttpClientError;
use crate::fault::{ServerFault, document_fault};
use crate::mcp::InvalidHeader;
use crate::variables::FillError;

/// Why an OpenAPI server cannot be used or read; as text it is a sentence for people.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenapiError {
    #[error(transparent)]
    HttpClient(#[from] HttpClientError),
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
    Substitution(#[from] FillError),
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
    #[error("Tenon had an internal error while reading this server. Its log has the details.")]
    Panicked,
    #[error(transparent)]
    Work(#[from] crate::parse_queue::ParserPanic),
}

impl CodedError for OpenapiError {
    fn detail(&self) -> ErrorDetail {
        let message = || self.to_string().into();
        let fault = match self {
            Self::Substitution(error) => match error {
                FillError::Unset(why) | FillError::Unread(why) => return why.clone(),
            },
            Self::Document(error) => document_fault(error),
            Self::HttpClient(HttpClientError(why)) => ServerFault::HttpClient { why: why.into() },
            Self::Fetch(_) if self.needs_key() => ServerFault::NeedsKey { message: message() },
            Self::NoSubDocument { count, problems } => ServerFault::NoSubDocument {
                count: (*count).into(),
                problems: problems.into(),
            },
            Self::NotStored => ServerFault::NotStored,
            Self::StoreTimedOut => ServerFault::StoreTimeout,
            Self::Stopped => ServerFault::Stopped,
            Self::Panicked => ServerFault::Internal,
            Self::Header(error) => return error.fault().into(),
            Self::InvalidUrl(_) | Self::UrlScheme | Self::NoUrl => {
                let unread = ServerFault::Unread { message: message() };
                return unread.detail().in_field("url");
            }
            Self::Fetch(_) | Self::NotSent | Self::Store(_) | Self::Work(_) => {
                ServerFault::Unread { message: message() }
            }
        };
        fault.into()
    }
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

impl HeaderError {
    pub fn fault(&self) -> InvalidHeader {
        match self {
            Self::Name(HeaderNameError::Invalid(name)) => InvalidHeader::Name { name: name.into() },
            Self::Name(HeaderNameError::HopByHop(name)) => {
                InvalidHeader::Reserved { name: name.into() }
            }
            Self::Value(name) => InvalidHeader::Value { name: name.into() },
        }
    }
}
