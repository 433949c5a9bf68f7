//! Why an OpenAPI server cannot be used.

use std::fmt;

use tenon_domain::{CodedError, ErrorDetail};
use tenon_openapi::DocumentError;
use tenon_openapi::request::HeaderNameError;

use super::document_store::DocumentStoreError;
use super::fetch::FetchError;
use super::http_client::HttpClientError;
use crate::fault::{ServerFault, document_fault};
use crate::mcp::InvalidHeader;
use crate::parse_queue::ParserPanic;
use crate::variables::FillError;

/// Why an OpenAPI server cannot be used or read.
#[derive(Debug, Clone)]
pub enum OpenapiError {
    HttpClient(HttpClientError),
    Header(HeaderError),
    // The URL is not repeated, because filled-in variables may be secrets.
    InvalidUrl(url::ParseError),
    UrlScheme,
    NoUrl,
    Substitution(FillError),
    Fetch(FetchError),
    Document(DocumentError),
    /// A server answered 304 to a request that was not conditional.
    NotSent,
    /// `problems` are those of some of them.
    NoSubDocument {
        count: usize,
        problems: Vec<ErrorDetail>,
    },
    NotStored,
    Store(DocumentStoreError),
    StoreTimedOut,
    Stopped,
    Panicked,
    Work(ParserPanic),
}

impl CodedError for OpenapiError {
    fn detail(&self) -> ErrorDetail {
        let fault = match self {
            Self::Substitution(FillError::Unset(why) | FillError::Unread(why)) => {
                return why.clone();
            }
            Self::Fetch(error) => return error.detail(),
            Self::Header(error) => return error.fault().into(),
            Self::Work(panic) => return (*panic).into(),
            Self::Document(error) => document_fault(error),
            Self::HttpClient(HttpClientError(why)) => ServerFault::HttpClient { why: why.into() },
            Self::InvalidUrl(why) => ServerFault::AddressInvalid {
                why: why.to_string().into(),
            },
            Self::UrlScheme => ServerFault::AddressScheme,
            Self::NoUrl => ServerFault::NoAddress,
            Self::NotSent => ServerFault::NotSent,
            Self::NoSubDocument { count, problems } => ServerFault::NoSubDocument {
                count: (*count).into(),
                problems: problems.clone().into(),
            },
            Self::NotStored => ServerFault::NotStored,
            Self::Store(DocumentStoreError(why)) => ServerFault::StoreUnread {
                why: why.clone().into(),
            },
            Self::StoreTimedOut => ServerFault::StoreTimeout,
            Self::Stopped => ServerFault::Stopped,
            Self::Panicked => ServerFault::Internal,
        };
        fault.into()
    }
}

impl fmt::Display for OpenapiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail().message)
    }
}

impl std::error::Error for OpenapiError {}

macro_rules! sources {
    ($($variant:ident($error:ty)),* $(,)?) => {$(
        impl From<$error> for OpenapiError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}
sources!(
    HttpClient(HttpClientError),
    Header(HeaderError),
    Substitution(FillError),
    Fetch(FetchError),
    Document(DocumentError),
    Store(DocumentStoreError),
    Work(ParserPanic),
);

impl OpenapiError {
    /// Whether the server refuses to show its document to somebody without a key.
    pub fn needs_key(&self) -> bool {
        matches!(self, Self::Fetch(FetchError::NeedsKey { .. }))
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
