//! The configuration of an OpenAPI server, as somebody asks for it, before it is validated.

use std::collections::BTreeMap;

use serde_json::Value;
use tenon_domain::{CodedError, OpenapiConfig, OpenapiOrigin, SourceCredential};
use tenon_sources::openapi::{OpenapiError, check_header};

use super::credentials::{check_credentials, unmasked_credentials};
use crate::sources::documents::UploadedDocument;
use crate::sources::error::SourceError;
use crate::sources::input_error::SourceInputError;
use crate::sources::requests::{AddSource, SourceChange};
use crate::sources::{check, mask, merge};

/// Everything that can be said, before it is known to make sense.
#[derive(Default)]
pub(in crate::sources) struct OpenapiDraft {
    pub(in crate::sources) url: Option<String>,
    /// The hash of a document that is given now.
    pub(in crate::sources) document: Option<String>,
    pub(in crate::sources) base_url: Option<String>,
    pub(in crate::sources) headers: BTreeMap<String, String>,
    pub(in crate::sources) credentials: BTreeMap<String, SourceCredential>,
    pub(in crate::sources) timeout_ms: Option<u64>,
    pub(in crate::sources) tool_timeouts_ms: BTreeMap<String, u64>,
    /// The document that is kept already.
    pub(in crate::sources) kept: Option<String>,
}

impl OpenapiDraft {
    /// What somebody asks for, and the document that has to be kept for it.
    pub(in crate::sources) async fn of(
        new: AddSource,
    ) -> Result<(Self, Option<UploadedDocument>), SourceError> {
        check::for_mcp(new.mcp_only_field())?;
        let document = given(new.document).await?;
        let draft = Self {
            url: new.url,
            document: document.as_ref().map(|document| document.hash.clone()),
            base_url: new.base_url,
            headers: new.headers.unwrap_or_default(),
            credentials: new.credentials.unwrap_or_default(),
            timeout_ms: new.timeout_ms,
            tool_timeouts_ms: new.tool_timeouts_ms.unwrap_or_default(),
            kept: None,
        };
        Ok((draft, document))
    }

    /// A draft from an imported configuration. Its document is already stored and referenced by
    /// hash.
    pub(in crate::sources) fn found(config: &OpenapiConfig) -> Self {
        let (url, kept) = match &config.origin {
            OpenapiOrigin::Url { url } => (Some(url.clone()), None),
            OpenapiOrigin::Uploaded { document_hash } => (None, Some(document_hash.clone())),
        };
        Self {
            url,
            document: None,
            base_url: config.base_url.clone(),
            headers: config.headers.clone(),
            credentials: config.credentials.clone(),
            timeout_ms: config.timeout_ms,
            tool_timeouts_ms: config.tool_timeouts_ms.clone(),
            kept,
        }
    }

    /// What a change makes of how a server is reached. Its document has been taken out of
    /// it; this is the hash.
    pub(in crate::sources) fn changed(
        old: &OpenapiConfig,
        change: SourceChange,
        document: Option<String>,
    ) -> Result<Self, SourceError> {
        check::for_mcp(change.mcp_only_field())?;
        let (old_url, kept) = match &old.origin {
            OpenapiOrigin::Url { url } => (Some(url), None),
            OpenapiOrigin::Uploaded { document_hash } => (None, Some(document_hash.clone())),
        };
        let url = match (change.url, old_url) {
            (Some(given), Some(old)) => Some(mask::unmask_url(&given, old).ok_or_else(elsewhere)?),
            (Some(given), None) => Some(given),
            (None, _) if document.is_some() => None,
            (None, old) => old.cloned(),
        };
        let base_url = match (change.base_url, &old.base_url) {
            (None, old) => old.clone(),
            (Some(None), _) => None,
            (Some(Some(given)), None) => Some(given),
            (Some(Some(given)), Some(old)) => {
                Some(mask::unmask_url(&given, old).ok_or_else(elsewhere)?)
            }
        };
        // A secret that was given to one server is not sent to another.
        let before = [old_url, old.base_url.as_ref()];
        let after = [url.as_ref(), base_url.as_ref()];
        let moves = document.is_some() || leads_elsewhere(before, after);
        let headers = change.headers.unwrap_or_else(|| mask::mask(&old.headers));
        let keeps = headers.values().any(Option::is_none)
            || match &change.credentials {
                Some(given) => given.values().any(Option::is_none),
                None => !old.credentials.is_empty(),
            };
        if moves && keeps {
            return Err(elsewhere());
        }
        let credentials = match change.credentials {
            None => old.credentials.clone(),
            Some(given) => unmasked_credentials(given, &old.credentials, moves)?,
        };
        let is_given = url.is_none() && document.is_none();
        Ok(Self {
            url,
            document,
            base_url,
            headers: merge::unmask("headers", headers, &old.headers)?,
            credentials,
            timeout_ms: change.timeout_ms.unwrap_or(old.timeout_ms),
            tool_timeouts_ms: change
                .tool_timeouts_ms
                .unwrap_or_else(|| old.tool_timeouts_ms.clone()),
            kept: kept.filter(|_| is_given),
        })
    }

