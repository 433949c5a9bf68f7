//! The task that keeps the tools of a server up to date: it loads stored documents, then
//! fetches them, again and again.
//!
//! A restart or stop interrupts whatever it is doing. Nothing a server does takes away the
//! tools it offered last.

use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{CodedError, ErrorDetail, OpenapiOrigin, SourceState};
use tokio::time::{Instant, sleep, timeout};

use super::change_log;
use super::client::OpenapiClient;
use super::document_set::DocumentSet;
use super::inherited::LoadedDocuments;
use super::read_result::DocumentReadResult;
use super::status::StatusUpdate;
use super::tools::OpenapiTools;
use super::{OpenapiShared, RefreshProgress};
use crate::fault::ServerFault;
use crate::jitter::spread;
use crate::openapi::OpenapiError;
use crate::openapi::document_store::{DocumentRecord, DocumentStoreError};
use crate::openapi::fetch::{self, DocumentRequest};
use crate::parse_queue::acquire;
use crate::supervisor::{Backoff, DocumentSummary, SupervisedTask, ToolChanges, run};
use crate::variables::FillError;

/// How often the files that a document refers to are read though it has not changed itself:
/// there may be thousands of them.
const FILES_INTERVAL: Duration = Duration::from_secs(60 * 60);

struct OpenapiSupervisor {
    shared: Arc<OpenapiShared>,
    client: Option<Arc<OpenapiClient>>,
    backoff: Backoff,
    /// Somebody asked to read all files again, not only changed ones.
    refetch_files: bool,
    /// When all of it was last read.
    files_fetched_at: Instant,
}

/// The next step of the supervisor.
enum OpenapiStep {
    Start,
    Read,
    /// Until it is read again after a failure; without one, as the schedule says.
    Wait(Option<Duration>),
    /// Nothing will be different until somebody does something about it.
    Stay,
    Restart,
}

/// Runs until the server is stopped or dropped.
pub(super) async fn supervise(shared: Arc<OpenapiShared>) {
    let schedule = &shared.schedule;
    let supervisor = OpenapiSupervisor {
        shared: shared.clone(),
        client: None,
        backoff: Backoff::doubling(schedule.backoff, schedule.max_backoff),
        refetch_files: false,
        files_fetched_at: Instant::now(),
    };
    run(shared.core.clone(), supervisor, OpenapiStep::Start).await;
}

impl SupervisedTask for OpenapiSupervisor {
    type Step = OpenapiStep;

    const RESTART: OpenapiStep = OpenapiStep::Restart;

    async fn step(&mut self, step: OpenapiStep) -> OpenapiStep {
        match step {
            OpenapiStep::Start => self.start().await,
            OpenapiStep::Read => self.read().await,
            OpenapiStep::Wait(retry) => self.wait(retry).await,
            OpenapiStep::Stay => {
                self.shared.refresh.notified().await;
                self.refetch_files = true;
                OpenapiStep::Start
            }
            OpenapiStep::Restart => {
                self.shared.core.logs.note("Begun anew on request.");
                self.shared.core.status.starting();
                self.client = None;
                self.backoff.reset();
                self.refetch_files = true;
                OpenapiStep::Start
            }
        }
    }

    async fn crashed(&mut self) -> OpenapiStep {
        let source = &self.shared.settings.info.id;
        tracing::error!(%source, "the supervisor of an OpenAPI server panicked");
        let error = OpenapiError::Panicked;
        let why = error.detail();
        let retry = self.backoff.longest_delay(&why);
        self.shared.core.status.failed(why, None, None);
        self.end_reading(Err(error));
        OpenapiStep::Wait(Some(retry))
    }

    async fn end(&mut self) {}
}

impl OpenapiSupervisor {
    async fn start(&mut self) -> OpenapiStep {
        if self.documents().is_none() {
            self.remember().await;
        }
        match self.fill().await {
            Ok(client) => {
                let client = Arc::new(client);
                self.client = Some(client.clone());
                if let Some(documents) = self.documents() {
                    match self.move_to(&client, documents).await {
                        Ok(()) => self.shared.core.status.set_callable(client),
                        Err(error) => {
                            let why = error.detail();
                            self.note_failure(&why);
                            self.shared.core.status.failed(why, None, None);
                        }
                    }
                }
                OpenapiStep::Read
            }
            Err(error) => {
                let why = error.detail();
                let retry = self.failed(&why);
                self.shared.core.status.failed(why, None, None);
                self.begin_reading();
                let next = match &error {
                    OpenapiError::Substitution(FillError::Unread(_)) => {
                        OpenapiStep::Wait(Some(retry))
                    }
                    // Nothing changes until somebody edits the configuration.
                    _ => OpenapiStep::Stay,
                };
                self.end_reading(Err(error));
                next
            }
        }
    }

