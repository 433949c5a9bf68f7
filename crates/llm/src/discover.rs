//! Lists the models that an address offers.

use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::{Map, Value};
use tenon_domain::{ToolUse, WireFormat};
use url::{Host, Url};

use crate::model_list::models;
use crate::remote::http;
use crate::remote::provider_error::{ProviderError, ProviderErrorBody};
use crate::{Error, ModelFault, Remote, ServerFacts};

pub use crate::model_list::ListedModel;

/// A list of models is a page of names.
const MAX_LIST_BYTES: usize = 8 * 1024 * 1024;

/// Endpoints that take longer to list their models are skipped.
const LIST_TIMEOUT: Duration = Duration::from_secs(8);

/// What people paste is often the address of a request.
const REQUEST_PATHS: [&str; 5] = [
    "/chat/completions",
    "/responses",
    "/messages",
    "/completions",
    "/models",
];

/// How many models of a list are asked about one by one, and how long that may take.
const MAX_ASKED_MODELS: usize = 32;
const CONTEXTS_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The models on offer, and the normalised base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelList {
    pub format: WireFormat,
    pub base_url: String,
    pub models: Vec<ListedModel>,
}

/// Asks an address for its models. What people paste is understood: without
/// `/v1`, without `http://`, or with the path of a request at its end.
pub async fn discover(
    address: &str,
    format: Option<WireFormat>,
    key: Option<&str>,
) -> Result<ModelList, Error> {
    let base = normalise(address)?;
    let format = format.unwrap_or_else(|| guess_format(address, &base));
    let listed = tokio::time::timeout(LIST_TIMEOUT, list_models(&base, format, key)).await;
    listed.unwrap_or_else(|_| {
        let fault = ModelFault::ListTimeout {
            address: (&base).into(),
            seconds: LIST_TIMEOUT.as_secs().into(),
        };
        Err(fault.into())
    })
}

/// An address as it can be asked: with a scheme, without a request's path.
pub fn normalise(address: &str) -> Result<String, ModelFault> {
    let address = address.trim();
    let with_scheme = if address.contains("://") {
        address.to_owned()
    } else {
        format!("{}://{address}", scheme_for(address))
    };
    let wrong = || ModelFault::InvalidAddress {
        address: address.into(),
    };
    let mut url = Url::parse(&with_scheme).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ModelFault::AddressWithPassword);
    }
    // `0.0.0.0` is an address to listen on, not one to connect to.
    if matches!(url.host(), Some(Host::Ipv4(any)) if any.is_unspecified()) {
        let _ = url.set_host(Some("127.0.0.1"));
    }
    url.set_query(None);
    url.set_fragment(None);
    let url = url.to_string();
    let mut url = url.trim_end_matches('/');
    for tail in REQUEST_PATHS {
        url = url.strip_suffix(tail).unwrap_or(url);
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// An address as it is kept, without asking it: a bare host of the OpenAI kind has its paths under
/// `/v1`.
pub fn base_url(format: WireFormat, address: &str) -> Result<String, ModelFault> {
    let base = normalise(address)?;
    let base = base_for(format, &base);
    match format {
        WireFormat::Openai | WireFormat::Responses if !has_path(base) => Ok(format!("{base}/v1")),
        WireFormat::Openai | WireFormat::Responses | WireFormat::Anthropic => Ok(base.to_owned()),
    }
}

/// Anthropic's paths bring their own `/v1`.
fn base_for(format: WireFormat, base: &str) -> &str {
    match format {
        WireFormat::Openai | WireFormat::Responses => base,
        WireFormat::Anthropic => base.strip_suffix("/v1").unwrap_or(base),
    }
}

fn scheme_for(address: &str) -> &'static str {
    let host = address.split(['/', ':']).next().unwrap_or_default();
    let is_name = host.contains('.') && host.parse::<std::net::Ipv4Addr>().is_err();
    if is_name && !host.ends_with(".local") && !host.ends_with(".localhost") {
        "https"
    } else {
        "http"
    }
}

fn guess_format(address: &str, base: &str) -> WireFormat {
    if base.contains("anthropic") {
        WireFormat::Anthropic
    } else {
        openai_format(address)
    }
}

/// Which of OpenAI's formats an address is of: that of the request whose path it has, else that
/// of chat completions, which everybody knows.
pub fn openai_format(address: &str) -> WireFormat {
    let address = address.trim().trim_end_matches('/');
    if address.ends_with("/responses") {
        WireFormat::Responses
    } else {
        WireFormat::Openai
    }
}

