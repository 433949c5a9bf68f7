//! One question to a model's server, asked again for as long as that helps
//! and nothing of an answer has been shown.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tenon_domain::WireFormat;

use super::ear::{Ear, Heard, Shape};
use super::{Catalogue, Knowledge, Learned, Plan, Quirks, Remote};
use crate::fault::Fault;
use crate::{Delta, Deltas, Error, Request, anthropic, http, openai};

/// How often a busy server is asked in all.
const ATTEMPTS: u32 = 4;

/// How often a request is mended after it was refused.
const LESSONS: u32 = 12;

/// The first wait is about this long; each further one twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long after the last word a server may take to end its answer.
const LAST_BYTES: Duration = Duration::from_millis(200);

/// A server that wants to be left alone for longer than this is told about instead.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

type Bytes = Pin<Box<dyn Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>;

pub(super) struct Talk {
    remote: Remote,
    /// What is known of this server, and what this talk knows of it.
    known: Arc<Knowledge>,
    quirks: Quirks,
    request: Request,
    /// The last one that went out.
    plan: Option<Plan>,
    /// How many tools the caller knows to be left out.
    left_out: usize,
    phase: Phase,
    attempts: u32,
    lessons: u32,
    /// Something that is not yet known to help.
    has_learned: bool,
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
    pub(super) fn new(remote: Remote, known: Arc<Knowledge>, request: Request) -> Self {
        let quirks = lock(&known.quirks).clone();
        Self {
            remote,
            known,
            quirks,
            request,
            plan: None,
            left_out: 0,
            phase: Phase::Ask,
            attempts: 0,
            lessons: 0,
            has_learned: false,
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
                    if self.is_shown && std::mem::take(&mut self.has_learned) {
                        // What was learned on the way was right: it helped.
                        lock(&self.known.quirks).absorb(&self.quirks);
                    }
                    match heard {
                        Ok(Heard::End) => self.hang_up(),
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
        Catalogue::prepare(&self.known, &self.request.tools, self.remote.format).await;
        let (quirks, catalogue) = (self.quirks.clone(), &self.known.catalogue);
        let (plan, left_out) = Plan::new(&self.remote, catalogue, quirks, &self.request)?;
        if !left_out.is_empty() && self.left_out != left_out.len() {
            self.left_out = left_out.len();
            self.ready.push_back(Delta::LeftOut(left_out));
        }
        let plan = self.plan.insert(plan);
        let (path, body) = match self.remote.format {
            WireFormat::Openai => (openai::PATH, openai::encode(&self.remote, plan)),
            WireFormat::Anthropic => (anthropic::PATH, anthropic::encode(&self.remote, plan)),
        };
        let response = http::post(&self.remote, path, &body).await?;
        self.phase = Phase::Listen(Box::new(Listening::new(&self.remote, response)));
        Ok(())
    }

    /// Ends well: a connection whose last bytes are read can be used again.
    fn hang_up(&mut self) {
        let over = std::mem::replace(&mut self.phase, Phase::Over(None));
        if let Phase::Listen(mut listening) = over {
            tokio::spawn(async move {
                let rest = async { while let Some(Ok(_)) = listening.bytes.next().await {} };
                let _ = tokio::time::timeout(LAST_BYTES, rest).await;
            });
        }
    }

    /// What to do about a fault: ask again, perhaps for less, or give up.
    fn after(&mut self, fault: Fault) -> Phase {
        if self.is_shown {
            return Phase::Over(Some(Error::Interrupted(fault.message().to_owned())));
        }
        // Figures of an answer that was never given.
        self.ready
            .retain(|delta| matches!(delta, Delta::LeftOut(_)));
        let learned = match (&fault, &self.plan) {
            (Fault::Rejected { said, .. }, Some(plan)) => self.quirks.learn(said, plan),
            (Fault::Full { .. }, Some(plan)) => self.quirks.shrink(plan.weight()),
            _ => Learned::Nothing,
        };
        self.lessons += u32::from(learned == Learned::Something);
        if learned != Learned::Nothing && self.lessons <= LESSONS {
            self.has_learned = true;
            let why = fault.message();
            tracing::info!(
                model = self.remote.name,
                why,
                "asking again without what was refused"
            );
            return Phase::Ask;
        }
        self.attempts += 1;
        match fault {
            Fault::Busy {
                retry_after,
                message: why,
            } if self.attempts < ATTEMPTS
                && retry_after.is_none_or(|wait| wait <= LONGEST_WAIT) =>
            {
                let wait = retry_after.unwrap_or_else(|| backoff(self.attempts));
                tracing::info!(model = self.remote.name, why, ?wait, "asking again");
                self.ready.push_back(Delta::Retry(wait));
                Phase::Wait(wait)
            }
            Fault::Busy { message, .. } => Phase::Over(Some(Error::Busy(message))),
            fault => Phase::Over(Some(Error::Refused(fault.message().to_owned()))),
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

fn lock(quirks: &Mutex<Quirks>) -> MutexGuard<'_, Quirks> {
    quirks.lock().unwrap_or_else(PoisonError::into_inner)
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
    let longest = FIRST_WAIT * 2_u32.pow(attempt.saturating_sub(1).min(6));
    let random = RandomState::new().hash_one(attempt) % 1_000;
    longest.mul_f64(0.5 + random as f64 / 2_000.0)
}
