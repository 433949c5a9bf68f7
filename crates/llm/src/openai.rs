//! Chat completions, as OpenAI wrote them down and everybody else understood them.

mod request;
mod stream;

mod loose;
mod think;

pub(crate) use request::{encode, tool};
pub(crate) use stream::Decoder;

pub(crate) const PATH: &str = "/chat/completions";
