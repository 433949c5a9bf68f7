//! Why a request got no answer, in one sentence out of a chain of causes.

use std::error::Error as StdError;
use std::{fmt, io};

use url::Url;

use super::Refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    Refused(Refusal),
    /// The other side was too slow.
    TimedOut(String),
    Failed(String),
}

impl Trouble {
    pub(crate) fn of(error: &reqwest::Error, url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let causes =
            || std::iter::successors(Some(error as &dyn StdError), |cause| (*cause).source());
        if let Some(refusal) = causes().find_map(|cause| cause.downcast_ref::<Refusal>()) {
            return Self::Refused(refusal.clone());
        }
        if error.is_timeout() {
            return Self::TimedOut(format!("{host} did not answer in time."));
        }
        let io = causes()
            .find_map(|cause| cause.downcast_ref::<io::Error>())
            .map(innermost);
        Self::Failed(match io.map(|io| (io.kind(), io)) {
            Some((io::ErrorKind::ConnectionRefused, _)) => format!(
                "{host} refuses connections at port {}.",
                url.port_or_known_default().unwrap_or_default()
            ),
            // What answered was no TLS at all.
            Some((io::ErrorKind::InvalidData, io))
                if error.is_connect() && io.to_string().contains("InvalidContentType") =>
            {
                format!(
                    "No secure connection to {host} could be made: it does not speak https there. \
                     Is its address one with http://?"
                )
            }
            Some((io::ErrorKind::InvalidData, io)) if error.is_connect() => {
                format!("No secure connection to {host} could be made: {io}.")
            }
            Some((_, io)) => format!("The connection to {host} failed: {io}."),
            None => {
                let last = causes().last().map(ToString::to_string).unwrap_or_default();
                format!("{host} gave no usable answer: {last}.")
            }
        })
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::TimedOut(sentence) | Self::Failed(sentence) => f.write_str(sentence),
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
