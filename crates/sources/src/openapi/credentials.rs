//! Credentials of a server: what is stored for it goes where its document says.
//!
//! An operation names alternative sets of security schemes, and the first that can be met
//! is used. Where none can, the request is sent without: the server decides, and the
//! model is told what is missing.

#[cfg(test)]
mod tests;
mod token;
mod trusted_origins;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tenon_domain::{OpenapiConfig, ToolError, ToolResult};
use tenon_net::trace_context;
use tenon_openapi::operation::{Operation, SecurityScheme};
use tenon_openapi::request::{OpenapiRequest, header};
use tenon_openapi::response::{self, OpenapiResponse};
use tenon_openapi::security::{
    self, RequestCredential, SchemeCredential, SecurityChoice, TokenUrl, apply,
};
use tracing::Instrument;
use url::Url;

use super::HeaderError;
use super::{mapping, request_span};
use crate::call_error::{ServerCallError, failed};
use crate::lock::lock;
use token::{CredentialTokenClient, TokenAccount};
use trusted_origins::{OriginTrust, TrustedOrigins};

/// Documents up to this size are parsed inline, which takes about a millisecond; larger ones on a
/// blocking thread.
const MAX_INLINE_READ_BYTES: usize = 256 * 1024;

/// Sends requests. Whoever does keeps to where requests may go.
#[async_trait]
pub trait RequestSender: Send + Sync {
    /// Reads the whole answer, whatever its status, as far as it has a bound.
    /// Never takes the request on to another site, and gives up after `within`: the time of
    /// a call is kept by who makes it, that of a token by who fetches it.
    async fn send(
        &self,
        request: OpenapiRequest,
        within: Option<Duration>,
    ) -> Result<OpenapiResponse, ToolError>;
}

/// A document, as far as it says who is to be sent what.
#[derive(Debug, Clone, Copy)]
pub struct CredentialContext<'a> {
    pub schemes: &'a [SecurityScheme],
    /// Where it was, after all redirects. None: somebody gave it.
    pub found_at: Option<&'a Url>,
    /// Base of the relative addresses in the document.
    pub base: &'a Url,
}

/// All credentials that are stored for one document.
pub struct Credentials {
    base: Url,
    origins: TrustedOrigins,
    schemes: Vec<SecurityScheme>,
    stored: BTreeMap<String, SchemeCredential>,
    /// Sent always, to the sites they were entered for.
    headers: HeaderMap,
    /// OAuth clients that fetch tokens, by scheme name and scopes.
    clients: Mutex<HashMap<(String, String), Arc<CredentialTokenClient>>>,
    sender: Arc<dyn RequestSender>,
}

/// The credentials that a request was sent with.
#[derive(Debug, Default)]
struct SentCredentials {
    /// Advice about credentials that were needed but not sent, as a sentence.
    missing: Option<String>,
    /// Tokens that may have ended meanwhile.
    tokens: Vec<(Arc<CredentialTokenClient>, String)>,
}

impl Credentials {
    /// The variables of the configuration are filled in already.
    pub fn new(
        config: &OpenapiConfig,
        document: &CredentialContext<'_>,
        sender: Arc<dyn RequestSender>,
    ) -> Result<Self, HeaderError> {
        Ok(Self {
            base: document.base.clone(),
            origins: TrustedOrigins::new(config, document),
            schemes: document.schemes.to_vec(),
            stored: stored(config),
            headers: headers(config)?,
            clients: Mutex::default(),
            sender,
        })
    }

    /// Makes a call: sends its request with what the operation asks for, once
    /// more where a token had ended, and reads the answer.
    pub async fn call(&self, operation: &Operation, request: OpenapiRequest) -> ToolResult {
        let trust = self.origins.of(&request.url);
        let (no_headers, none_stored) = (HeaderMap::new(), BTreeMap::new());
        let (headers, stored) = match trust {
            OriginTrust::Entered => (&self.headers, &self.stored),
            OriginTrust::Named => (&no_headers, &self.stored),
            OriginTrust::Untrusted => (&no_headers, &none_stored),
        };
        let choice = security::choose(operation, &self.schemes, stored, headers);
        let withheld = self.withheld(trust, &choice, &request.url);
        let may_end = choice.credentials.iter().any(RequestCredential::may_expire);
        let again = may_end.then(|| request.clone());
        let show = |request| self.show(&choice, headers, request);
        let (mut sent, ready) = show(request).await?;
        sent.missing = withheld.or_else(|| missing_sentence(&choice.missing));
        let mut answer = self.send(operation, ready, trust).await?;
        if let Some(request) = again.filter(|_| answer.status == StatusCode::UNAUTHORIZED) {
            sent.renew().await?;
            let (_, ready) = show(request).await?;
            answer = self.send(operation, ready, trust).await?;
        }
        let status = answer.status;
        let result = read(answer).await;
        result.map_err(|error| sent.explain(status, error))
    }

    /// Only whoever was entered learns which trace a request belongs to.
    async fn send(
        &self,
        operation: &Operation,
        mut request: OpenapiRequest,
        trust: OriginTrust,
    ) -> Result<OpenapiResponse, ToolError> {
        let span = request_span::open(operation, &request);
        if trust == OriginTrust::Entered {
            span.in_scope(|| trace_context::add_headers(&mut request.headers));
        }
        let response = self.sender.send(request, None);
        let response = response.instrument(span.clone()).await;
        request_span::finish(&span, &response);
        response
    }