async fn list_models(
    base: &str,
    format: WireFormat,
    key: Option<&str>,
) -> Result<ModelList, Error> {
    let base = base_for(format, base);
    let candidates = match format {
        WireFormat::Anthropic => vec![(base.to_owned(), format!("{base}/v1/models?limit=1000"))],
        WireFormat::Openai | WireFormat::Responses => {
            let versioned = format!("{base}/v1");
            let direct = (base.to_owned(), format!("{base}/models"));
            let deeper = (versioned.clone(), format!("{versioned}/models"));
            if has_path(base) {
                vec![direct, deeper]
            } else {
                vec![deeper, direct]
            }
        }
    };
    let mut first_error = None;
    for (base_url, url) in candidates {
        let remote = Remote {
            name: "this model".into(),
            format,
            base_url: base_url.clone(),
            key: key.map(str::to_owned),
            model: String::new(),
            parameters: Map::new(),
            tools: ToolUse::None,
            context_tokens: None,
            tool_budget: None,
            reports_progress: false,
        };
        match fetch_list(&remote, &url).await {
            Ok(models) => {
                return Ok(ModelList {
                    format,
                    base_url,
                    models: with_server_contexts(&remote, models).await,
                });
            }
            // A refused key is refused at the other path as well.
            Err(ListError::Failed(error)) => return Err(error),
            Err(ListError::NotFound(error)) => {
                first_error.get_or_insert(error);
            }
        }
    }
    let empty = ModelFault::ListEmpty {
        address: base.into(),
    };
    Err(first_error.unwrap_or_else(|| empty.into()))
}

/// A list says what a model was made for. Its server may have been started with less, and says so
/// elsewhere.
async fn with_server_contexts(remote: &Remote, models: Vec<ListedModel>) -> Vec<ListedModel> {
    let ask = async |listed: ListedModel| {
        let remote = Remote {
            model: listed.model.clone(),
            ..remote.clone()
        };
        let facts = ServerFacts::read(&remote).await.unwrap_or_default();
        ListedModel {
            context_tokens: facts.context_tokens.or(listed.context_tokens),
            ..listed
        }
    };
    let (asked, rest) = models.split_at(models.len().min(MAX_ASKED_MODELS));
    let contexts = stream::iter(asked.to_vec()).map(ask).buffered(8);
    let contexts = tokio::time::timeout(CONTEXTS_TIMEOUT, contexts.collect::<Vec<_>>());
    match contexts.await {
        Ok(asked) => [asked, rest.to_vec()].concat(),
        Err(_elapsed) => models,
    }
}

enum ListError {
    /// Perhaps at another path.
    NotFound(Error),
    Failed(Error),
}

async fn fetch_list(remote: &Remote, url: &str) -> Result<Vec<ListedModel>, ListError> {
    let failed = |error: ProviderError| ListError::Failed(Error::Refused(error.detail()));
    let response = http::get(remote, url).await.map_err(failed)?;
    let status = response.status().as_u16();
    if matches!(status, 401 | 402 | 403 | 429 | 500..) {
        let body = http::error_body(response).await;
        return Err(failed(body.into_error(remote)));
    }
    let body = http::read(response, MAX_LIST_BYTES)
        .await
        .unwrap_or_default();
    let list: Option<Value> = serde_json::from_str(&body).ok();
    let models = list.as_ref().and_then(models);
    models.ok_or_else(|| {
        let body = ProviderErrorBody {
            status: if status < 400 { 404 } else { status },
            ..ProviderErrorBody::default()
        };
        ListError::NotFound(Error::Refused(body.into_error(remote).detail()))
    })
}

fn has_path(base: &str) -> bool {
    Url::parse(base).is_ok_and(|url| url.path().len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_paste_becomes_an_address() {
        let check = |pasted: &str, expected: &str| {
            assert_eq!(normalise(pasted).unwrap(), expected, "{pasted}");
        };
        check("http://localhost:11434/", "http://localhost:11434");
        check("localhost:11434", "http://localhost:11434");
        check("0.0.0.0:11434", "http://127.0.0.1:11434");
        check("192.168.1.5:8000/v1", "http://192.168.1.5:8000/v1");
        check("api.openai.com/v1", "https://api.openai.com/v1");
        check(
            " https://api.x.com/v1/chat/completions ",
            "https://api.x.com/v1",
        );
        check(
            "https://api.anthropic.com/v1/messages",
            "https://api.anthropic.com/v1",
        );
        check("http://h/v1/models?x=1#y", "http://h/v1");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for wrong in ["", "ftp://x", "http://", "http://user:pass@host/v1", "::"] {
            assert!(normalise(wrong).is_err(), "{wrong}");
        }
    }
}
