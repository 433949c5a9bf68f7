//! Instructions for models: `/api/me/instructions` for all one's chats, `/api/chats/{id}/settings`
//! for one.

use axum::Json;
use axum::extract::State;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::{ChatId, ChatSettings};

use crate::error::ApiError;
use crate::request::{Id, JsonBody};
use crate::wire::UserInstructions;

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<UserInstructions>, ApiError> {
    let instructions = app.instructions.of_user(&user.id).await?;
    Ok(Json(UserInstructions { instructions }))
}

pub(crate) async fn set(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(change): JsonBody<UserInstructions>,
) -> Result<Json<UserInstructions>, ApiError> {
    let setting = app
        .instructions
        .set_for_user(&user.id, &change.instructions);
    setting.await?;
    show(State(app), user).await
}

pub(crate) async fn show_for_chat(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
) -> Result<Json<ChatSettings>, ApiError> {
    Ok(Json(app.store.chat_settings(&user.id, &chat).await?))
}

pub(crate) async fn set_for_chat(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    JsonBody(settings): JsonBody<ChatSettings>,
) -> Result<Json<ChatSettings>, ApiError> {
    let setting = app.instructions.set_for_chat(&user.id, &chat, settings);
    Ok(Json(setting.await?))
}