    /// The base URL may have been filled in just now.
    async fn move_to(
        &self,
        client: &OpenapiClient,
        documents: Arc<DocumentSet>,
    ) -> Result<(), OpenapiError> {
        if self.is_offered_at(client) {
            return Ok(());
        }
        let base_url = client.base_url.clone();
        let slot = acquire(&self.shared.settings.parses).await;
        let moved = slot.run(move || {
            let tools = OpenapiTools::of(&documents, base_url.as_ref());
            Ok::<_, OpenapiError>((tools, DocumentSummary::of(&documents)))
        });
        let (tools, about) = moved.await?;
        let state = &self.shared.core.status;
        state.set_stale(StatusUpdate {
            tools,
            about,
            problems: state.read(|status| status.problems.clone()),
            change: None,
            read_at: None,
        });
        Ok(())
    }

    /// Otherwise a call would show the keys for one place at another.
    fn is_offered_at(&self, client: &OpenapiClient) -> bool {
        self.shared.core.status.offer().base_url == client.base_url
    }

    fn documents(&self) -> Option<Arc<DocumentSet>> {
        self.shared.loaded().documents.clone()
    }

    async fn fill(&self) -> Result<OpenapiClient, OpenapiError> {
        let settings = &self.shared.settings;
        let filled = settings.fill.fill(&settings.config);
        let filled = timeout(self.shared.schedule.store_timeout, filled).await;
        let config = filled
            .unwrap_or_else(|_| Err(FillError::Unread(ServerFault::VariablesTimeout.into())))?;
        OpenapiClient::new(config, &settings.http)
    }

    /// Loads the stored documents, so that tools are listed at once.
    async fn remember(&mut self) {
        // Many start at the same time, and what is kept may be large.
        let slot = acquire(&self.shared.settings.parses).await;
        let stored = match self.load().await {
            Ok(stored) if stored.is_empty() => return,
            Ok(stored) => stored,
            Err(error) => return self.shared.core.logs.note(error.to_string()),
        };
        let read_at = stored.iter().map(|one| one.fetched_at).max();
        let before = self.shared.core.status.offer();
        let work = move || {
            let update = DocumentSet::load(stored)?;
            Ok::<_, OpenapiError>(DocumentReadResult::of(update, None, &before))
        };
        let read = slot.run(work).await;
        let DocumentReadResult {
            merged,
            tools,
            about,
            ..
        } = match read {
            Ok(read) => read,
            Err(error) => {
                let note = format!("What is kept of it cannot be used. {error}");
                return self.shared.core.logs.note(note);
            }
        };
        let count = tools.len();
        self.shared.core.logs.note(format!(
            "Its last document is kept: {count} tools are listed until it is read again."
        ));
        self.shared.core.status.set_stale(StatusUpdate {
            tools,
            about,
            problems: merged.problems,
            change: None,
            read_at,
        });
        self.shared.loaded().documents = Some(Arc::new(merged.set));
    }

    async fn load(&self) -> Result<Vec<DocumentRecord>, OpenapiError> {
        let loading = self.shared.settings.documents.load();
        let loaded = timeout(self.shared.schedule.store_timeout, loading).await;
        Ok(loaded.map_err(|_| OpenapiError::StoreTimedOut)??)
    }

    async fn read(&mut self) -> OpenapiStep {
        let Some(client) = self.client.clone() else {
            return OpenapiStep::Start;
        };
        self.begin_reading();
        let (outcome, retry) = match self.fetch(&client).await {
            Ok(read) => (Ok(self.apply(client, read).await), None),
            Err(error) => {
                let why = error.detail();
                let retry = self.failed(&why);
                if self.documents().is_some() && self.is_offered_at(&client) {
                    self.shared.core.status.set_degraded(client, why);
                } else {
                    self.shared.core.status.failed(why, None, None);
                }
                (Err(error), Some(retry))
            }
        };
        self.end_reading(outcome);
        OpenapiStep::Wait(retry)
    }

