//! Tenon as an OpenAI-compatible server: its models, with its tools behind them.
//!
//! The client brings the conversation along and keeps it, unless it names a chat that does; Tenon runs
//! the tools on the way and sends the answer. A client that sends `tools` of its own runs those itself, as
//! it would anywhere, and Tenon's stay out of it. It also runs those of `tool_servers` that only it reaches.

mod body;
mod client_tools;
mod completion_request;
mod conversation;
mod error;
mod images;
mod options;
mod recorded;
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
use tenon_llm::ModelFault;

use crate::error::ApiError;
use crate::request::HttpCaller;
pub(crate) use body::CompletionBody;
pub(crate) use error::as_openai_error;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::sources::Sources;

use client_tools::ClientTools;
use completion_request::CompletionRequest;
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
    CompletionBody(mut request, memory): CompletionBody,
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
    if request.has_images() && !provider.takes_images() {
        let name = provider.name().into();
        return Err(ApiError::bad_request(ModelFault::NoImages { name }));
    }
    images::load(
        &app,
        &user,
        std::mem::take(&mut request.stored_images),
        &mut request.messages,
    )
    .await?;
    let header = response::ResponseHeader::new(
        request
            .model
            .take()
            .unwrap_or_else(|| model.shown.id.0.clone()),
    );
    let stops = StopSequences::new(request.options.stop.clone());
    let (stream, with_usage) = (request.stream, request.with_usage);
    let (tools, client_tools) = tools_of(&app, &user, &mut request).await?;
    let completing = match request.chat.take() {
        Some(chat) => recorded::answer(&app, &user, chat, model, request, tools).await?,
        None => {
            let model_caller = Caller::UnattendedModel {
                entry: user.entry_point(),
                allow: user.granted().into(),
            };
            let access = ToolAccess::all(&user.id, model_caller);
            app.agent.complete(Completion {
                model,
                system: request.system,
                messages: request.messages,
                options: request.options,
                tools,
                access: match request.ids {
                    Some(ids) => access.only(ids),
                    None => access,
                },
                workspace: app.tools.workspace(&user.id),
                entry: user.entry_point(),
                address: caller.address.to_string(),
            })?
        }
    };
    Ok(if stream {
        response::stream(header, completing, stops, client_tools, with_usage, memory)
            .into_response()
    } else {
        let whole = response::whole(header, completing, stops, client_tools).await?;
        drop(memory);
        whole.into_response()
    })
}

/// What the model may call, and what of it the client runs.
async fn tools_of(
    app: &App,
    user: &CurrentUser,
    request: &mut CompletionRequest,
) -> Result<(ModelTools, ClientTools), ApiError> {
    if let Some(theirs) = request.theirs.take() {
        return Ok((ModelTools::Client(theirs), ClientTools::default()));
    }
    let servers = std::mem::take(&mut request.servers);
    let servers = request_tools::connect(app, user, request.page.as_deref(), servers).await?;
    let tools = app.registry.request_tools(&user.id, &servers.sources);
    let client_tools = ClientTools::new(&servers.clients, &tools);
    Ok((ModelTools::Server(tools), client_tools))
}
