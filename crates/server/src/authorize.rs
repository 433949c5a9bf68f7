//! Authorization of each route before its handler runs.

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use tenon_domain::KeyAccess;

use tenon_app::app::App;
use tenon_app::auth::{AuthMethod, CurrentUser};

use crate::api_fault::ApiFault;
use crate::connections::ClientConnection;
use crate::error::ApiError;
use crate::request::{authenticate, bearer};
use crate::resource_metadata;

/// For whom a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteAccess {
    /// Anybody, logged in or not.
    Open,
    /// Everybody who is logged in; what they get is their own or everybody's.
    User,
    /// The owner of the thing that the path names. To others it does not exist.
    Owner(OwnedResource),
    Admin,
    /// Programs that show a key: a browser's cookie does not count.
    Key,
    /// Commands of whoever can read the data folder: neither people nor their keys.
    Shell,
}

/// Resources in a path that belong to one user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnedResource {
    Chat,
    Turn,
    Call,
    ModelCall,
    Blob,
    Folder,
    File,
    Key,
    Session,
    /// One's own, or everybody's.
    Source,
    /// One's own, the team's, or one that comes with Tenon.
    Expert,
    /// One's own, or the team's.
    Prompt,
    /// One's own, or the team's.
    Skill,
}

/// Which API keys may use a route that their owner may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPolicy {
    /// All; those that only read where nothing is changed.
    All,
    /// Those with everything their owner may.
    Full,
    /// None: only the person themself.
    None,
}

/// Who may use one route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteRule {
    pub(crate) access: RouteAccess,
    pub(crate) keys: KeyPolicy,
}

/// The user of a request, where its route needs one. Or why it is not let in.
pub(crate) async fn authorize(
    rule: RouteRule,
    app: &App,
    request: &Parts,
) -> Result<Option<CurrentUser>, ApiError> {
    let headers = &request.headers;
    let user = match rule.access {
        RouteAccess::Open => return Ok(None),
        RouteAccess::Shell => shell_user(app, headers).await?,
        RouteAccess::Key => {
            let user = key_user(app, headers).await;
            // A missing or wrong key gets a `WWW-Authenticate` header with the address of the
            // resource metadata.
            let metadata = || resource_metadata::url(app, request);
            Some(user.map_err(|error| error.with_challenge(&metadata()))?)
        }
        RouteAccess::User | RouteAccess::Owner(_) | RouteAccess::Admin => {
            authenticate(app, headers).await?
        }
    };
    let user = user.ok_or_else(ApiError::not_logged_in)?;
    if let Some(connection) = request.extensions.get::<ClientConnection>() {
        connection.identify(&user.id);
    }
    check(rule, &user, &request.method)?;
    Ok(Some(user))
}

/// The user of the API key in the headers.
async fn key_user(app: &App, headers: &HeaderMap) -> Result<CurrentUser, ApiError> {
    let user = match bearer(headers) {
        Some(_) => authenticate(app, headers).await?,
        None => None,
    };
    user.ok_or_else(ApiError::not_logged_in)
}

/// The user of a shell command. None without the token from the data folder.
async fn shell_user(app: &App, headers: &HeaderMap) -> Result<Option<CurrentUser>, ApiError> {
    let fits = bearer(headers).is_some_and(|token| app.auth.shell.fits(token));
    if fits {
        Ok(Some(CurrentUser::of_shell(&app.store).await?))
    } else {
        Ok(None)
    }
}

fn check(rule: RouteRule, user: &CurrentUser, method: &Method) -> Result<(), ApiError> {
    if let AuthMethod::Key(_, scope) = &user.credential {
        let only_reads = matches!(*method, Method::GET | Method::HEAD);
        match (rule.keys, scope.access) {
            (KeyPolicy::None, _) => user.require_person()?,
            (_, KeyAccess::Full) | (KeyPolicy::All, KeyAccess::Use) => {}
            (KeyPolicy::All, KeyAccess::Read) if only_reads => {}
            (KeyPolicy::All, KeyAccess::Read) => {
                return Err(ApiError::forbidden(ApiFault::ReadOnlyKey));
            }
            (KeyPolicy::Full, KeyAccess::Use | KeyAccess::Read) => {
                return Err(ApiError::forbidden(ApiFault::KeyWithoutSettings));
            }
        }
    }
    // Routes open to every key of an admin need the role only; others need full access.
    let is_admin = match rule.keys {
        KeyPolicy::All => user.role.is_admin(),
        KeyPolicy::Full | KeyPolicy::None => user.administers(),
    };
    if rule.access == RouteAccess::Admin && !is_admin {
        return Err(ApiError::forbidden(ApiFault::AdminOnly));
    }
    Ok(())
}
