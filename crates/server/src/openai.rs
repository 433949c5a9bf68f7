//! Tenon as an OpenAI-compatible server: its models, with its tools behind them.
//!
//! The client brings the conversation along and keeps it; Tenon runs the tools
//! on the way and sends the answer. A client that sends `tools` of its own runs
//! those itself, as it would anywhere, and Tenon's stay out of it.

mod body;
mod completion_request;
mod conversation;
mod error;
mod options;
mod request_tools;
mod response;
mod stop_sequences;
mod tool_choice;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenon_agent::{Completion, ModelTools};
use tenon_domain::{Caller, ToolAccess};

use crate::error::ApiError;
use crate::request::HttpCaller;
pub(crate) use error::as_openai_error;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::sources::Sources;

use body::CompletionBody;
use stop_sequences::StopSequences;

/// Whole OpenAPI documents come along.
pub(crate) const MAX_BODY_BYTES: usize = Sources::MAX_BODY_BYTES;

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
    caller: HttpCaller,
    CompletionBody(request, memory): CompletionBody,
) -> Result<Response, ApiError> {
    let model = match &request.model {
        Some(name) => Some(app.models.named(name).await?),
        None => None,
    };
    let model = app.models.choose_for(&user, model.as_ref()).await?;
    let provider = &model.provider;
    if let Some(fault) = provider.unsupported_option(&request.options, request.has_tools()) {
        let option = fault.option().to_owned();
        return Err(ApiError::bad_request(fault).in_field(&option));
    }
    let header =
        response::ResponseHeader::new(request.model.unwrap_or_else(|| model.shown.id.0.clone()));
    let model_caller = Caller::UnattendedModel {
        entry: user.entry_point(),
        allow: user.granted().into(),
    };
    let mut access = ToolAccess::all(&user.id, model_caller);
    let tools = match request.theirs {
        Some(theirs) => ModelTools::Client(theirs),
        None => {
            let servers = request_tools::connect(&app, &user, request.servers).await?;
            if let Some(ids) = request.ids {
                access = access.only(ids);
            }
            ModelTools::Server(app.registry.request_tools(&user.id, &servers))
        }
    };
    let stops = StopSequences::new(request.options.stop.clone());
    let completing = app.agent.complete(Completion {
        model,
        system: request.system,
        messages: request.messages,
        options: request.options,
        tools,
        access,
        workspace: app.tools.workspace(&user.id),
        entry: user.entry_point(),
        address: caller.address.to_string(),
    })?;
    Ok(if request.stream {
        response::stream(header, completing, stops, request.with_usage, memory).into_response()
    } else {
        let whole = response::whole(header, completing, stops).await?;
        drop(memory);
        whole.into_response()
    })
}
