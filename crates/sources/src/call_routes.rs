//! Calls that another server of the cluster executes: they go there over the bus, their progress and
//! their outcome come back.
//!
//! The deadlines of a call are kept where it was made: dropping its future cancels it there. It is executed at
//! most once, and nobody is asked anything by it: whoever could be is at the other server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tenon_bus::{Bus, BusError};
use tenon_domain::{CallId, ChatId, FormAnswer, FormRequest, MessageId, ToolId, UserId};
use tenon_net::TraceContext;
use tenon_net::trace_context::TRACEPARENT;
use tenon_tools::{CallClient, CallContext, CallOrigin, CallTimer, ProgressUpdate};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::call_progress::RemoteCallProgress;
use crate::lock::lock;

/// A topic on the bus.
const PROGRESS: &str = "call.progress";

/// Only ends what the deadlines of a call forgot.
const CALL_TIMEOUT: Duration = Duration::from_secs(2 * 60 * 60);

/// Progress that arrives faster than it is read is dropped: of all calls, and of one.
const NOTE_QUEUE: usize = 1024;
const PROGRESS_QUEUE: usize = 16;

/// Cheap to clone.
#[derive(Clone)]
pub struct CallRoutes {
    bus: Bus,
    calls: Arc<Mutex<CallsElsewhere>>,
}

/// The calls that other servers make for this one.
type CallsElsewhere = HashMap<CallId, mpsc::Sender<RemoteCallProgress>>;

/// The caller and origin of a call, as sent to the server that executes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RoutedCall {
    pub(crate) user: UserId,
    call_id: CallId,
    tool_id: Option<ToolId>,
    chat_id: Option<ChatId>,
    message_id: Option<MessageId>,
    /// Of the span that makes it, where traces are followed.
    #[serde(default)]
    traceparent: Option<String>,
    #[serde(default)]
    tracestate: Option<String>,
}

/// Why the outcome of a call is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteError {
    NotBegun,
    /// The request was sent and no reply came: the call may have taken effect.
    Lost,
}

/// Removes a call that has ended.
struct CallRouteGuard<'a>(&'a CallRoutes, &'a CallId);

impl CallRoutes {
    pub fn new(bus: Bus) -> Self {
        let routes = Self {
            calls: Arc::default(),
            bus,
        };
        if !routes.bus.is_alone() {
            let (calls, mut notes) = (routes.calls.clone(), routes.bus.notes(PROGRESS, NOTE_QUEUE));
            tokio::spawn(async move {
                while let Some(note) = notes.recv().await {
                    if let Ok(progress) = serde_json::from_slice(&note.body) {
                        deliver(&calls, progress);
                    }
                }
            });
        }
        routes
    }

    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Has another server execute a call, and passes on its progress.
    pub(crate) async fn call(
        &self,
        server: &str,
        topic: &'static str,
        body: Vec<u8>,
        context: &CallContext,
    ) -> Result<Bytes, RouteError> {
        let (sender, mut progress) = mpsc::channel(PROGRESS_QUEUE);
        lock(&self.calls).insert(context.call_id.clone(), sender);
        let _guard = CallRouteGuard(self, &context.call_id);
        let request = self.bus.request(server, topic, body, CALL_TIMEOUT);
        tokio::pin!(request);
        let reply = loop {
            tokio::select! {
                biased;
                reply = &mut request => break reply,
                Some(progress) = progress.recv() => progress.report(context),
            }
        };
        reply.map_err(|error| match error {
            BusError::Away | BusError::Refused | BusError::TooLong => RouteError::NotBegun,
            BusError::Gone | BusError::TimedOut => RouteError::Lost,
        })
    }

    /// The context for a call that is executed here for another server: progress is sent back
    /// there, and its timers apply.
    pub(crate) fn context(&self, from: &Arc<str>, call: &RoutedCall) -> CallContext {
        let client = RoutedCallClient {
            bus: self.bus.clone(),
            server: from.clone(),
            call: call.call_id.clone(),
        };
        CallContext {
            call_id: call.call_id.clone(),
            origin: CallOrigin {
                tool_id: call.tool_id.clone(),
                chat_id: call.chat_id.clone(),
                message_id: call.message_id.clone(),
            },
            user: call.user.clone(),
            workspace: None,
            cancel: CancellationToken::new(),
            client: Arc::new(client),
            timer: CallTimer::default(),
        }
    }
}

impl RoutedCall {
    pub(crate) fn new(context: &CallContext) -> Self {
        let CallOrigin {
            tool_id,
            chat_id,
            message_id,
        } = context.origin.clone();
        let trace = TraceContext::current();
        let (traceparent, tracestate) = trace
            .map(|trace| (trace.traceparent, trace.tracestate))
            .unzip();
        Self {
            user: context.user.clone(),
            call_id: context.call_id.clone(),
            tool_id,
            chat_id,
            message_id,
            traceparent,
            tracestate: tracestate.flatten(),
        }
    }

    /// The span of executing it for the server that sent it, in that one's trace.
    pub(crate) fn span(&self) -> Span {
        let span = tracing::info_span!(
            "routed_call",
            "otel.kind" = "server",
            "gen_ai.tool.call.id" = self.call_id.as_str(),
        );
        let parent = TraceContext::read(|name| match name {
            TRACEPARENT => self.traceparent.as_deref(),
            _ => self.tracestate.as_deref(),
        });
        if let Some(parent) = parent {
            parent.set_parent_of(&span);
        }
        span
    }
}

impl Drop for CallRouteGuard<'_> {
    fn drop(&mut self) {
        lock(&self.0.calls).remove(self.1);
    }
}

fn deliver(calls: &Mutex<CallsElsewhere>, progress: RemoteCallProgress) {
    if let Some(call) = lock(calls).get(&progress.call_id) {
        let _ = call.try_send(progress);
    }
}

/// Tells the server that made a call how far it is.
#[derive(Debug)]
struct RoutedCallClient {
    bus: Bus,
    server: Arc<str>,
    call: CallId,
}

impl RoutedCallClient {
    fn tell(&self, update: Option<ProgressUpdate>) {
        let mut progress = RemoteCallProgress {
            call_id: self.call.clone(),
            progress: None,
            total: None,
            message: None,
        };
        if let Some(update) = update {
            progress.progress = Some(update.progress);
            progress.total = update.total;
            progress.message = update.message;
        }
        let progress = serde_json::to_vec(&progress).unwrap_or_default();
        self.bus.notify(&self.server, PROGRESS, progress);
    }
}

#[async_trait]
impl CallClient for RoutedCallClient {
    fn progress(&self, progress: ProgressUpdate) {
        self.tell(Some(progress));
    }

    fn keep_alive(&self) {
        self.tell(None);
    }

    async fn ask(&self, _message: String, _wants: FormRequest) -> FormAnswer {
        FormAnswer::Decline
    }
}

impl fmt::Debug for CallRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRoutes").finish_non_exhaustive()
    }
}
