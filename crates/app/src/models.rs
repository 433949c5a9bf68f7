//! The models that can be chosen: the built-in one, those somebody added, and
//! those that endpoints of the environment and of this machine offer.

mod choose;
mod edit;
pub(crate) mod embeddings;
pub mod endpoints;
mod evaluation;
mod probe;
mod progress_stream;
mod redact;
mod server_facts_cache;
mod view;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Map;
use tenon_domain::{CodedError, ModelConfig, ModelId, ToolMode};
use tenon_llm::remote::is_small_model;
use tenon_llm::{Provider, Remote, connect};
use tenon_sources::import::is_unprintable;
use tenon_store::{Store, StoredModel, Vault};

use crate::lock::lock;
use endpoints::{Endpoint, ModelEndpoints};
use server_facts_cache::ServerFactsCache;

pub use choose::ModelLookupError;
pub use edit::ModelEditError;
pub use evaluation::{EvaluationError, EvaluationFrame, EvaluationRequest};
pub use view::{
    EndpointFault, EndpointView, ModelChange, ModelDiscoveryRequest, ModelDiscoveryResponse,
    ModelOrigin, ModelParameter, ModelView, NewModel, OfferedModel, TestFrame,
};

/// The id of the model that comes with Tenon.
pub const BUILTIN: &str = "builtin";

/// What endpoints offer is asked again after this long.
const OFFERS_MAX_AGE: Duration = Duration::from_secs(20);

/// A name is a line in a menu.
const MAX_NAME_CHARS: usize = 200;

/// How many models are remembered with what their servers do not take.
const MAX_CONNECTED: usize = 256;

/// How long a list of models waits for endpoints that are slow to answer.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);

/// Cheap to clone.
#[derive(Clone)]
pub struct Models {
    store: Store,
    vault: Arc<Vault>,
    builtin: Arc<dyn Provider>,
    endpoints: Arc<ModelEndpoints>,
    /// A connected model remembers what its server does not take.
    connected: Arc<Mutex<HashMap<ModelId, ConnectedModel>>>,
    facts: Arc<ServerFactsCache>,
}

/// A provider, and the settings it was made from.
type ConnectedModel = (Remote, Arc<dyn Provider>);

impl Models {
    pub fn new(
        store: Store,
        vault: Arc<Vault>,
        builtin: Arc<dyn Provider>,
        endpoints: ModelEndpoints,
    ) -> Self {
        Self {
            store,
            vault,
            builtin,
            endpoints: Arc::new(endpoints),
            connected: Arc::default(),
            facts: Arc::default(),
        }
    }

    pub fn endpoints(&self) -> &Arc<ModelEndpoints> {
        &self.endpoints
    }

    /// Every model there is, the built-in one first.
    pub async fn list(&self) -> tenon_store::Result<Vec<ModelView>> {
        self.refresh_endpoints().await;
        let saved = self.store.models().await?;
        let mut views = vec![self.builtin_view(&saved)];
        views.extend(saved.iter().map(|model| self.saved_view(model)));
        for (endpoint, offered) in self.endpoints.offers() {
            let config = offered_config(&endpoint, &offered.model, offered.context_tokens);
            if !saved.iter().any(|model| model.config.id == config.id) {
                views.push(self.view(&config, Some(&endpoint), endpoint.key.is_some()));
            }
        }
        Ok(views)
    }

    pub async fn show(&self, id: &ModelId) -> tenon_store::Result<ModelView> {
        if id.as_str() == BUILTIN {
            return Ok(self.builtin_view(&self.store.models().await?));
        }
        match self.store.model(id).await {
            Ok(model) => Ok(self.saved_view(&model)),
            Err(tenon_store::Error::NotFound(what)) => {
                let config = self.by_endpoint(id.as_str());
                let config = config.ok_or(tenon_store::Error::NotFound(what))?;
                let endpoint = config.endpoint.as_deref();
                let endpoint = endpoint.and_then(|id| self.endpoints.get(id));
                let has_key = endpoint.as_ref().is_some_and(|at| at.key.is_some());
                Ok(self.view(&config, endpoint.as_ref(), has_key))
            }
            Err(error) => Err(error),
        }
    }

    /// Asks endpoints again whose answers are old. Slow ones are not waited for: they are there
    /// next time.
    pub async fn refresh_endpoints(&self) {
        let endpoints = self.endpoints.clone();
        let look = tokio::spawn(async move { endpoints.refresh(OFFERS_MAX_AGE).await });
        let _ = tokio::time::timeout(LIST_TIMEOUT, look).await;
    }

    fn builtin_view(&self, saved: &[StoredModel]) -> ModelView {
        ModelView {
            id: ModelId::new(BUILTIN),
            name: self.builtin.name().to_owned(),
            origin: ModelOrigin::Builtin,
            endpoint: None,
            provider: None,
            base_url: None,
            model: None,
            has_key: false,
            parameters: Map::new(),
            tool_mode: ToolMode::Native,
            tools_seen: None,
            context_tokens: None,
            tool_budget: None,
            sees_images: Some(self.builtin.takes_images()),
            takes: Vec::new(),
            compact_tools: false,
            prices: None,
            is_default: !saved.iter().any(|model| model.is_default),
            saved: false,
            unusable: None,
        }
    }

