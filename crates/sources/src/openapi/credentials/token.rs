//! Tokens for Tenon itself: OAuth client credentials (RFC 6749, section 4.4).
//!
//! However many calls need one at once, it is fetched once, by a task of its
//! own: a call that is given up must not take it away from the others.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use tenon_domain::ToolError;
use tokio::time::Instant;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::Sender;
use super::choice::TokenUrl;
use super::show::secret;
use crate::openapi::request::{Request, header};
use crate::openapi::response::Answer;
use crate::text::line;

const PATIENCE: Duration = Duration::from_secs(10);

/// Whoever refuses is not asked more often than this.
const BETWEEN_TRIES: Duration = Duration::from_secs(5);

/// A token is a few hundred bytes.
const MAX_ANSWER: usize = 256 * 1024;

/// It goes into a header, and servers take no longer ones.
const MAX_TOKEN: usize = 16 * 1024;

/// Of why there is none; a model pays for every word of it.
const SHOWN: usize = 300;

/// It is renewed so long before it ends, for it is still on its way then.
const MARGIN: Duration = Duration::from_secs(30);

/// What lasts longer is renewed no later.
const MAX_LIFE: f64 = 24.0 * 3600.0;

/// Who asks, and where.
pub(super) struct Account {
    pub(super) scheme: String,
    pub(super) endpoint: Url,
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) scopes: String,
    pub(super) sender: Arc<dyn Sender>,
}

pub(super) struct Client {
    account: Account,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Token>,
    fetching: Option<Fetching>,
    /// Why there was none, and when.
    trouble: Option<(ToolError, Instant)>,
    /// The secret is wanted in the form and not in a header.
    in_form: bool,
}

#[derive(Clone)]
struct Token {
    access: String,
    /// None: until it is refused.
    renew_at: Option<Instant>,
}

/// One that is under way, for everybody who waits.
type Fetching = Shared<BoxFuture<'static, Result<String, ToolError>>>;

#[derive(Deserialize)]
struct Told {
    access_token: String,
    token_type: Option<String>,
    /// A number, or with some a text.
    expires_in: Option<Value>,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
    error_description: Option<String>,
}

/// Where tokens are given out. A document must not send a secret where everybody
/// on the way can read it; a person may.
pub(super) fn endpoint(scheme: &str, said: TokenUrl<'_>, base: &Url) -> Result<Url, ToolError> {
    let refused = |why: &str| {
        ToolError::failed(format!(
            "No token can be got for `{scheme}`: where tokens are given out {why}."
        ))
    };
    let (url, trusted) = match said {
        TokenUrl::Document(url) => (url, false),
        TokenUrl::Person(url) => (url, true),
    };
    let url = base
        .join(url.trim())
        .map_err(|_| refused("is no address"))?;
    match (url.scheme(), base.scheme()) {
        ("https", _) => Ok(url),
        ("http", "https") if !trusted => Err(refused("is not https, though the document is")),
        ("http", _) => Ok(url),
        _ => Err(refused("is neither http nor https")),
    }
}

impl Client {
    pub(super) fn new(account: Account) -> Self {
        Self {
            account,
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
        let fetching = {
            let mut state = self.state();
            let now = Instant::now();
            let held = state.token.as_ref().filter(|token| token.is_fresh(now));
            if let Some(token) = held.filter(|token| Some(token.access.as_str()) != refused) {
                return Ok(token.access.clone());
            }
            match (&state.fetching, &state.trouble) {
                (Some(fetching), _) => fetching.clone(),
                (None, Some((trouble, at))) if now < *at + BETWEEN_TRIES => {
                    return Err(trouble.clone());
                }
                (None, _) => {
                    let fetching = self.begin();
                    state.fetching = Some(fetching.clone());
                    fetching
                }
            }
        };
        fetching.await
    }

    fn begin(self: &Arc<Self>) -> Fetching {
        let client = Arc::clone(self);
        let task = tokio::spawn(async move {
            let fetched = client.fetch().await;
            let mut state = client.state();
            state.fetching = None;
            match fetched {
                Ok(token) => {
                    state.token = Some(token.clone());
                    state.trouble = None;
                    Ok(token.access)
                }
                Err(error) => {
                    state.token = None;
                    state.trouble = Some((error.clone(), Instant::now()));
                    Err(error)
                }
            }
        });
        let ended = async move {
            let stopped = || Err(ToolError::failed("The token could not be fetched."));
            task.await.unwrap_or_else(|_| stopped())
        };
        ended.boxed().shared()
    }

    async fn fetch(&self) -> Result<Token, ToolError> {
        let in_form = self.state().in_form;
        let mut answer = self.ask(in_form).await?;
        // Some know the secret only where others do not look for it.
        if !in_form && is_about_client(&answer) {
            answer = self.ask(true).await?;
            if answer.status.is_success() {
                self.state().in_form = true;
            }
        }
        read(&answer, Instant::now()).map_err(|why| self.trouble(&why))
    }

    async fn ask(&self, in_form: bool) -> Result<Answer, ToolError> {
        let question = self.question(in_form)?;
        let sent = self.account.sender.send(question, Some(PATIENCE));
        // Whoever sends has a clock as well; a task must end whatever that does.
        match tokio::time::timeout(PATIENCE * 2, sent).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(ToolError::new(
                error.kind,
                self.trouble(&error.message).message,
            )),
            Err(_) => Err(self.trouble("nobody answers there")),
        }
    }

