//! `/api/keys`: a person's own API keys.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::KeyId;
use tenon_store::LOCAL;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{CreatedKey, KeyView, NewKey};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::auth::proof::prove;

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<KeyView>>, ApiError> {
    let keys = app.store.keys(&user.id).await?;
    Ok(Json(keys.into_iter().map(Into::into).collect()))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<NewKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    if user.id.as_str() == LOCAL {
        return Err(tenon_app::Error::NoAccount.into());
    }
    let password = new.password.as_deref();
    prove(&app.auth, &app.store, &user, caller.address, password).await?;
    let address = caller.address.to_string();
    let created = app
        .accounts
        .create_key(&user, &user.id, &address, new)
        .await?;
    Ok((StatusCode::CREATED, Json(created)))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(key): Id<KeyId>,
) -> Result<StatusCode, ApiError> {
    app.store.delete_key(&user.id, &key).await?;
    let address = caller.address.to_string();
    user.note(&app.store, &address, "key.deleted", key.as_str(), json!({}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}