    fn saved_view(&self, model: &StoredModel) -> ModelView {
        let id = model.config.endpoint.as_deref();
        let endpoint = id.and_then(|id| self.endpoints.get(id));
        let has_key = match &endpoint {
            Some(endpoint) => endpoint.key.is_some(),
            None => model.sealed_key.is_some(),
        };
        let unusable = match (&endpoint, self.key(model)) {
            (None, _) if id.is_some() => Some(choose::gone(&model.config).into()),
            (None, Err(error)) => Some(error.detail()),
            (_, _) => None,
        };
        ModelView {
            is_default: model.is_default,
            saved: true,
            unusable,
            ..self.view(&model.config, endpoint.as_ref(), has_key)
        }
    }

    fn view(&self, config: &ModelConfig, endpoint: Option<&Endpoint>, has_key: bool) -> ModelView {
        ModelView {
            sees_images: self.sees_images(&config.id),
            ..view(config, endpoint, has_key)
        }
    }

    /// False if the server has refused an image, None if nothing is known. Accepting a request does
    /// not prove that the model sees images.
    fn sees_images(&self, id: &ModelId) -> Option<bool> {
        let (_, provider) = self.connected().get(id)?.clone();
        (!provider.takes_images()).then_some(false)
    }

    /// The same provider for the same settings.
    fn connect(&self, id: &ModelId, remote: Remote) -> Arc<dyn Provider> {
        let mut connected = self.connected();
        if let Some((known, provider)) = connected.get(id)
            && *known == remote
        {
            return provider.clone();
        }
        let provider = connect(remote.clone());
        // A simple way to bound the cache: providers are cheap to make again.
        if connected.len() >= MAX_CONNECTED {
            connected.clear();
        }
        connected.insert(id.clone(), (remote, provider.clone()));
        provider
    }

    fn disconnect(&self, id: &ModelId) {
        self.connected().remove(id);
    }

    fn connected(&self) -> MutexGuard<'_, HashMap<ModelId, ConnectedModel>> {
        lock(&self.connected)
    }

    /// Where a model is and how it is asked. None: its endpoint is not known any more.
    fn remote(&self, config: &ModelConfig, key: Option<String>) -> Option<Remote> {
        let (base_url, key) = match &config.endpoint {
            None => (config.base_url.clone(), key),
            Some(id) => {
                let endpoint = self.endpoints.get(id)?;
                (endpoint.base_url, endpoint.key)
            }
        };
        Some(Remote {
            name: config.name.clone(),
            format: config.provider,
            base_url,
            key,
            model: config.model.clone(),
            parameters: config.parameters.clone(),
            tools: config.tool_mode.tool_use(config.tools_seen),
            context_tokens: config.context_tokens,
            tool_budget: config.tool_budget,
            reports_progress: false,
        })
    }

    fn key(&self, model: &StoredModel) -> tenon_store::Result<Option<String>> {
        let sealed = model.sealed_key.as_deref();
        sealed
            .map(|sealed| self.vault.open_sealed(&about(&model.config.id), sealed))
            .transpose()
    }

    fn seal(&self, id: &ModelId, key: &str) -> String {
        self.vault.seal(&about(id), key)
    }
}

/// Whether an endpoint could call a model this.
fn is_name(model: &str) -> bool {
    let is_short = model.chars().count() <= MAX_NAME_CHARS;
    !model.trim().is_empty() && is_short && !model.contains(is_unprintable)
}

/// What a sealed key is bound to.
fn about(id: &ModelId) -> String {
    format!("model:{id}")
}

/// The id of a model that an endpoint offers.
fn offered_id(endpoint: &Endpoint, model: &str) -> ModelId {
    ModelId(format!("{}:{model}", endpoint.id))
}

/// A model as its endpoint offers it, before anybody changed a thing.
fn offered_config(endpoint: &Endpoint, model: &str, context_tokens: Option<u64>) -> ModelConfig {
    ModelConfig {
        id: offered_id(endpoint, model),
        name: model.to_owned(),
        provider: endpoint.format,
        base_url: endpoint.base_url.clone(),
        endpoint: Some(endpoint.id.clone()),
        model: model.to_owned(),
        parameters: Map::new(),
        tool_mode: ToolMode::Auto,
        tools_seen: None,
        context_tokens,
        tool_budget: None,
        prices: None,
    }
}

fn view(config: &ModelConfig, endpoint: Option<&Endpoint>, has_key: bool) -> ModelView {
    ModelView {
        id: config.id.clone(),
        name: config.name.clone(),
        origin: endpoint.map_or(ModelOrigin::Added, |endpoint| endpoint.origin),
        endpoint: endpoint.map(|endpoint| endpoint.name.clone()),
        provider: Some(config.provider),
        base_url: Some(
            endpoint
                .map_or(&config.base_url, |endpoint| &endpoint.base_url)
                .clone(),
        ),
        model: Some(config.model.clone()),
        has_key,
        parameters: config.parameters.clone(),
        tool_mode: config.tool_mode,
        tools_seen: config.tools_seen,
        context_tokens: config.context_tokens,
        tool_budget: config.tool_budget,
        sees_images: None,
        takes: ModelParameter::taken_by(config.provider),
        compact_tools: is_small_model(&config.model, config.context_tokens),
        prices: config.prices.clone(),
        is_default: false,
        saved: false,
        unusable: None,
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").finish_non_exhaustive()
    }
}
