//! How a server is called: its configuration, filled in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::header::HeaderMap;
use tenon_domain::{OpenapiConfig, OpenapiOrigin};
use url::Url;

use super::offer::Entry;
use crate::openapi::caller::Caller;
use crate::openapi::credentials::{self, Credentials, Document};
use crate::openapi::operation::Scheme;

pub(super) struct Line {
    /// Where its document is. None: it was given.
    pub(super) url: Option<Url>,
    pub(super) base_url: Option<Url>,
    /// For its document; requests have them from their credentials.
    pub(super) headers: HeaderMap,
    config: OpenapiConfig,
    caller: Arc<Caller>,
    /// By document. They outlive a reading that brings nothing new: tokens are in there.
    credentials: Mutex<HashMap<String, Proof>>,
}

/// What proves who asks, and what it was made for.
struct Proof {
    found_at: Option<Arc<Url>>,
    base: Url,
    schemes: Arc<Vec<Scheme>>,
    credentials: Arc<Credentials>,
}

impl Line {
    /// The error is a sentence about what to write instead.
    pub(super) fn new(config: OpenapiConfig, caller: &Caller) -> Result<Self, String> {
        let url = match &config.origin {
            OpenapiOrigin::Url { url } => Some(read_url(url)?),
            OpenapiOrigin::Given { .. } => None,
        };
        let base_url = config.base_url.as_deref().map(str::trim);
        let base_url = base_url.filter(|url| !url.is_empty());
        Ok(Self {
            url,
            base_url: base_url.map(read_url).transpose()?,
            headers: credentials::headers(&config)?,
            config,
            caller: Arc::new(caller.clone()),
            credentials: Mutex::default(),
        })
    }

    /// What the calls of a tool are made with. The error is a sentence.
    pub(super) fn credentials(
        &self,
        entry: &Entry,
        base: &Url,
    ) -> Result<Arc<Credentials>, String> {
        let all = self.credentials.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        if let Some(proof) = all.get(&*entry.document)
            && Arc::ptr_eq(&proof.schemes, &entry.schemes)
            && proof.found_at == entry.found_at
            && proof.base == *base
        {
            return Ok(proof.credentials.clone());
        }
        let document = Document {
            schemes: &entry.schemes,
            found_at: entry.found_at.as_deref(),
            base,
        };
        let made = Credentials::new(&self.config, &document, self.caller.clone());
        let credentials = Arc::new(made?);
        let proof = Proof {
            found_at: entry.found_at.clone(),
            base: base.clone(),
            schemes: entry.schemes.clone(),
            credentials: credentials.clone(),
        };
        all.insert(entry.document.to_string(), proof);
        Ok(credentials)
    }
}

fn read_url(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let url = Url::parse(text).map_err(|error| {
        // What was filled in may be a secret: it is not repeated.
        format!(
            "The address is none ({error}). Write the whole of it, such as \
             https://example.com/openapi.json."
        )
    })?;
    match matches!(url.scheme(), "http" | "https") && url.has_host() {
        true => Ok(url),
        false => Err("The address has to begin with http:// or https://.".into()),
    }
}
