//! From an id, or in a shell from a name, to the model that is meant.

use std::sync::Arc;

use tenon_agent::TurnModel;
use tenon_domain::{ModelConfig, ModelId, ModelRef, WireFormat, coded_errors};
use tenon_llm::Remote;
use tenon_store::StoredModel;

use super::redact::RedactingProvider;
use super::{BUILTIN, Models, is_name, offered_config, offered_id};

use crate::auth::CurrentUser;

coded_errors! {
    /// Why no model can be had.
    #[derive(Debug)]
    pub enum ModelLookupError {
        Unknown { name: String } = "model_unknown" in "modelId" => "There is no model `{name}`. `tenon models list` shows all of them.",
        Ambiguous { name: String, ids: String } = "model_ambiguous" in "modelId" => "Several models are called `{name}`: {ids}. Name one by its id.",
        /// Its endpoint is not known any more.
        Gone { name: String, endpoint: String } = "model_endpoint_gone" in "modelId" => "`{name}` belonged to `{endpoint}`, which is no longer set in the environment. Set it again, or choose another model.",
        BuiltinUntested = "model_builtin_untested" in "modelId" => "The built-in assistant needs no test: it is part of Tenon.",
    }
    wraps {
        Store(tenon_store::Error),
    }
}

impl From<tenon_store::Error> for ModelLookupError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

/// A model that was found, with the key to it.
pub(super) struct ChosenModel {
    pub config: ModelConfig,
    pub remote: Remote,
}

impl Models {
    /// The model with this id; the default one where none is named. Never
    /// another one: whom a chat is told to is not to be guessed.
    pub async fn choose(&self, id: Option<&ModelId>) -> Result<TurnModel, ModelLookupError> {
        let (model, _) = self.chosen(id).await?;
        Ok(model)
    }

    /// Like `choose`, with errors that reveal the model's address only to admins.
    pub async fn choose_for(
        &self,
        user: &CurrentUser,
        id: Option<&ModelId>,
    ) -> Result<TurnModel, ModelLookupError> {
        if user.administers() {
            self.choose(id).await
        } else {
            self.choose_redacted(id).await
        }
    }

    /// The same for anybody: see [`super::redact`].
    pub async fn choose_redacted(
        &self,
        id: Option<&ModelId>,
    ) -> Result<TurnModel, ModelLookupError> {
        let (model, remote) = self.chosen(id).await?;
        let Some(remote) = remote else {
            return Ok(model);
        };
        let provider = RedactingProvider::new(model.provider.clone(), &remote);
        Ok(TurnModel {
            provider: Arc::new(provider),
            ..model
        })
    }

    /// And where it is, unless it is built in.
    async fn chosen(
        &self,
        id: Option<&ModelId>,
    ) -> Result<(TurnModel, Option<Remote>), ModelLookupError> {
        let default = match id {
            Some(_) => None,
            None => self.default_model().await?.map(|model| model.config.id),
        };
        let id = id.or(default.as_ref());
        let Some(id) = id.filter(|id| id.as_str() != BUILTIN) else {
            let builtin = TurnModel {
                shown: self.builtin_ref(),
                provider: self.builtin.clone(),
                prices: None,
                makes_titles: false,
            };
            return Ok((builtin, None));
        };
        let ChosenModel { config, remote } = self.find(id).await?;
        let model = TurnModel {
            provider: self.connect(&config.id, remote.clone()),
            shown: ModelRef {
                id: config.id,
                name: config.name,
            },
            prices: config.prices,
            makes_titles: true,
        };
        Ok((model, Some(remote)))
    }

    /// The model that is used if a request names none.
    pub async fn default_ref(&self) -> tenon_store::Result<ModelRef> {
        let chosen = self.default_model().await?;
        Ok(chosen.map_or_else(
            || self.builtin_ref(),
            |model| ModelRef {
                id: model.config.id,
                name: model.config.name,
            },
        ))
    }

