//! Tool servers that come along with a question and stay for its answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use axum::http::StatusCode;
use futures::future::try_join_all;
use serde_json::Value;
use tenon_domain::{OpenapiConfig, OpenapiOrigin, SourceId, SourceInfo, SourceKind, SourceState};
use tenon_sources::import;
use tenon_sources::openapi::{Documents, Kept, OpenapiServer, Settings, Status};
use tenon_sources::variables::AsItIs;
use tenon_store::fresh_id;
use tenon_tools::ToolSource;
use tokio::time::timeout;

use crate::api::error::ApiError;
use crate::app::App;
use crate::auth::CurrentUser;

/// More than any question needs.
const MAX_SERVERS: usize = 32;

/// What somebody who is no admin may bring along, all together.
const MAX_OWN: usize = 8 * 1024 * 1024;

/// How long a document may take to be read.
const PATIENCE: Duration = Duration::from_secs(30);

/// The servers that somebody brings along, each with the tools of its document.
pub(super) async fn take_in(
    app: &App,
    user: &CurrentUser,
    guests: Vec<Result<Guest, String>>,
) -> Result<Vec<Arc<dyn ToolSource>>, ApiError> {
    if guests.len() > MAX_SERVERS {
        return Err(ApiError::bad_request(format!(
            "At most {MAX_SERVERS} `tool_servers` can come along."
        )));
    }
    let lengths = guests.iter().flatten().map(|guest| guest.document.len());
    if !user.administers() && lengths.sum::<usize>() > MAX_OWN {
        return Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_long",
            format!("The `tool_servers` are longer than {} MiB.", MAX_OWN >> 20),
        ));
    }
    let opening = guests
        .into_iter()
        .enumerate()
        .map(|(number, guest)| open(app, user, number, guest));
    try_join_all(opening).await
}

async fn open(
    app: &App,
    user: &CurrentUser,
    number: usize,
    guest: Result<Guest, String>,
) -> Result<Arc<dyn ToolSource>, ApiError> {
    let guest = guest.map_err(|why| refuse(number, &why))?;
    let caller = app.sources.caller_for(user);
    let server = OpenapiServer::new(Settings {
        info: SourceInfo {
            id: SourceId(format!("guest-{}", fresh_id())),
            kind: SourceKind::Openapi,
            name: guest.name(),
            title: guest.title.clone(),
            owner: Some(user.id.clone()),
        },
        config: guest.config,
        fill: Arc::new(AsItIs),
        documents: Arc::new(Brought(guest.document)),
        caller: caller.map_err(|why| refuse(number, &why))?,
        parses: app.sources.parses(Some(&user.id)),
        known: None,
    });
    match timeout(PATIENCE, server.settled()).await {
        Ok(Status {
            state: SourceState::Failed { why },
            ..
        }) => Err(refuse(number, &why)),
        Ok(Status { tools: 0, .. }) => Err(refuse(
            number,
            "No operation in it can be called. Of an mcpo with several servers behind it, send the documents of those.",
        )),
        Ok(_) => Ok(server),
        Err(_elapsed) => Err(refuse(number, "Reading it takes too long.")),
    }
}

fn refuse(number: usize, why: &str) -> ApiError {
    ApiError::bad_request(format!("`tool_servers[{number}]` cannot be used. {why}"))
}

/// A document, and where its server is.
pub(super) struct Guest {
    title: String,
    document: Vec<u8>,
    config: OpenapiConfig,
}

impl Guest {
    /// A whole document, or one with an address beside it: `{"url", "openapi", "key"?}`.
    pub(super) fn read(server: Value) -> Result<Self, String> {
        let Value::Object(mut server) = server else {
            return Err("It is an OpenAPI document, or `{\"url\", \"openapi\"}`.".into());
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
            return Err("`openapi` is missing: the document of the server at `url`.".into());
        }
        let (document, url, key) = match beside {
            true => {
                let document = server.remove("openapi").unwrap_or_default();
                (
                    document,
                    text(server.remove("url")),
                    text(server.remove("key")),
                )
            }
            false => (Value::Object(server), None, None),
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
struct Brought(Vec<u8>);

#[async_trait]
impl Documents for Brought {
    async fn load(&self) -> Result<Vec<Kept>, String> {
        Ok(vec![Kept {
            name: String::new(),
            url: String::new(),
            body: self.0.clone(),
            etag: None,
            last_modified: None,
            fetched_at: SystemTime::now(),
        }])
    }

    async fn keep(&self, _documents: Vec<Kept>, _names: Vec<String>) -> Result<(), String> {
        Ok(())
    }
}
