//! Models: which there are, adding, changing and trying them.

use std::convert::Infallible;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt};
use serde_json::json;
use tenon_domain::{ModelId, WireFormat};
use tenon_llm::discover::{discover as ask, normalise};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{
    Discover, Discovered, EndpointView, ModelChange, ModelView, NewModel, OfferedModel,
};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

pub(super) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<ModelView>>, ApiError> {
    let models = app.models.list().await?.into_iter();
    Ok(Json(models.map(|model| model.shown_to(&user)).collect()))
}

pub(super) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ModelId>,
) -> Result<Json<ModelView>, ApiError> {
    Ok(Json(app.models.show(&id).await?.shown_to(&user)))
}

pub(super) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(new): Body<NewModel>,
) -> Result<(StatusCode, Json<ModelView>), ApiError> {
    let model = app.models.add(new).await?;
    note(&app, &user, &caller, "model.added", &model).await;
    Ok((StatusCode::CREATED, Json(model)))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<ModelId>,
    Body(change): Body<ModelChange>,
) -> Result<Json<ModelView>, ApiError> {
    let model = app.models.change(&id, change).await?;
    note(&app, &user, &caller, "model.changed", &model).await;
    Ok(Json(model))
}

pub(super) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<ModelId>,
) -> Result<StatusCode, ApiError> {
    app.models.delete(&id).await?;
    let address = caller.address.to_string();
    user.note(&app, &address, "model.deleted", id.as_str(), json!({}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// The words as they come, then what was seen. Hanging up ends the trial.
pub(super) async fn test(
    State(app): State<App>,
    _user: CurrentUser,
    Id(id): Id<ModelId>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let frames = app.models.test(&id).await?;
    let frames = frames.take_until(app.closing.cancelled_owned());
    let events = frames.map(|frame| {
        let event = Event::default().json_data(&frame);
        Ok(event.unwrap_or_else(|_| Event::default().comment("unspeakable")))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

pub(super) async fn discover(
    State(app): State<App>,
    _user: CurrentUser,
    Body(asked): Body<Discover>,
) -> Result<Json<Discovered>, ApiError> {
    normalise(&asked.base_url).map_err(|error| ApiError::bad_request(error.to_string()))?;
    let key = match (asked.key.filter(|key| !key.is_empty()), asked.model_id) {
        (None, Some(id)) => app.models.stored_key(&id, &asked.base_url).await?,
        (key, _) => key,
    };
    let offer = ask(&asked.base_url, asked.provider, key.as_deref()).await;
    let offer = offer.map_err(|error| ApiError::bad_gateway(error.to_string()))?;
    let models = offer.models.into_iter().map(|offered| OfferedModel {
        model: offered.model,
        context_tokens: offered.context_tokens,
    });
    Ok(Json(Discovered {
        provider: offer.format,
        base_url: offer.base_url,
        models: models.collect(),
    }))
}

pub(super) async fn endpoints(
    State(app): State<App>,
    user: CurrentUser,
) -> Json<Vec<EndpointView>> {
    app.models.look_around().await;
    let views = app.models.endpoints().views().into_iter();
    Json(views.map(|endpoint| endpoint.shown_to(&user)).collect())
}

impl ModelView {
    /// Where it is may be the name of a host inside, or hold a key: admins alone see that.
    pub(crate) fn shown_to(self, user: &CurrentUser) -> Self {
        if user.administers() {
            return self;
        }
        let (at, format) = (self.base_url.as_deref(), self.provider);
        let endpoint = self.endpoint.map(|name| hide_host(name, at, format));
        Self {
            endpoint,
            base_url: None,
            ..self
        }
    }
}

impl EndpointView {
    fn shown_to(self, user: &CurrentUser) -> Self {
        if user.administers() {
            return self;
        }
        let name = hide_host(self.name, self.base_url.as_deref(), Some(self.provider));
        // Why it failed names its address.
        let error = self
            .error
            .map(|_why| format!("{name} offers no models now. An admin sees why in the settings."));
        Self {
            name,
            base_url: None,
            error,
            ..self
        }
    }
}

/// An endpoint that nobody knows better is called as its host is.
fn hide_host(name: String, base_url: Option<&str>, format: Option<WireFormat>) -> String {
    if !base_url.is_some_and(|url| url.contains(&name)) {
        return name;
    }
    match format {
        Some(WireFormat::Anthropic) => "Anthropic-compatible".into(),
        Some(WireFormat::Openai) | None => "OpenAI-compatible".into(),
    }
}

async fn note(
    app: &App,
    user: &CurrentUser,
    caller: &Caller,
    action: &'static str,
    model: &ModelView,
) {
    let detail = json!({"name": model.name, "baseUrl": model.base_url});
    let address = caller.address.to_string();
    user.note(app, &address, action, model.id.as_str(), detail)
        .await;
}
