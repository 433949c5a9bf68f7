//! Logging in at servers that offer tools: going there, coming back, and out again.

mod page;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use tenon_domain::SourceId;
use tenon_sources::mcp::oauth::{Return, Trouble};

use super::error::ApiError;
use super::id::Id;
use super::oidc::here;
use super::wire::LoginStart;
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::limit::Attempt;
use crate::auth::{CurrentUser, who};
use crate::sources::Here;
use page::Outcome;

/// `POST /api/sources/{id}/login`
pub(super) async fn start(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    headers: HeaderMap,
    Id(id): Id<SourceId>,
) -> Result<Json<LoginStart>, ApiError> {
    let place = app.sources.place(&user, &id).await?;
    let doorway = app.sources.doorway(&user, &id).await?;
    let doorway = doorway.ok_or_else(|| refused(Trouble::NoLogin))?;
    let here = known(&app).unwrap_or_else(|| Here::Seen(here(&caller, &headers)));
    let begun = app
        .sources
        .entrance()
        .begin(&user.id, place, doorway, here)
        .await;
    let url = begun.map_err(refused)?;
    Ok(Json(LoginStart { url }))
}

/// `GET /api/sources/callback`, which a browser opens: what comes of it is a page.
/// It is open to everybody, so that somebody whose session is over is told so.
pub(super) async fn callback(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    query: Result<Query<Return>, QueryRejection>,
) -> Response {
    let returned = query.map(|Query(returned)| returned).unwrap_or_default();
    let outcome = match app.auth.attempt(Attempt::Elsewhere, &caller) {
        Ok(()) => come_back(&app, &caller, &headers, returned).await,
        Err(_) => Outcome::TooMany,
    };
    if matches!(outcome, Outcome::LoggedIn) {
        app.auth.succeeded(Attempt::Elsewhere, &caller);
    }
    page::show(&headers, &outcome)
}

/// `DELETE /api/sources/{id}/login` (204)
pub(super) async fn end(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<SourceId>,
) -> Result<StatusCode, ApiError> {
    let place = app.sources.place(&user, &id).await?;
    let revoked = app.sources.entrance().leave(&user.id, &place).await;
    let is_revoked = match revoked {
        Ok(()) => true,
        Err(trouble @ Trouble::Storage(_)) => return Err(refused(trouble)),
        Err(trouble) => {
            // It is forgotten here all the same.
            tracing::warn!(source = %id, why = %trouble, "a log-in could not be revoked there");
            false
        }
    };
    app.sources.login_changed(&id, &user.id).await;
    let detail = json!({"revoked": is_revoked});
    let address = caller.address.to_string();
    user.note(&app, &address, "source.logout", id.as_str(), detail)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/sources/client`: what Tenon is, for authorisation servers that want
/// to read it where its name says.
pub(super) async fn describe(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let described = known(&app).and_then(|here| Some((here.description()?, here)));
    let (id, here) = described.ok_or_else(|| {
        ApiError::not_found("Tenon does not know its own address. Set public_url under [oidc].")
    })?;
    Ok(Json(json!({
        "client_id": id,
        "client_name": "Tenon",
        "client_uri": here.url(),
        "redirect_uris": [here.callback()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    })))
}

async fn come_back(app: &App, caller: &Caller, headers: &HeaderMap, returned: Return) -> Outcome {
    let user = match who(app, headers).await {
        Ok(Some(user)) if user.in_person().is_ok() => user,
        Ok(_) | Err(_) => return Outcome::NobodyHere,
    };
    let address = caller.address.to_string();
    match app.sources.entrance().end(&user.id, returned).await {
        Ok(source) => {
            app.sources.login_changed(&source, &user.id).await;
            let subject = source.as_str();
            user.note(app, &address, "source.login", subject, json!({}))
                .await;
            Outcome::LoggedIn
        }
        Err(ended) => {
            let why = ended.trouble.to_string();
            if let Some(source) = ended.source {
                tracing::warn!(%source, why, "a log-in at a server failed");
                let detail = json!({"why": why});
                let subject = source.as_str();
                user.note(app, &address, "source.login-failed", subject, detail)
                    .await;
            }
            Outcome::Failed(ended.trouble)
        }
    }
}

/// Where everybody sees us, if the operator says so.
fn known(app: &App) -> Option<Here> {
    let url = app.auth.oidc.as_ref()?.public_url()?;
    Some(Here::Known(url.to_owned()))
}

fn refused(trouble: Trouble) -> ApiError {
    let (status, code) = match &trouble {
        Trouble::NoLogin => (StatusCode::CONFLICT, "no_login"),
        Trouble::NotRegistered(_) => (StatusCode::BAD_REQUEST, "not_registered"),
        Trouble::Unreachable(_) => (StatusCode::BAD_GATEWAY, "unreachable"),
        Trouble::Untrusted(_) => (StatusCode::BAD_GATEWAY, "untrusted"),
        Trouble::Refused(_) | Trouble::Ended(_) => (StatusCode::BAD_GATEWAY, "refused"),
        Trouble::Expired => (StatusCode::BAD_REQUEST, "expired"),
        Trouble::Storage(_) => (StatusCode::INTERNAL_SERVER_ERROR, "storage"),
    };
    ApiError::new(status, code, trouble.to_string())
}
