//! Where models are looked for without anybody adding them: what the
//! environment names, and the servers people run on their own machine.

mod environment;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tenon_domain::{ErrorDetail, WireFormat};
use tenon_llm::discover::{ListedModel, base_url, discover};
use tokio::sync::watch;

use crate::config::Environment;
use crate::lock::lock;
use crate::models::view::{EndpointFault, EndpointView, ModelOrigin};

/// The servers people run at home, where they listen unless told otherwise.
const LOCAL: [(&str, &str, &str); 4] = [
    ("ollama", "Ollama", "http://localhost:11434/v1"),
    ("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    ("llamacpp", "llama.cpp", "http://localhost:8080/v1"),
    ("vllm", "vLLM", "http://localhost:8000/v1"),
];

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
pub struct ModelEndpoints {
    list: Vec<Endpoint>,
    seen: Mutex<HashMap<String, EndpointReply>>,
    /// When the last refresh ended; held during one, so that concurrent callers share it.
    refreshed_at: tokio::sync::Mutex<Option<Instant>>,
    /// Marked when one of them says something else than before.
    changes: watch::Sender<()>,
}

/// What an endpoint last said.
#[derive(PartialEq, Eq)]
enum EndpointReply {
    Offers {
        /// Where they were found: a `/v1` may have been missing.
        base_url: String,
        models: Vec<ListedModel>,
    },
    Failed(ErrorDetail),
}

impl ModelEndpoints {
    /// `local` are the addresses on this machine to look at; the usual ones where none are given.
    pub fn new(environment: &Environment, local: Option<&[String]>) -> Self {
        let mut list = environment::endpoints_of(environment);
        let homes: Vec<Endpoint> = match local {
            None => LOCAL
                .iter()
                .map(|(id, name, url)| home(id, name, url))
                .collect(),
            Some(urls) => urls.iter().filter_map(|url| given(url)).collect(),
        };
        for home in homes {
            let is_known = |known: &Endpoint| known.id == home.id || same_place(known, &home);
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
        let endpoint = self.list.iter().find(|endpoint| endpoint.id == id)?;
        Some(found_at(endpoint, self.seen().get(id)))
    }

    /// Those that the environment names.
    pub fn named(&self) -> Vec<&Endpoint> {
        let is_named = |endpoint: &&Endpoint| endpoint.origin == ModelOrigin::Environment;
        self.list.iter().filter(is_named).collect()
    }

    /// Everything on offer, as far as it is known.
    pub fn offers(&self) -> Vec<(Endpoint, ListedModel)> {
        let seen = self.seen();
        let offers = self.list.iter().flat_map(|endpoint| {
            let seen = seen.get(&endpoint.id);
            let models = match seen {
                Some(EndpointReply::Offers { models, .. }) => models.as_slice(),
                Some(EndpointReply::Failed(_)) | None => &[],
            };
            let endpoint = found_at(endpoint, seen);
            models
                .iter()
                .map(move |offered| (endpoint.clone(), offered.clone()))
        });
        offers.collect()
    }

    /// For people: what there is, and what is wrong with it.
    pub fn views(&self) -> Vec<EndpointView> {
        let seen = self.seen();
        let views = self.list.iter().filter_map(|endpoint| {
            let seen = seen.get(&endpoint.id);
            let (models, error) = match seen {
                Some(EndpointReply::Offers { models, .. }) => (models.len(), None),
                // Local endpoints are only probed, so their absence is not shown as an error.
                Some(EndpointReply::Failed(_)) | None if endpoint.origin == ModelOrigin::Local => {
                    return None;
                }
                Some(EndpointReply::Failed(why)) => (0, Some(why.clone())),
                None => {
                    let address = (&endpoint.base_url).into();
                    (0, Some(EndpointFault::Unanswered { address }.into()))
                }
            };
            let endpoint = found_at(endpoint, seen);
            Some(EndpointView {
                id: endpoint.id,
                name: endpoint.name,
                origin: endpoint.origin,
                provider: endpoint.format,
                base_url: Some(endpoint.base_url),
                models,
                error,
            })
        });
        views.collect()
    }

    /// Looks again at all of them, unless that was done a moment ago.
    pub async fn refresh(&self, fresh: Duration) {
        let mut refreshed_at = self.refreshed_at.lock().await;
        if refreshed_at.is_some_and(|at| at.elapsed() < fresh) {
            return;
        }
        join_all(self.list.iter().map(|endpoint| self.look(endpoint))).await;
        *refreshed_at = Some(Instant::now());
    }

    async fn look(&self, endpoint: &Endpoint) {
        let key = endpoint.key.as_deref();
        let found = discover(&endpoint.base_url, Some(endpoint.format), key).await;
        let seen = match found {
            Ok(offer) => EndpointReply::Offers {
                base_url: offer.base_url,
                models: offer.models,
            },
            Err(error) => EndpointReply::Failed(error.detail()),
        };
        self.tell(endpoint, &seen);
        let is_new = self.seen().get(&endpoint.id) != Some(&seen);
        self.seen().insert(endpoint.id.clone(), seen);
        if is_new {
            self.changes.send_replace(());
        }
    }

    /// Marked whenever what they offer changes.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// The log says what changed, not that nothing did.
    fn tell(&self, endpoint: &Endpoint, now: &EndpointReply) {
        let seen = self.seen();
        match (seen.get(&endpoint.id), now) {
            (Some(EndpointReply::Offers { .. }), EndpointReply::Offers { .. })
            | (Some(EndpointReply::Failed(_)), EndpointReply::Failed(_)) => {}
            (_, EndpointReply::Offers { base_url, models }) => tracing::info!(
                endpoint = endpoint.name,
                url = base_url,
                models = models.len(),
                "found models"
            ),
            (None, EndpointReply::Failed(_)) if endpoint.origin == ModelOrigin::Local => {}
            (_, EndpointReply::Failed(why)) => {
                tracing::warn!(endpoint = endpoint.name, %why, "offers no models");
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<String, EndpointReply>> {
        lock(&self.seen)
    }
}

/// An endpoint at the address its offers were found at.
fn found_at(endpoint: &Endpoint, seen: Option<&EndpointReply>) -> Endpoint {
    let mut endpoint = endpoint.clone();
    if let Some(EndpointReply::Offers { base_url, .. }) = seen {
        endpoint.base_url.clone_from(base_url);
    }
    endpoint
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

/// An endpoint for an address from the settings, named after the server that usually has that port.
fn given(url: &str) -> Option<Endpoint> {
    let Ok(base) = base_url(WireFormat::Openai, url) else {
        // Not the address itself: there may be a password in it.
        tracing::warn!("an address among the local model servers cannot be used");
        return None;
    };
    let place = base
        .split_once("://")
        .map_or(base.as_str(), |(_, place)| place);
    let place = place.trim_end_matches("/v1");
    let id = tenon_domain::tool_id::sanitise(place).0;
    let given = home(&id, place, &base);
    let usual = LOCAL.iter().map(|(id, name, url)| home(id, name, url));
    let usual = usual.into_iter().find(|usual| same_place(usual, &given));
    Some(usual.unwrap_or(given))
}

fn same_place(one: &Endpoint, other: &Endpoint) -> bool {
    let plain = |endpoint: &Endpoint| endpoint.base_url.replace("//localhost", "//127.0.0.1");
    plain(one) == plain(other)
}

/// Without the key.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Endpoint").field(&self.base_url).finish()
    }
}

impl std::fmt::Debug for ModelEndpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.list).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_ollama_takes_the_place_of_the_usual_one() {
        let environment = Environment {
            ollama_host: Some("gpu-box".into()),
            ..Environment::default()
        };
        let endpoints = ModelEndpoints::new(&environment, None);
        let ollamas = endpoints
            .list
            .iter()
            .filter(|endpoint| endpoint.id == "ollama");
        assert_eq!(ollamas.count(), 1);
        assert_eq!(endpoints.list.len(), LOCAL.len());
    }

    #[test]
    fn one_server_is_one_endpoint_however_it_is_called() {
        let urls = [
            "http://127.0.0.1:11434",
            "localhost:11434/v1",
            "http://u:pw@h",
        ];
        let endpoints =
            ModelEndpoints::new(&Environment::default(), Some(&urls.map(str::to_owned)));
        let ids: Vec<&str> = endpoints
            .list
            .iter()
            .map(|endpoint| endpoint.id.as_str())
            .collect();
        assert_eq!(ids, ["ollama"]);
    }
}
