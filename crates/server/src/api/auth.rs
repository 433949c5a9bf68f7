//! `/api/auth`: set-up, log-in, sign-up, log-out.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::AppendHeaders;
use tenon_domain::Account;
use tenon_store::SecretToken;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::request::{authenticate, cookie};
use crate::wire::{AuthState, Invitation, LogIn, Setup, SignUp};
use tenon_app::accounts::AccountDetails;
use tenon_app::app::App;
use tenon_app::auth::AuthMethod;
use tenon_app::auth::oidc::Oidc;

/// An account and the cookie that comes with logging in to it.
pub(crate) type LoginResponse = (AppendHeaders<[(HeaderName, HeaderValue); 1]>, Json<Account>);

/// No cookie any more.
pub(crate) type LogoutResponse = (StatusCode, AppendHeaders<[(HeaderName, HeaderValue); 2]>);

pub(crate) async fn state(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<AuthState>, ApiError> {
    let user = authenticate(&app, &headers).await?;
    let account = match &user {
        Some(user) => Some(user.account(&app.store).await?),
        None => None,
    };
    let switched_off = match &user {
        Some(user) if user.require_person().is_ok() => app.store.switched_off(&user.id).await?,
        Some(_) | None => None,
    };
    let setup = !app.auth.single_user && !app.store.has_users().await?;
    let setup_code = setup || (app.auth.single_user && account.is_none());
    Ok(Json(AuthState {
        account,
        setup,
        setup_code,
        sign_up: app.accounts.sign_up_is_open().await?,
        single_user: app.auth.single_user,
        oidc: app.auth.oidc.as_deref().map(Oidc::name),
        switched_off,
    }))
}

pub(crate) async fn set_up(
    State(app): State<App>,
    caller: HttpCaller,
    JsonBody(setup): JsonBody<Setup>,
) -> Result<(StatusCode, LoginResponse), ApiError> {
    let client = caller.login_client();
    let (token, account) = if app.auth.single_user {
        app.accounts.log_in_alone(client, &setup.code).await?
    } else {
        let details = AccountDetails {
            name: &setup.name,
            email: &setup.email,
            password: &setup.password,
        };
        app.accounts.set_up(client, &setup.code, details).await?
    };
    Ok((StatusCode::CREATED, with_cookie(&caller, &token, account)))
}

pub(crate) async fn log_in(
    State(app): State<App>,
    caller: HttpCaller,
    JsonBody(LogIn { email, password }): JsonBody<LogIn>,
) -> Result<LoginResponse, ApiError> {
    let client = caller.login_client();
    let (token, account) = app.accounts.log_in(client, &email, &password).await?;
    Ok(with_cookie(&caller, &token, account))
}

pub(crate) async fn sign_up(
    State(app): State<App>,
    caller: HttpCaller,
    JsonBody(new): JsonBody<SignUp>,
) -> Result<(StatusCode, LoginResponse), ApiError> {
    let details = AccountDetails {
        name: &new.name,
        email: &new.email,
        password: &new.password,
    };
    let client = caller.login_client();
    let signed_up = app.accounts.sign_up(client, new.invite.as_deref(), details);
    let (token, account) = signed_up.await?;
    Ok((StatusCode::CREATED, with_cookie(&caller, &token, account)))
}

pub(crate) async fn invitation(
    State(app): State<App>,
    caller: HttpCaller,
    Id(token): Id<String>,
) -> Result<Json<Invitation>, ApiError> {
    let invite = app.accounts.invitation(caller.login_client(), &token);
    let invite = invite.await?;
    Ok(Json(Invitation {
        email: invite.email,
        expires_at: invite.expires_at,
    }))
}

/// Whoever is not logged in is logged out already.
pub(crate) async fn log_out(
    State(app): State<App>,
    caller: HttpCaller,
    headers: HeaderMap,
) -> Result<LogoutResponse, ApiError> {
    if let Some(user) = authenticate(&app, &headers).await? {
        user.require_person()?;
        if let AuthMethod::Session(session) = &user.credential {
            let address = caller.address.to_string();
            app.accounts.end_session(&user, &address, session).await?;
        }
    }
    Ok(logged_out())
}

pub(crate) fn with_cookie(
    caller: &HttpCaller,
    token: &SecretToken,
    account: Account,
) -> LoginResponse {
    let cookie = (header::SET_COOKIE, cookie::set(caller, token));
    (AppendHeaders([cookie]), Json(account))
}

pub(crate) fn logged_out() -> LogoutResponse {
    let cleared = cookie::clear().map(|cookie| (header::SET_COOKIE, cookie));
    (StatusCode::NO_CONTENT, AppendHeaders(cleared))
}
