//! Why a request got no response, found in the chain of causes of a `reqwest` error.

use std::error::Error as StdError;
use std::io;

use url::Url;

use crate::address::UrlError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The address policy refused the URL, a redirect or what the name resolved to.
    #[error(transparent)]
    Refused(UrlError),
    #[error("{host} did not answer in time.")]
    TimedOut { host: String },
    #[error("{host} refuses connections at port {port}.")]
    ConnectionRefused { host: String, port: u16 },
    /// Whatever answered there does not speak TLS.
    #[error(
        "No secure connection to {host} could be made: it does not speak https there. Is its address one with http://?"
    )]
    NotTls { host: String },
    #[error("No secure connection to {host} could be made: {cause}.")]
    Tls { host: String, cause: String },
    #[error("The connection to {host} failed: {cause}.")]
    Connection { host: String, cause: String },
    #[error("{host} gave no usable answer: {cause}.")]
    Protocol { host: String, cause: String },
}

impl RequestError {
    pub fn new(error: &reqwest::Error, url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default().to_owned();
        let causes =
            || std::iter::successors(Some(error as &dyn StdError), |cause| (*cause).source());
        if let Some(refusal) = causes().find_map(|cause| cause.downcast_ref::<UrlError>()) {
            return Self::Refused(refusal.clone());
        }
        if error.is_timeout() {
            return Self::TimedOut { host };
        }
        let Some(io) = causes().find_map(|cause| cause.downcast_ref::<io::Error>()) else {
            let cause = causes().last().map(ToString::to_string).unwrap_or_default();
            return Self::Protocol { host, cause };
        };
        let io = innermost(io);
        let cause = io.to_string();
        match io.kind() {
            io::ErrorKind::ConnectionRefused => Self::ConnectionRefused {
                host,
                port: url.port_or_known_default().unwrap_or_default(),
            },
            io::ErrorKind::InvalidData if error.is_connect() => {
                // rustls tells it only by this name, inside an opaque error.
                if cause.contains("InvalidContentType") {
                    Self::NotTls { host }
                } else {
                    Self::Tls { host, cause }
                }
            }
            _ => Self::Connection { host, cause },
        }
    }
}

/// An error of TLS comes as an IO error inside another.
fn innermost(error: &io::Error) -> &io::Error {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<io::Error>());
    inner.map_or(error, innermost)
}
