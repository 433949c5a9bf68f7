//! One question to a model's server, asked again for as long as that helps
//! and nothing of an answer has been shown.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tenon_domain::WireFormat;

use super::ear::{Ear, Heard, Shape};
use super::{Plan, Quirks, Remote, lock};
use crate::fault::Fault;
use crate::{Delta, Deltas, Error, Request, anthropic, http, openai};

/// How often a busy server is asked in all.
const ATTEMPTS: u32 = 4;

/// The first wait; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// A server that wants to be left alone for longer than this is told about instead.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

type Bytes = Pin<Box<dyn Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>;

pub(super) struct Talk {
    remote: Remote,
    quirks: Arc<Mutex<Quirks>>,
    request: Request,
    /// The last one that went out.
    plan: Option<Plan>,
    /// How many tools the caller knows to be left out.
    left_out: usize,
    phase: Phase,
    attempts: u32,
    ready: VecDeque<Delta>,
    /// Something that a person may have seen: from here on nothing is asked again.
    is_shown: bool,
}

enum Phase {
    Ask,
    Wait(Duration),
    Listen(Box<Listening>),
    /// Said all, or this went wrong.
    Over(Option<Error>),
}

struct Listening {
    bytes: Bytes,
    ear: Ear,
}

impl Talk {
    pub(super) fn new(remote: Remote, quirks: Arc<Mutex<Quirks>>, request: Request) -> Self {
        Self {
            remote,
            quirks,
            request,
            plan: None,
            left_out: 0,
            phase: Phase::Ask,
            attempts: 0,
            ready: VecDeque::new(),
            is_shown: false,
        }
    }

    pub(super) fn into_deltas(self) -> Deltas {
        let talk = Box::new(self);
        stream::unfold(talk, |mut talk| async move {
            let next = talk.next().await?;
            Some((next, talk))
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<Result<Delta, Error>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            let went = match &mut self.phase {
                Phase::Over(error) => return error.take().map(Err),
                Phase::Wait(time) => {
                    tokio::time::sleep(*time).await;
                    self.phase = Phase::Ask;
                    Ok(())
                }
                Phase::Ask => self.ask().await,
                Phase::Listen(listening) => {
                    let heard = listening.hear(&self.remote).await;
                    let deltas = listening.ear.deltas.drain(..);
                    self.is_shown |= deltas.as_slice().iter().any(is_speech);
                    self.ready.extend(deltas);
                    match heard {
                        Ok(Heard::End) => self.phase = Phase::Over(None),
                        // Keep-alives have no words, but they show that somebody is there.
                        Ok(Heard::Bytes) if self.ready.is_empty() => {
                            self.ready.push_back(Delta::Alive);
                        }
                        Ok(Heard::Bytes) | Err(_) => {}
                    }
                    heard.map(|_| ())
                }
            };
            if let Err(fault) = went {
                self.phase = self.after(fault);
            }
        }
    }

    async fn ask(&mut self) -> Result<(), Fault> {
        self.attempts += 1;
        let quirks = lock(&self.quirks).clone();
        let (plan, left_out) = Plan::new(&self.remote, quirks, &self.request)?;
        if !left_out.is_empty() && self.left_out != left_out.len() {
            self.left_out = left_out.len();
            self.ready.push_back(Delta::LeftOut(left_out));
        }
        let (path, body) = match self.remote.format {
            WireFormat::Openai => (openai::PATH, openai::encode(&self.remote, &plan)),
            WireFormat::Anthropic => (anthropic::PATH, anthropic::encode(&self.remote, &plan)),
        };
        self.plan = Some(plan);
        let response = http::post(&self.remote, path, &body).await?;
        lock(&self.quirks).proven();
        self.phase = Phase::Listen(Box::new(Listening::new(&self.remote, response)));
        Ok(())
    }

    /// What to do about a fault: ask again, perhaps for less, or give up.
    fn after(&mut self, fault: Fault) -> Phase {
        if self.is_shown {
            return Phase::Over(Some(Error::Interrupted(fault.message())));
        }
        // Figures of an answer that was never given.
        self.ready
            .retain(|delta| matches!(delta, Delta::LeftOut(_)));
        let learned = match (&fault, &self.plan) {
            (Fault::Rejected { said, .. }, Some(plan)) => lock(&self.quirks).learn(said, plan),
            (Fault::Full { .. }, Some(plan)) => lock(&self.quirks).shrink(plan.weight()),
            _ => false,
        };
        if learned {
            tracing::info!(
                model = self.remote.name,
                ?fault,
                "asking again without what was refused"
            );
            return Phase::Ask;
        }
        match fault {
            Fault::Busy { retry_after, .. }
                if self.attempts < ATTEMPTS
                    && retry_after.is_none_or(|wait| wait <= LONGEST_WAIT) =>
            {
                let wait = retry_after.unwrap_or_else(|| backoff(self.attempts));
                tracing::info!(model = self.remote.name, ?fault, ?wait, "asking again");
                self.ready.push_back(Delta::Retry(wait));
                Phase::Wait(wait)
            }
            fault => Phase::Over(Some(Error::Refused(fault.message()))),
        }
    }
}

impl Listening {
    fn new(remote: &Remote, response: Response) -> Self {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        let shape = match kind {
            Some(kind) if kind.starts_with("application/json") => Shape::Whole,
            _ => Shape::Events,
        };
        Self {
            bytes: response.bytes_stream().boxed(),
            ear: Ear::new(remote, shape),
        }
    }

    async fn hear(&mut self, remote: &Remote) -> Result<Heard, Fault> {
        match self.bytes.next().await {
            Some(Ok(bytes)) => self.ear.bytes(&bytes),
            Some(Err(error)) => Err(Fault::broken(remote, &error)),
            None => self.ear.end(),
        }
    }
}

/// What cannot be taken back: a person sees it, or history has it.
fn is_speech(delta: &Delta) -> bool {
    match delta {
        Delta::Text(_) | Delta::Thinking(_) | Delta::Call(_) | Delta::Opaque(_) => true,
        Delta::Keep(_)
        | Delta::LeftOut(_)
        | Delta::Alive
        | Delta::Retry(_)
        | Delta::Usage(_)
        | Delta::Stop(_) => false,
    }
}

/// Twice as long each time, and never twice the same: those who were turned
/// away together should not come back together.
fn backoff(attempt: u32) -> Duration {
    let longest = FIRST_WAIT * 2_u32.pow(attempt.min(6));
    let random = RandomState::new().hash_one(attempt) % 1_000;
    longest.mul_f64(0.5 + random as f64 / 2_000.0)
}
