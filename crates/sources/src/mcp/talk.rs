//! Questions and answers over one connection, whatever carries it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_tools::CallContext;

use super::board::{Asked, Board, OnBoard};
use super::elicit;
use super::fault::Fault;
use super::http::Http;
use super::message::{self, Params};
use super::sse::Sse;
use super::stdio::Stdio;

/// How long it may take until it is known whether a question was sent.
const POST_TIMEOUT: Duration = Duration::from_secs(1);

/// What carries a connection.
#[derive(Debug)]
pub(super) enum Wire {
    Stdio(Stdio),
    Sse(Arc<Sse>),
    Http(Arc<Http>),
}

/// One message on its way out.
#[derive(Debug)]
pub(super) struct Post<'a> {
    pub(super) method: &'a str,
    /// What the method is applied to: a tool, a task.
    pub(super) name: Option<&'a str>,
    pub(super) arguments: Option<&'a Value>,
    pub(super) body: String,
    /// The question it asks.
    pub(super) question: Option<u64>,
    pub(super) call: Option<u64>,
}

/// A connection whose first words are said, or are being said.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) wire: Wire,
    pub(super) board: Arc<Board>,
    /// What every request carries in the stateless era: the inside of `_meta`.
    pub(super) meta: String,
}

/// A question about to be asked.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) method: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: Option<&'a Value>,
    pub(super) params: Params,
}

impl<'a> Question<'a> {
    pub(super) fn new(method: &'a str, params: Params) -> Self {
        Self {
            method,
            name: None,
            arguments: None,
            params,
        }
    }

    /// About something that has a name.
    pub(super) fn about(self, name: &'a str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }
}

impl Talk {
    /// Asks outside of any call. Dropping it takes the question back.
    pub(super) async fn ask(
        &self,
        question: Question<'_>,
        patience: Duration,
    ) -> Result<Box<RawValue>, Fault> {
        let asking = self.pose(question, None);
        tokio::time::timeout(patience, asking)
            .await
            .unwrap_or(Err(Fault::Silent))
    }

    /// Asks in the course of a call: questions back go to whoever made it.
    pub(super) async fn ask_in(
        &self,
        call: &mut OnBoard,
        question: Question<'_>,
        context: &CallContext,
    ) -> Result<Box<RawValue>, Fault> {
        self.pose(question, Some((call, context))).await
    }

    /// Asks without a deadline: it is meant to stay open, or the caller has one.
    pub(super) async fn keep_asking(&self, question: Question<'_>) -> Result<Box<RawValue>, Fault> {
        self.pose(question, None).await
    }

    pub(super) async fn tell(&self, method: &str, params: Params) -> Result<(), Fault> {
        let body = message::notification(method, &params.finish(self.meta.as_str()));
        self.wire.post(Post::bare(method, body)).await
    }

    /// Says something without waiting for it to arrive.
    pub(super) fn push(&self, method: &str, params: Params) {
        let body = message::notification(method, &params.finish(self.meta.as_str()));
        self.wire.push(body);
    }

