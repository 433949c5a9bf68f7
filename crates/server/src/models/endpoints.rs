//! Where models are looked for without anybody adding them: what the
//! environment names, and the servers people run on their own machine.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tenon_domain::WireFormat;
use tenon_llm::discover::{Offered, base_url, discover};

use crate::api::wire::{EndpointView, ModelOrigin};

/// The servers people run at home, where they listen unless told otherwise.
const LOCAL: [(&str, &str, &str); 4] = [
    ("ollama", "Ollama", "http://localhost:11434/v1"),
    ("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    ("llamacpp", "llama.cpp", "http://localhost:8080/v1"),
    ("vllm", "vLLM", "http://localhost:8000/v1"),
];

/// Variables that people have set already for other programs.
#[derive(Clone, Default)]
pub struct Environment {
    pub openai_api_key: Option<String>,
    pub openai_base_url: Option<String>,
    pub anthropic_api_key: Option<String>,
    pub anthropic_base_url: Option<String>,
    pub ollama_host: Option<String>,
}

/// An address that offers models.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub id: String,
    pub name: String,
    pub origin: ModelOrigin,
    pub format: WireFormat,
    pub base_url: String,
    pub key: Option<String>,
}

#[derive(Default)]
pub struct Endpoints {
    list: Vec<Endpoint>,
    seen: Mutex<HashMap<String, Seen>>,
    /// When the last look around ended; held while one goes on, so that a crowd looks once.
    looked: tokio::sync::Mutex<Option<Instant>>,
}

/// What an endpoint last said.
enum Seen {
    Offers(Vec<Offered>),
    Failed(String),
}

impl Environment {
    pub fn read() -> Self {
        let variable = |name: &str| {
            let value = std::env::var(name).ok()?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        Self {
            openai_api_key: variable("OPENAI_API_KEY"),
            openai_base_url: variable("OPENAI_BASE_URL").or_else(|| variable("OPENAI_API_BASE")),
            anthropic_api_key: variable("ANTHROPIC_API_KEY")
                .or_else(|| variable("ANTHROPIC_AUTH_TOKEN")),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
            ollama_host: variable("OLLAMA_HOST"),
        }
    }
}

impl Endpoints {
    /// `local` are the addresses on this machine to look at; the usual ones where none are given.
    pub fn new(environment: &Environment, local: Option<&[String]>) -> Self {
        let mut list = named(environment);
        let homes: Vec<Endpoint> = match local {
            None => LOCAL
                .iter()
                .map(|(id, name, url)| home(id, name, url))
                .collect(),
            Some(urls) => urls
                .iter()
                .filter_map(|url| {
                    let endpoint = given(url);
                    if endpoint.is_none() {
                        tracing::warn!(url, "an address in the settings cannot be used");
                    }
                    endpoint
                })
                .collect(),
        };
        for home in homes {
            let is_known =
                |known: &Endpoint| known.id == home.id || known.base_url == home.base_url;
            if !list.iter().any(is_known) {
                list.push(home);
            }
        }
        Self {
            list,
            ..Self::default()
        }
    }

    pub fn get(&self, id: &str) -> Option<Endpoint> {
        self.list.iter().find(|endpoint| endpoint.id == id).cloned()
    }

    /// Those that the environment names.
    pub fn named(&self) -> impl Iterator<Item = &Endpoint> {
        let is_named = |endpoint: &&Endpoint| endpoint.origin == ModelOrigin::Environment;
        self.list.iter().filter(is_named)
    }

    /// Everything on offer, as far as it is known.
    pub fn offers(&self) -> Vec<(Endpoint, Offered)> {
        let seen = self.seen();
        let offers = self.list.iter().flat_map(|endpoint| {
            let offered = match seen.get(&endpoint.id) {
                Some(Seen::Offers(offered)) => offered.as_slice(),
                Some(Seen::Failed(_)) | None => &[],
            };
            offered
                .iter()
                .map(|offered| (endpoint.clone(), offered.clone()))
        });
        offers.collect()
    }

