//! The task that keeps a server's tools up to date: what is kept, then what is
//! read, then what is read again.
//!
//! Whatever it is doing, it can be told to begin anew or to stop, and leaves
//! what it was doing at once. Nothing a server does takes away what it offered last.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tenon_domain::{OpenapiOrigin, SourceState};
use tokio::time::{Instant, sleep, timeout};

use super::diary;
use super::handover::Holding;
use super::library::Library;
use super::line::Line;
use super::offer::{About, Change, Offer};
use super::seen::Seen;
use super::settings::Kept;
use super::state::Findings;
use super::{Readings, Shared};
use crate::apart::turn;
use crate::openapi::fetch::{self, Question};
use crate::variables::Unfilled;

/// How often the files that a document refers to are read though it has not changed itself:
/// there may be thousands of them.
const WHOLE_INTERVAL: Duration = Duration::from_secs(60 * 60);

struct Keeper {
    shared: Arc<Shared>,
    line: Option<Arc<Line>>,
    /// In a row.
    failures: u32,
    /// Somebody wants all of it read, and not only what is known to have changed.
    anew: bool,
    /// When all of it was last read.
    whole_at: Instant,
}

/// What is to be done next.
enum Next {
    Start,
    Read,
    Wait,
    /// Nothing will be different until somebody does something about it.
    Stay,
    Restart,
}

/// Runs until the server is stopped or dropped.
pub(super) async fn keep(shared: Arc<Shared>) {
    let _stopped = shared.stopped.clone().drop_guard();
    let mut keeper = Keeper {
        shared: shared.clone(),
        line: None,
        failures: 0,
        anew: false,
        whole_at: Instant::now(),
    };
    let mut next = Next::Start;
    loop {
        // A fault in here must not leave a server that is never read again.
        let step = AssertUnwindSafe(Box::pin(keeper.step(next))).catch_unwind();
        next = tokio::select! {
            biased;
            () = shared.stopping.cancelled() => break,
            () = shared.restart.notified() => Next::Restart,
            next = step => match next {
                Ok(next) => next,
                Err(_panic) => keeper.crashed(),
            },
        };
    }
    shared.state.off();
    shared.logs.note("Stopped.");
}

impl Keeper {
    async fn step(&mut self, next: Next) -> Next {
        match next {
            Next::Start => self.start().await,
            Next::Read => self.read().await,
            Next::Wait => self.wait().await,
            Next::Stay => {
                self.shared.refresh.notified().await;
                self.anew = true;
                Next::Start
            }
            Next::Restart => {
                self.shared.logs.note("Begun anew on request.");
                self.shared.state.starting();
                self.line = None;
                self.failures = 0;
                self.anew = true;
                Next::Start
            }
        }
    }

    async fn start(&mut self) -> Next {
        if self.library().is_none() {
            self.remember().await;
        }
        match self.fill().await {
            Ok(line) => {
                let line = Arc::new(line);
                self.line = Some(line.clone());
                if let Some(library) = self.library() {
                    match self.move_to(&line, library).await {
                        Ok(()) => self.shared.state.opened(line),
                        Err(why) => {
                            self.note_failure(&why);
                            self.shared.state.failed(why);
                        }
                    }
                }
                Next::Read
            }
            Err(unfilled) => {
                let next = match &unfilled {
                    Unfilled::Unset(_) => Next::Stay,
                    Unfilled::Unread(_) => Next::Wait,
                };
                let why = unfilled.to_string();
                self.failures = self.failures.saturating_add(1);
                self.note_failure(&why);
                self.shared.state.failed(why.clone());
                self.begin_reading();
                self.end_reading(Err(why));
                next
            }
        }
    }

    /// Where it is may have been filled in just now. The error is a sentence.
    async fn move_to(&self, line: &Line, library: Arc<Library>) -> Result<(), String> {
        if self.is_offered_at(line) {
            return Ok(());
        }
        let base_url = line.base_url.clone();
        let turn = turn(&self.shared.settings.parses).await;
        let moved = turn.work(move || {
            let offer = Offer::of(&library, base_url.as_ref());
            Ok((offer, About::of(&library)))
        });
        let (offer, about) = moved.await?;
        let state = &self.shared.state;
        state.known(Findings {
            offer,
            about,
            problems: state.look(|status| status.problems.clone()),
            change: None,
            read_at: None,
        });
        Ok(())
    }

