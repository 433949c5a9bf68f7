//! Search on the web, through a service with the API of serper.dev.

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tenon_domain::source::WebSearchConfig;
use tenon_domain::text::line;
use tenon_domain::{Annotations, ErrorKind, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_net::body::{self, BodyEnd};
use tenon_net::{Network, RequestError, parse_url};
use tenon_tools::{CallContext, Relevance};

use super::TIMEOUT;
use crate::builtin::{BuiltinTool, READS_ONLY};

const DEFAULT_RESULTS: usize = 10;

/// What the service returns for one request at most.
const MAX_RESULTS: usize = 50;

const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

const MAX_SNIPPET_CHARS: usize = 400;

pub(super) struct WebSearch {
    config: WebSearchConfig,
    /// Made at the first call, as that of `fetch_url`.
    client: OnceLock<Client>,
}

#[derive(Deserialize)]
pub(super) struct WebSearchInput {
    query: String,
    num_results: Option<usize>,
}

#[derive(Deserialize)]
struct SearchResponse {
    #[serde(default)]
    organic: Vec<WebSearchHit>,
}

#[derive(Deserialize)]
struct WebSearchHit {
    #[serde(default)]
    title: String,
    #[serde(default)]
    link: String,
    #[serde(default)]
    snippet: String,
}

impl WebSearch {
    pub(super) fn new(config: WebSearchConfig) -> Self {
        Self {
            config,
            client: OnceLock::new(),
        }
    }
}

#[async_trait]
impl BuiltinTool for WebSearch {
    type Input = WebSearchInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "web_search".into(),
            title: Some("Web search".into()),
            description: "Searches the web and returns titles, addresses and excerpts.".into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What to search for; operators such as site: are understood.",
                        "minLength": 1,
                        "maxLength": 2000,
                        "examples": ["model context protocol specification"],
                    },
                    "num_results": {
                        "type": "integer",
                        "description": format!("How many results to return; left out, {DEFAULT_RESULTS}."),
                        "minimum": 1,
                        "maximum": MAX_RESULTS,
                        "examples": [5],
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            })
            .into(),
            annotations: Annotations {
                open_world: true,
                ..READS_ONLY
            },
        }
    }

    fn keywords(&self) -> &'static str {
        "google, 搜索, 网页搜索, 上网, 搜尋"
    }

    fn relevance(&self) -> Relevance {
        Relevance::OnDemand
    }

    async fn run(&self, input: WebSearchInput, _context: &CallContext) -> ToolResult {
        let wanted = input.num_results.unwrap_or(DEFAULT_RESULTS);
        let work = self.search(&input.query, wanted.min(MAX_RESULTS));
        let bytes = tokio::time::timeout(TIMEOUT, work)
            .await
            .unwrap_or_else(|_elapsed| Err(too_late(TIMEOUT)))?;
        let response: SearchResponse = serde_json::from_slice(&bytes)
            .map_err(|_| ToolError::failed("The search service sent no search results."))?;
        Ok(ToolOutput::text(listing(&response.organic, wanted)))
    }
}

impl WebSearch {
    async fn search(&self, query: &str, wanted: usize) -> Result<Vec<u8>, ToolError> {
        // The operator chose the service: it may be on this machine.
        let url = format!("{}/search", self.config.url.trim_end_matches('/'));
        let url = parse_url(&url, Network::Anywhere).map_err(super::fetch::refused)?;
        let explain = |error: &reqwest::Error| match RequestError::new(error, &url) {
            RequestError::TimedOut { .. } => too_late(TIMEOUT),
            why => ToolError::failed(why.to_string()),
        };
        let request = self.client()?.post(url.clone());
        let request = request.header("X-API-KEY", &self.config.key);
        let request = request.json(&json!({"q": query, "num": wanted}));
        let mut response = request.send().await.map_err(|error| explain(&error))?;
        match response.status() {
            status if status.is_success() => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(ToolError::new(
                    ErrorKind::Unavailable,
                    "The search service refuses the key. Do without web search, and say that SERPER_API_KEY must be corrected.",
                ));
            }
            status => {
                return Err(ToolError::failed(format!(
                    "The search service answered with status {}.",
                    status.as_u16()
                )));
            }
        }
        let mut bytes = Vec::new();
        let read = body::read_prefix(&mut response, MAX_BODY_BYTES, &mut bytes).await;
        if read.map_err(|error| explain(&error))? == BodyEnd::Truncated {
            return Err(ToolError::failed(
                "The search results are too long. Ask for fewer.",
            ));
        }
        Ok(bytes)
    }

    fn client(&self) -> Result<&Client, ToolError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = tenon_net::client(Network::Anywhere).build();
        let client = client.map_err(|error| {
            tracing::error!(%error, "the HTTP client of web_search cannot be made");
            ToolError::new(
                ErrorKind::Unavailable,
                "Web search is not available on this machine.",
            )
        })?;
        Ok(self.client.get_or_init(|| client))
    }
}

fn too_late(timeout: Duration) -> ToolError {
    let seconds = timeout.as_secs();
    let message = format!("The search service did not answer within {seconds} s.");
    ToolError::new(ErrorKind::TimedOut, message)
}

fn listing(hits: &[WebSearchHit], wanted: usize) -> String {
    if hits.is_empty() {
        return "Nothing found.".into();
    }
    let hits = hits.iter().take(wanted).enumerate().map(|(index, hit)| {
        format!(
            "{}. {}\n   {}\n   {}",
            index + 1,
            line(&hit.title, MAX_SNIPPET_CHARS),
            line(&hit.link, MAX_SNIPPET_CHARS),
            line(&hit.snippet, MAX_SNIPPET_CHARS),
        )
    });
    hits.collect::<Vec<_>>().join("\n")
}
