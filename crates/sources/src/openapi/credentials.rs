//! Who Tenon says it is to a server: the keys a person stored, where the
//! document says they go.
//!
//! An operation names sets of schemes, and one of them is enough. The first
//! that can be met is. Where none can, the request is sent as it is: the server
//! knows best whether it minds, and then the model is told what is missing.

mod choice;
mod reach;
mod show;
#[cfg(test)]
mod tests;
mod token;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tenon_domain::{Credential, OpenapiConfig, ToolError, ToolResult};
use url::Url;

use super::operation::{Operation, Scheme, SchemeKind};
use super::request::{Request, header};
use super::response::{self, Answer};
use choice::{Choice, Means, TokenUrl};
use reach::{Reach, Standing};
use token::Client;

/// To read so much takes about a millisecond; whatever takes longer is done elsewhere.
const READ_APART: usize = 256 * 1024;

/// Sends requests. Whoever does keeps to where requests may go.
#[async_trait]
pub trait Sender: Send + Sync {
    /// Reads the whole answer, whatever its status, as far as it has a bound.
    /// Never takes the request on to another site, and gives up after `within`: the time of
    /// a call is kept by who makes it, that of a token by who fetches it.
    async fn send(&self, request: Request, within: Option<Duration>) -> Result<Answer, ToolError>;
}

/// A document, as far as it says who is to be shown what.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    pub schemes: &'a [Scheme],
    /// Where it was, after all redirects. None: somebody gave it.
    pub found_at: Option<&'a Url>,
    /// What relative addresses in it are relative to.
    pub base: &'a Url,
}

/// All that is stored for one document.
pub struct Credentials {
    base: Url,
    reach: Reach,
    schemes: Vec<Scheme>,
    held: BTreeMap<String, Credential>,
    /// Sent always, to the sites they were entered for.
    headers: HeaderMap,
    /// Those who get tokens, by scheme and scopes.
    clients: Mutex<HashMap<(String, String), Arc<Client>>>,
    sender: Arc<dyn Sender>,
}

/// What a request was sent with.
#[derive(Debug, Default)]
struct Shown {
    /// What to do about what it was not sent with, as a sentence.
    lacking: Option<String>,
    /// Tokens that may have ended meanwhile.
    tokens: Vec<(Arc<Client>, String)>,
}

impl Credentials {
    /// The texts of the configuration are filled in already. The error is a sentence.
    pub fn new(
        config: &OpenapiConfig,
        document: &Document<'_>,
        sender: Arc<dyn Sender>,
    ) -> Result<Self, String> {
        Ok(Self {
            base: document.base.clone(),
            reach: Reach::new(config, document),
            schemes: document.schemes.to_vec(),
            held: config.credentials.clone(),
            headers: headers(config)?,
            clients: Mutex::default(),
            sender,
        })
    }

    /// Makes a call: sends its request with what the operation asks for, once
    /// more where a token had ended, and reads the answer.
    pub async fn call(&self, operation: &Operation, request: Request) -> ToolResult {
        let standing = self.reach.of(&request.url);
        let (no_headers, none_held) = (HeaderMap::new(), BTreeMap::new());
        let (headers, held) = match standing {
            Standing::Entered => (&self.headers, &self.held),
            Standing::Named => (&no_headers, &self.held),
            Standing::Stranger => (&no_headers, &none_held),
        };
        let choice = choice::choose(operation, &self.schemes, held, headers);
        let withheld = self.withheld(standing, &choice, &request.url);
        let may_end = choice.means.iter().any(Means::may_end);
        let again = may_end.then(|| request.clone());
        let show = |request| self.show(&choice, headers, request);
        let (mut shown, ready) = show(request).await?;
        shown.lacking = withheld.or_else(|| missing(&choice.lacking));
        let mut answer = self.sender.send(ready, None).await?;
        if let Some(request) = again.filter(|_| answer.status == StatusCode::UNAUTHORIZED) {
            shown.renew().await?;
            let (_, ready) = show(request).await?;
            answer = self.sender.send(ready, None).await?;
        }
        let status = answer.status;
        let result = read(answer).await;
        result.map_err(|error| shown.explain(status, error))
    }

    /// What to do, if keys are stored that this site is not to see.
    fn withheld(&self, standing: Standing, choice: &Choice<'_>, url: &Url) -> Option<String> {
        let is_withheld = match standing {
            Standing::Entered => false,
            Standing::Named => choice.means.is_empty() && !self.headers.is_empty(),
            Standing::Stranger => !self.headers.is_empty() || !self.held.is_empty(),
        };
        is_withheld.then(|| {
            format!(
                "What is stored for this server was not sent to {}: it was entered for {}. If both \
                 are to see it, somebody has to enter the first as the base URL of this server.",
                url.origin().ascii_serialization(),
                self.reach.shown()
            )
        })
    }