    /// Otherwise a call would show the keys for one place at another.
    fn is_offered_at(&self, line: &Line) -> bool {
        self.shared.state.offer().base_url == line.base_url
    }

    fn library(&self) -> Option<Arc<Library>> {
        self.shared.holding().library.clone()
    }

    async fn fill(&self) -> Result<Line, Unfilled> {
        let settings = &self.shared.settings;
        let filled = settings.fill.fill(&settings.config);
        let filled = timeout(self.shared.pace.owner, filled).await;
        let config = filled.unwrap_or_else(|_| {
            let why = "Its variables could not be read in time.";
            Err(Unfilled::Unread(why.into()))
        })?;
        // An address that is none stays none until somebody writes another.
        Line::new(config, &settings.caller).map_err(Unfilled::Unset)
    }

    /// What it offered last is there at once.
    async fn remember(&mut self) {
        // Many start at the same time, and what is kept may be large.
        let turn = turn(&self.shared.settings.parses).await;
        let kept = match self.load().await {
            Ok(kept) if kept.is_empty() => return,
            Ok(kept) => kept,
            Err(why) => return self.shared.logs.note(why),
        };
        let read_at = kept.iter().map(|kept| kept.fetched_at).max();
        let before = self.shared.state.offer();
        let seen = turn.work(move || Ok(Seen::of(Library::load(kept)?, None, &before)));
        let Seen {
            merged,
            offer,
            about,
            ..
        } = match seen.await {
            Ok(seen) => seen,
            Err(why) => {
                let why = format!("What is kept of it cannot be used. {why}");
                return self.shared.logs.note(why);
            }
        };
        let count = offer.len();
        self.shared.logs.note(format!(
            "Its last document is kept: {count} tools are listed until it is read again."
        ));
        self.shared.state.known(Findings {
            offer,
            about,
            problems: merged.problems,
            change: None,
            read_at,
        });
        self.shared.holding().library = Some(Arc::new(merged.library));
    }

    async fn load(&self) -> Result<Vec<Kept>, String> {
        let loading = self.shared.settings.documents.load();
        let loaded = timeout(self.shared.pace.owner, loading).await;
        loaded.unwrap_or_else(|_| Err("What is kept of it could not be read in time.".into()))
    }

    async fn read(&mut self) -> Next {
        let Some(line) = self.line.clone() else {
            return Next::Start;
        };
        self.begin_reading();
        let outcome = match self.look(&line).await {
            Ok(seen) => Ok(self.take(line, seen).await),
            Err(why) => {
                self.failures = self.failures.saturating_add(1);
                self.note_failure(&why);
                match self.library().is_some() && self.is_offered_at(&line) {
                    true => self.shared.state.degraded(line, why.clone()),
                    false => self.shared.state.failed(why.clone()),
                }
                Err(why)
            }
        };
        self.end_reading(outcome);
        Next::Wait
    }

    async fn look(&mut self, line: &Line) -> Result<Seen, String> {
        let Holding { library, unkept } = self.shared.holding().clone();
        let before = match (library, unkept) {
            (Some(library), true) => Some(Arc::new(library.unkept())),
            (library, _) => library,
        };
        let (parses, offer) = (&self.shared.settings.parses, self.shared.state.offer());
        let base_url = line.base_url.clone();
        let Some(url) = &line.url else {
            let turn = turn(parses).await;
            let kept = self.load().await?;
            let work = move || {
                let merged = Library::reload(before.as_deref(), kept)?;
                Ok(Seen::of(merged, base_url.as_ref(), &offer))
            };
            return turn.work(work).await;
        };
        let written = before.as_ref().filter(|_| !unkept);
        let known = written.map(|library| library.known());
        let anew = std::mem::take(&mut self.anew) || self.whole_at.elapsed() >= WHOLE_INTERVAL;
        if anew {
            self.whole_at = Instant::now();
        }
        let question = Question {
            url,
            headers: &line.headers,
            known: known.as_deref().unwrap_or_default(),
            anew,
            within: self.shared.pace.read,
        };
        let reading = fetch::read(&self.shared.settings.caller, &question).await;
        let reading = reading.map_err(|unread| unread.why)?;
        let work = move || {
            let merged = Library::merge(before.as_deref(), reading)?;
            Ok(Seen::of(merged, base_url.as_ref(), &offer))
        };
        turn(parses).await.work(work).await
    }

