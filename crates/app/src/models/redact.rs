//! A provider whose errors do not tell the address of the model.
//!
//! What went wrong with a model names its address, which helps whoever looks after it. It
//! may be a host inside, so people who are no admins read the model's name in its place.

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use tenon_llm::{
    Error, GenerationOptions, ModelIdentity, ModelRequest, ModelStream, OptionFault, Provider,
    Remote, RequestEstimate,
};
use url::Url;

pub(super) struct RedactingProvider {
    provider: Arc<dyn Provider>,
    /// Strings to redact, longest first.
    places: Vec<String>,
    name: String,
}

impl RedactingProvider {
    pub(super) fn new(provider: Arc<dyn Provider>, remote: &Remote) -> Self {
        let base = remote.base_url.trim_end_matches('/');
        let mut places = vec![remote.base_url.clone(), base.to_owned()];
        if let Ok(url) = Url::parse(base)
            && let Some(host) = url.host_str()
        {
            places.extend(url.port().map(|port| format!("{host}:{port}")));
            places.push(host.to_owned());
        }
        Self {
            provider,
            places,
            name: remote.name.clone(),
        }
    }
}

#[async_trait]
impl Provider for RedactingProvider {
    fn name(&self) -> &str {
        self.provider.name()
    }

    /// For traces, which the operator reads.
    fn identity(&self) -> ModelIdentity {
        self.provider.identity()
    }

    fn offers_tools(&self) -> bool {
        self.provider.offers_tools()
    }

    fn is_small(&self) -> bool {
        self.provider.is_small()
    }

    fn context_tokens(&self) -> Option<u64> {
        self.provider.context_tokens()
    }

    fn takes_images(&self) -> bool {
        self.provider.takes_images()
    }

    fn max_tools(&self) -> Option<usize> {
        self.provider.max_tools()
    }

    fn tool_budget(&self) -> Option<usize> {
        self.provider.tool_budget()
    }

    async fn estimate(&self, request: &ModelRequest) -> RequestEstimate {
        self.provider.estimate(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, Error> {
        let (places, name) = (self.places.clone(), self.name.clone());
        request.attempts.redact(&places, &name);
        let deltas = self.provider.stream(request).await;
        let deltas = deltas.map_err(|error| hide(error, &places, &name))?;
        let deltas = deltas.map(move |delta| delta.map_err(|error| hide(error, &places, &name)));
        Ok(Box::pin(deltas))
    }

    fn is_local(&self) -> bool {
        self.provider.is_local()
    }

    fn unsupported_option(
        &self,
        options: &GenerationOptions,
        has_tools: bool,
    ) -> Option<OptionFault> {
        self.provider.unsupported_option(options, has_tools)
    }
}

fn hide(error: Error, places: &[String], name: &str) -> Error {
    let hidden = |text: String| {
        let hide = |text: String, place: &String| text.replace(place.as_str(), name);
        places.iter().fold(text, hide)
    };
    match error {
        Error::Refused(why) => Error::Refused(why.map_texts(&hidden)),
        Error::Busy(why) => Error::Busy(why.map_texts(&hidden)),
        Error::Interrupted(why) => Error::Interrupted(why.map_texts(&hidden)),
    }
}
