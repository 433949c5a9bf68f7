//! Tool servers that come along with a request and are connected until it is answered.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures::future::try_join_all;
use serde_json::{Value, json};
use tenon_domain::{
    CodedError, OpenapiConfig, OpenapiOrigin, SourceId, SourceInfo, SourceKind, SourceState,
};
use tenon_net::{Network, UrlError, check_url};
use tenon_sources::browser::{BrowserError, ClientServer, NamedPage};
use tenon_sources::openapi::{
    DocumentRecord, DocumentStore, DocumentStoreError, OpenapiServer, OpenapiSettings,
};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{ServerStatus, import};
use tenon_store::fresh_id;
use tenon_tools::ToolSource;
use tokio::time::timeout;
use url::Url;

use super::error::{bad_request, invalid_option, too_long};
use crate::api_fault::ApiFault;
use crate::error::ApiError;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

/// Each server is connected for one request only.
const MAX_SERVERS: usize = 32;

/// What somebody who is no admin may send, all together.
const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

/// How long a document may take to be read.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The servers of a request, connected.
pub(super) struct ConnectedServers {
    pub(super) sources: Vec<Arc<dyn ToolSource>>,
    /// Those of them that only the client reaches.
    pub(super) clients: Vec<Arc<ClientServer>>,
}

/// Connects the servers of a request, each with the tools of its document. Those that only the
/// client reaches are called by the page that it names, or by itself.
pub(super) async fn connect(
    app: &App,
    user: &CurrentUser,
    page: Option<&str>,
    servers: Vec<Result<RequestServer, RequestServerError>>,
) -> Result<ConnectedServers, ApiError> {
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
    let is_clients = |server: &RequestServer| server.is_clients;
    let page = match page {
        Some(id) if servers.iter().flatten().any(is_clients) => Some(open_page(app, user, id)?),
        Some(_) | None => None,
    };
    let opening = servers
        .into_iter()
        .enumerate()
        .map(|(number, server)| open(app, user, &page, number, server));
    let mut connected = ConnectedServers {
        sources: Vec::new(),
        clients: Vec::new(),
    };
    for server in try_join_all(opening).await? {
        connected.sources.push(match server {
            ConnectedServer::Remote(server) => server,
            ConnectedServer::Client(server) => {
                connected.clients.push(server.clone());
                server
            }
        });
    }
    Ok(connected)
}

enum ConnectedServer {
    Remote(Arc<dyn ToolSource>),
    Client(Arc<ClientServer>),
}

/// A page calls whatever comes along at an address that is enabled there, so this takes as much as
/// registering tools does.
fn open_page(app: &App, user: &CurrentUser, id: &str) -> Result<NamedPage, ApiError> {
    if !user.has_full_access() {
        return Err(ApiError::forbidden(ApiFault::KeyWithoutSettings).in_field("session_id"));
    }
    let page = app.devices.page(&user.id, id);
    page.ok_or_else(|| {
        invalid_option(
            "session_id",
            "the id of a page of yours that is open now. Leave it out to make the calls yourself",
        )
    })
}

async fn open(
    app: &App,
    user: &CurrentUser,
    page: &Option<NamedPage>,
    number: usize,
    request: Result<RequestServer, RequestServerError>,
) -> Result<ConnectedServer, ApiError> {
    let request = request.map_err(|error| refuse(number, error))?;
    if request.is_clients {
        let server = open_clients(app, user, page.clone(), request).await;
        let server = server.map_err(|error| refuse(number, error))?;
        return Ok(ConnectedServer::Client(server));
    }
    let http = app.sources.caller_for(user);
    let server = OpenapiServer::new(OpenapiSettings {
        info: request.info(user, SourceKind::Openapi),
        config: request.config,
        fill: Arc::new(LiteralConfig),
        documents: Arc::new(RequestDocument(request.document)),
        http: http.map_err(|error| refuse(number, error))?,
        parses: app.sources.parses(Some(&user.id)),
        inherited: None,
    });
    match timeout(READ_TIMEOUT, server.settled()).await {
        Ok(ServerStatus {
            state: SourceState::Failed { why },
            ..
        }) => Err(refuse(number, why.message)),
        Ok(ServerStatus { tools: 0, .. }) => Err(refuse(number, RequestServerError::NoOperations)),
        Ok(_) => Ok(ConnectedServer::Remote(server)),
        Err(_elapsed) => Err(refuse(number, RequestServerError::TooSlow)),
    }
}

