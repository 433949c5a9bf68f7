//! OpenAPI documents as operations that can be called.
//!
//! Three pure functions are the heart: [`parse::parse`] turns a document into operations
//! with a JSON Schema for their input, [`request::build`] turns an input into an HTTP
//! request, and [`response::read`] turns a response into content. None of them sends
//! anything, so requests can be sent by a server as well as by a browser.
//!
//! Around them: [`document`] reads JSON and YAML, [`bundle`] joins a document with the
//! files it refers to, [`discover`] finds documents, and [`security`] chooses credentials
//! and puts them into requests.
//!
//! Documents are untrusted input: everything is bounded.

pub mod document;
pub mod note;
pub mod operation;
pub mod parse;

pub mod request;
pub mod response;
pub mod security;

pub mod bundle;
pub mod discover;

pub use document::{DocumentError, SyntaxError, strict_yaml};
pub use operation::Operation;
pub use request::BuildError;
pub use response::ResponseError;

/// The example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
