//! `/api/sources/{id}/login`: logging in (OAuth) at servers that offer tools.

mod page;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::SourceId;
use tenon_sources::mcp::LoginReason;
use tenon_sources::mcp::oauth::{LoginCallback, LoginError};
use ts_rs::TS;

use super::oidc::address_of;
use crate::api_fault::{ApiFault, SourceLoginFault};
use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::authenticate;
use crate::wire::LoginStart;
use page::LoginOutcome;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::auth::throttle::Attempt;
use tenon_app::sources::{CLIENT_NAME, PublicAddress};

/// What a server sends a browser back with.
#[derive(Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(default)]
pub(crate) struct LoginCallbackParams {
    state: String,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl From<LoginCallbackParams> for LoginCallback {
    fn from(params: LoginCallbackParams) -> Self {
        let LoginCallbackParams {
            state,
            code,
            iss,
            error,
            error_description,
        } = params;
        Self {
            state,
            code,
            iss,
            error,
            error_description,
        }
    }
}

/// `POST /api/sources/{id}/login`
pub(crate) async fn start(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    headers: HeaderMap,
    Id(id): Id<SourceId>,
) -> Result<Json<LoginStart>, ApiError> {
    let target = app.sources.login_target(&user, &id).await?;
    let endpoint = app.sources.login_endpoint(&user, &id).await?;
    let endpoint = endpoint.ok_or_else(|| refused(LoginError::NoLogin))?;
    let here = configured_address(&app)
        .unwrap_or_else(|| PublicAddress::FromRequest(address_of(&caller, &headers)));
    let begun = app
        .sources
        .oauth()
        .begin(&user.id, target, endpoint, here)
        .await;
    let url = begun.map_err(refused)?;
    Ok(Json(LoginStart { url }))
}

/// `GET /api/sources/callback`, which a browser opens: what comes of it is a page.
/// It is open to everybody, so that somebody whose session is over is told so.
pub(crate) async fn callback(
    State(app): State<App>,
    caller: HttpCaller,
    headers: HeaderMap,
    query: Result<Query<LoginCallbackParams>, QueryRejection>,
) -> Response {
    let returned = query.map(|Query(returned)| returned).unwrap_or_default();
    let returned = returned.into();
    let outcome = match app.auth.attempt(Attempt::Elsewhere, caller.address) {
        Ok(()) => finish(&app, &caller, &headers, returned).await,
        Err(_) => LoginOutcome::TooMany,
    };
    if matches!(outcome, LoginOutcome::LoggedIn) {
        app.auth.succeeded(Attempt::Elsewhere, caller.address);
    }
    page::show(&headers, &outcome)
}

/// `DELETE /api/sources/{id}/login` (204)
pub(crate) async fn end(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
) -> Result<StatusCode, ApiError> {
    let target = app.sources.login_target(&user, &id).await?;
    let revoked = app.sources.oauth().log_out(&user.id, &target).await;
    let is_revoked = match revoked {
        Ok(()) => true,
        Err(error @ LoginError::Storage(_)) => return Err(refused(error)),
        Err(error) => {
            // The grant is deleted here even if revoking it at the server failed.
            tracing::warn!(source = %id, why = %error, "a log-in could not be revoked there");
            false
        }
    };
    app.sources.login_changed(&id, &user.id).await;
    let detail = json!({"revoked": is_revoked});
    let address = caller.address.to_string();
    user.note(&app.store, &address, "source.logout", id.as_str(), detail)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/sources/client`: what Tenon is, for authorisation servers that want
/// to read it where its name says.
pub(crate) async fn describe(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let described = configured_address(&app).and_then(|here| Some((here.description()?, here)));
    let (id, here) = described.ok_or_else(|| ApiError::not_found(ApiFault::NoPublicUrl))?;
    Ok(Json(json!({
        "client_id": id,
        "client_name": CLIENT_NAME,
        "client_uri": here.url(),
        "redirect_uris": [here.callback()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    })))
}

async fn finish(
    app: &App,
    caller: &HttpCaller,
    headers: &HeaderMap,
    returned: LoginCallback,
) -> LoginOutcome {
    let user = match authenticate(app, headers).await {
        Ok(Some(user)) if user.require_person().is_ok() => user,
        Ok(_) | Err(_) => return LoginOutcome::NobodyHere,
    };
    let address = caller.address.to_string();
    match app.sources.oauth().end(&user.id, returned).await {
        Ok(source) => {
            app.sources.login_changed(&source, &user.id).await;
            let subject = source.as_str();
            user.note(&app.store, &address, "source.login", subject, json!({}))
                .await;
            LoginOutcome::LoggedIn
        }
        Err(ended) => {
            let why = ended.error.to_string();
            if let Some(source) = ended.source {
                tracing::warn!(%source, why, "a log-in at a server failed");
                let detail = json!({"why": why});
                let subject = source.as_str();
                user.note(&app.store, &address, "source.login-failed", subject, detail)
                    .await;
            }
            LoginOutcome::Failed(ended.error)
        }
    }
}

/// Where everybody sees us, if the operator says so.
fn configured_address(app: &App) -> Option<PublicAddress> {
    let url = app.auth.oidc.as_ref()?.public_url()?;
    Some(PublicAddress::Configured(url.to_owned()))
}

fn refused(error: LoginError) -> ApiError {
    use SourceLoginFault as Fault;
    let (status, fault) = match error {
        LoginError::NoLogin => (StatusCode::CONFLICT, Fault::NoLogin),
        LoginError::NotRegistered { client, why } => {
            let why = LoginReason::of_refusal(&why).into();
            let fault = Fault::NotRegistered { client, why };
            (StatusCode::BAD_REQUEST, fault)
        }
        LoginError::Unreachable(why) => {
            let why = LoginReason::of_unreachable(&why).into();
            (StatusCode::BAD_GATEWAY, Fault::Unreachable { why })
        }
        LoginError::Untrusted(why) => {
            let why = LoginReason::of_untrusted(&why).into();
            (StatusCode::BAD_GATEWAY, Fault::Untrusted { why })
        }
        LoginError::Refused(why) => {
            let why = LoginReason::of_refused(&why);
            (StatusCode::BAD_GATEWAY, Fault::Refused { why })
        }
        LoginError::Ended(why) => {
            let why = LoginReason::of_ended(&why);
            (StatusCode::BAD_GATEWAY, Fault::Ended { why })
        }
        LoginError::Expired => (StatusCode::BAD_REQUEST, Fault::Expired),
        LoginError::Storage(_) => (StatusCode::INTERNAL_SERVER_ERROR, Fault::Storage),
    };
    ApiError::new(status, fault)
}