    async fn take(&mut self, line: Arc<Line>, seen: Seen) -> Arc<Change> {
        let shared = self.shared.clone();
        self.failures = 0;
        let Seen {
            merged,
            offer,
            about,
            change,
        } = seen;
        let library = self.library();
        let had = library.is_some();
        let is_new =
            !had || !change.is_empty() || shared.state.status().about.as_deref() != Some(&about);
        if is_new {
            diary::tell(&shared.logs, &offer, &about, had.then_some(&change));
        }
        let before = shared.state.status().problems;
        for problem in &merged.problems {
            if !before.contains(problem) {
                shared.logs.note(problem);
            }
        }
        let change = Arc::new(change);
        let news = is_new.then(|| Findings {
            offer,
            about,
            problems: Vec::new(),
            change: (had && !change.is_empty()).then(|| Change::clone(&change)),
            read_at: None,
        });
        let names = library.map(|library| library.names());
        let is_same = merged.keep.is_empty() && names.as_ref() == Some(&merged.names);
        // What was given is kept already.
        let is_kept = is_same || line.url.is_none();
        shared.hold(merged.library, is_kept);
        shared.state.read(line, news, merged.problems);
        if !is_kept {
            let documents = &shared.settings.documents;
            let keeping = documents.keep(merged.keep, merged.names);
            let kept = timeout(shared.pace.owner, keeping).await;
            let kept = kept.unwrap_or_else(|_| Err("it took too long".into()));
            shared.holding().unkept = kept.is_err();
            if let Err(why) = kept {
                let source = &shared.settings.info.id;
                tracing::warn!(%source, %why, "the document of an OpenAPI server cannot be kept");
            }
        }
        change
    }

    /// One that is tried again and again would fill the log with the same.
    fn note_failure(&self, why: &str) {
        let is_new = match self.shared.state.now() {
            SourceState::Degraded { why: before } | SourceState::Failed { why: before } => {
                before != why
            }
            SourceState::Starting
            | SourceState::Ready
            | SourceState::Sleeping
            | SourceState::Off
            | SourceState::Offline => true,
        };
        if is_new {
            self.shared.logs.note(why);
        }
    }

    async fn wait(&mut self) -> Next {
        let is_given = matches!(
            self.shared.settings.config.origin,
            OpenapiOrigin::Given { .. }
        );
        let time = async {
            match is_given && self.failures == 0 {
                true => std::future::pending().await,
                false => sleep(self.shared.pace.wait(self.failures)).await,
            }
        };
        tokio::select! {
            () = time => {}
            () = self.shared.refresh.notified() => self.anew = true,
        }
        Next::Read
    }

    fn begin_reading(&self) {
        self.shared
            .readings
            .send_modify(|readings| readings.begun += 1);
    }

    fn end_reading(&self, outcome: Result<Arc<Change>, String>) {
        self.shared.readings.send_modify(|readings| {
            *readings = Readings {
                begun: readings.begun,
                ended: readings.begun,
                outcome,
            }
        });
    }

    /// This is a fault of ours: nothing a server does may lead here.
    fn crashed(&mut self) -> Next {
        let source = &self.shared.settings.info.id;
        tracing::error!(%source, "the keeper of an OpenAPI server panicked");
        let why = "Tenon met a fault of its own while it read this server; its log says more.";
        self.failures = self.failures.saturating_add(8);
        self.shared.state.failed(why.into());
        self.end_reading(Err(why.into()));
        Next::Wait
    }
}