/// A server that only the client reaches: its document is read, and it is not asked anything.
async fn open_clients(
    app: &App,
    user: &CurrentUser,
    page: Option<NamedPage>,
    request: RequestServer,
) -> Result<Arc<ClientServer>, RequestServerError> {
    let info = request.info(user, SourceKind::Browser);
    let url = request.url.ok_or(RequestServerError::MissingAddress)?;
    let document = String::from_utf8_lossy(&request.document).into_owned();
    let reading = app.devices.client_server(info, url, document, page);
    let server = match timeout(READ_TIMEOUT, reading).await {
        Ok(server) => server?,
        Err(_elapsed) => return Err(RequestServerError::TooSlow),
    };
    if server.tools().is_empty() {
        return Err(RequestServerError::NoOperations);
    }
    Ok(server)
}

fn refuse(number: usize, why: impl Display) -> ApiError {
    bad_request(format!("`tool_servers[{number}]` cannot be used. {why}"))
}

/// Why a server that comes along with a request cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestServerError {
    #[error("It is an OpenAPI document, or `{{\"url\", \"openapi\"}}`.")]
    NotAnObject,
    #[error("`openapi` is missing: the document of the server at `url`.")]
    MissingDocument,
    #[error("Its address is missing: `url`, or `servers` in its document.")]
    MissingAddress,
    /// Told by its detail: the error's own text may have internal causes.
    #[error("{}", .0.detail().message)]
    Document(#[from] BrowserError),
    #[error("Reading it takes too long.")]
    TooSlow,
    #[error(
        "No operation in it can be called. Of an mcpo with several servers behind it, send the documents of those."
    )]
    NoOperations,
}

/// A document, and where its server is.
pub(super) struct RequestServer {
    title: String,
    document: Vec<u8>,
    config: OpenapiConfig,
    /// Where it is, as the client or its document says.
    url: Option<Url>,
    /// Only the client reaches it.
    is_clients: bool,
}

impl RequestServer {
    /// A whole document, or one with an address beside it: `{"url", "openapi", "key"?, "direct"?}`.
    /// `direct` says that only the client reaches it, as is taken for granted of its own machine
    /// and network.
    pub(super) fn read(server: Value) -> Result<Self, RequestServerError> {
        let Value::Object(mut server) = server else {
            return Err(RequestServerError::NotAnObject);
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
            return Err(RequestServerError::MissingDocument);
        }
        let direct = server.get("direct").and_then(Value::as_bool);
        let (mut document, url, key) = if beside {
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
        let written = url.as_deref().or(document["servers"][0]["url"].as_str());
        let address = written.and_then(|url| Url::parse(url).ok());
        let is_clients = direct.unwrap_or_else(|| address.as_ref().is_some_and(is_private));
        if is_clients && let Some(url) = &url {
            document["servers"] = json!([{ "url": url }]);
        }
        let key = key.map(|key| ("Authorization".to_owned(), format!("Bearer {key}")));
        Ok(Self {
            title,
            document: document.to_string().into_bytes(),
            url: address,
            is_clients,
            config: OpenapiConfig {
                base_url: url,
                headers: key.into_iter().collect(),
                ..OpenapiConfig::new(OpenapiOrigin::Uploaded {
                    document_hash: String::new(),
                })
            },
        })
    }

    fn info(&self, user: &CurrentUser, kind: SourceKind) -> SourceInfo {
        SourceInfo {
            id: SourceId(format!("guest-{}", fresh_id())),
            kind,
            name: self.name(),
            title: self.title.clone(),
            owner: Some(user.id.clone()),
        }
    }

    /// Part of its tools' ids.
    fn name(&self) -> String {
        match import::clean(&self.title) {
            none if none.is_empty() => "server".to_owned(),
            name => name,
        }
    }
}

/// Whether an address means another machine to Tenon than to the client.
fn is_private(url: &Url) -> bool {
    matches!(
        check_url(url, Network::PublicOnly),
        Err(UrlError::Private(_))
    )
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