    async fn show(
        &self,
        choice: &Choice<'_>,
        headers: &HeaderMap,
        mut request: Request,
    ) -> Result<(Shown, Request), ToolError> {
        let mut shown = Shown::default();
        for (name, value) in headers {
            request.headers.insert(name, value.clone());
        }
        for means in &choice.means {
            match means {
                Means::Header => {}
                Means::Key { place, name, value } => {
                    show::key(*place, name, value, &mut request)?;
                }
                Means::Bearer(token) => show::bearer(token, &mut request)?,
                Means::Basic { user, password } => show::basic(user, password, &mut request)?,
                Means::Client { .. } => {
                    let client = self.client(means)?;
                    let token = client.token().await?;
                    show::bearer(&token, &mut request)?;
                    shown.tokens.push((client, token));
                }
            }
        }
        Ok((shown, request))
    }

    /// One for each scheme and its scopes, however many calls there are.
    fn client(&self, means: &Means<'_>) -> Result<Arc<Client>, ToolError> {
        let Means::Client {
            scheme,
            id,
            secret,
            token_url,
            scopes,
        } = means
        else {
            return Err(ToolError::failed("No client is known for this scheme."));
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let place = ((*scheme).to_owned(), scopes.clone());
        if let Some(client) = clients.get(&place) {
            return Ok(Arc::clone(client));
        }
        let endpoint = token::endpoint(scheme, *token_url, &self.base)?;
        let is_said = matches!(token_url, TokenUrl::Document(_));
        if is_said && self.reach.of(&endpoint) == Standing::Stranger {
            let host = endpoint.host_str().unwrap_or_default();
            return Err(ToolError::failed(format!(
                "No token can be got for `{scheme}`: the document says that {host} gives it out, \
                 which is not to see what is stored for {}. If it is, somebody has to enter where \
                 tokens are given out in the settings of this server.",
                self.reach.shown()
            )));
        }
        let client = Arc::new(Client::new(token::Account {
            scheme: (*scheme).to_owned(),
            endpoint,
            id: (*id).to_owned(),
            secret: (*secret).to_owned(),
            scopes: scopes.clone(),
            sender: Arc::clone(&self.sender),
        }));
        clients.insert(place, Arc::clone(&client));
        Ok(client)
    }
}

/// A large answer takes its time, which others need the thread for.
async fn read(answer: Answer) -> ToolResult {
    let read = |answer: Answer| response::read(answer.status, &answer.headers, answer.body);
    match answer.body.len() > READ_APART {
        false => read(answer),
        true => tokio::task::spawn_blocking(move || read(answer))
            .await
            .unwrap_or_else(|_panic| Err(ToolError::failed("The answer could not be read."))),
    }
}

/// The schemes that nothing is stored for, as a model is told.
fn missing(lacking: &[String]) -> Option<String> {
    (!lacking.is_empty()).then(|| {
        format!(
            "Nothing is stored for {}: somebody has to enter it in the settings of this server.",
            lacking.join(" and ")
        )
    })
}

/// Whether it can be sent with every request. The error is a sentence.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    read_header(name, value).map(drop)
}

fn read_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name = header::name(name.trim()).map_err(|error| error.message)?;
    let value = header::value(value.trim()).ok_or_else(|| {
        format!("The header `{name}` must be one line without control characters.")
    })?;
    Ok((name, show::secret(value)))
}

/// Those that are sent with every request. The error is a sentence.
pub(super) fn headers(config: &OpenapiConfig) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let (name, value) = read_header(name, value)?;
        headers.insert(name, value);
    }
    Ok(headers)
}

impl Shown {
    /// New tokens instead of those that were refused.
    async fn renew(&self) -> Result<(), ToolError> {
        for (client, refused) in &self.tokens {
            client.instead_of(refused).await?;
        }
        Ok(())
    }

    fn explain(&self, status: StatusCode, mut error: ToolError) -> ToolError {
        let about_keys = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if let Some(lacking) = self.lacking.as_ref().filter(|_| about_keys) {
            error.message.push(' ');
            error.message.push_str(lacking);
        }
        error
    }
}

/// "`api_key`, an API key in the header X-Key"
fn describe(scheme: &Scheme) -> String {
    let what = match &scheme.kind {
        SchemeKind::Key { place, name } => {
            format!("an API key in the {} {name}", show::place(*place))
        }
        SchemeKind::Bearer => "a bearer token".to_owned(),
        SchemeKind::Basic => "a user name and a password".to_owned(),
        SchemeKind::Client { .. } => "a client id and its secret".to_owned(),
        SchemeKind::Other(what) => format!("{what}, for which a token may do"),
    };
    format!("`{}` ({what})", scheme.name)
}

/// Nothing of it is for a log.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}
