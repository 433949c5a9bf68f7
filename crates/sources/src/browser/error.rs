//! What can go wrong with the tools of a browser.

use super::limits::{MAX_DEVICES, MAX_SERVERS, MAX_TOOLS_BYTES};
use crate::parse_queue::ParserPanic;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a page, a server or a device is not taken. Displayed, each is a sentence for its owner.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    #[error("A device and a page have ids of 8 to 64 letters, digits and dashes.")]
    InvalidId,
    #[error(
        "This browser offers more than Tenon takes in. Switch off some of the addresses it looks at."
    )]
    TooMuch,
    #[error("There are {MAX_DEVICES} browsers with tools already. Forget one of them first.")]
    TooManyDevices,
    #[error(
        "More than {MAX_SERVERS} servers of one browser cannot be used. Switch off some of the addresses it looks at."
    )]
    TooManyServers,
    #[error("This browser was forgotten meanwhile. Look again.")]
    Forgotten,
    #[error("It is nobody's.")]
    NoOwner,
    #[error("The address of a server begins with http:// or https://.")]
    InvalidAddress,
    #[error("The name or the hash of a server is too long.")]
    NameTooLong,
    #[error("It offers nothing.")]
    NoTools,
    #[error("What it offers is longer than {} MiB.", MAX_TOOLS_BYTES / 1024 / 1024)]
    ToolsTooLong,
    /// The OpenAPI document cannot be used.
    #[error("{0}")]
    Document(#[source] Source),
    #[error("Its address is none.")]
    InvalidDocumentAddress,
    #[error(transparent)]
    Parser(#[from] ParserPanic),
    #[error("Its tools cannot be listed: {0}.")]
    Registry(#[source] tenon_tools::Error),
    #[error("What browsers found cannot be read: {0}.")]
    Load(#[source] Source),
    #[error("What a browser found cannot be kept: {0}.")]
    Save(#[source] Source),
    #[error("What a browser uses cannot be noted: {0}.")]
    MarkSeen(#[source] Source),
    #[error("What a browser found cannot be forgotten: {0}.")]
    Delete(#[source] Source),
}
