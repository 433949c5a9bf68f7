//! An API client that follows a turn of a chat, and makes the calls of the tools that it brought along.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenon_domain::{
    CallEndError, CallId, CallRecord, ChatId, EventBody, StopReason, ToolAnswer, ToolError,
    ToolResult, TurnOutcome, UserId,
};
use tenon_store::Result as StoreResult;
use tokio::sync::oneshot;

use super::Turn;
use crate::client_stream::{ClientStream, CompletionStream};
use crate::lock::lock;
use crate::recorder::Recorder;
use crate::{Agent, Error, TurnRequest};

/// How long a turn waits for its client to make the calls that were handed over.
const RESULT_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The results of calls that a client has made.
pub type ClientResults = HashMap<CallId, ToolResult>;

/// The client of a running turn.
#[derive(Debug)]
pub(crate) struct ClientSession {
    pub(super) stream: ClientStream,
    pending: Mutex<Option<PendingResults>>,
}

#[derive(Debug)]
struct PendingResults {
    calls: Vec<CallId>,
    results: oneshot::Sender<ClientResults>,
}

/// The clients of the turns that run now. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientSessions(Arc<Mutex<HashMap<ChatId, Arc<ClientSession>>>>);

impl Agent {
    /// Starts a turn whose answer the client reads here. The turn goes on where it reads no further.
    pub async fn start_for_client(&self, request: TurnRequest) -> Result<CompletionStream, Error> {
        let client = Arc::new(ClientSession {
            stream: ClientStream::default(),
            pending: Mutex::default(),
        });
        let answer = client.stream.open();
        self.start_turn(request, Some(client)).await?;
        Ok(answer)
    }

    /// Goes on with a turn that waits for the results of calls its client makes.
    pub async fn continue_for_client(
        &self,
        user: &UserId,
        chat: &ChatId,
        results: ClientResults,
    ) -> Result<CompletionStream, Error> {
        self.store.chat(user, chat).await?;
        let client = self.clients.of(chat).ok_or(Error::NoPendingCalls)?;
        let pending = client.take_pending(&results)?;
        let answer = client.stream.open();
        // It may have stopped waiting this very moment.
        let sent = pending.results.send(results);
        sent.map_err(|_| Error::NoPendingCalls)?;
        Ok(answer)
    }
}

impl ClientSessions {
    pub(super) fn insert(&self, chat: &ChatId, client: Arc<ClientSession>) {
        let mut clients = lock(&self.0);
        clients.insert(chat.clone(), client);
    }

    pub(super) fn remove(&self, chat: &ChatId) {
        let mut clients = lock(&self.0);
        clients.remove(chat);
    }

    fn of(&self, chat: &ChatId) -> Option<Arc<ClientSession>> {
        let clients = lock(&self.0);
        clients.get(chat).cloned()
    }
}

impl ClientSession {
    /// Takes the pending calls that these results belong to. Results of other calls are an error.
    fn take_pending(&self, results: &ClientResults) -> Result<PendingResults, Error> {
        let mut pending = lock(&self.pending);
        let is_of = |pending: &mut PendingResults| {
            let mut calls = pending.calls.iter();
            calls.any(|call| results.contains_key(call))
        };
        pending.take_if(is_of).ok_or(Error::NoPendingCalls)
    }

    fn wait_for(&self, calls: &[CallRecord]) -> oneshot::Receiver<ClientResults> {
        let (results, receiver) = oneshot::channel();
        let calls = calls.iter().map(|call| call.id.clone()).collect();
        let pending = PendingResults { calls, results };
        *lock(&self.pending) = Some(pending);
        receiver
    }
}

impl Turn {
    /// Hands calls over to the client, and waits until it has made them.
    pub(super) async fn hand_over_to(
        &self,
        client: &ClientSession,
        calls: &[CallRecord],
    ) -> StoreResult<Vec<ToolAnswer>> {
        let started = calls.iter().map(|call| EventBody::CallStarted {
            call_id: call.id.clone(),
        });
        self.emit(started.collect()).await?;
        let begun = Instant::now();
        let results = client.wait_for(calls);
        client
            .stream
            .calls(calls.iter().map(CallRecord::request).collect());
        let stop = Some(StopReason::ToolCalls);
        client
            .stream
            .end(TurnOutcome::Done, stop, self.usage.total());
        let mut made = tokio::select! {
            biased;
            () = self.slot.cancel.cancelled() => Err(ToolError::cancelled()),
            () = self.agent.running.closing.cancelled() => Err(ToolError::cancelled()),
            made = results => made.map_err(|_| ToolError::cancelled()),
            () = tokio::time::sleep(RESULT_TIMEOUT) => Err(CallEndError::NoClientResult.into()),
        };
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let result = match &mut made {
                Ok(results) => results
                    .remove(&call.id)
                    .unwrap_or_else(|| Err(CallEndError::NoClientResult.into())),
                Err(error) => Err(error.clone()),
            };
            self.call_finished(call, &result, begun.elapsed()).await?;
            answers.push(ToolAnswer {
                call_id: call.id.clone(),
                tool_id: call.tool_id.clone(),
                result,
            });
        }
        Ok(answers)
    }
}