    /// For people: what there is, and what is wrong with it.
    pub fn views(&self) -> Vec<EndpointView> {
        let seen = self.seen();
        let views = self.list.iter().filter_map(|endpoint| {
            let (models, error) = match seen.get(&endpoint.id) {
                Some(Seen::Offers(offers)) => (offers.len(), None),
                // Nobody asked for a server on this machine: that there is none is no news.
                Some(Seen::Failed(_)) | None if endpoint.origin == ModelOrigin::Local => {
                    return None;
                }
                Some(Seen::Failed(why)) => (0, Some(why.clone())),
                None => (0, None),
            };
            Some(EndpointView {
                id: endpoint.id.clone(),
                name: endpoint.name.clone(),
                origin: endpoint.origin,
                provider: endpoint.format,
                base_url: endpoint.base_url.clone(),
                models,
                error,
            })
        });
        views.collect()
    }

    /// Looks again at all of them, unless that was done a moment ago.
    pub async fn refresh(&self, fresh: Duration) {
        let mut looked = self.looked.lock().await;
        if looked.is_some_and(|looked| looked.elapsed() < fresh) {
            return;
        }
        join_all(self.list.iter().map(|endpoint| self.look(endpoint))).await;
        *looked = Some(Instant::now());
    }

    async fn look(&self, endpoint: &Endpoint) {
        let key = endpoint.key.as_deref();
        let found = discover(&endpoint.base_url, Some(endpoint.format), key).await;
        let seen = match found {
            Ok(offer) => Seen::Offers(offer.models),
            Err(error) => Seen::Failed(error.to_string()),
        };
        self.tell(endpoint, &seen);
        self.seen().insert(endpoint.id.clone(), seen);
    }

