//! `/api/context`: what a message would send to its model, before it is sent.

use axum::Json;
use axum::extract::State;
use tenon_agent::DraftMessage;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::experts::Expert;
use tenon_domain::ChatSettings;

use crate::error::ApiError;
use crate::request::JsonBody;
use crate::wire::{ContextQuery, ContextView};

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(query): JsonBody<ContextQuery>,
) -> Result<Json<ContextView>, ApiError> {
    let ids = [
        query.chat_id.as_ref().map(|id| &id.0),
        query.expert_id.as_ref().map(|id| &id.0),
        query.folder_id.as_ref().map(|id| &id.0),
    ];
    // PostgreSQL takes NUL for a mistake in the query, and no id has any of these.
    if ids.iter().flatten().any(|id| id.contains(char::is_control)) {
        return Err(tenon_store::Error::NotFound("chat").into());
    }
    let (expert, profile) = match &query.chat_id {
        Some(chat) => app.instructions.of_chat(&user.id, chat).await?,
        None => {
            let place = (query.expert_id.as_ref(), query.folder_id.as_ref());
            let settings = ChatSettings::default();
            let profile = app.instructions.of_new_chat(&user.id, place, settings);
            profile.await?
        }
    };
    let of_expert = expert.as_ref().and_then(Expert::model);
    let asked = query.model_id.as_ref().or(of_expert);
    let model = app.models.choose_for(&user, asked).await?;
    let context_tokens = model.provider.context_tokens();
    let draft = DraftMessage {
        user: user.id,
        chat: query.chat_id,
        model,
        profile,
        language: None,
        text: query.text.unwrap_or_default(),
        device: query.device_id,
    };
    let estimate = app.agent.estimate(&draft).await?;
    Ok(Json(ContextView {
        context_tokens,
        system_tokens: estimate.system_tokens,
        tool_tokens: estimate.tool_tokens,
        history_tokens: estimate.message_tokens,
        tools: estimate.tools,
        left_out: estimate.omitted,
        deferred: estimate.deferred,
    }))
}
