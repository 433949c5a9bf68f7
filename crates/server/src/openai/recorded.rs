//! Chat completions that a chat keeps on record: each is a turn of it.
//!
//! The chat is the conversation: of the request, the last message counts. Where that is the result
//! of calls that were handed over to the client, the turn that waits for it goes on.

use tenon_agent::{
    CompletionStream, ModelTools, TurnModel, TurnOverrides, TurnProfile, TurnRequest,
};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::{ChatId, Message};

use super::completion_request::CompletionRequest;
use crate::error::ApiError;

pub(super) async fn answer(
    app: &App,
    user: &CurrentUser,
    chat: ChatId,
    (model, profile): (TurnModel, TurnProfile),
    request: CompletionRequest,
    tools: ModelTools,
) -> Result<CompletionStream, ApiError> {
    let known = app.store.chat(&user.id, &chat).await;
    known.map_err(|error| ApiError::from(error).in_field("chat_id"))?;
    let (text, images) = match request.messages.into_iter().next_back() {
        Some(Message::Tools { answers }) => {
            let results = answers.into_iter();
            let results = results.map(|answer| (answer.call_id, answer.result));
            let answer = app
                .agent
                .continue_for_client(&user.id, &chat, results.collect());
            return Ok(answer.await?);
        }
        Some(Message::User { text, images, .. }) => (text, images),
        Some(Message::Assistant { .. }) | None => (String::new(), Vec::new()),
    };
    let entry = user.entry_point();
    let turn = TurnRequest {
        granted: user.granted().to_vec(),
        images,
        tools: request.ids,
        door: entry,
        // Whoever reads the answer here is a program.
        can_ask: false,
        profile,
        overrides: TurnOverrides {
            system: request.system,
            options: request.options,
            tools,
            ..TurnOverrides::default()
        },
        ..TurnRequest::new(user.id.clone(), chat, text, model)
    };
    Ok(app.agent.start_for_client(turn).await?)
}