    async fn pose(
        &self,
        question: Question<'_>,
        call: Option<(&mut OnBoard, &CallContext)>,
    ) -> Result<Box<RawValue>, Fault> {
        let (id, mut answer) = self.board.expect();
        let number = call.as_ref().map(|(call, _)| call.number);
        let mut meta = self.meta.clone();
        if let Some(number) = number {
            let comma = if meta.is_empty() { "" } else { "," };
            meta.push_str(&format!(r#"{comma}"progressToken":{number}"#));
        }
        let post = Post {
            method: question.method,
            name: question.name,
            arguments: question.arguments,
            body: message::request(id, question.method, &question.params.finish(&meta)),
            question: Some(id),
            call: number,
        };
        let open = Open {
            talk: self,
            id,
            method: question.method,
        };
        let mut posting = std::pin::pin!(self.wire.post(post));
        let mut person = Person::new(call);
        let mut posted = false;
        let mut answer = loop {
            tokio::select! {
                biased;
                answer = &mut answer => break answer,
                outcome = &mut posting, if !posted => {
                    posted = true;
                    if let Err(fault) = outcome {
                        self.board.answer(id, Err(fault));
                    }
                }
                reply = person.reply() => self.wire.push(reply),
            }
        };
        drop(open);
        if let Ok(Err(Fault::Broken(why))) = &answer
            && !posted
        {
            // The connection ended before the question was out: it may not have got there at
            // all. Why it ended is what its end said.
            let outcome = tokio::time::timeout(POST_TIMEOUT, posting).await;
            if let Ok(Err(Fault::Unreached(_))) = outcome {
                answer = Ok(Err(Fault::Unreached(why.clone())));
            }
        }
        answer.unwrap_or_else(|_| Err(Fault::Broken("The connection was closed.".into())))
    }
}

impl Wire {
    /// Sends a message. For a question over HTTP it comes back after the answer has been heard.
    pub(super) async fn post(&self, post: Post<'_>) -> Result<(), Fault> {
        match self {
            Self::Stdio(stdio) => stdio.send(&post.body).await,
            Self::Sse(sse) => sse.send(post.body).await,
            Self::Http(http) => http.post(post).await,
        }
    }

    /// Sends a message that is no question without waiting for it to arrive.
    pub(super) fn push(&self, body: String) {
        match self {
            Self::Stdio(stdio) => stdio.push(&body),
            Self::Sse(sse) => sse.push(body),
            Self::Http(http) => http.push(body),
        }
    }

    /// Whether a question is taken back by closing the stream its answer would come on.
    fn cancels_by_closing(&self) -> bool {
        match self {
            Self::Stdio(_) | Self::Sse(_) => false,
            Self::Http(http) => http.is_stateless(),
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Stdio(stdio) => stdio.close().await,
            Self::Sse(sse) => sse.close(),
            Self::Http(http) => http.close().await,
        }
    }
}

impl<'a> Post<'a> {
    /// What expects no answer.
    pub(super) fn bare(method: &'a str, body: String) -> Self {
        Self {
            method,
            name: None,
            arguments: None,
            body,
            question: None,
            call: None,
        }
    }
}

/// A question that is open. Dropped before its answer, the server is told to forget it.
struct Open<'a> {
    talk: &'a Talk,
    id: u64,
    method: &'a str,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let first_words = matches!(self.method, "initialize" | "server/discover");
        if !self.talk.board.forget(self.id) || first_words || self.talk.wire.cancels_by_closing() {
            return;
        }
        let params = Params::new()
            .with("requestId", &self.id)
            .with("reason", "Nobody waits for the answer any longer.");
        self.talk.push("notifications/cancelled", params);
    }
}

/// Who is asked what comes up in a call, one question at a time.
struct Person<'a> {
    call: Option<(&'a mut OnBoard, &'a CallContext)>,
    asking: Option<BoxFuture<'a, String>>,
}

impl<'a> Person<'a> {
    fn new(call: Option<(&'a mut OnBoard, &'a CallContext)>) -> Self {
        Self { call, asking: None }
    }

    /// The next answer of theirs, as a message. May be dropped and asked again at any time.
    async fn reply(&mut self) -> String {
        let Some((call, context)) = &mut self.call else {
            return std::future::pending().await;
        };
        if self.asking.is_none() {
            let Some(Asked { id, params }) = call.asked.recv().await else {
                return std::future::pending().await;
            };
            let context = *context;
            self.asking = Some(Box::pin(async move {
                let answer = elicit::answer(context, &params).await;
                message::answer(&id, &answer)
            }));
        }
        let reply = match &mut self.asking {
            Some(asking) => asking.await,
            None => return std::future::pending().await,
        };
        self.asking = None;
        reply
    }
}
