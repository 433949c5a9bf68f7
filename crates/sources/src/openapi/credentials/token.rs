//! Access tokens by OAuth client credentials (RFC 6749, section 4.4).
//!
//! However many calls need one at once, it is fetched once, by a task of its own: a
//! call that is cancelled does not cancel it for the others.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use tenon_domain::{ErrorDetail, ErrorParam, ToolError};
use tenon_net::oauth::{
    ClientAuth, OAuthClient, SingleFlight, TokenError, TokenRequest, TokenResponse,
};
use tenon_openapi::request::OpenapiRequest;
use tenon_openapi::response::OpenapiResponse;
use tenon_openapi::security::TokenUrl;
use tokio::time::Instant;
use url::Url;

use super::RequestSender;
use crate::call_error::{ServerCallError, failed};
use crate::lock::lock;
use crate::text::line;

const TOKEN_TIMEOUT: Duration = Duration::from_secs(10);

/// An endpoint that refuses is not asked more often than this.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A token is a few hundred bytes.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Limit of the reason in an error about a missing token, because a model pays for every token of
/// it.
const MAX_REASON_CHARS: usize = 300;

/// Tokens that last longer are fetched anew after this.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// The client and the token endpoint.
pub(super) struct TokenAccount {
    pub(super) scheme: String,
    pub(super) endpoint: Url,
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) scopes: String,
    pub(super) sender: Arc<dyn RequestSender>,
}

pub(super) struct CredentialTokenClient {
    account: TokenAccount,
    requests: SingleFlight<Result<String, ToolError>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<CachedToken>,
    /// Why the last request got none, and when.
    failure: Option<(ToolError, Instant)>,
    auth: ClientAuth,
}

struct CachedToken {
    access_token: String,
    /// None: until it is refused.
    refresh_at: Option<Instant>,
}

/// The token endpoint. A document must not make a secret travel in clear text; a person may.
pub(super) fn endpoint(
    scheme: &str,
    token_url: TokenUrl<'_>,
    base: &Url,
) -> Result<Url, ToolError> {
    let scheme = || scheme.into();
    let (url, trusted) = match token_url {
        TokenUrl::Document(url) => (url, false),
        TokenUrl::Configured(url) => (url, true),
    };
    let url = base
        .join(url.trim())
        .map_err(|_| failed(ServerCallError::TokenAddress { scheme: scheme() }))?;
    match (url.scheme(), base.scheme()) {
        ("https", _) => Ok(url),
        ("http", "https") if !trusted => Err(failed(ServerCallError::TokenAddressInsecure {
            scheme: scheme(),
        })),
        ("http", _) => Ok(url),
        _ => Err(failed(ServerCallError::TokenAddressScheme {
            scheme: scheme(),
        })),
    }
}

impl CredentialTokenClient {
    pub(super) fn new(account: TokenAccount) -> Self {
        Self {
            account,
            requests: SingleFlight::default(),
            state: Mutex::default(),
        }
    }

    pub(super) async fn token(self: &Arc<Self>) -> Result<String, ToolError> {
        self.other_than(None).await
    }

    /// A new one, unless somebody else has fetched it since.
    pub(super) async fn instead_of(self: &Arc<Self>, refused: &str) -> Result<String, ToolError> {
        self.other_than(Some(refused)).await
    }

    async fn other_than(self: &Arc<Self>, refused: Option<&str>) -> Result<String, ToolError> {
        if let Some(token) = self.state().usable(refused) {
            return Ok(token);
        }
        let ready = || {
            let state = self.state();
            let token = state.usable(refused).map(Ok);
            token.or_else(|| state.recent_failure().map(Err))
        };
        let client = Arc::clone(self);
        let job = || async move { client.refresh().await };
        let fetched = self.requests.run(ready, job).await;
        fetched.unwrap_or_else(|| Err(failed(ServerCallError::TokenUnfetched)))
    }

    async fn refresh(&self) -> Result<String, ToolError> {
        let fetched = self.fetch().await;
        let mut state = self.state();
        match fetched {
            Ok(token) => {
                let access_token = token.access_token.clone();
                state.token = Some(token);
                state.failure = None;
                Ok(access_token)
            }
            Err(error) => {
                state.token = None;
                state.failure = Some((error.clone(), Instant::now()));
                Err(error)
            }
        }
    }

