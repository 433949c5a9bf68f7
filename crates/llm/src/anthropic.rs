//! Anthropic's messages.

mod request;
mod stream;

pub(crate) use request::{encode, tool};
pub(crate) use stream::Decoder;

pub(crate) const PATH: &str = "/v1/messages";
