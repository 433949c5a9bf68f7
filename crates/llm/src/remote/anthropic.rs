//! Anthropic's messages.

mod options;
mod request;
mod stream;

pub(crate) use options::unknown_option;
pub(crate) use request::encode;
pub(crate) use stream::AnthropicDecoder;

pub(crate) const PATH: &str = "/v1/messages";
