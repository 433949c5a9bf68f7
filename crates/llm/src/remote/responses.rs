//! OpenAI's Responses.
//!
//! Nothing is kept at the server: each request has the whole conversation, as with the other
//! formats, so that any of them can go on with it.

mod event;
mod options;
mod request;
mod stream;

pub(crate) use options::unknown_option;
pub(crate) use request::encode;
pub(crate) use stream::ResponsesDecoder;

pub(crate) const PATH: &str = "/responses";
