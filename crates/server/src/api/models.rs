//! `/api/models` and `/api/endpoints`: listing, adding, changing and testing models.

use std::convert::Infallible;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::json;
use tenon_domain::ModelId;
use tenon_llm::discover::{discover as ask, normalise};

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{
    EndpointView, EvaluationRequest, ModelChange, ModelDiscoveryRequest, ModelDiscoveryResponse,
    ModelView, NewModel, OfferedModel,
};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<ModelView>>, ApiError> {
    let models = app.models.list().await?.into_iter();
    Ok(Json(models.map(|model| model.shown_to(&user)).collect()))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ModelId>,
) -> Result<Json<ModelView>, ApiError> {
    Ok(Json(app.models.show(&id).await?.shown_to(&user)))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<NewModel>,
) -> Result<(StatusCode, Json<ModelView>), ApiError> {
    let model = app.models.add(new).await?;
    note(&app, &user, &caller, "model.added", &model).await;
    Ok((StatusCode::CREATED, Json(model)))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<ModelId>,
    JsonBody(change): JsonBody<ModelChange>,
) -> Result<Json<ModelView>, ApiError> {
    let model = app.models.change(&id, change).await?;
    note(&app, &user, &caller, "model.changed", &model).await;
    Ok(Json(model))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<ModelId>,
) -> Result<StatusCode, ApiError> {
    app.models.delete(&id).await?;
    let address = caller.address.to_string();
    user.note(
        &app.store,
        &address,
        "model.deleted",
        id.as_str(),
        json!({}),
    )
    .await;
    Ok(StatusCode::NO_CONTENT)
}

/// The words as they come, then what was seen. Hanging up ends the trial.
pub(crate) async fn test(
    State(app): State<App>,
    _user: CurrentUser,
    Id(id): Id<ModelId>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let frames = app.models.test(&id).await?;
    Ok(event_stream(&app, frames))
}

/// Progress, prompt by prompt, then the report. Hanging up ends the evaluation.
pub(crate) async fn evaluate(
    State(app): State<App>,
    _user: CurrentUser,
    Id(id): Id<ModelId>,
    JsonBody(request): JsonBody<EvaluationRequest>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let frames = app.models.evaluate(&id, request).await?;
    Ok(event_stream(&app, frames))
}

pub(crate) async fn discover(
    State(app): State<App>,
    _user: CurrentUser,
    JsonBody(asked): JsonBody<ModelDiscoveryRequest>,
) -> Result<Json<ModelDiscoveryResponse>, ApiError> {
    normalise(&asked.base_url).map_err(ApiError::bad_request)?;
    let key = match (asked.key.filter(|key| !key.is_empty()), asked.model_id) {
        (None, Some(id)) => app.models.stored_key(&id, &asked.base_url).await?,
        (key, _) => key,
    };
    let offer = ask(&asked.base_url, asked.provider, key.as_deref()).await;
    let offer = offer.map_err(|error| ApiError::bad_gateway(error.detail()))?;
    let models = offer.models.into_iter().map(|offered| OfferedModel {
        model: offered.model,
        context_tokens: offered.context_tokens,
    });
    Ok(Json(ModelDiscoveryResponse {
        provider: offer.format,
        base_url: offer.base_url,
        models: models.collect(),
    }))
}

pub(crate) async fn endpoints(
    State(app): State<App>,
    user: CurrentUser,
) -> Json<Vec<EndpointView>> {
    app.models.refresh_endpoints().await;
    let views = app.models.endpoints().views().into_iter();
    Json(views.map(|endpoint| endpoint.shown_to(&user)).collect())
}

/// Frames as server-sent events, until the server closes.
pub(super) fn event_stream<T: Serialize, S: Stream<Item = T> + Send + 'static>(
    app: &App,
    frames: S,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<T, S>> {
    let frames = frames.take_until(app.closing.clone().cancelled_owned());
    let events = frames.map(|frame| {
        let event = Event::default().json_data(&frame);
        Ok(event.unwrap_or_else(|_| Event::default().comment("unspeakable")))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

async fn note(
    app: &App,
    user: &CurrentUser,
    caller: &HttpCaller,
    action: &'static str,
    model: &ModelView,
) {
    let detail = json!({"name": model.name, "baseUrl": model.base_url});
    let address = caller.address.to_string();
    user.note(&app.store, &address, action, model.id.as_str(), detail)
        .await;
}
