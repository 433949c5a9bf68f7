//! Streamable HTTP: every question is a request, and its answer a body or a
//! stream of events.
//!
//! A question is carried by whoever asks it, so any number run side by side,
//! and dropping one closes its stream. A session the server has forgotten is
//! begun anew, once for all who find out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use tenon_net::sse::SseParser;

use super::board::{Board, During};
use super::courier::Courier;
use super::fault::Fault;
use super::listen;
use super::message;
use super::message::MAX_MESSAGE;
use super::mirror::{self, Mirrors};
use super::site::{self, LAST_EVENT, Request, Site};
use super::talk::Post;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How often a stream that ended too early is taken up again without anything new on it.
const MAX_RESUMED: usize = 5;

/// When to come back where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// However short or long the server would have us wait.
const MIN_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Http {
    pub(super) site: Arc<Site>,
    board: Arc<Board>,
    courier: Arc<Courier>,
    state: Mutex<State>,
    /// One begins a session anew while the others wait.
    turnstile: Semaphore,
    mirrors: ArcSwap<Mirrors>,
}

#[derive(Debug, Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    stateless: bool,
    /// The parameters of the first words, to say them again.
    first_words: Option<String>,
    listening: Option<JoinHandle<()>>,
}

impl Http {
    pub(super) fn new(site: Arc<Site>, board: Arc<Board>) -> Arc<Self> {
        let courier = Courier::start(site.clone(), board.logs().clone());
        Arc::new(Self {
            site,
            board,
            courier,
            state: Mutex::default(),
            turnstile: Semaphore::new(1),
            mirrors: ArcSwap::default(),
        })
    }

    /// From now on this version is spoken.
    pub(super) fn speak(&self, version: &str) {
        let mut state = self.state();
        state.version = HeaderValue::try_from(version).ok();
        state.stateless = version == super::era::STATELESS;
    }

    /// The handshake is done: what it was made with, and the server may talk by itself.
    pub(super) fn shaken(&self, first_words: String) {
        let (site, board, courier) = (&self.site, &self.board, &self.courier);
        let headers = self.headers();
        let listening = listen::common(site.clone(), board.clone(), courier.clone(), headers);
        let mut state = self.state();
        state.first_words = Some(first_words);
        if let Some(old) = state.listening.replace(tokio::spawn(listening)) {
            old.abort();
        }
    }

    /// Which arguments of which tools go into headers as well.
    pub(super) fn mirror(&self, mirrors: Mirrors) {
        self.mirrors.store(Arc::new(mirrors));
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.state().stateless
    }

    pub(super) async fn post(&self, post: Post<'_>) -> Result<(), Fault> {
        let session = self.state().session.clone();
        match self.exchange(&post, session.as_ref()).await {
            Err(Fault::Status(404, _)) if session.is_some() => {
                // What it does not know the session of, it has not done.
                let again = self.begin_again(session.as_ref()).await;
                again.map_err(|fault| match fault {
                    Fault::Broken(why) => Fault::Unreached(why),
                    other => other,
                })?;
                let session = self.state().session.clone();
                self.exchange(&post, session.as_ref()).await
            }
            other => other,
        }
    }

    pub(super) fn push(&self, body: String) {
        let mut request = Request::post(self.site.url.clone(), body);
        request.headers.extend(self.headers());
        self.courier.send(request);
    }

    /// Gives the session back.
    pub(super) async fn close(&self) {
        let (listening, session) = {
            let mut state = self.state();
            (state.listening.take(), state.session.take())
        };
        if let Some(listening) = listening {
            listening.abort();
        }
        self.courier.stop();
        self.board.end("The connection was closed.".into());
        if let Some(session) = session {
            let mut headers = self.headers();
            headers.insert(SESSION, session);
            let request = Request {
                method: Method::DELETE,
                url: self.site.url.clone(),
                headers,
                body: None,
            };
            let goodbye = self.site.send_as_is(request);
            let _ = tokio::time::timeout(Duration::from_secs(2), goodbye).await;
        }
    }

    /// One request and all that comes back on it.
    async fn exchange(&self, post: &Post<'_>, session: Option<&HeaderValue>) -> Result<(), Fault> {
        let mut request = Request::post(self.site.url.clone(), post.body.clone());
        let (version, stateless) = {
            let state = self.state();
            (state.version.clone(), state.stateless)
        };
        if post.method != "initialize" {
            request
                .headers
                .extend(version.map(|version| (VERSION, version)));
            let session = session.cloned();
            request
                .headers
                .extend(session.map(|session| (SESSION, session)));
        }
        if stateless {
            mirror::write(post, &self.mirrors.load(), &mut request.headers);
        }
        let response = self.site.send_as_is(request).await?;
        let during = post.question.map(|question| During {
            question,
            call: post.call,
        });
        if !response.status().is_success() {
            return self.refused(response, during, session.is_some()).await;
        }
        if post.method == "initialize" {
            self.state().session = response.headers().get(SESSION).cloned();
        }
        match (during, site::content_type(&response)) {
            (None, _) => Ok(()),
            (Some(during), "text/event-stream") => self.follow(response, during).await,
            // Accepted: the answer comes on another stream.
            (Some(_), _) if response.status().as_u16() == 202 => Ok(()),
            (Some(during), "application/json") => {
                let body = site::whole(&self.site, response).await?;
                match self.hear(&body, during) {
                    true => Ok(()),
                    false => Err(Fault::Strange(
                        "The server answered something else than what it was asked.".into(),
                    )),
                }
            }
            (Some(_), "text/html") => Err(Fault::Strange(
                "There is a web page at this address, and no MCP server.".into(),
            )),
            (Some(_), other) => {
                let other = super::text::line(other, 80);
                Err(Fault::Strange(format!(
                    "The server answered with `{other}`, which is not MCP."
                )))
            }
        }
    }

