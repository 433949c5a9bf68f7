//! Anthropic's messages.

mod request;
mod stream;

pub(crate) use request::encode;
pub(crate) use stream::AnthropicDecoder;

pub(crate) const PATH: &str = "/v1/messages";
