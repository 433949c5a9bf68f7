//! `/api/calls`: approving calls that wait for a person, and answering the forms of tools.

use axum::extract::State;
use axum::http::StatusCode;
use tenon_app::calls;
use tenon_domain::CallId;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::run_to_end::RunToEnd;
use crate::wire::{AnswerCall, AnswerForm};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

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
