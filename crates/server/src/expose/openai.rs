//! Tenon as an OpenAI-compatible server: its models, with its tools behind them.
//!
//! The client brings the conversation along and keeps it; Tenon runs the tools
//! on the way and sends the answer. A client that sends `tools` of its own runs
//! those itself, as it would anywhere, and Tenon's stay out of it.

mod answer;
mod ask;
mod body;
mod conversation;
mod error;
mod guests;
mod stops;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenon_agent::{Completion, Offered};
use tenon_domain::Access;

use crate::api::error::ApiError;
use crate::app::App;
use crate::auth::CurrentUser;
use crate::sources::Sources;
pub(crate) use error::in_their_words;

use body::Question;
use stops::Stops;

/// Whole OpenAPI documents come along.
pub(crate) const MAX_BODY: usize = Sources::MAX_BODY;

pub(crate) async fn models(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Value>, ApiError> {
    let models = app.models.list().await?;
    let data = models.into_iter().map(|model| {
        let model = model.shown_to(&user);
        let owner = model.endpoint.unwrap_or_else(|| "tenon".to_owned());
        json!({"id": model.id, "object": "model", "created": 0, "owned_by": owner, "name": model.name})
    });
    let data: Vec<Value> = data.collect();
    Ok(Json(json!({"object": "list", "data": data})))
}

pub(crate) async fn complete(
    State(app): State<App>,
    user: CurrentUser,
    Question(ask, memory): Question,
) -> Result<Response, ApiError> {
    let model = match &ask.model {
        Some(name) => Some(app.models.named(name).await?),
        None => None,
    };
    let model = app.models.choose_for(&user, model.as_ref()).await?;
    let header = answer::Header::new(ask.model.unwrap_or_else(|| model.shown.id.0.clone()));
    let mut access = Access::all(&user.id);
    let tools = match ask.theirs {
        Some(theirs) => Offered::Theirs(theirs),
        None => {
            let guests = guests::take_in(&app, &user, ask.guests).await?;
            if let Some(ids) = ask.ids {
                access = access.only(ids);
            }
            Offered::Ours(app.registry.guests(&user.id, &guests))
        }
    };
    let completing = app.agent.complete(Completion {
        model,
        system: ask.system,
        messages: ask.messages,
        tools,
        door: user.door(),
        access: access.granting(user.granted()),
        workspace: app.workspace_by_hand(&user.id),
    })?;
    let stops = Stops::new(ask.stops);
    Ok(match ask.stream {
        true => answer::stream(header, completing, stops, ask.with_usage, memory).into_response(),
        false => {
            let whole = answer::whole(header, completing, stops).await?;
            drop(memory);
            whole.into_response()
        }
    })
}
