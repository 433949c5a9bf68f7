//! Why no document was fetched.

use reqwest::StatusCode;
use tenon_domain::{ErrorDetail, ErrorParam, coded_errors};

coded_errors! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FetchError {
        /// The server shows its document only to those with a key.
        NeedsKey { why } = "wants_key" => "{why}",
        KeyMissing { origin, status } = "document_key_missing" => "{origin} requires a key (it answered {status}). Add it to this server as a header.",
        NotFound { answers } = "document_not_found" => "No OpenAPI document was found. {answers}",
        Timeout { host } = "document_timeout" => "{host} did not send its document in time.",
        SubDocumentsTooLarge = "documents_too_large" => "The documents of all servers together are too large.",
        Unreadable { address } = "document_answer_unreadable" => "The answer of {address} cannot be read.",
        Broken { address, why } = "document_broken" => "{address} cannot be read. {why}",

        // Answers that are not a document.
        WebPage { address } = "document_web_page" => "{address} answered with a web page.",
        OtherJson { address } = "document_other_json" => "{address} answered with JSON that is not an OpenAPI document.",
        OtherText { address, why } = "document_other_text" => "{address} answered with text that is neither JSON nor YAML. {why}",
        Locked { address, status } = "document_locked" => "{address} requires a key (it answered {status}).",
        Status { address, status } = "document_status" => "{address} answered {status}.",
        Places { addresses, count: usize } = "document_places" => "{addresses} and {count} more usual places",
    }
    wraps {
        /// The request was not sent, or got no response.
        Send(ErrorDetail),
    }
}

/// The kind of answer that is not a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OtherAnswer {
    WebPage,
    Json,
    Text(ErrorDetail),
    NeedsKey(StatusCode),
    Status(StatusCode),
}

impl OtherAnswer {
    pub(super) fn at(self, address: impl Into<ErrorParam>) -> FetchError {
        let address = address.into();
        let text = |status: StatusCode| status.to_string().into();
        match self {
            Self::WebPage => FetchError::WebPage { address },
            Self::Json => FetchError::OtherJson { address },
            Self::Text(why) => FetchError::OtherText {
                address,
                why: why.into(),
            },
            Self::NeedsKey(status) => FetchError::Locked {
                address,
                status: text(status),
            },
            Self::Status(status) => FetchError::Status {
                address,
                status: text(status),
            },
        }
    }
}