    fn question(&self, in_form: bool) -> Result<Request, ToolError> {
        let account = &self.account;
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        if !account.scopes.is_empty() {
            form.append_pair("scope", &account.scopes);
        }
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        match in_form {
            true => {
                form.append_pair("client_id", &account.id);
                form.append_pair("client_secret", &account.secret);
            }
            false => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(&account.id), encoded(&account.secret));
                let basic = header::value(&format!("Basic {}", STANDARD.encode(pair)));
                let basic = basic.ok_or_else(|| self.trouble("its secret is too long"))?;
                headers.insert(AUTHORIZATION, secret(basic));
            }
        }
        Ok(Request {
            method: Method::POST,
            url: account.endpoint.clone(),
            headers,
            body: Some(form.finish().into_bytes()),
        })
    }

    fn trouble(&self, why: &str) -> ToolError {
        let host = self.account.endpoint.host_str().unwrap_or_default();
        let scheme = &self.account.scheme;
        let why = why.trim_end_matches('.');
        ToolError::failed(format!(
            "The server was not asked, for no token could be got from {host} for `{scheme}`: {why}."
        ))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Token {
    fn is_fresh(&self, now: Instant) -> bool {
        self.renew_at.is_none_or(|renew_at| now < renew_at)
    }
}

fn is_about_client(answer: &Answer) -> bool {
    answer.status == StatusCode::UNAUTHORIZED
        || refusal(answer).is_some_and(|refused| refused.error == "invalid_client")
}

fn read(answer: &Answer, now: Instant) -> Result<Token, String> {
    if answer.body.len() > MAX_ANSWER {
        return Err("the answer is too long".to_owned());
    }
    // Some say that all is well and then that nothing is.
    if let Some(refused) = refusal(answer) {
        let why = refused.error_description.unwrap_or_default();
        return Err(line(&format!("it said {} {why}", refused.error), SHOWN));
    }
    if !answer.status.is_success() {
        return Err(format!("it answered {}", answer.status.as_u16()));
    }
    let told: Told =
        serde_json::from_slice(&answer.body).map_err(|_| "its answer holds no token".to_owned())?;
    let is_bearer = |kind: &String| kind.eq_ignore_ascii_case("bearer");
    if !told.token_type.as_ref().is_none_or(is_bearer) {
        return Err("it gives tokens of a kind that Tenon cannot use".to_owned());
    }
    let access = told.access_token;
    let fits = (1..=MAX_TOKEN).contains(&access.len());
    if !fits || !access.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("its token is none".to_owned());
    }
    let life = told.expires_in.as_ref().and_then(seconds);
    let renew_at = life.map(|life| now + life - MARGIN.min(life / 4));
    Ok(Token { access, renew_at })
}

fn refusal(answer: &Answer) -> Option<Refused> {
    serde_json::from_slice(&answer.body).ok()
}

fn seconds(value: &Value) -> Option<Duration> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    // Not a number and too large a one become what is possible.
    let number = number.is_finite().then(|| number.clamp(0.0, MAX_LIFE))?;
    Duration::try_from_secs_f64(number).ok()
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.account.scheme).finish()
    }
}
