//! `/api/devices`: browsers that run somebody's tools, and the addresses they probe.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::Value;
use tenon_sources::openapi::discover::sub_documents;
use url::Url;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{DeviceView, LocalEndpoint, McpoDiscoveryRequest, McpoServer};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

/// What somebody's pages look at besides what everybody's do.
const ENDPOINTS: &str = "local_endpoints";
const MAX_ENDPOINTS: usize = 50;
const MAX_URL_BYTES: usize = 2_048;
const MAX_NAME_BYTES: usize = 100;

pub(crate) async fn list(State(app): State<App>, user: CurrentUser) -> Json<Vec<DeviceView>> {
    let devices = app.devices.devices(&user.id).into_iter();
    Json(devices.map(Into::into).collect())
}

pub(crate) async fn forget(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<String>,
) -> Result<StatusCode, ApiError> {
    match app.devices.forget(&user.id, &id).await {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => Err(ApiError::not_found(ApiFault::NoBrowser)),
        Err(why) => Err(ApiError::storage(&why)),
    }
}

/// The servers behind an mcpo, as its main document names them. A page asks, because it
/// alone can read that document.
pub(crate) async fn behind(
    _user: CurrentUser,
    JsonBody(asked): JsonBody<McpoDiscoveryRequest>,
) -> Result<Json<Vec<McpoServer>>, ApiError> {
    let at = Url::parse(&asked.url).map_err(|_| ApiError::bad_request(ApiFault::DocumentUrl))?;
    let main: Value = asked.document;
    let subs = sub_documents(&main, &at).into_iter();
    let subs = subs.map(|sub| McpoServer {
        name: sub.name,
        url: sub.url.into(),
    });
    Ok(Json(subs.collect()))
}

pub(crate) async fn endpoints(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Option<Vec<LocalEndpoint>>>, ApiError> {
    Ok(Json(app.store.preference(Some(&user.id), ENDPOINTS).await?))
}

pub(crate) async fn set_endpoints(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(endpoints): JsonBody<Vec<LocalEndpoint>>,
) -> Result<StatusCode, ApiError> {
    if endpoints.len() > MAX_ENDPOINTS {
        let max = MAX_ENDPOINTS;
        return Err(ApiError::bad_request(ApiFault::TooManyEndpoints { max }));
    }
    endpoints.iter().try_for_each(check)?;
    let user = Some(&user.id);
    app.store
        .set_preference(user, ENDPOINTS, &endpoints)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A key must not get here: neither beside an address nor in it.
fn check(endpoint: &LocalEndpoint) -> Result<(), ApiError> {
    let url = Url::parse(&endpoint.url).ok();
    let is_address = url.is_some_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
    });
    if is_address && endpoint.url.len() <= MAX_URL_BYTES && endpoint.name.len() <= MAX_NAME_BYTES {
        Ok(())
    } else {
        Err(ApiError::bad_request(ApiFault::Endpoint))
    }
}
