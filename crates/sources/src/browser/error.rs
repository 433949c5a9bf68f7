//! Errors of tools that run in a browser.

use tenon_domain::{CodedError, ErrorDetail, coded_errors};
use tenon_openapi::DocumentError;

use super::limits::{MAX_DEVICES, MAX_SERVERS, MAX_TOOLS_BYTES};
use crate::fault::{ServerFault, document_fault};
use crate::parse_queue::ParserPanic;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a page, a server or a device is not taken.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    #[error(transparent)]
    Refused(#[from] RegistrationFault),
    /// The OpenAPI document cannot be used.
    #[error(transparent)]
    Document(#[from] DocumentError),
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

coded_errors! {
    /// Errors of a registration, in words for the person at the page.
    #[derive(Debug)]
    pub enum RegistrationFault {
        InvalidId = "local_invalid_id" => "A device and a page have ids of 8 to 64 letters, digits and dashes.",
        TooMuch = "local_too_much" => "This browser offers more than Tenon can process. Switch off some of its addresses.",
        TooManyDevices { max: usize } = "local_too_many_devices" => "There are {max} browsers with tools already. Forget one of them first.",
        TooManyServers { max: usize } = "local_too_many_servers" => "More than {max} servers of one browser cannot be used. Switch off some of its addresses.",
        Forgotten = "local_forgotten" => "This browser was forgotten in the meantime. Look again.",
        NoOwner = "local_no_owner" => "It belongs to nobody.",
        InvalidAddress = "local_invalid_address" => "The address of a server begins with http:// or https://.",
        NameTooLong = "local_name_too_long" => "The name or the hash of a server is too long.",
        NoTools = "local_no_tools" => "It offers no tools.",
        ToolsTooLong { mib: usize } = "local_tools_too_long" => "The description of its tools is longer than {mib} MiB.",
        InvalidDocumentAddress = "local_document_address" => "The address of its document is not valid.",
        NotListed = "local_not_listed" => "Its tools could not be listed. Tenon's log says why.",
        NotStored = "local_not_stored" => "The servers found by this browser could not be stored. Tenon's log says why.",
        KeyDenied = "local_key_denied" => "This key may not run tools. Use one with full access.",
        Busy = "local_busy" => "This page sends more than Tenon can process. Look again later.",
    }
}

impl RegistrationFault {
    pub(super) fn too_many_devices() -> Self {
        Self::TooManyDevices { max: MAX_DEVICES }
    }

    pub(super) fn too_many_servers() -> Self {
        Self::TooManyServers { max: MAX_SERVERS }
    }

    pub(super) fn tools_too_long() -> Self {
        Self::ToolsTooLong {
            mib: MAX_TOOLS_BYTES / 1024 / 1024,
        }
    }
}

impl CodedError for BrowserError {
    fn detail(&self) -> ErrorDetail {
        match self {
            Self::Refused(fault) => fault.detail(),
            Self::Document(error) => document_fault(error).into(),
            Self::Parser(_) => ServerFault::Internal.into(),
            Self::Registry(_) => RegistrationFault::NotListed.into(),
            Self::Load(_) | Self::Save(_) | Self::MarkSeen(_) | Self::Delete(_) => {
                RegistrationFault::NotStored.into()
            }
        }
    }
}
