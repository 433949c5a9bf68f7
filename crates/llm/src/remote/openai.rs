//! Chat completions, as OpenAI wrote them down and everybody else understood them.

mod options;
mod request;
mod stream;

mod lenient;
mod think_tags;

pub(crate) use request::encode;
pub use request::transcript;
pub(crate) use stream::OpenaiDecoder;

pub(crate) const PATH: &str = "/chat/completions";
