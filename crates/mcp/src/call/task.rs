//! A call that became a task, polled until it is done.
//!
//! Two kinds exist. Those of 2025-11-25 give their result to `tasks/result`, during
//! which they also send their elicitations. Those of the extension tell everything in
//! the result of `tasks/get`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tenon_text as text;

use super::input_responses;
use crate::error::{Error, ProtocolError, json_reason};
use crate::handler::{CallHandler, ProgressNotification};
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::pending::ActiveCall;
use crate::session::{RpcRequest, Session};

/// How often a task is polled where the server does not say, and the bounds of what it says.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(30);

/// For telling the server that nobody waits any longer.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the result of the call it was.
pub(crate) async fn poll_until_done(
    session: &Arc<Session>,
    call: &ActiveCall,
    created: Map<String, Value>,
    handler: &dyn CallHandler,
) -> Result<Map<String, Value>, Error> {
    let id = created.get("taskId").and_then(Value::as_str);
    let id = id.ok_or(ProtocolError::TaskWithoutId)?;
    let mut running = RunningTask {
        session,
        id: id.to_owned(),
        is_over: false,
    };
    call.set_task(id);
    let mut is_extension = created.contains_key("resultType");
    let mut task = created;
    let mut polls = 0_u32;
    loop {
        let status = task
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or("working");
        if matches!(status, "completed" | "failed" | "cancelled") {
            running.is_over = true;
        }
        match (status, is_extension) {
            ("completed", true) => {
                return match task.remove("result") {
                    Some(Value::Object(result)) => Ok(result),
                    _ => Err(ProtocolError::TaskWithoutResult.into()),
                };
            }
            ("failed", true) => return Err(task_error(&task)),
            ("cancelled", _) => return Err(ProtocolError::TaskCancelled.into()),
            ("input_required", true) => {
                let requests = task.get("inputRequests").and_then(Value::as_object);
                if let Some(requests) = requests.filter(|requests| !requests.is_empty()) {
                    let responses = input_responses(requests, handler).await?;
                    let params = running.params().with("inputResponses", &responses);
                    running
                        .request(call, "tasks/update", params, handler)
                        .await?;
                }
            }
            // Waits until it is done, and brings the elicitations on the way there.
            ("completed" | "failed" | "input_required", false) => {
                let params = running.params();
                let result = running.request(call, "tasks/result", params, handler).await;
                running.is_over = !matches!(result, Err(Error::ConnectionLost(_)));
                return result;
            }
            _ => {}
        }
        tokio::time::sleep(poll_interval(&task)).await;
        let params = running.params();
        task = running.request(call, "tasks/get", params, handler).await?;
        is_extension |= task.contains_key("resultType");
        polls = polls.saturating_add(1);
        handler.is_alive();
        if let Some(message) = task.get("statusMessage").and_then(Value::as_str) {
            handler.progress(ProgressNotification {
                progress: f64::from(polls),
                total: None,
                message: Some(text::line(message, 500)),
            });
        }
    }
}

/// Cancels the task if it is dropped before that is over.
struct RunningTask<'a> {
    session: &'a Arc<Session>,
    id: String,
    is_over: bool,
}

impl RunningTask<'_> {
    fn params(&self) -> ParamsBuilder {
        ParamsBuilder::new().with("taskId", &self.id)
    }

    async fn request(
        &self,
        call: &ActiveCall,
        method: &str,
        params: ParamsBuilder,
        handler: &dyn CallHandler,
    ) -> Result<Map<String, Value>, Error> {
        let request = RpcRequest::new(method, params).with_name(&self.id);
        let (_, response) = self.session.request_in_call(call, request, handler).await;
        let response = response.map_err(Error::after_first_request)?;
        serde_json::from_str(response.get())
            .map_err(|error| ProtocolError::InvalidTask(json_reason(&error)).into())
    }
}

impl Drop for RunningTask<'_> {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if self.is_over {
            return;
        }
        let (session, id) = (self.session.clone(), self.id.clone());
        runtime.spawn(async move {
            let params = ParamsBuilder::new().with("taskId", &id);
            let cancel = RpcRequest::new("tasks/cancel", params).with_name(&id);
            let _ = session.request(cancel, CANCEL_TIMEOUT).await;
        });
    }
}

fn poll_interval(task: &Map<String, Value>) -> Duration {
    let interval = task
        .get("pollIntervalMs")
        .or_else(|| task.get("pollInterval"));
    let interval = interval.and_then(Value::as_u64).map(Duration::from_millis);
    interval
        .unwrap_or(POLL_INTERVAL)
        .clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL)
}

fn task_error(task: &Map<String, Value>) -> Error {
    let error = task.get("error").cloned().unwrap_or_default();
    match serde_json::from_value::<RpcError>(error) {
        Ok(error) => Error::Rpc(error),
        Err(_) => ProtocolError::TaskFailed.into(),
    }
}
