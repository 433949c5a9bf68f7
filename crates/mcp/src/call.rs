//! One call of a tool: as many rounds as the server needs to be done with it.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use tenon_text as text;

use crate::content::CallToolResult;
use crate::elicitation;
use crate::error::{Error, ProtocolError, json_reason};
use crate::handler::CallHandler;
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::session::{RpcRequest, Session};

mod task;

/// A server that asks for input more often than this in one call is stuck.
const MAX_ROUNDS: usize = 10;

/// Limit of input requests per round: nobody would answer more.
const MAX_INPUT_REQUESTS: usize = 8;

/// How a tool wants to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallMode {
    Plain,
    /// The tool must be called as a task and refuses plain calls.
    AsTask,
}

/// The result of one round of a call.
enum RoundResult {
    Done(Map<String, Value>),
    /// Once these are answered, the same request is made again.
    InputRequired {
        requests: Map<String, Value>,
        state: Option<Value>,
    },
    Task(Map<String, Value>),
}

pub(crate) async fn call(
    session: &Arc<Session>,
    tool: &str,
    arguments: &Value,
    mode: CallMode,
    handler: &Arc<dyn CallHandler>,
) -> Result<CallToolResult, Error> {
    let call = session.pending.begin_call(handler);
    let handler = handler.as_ref();
    let (mut responses, mut state) = (None::<Value>, None::<Value>);
    for round in 0..MAX_ROUNDS {
        let mut params = ParamsBuilder::new()
            .with("name", tool)
            .with("arguments", arguments);
        if mode == CallMode::AsTask {
            params = params.with("task", &json!({}));
        }
        if let Some(responses) = responses.take() {
            params = params.with("inputResponses", &responses);
        }
        if let Some(state) = state.take() {
            params = params.with("requestState", &state);
        }
        let request = RpcRequest {
            method: "tools/call",
            name: Some(tool),
            arguments: Some(arguments),
            params,
        };
        let (span, response) = session.request_in_call(&call, request, handler).await;
        let response = match response {
            Err(Error::Rpc(error)) if visited_urls(&error, handler).await => continue,
            Err(error) if round > 0 => return Err(error.after_first_request()),
            other => other?,
        };
        match read_round(response.get())? {
            RoundResult::Done(result) => {
                handler.result(&response);
                let result = CallToolResult::read(result);
                if result.is_error {
                    span.tool_failed();
                }
                return Ok(result);
            }
            RoundResult::Task(created) => {
                drop(span);
                let result = task::poll_until_done(session, &call, created, handler).await?;
                if let Ok(raw) = to_raw_value(&result) {
                    handler.result(&raw);
                }
                return Ok(CallToolResult::read(result));
            }
            RoundResult::InputRequired {
                requests,
                state: request_state,
            } => {
                responses = Some(input_responses(&requests, handler).await?);
                state = request_state;
            }
        }
    }
    Err(ProtocolError::TooManyRounds(MAX_ROUNDS).into())
}

/// The responses to what a server asks between two rounds, by the names it gave its requests.
async fn input_responses(
    requests: &Map<String, Value>,
    handler: &dyn CallHandler,
) -> Result<Value, Error> {
    if requests.len() > MAX_INPUT_REQUESTS {
        return Err(ProtocolError::TooManyInputRequests(MAX_INPUT_REQUESTS).into());
    }
    let mut responses = Map::new();
    for (name, request) in requests {
        let params = request.get("params").unwrap_or(&Value::Null);
        let response = match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => elicitation::answer(handler, params).await,
            Some("sampling/createMessage") => match handler.sample(params.clone()).await {
                Some(result) => result,
                None => {
                    let method = "sampling/createMessage".to_owned();
                    return Err(ProtocolError::UnsupportedInputRequest(method).into());
                }
            },
            Some("roots/list") => json!({ "roots": [] }),
            other => {
                let method = text::line(other.unwrap_or("something"), 60);
                return Err(ProtocolError::UnsupportedInputRequest(method).into());
            }
        };
        responses.insert(name.clone(), response);
    }
    Ok(Value::Object(responses))
}

fn read_round(response: &str) -> Result<RoundResult, Error> {
    let mut result: Map<String, Value> = serde_json::from_str(response)
        .map_err(|error| ProtocolError::InvalidResult(json_reason(&error)))?;
    match result.get("resultType").and_then(Value::as_str) {
        Some("input_required") => {
            let requests = match result.remove("inputRequests") {
                Some(Value::Object(requests)) => requests,
                _ => Map::new(),
            };
            let state = result
                .remove("requestState")
                .filter(|state| !state.is_null());
            Ok(RoundResult::InputRequired { requests, state })
        }
        Some("task") => Ok(RoundResult::Task(result)),
        _ => match result.remove("task") {
            Some(Value::Object(task)) if !result.contains_key("content") => {
                Ok(RoundResult::Task(task))
            }
            _ => Ok(RoundResult::Done(result)),
        },
    }
}

/// Whether it refused because somebody has to visit an address first, and they did.
async fn visited_urls(error: &RpcError, handler: &dyn CallHandler) -> bool {
    if error.code != RpcError::URL_ELICITATION_REQUIRED {
        return false;
    }
    let elicitations = error
        .data
        .as_ref()
        .and_then(|data| data.get("elicitations"));
    let elicitations = elicitations
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if elicitations.len() > MAX_INPUT_REQUESTS {
        return false;
    }
    for params in elicitations {
        let answer = elicitation::answer(handler, params).await;
        if answer.get("action") != Some(&json!("accept")) {
            return false;
        }
    }
    !elicitations.is_empty()
}
