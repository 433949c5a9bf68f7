//! What stands before each route: who may pass, whatever its handler asks.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use tenon_domain::KeyAccess;

use super::{Credential, CurrentUser, bearer, who};
use crate::api::body::RequestMemory;
use crate::api::error::ApiError;
use crate::app::App;
use crate::connections::ClientConnection;

/// For whom a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Anybody, logged in or not.
    Open,
    /// Everybody who is logged in; what they get is their own or everybody's.
    User,
    /// The owner of the thing that the path names. To others it does not exist.
    Of(Thing),
    Admin,
    /// Commands of whoever can read the data folder: neither people nor their keys.
    Shell,
}

/// What a path can name that belongs to one user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thing {
    Chat,
    Turn,
    Call,
    Blob,
    Key,
    Session,
    /// One's own, or everybody's.
    Source,
}

/// Which keys pass where their owner would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// All; those that only read where nothing is changed.
    All,
    /// Those with everything their owner may.
    Full,
    /// None: only the person themself.
    None,
}

/// The gate of one route.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) app: App,
    pub(crate) reach: Reach,
    pub(crate) keys: Keys,
}

pub(crate) async fn gate(
    State(gate): State<Gate>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if gate.reach == Reach::Open {
        return Ok(next.run(request).await);
    }
    let user = match gate.reach {
        Reach::Shell => of_shell(&gate.app, request.headers()).await?,
        Reach::Open | Reach::User | Reach::Of(_) | Reach::Admin => {
            who(&gate.app, request.headers()).await?
        }
    };
    let user = user.ok_or_else(ApiError::not_logged_in)?;
    if let Some(connection) = request.extensions().get::<ClientConnection>() {
        connection.identify(&user.id);
    }
    check(&gate, &user, request.method())?;
    request.extensions_mut().insert(user);
    // What the handler works with counts as long as it works.
    let memory = RequestMemory::default();
    request.extensions_mut().insert(memory.clone());
    let response = next.run(request).await;
    drop(memory);
    Ok(response)
}

/// Whose command this is. None: it does not show what the file in the data folder says.
async fn of_shell(app: &App, headers: &HeaderMap) -> Result<Option<CurrentUser>, ApiError> {
    let fits = bearer(headers).is_some_and(|token| app.auth.shell.fits(token));
    match fits {
        true => Ok(Some(CurrentUser::of_shell(&app.store).await?)),
        false => Ok(None),
    }
}

fn check(gate: &Gate, user: &CurrentUser, method: &Method) -> Result<(), ApiError> {
    if let Credential::Key(_, scope) = &user.credential {
        let looks = matches!(*method, Method::GET | Method::HEAD);
        match (gate.keys, scope.access) {
            (Keys::None, _) => user.in_person()?,
            (_, KeyAccess::Full) | (Keys::All, KeyAccess::Use) => {}
            (Keys::All, KeyAccess::Read) if looks => {}
            (Keys::All, KeyAccess::Read) => {
                return Err(ApiError::forbidden(
                    "This key may only look at things. Use one that may do more.",
                ));
            }
            (Keys::Full, KeyAccess::Use | KeyAccess::Read) => {
                return Err(ApiError::forbidden(
                    "This key may not look after accounts or settings. Use one with full access.",
                ));
            }
        }
    }
    if gate.reach == Reach::Admin && !user.administers() {
        return Err(ApiError::forbidden(
            "Only an admin may do this. Ask one of yours.",
        ));
    }
    Ok(())
}
