//! From a name to the model that is meant.

use tenon_agent::Model;
use tenon_domain::{ModelConfig, ModelId, ModelRef, WireFormat};
use tenon_llm::Remote;

use super::{BUILTIN, Models, endpoints::Endpoint, offered_config};

/// Why no model can be had.
#[derive(Debug, thiserror::Error)]
pub enum NoModel {
    #[error("{0}")]
    Unknown(String),
    #[error(transparent)]
    Store(#[from] tenon_store::Error),
}

/// A model that was found, with the key to it.
pub(super) struct Found {
    pub config: ModelConfig,
    pub remote: Remote,
}

impl Models {
    /// The model with this id or name; the default one where none is named.
    pub async fn choose(&self, name: Option<&str>) -> Result<Model, NoModel> {
        let default = match name {
            Some(_) => None,
            None => self.default_id().await?,
        };
        let name = name.or(default.as_ref().map(|id| id.as_str()));
        let Some(name) = name.filter(|name| *name != BUILTIN) else {
            return Ok(Model {
                shown: ModelRef {
                    id: ModelId::new(BUILTIN),
                    name: self.builtin.name().to_owned(),
                },
                provider: self.builtin.clone(),
                prices: None,
            });
        };
        let Found { config, remote } = self.find(name).await?;
        Ok(Model {
            provider: self.connect(&config.id, remote),
            shown: ModelRef {
                id: config.id,
                name: config.name,
            },
            prices: config.prices,
        })
    }

    /// None: the built-in one.
    pub async fn default_id(&self) -> tenon_store::Result<Option<ModelId>> {
        let saved = self.store.models().await?;
        let default = saved.into_iter().find(|model| model.is_default);
        Ok(default.map(|model| model.config.id))
    }

    /// By id, by the name somebody gave it, or by what its endpoint calls it.
    pub(super) async fn find(&self, name: &str) -> Result<Found, NoModel> {
        let saved = self.store.models().await?;
        let by_id = saved.iter().find(|model| model.config.id.as_str() == name);
        let mut by_name = saved
            .iter()
            .filter(|model| model.config.name == name || model.config.model == name);
        if let Some(model) = by_id.or_else(|| only(&mut by_name)) {
            let config = model.config.clone();
            let key = self.key(model)?;
            let remote = self.remote(&config, key).ok_or_else(|| {
                NoModel::Unknown(format!(
                    "`{}` belonged to an endpoint of the environment that is no longer set. Set it again, or choose another model.",
                    config.name
                ))
            })?;
            return Ok(Found { config, remote });
        }
        let config = self.offered(name).await?;
        let remote = self.remote(&config, None);
        let remote = remote.ok_or_else(|| unknown(name))?;
        Ok(Found { config, remote })
    }

    async fn offered(&self, name: &str) -> Result<ModelConfig, NoModel> {
        if let Some((id, model)) = name.split_once(':')
            && let Some(endpoint) = self.endpoints.get(id)
            && !model.is_empty()
        {
            // Whether it is really there is for the endpoint to say, when it is asked.
            return Ok(self.offer(&endpoint, model));
        }
        self.look_around().await;
        let offers = self.endpoints.offers();
        let mut exact = offers.iter().filter(|(_, offered)| offered.model == name);
        if let Some((endpoint, _)) = only(&mut exact) {
            return Ok(self.offer(endpoint, name));
        }
        // Endpoints that do not tell what they offer are still there to be asked.
        let format = match name.starts_with("claude") {
            true => WireFormat::Anthropic,
            false => WireFormat::Openai,
        };
        let mut fitting = self
            .endpoints
            .named()
            .filter(|named| named.format == format);
        let mut any = self.endpoints.named();
        let endpoint = only(&mut any).or_else(|| only(&mut fitting));
        let endpoint = endpoint.ok_or_else(|| unknown(name))?;
        Ok(self.offer(endpoint, name))
    }

    fn offer(&self, endpoint: &Endpoint, model: &str) -> ModelConfig {
        let offers = self.endpoints.offers();
        let known = offers
            .iter()
            .find(|(from, offered)| from.id == endpoint.id && offered.model == model);
        let context = known.and_then(|(_, offered)| offered.context_tokens);
        offered_config(endpoint, model, context)
    }
}

fn unknown(name: &str) -> NoModel {
    NoModel::Unknown(format!(
        "There is no model `{name}`. `tenon models list` shows all of them."
    ))
}

/// The one there is, if there is just one.
fn only<T>(several: &mut impl Iterator<Item = T>) -> Option<T> {
    let first = several.next()?;
    several.next().is_none().then_some(first)
}
