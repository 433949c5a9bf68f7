//! Deciding about calls that wait for a person, and telling tools what they ask.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::{CallId, FormAnswer, FormId, Verdict};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{AnswerCall, AnswerForm};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

/// Two tabs may answer at once: one decides, the other is told so.
pub(super) async fn answer(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(call): Id<CallId>,
    Body(answer): Body<AnswerCall>,
) -> Result<StatusCode, ApiError> {
    // On a task of its own: what was decided is noted, also when the client hangs up.
    let deciding = tokio::spawn(async move {
        let address = caller.address.to_string();
        decide(&app, &user, &address, &call, answer.verdict).await
    });
    deciding.await.unwrap_or(Err(tenon_agent::Error::Closing))?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is filled in goes to the tool; 422 says which field does not fit, and the form stays open.
pub(super) async fn answer_form(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(call): Id<CallId>,
    Body(AnswerForm { form_id, answer }): Body<AnswerForm>,
) -> Result<StatusCode, ApiError> {
    let answering = tokio::spawn(async move {
        let address = caller.address.to_string();
        fill_in(&app, &user, &address, &call, &form_id, answer).await
    });
    answering
        .await
        .unwrap_or(Err(tenon_agent::Error::Closing))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Decides, and notes it: some of it stays decided.
pub(crate) async fn decide(
    app: &App,
    user: &CurrentUser,
    address: &str,
    call: &CallId,
    verdict: Verdict,
) -> Result<(), tenon_agent::Error> {
    let (question, _) = app.store.question(&user.id, call).await?;
    app.agent.answer(&user.id, call, verdict).await?;
    let detail = json!({"callId": call, "chatId": question.chat_id, "verdict": verdict});
    let tool = question.tool_id.as_str();
    user.note(app, address, "call.answered", tool, detail).await;
    Ok(())
}

/// Answers a form, and notes that it was: what was said is between the person and the tool.
pub(crate) async fn fill_in(
    app: &App,
    user: &CurrentUser,
    address: &str,
    call: &CallId,
    form: &FormId,
    answer: FormAnswer,
) -> Result<(), tenon_agent::Error> {
    let outcome = answer.outcome();
    let (question, _) = app.store.question(&user.id, call).await?;
    app.agent.answer_form(&user.id, call, form, answer).await?;
    let detail = json!({"callId": call, "chatId": question.chat_id, "outcome": outcome});
    let tool = question.tool_id.as_str();
    user.note(app, address, "form.answered", tool, detail).await;
    Ok(())
}