    /// The log says what changed, not that nothing did.
    fn tell(&self, endpoint: &Endpoint, now: &Seen) {
        let seen = self.seen();
        match (seen.get(&endpoint.id), now) {
            (Some(Seen::Offers(_)), Seen::Offers(_)) | (Some(Seen::Failed(_)), Seen::Failed(_)) => {
            }
            (_, Seen::Offers(offers)) => tracing::info!(
                endpoint = endpoint.name,
                url = endpoint.base_url,
                models = offers.len(),
                "found models"
            ),
            (None, Seen::Failed(_)) if endpoint.origin == ModelOrigin::Local => {}
            (_, Seen::Failed(why)) => {
                tracing::warn!(endpoint = endpoint.name, why, "offers no models");
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(environment: &Environment) -> Vec<Endpoint> {
    let wanted = [
        (
            "openai",
            WireFormat::Openai,
            "https://api.openai.com/v1",
            &environment.openai_base_url,
            &environment.openai_api_key,
        ),
        (
            "anthropic",
            WireFormat::Anthropic,
            "https://api.anthropic.com",
            &environment.anthropic_base_url,
            &environment.anthropic_api_key,
        ),
    ];
    let mut list = Vec::new();
    for (id, format, usual, url, key) in wanted {
        if url.is_none() && key.is_none() {
            continue;
        }
        let url = url.as_deref().unwrap_or(usual);
        let Ok(base_url) = base_url(format, url) else {
            tracing::warn!(url, "an address in the environment cannot be used");
            continue;
        };
        list.push(Endpoint {
            id: id.into(),
            name: known_name(&base_url),
            origin: ModelOrigin::Environment,
            format,
            base_url,
            key: key.clone(),
        });
    }
    let host = environment.ollama_host.as_deref();
    if let Some(url) = host.and_then(|host| base_url(WireFormat::Openai, &ollama(host)).ok()) {
        list.push(Endpoint {
            origin: ModelOrigin::Environment,
            ..home("ollama", "Ollama", &url)
        });
    }
    list
}

/// `OLLAMA_HOST` is what the server listens on: often without a scheme or a port.
fn ollama(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let has_port = rest
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match (has_port || host.contains("://"), rest.starts_with(':')) {
        (_, true) => format!("{scheme}://127.0.0.1{rest}"),
        (true, _) => format!("{scheme}://{rest}"),
        (false, _) => format!("{scheme}://{rest}:11434"),
    }
}

fn home(id: &str, name: &str, url: &str) -> Endpoint {
    Endpoint {
        id: id.into(),
        name: name.into(),
        origin: ModelOrigin::Local,
        format: WireFormat::Openai,
        base_url: url.into(),
        key: None,
    }
}

/// An address from the settings, under the name of what is usually there.
fn given(url: &str) -> Option<Endpoint> {
    let base = base_url(WireFormat::Openai, url).ok()?;
    let usual = LOCAL.iter().find(|(_, _, usual)| *usual == base);
    if let Some((id, name, url)) = usual {
        return Some(home(id, name, url));
    }
    let place = base
        .split_once("://")
        .map_or(base.as_str(), |(_, place)| place);
    let place = place.trim_end_matches("/v1");
    Some(home(
        &tenon_domain::tool_id::sanitise(place).0,
        place,
        &base,
    ))
}

fn known_name(base: &str) -> String {
    let host = base.split_once("://").map_or(base, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or(host);
    match host {
        "api.openai.com" => "OpenAI".into(),
        "api.anthropic.com" => "Anthropic".into(),
        host => host.to_owned(),
    }
}

/// Without the keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Endpoint").field(&self.base_url).finish()
    }
}

impl std::fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.list).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(environment: &Environment) -> Vec<(String, String)> {
        let list = named(environment).into_iter();
        list.map(|endpoint| (endpoint.id, endpoint.base_url))
            .collect()
    }

    #[test]
    fn what_is_set_already_is_used() {
        let set = |text: &str| Some(text.to_owned());
        assert_eq!(urls(&Environment::default()), []);
        let environment = Environment {
            openai_api_key: set("x"),
            anthropic_api_key: set("y"),
            ..Environment::default()
        };
        let expected = [
            ("openai".to_owned(), "https://api.openai.com/v1".to_owned()),
            (
                "anthropic".to_owned(),
                "https://api.anthropic.com".to_owned(),
            ),
        ];
        assert_eq!(urls(&environment), expected);
        let environment = Environment {
            openai_base_url: set("http://127.0.0.1:14010/v1/"),
            anthropic_base_url: set("http://127.0.0.1:14010/v1"),
            ..Environment::default()
        };
        let expected = [
            ("openai".to_owned(), "http://127.0.0.1:14010/v1".to_owned()),
            ("anthropic".to_owned(), "http://127.0.0.1:14010".to_owned()),
        ];
        assert_eq!(urls(&environment), expected);
    }

    #[test]
    fn an_ollama_is_reached_where_it_listens() {
        let check = |host: &str, expected: &str| {
            let environment = Environment {
                ollama_host: Some(host.into()),
                ..Environment::default()
            };
            assert_eq!(
                urls(&environment),
                [("ollama".to_owned(), expected.to_owned())],
                "{host}"
            );
        };
        check("0.0.0.0", "http://127.0.0.1:11434/v1");
        check("127.0.0.1:9999", "http://127.0.0.1:9999/v1");
        check("gpu-box", "http://gpu-box:11434/v1");
        check(":12000", "http://127.0.0.1:12000/v1");
        check("http://gpu-box:11434", "http://gpu-box:11434/v1");
        check(
            "https://ollama.example.com",
            "https://ollama.example.com/v1",
        );
    }

    #[test]
    fn a_named_ollama_takes_the_place_of_the_usual_one() {
        let environment = Environment {
            ollama_host: Some("gpu-box".into()),
            ..Environment::default()
        };
        let endpoints = Endpoints::new(&environment, None);
        let ollamas = endpoints
            .list
            .iter()
            .filter(|endpoint| endpoint.id == "ollama");
        assert_eq!(ollamas.count(), 1);
        assert_eq!(endpoints.list.len(), LOCAL.len());
    }
}
