//! The configuration of a server with its variables filled in, and what calls are made with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use reqwest::header::HeaderMap;
use tenon_domain::{OpenapiConfig, OpenapiOrigin};
use tenon_openapi::operation::SecurityScheme;
use url::Url;

use super::tools::OpenapiTool;
use crate::lock::lock;
use crate::openapi::OpenapiError;
use crate::openapi::credentials::{self, CredentialContext, Credentials};
use crate::openapi::http_client::OpenapiHttpClient;

pub(crate) struct OpenapiClient {
    /// Where its document is. None: it was given.
    pub(super) url: Option<Url>,
    pub(super) base_url: Option<Url>,
    /// For its document; requests have them from their credentials.
    pub(super) headers: HeaderMap,
    config: OpenapiConfig,
    http: Arc<OpenapiHttpClient>,
    /// By document. They outlive a reading that brings nothing new: tokens are in there.
    credentials: Mutex<HashMap<String, CachedCredentials>>,
}

/// Credentials, and the document they were made for.
struct CachedCredentials {
    found_at: Option<Arc<Url>>,
    base: Url,
    schemes: Arc<Vec<SecurityScheme>>,
    credentials: Arc<Credentials>,
}

impl OpenapiClient {
    pub(super) fn new(
        config: OpenapiConfig,
        http: &OpenapiHttpClient,
    ) -> Result<Self, OpenapiError> {
        let url = match &config.origin {
            OpenapiOrigin::Url { url } => Some(read_url(url)?),
            OpenapiOrigin::Uploaded { .. } => None,
        };
        let base_url = config.base_url.as_deref().map(str::trim);
        let base_url = base_url.filter(|url| !url.is_empty());
        Ok(Self {
            url,
            base_url: base_url.map(read_url).transpose()?,
            headers: credentials::headers(&config)?,
            config,
            http: Arc::new(http.clone()),
            credentials: Mutex::default(),
        })
    }

    /// The credentials for the calls of a tool.
    pub(super) fn credentials(
        &self,
        tool: &OpenapiTool,
        base: &Url,
    ) -> Result<Arc<Credentials>, OpenapiError> {
        let mut all = lock(&self.credentials);
        if let Some(cached) = all.get(&*tool.document)
            && Arc::ptr_eq(&cached.schemes, &tool.schemes)
            && cached.found_at == tool.found_at
            && cached.base == *base
        {
            return Ok(cached.credentials.clone());
        }
        let context = CredentialContext {
            schemes: &tool.schemes,
            found_at: tool.found_at.as_deref(),
            base,
        };
        let made = Credentials::new(&self.config, &context, self.http.clone());
        let credentials = Arc::new(made?);
        let cached = CachedCredentials {
            found_at: tool.found_at.clone(),
            base: base.clone(),
            schemes: tool.schemes.clone(),
            credentials: credentials.clone(),
        };
        all.insert(tool.document.to_string(), cached);
        Ok(credentials)
    }
}

fn read_url(text: &str) -> Result<Url, OpenapiError> {
    let url = Url::parse(text.trim()).map_err(OpenapiError::InvalidUrl)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(OpenapiError::UrlScheme);
    }
    Ok(url)
}
