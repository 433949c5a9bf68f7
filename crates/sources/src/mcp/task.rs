//! A call that became a task: asked after until it is done.
//!
//! Two kinds exist. Those of 2025-11-25 give their result to `tasks/result`,
//! which also brings their questions. Those of the extension tell everything in
//! the answer to `tasks/get`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tenon_tools::{CallContext, Progress};

use super::board::OnBoard;
use super::call::{answers, told};
use super::fault::Fault;
use super::link::CallFault;
use super::message::{Params, Refusal};
use super::talk::{Question, Talk};
use super::text;

/// How often a task is asked after, where the server does not say and at the bounds.
const INTERVAL: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(30);

/// Tells the server that nobody waits any longer.
const GOODBYE: Duration = Duration::from_secs(10);

/// Comes back with the result of the call it was.
pub(super) async fn follow(
    talk: &Arc<Talk>,
    call: &mut OnBoard,
    created: Map<String, Value>,
    context: &CallContext,
) -> Result<Map<String, Value>, CallFault> {
    let id = created.get("taskId").and_then(Value::as_str);
    let id = id.ok_or_else(|| told("The server began a task without a name.".into()))?;
    let mut running = Running {
        talk,
        id: id.to_owned(),
        over: false,
    };
    call.follows(id);
    let mut extension = created.contains_key("resultType");
    let mut task = created;
    let mut polls = 0_u32;
    loop {
        let status = task
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or("working");
        match status {
            "completed" | "failed" | "cancelled" => running.over = true,
            _ => {}
        }
        match (status, extension) {
            ("completed", true) => {
                return match task.remove("result") {
                    Some(Value::Object(result)) => Ok(result),
                    _ => Err(told("The task was completed without a result.".into())),
                };
            }
            ("failed", true) => return Err(failed(&task)),
            ("cancelled", _) => return Err(told("The server cancelled the task.".into())),
            ("input_required", true) => {
                let requests = task.get("inputRequests").and_then(Value::as_object);
                if let Some(requests) = requests.filter(|requests| !requests.is_empty()) {
                    let responses = answers(requests, context).await?;
                    let params = running.params().with("inputResponses", &responses);
                    running.ask(call, "tasks/update", params, context).await?;
                }
            }
            // Waits until it is done, and brings the questions on the way there.
            ("completed" | "failed" | "input_required", false) => {
                let answer = running
                    .ask(call, "tasks/result", running.params(), context)
                    .await;
                running.over = !matches!(answer, Err(CallFault::Broken(_)));
                return answer;
            }
            _ => {}
        }
        tokio::time::sleep(interval(&task)).await;
        task = running
            .ask(call, "tasks/get", running.params(), context)
            .await?;
        extension |= task.contains_key("resultType");
        polls = polls.saturating_add(1);
        // A server that answers for its task is alive, and so is the task.
        context.pulse.beat();
        if let Some(message) = task.get("statusMessage").and_then(Value::as_str) {
            context.progress(Progress {
                progress: f64::from(polls),
                total: None,
                message: Some(text::line(message, 500)),
            });
        }
    }
}

/// A task that is to be cancelled if nobody waits for it any longer.
struct Running<'a> {
    talk: &'a Arc<Talk>,
    id: String,
    over: bool,
}

impl Running<'_> {
    fn params(&self) -> Params {
        Params::new().with("taskId", &self.id)
    }

    async fn ask(
        &self,
        call: &mut OnBoard,
        method: &str,
        params: Params,
        context: &CallContext,
    ) -> Result<Map<String, Value>, CallFault> {
        let question = Question::new(method, params).about(&self.id);
        let answer = self.talk.ask_in(call, question, context).await;
        let answer = answer.map_err(|fault| match fault {
            // The call that the task is of has arrived.
            Fault::Unreached(why) => CallFault::Broken(why),
            other => other.call_fault(),
        })?;
        serde_json::from_str(answer.get()).map_err(|error| {
            Fault::unreadable("What the server says of the task cannot be read", &error)
                .call_fault()
        })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if self.over {
            return;
        }
        let (talk, id) = (self.talk.clone(), self.id.clone());
        runtime.spawn(async move {
            let params = Params::new().with("taskId", &id);
            let goodbye = Question::new("tasks/cancel", params).about(&id);
            let _ = talk.ask(goodbye, GOODBYE).await;
        });
    }
}

fn interval(task: &Map<String, Value>) -> Duration {
    let said = task
        .get("pollIntervalMs")
        .or_else(|| task.get("pollInterval"));
    let said = said.and_then(Value::as_u64).map(Duration::from_millis);
    said.unwrap_or(INTERVAL).clamp(SHORTEST, LONGEST)
}

fn failed(task: &Map<String, Value>) -> CallFault {
    let error = task.get("error").cloned().unwrap_or_default();
    match serde_json::from_value::<Refusal>(error) {
        Ok(refusal) => Fault::Refused(refusal).call_fault(),
        Err(_) => told("The task failed without saying why.".into()),
    }
}
