//! Tool servers that come along with a request and are connected until it is answered.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures::future::try_join_all;
use serde_json::Value;
use tenon_domain::{OpenapiConfig, OpenapiOrigin, SourceId, SourceInfo, SourceKind, SourceState};
use tenon_sources::openapi::{
    DocumentRecord, DocumentStore, DocumentStoreError, OpenapiServer, OpenapiSettings,
};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{ServerStatus, import};
use tenon_store::fresh_id;
use tenon_tools::ToolSource;
use tokio::time::timeout;

use super::error::{bad_request, too_long};
use crate::error::ApiError;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

/// Each server is connected for one request only.
const MAX_SERVERS: usize = 32;

/// What somebody who is no admin may send, all together.
const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

/// How long a document may take to be read.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Connects the servers of a request, each with the tools of its document.
pub(super) async fn connect(
    app: &App,
    user: &CurrentUser,
    servers: Vec<Result<RequestServer, RequestServerError>>,
) -> Result<Vec<Arc<dyn ToolSource>>, ApiError> {
    if servers.len() > MAX_SERVERS {
        return Err(bad_request(format!(
            "At most {MAX_SERVERS} `tool_servers` can come along."
        )));
    }
    let lengths = servers.iter().flatten().map(|server| server.document.len());
    if !user.administers() && lengths.sum::<usize>() > MAX_DOCUMENT_BYTES {
        return Err(too_long(format!(
            "The `tool_servers` are longer than {} MiB.",
            MAX_DOCUMENT_BYTES >> 20
        )));
    }
    let opening = servers
        .into_iter()
        .enumerate()
        .map(|(number, server)| open(app, user, number, server));
    try_join_all(opening).await
}

async fn open(
    app: &App,
    user: &CurrentUser,
    number: usize,
    request: Result<RequestServer, RequestServerError>,
) -> Result<Arc<dyn ToolSource>, ApiError> {
    let request = request.map_err(|error| refuse(number, &error.to_string()))?;
    let http = app.sources.caller_for(user);
    let server = OpenapiServer::new(OpenapiSettings {
        info: SourceInfo {
            id: SourceId(format!("guest-{}", fresh_id())),
            kind: SourceKind::Openapi,
            name: request.name(),
            title: request.title.clone(),
            owner: Some(user.id.clone()),
        },
        config: request.config,
        fill: Arc::new(LiteralConfig),
        documents: Arc::new(RequestDocument(request.document)),
        http: http.map_err(|error| refuse(number, &error.to_string()))?,
        parses: app.sources.parses(Some(&user.id)),
        inherited: None,
    });
    match timeout(READ_TIMEOUT, server.settled()).await {
        Ok(ServerStatus {
            state: SourceState::Failed { why },
            ..
        }) => Err(refuse(number, &why.message)),
        Ok(ServerStatus { tools: 0, .. }) => Err(refuse(
            number,
            "No operation in it can be called. Of an mcpo with several servers behind it, send the documents of those.",
        )),
        Ok(_) => Ok(server),
        Err(_elapsed) => Err(refuse(number, "Reading it takes too long.")),
    }
}

fn refuse(number: usize, why: &str) -> ApiError {
    bad_request(format!("`tool_servers[{number}]` cannot be used. {why}"))
}

/// Why a server that comes along with a request cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestServerError {
    #[error("It is an OpenAPI document, or `{{\"url\", \"openapi\"}}`.")]
    NoObject,
    #[error("`openapi` is missing: the document of the server at `url`.")]
    NoDocument,
}

/// A document, and where its server is.
pub(super) struct RequestServer {
    title: String,
    document: Vec<u8>,
    config: OpenapiConfig,
}

impl RequestServer {
    /// A whole document, or one with an address beside it: `{"url", "openapi", "key"?}`.
    pub(super) fn read(server: Value) -> Result<Self, RequestServerError> {
        let Value::Object(mut server) = server else {
            return Err(RequestServerError::NoObject);
        };
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        let beside = server.get("openapi").is_some_and(Value::is_object);
        let has_no_document = ["openapi", "swagger", "paths"]
            .iter()
            .all(|key| !server.contains_key(*key));
        if server.contains_key("url") && has_no_document {
            return Err(RequestServerError::NoDocument);
        }
        let (document, url, key) = if beside {
            let document = server.remove("openapi").unwrap_or_default();
            (
                document,
                text(server.remove("url")),
                text(server.remove("key")),
            )
        } else {
            (Value::Object(server), None, None)
        };
        let title = import::title(&document).unwrap_or_else(|| "Server".to_owned());
        let key = key.map(|key| ("Authorization".to_owned(), format!("Bearer {key}")));
        Ok(Self {
            title,
            document: document.to_string().into_bytes(),
            config: OpenapiConfig {
                base_url: url,
                headers: key.into_iter().collect(),
                ..import::reached(OpenapiOrigin::Given {
                    document_hash: String::new(),
                })
            },
        })
    }

    /// Part of its tools' ids.
    fn name(&self) -> String {
        match import::clean(&self.title) {
            none if none.is_empty() => "server".to_owned(),
            name => name,
        }
    }
}

/// Kept nowhere.
struct RequestDocument(Vec<u8>);

#[async_trait]
impl DocumentStore for RequestDocument {
    async fn load(&self) -> Result<Vec<DocumentRecord>, DocumentStoreError> {
        Ok(vec![DocumentRecord {
            name: String::new(),
            url: String::new(),
            body: self.0.clone(),
            etag: None,
            last_modified: None,
            fetched_at: SystemTime::now(),
        }])
    }

    async fn store(
        &self,
        _documents: Vec<DocumentRecord>,
        _names: Vec<String>,
    ) -> Result<(), DocumentStoreError> {
        Ok(())
    }
}
