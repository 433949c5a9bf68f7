//! What a model's server says about itself, beside the answers of its model.
//!
//! How much a model reads at once is not a fact of the model but of how its server was started.
//! Every kind of server says it at another place, and only those on this machine or network are
//! asked: what the servers of providers offer is in their lists.

use std::time::Duration;

use serde_json::{Value, json};
use tenon_domain::WireFormat;

use crate::Remote;
use crate::model_list::models;
use crate::remote::http;

/// All of it comes from memory; a server that is too busy for it is asked another time.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Ollama sends the licence and the template of the model along.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// Ollama's default context for a model that sets none and is not loaded, except on machines with
/// much video memory.
const OLLAMA_DEFAULT_CONTEXT: u64 = 4_096;

/// Facts that a model server reports about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// How many tokens the model reads and writes at once.
    pub context_tokens: Option<u64>,
    /// Whether it can tell how far it has read a prompt: llama.cpp can.
    pub reports_progress: bool,
}

impl ServerFacts {
    /// Asks the server of a model. None: it said nothing, or is not one that is asked.
    pub async fn read(remote: &Remote) -> Option<Self> {
        if remote.format != WireFormat::Openai || !http::is_local(&remote.base_url) {
            return None;
        }
        let base_url = remote.base_url.trim_end_matches('/');
        let server = Remote {
            base_url: base_url.strip_suffix("/v1").unwrap_or(base_url).to_owned(),
            ..remote.clone()
        };
        let read = async {
            if let Some(context) = llama_cpp(&server).await {
                return Some(Self {
                    context_tokens: Some(context),
                    reports_progress: true,
                });
            }
            let context_tokens = match ollama(&server).await {
                Some(context) => Some(context),
                None => match lm_studio(&server).await {
                    Some(context) => Some(context),
                    None => listed(remote).await,
                },
            };
            context_tokens.map(|_| Self {
                context_tokens,
                reports_progress: false,
            })
        };
        tokio::time::timeout(TIMEOUT, read).await.ok().flatten()
    }
}

/// The context of one slot, which is what one chat gets.
async fn llama_cpp(server: &Remote) -> Option<u64> {
    let props = get(server, "/props").await?;
    count(props.pointer("/default_generation_settings/n_ctx")?)
}

/// A loaded model has the context it was loaded with. Before that it is the one of its file, or
/// the default; what the model was made for is only the most there could be.
async fn ollama(server: &Remote) -> Option<u64> {
    let model = &server.model;
    let shown = http::post(server, "/api/show", &json!({"model": model})).await;
    let shown = parse(shown.ok()?).await?;
    let info = shown["model_info"].as_object()?;
    let trained = info
        .iter()
        .find(|(name, _)| name.ends_with(".context_length"))
        .and_then(|(_, value)| count(value))?;
    let running = get(server, "/api/ps").await.unwrap_or_default();
    let is_model = |entry: &&Value| entry["model"] == **model || entry["name"] == **model;
    let mut loaded = running["models"].as_array().into_iter().flatten();
    if let Some(loaded) = loaded.find(is_model)
        && let Some(context) = count(&loaded["context_length"])
    {
        return Some(context);
    }
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let value = line.trim().strip_prefix("num_ctx")?;
        value.trim().parse().ok()
    });
    Some(trained.min(set.unwrap_or(OLLAMA_DEFAULT_CONTEXT)))
}

async fn lm_studio(server: &Remote) -> Option<u64> {
    let list = get(server, "/api/v0/models").await?;
    let mut models = list["data"].as_array()?.iter();
    let model = models.find(|entry| entry["id"] == *server.model)?;
    count(&model["loaded_context_length"]).or_else(|| count(&model["max_context_length"]))
}

/// vLLM, and others that tell it in the list of their models.
async fn listed(remote: &Remote) -> Option<u64> {
    let list = get(remote, "/models").await?;
    let model = models(&list)?
        .into_iter()
        .find(|entry| entry.model == remote.model);
    model?.context_tokens
}

async fn get(server: &Remote, path: &str) -> Option<Value> {
    let url = format!("{}{path}", server.base_url.trim_end_matches('/'));
    let response = http::get(server, &url).await.ok()?;
    if response.status().is_success() {
        parse(response).await
    } else {
        None
    }
}

async fn parse(response: reqwest::Response) -> Option<Value> {
    let body = http::read(response, MAX_BODY_BYTES).await?;
    serde_json::from_str(&body).ok()
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}
