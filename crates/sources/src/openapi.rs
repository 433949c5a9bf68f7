//! OpenAPI servers as sources of tools: any document in the wild.
//!
//! Three pure functions are the heart: [`parse::parse`] makes tools of a
//! document, [`request::build`] makes an HTTP request of a tool's input, and
//! [`response::read`] makes a result of what came back. They do not know who
//! does the talking, so a page can do it for servers on its own machine.
//!
//! [`OpenapiServer`] is what the registry holds: it reads documents with
//! [`fetch`], finds what is behind an mcpo with [`discover`], and calls with
//! [`caller`] and [`credentials`].

pub mod bundle;
pub mod document;
pub mod operation;
pub mod parse;

pub mod credentials;
pub mod request;
pub mod response;

pub mod discover;

mod caller;
mod fetch;
mod server;

pub use crate::variables::{Fill, Unfilled};
pub use caller::Caller;
pub use credentials::check_header;
pub use fetch::Unread;
pub use operation::Operation;
pub use server::{
    About, Change, Documents, Handover, Kept, OpenapiServer, Pace, Preview, Settings, Status,
    preview, preview_document,
};