    /// The configuration it means.
    pub(in crate::sources) fn config(self) -> Result<OpenapiConfig, SourceError> {
        check::times(self.timeout_ms, &self.tool_timeouts_ms)?;
        check::headers(&self.headers, |name, value| {
            check_header(name, value).map_err(|error| OpenapiError::Header(error).detail())
        })?;
        check_credentials(&self.credentials)?;
        let origin = match (self.url.as_deref(), self.document, self.kept) {
            (Some(_), Some(_), _) => {
                return Err(SourceInputError::UrlOrDocument.into());
            }
            (Some(url), None, _) => OpenapiOrigin::Url {
                url: check::url("url", url, "https://example.com/openapi.json")?,
            },
            (None, Some(document_hash), _) | (None, None, Some(document_hash)) => {
                OpenapiOrigin::Uploaded { document_hash }
            }
            (None, None, None) => {
                return Err(SourceInputError::NeitherUrlNorDocument.into());
            }
        };
        let base_url = self.base_url.filter(|url| !url.trim().is_empty());
        let base_url = base_url
            .map(|url| check::url("baseUrl", &url, "https://example.com/api"))
            .transpose()?;
        let config = OpenapiConfig {
            origin,
            base_url,
            headers: self.headers,
            credentials: self.credentials,
            timeout_ms: self.timeout_ms,
            tool_timeouts_ms: self.tool_timeouts_ms,
        };
        check::size(&config)?;
        Ok(config)
    }
}

/// A document that comes as text, or as the JSON it is. On the side: it may be long.
pub(in crate::sources) async fn given(
    document: Option<Value>,
) -> Result<Option<UploadedDocument>, SourceError> {
    let Some(document) = document else {
        return Ok(None);
    };
    let written = tokio::task::spawn_blocking(move || match document {
        Value::String(text) => Some(UploadedDocument::of(text.into_bytes())),
        object @ Value::Object(_) => Some(UploadedDocument::of(object.to_string().into_bytes())),
        _ => None,
    });
    let written = written.await.ok().flatten();
    let refused = || SourceInputError::Document.into();
    written.ok_or_else(refused).map(Some)
}

/// Whether what is sent would go where it did not go before. Both are where the document is,
/// if it has an address, and where requests go, if that is said. Who no longer says the
/// latter sends them wherever the document leads, and that is another place too.
fn leads_elsewhere(before: [Option<&String>; 2], after: [Option<&String>; 2]) -> bool {
    let is_new = |after: &String| {
        let mut known = before.iter().flatten();
        !known.any(|before| mask::same_origin(before, after))
    };
    let requests = |[document, base]: [Option<&String>; 2]| base.or(document).cloned();
    let is_turned = match (requests(before), requests(after)) {
        (Some(before), Some(after)) => !mask::same_origin(&before, &after),
        (before, after) => before != after,
    };
    is_turned || after.into_iter().flatten().any(is_new)
}

fn elsewhere() -> SourceError {
    SourceInputError::CredentialsElsewhere.into()
}

#[cfg(test)]
mod tests;
