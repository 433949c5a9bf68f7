//! One call of a tool: as many rounds as the server needs to be done with it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenon_domain::{ToolError, ToolOutput};
use tenon_tools::CallContext;

use super::content;
use super::elicit;
use super::fault::{self, Fault};
use super::link::CallFault;
use super::message::{Params, Refusal};
use super::talk::{Question, Talk};
use super::task;

/// A server that asks more often than this in one call is stuck.
const MAX_ROUNDS: usize = 10;

/// More questions to a person than these, in one round, nobody would answer.
const MAX_FORMS: usize = 8;

/// How a tool wants to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Plainly,
    /// It refuses anything else.
    AsTask,
}

/// What a round ended with.
enum Round {
    Done(Map<String, Value>),
    /// Once these are answered, the same is asked again.
    Asks {
        requests: Map<String, Value>,
        state: Option<Value>,
    },
    Task(Map<String, Value>),
}

pub(super) async fn call(
    talk: &Arc<Talk>,
    tool: &str,
    input: &Value,
    how: How,
    context: &CallContext,
) -> Result<ToolOutput, CallFault> {
    let mut call = talk.board.enter(context);
    let (mut responses, mut state) = (None::<Value>, None::<Value>);
    for asked in 0..MAX_ROUNDS {
        let mut params = Params::new().with("name", tool).with("arguments", input);
        if how == How::AsTask {
            params = params.with("task", &json!({}));
        }
        if let Some(responses) = responses.take() {
            params = params.with("inputResponses", &responses);
        }
        if let Some(state) = state.take() {
            params = params.with("requestState", &state);
        }
        let question = Question {
            method: "tools/call",
            name: Some(tool),
            arguments: Some(input),
            params,
        };
        let answer = talk.ask_in(&mut call, question, context).await;
        let answer = match answer {
            Err(Fault::Refused(refusal)) if visited(&refusal, context).await => continue,
            // An earlier round has arrived.
            Err(Fault::Unreached(why)) if asked > 0 => return Err(CallFault::Broken(why)),
            other => other.map_err(Fault::call_fault)?,
        };
        match round(answer.get())? {
            Round::Done(result) => return content::read(result).map_err(CallFault::Told),
            Round::Task(created) => {
                let result = task::follow(talk, &mut call, created, context).await?;
                return content::read(result).map_err(CallFault::Told);
            }
            Round::Asks {
                requests,
                state: kept,
            } => {
                responses = Some(answers(&requests, context).await?);
                state = kept;
            }
        }
    }
    Err(told(format!(
        "The server asked for more {MAX_ROUNDS} times without coming to an end."
    )))
}

/// The answers to what a server asks between two rounds, by the names it gave its questions.
pub(super) async fn answers(
    requests: &Map<String, Value>,
    context: &CallContext,
) -> Result<Value, CallFault> {
    if requests.len() > MAX_FORMS {
        return Err(told(format!(
            "The tool asks more than {MAX_FORMS} things at once, which nobody would answer."
        )));
    }
    let mut answers = Map::new();
    for (name, request) in requests {
        let params = request.get("params").unwrap_or(&Value::Null);
        let answer = match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => elicit::answer(context, params).await,
            Some("roots/list") => json!({ "roots": [] }),
            other => {
                let other = super::text::line(other.unwrap_or("something"), 60);
                return Err(told(format!(
                    "The tool needs {other}, which Tenon does not offer."
                )));
            }
        };
        answers.insert(name.clone(), answer);
    }
    Ok(Value::Object(answers))
}

pub(super) fn told(sentence: String) -> CallFault {
    CallFault::Told(ToolError::failed(sentence))
}

fn round(answer: &str) -> Result<Round, CallFault> {
    let read = serde_json::from_str::<Map<String, Value>>(answer);
    let mut result = read.map_err(|error| {
        let why = fault::reason(&error);
        told(format!("The server's result cannot be read: {why}."))
    })?;
    match result.get("resultType").and_then(Value::as_str) {
        Some("input_required") => {
            let requests = match result.remove("inputRequests") {
                Some(Value::Object(requests)) => requests,
                _ => Map::new(),
            };
            let state = result
                .remove("requestState")
                .filter(|state| !state.is_null());
            Ok(Round::Asks { requests, state })
        }
        Some("task") => Ok(Round::Task(result)),
        _ => match result.remove("task") {
            Some(Value::Object(task)) if !result.contains_key("content") => Ok(Round::Task(task)),
            _ => Ok(Round::Done(result)),
        },
    }
}

/// Whether it refused because somebody has to visit an address first, and they did.
async fn visited(refusal: &Refusal, context: &CallContext) -> bool {
    if refusal.code != Refusal::VISIT_FIRST {
        return false;
    }
    let data = refusal
        .data
        .as_ref()
        .and_then(|data| data.get("elicitations"));
    let asked = data
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if asked.len() > MAX_FORMS {
        return false;
    }
    for asked in asked {
        let answer = elicit::answer(context, asked).await;
        if answer.get("action") != Some(&json!("accept")) {
            return false;
        }
    }
    !asked.is_empty()
}
