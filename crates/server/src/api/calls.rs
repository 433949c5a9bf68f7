//! `/api/calls`: the last calls of a tool, how a call went, approving calls that wait for a person,
//! and answering the forms of tools.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use tenon_app::{calls, traces};
use tenon_domain::{CallId, ToolId};
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::request::QueryParams;
use crate::run_to_end::RunToEnd;
use crate::wire::{AnswerCall, AnswerForm, RecentCallView, ToolCallTrace};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

const DEFAULT_CALLS: u64 = 20;
const MAX_CALLS: u64 = 100;

/// `GET /api/calls?toolId=&limit=`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RecentCallsQuery {
    tool_id: ToolId,
    limit: Option<u64>,
}

pub(crate) async fn recent(
    State(app): State<App>,
    user: CurrentUser,
    QueryParams(asked): QueryParams<RecentCallsQuery>,
) -> Result<Json<Vec<RecentCallView>>, ApiError> {
    let limit = asked.limit.unwrap_or(DEFAULT_CALLS).clamp(1, MAX_CALLS);
    let calls = traces::recent_calls(&app.store, &user.id, &asked.tool_id, limit).await?;
    Ok(Json(calls))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(call): Id<CallId>,
) -> Result<Json<ToolCallTrace>, ApiError> {
    let trace = app.tools.call_trace(&user.id, &call).await?;
    Ok(Json(trace))
}

/// Two tabs may answer at once: one decides, the other is told so.
pub(crate) async fn answer(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(call): Id<CallId>,
    JsonBody(answer): JsonBody<AnswerCall>,
) -> Result<StatusCode, ApiError> {
    // What was decided is noted, also when the client hangs up.
    let deciding = RunToEnd::new(async move {
        let address = caller.address.to_string();
        calls::decide(
            &app.store,
            &app.agent,
            &user,
            &address,
            &call,
            answer.verdict,
        )
        .await
    });
    deciding.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is filled in goes to the tool; 422 says which field does not fit, and the form stays open.
pub(crate) async fn answer_form(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(call): Id<CallId>,
    JsonBody(AnswerForm { form_id, answer }): JsonBody<AnswerForm>,
) -> Result<StatusCode, ApiError> {
    let answering = RunToEnd::new(async move {
        let address = caller.address.to_string();
        let (store, agent) = (&app.store, &app.agent);
        calls::answer_form(store, agent, &user, &address, &call, &form_id, answer).await
    });
    answering.await?;
    Ok(StatusCode::NO_CONTENT)
}