    async fn fetch(&self) -> Result<CachedToken, ToolError> {
        let auth = self.state().auth;
        let mut response = self.request(auth).await?;
        // Some servers support only one way of client authentication, and not the recommended one.
        if auth == ClientAuth::Basic && is_invalid_client(&response) {
            response = self.request(ClientAuth::Post).await?;
            if response.status.is_success() {
                self.state().auth = ClientAuth::Post;
            }
        }
        if response.body.len() > MAX_RESPONSE_BYTES {
            return Err(failed(self.error(ServerCallError::TokenAnswerTooLong)));
        }
        let token = TokenResponse::parse(response.status, &response.body);
        let token = token.map_err(|error| failed(self.error(reason(error))))?;
        let after = token.refresh_after();
        Ok(CachedToken {
            refresh_at: after.map(|after| Instant::now() + after.min(MAX_LIFETIME)),
            access_token: token.access_token,
        })
    }

    async fn request(&self, auth: ClientAuth) -> Result<OpenapiResponse, ToolError> {
        let request = self.encode(auth)?;
        let sent = self.account.sender.send(request, Some(TOKEN_TIMEOUT));
        // The sender has a timeout as well; this task must end whatever that does.
        match tokio::time::timeout(TOKEN_TIMEOUT * 2, sent).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                let kind = error.kind;
                let mut why = ErrorDetail::from(error);
                // The sentence goes on after it.
                why.message
                    .truncate(why.message.trim_end_matches('.').len());
                Err(ToolError::coded(kind, self.error(why)))
            }
            Err(_) => Err(failed(self.error(ServerCallError::TokenHostSilent))),
        }
    }

    fn encode(&self, auth: ClientAuth) -> Result<OpenapiRequest, ToolError> {
        let account = &self.account;
        let client = OAuthClient {
            id: account.id.clone(),
            secret: Some(account.secret.clone()),
            auth,
        };
        let mut form = vec![("grant_type", "client_credentials")];
        if !account.scopes.is_empty() {
            form.push(("scope", account.scopes.as_str()));
        }
        let request = TokenRequest {
            client: &client,
            form: &form,
        };
        let encoded = request.encode();
        let encoded =
            encoded.ok_or_else(|| failed(self.error(ServerCallError::TokenSecretTooLong)))?;
        Ok(OpenapiRequest {
            method: Method::POST,
            url: account.endpoint.clone(),
            headers: encoded.headers,
            body: Some(encoded.body.into_bytes()),
        })
    }

    fn error(&self, why: impl Into<ErrorParam>) -> ServerCallError {
        ServerCallError::NoToken {
            scheme: self.account.scheme.as_str().into(),
            host: self.account.endpoint.host_str().unwrap_or_default().into(),
            why: why.into(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// The token, unless it has expired or is the one that was refused.
    fn usable(&self, refused: Option<&str>) -> Option<String> {
        let token = self.token.as_ref()?;
        let is_fresh = token.refresh_at.is_none_or(|at| Instant::now() < at);
        let is_refused = Some(token.access_token.as_str()) == refused;
        (is_fresh && !is_refused).then(|| token.access_token.clone())
    }

    fn recent_failure(&self) -> Option<ToolError> {
        let (error, at) = self.failure.as_ref()?;
        (Instant::now() < *at + RETRY_INTERVAL).then(|| error.clone())
    }
}

fn is_invalid_client(response: &OpenapiResponse) -> bool {
    let error = TokenResponse::parse(response.status, &response.body).err();
    response.status == StatusCode::UNAUTHORIZED
        || error.is_some_and(|error| error.is_invalid_client())
}

/// The end of a sentence.
fn reason(error: TokenError) -> ServerCallError {
    match error {
        TokenError::Rejected { code, description } => {
            let description = description.unwrap_or_default();
            let said = line(&format!("{code} {description}"), MAX_REASON_CHARS);
            let said = said.trim_end_matches('.').into();
            ServerCallError::TokenRejected { said }
        }
        TokenError::TokenType => ServerCallError::TokenType,
        TokenError::Status(status) => ServerCallError::TokenStatus { status },
        TokenError::NoToken => ServerCallError::TokenMissing,
        TokenError::InvalidToken => ServerCallError::TokenInvalid,
    }
}

impl fmt::Debug for CredentialTokenClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CredentialTokenClient")
            .field(&self.account.scheme)
            .finish()
    }
}
