//! A client of the server that runs with the data folder of a command, and answers in its place.

use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tenon_domain::{ToolId, tool_id};
use tenon_tools::CallLimits;

use crate::flags::CommonFlags;
use tenon_app::auth::shell::RunningServer;
use tenon_app::config::Config;
use tenon_server::wire::{CallToolAnswer, ErrorBody, ToolView};

/// On the same machine a connection is there at once, or nobody listens.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Longer than a server waits for what it has just started.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// What a server needs to answer besides the time of the call itself.
const CALL_GRACE: Duration = Duration::from_secs(60);

pub(super) struct ServerClient {
    server: RunningServer,
    client: Client,
}

/// The server that ran with this data folder is gone before it got the request, so the command does
/// the work itself.
#[derive(Debug, thiserror::Error)]
#[error("the Tenon that ran with this data folder is gone")]
pub(super) struct ServerGone;

impl ServerClient {
    pub(super) fn find(common: &CommonFlags, config: &Config) -> Option<Self> {
        let server = RunningServer::find(&common.data, config)?;
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .build();
        let client = client.ok()?;
        Some(Self { server, client })
    }

    /// All that the command's user can see.
    pub(super) async fn tools(&self) -> Result<Vec<ToolView>> {
        let request = self.client.get(self.url(&["tools"])?);
        self.send(request.timeout(LIST_TIMEOUT)).await
    }

    pub(super) async fn search_tools(&self, query: &str, limit: usize) -> Result<Vec<ToolView>> {
        let mut url = self.url(&["tools"])?;
        url.query_pairs_mut()
            .append_pair("q", query)
            .append_pair("limit", &limit.to_string());
        let request = self.client.get(url);
        self.send(request.timeout(LIST_TIMEOUT)).await
    }

    /// The servers of the command's user, as `/api/sources` lists them.
    pub(super) async fn sources(&self) -> Result<Vec<Value>> {
        let request = self.client.get(self.url(&["sources"])?);
        self.send(request.timeout(LIST_TIMEOUT)).await
    }

    /// None: there is no such tool. A command that ends before it has the answer ends the call.
    pub(super) async fn call(&self, id: &ToolId, input: &Value) -> Result<Option<CallToolAnswer>> {
        if !tool_id::is_valid(id.as_str()) {
            return Ok(None);
        }
        let url = self.url(&["tools", id.as_str(), "call"])?;
        let request = self.client.post(url).json(&json!({"arguments": input}));
        let longest = CallLimits::default().total_timeout + CALL_GRACE;
        let answer = self.send(request.timeout(longest)).await;
        answer.map_err(|error| {
            if error.is::<reqwest::Error>() {
                error.context("whether the call took effect is not known")
            } else {
                error
            }
        })
    }

    /// Percent-encodes ids, so that each stays one path segment.
    fn url(&self, parts: &[&str]) -> Result<url::Url> {
        let mut url: url::Url = self.server.address.parse()?;
        let mut path = url
            .path_segments_mut()
            .map_err(|()| anyhow!("{} is no address", self.server.address))?;
        path.extend(["api", "shell"]).extend(parts);
        drop(path);
        Ok(url)
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let request = request.bearer_auth(&self.server.token);
        let unanswered = || {
            let pid = self.server.pid;
            format!("the Tenon that runs with this data folder (process {pid}) does not answer")
        };
        let response = request.send().await.map_err(|error| {
            if error.is_connect() {
                Error::new(ServerGone)
            } else {
                // The address in it says nothing to anybody.
                Error::new(error.without_url()).context(unanswered())
            }
        })?;
        match response.status() {
            StatusCode::OK => response.json().await.with_context(unanswered),
            // Another server, or one of another version.
            StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND => Err(ServerGone.into()),
            status => match response.json::<ErrorBody>().await {
                Ok(refused) => Err(anyhow!(refused.error.message)),
                Err(_) => Err(anyhow!("{status}").context(unanswered())),
            },
        }
    }
}
