//! Who is asking. A handler that takes a [`CurrentUser`] cannot be reached anonymously.
//!
//! A program shows a key, a page a cookie, on somebody's own computer
//! (`--single-user`) as well. In a shell nobody has to show anything: whoever can
//! read the data folder has everything in it anyway.

pub mod caller;
pub mod cookie;
pub mod gate;
pub mod limit;
pub mod oidc;
pub mod password;
pub(crate) mod proof;
pub mod setup;
pub mod shell;

mod desk;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use tenon_domain::pattern::Pattern;
use tenon_domain::{Account, Door, KeyAccess, KeyId, KeyScope, SessionId, UserId, UserRole};
use tenon_store::{AuditEntry, LOCAL, Store};

use crate::api::error::ApiError;
use crate::app::App;

pub use desk::{Auth, Ended};

/// The person a request is made for, and how we know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentUser {
    pub id: UserId,
    pub role: UserRole,
    pub credential: Credential,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    Session(SessionId),
    Key(KeyId, KeyScope),
    /// Whoever can read the data folder.
    Shell,
}

impl CurrentUser {
    /// Whoever sits in a shell, or runs Tenon for themself alone: the admin who was
    /// first. Until there are accounts that is a person without a name.
    pub(crate) async fn owner(store: &Store, credential: Credential) -> tenon_store::Result<Self> {
        let admin = store.oldest_admin().await?;
        Ok(Self {
            id: admin.map_or(UserId::new(LOCAL), |admin| admin.id),
            role: UserRole::Admin,
            credential,
        })
    }

    /// Whose shell this is.
    pub async fn of_shell(store: &Store) -> tenon_store::Result<Self> {
        Self::owner(store, Credential::Shell).await
    }

    /// Through which door they came.
    pub fn door(&self) -> Door {
        match &self.credential {
            Credential::Session(_) => Door::Page,
            Credential::Key(id, _) => Door::Key(id.clone()),
            Credential::Shell => Door::Shell,
        }
    }

    /// The tools a model may use for them without asking.
    pub fn granted(&self) -> &[Pattern] {
        match &self.credential {
            Credential::Key(_, scope) => &scope.allow,
            Credential::Session(_) | Credential::Shell => &[],
        }
    }

    /// Their account; one made up for the person who has none.
    pub async fn account(&self, store: &Store) -> tenon_store::Result<Account> {
        if self.id.as_str() != LOCAL {
            return store.user(&self.id).await;
        }
        Ok(Account {
            id: self.id.clone(),
            email: String::new(),
            name: String::new(),
            role: self.role,
            disabled: false,
            created_at: 0,
            last_login_at: None,
        })
    }

    /// Whether they may decide for everybody: not every key of an admin may.
    pub fn administers(&self) -> bool {
        self.acts_fully() && self.role.is_admin()
    }

    /// Whether they may do all that is theirs to do: not every key may.
    pub fn acts_fully(&self) -> bool {
        match &self.credential {
            Credential::Key(_, scope) => scope.access == KeyAccess::Full,
            Credential::Session(_) | Credential::Shell => true,
        }
    }

    /// Refuses keys where only the person themself may act.
    pub fn in_person(&self) -> Result<(), ApiError> {
        match self.credential {
            Credential::Key(..) => Err(ApiError::forbidden(
                "A key cannot do this. Log in to Tenon's page instead.",
            )),
            Credential::Session(_) | Credential::Shell => Ok(()),
        }
    }

    /// Whether what they came by has ended with this.
    pub fn is_ended_by(&self, ended: &Ended) -> bool {
        match (ended, &self.credential) {
            (Ended::User(user), _) => *user == self.id,
            (Ended::Session(ended), Credential::Session(session)) => ended == session,
            (Ended::Key(ended), Credential::Key(key, _)) => ended == key,
            (Ended::Session(_) | Ended::Key(_), _) => false,
        }
    }

    /// Whether what they came by still counts.
    pub async fn still_counts(&self, store: &Store) -> tenon_store::Result<bool> {
        match &self.credential {
            Credential::Shell => Ok(true),
            Credential::Session(session) => store.session_lives(session).await,
            Credential::Key(key, _) => store.key_lives(key).await,
        }
    }

    /// Writes down what they did. That it cannot be written must not undo it.
    pub async fn note(
        &self,
        app: &App,
        address: &str,
        action: &'static str,
        subject: &str,
        detail: Value,
    ) {
        let entry = AuditEntry {
            user: Some(self.id.clone()),
            door: self.door(),
            action,
            subject: subject.to_owned(),
            detail,
            address: address.to_owned(),
        };
        note(app, entry).await;
    }
}

/// Writes down what somebody did.
pub async fn note(app: &App, entry: AuditEntry) {
    let action = entry.action;
    if let Err(error) = app.store.audit(entry).await {
        tracing::error!(%error, action, "the audit log cannot be written");
    }
}

/// Who shows these headers. None: nobody.
pub async fn who(app: &App, headers: &HeaderMap) -> Result<Option<CurrentUser>, ApiError> {
    // A key that does not count is never made good by a cookie.
    if let Some(key) = bearer(headers) {
        let found = app.store.key_of(key).await?;
        let (user, key) = found.ok_or_else(|| {
            ApiError::new(
                StatusCode::UNAUTHORIZED,
                "wrong_key",
                "This key is not known here. Make a new one in Tenon's settings.",
            )
        })?;
        return Ok(Some(CurrentUser {
            id: user.id,
            role: user.role,
            credential: Credential::Key(key.id, key.scope),
        }));
    }
    for token in cookie::tokens(headers) {
        if app.auth.single_user {
            // Here a log-in to an account does not count: there is one person.
            if let Some(session) = app.store.local_session_of(token).await? {
                let credential = Credential::Session(session);
                return Ok(Some(CurrentUser::owner(&app.store, credential).await?));
            }
        } else if let Some((user, session)) = app.store.session_of(token).await? {
            return Ok(Some(CurrentUser {
                id: user.id,
                role: user.role,
                credential: Credential::Session(session),
            }));
        }
    }
    Ok(None)
}

impl FromRequestParts<App> for CurrentUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        // Whoever passed the gate is known already.
        if let Some(user) = parts.extensions.get::<Self>() {
            return Ok(user.clone());
        }
        let user = who(app, &parts.headers).await?;
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