    /// Finds a model by the name given in a shell: an id, the name of an added model, or the name
    /// at an endpoint.
    pub async fn named(&self, name: &str) -> Result<ModelId, ModelLookupError> {
        let saved = self.store.models().await?;
        let given = ModelId::new(name);
        if name == BUILTIN || saved.iter().any(|model| model.config.id == given) {
            return Ok(given);
        }
        if self.by_endpoint(name).is_some() {
            return Ok(given);
        }
        let called = |model: &&StoredModel| model.config.name == name || model.config.model == name;
        let saved: Vec<ModelId> = saved
            .iter()
            .filter(called)
            .map(|model| model.config.id.clone())
            .collect();
        if let Some(id) = only(name, saved)? {
            return Ok(id);
        }
        self.refresh_endpoints().await;
        let offers = self.endpoints.offers();
        let offered = offers.iter().filter(|(_, offered)| offered.model == name);
        let offered = offered.map(|(endpoint, _)| offered_id(endpoint, name));
        if let Some(id) = only(name, offered.collect())? {
            return Ok(id);
        }
        // Not every endpoint tells all it offers: one that the environment names is
        // there to be asked, and will say if it knows no such model.
        let is_claude = name.starts_with("claude");
        let known = self.endpoints.named();
        let fitting = known
            .iter()
            .find(|endpoint| (endpoint.format == WireFormat::Anthropic) == is_claude);
        match fitting.or(known.first()) {
            Some(endpoint) if is_name(name) => Ok(offered_id(endpoint, name)),
            _ => Err(unknown(name)),
        }
    }

    pub(super) async fn default_model(&self) -> tenon_store::Result<Option<StoredModel>> {
        let saved = self.store.models().await?;
        Ok(saved.into_iter().find(|model| model.is_default))
    }

    pub(super) async fn find(&self, id: &ModelId) -> Result<ChosenModel, ModelLookupError> {
        let (config, key) = match self.store.model(id).await {
            Ok(model) => (model.config.clone(), self.key(&model)?),
            Err(tenon_store::Error::NotFound(_)) => {
                let config = self.by_endpoint(id.as_str());
                (config.ok_or_else(|| unknown(id.as_str()))?, None)
            }
            Err(error) => return Err(error.into()),
        };
        let remote = self.remote(&config, key);
        let remote = remote.ok_or_else(|| gone(&config))?;
        let remote = self.facts.complete(remote).await;
        Ok(ChosenModel { config, remote })
    }

    /// `endpoint:model`. Whether it is really there is for the endpoint to say, when it is asked.
    pub(super) fn by_endpoint(&self, id: &str) -> Option<ModelConfig> {
        let (endpoint, model) = id.split_once(':')?;
        let endpoint = self.endpoints.get(endpoint)?;
        if !is_name(model) {
            return None;
        }
        let offers = self.endpoints.offers();
        let known = offers
            .iter()
            .find(|(from, offered)| from.id == endpoint.id && offered.model == model);
        let context = known.and_then(|(_, offered)| offered.context_tokens);
        Some(offered_config(&endpoint, model, context))
    }

    fn builtin_ref(&self) -> ModelRef {
        ModelRef {
            id: ModelId::new(BUILTIN),
            name: self.builtin.name().to_owned(),
        }
    }
}

pub(super) fn gone(config: &ModelConfig) -> ModelLookupError {
    ModelLookupError::Gone {
        name: config.name.clone(),
        endpoint: config.endpoint.clone().unwrap_or_default(),
    }
}

fn unknown(name: &str) -> ModelLookupError {
    let name = name.chars().filter(|char| !char.is_control());
    ModelLookupError::Unknown {
        name: name.take(80).collect(),
    }
}

/// Returns the only match; several are an error that lists them.
fn only(name: &str, mut found: Vec<ModelId>) -> Result<Option<ModelId>, ModelLookupError> {
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let ids: Vec<&str> = found.iter().map(ModelId::as_str).collect();
    Err(ModelLookupError::Ambiguous {
        name: name.to_owned(),
        ids: ids.join(", "),
    })
}
