//! OpenAPI servers as sources of tools.
//!
//! The protocol is [`tenon_openapi`]: documents, requests and responses. Here is what
//! makes a server a source: [`OpenapiServer`] is what the registry holds; it reads
//! documents with [`fetch`], calls with [`http_client`] and [`credentials`], and maps the types
//! of the protocol to those of Tenon with [`mapping`].

pub mod credentials;

pub(crate) mod description;
mod document_store;
mod error;
mod fetch;
mod http_client;
pub(crate) mod mapping;
mod page;
mod request_span;
mod server;

/// The protocol, whose types appear in what this module offers.
pub use tenon_openapi::{bundle, discover, document, operation, parse, request, response};

pub use crate::variables::{FillError, VariableResolver};
pub use credentials::check_header;
pub use document_store::{DocumentRecord, DocumentStore, DocumentStoreError};
pub use error::{HeaderError, OpenapiError};
pub use fetch::FetchError;
pub use http_client::{HttpClientError, OpenapiHttpClient};
pub use server::{
    InheritedState, OpenapiPreview, OpenapiServer, OpenapiSettings, RefreshSchedule, preview,
    preview_document,
};