    async fn fetch(&mut self, client: &OpenapiClient) -> Result<DocumentReadResult, OpenapiError> {
        let LoadedDocuments {
            documents,
            unstored,
        } = self.shared.loaded().clone();
        let before = match (documents, unstored) {
            (Some(documents), true) => Some(Arc::new(documents.without_fingerprints())),
            (documents, _) => documents,
        };
        let (parses, tools) = (
            &self.shared.settings.parses,
            self.shared.core.status.offer(),
        );
        let base_url = client.base_url.clone();
        let Some(url) = &client.url else {
            let slot = acquire(parses).await;
            let stored = self.load().await?;
            let work = move || {
                let merged = DocumentSet::reload(before.as_deref(), stored)?;
                Ok(DocumentReadResult::of(merged, base_url.as_ref(), &tools))
            };
            return slot.run(work).await;
        };
        let stored = before.as_ref().filter(|_| !unstored);
        let cached = stored.map(|documents| documents.cached());
        let refetch_files = std::mem::take(&mut self.refetch_files)
            || self.files_fetched_at.elapsed() >= FILES_INTERVAL;
        if refetch_files {
            self.files_fetched_at = Instant::now();
        }
        let request = DocumentRequest {
            url,
            headers: &client.headers,
            cached: cached.as_deref().unwrap_or_default(),
            refetch_files,
            timeout: self.shared.schedule.fetch_timeout,
        };
        let fetched = fetch::read(&self.shared.settings.http, &request).await?;
        let work = move || {
            let merged = DocumentSet::merge(before.as_deref(), fetched)?;
            Ok(DocumentReadResult::of(merged, base_url.as_ref(), &tools))
        };
        acquire(parses).await.run(work).await
    }

    async fn apply(
        &mut self,
        client: Arc<OpenapiClient>,
        read: DocumentReadResult,
    ) -> Arc<ToolChanges> {
        let shared = self.shared.clone();
        self.backoff.reset();
        let DocumentReadResult {
            merged,
            tools,
            about,
            change,
        } = read;
        let documents = self.documents();
        let had = documents.is_some();
        let is_new = !had
            || !change.is_empty()
            || shared.core.status.status().document.as_deref() != Some(&about);
        if is_new {
            change_log::log_changes(&shared.core.logs, &tools, &about, had.then_some(&change));
        }
        let before = shared.core.status.status().problems;
        for problem in &merged.problems {
            if !before.contains(problem) {
                shared.core.logs.note(&problem.message);
            }
        }
        let change = Arc::new(change);
        let update = is_new.then(|| StatusUpdate {
            tools,
            about,
            problems: Vec::new(),
            change: (had && !change.is_empty()).then(|| ToolChanges::clone(&change)),
            read_at: None,
        });
        let names = documents.map(|documents| documents.names());
        let is_same = merged.to_store.is_empty() && names.as_ref() == Some(&merged.names);
        // A document that was pasted is in the store already.
        let is_stored = is_same || client.url.is_none();
        shared.set_documents(merged.set, is_stored);
        shared
            .core
            .status
            .set_ready(client, update, merged.problems);
        if !is_stored {
            let documents = &shared.settings.documents;
            let storing = documents.store(merged.to_store, merged.names);
            let stored = timeout(shared.schedule.store_timeout, storing).await;
            let too_long = || DocumentStoreError(ServerFault::StoreTimeout.into());
            let stored = stored.unwrap_or_else(|_| Err(too_long()));
            shared.loaded().unstored = stored.is_err();
            if let Err(why) = stored {
                let source = &shared.settings.info.id;
                tracing::warn!(%source, %why, "the document of an OpenAPI server cannot be kept");
            }
        }
        change
    }

    /// How long to wait before it is tried again.
    fn failed(&mut self, why: &ErrorDetail) -> Duration {
        self.note_failure(why);
        self.backoff.delay(why)
    }

    /// Logs a failure, but not each repeated failure: retries would fill the log.
    fn note_failure(&self, why: &ErrorDetail) {
        let is_new = match self.shared.core.status.state() {
            SourceState::Degraded { why: before } | SourceState::Failed { why: before } => {
                before != *why
            }
            SourceState::Starting
            | SourceState::Ready
            | SourceState::Sleeping
            | SourceState::Off
            | SourceState::Offline => true,
        };
        if is_new {
            self.shared.core.logs.note(&why.message);
        }
    }

    async fn wait(&mut self, retry: Option<Duration>) -> OpenapiStep {
        let is_uploaded = matches!(
            self.shared.settings.config.origin,
            OpenapiOrigin::Uploaded { .. }
        );
        let time = async {
            match retry {
                Some(retry) => sleep(retry).await,
                None if is_uploaded => std::future::pending().await,
                // Servers that were started together are not read together for ever.
                None => sleep(spread(self.shared.schedule.interval)).await,
            }
        };
        tokio::select! {
            () = time => {}
            () = self.shared.refresh.notified() => self.refetch_files = true,
        }
        OpenapiStep::Read
    }

    fn begin_reading(&self) {
        self.shared
            .readings
            .send_modify(|readings| readings.begun += 1);
    }

    fn end_reading(&self, outcome: Result<Arc<ToolChanges>, OpenapiError>) {
        self.shared.readings.send_modify(|readings| {
            *readings = RefreshProgress {
                begun: readings.begun,
                ended: readings.begun,
                outcome,
            }
        });
    }
}
