//! A look at a server before it is saved: nothing is kept and nothing is called.

use std::sync::Arc;
use std::time::SystemTime;

use tenon_domain::{ErrorDetail, OpenapiConfig, ToolDefinition};
use tenon_openapi::operation::{SecurityScheme, SkippedOperation};
use tokio::sync::Semaphore;
use url::Url;

use super::client::OpenapiClient;
use super::document_set::{DocumentSet, DocumentUpdate};
use super::tools::OpenapiTools;
use crate::openapi::OpenapiError;
use crate::openapi::document_store::DocumentRecord;
use crate::openapi::fetch::{self, DocumentRequest};
use crate::openapi::http_client::OpenapiHttpClient;
use crate::parse_queue::acquire;
use crate::supervisor::DocumentSummary;
use crate::tool_note::ToolNote;

/// The result of adding a server, shown before it is added.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenapiPreview {
    pub title: String,
    pub version: String,
    pub tools: Vec<ToolDefinition>,
    pub skipped: Vec<SkippedOperation>,
    /// Security schemes of the document: which keys it needs.
    pub schemes: Vec<SecurityScheme>,
    /// The servers behind it, if it is an mcpo.
    pub servers: Vec<String>,
    /// Problems found while reading.
    pub notes: Vec<ErrorDetail>,
}

/// Reads the document of a server whose variables are filled in. The error says what was
/// tried and what came back.
///
/// `parses` is how many documents may be parsed at once.
pub async fn preview(
    config: OpenapiConfig,
    http: &OpenapiHttpClient,
    parses: &Arc<Semaphore>,
) -> Result<OpenapiPreview, OpenapiError> {
    let client = OpenapiClient::new(config, http)?;
    let Some(url) = &client.url else {
        return Err(OpenapiError::NoUrl);
    };
    let request = DocumentRequest {
        url,
        headers: &client.headers,
        cached: &[],
        refetch_files: true,
        timeout: fetch::FETCH_TIMEOUT,
    };
    let fetched = fetch::read(http, &request).await?;
    let slot = acquire(parses).await;
    let base_url = client.base_url.clone();
    let work = slot.run(move || {
        let merged = DocumentSet::merge(None, fetched)?;
        Ok::<_, OpenapiError>(summarize(merged, base_url.as_ref(), true))
    });
    work.await
}

/// The same for a document that somebody gives; `is_placed` where they say as well where its
/// server is.
pub async fn preview_document(
    body: Vec<u8>,
    is_placed: bool,
    parses: &Arc<Semaphore>,
) -> Result<OpenapiPreview, OpenapiError> {
    let stored = DocumentRecord {
        name: String::new(),
        url: String::new(),
        body,
        etag: None,
        last_modified: None,
        fetched_at: SystemTime::now(),
    };
    let slot = acquire(parses).await;
    let work =
        move || DocumentSet::load(vec![stored]).map(|merged| summarize(merged, None, is_placed));
    slot.run(work).await
}

fn summarize(merged: DocumentUpdate, base_url: Option<&Url>, is_placed: bool) -> OpenapiPreview {
    let tools = OpenapiTools::of(&merged.set, base_url);
    let about = DocumentSummary::of(&merged.set);
    let mut notes = merged.problems;
    if tools.len() == 0 && about.skipped.is_empty() && notes.is_empty() {
        notes.push(ToolNote::NoOperations.into());
    }
    notes.extend(tools.other_hosts().map(ErrorDetail::from));
    notes.extend(merged.set.notes());
    let without_server = tools.without_server().filter(|_| !is_placed);
    notes.extend(without_server.map(ErrorDetail::from));
    if tools.cut {
        notes.push(ToolNote::MoreTools.into());
    }
    OpenapiPreview {
        title: about.title,
        version: about.version,
        tools: tools.definitions(),
        skipped: about.skipped,
        schemes: about.schemes,
        servers: about.servers,
        notes,
    }
}
