//! Adding, changing and forgetting models.

use serde_json::Value;
use tenon_domain::{ModelConfig, ModelId, Prices, ToolMode, WireFormat, coded_errors};
use tenon_llm::ModelFault;
use tenon_llm::discover::{base_url, normalise};
use tenon_llm::remote::RESERVED;
use tenon_store::{StoredModel, fresh_id};
use url::Url;

use super::{BUILTIN, MAX_NAME_CHARS, Models, is_name};
use crate::models::view::{ModelChange, ModelView, NewModel};

const MAX_URL_BYTES: usize = 2_048;
const MAX_PARAMETERS_BYTES: usize = 16 * 1024;
const MAX_KEY_BYTES: usize = 8 * 1024;

coded_errors! {
    /// Why a change was not made.
    #[derive(Debug)]
    pub enum ModelEditError {
        Fixed = "model_fixed_by_endpoint" => "This model belongs to an endpoint of the environment or of this machine: its address and key are set there.",
        KeyElsewhere = "model_key_elsewhere" in "key" => "The stored key is for another address. Enter it again, or remove it, when you change the address.",
        BuiltinStays = "model_builtin_stays" => "The built-in assistant cannot be removed.",
        BuiltinFixed = "model_builtin_fixed" => "The built-in assistant has no settings.",
        NoModel = "model_missing" in "model" => "Say which model: `model` is what its server calls it.",
        Name { max: usize } = "model_name_invalid" in "name" => "A name has {max} characters at most, on one line.",
        AddressTooLong = "model_address_too_long" in "baseUrl" => "The address is too long.",
        ParametersTooLong = "model_parameters_too_long" in "parameters" => "The parameters are too long.",
        NotConstrained = "model_not_constrained" in "toolMode" => "JSON answers and calls as text are only available with OpenAI's chat completions. Choose `auto` or `native`.",
        Context = "model_context_invalid" in "contextTokens" => "A context has between 256 and 100,000,000 tokens.",
        ToolBudget = "model_tool_budget_invalid" in "toolBudget" => "Tools may take between 500 and 1,000,000 tokens.",
        Prices = "model_prices_invalid" in "prices" => "Prices are not negative and have a currency of at most 8 characters.",
        ReservedParameter { name: &'static str } = "model_parameter_reserved" in "parameters" => "`{name}` is not a parameter: Tenon sets it for each request. Leave it out.",
        Key = "model_key_invalid" in "key" => "This is not a key: keys are letters, digits and signs without spaces. Copy it again.",
    }
    wraps {
        Address(ModelFault),
        Store(tenon_store::Error),
    }
}

impl From<tenon_store::Error> for ModelEditError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

impl Models {
    pub async fn add(&self, new: NewModel) -> Result<ModelView, ModelEditError> {
        let config = ModelConfig {
            id: ModelId(fresh_id()),
            name: new.name.unwrap_or_default(),
            provider: new.provider,
            base_url: new.base_url,
            endpoint: None,
            model: new.model,
            parameters: new.parameters,
            tool_mode: new.tool_mode.unwrap_or_default(),
            tools_seen: None,
            context_tokens: new.context_tokens,
            tool_budget: new.tool_budget,
            prices: new.prices,
        };
        let config = check(config)?;
        let key = new.key.as_deref().map(check_key).transpose()?.flatten();
        let sealed = key.map(|key| self.seal(&config.id, &key));
        self.store.put_model(&config, sealed.as_deref()).await?;
        if new.is_default == Some(true) {
            self.store.choose_model(Some(&config.id)).await?;
        }
        Ok(self.show(&config.id).await?)
    }

    /// Changes a model; one that is only offered so far is saved by it.
    pub async fn change(
        &self,
        id: &ModelId,
        change: ModelChange,
    ) -> Result<ModelView, ModelEditError> {
        if id.as_str() == BUILTIN {
            return self.change_builtin(id, &change).await;
        }
        let is_default = change.is_default;
        let offered = self.by_endpoint(id.as_str());
        let was_saved = self.store.model(id).await.map(|_| true);
        match (was_saved, offered) {
            (Err(tenon_store::Error::NotFound(_)), Some(config)) => {
                let (config, key) = self.changed(unsaved(config), change)?;
                self.store.put_model(&config, key.as_deref()).await?;
            }
            (was_saved, _) => {
                was_saved?;
                let changed = self.store.change_model(id, |old| self.changed(old, change));
                changed.await?;
            }
        }
        match is_default {
            Some(true) => self.store.choose_model(Some(id)).await?,
            Some(false) if self.store.model(id).await?.is_default => {
                self.store.choose_model(None).await?;
            }
            Some(false) | None => {}
        }
        Ok(self.show(id).await?)
    }

    /// A model and its sealed key after a change.
    fn changed(
        &self,
        old: StoredModel,
        change: ModelChange,
    ) -> Result<(ModelConfig, Option<String>), ModelEditError> {
        let StoredModel {
            config: old,
            sealed_key,
            ..
        } = old;
        let mut config = check(ModelConfig {
            id: old.id.clone(),
            name: change.name.unwrap_or_else(|| old.name.clone()),
            provider: change.provider.unwrap_or(old.provider),
            base_url: change.base_url.unwrap_or_else(|| old.base_url.clone()),
            endpoint: old.endpoint.clone(),
            model: change.model.unwrap_or_else(|| old.model.clone()),
            parameters: change.parameters.unwrap_or_else(|| old.parameters.clone()),
            tool_mode: change.tool_mode.unwrap_or(old.tool_mode),
            tools_seen: old.tools_seen,
            context_tokens: change.context_tokens.unwrap_or(old.context_tokens),
            tool_budget: change.tool_budget.unwrap_or(old.tool_budget),
            prices: change.prices.unwrap_or_else(|| old.prices.clone()),
        })?;
        let is_moved = (config.provider, &config.base_url, &config.model)
            != (old.provider, &old.base_url, &old.model);
        if old.endpoint.is_some() && (is_moved || change.key.is_some()) {
            return Err(ModelEditError::Fixed);
        }
        if is_moved {
            // Test results belong to the old address and model.
            config.tools_seen = None;
        }
        let sealed_key = match change.key {
            None if sealed_key.is_some() && !same_origin(&config.base_url, &old.base_url) => {
                return Err(ModelEditError::KeyElsewhere);
            }
            None => sealed_key,
            Some(key) => check_key(&key)?.map(|key| self.seal(&config.id, &key)),
        };
        Ok((config, sealed_key))
    }

    pub async fn delete(&self, id: &ModelId) -> Result<(), ModelEditError> {
        if id.as_str() == BUILTIN {
            return Err(ModelEditError::BuiltinStays);
        }
        self.store.delete_model(id).await?;
        self.disconnect(id);
        Ok(())
    }

    /// The key that is kept for a model, to ask its own server with: no other may see it.
    pub async fn stored_key(
        &self,
        id: &ModelId,
        address: &str,
    ) -> tenon_store::Result<Option<String>> {
        let model = self.store.model(id).await?;
        if same_origin(address, &model.config.base_url) {
            self.key(&model)
        } else {
            Ok(None)
        }
    }

    async fn change_builtin(
        &self,
        id: &ModelId,
        change: &ModelChange,
    ) -> Result<ModelView, ModelEditError> {
        match change {
            ModelChange {
                is_default: Some(true),
                name: None,
                provider: None,
                base_url: None,
                key: None,
                model: None,
                parameters: None,
                tool_mode: None,
                context_tokens: None,
                tool_budget: None,
                prices: None,
            } => self.store.choose_model(None).await?,
            _ => return Err(ModelEditError::BuiltinFixed),
        }
        Ok(self.show(id).await?)
    }
}

/// A model as it can be kept: its address made whole, everything within bounds.
fn check(mut config: ModelConfig) -> Result<ModelConfig, ModelEditError> {
    config.model = config.model.trim().to_owned();
    if !is_name(&config.model) {
        return Err(ModelEditError::NoModel);
    }
    config.name = config.name.trim().to_owned();
    if config.name.is_empty() {
        config.name.clone_from(&config.model);
    }
    if !is_name(&config.name) {
        return Err(ModelEditError::Name {
            max: MAX_NAME_CHARS,
        });
    }
    if config.base_url.len() > MAX_URL_BYTES {
        return Err(ModelEditError::AddressTooLong);
    }
    if config.endpoint.is_none() {
        config.base_url =
            base_url(config.provider, &config.base_url).map_err(ModelEditError::Address)?;
    }
    if Value::Object(config.parameters.clone()).to_string().len() > MAX_PARAMETERS_BYTES {
        return Err(ModelEditError::ParametersTooLong);
    }
    if matches!(config.tool_mode, ToolMode::Constrained | ToolMode::Text)
        && config.provider != WireFormat::Openai
    {
        return Err(ModelEditError::NotConstrained);
    }
    if config
        .context_tokens
        .is_some_and(|tokens| !(256..=100_000_000).contains(&tokens))
    {
        return Err(ModelEditError::Context);
    }
    let is_odd_budget = |tokens: u64| !(500..=1_000_000).contains(&tokens);
    if config.tool_budget.is_some_and(is_odd_budget) {
        return Err(ModelEditError::ToolBudget);
    }
    if !config.prices.as_ref().is_none_or(Prices::is_sane) {
        return Err(ModelEditError::Prices);
    }
    if let Some(name) = RESERVED
        .iter()
        .find(|name| config.parameters.contains_key(**name))
    {
        return Err(ModelEditError::ReservedParameter { name });
    }
    Ok(config)
}

/// A model that has no row yet, as one that has.
fn unsaved(config: ModelConfig) -> StoredModel {
    StoredModel {
        config,
        sealed_key: None,
        is_default: false,
        created_at: 0,
        updated_at: 0,
    }
}

fn same_origin(one: &str, other: &str) -> bool {
    let origin = |address: &str| Some(Url::parse(&normalise(address).ok()?).ok()?.origin());
    origin(one).is_some_and(|one| Some(one) == origin(other))
}

/// None: it was taken away.
fn check_key(key: &str) -> Result<Option<String>, ModelEditError> {
    let key = key.trim();
    // The key is sent in a header.
    if key.len() > MAX_KEY_BYTES || !key.chars().all(|char| char.is_ascii_graphic()) {
        return Err(ModelEditError::Key);
    }
    Ok((!key.is_empty()).then(|| key.to_owned()))
}