    /// An answer that is no success may still be one in JSON-RPC.
    async fn refused(
        &self,
        response: Response,
        during: Option<During>,
        in_session: bool,
    ) -> Result<(), Fault> {
        let status = response.status().as_u16();
        let (fault, body) = site::failure(response).await;
        // Some answer 400 where the session they are asked about is over.
        let over = status == 404
            || status == 400
                && String::from_utf8_lossy(&body)
                    .to_lowercase()
                    .contains("session");
        if in_session && over {
            return Err(Fault::Status(404, fault.to_string()));
        }
        match during {
            Some(during)
                if body.trim_ascii_start().starts_with(b"{") && self.hear(&body, during) =>
            {
                Ok(())
            }
            _ => Err(fault),
        }
    }

    /// Reads a stream until the answer is on it, and takes it up again where it was cut.
    async fn follow(&self, mut response: Response, during: During) -> Result<(), Fault> {
        let mut parser = SseParser::new(MAX_MESSAGE);
        let mut resumed = 0;
        loop {
            while let Some(events) = site::next_events(&mut response, &mut parser).await? {
                resumed = 0;
                let mut answered = false;
                for event in events.iter().filter(|event| !event.data.is_empty()) {
                    answered |= self.hear(event.data.as_bytes(), during);
                }
                if answered {
                    tokio::spawn(drain(response));
                    return Ok(());
                }
            }
            let last = parser.last_id().map(HeaderValue::try_from);
            let cut = "The server ended its answer before it was complete.";
            let (Some(Ok(last)), true) = (last, resumed < MAX_RESUMED) else {
                return Err(Fault::Broken(cut.into()));
            };
            resumed += 1;
            let wait = parser.retry().unwrap_or(RETRY);
            tokio::time::sleep(wait.clamp(MIN_RETRY, MAX_RETRY)).await;
            let mut request = Request::stream(self.site.url.clone());
            request.headers.extend(self.headers());
            request.headers.insert(LAST_EVENT, last);
            response = self.site.send(request).await.map_err(|fault| match fault {
                // It does not let anybody come back.
                Fault::Status(..) => Fault::Broken(cut.into()),
                // This request was not sent. The one whose answer was cut off was.
                Fault::Unreached(why) => Fault::Broken(why),
                other => other,
            })?;
            parser = parser.resume();
        }
    }

    /// True: it was the answer.
    fn hear(&self, text: &[u8], during: During) -> bool {
        let heard = self.board.hear(text, Some(during));
        for reply in heard.replies {
            self.push(reply);
        }
        heard.answers == Some(during.question)
    }

    /// Says the first words again, unless somebody else has since.
    async fn begin_again(&self, over: Option<&HeaderValue>) -> Result<(), Fault> {
        let gone = || Fault::Broken("The server has forgotten the session.".into());
        let _turn = self.turnstile.acquire().await.map_err(|_| gone())?;
        let first_words = {
            let state = self.state();
            if state.session.as_ref() != over {
                return Ok(());
            }
            state.first_words.clone().ok_or_else(gone)?
        };
        let (id, answer) = self.board.expect();
        let body = message::request(id, "initialize", &first_words);
        let post = Post {
            question: Some(id),
            ..Post::bare("initialize", body)
        };
        let sent = self.exchange(&post, None).await;
        self.board.forget(id);
        sent?;
        answer.await.map_err(|_| gone())??;
        let body = message::notification("notifications/initialized", "{}");
        let session = self.state().session.clone();
        let post = Post::bare("notifications/initialized", body);
        self.exchange(&post, session.as_ref()).await?;
        self.shaken(first_words);
        self.board
            .logs()
            .note("The server had forgotten the session. It was begun anew.");
        self.board.change();
        Ok(())
    }

    /// What every request of this session carries.
    fn headers(&self) -> HeaderMap {
        let state = self.state();
        let version = state.version.clone().map(|version| (VERSION, version));
        let session = state.session.clone().map(|session| (SESSION, session));
        version.into_iter().chain(session).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.courier.stop();
        if let Some(listening) = self.state().listening.take() {
            listening.abort();
        }
    }
}

/// Reads the rest of a stream, so that its connection can be used again.
async fn drain(mut response: Response) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    let _ = tokio::time::timeout(Duration::from_millis(100), rest).await;
}
