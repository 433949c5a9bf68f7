//! Why a request got no response, found in the chain of causes of a `reqwest` error.

use std::error::Error as StdError;
use std::io;

use url::Url;

use crate::address::UrlError;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
        "No secure connection to {host} could be made: it does not speak https there. Should the address begin with http://?"
    )]
    NotTls { host: String },
    #[error("No secure connection to {host} could be made: invalid peer certificate: {cause}.")]
    Certificate {
        host: String,
        cause: rustls::CertificateError,
    },
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
        let causes = || std::iter::successors(Some(error as &dyn StdError), |cause| inner(*cause));
        if let Some(refusal) = causes().find_map(|cause| cause.downcast_ref::<UrlError>()) {
            return Self::Refused(refusal.clone());
        }
        if error.is_timeout() {
            return Self::TimedOut { host };
        }
        if let Some(tls) = causes().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            return match tls {
                rustls::Error::InvalidCertificate(cause) => Self::Certificate {
                    host,
                    cause: cause.clone(),
                },
                rustls::Error::InvalidMessage(_) => Self::NotTls { host },
                other => Self::Tls {
                    host,
                    cause: other.to_string(),
                },
            };
        }
        let io = causes().filter_map(|cause| cause.downcast_ref::<io::Error>());
        match io.last() {
            Some(io) if io.kind() == io::ErrorKind::ConnectionRefused => Self::ConnectionRefused {
                host,
                port: url.port_or_known_default().unwrap_or_default(),
            },
            Some(io) => Self::Connection {
                host,
                cause: io.to_string(),
            },
            None => Self::Protocol {
                host,
                cause: causes().last().map(ToString::to_string).unwrap_or_default(),
            },
        }
    }
}

/// The cause of an error. An IO error hides what it was made of, as TLS errors are.
fn inner<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    let io = error.downcast_ref::<io::Error>();
    match io.and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}
