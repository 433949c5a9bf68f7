//! Tenon as an OpenAI-compatible server: its models, with its tools behind them.
//!
//! The client brings the conversation along and keeps it, unless it names a chat that does; Tenon
//! runs the tools on the way and sends the answer. A client that sends `tools` of its own runs
//! those itself, as it would anywhere, and Tenon's stay out of it. It also runs those of
//! `tool_servers` that only it reaches.

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
use tenon_agent::{Completion, ModelTools, TurnProfile};
use tenon_domain::{Caller, ModelId, ToolAccess};
use tenon_llm::ModelFault;

use crate::error::ApiError;
use crate::expert_choice::{check_options, choose_model, expert_by_model_name};
use crate::request::HttpCaller;
pub(crate) use body::CompletionBody;
pub(crate) use error::as_openai_error;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::experts::{Expert, MODEL_PREFIX};
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
    let entry = |id: &str, owner: &str, name: &str| json!({"id": id, "object": "model", "created": 0, "owned_by": owner, "name": name});
    let models = app.models.list().await?;
    let models = models.into_iter().map(|model| {
        let model = model.shown_to(&user);
        let owner = model.endpoint.as_deref().unwrap_or("tenon");
        entry(model.id.as_str(), owner, &model.name)
    });
    let experts = app.experts.all(&user.id).await?;
    let experts = experts.iter().map(|Expert { definition, .. }| {
        let id = format!("{MODEL_PREFIX}{}", definition.name);
        entry(&id, "tenon", &definition.title)
    });
    let data: Vec<Value> = models.chain(experts).collect();
    Ok(Json(json!({"object": "list", "data": data})))
}

pub(crate) async fn complete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    CompletionBody(mut request, memory): CompletionBody,
) -> Result<Response, ApiError> {
    let (expert_model, profile) = profile_of(&app, &user, &request).await?;
    let model = match &request.model {
        Some(name) if !name.starts_with(MODEL_PREFIX) => Some(app.models.named(name).await?),
        Some(_) | None => None,
    };
    let model = model.or(expert_model);
    let model = choose_model(&app, &user, model.as_ref(), &profile).await?;
    check_options(&model, &request.options, request.has_tools())?;
    let provider = &model.provider;
    if request.asks_about_images() && !provider.takes_images() {
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
        Some(chat) => {
            let answerer = (model, profile);
            recorded::answer(&app, &user, chat, answerer, request, tools).await?
        }
        None => {
            let model_caller = Caller::UnattendedModel {
                entry: user.entry_point(),
                allow: user.granted().into(),
            };
            let access = ToolAccess::all(&user.id, model_caller);
            app.agent.complete(Completion {
                model,
                profile,
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

/// The profile of the expert named as the model, else that of the chat; and the expert's model.
async fn profile_of(
    app: &App,
    user: &CurrentUser,
    request: &CompletionRequest,
) -> Result<(Option<ModelId>, TurnProfile), ApiError> {
    let named = expert_by_model_name(app, user, request.model.as_deref()).await?;
    let (expert, profile) = match (named, &request.chat) {
        (Some(expert), _) => {
            let profile = expert.for_turn();
            (Some(expert), profile)
        }
        (None, Some(chat)) => {
            let profile = app.instructions.of_chat(&user.id, chat).await;
            profile.map_err(|error| ApiError::from(error).in_field("chat_id"))?
        }
        (None, None) => (None, TurnProfile::default()),
    };
    Ok((expert.and_then(|expert| expert.model().cloned()), profile))
}

/// The tools that the model may call, and which of them the client executes.
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
