//! Pages and files on the web.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::source::{BuiltinConfig, WebSearchConfig};
use tenon_domain::{Annotations, ErrorKind, ToolDefinition, ToolError, ToolResult};
use tenon_tools::CallContext;
use url::Url;

use super::{AnyTool, BuiltinTool, READS_ONLY};
use search::WebSearch;
use tenon_net::{Network, WebClient};

mod fetch;
mod page;
mod search;

/// A page that takes longer is not worth the wait of the person who asked.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn tools(config: &BuiltinConfig) -> Vec<Box<dyn AnyTool>> {
    let mut tools = vec![fetch_url(config)];
    tools.extend(config.web_search.clone().map(web_search));
    tools
}

pub(super) fn fetch_url(config: &BuiltinConfig) -> Box<dyn AnyTool> {
    let network = Network::of_setting(config.allow_private_networks);
    Box::new(FetchUrl {
        client: WebClient::new(network),
    })
}

pub(super) fn web_search(config: WebSearchConfig) -> Box<dyn AnyTool> {
    Box::new(WebSearch::new(config))
}

struct FetchUrl {
    client: WebClient,
}

#[derive(Deserialize)]
struct FetchUrlInput {
    url: String,
}

#[async_trait]
impl BuiltinTool for FetchUrl {
    type Input = FetchUrlInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "fetch_url".into(),
            title: Some("Fetch URL".into()),
            description: "Fetches a web page or file and returns its readable text, its JSON or \
                          its picture."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "url": {
                        "type": "string",
                        "description": "The whole address, with http:// or https://.",
                        "minLength": 1,
                        "maxLength": 8000,
                        "examples": ["https://example.com/", "https://api.example.com/v1/status.json"],
                    },
                },
                "required": ["url"],
                "additionalProperties": false,
            }).into(),
            annotations: Annotations {
                open_world: true,
                ..READS_ONLY
            },
        }
    }

    fn keywords(&self) -> &'static str {
        "打开网页, 抓取网页, 访问网址, 下载, 開啟網頁, 網址"
    }

    /// Addresses that are refused anyway need no approval.
    fn address(&self, input: &Value) -> Option<Url> {
        self.client.parse_url(input["url"].as_str()?).ok()
    }

    async fn run(&self, input: FetchUrlInput, context: &CallContext) -> ToolResult {
        let url = self.client.parse_url(&input.url).map_err(fetch::refused)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let work = async {
            let page = fetch::fetch(self.client()?, url).await?;
            page::into_output(page, context).await
        };
        tokio::time::timeout(TIMEOUT, work)
            .await
            .unwrap_or_else(|_elapsed| {
                Err(ToolError::new(
                    ErrorKind::TimedOut,
                    format!(
                        "{host} did not send everything within {} s.",
                        TIMEOUT.as_secs()
                    ),
                ))
            })
    }
}

impl FetchUrl {
    fn client(&self) -> Result<&Client, ToolError> {
        self.client.get().map_err(|error| {
            tracing::error!(%error, "the HTTP client of fetch_url cannot be made");
            ToolError::new(
                ErrorKind::Unavailable,
                "Web access is not available on this server.",
            )
        })
    }
}
