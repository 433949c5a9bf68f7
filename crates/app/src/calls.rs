//! Deciding about calls that wait for a person, and answering the forms of tools.

use serde_json::json;
use tenon_agent::Agent;
use tenon_domain::{CallId, FormAnswer, FormId, Verdict};
use tenon_store::Store;

use crate::auth::CurrentUser;

/// Decides, and notes it: some of it stays decided.
pub async fn decide(
    store: &Store,
    agent: &Agent,
    user: &CurrentUser,
    address: &str,
    call: &CallId,
    verdict: Verdict,
) -> Result<(), tenon_agent::Error> {
    let (question, _) = store.approval(&user.id, call).await?;
    agent.answer(&user.id, call, verdict).await?;
    let detail = json!({"callId": call, "chatId": question.chat_id, "verdict": verdict});
    let tool = question.tool_id.as_str();
    user.note(store, address, "call.answered", tool, detail)
        .await;
    Ok(())
}

/// Answers a form, and notes that it was: what was said is between the person and the tool.
pub async fn answer_form(
    store: &Store,
    agent: &Agent,
    user: &CurrentUser,
    address: &str,
    call: &CallId,
    form: &FormId,
    answer: FormAnswer,
) -> Result<(), tenon_agent::Error> {
    let outcome = answer.outcome();
    let (question, _) = store.approval(&user.id, call).await?;
    agent.answer_form(&user.id, call, form, answer).await?;
    let detail = json!({"callId": call, "chatId": question.chat_id, "outcome": outcome});
    let tool = question.tool_id.as_str();
    user.note(store, address, "form.answered", tool, detail)
        .await;
    Ok(())
}