    /// Advice if stored keys are withheld because this origin is not trusted with them.
    fn withheld(
        &self,
        trust: OriginTrust,
        choice: &SecurityChoice<'_>,
        url: &Url,
    ) -> Option<String> {
        let is_withheld = match trust {
            OriginTrust::Entered => false,
            OriginTrust::Named => choice.credentials.is_empty() && !self.headers.is_empty(),
            OriginTrust::Untrusted => !self.headers.is_empty() || !self.stored.is_empty(),
        };
        is_withheld.then(|| {
            format!(
                "What is stored for this server was not sent to {}: it was entered for {}. If both \
                 are to see it, somebody has to enter the first as the base URL of this server.",
                url.origin().ascii_serialization(),
                self.origins.shown()
            )
        })
    }

    async fn show(
        &self,
        choice: &SecurityChoice<'_>,
        headers: &HeaderMap,
        mut request: OpenapiRequest,
    ) -> Result<(SentCredentials, OpenapiRequest), ToolError> {
        let mut sent = SentCredentials::default();
        for (name, value) in headers {
            request.headers.insert(name, value.clone());
        }
        for credential in &choice.credentials {
            let applied = match credential {
                RequestCredential::Header => Ok(()),
                RequestCredential::ApiKey {
                    location,
                    name,
                    value,
                } => apply::api_key(*location, name, value, &mut request),
                RequestCredential::Bearer(token) => apply::bearer(token, &mut request),
                RequestCredential::Basic { user, password } => {
                    apply::basic(user, password, &mut request)
                }
                RequestCredential::Client { .. } => {
                    let client = self.client(credential)?;
                    let token = client.token().await?;
                    let applied = apply::bearer(&token, &mut request);
                    sent.tokens.push((client, token));
                    applied
                }
            };
            applied.map_err(mapping::credential_error)?;
        }
        Ok((sent, request))
    }

    /// One for each scheme and its scopes, however many calls there are.
    fn client(
        &self,
        credential: &RequestCredential<'_>,
    ) -> Result<Arc<CredentialTokenClient>, ToolError> {
        let RequestCredential::Client {
            scheme,
            id,
            secret,
            token_url,
            scopes,
        } = credential
        else {
            return Err(failed(ServerCallError::NoClient));
        };
        let mut clients = lock(&self.clients);
        let key = ((*scheme).to_owned(), scopes.clone());
        if let Some(client) = clients.get(&key) {
            return Ok(Arc::clone(client));
        }
        let endpoint = token::endpoint(scheme, *token_url, &self.base)?;
        let is_said = matches!(token_url, TokenUrl::Document(_));
        if is_said && self.origins.of(&endpoint) == OriginTrust::Untrusted {
            return Err(failed(ServerCallError::TokenHostUntrusted {
                scheme: (*scheme).into(),
                host: endpoint.host_str().unwrap_or_default().into(),
                origins: self.origins.shown().into(),
            }));
        }
        let client = Arc::new(CredentialTokenClient::new(TokenAccount {
            scheme: (*scheme).to_owned(),
            endpoint,
            id: (*id).to_owned(),
            secret: (*secret).to_owned(),
            scopes: scopes.clone(),
            sender: Arc::clone(&self.sender),
        }));
        clients.insert(key, Arc::clone(&client));
        Ok(client)
    }
}

/// A large answer takes its time, which others need the thread for.
pub(crate) async fn read(answer: OpenapiResponse) -> ToolResult {
    let read = |answer: OpenapiResponse| {
        let read = response::read(answer.status, &answer.headers, &answer.body);
        mapping::tool_result(read)
    };
    if answer.body.len() <= MAX_INLINE_READ_BYTES {
        return read(answer);
    }
    let read = tokio::task::spawn_blocking(move || read(answer)).await;
    read.unwrap_or_else(|_panic| Err(failed(ServerCallError::Unreadable)))
}

/// The schemes that nothing is stored for, as a model is told.
fn missing_sentence(missing: &[String]) -> Option<String> {
    (!missing.is_empty()).then(|| {
        format!(
            "Nothing is stored for {}: somebody has to enter it in the settings of this server.",
            missing.join(" and ")
        )
    })
}

/// Whether it can be sent with every request.
pub fn check_header(name: &str, value: &str) -> Result<(), HeaderError> {
    read_header(name, value).map(drop)
}

fn read_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HeaderError> {
    let name = header::name(name.trim())?;
    let value = header::value(value.trim());
    let value = value.ok_or_else(|| HeaderError::Value(name.to_string()))?;
    Ok((name, apply::sensitive(value)))
}

/// Parses the configured headers, which are sent with every request.
pub(super) fn headers(config: &OpenapiConfig) -> Result<HeaderMap, HeaderError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let (name, value) = read_header(name, value)?;
        headers.insert(name, value);
    }
    Ok(headers)
}

impl SentCredentials {
    /// New tokens instead of those that were refused.
    async fn renew(&self) -> Result<(), ToolError> {
        for (client, refused) in &self.tokens {
            client.instead_of(refused).await?;
        }
        Ok(())
    }

    fn explain(&self, status: StatusCode, mut error: ToolError) -> ToolError {
        let about_keys = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if let Some(missing) = self.missing.as_ref().filter(|_| about_keys) {
            error.message.push(' ');
            error.message.push_str(missing);
        }
        error
    }
}

fn stored(config: &OpenapiConfig) -> BTreeMap<String, SchemeCredential> {
    let stored = config.credentials.iter();
    stored
        .map(|(scheme, credential)| (scheme.clone(), mapping::scheme_credential(credential)))
        .collect()
}

/// Nothing of it is for a log.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}
