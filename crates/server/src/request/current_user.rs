//! Who is asking. A handler that takes a [`CurrentUser`] cannot be reached anonymously.
//!
//! A program shows a key, a page a cookie.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

use super::cookie;
use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::state::ServerState;

/// The user that these headers authenticate. None without credentials.
pub(crate) async fn authenticate(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<CurrentUser>, ApiError> {
    // A key that does not count is never made good by a cookie.
    if let Some(key) = bearer(headers) {
        let user = CurrentUser::by_key(&app.store, key, app.auth.single_user).await?;
        let user =
            user.ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, ApiFault::WrongKey))?;
        return Ok(Some(user));
    }
    for token in cookie::tokens(headers) {
        let user = CurrentUser::by_session(&app.store, token, app.auth.single_user).await?;
        if user.is_some() {
            return Ok(user);
        }
    }
    Ok(None)
}

impl FromRequestParts<ServerState> for CurrentUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        // The route's authorization has already identified the user.
        if let Some(user) = parts.extensions.get::<Self>() {
            return Ok(user.clone());
        }
        let user = authenticate(&state.app, &parts.headers).await?;
        user.ok_or_else(ApiError::not_logged_in)
    }
}

/// The key a program shows; what is no text is a wrong one.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let shown = headers.get(header::AUTHORIZATION)?.as_bytes().trim_ascii();
    let (scheme, key) = shown.split_at_checked("bearer".len())?;
    let is_bearer =
        scheme.eq_ignore_ascii_case(b"bearer") && key.first().is_none_or(u8::is_ascii_whitespace);
    // Other schemes are for a proxy before us.
    is_bearer.then(|| str::from_utf8(key.trim_ascii()).unwrap_or_default())
}
