//! The OpenAPI dialect of mcpo: its documents, the shapes of its results and the bodies of its
//! errors.
//!
//! Clients of mcpo rely on these, so they are the same here, but for what mcpo loses: schemas are
//! complete, and an error has the tool's own words. All of it is pure but `hub`, the routes of
//! `tenon serve`; the bridge answers with the same functions.

pub(crate) mod arguments;
pub(crate) mod docs_page;
pub(crate) mod document;
pub(crate) mod fault;
pub(crate) mod hub;
pub(crate) mod outcome;
pub(crate) mod reply_recorder;

mod names;
mod schema;
